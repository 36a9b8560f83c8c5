#!/bin/sh
# Each row of the parameter tables has a test that works out by hand what it does: tests/model/rows.list names it, and
# the test names the row, as a key of --set or as a field. A row that is added, or whose test goes, is told here.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$TOP_SRCDIR/tests/named.sh"
"$FANOUT" systems dgx-h100 --format csv | awk -F, 'NR > 1 { print $1 "." $2 }' >"$work/rows"
[ "$(wc -l <"$work/rows")" -gt 100 ] || { echo "no rows"; exit 1; }
named_check "$work/rows" "$TOP_SRCDIR/tests/model/rows.list" rows
