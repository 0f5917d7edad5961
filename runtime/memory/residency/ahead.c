/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames mapped ahead. What is in a device's queue says which frames will be needed next, and as
 * long as there is memory to spare they can be mapped before anybody asks: by a thread of the
 * device's, so that the one that issues need not do it between copies and launches. It is made when
 * a device first maps anything, sleeps unless tasks need frames that none had used before, and maps
 * nothing while memory is short, since room is then for who comes first. What it cannot map is
 * mapped by who needs it.
 */
#include "memory/residency/ahead.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "memory/residency/frame.h"

struct kmm__ahead {
    pthread_t thread;
    pthread_cond_t wake; /* with the runtime's lock */
    bool runs;           /* false: no thread could be made */
};

static void *ahead_main(void *arg)
{
    kmm__device_t *d = arg;
    kmm_runtime_t *rt = d->runtime;
    pthread_mutex_lock(&rt->lock);
    while (!rt->stopping)
        if (!kmm__frames_map_ahead(d))
            pthread_cond_wait(&d->memory->mapper->wake, &rt->lock);
    pthread_mutex_unlock(&rt->lock);
    return NULL;
}

/* Where memory cannot be mapped, or is the CPU's, there is nothing to do ahead. */
static bool is_wanted(const kmm__device_t *d)
{
    return d->backend->kind != KMM_KIND_HOST && !d->info.whole && d->memory->next_task(d, 0) &&
           !d->memory->pressure;
}

void kmm__ahead_wake(kmm__device_t *d)
{
    if (!is_wanted(d))
        return;
    if (!d->memory->mapper) {
        d->memory->mapper = kmm__alloc(sizeof(*d->memory->mapper));
        pthread_cond_init(&d->memory->mapper->wake, NULL);
        d->memory->mapper->runs =
            pthread_create(&d->memory->mapper->thread, NULL, ahead_main, d) == 0;
    }
    pthread_cond_signal(&d->memory->mapper->wake);
}

void kmm__ahead_stop(kmm__device_t *d)
{
    struct kmm__ahead *m = d->memory->mapper;
    if (!m)
        return;
    pthread_mutex_lock(&d->runtime->lock);
    pthread_cond_signal(&m->wake);
    pthread_mutex_unlock(&d->runtime->lock);
    if (m->runs)
        pthread_join(m->thread, NULL);
    pthread_cond_destroy(&m->wake);
    free(m);
    d->memory->mapper = NULL;
}
