#!/bin/sh
# Proves that published rows that nothing was calibrated on are met as well as recorded, in each group of targets, that
# a group that gets worse is noticed by its name, that rows are halved and drawn by their ids alone, and that errors are
# told by NCCL's version.
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

# --sample takes those of a group and half whose ids have the lowest SHA-256, and --half leaves out the other half.
grep -E '^id|,dgx-h100,.*,eager,' "$dir/small.csv" >"$dir/eager.csv"
right=$(for id in $(sed 1d "$dir/eager.csv" | cut -d, -f1); do
    [ "$(half "$id")" = judge ] && echo "$(printf %s "$id" | sha256sum | cut -d' ' -f1) $id"
done | sort | head -1 | cut -d' ' -f2)
rows=$(sed 1d "$dir/eager.csv" | wc -l)
"$FANOUT" validate --half judge --sample 1 "$dir/eager.csv" >"$dir/drawn" 2>"$dir/err" || { cat "$dir/err"; exit 1; }
[ -n "$right" ] && grep -q "1 of $rows rows" "$dir/drawn" && grep -q " $right " "$dir/drawn" || {
    cat "$dir/drawn"
    echo "FAIL: '$right' was not drawn, and it alone"
    exit 1
}
for wrong in "--half both" "--sample 0"; do
    "$FANOUT" validate $wrong "$dir/eager.csv" >/dev/null 2>"$dir/err"
    [ $? -eq 1 ] && grep -q -e "${wrong%% *}: .*\(judge\|at least 1\)" "$dir/err" ||
        { cat "$dir/err"; echo "FAIL: $wrong"; exit 1; }
done

# The table by version has each row of NCCL that judges once.
told=$(sed -n '/by its version/,/^#$/p' "$dir/out" |
    awk '$1 ~ /^2\./ { n += $2 } $1 == "not" { n += $3 } END { print n + 0 }')
right=$(for id in $ids; do [ "$(half "$id")" = judge ] && grep -h "^$id," "$dir/sample.csv"; done |
    grep -c -E ',nccl(-sym|-registered)?,')
[ "$told" -eq "$right" ] && [ "$right" -gt 0 ] || { echo "FAIL: $told rows by version, not $right"; exit 1; }
