/* SPDX-License-Identifier: Apache-2.0 */
/* A model of a device's memory in granules of 256 bytes: which are in use, and by what work last,
 * so that handing out memory too early is seen. The addresses are made up: nothing can be stored
 * there. It may have frames that are mapped to addresses, several places to a frame. */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

#include "fake_streams.h"
#include <stdbool.h>

typedef struct fake_granule {
    bool held;                   /* given to the resource under test */
    bool live;                   /* given to the program */
    uint64_t used[FAKE_STREAMS]; /* last work with it on each stream */
} fake_granule_t;

typedef struct fake_place {
    int frame;                   /* -1: nothing is mapped here */
    bool reserved, first;        /* part of an area; where one starts */
    uint64_t used[FAKE_STREAMS]; /* last work with this address on each stream */
} fake_place_t;

typedef struct fake_frame {
    int home, mappings;
} fake_frame_t; /* home: place, or -1 */

typedef struct fake_memory {
    fake_streams_t streams;
    pthread_mutex_t lock;
    fake_granule_t *granules;
    size_t count;
    size_t held_bytes, most_held_bytes;
    int allocations, fail_allocations;
    size_t frame_granules; /* 0: memory stays where it is */
    fake_frame_t *frames;
    fake_place_t *places;
    size_t place_count;
    struct kmm__mapper *mapper;
    int gathers, forgets, fail_gathers; /* calls so far; so many of the next gathers fail */
    const char *wrong;                  /* what the source has seen go wrong; NULL: nothing */
    void (*on_allocate)(void *context); /* called in the middle of an allocation */
    void *on_allocate_context;
} fake_memory_t;

void fake_memory_init(fake_memory_t *m, size_t bytes);
/* The same in frames of so many bytes. */
void fake_memory_init_frames(fake_memory_t *m, size_t bytes, size_t frame_bytes);
void fake_memory_deinit(fake_memory_t *m);
/* A source over it; with `order`, or synchronous when that is NULL. */
kmm_resource_t *fake_memory_resource(fake_memory_t *m, const kmm_stream_order_t *order);

/* What a program does. Each returns NULL, or what is wrong. */
const char *fake_memory_begin(fake_memory_t *m, void *p, size_t bytes,
                              int stream);                                 /* after allocate */
const char *fake_memory_end(fake_memory_t *m, void *p, size_t bytes);      /* before deallocate */
void fake_memory_use(fake_memory_t *m, void *p, size_t bytes, int stream); /* work with it */

#endif
