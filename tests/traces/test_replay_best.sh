#!/bin/sh
# What a replay says that multicast would save is the best with it against the best without: the same whatever -a says,
# never negative, and no other algorithm that -a can ask for is faster alone. "-a best" runs what the comparison found.
set -eu
fanout=${FANOUT:-./fanout}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}
cat >"$work/t.trace" <<'TRACE'
fanout-trace 1
world 4
rank *
1 all_reduce bytes=1024 dtype=f32
2 all_reduce bytes=524288 dtype=f32 after=1
3 all_gather bytes=65536 dtype=f32 after=2
4 all_to_all bytes=65536 dtype=f32 after=3
TRACE
total() { "$fanout" replay "$work/t.trace" -s dgx-h100 --no-compare "$@" | awk '$2 == "total_us" { print $3 }'; }
saves() { "$fanout" replay "$work/t.trace" -s dgx-h100 "$@" | sed -n 's,^# > multicast saves,# multicast saves,p'; }

saves -a auto >"$work/saves.auto"
for algo in ring best; do
    saves -a $algo >"$work/saves.$algo"
    cmp "$work/saves.auto" "$work/saves.$algo" || fail "-a $algo: $(cat "$work/saves.$algo"), by itself $(cat "$work/saves.auto")"
done
grep -q 'saves [0-9.]* us of [0-9.]* us ([0-9.]* %) against the best without it' "$work/saves.auto" || fail "$(cat "$work/saves.auto")"
best=$(total -a best)
for algo in auto nvls ring twoshot; do
    other=$(total -a $algo)
    awk -v best="$best" -v other="$other" 'BEGIN { exit !(best > 0 && best <= other * 1.0001) }' ||
        fail "best takes $best us, $algo $other us"
done
saved=$(awk '{ print $4 }' "$work/saves.auto") of=$(awk '{ print $7 }' "$work/saves.auto")
awk -v s="$saved" -v of="$of" -v best="$best" 'BEGIN { d = of - s - best; exit !(s > 0 && d < 0.02 && d > -0.02) }' ||
    fail "best takes $best us, but $saved us are saved of $of us"

# Ranks that are folded onto fewer GPUs share them, which is said; what they exchange there crosses no link.
placed() { "$fanout" replay "$work/t.trace" -s dgx-h100 -a ring --no-compare --place "$1" >"$work/placed"; }
placed 0-3
grep -q 'folds its' "$work/placed" && fail "--place 0-3 is said to fold"
grep -q '^  gpu[0-9]*\.link' "$work/placed" || fail "no links: $(cat "$work/placed")"
apart=$(awk '$2 == "total_us" { print $3 }' "$work/placed")
for place in 0,1 0,0,1,1 5; do
    placed $place
    n=$(echo $place | tr , '\n' | sort -u | wc -l)
    grep -q -e "--place $place folds its 4 ranks onto $n GPU" "$work/placed" || fail "--place $place: no note"
done
grep -q '^  gpu[0-9]*\.link' "$work/placed" && fail "all ranks on one GPU, but links carried: $(cat "$work/placed")"
folded=$(awk '$2 == "total_us" { print $3 }' "$work/placed")
[ "$folded" != "$apart" ] || fail "ranks of one GPU take the same time as ranks apart"

# Each kind of communication has its advice; what has no multicast algorithm says so.
"$fanout" replay "$work/t.trace" -s dgx-h100 | sed -n '/which algorithm is best/,/links that carried/p' |
    grep 't\.trace' >"$work/advice"
awk '{ if ($10 > $8 || $11 - 100 * ($8 - $10) / $8 > 0.2 || 100 * ($8 - $10) / $8 - $11 > 0.2) bad = 1; seen[$2 " " $5] = $0 }
    END { exit !(NR == 4 && !bad && seen["all_reduce 524288"] ~ /take (nvls|sym_mc)/ &&
                 seen["all_to_all 65536"] ~ /there is no multicast algorithm/) }' "$work/advice" ||
    fail "the advice: $(cat "$work/advice")"
"$fanout" replay "$work/t.trace" -a bets 2>"$work/err" && fail "-a bets was taken"
grep -q "'bets' should be auto, best" "$work/err" || fail "-a bets: $(cat "$work/err")"

# What auto stands for is the program's choice, told in notes.
"$fanout" replay "$work/t.trace" -s dgx-h100 --no-compare --program vllm >"$work/vllm"
grep -q '^# auto (--program vllm), all_reduce on 4 GPUs: oneshot simple, vllm.s own kernel' "$work/vllm" ||
    fail "--program vllm: $(grep '^# auto' "$work/vllm")"
"$fanout" replay "$work/t.trace" -s dgx-h100 --no-compare >"$work/nccl"
grep -q '^# auto (--program nccl), all_reduce on 4 GPUs: ring ll, the fastest' "$work/nccl" || fail "no note on auto"
"$fanout" replay "$work/t.trace" --program vlm 2>"$work/err" && fail "--program vlm was taken"
grep -q "'vlm' should be nccl" "$work/err" || fail "--program vlm: $(cat "$work/err")"
# The comparison is as cheap as the replay: of flows it is of flows, and what is packets at every fidelity is not tried
# where it cannot win (16 and 64 MiB took 58 s of processor time in a one-shot kernel whose data are flags).
cat >"$work/large.trace" <<'TRACE'
fanout-trace 1
world 8
rank *
1 all_reduce bytes=16777216 dtype=bf16
2 all_reduce bytes=67108864 dtype=bf16 after=1
TRACE
seconds=15 # of the processor
[ "${SANITIZE:-no}" = no ] || seconds=200
(ulimit -t "$seconds" && "$fanout" replay "$work/large.trace" -s dgx-h100 --fidelity flow) >"$work/large" 2>&1 ||
    fail "--fidelity flow, compared: $(tail -3 "$work/large")"
grep -q '^# > multicast saves' "$work/large" || fail "--fidelity flow: no comparison"
echo "the best with multicast is compared with the best without"
