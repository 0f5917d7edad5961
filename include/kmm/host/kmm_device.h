/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers, fences and other functions of kernels. */
#ifndef KMM_HOST_DEVICE_H
#define KMM_HOST_DEVICE_H

static const int warpSize __attribute__((__unused__)) = 32;

struct kmm_host_barrier {
#ifndef KMM_HOST_PARSE
    static void kmm__block(kmm_host_block &b, kmm_host_kept<void> &) { b.kmm_barrier(); }
#endif
};
static inline void __syncthreads()
{
#ifndef KMM_HOST_PARSE
    if (kmm_host_bringing)
        return kmm_host_bring<kmm_host_barrier, void>::kmm_call();
#endif
    int any, all;
    kmm_fiber_barrier(0, &any, &all);
}
static inline int __syncthreads_count(int p)
{
    int any, all;
    return kmm_fiber_barrier(p, &any, &all);
}
static inline int __syncthreads_and(int p)
{
    int any, all;
    kmm_fiber_barrier(p, &any, &all);
    return all;
}
static inline int __syncthreads_or(int p)
{
    int any, all;
    kmm_fiber_barrier(p, &any, &all);
    return any;
}

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __nanosleep(unsigned) { kmm_fiber_yield(); }
static inline void __trap() { abort(); }
static inline void __brkpt() {}
#if !defined(__clang__)
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif

/* The clock counts nanoseconds, in place of cycles. */
static inline long long clock64()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

template <class kmm_T> static inline kmm_T __ldg(const kmm_T *p) { return *p; }
template <class kmm_T> static inline kmm_T __ldcg(const kmm_T *p) { return *p; }
template <class kmm_T> static inline kmm_T __ldca(const kmm_T *p) { return *p; }
template <class kmm_T> static inline kmm_T __ldcs(const kmm_T *p) { return *p; }
template <class kmm_T> static inline void __stcg(kmm_T *p, kmm_T v) { *p = v; }
template <class kmm_T> static inline void __stcs(kmm_T *p, kmm_T v) { *p = v; }
template <class kmm_T> static inline void __stwb(kmm_T *p, kmm_T v) { *p = v; }

#endif
