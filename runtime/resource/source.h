/* SPDX-License-Identifier: Apache-2.0 */
/* A resource that gets memory from outside. Keeps a record of each allocation, so that it can check
 * what is freed, and aligns what the outside does not align. */
#ifndef KMM__RESOURCE_SOURCE_H
#define KMM__RESOURCE_SOURCE_H

#include <pthread.h>

#include "resource/resource.h"
#include "resource/table.h"

typedef struct kmm__source kmm__source_t;

struct kmm__source {
    kmm_resource_t head;
    kmm__table_t live;    /* address given out -> a record */
    pthread_mutex_t lock; /* of the records that are not in use */
    struct kmm__source_record
        *spare; /* kept until the source goes: who frees twice at once may read one that is gone */
    size_t alignment; /* that `get` gives of itself; a power of two */
    /* The outside. `bytes` of put is what get was asked for. */
    int (*get)(kmm__source_t *s, size_t bytes, kmm_stream_t stream, void **out);
    int (*put)(kmm__source_t *s, void *p, size_t bytes, kmm_stream_t stream);
    int (*info)(kmm__source_t *s, size_t *available, size_t *total); /* NULL: not known */
    int (*trim)(kmm__source_t *s, size_t keep);                      /* NULL: holds nothing back */
    int (*allow)(kmm__source_t *s, int device); /* NULL: devices cannot be given access */
    void (*close)(kmm__source_t *s);            /* NULL: nothing to close */
};

void kmm__source_init(kmm__source_t *s, const char *noun);
/* Records memory that `get` has not given: it is deallocated as if it had. KMM_E_MEMORY: it has
 * been put. */
int kmm__source_adopt(kmm__source_t *s, void *p, size_t bytes);

#endif
