#!/bin/sh
# Proves that torch.distributed's back end "fanout" gives each collective's right result, the time that `fanout coll`
# says of it, one clock on all ranks (2 and 8, by torchrun), the same in every run, DistributedDataParallel's gradients,
# and times in the profiler's trace. FANOUT_PYTHON names a python3 that has PyTorch.
set -eu
python=${FANOUT_PYTHON:-python3}
"$python" -c 'import torch.distributed as d; assert d.is_gloo_available()' 2>/dev/null || {
    echo "no PyTorch; 'pip install torch' brings it, FANOUT_PYTHON names the python3 that has it"
    exit 77
}
case ${SANITIZE:-no} in no) ;; *) echo "python3 cannot load libraries that were built with sanitizers"; exit 77 ;; esac
top=$(cd "${TOP_SRCDIR:-.}" && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
FANOUT_COMMAND=$(readlink -f "$FANOUT")
FANOUT_LIBRARY=$(readlink -f .libs/libfanout.so.0)
PYTHONPATH=$top/python
PYTHONDONTWRITEBYTECODE=1
OMP_NUM_THREADS=1
export WORK FANOUT_COMMAND FANOUT_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS
ranks() { # N PROGRAM
    "$python" -m torch.distributed.run --nproc-per-node "$1" "$top/tests/python/$2" 2>"$WORK/log" || {
        cat "$WORK/log" >&2
        return 1
    }
}
failures=0
for n in 2 8; do
    ranks $n torch_ranks.py >"$WORK/ranks$n"
    grep -q "^done " "$WORK/ranks$n" || failures=1
    right=$("$FANOUT" coll all_reduce -s dgx-h100 -n $n -b 1M -d float --no-compare --format csv | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "time_us") t = i; next } { print $t; exit }')
    awk -v right="$right" '/^row/ { off = $7 - $6 - right; exit off > 0.006 || off < -0.006 }' "$WORK/ranks$n" || {
        echo "$n ranks: fanout coll says $right us, the back end:"
        head -n 1 "$WORK/ranks$n"
        failures=1
    }
done
ranks 2 torch_ranks.py >"$WORK/again"
cmp "$WORK/ranks2" "$WORK/again" || failures=1
ranks 2 torch_profile.py >"$WORK/profile" || failures=1
[ "$(cut -d: -f2 "$WORK/profile" | sort -u | wc -l)" = 1 ] || { cat "$WORK/profile"; failures=1; }
if FANOUT_SYSTEM=teach-4gpu ranks 8 torch_profile.py >"$WORK/out" 2>"$WORK/told"; then
    echo "8 ranks on 4 GPUs are no error"
    failures=1
fi
grep -q "teach-4gpu has 4 GPUs, and rank 7 would be another; FANOUT_SYSTEM names a larger system" "$WORK/told" || {
    tail -n 20 "$WORK/told"
    failures=1
}
exit $failures
