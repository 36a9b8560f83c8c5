"""The JSON schema of every report, from the reports themselves.

    make.py FANOUT                    writes docs/schema/*.json anew, beside this file
    make.py FANOUT --check FOLDER     only compares, and writes each command's report to FOLDER/NAME.N.json

What a report's tables and fields are, with units and meanings, the command says itself (`--format fields`); the commands
below are small ones that between them have all tables. A schema allows more members than it names, so that a later minor
version may add some; what it names keeps its type and meaning within a minor version."""

import json
import os
import subprocess
import sys
import tempfile

# Their inputs are those of tests/cli/inputs.sh.
COMMANDS = {
    "systems": ["systems teach-4gpu", "systems"],
    "coll": ["coll all_reduce -s teach-4gpu -a nvls,ring -b 4K --where", "coll all_gather -s teach-4gpu -a push -b 4K"],
    "table": ["table -s teach-4gpu --ops all_reduce --gpus 4 --sizes 4K"],
    "advise": ["advise all_reduce -s teach-4gpu -b 4K"],
    "bench": ["bench load_latency -s teach-4gpu --variant remote --where", "bench multicast_latency -s teach-4gpu"],
    "walk": ["walk multimem.st -s teach-4gpu", "walk load -s teach-4gpu --background 0.5"],
    "validate": ["validate two.csv one.csv"],
    "replay": ["replay one.trace -s teach-4gpu --where"],
    "sweep": ["sweep spec.ini"],
    "compare": ["compare a.json b.json"],
    "ptx": ["ptx kernel.ptx"],
    "doctor": ["doctor"],
    "exec": ["exec -s teach-4gpu -- examples/multicast_store"],
}
HERE = os.path.dirname(os.path.abspath(__file__))
LITERALS = {bool: "boolean", int: "integer", float: "number", str: "string"}


def run(fanout, words, form):
    report = "fields" if form == "fields" else "report.json"
    more = ["--format", form] + (["--report", report] if words[0] == "exec" else [])
    # doctor's code says what this machine lacks
    made = subprocess.run([fanout, words[0], *more, *words[1:]], stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if made.returncode and words[0] != "doctor":
        sys.exit(f"fanout {' '.join(words)}: exit code {made.returncode}")
    if words[0] != "exec":
        return json.loads(made.stdout)
    with open(report, encoding="utf-8") as written:
        return json.load(written)


def field(one):
    described = {"type": [one["type"], "null"]}
    if one["unit"]:
        described["unit"] = one["unit"]
    if one["text"]:
        described["description"] = one["text"]
    return described


def add(schema, report, fields):
    """What this report has, beside what others of its kind had."""
    properties = schema["properties"]
    tables = {table["key"]: table for table in fields["tables"]}
    for key, value in report.items():
        if key in tables:
            row = {"type": "object", "properties": {one["key"]: field(one) for one in tables[key]["fields"]},
                   "required": sorted(one["key"] for one in tables[key]["fields"])}
            old = properties.get(key, {})
            old_row = old.get("items", old)
            if old_row.get("properties"):  # a table's columns may depend on what was asked for
                row["required"] = sorted(set(row["required"]) & set(old_row["required"]))
                row["properties"] = {**old_row["properties"], **row["properties"]}
            made = row if isinstance(value, dict) else {"type": "array", "items": row}
            if tables[key]["title"]:
                made["description"] = tables[key]["title"]
            properties[key] = made
        elif key not in properties:
            kind = LITERALS.get(type(value))
            properties[key] = {"type": [kind, "null"]} if kind else {}
    always = set(report)
    schema["required"] = sorted(always & set(schema.get("required", always)))


def schema_of(kind, reports):
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"Fanout's report of {kind}",
              "type": "object",
              "properties": {"schema": {"const": "fanout/1"}, "report": {"const": reports[0][0]["report"]},
                             "version": {"type": "string"},
                             "answer": {"type": "array", "items": {"type": "string"}},
                             "notes": {"type": "array", "items": {"type": "string"}}}}
    for report, fields in reports:
        add(schema, report, fields)
    return schema


def main():
    fanout = os.path.abspath(sys.argv[1])
    check = os.path.abspath(sys.argv[3]) if sys.argv[2:3] == ["--check"] else None
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        inputs = os.path.join(HERE, "..", "..", "tests", "cli", "inputs.sh")
        subprocess.run(["sh", "-c", f'. "{inputs}"'], env={**os.environ, "FANOUT": fanout}, check=True,
                       stdout=subprocess.DEVNULL)
        for kind, commands in COMMANDS.items():
            reports = []
            for number, words in enumerate(commands):
                words = words.split()
                reports.append((run(fanout, words, "json"), run(fanout, words, "fields")))
                if check:
                    with open(os.path.join(check, f"{kind}.{number}.json"), "w", encoding="utf-8") as out:
                        json.dump(reports[-1][0], out)
            text = json.dumps(schema_of(kind, reports), indent=1, ensure_ascii=False) + "\n"
            path = os.path.join(HERE, kind + ".json")
            if not check:
                with open(path, "w", encoding="utf-8") as out:
                    out.write(text)
            elif not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
                print(f"docs/schema/{kind}.json is not what the command says: run docs/schema/make.py, read the difference")
                differ = 1
    sys.exit(differ)


if __name__ == "__main__":
    main()
