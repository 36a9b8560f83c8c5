#!/bin/sh
# The pictures of README.md from the databases in this folder: sh plots.sh; FANOUT names the command.
set -eu
fanout=${FANOUT:-fanout}
cost='cost_KiB=("switch.reduction_buffer_bytes" + 64 * "switch.multicast_tags" + 2048 * "switch.crossbar_bytes"
    + 8192.0 * 50000 / (50000 + "switch.reduction_ps")) / 1024'
for gpus in 8 72 576; do
    size=4 width=64 log=x
    [ $gpus != 8 ] || { width=32; log=none; }
    [ $gpus != 576 ] || size=2
    "$fanout" plot nvswitch-$gpus.db -k pareto -x cost_KiB -y busbw_GBps --column "$cost" --log $log \
        --title "$gpus GPUs: NVLS all-reduce of $size MiB by the switch's cost" -o front-$gpus.svg >/dev/null
    "$fanout" plot nvswitch-$gpus.db -x switch.multicast_tags --by switch.reduction_buffer_bytes \
        --where switch.reduction_ps=0 --where switch.crossbar_bytes=$width \
        --title "$gpus GPUs: NVLS all-reduce of $size MiB by tags and buffer" -o tags-$gpus.svg >/dev/null
done
