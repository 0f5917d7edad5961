// What libkmm knows a launch by that comes again: all values that its description is made of.
// RUN: %kmmcc --target=cuda -std=c++17 --emit-source %s > %t.cu && grep -v "^ *// CHECK" %t.cu | FileCheck %s
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -Xcompiler -Wall -Werror all-warnings -c %s -o %t.o %}
// RUN: %kmmcc --target=cuda -std=c++17 -fkmm-check --emit-source %s | grep -v "^ *// [CN]" | FileCheck --check-prefix=NONE %s
// RUN: %kmmcc --target=host -std=c++17 --emit-source %s | grep -v "^ *// [CN]" | FileCheck --check-prefix=NONE %s
// NONE-NOT: kmm_launch_again
#include <cuda_runtime.h>

__global__ void rows(int n, int m, float *y, const float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; i < n && k < m; k++)
        y[i * m + k] = 2 * x[i * m + k];
}
__global__ void last(int n, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += 1;
}
int throws(int n);

struct block { float *from, *to; int n, m; };

void launch(block b, int devices, bool divides, cudaStream_t s)
{
    // Each value once; numbers that are known are none. Stream, grid and arguments come with the launch.
    // CHECK: static kmm_site_t kmm__site;
    // CHECK-NEXT: const kmm_value_t kmm__values[] = {kmm_number(devices), kmm_number(b.n), kmm_number(b.n / 8), kmm_number(!!(divides)), kmm_address(b.from), kmm_number(b.m), kmm_address(b.to)};
    // CHECK-NEXT: kmm_launch_t *kmm__launch = kmm_launch_again(&kmm__site, kmm__values, 7);
    // CHECK-NEXT: if (!kmm__launch) {
    // CHECK-NEXT: kmm__launch = kmm_launch_begin("rows",
    // CHECK: kmm_launch_device(kmm__launch, KMM_ON_DEVICE, (int)(devices));
    // CHECK: kmm_launch_coef(kmm__launch, 0, b.m, 0);
    // CHECK: kmm_launch_keep(kmm__launch, &kmm__site, kmm__values, 7);
    // CHECK-NEXT: kmm_launch_arm(kmm__launch);
    // CHECK-NEXT: }
    // CHECK-NEXT: #line
    #pragma kmm parallel(i = 0:b.n) chunk(b.n / 8) if(divides) device(devices) read(b.from[i * b.m:b.m]) write(b.to[i * b.m:b.m])
    rows<<<(b.n + 255) / 256, 256, 0, s>>>(b.n, b.m, b.to, b.from);
    // Where an argument may throw, the description is dropped.
    // CHECK: kmm__values[] = {kmm_number(b.n), kmm_address(b.to)};
    // CHECK: kmm_launch_keep(
    // CHECK-NEXT: }
    // CHECK-NEXT: const kmm_armed_scope kmm__armed(kmm__launch);
    // CHECK-NEXT: #line
    #pragma kmm parallel(i = 0:b.n) chunk(100) update(b.to[i])
    last<<<(b.n + 255) / 256, 256>>>(throws(b.n), b.to);
}

// A constexpr function may not have the variable that knows the launch again.
// CHECK-LABEL: int constant(
// CHECK-NOT: kmm__site
// CHECK: kmm_launch_t *kmm__launch = kmm_launch_begin("last",
template <class T> constexpr int constant(T n, float *y)
{
    #pragma kmm parallel(i = 0:n) chunk(100) update(y[i])
    last<<<(n + 255) / 256, 256>>>(n, y);
    return n;
}
int calls(float *y) { return constant(1000, y); }
