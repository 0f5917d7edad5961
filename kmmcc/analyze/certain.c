/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which wrong accesses are certain: those where clause and kernel use the same variables.
 */
#include "analyze/certain.h"

#include <stddef.h>
#include <string.h>

#include "analyze/compare_target.h"
#include "base/arena.h"

/* ---- Variables ---- */

static uint64_t names_of_node(comparison_t *c, int k)
{
    const ir_node_t *n = &c->f->node[k];
    const int operand[] = {n->a, n->b, n->c};
    uint64_t names = 0;
    int64_t value;
    if (n->op == IR_PARAM) {
        c->sample.used = 0;
        c->param(c, (int)n->value, n->a, n->bits, &value);
        return c->sample.used;
    }
    for (int i = 0; i < 3 && n->op > IR_DATA; i++)
        if (operand[i] >= 0)
            names |= c->names[operand[i]];
    return names;
}

/* The variables in sections and in the extents behind a shape's first, which regions depend on. */
static uint64_t names_of_item(comparison_t *c, const item_t *item)
{
    int64_t value;
    c->sample.used = 0;
    c->sample.in_section = true;
    for (int k = 0; k < item->section_count; k++) {
        if (item->section[k].lower)
            sample_expression(&c->sample, item->section[k].lower, &value);
        if (item->section[k].length)
            sample_expression(&c->sample, item->section[k].length, &value);
    }
    c->sample.in_section = false;
    for (int k = 1; item->shape && k < item->shape->dims; k++)
        sample_expression(&c->sample, item->shape->extent[k], &value);
    return c->sample.used;
}

void certain_begin(comparison_t *c)
{
    if (!c->names)
        c->names = arena_alloc((size_t)c->f->node_count * sizeof(*c->names));
    for (int k = 0; k < c->f->node_count; k++)
        c->names[k] = names_of_node(c, k);
    for (int k = 0; k < c->count; k++) {
        accessed_t *t = &c->target[k];
        int64_t base;
        t->names = t->store_names = 0;
        t->gap = -1;
        t->touched = false;
        t->last = 0;
        for (int i = 0; i < c->d->item_count && !t->skipped; i++)
            if (compare_is_of(c, t, &c->d->item[i], &base))
                t->names |= names_of_item(c, &c->d->item[i]);
    }
}

static uint64_t guard_names(const comparison_t *c, const ir_access_t *a)
{
    uint64_t names = c->names[a->guard];
    for (int l = a->loop; l >= 0; l = c->f->loop[l].parent)
        names |= c->names[c->f->loop[l].test];
    return names;
}

uint64_t certain_names(const comparison_t *c, const ir_access_t *a)
{
    return guard_names(c, a) | c->names[a->offset] | c->names[a->bytes];
}

static uint64_t range_names(const comparison_t *c)
{
    uint64_t names = 0;
    for (int k = 0; k < c->d->axis_count; k++)
        names |= c->geometry.range[k];
    return names;
}

/* ---- Questions ---- */

bool certain_access(const comparison_t *c, const accessed_t *t, const ir_access_t *a)
{
    uint64_t place = c->names[a->offset] | c->names[a->bytes], guard = guard_names(c, a),
             said = t->names | range_names(c);
    if ((place & ~said) || (guard & ~said & ~c->geometry.launch) || (t->names & ~(place | guard)))
        return false;
    /* Where the kernel does not compare with the range's end, the grid may end there. */
    for (int k = 0; k < c->d->axis_count; k++)
        if ((c->axis[k] < c->geometry.lower[k] || c->axis[k] >= c->geometry.end[k]) &&
            (c->geometry.range[k] & ~guard))
            return false;
    return true;
}

bool certain_gap(const comparison_t *c, const accessed_t *t)
{
    uint64_t said = t->names | range_names(c);
    return !(t->store_names & ~said) && !(t->names & ~t->store_names);
}

static bool is_same_array(const comparison_t *c, const accessed_t *t, const ir_access_t *a)
{
    for (int k = 0; k < c->count; k++)
        if (c->target[k].param == a->param && c->target[k].member == a->member)
            return c->target[k].key && !strcmp(c->target[k].key, t->key);
    return true;
}

static bool share_loop(const comparison_t *c, const ir_access_t *a, const ir_access_t *b)
{
    for (int k = a->loop; k >= 0; k = c->f->loop[k].parent)
        for (int i = b->loop; i >= 0; i = c->f->loop[i].parent)
            if (i == k)
                return true;
    return false;
}

bool certain_old(const comparison_t *c, const accessed_t *t, const ir_access_t *a)
{
    for (int k = 0; k < c->f->access_count; k++) {
        const ir_access_t *b = &c->f->access[k];
        bool before =
            b->order < a->order || (share_loop(c, a, b) && !replay_is_first(c->replay, a));
        if (b->kind != IR_READ && before && is_same_array(c, t, b))
            return false;
    }
    return true;
}

bool certain_wide(const comparison_t *c, const accessed_t *t)
{
    uint64_t names = 0, said = t->names | range_names(c);
    for (int k = 0; k < c->f->access_count; k++)
        if (is_same_array(c, t, &c->f->access[k]))
            names |= certain_names(c, &c->f->access[k]);
    return !(t->names & ~names) && !(names & ~said & ~c->geometry.launch);
}

/* ---- Conditions of what is inferred ---- */

/* The integer, at the ends of the axes, stays within its bits. */
static bool is_fit(comparison_t *c, const fits_t *f)
{
    static const int64_t limits[FITS_TYPES][2] = {{INT32_MIN, INT32_MAX}, {0, UINT32_MAX},
                                                  {INT16_MIN, INT16_MAX}, {0, UINT16_MAX},
                                                  {INT8_MIN, INT8_MAX},   {0, UINT8_MAX}};
    bool fits = true;
    c->sample.in_section = true;
    for (int corner = 0; corner < 1 << c->d->axis_count && fits; corner++) {
        int64_t value;
        for (int k = 0; k < c->d->axis_count; k++) {
            const geometry_t *g = &c->geometry;
            int d = c->d->axis[k].source % 3;
            int64_t last = g->grid[d] * (c->d->axis[k].source < KMM_BLOCK_X ? g->block[d] : 1);
            int64_t end = f->in_grid && last > g->end[k] ? last : g->end[k];
            c->sample.axis[k] = corner >> k & 1 ? end - 1 : f->in_grid ? 0 : g->lower[k];
        }
        fits = sample_expression(&c->sample, f->value, &value) && value >= limits[f->type][0] &&
               value <= limits[f->type][1];
    }
    c->sample.in_section = false;
    return fits;
}

bool certain_fits(comparison_t *c)
{
    for (int k = 0; k < c->d->fits_count; k++)
        if (!is_fit(c, &c->d->fits[k]))
            return false;
    return true;
}
