#!/bin/sh
# fanout exec --trays: eight ranks on two trays of a GB200 NVL72 have a host each four of them, by name, GPUs and
# identity; descriptors stay in their tray, and fabric handles make one team of all, whose sum is right. What cannot be a
# tray is refused.
set -eu
. "$TOP_SRCDIR/tests/plain.sh"
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libcuda.so.1" ] || { echo "skipped: no $libs/libcuda.so.1"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/include"
printf '#include <fanout/cuda.h>\n' >"$dir/include/cuda.h"
${CC:-cc} -std=gnu11 -O1 -w -I"$dir/include" -I"$TOP_SRCDIR/api/include" -o "$dir/trays" "$TOP_SRCDIR/tests/clients/trays.c" \
    "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs"
bad=0

# ranks N OPTION...: N of them, as a launcher would start them that believes all to be on one host.
ranks() {
    n=$1
    shift
    rm -rf "$dir/meet"
    mkdir "$dir/meet"
    code=0
    # shellcheck disable=SC2016
    timeout 200 "$FANOUT" exec -s gb200-nvl72 "$@" --report "$dir/report.json" -- sh -c '
        for r in $(seq 0 $(($1 - 1))); do
            RANK=$r LOCAL_RANK=$r WORLD_SIZE=$1 LOCAL_WORLD_SIZE=$1 "$2/trays" "$2/meet" &
        done
        wait' sh "$n" "$dir" >"$dir/out" 2>"$dir/log" || code=$?
}

ranks 8 --trays --set cuda.imex_channel=true
[ "$code" = 0 ] && [ "$(grep -c ': ok$' "$dir/out")" = 8 ] || { cat "$dir/out" "$dir/log"; echo "eight ranks: $code"; bad=1; }
grep -q 'a descriptor of tray 0 does not reach tray 1: share it by a fabric handle' "$dir/log" "$dir/report.json" ||
    { echo "no word of the descriptor that does not travel"; bad=1; }

# without an IMEX channel nothing goes from tray to tray
ranks 8 --trays
[ "$(grep -c 'cuMemCreate.*: 800, not 0' "$dir/out")" = 8 ] || { cat "$dir/out"; echo "fabric handles without an IMEX channel"; bad=1; }

refused() { # refused PATTERN ARG...
    pattern=$1
    shift
    code=0
    "$FANOUT" exec "$@" >"$dir/out" 2>&1 || code=$?
    [ "$code" = 1 ] && grep -q -e "$pattern" "$dir/out" || { cat "$dir/out"; echo "$*: $code, not '$pattern'"; bad=1; }
}
refused "--trays: system 'dgx-h100' has one host" -s dgx-h100 --trays -- true
refused '--trays: one machine joins the hosts' -s gb200-nvl72 --trays --separate -- true
RANK=8 "$FANOUT" exec -s dgx-h100 --set cuda.tray_gpus=4 --trays -- "$dir/trays" "$dir" >"$dir/out" 2>&1 &&
    { echo "a rank beyond the last tray"; bad=1; }
grep -q 'rank 8 would be on tray 2 of 4 GPUs each, and the system has 8 GPUs: at most 8 ranks' "$dir/out" ||
    { cat "$dir/out"; bad=1; }
exit $bad
