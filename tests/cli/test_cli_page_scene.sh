#!/bin/sh
# Proves that the animation of a walk's page and the walk in text are one thing, for each of the six operations on small
# and large systems of one and two levels: the same steps with the same times; each packet that a step puts on a wire
# moves from that time on, over that line, and is where it arrives at the time of the step there; every credit, tag and
# place in a queue that was taken is given back.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

cat >scene.py <<'P'
import csv, json, re, sys
page = open("a.html", encoding="utf-8").read()
scene = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.S).group(1))
steps = list(csv.DictReader(open("a.csv", encoding="utf-8")))
near = lambda ps, text: abs(ps / 1000 - float(text)) <= 0.0501
assert len(scene["steps"]) == len(steps) > 8, "not as many steps"
for (at, depth, where, text, file), step in zip(scene["steps"], steps):
    assert near(at, step["time_ns"]), (at, step)
    assert [str(depth), where, text, file] == [step["depth"], step["unit"], step["text"], step["file"]], step
lines = [name for name, _, _ in scene["lines"]]
places = [name for name, _, _ in scene["places"]]
moves = [dict(zip(("line", "kind", "size", "at", "serial", "flight"), move)) for move in scene["moves"]]
stays = [dict(zip(("place", "slot", "kind", "from", "to"), stay)) for stay in scene["stays"]]
wires = sorted((where, at) for at, _, where, text, _ in scene["steps"] if "onto the wire" in text)
assert wires == sorted((lines[m["line"]], m["at"]) for m in moves), "a packet moves that no step tells of, or the reverse"
for m in moves:
    flits, far = m["size"], places[scene["lines"][m["line"]][2]]
    there = m["at"] + m["serial"] + m["flight"]
    ends = {there} | {s["to"] for s in stays if s["from"] == there and places[s["place"]] == far}
    assert any(at in ends and where == far for at, _, where, _, _ in scene["steps"]), (m, far, ends)
    assert f"{flits} flit" in "".join(text for at, _, where, text, _ in scene["steps"]
                                      if at == m["at"] and where == lines[m["line"]]), m
told = [(name, at) for at, _, name, text, _ in scene["steps"] if ", from " in text]
hubs = 0
for where, name, unit, most, first, changes in scene["gauges"]:
    times, values = changes[::2], changes[1::2]
    assert times == sorted(set(times)), (where, name)
    assert all(v >= 0 and (not most or v <= most) for v in values), (where, name, values)
    assert (values[-1] if values else first) == first, (where, name, "is not given back")
    if name == "tags in use":
        assert max(values) == 1, values
    if name == "answers gathered":
        hubs += 1 # the last ones come as all are counted and gone
        assert max(values) == sum(name == where and at < times[-1] for name, at in told), (where, values)
assert hubs == len({name for name, _ in told}), hubs
P
count=0
for system in teach-4gpu dgx-h100 ./levels.ini gb200-nvl72; do
    printf '[system]\ninherits = teach-4gpu\n# assumed: two sets\ngpus = 8\n[topology]\n# assumed: two levels\n%s' \
        'kind = two_level
# assumed: sets of four
leaf_gpus = 4
# assumed: one a plane
spines = 1,1
# assumed: four
trunks = 4
' >levels.ini
    for op in store load atomic multimem.st multimem.red multimem.ld_reduce; do
        case $system in gb200-nvl72) [ $op = multimem.st ] || continue ;; esac
        "$FANOUT" walk $op -s $system --format csv --html a.html >a.csv 2>err || complain "$op -s $system: $(cat err)"
        python3 scene.py 2>err || complain "$op -s $system: $(tail -1 err)"
        count=$((count + 1))
    done
done
[ $count = 19 ] || complain "$count scenes, not 19"

finish
