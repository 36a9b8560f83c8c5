#!/bin/sh
# Proves that timelines of --perfetto are what viewers need (timeline_checks.py, a reader of its own): slices nest, arrows
# have both ends and lead from requests to their completions, counters go on in time; that where every packet is drawn
# slices and counters of links say the same; that arrows lead from launches and copies to their requests; that what is
# left out is said; that an interrupted run ends its file; and that results are those of a run without it.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
command -v python3 >/dev/null || { echo "skipped: no python3; ./bootstrap installs it"; exit 77; }
checks=$TOP_SRCDIR/tests/cli/timeline_checks.py
holds() { python3 "$checks" "$@" >out 2>err || complain "$1: $(head -5 out) $(tail -1 err)"; } # FILE [whole|streams]
requests() { grep -q " $1 requests" out || complain "$2: not $1 requests: $(tail -1 out)"; }

for algo in nvls ring; do # a few hundred requests, all of them
    set -- coll all_reduce -s teach-4gpu -a $algo -b 8K --format csv
    "$FANOUT" "$@" >without
    "$FANOUT" "$@" --perfetto $algo.json >with 2>err || complain "$algo: exit $?"
    cmp -s without with || complain "$algo: another result with --perfetto"
    [ ! -s err ] || complain "$algo: says $(cat err)"
    holds $algo.json whole
    python3 -c 'import json, sys
e = json.load(open(sys.argv[1]))["traceEvents"]
assert sum(x["ph"] == "X" and "CTA" in x["name"] for x in e) == 4 * int(sys.argv[2]), "CTAs"' $algo.json \
        "$(cut -d, -f9 with | tail -1)" 2>err || complain "$algo: $(tail -1 err)"
done
# Two levels of switches: replicas of replicas.
"$FANOUT" coll all_reduce -s "$TOP_SRCDIR/examples/systems/dgx-h100-256.ini" -n 16 -a nvls -b 32K \
    --perfetto levels.json >/dev/null 2>err || complain "two levels: exit $?"
holds levels.json
requests '[1-9][0-9]*' levels
"$FANOUT" coll all_reduce -s dgx-h100 -a nvls,ring -b 256K --no-compare --perfetto large.json >out 2>err ||
    complain "large: exit $?"
grep -q 'the timeline leaves out .* requests of all_reduce 256K ring' err || complain "large: not said: $(cat err)"
holds large.json
[ "$(wc -c <large.json)" -lt 67108864 ] || complain "large: $(wc -c <large.json) bytes"
"$FANOUT" bench multicast_latency -s teach-4gpu --perfetto bench.json >out 2>err || complain "bench: exit $?"
holds bench.json
"$FANOUT" exec -s teach-4gpu --engine reference --perfetto exec.json -- \
    "${FANOUT%/*}/examples/multicast_store" >out 2>err || complain "exec: exit $?"
holds exec.json
requests '[1-9][0-9]*' exec
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 8K -e 16K --record one.trace >/dev/null
"$FANOUT" replay one.trace -s teach-4gpu --engine reference --perfetto replay.json >out 2>err || complain "replay: $?"
holds replay.json
requests '[1-9][0-9]*' replay

# Arrows lead from a program's launches and copies to their requests, also of those that run side by side; and each has
# some, however many requests the first ones make.
libs=${FANOUT%/*}/.libs
if [ -f "$libs/libcuda.so.1" ] && [ "${SANITIZE:-no}" = no ]; then # plain programs load no sanitized library
    ${CC:-cc} -std=gnu11 -I"$TOP_SRCDIR" -I"$TOP_SRCDIR/api/include" "$TOP_SRCDIR/tests/cli/stream_requests.c" \
        "$TOP_SRCDIR/examples/team.c" -o side "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs" || complain "side: not built"
    "$FANOUT" exec -s teach-4gpu --engine reference --perfetto side.json -- ./side >out 2>err || complain "side: exit $?"
    holds side.json streams
    for made in "stream 1: memset: write to gpu1" "stream 1: memset: write to gpu3" "stream 2: same: write to gpu1: 44$" \
        "stream 3: same: read to gpu2" "stream 4: memcpy peer: write to gpu3: 16$"; do
        grep -q "$made" out || complain "side: not '$made': $(cat out)"
    done
    [ "$(grep -c '^stream [234]' out)" = 3 ] || complain "side: others: $(cat out)"
fi

refuses 'flows have no packets' coll all_reduce -s teach-4gpu -b 8K --fidelity flow --perfetto x.json
refuses 'flows have no packets' bench multicast_bw -s teach-4gpu --fidelity flow --perfetto x.json

# An interruption ends the file.
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls,ring -b 8K -e 512M -f 65536 --fidelity packet --perfetto cut.json >out 2>err &
pid=$!
for _ in $(seq 600); do
    [ "$(grep -c '^  all_reduce' out)" -lt 2 ] || break
    sleep 0.05
done
kill -INT $pid
status=0
wait $pid || status=$?
[ "$status" = 130 ] || complain "interrupted: exit $status"
holds cut.json
finish
