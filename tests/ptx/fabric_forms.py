"""Forms of fabric.* and of mbarriers that report, drawn at random, and whether ptxas takes them.

    fabric_forms.py record PTXAS FILE      draw forms, ask ptxas for each, write FILE: verdict, target, instruction
    fabric_forms.py check FANOUT FILE      what fanout ptx says of each line of FILE must be its verdict
    fabric_forms.py ask FANOUT PTXAS SEED  draw others, ask both, compare
"""
import csv
import os
import random
import subprocess
import sys
import tempfile

HEAD = ".version 9.5\n.target %s\n.address_size 64\n"
REGISTERS = """.reg .b32 a<4>; .reg .b64 w<4>; .reg .b16 h<4>; .reg .pred p<4>; .reg .b8 b<3>; .reg .f32 f<3>;
.reg .u32 u<3>; .reg .u64 x<3>; .reg .s32 s<3>;
.shared .align 128 .b8 sm[1024]; .shared .align 8 .b64 bar;
"""
TYPES = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64 e4m3 e5m2".split()
OPERATIONS = "add min max and or xor inc dec exch cas".split()
UNITS, BYTES = "mbarrier::complete_tx::16B", "mbarrier::complete_tx::bytes"
REPORT = "mbarrier::report::fabric"
TARGETS = ["sm_100"] * 6 + ["sm_100f", "sm_100a", "sm_90"]
STRANGE = ["multimem", "cp_mask", "counted::bytes", "L2::cache_hint", "relaxed", "sys", "gpu", "cta", "acquire", "sync",
           "shared::cta", "shared", UNITS, BYTES, REPORT, "acc::f32", "acc::f16", "noftz", "add", "min", "b128", "u32",
           "op_restrict::fetching", "commit_group", "weak"]


def transfer(rng):
    """A form that is right, or nearly so: name, modifiers, operands."""
    name = rng.choice(["try_get", "try_put", "try_put", "try_red", "try_red", "try_pullred", "try_pullred", "try_atom"])
    handle, tail = "[a1, w1]", []
    words = ["shared::cta", BYTES if name in ("try_get", "try_pullred") else UNITS, REPORT]
    if rng.random() < 0.8 or name == "try_atom":
        words += ["relaxed", "sys"]
    if name in ("try_get", "try_put"):
        kind = ["b128"]
    else:
        operation = rng.choice(OPERATIONS)
        kind = [operation, rng.choice(TYPES)]
        if operation == "add" and rng.random() < 0.3:
            kind.insert(1, rng.choice(["acc::f32", "acc::f16"]))
    if name == "try_pullred":
        words.append("multimem")
        kind.append("sync")
        tail = ["0xffffffff"]
    elif name in ("try_put", "try_red") and rng.random() < 0.4:
        words.append("multimem")
    if name in ("try_put", "try_red") and rng.random() < 0.3:
        words.append("counted::bytes")
        handle = "[a1, w1, w2]"
    elif name == "try_put" and rng.random() < 0.3:
        words.append("cp_mask")
        tail = [rng.choice(["h1", "3"])]
    if rng.random() < 0.15:
        words.append("L2::cache_hint")
        tail = tail + ["w3"]
    size = rng.choice(["256", "a2", "u1", "s1"])
    if name in ("try_get", "try_pullred"):
        operands = ["[sm]", handle, size, "[bar]"]
    elif name == "try_atom":
        operands = [handle, "[sm]", "[sm+32]", "[bar]"]
    else:
        operands = [handle, rng.choice(["[sm]", "[sm+16]", "[a3]", "[w3]"]), size, "[bar]"]
    return ["fabric", name, "async"], words + kind, operands + tail


def other(rng):
    kind = rng.randrange(4)
    if kind == 0:
        return ["fabric", "submit"], rng.choice([[], ["op_restrict::fetching"], ["commit_group"]]), []
    if kind == 1:
        return rng.choice([(["fabric", "wait"], ["sync_restrict::reads"], []),
                           (["fabric", "wait"], ["sync_restrict::read"], ["2"])])
    if kind == 2:
        return ["fence", "proxy"], [rng.choice(["generic", "fabric"]) + "::" + rng.choice(["generic", "fabric"]), "alias",
                                    rng.choice(["acquire", "release", "acq_rel"]), rng.choice(["sys", "sys", "gpu"])], []
    name = ["mbarrier", rng.choice(["try_wait", "test_wait"])]
    parity = rng.random() < 0.5
    phase = rng.choice(["primary", "primary", "conditional"])
    results = rng.choice(["p0", "p0|p1", "p0|p1, b1", "p0, b1", "p0|p1, h1"])
    words = ["phase_type::" + phase, "acquire", "cta", "shared::cta", "b64"]
    return name + (["parity"] if parity else []), words, [results, "[bar]", "a1" if parity else "w1"]


def mutate(rng, words, operands):
    words, operands = list(words), list(operands)
    kind = rng.randrange(7)
    if kind == 0 and words:
        words.pop(rng.randrange(len(words)))
    elif kind == 1:
        words.insert(rng.randrange(len(words) + 1), rng.choice(STRANGE))
    elif kind == 2 and words:
        words[rng.randrange(len(words))] = rng.choice(STRANGE)
    elif kind == 3:
        rng.shuffle(words)
    elif kind == 4 and operands:
        operands.pop(rng.randrange(len(operands)))
    elif kind == 5 and operands:
        operands[rng.randrange(len(operands))] = rng.choice(
            ["[a1, w1]", "[a1, w1, w2]", "[w1, w1]", "[a1, a1]", "[f1, w1]", "[3, w1]", "[a1, 64]", "w1", "a1", "h1",
             "[sm]", "1", "[u1, x1]"])
    elif kind == 6:
        operands.append(rng.choice(["w3", "h1", "a1", "7"]))
    return words, operands


def draw(rng):
    name, words, operands = transfer(rng) if rng.random() < 0.8 else other(rng)
    if rng.random() < 0.4:
        words, operands = mutate(rng, words, operands)
    return rng.choice(TARGETS), ".".join(name + words) + " " + ", ".join(operands) + ";"


def operands_of(form):
    text = form.split(" ", 1)[1].rstrip(";") if " " in form else ""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "[") - (c == "]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def is_quirk(form):
    """What ptxas 13.5 takes, though it is no PTX: addresses in shared memory without brackets, an accumulator where
    nothing is added, a state space of a fence between proxies."""
    shared = {"try_get": (0, 3), "try_pullred": (0, 3), "try_put": (1, 3), "try_red": (1, 3), "try_atom": (1, 2, 3)}
    parts = operands_of(form)
    for name, places in shared.items():
        if name in form and any(p < len(parts) and not parts[p].startswith("[") for p in places):
            return True
    if ".acc::" in form and not (".add" in form and any(n in form for n in ("_red", "_pullred", "_atom"))):
        return True
    return form.startswith("fence") and "shared" in form


def forms(seed, n):
    rng = random.Random(seed)
    seen = {}
    while len(seen) < n:
        target, form = draw(rng)
        if not is_quirk(form):
            seen[(target, form)] = True
    return list(seen)


def ptxas(path, target, form):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "form.ptx")
        with open(file, "w", encoding="ascii") as out:
            out.write(HEAD % target + ".entry k() {\n" + REGISTERS + form + "\nret;\n}\n")
        done = subprocess.run([path, "-arch", target, file, "-o", os.devnull], capture_output=True, check=False)
    return done.returncode == 0


def fanout(path, rows):
    """What fanout ptx says of each, all forms of a target as functions of one file."""
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        for target in sorted({target for target, _ in rows}):
            of_target = [form for t, form in rows if t == target]
            file = os.path.join(folder, "forms.ptx")
            with open(file, "w", encoding="ascii") as out:
                out.write(HEAD % target)
                for number, form in enumerate(of_target):
                    out.write(".visible .entry k%d() {\n%s%s\nret;\n}\n" % (number, REGISTERS, form))
            done = subprocess.run([path, "ptx", file, "--format", "csv"], capture_output=True, text=True, check=False)
            for row in csv.DictReader(line for line in done.stdout.splitlines() if not line.startswith("#")):
                name = row.get("name") or ""
                if name.startswith("k") and name[1:].isdigit():
                    answers[(target, of_target[int(name[1:])])] = next(iter(list(row.values())[-1:])) or ""
    return answers


def compare(path, verdicts):
    answers = fanout(path, list(verdicts))
    wrong = 0
    for form, good in verdicts.items():
        if form not in answers:
            print("no answer for", *form)
            wrong += 1
        elif (answers[form] == "") != good:
            print("ptxas", "takes" if good else "refuses", *form, "-- fanout:", answers[form] or "takes it")
            wrong += 1
    print("%d forms, %d of them taken, %d differ" % (len(verdicts), sum(verdicts.values()), wrong))
    return wrong


def main(words):
    if words[0] == "record":
        with open(words[2], "w", encoding="ascii") as out:
            for target, form in forms(1, 1200):
                out.write("%s %s %s\n" % ("takes" if ptxas(words[1], target, form) else "refuses", target, form))
        return 0
    if words[0] == "check":
        with open(words[2], encoding="ascii") as lines:
            rows = [line.rstrip("\n").split(" ", 2) for line in lines]
        return compare(words[1], {(target, form): verdict == "takes" for verdict, target, form in rows}) != 0
    rows = forms(int(words[3]), 200)
    return compare(words[1], {row: ptxas(words[2], *row) for row in rows}) != 0


sys.exit(main(sys.argv[1:]))
