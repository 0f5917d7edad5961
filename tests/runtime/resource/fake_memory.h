/* SPDX-License-Identifier: Apache-2.0 */
/* A model of a device's memory in granules of 256 bytes: which are in use, and by what work last, so
 * that handing out memory too early is seen. The addresses are made up: nothing can be stored there. */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

#include <stdbool.h>
#include "fake_streams.h"

typedef struct fake_granule {
    bool held;  /* given to the resource under test */
    bool live;  /* given to the program */
    uint64_t used[FAKE_STREAMS]; /* last work with it on each stream */
} fake_granule_t;

typedef struct fake_memory {
    fake_streams_t streams;
    pthread_mutex_t lock;
    fake_granule_t *granules;
    size_t count;
    size_t held_bytes, most_held_bytes;
    int allocations, fail_allocations;
    const char *wrong; /* what the source has seen go wrong; NULL: nothing */
    void (*on_allocate)(void *context); /* called in the middle of an allocation */
    void *on_allocate_context;
} fake_memory_t;

void fake_memory_init(fake_memory_t *m, size_t bytes);
void fake_memory_deinit(fake_memory_t *m);
/* A source over it; with `order`, or synchronous when that is NULL. */
kmm_resource_t *fake_memory_resource(fake_memory_t *m, const kmm_stream_order_t *order);

/* What a program does. Each returns NULL, or what is wrong. */
const char *fake_memory_begin(fake_memory_t *m, void *p, size_t bytes, int stream); /* after allocate */
const char *fake_memory_end(fake_memory_t *m, void *p, size_t bytes);               /* before deallocate */
void fake_memory_use(fake_memory_t *m, void *p, size_t bytes, int stream);          /* work with it */

#endif
