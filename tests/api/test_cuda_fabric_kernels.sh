#!/bin/sh
# A kernel with several fabric.* at once on endpoints that the driver made: on 2, 8 and 72 GPUs in one process, and on 2 and
# 8 in one process for each GPU; on the next rack, whose GPUs have endpoints unasked, too (FANOUT_RACK=1: 72 processes).
# Every rank's words are where its puts and its pull reduction had to bring them, and both engines agree.
set -eu
. "$TOP_SRCDIR/tests/api/endpoint_client.sh"
build fabric_kernels
run() { # run NAME RANKS HOW [OPTION...]: each rank compares a block of every rank, its neighbour's, and the sums
    name=$1 n=$2 how=$3
    shift 3
    ranks fabric_kernels "$name" "$n" "$how" $((n * 256 * (n + 2))) $system "$@"
}
system="-s gb200-nvl72 --set cuda.endpoints=on"
for how in one each; do
    run two-$how 2 $how
    run eight-$how 8 $how
done
run again 8 each
cmp "$dir/eight-each.json" "$dir/again.json" || { echo "a second run differs"; exit 1; }
run reference 8 one --engine reference
run rack 72 one
system="-s vr200-nvl72"
run next-each 8 each
run next-rack 72 one
[ -z "${FANOUT_RACK:-}" ] || run rack-each 72 each
