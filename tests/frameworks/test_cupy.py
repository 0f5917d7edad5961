# SPDX-License-Identifier: Apache-2.0
import sys

try:
    import cupy
except ImportError:
    print("cupy is not installed")
    sys.exit(77)
import kmm.allocators.cupy

kmm.allocators.cupy.use(mapped=False if "--plain" in sys.argv else None)
x = cupy.arange(1 << 20, dtype=cupy.int64)
assert int((x * 2).sum()) == (1 << 20) * ((1 << 20) - 1)
streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(4)]
sums = []
for i in range(40):
    with streams[i % 4]:
        a = cupy.full(1 << 20, i, dtype=cupy.int64)
        sums.append((a + 1).sum())
        del a
for s in streams:
    s.synchronize()
assert [int(s) for s in sums] == [(i + 1) << 20 for i in range(40)]
assert cupy.empty(0).size == 0

# An array outlives the stream it was made on; handles of streams come again.
kept = []
for i in range(64):
    with cupy.cuda.Stream(non_blocking=i % 2 == 0):
        kept.append(cupy.full(1 << 18, i, dtype=cupy.int64))
        kept.append(kept[-1] + 1)
    if i % 3 == 0:
        del kept[0]
cupy.cuda.Device().synchronize()
assert [int(a[-1]) - int(a[0]) for a in kept] == [0] * len(kept)
del kept
a, b = cupy.ones(1 << 22), cupy.zeros(1 << 22)
assert float((a + b).sum()) == 1 << 22

if cupy.cuda.runtime.getDeviceCount() > 1:
    near = cupy.arange(1 << 16, dtype=cupy.float32)
    with cupy.cuda.Device(1):
        far = cupy.zeros(1 << 16, dtype=cupy.float32)
        kernel = cupy.RawKernel(r"""extern "C" __global__ void twice(const float *from, float *to)
            { int i = blockIdx.x * blockDim.x + threadIdx.x; to[i] = 2 * from[i]; }""", "twice")
        if cupy.cuda.runtime.deviceCanAccessPeer(1, 0) and "--plain" not in sys.argv:
            cupy.cuda.Device(0).synchronize()
            kernel((1 << 8,), (1 << 8,), (near, far))
            assert float(far[-1]) == 2 * ((1 << 16) - 1), far
        copied = cupy.array(near)
        assert float(copied.sum()) == float(cupy.arange(1 << 16, dtype=cupy.float32).sum())
for attempt in range(3):
    try:
        cupy.empty(1 << 45, dtype=cupy.uint8)
        sys.exit("an absurd array was made")
    except cupy.cuda.memory.OutOfMemoryError as e:
        assert str(1 << 45) in str(e).replace(",", ""), e
assert int(cupy.ones(10).sum()) == 10

# A graph would use memory after it has been freed, so it is given none; what needs none is captured as ever.
x = cupy.zeros(1000)
stream = cupy.cuda.Stream(non_blocking=True)
x += 1
cupy.cuda.Device().synchronize()
with stream:
    stream.begin_capture()
    try:
        cupy.empty(5000)
        sys.exit("memory was allocated for a graph")
    except RuntimeError as e:
        assert "captured" in str(e), e
    x += 1
    graph = stream.end_capture()
    for _ in range(3):
        graph.launch(stream)
    stream.synchronize()
assert float(x.sum()) == 4000
print("ok: cupy", cupy.__version__)
