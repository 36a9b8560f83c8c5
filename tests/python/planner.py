"""What test_planner.sh runs: AIConfigurator's own engine reads a table of Fanout in the place of one that it comes with."""

import os
import sys

import aiconfigurator_core
import yaml
from aiconfigurator_core.sdk.operations.communication import NCCL
from aiconfigurator_core.sdk.perf_database import PerfDatabase

import fanout

root = os.environ["WORK"]
own = os.path.join(os.path.dirname(aiconfigurator_core.__file__), "systems")
with open(os.path.join(own, "h200_sxm.yaml"), encoding="utf-8") as file:
    spec = yaml.safe_load(file)
version = str(spec["misc"]["nccl_version"])
data = spec["data_dir"]
# Its tree by links, but for the one file.
os.makedirs(os.path.join(root, data, "comm", "nccl", version))
for name in os.listdir(own):
    if name != "data":
        os.symlink(os.path.join(own, name), os.path.join(root, name))
for name in os.listdir(os.path.join(own, data)):
    if name != "comm":
        os.symlink(os.path.join(own, data, name), os.path.join(root, data, name))
for name in os.listdir(os.path.join(own, data, "comm")):
    if name != "nccl":
        os.symlink(os.path.join(own, data, "comm", name), os.path.join(root, data, "comm", name))
table = os.path.join(root, data, "comm", "nccl", version, "nccl_perf.parquet")
rows = fanout.System("dgx-h100").planner_table(table, ops=["all_reduce"], gpus=[2, 8], sizes=["64K", "1M"],
                                               neighbours="off")
assert rows == 4, rows
backend = os.path.join(own, data, "gemm", "trtllm")
database = PerfDatabase("h200_sxm", "trtllm", sorted(os.listdir(backend))[-1], systems_root=root)
NCCL.load_data(database)


def leaves(node, path=()):
    if not hasattr(node, "items"):
        yield path, node
        return
    for key, value in node.items():
        yield from leaves(value, path + (key,))


read = {tuple(str(getattr(key, "name", key)) for key in path): value for path, value in leaves(database._nccl_data)}
rows = fanout.System("dgx-h100").report("table", ops=["all_reduce"], gpus=[2, 8], sizes=["64K", "1M"],
                                        neighbours="off")["rows"]
assert len(rows) == 4, rows
for row in rows:
    path = ("half", "all_reduce", str(row["num_gpus"]), str(row["message_size"]), "latency")
    if read.get(path) != row["latency"]:
        sys.exit(f"{path}: {row['latency']} ms, and AIConfigurator has {read.get(path)}")
print(len(rows), "cells")
