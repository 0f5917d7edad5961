# SPDX-License-Identifier: Apache-2.0
"""Two devices: copies between them, kernels of one on the other's memory, NCCL. test_torch_peers.py [--plain | --chosen]: without
either memory is mapped where the devices reach each other; chosen: by choose_memory, before anything is allocated."""
import sys

try:
    import torch
except ImportError:
    print("torch is not installed")
    sys.exit(77)
if torch.cuda.device_count() < 2:
    print("there is one device")
    sys.exit(77)
import kmm.allocators.torch
from kmm import mr

kmm.allocators.torch.use(mapped=False if "--plain" in sys.argv else True if "--chosen" in sys.argv else None)
N = 1 << 22


def usage(device):
    """(live bytes, live count, held bytes) of the device's pool."""
    return mr.get_per_device_resource(device).usage()[:3]


def name(device):
    return mr.get_per_device_resource(device).name


# A program that uses one device of several has no context on the others.
old = torch.arange(N, device="cuda:0", dtype=torch.float32)
torch.cuda.synchronize(0)
if "--chosen" not in sys.argv and "--plain" not in sys.argv:
    assert not torch._C._cuda_hasPrimaryContext(1), "the second device has a context though nobody uses it"
reached = torch.cuda.can_device_access_peer(0, 1) and torch.cuda.can_device_access_peer(1, 0)


def check_copies(x, y, what):
    """x and y are on different devices: in one piece, by rows, with a conversion; there and back."""
    for a, b in ((x, y), (y, x)):
        a.copy_(torch.arange(N, device=a.device))
        b.zero_()
        b.copy_(a)
        assert torch.equal(b.cpu(), torch.arange(N, dtype=b.dtype)), what
        b.zero_()
        b.view(1024, -1)[:, ::2].copy_(a.view(1024, -1)[:, ::2])
        assert b.sum().item() > 0 and torch.equal(b.cpu()[::2], torch.arange(N, dtype=b.dtype)[::2]), what
        half = a.to(b.device, torch.float64) * 2
        assert torch.equal(half.cpu(), 2 * torch.arange(N, dtype=torch.float64)), what


new = torch.zeros(N, device="cuda:1")
check_copies(old, new, "memory from before the second device was used")
large = [torch.zeros(N, device="cuda:%d" % d) for d in (0, 1) for _ in range(40)]
check_copies(large[39], large[79], "memory that the pools grew by")
del large[1::2]
gathered = torch.zeros(60 * N // 4, device="cuda:0"), torch.zeros(60 * N // 4, device="cuda:1")
check_copies(gathered[0][-N:], gathered[1][:N], "memory that was gathered")
del large, gathered

# Used by a stream of another device: freed all the same, after that stream's work.
live = usage(0)[1]
side = torch.cuda.Stream(device=1)
for i in range(20):
    a = torch.full((N,), float(i), device="cuda:0")
    torch.cuda.synchronize(0)
    with torch.cuda.stream(side):
        b = torch.empty(N, device="cuda:1")
        torch.cuda._sleep(1000000)
        b.copy_(a, non_blocking=True)
    a.record_stream(side)
    del a
    c = torch.full((N,), -1.0, device="cuda:0")
    side.synchronize()
    assert b.min().item() == b.max().item() == i, (i, b.min().item(), b.max().item())
    del b, c
assert usage(0)[1] == live, (usage(0), live)

model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1)).cuda(0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(10):  # broadcasts by NCCL within the process, scatters and gathers by copies
    loss = torch.nn.parallel.data_parallel(model, torch.ones(256, 512, device="cuda:0"), (0, 1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.isfinite(loss).item()
parts = [torch.full((N,), float(d + 1), device="cuda:%d" % d) for d in (0, 1)]
torch.cuda.nccl.all_reduce(parts)
assert all((p == 3).all().item() for p in parts)

before = usage(0)[2]
del parts, old, new, model, optimizer, loss
torch.cuda.empty_cache()
assert usage(0)[2] < before, (usage(0), before)
print("ok: torch on two devices", torch.__version__, name(0), name(1), "which reach each other" if reached else "")
