// RUN: %python %S/Inputs/reformat.py %kmmcc %s | FileCheck %s
// What a launch becomes does not depend on how the code around it is written, and has no line that it does not need.
// CHECK: 4 ways to write the rest give the same launches
#include <cuda_runtime.h>

static int unrelated(int n) { return n > 3 ? 2 * n : n; }

__global__ void add(int n, float *C, const float *A, const float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i] + B[i];
}

void run(int n, float *C, const float *A, const float *B)
{
    int twice = unrelated(n); /* before */
#pragma kmm parallel(i = 0:n) chunk(n / 10) read(A[i], B[i]) write(C[i])
    add<<<(n + 255) / 256, 256>>>(n, C, A, B);
    // A launch with the default stream, no chunk and no range has four lines fewer.
#pragma kmm parallel
    add<<<(twice + 255) / 256, 256>>>(n, C, A, B);
    twice += unrelated(twice);
}
