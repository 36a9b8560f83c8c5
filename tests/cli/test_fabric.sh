#!/bin/sh
# fanout fabric on a job that runs: a program that stands between two of its calls sees the fabric manager stop, start, be
# absent, broken and restarted, a link that slows down, and a GPU that is reset, each as the error that is documented;
# what cannot be is refused by a line that says what would be right, and the program notices nothing of it.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
. "$TOP_SRCDIR/tests/plain.sh"
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libcuda.so.1" ] || { echo "skipped: no $libs/libcuda.so.1"; exit 77; }
mkdir include
printf '#include <fanout/cuda.h>\n' >include/cuda.h
${CC:-cc} -std=gnu11 -O1 -w -Iinclude -I"$TOP_SRCDIR/api/include" -o client "$TOP_SRCDIR/tests/clients/fabric.c" \
    "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs"

job= child= lines=0

# begin OPTION...: starts the program; $job is the process that owns its machine.
begin() {
    rm -f to said
    mkfifo to
    "$FANOUT" exec -s dgx-h100 --report report.json "$@" -- ./client <to >said 2>log &
    job=$!
    exec 3>to
    lines=0
    await
    [ "$(tail -n 1 said)" = ready ] || { cat log; complain "the program did not start"; exit 1; }
}

# await: one more line of the program than before.
await() {
    lines=$((lines + 1))
    for _ in $(seq 600); do
        [ "$(wc -l <said)" -ge $lines ] && return
        sleep 0.05
    done
    complain "the program says nothing more; its log: $(cat log)"
    kill "$job"
    exit 1
}

# tell ANSWER COMMAND...: the program does that, and answers so.
tell() {
    answer=$1
    shift
    echo "$*" >&3
    await
    last=$(tail -n 1 said)
    case $last in "$1: $answer" | "$1: $answer "*) ;; *) complain "$*: '$last', not '$answer'" ;; esac
}

# fabric ARG...: `fanout fabric` on this job.
fabric() {
    "$FANOUT" fabric "$@" --job "$job" --format csv >out 2>err || complain "fanout fabric $*: $(cat err)"
}

end() {
    exec 3>&-
    code=0
    wait "$job" || code=$?
    [ "$code" = 0 ] || complain "the program ended with $code: $(cat log)"
}

S=CUDA_SUCCESS
begin
fabric status
grep -q ",8,1,running,0,0," out || complain "status: $(cat out)"
"$FANOUT" fabric status >out
grep -q "fanout-$job-" out || complain "status without --job does not list it: $(cat out)"

# the manager stops: a set-up is not answered, until it is started
fabric stop
grep -q ",stopped," out || complain "stop: $(cat out)"
tell $S new 2
tell $S add 0
tell $S add 1
tell CUDA_ERROR_SYSTEM_NOT_READY bind 0
refuses 'the fabric manager is stopped already' fabric stop --job "$job"
fabric start
tell $S bind 0
tell $S bind 1

# absent and broken: for good for that object, and not for the next
for how in absent broken; do
    tell $S new 2
    fabric stop $how
    tell $S add 0
    tell $S add 1
    tell CUDA_ERROR_ILLEGAL_STATE bind 0
    fabric start
    tell CUDA_ERROR_ILLEGAL_STATE bind 0
done

# a restart: objects made before are lost, and GPUs that were not reset since cannot join a new one
tell $S new 2
tell $S add 0
fabric restart
grep -q ",running,1,8," out || complain "restart: $(cat out)"
tell CUDA_ERROR_INVALID_VALUE add 1
tell CUDA_ERROR_INVALID_VALUE bind 0
tell $S new 2
tell CUDA_ERROR_INVALID_VALUE add 0
tell $S work 0
fabric gpu-reset 0
fabric gpu-reset gpu1
grep -q ",running,1,6," out || complain "gpu-reset: $(cat out)"
tell CUDA_ERROR_DEVICE_UNAVAILABLE work 0
tell CUDA_ERROR_DEVICE_UNAVAILABLE work 0
tell $S work 2
tell $S again 0
tell $S again 1
tell $S work 0
tell $S add 0
tell $S add 1
tell $S bind 0

# a kernel that never ends is ended by the reset of its GPU, and the wait for it, too
tell $S spin 3
"$FANOUT" fabric gpu-reset 3 --job "$job" >out
grep -q 'GPU 3 was reset; contexts that have ended: 1' out || complain "gpu-reset does not say what it ended: $(cat out)"
tell CUDA_ERROR_DEVICE_UNAVAILABLE work 3

# all links of GPU 4 at half their rate: a copy takes twice as long, and afterwards as long as before
time_of() { sed -n '$s/.* //p' said; }
tell $S copy 4 5
whole=$(time_of)
for link in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do fabric degrade link_degraded gpu4.link$link:50 --for 10ms; done
tell $S copy 4 5
half=$(time_of)
tell $S copy 6 7
awk -v a="$whole" -v b="$half" -v c="$(time_of)" \
    'BEGIN { exit !(b > 1.8 * a && b < 2.1 * a && c > 0.99 * a && c < 1.01 * a) }' ||
    complain "a copy took $whole us, $half us with links at half their rate, and $(time_of) us between others"

# what is refused
refuses 'it has gpu0 to gpu7' fabric degrade link_degraded gpu9.link0 --job "$job"
refuses "'link_broken' is no kind of fault; there are link_down" fabric degrade link_broken gpu0.link0 --job "$job"
refuses 'run the program with --set fault.live=true' fabric degrade link_down gpu0.link0 --job "$job"
refuses 'one part, without a time' fabric degrade link_degraded gpu0.link0@20us --job "$job"
refuses 'there is no GPU 8; the system has 0 to 7' fabric gpu-reset 8 --job "$job"
refuses "'x' is no GPU" fabric gpu-reset x --job "$job"
refuses "stop: 'hard' is none of stopped, absent, broken" fabric stop hard --job "$job"
refuses "'mend' is none of status, stop" fabric mend --job "$job"
refuses 'degrade: write it as fanout fabric degrade FAULT PART' fabric degrade link_down --job "$job"
refuses 'only degrade lasts' fabric stop --for 1us --job "$job"
refuses "no time in whole picoseconds" fabric degrade link_degraded gpu0.link0 --for soon --job "$job"
refuses "no machine of this user is called 'nobody'" fabric stop --job nobody
tell $S work 5
end
grep -q 'link_degraded gpu4.link0' report.json || complain "the report does not have the fault that came"

# a logical endpoint that is ready takes memory while the manager is there: what its page says of system software that is
# not running, and of a system in an illegal state
begin --set cuda.endpoints=on --set cuda.driver_version=13050
tell $S end 0
fabric stop
tell CUDA_ERROR_SYSTEM_NOT_READY tie 0
for how in absent broken; do
    fabric stop $how
    tell CUDA_ERROR_ILLEGAL_STATE tie 0
done
fabric start
tell $S tie 0
end

# a machine that was prepared for it loses a link: what goes over it before the manager has reacted (200 us) is lost, and
# what goes later finds another way
begin --set fault.live=true
tell $S copy 0 1
fabric degrade link_down gpu0.link3
for _ in 1 2 3 4 5; do tell $S copy 2 3; done
tell $S copy 0 1
fabric degrade link_down gpu2.link3
tell CUDA_ERROR_ILLEGAL_ADDRESS copy 2 3
for sw in 0 1 2; do fabric degrade switch_down switch$sw; done
refuses 'have no link left to a common switch port' fabric degrade switch_down switch3 --job "$job"
end
grep -q 'link_down gpu0.link3' report.json || complain "the report does not have the link that went down"
finish
