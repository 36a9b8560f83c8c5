#!/bin/sh
# Proves that text opens with its answer, whoever reads it, and that rows of a run of more than five seconds are shown as
# they are done, on standard error, or on a terminal, and where both streams are one file, there and then; that Ctrl-C
# and SIGTERM print and write what is finished, marked incomplete, with exit 130, in verbs with rows, in a walk and in all others, and a second one ends at once; that an error keeps the
# rows before it; that progress is told on a terminal alone; and that a search for the best ends early what cannot win,
# with the right winner.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

# Waits until so many rows like PATTERN are shown, for a minute at most.
wait_for() { # LINES PATTERN
    for _ in $(seq 1200); do
        [ "$(grep -c -e "$2" err)" -lt "$1" ] || return 0
        sleep 0.05
    done
    complain "no $1 lines like $2: $(cat out err)"
}
# interrupt SIGNAL LINES PATTERN ARG...: starts, waits for rows, interrupts. The command takes far longer than that.
interrupt() {
    signal=$1 lines=$2 pattern=$3
    shift 3
    : >err
    env -u FANOUT_QUIET "$FANOUT" "$@" --html "$work/page.html" >out 2>err &
    pid=$!
    wait_for "$lines" "$pattern"
    kill -s "$signal" $pid
    status=0
    wait $pid || status=$?
    [ "$status" = 130 ] || complain "$1, $signal: exit $status, not 130: $(cat err)"
    grep -q 'the report is incomplete' err || complain "$1, $signal: not said: $(cat err)"
    grep -q '</html>' page.html && grep -q 'incomplete: ' page.html || complain "$1, $signal: no page of what was done"
    sleep 0.2
    # Who has the page's name among its arguments; not this grep, whose pattern is not what it looks for.
    ! grep -ls -e "$work/page[.]html" /proc/[0-9]*/cmdline >left || complain "$1, $signal: workers still run: $(cat left)"
}
# A run of many rows, which sleeps for five seconds in between, as if it took so long.
slow() { # COMMAND [ARG...]
    "$@" &
    pid=$!
    sleep 0.3
    kill -s STOP $pid
    sleep 5.2
    kill -s CONT $pid
    wait $pid || complain "$*: exit $?"
}
long='coll all_reduce -s dgx-h100 -a ring -b 512K -e 2M -f 2 --fidelity packet --no-what-if'
# shellcheck disable=SC2086
"$FANOUT" $long >whole 2>err || complain "$long: exit $?"
sed -n 2p whole | grep -q '^# > ' && [ ! -s err ] || complain "does not open with its answer: $(cat whole err)"
# shellcheck disable=SC2086
(unset FANOUT_QUIET && slow "$FANOUT" $long >out 2>err)
cmp -s out whole || complain "a slow run prints something else: $(diff whole out)"
[ "$(grep '^  all_reduce' err)" = "$(grep '^  all_reduce' whole)" ] || complain "rows are not shown as they are done: $(cat err)"
grep -q '^fanout: rows as they are done; the report follows on standard output, with its answer first$' err ||
    complain "it is not said why: $(cat err)"
# shellcheck disable=SC2086
slow "$FANOUT" $long >out 2>err
[ ! -s err ] || complain "FANOUT_QUIET is not quiet: $(cat err)"
# Who has both streams in one file or pipe has each row once, as it was done, and what is left below, the answer with it.
grep '^  all_reduce' whole >rows
# shellcheck disable=SC2086
(unset FANOUT_QUIET && slow "$FANOUT" $long >out 2>&1)
grep '^  all_reduce' out | cmp -s - rows || complain "2>&1: not each row once: $(cat out)"
sed '/^  all_reduce/,$d' out | grep -q '^# > ' && complain "2>&1: rows that are done wait for the answer: $(cat out)"
grep -v -e '^fanout: ' -e '^#$' out | sort >lines
grep -v '^#$' whole | sort | cmp -s - lines || complain "2>&1: other lines: $(sort whole | diff - lines)"
# shellcheck disable=SC2086
(unset FANOUT_QUIET && { slow "$FANOUT" $long 2>&1 || echo "exit $?"; } | cat >out)
grep '^  all_reduce' out | cmp -s - rows || complain "2>&1 into a pipe: not each row once: $(cat out)"
# shellcheck disable=SC2086
slow "$FANOUT" $long >out 2>&1
cmp -s out whole || complain "FANOUT_QUIET, 2>&1: $(diff whole out)"
if command -v script >/dev/null; then
    script -qec "'$FANOUT' coll all_reduce -s teach-4gpu -a ring -b 4K -e 16K" /dev/null </dev/null 2>&1 | tr -d '\r' | sed 's/^\(.\[K[^#]*\)*\(.\[K\)//' >out
    sed -n 2p out | grep -q '^# > ' || complain "a terminal gets no answer first: $(cat out)"
    script -qec "'$FANOUT' coll all_reduce -a ring -b 4K -e 512M -f 2 --fidelity packet" /dev/null >err </dev/null &
    pid=$!
    wait_for 2 '  all_reduce'
    kill -s TERM "$(cat /proc/$pid/task/$pid/children)" && wait $pid || true
    sed '/  all_reduce/,$d' err | grep -q '^# > ' && complain "a terminal waits for its rows: $(cat err)"
fi

sed '/^#/d' "$TOP_SRCDIR/validate/reference/h200/latency.csv" | head -n 8 >rows.csv
for big in 1 2 3 4; do # minutes of work, behind what is done at once
    echo "stream_bw,read16,0>1,$big,1024,1073741824,100,GB/s"
done >>rows.csv
for signal in INT TERM; do
    interrupt $signal 2 '^  all_reduce' coll all_reduce -a ring -b 4K -e 512M -f 2 --fidelity packet
    grep -q '^# incomplete: .* after [0-9]* of 18 steps' out || complain "coll: not marked: $(cat out)"
    interrupt $signal 1 '^  multicast_bw' bench multicast_bw --bytes 64K,1G,2G,4G --crossings 100000000000
    grep -q '^# incomplete: .* after 1 of 4 steps' out || complain "bench: not marked: $(cat out)"
    interrupt $signal 3 '^  rows.csv' validate rows.csv --jobs 1 --crossings 100000000000
    grep -q '^# incomplete: .* after [0-9]* of 11 steps' out || complain "validate: not marked: $(cat out)"
    grep -q '^# by group' out || complain "validate: no summary of what was done"
done
# In JSON and CSV too; the rows are those of a run that was not interrupted.
interrupt_to() { # FORMAT
    : >out
    "$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 4K -e 512M -f 2 --fidelity packet --format "$1" --html page.html >out 2>err &
    pid=$!
    sleep 2
    kill -s INT $pid
    status=0
    wait $pid || status=$?
    [ "$status" = 130 ] || complain "--format $1: exit $status"
}
interrupt_to json
grep -q '"incomplete": true' out && grep -q '"bytes": 4096,' out || complain "json: $(cat out)"
! command -v python3 >/dev/null || python3 -c 'import json; json.load(open("out"))' || complain "json: no object"
interrupt_to csv
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 4K --fidelity packet --format csv >whole
[ "$(head -n 2 out)" = "$(cat whole)" ] || complain "csv: other rows: $(head -n 2 out)"
! grep -q incomplete out || complain "csv: a line that is no row"

# A walk prints its steps at its end: those that were taken are there, and its files. Links so long, with so much other
# traffic on them, take a minute.
long_walk() { # SIGNAL SECONDS FORMAT
    rm -f page.html walk.json walk.csv walk.vcd
    "$FANOUT" walk multimem.st -s dgx-h100 --background 0.8 --set link.flight_ps=100000000 \
        --set link.credits_switch_flits=1048576 --set link.credits_gpu_flits=1048576 --html page.html \
        --perfetto walk.json --stats walk.csv --format "$3" >out 2>err &
    pid=$!
    sleep "$2"
    kill -s "$1" $pid
    status=0
    wait $pid || status=$?
    [ "$status" = 130 ] || complain "walk, $1: exit $status, not 130: $(cat err)"
    grep -q 'after [0-9]* steps; the report is incomplete' err || complain "walk, $1: not said: $(cat err)"
    grep -q '</html>' page.html && grep -q 'incomplete: ' page.html || complain "walk, $1: no page of what was done"
    grep -q traceEvents walk.json && [ -s walk.csv ] || complain "walk, $1: not all of its files"
}
long_walk INT 1 text
grep -q '^ *0.0  gpu0.sm0' out && grep -q '^# incomplete: interrupted (SIGINT) after [1-9][0-9]* steps' out ||
    complain "walk: no steps, or not marked: $(cat out)"
long_walk TERM 1 json
python3 -c 'import json
walk = json.load(open("out"))
assert walk["incomplete"] is True and walk["steps"] and "verified" not in walk' 2>err || complain "walk: $(cat err out)"

# Verbs that finish nothing before their end say by what they were ended; so does the program of exec. A background
# command of this shell ignores SIGINT, as verbs that have nothing to show do then, too.
mkfifo input.trace
ends() { # ARG...
    "$FANOUT" "$@" >out 2>err &
    pid=$!
    sleep 1
    kill -s TERM $pid
    status=0
    wait $pid || status=$?
    [ "$status" = 130 ] || complain "$1: exit $status, not 130: $(cat err)"
    [ "$(wc -l <err)" = 1 ] || complain "$1: not one line: $(cat err)"
}
for verb in "convert input.trace out.goal" "replay input.trace" "compare input.trace input.trace" "ptx input.trace" \
    "plot input.trace" "exec -- tail -f /dev/null"; do
    # shellcheck disable=SC2086
    ends $verb
done
[ ! -e out.goal ] || complain "convert: a file was left"

# A second one ends it at once, whatever the first is at: its output has nowhere to go.
mkfifo pipe
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls,ring -b 4K -e 512M -f 2 --fidelity packet --format json >pipe 2>err &
pid=$!
exec 9<pipe
sleep 1
kill -s STOP $pid
kill -s INT $pid
kill -s CONT $pid
sleep 1
kill -s TERM $pid 2>/dev/null || true
status=0
wait $pid || status=$?
[ "$status" = 130 ] || [ "$status" = 143 ] || complain "a second signal: exit $status"
exec 9<&-

# An error in the middle keeps what was before it, and is said. What can be known is said before anything runs.
refuses "no algorithm 'push'" coll all_reduce -s teach-4gpu -a nvls,push -b 4K
refuses 'more than a simulated' coll all_reduce -s teach-4gpu -a nvls -b 1M -e 1T -f 1048576
status=0
"$FANOUT" bench multicast_bw -s teach-4gpu --bytes 16K,1 >out 2>err || status=$?
[ "$status" = 1 ] && grep -q '^  multicast_bw' out && grep -q '^# incomplete: an error' out && grep -q 'moves nothing' err ||
    complain "bench: an error in the middle: exit $status: $(cat out err)"

# Progress on a terminal, and none elsewhere.
if command -v script >/dev/null; then
    script -qec "'$FANOUT' coll all_reduce -s teach-4gpu -a best -b 4K" /dev/null >out </dev/null
    grep -q '\[1/1\] all_reduce 4K, best' out && grep -q 'ring ll, [0-9]* of [0-9]*' out || complain "no progress: $(cat out)"
fi
"$FANOUT" coll all_reduce -s teach-4gpu -a best,nvls -b 4K >out 2>err
[ ! -s err ] || complain "progress without a terminal: $(cat err)"

# A run that is not on a terminal does not wait in silence: after five seconds it says what it does.
(unset FANOUT_QUIET; exec timeout 8 "$FANOUT" coll all_reduce -s dgx-h100 -a ring -b 512M --fidelity packet >out 2>err) || :
grep -q '^fanout: after 5 s: \[1/1\] all_reduce 512M, ring$' err || complain "after five seconds: $(cat err)"

# The best is what trying all finds, and the sentence about it says against what.
for op in all_reduce all_gather; do
    for size in 4K 256K; do
        "$FANOUT" coll $op -s teach-4gpu -a best -b $size --format csv | sed -n 2p | cut -d , -f 10 >best
        "$FANOUT" coll $op -s teach-4gpu -a unicast -b $size --format csv | sed -n 2p | cut -d , -f 10 >unicast
        : >all
        : >without
        for algo in ring tree oneshot twoshot push nvls nvls_oneshot nvls_buffered lamport sym_ll sym_llmc sym_lsa sym_mc; do
            for proto in simple ll ll128; do
                time=$("$FANOUT" coll $op -s teach-4gpu -a $algo -p $proto -b $size --format csv 2>/dev/null |
                    sed -n 2p | cut -d , -f 10)
                [ -n "$time" ] || continue
                echo "$time" >>all
                case $algo in nvls* | sym_llmc | sym_mc) ;; *) echo "$time" >>without ;; esac
            done
        done
        [ "$(sort -n all | head -n 1)" = "$(cat best)" ] || complain "$op $size: best is $(cat best), not $(sort -n all | head -n 1)"
        [ "$(sort -n without | head -n 1)" = "$(cat unicast)" ] || complain "$op $size: unicast is $(cat unicast)"
    done
done
"$FANOUT" coll all_reduce -a nvls,ring -b 1M >out || complain "nvls,ring: exit $?"
grep -q '^# > at 1M nvls simple is 1.48 times as fast as sym_lsa simple, the fastest without multicast$' out ||
    complain "against what? $(grep '^# at' out)"
"$FANOUT" coll all_reduce -a nvls,ring -p ll -b 64K --no-compare --format csv >out || complain "nvls,ring -p ll: exit $?"
[ "$(cut -d , -f 6,7 out | sed 1d | tr '\n' ' ')" = 'nvls,simple ring,ll ' ] || complain "-p ll: $(cat out)"
refuses "no protocol 'll'" coll all_reduce -a nvls -p ll -b 64K
# Of 36 ranks most candidates end early, in the middle of what they do: all together cost a few times the winner's own
# run, and a sanitizer finds nothing that stays.
timeout 300 "$FANOUT" coll all_reduce -n 36 -a best -b 1M -s gb200-nvl72 --format csv >out || complain "best of 36: exit $?"
grep -q '^all_reduce,1048576,.*,36,.*,packet,' out || complain "best of 36: $(cat out)"
# Of large sizes candidates run in flows first, and few of them in packets: the answer is still the one that is fastest in
# packets, with its own time.
"$FANOUT" coll all_reduce -a best -b 16M --data off --format csv >out || complain "best of 16M: exit $?"
"$FANOUT" coll all_reduce -a nvls,sym_mc,twoshot -p simple -b 16M --data off --no-compare --format csv >all || complain "of 16M: exit $?"
fastest=$(sed 1d all | sort -t , -g -k 10 | head -n 1 | cut -d , -f 6,10)
[ "$(sed 1d out | cut -d , -f 6,10)" = "$fastest" ] || complain "best of 16M: $(cat out all)"
# In flows, too, a candidate that ends early leaves a simulation that can be freed.
"$FANOUT" coll all_reduce -a best -b 64M --fidelity flow --format csv >out || complain "best in flows: exit $?"
grep -q '^all_reduce,67108864,.*,flow,' out || complain "best in flows: $(cat out)"

finish
