// REQUIRES: nvcc
// RUN: %kmmcc --target=cuda -std=c++17 -Xcompiler -Wall -Werror all-warnings -c %s -o %t.o
// RUN: %kmmcc --target=cuda -std=c++17 --emit-source=%t.cu %s && grep -v "^ *// CHECK" %t.cu | FileCheck %s
// RUN: %kmmcc --target=cuda -DAPI -c %s -o %t.o
// The names of copies are none of the program's, nor kmm's.
#include <cuda_runtime.h>
__device__ int kmm_set(int i) { return i; }
#define kmm_clone_set 7
// CHECK: kmm_clone2_set(const kmm_blocks_t kmm__blocks, float *x) { const uint3 blockIdx = kmm_block_index(kmm__blocks); x[blockIdx.x] = kmm_set(kmm_clone_set); }
__global__ void set(float *x) { x[blockIdx.x] = kmm_set(kmm_clone_set); }
#ifdef API
// As kmm's own names go on behind kmm_.
__global__ void launch_begin(float *x) { x[blockIdx.x] = 1; }
__global__ void block_index(float *x) { x[blockIdx.x] = 1; }
#endif
void run(float *x)
{
#pragma kmm parallel(b: block.x) write(x[b])
    set<<<1, 1>>>(x);
#ifdef API
#pragma kmm parallel(b: block.x) write(x[b])
    launch_begin<<<1, 1>>>(x);
#pragma kmm parallel(b: block.x) write(x[b])
    block_index<<<1, 1>>>(x);
#endif
}
