#!/bin/sh
# --clock simulated: a program's clocks show what events measure, twice the same to the digit; --clock host leaves them.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libfanout_clock.so" ] || { echo "no $libs/libfanout_clock.so"; exit 77; }
. "$TOP_SRCDIR/tests/plain.sh"
mkdir "$dir/include"
printf '#include <fanout/cuda.h>\n' >"$dir/include/cuda.h"
${CC:-cc} -std=gnu11 -O1 -w -I"$dir/include" -I"$TOP_SRCDIR/api/include" -o "$dir/clock" \
    "$TOP_SRCDIR/tests/clients/clock.c" "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs"
for run in 1 2; do
    timeout 60 "$FANOUT" exec --clock simulated --report "$dir/report.json" -- "$dir/clock" wait >"$dir/out$run" ||
        { cat "$dir/out$run"; exit 1; }
done
cmp "$dir/out1" "$dir/out2" || { cat "$dir/out1" "$dir/out2"; exit 1; }
if "$FANOUT" exec --clock host --report "$dir/report.json" -- "$dir/clock" >"$dir/out"; then
    echo "with the host's clocks simulated and host time were the same:"
    cat "$dir/out"
    exit 1
fi
if "$FANOUT" exec --clock wall -- true 2>"$dir/error"; then exit 1; fi
grep -q -- "--clock: 'wall' is unknown" "$dir/error" || { cat "$dir/error"; exit 1; }
echo "$(head -1 "$dir/out1"): passed"
