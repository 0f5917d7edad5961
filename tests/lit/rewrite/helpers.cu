// RUN: %kmmcc --target=host %san -std=c++17 -I %S/Inputs %s -o %t && %t
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 --extended-lambda -I %S/Inputs -Xcompiler -Wall -Werror all-warnings -c %s -o %t.o %}
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -I %S/Inputs --emit-source=%t.cu %s && grep -v "^ *// CHECK" %t.cu | FileCheck %s %}
// Functions that read blockIdx and gridDim for a kernel are copied, and the copies are told what runs.
#include "verify.h"
#define GLOBAL (blockIdx.x * blockDim.x + threadIdx.x)

// CHECK: __device__ int kmm_index(const kmm_blocks_t kmm__blocks);
__device__ int index();
// CHECK: __host__ __device__ inline int kmm_one(const kmm_blocks_t kmm__blocks) { const uint3 blockIdx = kmm_block_index(kmm__blocks); (void)blockIdx;
__host__ __device__ inline int one() {
#ifdef __CUDA_ARCH__
    return blockIdx.x < 100000 ? 1 : 2;
#else
    return 1;
#endif
}
template <int K> __device__ int times(int i) { return K * i * one() + (index() - i); }
// CHECK: template <int K> __device__ int kmm_times(const kmm_blocks_t kmm__blocks, int i) { return K * i * kmm_one(kmm__blocks) + (kmm_index(kmm__blocks) - i); }
namespace helpers {
__device__ int of_namespace(int i) { return i - (int)GLOBAL; }
__device__ int untouched(int i) { return i; }
} // namespace helpers
// CHECK-NOT: kmm_untouched
struct place {
    int factor;
    __device__ int at() const { return GLOBAL; }
    __device__ int outside(int n) const;
    template <typename T> __device__ T twice(T i) { return i + at(); }
};
// CHECK: __device__ int place::kmm_outside(const kmm_blocks_t kmm__blocks, int n) const
__device__ int place::outside(int n) const
{
    return n + at();
}
__device__ int even(int i);
__device__ int odd(int i) { return i == 0 ? 0 : 1 + even(i - 1); }
__device__ int even(int i) { return i == 0 ? (int)GLOBAL : 1 + odd(i - 1); }

__global__ void by_function(int *x, int n)
{
    int i = index();
    if (i < n)
        x[i] = times<2>(i) + helpers::of_namespace(i) + helpers::untouched(0);
}
__global__ void by_using(int *x, int n)
{
    using helpers::of_namespace;
    int i = index();
    if (i < n)
        x[i] = i + of_namespace(i);
}
__global__ void by_method(int *x, int n)
{
    place p = {3};
    // CHECK: int i = p.kmm_at(kmm__blocks);
    int i = p.at();
    if (i < n)
        x[i] = p.factor * i + p.outside(-i) + (&p)->twice<int>(-i);
}
__global__ void by_lambda(int *x, int n)
{
    auto all = [&]() { return (int)GLOBAL; };
    // CHECK: auto none = [blockIdx, kmm__blocks](int k) { return (int)GLOBAL + k + kmm_index(kmm__blocks) - kmm_index(kmm__blocks); };
    auto none = [](int k) { return (int)GLOBAL + k + index() - index(); };
    // CHECK: auto some = [gridDim, n]() { return n < (int)(gridDim.x * blockDim.x) ? n : n; };
    auto some = [n]() { return n < (int)(gridDim.x * blockDim.x) ? n : n; };
    if (all() < some())
        x[none(0)] = none(1);
}
__global__ void by_recursion(int *x, int n)
{
    int i = index();
    if (i < n)
        x[i] = even(2) - 2;
}
// What a template calls is known by its name alone.
template <typename T> __device__ int any(T i) { return i + (int)GLOBAL; }
template <typename T> __device__ int any(T *i) { return *i; }
template <typename T> __global__ void by_dependent(T *x, int n)
{
    // CHECK: T i = kmm_any(kmm__blocks, T(0));
    T i = any(T(0));
    if (i < n)
        x[i] = any(&i);
}

int main()
{
    array a;
    int failed = 0, n = N, *x = a.at;
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    by_function<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong(2));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    by_using<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong());
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    by_method<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong(3));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    by_lambda<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong(1, 1));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    by_recursion<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong());
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    by_dependent<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong());
    return failed;
}
__device__ int index() { return GLOBAL; }
