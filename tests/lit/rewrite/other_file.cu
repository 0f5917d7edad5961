// Functions of the device that another file defines. What they read of the grid is not seen: on the CPU they are right anyway, on GPUs
// the launch is one chunk, unless it is promised that they read nothing.
// RUN: %kmmcc --target=host %san -dc %s -o %t.o && %kmmcc --target=host %san -dc %S/Inputs/offset.cu -o %t.offset.o
// RUN: %kmmcc --target=host %san %t.o %t.offset.o -o %t && %t && env KMM_DEVICES=host:3,mem=4M %t
// RUN: %if nvcc %{ %kmmcc --target=cuda -rdc=true %s %S/Inputs/offset.cu -o %t.cuda 2>&1 | FileCheck --check-prefix=WARNING %s %}
// RUN: %kmmcc --target=cuda --emit-source %s 2>/dev/null | FileCheck --check-prefix=ONE --implicit-check-not='__global__ void kmm_o{{w}}n' %s
// RUN: %kmmcc --target=cuda --explain %s 2>/dev/null | FileCheck --check-prefix=EXPLAIN %s
// RUN: %kmmcc --target=cuda -fno-kmm-index-elsewhere -Werror --emit-source %s | FileCheck --check-prefix=SPLIT %s
// RUN: sed -e 's/update(x.i.)/reduce(+: x[:])/' %s > %t.reduce.cu
// RUN: %not %kmmcc --target=cuda --emit-source %t.reduce.cu 2>&1 | FileCheck --check-prefix=REDUCE %s
#include <cuda_runtime.h>
#include <stdio.h>

enum { N = 3000 };
__device__ int offset(int i);
__device__ int twice(int i);
__device__ int seen(int i);
// SPLIT: void kmm_own(
__global__ void own(int *x, int n)
{
    int i = offset(threadIdx.x);
    if (i < n)
        x[i] += seen(twice(i));
}
__device__ int seen(int i) { return i + 1; }

int main()
{
    int *x, h[N], failed = 0;
    cudaMalloc(&x, sizeof(h));
    cudaMemset(x, 0, sizeof(h));
    // WARNING: :[[#@LINE+3]]:17: warning: kernel 'own' calls '{{twice|offset}}', which another file defines {{.*}}, so the launch is one chunk; {{.*}} [-Wkmm-elsewhere]
    // ONE: kmm_launch_home(kmm__launch); // {{twice|offset}} is defined in another file
    // EXPLAIN: one: {{twice|offset}} is defined in another file
    #pragma kmm parallel(i = 0:N) chunk(500) update(x[i])
    own<<<(N + 63) / 64, 64>>>(x, N);
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        failed += h[i] != 2 * i + 1;
    printf("%d wrong\n", failed);
    return failed != 0;
}
// REDUCE: error: kernel 'own' calls '{{twice|offset}}', which another file defines {{.*}}, so it cannot be split, and reductions here split it
