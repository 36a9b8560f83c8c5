"""Proves that eager operators on GPU tensors give what the CPU gives, where examples/pytorch_by_cpu.py runs this: products,
views that are written, copies that change type or layout, outputs in place and by `out`, convolutions, gradients, an
optimiser."""

import torch

cpu = torch.Generator().manual_seed(1)
a, b = torch.rand(64, 32, generator=cpu), torch.rand(32, 16, generator=cpu)
assert torch.equal((a.cuda() @ b.cuda()).cpu(), a @ b)
x = torch.arange(12, device="cuda").view(3, 4)
x[1] += 5
x[:, 2] = -1
want = torch.tensor([[0, 1, -1, 3], [9, 10, -1, 12], [8, 9, -1, 11]])
assert torch.equal(x.cpu(), want) and torch.equal(x.t()[1:].cpu(), want.t()[1:])
assert torch.equal(x.t().contiguous().to(torch.float16).cpu(), want.t().half())
assert x.device == torch.device("cuda", 0) and "cuda:0" in repr(x)
out = torch.empty(0, device="cuda")
torch.add(a.cuda(), 1, out=out)
assert torch.equal(out.cpu(), a + 1)
assert torch.equal(a.cuda()[:, ::2].cpu(), a[:, ::2])
assert torch.equal((a.cuda().t() + 1).cpu(), a.t() + 1) and (a.cuda().t() + 1).stride() == (1, 32)
assert torch.equal(torch.cat([a.cuda(1), a.cuda(1)]).sort(0)[0].cpu(), torch.cat([a, a]).sort(0)[0])
halves = a.half(), b.half()
wide = torch.ones(64, 16, device="cuda")
torch.addmm(wide, halves[0].cuda(), halves[1].cuda(), out_dtype=torch.float32, out=wide)
torch.testing.assert_close(wide.cpu(), 1 + halves[0].float() @ halves[1].float())
one = a.half().cuda().sum()
assert (one * 0.1).dtype == (one / 3 - 1).dtype == torch.float16 and torch.equal((one * 0.1).cpu(), one.cpu() * 0.1)
assert torch.equal(a.cuda().to("cuda:1").cpu(), a)

image, kernel = torch.rand(1, 2, 5, 5, generator=cpu), torch.rand(4, 2, 3, 3, generator=cpu)
found = []
for device in "cpu", "cuda":
    weight = kernel.detach().to(device).requires_grad_()
    torch.nn.functional.conv2d(image.to(device), weight).square().sum().backward()
    found.append(weight.grad.cpu())
torch.testing.assert_close(*found)

models = []
for device in "cpu", "cuda":
    torch.manual_seed(2)
    model = torch.nn.Sequential(torch.nn.Linear(32, 8), torch.nn.GELU(), torch.nn.LayerNorm(8)).to(device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.1)
    for _ in range(2):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(a.to(device)), torch.arange(64, device=device) % 8).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    models.append([p.detach().cpu() for p in model.parameters()])
for one, other in zip(*models):
    torch.testing.assert_close(one, other)
rows = torch.rand(5000, 8, generator=cpu).half()
assert torch.equal(rows.cuda().sum(0).cpu(), rows.float().sum(0).half())
print("ok")
