#include "size.h"

__global__ void fill(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = SIZE;
}

void run(int n, int *x)
{
#pragma kmm parallel(i = 0:n) chunk(n / 10) write(x[i])
    fill<<<(n + 255) / 256, 256>>>(n, x);
}
