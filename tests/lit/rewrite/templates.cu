// RUN: %kmmcc --target=host %san -std=c++17 -I %S/Inputs %s -o %t && %t
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -I %S/Inputs -Xcompiler -Wall -Werror all-warnings -c %s -o %t.o %}
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -I %S/Inputs --emit-source=%t.cu %s && grep -v "^ *// CHECK" %t.cu | FileCheck %s %}
// Kernels that are templates: the launch names the clone, and the compiler chooses its instance as it chose the kernel's.
#include "verify.h"

template <typename T> __global__ void plain(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i;
}
// CHECK: template <typename T> __global__ void kmm_plain(const kmm_blocks_t kmm__blocks, T *x, int n)
template <int K, typename T, int L = 2> __global__ void partly(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i * K + L;
}
template <typename F> __global__ void apply(int *x, int n, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = f(i);
}
template <typename... P> __global__ void pack(int *x, int n, P... p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i + (0 + ... + p);
}
template <typename T> __global__ void special(int *x, int n, T) { x[blockIdx.x * blockDim.x + threadIdx.x] = n; }
// CHECK: template <> __global__ void kmm_special<char>(const kmm_blocks_t kmm__blocks, int *x, int n, char)
template <> __global__ void special<char>(int *x, int n, char)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 7 * i;
}
template <typename T> __global__ void declared(T *x, int n, int factor = 3);
// CHECK: template <typename T> __global__ void kmm_declared(const kmm_blocks_t kmm__blocks, T *x, int n, int factor = 3);

// Launches that depend on a template.
template <typename T, int K> void dependent(T *x, int n)
{
    // CHECK: kmm_partly<K><<<BLOCKS, BLOCK>>>(kmm_blocks_t(), x, n); }
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    partly<K><<<BLOCKS, BLOCK>>>(x, n);
}
template <class T> struct solver {
    T *x;
    template <int K> void run(int n)
    {
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        partly<K, T, 5><<<BLOCKS, BLOCK>>>(x, n);
    }
    void deduced(int n)
    {
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        plain<<<BLOCKS, BLOCK>>>(x, n);
    }
};
struct times { int factor; __host__ __device__ int operator()(int i) const { return i * factor; } };

int main()
{
    array a;
    int failed = 0, n = N, *x = a.at;
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    plain<int><<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong());
    // CHECK: kmm_plain<<<BLOCKS, BLOCK>>>(kmm_blocks_t(), x, n); }
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    plain<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong());
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    partly<3><<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong(3, 2));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    partly<(4 > 3), int, (1 << 2)><<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong(1, 4));
    dependent<int, 6>(x, n);
    EXPECT(a.wrong(6, 2));
    solver<int> s = {x};
    s.run<2>(n);
    EXPECT(a.wrong(2, 5));
    s.deduced(n);
    EXPECT(a.wrong());
    times five = {5};
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    apply<<<BLOCKS, BLOCK>>>(x, n, five);
    EXPECT(a.wrong(5));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    pack<<<BLOCKS, BLOCK>>>(x, n, 1, 2L, short(3));
    EXPECT(a.wrong(1, 6));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    pack<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong());
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    special<<<BLOCKS, BLOCK>>>(x, n, 'c');
    EXPECT(a.wrong(7));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    declared<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong(3));
    return failed;
}

template <typename T> __global__ void declared(T *x, int n, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = factor * i;
}
