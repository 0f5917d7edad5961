// REQUIRES: nvcc
// RUN: %not %kmmcc --target=cuda -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// A macro that writes a pragma expands to the same for the host and for each kind of GPU.
#define TEXT(...) #__VA_ARGS__
#define PRAGMA(...) _Pragma(TEXT(__VA_ARGS__))
#define RUN(block, x) PRAGMA(kmm parallel(i = 0:n) update(x[i])) inc<<<(n + block - 1) / block, block>>>(n, x)
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ == 800
#define BLOCK 256
#else
#define BLOCK 128
#endif
#ifdef __CUDA_ARCH__
#define STEP 1
#else
#define STEP 2
#endif
__global__ void inc(int n, int *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += STEP; }
void launch(int n, int *x)
{
    RUN(64, x);
    // CHECK: :[[#@LINE+2]]:5: error: 'RUN' writes a pragma of kmm, and expands to other code for the device than for the host
    // CHECK: note: put the part that differs into a function, or move it out of the macro
    RUN(BLOCK, x);
#ifndef __CUDA_ARCH__
    RUN(BLOCK + 64, x);
#endif
}
