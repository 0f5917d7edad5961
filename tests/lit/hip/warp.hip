// HIP's warp operations, which have no masks, on the CPU, on the fake HIP driver, and by nvcc. The source asks warpSize.
// RUN: %kmmcc --target=host %san -O1 %s -o %t.cpu
// RUN: env KMM_DEVICES=host:2 %t.cpu | FileCheck %s
// RUN: %kmmcc --target=host -fkmm-fibers %san -O1 %s -o %t.fibers
// RUN: env KMM_DEVICES=host %t.fibers | FileCheck %s
// RUN: %if hipcc && !san %{ %kmmcc --target=hip --offload-arch=gfx90a -O1 %s -o %t.amd %}
// RUN: %if hipcc && !san %{ %kmm_source/tests/hip/make_kernels %kmmcc %kmm_source %s %t.so sums %}
// RUN: %if hipcc && !san %{ env KMM_DEVICES=hip LD_LIBRARY_PATH=%kmm_build/tests/fake/hip5 KMM_FAKE_KERNELS=%t.so %t.amd | FileCheck %s %}
// RUN: %if nvcc %{ %kmmcc --target=cuda -O1 %s -o %t.nvidia %}
// CHECK: 0 0 0
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void sums(int n, const int *x, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? x[i] : 0;
    unsigned long long odd = __ballot(v % 2);
    for (int d = warpSize / 2; d > 0; d /= 2)
        v += __shfl_down(v, d);
    if (threadIdx.x % warpSize == 0) {
        atomicAdd(&out[0], v);
        atomicAdd(&out[1], __popcll(odd));
    }
    int first = __shfl(i, 0);
    if (__any(first != i - (int)(threadIdx.x % warpSize)) || !__all(1))
        atomicAdd(&out[2], 1);
    int other = __shfl_xor(i, 1), up = __shfl_up(i, 1);
    if (other != (i ^ 1) || (threadIdx.x % warpSize && up != i - 1))
        atomicAdd(&out[2], 1);
}
int main()
{
    const int n = 1000;
    int x[n], out[3], *X, *O, sum = 0, odd = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] = i * 7 % 13, odd += x[i] % 2;
    if (hipMalloc(&X, sizeof(x)) || hipMalloc(&O, sizeof(out)) || hipMemcpy(X, x, sizeof(x), hipMemcpyHostToDevice) || hipMemset(O, 0, sizeof(out)))
        return 1;
#pragma kmm parallel(i = 0:n) chunk(n / 3) read(X[i]) reduce(+: O[0:3])
    sums<<<(n + 127) / 128, 128>>>(n, X, O);
    if (hipMemcpy(out, O, sizeof(out), hipMemcpyDeviceToHost))
        return 1;
    std::printf("%d %d %d\n", out[0] - sum, out[1] - odd, out[2]);
    return 0;
}
