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
[ -d "$shared" ] || { echo "no folder with clients"; exit 77; }
toolkit=
for t in "${CUDA_HOME:-/usr/local/cuda}" /opt/cuda; do
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
if [ -n "$toolkit" ]; then
    for source in "$shared"/*.cu; do
        name=$(basename "$source" .cu)
        "$toolkit/bin/nvcc" -ptx -std=c++17 -arch=compute_90 -o "$dir/$name.ptx" "$source"
        ${CC:-cc} -std=gnu11 -O1 -I"$shared" -I"$toolkit/include" -o "$dir/$name" "$shared/$name.c" "$libs/libcuda.so.1" \
            -Wl,-rpath-link,"$libs"
        client "$name" "$dir/$name"
    done
else
    echo "C clients: skipped, no nvcc here"
fi
[ "$ran" -gt 0 ] || exit 77
exit $bad
