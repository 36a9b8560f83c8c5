#!/bin/sh
# Memory of an endpoint is unbound, or an endpoint destroyed, under a kernel that puts to it: the kernel ends by itself,
# its later puts are reported as what they are (2: nothing is bound there; 1: no such endpoint), nothing is stuck, the
# driver's diagnostics name the endpoint, and a second run and the other engine tell the same.
set -eu
. "$TOP_SRCDIR/tests/api/endpoint_client.sh"
build fabric_busy
run() { # run NAME HOW REPORT [OPTION...]
    name=$1 how=$2 report=$3
    shift 3
    "$FANOUT" exec -s gb200-nvl72 --set cuda.endpoints=on --set cuda.imex_channel=true --set cuda.driver_version=13050 \
        "$@" --report "$dir/$name.json" -- "$dir/fabric_busy" "$how" >"$dir/out" 2>&1 || { cat "$dir/out"; echo "$name: failed"; exit 1; }
    grep -qx "$how: some reported, last report $report of 200 turns" "$dir/out" || { cat "$dir/out"; echo "$name: not so"; exit 1; }
    grep -q '"stuck": false' "$dir/$name.json" || { echo "$name: stuck"; exit 1; }
    grep -q 'endpoint 1 is unbound at 0x0 while [1-4] operations of kernels are under way' "$dir/$name.json" ||
        { echo "$name: no diagnostic names the endpoint"; exit 1; }
}
for how in unicast multicast destroy; do
    report=2
    [ "$how" != destroy ] || report=1
    run "$how" "$how" "$report"
    run again "$how" "$report"
    cmp "$dir/$how.json" "$dir/again.json" || { echo "$how: a second run differs"; exit 1; }
    run reference "$how" "$report" --engine reference
done
