// SPDX-License-Identifier: Apache-2.0
// The kernels of the oracle's programs (tests/runtime/test_oracle.c) on a GPU, and as the runtime knows them. By nvcc or by hipcc.
#ifdef __HIP__
#include <hip/hip_runtime.h>
#define KIND KMM_KIND_HIP
#else
#include <cuda_runtime.h>
#define KIND KMM_KIND_CUDA
#endif
#include <stdio.h>

#include "oracle.h"

// The place is that in the grid of the launch: what the clone is given says where its own grid lies in it.
__device__ static void run(const kmm_blocks_t &blocks, const manner_t &m, void *target, void *source0, void *source1, void *extra)
{
    uint64_t at[3] = {(uint64_t)(blockIdx.x + blocks.offset_x) * blockDim.x + threadIdx.x,
                      (uint64_t)(blockIdx.y + blocks.offset_y) * blockDim.y + threadIdx.y,
                      (uint64_t)(blockIdx.z + blocks.offset_z) * blockDim.z + threadIdx.z};
    places_t p = {target, {source0, source1}, extra};
    uint32_t grid[3] = {blocks.grid_x ? blocks.grid_x : gridDim.x, blocks.grid_y ? blocks.grid_y : gridDim.y,
                        blocks.grid_z ? blocks.grid_z : gridDim.z};
    uint64_t all[3] = {(uint64_t)grid[0] * blockDim.x, (uint64_t)grid[1] * blockDim.y, (uint64_t)grid[2] * blockDim.z};
    oracle_thread(&m, at, all, &p);
}

__global__ void oracle(manner_t m, void *target, void *source0, void *source1, void *extra)
{
    run(kmm_blocks_t{0, 0, 0, 0, 0, 0}, m, target, source0, source1, extra);
}

__global__ void kmm_oracle(kmm_blocks_t blocks, manner_t m, void *target, void *source0, void *source1, void *extra)
{
    run(blocks, m, target, source0, source1, extra);
}

static const uint32_t bytes[] = {sizeof(kmm_blocks_t), sizeof(manner_t), 8, 8, 8, 8};
static kmm_kernel_t whole = {KMM_LAUNCH_VERSION, KIND, "oracle", NULL, NULL, 5, bytes + 1, 0, NULL};
extern "C" {
kmm_kernel_t oracle_kernel = {KMM_LAUNCH_VERSION, KIND, "kmm_oracle", NULL, NULL, 6, bytes, 1, &whole};
}

#ifdef __HIP__
static int find(kmm_kernel_t *k, const void *function)
{
    k->handle = const_cast<void *>(function);
    return 0;
}
#else
static int find(kmm_kernel_t *k, const void *function)
{
    cudaKernel_t handle;
    cudaError_t status = cudaGetKernel(&handle, function);
    if (status != cudaSuccess)
        fprintf(stderr, "%s: %s\n", k->name, cudaGetErrorString(status));
    k->handle = (void *)handle;
    return status != cudaSuccess;
}
#endif

// In the process that launches them: a forked one cannot use what its parent has made of CUDA.
extern "C" int oracle_kernel_find(void)
{
    return find(&whole, (const void *)oracle) || find(&oracle_kernel, (const void *)kmm_oracle);
}
