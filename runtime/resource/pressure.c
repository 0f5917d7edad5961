/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pressure. A list of all resources of the process that keep unused memory, and the trimming
 * of these when memory runs out. */
#include "resource/pressure.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/thread.h"

/* All holders of the process. The lock is not held while a holder is trimmed: trimming may need
 * a lock of another thread that is itself waiting for this one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t unpinned = PTHREAD_COND_INITIALIZER;
static kmm__holder_t *holders;

void kmm__holder_add(kmm__holder_t *h, kmm_resource_t *r)
{
    pthread_mutex_lock(&lock);
    *h = (kmm__holder_t){holders, r, 0};
    holders = h;
    pthread_mutex_unlock(&lock);
    for (kmm_resource_t *below = r->upstream; below; below = below->upstream)
        atomic_store_explicit(&below->carries, true, memory_order_relaxed);
}

void kmm__holder_remove(kmm__holder_t *h)
{
    pthread_mutex_lock(&lock);
    while (h->pins)
        kmm__cond_wait(&unpinned, &lock);
    for (kmm__holder_t **at = &holders; *at; at = &(*at)->next)
        if (*at == h) {
            *at = h->next;
            break;
        }
    pthread_mutex_unlock(&lock);
}

static void trim(kmm__holder_t *h)
{
    h->pins++;
    pthread_mutex_unlock(&lock);
    kmm_resource_trim(h->resource, 0);
    pthread_mutex_lock(&lock);
    if (--h->pins == 0)
        pthread_cond_broadcast(&unpinned);
}

static bool stands_on(const kmm_resource_t *above, const kmm_resource_t *r)
{
    while (above && above != r)
        above = above->upstream;
    return above != NULL;
}

void kmm__pressure(const kmm_resource_t *r, kmm__pressed_t whom)
{
    pthread_mutex_lock(&lock);
    for (kmm__holder_t *h = holders; h; h = h->next) /* a pinned holder stays in the list */
        if (h->resource != r && h->resource->kind == r->kind && h->resource->device == r->device &&
            (whom == KMM__PRESS_ALL || stands_on(h->resource, r)))
            trim(h);
    pthread_mutex_unlock(&lock);
}

/* The lock of the list is held while a holder is asked. A holder takes only its own lock to answer,
 * and no thread that has a holder's lock waits for the lock of the list. */
bool kmm__is_held(const kmm_resource_t *r, const void *p)
{
    bool held = false;
    pthread_mutex_lock(&lock);
    for (kmm__holder_t *h = holders; h && !held; h = h->next)
        held = h->resource != r && h->resource->ops->holds && stands_on(h->resource, r) &&
               h->resource->ops->holds(h->resource, p);
    pthread_mutex_unlock(&lock);
    return held;
}
