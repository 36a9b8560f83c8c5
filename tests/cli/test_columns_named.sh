#!/bin/sh
# Each column of the reports, as docs/schema has them, has a test that works its value out by hand: tests/cli/columns.list
# names it, and the test names the column. A column that is added, or whose test goes, is told here.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
# A member of two blanks is of a table's rows (items), of one blank of the head, which every report has more of.
for schema in "$TOP_SRCDIR"/docs/schema/*.json; do
    report=$(basename "$schema" .json)
    awk -v report="$report" '
        /^  "[A-Za-z_0-9]*": \{$/ { split($0, part, "\""); table = part[2]; rows = 0; next }
        /^ *"properties": \{$/ { match($0, /^ */); if (RLENGTH > 1) { rows = RLENGTH + 1; n[table] = 0 } next }
        rows && match($0, /^ *"[A-Za-z_0-9]*": \{$/) { match($0, /^ */)
            if (RLENGTH == rows) { split($0, part, "\""); print report "." table "." part[2] } next }
        /^  \}/ { if (!rows && table != "schema" && table != "report" && table != "version" && table != "answer" &&
                      table != "notes" && table != "") print report "." table; table = ""; rows = 0 }' "$schema"
done >"$work/columns"
[ "$(wc -l <"$work/columns")" -gt 450 ] || { echo "no columns"; exit 1; }
grep -v '^#' "$TOP_SRCDIR/tests/cli/columns.list" >"$work/list"
awk '{ print $1 }' "$work/list" | diff "$work/columns" - >"$work/diff" ||
    { echo "columns without a test (<), and tests of columns that are not there (>), in their order:"; cat "$work/diff"; bad=1; }
while read -r column test; do
    [ -f "$TOP_SRCDIR/tests/$test" ] || { echo "$column: there is no tests/$test"; bad=1; continue; }
    grep -q -w -e "${column##*.}" "$TOP_SRCDIR/tests/$test" || { echo "$column: tests/$test does not name it"; bad=1; }
done <"$work/list"
[ "$bad" = 0 ] && echo "$(wc -l <"$work/columns") columns have a test each"
exit "$bad"
