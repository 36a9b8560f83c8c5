"""What test_torch_backend.sh runs on each rank: every collective's result, and times that all ranks agree on. Prints, on
rank 0, a row for each call, and last the clock."""

import torch
import torch.distributed as dist

import fanout.distributed as fanout

dist.init_process_group("fanout")
rank, size = dist.get_rank(), dist.get_world_size()


def same(got, right, what):
    assert torch.equal(torch.as_tensor(got), torch.as_tensor(right)), f"rank {rank}: {what}: {got} is not {right}"


def full(value, n=4):
    return torch.full((n,), float(value))


# The last rank computes 100 us: nobody's all-reduce begins before it.
if rank == size - 1:
    fanout.compute(100)
work = dist.all_reduce(tensor := full(rank + 1, 1 << 18), async_op=True)
assert work.simulated_us is None
work.wait()
same(tensor, full(size * (size + 1) / 2, 1 << 18), "all_reduce")
assert work.simulated_begin_ps == 100_000_000 and work.simulated_us > 0
assert fanout.now_us() == work.simulated_end_ps / 1e6

each = [full(i) for i in range(size)]
parts = [torch.zeros(4) for _ in range(size)]
dist.all_gather(parts, full(rank))
same(torch.stack(parts), torch.stack(each), "all_gather")
dist.all_gather_into_tensor(whole := torch.zeros(size * 4), full(rank))
same(whole, torch.cat(each), "all_gather_into_tensor")
dist.reduce_scatter(part := torch.zeros(4), each)
same(part, full(rank * size), "reduce_scatter")
dist.reduce_scatter_tensor(part, torch.cat(each))
same(part, full(rank * size), "reduce_scatter_tensor")
dist.broadcast(part := full(rank), 1)
same(part, full(1), "broadcast")
dist.reduce(part := full(1), 0)
if rank == 0:
    same(part, full(size), "reduce")
dist.gather(full(rank), parts if rank == 0 else None, 0)
dist.scatter(part, each if rank == 0 else None, 0)
same(part, full(rank), "scatter")
dist.all_to_all_single(row := torch.zeros(size), full(rank, size))
same(row, torch.arange(float(size)), "all_to_all_single")
dist.all_to_all(parts, [full(10 * rank + i) for i in range(size)])
same(torch.stack(parts), torch.stack([full(10 * i + rank) for i in range(size)]), "all_to_all")

# A ring of messages, a message whose sender is not named, and two groups.
there = dist.P2POp(dist.isend, full(rank), (rank + 1) % size)
back = dist.P2POp(dist.irecv, part, (rank - 1) % size)
for work in dist.batch_isend_irecv([there, back]):
    work.wait()
same(part, full((rank - 1) % size), "a ring of messages")
if rank == 1:
    dist.send(full(7), 0, tag=5)
elif rank == 0:
    assert dist.recv(part, tag=5) == 1
    same(part, full(7), "recv from any source")
halves = [dist.new_group(list(range(first, size, 2))) for first in (0, 1)]
dist.all_reduce(part := full(1), group=halves[rank % 2])
same(part, full((size + 1 - rank % 2) // 2), "all_reduce of a half")
dist.barrier()

# DistributedDataParallel: the gradients are those of all ranks' inputs together.
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
alone = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
alone.load_state_dict(model.state_dict())
inputs = torch.arange(size * 64.0).reshape(size, 64).sin()
ddp = torch.nn.parallel.DistributedDataParallel(model)
before = fanout.now_us()
ddp(inputs[rank]).sum().backward()
alone(inputs).mean().backward()
for got, right in zip(model.parameters(), alone.parameters()):
    assert torch.allclose(got.grad, right.grad, atol=1e-6), "gradients"
assert fanout.now_us() > before, "the end of a backward pass waits for its gradients"

last = torch.tensor([fanout.now_us()], dtype=torch.float64)
dist.barrier()
rows = fanout.records()
rows = rows.to_dict("records") if hasattr(rows, "to_dict") else rows
if rank == 0:
    for row in rows:
        print("row", row["op"], row["ranks"], row["bytes"], row["algo"], f"{row['begin_us']:.6f} {row['end_us']:.6f}")
dist.all_reduce(least := last.clone(), dist.ReduceOp.MIN)
dist.all_reduce(most := last.clone(), dist.ReduceOp.MAX)
same(least, most, "the clock after a backward pass")
if rank == 0:
    print("done", f"{fanout.now_us():.6f}")
dist.destroy_process_group()
