#pragma once
#include "../verify.h"
// A kernel and its launch, as header libraries have them.
namespace deep {
__device__ inline int position() { return blockIdx.x * blockDim.x + threadIdx.x; }
template <typename T> __global__ void fill(T *x, int n, T factor)
{
    int i = position();
    if (i < n)
        x[i] = factor * i;
}
static __global__ void plain(int *x, int n)
{
    extern __shared__ int scratch[];
    scratch[threadIdx.x] = position();
    if (scratch[threadIdx.x] < n)
        x[scratch[threadIdx.x]] = 3 * scratch[threadIdx.x];
}
template <typename T> void launch(T *x, int n, T factor)
{
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    fill<<<BLOCKS, BLOCK>>>(x, n, factor);
}
inline void launch_plain(int *x, int n)
{
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    plain<<<BLOCKS, BLOCK, BLOCK * sizeof(int)>>>(x, n);
}
} // namespace deep
