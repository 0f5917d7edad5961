// RUN: %kmmcc --target=host %san -std=c++17 -I %S/Inputs %s -o %t && %t
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -I %S/Inputs -Xcompiler -Wall -Werror all-warnings -c %s -o %t.o %}
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -I %S/Inputs --emit-source=%t.cu %s && grep -v "^ *// CHECK" %t.cu | FileCheck %s %}
// Launches through pointers: every kernel of the type whose address is taken may be meant; where the
// type depends on a template, every kernel whose address is taken.
#include "verify.h"
// CHECK: kmm_by_two(
__global__ void by_two(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 2 * i;
}
// CHECK: kmm_by_three(
__global__ void by_three(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 3 * i;
}
// CHECK: kmm_by(
template <int K> __global__ void by(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = K * i;
}
__global__ void of_other_type(float *x, int n) { x[0] = n; }
// CHECK-NOT: kmm_never_taken
__global__ void never_taken(int *x, int n) { x[0] = n; }

typedef void (*kernel_t)(int *, int);
struct entry { const char *name; kernel_t kernel; };
static const entry table[] = {{"two", by_two}, {"three", &by_three}};

static void run(kernel_t k, int *x, int n)
{
    // CHECK: kmm_launch_begin("*k",
    // CHECK: static const int kmm__registered = (kmm_cuda_register_clone((const void *)kmm_by<4>, (const void *)by<4>), kmm_cuda_register_clone((const void *)kmm_by<5>, (const void *)by<5>));
    // CHECK: {{^}}    k<<<BLOCKS, BLOCK>>>(x, n); }
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    k<<<BLOCKS, BLOCK>>>(x, n);
}
template <typename F> static void run_any(F f, int *x, int n)
{
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    f<<<BLOCKS, BLOCK>>>(x, n);
}
template <typename... A> static void run_pack(void (*f)(A...), int *x, int n)
{
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    f<<<BLOCKS, BLOCK>>>(x, n);
}
template <typename T> static void run_of(void (*f)(T *, int), T *x, int n)
{
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    f<<<BLOCKS, BLOCK>>>(x, n);
}
int main()
{
    array a;
    int failed = 0, n = N, *x = a.at;
    auto other = of_other_type;
    if (!other)
        return 1;
    never_taken<<<1, 1>>>(x, 0);
    kernel_t k = n > 5 ? by_two : by_three;
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    k<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong(2));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    (*k)<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong(2));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    table[1].kernel<<<BLOCKS, BLOCK>>>(x, n);
    EXPECT(a.wrong(3));
    run(by<4>, x, n);
    EXPECT(a.wrong(4));
    run_any(by<5>, x, n);
    EXPECT(a.wrong(5));
    run_pack(by_two, x, n);
    EXPECT(a.wrong(2));
    run_of(by_three, x, n);
    EXPECT(a.wrong(3));
    return failed;
}
