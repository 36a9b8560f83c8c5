#!/bin/sh
# What threads send each other by TCP within one host arrives before simulated time goes on: no acknowledgement is waited
# for that the host sends 40 ms later, so that sleeps between two looks are as many on each run. A launcher (mpirun)
# talks to its ranks so.
set -eu
. "$TOP_SRCDIR/tests/wire/program.sh"
build messages -lpthread

# One sleep of 10 us for each of ten pairs: while the sender sleeps, the other side has both. The option that keeps TCP
# from waiting is the program's to change.
cat >"$dir/right" <<'END'
1 1 1 1 1 1 1 1 1 1 sleeps
100.000 us
as the program says: 0
END
for run in 1 2 3 4 5; do
    timeout 60 "$FANOUT" exec --report "$dir/report.json" -- "$dir/messages" >"$dir/out"
    diff "$dir/right" "$dir/out" || { echo "run $run differs"; exit 1; }
done
echo passed
