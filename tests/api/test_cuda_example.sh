#!/bin/sh
# The example of the README: every GPU gets the right sum, the JSON report says what it cost, and two runs
# give the same bytes.
set -eu
. "$TOP_SRCDIR/tests/plain.sh"
example=$(dirname "$FANOUT")/examples/multicast_allreduce
[ -x "$example" ] || { echo "no $example"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for run in 1 2; do
    "$FANOUT" exec -s dgx-h100 --report "$dir/report$run.json" -- "$example" 2 >"$dir/out$run"
done
cat "$dir/out1"
grep -q ', 0 wrong words$' "$dir/out1"
cmp "$dir/out1" "$dir/out2"
cmp "$dir/report1.json" "$dir/report2.json"
for text in '"schema": "fanout/1"' '"op": "multimem.ld_reduce"' '"op": "multimem.st"' '"call": "cuMulticastBindMem"' \
    '"p99_ns"' '"direction": "up"' '"diagnostics_count": 0'; do
    grep -q -- "$text" "$dir/report1.json" || { echo "the report has no $text"; exit 1; }
done
"$FANOUT" exec -s dgx-h100 --report - -- "$example" 2 >"$dir/text"
grep -q 'multimem.ld_reduce' "$dir/text" || { echo "no text report on standard output"; exit 1; }
# wrong input: one line, exit code 1
for wrong in '-s no-such-system' '--set cuda.fm_state=ill' '--set cuda.driver_version=1' '--set cuda.nothing=1'; do
    code=0
    # shellcheck disable=SC2086
    "$FANOUT" exec $wrong -- "$example" >"$dir/wrong" 2>&1 || code=$?
    [ "$code" = 1 ] && [ "$(wc -l <"$dir/wrong")" = 1 ] || { echo "$wrong: exit code $code"; cat "$dir/wrong"; exit 1; }
done
"$FANOUT" exec -- sh -c 'exit 7' || [ $? = 7 ] || { echo "the program's exit code is lost"; exit 1; }
