#!/bin/sh
# Proves that a route through the source is what its page says and no longer than its budget. tests/routes/recorded has,
# for each of six routes, the files that hold a function which ran, as `make routes` recorded them. Here: every recorded
# file is named in the route's section of docs/code-flow.md, and the section names no other; every recorded function is
# still there; files and their lines stay within tests/routes/budgets. `check.sh -v` lists the files.
set -eu
cd "${TOP_SRCDIR:-.}"
here=tests/routes page=docs/code-flow.md
bad=0
while read -r name files_max lines_max heading; do
    case $name in '#'* | '') continue ;; esac
    recorded=$(cut -d' ' -f1 $here/recorded/"$name")
    section=$(awk -v h="## $heading" '$0 == h { on = 1; next } /^## / { on = 0 } on' $page)
    other=$(echo "$section" | sed -n '/^\*\*Not recorded/,/^$/p')
    named=$(echo "$section" | grep -o -E '`[a-z_0-9]+(/[a-z_0-9]+)+\.[ch]`' | tr -d '`' | LC_ALL=C sort -u)
    [ -n "$named" ] || { echo "$page: no section '$heading' that names files"; bad=1; }
    for file in $recorded; do
        ! grep -qx -e "$file" -e "$file $name" $here/host || { echo "$name: $file is recorded, which tests/routes/host leaves to the host"; bad=1; }
        [ -f "$file" ] || { echo "$name: $file is gone; 'make routes-update' records the route anew"; bad=1; continue; }
        echo "$named" | grep -qx "$file" || { echo "$page, '$heading': $file ran and is not named"; bad=1; }
    done
    for file in $named; do
        echo "$recorded" | grep -qx "$file" || echo "$other" | grep -q -F "\`$file\`" || { echo "$page, '$heading': $file is named and did not run"; bad=1; }
    done
    files=$(echo "$recorded" | wc -l)
    # shellcheck disable=SC2086
    lines=$(cat $recorded 2>/dev/null | wc -l)
    # shellcheck disable=SC2086
    [ "${1:-}" != -v ] || wc -l $recorded
    echo "$name: $files files, $lines lines (at most $files_max, $lines_max)"
    [ "$files" -le "$files_max" ] && [ "$lines" -le "$lines_max" ] || bad=1
done <$here/budgets
exit $bad
