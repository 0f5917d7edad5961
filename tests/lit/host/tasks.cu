// What statements of a task call: events, queries and synchronizations of what came before, sets and copies of its arrays, memory, symbols.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t
// RUN: timeout 600 %t | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=16M timeout 600 %t | FileCheck %s
// RUN: %kmmcc --target=host -fno-kmm %san -O1 %s -o %t.erased && timeout 600 %t.erased | FileCheck %s
// CHECK: before: 1
// CHECK: within: 0
// CHECK: task: 0 wrong, 0 errors: ok
#include <cuda_runtime.h>
#include <stdio.h>

enum { N = 100000 };

__constant__ int factor;

__global__ void fill(int n, int *x, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value;
}

__global__ void grow(int n, int *x, const int *by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += factor * by[i];
}

__global__ void count(int rounds, int *shared)
{
    unsigned sum = 1;
    for (int k = 0; k < rounds; k++)
        sum = sum * 1664525u + 1013904223u;
    *shared = sum != 0;
}

int main()
{
    int *x, *y, *shared, errors = 0, wrong = 0, five = 5, one = 0;
    static int got[N];
    float ms = -1;
    cudaEvent_t begin, end;
    cudaStream_t s, other;
    cudaMalloc(&x, N * sizeof(int));
    cudaMalloc(&y, N * sizeof(int));
    cudaMallocManaged(&shared, sizeof(int));
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaStreamCreate(&s);
    cudaStreamCreate(&other);
    fill<<<(N + 255) / 256, 256>>>(N, x, 1);
    *shared = 0;
    count<<<1, 1, 0, other>>>(30000000, shared);
    #pragma kmm task stream(s) update(x[0:N]) write(y[0:N])
    {
        int *more;
        errors += cudaDeviceSynchronize() != 0;
        printf("before: %d\n", *shared); // none of the task's arrays
        errors += cudaEventRecord(begin, s) != 0;
        errors += cudaMalloc(&more, N * sizeof(int)) != 0;
        errors += cudaMemset(more, 0, N * sizeof(int)) != 0;
        fill<<<(N + 255) / 256, 256, 0, s>>>(N, more, 3);
        errors += cudaMemcpyAsync(y, more, N * sizeof(int), cudaMemcpyDeviceToDevice, s) != 0;
        errors += cudaMemsetAsync(x, 0, 10 * sizeof(int), s) != 0;
        errors += cudaMemcpyToSymbol(factor, &five, sizeof(five)) != 0;
        grow<<<(N + 255) / 256, 256, 0, s>>>(N, x, y);
        errors += cudaEventRecord(end, s) != 0;
        errors += cudaEventSynchronize(end) != 0;
        errors += cudaEventElapsedTime(&ms, begin, end) != 0;
        errors += cudaEventRecord(end) != 0;
        errors += cudaStreamWaitEvent(s, end, 0) != 0;
        while (cudaStreamQuery(s) == cudaErrorNotReady || cudaStreamQuery(0) == cudaErrorNotReady || cudaEventQuery(end) == cudaErrorNotReady)
            ;
        errors += cudaStreamSynchronize(0) != 0;
        errors += cudaMemcpy(&one, x + 3, sizeof(one), cudaMemcpyDeviceToHost) != 0;
        errors += cudaFree(more) != 0;
        printf("within: %d\n", (int)cudaGetLastError());
    }
    errors += cudaEventSynchronize(end) != 0;
    cudaMemcpy(got, x, sizeof(got), cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        wrong += got[i] != (i < 10 ? 15 : 16);
    wrong += one != 15 || ms < 0;
    printf("task: %d wrong, %d errors: %s\n", wrong, errors, wrong + errors ? "WRONG" : "ok");
    return 0;
}
