/* SPDX-License-Identifier: Apache-2.0 */
/* Warp operations. Each is one exchange of values among the lanes of a mask. */
#ifndef KMM_HOST_WARP_H
#define KMM_HOST_WARP_H

/* Returns the value of lane from(own lane), or the own value if that lane is not in the mask. */
template <class kmm_T, class kmm_F>
static inline kmm_T kmm_host_shuffle(unsigned mask, kmm_T value, kmm_F from)
{
    return kmm_host_meet<kmm_T>(
        mask, value, [from](const kmm_host_lanes<kmm_T> &lanes, uint32_t lane) {
            const int source = from((int)lane);
            return lanes.value[lanes.here >> source & 1 ? (uint32_t)source : lane];
        });
}
template <class kmm_T>
static inline kmm_T __shfl_sync(unsigned mask, kmm_T value, int source, int width = 32)
{
    return kmm_host_shuffle(mask, value, [source, width](int lane) {
        return (lane & ~(width - 1)) + (source & (width - 1));
    });
}
template <class kmm_T>
static inline kmm_T __shfl_up_sync(unsigned mask, kmm_T value, unsigned delta, int width = 32)
{
    return kmm_host_shuffle(mask, value, [delta, width](int lane) {
        return lane - (int)delta < (lane & ~(width - 1)) ? lane : lane - (int)delta;
    });
}
template <class kmm_T>
static inline kmm_T __shfl_down_sync(unsigned mask, kmm_T value, unsigned delta, int width = 32)
{
    return kmm_host_shuffle(mask, value, [delta, width](int lane) {
        return lane + (int)delta >= (lane & ~(width - 1)) + width ? lane : lane + (int)delta;
    });
}
template <class kmm_T>
static inline kmm_T __shfl_xor_sync(unsigned mask, kmm_T value, int bits, int width = 32)
{
    return kmm_host_shuffle(mask, value, [bits, width](int lane) {
        return (lane ^ bits) >= (lane & ~(width - 1)) + width ? lane : lane ^ bits;
    });
}

/* Returns the mask of the lanes for which holds(their value, own value) is true. */
template <class kmm_T, class kmm_F>
static inline unsigned kmm_host_where(unsigned mask, kmm_T value, kmm_F holds)
{
    return kmm_host_meet<unsigned>(
        mask, value, [holds](const kmm_host_lanes<kmm_T> &lanes, uint32_t lane) {
            unsigned out = 0;
            for (uint32_t k = 0; k < 32; k++)
                if (lanes.here >> k & 1)
                    out |= holds(lanes.value[k], lanes.value[lane]) ? 1u << k : 0;
            return out;
        });
}
static inline unsigned __ballot_sync(unsigned mask, int p)
{
    return kmm_host_where(mask, p, [](int v, int) { return v != 0; });
}
static inline int __any_sync(unsigned mask, int p)
{
    return kmm_host_meet<int>(mask, p, [](const kmm_host_lanes<int> &lanes, uint32_t) {
        int any = 0;
        for (uint32_t k = 0; k < 32; k++)
            any |= (lanes.here >> k & 1) && lanes.value[k];
        return any;
    });
}
static inline int __all_sync(unsigned mask, int p)
{
    return kmm_host_meet<int>(mask, p, [](const kmm_host_lanes<int> &lanes, uint32_t) {
        int all = 1;
        for (uint32_t k = 0; k < 32; k++)
            all &= !(lanes.here >> k & 1) || lanes.value[k];
        return all;
    });
}
struct kmm_host_warp_barrier {
#ifndef KMM_HOST_PARSE
    static void kmm__block(kmm_host_block &, kmm_host_kept<void> &) {}
#endif
};
static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
#ifndef KMM_HOST_PARSE
    if (kmm_host_bringing)
        return kmm_host_bring<kmm_host_warp_barrier, void>::kmm_call();
#endif
    __any_sync(mask, 0);
}

/* Always inlined, so that each call in the program has its own address. */
__attribute__((__always_inline__)) static inline unsigned __activemask()
{
    return kmm_fiber_active();
}

template <class kmm_T> static inline unsigned __match_any_sync(unsigned mask, kmm_T value)
{
    return kmm_host_where(mask, value,
                          [](kmm_T a, kmm_T b) { return memcmp(&a, &b, sizeof(kmm_T)) == 0; });
}
/* Returns the mask, and 1 in `same`, if all lanes have the same value. Otherwise returns 0, and 0
 * in `same`. */
template <class kmm_T>
static inline unsigned __match_all_sync(unsigned mask, kmm_T value, int *same)
{
    const unsigned alike =
        kmm_host_meet<unsigned>(mask, value, [](const kmm_host_lanes<kmm_T> &lanes, uint32_t lane) {
            for (uint32_t k = 0; k < 32; k++)
                if ((lanes.here >> k & 1) &&
                    memcmp(&lanes.value[k], &lanes.value[lane], sizeof(kmm_T)) != 0)
                    return 0u;
            return lanes.here;
        });
    *same = alike != 0;
    return alike;
}

/* Folds the values in the order of the lanes. */
template <class kmm_T, class kmm_F>
static inline kmm_T kmm_host_reduce(unsigned mask, kmm_T value, kmm_F fold)
{
    return kmm_host_meet<kmm_T>(
        mask, value, [fold](const kmm_host_lanes<kmm_T> &lanes, uint32_t lane) {
            kmm_T result = lanes.value[lane];
            bool first = true;
            for (uint32_t k = 0; k < 32; k++)
                if (lanes.here >> k & 1) {
                    result = first ? lanes.value[k] : fold(result, lanes.value[k]);
                    first = false;
                }
            return result;
        });
}
template <class kmm_T> static inline kmm_T __reduce_add_sync(unsigned m, kmm_T v)
{
    return kmm_host_reduce(m, v, [](kmm_T a, kmm_T b) { return (kmm_T)(a + b); });
}
template <class kmm_T> static inline kmm_T __reduce_min_sync(unsigned m, kmm_T v)
{
    return kmm_host_reduce(m, v, [](kmm_T a, kmm_T b) { return b < a ? b : a; });
}
template <class kmm_T> static inline kmm_T __reduce_max_sync(unsigned m, kmm_T v)
{
    return kmm_host_reduce(m, v, [](kmm_T a, kmm_T b) { return a < b ? b : a; });
}
template <class kmm_T> static inline kmm_T __reduce_and_sync(unsigned m, kmm_T v)
{
    return kmm_host_reduce(m, v, [](kmm_T a, kmm_T b) { return (kmm_T)(a & b); });
}
template <class kmm_T> static inline kmm_T __reduce_or_sync(unsigned m, kmm_T v)
{
    return kmm_host_reduce(m, v, [](kmm_T a, kmm_T b) { return (kmm_T)(a | b); });
}
template <class kmm_T> static inline kmm_T __reduce_xor_sync(unsigned m, kmm_T v)
{
    return kmm_host_reduce(m, v, [](kmm_T a, kmm_T b) { return (kmm_T)(a ^ b); });
}

#endif
