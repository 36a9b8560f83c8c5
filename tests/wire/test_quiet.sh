#!/bin/sh
# A thread that polls memory and calls nothing holds simulated time: after five seconds it is named. With cuda.quiet_ms
# time goes on all the same, and the report says how often, with a note that it depends on the host.
set -eu
. "$TOP_SRCDIR/tests/wire/program.sh"
build waits -lpthread

timeout 60 "$FANOUT" exec --set cuda.quiet_ms=20 --report "$dir/forced.json" -- "$dir/waits" memory >"$dir/out"
grep -qx seen "$dir/out"
grep -q '^ "time_forced": [1-9]' "$dir/forced.json" || { echo "the report does not say how often"; exit 1; }
grep -q 'depends on the host' "$dir/forced.json" || { echo "the report has no note"; exit 1; }

timeout 60 "$FANOUT" exec --report "$dir/plain.json" -- "$dir/waits" spin >"$dir/out"
if grep -q time_forced "$dir/plain.json"; then
    echo "a report of a run that nothing forced says time_forced"
    exit 1
fi

: >"$dir/err"
"$FANOUT" exec --report "$dir/plain.json" -- "$dir/waits" memory >"$dir/out" 2>"$dir/err" &
job=$!
trap 'kill $job 2>/dev/null || :; wait $job || :; rm -rf "$dir"' EXIT
said='simulated time has stood still for 5 s of the host, since thread [0-9]* (waits) of process [0-9]* runs'
waited=0
until grep -q "$said" "$dir/err"; do
    [ $waited -lt 60 ] || { echo "nobody says who runs:"; cat "$dir/out" "$dir/err"; exit 1; }
    waited=$((waited + 1))
    sleep 1
done
kill $job
wait $job || : # it writes its report yet
grep -q 'quiet_ms=20' "$dir/err"
echo passed
