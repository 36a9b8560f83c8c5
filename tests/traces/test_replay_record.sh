#!/bin/sh
# Proves that `fanout replay --record` writes the trace again with what was simulated: as Chakra and as PyTorch's profiler has
# it, a file for each rank, which are read back with the same operations and, replayed, take the same time; and that
# what cannot be written is refused before anything runs. Chakra's nodes name no group where it is all ranks, as
# ASTRA-sim's reader has it. The profiler's files have what Perfetto's importer needs: names, times, and slices of a thread
# that lie in or beside each other. Holistic Trace Analysis reads them where FANOUT_PYTHON has it; without it that is
# left out.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

# Computation 10 us, an all-reduce in which rank 1 comes 5 us late, a message: on streams 7 and 20.
cat >one.trace <<'END'
fanout-trace 1
world 2
rank 0
0 compute 10us name="gemm" stream=7
1 all_reduce bytes=65536 dtype=f32 stream=20 after=0
2 send bytes=4096 to=1 dtype=f32 stream=20 after=1
rank 1
0 compute 15us name="gemm" stream=7
1 all_reduce bytes=65536 dtype=f32 stream=20 after=0
2 recv bytes=4096 from=0 dtype=f32 stream=20 after=1
END
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { printf "%s ", $at }'; }
for to in json et trace; do
    "$FANOUT" replay one.trace -s teach-4gpu --no-compare --format csv --record again.$to >one.csv 2>err ||
        complain "$to: exit $?: $(cat err)"
    set -- again.*"$to"
    [ "$to" = trace ] || [ $# = 2 ] || complain "$to: $# files"
    "$FANOUT" replay "$@" -s teach-4gpu --no-compare --format csv >two.csv 2>err || complain "$to again: $(cat err)"
    for name in op bytes count time_us; do
        [ "$(column $name <one.csv)" = "$(column $name <two.csv)" ] ||
            complain "$to: $name $(column $name <one.csv), then $(column $name <two.csv)"
    done
done
# Rank 0 waits in its kernel for rank 1: 5 us more than rank 1's, and the kernel begins at 10 us.
dur() { sed -n 's/.*ncclDevKernel_AllReduce.*"ts": \([0-9.]*\), "dur": \([0-9.]*\),.*/\1 \2/p' "again.$1.json"; }
dur 0 >zero
dur 1 >one
paste zero one | awk '{ exit !($1 == 10 && $3 == 15 && $2 - $4 > 4.9999 && $2 - $4 < 5.0001) }' ||
    complain "rank 0: $(cat zero), rank 1: $(cat one)"
grep -q '"stream": 20' again.0.json || complain "its stream is not kept"

grep -q comm_type again.0.et && ! grep -q pg_name again.0.et || complain "Chakra: a group's name for all ranks"
command -v python3 >/dev/null && { python3 - again.0.json again.1.json <<'END' || complain "not what Perfetto reads"; }
import json, sys

for path in sys.argv[1:]:
    threads = {}
    for event in json.load(open(path))["traceEvents"]:
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int) and event["name"], event
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] > 0, event
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    assert sum(len(slices) for slices in threads.values()) >= 3, path
    for slices in threads.values():
        slices.sort(key=lambda one: (one[0], -one[1]))
        for i, (_, end) in enumerate(slices[:-1]):
            begin, later = slices[i + 1]
            assert begin >= end - 1e-6 or later <= end + 1e-6, (path, slices[i], slices[i + 1])
END

refuses 'should end in .et (Chakra), .json' replay one.trace -s teach-4gpu --record again.goal
refuses '2 jobs; a file is of one' replay one.trace one.trace -s dgx-h100 --record again.et
refuses 'no/such' replay one.trace -s teach-4gpu --record no/such/again.et
refuses 'does not say when its operations ran; fanout replay --record' convert one.trace out.json

python=${FANOUT_PYTHON:-python3}
if "$python" -c 'import hta' 2>/dev/null; then
    mkdir hta
    cp again.0.json again.1.json hta/
    "$python" - <<'END' 2>err || complain "HTA: $(tail -n 3 err)"
from hta.trace_analysis import TraceAnalysis

analysis = TraceAnalysis(trace_dir="hta")
frame = analysis.get_temporal_breakdown(visualize=False).set_index("rank")  # what each rank computes, in us
assert list(frame.loc[[0, 1], "compute_time(us)"]) == [10, 15], frame
frame = analysis.get_comm_comp_overlap(visualize=False)
assert sorted(frame["rank"]) == [0, 1], frame
assert (frame["comp_comm_overlap_pctg"] == 0).all(), frame
END
else
    echo "no HTA ('pip install HolisticTraceAnalysis'): it was not asked"
fi
finish
