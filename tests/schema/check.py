"""check.py SCHEMAS REPORTS: each REPORTS/NAME.N.json against SCHEMAS/NAME.json. With the module jsonschema it judges, too;
without it what follows knows the few words that these schemas use, and refuses others."""

import json
import os
import sys

KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "number": (int, float),
         "integer": int}
KNOWN = {"$schema", "title", "type", "properties", "required", "items", "const", "unit", "description"}


def wrong(schema, value, where):
    """What is wrong with it, or None."""
    if set(schema) - KNOWN:
        return f"{where}: this check does not know {sorted(set(schema) - KNOWN)}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    fits = [kind for kind in kinds if isinstance(value, KINDS[kind]) and not (isinstance(value, bool) and kind != "boolean")]
    if kinds and not fits:
        return f"{where}: {value!r} is none of {kinds}"
    if "const" in schema and value != schema["const"]:
        return f"{where}: {value!r} is not {schema['const']!r}"
    missing = [key for key in schema.get("required", []) if isinstance(value, dict) and key not in value]
    if missing:
        return f"{where}: has no {missing}"
    if isinstance(value, dict):
        parts = [(schema["properties"][key], one, f"{where}.{key}") for key, one in value.items()
                 if key in schema.get("properties", {})]
    else:
        parts = [(schema["items"], one, f"{where}[{i}]") for i, one in enumerate(value)] \
            if isinstance(value, list) and "items" in schema else []
    return next((said for said in (wrong(*part) for part in parts) if said), None)


def main():
    schemas, reports = sys.argv[1:]
    try:
        import jsonschema
    except ImportError:
        jsonschema = None
    bad, seen = 0, 0
    for name in sorted(os.listdir(reports)):
        with open(os.path.join(schemas, name.split(".")[0] + ".json"), encoding="utf-8") as text:
            schema = json.load(text)
        with open(os.path.join(reports, name), encoding="utf-8") as text:
            report = json.load(text)
        said = wrong(schema, report, name)
        broken = {**report, "schema": "fanout/2"}
        table = next((key for key, value in report.items() if isinstance(value, list) and value and
                      isinstance(value[0], dict)), None)
        without = {**report, table: [{}]} if table else broken
        if jsonschema and not said:
            jsonschema.Draft202012Validator.check_schema(schema)
            jsonschema.validate(report, schema)
        if not said and (wrong(schema, broken, name) is None or wrong(schema, without, name) is None):
            said = f"{name}: what is wrong passes, too"
        if said:
            print(said)
            bad = 1
        seen += 1
    print(f"{seen} reports{'' if jsonschema else ' (jsonschema is not here; python3-jsonschema brings a second opinion)'}")
    sys.exit(bad or not seen)


if __name__ == "__main__":
    main()
