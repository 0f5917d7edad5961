/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of what a kernel does with memory. */
#ifndef KMM__EXECUTE_GRAPH_H
#define KMM__EXECUTE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "execute/form.h"

/* kmmcc/ir/ir.h has the meaning of all that stands in a graph. */
typedef struct kmm__graph_node {
    char op; /* a letter of kmm_launch_graph */
    int bits, a, b, c;
    int64_t value;
} kmm__graph_node_t;

typedef struct kmm__graph_loop {
    int parent, test;
    bool tests_at_end, has_breaks;
} kmm__graph_loop_t;

typedef enum kmm__graph_kind {
    KMM__GRAPH_READ,
    KMM__GRAPH_WRITE,
    KMM__GRAPH_ATOMIC
} kmm__graph_kind_t;

typedef struct kmm__graph_access {
    kmm__graph_kind_t kind;
    int param, member, offset, bytes, guard, loop;
    bool is_after_write;
} kmm__graph_access_t;

typedef struct kmm__graph {
    int node_count, loop_count, access_count;
    kmm__graph_node_t *node;
    kmm__graph_loop_t *loop;
    kmm__graph_access_t *access;
} kmm__graph_t;

/* Returns the graph of a text, as kmm_launch_graph describes it; NULL: it is none. */
kmm__graph_t *kmm__graph_parse(const char *text);
void kmm__graph_free(kmm__graph_t *g);

#endif
