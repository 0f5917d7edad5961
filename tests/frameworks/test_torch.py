# SPDX-License-Identifier: Apache-2.0
"""test_torch.py [--plain]: without it, memory is mapped where all devices reach each other."""
import sys

try:
    import torch
except ImportError:
    print("torch is not installed")
    sys.exit(77)
import kmm.allocators.torch
from kmm import mr

plain = "--plain" in sys.argv
kmm.allocators.torch.use(mapped=False if plain else None)
devices = range(torch.cuda.device_count())
mapped = not plain and not torch.version.hip and all(torch.cuda.can_device_access_peer(a, b) for a in devices for b in devices if a != b)
x = torch.arange(1 << 20, device="cuda", dtype=torch.float32)
y = (x * 2).sum().item()
assert y == 2 * sum(range(1 << 20)) or abs(y / ((1 << 20) * ((1 << 20) - 1.0)) - 1) < 1e-5, y
name = mr.get_per_device_resource(0).name
assert "pool" in name and ("mapped" in name) == mapped, name

# Memory freed on one stream while another still writes it must not be given out too early.
side = torch.cuda.Stream()
for i in range(50):
    a = torch.zeros(1 << 24, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            a.add_(1)
        result = a.sum()
    a.record_stream(side)
    del a
    b = torch.full((1 << 24,), 7.0, device="cuda")
    torch.cuda.current_stream().wait_stream(side)
    assert result.item() == 5 * (1 << 24), (i, result.item())
    assert b.sum().item() == 7 * (1 << 24)

for attempt in range(3):
    try:
        torch.empty(1 << 45, device="cuda", dtype=torch.uint8)
        sys.exit("an absurd tensor was made")
    except torch.OutOfMemoryError as e:
        assert "kmm" in str(e), e
assert torch.ones(10, device="cuda").sum().item() == 10
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(20):
    loss = model(torch.ones(64, 256, device="cuda")).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.isfinite(loss).item()

# A graph would use memory after it has been freed, so it is given none; one that needs none is captured as ever.
static = torch.zeros(1 << 20, device="cuda")
graph = torch.cuda.CUDAGraph()
try:
    with torch.cuda.graph(graph):
        static.add_(torch.ones(1 << 20, device="cuda"))
    sys.exit("memory was allocated for a graph")
except torch.OutOfMemoryError as e:
    sys.exit("a graph is taken for too large: %s" % e)
except RuntimeError as e:
    assert "captured" in str(e), e
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    static.add_(1)
    static.mul_(2)
for _ in range(3):
    graph.replay()
assert static.sum().item() == 14 * (1 << 20)
assert torch.ones(10, device="cuda").sum().item() == 10
print("ok: torch", torch.__version__, name)
