/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that a structure keeps its invariants. They run in builds with assertions, which are those
 * of the asan and tsan presets. A check of a few fields is a plain assert(X_is_valid(x)) after each
 * mutation; one that walks a structure is KMM__ASSERT_SOMETIMES.
 */
#ifndef KMM__BASE_VALID_H
#define KMM__BASE_VALID_H

#include <assert.h>

enum { KMM__VALID_EVERY = 64 };

/* Asserts at the first and then at every KMM__VALID_EVERY-th time that a thread comes here. */
#ifdef NDEBUG
#define KMM__ASSERT_SOMETIMES(valid) ((void)0)
#else
#define KMM__ASSERT_SOMETIMES(valid)                                                               \
    do {                                                                                           \
        static _Thread_local unsigned kmm__times;                                                  \
        if (kmm__times++ % KMM__VALID_EVERY == 0)                                                  \
            assert(valid);                                                                         \
    } while (0)
#endif

#endif
