// HIP's warp operations where some lanes have returned, or have taken another branch, on the CPU.
// RUN: %kmmcc --target=host %san -O1 %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: %kmmcc --target=host -fkmm-fibers %san -O1 %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// CHECK: 3000101 3000200 3010303 3020302 3040505 3040604 3050707 3060706 3080909 3081008 3091111 3101110 3121313 3121412 3131515 3141514 3161717 3161816 3171919 3181918 0 0 0 0 0 0 0 0 0 0 0 0
// CHECK: 5 5 5 5 5 5 5 5 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127 128 129 130 131
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void parts(int *out)
{
    int lane = threadIdx.x;
    if (lane >= 20)
        return;
    int first = __shfl(lane, 3), up = __shfl_up(lane, 1, 4), down = __shfl_down(lane, 1, 4), other = __shfl_xor(lane, 1, 8);
    out[lane] = first * 1000000 + up * 10000 + down * 100 + other;
    if (__ballot(1) != 0xfffffull || !__all(lane < 20) || __any(lane > 20))
        out[lane] = -1;
}
__global__ void branch(int *out)
{
    int v = threadIdx.x;
    if (threadIdx.x < 8)
        v = __shfl(v, 5);
    else
        v = 100 + threadIdx.x;
    out[threadIdx.x] = v;
}
int main()
{
    int h[32] = {0}, *x;
    if (hipMalloc(&x, sizeof(h)) || hipMemset(x, 0, sizeof(h)))
        return 1;
    parts<<<1, 32>>>(x);
    if (hipMemcpy(h, x, sizeof(h), hipMemcpyDeviceToHost)) return 1;
    for (int i = 0; i < 32; i++) printf("%d ", h[i]);
    puts("");
    branch<<<1, 32>>>(x);
    if (hipMemcpy(h, x, sizeof(h), hipMemcpyDeviceToHost)) return 1;
    for (int i = 0; i < 32; i++) printf("%d ", h[i]);
    return 0;
}
