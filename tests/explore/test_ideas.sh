#!/bin/sh
# The benchmarks behind the two published ideas of docs/explore.md: an answer serves one load, or with a merge table all
# three that four GPUs make of a line, whether these come at once or 3 us apart; named members carry what tables refuse;
# requests that make no sense are refused; and the specs of examples/ideas are what a sweep reads.
set -eu
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

shared="shared_loads -s teach-4gpu -b 32K --set gpu.hash_by_gpu=false"
for skew in 0 3; do
    says ' 1.000  loads/answer' bench $shared --variant all_skew${skew}us
    says ' 3.000  loads/answer' bench $shared --variant all_skew${skew}us --set switch.merge_entries=4096
done
refuses 'a multiple of their number' bench $shared --ctas 6
refuses 'one_skew0us' bench $shared --variant all_skew

value() { "$FANOUT" bench exchange -s teach-4gpu -b 256K --format csv "$@" | sed -n 2p | cut -d , -f 7; }
apart=$(value --variant unicast_top3)
together=$(value --variant multicast_top3 --set multicast.entries=16)
# 9 flits up and 27 down for a token, and the other way back; 27 and 27 by unicast: at most 1.5 times
awk "BEGIN { exit !($together > 1.1 * $apart && $together < 1.5 * $apart) }" ||
    complain "exchange: $together GB/s by multicast, $apart by unicast"
refuses 'hold no team of 3 GPUs' bench exchange -s teach-4gpu --variant multicast_top3 --set multicast.entries=8
says 'multicast_top3' bench exchange -s teach-4gpu --variant multicast_top3 -b 64K --set multicast.entries=8 \
    --set multicast.set_flits=1
refuses '3 of 3 GPUs' bench exchange -s teach-4gpu -n 3 --variant unicast_top3

for spec in "$TOP_SRCDIR"/examples/ideas/*.ini; do
    refuses 'allows more\|max-points\|points' sweep "$spec" --max-points 1 -o none.db
done
finish
