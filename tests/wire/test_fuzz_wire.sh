#!/bin/sh
# A program that sends garbage, half messages, requests with fields at random and descriptors of anything to a running
# owner neither ends it nor holds it up, and a well-behaved client beside it computes right.
#
# FUZZ_SECONDS (5) of it, FUZZ_SEED (1) draws other messages.
set -eu
dir=$(dirname "$FANOUT")/tests/wire
for program in ranks fuzz_wire; do [ -x "$dir/$program" ] || { echo "no $dir/$program"; exit 77; }; done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
code=0
limit=$(($(printf '%.0f' "${FUZZ_SECONDS:-5}") + 120))
timeout "$limit" "$FANOUT" exec -s dgx-h100 --report "$tmp/report.json" -- "$dir/fuzz_wire" "$dir/ranks" >"$tmp/out" 2>&1 ||
    code=$?
grep -E 'rounds were right|attackers' "$tmp/out" || true
case $code in 0 | 2) ;; *) tail -n 40 "$tmp/out"; echo "ended with $code"; exit 1 ;; esac # 2: an attacker got stuck
grep -q 'rounds were right' "$tmp/out" && grep -q 'the client ended with 0x0' "$tmp/out" || { tail -n 40 "$tmp/out"; exit 1; }
[ -s "$tmp/report.json" ] || { echo "no report"; exit 1; }
if grep -qE 'ERROR: (Address|Leak|Undefined)|runtime error' "$tmp/out"; then cat "$tmp/out"; exit 1; fi
