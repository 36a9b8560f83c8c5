#!/bin/sh
# Kernels with fabric.* on endpoints that the driver made: on 2, 8 and 72 GPUs in one process, and on 2 and 8 in one process
# for each GPU. Every rank's words are where its puts and its pull reduction had to bring them, and both engines agree.
set -eu
. "$TOP_SRCDIR/tests/plain.sh"
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libcuda.so.1" ] || { echo "no $libs/libcuda.so.1"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/own"
printf '#include <fanout/cuda.h>\n' >"$dir/own/cuda.h"
${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -I"$TOP_SRCDIR" -I"$dir/own" -I"$TOP_SRCDIR/api/include" \
    "$TOP_SRCDIR/tests/clients/fabric_kernels.c" -o "$dir/kernels" "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs" -lpthread
run() { # run NAME RANKS HOW [OPTION...]: each rank compares a block of every rank, its neighbour's, and the sums
    name=$1 ranks=$2 how=$3
    shift 3
    timeout 280 "$FANOUT" exec -s gb200-nvl72 --set cuda.endpoints=on --set cuda.imex_channel=true \
        --set cuda.driver_version=13050 "$@" --report "$dir/$name.json" -- "$dir/kernels" "$ranks" "$how" >"$dir/out" 2>&1 ||
        { cat "$dir/out"; echo "$name: failed"; exit 1; }
    cat "$dir/out"
    grep -qx "$ranks ranks: $((ranks * 256 * (ranks + 2))) words compared, 0 wrong" "$dir/out" || { echo "$name: not all words"; exit 1; }
    grep -q '"stuck": false' "$dir/$name.json" || { echo "$name: stuck"; exit 1; }
}
for how in one each; do
    run two-$how 2 $how
    run eight-$how 8 $how
done
run again 8 each
cmp "$dir/eight-each.json" "$dir/again.json" || { echo "a second run differs"; exit 1; }
run reference 8 one --engine reference
run rack 72 one
