# SPDX-License-Identifier: Apache-2.0
"""Adds two vectors by a CUDA kernel in chunks. Usage: vector_add.py [elements]"""
import sys

import numpy as np

import kmm

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
x, y = np.random.default_rng().random((2, n), dtype="float32")

add = kmm.kernel("""
__global__ void add(int n, float *C, const float *A, const float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i] + B[i];
}""")
A, B, C = kmm.array(x), kmm.array(y), kmm.empty(n)
add(n, C, A, B, threads=n, parallel="i = 0:n", chunk=n // 10, read="A[i], B[i]", write="C[i]")

if not np.array_equal(C.numpy(), x + y):
    sys.exit("vector_add: FAILED")
print("vector_add: n = %d: ok" % n)
