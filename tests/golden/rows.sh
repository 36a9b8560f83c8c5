#!/bin/sh
# Rows of every collective and algorithm, of micro-benchmarks and of replays, small and exact: each line of rows.list holds
# the words behind `fanout`, and what they all print must be rows.expected, byte for byte. A change of any time is seen here,
# and says in its commit why. UPDATE=1 (make golden-update) rewrites it; read the difference before committing it.
set -eu
FANOUT_QUIET=1
export FANOUT_QUIET
cd "${TOP_SRCDIR:-.}"
fanout=${FANOUT:-./fanout}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
got=$dir/got
while read -r words; do
    echo "\$ fanout $words"
    # shellcheck disable=SC2086
    timeout 100 "$fanout" $words </dev/null 2>&1 || echo "exit code $?"
done <tests/golden/rows.list >"$got"
# Statistics in time, and what the page of a walk plays, a change a line.
"$fanout" coll all_reduce -s teach-4gpu -a nvls -b 16K -e 16K --no-compare --stats "$dir/stats.csv" --stats-interval 4us \
    >/dev/null
cat "$dir/stats.csv" >>"$got"
for walk in load atomic multimem.ld_reduce multimem.st; do
    "$fanout" walk $walk -s teach-4gpu --html "$dir/page.html" >/dev/null
    sed -n 's/^<script type="application\/json">\({"places".*\)<\/script>.*/\1/p' "$dir/page.html" |
        sed -e 's/\],/],\n/g' >"$dir/scene"
    [ -s "$dir/scene" ] || { echo "no scene in the page of walk $walk"; exit 1; }
    echo "scene of walk $walk" | cat - "$dir/scene" >>"$got"
done
if [ "${UPDATE:-0}" = 1 ]; then
    cp "$got" tests/golden/rows.expected
else
    diff -u tests/golden/rows.expected "$got" || { echo "not as expected (if it should be: make golden-update)"; exit 1; }
fi
