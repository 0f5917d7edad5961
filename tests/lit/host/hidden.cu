// A barrier that a kernel reaches without the name of the function that has it.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t
#include <cuda_runtime.h>
__device__ inline int met(int *shared)
{
    __syncthreads();
    return shared[0];
}
struct meets_at_end {
    __device__ ~meets_at_end() { __syncthreads(); }
};
template <int (*function)(int *)> __global__ void by_argument(int *x)
{
    __shared__ int shared[1];
    if (threadIdx.x == 63)
        shared[0] = 5;
    x[threadIdx.x] = function(shared);
}
__global__ void by_destructor(int *x)
{
    __shared__ int shared[1];
    {
        meets_at_end here;
        if (threadIdx.x == 63)
            shared[0] = 7;
        (void)here;
    }
    x[threadIdx.x] += shared[0];
}
int main()
{
    int h[64], *x, wrong = 0;
    cudaMalloc(&x, sizeof(h));
    by_argument<met><<<1, 64>>>(x);
    by_destructor<<<1, 64>>>(x);
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    for (int k = 0; k < 64; k++)
        wrong += h[k] != 12;
    return wrong;
}
