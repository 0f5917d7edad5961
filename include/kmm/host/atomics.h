/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's atomic functions: each returns the value before. Relaxed, as on the device. */
#ifndef KMM_HOST_ATOMICS_H
#define KMM_HOST_ATOMICS_H

#include <string.h>
#include <type_traits>

template <class T> struct kmm_plain_type { using type = T; };
template <class T> using kmm_plain = typename kmm_plain_type<T>::type; /* T is not deduced from it */

/* Replaces *p by change(*p), whatever T is, as long as it is 2, 4 or 8 bytes. */
template <class T, class F> static inline T kmm_host_atomic(T *p, F change)
{
    using bits_t = typename std::conditional<sizeof(T) == 8, unsigned long long,
                   typename std::conditional<sizeof(T) == 4, unsigned, unsigned short>::type>::type;
    static_assert(sizeof(T) == sizeof(bits_t), "atomic functions work on 2, 4 or 8 bytes");
    bits_t *at = (bits_t *)p, old = __atomic_load_n(at, __ATOMIC_RELAXED), wanted;
    T before;
    do {
        memcpy(&before, &old, sizeof(before));
        T after = change(before);
        memcpy(&wanted, &after, sizeof(wanted));
    } while (!__atomic_compare_exchange_n(at, &old, wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return before;
}

template <class T> static inline T atomicAdd(T *p, kmm_plain<T> v)
{
    if constexpr (std::is_integral<T>::value)
        return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
    else
        return kmm_host_atomic(p, [=](T a) { return (T)(a + v); });
}

template <class T> static inline T atomicSub(T *p, kmm_plain<T> v)
{
    if constexpr (std::is_integral<T>::value)
        return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED);
    else
        return kmm_host_atomic(p, [=](T a) { return (T)(a - v); });
}

template <class T> static inline T atomicMin(T *p, kmm_plain<T> v)
{
    return kmm_host_atomic(p, [=](T a) { return v < a ? v : a; });
}

template <class T> static inline T atomicMax(T *p, kmm_plain<T> v)
{
    return kmm_host_atomic(p, [=](T a) { return a < v ? v : a; });
}

template <class T> static inline T atomicExch(T *p, kmm_plain<T> v)
{
    return kmm_host_atomic(p, [=](T) { return v; });
}

template <class T> static inline T atomicCAS(T *p, kmm_plain<T> expected, kmm_plain<T> v)
{
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

template <class T> static inline T atomicAnd(T *p, kmm_plain<T> v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }
template <class T> static inline T atomicOr(T *p, kmm_plain<T> v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }
template <class T> static inline T atomicXor(T *p, kmm_plain<T> v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }

static inline unsigned atomicInc(unsigned *p, unsigned limit)
{
    return kmm_host_atomic(p, [=](unsigned a) { return a >= limit ? 0u : a + 1; });
}

static inline unsigned atomicDec(unsigned *p, unsigned limit)
{
    return kmm_host_atomic(p, [=](unsigned a) { return a == 0 || a > limit ? limit : a - 1; });
}

/* Scopes make no difference on the CPU. */
#define KMM_SCOPED(name)                                                                           \
    template <class T> static inline T name##_block(T *p, kmm_plain<T> v) { return name(p, v); }   \
    template <class T> static inline T name##_system(T *p, kmm_plain<T> v) { return name(p, v); }
KMM_SCOPED(atomicAdd)
KMM_SCOPED(atomicSub)
KMM_SCOPED(atomicMin)
KMM_SCOPED(atomicMax)
KMM_SCOPED(atomicExch)
KMM_SCOPED(atomicAnd)
KMM_SCOPED(atomicOr)
KMM_SCOPED(atomicXor)
#undef KMM_SCOPED

#endif
