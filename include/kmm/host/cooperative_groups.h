/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups: thread blocks, and tiles of a warp. A grid cannot synchronize. An operation
 * of a group is one exchange of values among its lanes (kmm_call.h). */
#ifndef KMM_HOST_COOPERATIVE_GROUPS_H
#define KMM_HOST_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device begin
#endif

namespace cooperative_groups
{

static inline unsigned kmm_rank()
{
    return ::threadIdx.x + ::blockDim.x * (::threadIdx.y + ::blockDim.y * ::threadIdx.z);
}
static inline unsigned kmm_size() { return ::blockDim.x * ::blockDim.y * ::blockDim.z; }

/* A group of `count` neighbouring threads: the whole block, or a tile of a warp. The first thread's
 * rank is a multiple of `count`. */
class thread_group
{
  protected:
    unsigned kmm_count;

  public:
    explicit thread_group(unsigned count) : kmm_count(count) {}
    unsigned size() const { return kmm_count; }
    unsigned num_threads() const { return kmm_count; }
    unsigned thread_rank() const { return kmm_rank() % kmm_count; }
    unsigned kmm_mask() const
    {
        return kmm_count >= 32
                   ? 0xffffffffu
                   : ((1u << kmm_count) - 1) << (kmm_rank() % 32 / kmm_count * kmm_count);
    }
    void sync() const
    {
        if (kmm_count == kmm_size() || kmm_count > 32)
            __syncthreads();
        else
            __syncwarp(kmm_mask());
    }
};

class thread_block : public thread_group
{
  public:
    typedef int arrival_token;
    thread_block() : thread_group(kmm_size()) {}
    static void sync() { __syncthreads(); }
    /* Arriving does not wait. barrier_wait is the barrier for all threads. */
    static arrival_token barrier_arrive() { return 0; }
    static void barrier_wait(arrival_token) { __syncthreads(); }
    static unsigned thread_rank() { return kmm_rank(); }
    static dim3 group_index() { return dim3(::blockIdx.x, ::blockIdx.y, ::blockIdx.z); }
    static dim3 thread_index() { return dim3(::threadIdx.x, ::threadIdx.y, ::threadIdx.z); }
    static dim3 group_dim() { return ::blockDim; }
    static dim3 dim_threads() { return ::blockDim; }
    static unsigned size() { return kmm_size(); }
    static unsigned num_threads() { return kmm_size(); }
};
static inline thread_block this_thread_block() { return thread_block(); }

/* The grid as kernels see it: ranks and sizes. It cannot synchronize, since blocks do not wait for
 * each other. */
class grid_group
{
  public:
    typedef int arrival_token;
    void sync() const KMM_HOST_MISSING(
        "cooperative_groups::grid_group::sync(), for which all blocks would have to wait, is");
    arrival_token barrier_arrive() const
        KMM_HOST_MISSING("cooperative_groups::grid_group::barrier_arrive(), for which all blocks "
                         "would have to wait, is");
    void barrier_wait(arrival_token) const
        KMM_HOST_MISSING("cooperative_groups::grid_group::barrier_wait(), for which all blocks "
                         "would have to wait, is");
    static bool is_valid() { return false; }
    static unsigned long long num_blocks()
    {
        return (unsigned long long)::gridDim.x * ::gridDim.y * ::gridDim.z;
    }
    static unsigned long long block_rank()
    {
        return ::blockIdx.x +
               ::gridDim.x * (::blockIdx.y + (unsigned long long)::gridDim.y * ::blockIdx.z);
    }
    static dim3 block_index() { return dim3(::blockIdx.x, ::blockIdx.y, ::blockIdx.z); }
    static dim3 dim_blocks() { return ::gridDim; }
    static unsigned long long size() { return num_blocks() * kmm_size(); }
    static unsigned long long num_threads() { return size(); }
    static unsigned long long thread_rank() { return block_rank() * kmm_size() + kmm_rank(); }
    static dim3 group_dim() { return ::gridDim; }
};
static inline grid_group this_grid() { return grid_group(); }
class KMM_HOST_MISSING("cooperative_groups::multi_grid_group is") multi_grid_group;
class KMM_HOST_MISSING("cooperative_groups::cluster_group is") cluster_group;
template <class kmm_T = int>
kmm_T this_multi_grid() KMM_HOST_MISSING("cooperative_groups::multi_grid_group is");
template <class kmm_T = int>
kmm_T this_cluster() KMM_HOST_MISSING("cooperative_groups::cluster_group is");
class kmm_tile : public thread_group
{
  public:
    explicit kmm_tile(unsigned count) : thread_group(count) {}
    unsigned meta_group_rank() const { return kmm_rank() / kmm_count; }
    unsigned meta_group_size() const { return (kmm_size() + kmm_count - 1) / kmm_count; }
    template <class kmm_T> kmm_T shfl(kmm_T v, unsigned rank) const
    {
        return __shfl_sync(kmm_mask(), v, (int)rank, (int)kmm_count);
    }
    template <class kmm_T> kmm_T shfl_up(kmm_T v, unsigned by) const
    {
        return __shfl_up_sync(kmm_mask(), v, by, (int)kmm_count);
    }
    template <class kmm_T> kmm_T shfl_down(kmm_T v, unsigned by) const
    {
        return __shfl_down_sync(kmm_mask(), v, by, (int)kmm_count);
    }
    template <class kmm_T> kmm_T shfl_xor(kmm_T v, unsigned bits) const
    {
        return __shfl_xor_sync(kmm_mask(), v, (int)bits, (int)kmm_count);
    }
    int any(int p) const { return __any_sync(kmm_mask(), p); }
    int all(int p) const { return __all_sync(kmm_mask(), p); }
    unsigned ballot(int p) const
    {
        return kmm_where(p, [](int v, int) { return v != 0; });
    }
    template <class kmm_T> unsigned match_any(kmm_T v) const
    {
        return kmm_where(
            v, [](const kmm_T &a, const kmm_T &b) { return memcmp(&a, &b, sizeof(kmm_T)) == 0; });
    }
    /* Returns the tile's mask, and 1 in `same`, if all lanes have the same value. Otherwise returns
     * 0, and 0 in `same`. */
    template <class kmm_T> unsigned match_all(kmm_T v, int &same) const
    {
        const unsigned count = kmm_count;
        return kmm_host_meet<unsigned>(
            kmm_mask(), kmm_told<kmm_T>(v, same),
            [count](const kmm_host_lanes<kmm_told<kmm_T>> &lanes, uint32_t lane) {
                unsigned out = 0;
                bool alike = true;
                for (uint32_t k = 0; k < 32; k++)
                    if (lanes.here >> k & 1) {
                        alike &= memcmp(&lanes.value[k].value, &lanes.value[lane].value,
                                        sizeof(kmm_T)) == 0;
                        out |= 1u << (k % count);
                    }
                *lanes.value[lane].told = alike;
                return alike ? out : 0u;
            });
    }

  private:
    template <class kmm_T> struct kmm_told {
        kmm_T value;
        int *told;
        kmm_told(kmm_T v, int &told) : value(v), told(&told) {}
    };
    /* Returns the lanes of the tile for which holds(their value, own value) is true. Bit 0 is the
     * tile's first lane. */
    template <class kmm_T, class kmm_F> unsigned kmm_where(kmm_T value, kmm_F holds) const
    {
        const unsigned count = kmm_count;
        return kmm_host_meet<unsigned>(
            kmm_mask(), value, [holds, count](const kmm_host_lanes<kmm_T> &lanes, uint32_t lane) {
                unsigned out = 0;
                const uint32_t first = lane / count * count;
                for (uint32_t k = 0; k < count; k++)
                    if (lanes.here >> (first + k) & 1)
                        out |= holds(lanes.value[first + k], lanes.value[lane]) ? 1u << k : 0;
                return out;
            });
    }
};

template <unsigned count, class kmm_Parent = void> class thread_block_tile : public kmm_tile
{
    static_assert(count >= 1 && count <= 32 && (count & (count - 1)) == 0,
                  "kmm: tiles have 1, 2, 4, 8, 16 or 32 threads");

  public:
    thread_block_tile() : kmm_tile(count) {}
    template <class kmm_Other>
    thread_block_tile(const thread_block_tile<count, kmm_Other> &) : kmm_tile(count)
    {
    }
    static constexpr unsigned size() { return count; }
    static constexpr unsigned num_threads() { return count; }
};
template <unsigned count, class kmm_G>
static inline typename std::enable_if<(count <= 32), thread_block_tile<count, kmm_G>>::type
tiled_partition(const kmm_G &)
{
    return thread_block_tile<count, kmm_G>();
}
template <unsigned count, class kmm_G>
typename std::enable_if<(count > 32), thread_block_tile<32, kmm_G>>::type
tiled_partition(const kmm_G &) KMM_HOST_MISSING("tiles of more than 32 threads are");
static inline thread_group tiled_partition(const thread_group &, unsigned count)
{
    return thread_group(count);
}

/*
 * Any subset of a warp's lanes. coalesced_threads() leaves it to the machine which lanes it has; on
 * the CPU it is the calling thread alone. labeled_partition and binary_partition make larger
 * groups.
 */
class coalesced_group
{
    unsigned kmm_lanes;

    static unsigned kmm_count(unsigned lanes) { return (unsigned)__builtin_popcount(lanes); }
    /* Returns the lane of the n-th bit set in `lanes`, counted from 0; 32 if fewer bits are set. */
    static uint32_t kmm_nth(unsigned lanes, unsigned n)
    {
        for (uint32_t k = 0; k < 32; k++)
            if ((lanes >> k & 1) && n-- == 0)
                return k;
        return 32;
    }
    static unsigned kmm_before(unsigned lanes, uint32_t lane)
    {
        return kmm_count(lanes & ((1u << lane) - 1));
    }
    /* Returns the value of the lane whose rank is from(own rank). Returns the own value if no lane
     * has that rank. */
    template <class kmm_T, class kmm_F> kmm_T kmm_taken(kmm_T v, kmm_F from) const
    {
        const unsigned own = kmm_lanes;
        return kmm_host_meet<kmm_T>(
            own, v, [own, from](const kmm_host_lanes<kmm_T> &lanes, uint32_t lane) {
                const uint32_t source = kmm_nth(own, from(kmm_before(own, lane)));
                return lanes.value[source < 32 && (lanes.here >> source & 1) ? source : lane];
            });
    }
    /* Returns a mask of ranks: those for which holds(their value, own value) is true. */
    template <class kmm_T, class kmm_F> unsigned kmm_where(kmm_T v, kmm_F holds) const
    {
        const unsigned own = kmm_lanes;
        return kmm_host_meet<unsigned>(
            own, v, [own, holds](const kmm_host_lanes<kmm_T> &lanes, uint32_t lane) {
                unsigned out = 0, rank = 0;
                for (uint32_t k = 0; k < 32; k++)
                    if (own >> k & 1)
                        out |= (unsigned)((lanes.here >> k & 1) &&
                                          holds(lanes.value[k], lanes.value[lane]))
                               << rank++;
                return out;
            });
    }

  public:
    coalesced_group() : kmm_lanes(1u << kmm_rank() % 32) {}
    explicit coalesced_group(unsigned lanes) : kmm_lanes(lanes) {}
    unsigned kmm_mask() const { return kmm_lanes; }
    unsigned size() const { return kmm_count(kmm_lanes); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const { return kmm_before(kmm_lanes, kmm_rank() % 32); }
    unsigned meta_group_rank() const { return 0; }
    unsigned meta_group_size() const { return 1; }
    void sync() const { __syncwarp(kmm_lanes); }
    template <class kmm_T> kmm_T shfl(kmm_T v, unsigned rank) const
    {
        return kmm_taken(v, [rank](unsigned) { return rank; });
    }
    template <class kmm_T> kmm_T shfl_up(kmm_T v, unsigned by) const
    {
        return kmm_taken(v, [by](unsigned own) { return own < by ? own : own - by; });
    }
    template <class kmm_T> kmm_T shfl_down(kmm_T v, unsigned by) const
    {
        return kmm_taken(v, [by](unsigned own) { return own + by; });
    }
    int any(int p) const { return __any_sync(kmm_lanes, p); }
    int all(int p) const { return __all_sync(kmm_lanes, p); }
    unsigned ballot(int p) const
    {
        return kmm_where(p, [](int v, int) { return v != 0; });
    }
    template <class kmm_T> unsigned match_any(kmm_T v) const
    {
        return kmm_where(
            v, [](const kmm_T &a, const kmm_T &b) { return memcmp(&a, &b, sizeof(kmm_T)) == 0; });
    }
};
static inline coalesced_group coalesced_threads() { return coalesced_group(); }

/* Returns the group of those threads that have the same label. */
template <class kmm_G, class kmm_T>
static inline coalesced_group labeled_partition(const kmm_G &g, kmm_T label)
{
    return kmm_host_meet<coalesced_group>(
        g.kmm_mask(), label, [](const kmm_host_lanes<kmm_T> &lanes, uint32_t lane) {
            unsigned out = 0;
            for (uint32_t k = 0; k < 32; k++)
                out |= (lanes.here >> k & 1) &&
                               memcmp(&lanes.value[k], &lanes.value[lane], sizeof(kmm_T)) == 0
                           ? 1u << k
                           : 0;
            return coalesced_group(out);
        });
}
template <class kmm_G> static inline coalesced_group binary_partition(const kmm_G &g, bool which)
{
    return kmm_host_meet<coalesced_group>(
        g.kmm_mask(), which, [](const kmm_host_lanes<bool> &lanes, uint32_t lane) {
            unsigned out = 0;
            for (uint32_t k = 0; k < 32; k++)
                out |= (lanes.here >> k & 1) && lanes.value[k] == lanes.value[lane] ? 1u << k : 0;
            return coalesced_group(out);
        });
}

template <class kmm_G> static inline void sync(const kmm_G &g) { g.sync(); }
template <class kmm_G> static inline unsigned thread_rank(const kmm_G &g)
{
    return g.thread_rank();
}
template <class kmm_G> static inline unsigned group_size(const kmm_G &g) { return g.size(); }

template <class kmm_T> struct plus {
    kmm_T operator()(kmm_T a, kmm_T b) const { return a + b; }
};
template <class kmm_T> struct less {
    kmm_T operator()(kmm_T a, kmm_T b) const { return b < a ? b : a; }
};
template <class kmm_T> struct greater {
    kmm_T operator()(kmm_T a, kmm_T b) const { return a < b ? b : a; }
};
template <class kmm_T> struct bit_and {
    kmm_T operator()(kmm_T a, kmm_T b) const { return a & b; }
};
template <class kmm_T> struct bit_or {
    kmm_T operator()(kmm_T a, kmm_T b) const { return a | b; }
};
template <class kmm_T> struct bit_xor {
    kmm_T operator()(kmm_T a, kmm_T b) const { return a ^ b; }
};

/* Folds the values of the group's lanes in ascending order: of all lanes (`whole`), of those up to
 * the own one (`own`), or of those before it. Returns `none` if there are none. */
template <class kmm_G, class kmm_T, class kmm_F>
static inline kmm_T kmm_folded(const kmm_G &g, kmm_T value, kmm_F fold, bool whole, bool own,
                               kmm_T none)
{
    return kmm_host_meet<kmm_T>(
        g.kmm_mask(), value, [=](const kmm_host_lanes<kmm_T> &lanes, uint32_t lane) {
            const uint32_t end = whole ? 32 : own ? lane + 1 : lane;
            kmm_T result = none;
            for (uint32_t k = 0, any = 0; k < end; k++)
                if (lanes.here >> k & 1) {
                    result = any ? fold(result, lanes.value[k]) : lanes.value[k];
                    any = 1;
                }
            return result;
        });
}

/* Every thread of the tile gets the result. The order of the folding is the same for all. */
template <class kmm_G, class kmm_T, class kmm_F>
static inline kmm_T reduce(const kmm_G &g, kmm_T value, kmm_F fold)
{
    return kmm_folded(g, value, fold, true, true, value);
}
template <class kmm_G, class kmm_T, class kmm_F>
static inline kmm_T inclusive_scan(const kmm_G &g, kmm_T value, kmm_F fold)
{
    return kmm_folded(g, value, fold, false, true, value);
}
template <class kmm_G, class kmm_T> static inline kmm_T inclusive_scan(const kmm_G &g, kmm_T value)
{
    return kmm_folded(g, value, plus<kmm_T>(), false, true, value);
}
template <class kmm_G, class kmm_T, class kmm_F>
static inline kmm_T exclusive_scan(const kmm_G &g, kmm_T value, kmm_F fold)
{
    return kmm_folded(g, value, fold, false, false, kmm_T());
}
template <class kmm_G, class kmm_T> static inline kmm_T exclusive_scan(const kmm_G &g, kmm_T value)
{
    return kmm_folded(g, value, plus<kmm_T>(), false, false, kmm_T());
}

/* The group's first thread calls f, no other does. */
template <class kmm_G, class kmm_F, class... kmm_A>
static inline void invoke_one(const kmm_G &g, kmm_F &&f, kmm_A &&...args)
{
    if (g.thread_rank() == 0)
        f(static_cast<kmm_A &&>(args)...);
}

/* ---- Copies by all threads of a group; the program may use them after the group has waited. kmm
 * copies at once ---- */
template <size_t alignment> struct aligned_size_t {
    size_t value;
    explicit aligned_size_t(size_t n) : value(n) {}
    operator size_t() const { return value; }
};
template <class kmm_G>
static inline void kmm_copy(const kmm_G &g, void *to, const void *from, size_t bytes)
{
    const size_t piece = 16, step = piece * g.size();
    for (size_t at = piece * g.thread_rank(); at < bytes; at += step)
        memcpy(static_cast<char *>(to) + at, static_cast<const char *>(from) + at,
               bytes - at < piece ? bytes - at : piece);
}
template <class kmm_G, class kmm_T, class kmm_U, class kmm_S>
static inline void memcpy_async(const kmm_G &g, kmm_T *to, const kmm_U *from, kmm_S bytes)
{
    kmm_copy(g, to, from, bytes);
}
/* The two layouts are numbers of elements. The smaller number is copied. */
template <class kmm_G, class kmm_T, class kmm_L, class kmm_M>
static inline void memcpy_async(const kmm_G &g, kmm_T *to, kmm_L room, const kmm_T *from,
                                kmm_M count)
{
    const size_t elements = (size_t)room < (size_t)count ? (size_t)room : (size_t)count;
    kmm_copy(g, to, from, elements * sizeof(kmm_T));
}
template <class kmm_G> static inline void wait(const kmm_G &g) { g.sync(); }
template <unsigned stages, class kmm_G> static inline void wait_prior(const kmm_G &g) { g.sync(); }

} // namespace cooperative_groups

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device end
#endif
#endif
