/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams that exist on paper. Each has a vector clock: clock[i] is how much of stream i's work has
 * been enqueued before whatever comes next on it, by its own order or through waits. Work takes no
 * time; it completes when the test says so. So whether one use of memory is ordered before another
 * is decided exactly, without running anything.
 */
#ifndef FAKE_STREAMS_H
#define FAKE_STREAMS_H

#include <kmm/resource.h>
#include <pthread.h>
#include <stdint.h>

enum { FAKE_STREAMS = 8 };

typedef struct fake_streams {
    pthread_mutex_t lock;
    uint64_t clock[FAKE_STREAMS][FAKE_STREAMS];
    uint64_t completed[FAKE_STREAMS];
    int events;         /* that exist */
    int records, waits; /* calls so far */
    int fail_records;   /* so many of the next records fail */
    kmm_stream_order_t order;
} fake_streams_t;

void fake_streams_init(fake_streams_t *f);
kmm_stream_t fake_stream(int index);
int fake_stream_index(kmm_stream_t stream); /* NULL is stream 0 */
/* Enqueues work; returns its place on the stream. */
uint64_t fake_work(fake_streams_t *f, int stream);
/* The program orders `later` after everything on `earlier` so far. */
void fake_order(fake_streams_t *f, int later, int earlier);
/* Whether work at `tick` of `stream` is over, or ordered before whatever comes next on `on`. */
int fake_is_before(fake_streams_t *f, int stream, uint64_t tick, int on);
int fake_is_completed(fake_streams_t *f, int stream, uint64_t tick);
void fake_complete(fake_streams_t *f, int stream, uint64_t tick);
void fake_complete_all(fake_streams_t *f);

#endif
