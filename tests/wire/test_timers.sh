#!/bin/sh
# Proves that timers that are descriptors (timerfd) run in simulated time: once and in periods, by reads, poll and epoll,
# until a moment of the clock, stopped, closed and over a fork; each is as long as it says to the ns, in each of three runs.
set -eu
. "$TOP_SRCDIR/tests/wire/program.sh"
build timers
cat >"$dir/right" <<'END'
begin 0 0.000
once 1 250000.000
first 1 40000.000
second 1 15000.000
third 1 15000.000
slept 0 100000.000
six 6 0.000
left 5000 every 15000
stopped 0
slept 0 100000.000
nothing yet 1 0.000
epoll 1 7000.000
epoll 1 0.000
poll 0 2000000.000
poll 1 993000.000
which 1 0.000
read 1 0.000
until 0 0.000
until 1 5000000000.000
past 0 0.000
past 1
wrong 1
no timer 1
closed 1 1000000.000
child 7 10000.000
parent 1 50000.000
END
for run in 1 2 3; do
    timeout 60 "$FANOUT" exec -s teach-4gpu -- "$dir/timers" >"$dir/out" 2>"$dir/err" </dev/null ||
        { echo "ended with $?"; cat "$dir/out" "$dir/err"; exit 1; }
    diff "$dir/right" "$dir/out" || exit 1
done
echo passed
