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

# ---- Graphs: their memory is of a pool of its own, which nobody else gets as long as they exist ----

static = torch.zeros(1 << 20, device="cuda")


def overwrite():
    """What would overwrite a graph's memory if that were given out."""
    torch.cuda.empty_cache()
    kept = [torch.full((1 << k,), float("nan"), device="cuda") for k in range(8, 24) for _ in range(3)]
    torch.cuda.synchronize()
    return len(kept)


def work(x):
    """Temporary tensors, some of them on a side stream."""
    y = x * 2
    z = y.sin() + y.cos()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        w = (z * z).view(1024, 1024) @ torch.eye(1024, device="cuda")
    torch.cuda.current_stream().wait_stream(side)
    w.record_stream(torch.cuda.current_stream())
    del y
    return torch.stack([w.sum(0), z.view(1024, 1024).mean(0)]).exp()


def live():
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return mr.get_per_device_resource(0).usage().live_bytes


work(static)  # cuBLAS has its workspace
before = live()
graphs, results, pool = [], [], None
for _ in range(2):  # the second shares the first one's memory
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        result = work(static)
    pool = graph.pool()
    graphs.append(graph)
    results.append(result)
for k in range(5):
    overwrite()
    static.copy_(torch.rand(1 << 20, device="cuda"))
    wanted = work(static).clone()
    overwrite()
    for graph, result in zip(graphs, results):
        graph.replay()
        assert torch.allclose(result, wanted, rtol=1e-4), (k, (result - wanted).abs().max())
held = live()
assert held >= before + (1 << 22), (held, before)
del graph, graphs
overwrite()
assert torch.allclose(results[1], wanted, rtol=1e-4)  # it lives longer than its graph
del result, results, wanted
assert live() <= before, (live(), before)

torch.manual_seed(1)
data, loss = torch.randn(64, 256, device="cuda"), None


def train(optimizer):
    optimizer.zero_grad(set_to_none=True)
    loss = model(data).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss


kept = {name: value.clone() for name, value in model.state_dict().items()}
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
wanted = [train(optimizer).item() for _ in range(6)]
model.load_state_dict(kept)
warm = torch.cuda.Stream()
warm.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm):
    for _ in range(3):
        train(optimizer)
torch.cuda.current_stream().wait_stream(warm)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = train(optimizer)
model.load_state_dict(kept)
for k in range(6):
    overwrite()
    graph.replay()
    assert abs(loss.item() - wanted[k]) <= 1e-4 * abs(wanted[k]), (k, loss.item(), wanted[k])

static.fill_(1)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    static.add_(1)
    static.mul_(2)
for _ in range(3):
    graph.replay()
assert static.sum().item() == 22 * (1 << 20)
assert torch.ones(10, device="cuda").sum().item() == 10
print("ok: torch", torch.__version__, name)
