#!/bin/sh
# Each column of the reports, as docs/schema has them, has a test that works its value out by hand: tests/cli/columns.list
# names it, and the test names the column. A column that is added, or whose test goes, is told here.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$TOP_SRCDIR/tests/named.sh"
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
named_check "$work/columns" "$TOP_SRCDIR/tests/cli/columns.list" columns
