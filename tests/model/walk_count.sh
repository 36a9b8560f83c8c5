#!/bin/sh
# Proves that one packet can be followed in one sitting: counts the files that docs/packet-walk.md names from the program
# to the acknowledgement, and their lines, and fails above 21 files or 3,200 lines. Every function that the walk names
# there must stand in one of these files or in a header or helper that it includes; walk_count.sh -v lists the files.
set -eu
cd "${TOP_SRCDIR:-.}"
doc=docs/packet-walk.md
files_max=21 lines_max=3200

steps() { sed -n '/^## On the GPU that asks/,/^## Other turns/p' $doc; }
files=$(steps | grep -o -E '`[a-z_]+(/[a-z_]+)+\.[ch]`' | tr -d '`' | LC_ALL=C sort -u)
count=$(echo "$files" | wc -l)
# shellcheck disable=SC2086
lines=$(cat $files | wc -l)
# shellcheck disable=SC2086
[ "${1:-}" != -v ] || wc -l $files
echo "one multimem.st: $count files, $lines lines (at most $files_max and $lines_max)"

# A walk that names no steps, or hides the way by naming no files, proves nothing.
steps_count=$(steps | grep -c -E '^[0-9]+\. \*\*')
bad=0
[ "$steps_count" -ge 15 ] || { echo "$doc: $steps_count steps; 15 or more were expected"; bad=1; }
for name in $(steps | grep -o -E '`[a-z_0-9]+\(\)`' | tr -d '`()' | LC_ALL=C sort -u); do
    # shellcheck disable=SC2086
    grep -q -E "^[A-Za-z].*[ *]$name\(" $files ||
        case $name in
        fabric_account | mcobject_lookup | memory_written) ;; # leaves, which their names explain
        *) echo "$doc: $name() stands in none of the files that the walk names"; bad=1 ;;
        esac
done
[ "$count" -le $files_max ] && [ "$lines" -le $lines_max ] && [ $bad = 0 ]
