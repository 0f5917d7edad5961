/* SPDX-License-Identifier: Apache-2.0 */
/* How a thread computes with floating-point numbers: the direction of rounding, and whether numbers
 * that are not normal are taken for zero. Chunks of plain functions compute as the thread that has
 * launched them, which is another one. */
#ifndef KMM__BASE_ROUNDING_H
#define KMM__BASE_ROUNDING_H

#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct kmm__rounding {
    uint64_t scalar; /* of the vector unit, which computes float and double */
    uint16_t x87;    /* on x86, of long double */
} kmm__rounding_t;

#if defined(__x86_64__)

enum {
    KMM__ROUNDING_FLAGS = 0x3f
}; /* exceptions that computations have raised; they do not change how a thread computes */

static inline kmm__rounding_t kmm__rounding_now(void)
{
    kmm__rounding_t r = {.scalar = __builtin_ia32_stmxcsr() & ~(unsigned)KMM__ROUNDING_FLAGS};
    __asm__ volatile("fnstcw %0" : "=m"(r.x87));
    return r;
}

static inline void kmm__rounding_set(kmm__rounding_t r)
{
    unsigned flags = __builtin_ia32_stmxcsr() & KMM__ROUNDING_FLAGS;
    __builtin_ia32_ldmxcsr((unsigned)r.scalar | flags);
    __asm__ volatile("fldcw %0" : : "m"(r.x87));
}

#elif defined(__aarch64__)

static inline kmm__rounding_t kmm__rounding_now(void)
{
    kmm__rounding_t r = {0};
    __asm__ volatile("mrs %0, fpcr" : "=r"(r.scalar));
    return r;
}

static inline void kmm__rounding_set(kmm__rounding_t r)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(r.scalar));
}

#else

static inline kmm__rounding_t kmm__rounding_now(void)
{
    kmm__rounding_t r = {.scalar = (uint64_t)fegetround()};
    return r;
}

static inline void kmm__rounding_set(kmm__rounding_t r)
{
    fesetround((int)r.scalar);
}

#endif

static inline bool kmm__rounding_is(kmm__rounding_t a, kmm__rounding_t b)
{
    return a.scalar == b.scalar && a.x87 == b.x87;
}

/* Sets it to `to`, and returns what it was. */
static inline kmm__rounding_t kmm__rounding_change(kmm__rounding_t to)
{
    kmm__rounding_t was = kmm__rounding_now();
    if (!kmm__rounding_is(was, to))
        kmm__rounding_set(to);
    return was;
}

#endif
