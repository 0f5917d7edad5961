# SPDX-License-Identifier: Apache-2.0
"""Steps of a stencil in two dimensions, by a CUDA kernel. A chunk of rows reads one more row above
and below. Usage: stencil.py [columns]"""
import sys

import numpy as np

import kmm

w = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
h, steps = 2 * w + 1, 4
x = np.random.default_rng().random((h, w), dtype="float32")

step = kmm.kernel("""
__global__ void step(int w, int h, const float *old, float *next)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    next[y * w + x] = (old[(y - 1) * w + x] + old[y * w + x - 1]) +
                      (old[y * w + x + 1] + old[(y + 1) * w + x]);
}""")
old, next_ = kmm.array(x), kmm.array(x)
for _ in range(steps):
    step(w, h, old, next_, threads=(w, h), block=(32, 8), parallel="x = 1:w-2, y = 1:h-2",
         chunk=(w, h // 10 + 1), shape=["old[h][w]", "next[h][w]"],
         read="old[y-1:3][x-1:3]", write="next[y][x]")
    old, next_ = next_, old

for _ in range(steps):
    inner = (x[:-2, 1:-1] + x[1:-1, :-2]) + (x[1:-1, 2:] + x[2:, 1:-1])
    x = np.pad(inner, 1) + np.where(np.pad(np.ones_like(inner), 1), np.float32(0), x)
if not np.array_equal(old.numpy(), x):
    sys.exit("stencil: FAILED")
print("stencil: %d x %d, %d steps: ok" % (h, w, steps))
