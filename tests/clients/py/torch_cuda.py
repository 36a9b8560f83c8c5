"""PyTorch on a simulated GPU, unmodified: properties, copies, streams, events, its caching allocator, pinned memory, and
what torch.compile makes of pointwise operators, reductions, softmax and layer norm, compared with the CPU. Eager
operators are machine code and refused by a clear error. Prints ok."""

import sys

import torch

assert torch.cuda.device_count() == 8, torch.cuda.device_count()
properties = torch.cuda.get_device_properties(0)
assert "H100" in properties.name and properties.multi_processor_count == 132, properties
assert (properties.major, properties.minor) == (9, 0)
assert torch.cuda.can_device_access_peer(0, 1)

# Copies: to a GPU, between GPUs, back; by another stream, ordered by an event; from pinned memory.
host = torch.arange(1 << 16, dtype=torch.float32)
first = host.cuda()
second = torch.empty(1 << 16, device="cuda:1")
second.copy_(first)
assert torch.equal(second.cpu(), host)
pinned = host.pin_memory()
assert pinned.is_pinned()
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    third = pinned.cuda(non_blocking=True)
    done = stream.record_event()
done.synchronize()
assert done.query() and torch.equal(third.cpu(), host)
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
big, other = torch.empty(1 << 24, dtype=torch.uint8, device="cuda"), torch.empty(1 << 24, dtype=torch.uint8, device="cuda:1")
start.record()
other.copy_(big)
end.record()
end.synchronize()
speed = (1 << 24) / start.elapsed_time(end) / 1e6
assert 250 < speed < 450, f"16 MiB go to a peer with {speed} GB/s; a GPU's links have 450"

# The caching allocator keeps what is freed, and gives it back when it is told to.
before = torch.cuda.memory_reserved()
block = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
assert torch.cuda.memory_allocated() >= 64 << 20
address = block.data_ptr()
del block
assert torch.empty(64 << 20, dtype=torch.uint8, device="cuda").data_ptr() == address
torch.cuda.empty_cache()
assert torch.cuda.memory_reserved() <= before
assert torch.zeros(100, device="cuda").cpu().sum() == 0

# An operator's own kernel is machine code.
try:
    torch.add(first, 1)
    sys.exit("an eager operator ran")
except Exception as refused:
    assert "no kernel image" in str(refused), refused

# What torch.compile makes is PTX.
if "compile" in sys.argv[1:]:
    x, y = torch.rand(64, 781), torch.rand(64, 781)
    a, b = x.cuda(), y.cuda()
    functions = {
        "pointwise": lambda p, q: torch.sin(p) * q + 1,
        "reduction": lambda p, q: (p * q).sum(-1),
        "softmax": lambda p, q: torch.softmax(p + q, -1),
        "layer norm": lambda p, q: torch.nn.functional.layer_norm(p, (781,)),
    }
    for name, function in functions.items():
        off = (torch.compile(function)(a, b).cpu() - function(x, y)).abs().max().item()
        assert off < 1e-4 if name == "reduction" else off < 2e-6, f"{name} is off by {off}"
print("ok")
