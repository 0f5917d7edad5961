/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stores of the chunks of a launch come one after the other. Each chunk has a time of its
 * own, and knows up to which time of each other chunk all is done: it learns that from a lock or an
 * atomic variable that the other one has released and it has acquired. Stores of two chunks neither
 * of which knows of the other's come in any order.
 */
#ifndef KMM__EXECUTE_EXACT_CLOCK_H
#define KMM__EXECUTE_EXACT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct kmm__work kmm__work_t;
typedef struct kmm__clocks kmm__clocks_t; /* of a launch; all calls are one at a time */

/* Of a chunk. Launches with more chunks than there are places use each place several times: then
 * some stores are taken as ordered that are not. */
typedef struct kmm__clock {
    uint16_t place;
    uint32_t count, *known; /* times of all places; its own one at `place` */
} kmm__clock_t;

enum { KMM__CLOCK_ACQUIRE = 1, KMM__CLOCK_RELEASE = 2 };

/* Locked. */
kmm__clocks_t *kmm__clocks_make(kmm__work_t *w);
void kmm__clock_open(kmm__clocks_t *all, kmm__clock_t *c);
void kmm__clock_close(kmm__clock_t *c);
/* The chunk acquires or releases the lock or variable at an address, or both. */
void kmm__clock_turn(kmm__clocks_t *all, kmm__clock_t *c, uintptr_t address, int turn);
/* Drops what was released at these addresses: their memory becomes that of other variables. */
void kmm__clock_forget(kmm__clocks_t *all, uintptr_t begin, uintptr_t end);

static inline uint32_t kmm__clock_time(const kmm__clock_t *c)
{
    return c->known[c->place];
}

/* True if what the chunk of `place` did at `time` is done before what this chunk does now. */
static inline bool kmm__clock_knows(const kmm__clock_t *c, uint16_t place, uint32_t time)
{
    return time <= c->known[place];
}

#endif
