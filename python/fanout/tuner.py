"""What NCCL's example tuner plugin reads (plugins/tuner/example of NCCL), by `fanout advise --format nccl-tuner`."""

from typing import Optional, Sequence, Union

from fanout import command
from fanout.simulator import size
from fanout.system import System


def nccl_tuner(system: System, op: str, sizes: Sequence[Union[str, int]], *, gpus: Optional[int] = None,
               datatype: str = "half", registered: bool = False) -> str:
    """Lines of the plugin's file, for NCCL_TUNER_CONFIG_FILE. From each size on, up to the next one, what is fastest at
    that size is taken; the first holds below it, too. registered: for buffers that are registered with NCCL."""
    options = {**system.options, "sizes": sorted({size(one) for one in sizes}), "gpus": gpus, "datatype": datatype,
               "format": "nccl-tuner", "program": "nccl-registered" if registered else None}
    return command.text(["advise", op] + command.words(options))
