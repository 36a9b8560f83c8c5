#!/bin/sh
# One process for each GPU, as real clients have it: four ranks share a multicast object by descriptors, meet in
# a barrier of their kernels across processes, and every rank gets the right sum. One report has them all.
set -eu
case ${SANITIZE:-no} in no | '') ;; *) echo "a sanitized library is tested by the unit tests"; exit 77 ;; esac
example=$(dirname "$FANOUT")/examples/multicast_ranks
[ -x "$example" ] || { echo "no $example"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
timeout 100 "$FANOUT" exec -s dgx-h100 --report "$dir/report.json" -- "$example" 4 >"$dir/out"
cat "$dir/out"
[ "$(grep -c ' 0 wrong$' "$dir/out")" = 4 ] || { echo "not every rank has the right sum"; exit 1; }
[ "$(find "$dir" -name 'report.json*' | wc -l)" = 1 ] || { echo "there is not one report"; exit 1; }
[ "$(grep -c '"program": "multicast_ra' "$dir/report.json")" = 4 ] || { echo "not every rank is in the report"; exit 1; }
for report in "$dir"/report.json*; do
    for text in '"op": "multimem.ld_reduce"' '"op": "multimem.red"' '"stuck": false' '"diagnostics_count": 0'; do
        grep -q -- "$text" "$report" || { echo "$report has no $text"; exit 1; }
    done
done
# a rank that never comes: the other's bind waits, until the watchdog ends the wait and says who is missing
code=0
timeout 30 "$FANOUT" exec -s dgx-h100 --set cuda.watchdog_ms=100 --report "$dir/late.json" \
    --set cuda.fail=cuMemImportFromShareableHandle:UNKNOWN:1 -- "$example" 2 >"$dir/out" 2>&1 || code=$?
case $code in 0 | 2 | 124) cat "$dir/out"; echo "the program ended with $code"; exit 1 ;; esac
for text in 'cuMemImportFromShareableHandle.*CUDA_ERROR_UNKNOWN' \
    'CUDA_ERROR_LAUNCH_TIMEOUT' 'cuMulticastBindMem: watchdog: waiting for team members: 1 of 2 were added; not added: device 1'; do
    grep -q "$text" "$dir/out" || { cat "$dir/out"; echo "no $text"; exit 1; }
done
