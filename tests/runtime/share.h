/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_TEST_SHARE=2/4: this process does the second of four shares of a test's work. */
#ifndef SHARE_H
#define SHARE_H

#include <stdio.h>
#include <stdlib.h>

typedef struct share {
    long number, count; /* from 1 on */
} share_t;

/* 1/1 where the variable is not set. */
static inline share_t share_of_test(void)
{
    const char *text = getenv("KMM_TEST_SHARE");
    share_t s = {1, 1};
    if (text && (sscanf(text, "%ld/%ld", &s.number, &s.count) != 2 || s.count < 1 ||
                 s.number < 1 || s.number > s.count)) {
        fprintf(stderr, "KMM_TEST_SHARE is like 2/4\n");
        exit(2);
    }
    return s;
}

#endif
