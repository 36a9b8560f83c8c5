#!/bin/sh
# Proves that reports open with an answer, and that what the answer says is so: "what would help" is the time of a run
# with those settings, is not looked for where it was not asked for and would take long, and says so; and table,
# systems, ptx, doctor and fabric say what their rows say.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

# opens PATTERN ARG...: the second line is an answer, and one of the answers is like PATTERN.
opens() {
    what=$1
    shift
    says "^# > $what" "$@"
    sed -n 2p out | grep -q '^# > ' || complain "fanout $*: does not open with an answer: $(sed -n 2p out)"
}

time_of() { "$FANOUT" coll all_reduce --no-what-if --no-compare --format json "$@" | python3 -c '
import json, sys
print("%.2f" % json.load(sys.stdin)["rows"][0]["time_us"])'; }

# Eight reduction tags hold 64K back; sixteen take what a run with sixteen takes, and its sentence stands above the row.
set -- -s teach-4gpu -a nvls -b 64K --set switch.reduction_tags=8
more=$(time_of -s teach-4gpu -a nvls -b 64K --set switch.reduction_tags=16)
opens "what would help: twice the tags .*switch.reduction_tags=16.* takes $more us, [0-9]* % less" coll all_reduce "$@"
sed -n '2,/^[^#]/p' out | grep -q 'what would help' || complain "what would help stands below the row: $(cat out)"
"$FANOUT" coll all_reduce "$@" --no-what-if >out
grep -q 'what would\|not tried: twice' out && complain "--no-what-if: $(cat out)"
[ "$(tail -n 1 out)" != "" ] || complain "--no-what-if prints nothing"

# A program that reads JSON gets no second run unless it asks; it is told what was not tried.
"$FANOUT" coll all_reduce "$@" --format json >out
grep -q 'not tried: twice the tags' out || complain "JSON: does not say what was not tried"
grep -q 'what would help' out && complain "JSON: a second run that was not asked for"
"$FANOUT" coll all_reduce "$@" --format json --what-if >out
grep -q "what would help: twice the tags.* takes $more us" out || complain "JSON --what-if: $(cat out)"

# What the wires limit is helped by quicker wires alone; 4M is above the bound, which counts packets, not seconds.
set -- -s teach-4gpu -a nvls -b 4M --fidelity packet
opens 'not tried: twice the rate of each link (link.rate_MBps=[0-9]*) (--what-if' coll all_reduce "$@"
# A run that nothing of the fabric holds up gets no such sentence.
"$FANOUT" coll barrier -s teach-4gpu >out
grep -q 'what would\|twice' out && complain "a barrier: $(cat out)"
refuses 'give one of them' coll all_reduce --what-if --no-what-if

# The other verbs.
says '^# > calls of nccl take [0-9.]* us (all_reduce of 2 GPUs at 4K) to [0-9.]* us (all_reduce of 4 GPUs at 64K)' \
    table -s teach-4gpu --ops all_reduce --gpus 2,4 --sizes 4K,64K
rows=$("$FANOUT" systems dgx-h100 --diff dgx-h200 --format csv | tail -n +2 | wc -l)
opens "$rows of [0-9]* parameters differ: [0-9]* of \[" systems dgx-h100 --diff dgx-h200
opens '0 of [0-9]* parameters differ$' systems dgx-h100 --diff dgx-h100
opens 'simulations work' doctor
PATH=/nowhere "$FANOUT" doctor >out || complain "doctor: exit $?"
grep -q '^# > simulations work; not usable here.*gnuplot' out || complain "doctor does not say what is missing: $(sed -n 2p out)"
cat >two.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry good() { ret; }
.visible .entry bad() { wiggle.u32 %r1; ret; }
END
opens '1 of its 2 functions run; bad cannot be launched' ptx two.ptx
sed '/wiggle/d' two.ptx >one.ptx
opens 'its function runs' ptx one.ptx
"$FANOUT" fabric status >out 2>err || complain "fabric status: $(cat err)"
grep -q '^# > ' out || complain "fabric status opens with no answer: $(cat out)"
finish
