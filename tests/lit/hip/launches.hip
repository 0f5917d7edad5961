// HIP's launches: what becomes of kernels, and of each way to launch one.
// RUN: %kmmcc --target=hip --emit-source %s | FileCheck %s
// RUN: %kmmcc --target=host --emit-source %s | FileCheck --check-prefix=HOST %s
#include <hip/hip_runtime.h>

__global__ void add(int n, float *c, const float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] += a[i];
}
// CHECK: #include <kmm/hip.h>
// CHECK: __global__ void kmm_add(const kmm_blocks_t kmm__blocks, int n, float *c, const float *a)
// CHECK-NEXT: { const kmm_uint3 blockIdx = kmm_block_index(kmm__blocks);
// CHECK: static const int kmm_registered_{{[0-9]+}} = kmm_hip_register_clone((const void *)kmm_add, (const void *)add);
// HOST-NOT: kmm_hip_register_clone
// HOST: struct kmm__kernel

template <typename T, int N> __global__ void scale(T *a, int n)
{
    int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    if (i < n)
        a[i] *= N;
}
// CHECK: kmm_scale(const kmm_blocks_t kmm__blocks, T *a, int n)
// CHECK-NEXT: { const kmm_uint3 blockIdx

void launches(int n, float *c, float *a)
{
#pragma kmm parallel(i = 0:n) read(a[i]) update(c[i])
    add<<<(n + 63) / 64, 64>>>(n, c, a);
// CHECK: kmm_launch_begin("add",
// CHECK: kmm_launch_arm(kmm__launch);
// CHECK: add<<<(n + 63) / 64, 64>>>(n, c, a);
// HOST: kmm_launch_arm(kmm__launch);
// HOST: kmm_host_configure((n + 63) / 64, 64)

#pragma kmm parallel(i = 0:n) read(a[i]) update(c[i])
    hipLaunchKernelGGL(add, dim3((n + 63) / 64), dim3(64), 0, 0, n, c, a);
// CHECK: kmm_launch_begin("add",
// CHECK: hipLaunchKernelGGL(add, dim3((n + 63) / 64), dim3(64), 0, 0, n, c, a);
// HOST: hipLaunchKernelGGL(add, dim3((n + 63) / 64), dim3(64), 0, 0, n, c, a);

// The macro hides the name: the instance is registered where it is launched.
#pragma kmm parallel(i = 0:n) update(a[i])
    hipLaunchKernelGGL((scale<float, 3>), (n + 63) / 64, 64, 0, 0, a, n);
// CHECK: kmm_launch_begin("scale",
// CHECK: kmm_hip_register_clone((const void *)kmm_scale<float, 3>, (const void *)scale<float, 3>)
// CHECK: hipLaunchKernelGGL((scale<float, 3>), (n + 63) / 64, 64, 0, 0, a, n);

#pragma kmm parallel(i = 0:n) update(a[i])
    hipLaunchKernelGGL(HIP_KERNEL_NAME(scale<float, 5>), (n + 63) / 64, 64, 0, 0, a, n);
// CHECK: kmm_hip_register_clone((const void *)kmm_scale<float, 5>, (const void *)scale<float, 5>)
// CHECK: hipLaunchKernelGGL(HIP_KERNEL_NAME(scale<float, 5>), (n + 63) / 64, 64, 0, 0, a, n);

#pragma kmm parallel(i = 0:n) update(a[i])
    scale<float, 7><<<(n + 63) / 64, 64>>>(a, n);
// CHECK: kmm_scale<float, 7><<<(n + 63) / 64, 64>>>(kmm_blocks_t(), a, n);

    void *args[] = {&n, &c, &a};
#pragma kmm parallel(i = 0:n) read(a[i]) update(c[i])
    hipLaunchKernel((const void *)add, dim3((n + 63) / 64), dim3(64), args, 0, 0);
// CHECK: kmm_launch_begin("add",
// CHECK: hipLaunchKernel((const void *)add, dim3((n + 63) / 64), dim3(64), args, 0, 0);
// HOST: hipLaunchKernel((const void *)kmm_host_kernel(add),
}
