"""What a timeline of --perfetto must be, read by a reader of its own: timeline_checks.py FILE [whole|streams]. Prints what is
wrong. Slices of a track follow or enclose each other; both ends of an arrow are slices' begins, in order; counters go on
in time, each with its unit's bounds; all that is drawn lies on a track with a name; every request of an answer leads by
arrows to its completion. "whole": every packet is drawn, so that slices and counters of a link must say the same. "streams": to each request an
arrow leads from one launch or copy of a stream, in whose time it was made; which they are is printed."""
import collections
import json
import sys


def main(path, mode):
    wrong = []
    data = json.load(open(path))
    events = data["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    groups = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    ps = lambda text: round(float(text) * 1e6)
    slices, arrows, counters = collections.defaultdict(list), collections.defaultdict(dict), collections.defaultdict(list)
    for event in events:
        at = (event["pid"], event["tid"])
        if event["ph"] == "X":
            slices[at].append((ps(event["ts"]), ps(event["ts"]) + ps(event["dur"]), event["name"]))
        elif event["ph"] in "sf":
            if event["ph"] in arrows[event["id"]]:
                wrong.append(f"arrow {event['id']} has two ends {event['ph']}")
            arrows[event["id"]][event["ph"]] = (at, ps(event["ts"]))
        elif event["ph"] == "C":
            counters[event["pid"], event["name"]].append((ps(event["ts"]), event["args"]["value"]))
    for at, all_of in slices.items():
        if at not in names or at[0] not in groups:
            wrong.append(f"slices on a track without a name: {at}")
        stack = []
        for start, end, name in sorted(all_of, key=lambda s: (s[0], -s[1])):
            while stack and stack[-1] <= start:
                stack.pop()
            if stack and end > stack[-1]:
                wrong.append(f"{names.get(at)}: {name} at {start} ps crosses what it is in")
            stack.append(end)
    begins = {at: {start for start, _, _ in all_of} for at, all_of in slices.items()}
    follows = collections.defaultdict(list)
    for number, ends in arrows.items():
        if set(ends) != {"s", "f"} or ends["f"][1] < ends["s"][1]:
            wrong.append(f"arrow {number}: {ends}")
            continue
        for at, time in ends.values():
            if time not in begins.get(at, ()):
                wrong.append(f"arrow {number} ends at no slice's begin: {names.get(at)}, {time} ps")
        follows[ends["s"]].append(ends["f"])
    for (pid, name), values in counters.items():
        if pid not in groups:
            wrong.append(f"a counter of a group without a name: {name}")
        if any(b[0] <= a[0] for a, b in zip(values, values[1:])):
            wrong.append(f"{groups[pid]} {name} goes back in time")
        if any(value < 0 or (name.endswith("busy %") and value > 100) for _, value in values):
            wrong.append(f"{groups[pid]} {name}: {max(v for _, v in values)}")
    complete = check_requests(slices, names, follows, wrong)
    if mode == "streams":
        check_streams(events, slices, names, groups, follows, wrong)
    if mode == "whole":
        check_links(slices, names, groups, counters, wrong)
        if "otherData" in data:
            wrong.append(f"something was left out: {data['otherData']}")
    said = data.get("otherData", {}).get("left out")
    if said and not all(part in [s[2] for s in slices[at]] for at in names if groups[at[0]] == "left out of this file"
                        for part in said.split("; ")):
        wrong.append(f"what is left out is not drawn: {said}")
    print("\n".join(wrong[:20]))
    print(f"{sum(map(len, slices.values()))} slices, {len(arrows)} arrows, {len(counters)} counters, {complete} requests")
    return 1 if wrong else 0


def check_requests(slices, names, follows, wrong):
    """From each request that was answered arrows lead to its completion, over at least the wire there and back."""
    complete = 0
    for at, all_of in slices.items():
        if not names[at].startswith("requests"):
            continue
        done = {(at, start): end for start, end, name in all_of if name == "answered"}
        for start, end, name in all_of:
            if name == "answered" or end not in done.values():
                continue
            complete += 1
            reached, ways = set(), [(at, start)]
            while ways:
                way = ways.pop()
                if way not in reached:
                    reached.add(way)
                    ways += follows[way]
            if not any(done.get(way) == end for way in reached) or len(reached) < 4:
                wrong.append(f"{names[at]}: no arrows from {name} at {start} ps to its completion at {end}")
    return complete


def check_streams(events, slices, names, groups, follows, wrong):
    to = {(e["pid"], e["tid"], e["ts"]): e["args"]["to"] for e in events if e["ph"] == "X" and "to" in e.get("args", {})}
    to = {((pid, tid), round(float(ts) * 1e6)): where for (pid, tid, ts), where in to.items()}
    span = {(at, start): (end, name) for at, all_of in slices.items() for start, end, name in all_of}
    origins, made = collections.defaultdict(list), collections.Counter()
    for way, nexts in follows.items():
        for after in nexts if names[way[0]].startswith("stream ") else []:
            origins[after].append(way)
    for at, all_of in slices.items():
        for start, _, name in all_of:
            if not names[at].startswith("requests") or name == "answered":
                continue
            ways = origins[at, start]
            if len(ways) != 1 or not ways[0][1] <= start <= span[ways[0]][0]:
                wrong.append(f"{groups[at[0]]} {names[at]}: {name} at {start} ps is of {len(ways)} of the streams' works")
            else:
                made[names[ways[0][0]], span[ways[0]][1], name, to[at, start]] += 1
    for (stream, work, name, where), count in sorted(made.items()):
        print(f"{stream}: {work}: {name} to {where}: {count}")


def check_links(slices, names, groups, counters, wrong):
    for (pid, tid), name in names.items():
        if not name.endswith(" packets"):
            continue
        drawn = sum(end - start for start, end, _ in slices[pid, tid])
        values = counters[pid, name.replace(" packets", " busy %")]
        counted = sum(value / 100 * (after - at) for (at, value), (after, _) in zip(values, values[1:]))
        if abs(drawn - counted) > 0.001 * drawn + 20:
            wrong.append(f"{groups[pid]} {name}: slices of {drawn} ps, by its counter {counted:.0f}")


sys.exit(main(sys.argv[1], sys.argv[2] if sys.argv[2:] else ""))
