/* SPDX-License-Identifier: Apache-2.0 */
/* The copies of arrays that a chunk works on under KMM_CHECK=access, and their names in messages.
 */
#include "execute/shadow.h"

kmm__shadow_t *kmm__shadow_of(const kmm__check_t *c, const kmm__array_t *a)
{
    for (uint32_t k = 0; k < c->count; k++)
        if (c->shadows[k].array == a)
            return &c->shadows[k];
    return NULL;
}

enum { FIRST = 0xf5, COUNT = 100, QUIET = 0xfd }; /* from FIRST down to 0x92 all are NaNs */

unsigned char kmm__shadow_plain_pattern(size_t b)
{
    if (b & 1)
        return 0xff;
    return b & 2 ? QUIET : FIRST;
}

unsigned char kmm__shadow_pattern(const kmm__check_t *c, const kmm__shadow_t *s, size_t b)
{
    const unsigned char plain = kmm__shadow_plain_pattern(b);
    return plain == FIRST && !s->named ? (unsigned char)(FIRST - (s - c->shadows) % COUNT) : plain;
}

/* How well an item fits byte `at` of the array: where its elements begin, at the byte or in front
 * of it, and the nearer the better; -1: behind it, or the byte is not known. */
static int64_t nearness(const kmm__work_t *w, uint32_t item, int64_t at)
{
    const int64_t offset = item < w->item_count ? w->origins[item].offset : 0;
    return offset <= at ? offset : -1;
}

uint32_t kmm__shadow_item(const kmm__check_t *c, const kmm__shadow_t *s, int64_t at, bool writes)
{
    const kmm__task_t *t = c->task;
    uint32_t item = KMM__MAX_ITEMS;
    int64_t best = -1;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        const int64_t near = a->array == s->array ? nearness(t->work, a->item, at) : -1;
        if (a->array != s->array ||
            (item != KMM__MAX_ITEMS &&
             (near < best || (near == best && (a->mode != KMM_READ) != writes))))
            continue;
        item = a->item;
        best = near;
    }
    for (uint32_t k = 0; k < t->work->item_count && item >= KMM__MAX_ITEMS; k++)
        if (t->work->origins[k].array == s->array)
            item = k;
    return item;
}

void kmm__shadow_range(const kmm__check_t *c, const kmm__shadow_t *s, uint32_t item, size_t begin,
                       size_t end, char *out, size_t size)
{
    const kmm__work_t *w = c->task->work;
    if (item >= w->item_count || w->origins[item].array != s->array) {
        snprintf(out, size, "bytes %zu to %zu of its array", begin, end - 1);
        return;
    }
    int64_t e = w->origins[item].element, from = (int64_t)begin - w->origins[item].offset,
            to = (int64_t)end - 1 - w->origins[item].offset;
    from = from < 0 ? -((-from + e - 1) / e) : from / e;
    to = to < 0 ? -((-to + e - 1) / e) : to / e;
    snprintf(out, size,
             "elements %lld to %lld, counted from its base (bytes %zu to %zu of its array)",
             (long long)from, (long long)to, begin, end - 1);
}
