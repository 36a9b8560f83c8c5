#!/bin/sh
# Our ports of the call sequences of real clients run on the simulated fabric, binding before mapping and
# after; compiled against a toolkit's cuda.h where there is one, else against our own header. nvbandwidth makes
# nvloom's calls and TensorRT-LLM those of FlashInfer: a port stands for both of a pair.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libcuda.so.1" ] || { echo "no $libs/libcuda.so.1"; exit 77; }
. "$TOP_SRCDIR/tests/plain.sh"
mkdir "$dir/own"
printf '#include <fanout/cuda.h>\n' >"$dir/own/cuda.h"
flags="-I$dir/own -I$TOP_SRCDIR/api/include"
for toolkit in "${CUDA_HOME:-/usr/local/cuda}" /opt/cuda; do
    [ ! -f "$toolkit/include/cuda.h" ] || flags="-I$toolkit/include"
done
echo "headers: $flags"
headers=$flags
bad=0
clients="arrays cooperative dependent ipc packets events twoshot nccl pytorch_symm_mem nvshmem mscclpp flashinfer nvloom thunderkittens ucc fuser torchcomms cutile_rs codes faults graphs parts"
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
# Kernels that never end or run away: an error of the API, and a line that says where.
# shellcheck disable=SC2086
${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -I"$TOP_SRCDIR" $headers "$TOP_SRCDIR/tests/clients/endless.c" \
    -o "$dir/endless" "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs" -lpthread
timeout 100 "$FANOUT" exec -s dgx-h100 --set cuda.watchdog_ms=500 --report "$dir/endless.json" -- "$dir/endless" \
    >"$dir/log" 2>&1 || bad=1
for says in 'nested too deep.*image:6 in a; CTA (0,0,0), warp' 'branch 77 of a table of 2; image:7 in k' \
    '0x1000 is no function.s address; image:7 in k' 'watchdog.s time was over; image:5 in k' \
    'kernel k: image:4:44: the variable does not fit' '^ok$'; do
    grep -q "$says" "$dir/log" || { echo "endless: FAILED: $says"; cat "$dir/log"; bad=1; }
done
# What is not found where a part was left out: the log names the parts, what they are for, and the build option.
timeout 100 "$FANOUT" exec -s dgx-h100 --report "$dir/parts.json" -- "$dir/parts" >"$dir/log" 2>&1 || bad=1
built='build them with nvcc -gencode arch=compute_90,code=compute_90'
for says in "kernel_of_a_part: not in the image's PTX; left out .*part 2 (sm_80); $built" \
    "library_kernel: not in the image's PTX; left out .*part 1 (sm_80); $built" "variable_of_a_part: not in .*part 1 (sm_80)"; do
    grep -q "$says" "$dir/log" || { echo "parts: FAILED: $says"; cat "$dir/log"; bad=1; }
done
! grep kernel_of_no_part "$dir/log" || { echo "parts: FAILED: nothing was left out there"; bad=1; }
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
