#!/bin/sh
# Proves that the labs' autograder grades: the instructor's own answers have all points that a key can give, an empty
# file none; an answer that was thought but is not what the key looks for has half; guesses and runs count where they
# are what the lab's text has; what is no file of answers is said and crashes nothing; JSON for Gradescope and plain
# text say the same; the commands that count are those that a page runs; the points are those of docs/howto/adopt.md;
# the program of lab 6 has ten points when it is right and two as it is handed out.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
PYTHONDONTWRITEBYTECODE=1
FANOUT_TOP=$(cd "$(dirname "$FANOUT")" && pwd)
export PYTHONDONTWRITEBYTECODE FANOUT_TOP
labs=$TOP_SRCDIR/docs/labs

cat >try.py <<'END'
import importlib.util, json, os, re, subprocess, sys
labs = sys.argv[1]
spec = importlib.util.spec_from_file_location("grade", labs + "/instructor/grade.py")
grade = importlib.util.module_from_spec(spec)
spec.loader.exec_module(grade)
key, faults = grade.keys(), []


def expect(what, got, wanted):
    if got != wanted:
        faults.append(f"{what}: {got!r}, not {wanted!r}")


# What the instructor's page answers, question by question.
answers = {}
for part in re.split(r"^## Lab ", grade.read(labs + "/instructor.md"), flags=re.M)[1:]:
    for n, text in re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |^\n?[^\s\d]|\Z)", part, flags=re.M | re.S):
        answers[f"{part[0]}.{n}"] = " ".join(text.split())
points = []
for number in "12345678":
    lab = grade.Lab(number)
    expect(f"lab {number}: questions without a key", [q for q in lab.questions if q not in key], [])
    whole = {"lab": lab.title, "guesses": ["x"] * lab.guesses, "answers": {q: answers[q] for q in lab.questions},
             "runs": [{"command": c, "output": o + "\n"} for c, o in lab.commands.items()]}
    with open("whole.json", "w") as file:
        json.dump(whole, file)
    tests = grade.grade(["whole.json"])
    most = lab.guesses + len(lab.commands) + 2 * len(lab.questions)
    expect(f"lab {number}: the instructor's own", [t["name"] for t in tests if t["score"] < t["max_score"]], [])
    expect(f"lab {number}: points", (sum(t["score"] for t in tests), sum(t["max_score"] for t in tests)), (most, most))
    points.append(most)
    with open("empty.json", "w") as file:
        json.dump({"lab": lab.title, "guesses": [""] * lab.guesses, "answers": {}, "runs": []}, file)
    expect(f"lab {number}: nothing done", sum(t["score"] for t in grade.grade(["empty.json"])), 0)
row = "| points | " + " | ".join(map(str, points)) + " |"
expect("docs/howto/adopt.md has the points", row in grade.read(os.path.dirname(labs) + "/howto/adopt.md"), True)

# By hand: 1.4 is right, 1.5 is thought about, 1.6 is a word, 1.8 is wrong; a run that was changed does not count.
with open("some.json", "w") as file:
    json.dump({"lab": "Lab 1: a packet's way", "guesses": ["5", " "], "answers": {
        "1.4": "3,600 ns for four flights", "1.5": "because wires are not all", "1.6": "dunno", "1.8": "0.79 ns"},
        "runs": [{"command": "fanout walk load -s teach-4gpu --set link.rate_MBps=32000 | tail -1", "output": "load took 810.0 ns\n"},
                 {"command": "fanout walk load -s dgx-h100 | tail -1", "output": "load took 1 ns\n"},
                 {"command": "fanout walk load -s no-such", "output": "what it is\n"}]}, file)
got = {t["name"]: t["score"] for t in grade.grade(["some.json"])}
expect("some.json", [got[n] for n in ("Lab 1: guesses", "Lab 1: commands", "Question 1.1", "Question 1.4", "Question 1.5",
                                      "Question 1.6", "Question 1.8")], [1, 1, 0, 2, 1, 0, 1])
# Numbers: 5,112 is one, gpu3 is none, "four" is 4, half of a hundredth may be missing.
expect("numbers", [bool(grade.missing(t, [["5112"]])) for t in ("5,112", "gpu5112", "5,130", "5,200")], [False, True, False, True])
expect("words", grade.missing("Four flights", [["4"], ["flight", "wire"], ["order"]]), ["order"])

# As text, and what is no file of answers.
with open("some.txt", "w") as file:
    file.write("My answers\n1.4 four flights,\nas 3600 says\nQuestion 1.5: 10 ns\n")
expect("some.txt", [(t["name"], t["score"]) for t in grade.grade(["some.txt"]) if t["score"]],
       [("Question 1.4", 2), ("Question 1.5", 2)])
for name, text in (("bad.json", "{"), ("list.json", "[1]"), ("lab.json", '{"lab": "Lab 9"}'), ("none.txt", "hello"),
                   ("runs.json", '{"lab": "Lab 1", "runs": [1]}')):
    with open(name, "w") as file:
        file.write(text)
    tests = grade.grade([name])
    expect(name, (len(tests), tests[0]["score"], name in tests[0]["output"]), (1, 0, True))
expect("no file", grade.grade(["not-there.json"])[0]["score"], 0)

# The command: text on standard output, Gradescope's JSON beside it.
ran = subprocess.run([sys.executable, labs + "/instructor/grade.py", "-o", "results.json", "some.json"], capture_output=True,
                     text=True)
results = json.load(open("results.json"))
score, most = sum(t["score"] for t in results["tests"]), sum(t["max_score"] for t in results["tests"])
expect("exit", (ran.returncode, ran.stderr), (0, ""))
expect("the last line", ran.stdout.splitlines()[-1].split(), [str(score), "of", str(most), "all", "together"])
expect("fields", {tuple(sorted(t)) for t in results["tests"]}, {("max_score", "name", "output", "score")})
print("\n".join(faults))
sys.exit(1 if faults else 0)
END
python3 try.py "$labs" >out 2>&1 || complain "$(cat out)"

# The commands that count are those that a page runs.
if command -v node >/dev/null; then
    cat >known.js <<'END'
const { shellKnows } = require(process.argv[2]), { execFileSync } = require('child_process');
const words = execFileSync('python3', ['-c', `
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("grade", sys.argv[1]); g = importlib.util.module_from_spec(spec); spec.loader.exec_module(g)
import re
print(json.dumps([[c, g.in_page(c)] for n in "12345678" for b in re.findall(r"^\`\`\`console\\n(.*?)^\`\`\`", g.Lab(n).text, re.M | re.S)
                  for c, o in g.console(b)]))`, process.argv[3]]);
const all = JSON.parse(words);
for (const [command, counts] of all) if (shellKnows(command) !== counts) console.log('differs: ' + command);
if (all.length < 50) console.log('only ' + all.length);
END
    node known.js "$TOP_SRCDIR/web/page/shell.js" "$labs/instructor/grade.py" >out 2>&1 || complain "$(cat out)"
    [ ! -s out ] || complain "$(cat out)"
fi

# The zip for Gradescope has the archive and two scripts that may run.
echo archive >fanout-0.tar.xz
python3 "$labs/instructor/grade.py" --pack fanout-0.tar.xz autograder.zip
python3 -c '
import zipfile
z = zipfile.ZipFile("autograder.zip")
modes = {i.filename: i.external_attr >> 16 & 0o111 for i in z.infolist()}
assert set(modes) == {"fanout-0.tar.xz", "setup.sh", "run_autograder"}, modes
assert modes["setup.sh"] and modes["run_autograder"], modes
assert "fanout-0.tar.xz" in z.read("setup.sh").decode()' || complain "the zip"

# The program: the instructor's has ten points, the one that is handed out two, one that does not build none.
case ${SANITIZE:-no} in
no | '')
    last() { FANOUT=$FANOUT python3 "$labs/instructor/grade.py" "$1" | tail -n 1 | tr -s ' '; }
    [ "$(last "$labs/instructor/barrier.c")" = " 10 of 10 all together" ] || complain "instructor/barrier.c: $(last "$labs/instructor/barrier.c")"
    [ "$(last "$labs/barrier.c")" = " 2 of 10 all together" ] || complain "barrier.c: $(last "$labs/barrier.c")"
    sed 's/FO_RELEASE, .scope/FO_RELAXED, .scope/' "$labs/instructor/barrier.c" >relaxed.c
    [ "$(last relaxed.c)" = " 6 of 10 all together" ] || complain "a relaxed add: $(last relaxed.c)"
    echo 'int main(void) {' >broken.c
    [ "$(last broken.c)" = " 0 of 10 all together" ] || complain "broken.c: $(last broken.c)"
    ;;
esac
finish
