/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that a printed seed repeats, whatever the C library. */
#ifndef KMM_TEST_RANDOM_H
#define KMM_TEST_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct rng {
    uint64_t state;
} rng_t;

static inline uint64_t rng_next(rng_t *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* One of [lo, hi]. */
static inline int64_t rng_range(rng_t *r, int64_t lo, int64_t hi)
{
    uint64_t count = (uint64_t)hi - (uint64_t)lo + 1; /* 0: all there are */
    return (int64_t)((uint64_t)lo + (count ? rng_next(r) % count : rng_next(r)));
}

/* KMM_SEED's value, or the time; printed, so that a failure can be repeated. */
static inline uint64_t rng_seed(void)
{
    const char *text = getenv("KMM_SEED");
    uint64_t seed = text && *text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
    fprintf(stderr, "KMM_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

#endif
