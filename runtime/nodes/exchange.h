/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of arrays on their way from node to node. */
#ifndef KMM__NODES_EXCHANGE_H
#define KMM__NODES_EXCHANGE_H

#include "nodes/state.h"

/* What one command moves: what this node sends is sent at once; what it gets is noted. */
typedef struct kmm__exchange {
    kmm__nodes_t *nodes;
    kmm__shared_t *shared; /* of the bytes that are moved next */
    uint32_t to;           /* the node that gets them */
    struct kmm__expected *expected;
    uint32_t count, capacity;
} kmm__exchange_t;

/* Bytes [range[0], range[1]) of an array are to be on node `to`. */
void kmm__exchange_read(kmm__exchange_t *e, kmm__shared_t *shared, uint32_t to,
                        const int64_t range[2]);
/* Waits for all that this node gets, and stores it in the arrays. */
void kmm__exchange_end(kmm__exchange_t *e);

/* Hooks of the post, whose context is the nodes. */
void *kmm__exchange_parcel(void *nodes, uint32_t from, const void *header, size_t count,
                           size_t bytes);
void kmm__exchange_arrived(void *nodes, uint32_t from, void *contents);

#endif
