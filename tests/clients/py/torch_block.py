"""A transformer block, split over the ranks of torchrun as Megatron-LM splits it, forward and backward, compared with the
whole block on the CPU. Each rank has a share of the heads and of the hidden layer; one all-reduce after the attention and
one after the hidden layer add the shares, and two more add the gradients of what goes in (NCCL's, in f32). torch.compile
turns all that a GPU computes into Triton's kernels, matrix products of bf16 on the tensor cores too; each rank prints
what two steps took. `torch_block.py TOKENS WIDTH` makes it larger."""

import os
import sys

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as collectives

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
TOKENS, WIDTH = (int(n) for n in (sys.argv[1:3] or (64, 256)))
HEADS, HIDDEN, STEPS = 8, 4 * WIDTH, 2
HEAD = WIDTH // HEADS
GROUP = None


class Enter(torch.autograd.Function):
    """Into the split part: nothing forward; the gradients of all shares are added backward."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, gradient):
        return total(gradient)


class Leave(torch.autograd.Function):
    """Out of the split part: the shares are added forward; nothing backward."""

    @staticmethod
    def forward(ctx, x):
        return total(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def total(x):
    return x if GROUP is None else collectives.all_reduce(x.contiguous(), "sum", GROUP)


def attention(x, qkv, out):
    """Of the heads that these weights have."""
    heads = qkv.shape[0] // (3 * HEAD)
    q, k, v = (x @ qkv.t()).view(TOKENS, 3, heads, HEAD).permute(1, 2, 0, 3).unbind(0)
    weight = torch.softmax(q @ k.transpose(1, 2) * HEAD**-0.5, -1)
    return (weight @ v).transpose(0, 1).reshape(TOKENS, heads * HEAD) @ out.t()


def block(x, qkv, out, up, down):
    norm = torch.nn.functional.layer_norm
    x = x + Leave.apply(attention(Enter.apply(norm(x, (WIDTH,))).to(qkv.dtype), qkv, out).float())
    hidden = torch.nn.functional.gelu(Enter.apply(norm(x, (WIDTH,))).to(up.dtype) @ up.t())
    return x + Leave.apply((hidden @ down.t()).float())


def share(qkv, out, up, down):
    """This rank's part: rows of what enters the split part, columns of what leaves it."""
    return (qkv.view(3, RANKS, -1, WIDTH)[:, RANK].reshape(-1, WIDTH), out.chunk(RANKS, 1)[RANK],
            up.chunk(RANKS, 0)[RANK], down.chunk(RANKS, 1)[RANK])


def leaf(tensor, device):
    return tensor.detach().contiguous().to(device).requires_grad_()


def off_by(name, got, want):
    error = ((got.detach().cpu().float() - want).abs().max() / want.abs().max()).item()
    assert error < 0.03, f"rank {RANK}: {name} is off by {error:.1e} of its largest value"
    return error


torch.manual_seed(1)
shapes = (3 * WIDTH, WIDTH), (WIDTH, WIDTH), (HIDDEN, WIDTH), (WIDTH, HIDDEN)
whole = [(torch.randn(shape) * shape[1]**-0.5).bfloat16().float() for shape in shapes]
x, gradient = torch.randn(TOKENS, WIDTH), torch.randn(TOKENS, WIDTH)
leaves = [leaf(t, "cpu") for t in (x, *whole)]
y = block(*leaves)
y.backward(gradient)

torch.cuda.set_device(RANK)
dist.init_process_group("nccl", device_id=torch.device("cuda", RANK))
GROUP = dist.group.WORLD
parts = [leaf(x, "cuda"), *(leaf(t.bfloat16(), "cuda") for t in share(*whole))]
gradient = gradient.cuda()
# Products by Triton's templates; the first of them, without trying all on the GPU.
options = {"max_autotune_gemm": True, "max_autotune_gemm_backends": "TRITON", "deterministic": True}
compiled = torch.compile(block, fullgraph=True, options=options)
for step in range(STEPS):
    for part in parts:
        part.grad = None
    torch.cuda.synchronize()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(3)]
    events[0].record()
    got = compiled(*parts)
    events[1].record()
    got.backward(gradient)
    events[2].record()
    torch.cuda.synchronize()
    print(f"rank {RANK} of {RANKS}: step {step}, forward {events[0].elapsed_time(events[1]) * 1e3:.1f} us, "
          f"backward {events[1].elapsed_time(events[2]) * 1e3:.1f} us", flush=True)
# The CPU has the same weights, and computes in f32: what differs is what bf16 rounds on the way.
errors = [off_by("the result", got, y.detach()), off_by("the gradient of x", parts[0].grad, leaves[0].grad)]
for name, part, want in zip(("qkv", "out", "up", "down"), parts[1:], share(*(t.grad for t in leaves[1:]))):
    errors.append(off_by(f"the gradient of {name}", part.grad, want))
dist.barrier()
dist.destroy_process_group()
print(f"rank {RANK} of {RANKS}: right, off by at most {max(errors):.1e}", flush=True)
