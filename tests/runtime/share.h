/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_TEST_SHARE=2/4: this process does the second of four shares of a test's work. */
#ifndef SHARE_H
#define SHARE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct share {
    long number, count; /* from 1 on */
} share_t;

/* 1/1 where the variable is not set. */
static inline share_t share_of_test(void)
{
    const char *text = getenv("KMM_TEST_SHARE");
    share_t s = {1, 1};
    if (text && (sscanf(text, "%ld/%ld", &s.number, &s.count) != 2 || s.count < 1 || s.number < 1 ||
                 s.number > s.count)) {
        fprintf(stderr, "KMM_TEST_SHARE is like 2/4\n");
        exit(2);
    }
    return s;
}

/* Moves this process's share of `count` things of so many bytes to the front: which test functions
 * it calls, of all there are. Returns how many they are. */
static inline size_t share_take(void *things, size_t count, size_t bytes)
{
    const share_t s = share_of_test();
    char *at = things;
    size_t taken = 0;
    for (size_t k = (size_t)s.number - 1; k < count; k += (size_t)s.count)
        memmove(at + taken++ * bytes, at + k * bytes, bytes);
    return taken;
}

#endif
