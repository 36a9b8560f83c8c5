#!/bin/sh
# Each row of the parameter tables has a test that works out by hand what it does: tests/model/rows.list names it, and
# the test names the row, as a key of --set or as a field. A row that is added, or whose test goes, is told here.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tests=$TOP_SRCDIR/tests
bad=0
"$FANOUT" systems dgx-h100 --format csv | awk -F, 'NR > 1 { print $1 "." $2 }' >"$work/rows"
[ "$(wc -l <"$work/rows")" -gt 100 ] || { echo "no rows"; exit 1; }
grep -v '^#' "$tests/model/rows.list" >"$work/list"
awk '{ print $1 }' "$work/list" | diff "$work/rows" - >"$work/diff" ||
    { echo "rows without a test (<), and tests of rows that are not there (>), in their order:"; cat "$work/diff"; bad=1; }
while read -r row test; do
    [ -f "$tests/$test" ] || { echo "$row: there is no tests/$test"; bad=1; continue; }
    grep -q -w -e "${row#*.}" "$tests/$test" || { echo "$row: tests/$test does not name it"; bad=1; }
done <"$work/list"
[ "$bad" = 0 ] && echo "$(wc -l <"$work/rows") rows have a test each"
exit "$bad"
