-- The cheapest switches that keep 97 % of today's bandwidth: sqlite3 nvswitch-8.db <cheapest.sql
-- Cost, in bytes of memory of one port: the reduction buffer; 32 B a tag; 2 KiB for each byte of the crossbar's width;
-- 8 KiB for an adder that takes no time beside the switch's latency, a fifth of that for one that takes 200 ns. These
-- weights are assumed: none is published.
.headers on
.mode column
WITH design AS (
  SELECT "switch.multicast_tags" AS tags, "switch.reduction_buffer_bytes" AS buffer_bytes,
         "switch.crossbar_bytes" AS crossbar_bytes, "switch.reduction_ps" / 1000 AS reduction_ns, busbw_GBps,
         "switch.reduction_buffer_bytes" + 2 * 32 * "switch.multicast_tags" + 2048 * "switch.crossbar_bytes" +
         8192.0 * 50000 / (50000 + "switch.reduction_ps") AS cost_bytes
  FROM points WHERE status = 'done'),
today AS (
  SELECT busbw_GBps, cost_bytes FROM design WHERE tags = (SELECT max(tags) FROM design) AND reduction_ns = 0 AND
         buffer_bytes = (SELECT max(buffer_bytes) FROM design) AND
         crossbar_bytes = (SELECT max(crossbar_bytes) FROM design))
SELECT tags, buffer_bytes, crossbar_bytes, reduction_ns, round(design.busbw_GBps, 1) AS busbw_GBps,
       round(100 * design.busbw_GBps / today.busbw_GBps, 1) AS kept_pct,
       round(100 * design.cost_bytes / today.cost_bytes, 1) AS cost_pct
FROM design, today WHERE design.busbw_GBps >= 0.97 * today.busbw_GBps
ORDER BY design.cost_bytes, kept_pct DESC LIMIT 5;
