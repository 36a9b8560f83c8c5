#!/bin/sh
# Logical endpoints on 2, 8 and 72 GPUs, in one process and in one process for each GPU, on several hosts, and once more:
# every word that every rank wrote to every other, and to all, is where it belongs; the same run gives the same report.
set -eu
. "$TOP_SRCDIR/tests/plain.sh"
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libcuda.so.1" ] || { echo "no $libs/libcuda.so.1"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/own"
printf '#include <fanout/cuda.h>\n' >"$dir/own/cuda.h"
${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -I"$TOP_SRCDIR" -I"$dir/own" -I"$TOP_SRCDIR/api/include" \
    "$TOP_SRCDIR/tests/clients/endpoints.c" -o "$dir/endpoints" "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs" -lpthread
run() { # run NAME SYSTEM RANKS HOW [OPTION...]: words of each of RANKS: RANKS times two blocks of 64, and one
    name=$1 system=$2 ranks=$3 how=$4
    shift 4
    timeout 280 "$FANOUT" exec -s "$system" --set cuda.endpoints=on --set cuda.imex_channel=true \
        --set cuda.driver_version=13050 "$@" --report "$dir/$name.json" -- "$dir/endpoints" "$ranks" "$how" >"$dir/out" 2>&1 ||
        { cat "$dir/out"; echo "$name: failed"; exit 1; }
    cat "$dir/out"
    grep -qx "$ranks ranks: $((ranks * (ranks * 128 + 64))) words compared, 0 wrong" "$dir/out" || { echo "$name: not all words"; exit 1; }
    for text in '"stuck": false' '"diagnostics_count": 0' '"logical_endpoints"' '"work": "memcpy to endpoint"'; do
        grep -q -- "$text" "$dir/$name.json" || { echo "$name: the report has no $text"; exit 1; }
    done
    [ "$(grep -c '"kind": "unicast"' "$dir/$name.json")" = "$ranks" ] || { echo "$name: not every endpoint is in the report"; exit 1; }
}
for how in one each; do
    run two-$how dgx-h100 2 $how
    run eight-$how dgx-h100 8 $how
done
run again dgx-h100 8 each
cmp "$dir/eight-each.json" "$dir/again.json" || { echo "a second run differs"; exit 1; }
run reference dgx-h100 8 each --engine reference
run rack-one gb200-nvl72 72 one
run trays gb200-nvl72 8 each --trays
[ -z "${FANOUT_RACK:-}" ] || run rack-each gb200-nvl72 72 each # about a minute and a half
