"""What NCCL's example tuner plugin reads (plugins/tuner/example of NCCL), by `fanout advise --format nccl-tuner`."""

from typing import Optional, Sequence, Union

from fanout import command
from fanout.errors import FanoutUsage
from fanout.simulator import size
from fanout.system import System

_LAST = 4294967295  # the largest size of the plugin's own examples


def nccl_tuner(system: System, op: str, sizes: Sequence[Union[str, int]], *, gpus: Optional[int] = None,
               datatype: str = "half", registered: bool = False) -> str:
    """Lines of the plugin's file, for NCCL_TUNER_CONFIG_FILE. From each size on, up to the next one, what is fastest at
    that size is taken; the first holds below it, too. registered: for buffers that are registered with NCCL."""
    numbers = sorted({size(one) for one in sizes})
    if not numbers or numbers[-1] > _LAST:
        raise FanoutUsage(f"sizes: one or more, of up to {_LAST} bytes, are right")
    lines = []
    for i, first in enumerate(numbers):
        options = {**system.options, "minbytes": first, "gpus": gpus, "datatype": datatype, "format": "nccl-tuner",
                   "program": "nccl-registered" if registered else None}
        head, line = command.text(["advise", op] + command.words(options)).splitlines()
        lines = lines or [head]
        last = numbers[i + 1] - 1 if i + 1 < len(numbers) else _LAST
        fields = line.split(",")
        lines.append(",".join([fields[0], str(first if i else 0), str(last)] + fields[3:]))
    return "\n".join(lines) + "\n"
