#!/bin/sh
# Inputs and programs that failed where people used them give what their notes call right: the files and programs of
# ../shared/field/second, each with its value. Programs for the runtime library are built where a toolkit is there.
set -eu
field=$(cd "${FANOUT_SHARED:-$TOP_SRCDIR/../shared}/field/second" 2>/dev/null && pwd) || { echo "no shared/field/second here"; exit 77; }
libs=$(cd "$(dirname "$FANOUT")/.libs" && pwd)
case $FANOUT in /*) ;; *) FANOUT=$(pwd)/$FANOUT ;; esac
. "$TOP_SRCDIR/tests/plain.sh"
source=$(cd "$TOP_SRCDIR" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
bad=0
# is WHAT STATUS COMMAND...: it ends with that; its output is in `got`, its messages in `said`.
is() {
    what=$1 expected=$2 status=0
    shift 2
    timeout 300 "$@" >got 2>said || status=$?
    [ "$status" = "$expected" ] || complain "exit $status, not $expected"
}
complain() { echo "$what: FAILED: $*"; head -20 got said; bad=1; }
operations() { grep -v -e '^fanout-trace' -e '^world' -e '^rank' -e '^group' -e ' compute ' got | sed 's/^[0-9]* //'; }
has() { # has COUNT TEXT: so many operations of the trace begin so
    n=$(operations | grep -c "^$1" || :)
    [ "$n" = "$2" ] || complain "$n of $1, not $2"
}
only() { [ "$(operations | wc -l)" = "$1" ] || complain "not $1 operations"; }
says() { grep -q "$1" said || complain "does not say $1"; }

is "a log of four ranks" 0 "$FANOUT" convert "$field/nccl_log_uaf/nccl_uaf.log" -
has 'all_reduce bytes=4096 ' 4
only 4
is "a log with signals" 0 "$FANOUT" convert "$field/nccl_log_rma/rma.log" -
has 'all_reduce bytes=8192 ' 2
only 2
says '1 of PutSignal'
says '1 of WaitSignal'
is "SimAI's BROADCAST" 0 "$FANOUT" convert "$field/simai_broadcast/w.txt" - --world 8
has 'broadcast .*bytes=16384 ' 1
has 'all_reduce .*bytes=1048576 ' 2
only 3
mkdir two
cp "$field"/kineto_two_of_four_ranks/*.json two
is "profiles of two of four ranks" 0 "$FANOUT" convert two -
has 'all_reduce group=0 bytes=4096 dtype=f32' 4
only 4
says '2 of 4 ranks were recorded'
is "metadata before a profile's events" 0 "$FANOUT" convert "$field/kineto_metadata_first/trace.json" -
has 'all_reduce group=0 bytes=4096 dtype=f32' 1
only 1
is "sizes of the operator that launched" 0 "$FANOUT" convert "$field/kineto_symm_mem_dims/trace.json" -
has 'all_reduce bytes=1048576 dtype=bf16' 1
only 1
is "channels by kind" 0 "$FANOUT" replay "$field/mscclpp_port_and_memory_channels/plan.json"

# program NAME: ./NAME is run on the simulated machine.
program() {
    status=$1
    shift
    is "$*" "$status" "$FANOUT" exec -s dgx-h100 --report /dev/null -- "$@"
}
gives() { printf '%s\n' "$@" | cmp -s - got || complain "does not print $*"; }
prints() { grep -qxF -- "$1" got || complain "does not print $1"; }
mkdir own
printf '#include <fanout/cuda.h>\n' >own/cuda.h
${CC:-cc} -w -I own -I "$source/api/include" "$field/stuck_kernels/run.c" -o run "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs"
# A wait that nothing can end: kernel, line, address and CTA, and the exit code of what is stuck.
for kernel in 'mbar_never 9 0x0.of.shared.memory' 'mbar_test 14 0x0.of.shared.memory' 'shared_flag 17 0x0.of.shared.memory' \
    'warp_bar 21 0x[0-9a-f]*'; do
    # shellcheck disable=SC2086
    set -- $kernel
    program 2 ./run "$field/stuck_kernels/hang.ptx" "$1"
    says "stuck: nothing is due"
    says "kernel $1 on gpu0: CTA (0,0,0) warp 0 polls $3, image line $2\$"
done
program 0 ./run "$field/ptx_codes/bad_ptx_code.ptx" k
prints "load 218 launch 400 sync 0" # INVALID_PTX; there is no function, and no handle was given
says 'image:5:1: multimem.ld_reduce.weak.add.s64'
if python3 -c 'import ctypes' 2>/dev/null; then
    program 0 python3 "$field/graphv1.py"
    prints "cuGraphAddKernelNode     0 (want 0)"
    prints "cuGraphAddKernelNode_v2  0"
fi

toolkit=
for t in /opt/cuda "${CUDA_HOME:-/usr/local/cuda}"; do
    [ ! -x "$t/bin/nvcc" ] || toolkit=$t
done
build() { # build NAME SOURCE CODE
    "$toolkit/bin/nvcc" -cudart shared -gencode "arch=compute_90,code=$3" "$2" -o "$1"
}
if [ -n "$toolkit" ]; then
    build clusters "$field/cudart_max_active_clusters/t.cu" compute_90
    program 0 ./clusters
    gives '0 528' '0 8' # 132 SMs with 16 blocks of 128 threads, in clusters of four
    build hostreg "$field/hostreg.cu" compute_90
    program 0 ./hostreg
    gives 'register cudaSuccess' 'pointer cudaSuccess' 'sync cudaSuccess' 'wrong 0'
    build none "$field/nokernel.cu" sm_90
    program 0 ./none
    gives 0 'launch 209 (want 209)'
    says 'the image holds machine code only (sm_90)'
    build names "$field/names.cu" compute_90
    is "names of errors" 0 "$FANOUT" exec -s dgx-h100 -- ./names # calls nothing of the driver: there is no report
    for line in '218 cudaErrorInvalidPtx | a PTX JIT compilation failed' \
        '209 cudaErrorNoKernelImageForDevice | no kernel image is available for execution on the device' \
        '700 cudaErrorIllegalAddress | an illegal memory access was encountered' \
        '999 cudaErrorUnknown | unknown error' '0 cudaSuccess | no error'; do
        prints "$line"
    done
    [ "$(grep -c ' cudaError.* | ' got)" = 38 ] || complain "38 codes have the runtime's names"
    build saxpy "$field/first-hour/saxpy.cu" compute_90
    program 0 ./saxpy
    prints '8 devices'
    grep -q '^no error y\[10\]=21.000000 ' got || complain "2 * 10 + 1 is 21"
else
    echo "programs of the runtime API: skipped, no nvcc here"
fi

# A sweep and a fabric of somebody's first hour: more room never costs bandwidth, and no point has an error.
cp "$field"/first-hour/*.ini .
for sweep in buf tags; do
    is "$sweep.ini" 0 "$FANOUT" sweep $sweep.ini --format csv
    awk -F, -v name=$sweep '/^#/ || NF < 10 { next }
        !columns { for (i = 1; i <= NF; i++) at[$i] = i; columns = 1; next }
        { if ($at["status"] != "done" || $at["error"] != "") print "a point is not done"
          if ($at["bytes"] == bytes && $at["busbw_GBps"] < busbw) print "less bandwidth with more room"
          bytes = $at["bytes"]; busbw = $at["busbw_GBps"]; rows++ }
        END { wanted = name == "buf" ? 10 : 6; if (rows != wanted) print rows " points, not " wanted }' got >wrong
    [ ! -s wrong ] || complain "$(cat wrong)"
done
is "two.ini" 0 "$FANOUT" coll all_reduce -s two.ini -b 1M
[ "$bad" = 0 ] && echo "what failed in the field gives what is right"
exit "$bad"
