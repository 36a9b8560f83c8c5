"""Every verb with every option that names an output: the file is written, valid and not empty, or the option is refused
by name with a reason. The verbs and options are those that `fanout --list-reference` has: one that this table does not
know is a failure, so that none can be added without a line here. Run by test_cli_views.sh, which makes the inputs."""
import csv, html.parser, io, json, os, re, subprocess, sys

FANOUT = os.environ["FANOUT"]
EXAMPLES = os.path.join(os.path.dirname(FANOUT), "examples")
failures = 0

# A command of each verb that is quick to run; what is asked for goes behind it, and in front of a "--".
COMMANDS = {
    "systems": "systems teach-4gpu",
    "coll": "coll all_reduce -s teach-4gpu -a nvls -b 4K",
    "table": "table -s teach-4gpu --ops all_reduce --gpus 4 --sizes 4K",
    "advise": "advise all_reduce -s teach-4gpu -b 4K",
    "bench": "bench multicast_latency -s teach-4gpu",
    "walk": "walk multimem.st -s teach-4gpu",
    "validate": "validate two.csv one.csv",
    "exec": f"exec -s teach-4gpu -- {EXAMPLES}/multicast_store",
    "fabric": "fabric status",
    "replay": "replay one.trace -s teach-4gpu",
    "convert": "convert one.trace out.trace",
    "sweep": "sweep spec.ini",
    "plot": "plot swept.db",
    "compare": "compare a.json b.json",
    "ptx": "ptx kernel.ptx",
    "doctor": "doctor",
}
# Of what else names a file: the files to write with it, each told by its ending; None: it is read, or must exist.
FILES = {
    ("coll", "record"): ["ran.trace", "ran.goal", "ran.et"],
    ("validate", "resume"): ["resumed.rows"],
    ("validate", "errors"): ["off.csv"],
    ("table", "resume"): ["resumed.rows"],
    ("table", "errors"): None,
    ("table", "measured"): None,
    ("exec", "report"): ["r.txt", "r.json", "r.csv", "r.html", "-"],
    ("exec", "library"): None,
    ("exec", "report-ranks"): None,
    ("sweep", "out"): ["other.db"],
    ("sweep", "csv"): ["points.csv"],
    ("plot", "out"): ["p.svg", "p.png", "p.html"],
    ("bench", "record"): None,
    ("validate", "record"): None,
    ("replay", "groups"): None,
    ("convert", "groups"): None,
    ("*", "config"): None,
}
# Files that an argument names.
ARGUMENTS = [("convert one.trace {}", ["c.trace", "c.goal", "c.et", "-"])]
VIEWS = {"html": "view.html", "perfetto": "view.perfetto", "vcd": "view.vcd", "stats": "view.csv"}
WRITES = {"html": "has no report", "perfetto": "writes no timeline", "vcd": "writes no waveforms", "format": "has no report",
          "stats": "has no statistics in time"}


def complain(text):
    global failures
    failures += 1
    print(text)


def run(command, *more):
    words, behind = command.split(), []
    if "--" in words:
        words, behind = words[:words.index("--")], words[words.index("--"):]
    return subprocess.run([FANOUT, *words, *more, *behind], capture_output=True, timeout=300)


def need(condition, what):
    if not condition:
        raise AssertionError(what)


# ---- what is valid

class Page(html.parser.HTMLParser):
    EMPTY = {"meta", "link", "br", "hr", "img", "input", "wbr", "col"}

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href"):
                need(not re.match(r"\s*(https?:)?//", value or ""), f"it fetches {value}")
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        need(self.open and self.open[-1] == tag, f"</{tag}> closes <{self.open[-1] if self.open else ''}>")
        self.open.pop()


def valid_html(data):
    text = data.decode()
    need(text.startswith("<!DOCTYPE html>"), "no <!DOCTYPE html>")
    page = Page()
    page.feed(text)
    page.close()
    need(not page.open, f"left open: {page.open}")
    for tag in ("html", "head", "title", "style", "body", "main", "h1"):
        need(tag in page.seen, f"no <{tag}>")
    need("table" in page.seen or "svg" in page.seen, "neither a table nor a picture")


def valid_perfetto(data):
    tracks, named, slices = {}, set(), 0
    for event in json.loads(data)["traceEvents"]:
        phase = event["ph"]
        if phase == "M":
            named.add((event["pid"], event["tid"] if event["name"] == "thread_name" else 0))
            need(event["args"]["name"], "a name without letters")
        elif phase == "X":
            slices += 1
            need(event["name"] and event["dur"] >= 0, f"a slice {event}")
            need((event["pid"], event["tid"]) in named, f"a slice on a track without a name: {event}")
            tracks.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["dur"]))
        else:
            need(phase in "isftCbe", f"an event of an unknown kind {phase}")
    need(slices, "no slice")
    arrows = {}
    for event in json.loads(data)["traceEvents"]:
        if event["ph"] in "sf":
            ends = arrows.setdefault(event["id"], {})
            need(event["ph"] not in ends, f"an arrow with two ends of one kind: {event}")
            ends[event["ph"]] = event["ts"]
            on = tracks.get((event["pid"], event["tid"]), [])
            need(any(abs(start - event["ts"]) < 1e-7 for start, _ in on), f"an arrow's end without a slice: {event}")
    for number, ends in arrows.items():
        need(set(ends) == {"s", "f"} and ends["f"] >= ends["s"], f"arrow {number}: {ends}")
    for track, all_of in tracks.items():  # they follow or enclose each other, or viewers drop them
        stack = []
        for start, length in sorted(all_of, key=lambda s: (s[0], -s[1])):
            while stack and stack[-1] <= start + 1e-7:
                stack.pop()
            need(not stack or start + length <= stack[-1] + 1e-7, f"slices of track {track} cross at {start}")
            stack.append(start + length)


def valid_vcd(data):
    head, *rest = re.split(r"\$enddefinitions\s+\$end", data.decode())
    need(len(rest) == 1, "no $enddefinitions")
    body = rest[0]
    need(re.search(r"\$timescale\s+1 ps\s+\$end", head), "no $timescale of 1 ps")
    need(head.count("$scope") == head.count("$upscope"), "$scope and $upscope are no pairs")
    width = {}
    for bits, code in re.findall(r"\$var\s+\w+\s+(\d+)\s+(\S+)\s", head):
        width[code] = int(bits)
    need(width, "no signal")
    at, changed, first = -1, {}, {}
    for line in body.split("\n"):
        if line.startswith("#"):
            need(int(line[1:]) > at, f"time goes from {at} to {line}")
            at = int(line[1:])
        elif line[:1] in "01xzb" and line:
            value, code = line[1:].split() if line[0] == "b" else (line[0], line[1:])
            need(code in width, f"a value of the unknown signal {code}")
            need(len(value) <= width[code] and not set(value) - set("01xz"), f"a wrong value {line}")
            need(line[0] == "b" or width[code] == 1, f"one bit of many: {line}")
            first.setdefault(code, value)
            changed[code] = changed.get(code, 0) + (first[code] != value)
        else:
            need(line in ("", "$dumpvars", "$end", "$comment") or not line.startswith("$"), f"what is {line}?")
    need(set(first) == set(width), "signals without a first value")
    need(at > 0 and any(changed.values()), "nothing ever changes")


def valid_gtkw(data):
    """GTKWave's save file beside a waveform: of its signals, only such as the waveform has and that change."""
    lines = data.decode().split("\n")
    wave = open(re.search(r'\[dumpfile\] "(.*)"', data.decode())[1]).read()
    head, _, body = wave.partition("$enddefinitions")
    scope, code = [], {}
    for words in (line.split() for line in head.split("\n")):
        if words[:1] == ["$scope"]:
            scope.append(words[2])
        elif words[:1] == ["$upscope"]:
            scope.pop()
        elif words[:1] == ["$var"]:
            code[".".join(scope + [words[4] + (words[5] if words[5] != "$end" else "")])] = words[3]
    shown = [line for line in lines if line and line[0] not in "[*@-"]
    need(shown, "no signal")
    for signal in shown:
        need(signal in code, f"the waveform has no {signal}")
        own = re.escape(code[signal])
        values = re.findall(rf"^b([01]+) {own}$|^([01]){own}$", body, re.M)
        need(len({"".join(v) for v in values}) > 1, f"{signal} does not change")


def valid_json(data):
    d = json.loads(data)
    need(d["schema"] == "fanout/1" and d["report"] and any(isinstance(v, (list, dict)) for v in d.values()), "no report")


def valid_csv(data):
    rows = list(csv.reader(io.StringIO(data.decode())))
    need(len(rows) > 1, "no row below the heads")
    need(len({len(r) for r in rows}) == 1, f"rows of {sorted({len(r) for r in rows})} fields")
    need(all(rows[0]) and len(set(rows[0])) == len(rows[0]), f"heads without a name or twice: {rows[0]}")


def valid_goal(data):
    need(re.search(rb"num_ranks \d+", data) and data.count(b"{") == data.count(b"}") > 0, "no GOAL")


def valid_svg(data):
    import xml.etree.ElementTree as tree
    need(tree.fromstring(data).tag.endswith("svg"), "no <svg>")


VALID = {
    "html": valid_html, "perfetto": valid_perfetto, "vcd": valid_vcd, "json": valid_json, "csv": valid_csv,
    "goal": valid_goal, "svg": valid_svg, "gtkw": valid_gtkw,
    "png": lambda d: need(d.startswith(b"\x89PNG"), "no PNG"),
    "db": lambda d: need(d.startswith(b"SQLite format 3\0"), "no database"),
    "et": lambda d: need(len(d) > 100, "no trace"),
    "trace": lambda d: need(d.decode().strip(), "no lines"),
    "txt": lambda d: need(d.decode().strip(), "no lines"),
    "rows": lambda d: need(d.decode().strip(), "no lines"),
}


# What each checker must refuse: a checker that takes everything would prove nothing.
SLICE = '{"ph":"X","name":"a","pid":1,"tid":1,"ts":%d,"dur":%d}'
TRACK = '{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"t"}}'
HEAD = "$timescale 1 ps $end $scope module a $end $var wire 8 ! x $end $upscope $end $enddefinitions $end\n"
WRONG = {
    "html": ["<!DOCTYPE html><html><p></html>", "<!DOCTYPE html><html></html>", ""],
    "perfetto": ['{"traceEvents":[]}', '{"traceEvents":[%s]}' % (SLICE % (1, 1)), "{",
                 '{"traceEvents":[%s,%s,%s]}' % (TRACK, SLICE % (1, 5), SLICE % (3, 5))],
    "vcd": [HEAD + "#0\nb0 !\n#1\n", HEAD + "#5\nb0 !\n#4\nb1 !\n", HEAD + "#0\nb0 ?\n#2\n", HEAD],
    "json": ["{}", '{"schema":"fanout/1","report":"x"}', "[1"],
    "csv": ["a,b\n1\n", "a,b\n", "a,a\n1,2\n", "a,\n1,2\n"],
    "svg": ["<svg", "<g/>"], "png": ["x"], "db": ["x"], "et": ["x"], "trace": [" \n"], "goal": ["num_ranks 2"],
}


def check_checkers():
    for ending, texts in WRONG.items():
        for text in texts:
            try:
                VALID[ending](text.encode())
            except Exception:
                continue
            complain(f"the checker of .{ending} takes {text!r}")


def without_sanitizer(said):
    """What a program with its own stacks makes the address sanitizer say first is no report."""
    return b"".join(line for line in said.splitlines(True) if b"ASan doesn't fully support makecontext" not in line)


def check(what, path, data):
    try:
        need(data, "it is empty")
        VALID[path.rpartition(".")[2]](data)
    except Exception as error:  # whatever a reader says of it
        complain(f"{what}: {path}: {type(error).__name__}: {error}")


def written(path):
    """The bytes of a file that was asked for, or of one for each rank."""
    if path.endswith(".et"):
        stem = path[:-3]
        return b"".join(open(f, "rb").read() for f in sorted(os.listdir(".")) if re.fullmatch(stem + r"(\.\d+)?\.et", f))
    return open(path, "rb").read() if os.path.exists(path) else b""


def forget(path):
    for f in os.listdir("."):
        if f == path or (path.endswith(".et") and f.startswith(path[:-3])):
            os.remove(f)


def check_file(what, command, option, path):
    if path == "-":
        done = run(command, *option, "-")
        if done.returncode != 0 or not done.stdout.strip():
            complain(f"{what} -: exit {done.returncode}, {len(done.stdout)} bytes: {done.stderr.decode()}")
        return
    forget(path)
    done = run(command, *option, path)
    if done.returncode != 0:
        complain(f"{what} {path}: exit {done.returncode}: {done.stderr.decode()}")
    check(what, path, written(path))


def check_refused(what, option, verb, done, path=None):
    pattern = rf"fanout {verb}: --{option}: {verb} {WRITES[option]}: (\S+ ){{2,}}\S+"
    if done.returncode != 1 or not re.fullmatch(pattern, done.stderr.decode().strip()):
        complain(f"{what}: exit {done.returncode}, not refused with a reason: {done.stderr.decode()}")
    if done.stdout or (path and os.path.exists(path)):
        complain(f"{what}: refused, but something was written")


def check_verb(verb):
    name = verb["name"]
    command = COMMANDS[name]
    for view, path in VIEWS.items():
        forget(path)
        forget("view.gtkw")
        if verb[view]:
            check_file(f"{name} --{view}", command, [f"--{view}"], path)
            if view == "vcd":
                check(f"{name} --vcd", "view.gtkw", written("view.gtkw"))
        else:
            check_refused(f"{name} --{view}", view, name, run(command, f"--{view}", path), path)
    for form in ("json", "csv"):
        done = run(command, "--format", form)
        if not verb["format"]:
            check_refused(f"{name} --format {form}", "format", name, done)
        elif done.returncode != 0:
            complain(f"{name} --format {form}: exit {done.returncode}: {done.stderr.decode()}")
        else:  # exec's report goes to standard error, its program's words to standard output
            check(f"{name} --format", "x." + form, without_sanitizer(done.stderr) if name == "exec" else done.stdout)
    for option in verb["options"]:
        if option["takes"] != "file" or option["name"] in VIEWS:
            continue
        key = (name if option["own"] else "*", option["name"])
        if key not in FILES:
            complain(f"{name} --{option['name']} names a file; is it written? FILES of tests/cli/views.py should say")
        for path in FILES.get(key) or []:
            check_file(f"{name} --{option['name']}", command, [f"--{option['name']}"], path)


def main():
    check_checkers()
    reference = json.loads(subprocess.run([FANOUT, "--list-reference"], capture_output=True, check=True).stdout)
    for verb in reference["verbs"]:
        if verb["name"] in COMMANDS:
            check_verb(verb)
        else:
            complain(f"{verb['name']}: COMMANDS of tests/cli/views.py has no command of this verb")
    for command, paths in ARGUMENTS:
        for path in paths:
            check_file(command.split()[0], command.replace(" {}", ""), [], path)
    print(failures, "failures")
    sys.exit(failures != 0)


main()
