#ifndef KERNEL_H
#define KERNEL_H
#include <cuda_runtime.h>
namespace deep {
static __device__ float twice(float x) { return 2 * x; }
// A kernel of a header.
__global__ void from_header(float *A, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        A[i] = twice(A[i]);
}
}
#endif
