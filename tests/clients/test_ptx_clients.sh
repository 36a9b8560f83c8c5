#!/bin/sh
# Programs with kernels, as they would be built for real GPUs, run unmodified: driver-API hosts whose kernels nvcc
# turned into PTX, and Python programs that compile at run time. Each checks its own result. One that cannot be built
# or installed here is skipped by name.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
libs=$(dirname "$FANOUT")/.libs
shared=${FANOUT_SHARED:-$TOP_SRCDIR/../shared}/clients-ptx
[ -f "$libs/libcuda.so.1" ] || { echo "no $libs/libcuda.so.1"; exit 77; }
case ${SANITIZE:-no} in no | '') ;; *) echo "a plain program cannot load a sanitized library"; exit 77 ;; esac
# $CUDA_HOME, else a toolkit where they are installed, else what `make client-packages` has put into the build tree.
toolkit=
for t in "$(dirname "$FANOUT")"/clients-venv/lib/python3*/site-packages/nvidia/cu1? /opt/cuda \
    "${CUDA_HOME:-/usr/local/cuda}"; do
    [ ! -x "$t/bin/nvcc" ] || toolkit=$t
done
bad=0 ran=0
client() { # client NAME COMMAND...
    name=$1
    shift
    ran=$((ran + 1))
    if PTX_DIR=$dir timeout 110 "$FANOUT" exec -s dgx-h100 --report "$dir/$name.json" -- "$@" >"$dir/log" 2>&1 &&
        grep -q '^ok$' "$dir/log"; then
        echo "$name: passed"
    else
        echo "$name: FAILED"
        cat "$dir/log"
        bad=1
    fi
}
if [ -n "$toolkit" ] && [ -d "$shared" ]; then
    for source in "$shared"/*.cu; do
        name=$(basename "$source" .cu)
        "$toolkit/bin/nvcc" -ptx -std=c++17 -arch=compute_90 -o "$dir/$name.ptx" "$source"
        ${CC:-cc} -std=gnu11 -O1 -I"$shared" -I"$toolkit/include" -o "$dir/$name" "$shared/$name.c" "$libs/libcuda.so.1" \
            -Wl,-rpath-link,"$libs"
        client "$name" "$dir/$name"
    done
else
    echo "C clients: skipped, no nvcc or no sources here"
fi
# Linked to the toolkit's own runtime library; run on ours.
runtime_client() { # runtime_client NAME FILE FLAG...
    name=$1 file=$2
    shift 2
    "$toolkit/bin/nvcc" -std=c++17 -cudart shared -gencode arch=compute_90,code=compute_90 "$@" -L"$dir/link" \
        -o "$dir/$name" "$TOP_SRCDIR/tests/clients/$file.cu"
    client "$name" "$dir/$name"
}
if [ -n "$toolkit" ]; then
    mkdir "$dir/link"
    for library in "$toolkit"/lib/libcudart.so* "$toolkit"/lib64/libcudart.so*; do
        [ ! -e "$library" ] || ln -sf "$library" "$dir/link/libcudart.so"
    done
    runtime_client runtime runtime
    runtime_client runtime_peer runtime_peer
    runtime_client runtime_groups runtime_groups
    runtime_client groups_per_thread runtime_groups --default-stream per-thread
else
    echo "runtime, runtime_peer, runtime_groups: skipped, no nvcc here"
fi
# $FANOUT_PYTHON, else the first Python that has a module: the machine's own, or what `make client-packages` installed.
python_with() { # python_with MODULE...
    for python in ${FANOUT_PYTHON:-} python3 "$(dirname "$FANOUT")/clients-venv/bin/python"; do
        for module in "$@"; do
            "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$module') is None)" \
                2>/dev/null || continue 2
        done
        return 0
    done
    return 1
}
python_client() { # python_client FILE MODULE...
    name=$(basename "$1" .py)
    file=$1
    shift
    if [ ! -f "$file" ]; then
        echo "$name: skipped, no source here"
    elif python_with "$@"; then
        client "$name" env -u CC TRITON_CACHE_DIR="$dir/triton" "$python" -W ignore "$file"
    else
        echo "$name: skipped, no Python here has all of: $*"
    fi
}
own=$TOP_SRCDIR/tests/clients/py
python_client "$own/nvrtc_saxpy.py" cuda.bindings numpy nvidia
python_client "$own/core_saxpy.py" cuda.core numpy nvidia
python_client "$own/numba_sum.py" numba_cuda numpy
python_client "$own/triton_add.py" triton cuda.bindings numpy
python_client "$shared/py/bindings_multimem.py" cuda.bindings nvidia numpy
python_client "$shared/py/numba_dot.py" numba_cuda numpy
[ "$ran" -gt 0 ] || { echo "none of these clients; 'make client-packages' installs them, CUDA_HOME=FOLDER names a toolkit"; exit 77; }
exit $bad
