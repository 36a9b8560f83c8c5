#!/bin/sh
# What the command says of teams that do not fit the switches' tables, on every way to one; of two levels of switches
# in reports; and of faults where a report has a timeline of them.
set -eu
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
systems=$TOP_SRCDIR/examples/systems

# Every system that is an example has a title, and is built; the wiring that it does not have is refused by name.
for file in "$systems"/*.ini; do
    says '^title = ' systems "$file"
    says '^  all_reduce ' coll all_reduce -s "$file" -n 4 -a nvls -b 4K --ctas 1
done
refuses 'switch_ports: spine0 has 64 links' coll all_reduce -s "$systems/dgx-h100-256.ini" --set topology.switch_ports=59

# A team that does not fit: the key, the value needed and the value set.
rounds='\[multicast\] rounds: 8 ports of switch0 take 3 rounds of 3 (round_directives); rounds = 2, set 3 or more'
narrow="-s dgx-h100 --set multicast.rounds=2"
refuses "$rounds" coll all_reduce -a nvls -b 4K $narrow
refuses "$rounds" bench multicast_bw -n 8 $narrow
refuses "$rounds" walk multimem.st $narrow
printf 'fanout-trace 1\nworld 8\nrank *\n1 all_reduce bytes=65536 dtype=f32\n' >job.txt
refuses "$rounds" replay job.txt --no-compare -a nvls $narrow
cat >team.c <<'EOF'
#include <stdio.h>
#include <fanout/cuda.h>
int main(void)
{
    CUmulticastObjectProp prop = {.numDevices = 8, .size = 2 << 20};
    CUmemAllocationProp own = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle team, memory;
    CUcontext context;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuMulticastCreate(&team, &prop);
    for (int g = 0; g < 8; g++)
        cuMulticastAddDevice(team, g);
    cuMemCreate(&memory, 2 << 20, &own, 0);
    printf("bind %d\n", (int)cuMulticastBindMem(team, 0, memory, 0, 2 << 20, 0));
    return 0;
}
EOF
. "$TOP_SRCDIR/tests/plain.sh"
libs=$(dirname "$FANOUT")/.libs
${CC:-cc} -I"$TOP_SRCDIR/api/include" team.c -o team "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs"
team() { "$FANOUT" exec "$@" --report report.txt -- ./team >out 2>err; }
team -s dgx-h100 || complain "a team of eight: $(cat err)"
grep -q '^bind 0$' out || complain "a team of eight is not bound: $(cat out)"
team $narrow || complain "a team that does not fit: $(cat err)"
grep -q '^bind 2$' out || complain "not CUDA_ERROR_OUT_OF_MEMORY: $(cat out)"
grep -q "no room for a team of 8 GPUs: $rounds" report.txt || complain "the report does not say why: $(cat report.txt)"
# A fault that comes while the fabric manager builds the team, and leaves it no link.
team -s dgx-h100 --set cuda.fm_latency_us=1000 --fault=switch_down=switch0@10us --fault=switch_down=switch1@10us \
    --fault=switch_down=switch2@10us --fault=link_down=gpu0.link14@10us --fault=link_down=gpu1.link15@10us \
    --fault=link_down=gpu2.link16@10us --fault=link_down=gpu3.link17@10us --set fault.manager_ps=100000000 ||
    complain "a fault while the team is built: $(cat err)"
grep -q '^bind 2$' out || complain "a team without links is bound: $(cat out)"
grep -q 'has left no link number' report.txt || complain "the report does not say what the fault did"

# Two levels: trunks among the links, both levels of switches, in coll and replay.
two="-s $systems/dgx-h100-256.ini --set system.gpus=16"
says '^  trunk up ' coll all_reduce $two -a nvls -b 64K
grep -q '^  leaves  *8  *[1-9]' out || complain "no sum over leaves: $(cat out)"
grep -q '^  spines  *36  *[1-9]' out || complain "no sum over spines"
"$FANOUT" coll all_reduce $two -a nvls -b 64K --format json | grep -q '"leaf0.port40.up"' || complain "no row of a trunk"
says '^  spine1 ' replay job.txt --no-compare -a nvls $two --place 4-11
for cores in 1 2; do
    "$FANOUT" coll all_reduce $two -b 4K --cores $cores --format csv >cores$cores || complain "--cores $cores: exit $?"
done
[ "$(cut -d , -f 1-17 cores1)" = "$(cut -d , -f 1-17 cores2)" ] ||
    complain "two cores: $(diff cores1 cores2)"

# Faults: bench and replay have their timeline.
says '^  link_down gpu0.link3@1us ' bench stream_bw --bytes 64K --fault link_down=gpu0.link3@1us
says '^  link_degraded gpu0.link3:50@1us ' replay job.txt --no-compare --fault link_degraded=gpu0.link3:50@1us
says '^  ' replay job.txt --no-compare --fault link_down=gpu0.link3
refuses 'routes that change during a run.*leave --cores away' coll all_reduce -b 4K --cores 2 --fault link_down=gpu0.link3@1us
finish
