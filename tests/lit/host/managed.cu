// Memory of both sides, and launches by configuration.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>

__managed__ int counter = 5;
__global__ void grow(int n, int *x, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += by;
    if (i == 0)
        counter += by;
}

int main()
{
    enum { N = 1000 };
    int *managed, *mapped, *seen;
    cudaMallocManaged(&managed, N * sizeof(int));
    cudaHostAlloc(&mapped, N * sizeof(int), cudaHostAllocMapped);
    cudaHostGetDevicePointer(&seen, mapped, 0);
    for (int i = 0; i < N; i++)
        managed[i] = mapped[i] = i;
    grow<<<8, 128>>>(N, managed, 1);
    grow<<<8, 128>>>(N, seen, 2);
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3(8);
    c.blockDim = dim3(128);
    cudaLaunchAttribute priority;
    priority.id = cudaLaunchAttributePriority;
    priority.val.priority = 0;
    c.attrs = &priority;
    c.numAttrs = 1;
    int first = cudaLaunchKernelEx(&c, grow, (int)N, managed, 10);
    int n = N, by = 100;
    void *args[] = {&n, &managed, &by};
    int second = cudaLaunchKernelExC(&c, (void *)grow, args);
    priority.id = cudaLaunchAttributeCooperative;
    priority.val.cooperative = 1;
    int third = cudaLaunchKernelEx(&c, grow, (int)N, managed, 10);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += managed[i] != i + 111 || mapped[i] != i + 2;
    printf("%d %d %s, wrong %d, counter %d\n", first, second, third ? "refused" : "accepted", wrong, counter);
    // CHECK: 0 0 refused, wrong 0, counter 118
    cudaGetLastError();
    cudaFree(managed);
    cudaFreeHost(mapped);
    return wrong;
}
