/* SPDX-License-Identifier: Apache-2.0 */
/* A pool's extent and counts, and the cache limits derived from them. */
#include "resource/pool_state.h"

enum {
    CACHE_PART = 32, /* a stream caches at most 1/32 of the extent: the rest is for all streams */
    CACHE_LEAST = 128 << 10, /* but it may always cache 128 KiB */
    BLOCK_PART = 512,        /* it caches no block larger than 1/512 of its limit */
    BLOCK_LEAST =
        64 << 10,   /* but any block of at most 64 KiB; larger ones are worth more when merged */
    EAGER_MORE = 8, /* an eager stream (it found the pool's lock taken) caches 8 times as much */
    EAGER_BLOCK_PART = 16 /* and no block larger than 1/16 of its limit */
};

static void limits_set(kmm__limits_t *l, size_t most, size_t block)
{
    atomic_store_explicit(&l->most, most, memory_order_relaxed);
    atomic_store_explicit(&l->block,
                          block > BLOCK_LEAST ? block
                          : most              ? BLOCK_LEAST
                                              : 0,
                          memory_order_relaxed);
}

void kmm__pool_extend(kmm__pool_t *p, size_t bytes)
{
    const size_t given = p->options.cache_bytes;
    const size_t least = bytes / CACHE_PART > CACHE_LEAST ? bytes / CACHE_PART : CACHE_LEAST;
    const size_t most = given == SIZE_MAX ? 0 : given ? given : least;
    p->extent = bytes;
    limits_set(&p->limits[false], most, most / BLOCK_PART);
    limits_set(&p->limits[true], EAGER_MORE * most, EAGER_MORE * most / EAGER_BLOCK_PART);
}
