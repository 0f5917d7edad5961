/* SPDX-License-Identifier: Apache-2.0 */
/* The holder map of an array: which nodes hold the newest value of each byte. Every node has the
 * same. No locks. */
#ifndef KMM__NODES_HOLDERS_H
#define KMM__NODES_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

enum { KMM__NODES_MOST = 64 }; /* sets of nodes are masks of 64 bits */

/* Bytes up to the next run. `fresh`: holders since the command that is being executed began; they
 * are in `holders`, too, and do not have the value yet. */
typedef struct kmm__held {
    int64_t begin;
    uint64_t holders, fresh;
} kmm__held_t;

typedef struct kmm__holder_map {
    kmm__held_t *run; /* in the order of bytes; the first begins at 0 */
    uint32_t count, capacity;
    int64_t bytes;
} kmm__holder_map_t;

/* Node 0 holds all bytes at first. */
void kmm__holder_map_init(kmm__holder_map_t *m, int64_t bytes);
void kmm__holder_map_free(kmm__holder_map_t *m);

/* Calls fn for each run of bytes in [begin, end) that the node does not hold, with the node that it
 * gets them from: the nearest before it that held them before this command. Then the node holds
 * them. */
typedef void kmm__missing_fn_t(void *ctx, uint32_t from, int64_t begin, int64_t end);
void kmm__holder_map_read(kmm__holder_map_t *m, uint32_t node, const int64_t range[2],
                          kmm__missing_fn_t *fn, void *ctx);
/* Calls fn for each run of bytes in [begin, end), with the node if it holds them, or else with the
 * one that it would get them from. Changes nothing. */
void kmm__holder_map_look(const kmm__holder_map_t *m, uint32_t node, const int64_t range[2],
                          kmm__missing_fn_t *fn, void *ctx);
/* The node alone holds bytes [begin, end). */
void kmm__holder_map_write(kmm__holder_map_t *m, uint32_t node, int64_t begin, int64_t end);
/* True if the node holds bytes [range[0], range[1]); if `alone`, no other node does. */
bool kmm__holder_map_is_of(kmm__holder_map_t *m, uint32_t node, const int64_t range[2], bool alone);
/* The command has been executed. */
void kmm__holder_map_settle(kmm__holder_map_t *m);

#endif
