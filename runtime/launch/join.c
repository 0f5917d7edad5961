/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins dimensions of items, so that a box has room for those that are left. Dimension d, of which
 * all E indices are taken, and dimension d - 1 become one: its extent is E times as large, and the
 * section of dimension d - 1 has E times its lower bound and length. That is exact, and the section
 * remains affine in the axes. The innermost dimensions are joined first, so that items of one array
 * mostly get the same layout.
 */
#include "launch/join.h"

#include <string.h>

_Static_assert((int)KMM_MAX_JOINED == (int)KMM__DIMS,
               "a box has a dimension for each that is left");

static bool is_whole(const kmm__item_t *item, uint32_t d)
{
    return d >= item->section_count || item->section[d].whole;
}

/* True if dimension d can be joined with the one outside it. An outermost dimension of unknown
 * extent has whole rows only, so that its extent cannot be that of parts of these. */
static bool can_join(const kmm__item_t *item, uint32_t d)
{
    if (!is_whole(item, d) || (d == 1 && item->extent[0] == KMM_WHOLE))
        return false;
    return is_whole(item, d - 1) || !item->section[d - 1].offsets.at;
}

/* Multiplies all numbers of a section. False: one becomes too large. */
static bool scale(kmm__section_t *s, int64_t by)
{
    bool wraps = __builtin_mul_overflow(s->constant.lower, by, &s->constant.lower) |
                 __builtin_mul_overflow(s->constant.length, by, &s->constant.length);
    for (uint32_t k = 0; k < KMM_MAX_AXES; k++)
        wraps |= __builtin_mul_overflow(s->coef[k].lower, by, &s->coef[k].lower) |
                 __builtin_mul_overflow(s->coef[k].length, by, &s->coef[k].length);
    return !wraps;
}

/* Joins dimension d with the one outside it. An extent of no elements, or a negative one, remains
 * as it is: the first of these tells what the region is. False: a number becomes too large. */
static bool join(kmm__item_t *item, uint32_t d)
{
    int64_t *outer = &item->extent[d - 1], inner = item->extent[d];
    bool fits = true;
    if (*outer > 0 && inner > 0) {
        fits = !__builtin_mul_overflow(*outer, inner, outer);
        if (!is_whole(item, d - 1))
            fits &= scale(&item->section[d - 1], inner);
    } else if (*outer > 0) {
        *outer = inner;
    }
    item->dims--;
    memmove(&item->extent[d], &item->extent[d + 1], (item->dims - d) * sizeof(*item->extent));
    if (d < item->section_count) {
        item->section_count--;
        memmove(&item->section[d], &item->section[d + 1],
                (item->section_count - d) * sizeof(*item->section));
    }
    return fits;
}

/* True if the bytes of the shape can be counted. */
static bool is_countable(const kmm__item_t *item)
{
    int64_t bytes = item->element;
    for (uint32_t d = 0; d < item->dims; d++)
        if (item->extent[d] > 0 && __builtin_mul_overflow(bytes, item->extent[d], &bytes))
            return false;
    return true;
}

static void refuse(kmm_launch_t *l, const kmm__item_t *item, int code, const char *text)
{
    l->undone |= item->inferred;
    kmm__launch_mistake(l, code, "argument %s: %s", item->text, text);
}

void kmm__join_item(kmm_launch_t *l, kmm__item_t *item)
{
    bool fits = true;
    if (item->dims > KMM__DIMS && item->section_count > item->dims) {
        refuse(l, item, KMM_E_INVALID, "it has more sections than its shape has dimensions");
        return;
    }
    while (item->dims > KMM__DIMS && fits) {
        uint32_t d = item->dims - 1;
        while (d > 0 && !can_join(item, d))
            d--;
        if (d == 0) {
            refuse(l, item, KMM_E_UNSUPPORTED,
                   "more than 4 of its dimensions are left where each [:] is joined with the "
                   "dimension outside it, unless that one's extent is unknown or its section has "
                   "offsets");
            return;
        }
        fits = join(item, d);
    }
    if (!fits || !is_countable(item))
        refuse(l, item, KMM_E_RANGE, "its shape or its sections are larger than any array");
}

void kmm__join_items(kmm_launch_t *l)
{
    for (uint32_t k = 0; k < l->item_count; k++)
        if (l->items[k].dims > KMM__DIMS)
            kmm__join_item(l, &l->items[k]);
    l->has_more_dims = false;
}
