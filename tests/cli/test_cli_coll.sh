#!/bin/sh
# Proves that `fanout coll` gives the same bytes twice and with both calendars, that its formats agree, that
# every algorithm verifies, and that what cannot run is refused with one line.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

small="all_reduce -s teach-4gpu -a nvls,ring --ctas 2 -b 1K -e 64K -f 8"
for format in text csv json; do
    # shellcheck disable=SC2086
    "$FANOUT" coll $small --format $format >one.$format || complain "$small: exit $?"
    # shellcheck disable=SC2086
    "$FANOUT" coll $small --format $format >two.$format || complain "$small: exit $?"
    cmp one.$format two.$format || complain "two runs differ ($format)"
    # shellcheck disable=SC2086
    "$FANOUT" coll $small --format $format --calendar systemc >two.$format || complain "$small: exit $?"
    cmp one.$format two.$format || complain "the calendars differ ($format)"
done

# By fabric operations: all verified, the same with both engines, in no list and no search, refused where PTX has no form.
for how in "all_reduce pullred,endpoint" "reduce_scatter pullred" "all_gather pullred,endpoint" \
    "broadcast pullred,endpoint" "all_to_all endpoint"; do
    for engine in fast reference; do
        "$FANOUT" coll "${how% *}" -s teach-4gpu -a "${how#* }" -b 4K -e 64K -f 16 --no-compare --engine $engine \
            --format csv >$engine.csv || complain "$how: exit $?"
    done
    cmp fast.csv reference.csv || complain "$how: the engines differ"
    [ "$(cut -d , -f 16 fast.csv | sed 1d | sort -u)" = true ] || complain "$how: not all verified"
done
"$FANOUT" coll all_reduce -s teach-4gpu -a best -b 4K >out 2>&1
grep -q -E 'pullred|endpoint' out && complain "a search knows of pullred: $(cat out)"
"$FANOUT" coll all_reduce -s teach-4gpu -a pullred -d int32 >out 2>&1 && complain "pullred adds s32"
grep -q 'pullred has no add of s32' out || complain "pullred of s32: $(cat out)"

# Six rows, all verified, the same numbers in every format.
[ "$(sed 1d one.csv | wc -l)" = 6 ] || complain "csv has not six rows"
[ "$(cut -d , -f 16 one.csv | sed 1d | sort -u)" = true ] || complain "csv: not all verified"
[ "$(grep -c '^  all_reduce .* yes  *packet$' one.text)" = 6 ] || complain "text has not six verified rows"
grep -q '"schema": "fanout/1"' one.json || complain "json without schema"
[ "$(grep -c '"busbw_GBps": ' one.json)" = 6 ] || complain "json has not six rows"
for busbw in $(cut -d , -f 13 one.csv | sed 1d); do
    grep -q "\"busbw_GBps\": $busbw," one.json || complain "json does not have the $busbw of csv"
    grep -q " $busbw " one.text || complain "text does not have the $busbw of csv"
done
head -n 1 one.csv | grep -q -E '^op,bytes,.*,algo,.*,time_us,.*algbw_GBps,busbw_GBps,.*verified,fidelity,system,settings,seed$' ||
    complain "csv: other columns: $(head -n 1 one.csv)"

# Without data nothing is verified, and nothing claims to be; the time is the same.
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls --ctas 2 -b 8K --format csv >with
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls --ctas 2 -b 8K --format csv --data off >without
[ "$(cut -d , -f 16 without | sed 1d)" = "" ] || complain "--data off: verified is $(sed 1d without)"
[ "$(cut -d , -f 1-15 with)" = "$(cut -d , -f 1-15 without)" ] || complain "--data off changes the time"
for proto in ll ll128; do # their lines carry flags in either case
    for data in full off; do
        "$FANOUT" coll all_reduce -s teach-4gpu -a ring -p $proto -b 40K --format csv --data $data | cut -d , -f 1-15 >$data
    done
    cmp -s full off || complain "--data off changes the time of $proto"
done
# With data every arrival is an event, without it most are not: all that is counted stays the same, whatever holds packets up.
for op in all_reduce all_gather reduce_scatter broadcast; do
    for set in link.flight_ps=0 link.flight_ps=1 gpu.response_queue_packets=3 link.credits_gpu_flits=40 gpu.l2_bytes=4096 \
        switch.multicast_tags=3 switch.reduction_tags=3; do
        for data in full off; do
            "$FANOUT" coll $op -s dgx-h100 -a nvls -b 256K --format json --data $data --set $set >$data 2>&1 ||
                complain "$op --set $set: exit $?"
        done
        grep -q 'verified": true' full || complain "$op --set $set: not verified"
        [ "$(grep -v verified full)" = "$(grep -v verified off)" ] ||
            complain "$op --set $set: --data off changes more than bytes"
    done
done

# A GPU that answers nothing is named before all who wait, however many these are.
"$FANOUT" coll all_reduce -s dgx-h100 -a nvls -b 16K --set fault.gpu_silent=gpu1 >out 2>err &&
    complain "a silent GPU: exit 0"
[ "$(sed -n 2p err)" = "$(grep '^  gpu1: is silent' err)" ] || complain "a silent GPU is not named first: $(head -n 3 err)"

# Faults in time: an interruption is told with its cost, and nothing is lost; one that is lost is an error with its name,
# in the timeline and as exit code 2; what makes no sense is refused.
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 64K --fault link_down=gpu0.link1@6us-8us --fault gpu_slow=gpu1:50@1us \
    --format json >out 2>err || complain "an interrupted link: $(cat err)"
grep -q '"verified": true' out || complain "an interrupted link: not verified"
grep -q '"fault": "link_down gpu0.link1@6us-8us"' out || complain "no timeline: $(cat out)"
grep -q '"fault": "gpu_slow gpu1:50@1us"' out || complain "the second fault is not in the timeline"
grep -A 6 '"fault": "link_down' out | grep -q '"lost": 0' || complain "an interruption loses packets"
status=0
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 64K --data off --fault link_down=gpu0.link1@6us \
    --set fault.manager_ps=1000000 >out 2>err || status=$?
[ "$status" = 2 ] || complain "requests that were lost: exit $status: $(cat err)"
grep -q 'requests ended with an error.*ATO_ERR\|CRUMBSTORE' out err || complain "no error by name: $(cat out err)"
for bad in link_down link_down= =gpu0 link_down=gpu0.link1@6 nothing=gpu0; do
    "$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 64K --fault "$bad" >out 2>err && complain "--fault $bad: exit 0"
    [ "$(wc -l <err)" = 1 ] || complain "--fault $bad: $(cat err)"
done
"$FANOUT" coll all_reduce -s teach-4gpu --fidelity flow --fault link_down=gpu0.link1@6us >out 2>err &&
    complain "flows with a fault in time: exit 0"

# Another system is another result; a page is written.
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls --ctas 2 -b 8K --format csv \
    --set link.flight_ps=500000 --html page.html >slow
cmp -s with slow && complain "a longer flight changes nothing"
grep -q '<svg' page.html || complain "no chart in the page"

# Every operation and algorithm, verified.
while read -r op algos; do
    "$FANOUT" coll "$op" -a "$algos" -b 36K -n 6 -d half --format csv >out 2>err ||
        complain "$op $algos: $(cat err)"
    ! grep -q false out || complain "$op $algos: wrong: $(cat out)"
    [ "$(wc -l <out)" = "$(echo "$algos" | tr , '\n' | wc -l | awk '{print $1 + 1}')" ] ||
        complain "$op $algos: $(cat out)"
done <<LIST
all_reduce ring,tree,oneshot,twoshot,nvls,nvls_oneshot,auto
all_gather ring,push,nvls,auto
reduce_scatter ring,pull,nvls,auto
broadcast ring,push,nvls,auto
all_to_all direct,auto
sendrecv direct,auto
reduce ring,auto
gather p2p,auto
scatter p2p,auto
LIST
# A barrier has no bytes to fill or to compare.
"$FANOUT" coll barrier -s teach-4gpu -a direct,nvls --format csv >out 2>err || complain "barrier: $(cat err)"
[ "$(grep -c '^barrier,0,0,' out)" = 2 ] || complain "barrier: $(cat out)"
# As nccl-tests have them: -o prod and avg, and -d all, of which what the switch cannot add is left out, with a reason.
for redop in prod avg; do
    "$FANOUT" coll reduce -o $redop -b 36K -n 6 --root 3 --format csv >out 2>err || complain "-o $redop: $(cat err)"
    grep -q "^reduce,36864,9216,f32,$redop,.*,true,packet" out || complain "-o $redop: $(cat out)"
    refuses "nvls has no $redop.*ring and tree have it" coll all_reduce -a nvls -o $redop
done
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls,ring -d all -b 16K --format csv >out 2>err || complain "-d all: $(cat err)"
[ "$(grep -c ',ring,.*,true,' out)" = 10 ] && [ "$(grep -c ',nvls,.*,true,' out)" = 7 ] || complain "-d all: $(cat out)"
says 'left out of -d all: nvls with s64: .*integer add' coll all_reduce -s teach-4gpu -a nvls,ring -d all -b 16K
refuses '20 GPUs cannot.*-n is the number of GPUs, --iters N that of iterations' coll all_reduce -n 20
# of 72 GPUs the fastest without multicast is not looked for unless it is named; of fewer bytes it is
timeout 120 "$FANOUT" coll all_reduce -s vr200-nvl72 -a nvls,pullred -b 256K --data off --no-what-if >out 2>err || complain "72 GPUs: $(cat err)"
grep -q 'not compared with the fastest without multicast.*72 GPUs.*-a unicast finds it' out || complain "72 GPUs: $(cat out)"
"$FANOUT" coll all_reduce -s dgx-h100 -n 4 -a nvls,pullred -b 16K >out 2>err || complain "4 GPUs: $(cat err)"
grep -q 'the fastest without multicast$' out || complain "4 GPUs are not compared: $(cat out)"
"$FANOUT" coll all_reduce -s gb200-nvl72 -n 5 -b 4K >out 2>err || complain "-n 5: $(cat err)"
grep -q -e '-n 5 is the number of GPUs; of iterations: --iters 5' err || complain "-n 5 is not said: $(cat err)"
"$FANOUT" coll all_reduce -a ring -p ll128 -b 36K -o max -d bfloat16 --format csv | grep -q 'ring,ll128.*true' ||
    complain "ring with ll128"
"$FANOUT" coll all_reduce -a best -b 8K -n 2 --format csv | grep -q true || complain "best"

refuses "did you mean 'all_reduce'\|all_reduce, all_gather" coll all_reduc
refuses 'usage: fanout coll' coll -n 4
refuses "'extra' is too much" coll all_reduce extra
refuses '9 GPUs cannot' coll all_reduce -n 9 -s dgx-h100
refuses '1 GPUs cannot' coll all_reduce -n 1
refuses 'no whole number of' coll all_reduce -b 1000001
refuses 'less than -b' coll all_reduce -b 4M -e 1M
refuses "-f: '1'" coll all_reduce -f 1 -b 1M -e 2M
refuses "'nvsl' is unknown" coll all_reduce -a nvsl
refuses 'needs multicast' coll all_reduce -s dgx-a100 -a nvls -b 1M
refuses "'floot' is unknown" coll all_reduce -d floot
refuses "'mul' is unknown" coll all_reduce -o mul
refuses '100000 CTAs' coll all_reduce --ctas 100000
refuses '2000 threads' coll all_reduce --threads 2000
refuses '0 bytes' coll all_reduce -b 0
refuses "'lots' is not a size" coll all_reduce -b lots
refuses "no algorithm 'push'" coll all_reduce -a push
refuses 'root 9' coll broadcast -a nvls --root 9 -b 1M
refuses "no system 'dgx-h10'" coll all_reduce -s dgx-h10
refuses 'no/such/dir' coll all_reduce -s teach-4gpu --ctas 2 -b 1K -a nvls --html no/such/dir/x.html
refuses "is unknown; all_reduce has" coll all_reduce -a rong
refuses "is unknown" coll all_reduce -d f7
refuses "'vlm' is unknown; nccl, .* did you mean 'vllm'?" coll all_reduce --program vlm
refuses "divided among 8" coll all_gather -b 100
refuses "whole number" coll all_reduce -b 33
refuses "multiple of 32" coll all_reduce --threads 100
refuses "resident" coll all_reduce --ctas 5000
refuses "does not go with" coll all_reduce -o xor -d float -a ring

# Rates of flows, of which one makes room for another in turn, are not solved for ever at one instant.
(ulimit -t 120 && exec "$FANOUT" coll all_gather -a ring -s gb200-nvl72 -n 8 -b 64M --fidelity flow --data off) >flow ||
    complain "flows of a ring: exit $?"
grep -q '^  all_gather .* flow$' flow || complain "flows of a ring: no row"

# A loop of billions of bytes in one CTA takes in proportion to them: no product of lines and picoseconds wraps around.
"$FANOUT" coll sendrecv -a direct --ctas 1 -b 2G -e 8G -f 4 --fidelity flow --format csv >large
awk -F, '$2 ~ /^[0-9]/ { time[++n] = $10 } END { exit !(n == 2 && time[2] > 3.99 * time[1] && time[2] < 4.01 * time[1]) }' \
    large || complain "8 GiB take not four times as long as 2 GiB: $(cut -d, -f 2,10 large)"

# What auto stands for is the program's choice: it changes the algorithm and the time, and notes say which and why.
says 'auto (--program nccl) at 1M: ring ll, the fastest by' coll all_reduce -b 1M -e 2M --data off
grep -q 'auto (--program nccl) at 2M: nvls_buffered simple, NVLS through NCCL.s own buffers' out || complain "no note: $(cat out)"
slow=$(awk '$1 == "all_reduce" && $6 == "nvls_buffered" { print $10 }' out)
says 'at 2M: nvls simple, NVLS on the user.s buffers' coll all_reduce -b 2M --data off --program nccl-registered
fast=$(awk '$1 == "all_reduce" && $6 == "nvls" { print $10 }' out)
awk -v slow="$slow" -v fast="$fast" 'BEGIN { exit !(fast > 0 && slow > 1.3 * fast) }' ||
    complain "2 MiB: $slow us through buffers, $fast us registered"
says 'at 64K: oneshot simple, vllm.s own kernel' coll all_reduce -b 64K --data off --program vllm
says '^# auto' coll all_reduce -b 64K --data off
says 'all_reduce .* ring' coll all_reduce -b 64K --data off -a ring
grep -q '^# auto' out && complain "a note on auto where a ring was asked for"

# Flows know no trunks.
two="-s teach-4gpu --set topology.kind=two_level --set topology.leaf_gpus=2 --set topology.spines=1 --set topology.trunks=1"
# shellcheck disable=SC2086
refuses "fidelity flow: flows know no trunks" coll all_reduce $two -a nvls -b 64K --fidelity flow

# A candidate that a fault stops, or whose requests end with an error, is left out with a word; what the fault does not
# touch wins. GPU 1's memory leaves all teams before a kernel begins, so that nothing by multicast ends well.
left_out() { # OP WINNER PATTERN
    "$FANOUT" coll "$1" -s teach-4gpu -a best -b 16K --fault member_leaves=gpu1@2us >out 2>err || complain "$1: exit $?: $(cat err)"
    grep -q "^  $1 .* $2 .* yes " out || complain "$1 is not by $2: $(cat out)"
    grep -q "^# best, 16K, left out: $3" out || complain "$1: who was left out? $(cat out)"
}
left_out all_reduce lamport 'sym_mc simple gets stuck, nvls simple gets stuck'
left_out reduce_scatter sym_ll '.*nvls_buffered simple has requests that end with an error'
left_out broadcast push 'nvls simple gets stuck$'
# Where none is left, the first one says why.
status=0
"$FANOUT" coll all_reduce -s teach-4gpu -a best -b 16K --fault gpu_silent=gpu1@1us >out 2>err || status=$?
[ "$status" = 2 ] && grep -q 'sym_mc got stuck; who waits:' err || complain "none is left: exit $status: $(cat err)"
# A fault that comes when all is over is said to change nothing; one that comes in time is not.
says '^# link_down gpu0.link0@20ms comes at 20000.000 us, when all is over (29.607 us): it changes nothing here$' \
    coll all_reduce -s teach-4gpu -a ring -b 16K --fault link_down=gpu0.link0@20ms
says '^# link_down gpu0.link0@30us-31us comes at 30.000 us, when 2 of the 3 rows have ended: it changes nothing there$' \
    coll all_reduce -s teach-4gpu -a ring -b 4K -e 64K -f 4 --fault link_down=gpu0.link0@30us-31us
"$FANOUT" coll all_reduce -s teach-4gpu -a ring -b 16K --fault link_down=gpu0.link0@10us-11us >out
grep -q 'changes nothing' out && complain "a fault in time: $(cat out)"
"$FANOUT" coll all_reduce -s teach-4gpu -a ring -b 16K --fault link_down=gpu0.link0 >out
grep -q 'changes nothing' out && complain "a fault from the start: $(cat out)"

finish
