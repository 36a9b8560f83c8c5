"""The command in a process of its own: words from Python's values, its JSON, its errors, Ctrl-C."""

import json
import signal
import subprocess
from typing import Any, Dict, List, Tuple

from fanout.errors import FanoutError, FanoutStuck, FanoutUsage
from fanout.places import command_path, environment


def words(options: Dict[str, Any]) -> List[str]:
    """{"set": ["link.rate_MBps=11775"], "ctas": 4, "where": True} as --set link.rate_MBps=11775 --ctas 4 --where. None and
    False: none."""
    out: List[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            out.append(option)
        elif name in ("set", "fault"):
            for one in _each(value):
                out += [option, one]
        elif isinstance(value, (list, tuple)):
            out.append(option + "=" + ",".join(str(one) for one in value))
        else:
            out.append(f"{option}={value}")
    return out


def _each(value: Any) -> List[str]:
    if isinstance(value, dict):
        return [f"{key}={one}" for key, one in value.items()]
    return [value] if isinstance(value, str) else [str(one) for one in value]


def run(arguments: List[str]) -> Tuple[int, str, str]:
    """Exit code, output, errors. Ctrl-C is handed on, and what ends by it raises KeyboardInterrupt."""
    with subprocess.Popen([command_path()] + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment(), encoding="utf-8", errors="replace") as process:
        try:
            out, err = process.communicate()
        except BaseException:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
            raise
    if process.returncode == 130:
        raise KeyboardInterrupt("fanout " + " ".join(arguments[:2]))
    return process.returncode, out, err


def _said(err: str) -> str:
    """Its error without the name in front."""
    lines = [line for line in err.strip().split("\n") if line]
    return "\n".join(lines).replace("fanout: ", "", 1) or "it ended without a word"


def text(arguments: List[str]) -> str:
    """What it prints; an exception where its exit code is not 0."""
    code, out, err = run(arguments)
    if code == 0:
        return out
    if code == 2:
        stuck = FanoutStuck(_said(err), "2")
        try:
            stuck.report = json.loads(out)
        except ValueError:
            pass
        raise stuck
    raise (FanoutUsage if code == 1 else FanoutError)(_said(err), str(code))


def report(arguments: List[str]) -> Dict[str, Any]:
    """Its report, as JSON has it."""
    made = json.loads(text(arguments + ["--format=json"]))
    if not isinstance(made, dict):
        raise FanoutError("the command's report is no object: is it of another version?")
    return made


def units_of(key: str) -> str:
    """The unit that a column's name ends in: "busbw_GBps" is GB/s."""
    last = key.rsplit("_", 1)[-1]
    known = {"ps": "ps", "ns": "ns", "us": "us", "ms": "ms", "s": "s", "pct": "%", "bytes": "B", "GBps": "GB/s",
             "MBps": "MB/s", "flits": "flits", "packets": "packets"}
    return known.get(last, "") if last != key or key in ("bytes", "GBps", "flits", "packets") else ""
