/* SPDX-License-Identifier: Apache-2.0 */
/* The way back to native standing. */
#include "memory/residency/back.h"

#include "base/thread.h"
#include "memory/disk/page.h"
#include "memory/residency/frame.h"
#include "memory/residency/named.h"
#include "memory/residency/pack.h"
#include "memory/residency/physical.h"
#include "memory/summary.h"
#include "task/state.h"

/* Beside the arrays, 1/FREE_PART of the GPU stays free: the next small array must not take over
 * again. */
enum { FREE_PART = 16 };

/* ---- Whether it can be ---- */

static bool is_idle(const kmm_runtime_t *rt)
{
    bool is = rt->tasks->outstanding == 0;
    for (uint32_t k = 0; k < rt->visible_count; k++) {
        const kmm__device_t *d = rt->device[k];
        is &= !d->lost && !d->memory->is_premapping;
    }
    return is;
}

/* True if the address space of the array's name can have its memory on the GPU. */
static bool has_place(const kmm__array_t *a, const kmm__device_t *d)
{
    return a->home == d && a->refs == 1 && (a->reserved || a->residence[d->index].is_packed);
}

bool kmm__back_fits(kmm_runtime_t *rt)
{
    const struct kmm__memory *m = rt->memory;
    const kmm__device_t *d = rt->device[0];
    uint64_t bytes = kmm__pack_used_bytes(d);
    bool fits = is_idle(rt) && rt->visible_count == 1 && !kmm__spill_room(rt);
    for (uint32_t k = 0; k < m->array_count && fits; k++) {
        const kmm__array_t *a = m->arrays[k];
        if (a == m->globals)
            continue;
        fits = has_place(a, d);
        bytes += a->residence[d->index].is_packed ? 0 : kmm__array_span(a);
    }
    return fits && bytes <= d->memory->limit - d->memory->limit / FREE_PART;
}

/* True if all newest values of an array are on the GPU, in frames or in a slab. */
static bool is_there(kmm__array_t *a, const kmm__device_t *d)
{
    const kmm__residence_t *r = &a->residence[d->index];
    bool is = r->window && (r->is_packed || r->frames) && !r->is_stuck;
    for (uint32_t k = 0; is && !r->is_packed && k < a->frame_count; k++) {
        const kmm__frame_t *f = &r->frames[k];
        is = f->state == KMM__FRAME_MAPPED && !f->host_backed && f->pins == 0;
    }
    return is && kmm__coherence_summary_is_there(a, d->space);
}

/* ---- Moving ---- */

static void devices_trim(kmm_runtime_t *rt)
{
    for (uint32_t k = 0; k < rt->visible_count; k++) {
        kmm__device_t *d = rt->device[k];
        kmm__pack_trim(d);
        while (d->memory->spare_count)
            kmm__spare_destroy(rt, d);
    }
}

/* True if there is no array, and so nothing to move. */
static bool is_bare(const kmm_runtime_t *rt)
{
    bool is = rt->memory->array_count == 1 && rt->memory->live_arrays == 1 && is_idle(rt);
    for (uint32_t k = 0; k < rt->visible_count; k++)
        is &= rt->device[k]->memory->used == 0;
    return is;
}

static bool is_all_there(kmm_runtime_t *rt)
{
    const struct kmm__memory *m = rt->memory;
    bool is = kmm__back_fits(rt) && m->live_arrays == m->array_count;
    for (uint32_t k = 0; k < m->array_count && is; k++)
        is = m->arrays[k] == m->globals || is_there(m->arrays[k], rt->device[0]);
    return is;
}

bool kmm__back_move(kmm_runtime_t *rt, bool moves)
{
    /* devices have arrays to release that were freed */
    while (rt->memory->live_arrays > rt->memory->array_count && is_idle(rt))
        kmm__cond_wait(&rt->progress, &rt->lock);
    if (is_idle(rt))
        devices_trim(rt); /* which may unlock */
    if (!is_bare(rt)) {
        if (!moves || !is_all_there(rt))
            return false;
        if (!kmm__named_return(rt->device[0]))
            return false;
    }
    for (uint32_t k = 0; k < rt->visible_count; k++)
        kmm__pack_unbind(rt->device[k]);
    return true;
}
