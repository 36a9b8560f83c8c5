#!/bin/sh
# Wrong uses of logical endpoints by programs, each as the error that is documented, and with the endpoint's number in the
# report: an identifier that was not reserved, released while its endpoint lives, asked for before its devices are there,
# bound at another alignment, used from another clique, an operation that a kernel submits and does not wait for, and a
# queue that stays full for ever. Unbinding under way has a test of its own (test_cuda_fabric_busy.sh).
set -eu
. "$TOP_SRCDIR/tests/api/endpoint_client.sh"
build endpoints_bad
# run CASE CODE [OPTION...]: $dir/out has what the program printed, $dir/said what was said, $dir/report.json the rest.
run() {
    how=$1 code=$2
    shift 2
    status=0
    timeout 120 "$FANOUT" exec -s gb200-nvl72 --set cuda.endpoints=on --set cuda.driver_version=13050 "$@" \
        --report "$dir/report.json" -- "$dir/endpoints_bad" "$how" >"$dir/out" 2>"$dir/said" || status=$?
    [ "$status" = "$code" ] || { cat "$dir/out" "$dir/said"; echo "$how: exit code $status, not $code"; exit 1; }
}
prints() { # prints LINE...: these lines and no others
    for line; do echo "$line"; done >"$dir/right"
    cmp -s "$dir/right" "$dir/out" || { cat "$dir/out"; echo "$how: that is not right"; exit 1; }
}
reports() { grep -q -- "$1" "$dir/report.json" || { echo "$how: the report does not say '$1'"; exit 1; }; }

I=CUDA_ERROR_INVALID_VALUE S=CUDA_SUCCESS
run unreserved 0
prints "create: $I" "import: $I" "add: $I" "query: $I" "bind: $I" "unbind: $I" "export: $I" "destroy: $I" \
    "release: $I" "copy: $I" "kernel: $S" "report 257" # 256: there is one; 1: no such endpoint
[ "$(grep -c '"diagnostic": ".*endpoint 1.* was not reserved"' "$dir/report.json")" = 10 ] || { echo "not every call says so"; exit 1; }
reports '"cause": "no such endpoint, or it is not ready"'
run alive 0
prints "release: $I" "destroy: $S" "release: $S"
reports 'release of endpoint 1, which lives: destroy it first'
run early 0
prints "query: $S" "ready 0" "bind: $I"
reports 'endpoint 1: cuLogicalEndpointQuery has not said yet that it is ready'
run aligned 0
prints "offset: $I" "memory: $I" "size: $I" "unbind: $I"
reports 'endpoint 1 of 0x200000 bytes: \[0x1000, +0x200000), memory at 0x0: they are multiples of 0x200000'
reports 'endpoint 1 of 0x200000 bytes: \[0x0, +0x200000), memory at 0x10000: '
reports 'endpoint 1 of 0x200000 bytes: \[0x0, +0x1fff00), '
reports 'endpoint 1 of 0x200000 bytes: \[0x0, +0x1000), '
run clique 0 --set cuda.clique_gpus=1
prints "copy: $I" "kernel: $S" "report 260" # 4: of another clique
reports 'endpoint 1 is of another clique than the GPU that uses it'
reports '"endpoint": 1'
reports '"cause": "of another clique, or the GPU is not of its team"'
run unwaited 0
prints "kernel: CUDA_ERROR_ILLEGAL_INSTRUCTION" "report 0"
reports 'fabric.try_put to endpoint 0x1 at offset 0x0 was not waited for: it is under way when its CTA ends'
for engine in fast reference; do # nobody answers: one operation is at work, one waits in the queue, 62 are refused
    run full 2 --engine $engine --set gpu.fabric_queue=1 --set gpu.fabric_operations=1 --set fault.gpu_silent=gpu1 \
        --set fault.request_timeout_ps=0
    prints "kernel: CUDA_ERROR_LAUNCH_TIMEOUT" "report 0"
    reports '"stuck": true'
    reports '1 wait in the queue of 1, 62 are posted or refused; the oldest is a put to endpoint 0x1 at offset 0x0'
done
