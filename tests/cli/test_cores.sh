#!/bin/sh
# Proves that GPUs and switches on several threads (--cores) give the bytes of one domain, statistics included, with
# data and without, and that what they cannot do is refused with one line.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

# same ARG...: the whole report, in one domain, on two and three threads, and by default.
same() {
    "$FANOUT" coll "$@" --format json --cores 1 >one 2>err || complain "$*: exit $?: $(cat err)"
    for threads in 2 3; do
        "$FANOUT" coll "$@" --format json --cores $threads >two 2>err || complain "$* $threads: exit $?: $(cat err)"
        cmp one two || complain "$*: $threads threads differ: $(diff one two | head -n 4)"
    done
    grep -q '"link_rows"' one || complain "$*: no statistics of links to compare"
    "$FANOUT" coll "$@" --format json >two 2>err || complain "$* without --cores: exit $?: $(cat err)"
    cmp one two || complain "$*: without --cores it differs: $(diff one two | head -n 4)"
}
same all_reduce -a nvls -s dgx-h100 -b 256K --data full
same all_reduce -a nvls -s dgx-h100 -b 1M --data off
same all_reduce -a nvls -s gb200-nvl72 -b 512K --data off
same all_reduce -a nvls -s gb200-nvl72 -b 2M --data off --set gpu.l2_bytes=65536 --set gpu.hbm_MBps=1500000
same all_reduce -a nvls_oneshot -s dgx-h100 -b 64K -d half
same all_reduce -a ring -s dgx-h100 -b 512K
same all_reduce -a ring -p ll -s dgx-h100 -b 64K
same all_reduce -a oneshot -s dgx-h100 -b 64K
same all_reduce -a twoshot -s dgx-h100 -b 256K --warmup 1 --iters 2
same all_gather -a push -s dgx-h100 -b 256K
same all_to_all -s dgx-h100 -b 1M
same broadcast -a nvls -s teach-4gpu -b 64K
same all_reduce -a twoshot -s dgx-h100 -b 256K --data off --set switch.multicast_tags=3 \
    --set link.credits_switch_flits=57 --set gpu.source_queue_packets=3
# Two levels of switches, which are one domain: trunks longer and shorter than links, that hold up and are held up.
levels="-s dgx-h100 --set topology.kind=two_level --set topology.leaf_gpus=2 --set topology.spines=2 --set topology.trunks=1"
# shellcheck disable=SC2086
{
    same all_reduce -a nvls $levels -b 256K --data full
    same all_reduce -a nvls $levels -b 256K --data off --set topology.trunk_flight_ps=1000 --set topology.trunks=2
    same all_to_all $levels -b 256K --set topology.trunk_credits_flits=40 --set topology.trunk_MBps=10000
    same all_reduce -a nvls $levels -b 128K --fault link_degraded=leaf0.port8:50@1us --fault link_down=gpu1.link2@2us-3us
}
# Little room, so that credits and tags hold everything up; damaged packets; answers that do not merge; a lost link.
same all_reduce -a nvls -s dgx-h100 -b 128K --set link.credits_switch_flits=32 --set link.credits_gpu_flits=40 \
    --set switch.multicast_tags=3 --set switch.reduction_tags=2
same reduce_scatter -a nvls -s dgx-h100 -b 64K --data off --set link.credits_switch_flits=40
same all_to_all -s dgx-h100 -b 256K --set gpu.response_queue_packets=2 --set gpu.source_queue_packets=2 \
    --set link.credit_batch_ps=1
same all_reduce -a oneshot -s dgx-h100 -b 183K --set gpu.source_queue_packets=1 --set link.credits_switch_flits=57
same all_reduce -a nvls -s dgx-h100 -b 256K --data off --set link.flight_ps=2000 --set gpu.response_queue_packets=5
same all_reduce -a ring -s dgx-h100 -b 128K --set link.error_ppb=20000000 --seed 7
same all_reduce -a nvls -s dgx-h100 -b 128K --set fault.link_down=gpu1.link2 --set fault.link_degraded=gpu0.link3
# Credits so finely cut that not all are in reach; a flight longer than HBM's shortest epoch; a packet that comes again
# when operands come from HBM, at one instant.
tight="--data off --set gpu.response_queue_packets=1 --set switch.multicast_tags=2"
slow="--data off --set gpu.l2_bytes=65536"
# shellcheck disable=SC2086
{
    same all_reduce -a nvls_oneshot -s teach-4gpu -b 64K $tight --set switch.reduction_tags=2 \
        --set link.credit_batch_ps=1000
    same all_reduce -a nvls_oneshot -s dgx-h100 -b 256K $slow --set gpu.hbm_MBps=100000 --set link.flight_ps=428987
    same all_reduce -a nvls_oneshot -s teach-4gpu -b 128K $tight $slow --set gpu.hbm_MBps=1500000 \
        --set link.error_ppb=1000000
}

# What cannot be several domains is one, where nobody asks for more.
says "all_reduce" coll all_reduce -s gb200-nvl72 -n 8 -b 8K --fidelity packet --set link.flight_ps=999

coll="coll all_reduce -s teach-4gpu -b 8K"
# shellcheck disable=SC2086
{
    refuses "vcd: a waveform is written by one core" $coll --cores 2 --vcd x.vcd
    refuses "several domains.*--calendar" $coll --cores 2 --calendar systemc
    refuses "several domains.*--engine" $coll --cores 2 --engine reference
    refuses "gpu_silent: several domains have no time-outs" $coll --cores 2 --set fault.gpu_silent=gpu1
    refuses "999 ps apart; at least 1000" $coll --cores 2 --set link.flight_ps=999
    refuses "999 ps apart; at least 1000" $coll --cores 2 $levels --set topology.trunk_flight_ps=999
    refuses "flows" $coll -a nvls --cores 2 --fidelity flow
    refuses "'65' is not a whole number from 1 to 64" $coll --cores 65
    refuses "this verb runs on one core" bench uniform --cores 2
    refuses "this verb runs on one core" walk store --cores 2
}
says "all_reduce" coll all_reduce -s teach-4gpu -b 8K --cores 1
finish
