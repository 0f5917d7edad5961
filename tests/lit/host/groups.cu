// Thread blocks and tiles, half and bfloat16, cudaLaunchKernel, unnamed parameters, an unfinished launch that #if leaves out.
// RUN: %kmmcc --target=host %san -O1 %s -o %t && %t | FileCheck %s
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdio.h>
namespace cg = cooperative_groups;
__device__ int total(cg::thread_group g, int *s, int v)
{
    int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        s[lane] = v;
        g.sync();
        if (lane < i) v += s[lane + i];
        g.sync();
    }
    return v;
}
__global__ void sums(int *out, int (*)(int), int[])
{
    __shared__ int s[64];
    cg::thread_block block = cg::this_thread_block();
    int v = total(block, s, threadIdx.x);
    if (block.thread_rank() == 0) out[0] = v;
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    int r = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());
    int odd = (int)tile.ballot(threadIdx.x % 2), next = tile.shfl_down(r, 1) * 0;
    if (tile.thread_rank() == 0) out[1 + tile.meta_group_rank()] = r + next + odd;
    cg::sync(block);
    out[8 + threadIdx.x] = cg::exclusive_scan(tile, 1);
}
__global__ void halves(int n, const half *x, half2 *y, float *f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        half2 h = __halves2half2(x[i], __float2half(0.5f));
        y[i] = __hfma2(h, h, __float2half2_rn(1.0f));
        f[i] = __half2float(x[i] * x[i]) + __bfloat162float(__float2bfloat16(3.14159f));
    }
}
int main()
{
    int *x, h[72]; cudaMalloc(&x, sizeof(h)); cudaMemset(x, 0, sizeof(h));
    int (*f)(int) = nullptr; void *args[] = {&x, &f, &x};
    sums<<<1, 64>>>(x, f, x);
    printf("%d\n", cudaLaunchKernel(sums, dim3(1), dim3(64), args, 0, 0));
    // CHECK: {{^}}0
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %d %d %d\n", h[0], h[1], h[2], h[3], h[4], h[8], h[23]);
    // CHECK: 2016 43810 44066 44322 44578 0 15
    half a[3] = {__float2half(1.0f / 3), 65504.0f, 6e-8f}, *A; half2 b[3], *B; float c[3], *C;
    cudaMalloc(&A, sizeof(a)); cudaMalloc(&B, sizeof(b)); cudaMalloc(&C, sizeof(c));
    cudaMemcpy(A, a, sizeof(a), cudaMemcpyHostToDevice);
    halves<<<1, 32>>>(3, A, B, C);
    cudaMemcpy(b, B, sizeof(b), cudaMemcpyDeviceToHost); cudaMemcpy(c, C, sizeof(c), cudaMemcpyDeviceToHost);
    for (int k = 0; k < 3; k++) printf("%.9g %g %g %g\n", __half2float(a[k]), __low2float(b[k]), __high2float(b[k]), c[k]);
    // CHECK: 0.333251953 1.11133 1.25 3.25171
    // CHECK: 65504 inf 1.25 inf
    // CHECK: 5.96046448e-08 1 1.25 3.14062
#if 0
    sums<<<1, 64
#endif
}
