#!/bin/sh
# Proves that addresses do not follow from who asks first, also where no launcher has numbered the processes of a job: two
# of them take memory of one GPU, of another and of the host; whichever of the two computes for long before, the report is
# the same to the byte, the bytes on each link included.
set -eu
. "$TOP_SRCDIR/tests/wire/program.sh"
build seats
for late in 0 1 none 1 0; do
    env -u RANK -u PMI_RANK -u PMIX_RANK -u OMPI_COMM_WORLD_RANK -u MV2_COMM_WORLD_RANK -u SLURM_PROCID \
        timeout 60 "$FANOUT" exec -s dgx-h100 --report "$dir/$late.json" -- "$dir/seats" "$late" >"$dir/out" 2>&1 ||
        { cat "$dir/out"; exit 1; }
    [ -f "$dir/first.json" ] || cp "$dir/$late.json" "$dir/first.json"
    cmp "$dir/first.json" "$dir/$late.json" || { echo "process $late computes first: another report"; exit 1; }
done
grep -q '"gpus": 8' "$dir/first.json" || { echo "no report"; exit 1; }
echo "the same addresses, whoever comes first"
