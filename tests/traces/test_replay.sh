#!/bin/sh
# The public traces through the command line: each replays with nvls and with ring, on a rack and, where its ranks
# fit, on one node; the counts are those of the files; too many ranks are refused, folded ones are not.
# TRACES_ALL=1 replays the long ones whole as well.
set -eu
fanout=${FANOUT:-./fanout}
traces=${FANOUT_SHARED:-}/traces
if [ ! -d "$traces" ]; then
    echo "skipped: no public traces in '$traces'; FANOUT_SHARED=FOLDER names the reference files"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}

# replay EXPECTED_OP EXPECTED_COUNT TRACE OPTION...: the sum of the counts of one operation, in a CSV report.
replay() {
    op=$1 count=$2 trace=$3
    shift 3
    "$fanout" replay "$traces/$trace" --no-compare --format csv "$@" >"$work/out" 2>"$work/err" ||
        fail "$trace $*: $(cat "$work/err")"
    got=$(grep -v '^#' "$work/out" | awk -F, -v op="$op" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["op"] == op { n += $at["count"] }
        END { print n + 0 }')
    [ "$got" = "$count" ] || fail "$trace $*: $got times $op, should be $count"
}

for algo in nvls ring; do
    for system in gb200-nvl72 dgx-h100; do
        replay all_reduce 1 chakra/allreduce_8npus_1MB -s $system -a $algo
        replay sendrecv 112 chakra/custom_ring_allreduce_8npus_1MB -s $system -a $algo
        replay all_reduce 1 mscclpp/reduce_nvls.json -s $system -a $algo
    done
    replay sendrecv 31 goal/binary_tree_32.goal -s gb200-nvl72 -a $algo
done
if [ "${TRACES_ALL:-0}" = 1 ]; then
    for algo in nvls ring; do
        for system in gb200-nvl72 dgx-h100; do
            replay all_reduce 15 kineto/ddp_resnet_2ranks.json.gz -s $system -a $algo
            replay broadcast 6 kineto/ddp_resnet_2ranks.json.gz -s $system -a $algo
            replay all_reduce 15 pytorch-et/ddp_resnet_2gpu.json.gz -s $system -a $algo
            replay all_reduce 2 simai/microAllReduce.txt -s $system -a $algo
        done
    done
else
    replay all_reduce 1 kineto/ddp_resnet_2ranks.json.gz -s dgx-h100 -a nvls --limit 6
    replay broadcast 2 pytorch-et/ddp_resnet_2gpu.json.gz -s dgx-h100 -a ring --limit 3
    replay all_reduce 1 simai/microAllReduce.txt -s dgx-h100 -a nvls --limit 2
fi
# Flows take what packets take, within 4 %, in a fraction of the events; auto is refused.
time_us() { "$fanout" replay "$traces/simai/microAllReduce.txt" -s dgx-h100 -a nvls --limit 2 --no-compare --format csv "$@" |
    awk -F, 'NR == 2 { print $11 }'; }
awk -v packets="$(time_us)" -v flows="$(time_us --fidelity flow)" \
    'BEGIN { exit !(packets > 0 && flows > packets * 0.96 && flows < packets * 1.04 && flows != packets) }' ||
    fail "flows: $(time_us --fidelity flow) us, packets $(time_us)"
"$fanout" replay "$traces/simai/microAllReduce.txt" --fidelity auto 2>"$work/err" && fail "auto was taken"
grep -q "'auto' should be packet or flow" "$work/err" || fail "auto: $(cat "$work/err")"

code=0
"$fanout" replay "$traces/goal/binary_tree_32.goal" -s dgx-h100 >"$work/out" 2>"$work/err" || code=$?
[ $code = 1 ] || fail "32 ranks on 8 GPUs: exit $code, should be 1"
grep -q 'has 32 ranks, but dgx-h100 has 8 GPUs' "$work/err" || fail "32 ranks on 8 GPUs: $(cat "$work/err")"
replay sendrecv 31 goal/binary_tree_32.goal -s dgx-h100 --place fold

# Two jobs at once, on GPUs of their own and on the same ones; pictures; the same bytes twice.
one=$traces/chakra/allreduce_8npus_1MB two=$traces/chakra/custom_ring_allreduce_8npus_1MB
"$fanout" replay "$one" "$two" -s gb200-nvl72 --no-compare --html "$work/a.html" --perfetto "$work/a.json" >"$work/a"
"$fanout" replay "$one" "$two" -s gb200-nvl72 --no-compare >"$work/b"
cmp "$work/a" "$work/b" || fail "the same replay twice: different bytes"
grep -q '</svg>' "$work/a.html" || fail "no timeline in the HTML"
grep -q 'all_reduce 1048576 B' "$work/a.json" || fail "no all_reduce in the Perfetto file"
"$fanout" replay "$one" "$two" -s dgx-h100 --place same --no-compare >"$work/c" || fail "two jobs on the same GPUs"

# What is written is read back: the same counts.
"$fanout" convert "$two" "$work/w.trace"
"$fanout" convert "$work/w.trace" "$work/w.et"
"$fanout" convert "$work/w.0.et" "$work/v.trace"
cmp "$work/w.trace" "$work/v.trace" || fail "text to Chakra and back: different"
"$fanout" convert "$work/w.trace" "$work/w.goal"
traces=$work
replay sendrecv 112 w.goal -s dgx-h100
echo "the public traces replay"
