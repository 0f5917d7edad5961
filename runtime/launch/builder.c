/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of kmm/launch.h by which rewritten source describes a launch. Descriptions are reused:
 * the one freed last is in spare_launch, the others are in a list. */
#include "launch/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "launch/fold.h"
#include "launch/join.h"

/* ---- Making and end ---- */

/* The description that was freed last; NULL: none. Taken and given back without a lock. */
static _Atomic(kmm_launch_t *) spare_launch;
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;
static kmm_launch_t *spare_launches;

void kmm__launch_mistake(kmm_launch_t *l, int code, const char *format, ...)
{
    char text[256];
    va_list args;
    if (l->error)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    l->error = code;
    l->error_text = kmm__copy_text(text);
}

static void fetched_unref(kmm__fetched_t *f)
{
    if (!f || atomic_fetch_sub(&f->uses, 1) > 1)
        return;
    for (kmm__fetched_t *next; f; f = next) {
        next = f->next;
        free(f);
    }
}

void kmm__launch_free(kmm_launch_t *l)
{
    if (l->kept) {
        l->give_back(l->kept);
        return;
    }
    fetched_unref(l->fetched);
    if (l->items != l->few)
        free(l->items);
    free(l->label);
    free(l->error_text);
    l = atomic_exchange(&spare_launch, l);
    if (!l)
        return;
    pthread_mutex_lock(&spare_lock);
    l->next = spare_launches;
    spare_launches = l;
    pthread_mutex_unlock(&spare_lock);
}

void kmm__launches_clear(void)
{
    spare_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    spare_launches = NULL;
}

static kmm_launch_t *launch_reuse(void)
{
    kmm_launch_t *l = atomic_exchange(&spare_launch, NULL);
    if (l)
        return l;
    pthread_mutex_lock(&spare_lock);
    l = spare_launches;
    if (l)
        spare_launches = l->next;
    pthread_mutex_unlock(&spare_lock);
    return l;
}

/* Returns a description, cleared but for its memory for items. */
static kmm_launch_t *launch_obtain(void)
{
    kmm_launch_t *l = launch_reuse();
    if (!l)
        l = kmm__alloc(sizeof(*l));
    memset(l, 0, offsetof(kmm_launch_t, few));
    l->items = l->few;
    return l;
}

kmm_launch_t *kmm__launch_create(kmm_runtime_t *rt, const char *kernel, const char *file, int line)
{
    kmm_launch_t *l = launch_obtain();
    l->runtime = rt;
    l->kernel = kernel;
    l->file = file;
    l->line = line;
    if (!rt)
        kmm__launch_mistake(l, KMM_E_NO_DEVICE, "there is no runtime: %s", kmm__error_get());
    return l;
}

kmm_launch_t *kmm__launch_copy(const kmm_launch_t *l)
{
    kmm_launch_t *copy = launch_obtain();
    kmm_launch_t *next = copy->next;
    memcpy(copy, l, offsetof(kmm_launch_t, few));
    memcpy(copy->fits, l->fits, sizeof(l->fits));
    memcpy(copy->values, l->values, sizeof(l->values));
    copy->next = next;
    copy->kept = NULL;
    if (copy->fetched)
        atomic_fetch_add(&copy->fetched->uses, 1);
    copy->label = l->label ? kmm__copy_text(l->label) : NULL;
    copy->error_text = NULL;
    copy->items = copy->few;
    if (l->item_count > KMM__FEW_ITEMS)
        copy->items = kmm__alloc(KMM__MAX_ITEMS * sizeof(*copy->items));
    memcpy(copy->items, l->items, l->item_count * sizeof(*copy->items));
    return copy;
}

/* ---- The launch as a whole ---- */

KMM__API void kmm_launch_label(kmm_launch_t *l, const char *label)
{
    free(l->label);
    l->label = kmm__copy_text(label);
}

const char *kmm__launch_name(const kmm_launch_t *l)
{
    return l->label ? l->label : l->kernel ? l->kernel : "?";
}

KMM__API void kmm_launch_axis(kmm_launch_t *l, const char *name, kmm_source_t source, int64_t lower,
                              int64_t length)
{
    if (l->axis_count == KMM_MAX_AXES || (unsigned)source > KMM_RANGE_2) {
        kmm__launch_mistake(l, KMM_E_INVALID, "axis %s: more than %d axes, or no such source", name,
                            KMM_MAX_AXES);
        return;
    }
    l->axis[l->axis_count++] = (kmm__axis_t){name, source, lower, length};
}

KMM__API void kmm_launch_chunk(kmm_launch_t *l, kmm_source_t source, int64_t size)
{
    uint32_t d = (uint32_t)source % KMM_MAX_SPLIT;
    l->chunk[d] = size;
    l->has_chunk[d] = true;
    l->chunk_in_blocks[d] = source >= KMM_BLOCK_X && source <= KMM_BLOCK_Z;
}

KMM__API void kmm_launch_if(kmm_launch_t *l, int condition)
{
    l->one_chunk |= !condition;
}

KMM__API void kmm_launch_home(kmm_launch_t *l)
{
    l->one_chunk = l->on_current = true;
}

KMM__API void kmm_launch_device(kmm_launch_t *l, kmm_where_t where, int ordinal)
{
    uint32_t k = 0;
    if (where != KMM_ON_DEVICE || l->where != KMM_ON_DEVICE)
        l->ordinal_count = 0;
    while (k < l->ordinal_count && l->ordinal[k] != ordinal)
        k++;
    if (k == KMM__MAX_DEVICES)
        kmm__launch_mistake(l, KMM_E_NO_DEVICE, "more than %d devices", KMM__MAX_DEVICES);
    else if (where == KMM_ON_DEVICE && k == l->ordinal_count)
        l->ordinal[l->ordinal_count++] = ordinal;
    l->where = where;
    l->is_divided = true;
    if ((unsigned)where > KMM_ON_DEVICE)
        kmm__launch_mistake(l, KMM_E_INVALID, "no such kind of device");
}

KMM__API void kmm_launch_schedule(kmm_launch_t *l, kmm_schedule_t schedule)
{
    l->schedule = schedule;
    l->is_divided = true;
    if ((unsigned)schedule > KMM_SCHEDULE_CYCLIC)
        kmm__launch_mistake(l, KMM_E_INVALID, "no such schedule");
}

KMM__API void kmm_launch_priority(kmm_launch_t *l, int priority)
{
    l->priority = priority;
}

KMM__API void kmm_launch_bounded(kmm_launch_t *l)
{
    l->bounded = true;
}

KMM__API void kmm_launch_inferred(kmm_launch_t *l)
{
    l->inferred = true;
}

KMM__API void kmm_launch_inferred_accesses(kmm_launch_t *l)
{
    l->infers = true;
}

KMM__API void kmm_launch_graph(kmm_launch_t *l, const char *text)
{
    l->graph = text;
}

KMM__API void kmm_launch_fits(kmm_launch_t *l, const char *text, kmm_type_t type, kmm_reach_t reach,
                              int64_t constant)
{
    l->undone |= l->fits_count == KMM__MAX_FITS;
    if (l->fits_count == KMM__MAX_FITS)
        l->fits_count--;
    l->fits[l->fits_count++] =
        (kmm__fits_t){.text = text, .type = type, .reach = reach, .constant = constant};
}

KMM__API void kmm_launch_fits_coef(kmm_launch_t *l, unsigned axis, int64_t coef)
{
    if (l->fits_count == 0 || axis >= l->axis_count)
        kmm__launch_mistake(l, KMM_E_INVALID, "a coefficient without a condition or of no axis");
    else
        l->fits[l->fits_count - 1].coef[axis] = coef;
}

KMM__API void kmm_launch_members(kmm_launch_t *l, const kmm_member_t *table, unsigned count)
{
    l->members = table;
    l->member_count = count;
}

KMM__API void kmm_launch_variables(kmm_launch_t *l, const kmm_variable_t *table, unsigned count)
{
    l->variables = table;
    l->variable_count = count;
}

KMM__API void kmm_launch_unused(kmm_launch_t *l, unsigned number)
{
    if (number < KMM__MAX_UNUSED)
        l->unused[number / 64] |= UINT64_C(1) << number % 64;
}

KMM__API void kmm_launch_nowait(kmm_launch_t *l)
{
    l->nowait = true;
}

KMM__API void kmm_launch_once(kmm_launch_t *l)
{
    l->runs_once = true;
}

KMM__API void kmm_launch_await(kmm_launch_t *l)
{
    l->awaits = true;
}

KMM__API void kmm_launch_keep(kmm_launch_t *l, kmm_site_t *site, const kmm_value_t *values,
                              unsigned count)
{
    if (count > KMM_MAX_VALUES || l->has_offsets) /* others may lie there the next time */
        return;
    l->site = site;
    l->value_count = count;
    memcpy(l->values, values, count * sizeof(*values));
}

KMM__API void kmm_launch_confined(kmm_launch_t *l)
{
    l->confined = true;
}

static kmm__item_t *item_add(kmm_launch_t *l, const char *text, const volatile void *base,
                             size_t element_bytes)
{
    if (l->item_count == KMM__MAX_ITEMS || element_bytes == 0)
        kmm__launch_mistake(l, KMM_E_INVALID, "%s: more than %d accesses, or elements of no size",
                            text, KMM__MAX_ITEMS);
    if (l->item_count == KMM__MAX_ITEMS)
        l->item_count--;
    if (l->item_count == KMM__FEW_ITEMS && l->items == l->few) {
        l->items = kmm__alloc(KMM__MAX_ITEMS * sizeof(*l->items));
        memcpy(l->items, l->few, sizeof(l->few));
    }
    kmm__item_t *item = &l->items[l->item_count++];
    memset(item, 0, offsetof(kmm__item_t, extent));
    item->text = text;
    item->inferred = l->infers || l->inferred;
    item->base = (char *)(uintptr_t)base;
    item->reach_begin = item->reach_end = item->base;
    item->element = (int64_t)element_bytes;
    return item;
}

KMM__API void kmm_launch_access(kmm_launch_t *l, kmm_mode_t mode, const char *text,
                                const volatile void *base, size_t element_bytes)
{
    item_add(l, text, base, element_bytes)->mode = mode;
    if (mode < KMM_READ || mode > KMM_UPDATE)
        kmm__launch_mistake(l, KMM_E_INVALID, "%s: no such kind of access", text);
}

KMM__API void kmm_launch_reduce(kmm_launch_t *l, kmm_op_t op, kmm_type_t type, const char *text,
                                const volatile void *base)
{
    kmm__item_t *item = item_add(l, text, base, kmm__type_bytes(type) ? kmm__type_bytes(type) : 1);
    item->mode = KMM_REDUCE;
    item->op = op;
    item->type = type;
    bool is_arg = op == KMM_OP_ARGMIN || op == KMM_OP_ARGMAX;
    kmm__element_t e = {.type = type, .bytes = (uint32_t)item->element};
    if (!is_arg && !kmm__fold_allows(op, &e))
        kmm__launch_mistake(l, KMM_E_INVALID, "%s: no such reduction of this type", text);
}

static kmm__item_t *item_last(kmm_launch_t *l)
{
    static _Thread_local kmm__item_t nowhere;
    if (l->item_count)
        return &l->items[l->item_count - 1];
    kmm__launch_mistake(l, KMM_E_INVALID, "a section before any access");
    return &nowhere;
}

KMM__API void kmm_launch_through(kmm_launch_t *l, const volatile void *pointer)
{
    kmm__item_t *item = item_last(l);
    const char *p = (const char *)(uintptr_t)pointer;
    item->reach_begin = p < item->reach_begin ? p : item->reach_begin;
    item->reach_end = p > item->reach_end ? p : item->reach_end;
}

KMM__API void kmm_launch_pointers(kmm_launch_t *l)
{
    item_last(l)->holds_pointers = true;
}

KMM__API void kmm_launch_stored_pointers(kmm_launch_t *l)
{
    item_last(l)->stores_pointers = true;
}

KMM__API void kmm_launch_packed_pointers(kmm_launch_t *l)
{
    item_last(l)->is_packed = true;
}

KMM__API void kmm_launch_numbers(kmm_launch_t *l)
{
    item_last(l)->takes_number = true;
}

KMM__API void kmm_launch_pair(kmm_launch_t *l, size_t element_bytes, size_t value_offset,
                              kmm_type_t index_type, size_t index_offset)
{
    kmm__item_t *item = item_last(l);
    kmm__element_t e = {item->type, (uint32_t)element_bytes, true,
                        index_type, (uint32_t)value_offset,  (uint32_t)index_offset};
    bool is_small = element_bytes <= KMM__ELEMENT_MAX && value_offset < element_bytes &&
                    index_offset < element_bytes;
    if (item->mode != KMM_REDUCE || !is_small || !kmm__fold_allows(item->op, &e)) {
        kmm__launch_mistake(
            l, KMM_E_INVALID,
            "%s: no reduction over structs of a value and an index of 32 or 64 bits", item->text);
        return;
    }
    item->is_pair = true;
    item->element = (int64_t)element_bytes;
    item->index = index_type;
    item->value_at = e.value_at;
    item->index_at = e.index_at;
}

KMM__API void kmm_launch_extent(kmm_launch_t *l, int64_t extent)
{
    kmm__item_t *item = item_last(l);
    if (item->dims == KMM_MAX_DIMS)
        kmm__launch_mistake(l, KMM_E_INVALID, "%s: more than %d dimensions", item->text,
                            KMM_MAX_DIMS);
    else
        item->extent[item->dims++] = extent;
    l->has_more_dims |= item->dims > KMM__DIMS;
}

KMM__API void kmm_launch_index(kmm_launch_t *l, int64_t lower, int64_t length)
{
    kmm__item_t *item = item_last(l);
    if (item->section_count == KMM_MAX_DIMS) {
        kmm__launch_mistake(l, KMM_E_INVALID, "%s: more than %d sections", item->text,
                            KMM_MAX_DIMS);
        return;
    }
    kmm__section_t *s = &item->section[item->section_count++];
    *s = (kmm__section_t){.constant = {lower, length}, .whole = length == KMM_WHOLE};
}

KMM__API void kmm_launch_coef(kmm_launch_t *l, unsigned axis, int64_t lower_coef,
                              int64_t length_coef)
{
    kmm__item_t *item = item_last(l);
    if (item->section_count == 0 || axis >= l->axis_count)
        kmm__launch_mistake(l, KMM_E_INVALID, "%s: a coefficient without a section or of no axis",
                            item->text);
    else
        item->section[item->section_count - 1].coef[axis] = (kmm__term_t){lower_coef, length_coef};
}

KMM__API void kmm_launch_expect(kmm_launch_t *l, const char *name, int64_t actual, int64_t expected)
{
    if (actual != expected)
        kmm__launch_mistake(l, KMM_E_RANGE, "argument %s is %lld, but the launch's range says %lld",
                            name, (long long)actual, (long long)expected);
}

/* ---- Handing over ---- */

enum { NEAR_NULL = 4096 };

/* A null pointer, and what an offset makes of it, leads to no memory. */
static bool is_null(const kmm__item_t *item)
{
    return (uintptr_t)item->base < NEAR_NULL;
}

/* True if a section of the item has no elements in any chunk. */
static bool names_nothing(const kmm__item_t *item)
{
    for (uint32_t d = 0; d < item->section_count; d++) {
        const kmm__section_t *c = &item->section[d];
        int64_t length = c->constant.length;
        for (uint32_t k = 0; k < KMM_MAX_AXES; k++)
            length |= c->coef[k].length;
        if (!c->whole && length == 0)
            return true;
    }
    return false;
}

const kmm__item_t *kmm__launch_null_item(const kmm_launch_t *l)
{
    for (uint32_t k = 0; k < l->item_count; k++)
        if (is_null(&l->items[k]) && !names_nothing(&l->items[k]))
            return &l->items[k];
    return NULL;
}

/* A kernel gets a null pointer as it is, and asks whether there is an array before it uses it. */
static void drop_null_items(kmm_launch_t *l)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < l->item_count; k++) {
        if (is_null(&l->items[k]))
            continue;
        if (kept < k)
            l->items[kept] = l->items[k];
        kept++;
    }
    l->item_count = kept;
}

static _Thread_local kmm_launch_t *armed;

KMM__API void kmm_launch_arm(kmm_launch_t *l)
{
    if (l->kept && armed == l)
        return;
    if (armed) {
        kmm__launch_mistake(l, KMM_E_STATE,
                            "the launch described at %s:%d did not happen before this one",
                            armed->file, armed->line);
        kmm__launch_free(armed);
    }
    drop_null_items(l);
    kmm__launch_join(l);
    armed = l;
}

KMM__API void kmm_launch_disarm(const kmm_launch_t *l)
{
    if (armed == l)
        kmm__launch_disarm();
}

kmm_launch_t *kmm__launch_take_armed(void)
{
    kmm_launch_t *l = armed;
    armed = NULL;
    if (!l || !l->kept)
        return l;
    kmm_launch_t *copy = kmm__launch_copy(l);
    kmm__launch_free(l);
    return copy;
}

kmm_launch_t **kmm__launch_armed(void)
{
    return &armed;
}

void kmm__launch_disarm(void)
{
    if (armed)
        kmm__launch_free(armed);
    armed = NULL;
}
