#include <cuda_runtime.h>

__global__ void twice(int n, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}

void on_nvidia(int n, float *x)
{
#pragma kmm parallel(i = 0:n) device(cuda) update(x[i])
    twice<<<(n + 63) / 64, 64>>>(n, x);
    cudaDeviceSynchronize();
}
