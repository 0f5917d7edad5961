#include <cuda_runtime.h>

#include "size.h"

void run(int n, int *x);

int main()
{
    int *x = nullptr;
    cudaMalloc(&x, SIZE * sizeof(int));
    run(SIZE, x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
