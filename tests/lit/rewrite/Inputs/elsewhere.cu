#include "elsewhere.h"
#include <cooperative_groups.h>
__global__ void elsewhere(int n, float *A)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        A[i] = i;
}
__global__ void synchronizing(float *A)
{
    cooperative_groups::this_grid().sync();
    A[0] = 1;
}
