/* SPDX-License-Identifier: Apache-2.0 */
/* The items of a launch: finds the arrays that their regions are in. Host memory that an item
 * names and that is not in an array is mapped for the launch. */
#include "launch/items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "execute/exact_host.h"
#include "launch/host_uses.h"
#include "launch/maps.h"
#include "launch/meaning.h"
#include "launch/plan.h"
#include "launch/state.h"
#include "memory/disk/page.h"
#include "memory/lifetime.h"
#include "task/group.h"
#include "task/inside.h"

int kmm__submission_refuse_item(const kmm__submission_t *s, const kmm__item_t *item, int code,
                                const char *text)
{
    char copy[400];
    s->l->undone |= item->inferred;
    snprintf(copy, sizeof(copy), "argument %s: %s", item->text, text);
    return kmm__submission_refuse(s, code, copy);
}

/* An inferred item may be in the way of a reduction: another parameter got the same pointer. */
int kmm__submission_refuse_reduction(const kmm__submission_t *s, uint32_t item, int code)
{
    for (uint32_t k = 0; k < s->l->item_count; k++)
        s->l->undone |= s->l->items[k].inferred;
    return item < s->l->item_count
               ? kmm__submission_refuse_item(s, &s->l->items[item], code, kmm__error_get())
               : kmm__submission_refuse(s, code, kmm__error_get());
}

/* True if the address is in an array of the program. What a launch with nowait left mapped is not.
 */
static bool is_array(const kmm__submission_t *s, const void *base)
{
    const kmm__array_t *a = kmm__array_find(s->rt, base);
    return a && !a->is_deferred;
}

/* True if one pointer reaches both items: an argument, or a variable that a task's statements use.
 */
static bool share_pointer(const kmm__submission_t *s, const kmm__item_t *a, const kmm__item_t *b)
{
    return kmm__meaning_shared(s->work, a, b) || (s->work->has_statements && a->base == b->base);
}

/* Widens [begin, end), from the item's base on, to what other items on host memory need that share
 * the map: their bytes meet these, or one pointer reaches both. True if it became wider. */
static bool widen(const kmm__submission_t *s, const kmm__item_t *item, int64_t *begin, int64_t *end)
{
    kmm__chunk_box_t whole;
    int64_t from = *begin, to = *end;
    kmm__partition_whole(&s->part, s->l, &whole);
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *other = &s->l->items[k];
        int64_t b, e, shift = other->base - item->base;
        if (is_array(s, other->base) || kmm__plan_reach(other, s->l->axis_count, &whole, &b, &e) ||
            e <= b)
            continue;
        bool meets = b + shift <= *end && *begin <= e + shift;
        if (!meets && !share_pointer(s, item, other))
            continue;
        *begin = b + shift < *begin ? b + shift : *begin;
        *end = e + shift > *end ? e + shift : *end;
    }
    return *begin < from || to < *end;
}

/* True if the launch uses no element of the item: its sections are empty, or a range is. Its base
 * may then be any address, as that of an item whose region lies elsewhere. */
static bool is_unused(const kmm__submission_t *s, const kmm__item_t *item,
                      const kmm__chunk_box_t *whole)
{
    int64_t begin, end;
    return item->section_count > 0 && !item->section[0].whole &&
           !kmm__plan_reach(item, s->l->axis_count, whole, &begin, &end) && end <= begin;
}

/* The bytes to map for an item on host memory, from its base on. Other items on the same memory
 * share the map. Those on arrays do not: their sections are cut at the array's end, and may reach
 * beyond it. An item that the launch does not use needs none. */
static int item_reach(const kmm__submission_t *s, const kmm__item_t *item, int64_t *begin,
                      int64_t *end)
{
    kmm__chunk_box_t whole;
    kmm__partition_whole(&s->part, s->l, &whole);
    int error = kmm__plan_reach(item, s->l->axis_count, &whole, begin, end);
    if (error)
        return kmm__submission_refuse_item(s, item, error, kmm__error_get());
    while (*begin < *end && widen(s, item, begin, end)) {
    }
    return 0;
}

/* Notes that this launch ends one map of the array when it returns. */
static void hold_map(kmm__submission_t *s, kmm__array_t *a)
{
    a->launch_maps++;
    s->l->mapped[s->mapped_count++] = a->base;
}

/* Adds this launch's map to an array that other launches have mapped and not ended yet. */
static void join_map(kmm__submission_t *s, kmm__array_t *a)
{
    for (uint32_t k = 0; k < s->mapped_count; k++)
        if (s->l->mapped[k] == a->base)
            return;
    a->map_depth++;
    hold_map(s, a);
}

/* Maps host memory that an item names and that is in no array. What is inferred may be more than
 * the kernel touches: memory that is freed, or that another thread changes. May release the lock
 * meanwhile. */
static int map_item(kmm__submission_t *s, const kmm__item_t *item)
{
    int64_t begin, end;
    int error = item_reach(s, item, &begin, &end);
    if (error || end <= begin)
        return error;
    if (item->inferred)
        return kmm__submission_refuse_item(
            s, item, KMM_E_ADDRESS, "it is inferred, and its memory is in no array of the program");
    error = kmm__map(s->rt, KMM_MAP_TOFROM, item->base + begin, (size_t)(end - begin));
    if (error)
        return kmm__submission_refuse_item(s, item, error, kmm__error_get());
    hold_map(s, kmm__array_find(s->rt, item->base + begin));
    return 0;
}

/* Ends maps that earlier launches with nowait left, if this launch needs more memory than they
 * have: memory cannot be mapped twice. May release the lock meanwhile. */
static int make_room(kmm__submission_t *s)
{
    for (uint32_t k = 0; k < s->l->item_count && s->rt->launches->deferred; k++) {
        const kmm__item_t *item = &s->l->items[k];
        int64_t begin, end;
        if (is_array(s, item->base))
            continue;
        int error = item_reach(s, item, &begin, &end);
        if (error)
            return error;
        const kmm__array_t *a = kmm__array_find(s->rt, item->base + begin);
        uintptr_t from = (uintptr_t)item->base + (uintptr_t)begin,
                  to = (uintptr_t)item->base + (uintptr_t)end;
        bool fits = a && (uintptr_t)a->base <= from && to <= (uintptr_t)a->base + a->bytes;
        if (begin < end && !fits && (error = kmm__deferred_end(s->rt, from, to)))
            return kmm__submission_refuse_item(
                s, item, error, kmm__error_get()); /* data that this launch needs is lost */
    }
    return 0;
}

/* Makes this launch end a map that an earlier launch with nowait has left to kmm_wait. */
static int take_over(kmm__submission_t *s, const kmm__item_t *item)
{
    kmm__array_t *a = item->array;
    a->is_deferred = false;
    s->rt->launches->deferred--;
    hold_map(s, a);
    int touched = kmm__exact_host_leave(a->base);
    return touched ? kmm__submission_refuse_item(s, item, touched, kmm__error_get()) : 0;
}

/* Returns how many elements an item's region may reach beyond the mapped memory without an error:
 * the width of its halo. Parts have none. */
static int64_t halo_of(const kmm__item_t *item)
{
    const kmm__term_t *c = &item->section[0].constant;
    return item->section[0].offsets.at ? 0 : llabs(c->lower) + llabs(c->length);
}

/* True if one pointer leads to the item and to another one, whose region has elements of the array.
 */
static bool has_partner(const kmm__submission_t *s, const kmm__item_t *item,
                        const kmm__array_t *named, const kmm__chunk_box_t *whole)
{
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *other = &s->l->items[k];
        int64_t b, e, shift = other->base - named->base;
        if (other != item && (other->base == item->base || share_pointer(s, item, other)) &&
            !kmm__plan_reach(other, s->l->axis_count, whole, &b, &e) && b < e && shift + e > 0 &&
            shift + b < (int64_t)named->bytes)
            return true;
    }
    return false;
}

/* True if an item's base is in the array only by chance: its region begins at byte `begin` from the
 * base, ends before byte `end`, and has no element of the array. Such a base is that of a one-based
 * array and lies at most one element before the end of the array in front of it, or it is the end
 * of an array, and another begins there. A shape has no elements before its base. */
static bool is_beside_region(const kmm__item_t *item, const kmm__array_t *named, int64_t begin,
                             int64_t end)
{
    int64_t rest = named->base + named->bytes - item->base;
    return (rest <= item->element && begin >= rest) ||
           (!item->dims && item->base == named->base && end <= 0);
}

/* True if only launches have mapped the memory, each as much as its regions need. The base of an
 * item then does not tell where its region is. */
static bool is_of_launches(const kmm__array_t *a)
{
    return a->is_deferred || (a->is_mapped && a->launch_maps == a->map_depth);
}

/* Finds the array that the item's region is in. The item's base may lie elsewhere: before a
 * one-based array, or before the mapped part of host memory. */
static int find_array(const kmm__submission_t *s, kmm__item_t *item, const kmm__chunk_box_t *whole)
{
    int64_t begin, end;
    uint32_t count;
    kmm__array_t *named = kmm__array_find(s->rt, item->base);
    item->array = named;
    if (item->section_count == 0 || item->section[0].whole)
        return 0;
    if (kmm__plan_reach(item, s->l->axis_count, whole, &begin, &end) || end <= begin)
        return 0;
    const char *from = item->base + begin;
    size_t bytes = (size_t)(end - begin);
    kmm__array_t *a = kmm__array_in(s->rt, from, bytes, &count);
    if (named && (count > 1 || a == named))
        return 0;
    bool is_beside = named && (a || (named->is_mapped && !item->dims)) &&
                     is_beside_region(item, named, begin, end) &&
                     !has_partner(s, item, named, whole);
    if (named && !is_of_launches(named) && !is_beside)
        return 0;
    if (count > 1)
        return kmm__submission_refuse_item(
            s, item, KMM_E_ADDRESS,
            "its region lies in several arrays, and its pointer in none of them");
    item->array = a;
    return 0;
}

/* True if the description gives the length of every axis. */
static bool has_ranges(const kmm_launch_t *l)
{
    for (uint32_t k = 0; k < l->axis_count; k++)
        if (l->axis[k].length == KMM_WHOLE)
            return false;
    return true;
}

/* True if the item's index moves by 0 or 1 with each axis. Then the launch uses all of the item's
 * region, but for a halo. */
static bool is_plain_index(const kmm_launch_t *l, const kmm__item_t *item)
{
    const kmm__section_t *c = &item->section[0];
    for (uint32_t k = 0; k < l->axis_count; k++)
        if (c->coef[k].length || c->coef[k].lower < 0 || c->coef[k].lower > 1)
            return false;
    return !item->dims && item->section_count == 1 && !c->whole;
}

/* A region that is nowhere near its array: most often an unsigned offset that stands for a negative
 * number. Clipped, it would be empty. */
static int check_far(const kmm__submission_t *s, const kmm__item_t *item,
                     const kmm__chunk_box_t *whole)
{
    if (!kmm__plan_is_far(item, s->l->axis_count, whole))
        return 0;
    return kmm__submission_refuse_item(
        s, item, KMM_E_RANGE,
        "its region lies far outside of its array; where an unsigned offset stands for a negative "
        "number, convert it to int");
}

/* Mapped memory that ends before the launch's region: what lies beyond would be left out. */
static int check_mapped(const kmm__submission_t *s, const kmm__item_t *item,
                        const kmm__chunk_box_t *whole)
{
    int64_t begin, end;
    const kmm__array_t *a = item->array;
    if (!is_plain_index(s->l, item) || !has_ranges(s->l))
        return 0;
    if (kmm__plan_reach(item, s->l->axis_count, whole, &begin, &end) || end <= begin)
        return 0;
    int64_t shift = item->base - a->base, halo = halo_of(item) * item->element;
    if (shift + begin + halo >= 0 && shift + end - halo <= (int64_t)a->bytes)
        return 0;
    char text[200];
    snprintf(
        text, sizeof(text),
        "the launch's region is bytes %lld to %lld of the mapped memory, which has %zu bytes; map "
        "all that the launch uses",
        (long long)(shift + begin), (long long)(shift + end), a->bytes);
    return kmm__submission_refuse_item(s, item, KMM_E_RANGE, text);
}

/* Sets the region of each item, and whether an argument points into it. */
static void find_regions(kmm__submission_t *s, const kmm__chunk_box_t *whole)
{
    int64_t begin, end;
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        kmm__item_t *item = &s->l->items[k];
        item->region_begin = item->region_end = item->base;
        if (!kmm__plan_hull(item, s->l->axis_count, whole, &begin, &end))
            continue;
        item->region_begin = item->base + begin;
        item->region_end = item->base + end;
        item->is_entered = kmm__meaning_enters(s->work, item);
    }
}

/* A region ends where its array does. */
static void cut_regions(kmm__submission_t *s)
{
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        kmm__item_t *item = &s->l->items[k];
        const kmm__array_t *a = item->array;
        if (!a)
            continue;
        const char *end = a->base + a->bytes;
        if (item->region_begin >= a->base && item->region_end <= end)
            continue;
        item->region_begin = item->region_begin < a->base ? a->base : item->region_begin;
        item->region_end = item->region_end > end ? end : item->region_end;
        item->is_entered = kmm__meaning_enters(s->work, item);
    }
}

static int check_sections(const kmm__submission_t *s, const kmm__item_t *item)
{
    if (item->dims && item->section_count > item->dims)
        return kmm__submission_refuse_item(s, item, KMM_E_INVALID,
                                           "it has more sections than its shape has dimensions");
    if (!item->dims && item->section_count > 1)
        return kmm__submission_refuse_item(s, item, KMM_E_INVALID,
                                           "several sections need a `shape`");
    return 0;
}

/* What the launch asks of an item's array, once it is known. */
static int check_array(const kmm__submission_t *s, const kmm__item_t *item,
                       const kmm__chunk_box_t *whole)
{
    const kmm__array_t *a = item->array;
    int error = a ? check_far(s, item, whole) : 0;
    if (error || !a || !a->is_mapped)
        return error;
    if ((error = check_mapped(s, item, whole)))
        return error;
    if (a->map == KMM_MAP_TO && item->mode != KMM_READ)
        return kmm__submission_refuse_item(s, item, KMM_E_INVALID,
                                           "is written, but it is mapped `to`");
    return 0;
}

/* Sets the array of an item that the launch uses, and maps its memory if it is in none. May release
 * the lock meanwhile. */
static int resolve_item(kmm__submission_t *s, kmm__item_t *item, const kmm__chunk_box_t *whole)
{
    int error = find_array(s, item, whole);
    while (!error && item->array && item->array->map_end != UINT64_MAX && !kmm__is_inside()) {
        kmm__cond_wait(&s->rt->progress, &s->rt->lock); /* until the array's map has ended */
        error = find_array(s, item, whole);
    }
    if (error)
        return error;
    if (item->array && item->array->is_deferred && !s->l->nowait) {
        if ((error = take_over(s, item)))
            return error;
    } else if (item->array && item->array->launch_maps) {
        join_map(s, item->array);
    }
    if (!item->array) {
        error = map_item(s, item);
        if (error || (error = find_array(s, item, whole)))
            return error;
    }
    return check_array(s, item, whole);
}

/* Sets the arrays of items that the launch does not use: the array to which another item leads the
 * same pointer, or else the one that the base is in. */
static void resolve_unused(kmm__submission_t *s, const kmm__chunk_box_t *whole)
{
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        kmm__item_t *item = &s->l->items[k];
        if (!is_unused(s, item, whole))
            continue;
        item->array = kmm__array_find(s->rt, item->base);
        for (uint32_t i = 0; i < s->l->item_count; i++) {
            const kmm__item_t *other = &s->l->items[i];
            if (other->array && share_pointer(s, item, other) && !is_unused(s, other, whole))
                item->array = other->array;
        }
    }
}

int kmm__submission_resolve(kmm__submission_t *s)
{
    kmm__chunk_box_t whole;
    kmm__partition_whole(&s->part, s->l, &whole);
    find_regions(s, &whole);
    int error = make_room(s);
    for (uint32_t k = 0; k < s->l->item_count && !error; k++) {
        kmm__item_t *item = &s->l->items[k];
        error = check_sections(s, item);
        if (!error && !is_unused(s, item, &whole))
            error = resolve_item(s, item, &whole);
    }
    if (error)
        return error;
    resolve_unused(s, &whole);
    cut_regions(s);
    return 0;
}

/* ---- The end ---- */

static void defer_items(kmm__submission_t *s)
{
    pthread_mutex_lock(&s->rt->lock);
    for (uint32_t k = 0; k < s->mapped_count; k++) {
        kmm__array_t *a = kmm__array_find(s->rt, s->l->mapped[k]);
        a->launch_maps--;
        if (a->is_deferred || a->map_depth > 1) {
            a->map_depth--; /* another launch, or an earlier launch with nowait, ends the map */
            continue;
        }
        a->is_deferred = true;
        kmm__group_note_map(a->base);
        s->rt->launches->deferred++;
    }
    if (s->rt->checks_access)
        kmm__host_uses_defer(s);
    pthread_mutex_unlock(&s->rt->lock);
}

/* Copies to the host what this launch wrote into maps that other launches keep. If such a map ends
 * meanwhile, its end copies the data. */
static int bring_back(kmm__submission_t *s)
{
    int error = 0;
    for (uint32_t k = 0; k < s->mapped_count; k++) {
        pthread_mutex_lock(&s->rt->lock);
        kmm__maps_await(s->rt, s->l->mapped[k], 1);
        bool lasts = kmm__array_find(s->rt, s->l->mapped[k]) != NULL;
        pthread_mutex_unlock(&s->rt->lock);
        int e = lasts ? kmm_update_from(s->rt, s->l->mapped[k], KMM_ALL_BYTES) : 0;
        if (e == KMM_E_ADDRESS) {
            pthread_mutex_lock(&s->rt->lock);
            kmm__maps_await(s->rt, s->l->mapped[k], 1);
            pthread_mutex_unlock(&s->rt->lock);
            e = 0;
        }
        error = error ? error : e;
    }
    return error;
}

int kmm__submission_unmap(kmm__submission_t *s)
{
    if (s->l->nowait) {
        if (s->mapped_count || s->rt->checks_access)
            defer_items(s);
        return 0;
    }
    if (s->mapped_count == 0)
        return 0;
    int error = kmm__maps_end(s->rt, s->l->mapped, s->mapped_count), brought = bring_back(s);
    return error ? error : brought;
}

/* ---- Launches whose arrays are all in host memory ---- */

static bool is_on_host(kmm__array_t *a)
{
    return !a || (!a->is_tracked && kmm__array_host(a)); /* NULL: the item's region is empty */
}

void kmm__submission_make_direct(kmm__submission_t *s)
{
    kmm__work_t *w = s->work;
    bool direct =
        !s->rt->has_spaces && !kmm__spill_room(s->rt) && !w->origins && w->reduction_count == 0;
    for (uint32_t k = 0; k < s->l->item_count && direct; k++)
        direct = is_on_host(s->l->items[k].array);
    for (uint32_t k = 0; k < w->pointer_count && direct; k++)
        direct = is_on_host(w->pointers[k].array);
    s->is_direct = w->is_translated = direct;
    for (uint32_t k = 0; k < w->pointer_count && direct; k++) {
        char *address = w->pointers[k].array->host + w->pointers[k].offset;
        memcpy(w->args + w->pointers[k].at, &address, sizeof(address));
    }
}
