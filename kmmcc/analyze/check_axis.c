/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the axes of a directive. */
#include "analyze/check_axis.h"

#include <stdbool.h>

#include "kmm/launch.h"

static void set_source(unit_t *u, directive_t *d, int number)
{
    axis_t *axis = &d->axis[number];
    if (number >= KMM_MAX_SPLIT && (!axis->source_given || !d->is_kernel)) {
        unit_error(
            u, axis->begin, axis->end,
            d->is_kernel
                ? "axis '%s' is the fourth: say what it runs over, as in %s: block.x"
                : "axis '%s' is one too many: a function's range has at most 3 dimensions%.0s",
            axis->name, axis->name);
        return;
    }
    if (!d->is_kernel && axis->source_given)
        unit_error(u, axis->begin, axis->end,
                   "axis '%s' names a part of a grid, but the launch is the call of a function; "
                   "leave out the source",
                   axis->name);
    if (!d->is_kernel)
        axis->source = KMM_RANGE_0 + number;
    else if (!axis->source_given)
        axis->source = KMM_GLOBAL_X + number;
    if (!d->is_kernel && !axis->length)
        unit_error(
            u, axis->begin, axis->end,
            "axis '%s' needs its range, because a function's call does not have one: %s = 0:n",
            axis->name, axis->name);
}

/* A block axis beside a global one is a second name for the same split. */
static void check_split(unit_t *u, directive_t *d, int number)
{
    static const char *const names[] = {"global.x", "global.y", "global.z", "block.x", "block.y",
                                        "block.z",  "0",        "1",        "2"};
    axis_t *axis = &d->axis[number];
    axis->splits = true;
    for (int k = 0; k < d->axis_count; k++) {
        axis_t *other = &d->axis[k];
        if (k != number && d->is_kernel && axis->source >= KMM_BLOCK_X &&
            other->source + 3 == axis->source)
            axis->splits = false;
        if (k < number && other->source == axis->source)
            unit_error(u, axis->begin, axis->end,
                       "axes '%s' and '%s' both split %s; one axis splits a dimension, and only "
                       "block.%c beside global.%c may name it again",
                       other->name, axis->name, names[axis->source], "xyz"[axis->source % 3],
                       "xyz"[axis->source % 3]);
    }
}

void check_axes(unit_t *u, directive_t *d)
{
    for (int k = 0; k < d->axis_count; k++)
        set_source(u, d, k);
    int splits = 0;
    for (int k = 0; k < d->axis_count; k++) {
        check_split(u, d, k);
        splits += d->axis[k].splits;
    }
    if (d->chunk_count > splits)
        unit_error(
            u, d->chunk[splits]->begin, d->chunk_end,
            "chunk has %d entr%s, but %d ax%s can be split; there is one entry for each axis",
            d->chunk_count, d->chunk_count == 1 ? "y" : "ies", splits, splits == 1 ? "is" : "es");
}
