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
# Proves that a row too large to simulate lies on the line through the sweep's rows that are not, whatever their
# order, and says so.
header='id,group,preset,gpus,op,algo,proto,ctas,program,bytes,time_us,timing,derived,source_url'
sweep() {
    echo "$header"
    for mib in "$@"; do
        echo "r$mib,g,dgx-h200,4,all_reduce,auto,,,nccl-sym,$((mib << 20)),100,graph,,nowhere"
    done
}
sweep 8 16 32 64 >"$dir/up.csv"
sweep 64 32 16 8 >"$dir/down.csv"
for order in up down; do
    "$FANOUT" validate --format csv --crossings 6000000 --set gpu.l2_bytes=1000000000 "$dir/$order.csv" |
        awk -F, '$1 == "file" { for (i = 1; i <= NF; i++) at[$i] = i; next }
                 $1 ~ /csv$/ && NF > 8 { split($at["name"], w, " "); print w[1], $at["simulated"], $at["extrapolated"] }' |
        sort >"$dir/$order.out"
done
cmp "$dir/up.out" "$dir/down.out" || { echo "FAIL: the order of rows matters"; exit 1; }
awk '{ t[$1] = $2; x[$1] = $3 }
     END { line = t["r32"] + (t["r32"] - t["r8"]) / 24 * 32
           exit !(x["r64"] == "true" && x["r32"] == "false" && line > 0 && (t["r64"] - line)^2 < 0.0001) }' "$dir/up.out" || {
    cat "$dir/up.out"
    echo "FAIL: 64 MiB is not on the line through 8 and 32"
    exit 1
}
echo "PASS: validate"
