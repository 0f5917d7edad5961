/* SPDX-License-Identifier: Apache-2.0 */
/* Thread blocks and tiles of warps. Threads are fibers where these are used; grids do not meet. */
#ifndef KMM_HOST_COOPERATIVE_GROUPS_H
#define KMM_HOST_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device begin
#endif

namespace cooperative_groups {

static inline unsigned kmm_rank()
{
    return ::threadIdx.x + ::blockDim.x * (::threadIdx.y + ::blockDim.y * ::threadIdx.z);
}
static inline unsigned kmm_size() { return ::blockDim.x * ::blockDim.y * ::blockDim.z; }

/* `count` neighbours of a block that begin at a multiple of it: the block itself, or a part of a warp. */
class thread_group {
protected:
    unsigned kmm_count;

public:
    explicit thread_group(unsigned count) : kmm_count(count) {}
    unsigned size() const { return kmm_count; }
    unsigned num_threads() const { return kmm_count; }
    unsigned thread_rank() const { return kmm_rank() % kmm_count; }
    unsigned kmm_mask() const
    {
        return kmm_count >= 32 ? 0xffffffffu : ((1u << kmm_count) - 1) << (kmm_rank() % 32 / kmm_count * kmm_count);
    }
    void sync() const
    {
        if (kmm_count == kmm_size() || kmm_count > 32)
            __syncthreads();
        else
            __syncwarp(kmm_mask());
    }
};

class thread_block : public thread_group {
public:
    thread_block() : thread_group(kmm_size()) {}
    void sync() const { __syncthreads(); }
    unsigned thread_rank() const { return kmm_rank(); }
    dim3 group_index() const { return dim3(::blockIdx.x, ::blockIdx.y, ::blockIdx.z); }
    dim3 thread_index() const { return dim3(::threadIdx.x, ::threadIdx.y, ::threadIdx.z); }
    dim3 group_dim() const { return ::blockDim; }
    dim3 dim_threads() const { return ::blockDim; }
};
static inline thread_block this_thread_block() { return thread_block(); }

/* What kernels may ask of their grid; its sync() is missing, as blocks do not wait for each other. */
class grid_group {
public:
    bool is_valid() const { return false; }
    unsigned long long num_blocks() const { return (unsigned long long)::gridDim.x * ::gridDim.y * ::gridDim.z; }
    unsigned long long block_rank() const
    {
        return ::blockIdx.x + ::gridDim.x * (::blockIdx.y + (unsigned long long)::gridDim.y * ::blockIdx.z);
    }
    unsigned long long size() const { return num_blocks() * kmm_size(); }
    unsigned long long num_threads() const { return size(); }
    unsigned long long thread_rank() const { return block_rank() * kmm_size() + kmm_rank(); }
    dim3 group_dim() const { return ::gridDim; }
};
static inline grid_group this_grid() { return grid_group(); }

class kmm_tile : public thread_group {
public:
    explicit kmm_tile(unsigned count) : thread_group(count) {}
    unsigned meta_group_rank() const { return kmm_rank() / kmm_count; }
    unsigned meta_group_size() const { return (kmm_size() + kmm_count - 1) / kmm_count; }
    template <class T> T shfl(T v, unsigned rank) const { return __shfl_sync(kmm_mask(), v, (int)rank, (int)kmm_count); }
    template <class T> T shfl_up(T v, unsigned by) const { return __shfl_up_sync(kmm_mask(), v, by, (int)kmm_count); }
    template <class T> T shfl_down(T v, unsigned by) const { return __shfl_down_sync(kmm_mask(), v, by, (int)kmm_count); }
    template <class T> T shfl_xor(T v, unsigned bits) const { return __shfl_xor_sync(kmm_mask(), v, (int)bits, (int)kmm_count); }
    int any(int p) const { return __any_sync(kmm_mask(), p); }
    int all(int p) const { return __all_sync(kmm_mask(), p); }
    unsigned ballot(int p) const { return kmm_shifted(__ballot_sync(kmm_mask(), p)); }
    template <class T> unsigned match_any(T v) const { return kmm_shifted(__match_any_sync(kmm_mask(), v)); }

private:
    unsigned kmm_shifted(unsigned lanes) const { return kmm_count >= 32 ? lanes : (lanes & kmm_mask()) >> (kmm_rank() % 32 / kmm_count * kmm_count); }
};

template <unsigned count, class Parent = void> class thread_block_tile : public kmm_tile {
    static_assert(count >= 1 && count <= 32 && (count & (count - 1)) == 0, "kmm: tiles have 1, 2, 4, 8, 16 or 32 threads");

public:
    thread_block_tile() : kmm_tile(count) {}
    template <class Other> thread_block_tile(const thread_block_tile<count, Other> &) : kmm_tile(count) {}
    static constexpr unsigned size() { return count; }
    static constexpr unsigned num_threads() { return count; }
};
template <unsigned count, class G> static inline thread_block_tile<count, G> tiled_partition(const G &) { return thread_block_tile<count, G>(); }
static inline thread_group tiled_partition(const thread_group &, unsigned count) { return thread_group(count); }

/* Which threads go on together is the machine's choice: on the CPU each is alone. */
class coalesced_group {
public:
    unsigned size() const { return 1; }
    unsigned num_threads() const { return 1; }
    unsigned thread_rank() const { return 0; }
    unsigned meta_group_rank() const { return 0; }
    unsigned meta_group_size() const { return 1; }
    void sync() const {}
    template <class T> T shfl(T v, unsigned) const { return v; }
    template <class T> T shfl_up(T v, unsigned) const { return v; }
    template <class T> T shfl_down(T v, unsigned) const { return v; }
    template <class T> T shfl_xor(T v, unsigned) const { return v; }
    int any(int p) const { return p != 0; }
    int all(int p) const { return p != 0; }
    unsigned ballot(int p) const { return p != 0; }
    template <class T> unsigned match_any(T) const { return 1; }
};
static inline coalesced_group coalesced_threads() { return coalesced_group(); }

template <class G> static inline void sync(const G &g) { g.sync(); }
template <class G> static inline unsigned thread_rank(const G &g) { return g.thread_rank(); }
template <class G> static inline unsigned group_size(const G &g) { return g.size(); }

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

/* All threads of the tile get the result, folded in the same order. */
template <class G, class T, class F> static inline T reduce(const G &g, T value, F fold)
{
    T result = g.shfl(value, 0);
    for (unsigned k = 1; k < g.size(); k++)
        result = fold(result, g.shfl(value, k));
    return result;
}
template <class G, class T, class F> static inline T inclusive_scan(const G &g, T value, F fold)
{
    T result = value;
    for (unsigned k = 0; k < g.size(); k++) {
        T other = g.shfl(value, k);
        if (k < g.thread_rank())
            result = k == 0 ? other : fold(result, other);
        else if (k == g.thread_rank())
            result = k == 0 ? value : fold(result, value);
    }
    return result;
}
template <class G, class T> static inline T inclusive_scan(const G &g, T value) { return inclusive_scan(g, value, plus<T>()); }
template <class G, class T> static inline T exclusive_scan(const G &g, T value)
{
    T before = g.shfl_up(inclusive_scan(g, value, plus<T>()), 1);
    return g.thread_rank() ? before : T();
}

}

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device end
#endif
#endif
