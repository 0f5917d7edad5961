/* SPDX-License-Identifier: Apache-2.0 */
/* The choice whether copies go through staging buffers, by what they cost on this machine. */
#include "memory/host/stage_choice.h"

#include <string.h>
#include <sys/mman.h>

#include "base/thread.h"
#include "memory/host/stager.h"
#include "memory/state.h"

enum { USUAL_TIMES = 2 };

/* Locked: loads what an earlier process measured, if one did. */
static void costs_look_up(struct kmm__stager *p, const kmm__device_t *d)
{
    if (p->costs_state != KMM__COSTS_NEW)
        return;
    bool known = kmm__costs_load(d, p->threads_wanted, p->buffer_bytes, &p->costs);
    p->costs_state = known ? KMM__COSTS_KNOWN : KMM__COSTS_MISSING;
    p->times = known ? kmm__costs_times(&p->costs) : USUAL_TIMES;
}

bool kmm__stage_works(kmm__device_t *d)
{
    struct kmm__stager *p = d->runtime->memory->stager;
    if (!p->threads_wanted || d->backend->kind == KMM_KIND_HOST)
        return false;
    pthread_mutex_lock(&p->lock);
    costs_look_up(p, d);
    while (p->state == KMM__STAGER_BEGINNING)
        kmm__cond_wait(&p->changed, &p->lock);
    if (p->state == KMM__STAGER_NEW && p->times > 0) {
        p->state = KMM__STAGER_BEGINNING;
        pthread_mutex_unlock(&p->lock);
        bool works = kmm__stager_begin(p, d->runtime, d->backend);
        pthread_mutex_lock(&p->lock);
        p->state = works ? KMM__STAGER_WORKS : KMM__STAGER_FAILED;
        pthread_cond_broadcast(&p->changed);
    }
    bool works = p->state == KMM__STAGER_WORKS && p->times > 0;
    pthread_mutex_unlock(&p->lock);
    return works;
}

/* Locked: frees buffers of t that are filled. */
static void filled_free(struct kmm__stager *p, kmm__stage_t *t)
{
    for (uint32_t k = 0; k < KMM__STAGE_BUFFERS && t->filled; k++) {
        kmm__staging_t *s = &p->buffers[k];
        if (s->state != KMM__STAGING_FILLED || s->stage != t)
            continue;
        t->filled--;
        kmm__staging_free(s);
    }
}

/* Fills buffers with the sample, as copies in do, but enqueues no copies. Returns seconds. */
static double fill_time(struct kmm__stager *p, char *sample)
{
    kmm__stage_t t = {0};
    double begin = kmm__costs_now();
    pthread_mutex_lock(&p->lock);
    for (size_t offset = 0; offset < KMM__SAMPLE_BYTES || t.filling || t.filled;) {
        kmm__staging_t *s = offset < KMM__SAMPLE_BYTES ? kmm__staging_near(p, 0, -1) : NULL;
        if (s) {
            int64_t n =
                (int64_t)(KMM__SAMPLE_BYTES - offset < p->buffer_bytes ? KMM__SAMPLE_BYTES - offset
                                                                       : p->buffer_bytes);
            s->host = sample + offset;
            s->width = s->pitch = n;
            s->rows = 1;
            s->stage = &t;
            t.filling++;
            kmm__staging_queue(s);
            offset += (size_t)n;
            continue;
        }
        if (!t.filled)
            kmm__cond_wait(&p->changed, &p->lock);
        filled_free(p, &t);
    }
    pthread_mutex_unlock(&p->lock);
    return kmm__costs_now() - begin;
}

static bool measure(struct kmm__stager *p, kmm__device_t *d, kmm__copy_costs_t *out)
{
    char *sample =
        mmap(NULL, KMM__SAMPLE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double best = 0;
    if (sample == MAP_FAILED)
        return false;
    memset(sample, 1, KMM__SAMPLE_BYTES); /* memory that programs map is in use, too */
    for (int k = 0; k < KMM__COST_ROUNDS; k++) {
        double took = fill_time(p, sample);
        best = k == 0 || took < best ? took : best;
    }
    out->stage = best / KMM__SAMPLE_BYTES;
    kmm__costs_measure(d, sample, p->memory, KMM__STAGE_BUFFERS * p->buffer_bytes, out);
    munmap(sample, KMM__SAMPLE_BYTES);
    return true;
}

double kmm__stage_times(kmm__device_t *d, uint64_t bytes)
{
    struct kmm__stager *p = d->runtime->memory->stager;
    kmm__copy_costs_t costs;
    pthread_mutex_lock(&p->lock);
    while (p->costs_state == KMM__COSTS_MEASURING)
        kmm__cond_wait(&p->changed, &p->lock);
    if (p->costs_state == KMM__COSTS_MISSING && bytes >= KMM__SAMPLE_BYTES) {
        p->costs_state = KMM__COSTS_MEASURING;
        pthread_mutex_unlock(&p->lock);
        bool measured = measure(p, d, &costs);
        if (measured)
            kmm__costs_save(d, p->threads_wanted, p->buffer_bytes, &costs);
        pthread_mutex_lock(&p->lock);
        p->costs_state = KMM__COSTS_KNOWN;
        p->costs = measured ? costs : p->costs;
        p->times = measured ? kmm__costs_times(&costs) : p->times;
        pthread_cond_broadcast(&p->changed);
    }
    double times = p->times;
    pthread_mutex_unlock(&p->lock);
    return times;
}

bool kmm__stage_costs(kmm_runtime_t *rt, kmm__copy_costs_t *out, double *times)
{
    struct kmm__stager *p = rt->memory->stager;
    pthread_mutex_lock(&p->lock);
    bool known = p->costs_state == KMM__COSTS_KNOWN && p->costs.stage > 0;
    *out = p->costs;
    *times = p->times;
    pthread_mutex_unlock(&p->lock);
    return known;
}
