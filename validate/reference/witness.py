#!/usr/bin/env python3
"""Which published rows contradict their witnesses, by one rule for all of them; `witness.py TABLE.csv...` prints them.

A sweep is what one table has of one machine, operation, number of GPUs, program, timing and version of NCCL. The witnesses
of a row are the rows of other sweeps of the same operation, GPUs, timing and version, on GPUs of the same generation, by
the same program or, where a framework runs NCCL, by NCCL in any timing: at the row's size, or where a sweep has none, the
next larger size. With one witness or more, a row is left out when it takes more than 1.3 times the slowest of them, and
either more than 1.3 times what a larger size of its own sweep takes, or a framework's NCCL is what ran. In the same way
it is left out when it takes less than the fastest witness of its size divided by 1.3 and less than a smaller size of its
own sweep divided by 1.3; and, with no witness at all, when it takes more than three times what both its neighbours in its
own sweep take. Which rows hurt the model is not looked at."""
import collections
import csv
import sys

APART, ALONE = 1.3, 3
GENERATION = {"dgx-a": 80, "dgx-h": 90, "hgx-b": 100, "gb200": 100, "gb300": 100}
# From where on a framework runs NCCL, by GPUs of one host: coll/library.c.
FALLS_BACK = {("vllm", 100, 2): 8 << 20, ("vllm", 90, 2): 8 << 20, ("vllm", 90, 8): 64 << 20, ("vllm", 100, 8): 128 << 20}


def generation(row):
    return next((g for p, g in GENERATION.items() if row["preset"].startswith(p)), 0)


def is_nccl(row):
    least = FALLS_BACK.get((row["program"], generation(row), int(row["gpus"])))
    return least is not None and int(row["bytes"]) > least


def tables(paths):
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                row["table"] = path
                yield row


def sweep_key(row):
    return (row["source_url"].split(" ")[0], row["preset"], row["op"], row["gpus"], row["algo"], row["program"],
            row["timing"], row.get("nccl", ""))


def trays(row):
    return row["preset"].startswith("gb") and int(row["gpus"]) > 4


def at(sweep, size):
    """The time of the size, or of the next larger one, up to twice as large."""
    larger = [b for b in sweep if size <= b <= 2 * size]
    return sweep[min(larger)] if larger else None


def witnesses(row, sweeps):
    size, own = int(row["bytes"]), sweep_key(row)
    found = []
    for key, sweep in sweeps.items():
        first = sweep["row"]
        same = first["program"] == row["program"] and key[6] == own[6] and key[7] == own[7] and key[4] == own[4]
        nccl = is_nccl(row) and first["program"] == "nccl"
        if key == own or key[2] != own[2] or key[3] != own[3] or generation(first) != generation(row) or trays(first) != trays(row):
            continue
        if same or nccl:
            time = at(sweep["time"], size)
            if time is not None:
                found.append((time, size in sweep["time"]))
    return found


def left_out(rows):
    sweeps = collections.OrderedDict()
    for row in rows:
        sweep = sweeps.setdefault(sweep_key(row), {"row": row, "time": {}})
        sweep["time"].setdefault(int(row["bytes"]), float(row["time_us"]))
    for row in rows:
        size, time, own = int(row["bytes"]), float(row["time_us"]), sweeps[sweep_key(row)]["time"]
        found = witnesses(row, sweeps)
        if not found:
            below, above = max((b for b in own if b < size), default=0), min((b for b in own if b > size), default=0)
            if below and above and time > ALONE * max(own[below], own[above]):
                yield row, f"{time:g} us where the sizes before and after it took {own[below]:g} and {own[above]:g} us"
            continue
        slow = max(t for t, _ in found)
        exact = [t for t, same in found if same]
        larger = [t for b, t in own.items() if b > size]
        smaller = [t for b, t in own.items() if b < size]
        if time > APART * slow and ((larger and time > APART * min(larger)) or is_nccl(row)):
            yield row, f"{time:g} us where others took {slow:g} us and less"
        elif exact and time < min(exact) / APART and smaller and time < max(smaller) / APART:
            yield row, f"{time:g} us where others took {min(exact):g} us and more"


if __name__ == "__main__":
    for marked, why in left_out(list(tables(sys.argv[1:]))):
        print(f"{marked['id']}: {why}")
