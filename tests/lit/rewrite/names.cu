// RUN: %kmmcc --target=host %san -std=c++17 -I %S/Inputs %s -o %t && %t
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -I %S/Inputs -Xcompiler -Wall -Werror all-warnings -c %s -o %t.o %}
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -I %S/Inputs --emit-source=%t.cu %s && grep -v "^ *// CHECK" %t.cu | FileCheck %s %}
// Where a kernel's name is found: namespaces, using declarations and directives, aliases, overloads, extern "C".
#include "verify.h"

namespace outer {
namespace inner {
__global__ void deep(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 2 * i;
}
template <int K> __global__ void deep_template(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = K * i;
}
void sibling(int *x, int n)
{
    // CHECK: {{^}}    kmm_deep_template<4><<<
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    deep_template<4><<<BLOCKS, BLOCK>>>(x, n);
}
} // namespace inner
namespace {
template <int K> __global__ void hidden(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = K * i;
}
} // namespace
} // namespace outer

// CHECK: void (*)(kmm_blocks_t, int *, int))kmm_set, (const void *)(void (*)(int *, int))set);
__global__ void set(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 5 * i;
}
__global__ void set(int *x, long n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 6 * i;
}
template <typename T> __global__ void set(T *x, T, T)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        x[i] = 7 * i;
}
extern "C" {
// CHECK: extern "C" {
// CHECK: __global__ void kmm_in_c(
__global__ void in_c(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 8 * i;
}
}
template <typename T> void dependent(T *x, int n)
{
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    set<<<BLOCKS, BLOCK>>>(x, T(1), T(2));
}
template <int K, typename T> void dependent_and_used(T *x, T n)
{
    using outer::inner::deep_template;
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    deep_template<K><<<BLOCKS, BLOCK>>>(x, n);
}

int main()
{
    array a;
    int failed = 0, n = N, *x = a.at;
    outer::inner::sibling(x, n);
    EXPECT(a.wrong(4));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    outer::inner::deep<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong(2));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    ::outer::inner::deep_template<3><<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong(3));
    {
        // A clone is not known by a using declaration.
        using outer::inner::deep_template;
        // CHECK: outer::inner::kmm_deep_template<9><<<
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        deep_template<9><<<BLOCKS, BLOCK>>>(x, n);
        EXPECT(a.wrong(9));
    }
    {
        using namespace outer;
        namespace alias = outer::inner;
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        alias::deep_template<2><<<BLOCKS, BLOCK>>>(x, n);
        EXPECT(a.wrong(2));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        hidden<8><<<BLOCKS, BLOCK>>>(x, n);
        EXPECT(a.wrong(8));
    }
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    set<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong(5));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    set<<<BLOCKS, BLOCK>>>(x, long(n));
    EXPECT(a.wrong(6));
    dependent(x, n);
    EXPECT(a.wrong(7));
    dependent_and_used<11>(x, n);
    EXPECT(a.wrong(11));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    in_c<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong(8));
    return failed;
}
