/* SPDX-License-Identifier: Apache-2.0 */
/* The log of commands, which node 0 writes and all nodes execute. */
#ifndef KMM__NODES_NODES_H
#define KMM__NODES_NODES_H

#include "base/runtime.h"
#include "transport/post.h"

/* Called before and after the post is opened. `context` is what the post's hooks for parcels get
 * (nodes/exchange.h). */
void *kmm__nodes_create(void);
/* Nodes other than 0 execute commands from now on. */
void kmm__nodes_begin(kmm__post_t *post);
/* On the post's thread: a message that is a command or an answer to one. False: it is none. */
bool kmm__nodes_message(uint32_t from, uint32_t kind, const void *bytes, size_t count);
/* The process's runtime has been made. Launches and arrays of others stay on their node. */
void kmm__nodes_attach(kmm_runtime_t *rt);

/* What this node has done so far. */
typedef struct kmm__nodes_counts {
    uint32_t me, count; /* this node, and how many there are */
    uint64_t launches;  /* that were divided among nodes */
    uint64_t chunks;    /* of these that this node has run */
    uint64_t held;      /* the most bytes of contents that had arrived and were not stored yet */
} kmm__nodes_counts_t;
void kmm__nodes_count(kmm__nodes_counts_t *out); /* where there are several */

#endif
