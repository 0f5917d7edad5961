/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets of sections whose ends data gives (kmm_launch_offsets): where they are, how many
 * there are, and copies of those that lie in arrays. */
#include "launch/offsets.h"

#include <pthread.h>
#include <stdlib.h>

#include <kmm.h>

#include "base/alloc.h"
#include "base/error.h"
#include "memory/array.h"

void kmm__fetched_ref(kmm__fetched_t *f)
{
    if (f)
        atomic_fetch_add(&f->uses, 1);
}

void kmm__fetched_unref(kmm__fetched_t *f)
{
    if (!f || atomic_fetch_sub(&f->uses, 1) > 1)
        return;
    for (kmm__fetched_t *next; f; f = next) {
        next = f->next;
        free(f);
    }
}

/* True if the section moves with an axis whose end is not known yet. */
static bool is_endless(const kmm_launch_t *l, const kmm__section_t *s)
{
    for (uint32_t k = 0; k < l->axis_count; k++)
        if ((s->coef[k].lower || s->coef[k].length) && l->axis[k].length == KMM_WHOLE)
            return true;
    return false;
}

/* True if the host cannot read what lies at the address: it is that of an array that launches
 * write. *bytes: how many lie in the array from there on. */
static bool is_in_array(kmm_runtime_t *rt, const void *address, int64_t *bytes)
{
    pthread_mutex_lock(&rt->lock);
    const kmm__array_t *a = kmm__array_find(rt, address);
    bool found = a && !(a->is_mapped && a->map == KMM_MAP_TO);
    *bytes = found ? (int64_t)a->bytes - ((const char *)address - a->base) : 0;
    pthread_mutex_unlock(&rt->lock);
    return found;
}

/* Copies `bytes` of the array's memory for the launch, after what writes it. */
static const void *fetch(kmm_launch_t *l, const char *text, const void *address, size_t bytes)
{
    kmm__fetched_t *f = kmm__alloc(sizeof(*f) + bytes);
    f->next = l->fetched;
    f->uses = 1;
    l->fetched = f;
    int error = kmm_copy_out(l->runtime, f->at, address, bytes);
    if (error)
        kmm__launch_mistake(l, error, "%s: its offsets cannot be read: %s", text, kmm__error_get());
    return f->at;
}

void kmm__offsets_set(kmm_launch_t *l, const kmm__item_t *item, kmm__section_t *s,
                      const kmm__offsets_t *o)
{
    int64_t size = o->type == KMM_INT32 || o->type == KMM_UINT32 ? 4 : 8, there = 0;
    bool is_array = l->runtime && is_in_array(l->runtime, o->at, &there);
    s->offsets = *o;
    if (o->count == KMM_WHOLE)
        s->offsets.count = is_array ? there / size : INT64_MAX;
    if (is_array)
        s->offsets.at = fetch(l, item->text, o->at, (size_t)(s->offsets.count * size));
    else if (o->count == KMM_WHOLE && is_endless(l, s))
        kmm__launch_mistake(l, KMM_E_INVALID,
                            "%s: how many offsets there are is not known: give the axis its range, "
                            "or the offsets their shape",
                            item->text);
}
