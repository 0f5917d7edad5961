/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic functions. All return the old value; memory order is relaxed, as CUDA's is. */
#ifndef KMM_HOST_ATOMICS_H
#define KMM_HOST_ATOMICS_H

#include <type_traits>

/* Replaces *p by change(*p) atomically and returns the old value. T has 4 or 8 bytes and no
 * padding. */
template <class kmm_T, class kmm_F> static inline kmm_T kmm_host_atomic(kmm_T *p, kmm_F change)
{
    typedef typename std::conditional<
        sizeof(kmm_T) == 8, unsigned long long,
        typename std::conditional<sizeof(kmm_T) == 4, unsigned, unsigned short>::type>::type word;
    static_assert(sizeof(kmm_T) == sizeof(word), "kmm: atomic functions work on 2, 4 or 8 bytes");
    word old = __atomic_load_n(reinterpret_cast<word *>(p), __ATOMIC_RELAXED), next;
    kmm_T value, result;
    do {
        memcpy(&value, &old, sizeof(value));
        result = change(value);
        memcpy(&next, &result, sizeof(next));
    } while (!__atomic_compare_exchange_n(reinterpret_cast<word *>(p), &old, next, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    memcpy(&value, &old, sizeof(value));
    return value;
}

/* Keeps a second parameter out of template deduction, so that atomicAdd(unsigned *, int) converts
 * as CUDA's overloads do. */
template <class kmm_T> struct kmm_host_same {
    typedef kmm_T type;
};
#define KMM_HOST_OPERAND typename kmm_host_same<kmm_T>::type
#define KMM_HOST_UP_TO_8 typename std::enable_if<sizeof(kmm_T) != 16, kmm_T>::type

template <class kmm_T> static inline kmm_T kmm_host_add(kmm_T *p, kmm_T v, std::true_type)
{
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
template <class kmm_T> static inline kmm_T kmm_host_add(kmm_T *p, kmm_T v, std::false_type)
{
    return kmm_host_atomic(p, [v](kmm_T a) { return (kmm_T)(a + v); });
}

template <class kmm_T> static inline kmm_T atomicAdd(kmm_T *p, KMM_HOST_OPERAND v)
{
    return kmm_host_add(p, v, std::is_integral<kmm_T>());
}
template <class kmm_T> static inline kmm_T atomicSub(kmm_T *p, KMM_HOST_OPERAND v)
{
    return kmm_host_add(p, (kmm_T)(0 - v), std::is_integral<kmm_T>());
}
template <class kmm_T> static inline kmm_T atomicMin(kmm_T *p, KMM_HOST_OPERAND v)
{
    return kmm_host_atomic(p, [v](kmm_T a) { return v < a ? v : a; });
}
template <class kmm_T> static inline kmm_T atomicMax(kmm_T *p, KMM_HOST_OPERAND v)
{
    return kmm_host_atomic(p, [v](kmm_T a) { return a < v ? v : a; });
}
template <class kmm_T> static inline kmm_T atomicAnd(kmm_T *p, KMM_HOST_OPERAND v)
{
    return __atomic_fetch_and(p, v, __ATOMIC_RELAXED);
}
template <class kmm_T> static inline kmm_T atomicOr(kmm_T *p, KMM_HOST_OPERAND v)
{
    return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
}
template <class kmm_T> static inline kmm_T atomicXor(kmm_T *p, KMM_HOST_OPERAND v)
{
    return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED);
}
template <class kmm_T> static inline KMM_HOST_UP_TO_8 atomicExch(kmm_T *p, KMM_HOST_OPERAND v)
{
    return kmm_host_atomic(p, [v](kmm_T) { return v; });
}
/* A failed comparison lets the block's other threads run, because the caller may be waiting for one
 * of them in a loop. */
template <class kmm_T>
static inline KMM_HOST_UP_TO_8 atomicCAS(kmm_T *p, KMM_HOST_OPERAND expected, KMM_HOST_OPERAND v)
{
    kmm_T old = expected;
    if (!__atomic_compare_exchange_n(p, &old, (kmm_T)v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        kmm_fiber_yield();
    return old;
}
static inline unsigned atomicInc(unsigned *p, unsigned v)
{
    return kmm_host_atomic(p, [v](unsigned a) { return a >= v ? 0u : a + 1; });
}
static inline unsigned atomicDec(unsigned *p, unsigned v)
{
    return kmm_host_atomic(p, [v](unsigned a) { return a == 0 || a > v ? v : a - 1; });
}

#define KMM_HOST_SCOPES(name)                                                                      \
    template <class kmm_T> static inline kmm_T name##_block(kmm_T *p, KMM_HOST_OPERAND v)          \
    {                                                                                              \
        return name(p, v);                                                                         \
    }                                                                                              \
    template <class kmm_T> static inline kmm_T name##_system(kmm_T *p, KMM_HOST_OPERAND v)         \
    {                                                                                              \
        return name(p, v);                                                                         \
    }
KMM_HOST_SCOPES(atomicAdd)
KMM_HOST_SCOPES(atomicSub)
KMM_HOST_SCOPES(atomicMin)
KMM_HOST_SCOPES(atomicMax)
KMM_HOST_SCOPES(atomicAnd)
KMM_HOST_SCOPES(atomicOr)
KMM_HOST_SCOPES(atomicXor)
#undef KMM_HOST_SCOPES
template <class kmm_T> static inline KMM_HOST_UP_TO_8 atomicExch_block(kmm_T *p, KMM_HOST_OPERAND v)
{
    return atomicExch(p, v);
}
template <class kmm_T>
static inline KMM_HOST_UP_TO_8 atomicExch_system(kmm_T *p, KMM_HOST_OPERAND v)
{
    return atomicExch(p, v);
}
template <class kmm_T>
static inline KMM_HOST_UP_TO_8 atomicCAS_block(kmm_T *p, KMM_HOST_OPERAND expected,
                                               KMM_HOST_OPERAND v)
{
    return atomicCAS(p, expected, v);
}
template <class kmm_T>
static inline KMM_HOST_UP_TO_8 atomicCAS_system(kmm_T *p, KMM_HOST_OPERAND expected,
                                                KMM_HOST_OPERAND v)
{
    return atomicCAS(p, expected, v);
}
static inline unsigned atomicInc_block(unsigned *p, unsigned v) { return atomicInc(p, v); }
static inline unsigned atomicInc_system(unsigned *p, unsigned v) { return atomicInc(p, v); }
static inline unsigned atomicDec_block(unsigned *p, unsigned v) { return atomicDec(p, v); }
static inline unsigned atomicDec_system(unsigned *p, unsigned v) { return atomicDec(p, v); }

/* Each component is added atomically, the vector as a whole is not. GPUs do the same. */
static inline float2 atomicAdd(float2 *p, float2 v)
{
    const float x = atomicAdd(&p->x, v.x), y = atomicAdd(&p->y, v.y);
    return float2{x, y};
}
static inline float4 atomicAdd(float4 *p, float4 v)
{
    const float x = atomicAdd(&p->x, v.x), y = atomicAdd(&p->y, v.y), z = atomicAdd(&p->z, v.z),
                w = atomicAdd(&p->w, v.w);
    return float4{x, y, z, w};
}
static inline float2 atomicAdd_block(float2 *p, float2 v) { return atomicAdd(p, v); }
static inline float2 atomicAdd_system(float2 *p, float2 v) { return atomicAdd(p, v); }
static inline float4 atomicAdd_block(float4 *p, float4 v) { return atomicAdd(p, v); }
static inline float4 atomicAdd_system(float4 *p, float4 v) { return atomicAdd(p, v); }

/* ---- Values of 16 bytes; they must be aligned to 16 bytes ---- */
#ifdef KMM_HOST_PARSE
kmm_host_bits_16 kmm_host_exchange_16(kmm_host_bits_16 *p, kmm_host_bits_16 expected,
                                      kmm_host_bits_16 v);
#else
#ifdef __x86_64__
__attribute__((__target__("cx16")))
#endif
inline kmm_host_bits_16 kmm_host_exchange_16(kmm_host_bits_16 *p, kmm_host_bits_16 expected,
                                             kmm_host_bits_16 v)
{
    return __sync_val_compare_and_swap(p, expected, v);
}
#endif
template <class kmm_T>
static inline kmm_T kmm_host_swapped_16(kmm_T *p, const kmm_T *expected, kmm_T v)
{
    static_assert(std::is_trivially_copyable<kmm_T>::value,
                  "kmm: atomic functions work on plain bytes");
    kmm_host_bits_16 was, now, got;
    kmm_T old;
    memcpy(&now, &v, sizeof(now));
    memcpy(&was, expected ? expected : p, sizeof(was));
    while ((got = kmm_host_exchange_16(reinterpret_cast<kmm_host_bits_16 *>(p), was, now)) != was &&
           !expected)
        was = got;
    memcpy(static_cast<void *>(&old), &got, sizeof(old));
    if (got != was)
        kmm_fiber_yield();
    return old;
}
#define KMM_HOST_16(suffix)                                                                        \
    template <class kmm_T>                                                                         \
    static inline typename std::enable_if<sizeof(kmm_T) == 16, kmm_T>::type atomicExch##suffix(    \
        kmm_T *p, KMM_HOST_OPERAND v)                                                              \
    {                                                                                              \
        return kmm_host_swapped_16<kmm_T>(p, nullptr, v);                                          \
    }                                                                                              \
    template <class kmm_T>                                                                         \
    static inline typename std::enable_if<sizeof(kmm_T) == 16, kmm_T>::type atomicCAS##suffix(     \
        kmm_T *p, KMM_HOST_OPERAND expected, KMM_HOST_OPERAND v)                                   \
    {                                                                                              \
        return kmm_host_swapped_16<kmm_T>(p, &expected, v);                                        \
    }
KMM_HOST_16()
KMM_HOST_16(_block)
KMM_HOST_16(_system)
#undef KMM_HOST_16

/* The same functions without atomic instructions. kmmcc uses them for shared memory in kernels that
 * run a block on one thread of the CPU, in loops that are not marked as free of dependences. */
namespace kmm_host_alone
{
template <class kmm_T, class kmm_F> static inline kmm_T change(kmm_T *p, kmm_F to)
{
    const kmm_T old = *p;
    *p = to(old);
    return old;
}
template <class kmm_T> static inline kmm_T atomicAdd(kmm_T *p, KMM_HOST_OPERAND v)
{
    return change(p, [v](kmm_T a) { return (kmm_T)(a + v); });
}
static inline float2 atomicAdd(float2 *p, float2 v)
{
    return change(p, [v](float2 a) { return float2{a.x + v.x, a.y + v.y}; });
}
static inline float4 atomicAdd(float4 *p, float4 v)
{
    return change(p, [v](float4 a) { return float4{a.x + v.x, a.y + v.y, a.z + v.z, a.w + v.w}; });
}
template <class kmm_T> static inline kmm_T atomicSub(kmm_T *p, KMM_HOST_OPERAND v)
{
    return change(p, [v](kmm_T a) { return (kmm_T)(a - v); });
}
template <class kmm_T> static inline kmm_T atomicMin(kmm_T *p, KMM_HOST_OPERAND v)
{
    return change(p, [v](kmm_T a) { return v < a ? v : a; });
}
template <class kmm_T> static inline kmm_T atomicMax(kmm_T *p, KMM_HOST_OPERAND v)
{
    return change(p, [v](kmm_T a) { return a < v ? v : a; });
}
template <class kmm_T> static inline kmm_T atomicAnd(kmm_T *p, KMM_HOST_OPERAND v)
{
    return change(p, [v](kmm_T a) { return (kmm_T)(a & v); });
}
template <class kmm_T> static inline kmm_T atomicOr(kmm_T *p, KMM_HOST_OPERAND v)
{
    return change(p, [v](kmm_T a) { return (kmm_T)(a | v); });
}
template <class kmm_T> static inline kmm_T atomicXor(kmm_T *p, KMM_HOST_OPERAND v)
{
    return change(p, [v](kmm_T a) { return (kmm_T)(a ^ v); });
}
template <class kmm_T> static inline kmm_T atomicExch(kmm_T *p, KMM_HOST_OPERAND v)
{
    return change(p, [v](kmm_T) { return v; });
}
} // namespace kmm_host_alone

/* CUDA 12.8's functions that name a memory order and a scope. The order is at least the one asked
 * for. The scope is always the system. */
enum {
    __NV_THREAD_SCOPE_THREAD = 1,
    __NV_THREAD_SCOPE_BLOCK,
    __NV_THREAD_SCOPE_CLUSTER,
    __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};
#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST

template <class kmm_T>
static inline kmm_T __nv_atomic_load_n(const kmm_T *p, int order, int = __NV_THREAD_SCOPE_SYSTEM)
{
    return __atomic_load_n(p, order);
}
template <class kmm_T>
static inline void __nv_atomic_load(const kmm_T *p, kmm_T *to, int order,
                                    int = __NV_THREAD_SCOPE_SYSTEM)
{
    __atomic_load(const_cast<kmm_T *>(p), to, order);
}
template <class kmm_T>
static inline void __nv_atomic_store_n(kmm_T *p, KMM_HOST_OPERAND v, int order,
                                       int = __NV_THREAD_SCOPE_SYSTEM)
{
    __atomic_store_n(p, v, order);
}
template <class kmm_T>
static inline void __nv_atomic_store(kmm_T *p, kmm_T *from, int order,
                                     int = __NV_THREAD_SCOPE_SYSTEM)
{
    __atomic_store(p, from, order);
}
template <class kmm_T>
static inline kmm_T __nv_atomic_exchange_n(kmm_T *p, KMM_HOST_OPERAND v, int order,
                                           int = __NV_THREAD_SCOPE_SYSTEM)
{
    return __atomic_exchange_n(p, v, order);
}
/* Never fails spuriously, even in the weak form. A failed comparison lets the block's other threads
 * run. */
template <class kmm_T>
static inline bool __nv_atomic_compare_exchange_n(kmm_T *p, kmm_T *expected, KMM_HOST_OPERAND v,
                                                  bool, int success, int failure,
                                                  int = __NV_THREAD_SCOPE_SYSTEM)
{
    bool done = __atomic_compare_exchange_n(p, expected, (kmm_T)v, false, success, failure);
    if (!done)
        kmm_fiber_yield();
    return done;
}
#define KMM_HOST_ORDERED(name, function)                                                           \
    template <class kmm_T>                                                                         \
    static inline kmm_T name(kmm_T *p, KMM_HOST_OPERAND v, int order,                              \
                             int = __NV_THREAD_SCOPE_SYSTEM)                                       \
    {                                                                                              \
        if (order != __ATOMIC_RELAXED)                                                             \
            __atomic_thread_fence(__ATOMIC_SEQ_CST);                                               \
        kmm_T old = function(p, v);                                                                \
        if (order != __ATOMIC_RELAXED)                                                             \
            __atomic_thread_fence(__ATOMIC_SEQ_CST);                                               \
        return old;                                                                                \
    }
KMM_HOST_ORDERED(__nv_atomic_fetch_add, atomicAdd)
KMM_HOST_ORDERED(__nv_atomic_fetch_sub, atomicSub)
KMM_HOST_ORDERED(__nv_atomic_fetch_min, atomicMin)
KMM_HOST_ORDERED(__nv_atomic_fetch_max, atomicMax)
KMM_HOST_ORDERED(__nv_atomic_fetch_and, atomicAnd)
KMM_HOST_ORDERED(__nv_atomic_fetch_or, atomicOr)
KMM_HOST_ORDERED(__nv_atomic_fetch_xor, atomicXor)
#undef KMM_HOST_ORDERED
#define KMM_HOST_SILENT(what)                                                                      \
    template <class kmm_T>                                                                         \
    static inline void __nv_atomic_##what(kmm_T *p, KMM_HOST_OPERAND v, int order,                 \
                                          int scope = __NV_THREAD_SCOPE_SYSTEM)                    \
    {                                                                                              \
        __nv_atomic_fetch_##what(p, v, order, scope);                                              \
    }
KMM_HOST_SILENT(add)
KMM_HOST_SILENT(sub)
KMM_HOST_SILENT(min)
KMM_HOST_SILENT(max)
KMM_HOST_SILENT(and)
KMM_HOST_SILENT(or)
KMM_HOST_SILENT(xor)
#undef KMM_HOST_SILENT
template <class kmm_T>
static inline void __nv_atomic_exchange(kmm_T *p, kmm_T *from, kmm_T *to, int order,
                                        int = __NV_THREAD_SCOPE_SYSTEM)
{
    __atomic_exchange(p, from, to, order);
}
template <class kmm_T>
static inline bool __nv_atomic_compare_exchange(kmm_T *p, kmm_T *expected, kmm_T *v, bool,
                                                int success, int failure,
                                                int = __NV_THREAD_SCOPE_SYSTEM)
{
    const bool done = __atomic_compare_exchange(p, expected, v, false, success, failure);
    if (!done)
        kmm_fiber_yield();
    return done;
}
static inline void __nv_atomic_thread_fence(int order, int = __NV_THREAD_SCOPE_SYSTEM)
{
    if (order != __ATOMIC_RELAXED)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif
