#!/bin/sh
# NCCL, built from its public source as docs/nccl.md says and otherwise unmodified, on the simulated GPUs: init, each
# protocol and algorithm, every collective, value by value; ranks as processes, on trays, killed; then nccl-tests with its
# own check, also by MPI. By
#
#     make check-nccl NCCL=DIR [NCCL_TESTS=DIR] [CUDA_HOME=DIR] [ONLY=WORD]
#
# NCCL is its source tree with build/ in it, NCCL_TESTS that of nccl-tests, ONLY takes the cases whose name has the word.
# Two cases run only where ONLY has their names, since they take long: killed (KILLS=20 times one of eight ranks, seed
# SEED=1) and starved (RUNS=50 of eight threads, with as many busy loops beside as there are processors). Skips by name
# what is not there.
set -eu
nccl=${NCCL:-} tests=${NCCL_TESTS:-} toolkit=${CUDA_HOME:-/usr/local/cuda}
[ -f "$nccl/build/lib/libnccl.so.2" ] ||
    { echo "skipped: no NCCL tree; make check-nccl NCCL=DIR, whose build/lib has libnccl.so.2 (docs/nccl.md)"; exit 77; }
[ -f "$toolkit/include/cuda_runtime.h" ] ||
    { echo "skipped: no CUDA headers in $toolkit/include; name them by CUDA_HOME=DIR"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
LD_LIBRARY_PATH=$nccl/build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
${CC:-cc} -std=gnu11 -O1 -w -I"$nccl/build/include" -I"$toolkit/include" -o "$dir/collectives" \
    "$TOP_SRCDIR/tests/nccl/collectives.c" -L"$nccl/build/lib" -lnccl -L"$(dirname "$FANOUT")/cudart" -l:libcudart.so.13 \
    -Wl,--unresolved-symbols=ignore-in-shared-libs
bad=0 ran=0

# judge NAME WANTED: the case passed if its output has a line "ok"; WANTED, if not empty, is a kernel the report must name
judge() {
    ran=$((ran + 1))
    if ! grep -q '^ok$' "$dir/log"; then
        echo "$1: FAILED"
        tail -20 "$dir/log"
        bad=1
    elif [ -n "$2" ] && ! grep -q "$2" "$dir/report.json"; then
        echo "$1: FAILED, no kernel $2 in the report"
        bad=1
    else
        echo "$1: passed"
    fi
}
wanted() { case $1 in *"${ONLY:-}"*) return 0 ;; *) return 1 ;; esac; }

# one NAME KERNEL ENVIRONMENT OP RANKS ELEMENTS TYPE [REPEATS] [registered]
one() {
    name=$1 kernel=$2 environment=$3
    shift 3
    wanted "$name" || return 0
    # shellcheck disable=SC2086
    env $environment timeout 300 "$FANOUT" exec -s "${SYSTEM:-dgx-h100}" --report "$dir/report.json" -- \
        "$dir/collectives" "$@" >"$dir/log" 2>&1 || :
    judge "$name" "$kernel"
}
one init-2 "" "" init 2 1 f32
one init-8 "" "" init 8 1 f32
one ll ncclDevKernel_AllReduce_Sum_f32_RING_LL "NCCL_ALGO=Ring NCCL_PROTO=LL" all_reduce 2 2 f32
one ll-8 "" "NCCL_ALGO=Ring NCCL_PROTO=LL" all_reduce 8 2 f32
one simple "" "NCCL_ALGO=Ring NCCL_PROTO=Simple" all_reduce 4 50000 f32
one ll128 "" "NCCL_ALGO=Ring NCCL_PROTO=LL128" all_reduce 4 20000 f32
one tree-ll ncclDevKernel_AllReduce_Sum_f32_TREE_LL "NCCL_ALGO=Tree NCCL_PROTO=LL" all_reduce 4 2000 f32
one tree-ll128 "" "NCCL_ALGO=Tree NCCL_PROTO=LL128" all_reduce 4 20000 f32
one tree-simple "" "NCCL_ALGO=Tree NCCL_PROTO=Simple" all_reduce 4 50000 f32
one nvls "" "NCCL_ALGO=NVLS" all_reduce 4 50000 f32
one nvls-all-gather "" "NCCL_ALGO=NVLS" all_gather 4 20000 f32
one nvls-reduce-scatter "" "NCCL_ALGO=NVLS" reduce_scatter 4 20000 f32
one bf16 "" "" all_reduce 2 20000 bf16 3
for op in all_gather reduce_scatter broadcast reduce sendrecv; do
    one "$op" "" "" "$op" 4 20000 f32 2
done
one symmetric ncclSymkDevKernel_AllReduce "" all_reduce 4 4000 f32 2 registered
one symmetric-all-gather ncclSymkDevKernel_AllGather "" all_gather 4 4000 f32 2 registered
one symmetric-reduce-scatter ncclSymkDevKernel_ReduceScatter "" reduce_scatter 4 4000 f32 2 registered

# processes NAME ENVIRONMENT OP RANKS ELEMENTS: what the ranks take as processes is what they take as threads, to the
# nanosecond that they print, and a second run gives the same bytes of report.
processes() {
    name=$1 environment=$2
    shift 2
    wanted "$name" || return 0
    for run in threads processes again; do
        share=processes
        [ $run != threads ] || share=threads
        # shellcheck disable=SC2086
        env $environment timeout 300 "$FANOUT" exec -s "${SYSTEM:-dgx-h100}" --report "$dir/$run.json" -- \
            "$dir/collectives" "$@" f32 3 $share >"$dir/$run.log" 2>&1 || :
        sort "$dir/$run.log" >"$dir/$run.ranks"
    done
    { cat "$dir/processes.log" && diff "$dir/threads.ranks" "$dir/processes.ranks" &&
        cmp "$dir/processes.json" "$dir/again.json"; } >"$dir/log" 2>&1 || sed -i 's/^ok$/differs/' "$dir/log"
    judge "$name" ""
}
processes processes "" all_reduce 8 65536
processes processes-nvls "NCCL_ALGO=NVLS" all_reduce 4 262144
processes processes-all-gather "" all_gather 4 20000

# The job of so many tries: it ended, said why, and left nothing behind.
left() { # NAME TRY
    if [ -n "$(find /dev/shm /tmp -maxdepth 1 -newer "$dir/begin" \( -name 'nccl-*' -o -name 'fanout*' \) -user "$(id -u)")" ]
    then
        echo "$1: try $2 left something in /dev/shm or /tmp"
        bad=1
    fi
}

# killed RANKS ELEMENTS: one of the ranks, a moment of the host after the start that the seed draws. The job ends within
# two minutes, the survivors with an error that names itself (or right, where the work was done; or by their launcher,
# where NCCL waits in sockets of its own, as on hardware), and nothing is left.
killed() {
    case ${ONLY:-} in killed) ;; *) return 0 ;; esac
    seed=${SEED:-1} named=0 right=0 ended=0
    for try in $(seq "${KILLS:-20}"); do
        seed=$(((seed * 1103515245 + 12345) % 2147483648))
        : >"$dir/begin"
        timeout 120 "$FANOUT" exec -s "${SYSTEM:-dgx-h100}" --report "$dir/report.json" -- \
            "$dir/collectives" all_reduce "$1" "$2" f32 3 processes >"$dir/log" 2>&1 &
        job=$!
        sleep "$((seed / 65536 % 12)).$((seed / 256 % 10))"
        pid=$(pgrep -f "^$dir/collectives " | tail -n +2 | sed -n "$((seed / 4096 % $1 + 1))p")
        [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || :
        code=0
        wait $job || code=$?
        ran=$((ran + 1))
        if [ $code = 124 ]; then
            echo "killed: try $try did not end"
            bad=1
        elif grep -q '^ok$' "$dir/log"; then
            right=$((right + 1))
        elif grep -q '^line [0-9]*: ..*' "$dir/log"; then
            named=$((named + 1))
        elif grep -q '^launcher: ' "$dir/log"; then
            ended=$((ended + 1))
        else
            echo "killed: try $try: no survivor names an error"
            tail -5 "$dir/log"
            bad=1
        fi
        left killed "$try"
    done
    echo "killed: $named tries with named errors, $right that were over or done, $ended ended by the launcher"
}
killed 8 65536

# starved RANKS ELEMENTS: every processor is busy with something else; all runs end, with the same bytes of report.
starved() {
    case ${ONLY:-} in starved) ;; *) return 0 ;; esac
    loops=
    for i in $(seq "$(nproc)"); do
        sh -c 'while :; do :; done' &
        loops="$loops $!"
    done
    good=0
    for try in $(seq "${RUNS:-50}"); do
        timeout 300 "$FANOUT" exec -s "${SYSTEM:-dgx-h100}" --report "$dir/report.json" -- \
            "$dir/collectives" all_reduce "$1" "$2" f32 3 threads >"$dir/log" 2>&1 || :
        [ -f "$dir/first.json" ] || cp "$dir/report.json" "$dir/first.json"
        if grep -q '^ok$' "$dir/log" && cmp -s "$dir/first.json" "$dir/report.json"; then
            good=$((good + 1))
        else
            echo "starved: run $try FAILED, or its report differs"
            tail -5 "$dir/log"
            bad=1
        fi
    done
    # shellcheck disable=SC2086
    kill $loops
    ran=$((ran + 1))
    echo "starved: $good of ${RUNS:-50} runs ended right, with the same report"
}
starved 8 65536

# perf NAME ARGS...: nccl-tests' own check column must be 0 everywhere
perf() {
    name=$1
    shift
    wanted "$name" || return 0
    if [ ! -x "$tests/build/$name" ]; then
        echo "$name: skipped, no NCCL_TESTS=DIR with build/$name"
        return 0
    fi
    LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$tests/build/verifiable timeout 590 "$FANOUT" exec -s "${SYSTEM:-dgx-h100}" \
        --report "$dir/report.json" -- "$tests/build/$name" "$@" >"$dir/log" 2>&1 || :
    ! grep -q '^# Out of bounds values : 0 OK' "$dir/log" || echo ok >>"$dir/log"
    judge "$name" ""
}
for name in all_reduce all_gather reduce_scatter broadcast reduce sendrecv alltoall; do
    perf "${name}_perf" -b 8 -e 64K -f 16 -g 4 -n 1 -w 0
done

# mpi NAME OPTIONS: nccl-tests built with MPI, a process for each GPU. Open MPI is kept from the networks of this host.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
mpi() { # NAME OPTIONS-OF-EXEC SIZE
    if ! command -v mpirun >/dev/null || ! ldd "$tests/build/all_reduce_perf" 2>/dev/null | grep -q libmpi; then
        echo "$1: skipped, no mpirun, or no NCCL_TESTS=DIR built with MPI=1"
        return 1
    fi
    # shellcheck disable=SC2086
    NCCL_DEBUG=INFO timeout 590 "$FANOUT" exec $2 --clock simulated --report "$dir/$1.json" -- mpirun -np 8 \
        --oversubscribe "$tests/build/all_reduce_perf" -b "$3" -e "$3" -g 1 -n 1 -w 1 -c 1 >"$dir/log" 2>&1 || :
    ! grep -q '^# Out of bounds values : 0 OK' "$dir/log" || echo ok >>"$dir/log"
}
# The same bytes of report each time.
if wanted mpi && mpi mpi "-s ${SYSTEM:-dgx-h100}" 4M; then
    judge mpi ""
    mpi mpi-again "-s ${SYSTEM:-dgx-h100}" 4M
    cmp "$dir/mpi.json" "$dir/mpi-again.json" || sed -i 's/^ok$/differs/' "$dir/log"
    judge mpi-again ""
fi
# Eight ranks on two trays are one NVLink domain to NCCL, with multicast.
if wanted trays && mpi trays "-s gb200-nvl72 --trays --set cuda.imex_channel=true" 4M; then
    { grep -q 'MNNVL 1' "$dir/log" && grep -q 'NVLS comm' "$dir/log"; } || sed -i 's/^ok$/no MNNVL, or no NVLS/' "$dir/log"
    judge trays ""
fi
[ "$ran" -gt 0 ] || { echo "skipped: no case has '${ONLY:-}' in its name"; exit 77; }
exit $bad
