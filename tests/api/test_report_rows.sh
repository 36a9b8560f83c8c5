#!/bin/sh
# The columns of exec's report, worked out by hand on teach-4gpu for what tests/api/report_rows.c does: its copies, fill and
# kernels, the groups of kernels that moved the same to within 2 %, operations, links, calls.
set -eu
. "$TOP_SRCDIR/tests/api/client.sh"
build_client "$TOP_SRCDIR/tests/api/report_rows.c" rows
timeout 100 "$FANOUT" exec -s teach-4gpu --report "$dir/report.json" -- "$dir/rows"
bad=0
complain() { echo "$*"; bad=1; }
cd "$dir"
. "$TOP_SRCDIR/tests/cli/columns.sh"
objects <report.json

# From and to the host: 1 us of the engine, 0.5 of the host, and 16 B a ns: 1 MiB takes 65,536 ns, a quarter 16,384. The
# rate is all bytes over all of their time: 1,310,720 B in 84,920 ns.
row '"work": "memcpy HtoD"' '"count": 2' '"bytes": 1310720' '"faults": 0' '"min_ns": 17884.0' '"p50_ns": 17884.0' \
    '"p99_ns": 67036.0' '"max_ns": 67036.0' '"throughput_GBps": 15.435'
row '"work": "memcpy DtoH"' '"count": 1' '"bytes": 524288' '"max_ns": 34268.0' '"throughput_GBps": 15.300'
# In one GPU: 1 us, 0.2 us of the memory, and 1 MiB read and written at 1,000 B a ns. A fill only writes.
row '"work": "memcpy DtoD"' '"count": 1' '"bytes": 1048576' '"max_ns": 3297.2' '"throughput_GBps": 318.025'
row '"work": "memset"' '"bytes": 4000' '"max_ns": 1204.0' '"throughput_GBps": 3.322'
# To a peer, by an engine of that: it reads 4,096 packets of 256 B, half by each link, each answered by 17 flits of a ns:
# 34,816 ns behind what the first one takes without its flits, 1,036.5 - 17, and 1 us of the engine.
row '"work": "memcpy peer"' '"count": 1' '"bytes": 1048576' '"max_ns": 36836.0' '"throughput_GBps": 28.466'
# Behind it three kernels on GPU 0 read and write eight lines of GPU 1 each, half by each link: four requests of a flit and
# four writes of nine go up, four answers of nine come down, and one acknowledgement of four writes, but for one:
# while the second kernel's code comes for the first time its warps write further apart than acknowledgements wait.
row '"target": "other GPUs"' '"op": "read"' '"count": 4120' "\"bytes\": $((1048576 + 3 * 1024))"
row '"target": "other GPUs"' '"op": "write"' '"count": 24' '"bytes": 3072'
row '"link": "gpu0.link0.up"' "\"packets\": $((2048 + 3 * 8))" "\"flits\": $((34816 + 3 * 40))"
row '"link": "gpu0.link1.down"' "\"packets\": $((2048 + 3 * 5))" "\"flits\": $((2048 + 3 * 37))"
row '"link": "gpu1.link1.down"' "\"packets\": $((2048 + 3 * 8))" "\"flits\": $((34816 + 3 * 40))"
row '"link": "gpu2.link0.up"' '"utilisation_pct": 0.00' '"packets": 0' '"flits": 0'
row '"direction": "up"' '"min_pct": 0.0' "\"packets\": $((8192 + 3 * 26 + 1))" "\"flits\": $((73728 + 3 * 154 + 1))"
# A link that carried 34,936 flits was busy for as many ns; the mean is of the eight links in that direction.
simulated=$(sed -n 's/.*"simulated_us": \([0-9.]*\).*/\1/p' "$dir/report.json")
row '"link": "gpu0.link0.up"' "\"utilisation_pct\": $(awk -v us="$simulated" 'BEGIN { printf "%.2f", 3493.6 / us }')"
row '"direction": "down"' "\"mean_pct\": $(awk -v us="$simulated" 'BEGIN { printf "%.1f", 7419.1 / 8 / us }')" \
    "\"max_pct\": $(awk -v us="$simulated" 'BEGIN { printf "%.1f", 3493.6 / us }')"

# The kernel: 4 B read and 4 written by each of n threads. A warp executes 12 instructions where all of its threads work,
# 8 where none does, 13 where some do (they return twice).
launch() { # launch N THREADS INSTRUCTIONS
    row "\"launch\": $1," '"gpu": 0' '"grid": "4"' '"block": "256"' '"state": "done"' "\"own_bytes\": $((8 * $2))" \
        "\"instructions\": $3," '"peer_bytes": 0' '"host_bytes": 0' '"l1_bytes": 0' '"multicast_bytes": 0'
}
launch 1 1000 $((31 * 12 + 13))
launch 2 985 $((30 * 12 + 13 + 8))
launch 3 960 $((30 * 12 + 2 * 8))
launch 4 1000 $((31 * 12 + 13))
row '"launch": 5,' '"grid": "1"' '"own_bytes": 0' '"peer_bytes": 2048' '"host_bytes": 0' "\"instructions\": $((8 * 12))"
row '"launch": 6,' '"grid": "1"' '"own_bytes": 0' '"peer_bytes": 0' '"host_bytes": 2048'
row '"group": 3,' '"times": 1' '"peer_bytes": 2048' '"multicast_bytes": 0'
row '"work": "move"' '"count": 6' '"bytes": 0' '"throughput_GBps": null'
# 985 threads move 1.5 % less than 1,000, 960 4 % less.
row '"group": 1,' '"kernel": "move"' '"gpus": 1' '"times": 3'
row '"group": 2,' '"kernel": "move"' '"gpus": 1' '"times": 1'
time_us() { sed -n "s/.*\"launch\": $1, \"kernel\".*\"time_us\": \([0-9.]*\).*/\1/p" out; }
mean=$(awk -v a="$(time_us 1)" -v b="$(time_us 2)" -v c="$(time_us 4)" 'BEGIN { printf "%.6f", (a + b + c) / 3 }')
group=$(sed -n 's/.*"group": 1, .*"times": 3.*"time_us": \([0-9.]*\).*/\1/p' out)
awk -v a="$mean" -v b="$group" 'BEGIN { d = a - b; exit !(d < 0.0011 && d > -0.0011) }' ||
    { echo "a group of $(time_us 1), $(time_us 2) and $(time_us 4) us took $group us on average"; exit 1; }
# Where the time of warps went: the shares add up to all of it.
sed -n 's/.*"launch": [0-9]*, .*"warps_us": [0-9.]*, \(.*\), "polls": 0.*/\1/p' out | tr ',' ' ' |
    awk '{ s = 0; for (i = 2; i <= NF; i += 2) s += $i; n++; if (s < 99.4 || s > 100.6) { print "shares of", s, "%"; bad = 1 } }
         END { exit bad || n != 8 }' || { echo "shares of warps' time do not add up"; exit 1; }
# Of those that move something from elsewhere the own memory does not count: both are one group.
row '"launch": 7,' '"own_bytes": 4096' '"peer_bytes": 2048'
row '"launch": 8,' '"own_bytes": 2048' '"peer_bytes": 2048'
row '"group": ' '"kernel": "both"' '"gpus": 1' '"times": 2'
row '"call": "cuLaunchKernel"' '"count": 8' '"errors": 0'
row '"call": "cuMemAlloc_v2"' '"count": 3' '"errors": 0'
# And all of it as it was recorded, but for the version: a change of any column is seen, and says in its commit why.
# UPDATE=1 records it.
expected=$TOP_SRCDIR/tests/api/report_rows.expected
grep -v '"version"' "$dir/report.json" >"$dir/whole"
if [ "${UPDATE:-0}" = 1 ]; then
    cp "$dir/whole" "$expected"
else
    diff -u "$expected" "$dir/whole" || { echo "not as recorded (if it should be: UPDATE=1)"; exit 1; }
fi
[ "$bad" = 0 ] && echo "every figure is what it should be"
exit "$bad"
