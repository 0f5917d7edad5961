/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a framework allocates while it captures a graph. The graph uses it each time that it
 * runs, also what the framework has freed. So such memory comes from a pool of its own, which gives
 * nothing back before the framework has released the graph.
 */
#ifndef KMM__RESOURCE_GRAPH_POOLS_H
#define KMM__RESOURCE_GRAPH_POOLS_H

#include "resource/resource.h"

typedef struct kmm__graph_pool kmm__graph_pool_t;

/* From now on, memory of the device for streams of which fits(filter, stream) is true comes from
 * the pool with this identity. The pool is made on `upstream` if there is none. */
int kmm__graph_pool_begin(int device, const uint64_t id[2], kmm_resource_t *upstream,
                          bool (*fits)(void *filter, kmm_stream_t stream), void *filter);
/* Ends what began last for the pool. Returns its filter; NULL: nothing had begun. */
void *kmm__graph_pool_end(int device, const uint64_t id[2]);
/* To be called once for each beginning, when the graph has been destroyed. After the last one the
 * memory goes back upstream as soon as nothing of it is allocated, no graph is being captured, and
 * the device has done its work. */
void kmm__graph_pool_release(int device, const uint64_t id[2]);

/* Returns the pool that has to serve an allocation on the stream, and counts the allocation; NULL:
 * no pool of a graph. */
kmm__graph_pool_t *kmm__graph_pool_take(int device, kmm_stream_t stream);
kmm_resource_t *kmm__graph_pool_resource(const kmm__graph_pool_t *p);
/* An allocation of the pool has been freed, or has failed. */
void kmm__graph_pool_drop(kmm__graph_pool_t *p);
/* Gives back the memory of pools that are not needed any more. */
void kmm__graph_pools_collect(void);

#endif
