#!/bin/sh
# Proves, without a browser, what a page promises: its tags are balanced, nothing in it leads to another address or file,
# it stays small, charts scale with the window, tables scroll in boxes that the keyboard reaches, dark screens and paper
# have a style, and the command that it names makes the same page again.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

cat >page.py <<'P'
import html.parser, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
void = {"meta", "br", "input", "link", "img"}
class Page(html.parser.HTMLParser):
    stack, command, boxed = [], "", 0
    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert not {"src", "href", "srcset", "data"} & attrs.keys(), (tag, attrs)
        assert tag not in {"link", "img", "iframe", "object"}, tag
        if tag == "table":
            assert self.stack[-1] == "div", "a table without a box"
            self.boxed += 1
        if tag == "svg":
            assert "viewbox" in attrs and "width" not in attrs and (attrs.get("role") in ("img", "group") or attrs.get("aria-hidden")), attrs
        if tag not in void:
            self.stack.append(tag)
    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, tag
    def handle_startendtag(self, tag, attrs):
        pass
    def handle_data(self, data):
        if self.stack and self.stack[-1] == "pre":
            self.command += data
page = Page()
page.feed(text)
assert page.stack == [], page.stack
assert page.boxed == text.count('<div class="scroll" tabindex="0" role="region" aria-label="') > 0
assert not re.search(r"https?:|@import|url\(", text), "an address"
assert len(text) < 3 << 20
for part in ("prefers-color-scheme: dark", "@media print", 'name="viewport"'):
    assert part in text, part
print(page.command)
P
page() { # ARG...
    "$FANOUT" "$@" --html a.html >out 2>err || complain "$*: $(cat err)"
    python3 page.py a.html >command 2>err || complain "$*: $(tail -1 err)"
    [ "$(cat command)" = "fanout $* --html a.html" ] || complain "$*: the page says to repeat it: $(cat command)"
    mv a.html first.html
    sed 's/^fanout/"$FANOUT"/' command >again.sh
    FANOUT=$FANOUT sh again.sh >out 2>err || complain "$*: its own command fails: $(cat err)"
    cmp -s first.html a.html || complain "$*: its own command makes another page"
}
page coll all_reduce -s teach-4gpu -a nvls,ring -b 4K -e 64K
page walk multimem.ld_reduce -s teach-4gpu --set switch.latency_ps=120000
page bench load_latency -s teach-4gpu
page coll all_reduce -s teach-4gpu -a nvls -b 16K

# A reader of the text that goes away loses no page, and the run still ends well.
rm -f head.html
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls,ring -b 4K --record head.trace 2>err | head -n 1 >out
grep -q all_reduce head.trace 2>err || complain "--record: head takes the trace away: $(cat err)"
{ "$FANOUT" coll all_reduce -s teach-4gpu -a nvls,ring -b 4K -e 64K --html head.html 2>err; echo "$?" >code; } | head -n 1 >out
[ "$(cat code)" = 0 ] && [ ! -s err ] || complain "into head: exit $(cat code), $(cat err)"
grep -q 'class="answer"' head.html || complain "the page is lost with its reader"

# Where the time went, the system and charts over time are in the page of a small run; two runs stand side by side.
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls,ring -b 32K --no-compare --html two.html --format json >two.json
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 32K --html one.html --format json >one.json
"$FANOUT" compare one.json two.json --html compared.html >/dev/null
for words in "throughput over time: all_reduce 32K nvls" "throughput over time: all_reduce 32K ring" \
    "reduction buffer in use over time" "latencies: how many requests took how long" "where the time of the run went" \
    "the system: how busy its links were in all_reduce 32K ring" '<div class="side">'; do
    grep -qF "$words" two.html || complain "the page of two runs has no '$words'"
done
for words in "throughput over time: a: all_reduce 32K nvls" "throughput over time: b: all_reduce 32K nvls" \
    "where the time of the run went" '<div class="side">'; do
    grep -qF "$words" compared.html || complain "the page of two reports has no '$words'"
done
"$FANOUT" coll all_reduce -s teach-4gpu -a ring -b 4K --format json >bare.json
says "neither report has charts" compare bare.json bare.json --html none.html
cat >figures.py <<'P'
import json, re
one = json.load(open("one.json"))
# what the charts are drawn of agrees with the tables that were there before
up = sum(r["up_GBps"] * 1000 * (r["to_us"] - r["from_us"]) for r in one["in_time"]) / 16
assert abs(up - one["links"][0]["flits"]) < 1e-3 * up, ("flits", up, one["links"][0]["flits"])
assert sum(r["count"] for r in one["latencies"]) == sum(r["count"] for r in one["operations"]), "requests"
assert max(r["reduction_tags"] for r in one["in_time"]) > 10, "no tags in use"
assert abs(sum(r["share_pct"] for r in one["where"]) - 100) < 0.1, "shares of the run"
# the picture's numbers are those of the links
page = open("one.html").read()
links = {r["link"]: r["utilisation_pct"] for r in one["link_rows"]}
seen = re.findall(r"<title>gpu0 and switch0, \d+ links?: to switch0 ([\d.]+) % busy", page)
mine = [v for k, v in links.items() if k.startswith("gpu0.") and k.endswith(".up")]
assert len(seen) == 1 and min(mine) - 0.06 <= float(seen[0]) <= max(mine) + 0.06, (seen, mine)
P
python3 figures.py 2>err || complain "figures: $(tail -1 err)"
# The pages of a program and of a walk have them, too.
"$FANOUT" exec -s teach-4gpu --where --html exec.html --report exec.json -- "$(dirname "$FANOUT")/examples/multicast_store" \
    >out 2>err || complain "exec --html: $(cat err)"
"$FANOUT" walk multimem.ld_reduce -s teach-4gpu --html walk.html --format json >walk.json
for page in exec walk; do
    for words in "To repeat it" "throughput over time" "latencies: how many requests took how long" \
        "where the time of a request went" "the system: how busy its links were"; do
        grep -qF "$words" $page.html || complain "the page of $page has no '$words'"
    done
done
grep -q "^<h2>To repeat it</h2>" exec.html && grep -q -- "--html exec.html --report exec.json -- .*multicast_store</pre>" exec.html ||
    complain "the page of exec does not say how to repeat it"
"$FANOUT" exec -s teach-4gpu --html exec.html -- "$(dirname "$FANOUT")/examples/multicast_store" >out 2>err
grep -q "Where the time of requests went is told with --where" exec.html || complain "exec does not say where --where is"
"$FANOUT" exec -s teach-4gpu --data off --fidelity flow --html exec.html -- "$(dirname "$FANOUT")/examples/multicast_store" \
    >out 2>err || true # which finds no bytes
grep -q "Flows have no packets: there are no charts over time" exec.html || complain "flows: no reason why there are no charts"
cat >views.py <<'P'
import json
for name in ("exec", "walk"):
    d = json.load(open(name + ".json"))
    up = sum(r["up_GBps"] * 1000 * (r["to_us"] - r["from_us"]) for r in d["in_time"]) / 16
    if name == "exec":
        assert abs(up - d["links"][0]["flits"]) < 1e-3 * up, (name, up, d["links"][0]["flits"])
        assert sum(r["count"] for r in d["latencies"]) == sum(r["count"] for r in d["operations"] if r["target"] != "own memory")
    assert abs(sum(r["share_pct"] for r in d["where"]) - 100) < 0.1, name
# of a walk, one request and all of its time
took = d["steps"][-1]["time_ns"]
assert [r["count"] for r in d["latencies"]] == [1] and {r["requests"] for r in d["where_requests"]} == {1}
assert abs(sum(r["mean_ns"] for r in d["where_requests"]) - took) < 0.051, took
P
python3 views.py 2>err || complain "figures of exec and walk: $(tail -1 err)"
# A replay's, summed up over all of its communications, is the same whether equal ones are simulated once or each time.
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls,ring -b 8K -e 32K --record again.trace >out
for memo in "--no-compare" "--no-memo --no-compare"; do
    "$FANOUT" replay again.trace $memo -s teach-4gpu -a nvls --where --html "replay$(echo $memo | wc -w).html" \
        --format json >"replay$(echo $memo | wc -w).json" 2>err || complain "replay $memo: $(cat err)"
done
for words in "throughput over time" "tags in use over time" "latencies: how many requests took how long" \
    "where the time of a request went" "the system: how busy its links were in replay"; do
    grep -qF "$words" replay1.html || complain "the page of replay has no '$words'"
done
cat >replays.py <<'P'
import json
once, each = (json.load(open(f"replay{n}.json")) for n in (1, 2))
assert once["remembered"] > 0 and each["remembered"] == 0, "nothing is remembered"
for table in ("in_time", "latencies", "switch_rows", "where", "where_requests"):
    assert once[table] == each[table], table
assert abs(once["in_time"][-1]["to_us"] - once["total_us"]) < 0.01 and once["in_time"][0]["from_us"] == 0
up = sum(r["up_GBps"] * 1000 * (r["to_us"] - r["from_us"]) for r in once["in_time"]) / 16
busy = sum(r["packets_in"] for r in once["switch_rows"])
assert up > busy > 0 and abs(sum(r["time_us"] for r in once["where"]) - once["total_us"]) < 0.01, (up, busy)
# the eight links to GPUs are those that carried most
down = sum(r["down_GBps"] * 1000 * (r["to_us"] - r["from_us"]) for r in once["in_time"]) / 16
assert abs(down - sum(r["flits"] for r in once["hot_links"])) < 1e-3 * down, down
P
python3 replays.py 2>err || complain "replay: $(tail -1 err)"
"$FANOUT" replay again.trace -s teach-4gpu --no-compare --html r.html >out
grep -q "Where the time of requests went is told with --where" r.html || complain "replay does not say where --where is"
refuses "^fanout replay: --where: flows have no packets" replay again.trace --where --fidelity flow
# Small runs of bench are played, one of each operation: what moves is what the links carried. And taken apart.
cat >film.py <<'P'
import json, re
d, page = json.load(open("film.json")), open("film.html", encoding="utf-8").read()
scene = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.S).group(1))
carried = sum((r["up_GBps"] + r["down_GBps"]) * 1000 * (r["to_us"] - r["from_us"]) for r in d["in_time"]) / 16
moved = sum(size for line, kind, size, *rest in scene["moves"])
assert moved > 20 and abs(moved - carried) < 0.5, (moved, carried)
assert abs(sum(r["share_pct"] for r in d["where"]) - 100) < 0.1
P
for words in "stream_bw --variant read16" "stream_bw --variant write16" atomics "multicast_bw --variant one_to_all" \
    "multicast_bw --variant red" "multicast_bw --variant ld_reduce"; do
    "$FANOUT" bench $words -s teach-4gpu -b 2K --ctas 1 --threads 32 --animate --html film.html --format json >film.json \
        2>err || complain "bench $words --animate: $(cat err)"
    python3 film.py 2>err || complain "bench $words --animate: $(tail -1 err)"
done
"$FANOUT" bench multicast_latency -s teach-4gpu --html b.html >out
grep -q "Where the time of requests went is told with --where" b.html || complain "bench does not say where --where is"
"$FANOUT" bench multicast_latency -s teach-4gpu -b 1K,2K,4K,8K,16K --html b.html >out
grep -q "Of up to 4 rows a page has the system" b.html || complain "bench does not say why it has no charts"
"$FANOUT" coll all_reduce -s teach-4gpu -a ring -b 1K -e 16K --html b.html >out
grep -q "Of up to 4 rows a page has the system" b.html || complain "coll does not say why it has no charts"
refuses "^fanout bench: --animate: load_latency .* puts 8256 packets on links; from 1 to 500" \
    bench load_latency -s teach-4gpu --animate --html no.html
refuses "^fanout bench: --where: engine measures Fanout's own speed" bench engine --where
refuses "^fanout bench: --animate: 2 rows; one" bench multicast_bw -b 1K,2K --animate --html no.html
refuses "^fanout exec: --where: flows have no packets" exec --data off --fidelity flow --where -- true
refuses "^fanout coll: --where: an observed run is on one core" coll all_reduce --where --cores 2
refuses "^fanout coll: --where: flows have no packets" coll all_reduce --where --fidelity flow
refuses "^fanout coll: --where: 5 rows; at most 4" coll all_reduce --where -b 1K -e 16K
refuses "^fanout coll: --animate: where to?" coll all_reduce --animate
refuses "^fanout coll: --animate: 2 rows; one at a time" coll all_reduce -b 1K -e 2K --animate --html no.html
refuses "^fanout coll: --where: flows have no packets" coll all_reduce --animate --fidelity flow --html no.html
refuses "^fanout coll: --animate: all_reduce 64K ring puts [0-9]* packets on links; from 1 to 500 can be played" \
    coll all_reduce -s teach-4gpu -a ring -b 64K --animate --html no.html
[ ! -e no.html ] || complain "a run that cannot be played leaves a page"
says 'where the time went' coll all_reduce -s teach-4gpu -a ring -b 4K --where

finish
