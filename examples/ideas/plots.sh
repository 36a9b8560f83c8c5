#!/bin/sh
# The sweeps of this folder, a minute or two of them, and the pictures of docs/explore.md: sh plots.sh; FANOUT names the
# command.
set -eu
fanout=${FANOUT:-fanout}
for sweep in merge merge-least named; do
    "$fanout" sweep $sweep.ini >/dev/null
done
"$fanout" plot merge.db -x switch.merge_entries -y loads_per_answer --column 'loads_per_answer="value_2"' --by variant \
    -o ../../docs/merge.svg >/dev/null
"$fanout" plot named.db -x multicast.set_flits -y payload_GBps --column 'payload_GBps="value"' --by gpus -o ../../docs/named.svg \
    >/dev/null
