#!/bin/sh
# Every parameter of the driver at both bounds, alone and, with FANOUT_BOUNDS set, two at a time: a program of the driver
# API ends well, or with an error of the driver that it prints; it never crashes, hangs, or gets stuck.
set -eu
. "$TOP_SRCDIR/tests/plain.sh"
program=$(dirname "$FANOUT")/examples/switch_reduction
[ -x "$program" ] || { echo "no $program"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/bounds" <<'BOUNDS'
driver_version=12010 driver_version=13050
gpu=auto gpu=a100 gpu=gb200 gpu=vr200
devices=0 devices=256
multicast=false multicast=true
imex_channel=false imex_channel=true
multicast_single_member=false multicast_single_member=true
multicast_min_bytes=65536 multicast_min_bytes=1073741824
multicast_recommended_bytes=65536 multicast_recommended_bytes=1073741824
multicast_large_bytes=65536 multicast_large_bytes=1099511627776
multicast_slots=0 multicast_slots=65536
multicast_unaligned_binds=0 multicast_unaligned_binds=65536
clique_gpus=0 clique_gpus=1 clique_gpus=1152
clique_check=add clique_check=later
endpoints=auto endpoints=on endpoints=off
endpoint_align_bytes=4096 endpoint_align_bytes=1073741824
endpoint_max_bytes=4096 endpoint_max_bytes=1099511627776
overlapping_binds=reject overlapping_binds=last-wins
late_import=refuse late_import=fresh late_import=join
unbind_mismatch=exact unbind_mismatch=by-offset
unbind_released=accept unbind_released=refuse
freed_bind=detach freed_bind=hold
fm_state=ok fm_state=absent fm_state=broken fm_state=restarted fm_state=stopped
fm_latency_us=0 fm_latency_us=1000000000
fm_timeout_us=1 fm_timeout_us=1000000000
watchdog_ms=0 watchdog_ms=86400000
query_quantum_ns=1 query_quantum_ns=1000000000
sticky_faults=false sticky_faults=true
host_cost=false host_cost=true
rank_skew_us=0 rank_skew_us=1000000
fail= fail=cuMemCreate:OUT_OF_MEMORY:1
memory_bytes=0 memory_bytes=1099511627776
tray_gpus=0 tray_gpus=1024
quiet_ms=0 quiet_ms=86400000
BOUNDS
rows=$(grep -c '^    PARAM_[A-Z0-9]*(' "$TOP_SRCDIR/machine/spec.c")
[ "$(wc -l <"$work/bounds")" = "$rows" ] || { echo "there are $rows parameters of cuda, not $(wc -l <"$work/bounds")"; exit 1; }
failures=0 runs=0 well=0
# try SET...: of parameters of cuda.
try() {
    args=
    for set in "$@"; do
        args="$args --set cuda.$set"
    done
    code=0
    # shellcheck disable=SC2086
    timeout 60 "$FANOUT" exec -s teach-4gpu $args --report "$work/report" -- "$program" >"$work/out" 2>&1 || code=$?
    runs=$((runs + 1))
    case $code in
    0) well=$((well + 1)) ;;
    1) grep -q '^cu[A-Z].*): [a-z]\|^fanout exec: ' "$work/out" || code=none ;;
    esac
    case $code in
    0 | 1) ;;
    *) failures=$((failures + 1)); echo "$*: exit $code: $(tail -n 3 "$work/out")" ;;
    esac
}
tr ' ' '\n' <"$work/bounds" | if [ -n "${FANOUT_BOUNDS:-}" ]; then cat; else grep -v multicast_min_bytes=1073741824; fi \
    >"$work/each" # at that the program moves gigabytes
while read -r set; do try "$set"; done <"$work/each"
[ -n "${FANOUT_BOUNDS:-}" ] || cp /dev/null "$work/each"
# Pairs: each with the one a third of the list further on.
n=$(wc -l <"$work/each")
tail -n "$((n / 3))" "$work/each" | cat - "$work/each" | head -n "$n" | paste -d ' ' "$work/each" - >"$work/pairs"
while read -r a b; do try "$a" "$b"; done <"$work/pairs"
echo "$runs runs, $well to the end, $failures wrong"
[ "$failures" = 0 ] && [ "$well" -gt "$((runs / 2))" ]
