/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of what a kernel does with memory, and what one access of it reaches in a chunk. */
#ifndef KMM__EXECUTE_GRAPH_H
#define KMM__EXECUTE_GRAPH_H

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

typedef enum kmm__graph_kind { KMM__GRAPH_READ, KMM__GRAPH_WRITE, KMM__GRAPH_ATOMIC } kmm__graph_kind_t;

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

/* One chunk, as the graph's grid and parameters are in it. */
typedef struct kmm__graph_chunk {
    int64_t block[3], grid[3];  /* threads of a block, blocks of the grid */
    int64_t first[3], count[3]; /* blocks of the chunk */
    /* Stores `bits` bits from byte `at` of a parameter on. False: they are not known. */
    bool (*parameter)(void *context, int param, int at, int bits, int64_t *value);
    void *context;
} kmm__graph_chunk_t;

enum { KMM__MOST_CONDITIONS = 32 };

/* What an access reaches: `bytes` bytes from `offset` on, for each value of the variables. */
typedef struct kmm__reach {
    bool is_known; /* there are no others */
    bool is_never; /* there are none */
    bool is_exact; /* each of them is accessed, whatever data the kernel has */
    kmm__form_t offset;
    int64_t bytes;
    kmm__ranges_t ranges;
    kmm__form_t condition[KMM__MOST_CONDITIONS]; /* are not negative where the access happens */
    int condition_count;
} kmm__reach_t;

/* Stores to *out what the access reaches when the chunk runs. */
void kmm__graph_reach(const kmm__graph_t *g, const kmm__graph_access_t *a,
                      const kmm__graph_chunk_t *chunk, kmm__reach_t *out);

#endif
