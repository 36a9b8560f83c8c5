"""Data-parallel training by DistributedDataParallel: each rank of torchrun has its share of a batch; gradients meet in
buckets of 1 MiB while the rest of the backward pass runs. Compared with the whole batch on the CPU. What the GPU computes
is Triton's by torch.compile; a hook adds the buckets, since DDP's own way divides them by a kernel that PyTorch has as
machine code alone, and the loss of each rank is divided before instead."""

import os

import torch
import torch._dynamo
import torch.distributed as dist

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ROWS, WIDTH, LAYERS = 64, 512, 3


def model():
    torch.manual_seed(1)
    return torch.nn.Sequential(*(m for _ in range(LAYERS) for m in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU())))


def add(state, bucket):
    """Of all ranks, in NCCL's stream: the sums take the bucket's place."""
    buckets.append(bucket.buffer().numel())
    future = dist.all_reduce(bucket.buffer(), async_op=True).get_future()
    return future.then(lambda done: done.value()[0])


torch._dynamo.config.optimize_ddp = False  # the model alone is compiled
buckets = []
whole = model()
x, gradient = torch.randn(ROWS, WIDTH), torch.randn(ROWS, WIDTH) / ROWS
whole(x).backward(gradient)

torch.cuda.set_device(RANK)
dist.init_process_group("nccl", device_id=torch.device("cuda", RANK))
options = {"max_autotune_gemm": True, "max_autotune_gemm_backends": "TRITON", "deterministic": True}
compiled = torch.compile(model().cuda(), options=options)
part = torch.nn.parallel.DistributedDataParallel(compiled, device_ids=[RANK], bucket_cap_mb=1, init_sync=False,
                                                 gradient_as_bucket_view=True)
part.register_comm_hook(None, add)
own, own_gradient = (t.chunk(RANKS)[RANK].contiguous().cuda() for t in (x, gradient))
for step in range(2):  # DDP makes its buckets by what came when in the first step
    buckets.clear()
    part.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    part(own).backward(own_gradient)
    end.record()
    torch.cuda.synchronize()
    print(f"rank {RANK} of {RANKS}: step {step}, forward and backward {start.elapsed_time(end) * 1e3:.1f} us, elements in "
          f"buckets {buckets}", flush=True)
for (name, got), want in zip(compiled.named_parameters(), whole.parameters()):
    error = ((got.grad.cpu() - want.grad).abs().max() / want.grad.abs().max()).item()
    assert error < 1e-5, f"rank {RANK}: the gradient of {name} is off by {error:.1e}"
dist.barrier()
dist.destroy_process_group()
print(f"rank {RANK} of {RANKS}: right", flush=True)
