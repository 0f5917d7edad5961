/* SPDX-License-Identifier: Apache-2.0 */
/* Computes what the calls of a plain function's chunks pass: lengths, bounds, and pointers that
 * are moved. */
#include "analyze/compare_call.h"

#include <stddef.h>

#include "analyze/compare_target.h"
#include "clang/cursor.h"

enum { ORDINARY_SIZE = 41, LARGEST_SIZE = 4000 };

void call_size(comparison_t *c)
{
    int64_t chunk;
    c->sample.size = ORDINARY_SIZE;
    c->sample.multiple = 8;
    for (int k = 0; k < c->d->chunk_count; k++) {
        const expr_t *e = c->d->chunk[k];
        if (e->kind == EXPR_NUMBER && e->integral && (chunk = (int64_t)e->value) > 0 &&
            3 * chunk + 5 <= LARGEST_SIZE && c->sample.size < 3 * chunk + 5)
            c->sample.size = 3 * chunk + 5;
    }
}

bool call_value(comparison_t *c, int param, int64_t *value)
{
    for (int k = 0; k < c->d->rebase_count && !c->d->is_kernel; k++) {
        const rebase_t *r = &c->d->rebase[k];
        int64_t whole;
        if (r->parameter != param)
            continue;
        /* the variables of the argument count as those of the value */
        sample_cursor(&c->sample, c->d->argument[param], &whole);
        *value = r->kind == REBASE_BEGIN ? c->box.begin[r->axis]
                 : r->kind == REBASE_END ? c->box.end[r->axis]
                                         : c->box.end[r->axis] - c->box.begin[r->axis];
        return true;
    }
    return false;
}

/* The elements from the base to the first element that the item names at the axes' values. */
static bool first_of(comparison_t *c, const item_t *item, const int64_t *axis, int64_t *first)
{
    CXType type = type_pointee(clang_getCanonicalType(item->base->type));
    for (int k = 0; k < c->d->axis_count; k++)
        c->sample.axis[k] = axis[k];
    *first = 0;
    for (int k = 0; k < item->section_count; k++) {
        int64_t extent = 0, lower = 0;
        if (k && item->shape) {
            if (k >= item->shape->dims ||
                !sample_expression(&c->sample, item->shape->extent[k], &extent))
                return false;
        } else if (k) {
            extent = clang_getArraySize(type);
            type = clang_getCanonicalType(clang_getArrayElementType(type));
        }
        if (k && extent <= 0)
            return false;
        c->sample.in_section = true;
        bool known = !item->section[k].lower || item->section[k].offsets || /* from the base on */
                     sample_expression(&c->sample, item->section[k].lower, &lower);
        c->sample.in_section = false;
        if (!known)
            return false;
        *first = *first * extent + lower;
    }
    for (int k = item->section_count; item->section_count && k < item->inner_dims + 1; k++) {
        *first *= clang_getArraySize(type);
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    }
    return true;
}

/* How far the item moves from the whole range's begin to the chunk's, by axes that rebase tells by
 * their length. */
static bool distance_of(comparison_t *c, const item_t *item, const chunk_box_t *box, int64_t *bytes)
{
    int64_t from[KMM_MAX_AXES], to[KMM_MAX_AXES], a, b;
    for (int k = 0; k < c->d->axis_count; k++)
        from[k] = to[k] = c->geometry.lower[k];
    for (int k = 0; k < c->d->rebase_count; k++)
        if (c->d->rebase[k].kind == REBASE_LENGTH)
            to[c->d->rebase[k].axis] = box->begin[c->d->rebase[k].axis];
    if (!first_of(c, item, from, &a) || !first_of(c, item, to, &b))
        return false;
    *bytes = (b - a) * byteset_element(item);
    return true;
}

bool call_advance(comparison_t *c, accessed_t *t, const chunk_box_t *box)
{
    int64_t found = 0, base, bytes;
    bool any = false;
    for (int k = 0; k < c->d->item_count && !c->d->is_kernel; k++) {
        const item_t *item = &c->d->item[k];
        if (!compare_is_of(c, t, item, &base))
            continue;
        if (!distance_of(c, item, box, &bytes) || (any && bytes != found))
            return false;
        found = bytes;
        any = true;
    }
    t->base = t->shift;
    t->shift += found;
    return true;
}

bool call_run(comparison_t *c, const chunk_box_t *box, replay_visit_fn *visit)
{
    c->box = *box;
    for (int k = 0; k < c->d->axis_count; k++)
        c->axis[k] = box->begin[k];
    replay_restart(c->replay);
    bool complete = replay_thread(c->replay, true, visit, c);
    for (int k = 0; k < c->count && !complete; k++)
        c->target[k].storing_all = false;
    return complete;
}
