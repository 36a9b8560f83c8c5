#!/bin/sh
# Our ports of the call sequences of real clients run on the simulated fabric, binding before mapping and
# after; compiled against a toolkit's cuda.h where there is one, else against our own header. nvbandwidth makes
# nvloom's calls and TensorRT-LLM those of FlashInfer: a port stands for both of a pair.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libcuda.so.1" ] || { echo "no $libs/libcuda.so.1"; exit 77; }
case ${SANITIZE:-no} in no | '') ;; *) echo "a plain program cannot load a sanitized library"; exit 77 ;; esac
mkdir "$dir/own"
printf '#include <fanout/cuda.h>\n' >"$dir/own/cuda.h"
flags="-I$dir/own -I$TOP_SRCDIR/api/include"
for toolkit in "${CUDA_HOME:-/usr/local/cuda}" /opt/cuda; do
    [ ! -f "$toolkit/include/cuda.h" ] || flags="-I$toolkit/include"
done
echo "headers: $flags"
headers=$flags
bad=0
clients="cooperative dependent ipc twoshot nccl pytorch_symm_mem nvshmem mscclpp flashinfer nvloom thunderkittens ucc fuser torchcomms cutile_rs codes faults graphs"
for client in $clients; do
    case $client in twoshot) flags="-I$dir/own -I$TOP_SRCDIR/api/include" ;; *) flags=$headers ;; esac # has a program in C
    # shellcheck disable=SC2086
    ${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -I"$TOP_SRCDIR" $flags "$TOP_SRCDIR/tests/clients/$client.c" -o "$dir/$client" \
        "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs" -lpthread -ldl
    if timeout 100 "$FANOUT" exec -s dgx-h100 --report "$dir/$client.json" -- "$dir/$client" >"$dir/log" 2>&1; then
        echo "$client: passed"
    else
        echo "$client: FAILED"
        cat "$dir/log"
        bad=1
    fi
done
# Programs of the runtime API find a library of either version.
${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror "$TOP_SRCDIR/tests/clients/cudart.c" -o "$dir/cudart" -ldl
for version in 12 13; do
    if timeout 100 "$FANOUT" exec -s dgx-h100 --report "$dir/cudart.json" -- "$dir/cudart" $version >"$dir/log" 2>&1 &&
        grep -q '^ok$' "$dir/log" && grep -q 'cudaMallocArray is not supported' "$dir/log"; then
        echo "libcudart.so.$version: passed"
    else
        echo "libcudart.so.$version: FAILED"
        cat "$dir/log"
        bad=1
    fi
done
exit $bad
