/* SPDX-License-Identifier: Apache-2.0 */
/* How kernels that kmmcc has turned into C++ are launched and run. */
#ifndef KMM_HOST_KERNEL_H
#define KMM_HOST_KERNEL_H

#include "../cuda_api.h"
#include "fiber.h"
#include "vector_types.h"

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;

inline constexpr int warpSize = 32;

#ifdef __CUDA__
/* Only looked at: kmmcc replaces every launch, and kernels get their indices as parameters. */
extern const __attribute__((device)) uint3 threadIdx, blockIdx;
extern const __attribute__((device)) dim3 blockDim, gridDim;
extern "C" __attribute__((host)) int cudaConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = 0);
extern "C" __attribute__((host)) unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = 0);

#else

/* Of the thread that runs, for device functions that ask; kernels have them as parameters. */
inline thread_local uint3 threadIdx, blockIdx;
inline thread_local dim3 blockDim, gridDim;

/* ---- Launching ---- */

inline thread_local kmm_geometry_t kmm_host_geometry;

static inline void kmm_host_configure(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr)
{
    kmm_host_geometry = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes, stream};
}

static inline void kmm_host_launch(const kmm_kernel_t *kernel, void **args)
{
    kmm_cuda_launch(kernel, &kmm_host_geometry, args);
}

/* ---- Running some blocks ---- */

inline thread_local void *kmm_host_shared;

static inline void *kmm_host_dynamic_shared()
{
    return kmm_host_shared;
}

static inline uint3 kmm_host_block_index(const kmm_host_blocks_t *b, uint64_t k)
{
    uint64_t row = k / b->count[0];
    return {(unsigned)(k % b->count[0]) + b->offset[0], (unsigned)(row % b->count[1]) + b->offset[1],
            (unsigned)(row / b->count[1]) + b->offset[2]};
}

static inline void kmm_host_begin(const kmm_host_blocks_t *b)
{
    blockDim = dim3(b->block[0], b->block[1], b->block[2]);
    gridDim = dim3(b->grid[0], b->grid[1], b->grid[2]);
    if (b->shared_bytes)
        kmm_host_shared = kmm_host_shared_memory(b->shared_bytes);
}

/* Kernels without barriers: the threads of a block are a loop. They are not ordered among each
 * other, so the compiler need not prove that it may run several at once. */
template <class F> static inline void kmm_host_run(const kmm_host_blocks_t *b, F thread)
{
    const dim3 block(b->block[0], b->block[1], b->block[2]), grid(b->grid[0], b->grid[1], b->grid[2]);
    kmm_host_begin(b);
    for (uint64_t k = b->first; k < b->last; k++) {
        const uint3 index = kmm_host_block_index(b, k);
        for (unsigned z = 0; z < block.z; z++)
            for (unsigned y = 0; y < block.y; y++) {
#ifdef __clang__
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
                for (unsigned x = 0; x < block.x; x++)
                    thread(uint3{x, y, z}, index, block, grid);
            }
    }
}

/* The same for kernels whose helpers ask for the indices. */
template <class F> static inline void kmm_host_run_indices(const kmm_host_blocks_t *b, F thread)
{
    kmm_host_begin(b);
    for (uint64_t k = b->first; k < b->last; k++) {
        blockIdx = kmm_host_block_index(b, k);
        for (unsigned z = 0; z < blockDim.z; z++)
            for (unsigned y = 0; y < blockDim.y; y++)
                for (unsigned x = 0; x < blockDim.x; x++) {
                    threadIdx = {x, y, z};
                    thread(uint3{x, y, z}, blockIdx, blockDim, gridDim);
                }
    }
}

/* Kernels with barriers: each thread of a block is a fiber. */
template <class F> static inline void kmm_host_run_fibers(const kmm_host_blocks_t *b, F thread, const char *kernel = "kernel")
{
    kmm_host_begin(b);
    for (uint64_t k = b->first; k < b->last; k++) {
        blockIdx = kmm_host_block_index(b, k);
        kmm_fiber_run(blockDim.x * blockDim.y * blockDim.z, [](void *arg, unsigned i) {
            const uint3 index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
            threadIdx = index;
            (*(F *)arg)(index, blockIdx, blockDim, gridDim);
        }, &thread, kernel);
    }
}
#endif

#endif
