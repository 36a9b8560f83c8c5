#!/bin/sh
# Puts what the demo's first command prints now into README.md: update_readme.sh FANOUT README
set -eu
fanout=$1
readme=$2
fresh=$(mktemp)
trap 'rm -f "$fresh"' EXIT
"$fanout" coll all_reduce -s dgx-h100 -a nvls,ring -b 1M -e 64M -f 4 >"$fresh"
awk -v fresh="$fresh" '
    /^```/ && shown { shown = 0 }
    !shown { print }
    /^\$ fanout coll / { shown = 1; while ((getline line <fresh) > 0) print line }
' "$readme" >"$readme.new"
mv "$readme.new" "$readme"
