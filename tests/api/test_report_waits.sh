#!/bin/sh
# The columns of exec's report about what warps wait for, worked out by hand on teach-4gpu for kernels that wait for one
# thing each (tests/api/report_waits.c); and what is told of a run as a whole.
set -eu
. "$TOP_SRCDIR/tests/api/client.sh"
build_client "$TOP_SRCDIR/tests/api/report_waits.c" waits
timeout 100 "$FANOUT" exec -s teach-4gpu --report "$dir/report.json" -- "$dir/waits"
bad=0
complain() { echo "$*"; bad=1; }
cd "$dir"
. "$TOP_SRCDIR/tests/cli/columns.sh"
objects <report.json
waits() { # waits TABLE NUMBER COLUMN EXPRESSION: the column is that share, of 0.1 %
    near "$1 $2: $3" "$(value "$3" "\"$1\": $2,")" "$4" 0.051
}

for fact in '"system": "teach-4gpu"' '"driver_version": 13020' '"gpus": 4' '"ended_by": "exit"' '"stuck": false' \
    '"unfinished_work": 0' '"device_faults": 0' '"diagnostics_count": 0'; do
    sed -n 2p out | grep -q -F -e "$fact" || complain "the report does not say $fact"
done
# Launches are in one stream of one GPU, one behind the other without a pause, and the run ends with the last one.
grep -c '"gpu": 0, "stream": 1, "state": "done", "grid": "1", ' out >n
[ "$(cat n)" = 5 ] || complain "$(cat n) launches are done, not 5"
end=0
for n in 1 2 3 4 5; do
    near "start_us of launch $n" "$(value start_us "\"launch\": $n,")" "$end" 0.0011
    end=$(awk "BEGIN { print $end + $(value time_us "\"launch\": $n,") }")
done
near "simulated_us" "$(value simulated_us '"report": "exec"')" "$end" 0.0011

# A fence of the system that waits for nothing takes 581 ns; a hundred of them.
warps=$(value warps_us '"launch": 1,')
near "warps_us" "$warps" "$(value time_us '"launch": 1,') - 2" 0.0011 # launch_ps and exit_ps are not its warp's
for table in launch group; do
    waits $table 1 fence_pct "100 * 58.1 / $warps"
    waits $table 1 issue_pct "100 - 100 * 58.1 / $warps - $(value code_pct "\"$table\": 1,")"
done
# Who is called by an address is named. It was read from memory: 200 ns, and 193 since no cache had it.
[ "$(grep -c '"called": "work"' out)" = 2 ] || complain "called"
grep -q '"launch": 2, "kernel": "calls", "called": "work"' out || complain "called of a launch"
grep -q '"group": 2, "kernel": "calls", "called": "work"' out || complain "called of a group"
for table in launch group; do
    waits $table 2 memory_pct "100 * 0.3931 / $(value warps_us "\"$table\": 2,")"
done
# A count of bits takes 17 clocks of 0.505 ns to its result, and a quarter of an SM does one in 8: eight warps wait for it.
# Where the code comes for the first time the kernel takes longer by that. Launches 3 and 4 are group 3.
alone=$(value warps_us '"launch": 4,') first=$(value warps_us '"launch": 3,') all=$(value warps_us '"launch": 5,')
near "a warp's time" "$alone" "2000 * 17 * 0.000505" 0.02
waits launch 4 issue_pct 100
waits launch 4 pipe_pct 0
waits launch 4 code_pct 0
waits launch 3 code_pct "100 * ($first - $alone) / $first"
waits launch 3 issue_pct "100 * $alone / $first"
near "time of eight warps a quarter" "$(value time_us '"launch": 5,') - 2" "2000 * 8 * 8 * 0.000505" 0.1
waits group 3 code_pct "100 * ($first - $alone) / ($first + $alone)"
waits group 3 issue_pct "100 * 2 * $alone / ($first + $alone)"
for row in 'launch 5' 'group 4'; do
    # shellcheck disable=SC2086
    waits $row issue_pct "100 * 32 * $alone / $all"
    # shellcheck disable=SC2086
    waits $row pipe_pct "100 - 100 * 32 * $alone / $all"
done
# One of 32 warps, and one of one instruction in 17 clocks.
near "occupancy_pct" "$(value occupancy_pct '"launch": 4,')" "100 / 32" 0.051
near "ipc" "$(value ipc '"launch": 4,')" "2002 * 0.000505 / $alone" 0.0051
[ "$bad" = 0 ] && echo "every figure is what it should be"
exit "$bad"
