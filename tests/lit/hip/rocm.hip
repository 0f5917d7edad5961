// What kmm's own headers do not declare is parsed with ROCm's.
// REQUIRES: hipcc
// RUN: %kmmcc --target=hip --emit-source %s | FileCheck %s
// RUN: %kmmcc --target=hip --offload-arch=gfx90a -c %s -o %t.o
// RUN: nm %t.o | FileCheck --check-prefix=OBJECT %s
// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --check-prefix=HOST %s
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <cstdio>

__device__ static dim3 extent() { return gridDim; }
__device__ static int rank() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }

template <class T> __global__ void lanes(int n, T *x)
{
    auto i = blockIdx.x * blockDim.x + threadIdx.x;
    dim3 g = extent();
    if (i < n)
        x[i] = __popcll(__ballot(1)) + rank() + blockIdx.y + g.z;
}
// CHECK: kmm_extent(const kmm_blocks_t kmm__blocks) { const dim3 gridDim = kmm_grid_dim(kmm__blocks); return gridDim; }
// CHECK: kmm_lanes(const kmm_blocks_t kmm__blocks, int n, T *x)
// CHECK: kmm_rank(kmm__blocks)

void f(int n, int *x)
{
    hipDeviceProp_t p;
    if (hipGetDeviceProperties(&p, 0) == hipSuccess)
        std::printf("%s\n", p.gcnArchName);
#pragma kmm parallel(i = 0:n) write(x[i])
    lanes<<<(n + 63) / 64, 64>>>(n, x);
// CHECK: kmm_lanes<<<(n + 63) / 64, 64>>>(kmm_blocks_t(), n, x);
}
// OBJECT-DAG: _Z{{[0-9]+}}kmm_lanesIiEv10kmm_blocksiPT_
// OBJECT-DAG: U kmm_launch_arm
// HOST: error: no member named 'gcnArchName'
