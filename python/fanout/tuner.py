"""What NCCL's example tuner plugin reads (plugins/tuner/example of NCCL): a line for each range of sizes, with the fastest
of what NCCL itself can be told to run. `fanout advise` compares more, which NCCL cannot be told."""

from typing import Any, List, Optional, Sequence, Tuple, Union

from fanout.errors import FanoutUsage
from fanout.simulator import size
from fanout.system import System

_NAMES = {"all_reduce": "allreduce", "all_gather": "allgather", "reduce_scatter": "reducescatter",
          "broadcast": "broadcast"}
_PROTOS = ("simple", "ll", "ll128")
_LAST = 4294967295  # the largest size that the plugin's format names
HEAD = "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff\n"


def _candidates(op: str, registered: bool) -> List[Tuple[str, str, Optional[str]]]:
    """NCCL's name, Fanout's algorithm, its protocol."""
    found: List[Tuple[str, str, Optional[str]]] = [("ring", "ring", proto) for proto in _PROTOS]
    if op == "all_reduce":
        found += [("tree", "tree", proto) for proto in _PROTOS]
    if op == "all_reduce":
        found.append(("nvls", "nvls" if registered else "nvls_buffered", None))
    return found


def nccl_tuner(system: System, op: str, sizes: Sequence[Union[str, int]], *, gpus: Optional[int] = None,
               datatype: str = "half", registered: bool = False) -> str:
    """Lines of the plugin's file, for NCCL_TUNER_CONFIG_FILE. From each size on, up to the next one, what is fastest at that
    size is taken; the first holds below it, too. registered: for buffers that are registered with NCCL (regBuff 1)."""
    if op not in _NAMES:
        raise FanoutUsage(f"op: {op!r} is none of the plugin's; one of {', '.join(_NAMES)} is right")
    numbers = sorted({size(one) for one in sizes})
    if not numbers or numbers[-1] > _LAST:
        raise FanoutUsage(f"sizes: one or more, of up to {_LAST} bytes, are right")
    lines = [HEAD]
    for i, bytes_ in enumerate(numbers):
        best: Any = None
        for name, algo, proto in _candidates(op, registered):
            row = system.report("coll", op, bytes=bytes_, algo=algo, proto=proto, gpus=gpus,
                                datatype=datatype)["rows"][0]
            if best is None or row["time_us"] < best[1]["time_us"]:
                best = (name, row)
        name, row = best
        first = 0 if i == 0 else bytes_
        last = numbers[i + 1] - 1 if i + 1 < len(numbers) else _LAST
        lines.append(f"{_NAMES[op]},{first},{last},{name},{row['proto']},{row['ctas']},1,{row['gpus']},-1,"
                     f"{int(registered)}\n")
    return "".join(lines)
