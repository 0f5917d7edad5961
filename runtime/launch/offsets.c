/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets of sections whose ends data gives (kmm_launch_offsets): where they are, how many
 * there are, and copies of those that lie in arrays. */
#include <pthread.h>
#include <stdlib.h>

#include <kmm.h>

#include "base/alloc.h"
#include "base/error.h"
#include "launch/builder.h"
#include "memory/array.h"

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

/* If the offsets lie in an array that launches may write, waits for what writes them, and copies
 * them for the launch. */
static void offsets_set(kmm_launch_t *l, const kmm__item_t *item, kmm__section_t *s,
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

KMM__API void kmm_launch_offsets(kmm_launch_t *l, const void *offsets, kmm_type_t type,
                                 int64_t count)
{
    kmm__item_t none = {.text = "?"}, *item = l->item_count ? &l->items[l->item_count - 1] : &none;
    bool is_index =
        type == KMM_INT32 || type == KMM_UINT32 || type == KMM_INT64 || type == KMM_UINT64;
    const kmm__offsets_t o = {offsets, type, count};
    if (item->mode == KMM_REDUCE)
        kmm__launch_mistake(l, KMM_E_INVALID,
                            "%s: offsets give each chunk other elements, but a reduction has the "
                            "same in each chunk",
                            item->text);
    else if (item->section_count == 0 || item->section[item->section_count - 1].whole)
        kmm__launch_mistake(l, KMM_E_INVALID, "%s: offsets without a section with bounds",
                            item->text);
    else if (!is_index || !offsets || (count < 1 && count != KMM_WHOLE))
        kmm__launch_mistake(l, KMM_E_INVALID,
                            "%s: offsets are an array of integers of 32 or 64 bits", item->text);
    else
        offsets_set(l, item, &item->section[item->section_count - 1], &o);
    l->has_offsets = true;
}
