"""A system, and what the command does with it."""

import os
import tempfile
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from fanout import command
from fanout.errors import FanoutUsage
from fanout.rows import Page, table

Names = Union[str, Sequence[str]]
Sizes = Union[str, int, Sequence[Union[str, int]]]
Progress = Union[bool, Callable[[int, int, str], None]]


def systems() -> Any:
    """The presets."""
    return _first_table(command.report(["systems"]))


def version() -> str:
    """Of the command."""
    return command.text(["--version"]).split()[-1]


def _first_table(report: Dict[str, Any], name: Optional[str] = None) -> Any:
    if name is None:
        name = next((key for key, value in report.items() if isinstance(value, list) and key not in ("answer", "notes")), None)
    rows = report.get(name or "", [])
    if name and name not in report:
        tables = ", ".join(key for key, value in report.items() if isinstance(value, list))
        raise FanoutUsage(f"the report has no table {name}; it has {tables}")
    rows = [rows] if isinstance(rows, dict) else rows
    keys = dict.fromkeys(key for row in rows for key in row)
    return table(rows, {key: command.units_of(key) for key in keys}, report)


class System:
    """A preset by name, or the path of an INI file; `set` has parameters: {"link.rate_MBps": 11775}. Nothing runs yet."""

    def __init__(self, name: str = "dgx-h100", *, set: Union[Dict[str, Any], Sequence[str], None] = None,
                 config: Optional[str] = None, seed: Optional[int] = None) -> None:
        self.name = name
        self.options: Dict[str, Any] = {"system": name, "set": set, "config": config, "seed": seed}

    def __repr__(self) -> str:
        return f"fanout.System({self.name!r})"

    def report(self, verb: str, *arguments: str, **options: Any) -> Dict[str, Any]:
        """Any verb's report. Options are the command's, with _ for -: `where=True`, `ctas=4`, `set=[...]`."""
        return command.report(self._words(verb, arguments, options))

    def _words(self, verb: str, arguments: Sequence[str], options: Dict[str, Any]) -> List[str]:
        for one in arguments:
            if str(one).startswith("-"):
                raise FanoutUsage(f"{one}: options are named arguments, as gpus=4")
        merged = {**self.options, **options}
        if self.options["set"] and options.get("set"):
            merged["set"] = command._each(self.options["set"]) + command._each(options["set"])
        return [verb] + [os.fspath(one) for one in arguments] + command.words(merged)

    def parameters(self) -> Any:
        """Every parameter with value, unit, meaning and source."""
        changed = {key: value for key, value in self.options.items() if key != "system"}
        return _first_table(command.report(["systems", self.name] + command.words(changed)), "parameters")

    def coll(self, op: str, size: Sizes = "1M", *, algo: Optional[Names] = None, gpus: Optional[int] = None,
             progress: Progress = False, **options: Any) -> Any:
        """A collective at one size or several: a row for each and each algorithm."""
        sizes = [size] if isinstance(size, (str, int)) else list(size)
        if isinstance(algo, (list, tuple)) and len(algo) > 1:
            options.setdefault("no_compare", True)
        reports = []
        for i, one in enumerate(sizes):
            _tell(progress, i, len(sizes), f"{op} {one}")
            reports.append(self.report("coll", op, bytes=one, algo=algo, gpus=gpus, **options))
        _tell(progress, len(sizes), len(sizes), op)
        whole = dict(reports[0]) if reports else {}
        whole["rows"] = [row for report in reports for row in report["rows"]]
        return _first_table(whole, "rows")

    def walk(self, op: str, **options: Any) -> Any:
        """One packet's path, step by step."""
        return _first_table(self.report("walk", op, **options), "steps")

    def bench(self, test: str, *, table: Optional[str] = None, **options: Any) -> Any:
        return _first_table(self.report("bench", test, **options), table)

    def replay(self, *traces: str, table: Optional[str] = None, **options: Any) -> Any:
        """A trace; `table` names another table of the report than the first."""
        return _first_table(self.report("replay", *traces, **options), table)

    def table(self, **options: Any) -> Any:
        """A planner's latency table: ops=["all_reduce"], gpus=[2, 4], sizes=["4K", "64K"]."""
        return _first_table(self.report("table", **options))

    def planner_table(self, path: str, **options: Any) -> int:
        """A latency table as AIConfigurator's files have it, as Parquet (nccl_perf.parquet; with program="vllm",
        "sglang" or "trtllm" custom_allreduce_perf.parquet). How many rows it has. Needs pyarrow."""
        import csv
        import pyarrow
        import pyarrow.parquet
        text = command.text(self._words("table", (), {**options, "format": "csv"}))
        rows = [{key: _value(value) for key, value in row.items()} for row in csv.DictReader(text.splitlines())]
        words = ("framework", "version", "device", "op_name", "kernel_source", "nccl_dtype", "allreduce_dtype", "backend")
        for row in rows:
            row.update({key: str(row[key]) for key in words if key in row})
            row["latency"] = float(row["latency"])
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
        return len(rows)

    def advise(self, op: str, *, table: Optional[str] = None, **options: Any) -> Any:
        return _first_table(self.report("advise", op, **options), table)

    def sweep(self, spec: str, *, out: Optional[str] = None, **options: Any) -> Any:
        """A design-space sweep: all its points, with their values and results. The SPEC names its systems."""
        with tempfile.TemporaryDirectory() as folder:
            points = os.path.join(folder, "points.csv")
            database = out or os.path.join(folder, "sweep.db")
            command.text(["sweep", os.fspath(spec)] + command.words({"out": database, "csv": points, **options}))
            return _read_csv(points)

    def page(self, verb: str, *arguments: str, height: int = 600, **options: Any) -> Page:
        """A verb's page, shown inline: `System("teach-4gpu").page("walk", "multimem.st")`."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            command.text(self._words(verb, arguments, {**options, "html": path}))
            with open(path, encoding="utf-8") as page:
                return Page(page.read(), height)


def _tell(progress: Progress, done: int, of: int, what: str) -> None:
    if callable(progress):
        progress(done, of, what)
    elif progress:
        print(f"\r{done} of {of}: {what}\033[K", end="\n" if done == of else "", flush=True)


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text if text else None


def _read_csv(path: str) -> Any:
    import csv
    with open(path, encoding="utf-8", newline="") as lines:
        rows = [{key: _value(value) for key, value in row.items()} for row in csv.DictReader(lines)]
    keys = dict.fromkeys(key for row in rows for key in row)
    return table(rows, {key: command.units_of(key) for key in keys}, {})
