/* SPDX-License-Identifier: Apache-2.0 */
/* What one access of a kernel's graph reaches in a chunk. */
#ifndef KMM__EXECUTE_REACH_H
#define KMM__EXECUTE_REACH_H

#include "execute/form.h"
#include "execute/graph.h"

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
    kmm__form_t
        condition[KMM__MOST_CONDITIONS]; /* forms that are not negative where the access happens */
    int condition_count;
} kmm__reach_t;

/* Stores to *out what the access reaches when the chunk runs. */
void kmm__reach_find(const kmm__graph_t *g, const kmm__graph_access_t *a,
                     const kmm__graph_chunk_t *chunk, kmm__reach_t *out);

#endif
