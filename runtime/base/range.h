/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges that a profiler shows: what a thread does between a begin and an end. */
#ifndef KMM__BASE_RANGE_H
#define KMM__BASE_RANGE_H

#include <stdbool.h>

/* A profiler. Ranges of a thread nest. */
typedef struct kmm__ranges {
    void (*begin)(const char *text); /* copies the text */
    void (*end)(void);
} kmm__ranges_t;

/* The profiler; NULL: there is none. Set before the first task runs, and never changed. Hidden, so
 * that a load is one instruction. */
extern const kmm__ranges_t *kmm__ranges __attribute__((visibility("hidden")));

static inline bool kmm__ranging(void)
{
    return __builtin_expect(__atomic_load_n(&kmm__ranges, __ATOMIC_ACQUIRE) != 0, false);
}

#endif
