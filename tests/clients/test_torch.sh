#!/bin/sh
# Proves that PyTorch, unmodified, runs on a simulated DGX: one process (tests/clients/py/torch_cuda.py), and ranks of
# torchrun, whose results are right and whose reports repeat to the byte. $FANOUT_PYTHON is a Python that has torch; with
# $FANOUT_NCCL, a libnccl.so.2 built as docs/nccl.md says, 2 and 8 ranks run NCCL's collectives on it. COMPILE=1 adds
# torch.compile, data-parallel training and a split transformer block, which take minutes each.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
libs=$(dirname "$FANOUT")/.libs
py=$TOP_SRCDIR/tests/clients/py
[ -f "$libs/libcuda.so.1" ] || { echo "no $libs/libcuda.so.1"; exit 77; }
case ${SANITIZE:-no} in no | '') ;; *) echo "a plain program cannot load a sanitized library"; exit 77 ;; esac
python=
for p in ${FANOUT_PYTHON:-} python3; do
    [ -n "$python" ] || ! "$p" -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("torch"))' 2>/dev/null || python=$p
done
[ -n "$python" ] || { echo "no Python here has torch; 'pip install torch' brings it, and FANOUT_PYTHON names it"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 TRITON_CACHE_DIR="$dir/triton" TORCHINDUCTOR_CACHE_DIR="$dir/inductor"
bad=0 limit=200
[ -z "${COMPILE:-}" ] || limit=590
timeout "$limit" "$FANOUT" exec -s dgx-h100 --report "$dir/one.json" -- "$python" "$py/torch_cuda.py" ${COMPILE:+compile} \
    >"$dir/out" 2>&1 && grep -qx ok "$dir/out" || { cat "$dir/out"; echo "one process: FAILED"; bad=1; }
timeout 200 "$FANOUT" exec -s dgx-h100 --report "$dir/eager.json" -- "$python" "$TOP_SRCDIR/examples/pytorch_by_cpu.py" \
    "$py/torch_eager.py" >"$dir/out" 2>&1 && grep -qx ok "$dir/out" || { cat "$dir/out"; echo "eager: FAILED"; bad=1; }
# Both in one place, by a rendezvous without a wait of random length (docs/pytorch.md).
ranks() { # ranks NAME RANKS "PROGRAM WORD..." OPTION...
    name=$1 n=$2 program=$3
    shift 3
    for run in $runs; do
        # shellcheck disable=SC2086
        timeout 590 "$FANOUT" exec -s dgx-h100 --report "$dir/$name.$run.json" "$@" -- "$python" -m torch.distributed.run \
            --rdzv-backend static --master-addr 127.0.0.1 --master-port $((20000 + $$ % 10000)) --nproc-per-node "$n" \
            "$py/"$program >"$dir/out" 2>&1 && [ "$(grep -c "^rank [0-9]* of $n: right" "$dir/out")" = "$n" ] ||
            { cat "$dir/out"; echo "$name: FAILED"; bad=1; return; }
    done
    grep '^rank 0 ' "$dir/out" | grep us
    if cmp "$dir/$name.1.json" "$dir/$name.2.json"; then
        echo "$name: passed"
    else
        echo "$name: the report does not repeat"
        bad=1
    fi
}
runs='1 2'
ranks gloo 2 "torch_ranks.py gloo"
ranks symmetric 2 "torch_ranks.py symmetric"
if [ -f "${FANOUT_NCCL:-}" ]; then
    ranks nccl2 2 "torch_ranks.py nccl" --library "libnccl.so.2=$FANOUT_NCCL"
    ranks nccl8 8 "torch_ranks.py nccl" --library "libnccl.so.2=$FANOUT_NCCL"
    runs='0 1 2' # the first one tries kernels on the GPU that the others find chosen
    [ -z "${COMPILE:-}" ] || ranks ddp 2 torch_ddp.py --library "libnccl.so.2=$FANOUT_NCCL"
    [ -z "${COMPILE:-}" ] || ranks block 2 torch_block.py --library "libnccl.so.2=$FANOUT_NCCL"
else
    echo "NCCL: skipped, FANOUT_NCCL names no libnccl.so.2 with PTX"
fi
exit $bad
