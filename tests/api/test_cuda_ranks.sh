#!/bin/sh
# One process for each GPU, as real clients have it: eight ranks share a multicast object by descriptors, meet in
# a barrier of their kernels across processes, and every rank gets the right sum. One report has them all.
set -eu
. "$TOP_SRCDIR/tests/plain.sh"
example=$(dirname "$FANOUT")/examples/multicast_ranks
[ -x "$example" ] || { echo "no $example"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
timeout 100 "$FANOUT" exec -s dgx-h100 --report "$dir/report.json" -- "$example" 8 >"$dir/out"
cat "$dir/out"
[ "$(grep -c ' 0 wrong$' "$dir/out")" = 8 ] || { echo "not every rank has the right sum"; exit 1; }
[ "$(find "$dir" -name 'report.json*' | wc -l)" = 1 ] || { echo "there is not one report"; exit 1; }
[ "$(grep -c '"program": "multicast_ra' "$dir/report.json")" = 8 ] || { echo "not every rank is in the report"; exit 1; }
for report in "$dir"/report.json*; do
    for text in '"op": "multimem.ld_reduce"' '"op": "multimem.red"' '"stuck": false' '"diagnostics_count": 0'; do
        grep -q -- "$text" "$report" || { echo "$report has no $text"; exit 1; }
    done
done
# a file for each rank, too, in a folder that is made: its own launch alone, by its number in the job's report
timeout 100 "$FANOUT" exec -s dgx-h100 --report "$dir/job.json" --report-ranks "$dir/ranks/all" -- "$example" 4 \
    >"$dir/out"
[ "$(find "$dir/ranks/all" -type f | wc -l)" = 4 ] || { echo "there is not a report for each rank"; exit 1; }
for rank in 0 1 2 3; do
    own=$dir/ranks/all/rank$rank.json
    grep -q "^ \"rank\": $rank," "$own" || { echo "$own does not say whose it is"; cat "$own"; exit 1; }
    [ "$(grep -c "^   \"gpu\": $rank,$" "$own")" = 1 ] && [ "$(grep -c '^   "state": "done",$' "$own")" = 1 ] || { echo "$own has not its own launch alone"; cat "$own"; exit 1; }
    grep -q '"call": "cuMulticastBindMem' "$own" || { echo "$own does not say what it called"; exit 1; }
done
: >"$dir/file"
for wrong in "$dir/file" "$dir/file/below"; do
    if "$FANOUT" exec --report-ranks "$wrong" -- true >"$dir/out" 2>&1 || ! grep -q 'report-ranks: no files' "$dir/out"; then
        echo "--report-ranks $wrong is taken:"
        cat "$dir/out"
        exit 1
    fi
done
if "$FANOUT" exec --separate --report-ranks "$dir/ranks" -- true >"$dir/out" 2>&1 || ! grep -q 'separate' "$dir/out"; then
    echo "--report-ranks is taken with --separate"
    exit 1
fi

# a rank that never comes: the other's bind waits, until the watchdog ends the wait and says who is missing
code=0
timeout 30 "$FANOUT" exec -s dgx-h100 --set cuda.watchdog_ms=100 --report "$dir/late.json" \
    --set cuda.fail=cuMemImportFromShareableHandle:UNKNOWN:1 -- "$example" 2 >"$dir/out" 2>&1 || code=$?
case $code in 0 | 2 | 124) cat "$dir/out"; echo "the program ended with $code"; exit 1 ;; esac
for text in 'cuMemImportFromShareableHandle.*CUDA_ERROR_UNKNOWN' \
    'CUDA_ERROR_LAUNCH_TIMEOUT' 'cuMulticastBindMem: watchdog: waiting for team members: 1 of 2 were added; not added: device 1'; do
    grep -q "$text" "$dir/out" || { cat "$dir/out"; echo "no $text"; exit 1; }
done
