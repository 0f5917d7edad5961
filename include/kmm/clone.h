/* SPDX-License-Identifier: Apache-2.0 */
/* Device functions for clones: kernels that run a part of their grid, on NVIDIA and AMD GPUs. */
#ifndef KMM_CLONE_H
#define KMM_CLONE_H

#ifdef KMM_CHECKED
#include "check.h"
#endif
#include "launch.h"
#include "names_begin.h"

#if defined(__CUDACC__) || defined(__HIPCC__)
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define KMM_IS_DEVICE_CODE 1
#endif

#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)
/* The type of blockIdx in a clone. AMD's own uint3 does not serve: its members are objects that
 * convert to numbers. */
struct kmm_uint3 {
    uint32_t x, y, z;
    __host__ __device__ operator uint3() const { return make_uint3(x, y, z); }
    __host__ __device__ operator dim3() const { return dim3(x, y, z); }
};
static __host__ __device__ __forceinline__ kmm_uint3 kmm_make_uint3(uint32_t x, uint32_t y,
                                                                    uint32_t z)
{
    return kmm_uint3{x, y, z};
}
#else
typedef uint3 kmm_uint3;
static __host__ __device__ __forceinline__ uint3 kmm_make_uint3(uint32_t x, uint32_t y, uint32_t z)
{
    return make_uint3(x, y, z);
}
#endif

/* The block index and the grid of the original launch. Functions that run on both sides name these
 * too; on the host they return nothing of use. */
static __host__ __device__ __forceinline__ kmm_uint3
kmm_block_index(const kmm_blocks_t &kmm__blocks)
{
#ifdef KMM_IS_DEVICE_CODE
    return kmm_make_uint3(blockIdx.x + kmm__blocks.offset_x, blockIdx.y + kmm__blocks.offset_y,
                          blockIdx.z + kmm__blocks.offset_z);
#else
    return kmm_make_uint3(kmm__blocks.offset_x, kmm__blocks.offset_y, kmm__blocks.offset_z);
#endif
}

static __host__ __device__ __forceinline__ dim3 kmm_grid_dim(const kmm_blocks_t &kmm__blocks)
{
    return dim3(kmm__blocks.grid_x, kmm__blocks.grid_y, kmm__blocks.grid_z);
}

/* Returns the part of the grid that is the whole grid. */
static __device__ __forceinline__ kmm_blocks_t kmm_all_blocks()
{
#ifdef KMM_IS_DEVICE_CODE
    kmm_blocks_t all = kmm_blocks_t();
    all.grid_x = gridDim.x;
    all.grid_y = gridDim.y;
    all.grid_z = gridDim.z;
    return all;
#else
    return kmm_blocks_t();
#endif
}

/* Where every kernel stores which part of the grid runs, in shared memory. Functions that kernels
 * do not call by name read it there, since they cannot have it as a parameter. All threads store
 * the same value, and each reads after its own store. */
static __device__ __forceinline__ kmm_blocks_t &kmm_shared_place()
{
    __shared__ kmm_blocks_t kmm__blocks;
    return kmm__blocks;
}

static __device__ __forceinline__ void kmm_share_blocks(const kmm_blocks_t &kmm__blocks)
{
    kmm_shared_place() = kmm__blocks;
}

static __host__ __device__ __forceinline__ kmm_blocks_t kmm_shared_blocks()
{
#ifdef KMM_IS_DEVICE_CODE
    return kmm_shared_place();
#else
    return kmm_blocks_t();
#endif
}

#ifndef KMM_CHECKED
/* A kmm_partials_head_t and its strides. Bit k of Moved is set if the clone's parameter k is a
 * moved pointer; this is parameter 0. Count is the number of these. libkmm reads Moved from the
 * clone's mangled name. */
template <unsigned Moved, int Count> struct kmm_partials {
    kmm_blocks_t blocks;
    uint32_t chunks_x, chunks_y;
    uint32_t inverse[3], shift[3];
    uint64_t stride[Count];
};

/* The number of the chunk that the thread's block belongs to. */
template <unsigned Moved, int Count>
static __device__ __forceinline__ uint32_t kmm_chunk_of(const kmm_partials<Moved, Count> &parts)
{
#ifdef KMM_IS_DEVICE_CODE
    const kmm_uint3 block = kmm_block_index(parts.blocks);
    return ((__umulhi(parts.inverse[2], 2 * block.z) >> parts.shift[2]) * parts.chunks_y +
            (__umulhi(parts.inverse[1], 2 * block.y) >> parts.shift[1])) *
               parts.chunks_x +
           (__umulhi(parts.inverse[0], 2 * block.x) >> parts.shift[0]);
#else
    return 0;
#endif
}

/* A pointer into what is reduced, or into anything else, `bytes` further. */
template <class T> static __device__ __forceinline__ T *kmm_moved(T *p, uint64_t bytes)
{
    return (T *)((char *)p + bytes);
}
#endif

/* The ranks of cooperative_groups::grid_group. It cannot synchronize: then the kernel could not be
 * split. */
struct kmm_grid_group {
    kmm_blocks_t kmm__blocks;
    __device__ dim3 group_dim() const { return kmm_grid_dim(kmm__blocks); }
    __device__ dim3 dim_blocks() const { return kmm_grid_dim(kmm__blocks); }
    __device__ dim3 block_index() const { return dim3(kmm_block_index(kmm__blocks)); }
    __device__ unsigned long long num_blocks() const
    {
        return (unsigned long long)kmm__blocks.grid_x * kmm__blocks.grid_y * kmm__blocks.grid_z;
    }
    __device__ unsigned long long block_rank() const
    {
        const kmm_uint3 b = kmm_block_index(kmm__blocks);
        return ((unsigned long long)b.z * kmm__blocks.grid_y + b.y) * kmm__blocks.grid_x + b.x;
    }
    __device__ unsigned long long num_threads() const
    {
        return num_blocks() * (blockDim.x * blockDim.y * blockDim.z);
    }
    __device__ unsigned long long size() const { return num_threads(); }
    __device__ unsigned long long thread_rank() const
    {
        return block_rank() * (blockDim.x * blockDim.y * blockDim.z) +
               (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    __device__ bool is_valid() const { return false; }
};

static __device__ __forceinline__ kmm_grid_group kmm_this_grid(const kmm_blocks_t &kmm__blocks)
{
    return kmm_grid_group{kmm__blocks};
}
#endif

#include "names_end.h"
#endif
