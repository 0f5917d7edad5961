/* SPDX-License-Identifier: Apache-2.0 */
#include "resource/graph_pools.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "resource/driver.h"
#include "resource/pool.h"

struct kmm__graph_pool {
    kmm__graph_pool_t *next;
    int device;
    uint64_t id[2];
    kmm_resource_t *resource;
    int beginnings; /* not released */
    size_t live;    /* allocations */
};

typedef struct capture {
    struct capture *next;
    kmm__graph_pool_t *pool;
    bool (*fits)(void *filter, kmm_stream_t stream);
    void *filter;
} capture_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmm__graph_pool_t *pools; /* guarded by `lock`, as are `captures` */
static capture_t *captures;      /* the newest first */
static _Atomic int capturing;    /* their number */
static _Atomic int unneeded;     /* pools that may have become unneeded since they were collected */

/* The caller holds the lock. */
static kmm__graph_pool_t *find(int device, const uint64_t id[2])
{
    kmm__graph_pool_t *p = pools;
    while (p && (p->device != device || memcmp(p->id, id, sizeof(p->id)) != 0))
        p = p->next;
    return p;
}

/* Adds a pool without beginnings. The caller holds the lock. */
static int add(int device, const uint64_t id[2], kmm_resource_t *upstream, kmm__graph_pool_t **out)
{
    kmm__graph_pool_t *p = calloc(1, sizeof(*p));
    int status =
        p ? kmm__pool_create(upstream, NULL, KMM__POOL_KEEPING, &p->resource)
          : kmm__resource_fail(KMM_E_MEMORY, "no host memory for the pool of a graph's memory");
    if (status) {
        free(p);
        return status;
    }
    p->device = device;
    memcpy(p->id, id, sizeof(p->id));
    p->next = pools;
    *out = pools = p;
    return 0;
}

int kmm__graph_pool_begin(int device, const uint64_t id[2], kmm_resource_t *upstream,
                          bool (*fits)(void *filter, kmm_stream_t stream), void *filter)
{
    capture_t *c = malloc(sizeof(*c));
    if (!c)
        return kmm__resource_fail(KMM_E_MEMORY, "no host memory to note that a graph is captured");
    pthread_mutex_lock(&lock);
    kmm__graph_pool_t *p = find(device, id);
    int status = p ? 0 : add(device, id, upstream, &p);
    if (status == 0) {
        p->beginnings++;
        *c = (capture_t){captures, p, fits, filter};
        captures = c;
        atomic_fetch_add(&capturing, 1);
    } else
        free(c);
    pthread_mutex_unlock(&lock);
    return status;
}

void *kmm__graph_pool_end(int device, const uint64_t id[2])
{
    void *filter = NULL;
    pthread_mutex_lock(&lock);
    kmm__graph_pool_t *p = find(device, id);
    capture_t **at = &captures;
    while (*at && (*at)->pool != p)
        at = &(*at)->next;
    capture_t *c = *at;
    if (c) {
        *at = c->next;
        filter = c->filter;
        atomic_fetch_sub(&capturing, 1);
    }
    pthread_mutex_unlock(&lock);
    free(c);
    return filter;
}

/* Takes a pool that is not needed out of the list; NULL: there is none, or a graph is captured,
 * during which no thread can wait for a device. */
static kmm__graph_pool_t *take_unneeded(void)
{
    pthread_mutex_lock(&lock);
    kmm__graph_pool_t **at = &pools, *p;
    while (*at && ((*at)->beginnings || (*at)->live))
        at = &(*at)->next;
    p = captures ? NULL : *at;
    if (p)
        *at = p->next;
    else if (!captures)
        atomic_store(&unneeded, 0);
    pthread_mutex_unlock(&lock);
    return p;
}

static void put_back(kmm__graph_pool_t *p)
{
    pthread_mutex_lock(&lock);
    p->next = pools;
    pools = p;
    pthread_mutex_unlock(&lock);
}

void kmm__graph_pools_collect(void)
{
    kmm__graph_pool_t *p;
    while (atomic_load(&unneeded) && (p = take_unneeded())) {
        if (kmm__driver_settle(p->device)) { /* the program captures something itself */
            put_back(p);
            return;
        }
        kmm_resource_destroy(p->resource); /* says what could not be freed during the capture */
        free(p);
    }
}

void kmm__graph_pool_release(int device, const uint64_t id[2])
{
    pthread_mutex_lock(&lock);
    kmm__graph_pool_t *p = find(device, id);
    if (p && p->beginnings > 0 && --p->beginnings == 0)
        atomic_store(&unneeded, 1);
    pthread_mutex_unlock(&lock);
    kmm__graph_pools_collect();
}

kmm__graph_pool_t *kmm__graph_pool_take(int device, kmm_stream_t stream)
{
    kmm__graph_pool_t *found = NULL;
    if (atomic_load_explicit(&capturing, memory_order_relaxed) == 0)
        return NULL;
    pthread_mutex_lock(&lock);
    for (capture_t *c = captures; c && !found; c = c->next)
        if (c->pool->device == device && c->fits(c->filter, stream))
            found = c->pool;
    if (found)
        found->live++;
    pthread_mutex_unlock(&lock);
    return found;
}

kmm_resource_t *kmm__graph_pool_resource(const kmm__graph_pool_t *p)
{
    return p->resource;
}

void kmm__graph_pool_drop(kmm__graph_pool_t *p)
{
    pthread_mutex_lock(&lock);
    if (--p->live == 0 && p->beginnings == 0)
        atomic_store(&unneeded, 1);
    pthread_mutex_unlock(&lock);
    kmm__graph_pools_collect();
}
