#!/bin/sh
# The sweeps of this folder, 40 s of processor time, and the pictures of docs/explore.md: sh plots.sh; FANOUT names the
# command.
set -eu
fanout=${FANOUT:-fanout}
for sweep in merge merge-least named exchange; do
    "$fanout" sweep $sweep.ini >/dev/null
done
"$fanout" plot merge.db -x switch.merge_entries -y loads_per_answer --column 'loads_per_answer="value_2"' --by variant \
    -o ../../docs/merge.svg >/dev/null
"$fanout" plot named.db -x multicast.set_flits -y payload_GBps --column 'payload_GBps="value"' --by gpus \
    -o ../../docs/named.svg >/dev/null
"$fanout" plot exchange.db -x members --column "members=CAST(substr(variant, instr(variant, 'top') + 3) AS INTEGER)" \
    -y tokens_GBps --column 'tokens_GBps="value"' --by way \
    --column "way=substr(variant, 1, instr(variant, '_') - 1)" --log none -o ../../docs/exchange.svg >/dev/null
