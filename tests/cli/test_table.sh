#!/bin/sh
# Proves that `fanout table` writes what planners read (columns, elements, milliseconds), that its cells are those that
# validate simulates, that a run which was ended goes on, and that a grid which is none is refused with one line.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

small="table -s dgx-h100 --ops all_reduce,all_to_all --gpus 2,4,...,8 --sizes 1K,4K,...,16K"
# shellcheck disable=SC2086
"$FANOUT" $small --format csv >one.csv 2>err || complain "$small: exit $?: $(cat err)"
[ ! -s err ] || complain "standard error: $(cat err)"
[ "$(head -n 1 one.csv | cut -d , -f 1-9)" = framework,version,device,op_name,kernel_source,nccl_dtype,num_gpus,message_size,latency ] ||
    complain "columns: $(head -n 1 one.csv)"
[ "$(sed 1d one.csv | wc -l)" = 18 ] || complain "not 2 x 3 x 3 cells: $(cat one.csv)"
grep -q '^fanout,[^,]*,dgx-h100,alltoall,NCCL,half,8,2048,0\.0[0-9]*,NCCL,4096,' one.csv || complain "no alltoall of 4 KiB"

# One job and two give the same bytes; a cell is what validate says of such a row.
# shellcheck disable=SC2086
"$FANOUT" $small --format csv --jobs 1 >two.csv
cmp one.csv two.csv || complain "the number of jobs matters"
header=id,group,preset,gpus,op,algo,proto,ctas,program,bytes,time_us,timing,derived,source_url
echo "$header" >row.csv
echo "a,g,dgx-h100,8,all_reduce,auto,,,nccl,16384,1,eager,,https://github.com/ai-dynamo/aiconfigurator" >>row.csv
us=$("$FANOUT" validate --format csv row.csv | sed -n 2p | cut -d , -f 6)
ms=$(grep ',all_reduce,NCCL,half,8,8192,' one.csv | cut -d , -f 12)
awk -v us="$us" -v ms="$ms" 'BEGIN { d = us - 1000 * ms; exit !(us > 1 && d < 0.02 && d > -0.02) }' ||
    complain "16 KiB on 8 GPUs: validate $us us, table $ms ms"

# Kernels of a framework have the other layout, and elements of the type.
"$FANOUT" table -s dgx-h100 --program vllm --gpus 2 --sizes 64K -d float --format csv >vllm.csv
[ "$(head -n 1 vllm.csv | cut -d , -f 6)" = allreduce_dtype ] || complain "columns: $(head -n 1 vllm.csv)"
grep -q '^fanout,[^,]*,dgx-h100,all_reduce,vLLM_custom_graph,float,2,16384,.*,oneshot,' vllm.csv || complain "$(cat vllm.csv)"

# A cell is corrected by measured rows near it, here ten that were simulated 12 % slow: their error is taken out but for
# a share of noise, and what is left is uncertain; a cell without any neighbour is the model's alone, and null.
{
    echo id,preset,gpus,op,program,nccl,timing,bytes,measured_us,simulated_us
    for i in 0 1 2 3 4 5 6 7 8 9; do
        echo "r$i,dgx-h100,2,all_reduce,nccl,2.29.7,eager,1024,100,112"
    done
} >errors.csv
# shellcheck disable=SC2086
"$FANOUT" $small --errors errors.csv --format csv >near.csv
# shellcheck disable=SC2086
"$FANOUT" $small --errors errors.csv --neighbours off --format csv >off.csv
row() { grep ",$2,NCCL,half,$3,$4," "$1.csv" | cut -d , -f 9,12,13,14 | tr , ' '; }
row near all_reduce 2 512 | awk '{ c = $1 * 1.12 / $2; exit !($4 == 10 && c > 0.995 && c < 1.005 && $3 > 5 && $3 < 8) }' ||
    complain "1 KiB on 2 GPUs: $(row near all_reduce 2 512)"
row near all_reduce 2 2048 | awk '{ exit !($4 == 10 && $1 < $2 && $1 * 1.12 > $2 && $3 > 5 && $3 < 20) }' ||
    complain "4 KiB on 2 GPUs, which is farther: $(row near all_reduce 2 2048)"
row near alltoall 8 512 | awk '{ exit !($1 == $2 && $3 == 0) }' || complain "no neighbours: $(row near alltoall 8 512)"
row off all_reduce 2 512 | awk '{ exit !($1 == $2 && $3 > 12 && $4 == 10) }' ||
    complain "--neighbours off: $(row off all_reduce 2 512)"

# A planner's own measurements are simulated first and correct it, more than published rows do, which are of other
# machines: a cell that was measured at 50 us is near 50 us.
{
    echo op_name,nccl_dtype,num_gpus,message_size,latency,kernel_source,version
    echo all_reduce,half,4,2048,0.05,NCCL,2.29.7
} >mine.csv
# shellcheck disable=SC2086
"$FANOUT" $small --measured mine.csv --format csv >mine-out.csv 2>err || complain "--measured: $(cat err)"
mv mine-out.csv mine.out.csv
row mine.out all_reduce 4 2048 | awk '{ exit !($1 > 0.040 && $1 < 0.055 && $2 < 0.03) }' ||
    complain "measured 50 us: $(row mine.out all_reduce 4 2048)"
# shellcheck disable=SC2086
refuses 'nccl_dtype' $small --measured errors.csv
# shellcheck disable=SC2086
refuses '--neighbours' $small --neighbours maybe

# A run that was ended goes on: what its file has is not simulated again, and the table is the same.
# shellcheck disable=SC2086
"$FANOUT" $small --format csv --resume journal >/dev/null
head -n 9 journal >part && cp part journal
# shellcheck disable=SC2086
"$FANOUT" $small --format csv --resume journal >two.csv
cmp one.csv two.csv || complain "a resumed table differs"
[ "$(wc -l <journal)" -ge 19 ] || complain "the journal was not added to"
# shellcheck disable=SC2086
refuses 'other settings' $small --resume journal --set link.flight_ps=1

# Cells that cannot be are told, and leave no row a planner would stumble over.
"$FANOUT" table -s dgx-h100 --ops reduce_scatter -d fp8_e4m3 --gpus 2 --sizes 64K --format csv >none.csv 2>err ||
    complain "fp8: exit $?"
[ "$(wc -l <none.csv)" = 2 ] || grep -q 'no row for .*fp8' err || complain "fp8: $(cat none.csv err)"

refuses "'all_deduce' is unknown; did you mean 'all_reduce'" table --ops all_deduce
refuses 'each operation once' table --ops all_reduce,all_reduce
refuses 'a barrier has no size' table --ops barrier
refuses 'gpus: .*9.* between 2 and 8\|--gpus' table -s dgx-h100 --gpus 9
refuses 'do not ascend' table --gpus 4,2
refuses "'...' stands between two numbers" table --gpus 2,...
refuses 'no whole factor' table --gpus 2,3,...,8
refuses "'big' is not a size" table --sizes big
refuses 'out of bounds' table --sizes 1
refuses 'none of them gives each rank 16 bytes' table --ops all_gather --gpus 8 --sizes 64
refuses 'for all_reduce alone' table --program vllm --ops all_gather
refuses 'in CUDA graphs' table --program vllm --timing eager
refuses "'eagre' is unknown" table --timing eagre
refuses 'at least 1' table --jobs 0
refuses 'no/such/file' table --errors no/such/file
refuses 'the first line' table --errors one.csv
finish
