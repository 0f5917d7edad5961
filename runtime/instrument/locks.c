/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions by which code takes and releases locks, and by which it runs something once. What a
 * chunk stores to shared memory meanwhile has an order.
 *
 * A link with -fkmm-check leads calls of these functions here (instrument/locks.h). Each function
 * of the C library is referred to weakly, because the program may use some of them only, and
 * libraries such as libgomp may be missing.
 */
#include "instrument/locks.h"

#include <stdbool.h>
#include <stddef.h>

#include "execute/exact_global.h"

/* All arguments of these functions are pointers and integers, which are passed on as they are. */
typedef void *any_t;

#define TAKE(name, lock, taken)                                                                    \
    __attribute__((weak)) int __real_##name(any_t a, any_t b, any_t c);                            \
    int __wrap_##name(any_t a, any_t b, any_t c);                                                  \
    int __wrap_##name(any_t a, any_t b, any_t c)                                                   \
    {                                                                                              \
        int result = __real_##name(a, b, c);                                                       \
        if (taken)                                                                                 \
            kmm__exact_lock(lock, KMM__LOCK_TAKE);                                                 \
        return result;                                                                             \
    }

#define SHARE(name, lock, taken)                                                                   \
    __attribute__((weak)) int __real_##name(any_t a, any_t b, any_t c);                            \
    int __wrap_##name(any_t a, any_t b, any_t c);                                                  \
    int __wrap_##name(any_t a, any_t b, any_t c)                                                   \
    {                                                                                              \
        int result = __real_##name(a, b, c);                                                       \
        if (taken)                                                                                 \
            kmm__exact_lock(lock, KMM__LOCK_SHARE);                                                \
        return result;                                                                             \
    }

#define RELEASE(name, lock)                                                                        \
    __attribute__((weak)) int __real_##name(any_t a, any_t b, any_t c);                            \
    int __wrap_##name(any_t a, any_t b, any_t c);                                                  \
    int __wrap_##name(any_t a, any_t b, any_t c)                                                   \
    {                                                                                              \
        kmm__exact_lock(lock, KMM__LOCK_RELEASE);                                                  \
        return __real_##name(a, b, c);                                                             \
    }

#define WAIT(name, lock)                                                                           \
    __attribute__((weak)) int __real_##name(any_t a, any_t b, any_t c, any_t d);                   \
    int __wrap_##name(any_t a, any_t b, any_t c, any_t d);                                         \
    int __wrap_##name(any_t a, any_t b, any_t c, any_t d)                                          \
    {                                                                                              \
        kmm__exact_lock(lock, KMM__LOCK_RELEASE);                                                  \
        int result = __real_##name(a, b, c, d);                                                    \
        kmm__exact_lock(lock, KMM__LOCK_TAKE);                                                     \
        return result;                                                                             \
    }

/* A call that runs a function once. The function's end is told before other threads' calls return.
 */
typedef struct once_call {
    any_t control;
    void (*function)(void);
    bool is_done;
} once_call_t;

static _Thread_local once_call_t *once_call;

static void run_once(void)
{
    once_call_t *call = once_call; /* the function may make such calls of its own */
    call->function();
    kmm__exact_once(call->control, -1);
    call->is_done = true;
}

#define ONCE(name)                                                                                 \
    __attribute__((weak)) int __real_##name(any_t a, void (*b)(void), any_t c);                    \
    int __wrap_##name(any_t a, void (*b)(void), any_t c);                                          \
    int __wrap_##name(any_t a, void (*b)(void), any_t c)                                           \
    {                                                                                              \
        once_call_t call = {.control = a, .function = b}, *outer = once_call;                      \
        once_call = &call;                                                                         \
        kmm__exact_once(a, 1);                                                                     \
        int result = __real_##name(a, run_once, c);                                                \
        if (!call.is_done)                                                                         \
            kmm__exact_once(a, -1);                                                                \
        once_call = outer;                                                                         \
        return result;                                                                             \
    }

#define BEGIN(name)                                                                                \
    __attribute__((weak)) int __real_##name(any_t a, any_t b, any_t c);                            \
    int __wrap_##name(any_t a, any_t b, any_t c);                                                  \
    int __wrap_##name(any_t a, any_t b, any_t c)                                                   \
    {                                                                                              \
        int result = __real_##name(a, b, c);                                                       \
        kmm__exact_once(a, result != 0);                                                           \
        return result;                                                                             \
    }

#define END(name)                                                                                  \
    __attribute__((weak)) int __real_##name(any_t a, any_t b, any_t c);                            \
    int __wrap_##name(any_t a, any_t b, any_t c);                                                  \
    int __wrap_##name(any_t a, any_t b, any_t c)                                                   \
    {                                                                                              \
        kmm__exact_once(a, -1);                                                                    \
        return __real_##name(a, b, c);                                                             \
    }

KMM_LOCK_CALLS(TAKE, SHARE, RELEASE, WAIT, ONCE, BEGIN, END)
