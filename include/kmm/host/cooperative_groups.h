/* SPDX-License-Identifier: Apache-2.0 */
/* Thread blocks and tiles of warps; grids do not meet. What meets is one exchange (kmm_call.h). */
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
    unsigned ballot(int p) const
    {
        return kmm_where(p, [](int v, int) { return v != 0; });
    }
    template <class T> unsigned match_any(T v) const
    {
        return kmm_where(v, [](const T &a, const T &b) { return memcmp(&a, &b, sizeof(T)) == 0; });
    }

private:
    /* The lanes of the tile whose values go with the own one; the tile's first is bit 0. */
    template <class T, class F> unsigned kmm_where(T value, F holds) const
    {
        const unsigned count = kmm_count;
        return kmm_host_meet<unsigned>(kmm_mask(), value, [holds, count](const kmm_host_lanes<T> &lanes, uint32_t lane) {
            unsigned out = 0;
            const uint32_t first = lane / count * count;
            for (uint32_t k = 0; k < count; k++)
                if (lanes.here >> (first + k) & 1)
                    out |= holds(lanes.value[first + k], lanes.value[lane]) ? 1u << k : 0;
            return out;
        });
    }
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
    unsigned kmm_mask() const { return 1u << kmm_rank() % 32; }
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

/* The values of the tile's lanes in their order: of all, of those up to the own one, or of those before it. */
template <class G, class T, class F> static inline T kmm_folded(const G &g, T value, F fold, bool whole, bool own, T none)
{
    const unsigned count = g.size();
    if (count == 1) /* a coalesced thread */
        return whole || own ? value : none;
    return kmm_host_meet<T>(g.kmm_mask(), value, [=](const kmm_host_lanes<T> &lanes, uint32_t lane) {
        const uint32_t first = lane / count * count, end = whole ? first + count : own ? lane + 1 : lane;
        T result = none;
        for (uint32_t k = first, any = 0; k < end; k++)
            if (lanes.here >> k & 1) {
                result = any ? fold(result, lanes.value[k]) : lanes.value[k];
                any = 1;
            }
        return result;
    });
}

/* All threads of the tile get the result, folded in the same order. */
template <class G, class T, class F> static inline T reduce(const G &g, T value, F fold) { return kmm_folded(g, value, fold, true, true, value); }
template <class G, class T, class F> static inline T inclusive_scan(const G &g, T value, F fold)
{
    return kmm_folded(g, value, fold, false, true, value);
}
template <class G, class T> static inline T inclusive_scan(const G &g, T value) { return kmm_folded(g, value, plus<T>(), false, true, value); }
template <class G, class T, class F> static inline T exclusive_scan(const G &g, T value, F fold)
{
    return kmm_folded(g, value, fold, false, false, T());
}
template <class G, class T> static inline T exclusive_scan(const G &g, T value) { return kmm_folded(g, value, plus<T>(), false, false, T()); }

}

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device end
#endif
#endif
