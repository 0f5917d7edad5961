/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of arrays and of partials on their way from node to node. */
#ifndef KMM__NODES_EXCHANGE_H
#define KMM__NODES_EXCHANGE_H

#include "launch/reduce.h"
#include "nodes/state.h"

/* A run of bytes of an array, or of partials of a reduction, that one node sends to another. */
typedef struct kmm__piece {
    uint32_t from, to;
    bool is_done;
    uint64_t id;   /* of the array; of partials: KMM__PIECE_PARTIALS and the reduction's number */
    int64_t begin; /* byte of the array; number of the first partial */
    int64_t count; /* of bytes; of partials */
    int64_t bytes;
    char *address;             /* of the array's bytes on this node */
    char *memory;              /* of the program, on node 0, instead of the array's; NULL: none */
    const kmm__work_t *work;   /* NULL: it is of an array */
    const kmm__reduction_t *r; /* of the work */
} kmm__piece_t;

#define KMM__PIECE_PARTIALS (UINT64_C(1) << 63)

/* What one command moves, as far as this node sends or gets it. */
typedef struct kmm__exchange {
    kmm__nodes_t *nodes;
    kmm__shared_t *shared; /* of the bytes that are added next */
    uint32_t to;           /* the node that gets them */
    char *memory;  /* of the program, on node 0, with byte `first`; NULL: arrays' bytes are moved */
    int64_t first; /* with memory */
    kmm__piece_t *pieces;
    uint32_t count, capacity;
} kmm__exchange_t;

/* Bytes [range[0], range[1]) of an array are to be on node `to`. */
void kmm__exchange_read(kmm__exchange_t *e, kmm__shared_t *shared, uint32_t to,
                        const int64_t range[2]);
/* Node 0 sends bytes [range[0], range[1]) of its program's memory to a node's array. */
void kmm__exchange_give(kmm__exchange_t *e, uint32_t to, const int64_t range[2]);
/* Node 0 gets to its program's memory those of bytes [range[0], range[1]) that only others hold. */
void kmm__exchange_fetch(kmm__exchange_t *e, const int64_t range[2]);
/* Partials [range[0], range[1]) of a reduction go from a node to another. */
void kmm__exchange_partials(kmm__exchange_t *e, const kmm__work_t *w, uint32_t reduction,
                            const uint32_t nodes[2], const uint32_t range[2]);
/* Sends and gets all. */
void kmm__exchange_end(kmm__exchange_t *e);

/* Hooks of the post, whose context is the nodes. */
void *kmm__exchange_parcel(void *nodes, uint32_t from, const void *header, size_t count,
                           size_t bytes);
void kmm__exchange_arrived(void *nodes, uint32_t from, void *contents);
/* On the post's thread: a node has stored so many bytes that this one had sent. */
void kmm__exchange_taken(kmm__nodes_t *n, uint32_t by, uint64_t bytes);

#endif
