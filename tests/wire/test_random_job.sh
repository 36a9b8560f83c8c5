#!/bin/sh
# Drawn jobs of three processes on one simulated machine leave in all memory what a model without a machine says: kernels,
# copies and fills of their own memory, of each other's, of registered memory that all have and of all devices' memory at
# once by multicast, alone and in graphs.
# RANDOM_JOBS=N: so many jobs, from RANDOM_SEED on; RANDOM_STEPS: of so many steps.
set -eu
. "$TOP_SRCDIR/tests/api/client.sh"
build_client "$TOP_SRCDIR/tests/wire/random_job.c" job -D_GNU_SOURCE -lpthread
jobs=${RANDOM_JOBS:-6} seed=${RANDOM_SEED:-1} steps=${RANDOM_STEPS:-15}
for i in $(seq "$seed" $((seed + jobs - 1))); do
    case $((i % 3)) in 0) system=gb200-nvl72 ;; 1) system=dgx-h100 ;; *) system=teach-4gpu ;; esac
    timeout 120 "$FANOUT" exec -s $system --report "$dir/report.json" -- "$dir/job" "$i" "$steps" >"$dir/out" 2>&1 ||
        { cat "$dir/out"; echo "fanout exec -s $system -- random_job $i $steps"; exit 1; }
done
echo "$jobs jobs of $steps steps: all memory is as the model says"
