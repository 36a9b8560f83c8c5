#!/bin/sh
# The columns of exec's report about groups of launches, multicast and what warps waited for, worked out by hand on
# teach-4gpu for what tests/api/report_groups.c does.
set -eu
. "$TOP_SRCDIR/tests/api/client.sh"
build_client "$TOP_SRCDIR/tests/api/report_groups.c" groups
timeout 100 "$FANOUT" exec -s teach-4gpu --report "$dir/report.json" -- "$dir/groups" >"$dir/said"
bad=0
complain() { echo "$*"; bad=1; }
cd "$dir"
. "$TOP_SRCDIR/tests/cli/columns.sh"
objects <report.json

# 128 warps load 16 words of GPU 1 each, all of one 256 B chunk and so by one of two links: 2,048 requests of a flit go up
# there, and 2,048 answers of three flits come down, of a ns each. Every lane counts 4 B. Three launches are one group.
row '"group": 1,' '"kernel": "same"' '"gpus": 1,' '"grid": "4"' '"block": "32x32"' '"times": 3,' '"peer_bytes": 262144,' \
    '"multicast_bytes": 0,' '"multicast_loads": 0,' '"multicast_stores": 0,' '"multicast_reds": 0,'
of_group() { value "$1" '"group": 1,' '"times": 3'; }
time=$(of_group time_us)
near "up_most_pct" "$(of_group up_most_pct)" "$(awk "BEGIN { print 204.8 / $time }")" 0.051
near "up_pct" "$(of_group up_pct)" "$(awk "BEGIN { print 102.4 / $time }")" 0.051
near "down_most_pct" "$(of_group down_most_pct)" "$(awk "BEGIN { print 614.4 / $time }")" 0.051
near "down_pct" "$(of_group down_pct)" "$(awk "BEGIN { print 307.2 / $time }")" 0.051
# The switch has ports of four GPUs: 2,048 flits come from GPU 0 and 6,144 from GPU 1; as many leave.
near "switch_pct" "$(of_group switch_pct)" "$(awk "BEGIN { print 819.2 / 4 / $time }")" 0.051
# Its times are those of its three launches.
of_launch() { value "$1" "\"launch\": $2," '"gpu": 0'; }
one=$(of_launch time_us 1) two=$(of_launch time_us 2) three=$(of_launch time_us 3)
near "time_us" "$time" "$(awk "BEGIN { print ($one + $two + $three) / 3 }")" 0.0011
[ "$(of_group time_min_us)" = "$(printf '%s\n' "$one" "$two" "$three" | sort -n | head -1)" ] || complain "time_min_us"
[ "$(of_group time_max_us)" = "$(printf '%s\n' "$one" "$two" "$three" | sort -n | tail -1)" ] || complain "time_max_us"
[ "$(of_group start_us)" = "$(of_launch start_us 1)" ] || complain "start_us"
# Each warp executes 2 instructions, 16 times 5 and a ret. Four SMs have 32 warps each, as many as they have room for.
row '"launch": 1,' '"instructions": 10624,' '"peer_bytes": 262144,' '"own_bytes": 0,' '"host_bytes": 0,' '"l1_bytes": 0,'
warps=$(value warps_us '"launch": 1,' '"polls": 0')
sm=$(awk "BEGIN { print $warps / 32 / $(of_launch occupancy_pct 1) * 100 }")
awk "BEGIN { exit !($sm < 4 * $one && $sm > 4 * $one - 8) }" || complain "occupancy_pct: SMs for $sm us of four times $one"
near "ipc" "$(of_launch ipc 1)" "$(awk "BEGIN { print 10624 * 0.000505 / $sm }")" 0.0051
# 15 of 16 loads are waited for, 808 ns each (tests/model/test_request_times.c), but for what is their issue; the last one
# only holds the warp's end up.
share() { awk "BEGIN { print $(value "$1" "\"launch\": $2," '"warps_us"') * $(value warps_us "\"launch\": $2," '"polls"') / 100 }"; }
near "memory_pct" "$(share memory_pct 1)" 1551.4 16
near "drain_pct" "$(share drain_pct 1)" 103.4 4
# The load/store unit takes one load a ns: 16 of each of 128 warps.
near "lsu_pct" "$(value lsu_pct '"launch": 1,' '"warps_us"')" "$(awk "BEGIN { print 100 * 2.048 / $warps }")" 0.051
near "lsu_pct of the group" "$(value lsu_pct '"group": 1,' '"warps_us"')" "$(awk "BEGIN { print 100 * 2.048 / $warps }")" 0.051
# A store of 4 B, two additions and three reductions at a multicast address, each counted once.
row '"kernel": "team"' '"gpu": 0' '"grid": "1"' '"block": "1"' '"multicast_bytes": 24,' '"multicast_loads": 3,' \
    '"multicast_stores": 1,' '"multicast_reds": 2 }' '"instructions": 8,' '"peer_bytes": 0,'
row '"group": 2,' '"kernel": "team"' '"multicast_bytes": 24,' '"multicast_loads": 3,' '"multicast_stores": 1,' \
    '"multicast_reds": 2,'
row '"target": "multicast 1"' "\"handle\": \"$(sed 's/handle //' "$dir/said")\"" '"bytes": 2097152' '"team": 2' \
    '"members": "0 1"' '"binds": 2'
for what in '"op": "multimem.st", "count": 1, "bytes": 4,' '"op": "multimem.red", "count": 2, "bytes": 8,' \
    '"op": "multimem.ld_reduce", "count": 3, "bytes": 12,'; do
    row '"target": "multicast 1"' "$what"
done
row '"target": "other GPUs"' '"op": "read", "count": 6144, "bytes": 24576,' '"latency_min_ns": 808.0,'
# The store takes 808 ns, as a read of 4 B does, and so all of its percentiles are; 4 B of own memory take 200.
row '"target": "multicast 1"' '"latency_min_ns": 808.0, "latency_p50_ns": 808.0, "latency_p99_ns": 808.0, "latency_max_ns": 808.0' \
    '"op": "multimem.st"'
row '"target": "own memory"' '"op": "write"' '"latency_max_ns": 200.0' '"GBps": 0.02'
# Three of the six requests have addresses of each switch, and each goes to both members; nothing else is there to wait for.
for n in 0 1; do
    row "\"name\": \"switch$n\"" '"multicast_requests": 3, "replicas": 6, "tag_stalls": 0, "buffer_stalls": 0, "round_stalls": 0'
done
# One warp of four sleeps for 20 us, and the others wait for it as long.
near "sleep_pct" "$(share sleep_pct 5)" 20 0.1
near "barrier_pct" "$(share barrier_pct 5)" 60 0.3
# Who polls does so for the 50 us that the other one sleeps.
near "sleep_pct of a flag" "$(share sleep_pct 6)" 50 0.2
near "poll_pct" "$(share poll_pct 6)" 50 1.5
[ "$(value polls '"launch": 6,' '"warps_us"')" -gt 20 ] || complain "polls"
for n in 1 2; do
    [ "$(value polls "\"group\": $n," '"warps_us"')" = 0 ] || complain "polls of group $n"
done
near "warps_us of three launches" "$(value warps_us '"group": 1,' '"polls"')" "$(awk "BEGIN { print 3 * $warps }")" 1
[ "$bad" = 0 ] && echo "every figure is what it should be"
exit "$bad"
