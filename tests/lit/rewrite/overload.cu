// REQUIRES: nvcc
// RUN: cd %S && %kmmcc --target=cuda --emit-source=%t.cu overload.cu && grep -v "^ *// CHECK" %t.cu | FileCheck %s
// RUN: %nvcc -std=c++17 -I %S/../../../include -Xcompiler -Wall -Werror all-warnings -c %t.cu -o %t.o
// Kernels of one name: the compiler chooses the clone as it chose the kernel.
#include <cuda_runtime.h>
// CHECK: kmm_cuda_register_clone((const void *)(void (*)(kmm_blocks_t, float *, int))kmm_set, (const void *)(void (*)(float *, int))set);
__global__ void set(float *A, int n) { A[blockIdx.x] = n; }
// CHECK: kmm_cuda_register_clone((const void *)(void (*)(kmm_blocks_t, int *, int))kmm_set, (const void *)(void (*)(int *, int))set);
__global__ void set(int *A, int n) { A[blockIdx.x] = n; }

void run(float *A, int *B, int n)
{
#pragma kmm parallel(b: block.x) write(A[b])
    set<<<n, 1>>>(A, n);
#pragma kmm parallel(b: block.x) write(B[b])
    set<<<n, 1>>>(B, n);
}
