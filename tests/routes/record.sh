#!/bin/sh
# Records the routes of tests/routes/routes with a build whose functions tell when they are entered (`make routes` makes
# it), and compares the files that ran with tests/routes/recorded; `update` as the last argument writes them anew.
#
#     record.sh BUILD SOURCES [update]
set -eu
build=$(cd "$1" && pwd) sources=$(cd "$2" && pwd) update=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
${CC:-cc} -shared -fPIC -O2 -o "$dir/recorder.so" "$here/recorder.c"
${CC:-cc} -g -I "$sources/api/include" -I "$sources" -o "$dir/program" "$here/program.c" -L "$build/.libs" -l:libcuda.so.1
cp "$here/replayed.trace" "$here/sweep.ini" "$dir"

# NAME COMMAND...: runs it with the recorder, RUNS times: threads of the engine look at what the host does when the host
# has time, so only what ran each time is part of the route, and nothing of the files that tests/routes/host lists.
RUNS=3
recorded() {
    name=$1 run=0; shift
    while [ $run -lt $RUNS ]; do
        run=$((run + 1))
        recorded_once "$@"
    done
}
recorded_once() {
    mkdir "$dir/ran-$name-$run"
    rm -f "$dir/sweep.db"
    (cd "$dir" && ROUTE_OUT=$dir/ran-$name-$run/record LD_PRELOAD=$dir/recorder.so LD_LIBRARY_PATH=$build/.libs FANOUT_SYSTEM=teach-4gpu \
        FANOUT_ENGINE=reference "$@") >"$dir/$name.out" 2>&1 || { cat "$dir/$name.out"; echo "$name: did not run"; exit 1; }
}
recorded program "$dir/program"
recorded replay "$build/fanout" replay replayed.trace -s teach-4gpu --no-compare
recorded sweep "$build/fanout" sweep sweep.ini

bad=0
mkdir "$dir/new"
while read -r name of begin end left_out; do
    case $name in '#'* | '') continue ;; esac
    [ "$left_out" != - ] || left_out=
    run=0
    while [ $run -lt $RUNS ]; do
        run=$((run + 1))
        # shellcheck disable=SC2086
        python3 "$here/route.py" "$sources" "$dir/ran-$of-$run/record" "$begin" "$end" $left_out |
            awk '{ for (i = 2; i <= NF; i++) print $1, $i }' >>"$dir/each"
    done
    LC_ALL=C sort "$dir/each" | uniq -c | awk -v n=$RUNS '$1 == n { print $2, $3 }' |
        awk -v route="$name" 'NR == FNR { if (NF == 1 || $2 == route) host[$1]; next } !($1 in host)' "$here/host" - \
            >>"$dir/new/$name"
    rm "$dir/each"
done <"$here/routes"
for name in "$dir"/new/*; do
    LC_ALL=C sort -u "$name" | awk '$1 != file { printf "%s%s", (file == "" ? "" : "\n"), $1; file = $1 }
        { printf " %s", $2 } END { print "" }' >"$dir/sorted"
    mv "$dir/sorted" "$name"
    old=$here/recorded/$(basename "$name")
    if [ -n "$update" ]; then
        cp "$name" "$old"
    elif cut -d' ' -f1 "$old" >"$dir/then" && cut -d' ' -f1 "$name" >"$dir/now" && ! diff -u "$dir/then" "$dir/now"; then
        # which functions of a file ran may depend on what the host had time for; which files did, does not
        echo "$(basename "$name"): other files ran than are recorded; 'make routes-update' records them"
        bad=1
    fi
done
# Threads of the engine may have looked at the host each time; what a second or a third try does not show is no change.
if [ $bad = 1 ] && [ "${ROUTES_AGAIN:-2}" -gt 0 ]; then
    echo "once more, as the host had time for other things:"
    rm -rf "$dir"
    ROUTES_AGAIN=$((${ROUTES_AGAIN:-2} - 1)) exec sh "$here/record.sh" "$build" "$sources"
fi
exit $bad
