// What older programs take for granted: names of CUDA's headers and compiler, atomic functions that name their order.
// RUN: %kmmcc --target=host %san -O1 %s -o %t && %t | FileCheck %s
#include <cstdio>
#if !defined(__NVCC__) || !defined(__CUDACC__) || !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__)
#error "programs ask for these"
#endif
#if defined(__NVCC__)
#define BOTH __host__ __device__
#else
#define BOTH
#endif
BOTH int twice(int x) { return 2 * x; }

__global__ void sums(int n, unsigned long long *sum, int *least, int *lock)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_atomic_fetch_add(sum, (unsigned long long)twice(i), __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_min(least, 100 - i, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    int old = __nv_atomic_load_n(lock, __NV_ATOMIC_RELAXED);
    while (!__nv_atomic_compare_exchange_n(lock, &old, old + 1, true, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED))
        ;
}

int main()
{
    const int n = 1000;
    unsigned long long *sum, h = 0;
    int *least, *lock, l = INT_MAX, k = 0, threads = 0, mode = -1;
    cudaMalloc(&sum, sizeof(h));
    cudaMalloc(&least, sizeof(l));
    cudaMalloc(&lock, sizeof(k));
    cudaMemset(sum, 0, sizeof(h));
    cudaMemset(lock, 0, sizeof(k));
    cudaMemcpy(least, &l, sizeof(l), cudaMemcpyHostToDevice);
    sums<<<4, 256>>>(n, sum, least, lock);
    cudaMemcpy(&h, sum, sizeof(h), cudaMemcpyDeviceToHost);
    cudaMemcpy(&l, least, sizeof(l), cudaMemcpyDeviceToHost);
    cudaMemcpy(&k, lock, sizeof(k), cudaMemcpyDeviceToHost);
    printf("%llu %d %d\n", h, l, k);
    // CHECK: 999000 -899 1000
    cudaDeviceGetAttribute(&threads, cudaDevAttrMaxBlockDimX, 0);
    cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0);
    printf("%d %d\n", threads, mode == cudaComputeModeDefault);
    // CHECK: 1024 1
}
