"""Simulated GPUs, NVLink and NVSwitch, from Python.

    import fanout
    fanout.System("dgx-h100").coll("all_reduce", "1M", algo=["nvls", "unicast"])

gives a pandas DataFrame where pandas is there, else a list of dicts (`Rows`); names of columns end in their units.
`System` runs the command, in a process of its own; `Simulator` is libfanout, in this one, with a clock and callbacks.
"""

from fanout.errors import FanoutError, FanoutStuck, FanoutUsage
from fanout.places import command_path, library_path
from fanout.rows import Page, Rows
from fanout.simulator import Done, Simulator
from fanout.system import System, systems, version
from fanout.tuner import nccl_tuner

__all__ = ["Done", "FanoutError", "FanoutStuck", "FanoutUsage", "Page", "Rows", "Simulator", "System", "command_path",
           "library_path", "nccl_tuner", "systems", "version"]
__version__ = "0.3.0"
