#!/bin/sh
# Proves that a job which is told to end does so although one of its ranks runs without a call and so keeps simulated time
# from running: the launcher's wait of a second before it kills the rank passes (tests/wire/ending.c).
set -eu
. "$TOP_SRCDIR/tests/wire/program.sh"
build ending
for signal in TERM HUP; do
    : >"$dir/out" # or what the job before has said may be read before the new one begins
    # Without a watchdog of its own it would wait for ever; 60 s are for a busy machine, it takes about one.
    timeout --foreground -s KILL 60 "$FANOUT" exec -s teach-4gpu --report "$dir/report.json" -- "$dir/ending" $signal \
        >"$dir/out" 2>"$dir/err" &
    job=$!
    until grep -q runs "$dir/out" 2>/dev/null; do
        kill -0 $job || { cat "$dir/err"; exit 1; }
        sleep 0.1
    done
    kill -$signal $job # timeout hands it on to exec alone
    code=0
    wait $job || code=$?
    [ $code = 3 ] || { echo "SIG$signal: ended with $code, 3 is the launcher's own"; cat "$dir/err"; exit 1; }
    grep -q '"time_forced": [1-9]' "$dir/report.json" ||
        { echo "SIG$signal: the report does not say that the host decided"; exit 1; }
done
echo "told to end, the job ended"
