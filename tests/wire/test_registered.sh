#!/bin/sh
# Memory that programs register is reached where it is by an owner of another process, too: all that
# tests/api/test_cuda_registered.c proves of one process holds for clients of `fanout exec`.
set -eu
program=$(dirname "$FANOUT")/tests/api/test_cuda_registered
[ -x "$program" ] || { echo "no $program"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
code=0
timeout 200 "$FANOUT" exec -s dgx-h100 --report "$dir/report.json" -- "$program" >"$dir/out" 2>&1 || code=$?
grep -q '12 test(s) run' "$dir/out" && ! grep -q 'FAILED' "$dir/out" || { cat "$dir/out"; echo "ended with $code"; exit 1; }
grep -q 'have registered as memory .* was made shorter' "$dir/out" || { echo "nobody was told of the short file"; exit 1; }
[ -s "$dir/report.json" ] || { echo "no report"; exit 1; }
