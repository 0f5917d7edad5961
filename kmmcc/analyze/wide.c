/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clauses that name more than the kernel accesses. A chunk in the middle is looked at, since a
 * kernel may access less at the edges. A whole array is taken to be what the chunks so far have
 * accessed.
 */
#include "analyze/wide.h"

#include <stddef.h>
#include <string.h>

#include "analyze/certain.h"

void wide_begin_sample(comparison_t *c)
{
    for (int k = 0; k < c->count && c->wide; k++) {
        c->target[k].unsure = false;
        c->target[k].begin = INT64_MAX;
        c->target[k].end = INT64_MIN;
    }
}

void wide_begin_chunk(comparison_t *c)
{
    for (int k = 0; k < c->count && c->wide; k++)
        byteset_clear(&c->target[k].used);
}

void wide_note(comparison_t *c, accessed_t *t, int64_t begin, int64_t end, bool certain)
{
    if (!c->wide)
        return;
    t->unsure |= !certain;
    if (!certain)
        return;
    byteset_add(&t->used, begin, end);
    t->begin = begin < t->begin ? begin : t->begin;
    t->end = end > t->end ? end : t->end;
}

/* All that the chunk accesses in the array, through whichever pointer. False: it is not known. */
static bool used_of(comparison_t *c, const accessed_t *t, byteset_t *all, int64_t *begin,
                    int64_t *end)
{
    byteset_clear(all);
    for (int k = 0; k < c->count; k++) {
        const accessed_t *o = &c->target[k];
        if (!o->key || strcmp(o->key, t->key) != 0)
            continue;
        if (o->skipped || o->unsure)
            return false;
        *begin = o->begin < *begin ? o->begin : *begin;
        *end = o->end > *end ? o->end : *end;
        for (int i = 0; i < o->used.count; i++)
            byteset_add(all, o->used.at[i].begin, o->used.at[i].end);
    }
    byteset_sort(all);
    return true;
}

bool wide_is(comparison_t *c, accessed_t *t)
{
    int64_t begin = INT64_MAX, end = INT64_MIN;
    if (t->reduce.count || t->reduce.all || c->is_partial || !certain_wide(c, t) ||
        !used_of(c, t, &t->all, &begin, &end) || !t->all.count)
        return false;
    byteset_clear(&t->one);
    const byteset_t *from[] = {&t->read, &t->write};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < from[i]->count && !from[i]->all; k++)
            byteset_add(&t->one, from[i]->at[k].begin, from[i]->at[k].end);
    if (t->read.all || t->write.all)
        byteset_add(&t->one, begin, end);
    byteset_sort(&t->one);
    int64_t lower = t->shape_begin > INT64_MIN / 4 ? t->shape_begin : INT64_MIN / 4,
            upper = t->shape_end < INT64_MAX / 4 ? t->shape_end : INT64_MAX / 4;
    t->named_bytes = byteset_count(&t->one, lower, upper);
    t->used_bytes = byteset_count(&t->all, lower, upper);
    return t->named_bytes > t->used_bytes;
}
