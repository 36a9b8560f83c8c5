#!/bin/sh
# Proves that the simulator still agrees with the latencies and messages measured on real hardware as well
# as recorded, that a group that gets worse is noticed, and that a wrong file is refused with its line.
set -u
csv="$TOP_SRCDIR/validate/reference/h200/latency.csv"
record="$TOP_SRCDIR/tests/validate/validate.recorded"
dir=$(mktemp -d) || exit 99
# Proves that `make validate` needs nothing that is not in the project: each file that its rule names is there, and
# every row of it can be read.
tables=$(sed -n '/^REFERENCE = /,/[^\\]$/p' "$TOP_SRCDIR/validate/validate.mk" | grep -o 'validate/.*csv')
[ "$(echo "$tables" | wc -l)" = 9 ] || { echo "FAIL: not nine reference tables"; exit 1; }
! grep -n -i 'shared' "$TOP_SRCDIR/validate/validate.mk" || { echo "FAIL: make validate looks outside"; exit 1; }
for table in $tables; do
    grep -q '^# source: ' "$TOP_SRCDIR/$table" || { echo "FAIL: $table does not say where it comes from"; exit 1; }
    sed '/^#/d' "$TOP_SRCDIR/$table" | head -n 2 >"$dir/two.csv"
    "$FANOUT" validate --fidelity flow "$dir/two.csv" >/dev/null 2>"$dir/err" || { cat "$dir/err"; exit 1; }
done
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
rows() { # name, crossings, file: id, simulated, extrapolated, check_pct of each row
    "$FANOUT" validate --format csv --crossings "$2" --set gpu.l2_bytes=1000000000 "$3" |
        awk -F, '$1 == "file" { for (i = 1; i <= NF; i++) at[$i] = i; next }
                 $1 ~ /csv$/ && NF > 8 { split($at["name"], w, " "); print w[1], $at["simulated"], $at["extrapolated"], $at["check_pct"] }' |
        sort >"$dir/$1.out"
}
rows up 6000000 "$dir/up.csv"
rows down 6000000 "$dir/down.csv"
cmp "$dir/up.out" "$dir/down.out" || { echo "FAIL: the order of rows matters"; exit 1; }
on_line() { # name, MiB: 64 MiB is extrapolated from 32 in full, on the line through so many and 32
    awk -v low="$2" '{ t[$1] = $2; x[$1] = $3 }
         END { line = t["r32"] + (t["r32"] - t["r" low]) / (32 - low) * 32
               exit !(x["r64"] == "true" && x["r32"] == "false" && line > 0 && (t["r64"] - line)^2 < 0.0001) }' "$dir/$1.out" || {
        cat "$dir/$1.out"
        echo "FAIL: 64 MiB is not on the line through $2 and 32"
        exit 1
    }
}
on_line up 8
# How far the third size that was run, 16 MiB, is from that line, of what it takes.
awk '{ t[$1] = $2; check[$1] = $4 }
     END { off = (t["r16"] - t["r8"] - (t["r32"] - t["r8"]) / 3) / t["r16"] * 100; off = off < 0 ? -off : off
           exit !(check["r64"] != "" && (check["r64"] - off)^2 < 0.0001 && check["r32"] == "") }' "$dir/up.out" || {
    cat "$dir/up.out"
    echo "FAIL: check_pct is not how far 16 MiB is from the line through 8 and 32"
    exit 1
}
# Proves that symmetric kernels which a process launches one by one take its turn round all GPUs, however many these
# are: 8.65 us for 2, 17.3 for 4 and 34.6 for 8, where 8 were measured.
{
    echo "$header"
    for gpus in 2 4 8; do
        echo "g$gpus,g,dgx-h200,$gpus,all_reduce,auto,,,nccl-sym,1024,10,eager,,nowhere"
    done
} >"$dir/turn.csv"
rows turn 6000000 "$dir/turn.csv"
[ "$(cut -d ' ' -f 1,2 "$dir/turn.out" | tr '\n' ' ')" = "g2 8.650 g4 17.300 g8 34.600 " ] || {
    cat "$dir/turn.out"
    echo "FAIL: a turn round 2, 4 and 8 GPUs"
    exit 1
}
# Proves that without a row of half the size the line goes through an eighth.
sweep 4 32 64 >"$dir/gap.csv"
rows gap 6000000 "$dir/gap.csv"
on_line gap 4

# Proves that crossings are counted where a smaller row can tell: pulls and pushes cross more often than estimated.
sweep 16 | sed "s/,4,all_reduce,auto/,8,all_reduce,auto-unicast/" >"$dir/alone.csv"
sweep 8 16 | sed "s/,4,all_reduce,auto/,8,all_reduce,auto-unicast/" >"$dir/counted.csv"
rows alone 5500000 "$dir/alone.csv"
rows counted 5500000 "$dir/counted.csv"
grep -q 'r16 .* false' "$dir/alone.out" && grep -q 'r8 .* false' "$dir/counted.out" &&
    grep -q 'r16 .* true' "$dir/counted.out" || {
    cat "$dir/alone.out" "$dir/counted.out"
    echo "FAIL: the crossings of 16 MiB were not counted"
    exit 1
}

# Proves that a loop too large to simulate runs at three sizes that tell its bandwidth, within 3 %: its loads miss, and
# how far CTAs end apart by loads that happen to be late grows with the root of the size (221.2 and 221.3 without them).
printf 'test,variant,gpus,ctas,threads,bytes,value,unit\nstream_bw,read16,0>1,8,256,134217728,200,GB/s\n' >"$dir/loop.csv"
for crossings in 100000000 4000000; do
    "$FANOUT" validate --format csv --crossings $crossings "$dir/loop.csv" |
        awk -F, '$1 == "file" { for (i = 1; i <= NF; i++) at[$i] = i; next }
                 $1 == "loop.csv" && NF > 8 { print $at["simulated"], $at["extrapolated"] }'
done >"$dir/loop.out"
awk '{ v[NR] = $1; x[NR] = $2 }
     END { exit !(x[1] == "false" && x[2] == "true" && v[1] > 0 && (v[2] / v[1] - 1)^2 < 0.03^2) }' "$dir/loop.out" || {
    cat "$dir/loop.out"
    echo "FAIL: a loop extrapolated is not the same loop in full"
    exit 1
}
echo "PASS: validate"

# Proves that columns of the file's own are kept, that a row whose algorithm its program does not have is skipped by name,
# and that a row of a framework's program runs.
cat >"$dir/own.csv" <<END
$header,note
k1,small,dgx-h100,8,all_reduce,unicast,,,kernel,4096,5,graph,,nowhere,"mine, too"
k2,small,dgx-h100,8,all_reduce,auto,,,vllm,4096,5,graph,,nowhere,
k3,small,dgx-h100,2,all_reduce,oneshot,,36,kernel,4096,5,graph,,nowhere,
END
"$FANOUT" validate --format csv --jobs 1 --resume "$dir/journal" "$dir/own.csv" >"$dir/own.out" 2>"$dir/err"
grep -q "mine, too" "$dir/own.out" && grep -q "'unicast' is none of the program 'kernel'" "$dir/own.out" &&
    [ "$(grep -c 'value' "$dir/journal")" = 2 ] || {
    cat "$dir/own.out" "$dir/err"
    echo "FAIL: own columns, refused rows or the journal"
    exit 1
}
# Proves that a run goes on from the journal of one that was cut off in the middle of a line, with the same report, and
# that a journal of other settings is refused.
head -c "$(($(wc -c <"$dir/journal") - 9))" "$dir/journal" >"$dir/cut"
"$FANOUT" validate --format csv --jobs 1 --resume "$dir/cut" "$dir/own.csv" >"$dir/again.out" 2>"$dir/err"
cmp "$dir/own.out" "$dir/again.out" || { cat "$dir/err"; echo "FAIL: the resumed report is another one"; exit 1; }
"$FANOUT" validate --seed 2 --resume "$dir/journal" "$dir/own.csv" >/dev/null 2>"$dir/err"
[ $? -eq 1 ] && grep -q 'other settings' "$dir/err" || { cat "$dir/err"; echo "FAIL: settings of a journal"; exit 1; }
