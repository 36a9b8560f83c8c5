"""What test_torch_backend.sh runs on each rank: a profiled step. The profiler has a range of the call, and the trace of
trace_handler() a kernel of its simulated length."""

import json
import os

import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile

import fanout.distributed as fanout

dist.init_process_group("fanout")
folder = os.environ["WORK"]
rank = dist.get_rank()
with profile(activities=[ProfilerActivity.CPU], on_trace_ready=fanout.trace_handler(folder)) as profiled:
    tensor = torch.ones(1 << 18)
    work = dist.all_reduce(tensor, async_op=True)
    work.wait()
assert "fanout::all_reduce" in [event.key for event in profiled.key_averages()], "the profiler has no range of the call"
with open(os.path.join(folder, f"rank{rank}.json"), encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
kernels = [event for event in events if event.get("cat") == "kernel"]
assert len(kernels) == 1 and len(events) > 10, (len(kernels), len(events))
assert kernels[0]["name"].startswith("ncclDevKernel_AllReduce_") and abs(kernels[0]["dur"] - work.simulated_us) < 1e-6
print(f"rank {rank}: {work.simulated_us:.6f}")
dist.destroy_process_group()
