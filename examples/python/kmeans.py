# SPDX-License-Identifier: Apache-2.0
"""k-means by functions of NumPy, on points that may be larger than the memory of the devices.
Usage: kmeans.py [points]"""
import sys

import numpy as np

import kmm

n, d, k, rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 150000, 4, 8, 5
x = np.random.default_rng().random((n, d))


def assign(chunk, points, centers, sums, counts):
    nearest = ((points[:, None, :] - centers) ** 2).sum(2).argmin(1)
    for c in range(k):
        sums[c] += points[nearest == c].sum(0)
    counts += np.bincount(nearest, minlength=k)


def means(sums, counts):
    return sums / np.maximum(counts, 1)[:, None]


points, i, centers = kmm.array(x), kmm.axis(n), x[:k]
for _ in range(rounds):
    sums, counts = kmm.zeros((k, d), "float64"), kmm.zeros(k, "int64")
    kmm.parallel(i, chunk=n // 20 + 1).run(assign, kmm.read(points[i]), centers,
                                           kmm.reduce("+", sums), kmm.reduce("+", counts))
    centers = means(sums.numpy(), counts.numpy())

expected = x[:k]
for _ in range(rounds):
    sums, counts = np.zeros((k, d)), np.zeros(k, "int64")
    assign(None, x, expected, sums, counts)
    expected = means(sums, counts)
if not np.allclose(centers, expected, rtol=1e-9):
    sys.exit("kmeans: FAILED")
print("kmeans: %d points: ok" % n)
