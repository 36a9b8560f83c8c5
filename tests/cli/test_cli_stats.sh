#!/bin/sh
# Proves what docs/statistics.md promises of --stats: lines add up to the report, no run is changed by it, engines,
# calendars and cores write the same bytes, JSON lines say what CSV says, every statistic is in the page's list, each verb
# writes it or refuses it with a reason, and what is interrupted keeps its finished intervals.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

cat >lines.py <<'P'
import collections, csv, json, re, sys
rows = list(csv.DictReader(open("a.csv")))
report = json.load(open("a.json"))
end = max(float(r["to_ns"]) for r in rows)
last, sums = {}, collections.Counter()
for r in rows:
    key = r["run"], r["where"], r["statistic"]
    begin, to = float(r["from_ns"]), float(r["to_ns"])
    assert begin % 500 == 0 and (to - begin == 500 or to == end), r
    assert begin >= last.get(key, 0), (r, "out of order")
    last[key] = to
    assert r["kind"] in ("sum", "level", "peak") and r["unit"], r
    assert int(r["value"]) > 0 or r["kind"] == "level", r
    if r["kind"] == "sum":
        sums[r["where"], r["statistic"]] += int(r["value"])
# what the report says of links, switches and operations
for link in report["link_rows"]:
    for key in "packets", "flits":
        assert sums[link["link"], key] == link[key], (link, key, sums[link["link"], key])
for switch in report["switches"]:
    assert sums[switch["name"], "replicated"] == switch["replicas"] > 0
    stalls = sum(v for (where, what), v in sums.items() if where.startswith(switch["name"] + ".") and what == "stalls_tag")
    assert stalls == switch["tag_stalls"], (switch, stalls)
for op in report["operations"]:
    assert sums[op["target"], op["op"] + " bytes"] == op["bytes"] > 0, op
# tags come back, and no port has more than there are
tags = [r for r in rows if r["statistic"] == "reduction_tags"]
assert 0 < max(int(r["value"]) for r in tags) <= 128
assert any(int(r["value"]) == 0 for r in tags)
# the page's list
page = open(sys.argv[1]).read()
names = set(re.findall(r"`([a-z_]+)`", page[page.index("## The statistics"):]))
for r in rows:
    assert r["statistic"] in names or r["statistic"].split()[-1] in ("requests", "bytes"), (r, "not in the page")
# JSON lines
assert [json.loads(line) for line in open("a.jsonl")] == \
    [{k: float(v) if k[-3:] == "_ns" else int(v) if k == "value" else v for k, v in r.items()} for r in rows]
P

run() { "$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 128K --format json "$@" 2>err || complain "$*: $(cat err)"; }
run >plain.json
run --stats a.csv --stats-interval 500ns >a.json
cmp -s plain.json a.json || complain "--stats changes the report"
run --stats a.jsonl --stats-interval 500ns >/dev/null
python3 lines.py "$TOP_SRCDIR/docs/statistics.md" 2>err || complain "lines: $(tail -1 err)"
for way in "--engine reference" "--calendar systemc" "--cores 2"; do
    # shellcheck disable=SC2086
    run --stats b.csv --stats-interval 500ns $way >/dev/null
    cmp -s a.csv b.csv || complain "$way writes other lines: $(diff a.csv b.csv | head -3)"
done
# odd intervals, unicast, LL, two levels of time: the engines agree at any instant
for ask in "coll all_reduce -a ring -b 16K --stats-interval 1024ps" "bench load_latency --stats-interval 77ns"; do
    for engine in fast reference; do
        # shellcheck disable=SC2086
        "$FANOUT" $ask -s teach-4gpu --engine $engine --stats $engine.csv >/dev/null 2>err || complain "$ask: $(cat err)"
    done
    cmp -s fast.csv reference.csv || complain "$ask: engines differ: $(diff fast.csv reference.csv | head -3)"
    [ "$(wc -l <fast.csv)" -gt 1000 ] || complain "$ask: few lines"
done

# every verb
"$FANOUT" walk multimem.ld_reduce -s teach-4gpu --stats w.csv --stats-interval 100ns >/dev/null
grep -q '^multimem.ld_reduce,.*,switch[01].port0,reduction_tags,level,1,tags$' w.csv || complain "walk: no tag in use"
cat >two.trace <<'T'
fanout-trace 1
world 4
rank *
1 all_reduce bytes=65536 dtype=f32
2 all_reduce bytes=65536 dtype=f32 after=1
T
"$FANOUT" replay two.trace -s teach-4gpu --stats r.csv >out 2>err || complain "replay: $(cat err)"
python3 - <<'P' 2>err || complain "replay: $(tail -1 err)"
import csv, json
rows = [r for r in csv.DictReader(open("r.csv")) if r["statistic"] == "flits" and r["where"] == "gpu0.link0.up"]
half = max(float(r["to_ns"]) for r in rows) / 2
first = sum(int(r["value"]) for r in rows if float(r["from_ns"]) < half)
assert 0.8 < first / (sum(int(r["value"]) for r in rows) - first) < 1.25, "the second all_reduce has no statistics"
P
"$FANOUT" exec -s teach-4gpu --stats e.csv --report e.txt -- "$(dirname "$FANOUT")/examples/multicast_store" \
    >out 2>err || complain "exec: $(cat err)"
grep -q ',multicast 1,multimem.st requests,sum,' e.csv || complain "exec: no multicast store"
for verb in "compare a.json a.json" "convert two.trace -" "plot x.db" "ptx x" "sweep x.ini" "systems" "validate x.csv"; do
    # shellcheck disable=SC2086
    refuses "^fanout ${verb%% *}: --stats: ${verb%% *} has no statistics in time: [a-z]" $verb --stats no.csv
done
refuses "^fanout bench: --stats: engine measures Fanout's own speed" bench engine --stats no.csv
for flow in "coll all_reduce" "bench stream_bw" "replay two.trace"; do
    # shellcheck disable=SC2086
    refuses "^fanout ${flow%% *}: --stats: flows have no packets to count" $flow --fidelity flow --stats no.csv
done
refuses "^fanout coll: --stats: 'x.txt' ends neither in .csv nor in .jsonl" coll all_reduce --stats x.txt
refuses "^fanout coll: --stats-interval: where to?" coll all_reduce --stats-interval 1us
refuses "^fanout coll: --stats-interval: '1' is no time" coll all_reduce --stats no.csv --stats-interval 1
refuses "^fanout coll: --stats-interval: '0us' is no time" coll all_reduce --stats no.csv --stats-interval 0us
[ ! -e no.csv ] || complain "a refused run wrote a file"
refuses "^fanout coll: --stats: 'none/x.csv' cannot be written" coll all_reduce --stats none/x.csv
if [ -w /dev/full ]; then
    ln -s /dev/full full.csv
    status=0
    "$FANOUT" coll all_reduce -s teach-4gpu -b 4K --stats full.csv >out 2>err || status=$?
    [ "$status" = 1 ] && grep -q "full.csv' cannot be written" err || complain "a full disk: exit $status, $(cat err)"
    grep -q all_reduce out || complain "a full disk: the report is lost"
fi

# interrupted: the rows before are there
"$FANOUT" coll all_reduce -s dgx-h100 -a nvls -b 64K -e 64M -f 1024 --stats i.csv >out 2>err &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    grep -q ' 65536 ' out && break
    sleep 0.2
done
kill -INT $pid
status=0
wait $pid || status=$?
[ "$status" = 130 ] || complain "interrupted: exit $status"
python3 - <<'P' 2>err || complain "interrupted: $(tail -1 err)"
import csv
rows = list(csv.DictReader(open("i.csv")))
first = [r for r in rows if r["run"] == "all_reduce 64K nvls"]
assert sum(int(r["value"]) for r in first if r["statistic"] == "multimem.st bytes") == 65536, "not the whole first row"
assert all(None not in r.values() for r in rows), "half a line"
P
finish
