#!/bin/sh
# The numbers in the sentences that reports open with, worked out by hand from inputs, or from the rows below them.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

# run ARG...: its report as JSON is in `out`.
run() { "$FANOUT" "$@" --format json >out 2>err || complain "fanout $*: $(cat err)"; }
number() { sed -n "s/^ *\"$1\": \([0-9.]*\),*$/\1/p" out | sed -n "${2:-1}p"; } # number KEY [WHICH]: of all with that key
answers() { grep -q -F -e "$1" out || complain "no '$1' in: $(sed -n '/"answer"/,/\]/p' out)"; }
by_hand() { awk "BEGIN { printf \"$1\", $2 }"; }

# Each rank computes for 5 us, and all that is left of the time is communication that nothing hides, on each rank as much.
cat >job.trace <<'END'
fanout-trace 1
world 4
rank *
1 compute 5us
2 all_reduce bytes=65536 dtype=f32 reduction=sum after=1
3 all_gather bytes=16384 dtype=f32 after=2
4 all_gather bytes=16384 dtype=f32 after=3
END
run replay job.trace -s teach-4gpu --no-compare
total=$(number total_us)
answers "the trace takes $total us on teach-4gpu with the algorithms of nccl; $(by_hand %.2f "$total - 5") us of that ($(
    by_hand %.0f "100 - 500 / $total") %) is communication that no computing hides, in the mean of the ranks"
reduce=$(number sum_us 1) gather=$(number sum_us 2)
answers "$(by_hand %.0f "100 * $gather / ($reduce + $gather)") % of the communication's own time is all_gather (2 of them)"
# Where half of the ranks compute for 15 us more, the others wait: what is exposed is 5 us less than the time on those, and
# 20 on these, 12.5 in the mean. A rank that does nothing does not count.
cat >two.trace <<'END'
fanout-trace 1
world 4
group pair 0-1
rank 0
1 compute 5us
2 all_reduce group=pair bytes=65536 dtype=f32 reduction=sum after=1
rank 1
1 compute 20us
2 all_reduce group=pair bytes=65536 dtype=f32 reduction=sum after=1
rank 2
rank 3
END
run replay two.trace -s teach-4gpu --no-compare
total=$(number total_us)
answers "takes $total us on teach-4gpu with the algorithms of nccl; $(by_hand %.2f "$total - 12.5") us of that ($(
    by_hand %.0f "100 - 1250 / $total") %) is communication that no computing hides"

# As flows nothing knows where time goes but for the launch: the part of it that is not the kernel's.
run coll all_reduce -s teach-4gpu -a ring -b 64K --fidelity flow --no-compare
time=$(number time_us) kernel=$(number kernel_us)
answers "all_reduce over 4 GPUs by ring simple takes $time us at 64K (bus bandwidth $(number busbw_GBps) GB/s)"
answers "what its time goes into at 64K: $(by_hand %.0f "100 * (1 - $kernel / $time)") % launch and exit; the links from the switches are busy for $(
    by_hand %.0f "$(number down_pct) * $time / $kernel") % of the kernel"

# In packets it is told by what requests waited for, from the table of that.
run coll all_gather -s teach-4gpu -b 64K -a nvls --no-compare --where
queueing=$(number share_pct 2) apart=$(number share_pct 1)
answers "what its time goes into at 64K: $(by_hand %.0f "$queueing") % queueing, $(by_hand %.0f "$apart") % no request under way"
answers "; $(by_hand %d "$(number round_stalls 1) + $(number round_stalls 2)") requests waited for another multicast's rounds at a switch"

run bench load_latency -s teach-4gpu --variant remote
answers 'load_latency: 808.000 ns (remote, 0>1, 1 x 1 threads, 256K)'
finish
