#!/usr/bin/env python3
"""Grades what students hand in for the labs: grade.py [-o FILE] FILE...

A FILE is the file of answers that a lab's page saves (answers.json), a text file of answers (a line "1.4 four
flights"), or the program of lab 6 (*.c). It prints plain text; -o FILE writes what Gradescope reads (results.json) as
well. Points, and what they are for:

    a guess                 1   something was written down before the command ran (answers.json alone)
    a command               1   it was run in the page, and gave what the lab's text has (answers.json alone)
    a question              2   1 for an answer of some words or a number, 1 for what key.txt looks for
    the program            10   see program_tests()

A point for words is a point for having thought, not for being right: what the key does not find, the output lists for a
person to read. The program is built and run here, so let it run where a student's program may (a container,
Gradescope's machine). It needs a C compiler and `fanout` in the path, or $FANOUT; the rest needs Python alone.

    grade.py --pack fanout-X.tar.xz autograder.zip     what Gradescope's "configure autograder" takes"""
import argparse, json, os, re, shlex, shutil, subprocess, sys, tempfile, zipfile

here = os.path.dirname(os.path.abspath(__file__))
labs_at = os.path.dirname(here)
NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
PROGRAM_SECONDS = 120


# ---- the labs' texts

def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class Lab:
    """What a lab asks for."""

    def __init__(self, number):
        names = [n for n in sorted(os.listdir(labs_at)) if n.startswith(number + "-") and n.endswith(".md")]
        self.number, self.text = number, read(os.path.join(labs_at, names[0]))
        self.title = re.search(r"^# (.*)", self.text, re.M).group(1)
        self.guesses = self.text.count("**Guess first:**")
        self.questions = re.findall(r"\*\*Question (\d\.\d+)\*\*", self.text)
        self.commands = {}  # those that run in a page, with their output
        for block in re.findall(r"^```console\n(.*?)^```", self.text, re.M | re.S):
            for command, output in console(block):
                if in_page(command):
                    self.commands[command] = output


def console(block):
    pairs = []
    for line in block.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            pairs.append([line[2:], []])
        elif pairs and not pairs[-1][1] and (line.startswith("> ") or pairs[-1][0].endswith("\\")):
            pairs[-1][0] += "\n" + line.removeprefix("> ")
        elif pairs:
            pairs[-1][1].append(line)
    return [(command, "\n".join(output)) for command, output in pairs]


def in_page(command):
    """As shellKnows() of web/page/shell.js decides."""
    if "$(" in command:
        return False
    plain = re.sub(r"'[^']*'|\"[^\"]*\"", "''", command.replace("\\\n", " "))
    for part in re.split(r"[|;\n]", plain):
        words = [w for w in part.split() if w not in ("do", "done")]
        if not words or words[0] == "for":
            continue
        if words[0] == "fanout":
            if words[1] not in ("coll", "bench", "walk", "systems"):
                return False
        elif words[0] == "sh":
            if words[1] not in ("columns.sh", "by.sh"):
                return False
        elif words[0] not in ("tail", "head", "sort", "grep", "sed", "echo"):
            return False
    return True


# ---- the key

def keys():
    """{"1.1": [[alternative, ...], ...]}: all parts must be there, of each any alternative."""
    found = {}
    for line in read(os.path.join(here, "key.txt")).splitlines():
        if line.strip() and not line.startswith("#"):
            name, parts = line.split(":", 1)
            found[name.strip()] = [part.strip().split("/") for part in parts.split(",")]
    return found


def numbers(text):
    values = [float(n.replace(",", "")) for n in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", text)]
    return values + [float(NUMBERS.index(w)) for w in re.findall(r"[a-z]+", text) if w in NUMBERS]


def has(text, alternative):
    number = re.fullmatch(r"(\d+(?:\.\d+)?)(?:~(\d+(?:\.\d+)?))?", alternative)
    if not number:
        return alternative in text
    wanted = float(number[1])
    off = float(number[2]) if number[2] else wanted * 0.005
    return any(abs(value - wanted) <= off + 1e-9 for value in numbers(text))


def missing(text, parts):
    """The parts of a key that an answer lacks, in words."""
    text = " ".join(text.lower().split())
    return ["/".join(part) for part in parts if not any(has(text, a) for a in part)]


# ---- what was handed in

def answers_of(path):
    """{"lab", "guesses": [...] or None, "answers": {...}, "runs": [...] or None}"""
    text = read(path)
    if path.endswith(".json"):
        try:
            given = json.loads(text)
            lab = re.match(r"Lab (\d)", given["lab"])[1]
            return {"lab": lab, "guesses": [str(g) for g in given.get("guesses", [])],
                    "answers": {str(k): str(v) for k, v in given.get("answers", {}).items()},
                    "runs": [(str(r["command"]), str(r["output"])) for r in given.get("runs", [])]}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ValueError("this is not a file that a lab's page saved (lab, guesses, answers, runs)") from None
    answers, last = {}, None
    for line in text.splitlines():
        begins = re.match(r"\s*(?:question\s+)?(\d\.\d+)[.:)]?\s+(.*)", line, re.I)
        if begins:
            last = begins[1]
            answers[last] = begins[2]
        elif last:
            answers[last] += " " + line.strip()
    if not answers:
        raise ValueError("no answer is in it; a line of one begins with the question's number: 1.4 four flights")
    return {"lab": sorted(answers)[0][0], "guesses": None, "answers": answers, "runs": None}


def test(name, score, most, output):
    return {"name": name, "score": score, "max_score": most, "output": output}


def lab_tests(given, key):
    lab = Lab(given["lab"])
    tests = []
    if given["guesses"] is not None and lab.guesses:
        made = sum(1 for g in given["guesses"] if g.strip())
        tests.append(test(f"Lab {lab.number}: guesses", min(made, lab.guesses), lab.guesses,
                          f"{made} of {lab.guesses} guesses were written down"))
    if given["runs"] is not None and lab.commands:
        ran = {command for command, output in given["runs"]
               if lab.commands.get(command, "").rstrip() == output.rstrip() and command in lab.commands}
        left = [c for c in lab.commands if c not in ran]
        tests.append(test(f"Lab {lab.number}: commands", len(ran), len(lab.commands),
                          "all were run" if not left else "not run, or with other output:\n" + "\n".join(left)))
    for name in lab.questions:
        answer = given["answers"].get(name, "").strip()
        lacks = missing(answer, key[name])
        if not answer:
            tests.append(test(f"Question {name}", 0, 2, "no answer"))
        elif not lacks:
            tests.append(test(f"Question {name}", 2, 2, "the answer has what the key looks for"))
        else:
            thought = len(answer.split()) >= 3 or bool(numbers(answer))
            tests.append(test(f"Question {name}", 1 if thought else 0, 2,
                              "to be read by a person: the key looks for more than it found"))
    return tests


# ---- the program of lab 6

def program_tests(path):
    """2 it builds without a warning; 2 all wait for all on each of two systems; 3 on links of which one is slow, where
    only order makes it right; 1 as quick as the flags."""
    fanout = os.path.abspath(os.environ.get("FANOUT") or shutil.which("fanout") or "fanout")
    rows = [("it builds without a warning", 2, None), ("teach-4gpu", 2, ["-s", "teach-4gpu"]),
            ("dgx-h100", 2, ["-s", "dgx-h100"]),
            ("teach-4gpu with a slow link", 3, ["-s", "teach-4gpu", "--fault", "link_degraded=gpu1.link1"])]
    tests, quick = [], None
    with tempfile.TemporaryDirectory() as work:
        for name in ("build.sh", "barrier.c"):
            shutil.copy(os.path.join(labs_at, name), work)
        shutil.copyfile(path, os.path.join(work, "student.c"))
        env = {**os.environ, "PATH": os.path.dirname(fanout) + ":" + os.environ.get("PATH", "")}
        strict = {**env, "CC": env.get("CC", "cc") + " -Werror"}
        built = subprocess.run(["sh", "build.sh", "student.c"], cwd=work, env=strict, capture_output=True, text=True)
        words = built.stdout + built.stderr
        tests.append(test("Program: " + rows[0][0], 0 if built.returncode else 2, 2, words[-2000:] or "yes"))
        for name, most, options in rows[1:]:
            if built.returncode:
                tests.append(test("Program: " + name, 0, most, "it was not built"))
                continue
            try:
                ran = subprocess.run([fanout, "exec", *options, "--report", "report.json", "--", "./student"], cwd=work,
                                     env=env, capture_output=True, text=True, timeout=PROGRAM_SECONDS)
                said, good = ran.stdout + ran.stderr, ran.returncode == 0 and "Both wait for all" in ran.stdout
            except subprocess.TimeoutExpired:
                said, good = f"it did not end in {PROGRAM_SECONDS} s", False
            times = re.search(r"flag_barrier: (\d+) ns, your_barrier: (\d+) ns", said)
            if good and name == "teach-4gpu" and times:
                quick = (int(times[1]), int(times[2]))
            tests.append(test("Program: " + name, most if good else 0, most, said[-2000:]))
    good = bool(quick) and quick[1] <= quick[0] and all(t["score"] for t in tests)
    tests.append(test("Program: right, and not slower than flags", 1 if good else 0, 1,
                      f"flags {quick[0]} ns, yours {quick[1]} ns" if quick else "not known: it is not right"))
    return tests


# ---- what is written

def as_text(tests):
    lines = []
    for one in tests:
        lines.append(f"{one['score']:>3} of {one['max_score']:>2}  {one['name']}")
        if one["score"] < one["max_score"]:
            lines += ["           " + line for line in one["output"].strip().splitlines()[:8]]
    lines.append(f"{sum(t['score'] for t in tests):>3} of {sum(t['max_score'] for t in tests):>2}  all together")
    return "\n".join(lines)


def grade(paths):
    key, tests = keys(), []
    for path in paths:
        name = os.path.basename(path)
        try:
            tests += program_tests(path) if path.endswith(".c") else lab_tests(answers_of(path), key)
        except (OSError, ValueError, IndexError) as why:
            tests.append(test(name, 0, 1, f"{name}: {why}"))
    return tests


SETUP = """#!/bin/sh
# Gradescope runs this once, when the image is made.
set -eu
apt-get update && apt-get install -y xz-utils
mkdir -p /fanout && tar -C /fanout --strip-components=1 -xf /autograder/source/{archive}
cd /fanout && ./bootstrap
"""
RUN = """#!/bin/sh
# Gradescope runs this for each submission.
cd /autograder/submission
FANOUT=/fanout/fanout timeout 900 python3 /fanout/docs/labs/instructor/grade.py -o /autograder/results/results.json \\
    $(find . -name '*.json' -o -name '*.txt' -o -name '*.c' | sort)
"""


def pack(archive, out):
    """A zip of Fanout's source archive and the two scripts that Gradescope calls."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(archive, os.path.basename(archive))
        setup = SETUP.replace("{archive}", os.path.basename(archive))
        for name, text in (("setup.sh", setup), ("run_autograder", RUN)):
            entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100755 << 16
            file.writestr(entry, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("-o", metavar="FILE", help="write Gradescope's JSON there, too")
    parser.add_argument("--pack", nargs=2, metavar=("ARCHIVE", "ZIP"),
                        help="write a zip for Gradescope, and grade nothing")
    parser.add_argument("--commands", action="store_true", help="print the commands that count, and grade nothing")
    given = parser.parse_args()
    if given.pack:
        return pack(*given.pack)
    if given.commands:
        for number in "12345678":
            for command in Lab(number).commands:
                print(shlex.quote(command))
        return None
    nothing = [test("nothing was handed in", 0, 1, "hand in answers.json, or barrier.c")]
    tests = grade(given.files) if given.files else nothing
    if given.o:
        with open(given.o, "w", encoding="utf-8") as file:
            json.dump({"output": as_text(tests), "visibility": "visible", "tests": tests}, file, indent=1)
    print(as_text(tests))
    return None


if __name__ == "__main__":
    main()
