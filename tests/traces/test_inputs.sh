#!/bin/sh
# Traces come by pipe as well as from files, plain or compressed, several of them too; metadata of any length may stand
# before a profile's events; a byte-order mark is no part of a text; and what has no end is refused by a line.
set -eu
fanout=${FANOUT:-./fanout}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}
profile() { # RANK, and how many bytes of metadata
    printf '{"deviceNote": "%s", "x": 1, "more": "' "$(head -c "$2" /dev/zero | tr '\0' x)"
    printf '", "distributedInfo": {"rank": %s, "world_size": 2}, "traceEvents": [{"ph": "X", "cat": "kernel", "name": ' "$1"
    printf '"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "ts": 1, "dur": 1, "args": {"stream": 20, "device": 0, '
    printf '"Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024, "dtype": "Float", "Group size": 2}}]}'
}
operations() { grep -v -e '^fanout-trace' -e '^world' -e '^rank' -e '^group' "$1" | sed 's/ duration.*//' | sort | uniq -c; }
profile 0 40000 >"$work/rank0.json"
mkdir "$work/one"
cp "$work/rank0.json" "$work/one/p.json"
"$fanout" convert "$work/one/p.json" "$work/file.trace" 2>/dev/null || fail "40 kB of metadata"
grep -q 'all_reduce .*bytes=4096 dtype=f32' "$work/file.trace" || fail "$(cat "$work/file.trace")"
same() { # WHAT, and its text
    cmp -s "$work/file.trace" "$2" || fail "$1: $(cat "$2" "$work/err")"
}
"$fanout" convert /dev/stdin - <"$work/rank0.json" >"$work/got" 2>"$work/err" || fail "a file as standard input: $(cat "$work/err")"
same "a file as standard input" "$work/got"
cat "$work/rank0.json" | "$fanout" convert /dev/stdin - >"$work/got" 2>"$work/err" || fail "a pipe: $(cat "$work/err")"
same "a pipe" "$work/got"
# However it is cut: a byte by itself first.
{ head -c 1 "$work/rank0.json" && sleep 1 && tail -c +2 "$work/rank0.json"; } | "$fanout" convert /dev/stdin - >"$work/got" \
    2>"$work/err" || fail "a pipe that begins with a byte: $(cat "$work/err")"
same "a pipe that begins with a byte" "$work/got"
gzip -c "$work/rank0.json" | "$fanout" convert /dev/stdin - >"$work/got" 2>"$work/err" || fail "gzip: $(cat "$work/err")"
same "a compressed pipe" "$work/got"
mkfifo "$work/fifo0" "$work/fifo1"
cat "$work/rank0.json" >"$work/fifo0" &
timeout 20 "$fanout" convert "$work/fifo0" - >"$work/got" 2>"$work/err" || fail "a FIFO: $(cat "$work/err")"
same "a FIFO" "$work/got"
# Two ranks, each from a pipe of its own, are one job.
profile 0 10 >"$work/fifo0" &
profile 1 70000 | gzip >"$work/fifo1" &
timeout 20 "$fanout" replay "$work/fifo0" "$work/fifo1" --no-compare --format json >"$work/got" 2>"$work/err" ||
    fail "two pipes: $(cat "$work/err")"
grep -q '"recorded_ranks": *2' "$work/got" || fail "two pipes are not one job: $(cat "$work/got")"
# What ends inside is said, by pipe too.
gzip -c "$work/rank0.json" | head -c 100 | "$fanout" convert /dev/stdin - 2>"$work/err" && fail "a cut pipe was taken"
grep -q 'stdin' "$work/err" || fail "a cut pipe: $(cat "$work/err")"

# '-' is standard input, as it is standard output.
gzip -c "$work/rank0.json" | "$fanout" convert - - >"$work/got" 2>"$work/err" || fail "'-': $(cat "$work/err")"
[ "$(grep -c 'all_reduce .*bytes=4096 dtype=f32' "$work/got")" -eq 1 ] || fail "'-': $(cat "$work/got")"

# What is packed or written otherwise is said, with what would unpack it.
packed() { # WHAT, and the octal of its first bytes
    { printf "$2" && head -c 600 /dev/zero | tr '\0' x; } >"$work/packed"
    "$fanout" convert "$work/packed" - 2>"$work/err" && fail "$1 was taken"
    grep -q "packed: is .*$1" "$work/err" || fail "$1: $(cat "$work/err")"
}
packed 'compressed by zstd, and only gzip is read: zstd -d' '\050\265\057\375'
packed 'compressed by xz, and only gzip is read: xz -d' '\3757zXZ\000'
packed 'compressed by bzip2, and only gzip is read: bzip2 -d' 'BZh9'
packed 'zip archive: unzip' 'PK\003\004'
packed 'UTF-16, and UTF-8 is read: iconv' '\377\376n\000'
packed 'tar archive: tar -x' "$(printf '%257s' | tr ' ' n)ustar"

# Ranks that were profiled over other steps: of 4 to 6 and 5 to 7 the steps 5 and 6 are taken, of both.
steps() { # RANK, and its first step
    printf '{"distributedInfo": {"rank": %s, "world_size": 2}, "traceEvents": [' "$1"
    for step in 1 2 3; do
        printf '{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%s", "ts": %s00, "dur": 99},' $((step + $2)) $step
        printf '{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "ts": %s20, "dur": 9, ' $step
        printf '"args": {"stream": 20, "device": 0, "Collective name": "allreduce", "In msg nelems": %s, ' $((step + $2))
        printf '"Out msg nelems": %s, "dtype": "Float", "Group size": 2}},' $((step + $2))
    done
    printf '{"ph": "M", "name": "x"}]}'
}
mkdir "$work/steps"
steps 0 3 >"$work/steps/rank0.json"
steps 1 4 >"$work/steps/rank1.json"
"$fanout" convert "$work/steps" - >"$work/got" 2>"$work/err" || fail "other steps: $(cat "$work/err")"
grep -q 'different steps: 5 to 6, which all of them have' "$work/err" || fail "other steps: $(cat "$work/err")"
[ "$(grep -c 'all_reduce .*bytes=20 .*step=5' "$work/got")" -eq 2 ] && [ "$(grep -c 'all_reduce .*bytes=24 .*step=6' "$work/got")" -eq 2 ] &&
    [ "$(grep -c all_reduce "$work/got")" -eq 4 ] || fail "other steps: $(cat "$work/got")"

# A byte-order mark.
mark() { printf '\357\273\277'; }
{ mark && printf 'fanout-trace 1\nworld 2\nrank *\n1 all_reduce bytes=64\n'; } >"$work/mark.trace"
"$fanout" convert "$work/mark.trace" - >"$work/got" 2>"$work/err" || fail "a trace with a mark: $(cat "$work/err")"
{ mark && cat "$work/rank0.json"; } >"$work/one/mark.json"
"$fanout" convert "$work/one/mark.json" - >"$work/got" 2>"$work/err" || fail "JSON with a mark: $(cat "$work/err")"
same "JSON with a mark" "$work/got"
printf '[link]\nflight_ps = 123000\n' >"$work/plain.ini"
{ mark && cat "$work/plain.ini"; } >"$work/mark.ini"
for ini in plain mark; do
    "$fanout" bench load_latency --config "$work/$ini.ini" --format csv >"$work/$ini" 2>"$work/err" || fail "$ini.ini: $(cat "$work/err")"
    awk -F, '!/^#/ { print $7 }' "$work/$ini" >"$work/$ini.value"
done
cmp -s "$work/plain.value" "$work/mark.value" || fail "a mark changes what a file says"

# What is said and left empty before the first line of a text is no part of it, whatever the file is called.
printf '#by hand\n\n  # twice\nfanout-trace 1\nworld 2\nrank *\n1 all_reduce bytes=64 dtype=f32\n' >"$work/said.dat"
"$fanout" convert "$work/said.dat" - >"$work/got" 2>"$work/err" || fail "comments before a trace: $(cat "$work/err")"
[ "$(sed 1q "$work/got")" = "fanout-trace 1" ] || fail "comments before a trace: $(cat "$work/got")"

# Text files of one job: each says its world, and has ranks of its own; what does not is refused by file and line.
for rank in 0 1; do
    printf 'fanout-trace 1\nworld 2\nrank %s\n1 all_reduce bytes=64 dtype=f32\n' $rank >"$work/job.$rank.trace"
done
printf 'fanout-trace 1\nrank 1\n1 all_reduce bytes=64 dtype=f32\n' >"$work/bare.trace"
"$fanout" convert "$work/job.0.trace,$work/job.1.trace" - >"$work/out" 2>"$work/err" || fail "two text files: $(cat "$work/err")"
[ "$(grep -c '^rank [01]$' "$work/out")" = 2 ] && [ "$(grep -c all_reduce "$work/out")" = 2 ] || fail "two text files: $(cat "$work/out")"
"$fanout" convert "$work/job.0.trace,$work/bare.trace" - 2>"$work/err" && fail "a text file without its world was taken"
grep -q "bare.trace:2: 'world N' should come before the first rank" "$work/err" || fail "without its world: $(cat "$work/err")"
"$fanout" convert "$work/job.0.trace,$work/job.0.trace" - 2>"$work/err" && fail "a rank was taken twice"
grep -q 'job.0.trace:3: rank 0 is given twice' "$work/err" || fail "a rank twice: $(cat "$work/err")"

# /dev/zero as any file: a line, in little memory.
for call in "convert /dev/zero -" "replay /dev/zero" "replay --from chakra /dev/zero" "bench stream_bw --config /dev/zero" \
    "bench stream_bw -s /dev/zero" "ptx /dev/zero" "validate /dev/zero" "compare /dev/zero /dev/zero" "sweep /dev/zero"; do
    (ulimit -t 20 && "$fanout" $call) >"$work/out" 2>"$work/err" && fail "$call was taken"
    [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q '/dev/zero' "$work/err" || fail "$call: $(cat "$work/err")"
done
cat /dev/zero | "$fanout" convert /dev/stdin - 2>"$work/err" && fail "a pipe of zeros was taken"
grep -q 'no known trace format' "$work/err" || fail "a pipe of zeros: $(cat "$work/err")"
echo "pipes, marks and files without end"
