"""A rank of torchrun: `torch_ranks.py gloo` sums on the CPU and copies to the next rank's GPU; `torch_ranks.py nccl` runs
NCCL's collectives and checks every value; `torch_ranks.py symmetric` meets in symmetric memory, reads the next rank's
buffer, and sums all through its multicast pointer by the Triton kernel of torch_multimem.py. Each rank prints what it did, with times by CUDA events."""

import os
import sys

import torch
import torch.distributed as dist

RANK, RANKS, BACKEND = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), sys.argv[1]
N = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 16  # elements of a rank, divisible by the ranks
torch.cuda.set_device(RANK)


def timed(name, run):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    run()
    end.record()
    end.synchronize()
    print(f"rank {RANK} of {RANKS}: {name} {start.elapsed_time(end) * 1e3:.3f} us", flush=True)


def values(rank, n=N):
    """Of that rank: exact in f32, also when all ranks' are added."""
    return (torch.arange(n) % 97 + rank).float()


def right(name, got, want):
    assert torch.equal(got.cpu(), want), f"rank {RANK}: {name} is wrong"


def gloo():
    dist.init_process_group("gloo")
    x = values(RANK)
    dist.all_reduce(x)
    right("all_reduce", x, sum(values(r) for r in range(RANKS)))
    own, theirs = x.cuda(), torch.empty(N, device=f"cuda:{(RANK + 1) % RANKS}")
    dist.barrier()
    timed("copy", lambda: theirs.copy_(own))
    right("copy", theirs, x)


def nccl():
    dist.init_process_group("nccl", device_id=torch.device("cuda", RANK))
    everybody = [values(r) for r in range(RANKS)]
    own, part = values(RANK).cuda(), N // RANKS
    out, piece = torch.empty(N * RANKS, device="cuda"), torch.empty(part, device="cuda")
    x = values(RANK).cuda()
    timed("all_reduce", lambda: dist.all_reduce(x))
    right("all_reduce", x, sum(everybody))
    timed("all_gather", lambda: dist.all_gather_into_tensor(out, own))
    right("all_gather", out, torch.cat(everybody))
    timed("reduce_scatter", lambda: dist.reduce_scatter_tensor(piece, own))
    right("reduce_scatter", piece, sum(everybody)[RANK * part:(RANK + 1) * part])
    x = values(RANK).cuda()
    timed("broadcast", lambda: dist.broadcast(x, RANKS - 1))
    right("broadcast", x, everybody[RANKS - 1])
    swapped = torch.empty(N, device="cuda")
    timed("all_to_all", lambda: dist.all_to_all_single(swapped, own))
    right("all_to_all", swapped, torch.cat([e[RANK * part:(RANK + 1) * part] for e in everybody]))
    from_last = torch.empty(N, device="cuda")
    ring = [dist.P2POp(dist.isend, own, (RANK + 1) % RANKS), dist.P2POp(dist.irecv, from_last, (RANK - 1) % RANKS)]
    timed("send and receive", lambda: [work.wait() for work in dist.batch_isend_irecv(ring)])
    right("send and receive", from_last, everybody[(RANK - 1) % RANKS])


def symmetric():
    from torch.distributed import _symmetric_memory as symmetric_memory

    import torch_multimem

    dist.init_process_group("gloo")
    shared = symmetric_memory.empty(N, dtype=torch.float32, device=f"cuda:{RANK}")
    meeting = symmetric_memory.rendezvous(shared, dist.group.WORLD)
    assert meeting.multicast_ptr != 0 and len(set(meeting.buffer_ptrs)) == RANKS
    shared.copy_(values(RANK).cuda())
    torch.cuda.synchronize()
    dist.barrier()
    right("peer's buffer", meeting.get_buffer((RANK + 1) % RANKS, (N,), torch.float32), values((RANK + 1) % RANKS))
    out = torch.empty(N, device="cuda")
    timed("multimem", lambda: torch_multimem.add_all(meeting.multicast_ptr, out, N))
    right("multimem", out, sum(values(r) for r in range(RANKS)))


{"gloo": gloo, "nccl": nccl, "symmetric": symmetric}[BACKEND]()
dist.barrier()
dist.destroy_process_group()
print(f"rank {RANK} of {RANKS}: right", flush=True)
