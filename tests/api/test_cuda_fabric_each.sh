#!/bin/sh
# A kernel of every operation on endpoints that the driver made, and of every one on boxes of a tensor: on 2, 8 and 72 GPUs
# in one process, and on 2 and 8 in one process for each GPU (FANOUT_RACK=1: 72 processes, too). What memory, counters and
# shared memory have then is worked out in the programs; a second run and the other engine give the same.
set -eu
. "$TOP_SRCDIR/tests/api/endpoint_client.sh"
build fabric_each
build fabric_boxes
run() { # run NAME RANKS HOW [OPTION...]
    name=$1 n=$2 how=$3
    shift 3
    # six puts have a block of 256 words of every rank, five reductions have one, three fetches shared memory (2,048); 17
    # counters of two words, 17 reports; and rank 0 looks at the 16 bytes of two atomics
    ranks fabric_each "$name" "$n" "$how" $((n * (n * 6 * 256 + 5 * 256 + 3 * 2048 + 17 * 3) + 8)) -s vr200-nvl72 "$@"
    # of each of five operations a place of 1,024 words, shared memory (24), a counter and a report
    ranks fabric_boxes "$name-boxes" "$n" "$how" $((n * 5 * (1024 + 24 + 2))) -s vr200-nvl72 "$@"
}
for how in one each; do
    run two-$how 2 $how
    run eight-$how 8 $how
done
run again 8 each
for name in "" -boxes; do
    cmp "$dir/eight-each$name.json" "$dir/again$name.json" || { echo "a second run differs"; exit 1; }
done
run reference 8 one --engine reference
run rack 72 one
[ -z "${FANOUT_RACK:-}" ] || run rack-each 72 each
