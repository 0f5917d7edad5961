// Macros of the program in capital letters, as programs write them, leave kmm's headers for the CPU alone.
// RUN: %kmmcc --target=host -Werror -DA=7 -DB=7 -DC=7 -DD=7 -DE=7 -DF=7 -DG=7 -DH=7 -DI=7 -DJ=7 -DK=7 -DL=7 -DM=7 -DN=7 -DO=7 -DP=7 -DQ=7 -DR=7 -DS=7 -DT=7 -DU=7 -DV=7 -DW=7 -DX=7 -DY=7 -DZ=7 -DWARP=7 -DWARPS=7 -DCOUNT=7 -DPIECE=7 -DBLOCK=7 -DTILE=7 -DSIZE=7 -DBody=7 -DBits=7 -DChosen=7 -DIndices=7 -DOther=7 -DParent=7 %s -o %t && %t | FileCheck %s
// CHECK: 42
#include <cooperative_groups.h>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <stdio.h>
namespace groups = cooperative_groups;
__global__ void fill(int n, int *x, const half *h)
{
    auto g = groups::this_thread_block();
    int i = g.group_index().x * g.size() + g.thread_rank();
    if (i < n)
        x[i] = i + (int)__half2float(h[0]);
}
int main(void)
{
    int n = 1000, last, *x;
    half *h, two = __float2half(2);
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&h, sizeof(half));
    cudaMemcpy(h, &two, sizeof(half), cudaMemcpyHostToDevice);
#pragma kmm parallel(i = 0:n) chunk(256) write(x[i]) read(h[0])
    fill<<<(n + 127) / 128, 128>>>(n, x, h);
    cudaMemcpy(&last, x + 40, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", last);
}
