// What older programs take for granted: names of CUDA's headers and compiler, atomic functions that name their order.
// RUN: %kmmcc --target=host %san -O3 -use_fast_math %s -o %t && %t | FileCheck %s
#include <cstdio>
#include <cuComplex.h>
#include <cuda_profiler_api.h>
#if !defined(__NVCC__) || !defined(__CUDACC__) || !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__)
#error "programs ask for these"
#endif
#if _KMM_HOST != 1
#error "by this a program knows the CPU target, where __NVCC__ is defined, too"
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

// Four floats are written one by one and stored as one float4: types that C++ says are never the same.
__global__ void packed(const float4 *from, float4 *to, cuFloatComplex *product)
{
    float4 in = from[threadIdx.x], out;
    for (int k = 0; k < 4; k++)
        reinterpret_cast<float *>(&out)[k] = 1 + reinterpret_cast<const float *>(&in)[k];
    to[threadIdx.x] = out;
    float big = INFINITY;
    if (threadIdx.x == 0)
        *product = isinf(big * in.w) ? cuCdivf(cuCmulf(make_cuFloatComplex(1, 2), make_cuFloatComplex(3, -1)), make_cuComplex(0, 1)) : make_cuComplex(0, 0);
}

// A function with a barrier that takes restricted pointers, as most do.
template <typename T> __device__ void add(T *&p, int n) { p[threadIdx.x] += (T)n; }
template <typename T> __device__ void turn(T *__restrict__ x, const T *__restrict__ y, int n)
{
    __shared__ T s[64];
    s[threadIdx.x] = y[n - 1 - threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[(threadIdx.x + 1) % n];
    T *z = x;
    add(z, n);
}
template <typename T> __global__ void turned(T *__restrict__ x, const T *__restrict__ y, int n) { turn(x, y, n); }

static void restricted()
{
    int h[4] = {1, 2, 3, 4}, *x, *y;
    cudaMalloc(&x, sizeof(h));
    cudaMalloc(&y, sizeof(h));
    cudaMemcpy(y, h, sizeof(h), cudaMemcpyHostToDevice);
    turned<<<1, 4>>>(x, y, 4);
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%d %d %d %d\n", h[0], h[1], h[2], h[3]);
}

static void punned()
{
    float4 h[3] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}, *from, *to;
    cuFloatComplex c, *product;
    cudaMalloc(&from, sizeof(h));
    cudaMalloc(&to, sizeof(h));
    cudaMalloc(&product, sizeof(c));
    cudaMemcpy(from, h, sizeof(h), cudaMemcpyHostToDevice);
    cudaProfilerStart();
    packed<<<1, 3>>>(from, to, product);
    cudaProfilerStop();
    cudaMemcpy(h, to, sizeof(h), cudaMemcpyDeviceToHost);
    cudaMemcpy(&c, product, sizeof(c), cudaMemcpyDeviceToHost);
    printf("%g %g %g, %g %g\n", h[0].x, h[1].z, h[2].w, cuCrealf(c), cuCimagf(c));
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
    restricted();
    // CHECK: 7 6 5 8
    punned();
    // CHECK: 1 7 12, 5 -5
}
