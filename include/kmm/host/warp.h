/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers, fences and what the lanes of a warp do together. */
#ifndef KMM_HOST_WARP_H
#define KMM_HOST_WARP_H

#include <string.h>

#include "fiber.h"
#include "kernel.h"

/* Other fibers run meanwhile and leave their index behind. */
static inline kmm_fiber_votes_t kmm_host_barrier(int predicate)
{
#ifdef __CUDA__
    return kmm_fiber_barrier(predicate);
#else
    const uint3 own = threadIdx;
    kmm_fiber_votes_t votes = kmm_fiber_barrier(predicate);
    threadIdx = own;
    return votes;
#endif
}

static inline unsigned kmm_host_exchange(unsigned mask, uint64_t value, uint64_t values[32])
{
#ifdef __CUDA__
    return kmm_fiber_exchange(mask, value, values);
#else
    const uint3 own = threadIdx;
    unsigned met = kmm_fiber_exchange(mask, value, values);
    threadIdx = own;
    return met;
#endif
}

#ifndef __CUDA__ /* clang knows it */
static inline void __syncthreads() { kmm_host_barrier(0); }
#endif
static inline int __syncthreads_count(int predicate) { return kmm_host_barrier(predicate).count; }
static inline int __syncthreads_and(int predicate) { return kmm_host_barrier(predicate).all; }
static inline int __syncthreads_or(int predicate) { return kmm_host_barrier(predicate).any; }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    uint64_t values[32];
    kmm_host_exchange(mask, 0, values);
}

static inline unsigned __activemask() { return kmm_fiber_lanes(); }

/* ---- Votes ---- */

static inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    uint64_t values[32];
    unsigned met = kmm_host_exchange(mask, predicate != 0, values), result = 0;
    for (unsigned k = 0; k < 32; k++)
        if (met >> k & 1 && values[k])
            result |= 1u << k;
    return result;
}

static inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }

static inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }

/* ---- Values of at most eight bytes ---- */

template <class T> static inline uint64_t kmm_host_bits(T v)
{
    static_assert(sizeof(T) <= 8, "lanes exchange values of at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof(v));
    return bits;
}

template <class T> static inline T kmm_host_value(uint64_t bits)
{
    T v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* The value of lane `source`, one's own where that lane is not there. */
template <class T> static inline T kmm_host_shuffle(unsigned mask, T v, unsigned source)
{
    uint64_t values[32];
    unsigned met = kmm_host_exchange(mask, kmm_host_bits(v), values);
    return source < 32 && met >> source & 1 ? kmm_host_value<T>(values[source]) : v;
}

static inline unsigned kmm_host_lane() { return kmm_fiber_index() % 32; }

template <class T> static inline T __shfl_sync(unsigned mask, T v, int source, int width = 32)
{
    unsigned first = kmm_host_lane() & ~(unsigned)(width - 1);
    return kmm_host_shuffle(mask, v, first + ((unsigned)source & (unsigned)(width - 1)));
}

template <class T> static inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
    unsigned lane = kmm_host_lane(), first = lane & ~(unsigned)(width - 1);
    return kmm_host_shuffle(mask, v, lane < first + delta ? lane : lane - delta);
}

template <class T> static inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
    unsigned lane = kmm_host_lane(), last = (lane & ~(unsigned)(width - 1)) + (unsigned)width - 1;
    return kmm_host_shuffle(mask, v, lane + delta > last ? lane : lane + delta);
}

template <class T> static inline T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = 32)
{
    unsigned lane = kmm_host_lane(), last = (lane & ~(unsigned)(width - 1)) + (unsigned)width - 1;
    unsigned source = lane ^ (unsigned)lanes;
    return kmm_host_shuffle(mask, v, source > last ? lane : source);
}

template <class T> static inline unsigned __match_any_sync(unsigned mask, T v)
{
    uint64_t values[32];
    unsigned met = kmm_host_exchange(mask, kmm_host_bits(v), values), same = 0;
    for (unsigned k = 0; k < 32; k++)
        if (met >> k & 1 && values[k] == kmm_host_bits(v))
            same |= 1u << k;
    return same;
}

template <class T> static inline unsigned __match_all_sync(unsigned mask, T v, int *predicate)
{
    uint64_t values[32];
    unsigned met = kmm_host_exchange(mask, kmm_host_bits(v), values), same = met;
    for (unsigned k = 0; k < 32; k++)
        if (met >> k & 1 && values[k] != kmm_host_bits(v))
            same = 0;
    *predicate = same != 0;
    return same;
}

#define KMM_WARP_REDUCE(name, T, expression)                                                       \
    static inline T name(unsigned mask, T v)                                                       \
    {                                                                                              \
        uint64_t values[32];                                                                       \
        unsigned met = kmm_host_exchange(mask, kmm_host_bits(v), values);                          \
        bool first = true;                                                                         \
        T a = v;                                                                                   \
        for (unsigned k = 0; k < 32; k++) {                                                        \
            if (!(met >> k & 1))                                                                   \
                continue;                                                                          \
            T b = kmm_host_value<T>(values[k]);                                                    \
            a = first ? b : (T)(expression);                                                       \
            first = false;                                                                         \
        }                                                                                          \
        return a;                                                                                  \
    }
KMM_WARP_REDUCE(__reduce_add_sync, unsigned, a + b)
KMM_WARP_REDUCE(__reduce_add_sync, int, (unsigned)a + (unsigned)b)
KMM_WARP_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
KMM_WARP_REDUCE(__reduce_min_sync, int, a < b ? a : b)
KMM_WARP_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
KMM_WARP_REDUCE(__reduce_max_sync, int, a > b ? a : b)
KMM_WARP_REDUCE(__reduce_and_sync, unsigned, a & b)
KMM_WARP_REDUCE(__reduce_or_sync, unsigned, a | b)
KMM_WARP_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef KMM_WARP_REDUCE

#endif
