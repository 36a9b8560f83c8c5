"""Simulated calls in the trace format of Chrome, as PyTorch's profiler writes it: kernels of a GPU, a stream for each
group, named as NCCL's are, so that Perfetto shows them and Holistic Trace Analysis counts them as communication."""

import gzip
import json
from typing import Any, Dict, List, Sequence

_PID = 1 << 20  # of GPU 0; real processes have smaller numbers
_WORDS = {"all_reduce": "AllReduce", "all_gather": "AllGather", "reduce_scatter": "ReduceScatter",
          "broadcast": "Broadcast", "reduce": "Reduce"}  # NCCL does the rest by SendRecv


def events(records: Sequence[Any], rank: int, system: str) -> List[Dict[str, Any]]:
    """Times in us from simulated time 0; add_to_trace() moves them."""
    pid = _PID + rank
    meta = {"ph": "M", "pid": pid, "tid": 0, "ts": 0}
    made: List[Dict[str, Any]] = [
        {**meta, "name": "process_name", "args": {"name": f"fanout: GPU {rank} of {system}"}},
        {**meta, "name": "process_labels", "args": {"labels": "simulated time"}}]
    streams: Dict[str, int] = {}
    for record in records:
        if record.group not in streams:
            streams[record.group] = len(streams)
            made.append({**meta, "name": "thread_name", "tid": streams[record.group],
                         "args": {"name": f"stream {streams[record.group]}: group {record.group}"}})
        name = f"ncclDevKernel_{_WORDS.get(record.op, 'SendRecv')}_{record.algo}_{record.proto}"
        made.append({
            "ph": "X", "cat": "kernel", "name": name, "pid": pid, "tid": streams[record.group],
            "ts": record.begin_ps / 1e6, "dur": (record.end_ps - record.begin_ps) / 1e6,
            "args": {"device": rank, "stream": streams[record.group], "Collective name": record.op,
                     "dtype": record.type, "Group size": len(record.ranks), "Process Group Name": record.group,
                     "bytes": record.bytes, "simulated_begin_us": record.begin_ps / 1e6,
                     "posted_us": record.posted_ps / 1e6}})
    return made


def add_to_trace(path: str, made: List[Dict[str, Any]], new: bool) -> None:
    """Into the file at path (.json, .json.gz), where simulated time 0 stands at its first event; new: into a file of
    their own."""
    opened: Any = gzip.open if path.endswith(".gz") else open
    trace: Dict[str, Any] = {"schemaVersion": 1, "displayTimeUnit": "ns", "traceEvents": []}
    if not new:
        with opened(path, "rt", encoding="utf-8") as file:
            trace = json.load(file)
    first = min((e["ts"] for e in trace["traceEvents"] if e.get("ph") == "X" and "ts" in e), default=0)
    for event in made:
        event["ts"] += first
    trace["traceEvents"] += made
    with opened(path, "wt", encoding="utf-8") as file:
        json.dump(trace, file)
