#!/bin/sh
# Proves that the simulator still agrees with the latencies and messages measured on real hardware as well
# as recorded, that a group that gets worse is noticed, and that a wrong file is refused with its line.
set -u
csv="$FANOUT_SHARED/reference/h200/latency.csv"
record="$TOP_SRCDIR/tests/validate.recorded"
[ -f "$csv" ] || { echo "skipped: no $csv (set FANOUT_SHARED)"; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

"$FANOUT" validate --jobs 2 --record "$record" "$csv" >"$dir/out" 2>"$dir/err" || {
    cat "$dir/err"
    echo "FAIL: a group is worse than recorded"
    exit 1
}
grep -q 'messages' "$dir/out" || { echo "FAIL: no group 'messages' in the report"; exit 1; }

"$FANOUT" validate --jobs 2 --record "$record" --set link.flight_ps=200000 "$csv" >/dev/null 2>"$dir/err"
[ $? -eq 2 ] || { echo "FAIL: links of 200 ns went unnoticed"; exit 1; }
grep -q 'worse than recorded' "$dir/err" || { echo "FAIL: no message about it"; exit 1; }

printf 'test,variant,gpus,ctas,threads,bytes,value,unit\nstream_bw,read16,0>1,1,256,many,3,GB/s\n' >"$dir/bad.csv"
"$FANOUT" validate "$dir/bad.csv" >/dev/null 2>"$dir/err"
[ $? -eq 1 ] && grep -q 'bad.csv:2: bytes' "$dir/err" || { cat "$dir/err"; echo "FAIL: a bad number"; exit 1; }
echo "PASS: validate"
