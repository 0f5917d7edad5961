/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point flags: the exceptions of fenv.h that computations have raised. A chunk of a plain
 * function begins with the flags that the launching thread had. What it raises is kept for that
 * thread, which gets it where it has waited for chunks.
 */
#ifndef KMM__BASE_FLAGS_H
#define KMM__BASE_FLAGS_H

#include <fenv.h>
#include <stdint.h>

/* The calling thread's flags, as FE_INEXACT and the like. */
static inline int kmm__flags_now(void)
{
    return fetestexcept(FE_ALL_EXCEPT);
}

/* Sets the calling thread's flags. Nothing is raised: no trap is taken. */
static inline void kmm__flags_set(int flags)
{
#if defined(__x86_64__)
    unsigned short x87;
    __asm__ volatile("fnstsw %0" : "=a"(x87));
    if (x87 & FE_ALL_EXCEPT)
        __asm__ volatile("fnclex");
    __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~(unsigned)FE_ALL_EXCEPT) | (unsigned)flags);
#else
    feclearexcept(FE_ALL_EXCEPT & ~flags);
    feraiseexcept(flags & ~fetestexcept(FE_ALL_EXCEPT));
#endif
}

/* Sets them, and returns what they were. */
static inline int kmm__flags_change(int to)
{
    int was = kmm__flags_now();
    if (was != to)
        kmm__flags_set(to);
    return was;
}

/* Keeps flags that a chunk has raised for the thread of that number (kmm_thread_number). */
void kmm__flags_note(int64_t thread, int flags);
/* Adds what is kept for the calling thread, which has that number, to its flags; not between begin
 * and end. */
void kmm__flags_settle(int64_t thread);
/* Around libkmm's own computations in a call of the program. begin returns the calling thread's
 * flags; end sets them to these, and adds what is kept. */
int kmm__flags_begin(void);
void kmm__flags_end(int flags, int64_t thread);

#endif
