/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Premapping. The tasks in a device's queue tell which frames are needed next. While there is spare
 * memory, the premapper, a thread of the device, maps these frames before their tasks are issued.
 * So the thread that issues does not map between copies and launches.
 *
 * The premapper starts when the device first maps a frame. It sleeps unless tasks need frames that
 * no task had used. It maps nothing while memory is short. Acquisition maps what the premapper
 * could not.
 */
#include "memory/residency/premap.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "memory/residency/physical.h"

struct kmm__premapper {
    pthread_t thread;
    pthread_cond_t wake; /* goes with the runtime's lock */
    bool runs;           /* false: the thread could not be made */
};

/* Queued tasks that are looked at; frames of one run. Frames that are premapped and not used yet
 * take at most limit / PREMAP_PART. */
enum { PREMAP_LOOK = 64, PREMAP_RUN = 16, PREMAP_PART = 4 };

/* A run: neighbouring frames of one array that are not mapped, with room for them. */
typedef struct run {
    kmm__device_t *device;
    kmm__frame_t *first;
    uint32_t count;
    bool is_new[PREMAP_RUN];
} run_t;

/* Takes room for one more frame: a spare one, or free memory. False: there is none, or too much is
 * premapped and not used yet. */
static bool run_reserve(kmm__device_t *d, uint64_t bytes, kmm__frame_handle_t *handle, bool *is_new)
{
    if (d->memory->premapped_bytes + bytes > d->memory->limit / PREMAP_PART)
        return false;
    *is_new = !kmm__spare_take(d, bytes, handle);
    if (*is_new && d->memory->used + bytes > d->memory->limit)
        return false;
    kmm__memory_take(d, *is_new ? bytes : 0);
    d->memory->premapped_bytes += bytes;
    return true;
}

static void run_add(void *ctx, kmm__frame_t *f)
{
    run_t *a = ctx;
    if (f->state != KMM__FRAME_ABSENT || a->count == PREMAP_RUN ||
        (a->count && (f->array != a->first->array || f != a->first + a->count)))
        return;
    if (!run_reserve(a->device, kmm__frame_size(f), &f->handle, &a->is_new[a->count]))
        return;
    if (a->count++ == 0)
        a->first = f;
    kmm__frame_begin_mapping(f);
    f->premapped = true;
}

/* Not locked: maps the frames of a run. Returns how many are mapped. is_new becomes false for
 * frames that have got memory, also if they are not mapped. */
static uint32_t run_map(run_t *a, int *error)
{
    kmm__device_t *d = a->device;
    uint32_t k = 0;
    for (; k < a->count; k++) {
        kmm__frame_t *f = a->first + k;
        const uint64_t bytes = kmm__frame_size(f);
        *error = a->is_new[k] ? d->backend->frame_create(d->gpu, bytes, &f->handle) : 0;
        if (*error)
            break;
        a->is_new[k] = false;
        if ((*error = d->backend->frame_map_without_access(d->gpu, kmm__frame_address(f), f->handle,
                                                           bytes)))
            break;
    }
    return k;
}

/* Locked: undoes frame k of the run, which could not be mapped. Acquisition tries it again, and
 * reports why it fails. */
static void run_undo(const run_t *a, uint32_t k)
{
    kmm__frame_t *f = a->first + k;
    kmm__frame_mapping_failed(f);
    if (a->is_new[k])
        a->device->memory->used -= kmm__frame_size(f);
    else
        kmm__spare_push(a->device, f->handle, kmm__frame_size(f));
}

/* Finds the first run of unmapped frames that queued tasks need, in the order of the queue, and
 * takes room for it. */
static void run_find(run_t *a)
{
    const kmm__device_t *d = a->device;
    const kmm__task_t *t;
    for (uint32_t k = 0; k < PREMAP_LOOK && !a->count && (t = d->memory->next_task(d, k)); k++) {
        for (uint32_t j = 0; j < t->access_count && !t->error && !a->count; j++) {
            const kmm__access_t *x = &t->accesses[j];
            const kmm__residence_t *r = &x->array->residence[d->index];
            if (r->window && !r->is_packed && r->mapped < x->array->frame_count)
                kmm__frames_of(x->array, a->device, x->layout, &x->box, run_add, a);
        }
    }
}

/* Premaps one run of frames that a queued task needs. False: there is nothing to do, or it has
 * failed. Locked, unlocks meanwhile. */
static bool premap(kmm__device_t *d)
{
    run_t a = {.device = d};
    int error = 0, refused = 0;
    if (d->memory->pressure || d->lost || d->memory->premap_failed)
        return false;
    run_find(&a);
    if (a.count == 0)
        return false;
    d->memory->is_premapping = true;
    pthread_mutex_unlock(&d->runtime->lock);
    uint64_t begin = kmm__now(), bytes = 0;
    uint32_t mapped = run_map(&a, &error);
    for (uint32_t k = 0; k < mapped; k++)
        bytes += kmm__frame_size(&a.first[k]);
    if (mapped)
        refused = d->backend->frames_allow(d->gpu, kmm__frame_address(a.first), bytes);
    uint64_t took = kmm__now() - begin;
    KMM__TRACE(.kind = KMM__EVENT_SPAN, .text = "premap", .a = begin, .b = bytes);
    pthread_mutex_lock(&d->runtime->lock);
    for (uint32_t k = 0; k < mapped; k++)
        kmm__frame_mapped(&a.first[k], !refused);
    for (uint32_t k = mapped; k < a.count; k++)
        run_undo(&a, k);
    d->memory->is_premapping = false;
    d->memory->premap_failed = error || refused;
    kmm__count_locked(&d->counters.premapped, mapped);
    kmm__count_locked(&d->counters.premap_ns, took);
    kmm__device_wake(d);
    return !d->memory->premap_failed;
}

/* ---- The thread ---- */

static void *premap_main(void *arg)
{
    kmm__device_t *d = arg;
    kmm_runtime_t *rt = d->runtime;
    KMM__TRACE(.kind = KMM__EVENT_THREAD, .device = d->number, .text = "premaps for a device");
    pthread_mutex_lock(&rt->lock);
    while (!rt->stopping)
        if (!premap(d))
            kmm__cond_wait(&d->memory->premapper->wake, &rt->lock);
    pthread_mutex_unlock(&rt->lock);
    return NULL;
}

/* True if a task is queued, memory is not short, and the device is a GPU whose memory can be mapped
 * in frames. */
static bool is_wanted(const kmm__device_t *d)
{
    return d->backend->kind != KMM_KIND_HOST && !d->info.whole && d->memory->next_task(d, 0) &&
           !d->memory->pressure;
}

void kmm__premap_wake(kmm__device_t *d)
{
    if (!is_wanted(d))
        return;
    if (!d->memory->premapper) {
        d->memory->premapper = kmm__alloc(sizeof(*d->memory->premapper));
        pthread_cond_init(&d->memory->premapper->wake, NULL);
        d->memory->premapper->runs =
            kmm__thread_create(&d->memory->premapper->thread, premap_main, d) == 0;
    }
    pthread_cond_signal(&d->memory->premapper->wake);
}

void kmm__premap_stop(kmm__device_t *d)
{
    struct kmm__premapper *m = d->memory->premapper;
    if (!m)
        return;
    pthread_mutex_lock(&d->runtime->lock);
    pthread_cond_signal(&m->wake);
    pthread_mutex_unlock(&d->runtime->lock);
    if (m->runs)
        pthread_join(m->thread, NULL);
    pthread_cond_destroy(&m->wake);
    free(m);
    d->memory->premapper = NULL;
}
