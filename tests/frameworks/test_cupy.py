# SPDX-License-Identifier: Apache-2.0
import sys

try:
    import cupy
except ImportError:
    print("cupy is not installed")
    sys.exit(77)
import kmm_cupy

kmm_cupy.use(mapped=False if "--plain" in sys.argv else None)
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
for attempt in range(3):
    try:
        cupy.empty(1 << 45, dtype=cupy.uint8)
        sys.exit("an absurd array was made")
    except cupy.cuda.memory.OutOfMemoryError as e:
        assert str(1 << 45) in str(e).replace(",", ""), e
assert int(cupy.ones(10).sum()) == 10
print("ok: cupy", cupy.__version__)
