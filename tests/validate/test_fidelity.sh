#!/bin/sh
# Proves that published rows that nothing was calibrated on are met as well as recorded, in each group of targets, that
# a group that gets worse is noticed by its name, and that rows are halved by their ids alone.
set -u
reference="$TOP_SRCDIR/validate/reference/published"
record="$TOP_SRCDIR/tests/validate/fidelity.sample"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

ids=$(grep -v '^#' "$TOP_SRCDIR/tests/validate/fidelity.ids")
grep '^id,' "$reference/aic.csv" >"$dir/sample.csv"
for id in $ids; do
    grep -h "^$id," "$reference/aic.csv" "$reference/nvl72.csv" "$reference/nvl72_wide.csv" \
        "$reference/nccl_versions.csv" || echo "FAIL: no row $id" >&2
done >>"$dir/sample.csv" 2>"$dir/missing"
[ ! -s "$dir/missing" ] || { cat "$dir/missing"; exit 1; }

"$FANOUT" validate --fidelity auto --crossings 100000 --jobs 2 --record "$record" "$dir/sample.csv" \
    >"$dir/out" 2>"$dir/err" || {
    cat "$dir/err"
    echo "FAIL: a group is worse than recorded"
    exit 1
}
for key in $(grep -v '^#' "$record" | cut -d' ' -f1); do
    [ "$key" != "${key%.judge}" ] || { echo "FAIL: $key is not of the half that judges"; exit 1; }
done
grep -q 'eager rows below 4 MiB  *judge  *6  *0 ' "$dir/out" || { grep judge "$dir/out"; echo "FAIL: the groups"; exit 1; }

grep -E '^id|-1024,|-32768,' "$dir/sample.csv" >"$dir/small.csv"
"$FANOUT" validate --jobs 2 --set launch.thread_nccl_ps=30000000 --record "$record" "$dir/small.csv" \
    >/dev/null 2>"$dir/err"
[ $? -eq 2 ] && grep -q 'eager.judge' "$dir/err" || { cat "$dir/err"; echo "FAIL: launches of 30 us went unnoticed"; exit 1; }

# The half of a row is the first digit of its id's SHA-256: 0 to 7 to calibrate with, 8 to f to judge by.
half() { case $(printf %s "$1" | sha256sum) in [0-7]*) echo calibrate ;; *) echo judge ;; esac; }
for id in $ids; do
    grep -q " $id .* $(half "$id") *$" "$dir/out" || {
        grep "$id" "$dir/out"
        echo "FAIL: $id is not of the half $(half "$id")"
        exit 1
    }
done
