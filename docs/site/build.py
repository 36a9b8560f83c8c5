"""Prepares the sources of the site: build.py FANOUT TOP OUT. Copies the project's pages as they lie, and writes the
reference from the tables of the command: verbs and options, parameters, statistics (`fanout --list-reference`), the
fields of reports (`--format fields` of every example) and the public headers. What has no description is an error."""
import json, os, re, shlex, shutil, subprocess, sys, tempfile

fanout, top, out = (os.path.abspath(a) for a in sys.argv[1:4])
PAGES = ["README.md", "CONTRIBUTING.md", "examples/README.md", "validate/reference/README.md"]
HEADERS = ["fanout/device.h", "fanout/fanout.h", "fanout/cuda.h", "fanout/cuda_module.h", "fanout/cuda_graph.h", "fanout/cuda_array.h",
           "fanout/cuda_attribute.h", "fanout/cuda_tensor.h", "fanout/cuda_endpoint.h", "fanout/cuda_types.h", "fanout/cuda_result.h", "fanout/cuda_names.h"]
# Facts of reports, which have no table of their own.
FACTS = {
    "schema": "fanout/1: fields are added, none changes its meaning", "report": "the verb that wrote it",
    "version": "of Fanout", "seed": "of all random streams", "system": "its name, or the file of -s",
    "title": "the system in words", "fidelity": "what --fidelity was", "config": "the file of --config",
    "set": "what --set and --fault changed", "answer": "what was found out, sentences for people", "notes": "lines for people", "incomplete": "true: it was interrupted",
    "op": "the operation that was followed", "verified": "whether all bytes are right; null: nothing was compared",
    "a": "the first of two", "b": "the second of two", "model": "the GPU's name", "database": "the file",
    "spec": "the sweep's file", "points": "rows of the database", "not_done": "points that failed or did not run",
    "compared": "values that both reports have", "equal": "how many of them are the same", "kind": "of the picture",
    "x": "the column that is across", "y": "the column that is up", "z": "the column that colours stand for",
    "by": "columns that have a line for each value", "files": "that were written", "ptx_version": "of the file",
    "target": "of the file: sm_90", "functions": "in the file", "functions_that_run": "how many of them Fanout runs",
    "global_bytes": "of variables of the module", "const_bytes": "of constants of the module",
    "runs": "of which a row is the median", "core": "whether simulations work here",
    "total_us": "simulated time of the whole replay", "simulated": "communications that were simulated",
    "remembered": "communications that were like one before", "simulated_us": "simulated time of the whole program",
    "stuck": "true: nothing could go on", "unfinished_work": "pieces of work of streams that did not end",
    "device_faults": "accesses that were wrong", "diagnostics_count": "calls that were wrong or undefined",
    "driver_version": "what cuDriverGetVersion answers", "gpus": "of the simulated machine",
    "program": "who calls: its algorithm is taken, or compared with", "timing": "calls one by one, or in a CUDA graph",
    "type": "of the elements", "ended_by": "how the program ended", "command": "that makes this report again",
}


def cell(text):
    return str("" if text is None else text).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def table(heads, rows):
    return "".join("| " + " | ".join(cell(c) for c in row) + " |\n"
                   for row in [heads, ["---"] * len(heads), *rows]) + "\n"


def write(path, text):
    path = os.path.join(out, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


# ---- pages as they lie; a link to a source file becomes its name, since sources are not part of the site

def copy_pages():
    for folder, _, names in os.walk(os.path.join(top, "docs")):
        PAGES.extend(os.path.relpath(os.path.join(folder, n), top) for n in names if n.endswith(".md"))
        for name in names:
            if not name.endswith((".md", ".py", ".pyc")):
                path = os.path.relpath(os.path.join(folder, name), top)
                os.makedirs(os.path.dirname(os.path.join(out, path)), exist_ok=True)
                shutil.copyfile(os.path.join(top, path), os.path.join(out, path))
    for page in PAGES:
        if page == "docs/site/index.md":
            continue
        text = open(os.path.join(top, page)).read()
        text = re.sub(r"^<!--.*?-->\n", "", text, flags=re.M | re.S)

        def link(match):
            target = match[2].split("#")[0]
            path = os.path.normpath(os.path.join(os.path.dirname(page), target))
            if not target or "://" in target or path in PAGES or target.endswith((".svg", ".png")):
                return match[0]
            if not os.path.exists(os.path.join(top, path)):
                sys.exit(f"{page}: there is no {target}")
            return match[1] if match[1].startswith("`") else f"`{path}`" if match[1] == target else match[1]
        write(page, re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", link, text))
    index = open(os.path.join(top, "docs/site/index.md")).read()
    rest = sorted(p[:-3] for p in PAGES if re.fullmatch(r"docs/[\w-]+\.md", p) and f"\n{p[:-3]}\n" not in index)
    write("index.md", index.replace("docs/*\n", "".join(p + "\n" for p in rest)))
    shutil.copyfile(os.path.join(top, "docs/site/conf.py"), os.path.join(out, "conf.py"))


# ---- the reference

def option_rows(options):
    for o in options:
        name = f"`--{o['name']}{'=' + o['value'] if o['value'] else ''}`"
        yield [(f"`-{o['letter']}`, " if o["letter"] else "") + name, o["text"]]


def verbs(reference):
    listed = []
    for verb in reference["verbs"]:
        views = [f"`--{v}`" for v in ("html", "perfetto", "vcd", "format") if verb[v]]
        text = f"# fanout {verb['name']}\n\n{verb['text'][0].upper() + verb['text'][1:]}.\n\n"
        text += f"    fanout {verb['name']} [OPTION...] {verb['usage']}\n\n"
        text += verb["about"].replace("\n", "\n\n") + "\n\n"
        text += f"Views: {', '.join(views) or 'none'}." + (
            f" The others are refused: {verb['no_views']}." if verb["no_views"] else "")
        text += (" A run can be watched: `--monitor`." if verb["monitor"] else "") + "\n\n## Examples\n\n"
        text += "".join(f"{e['text'][0].upper() + e['text'][1:]}:\n\n    fanout {e['line']}\n\n" for e in verb["examples"])
        own = [o for o in verb["options"] if o["own"]]
        text += "## Options of this verb\n\n" + table(["option", "means"], option_rows(own)) if own else ""
        text += "## Options of every verb\n\n"
        text += table(["option", "means"], option_rows(o for o in verb["options"] if not o["own"]))
        write(f"reference/verbs/{verb['name']}.md", text)
        listed.append(verb["name"])
    rows = [[f"[{v['name']}](verbs/{v['name']}.md)", v["text"]] for v in reference["verbs"]]
    write("reference/verbs.md", "# Verbs\n\nExit codes: 0 done, 1 wrong input, 2 the simulated fabric got stuck or a "
          "result is wrong, 130 interrupted.\n\n" + table(["verb", "does"], rows) +
          ":::{toctree}\n:hidden:\n\n" + "".join(f"verbs/{n}\n" for n in listed) + ":::\n")


def parameters(reference):
    text = "# Parameters\n\nEvery key of a system's file, of `--config` and of `--set section.key=value`; values are those of " \
           "`dgx-h100`. `fanout systems NAME` prints those of another system, each with its source.\n\n"
    sections = {}
    for p in reference["parameters"]:
        sections.setdefault(p["section"], []).append(p)
    for section, keys in sections.items():
        text += f"## [{section}]\n\n" + table(
            ["key", "meaning", "value", "may be", "where the value comes from"],
            [[f"`{p['key']}`", p["text"], f"{p['value']} {p['unit'] or ''}", p["bounds"], p["origin"]] for p in keys])
    write("reference/parameters.md", text)


def statistics(reference):
    text = "# Statistics\n\nWhat units count, by the path of the unit (N is its number). Waveforms (`--vcd`) have counters and " \
           "peaks as signals of these names.\n\n"
    paths = {}
    for s in reference["statistics"]:
        paths.setdefault(s["path"], []).append(s)
    for path, rows in paths.items():
        text += f"## {path}\n\n" + table(["statistic", "kind", "unit", "counts"],
                                       [[f"`{s['name']}`", s["kind"], s["unit"], s["text"]] for s in rows])
    write("reference/statistics.md", text)


def fields(reference):
    """What reports have, by running the examples of every verb."""
    tables, facts = {}, {}
    with tempfile.TemporaryDirectory() as work:
        inputs = f'. "{top}/tests/cli/inputs.sh"'
        env = {**os.environ, "FANOUT": fanout}
        subprocess.run(["sh", "-c", inputs], cwd=work, env=env, check=True, stdout=subprocess.DEVNULL)
        for verb in reference["verbs"]:
            if not verb["format"]:
                continue
            for example in verb["examples"]:
                words = shlex.split(example["line"])
                if words[0] == "plot" and not shutil.which("gnuplot"):
                    continue
                if "--format" in words:
                    at = words.index("--format")
                    del words[at:at + 2]
                words[1:1] = ["--format", "fields"]
                if words[0] == "exec":
                    if "--report" in words:
                        at = words.index("--report")
                        del words[at:at + 2]
                    words[1:1] = ["--report", "fields"]
                done = subprocess.run([fanout, *words], cwd=work, env=env, capture_output=True, text=True)
                if done.returncode:
                    sys.exit(f"fanout {shlex.join(words)}: {done.stderr}")
                described = json.loads(open(work + "/fields").read() if words[0] == "exec" else done.stdout)
                for fact in described["facts"]:
                    facts.setdefault(fact, set()).add(verb["name"])
                for t in described["tables"]:
                    entry = tables.setdefault((verb["name"], t["key"]), {"title": t["title"], "fields": {}})
                    for f in t["fields"]:
                        entry["fields"].setdefault(f["key"], f)
    text = "# Fields of reports\n\nA JSON report is one object: facts, then tables, each a list of objects with these fields. " \
           "CSV has the first table, with the same names. A value that does not exist is null, and empty in CSV.\n\n" \
           "## Facts\n\n"
    unknown = sorted(set(facts) - set(FACTS))
    if unknown:
        sys.exit(f"docs/site/build.py: FACTS says nothing of {', '.join(unknown)}")
    text += table(["fact", "means", "in reports of"], [[f"`{k}`", FACTS[k], ", ".join(sorted(v)) if len(v) < 9 else "every verb"]
                                                       for k, v in sorted(facts.items())])
    for (verb, key), entry in tables.items():
        title = f", {entry['title']}" if entry["title"] else ""
        text += f"## {verb}: {key}{title}\n\n" + table(
            ["field", "unit", "means"], [[f"`{f['key']}`", f["unit"], f["text"]] for f in entry["fields"].values()])
        for f in entry["fields"].values():
            if not f["text"] and verb != "sweep":  # whose columns are those of the user's question
                sys.exit(f"{verb}: the field {key}.{f['key']} has no description")
    write("reference/fields.md", text)


# ---- the public headers: comments as text, what they stand before as code

def header_page(name):
    source = open(os.path.join(top, "api/include", name)).read()
    source = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", source, flags=re.S)
    source = re.sub(r"#ifndef FO_API\n.*?#endif\n", "", source, flags=re.S)
    source = re.sub(r"^#(ifndef|endif|if |else|define \w+_H$).*\n", "", source, flags=re.M)
    text, code = f"# {name}\n\n    #include <{name}>\n\n", []

    def flush():
        nonlocal text
        lines = "\n".join(code).strip("\n")
        code.clear()
        if lines:
            text += "```c\n" + lines + "\n```\n\n"
    block = None
    for line in source.split("\n"):
        if block is None and line.startswith("/*"):
            flush()
            block = []
        if block is None:
            code.append(line.replace("FO_API ", ""))
            if line == "":
                flush()
            continue
        block.append(re.sub(r"^(/\*| \*/?) ?", "", line.rstrip()))
        if line.rstrip().endswith("*/"):
            block[-1] = re.sub(r" ?\*/$", "", block[-1])
            said = "\n".join(block).strip()
            block = None
            if said.startswith("----"):
                head = said.strip("- \n").split("\n")[0].split(":")[0]
                text += f"## {head[0].upper()}{head[1:]}\n\n"
                rest = said.partition(":")[2].strip() + ("\n" + said.partition("\n")[2] if "\n" in said else "")
                text += rest.strip() + "\n\n" if rest.strip() else ""
            else:
                text += "\n".join(line if line.startswith("    ") else
                                  re.sub(r"(?<![`\w])(fo_\w+|cu[A-Z]\w+|Fo[A-Z]\w+)", r"`\1`", line)
                                  for line in said.split("\n")) + "\n\n"
    flush()
    return text


def headers():
    there = [h for h in HEADERS if os.path.exists(os.path.join(top, "api/include", h))]
    missing = set(os.listdir(os.path.join(top, "api/include/fanout"))) - {os.path.basename(h) for h in there}
    if missing:
        sys.exit(f"docs/site/build.py: HEADERS has no {', '.join(sorted(missing))}")
    text = "# Headers\n\nWhat programs are written against, from the comments of the headers themselves.\n\n" \
           ":::{toctree}\n:maxdepth: 1\n\n"
    for name in there:
        page = os.path.basename(name).replace(".", "_")
        write(f"reference/api/{page}.md", header_page(name))
        text += f"api/{page}\n"
    write("reference/api.md", text + ":::\n")


def main():
    shutil.rmtree(out, ignore_errors=True)
    reference = json.loads(subprocess.run([fanout, "--list-reference"], capture_output=True, check=True).stdout)
    copy_pages()
    verbs(reference)
    parameters(reference)
    statistics(reference)
    fields(reference)
    headers()


main()
