/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the check of host code which bytes of mapped memory a launch or a task uses. */
#include "launch/host_uses.h"

#include "base/error.h"
#include "execute/exact_host.h"
#include "launch/items.h"
#include "launch/plan.h"
#include "memory/array.h"

/* Pieces of a region that is no box. What has more is not told. */
enum { PIECES = 1 << 20 };

typedef struct use use_t;

/* Calls `tell` for each run of bytes. `a` is their array. */
struct use {
    int (*tell)(const use_t *u, const char *begin, size_t bytes);
    const kmm__array_t *a;
    uint32_t axis_count;
    bool stores;
    uint32_t pieces;
};

static int tell_rows(void *arg, const kmm__rows_t *rows)
{
    const use_t *u = arg;
    int error = 0;
    for (int64_t k = 0; k < rows->count && !error; k++)
        error = u->tell(u, u->a->base + rows->offset + k * rows->pitch, (size_t)rows->width);
    return error;
}

/* The axis with the most indices in the box. */
static uint32_t longest_axis(const use_t *u, const kmm__chunk_box_t *box)
{
    uint32_t longest = 0;
    for (uint32_t k = 1; k < u->axis_count; k++)
        if (box->axis_hi[k] - box->axis_lo[k] > box->axis_hi[longest] - box->axis_lo[longest])
            longest = k;
    return longest;
}

/* The region in a part of the launch's axes. A hull has elements that the launch does not use, so
 * the part is halved until the region is none. */
static int tell_region(use_t *u, const kmm__item_t *item, const kmm__chunk_box_t *box)
{
    kmm__access_t access;
    kmm__layout_t shaped;
    uint32_t axis = longest_axis(u, box);
    if (++u->pieces > PIECES || kmm__plan(item, u->axis_count, box, &access, &shaped) != 1)
        return 0;
    if (access.exact || u->axis_count == 0 || box->axis_hi[axis] - box->axis_lo[axis] < 2)
        return kmm__layout_rows(access.layout, &access.box, tell_rows, u);
    kmm__chunk_box_t low = *box, high = *box;
    low.axis_hi[axis] = high.axis_lo[axis] = (box->axis_lo[axis] + box->axis_hi[axis]) / 2;
    int error = tell_region(u, item, &low);
    return error ? error : tell_region(u, item, &high);
}

static int tell_item(const kmm__submission_t *s, const kmm__item_t *item, use_t u)
{
    kmm__chunk_box_t whole;
    kmm__partition_whole(&s->part, s->l, &whole);
    u.a = item->array;
    u.axis_count = s->l->axis_count;
    u.stores = item->mode != KMM_READ;
    return tell_region(&u, item, &whole);
}

static int tell_use(const use_t *u, const char *begin, size_t bytes)
{
    return kmm__exact_host_use(begin, bytes, u->stores);
}

int kmm__host_uses_check(const kmm__submission_t *s)
{
    int error = 0;
    if (s->l->is_undivided)
        return 0;
    for (uint32_t k = 0; k < s->l->item_count && !error; k++) {
        const kmm__item_t *item = &s->l->items[k];
        if (!item->array || !item->array->is_mapped || item->array->is_deferred)
            continue;
        error = tell_item(s, item, (use_t){.tell = tell_use});
        if (error)
            kmm__submission_refuse_item(s, item, error, kmm__error_get());
    }
    for (uint32_t k = 0; k < s->work->pointer_count && !s->annotated && !error; k++) {
        const kmm__array_t *a = s->work->pointers[k].array;
        if (a->is_mapped && !a->is_deferred &&
            (error = kmm__exact_host_use(a->base, a->bytes, true)))
            kmm__submission_refuse(s, error, kmm__error_get());
    }
    return error;
}

void kmm__host_uses_defer(const kmm__submission_t *s)
{
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *item = &s->l->items[k];
        const kmm__array_t *a = item->array;
        if (!a || !a->is_deferred)
            continue;
        kmm__exact_host_defer(a->base, a->bytes);
        tell_item(s, item, (use_t){.tell = tell_use});
    }
}

static int tell_begin(const use_t *u, const char *begin, size_t bytes)
{
    (void)u;
    kmm__exact_host_task(begin, bytes, true);
    return 0;
}

static int tell_end(const use_t *u, const char *begin, size_t bytes)
{
    (void)u;
    kmm__exact_host_task(begin, bytes, false);
    return 0;
}

void kmm__host_uses_task(const kmm__submission_t *s, bool begins)
{
    if (!s->rt || !s->rt->checks_access)
        return;
    if (!begins)
        kmm__exact_host_wait();
    for (uint32_t k = 0; k < s->l->item_count; k++)
        if (s->l->items[k].array)
            tell_item(s, &s->l->items[k], (use_t){.tell = begins ? tell_begin : tell_end});
}
