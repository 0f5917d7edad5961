/* SPDX-License-Identifier: Apache-2.0 */
/* A source: a resource that gets memory from outside. It keeps a record of each allocation to
 * check frees, and aligns memory that the outside does not align. */
#ifndef KMM__RESOURCE_SOURCE_H
#define KMM__RESOURCE_SOURCE_H

#include <pthread.h>

#include "resource/resource.h"
#include "resource/table.h"

typedef struct kmm__source kmm__source_t;

struct kmm__source {
    kmm_resource_t head;
    kmm__table_t live;    /* from an address given out to its record */
    pthread_mutex_t lock; /* guards `spare` */
    /* Unused records. Kept until the source is destroyed, so that a thread that frees an
     * address a second time can still read its record. */
    struct kmm__source_record *spare;
    size_t alignment; /* alignment of all memory from `get`; a power of two */
    /* Functions of the outside. `put` receives the `bytes` that were passed to `get`. */
    int (*get)(kmm__source_t *s, size_t bytes, kmm_stream_t stream, void **out);
    int (*put)(kmm__source_t *s, void *p, size_t bytes, kmm_stream_t stream);
    int (*info)(kmm__source_t *s, size_t *available, size_t *total); /* NULL: not known */
    int (*trim)(kmm__source_t *s, size_t keep); /* NULL: keeps no unused memory */
    int (*allow)(kmm__source_t *s, int device); /* NULL: access cannot be given to other devices */
    void (*close)(kmm__source_t *s);            /* NULL: nothing to close */
};

void kmm__source_init(kmm__source_t *s, const char *noun);
/* Records memory that did not come from `get`. It is deallocated like memory from `get`.
 * KMM_E_MEMORY: the memory was passed to `put`. */
int kmm__source_adopt(kmm__source_t *s, void *p, size_t bytes);

#endif
