#!/bin/sh
# Proves that a fault with a time breaks just what a replay has under way then: of three equal all-reduces the one that a
# degraded link meets takes as long as a collective on a fabric that always has it, and costs as much; the others take
# what they always take; and that lost requests, and a fabric that gets stuck, end with exit code 2.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

cat >three.trace <<'END'
fanout-trace 1
world 8
rank *
1 all_reduce bytes=1048576 dtype=f32 stream=1
2 compute 100us stream=1
3 all_reduce bytes=1048576 dtype=f32 stream=1
4 compute 100us stream=1
5 all_reduce bytes=1048576 dtype=f32 stream=1
END

# field NAME FILE: the first value of that name in a JSON report.
field() { grep -o "\"$1\": *[0-9.]*" "$2" | head -n 1 | sed 's/.*: *//'; }

replay() { "$FANOUT" replay three.trace -s dgx-h100 -a nvls --no-compare --format json "$@"; }
coll() { "$FANOUT" coll all_reduce -s dgx-h100 -a nvls -b 1M --data off --format json "$@"; }

slow=link_degraded=gpu0.link3:25
replay >well
replay --fault $slow@100us-200us >middle
replay --fault $slow@100us-120us --no-memo >part
coll >one
coll --fault $slow >one-slow
awk -v well="$(field total_us well)" -v middle="$(field total_us middle)" -v part="$(field total_us part)" \
    -v one="$(field time_us one)" -v slow="$(field time_us one-slow)" 'BEGIN {
        if (well < 200 + 3 * one - 0.05 || well > 200 + 3 * one + 0.05) print "three of", one, "us and 200 us are", well
        if (middle < well + slow - one - 0.05 || middle > well + slow - one + 0.05)
            print "one of three takes", slow, "instead of", one, "us: ", middle, "after", well
        if (part <= well || part >= middle) print "a fault of a part costs", part, "between", well, "and", middle
    }' >wrong
[ ! -s wrong ] || complain "$(cat wrong)"
[ "$(field waited_us middle)" = "$(field waited_us one-slow)" ] ||
    complain "waited $(field waited_us middle) us, in a collective alone $(field waited_us one-slow)"
[ "$(field from_us middle)" = 100.000 ] || complain "it came at $(field from_us middle) us in the timeline"

# What is over before anything crosses, or comes when all is done, costs nothing.
for time in 30us-40us 1s; do
    replay --fault $slow@$time >never
    [ "$(field total_us never)" = "$(field total_us well)" ] || complain "@$time: $(field total_us never) us"
    [ "$(field waited_us never)" = 0.000 ] || complain "@$time: packets waited $(field waited_us never) us"
done

# ends PATTERN FAULT OPTION...: exit code 2.
ends() {
    pattern=$1
    shift
    status=0
    replay --fault "$@" >out 2>err || status=$?
    [ $status = 2 ] || complain "$*: exit $status"
    cat out err | grep -q -e "$pattern" || complain "$*: no '$pattern'"
}
ends "gpu2: is silent" gpu_silent=gpu2@232us
ends "requests ended with an error" link_down=gpu0.link3@190us -a ring --set fault.manager_ps=1000000 \
    --set fault.request_timeout_ps=20000000
refuses "flows know no faults in time" replay three.trace -s dgx-h100 --fidelity flow --fault $slow@1us
finish
