/* SPDX-License-Identifier: Apache-2.0 */
/* The array nearest to an address. Everything here is called in handlers of signals: nothing is
 * allocated, and no lock is waited for without an end. */
#include "observe/nearest.h"

#include <time.h>

#include "execute/check.h"

/* A search: the address, and the task that faulted. */
typedef struct search {
    const char *address;
    const kmm__task_t *running; /* NULL: no task */
    kmm__nearest_t *best;
} search_t;

static uint64_t distance_of(const kmm__nearest_t *n)
{
    return !n->array ? UINT64_MAX : n->is_inside ? 0 : n->before ? n->before : n->behind + 1;
}

/* The array begins at `at` in some space. */
static void consider(const search_t *s, const kmm__array_t *a, const char *at, bool is_name)
{
    if (!at)
        return;
    uintptr_t address = (uintptr_t)s->address, begin = (uintptr_t)at, end = begin + a->bytes;
    kmm__nearest_t n = {.array = a, .at = at, .is_name = is_name};
    n.is_inside = address >= begin && address < end;
    n.before = address < begin ? begin - address : 0;
    n.behind = address >= end ? address - end : 0;
    if (distance_of(&n) < distance_of(s->best))
        *s->best = n;
}

/* First where the task finds it, which wins where two are equally near. */
static void consider_array(const search_t *s, const kmm__array_t *a)
{
    const kmm__task_t *t = s->running;
    if (a->object.is_abstract)
        return;
    if (t && t->issue.check)
        consider(s, a, kmm__check_copy(t->issue.check, a), false);
    if (t && t->device->space != KMM__HOST)
        consider(s, a, (const char *)(uintptr_t)a->residence[t->device->index].window, false);
    consider(s, a, a->host, false);
    consider(s, a, a->base, a->base != a->host && (a->reserved || a->home));
}

/* Others hold the lock for microseconds. */
static bool try_lock(kmm_runtime_t *rt)
{
    enum { TRIES = 200, PAUSE_NS = 1000000 };
    for (int k = 0; k < TRIES; k++) {
        if (pthread_mutex_trylock(&rt->lock) == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return false;
}

void kmm__nearest_find(kmm_runtime_t *rt, const kmm__task_t *running, const char *address,
                       kmm__nearest_t *out)
{
    search_t s = {address, running, out};
    *out = (kmm__nearest_t){0};
    for (uint32_t k = 0; running && k < running->access_count; k++)
        consider_array(&s, running->accesses[k].array);
    for (uint32_t k = 0; running && k < running->work->pointer_count; k++)
        consider_array(&s, running->work->pointers[k].array);
    if (!try_lock(rt))
        return;
    for (uint32_t k = 0; k < rt->memory->array_count; k++)
        consider_array(&s, rt->memory->arrays[k]);
    pthread_mutex_unlock(&rt->lock);
}

bool kmm__nearest_was_array(const kmm_runtime_t *rt, const char *address)
{
    bool was = false;
    for (uint32_t k = 0; k < rt->device_count; k++)
        for (uint32_t i = 0; i < KMM__GONE && rt->device[k]->memory; i++) {
            const kmm__gone_t *gone = &rt->device[k]->memory->gone[i];
            was |= (uintptr_t)address - (uintptr_t)gone->begin < gone->bytes;
        }
    return was;
}

uint32_t kmm__nearest_item(const kmm__task_t *t, const kmm__array_t *a)
{
    for (uint32_t k = 0; k < t->access_count; k++)
        if (t->accesses[k].array == a && t->accesses[k].item < t->work->item_count)
            return t->accesses[k].item;
    return KMM__MAX_ITEMS;
}

static bool box_holds(const kmm__access_t *a, int64_t offset)
{
    int64_t rest = offset - a->layout->origin;
    for (uint32_t d = 0; d < a->layout->dims; d++) {
        int64_t stride = a->layout->stride[d], k = stride > 0 ? rest / stride : 0;
        if (k < a->box.lo[d] || k >= a->box.hi[d])
            return false;
        rest -= k * stride;
    }
    return true;
}

bool kmm__nearest_is_accessed(const kmm__task_t *t, const kmm__array_t *a, int64_t offset)
{
    for (uint32_t k = 0; k < t->access_count; k++)
        if (t->accesses[k].array == a && box_holds(&t->accesses[k], offset))
            return true;
    return false;
}
