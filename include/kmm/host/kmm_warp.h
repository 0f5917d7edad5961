/* SPDX-License-Identifier: Apache-2.0 */
/* Warp operations: each is one exchange of a value among the lanes of the mask. */
#ifndef KMM_HOST_WARP_H
#define KMM_HOST_WARP_H

/* The value of `lane`; the own one when that is not in the operation. */
template <class T> static inline T kmm_host_shuffle(unsigned mask, T value, int lane)
{
    static_assert(sizeof(T) <= 8, "kmm: shuffles move values of at most 8 bytes");
    uint64_t word = 0, words[KMM_FIBER_WARP];
    memcpy(&word, &value, sizeof(value));
    uint32_t active = kmm_fiber_exchange(mask, word, words);
    if (active >> lane & 1)
        memcpy(&value, &words[lane], sizeof(value));
    return value;
}

template <class T> static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32)
{
    int lane = (int)kmm_fiber_lane();
    return kmm_host_shuffle(mask, value, (lane & ~(width - 1)) + (source & (width - 1)));
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    int lane = (int)kmm_fiber_lane(), first = lane & ~(width - 1);
    return kmm_host_shuffle(mask, value, lane - (int)delta < first ? lane : lane - (int)delta);
}
template <class T> static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    int lane = (int)kmm_fiber_lane(), end = (lane & ~(width - 1)) + width;
    return kmm_host_shuffle(mask, value, lane + (int)delta >= end ? lane : lane + (int)delta);
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
    int lane = (int)kmm_fiber_lane(), end = (lane & ~(width - 1)) + width;
    return kmm_host_shuffle(mask, value, (lane ^ bits) >= end ? lane : lane ^ bits);
}

static inline unsigned kmm_host_vote(unsigned mask, int predicate, unsigned *active)
{
    uint64_t words[KMM_FIBER_WARP];
    unsigned ballot = 0;
    *active = kmm_fiber_exchange(mask, predicate != 0, words);
    for (int k = 0; k < KMM_FIBER_WARP; k++)
        ballot |= (unsigned)words[k] << k;
    return ballot;
}
static inline unsigned __ballot_sync(unsigned mask, int p) { unsigned a; return kmm_host_vote(mask, p, &a); }
static inline int __any_sync(unsigned mask, int p) { unsigned a; return kmm_host_vote(mask, p, &a) != 0; }
static inline int __all_sync(unsigned mask, int p) { unsigned a, b = kmm_host_vote(mask, p, &a); return b == a; }
static inline void __syncwarp(unsigned mask = 0xffffffffu) { unsigned a; kmm_host_vote(mask, 0, &a); }

/* A thread on the CPU is alone until it waits: which others are active is its own choice. */
static inline unsigned __activemask() { return 1u << kmm_fiber_lane(); }

template <class T> static inline unsigned __match_any_sync(unsigned mask, T value)
{
    uint64_t word = 0, words[KMM_FIBER_WARP];
    unsigned same = 0;
    memcpy(&word, &value, sizeof(value));
    uint32_t active = kmm_fiber_exchange(mask, word, words);
    for (int k = 0; k < KMM_FIBER_WARP; k++)
        same |= (active >> k & 1) && words[k] == word ? 1u << k : 0;
    return same;
}

template <class T, class F> static inline T kmm_host_reduce(unsigned mask, T value, F fold)
{
    uint64_t words[KMM_FIBER_WARP];
    uint32_t active = kmm_fiber_exchange(mask, (uint64_t)value, words);
    bool first = true;
    for (int k = 0; k < KMM_FIBER_WARP; k++)
        if (active >> k & 1) {
            value = first ? (T)words[k] : fold(value, (T)words[k]);
            first = false;
        }
    return value;
}
template <class T> static inline T __reduce_add_sync(unsigned m, T v) { return kmm_host_reduce(m, v, [](T a, T b) { return (T)(a + b); }); }
template <class T> static inline T __reduce_min_sync(unsigned m, T v) { return kmm_host_reduce(m, v, [](T a, T b) { return b < a ? b : a; }); }
template <class T> static inline T __reduce_max_sync(unsigned m, T v) { return kmm_host_reduce(m, v, [](T a, T b) { return a < b ? b : a; }); }
template <class T> static inline T __reduce_and_sync(unsigned m, T v) { return kmm_host_reduce(m, v, [](T a, T b) { return (T)(a & b); }); }
template <class T> static inline T __reduce_or_sync(unsigned m, T v) { return kmm_host_reduce(m, v, [](T a, T b) { return (T)(a | b); }); }
template <class T> static inline T __reduce_xor_sync(unsigned m, T v) { return kmm_host_reduce(m, v, [](T a, T b) { return (T)(a ^ b); }); }

#endif
