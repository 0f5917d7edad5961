#include "elsewhere.h"
#ifdef WITH_GROUPS
#include <cooperative_groups.h>
#endif
__global__ void elsewhere(int n, float *A)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        A[i] = i;
}
#ifdef WITH_GROUPS
__global__ void synchronizing(float *A)
{
    cooperative_groups::this_grid().sync();
    A[0] = 1;
}
#endif
