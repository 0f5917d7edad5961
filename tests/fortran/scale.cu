// SPDX-License-Identifier: Apache-2.0
// A CUDA kernel behind a function that Fortran calls: its launch has a pragma.
#include <cuda_runtime.h>

__global__ void scale(int n, float by, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= by;
}

extern "C" void scale_array(int n, float by, float *x)
{
    #pragma kmm parallel(i = 0:n) chunk(n / 4) update(x[i])
    scale<<<(n + 63) / 64, 64>>>(n, by, x);
}
