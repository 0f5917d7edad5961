/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the grid, blocks and chunks of a sample. If the launch's blocks are variables, a size is
 * assumed. If its grid is a variable, a grid is assumed that covers the ranges of the axes. */
#include "analyze/geometry.h"

#include <stddef.h>

#include "analyze/check_overlap.h"
#include "analyze/configured.h"
#include "analyze/fixed.h"
#include "analyze/flow.h"
#include "base/arena.h"
#include "clang/cursor.h"

enum { FREE_GRID = 7, DEEPEST = 8, MOST_THREADS = 1024, MOST_BLOCKS = 1 << 24 };

static bool is_block_axis(const axis_t *a)
{
    return a->source >= KMM_BLOCK_X && a->source <= KMM_BLOCK_Z;
}

static int dimension_of(const axis_t *a)
{
    return is_block_axis(a) ? a->source - KMM_BLOCK_X : a->source - KMM_GLOBAL_X;
}

/* ---- <<<grid, block>>> ---- */

/* True if the variable has the value of its definition wherever it is used: it is constant, or it
 * is a local one that the function around it only loads. */
static bool is_settled(CXCursor v)
{
    return flow_is_constant(clang_getCursorType(v)) ||
           (!cursor_is_static(v) && fixed_is_loaded(clang_getCursorSemanticParent(v), v));
}

/* The expressions of an extent: `n`, `dim3(a, b)`, or a variable that begins so. */
static int extent_cursors(const sample_t *s, CXCursor c, CXCursor out[3], int depth)
{
    cursors_t list = cursor_children(c);
    CXCursor v = sample_variable(c);
    if (type_is_integer(clang_getCursorType(c)) || depth > DEEPEST) {
        out[0] = c;
        return depth <= DEEPEST;
    }
    if (!configured_is_dim3(c))
        return 0;
    if (!clang_Cursor_isNull(v)) {
        CXCursor initial = sample_definition(s, v);
        return clang_Cursor_isNull(initial) || !is_settled(v)
                   ? 0
                   : extent_cursors(s, initial, out, depth + 1);
    }
    int count = 0;
    for (int k = 0; k < list.count; k++)
        if (clang_isExpression(clang_getCursorKind(list.at[k]))) {
            if (count == 3)
                return 0;
            out[count++] = list.at[k];
        }
    return count == 1 ? extent_cursors(s, out[0], out, depth + 1) : count;
}

/* The launch's grid (1) or block (2): the number of known components. */
static int configuration(const sample_t *s, int which, CXCursor out[3])
{
    const directive_t *d = s->d;
    if (d->form != LAUNCH_CHEVRON)
        return 0;
    cursors_t launch = cursor_children(d->launch), list = {0};
    if (launch.count > 1)
        list = cursor_children(launch.at[1]);
    return which < list.count ? extent_cursors(s, list.at[which], out, 0) : 0;
}

static bool is_constant(CXCursor c)
{
    CXEvalResult r = clang_Cursor_Evaluate(c);
    bool constant = r && clang_EvalResult_getKind(r) == CXEval_Int;
    if (r)
        clang_EvalResult_dispose(r);
    return constant;
}

/* One component of the configuration: its number, or `guess`, which a variable then has. */
static int64_t component(sample_t *s, CXCursor c, int64_t guess, bool *guessed)
{
    CXCursor v = sample_variable(c);
    int64_t value;
    if (clang_Cursor_isNull(v) || is_constant(c))
        return sample_cursor(s, c, &value) ? value : guess;
    CXCursor initial = s->follows ? sample_definition(s, v) : clang_getNullCursor();
    if (!clang_Cursor_isNull(initial) && sample_cursor(s, initial, &value))
        return sample_bind(s, sample_name(s, v), value);
    *guessed = true;
    return sample_bind(s, sample_name(s, v), guess);
}

bool geometry_knows_blocks(const sample_t *s)
{
    CXCursor c[3];
    int count = configuration(s, 2, c);
    if (!s->d->is_kernel)
        return true;
    for (int k = 0; k < count; k++)
        if (!is_constant(c[k]))
            return false;
    return count > 0;
}

void geometry_block(const unit_t *u, const directive_t *d, int64_t block[3])
{
    CXCursor c[3];
    const sample_t s = {.u = u, .d = d};
    int count = configuration(&s, 2, c);
    for (int k = 0; k < 3; k++) {
        block[k] = count > 0 && k >= count;
        CXEvalResult r = k < count ? clang_Cursor_Evaluate(c[k]) : NULL;
        if (r && clang_EvalResult_getKind(r) == CXEval_Int)
            block[k] = clang_EvalResult_getAsLongLong(r);
        if (r)
            clang_EvalResult_dispose(r);
    }
}

/* ---- Ranges and chunks ---- */

static bool ranges(sample_t *s, geometry_t *g)
{
    for (int k = 0; k < s->d->axis_count; k++) {
        const axis_t *a = &s->d->axis[k];
        g->lower[k] = 0;
        g->end[k] = INT64_MAX;
        g->range[k] = 0;
        if (!a->length)
            continue;
        s->used = 0;
        if (!sample_expression(s, a->lower, &g->lower[k]) ||
            !sample_expression(s, a->length, &g->end[k]))
            return false;
        g->range[k] = s->used;
        g->end[k] += g->lower[k];
    }
    return true;
}

/* As many blocks of a dimension as the axes' ranges need. */
static int64_t covering(const sample_t *s, const geometry_t *g, int dimension)
{
    int64_t blocks = 0;
    for (int k = 0; k < s->d->axis_count; k++) {
        const axis_t *a = &s->d->axis[k];
        if (dimension_of(a) != dimension || !a->length)
            continue;
        int64_t need = is_block_axis(a)
                           ? g->end[k]
                           : (g->end[k] + g->block[dimension] - 1) / g->block[dimension];
        blocks = need > blocks ? need : blocks;
    }
    return blocks;
}

static bool chunks(sample_t *s, geometry_t *g)
{
    const directive_t *d = s->d;
    int entry = 0;
    for (int k = 0; k < 3; k++)
        g->chunk[k] = g->grid[k];
    for (int k = 0; k < d->axis_count; k++) {
        const axis_t *a = &d->axis[k];
        int at = dimension_of(a);
        int64_t size = 1;
        if (!a->splits)
            continue;
        if (d->chunk_count == 0) {
            g->chunk[at] = 1;
            continue;
        }
        if (entry == d->chunk_count)
            continue;
        if (!sample_expression(s, d->chunk[entry++], &size))
            return false;
        if (size < 1)
            size = 1;
        g->chunk[at] = is_block_axis(a) ? size : (size + g->block[at] - 1) / g->block[at];
    }
    for (int k = 0; k < 3; k++)
        g->count[k] = (g->grid[k] + g->chunk[k] - 1) / g->chunk[k];
    return true;
}

/* A range beyond the grid makes the launch one chunk. */
static bool in_grid(const sample_t *s, const geometry_t *g)
{
    for (int k = 0; k < 3; k++)
        if (!s->d->bounded && covering(s, g, k) > g->grid[k])
            return false;
    return true;
}

/* Grids are mostly computed of block.x. */
static void follow_blocks(sample_t *s, const geometry_t *g)
{
    if (s->d->form != LAUNCH_CHEVRON)
        return;
    cursors_t launch = cursor_children(s->d->launch), list = {0};
    if (launch.count > 1)
        list = cursor_children(launch.at[1]);
    int64_t shift;
    const char *name = list.count > 2 ? sample_pointer(s, list.at[2], &shift) : NULL;
    for (int k = 0; name && k < 3; k++)
        sample_follow(s, arena_printf("%s.%c", name, "xyz"[k]), g->block[k]);
}

/* Without `chunk`, an axis is split if all writes depend on it. */
bool geometry_splits(const unit_t *u, const directive_t *d, int axis)
{
    if (d->chunk_count)
        return check_cut_along(u, d, axis) != CUT_NEVER;
    for (int k = 0; k < d->item_count; k++) {
        bool depends = false;
        for (int i = 0; i < d->item[k].section_count; i++)
            depends |= d->item[k].section[i].lower &&
                       !form_is(d->item[k].section[i].lower_form.coef[axis], 0);
        if (!depends && (d->item[k].mode == KMM_WRITE || d->item[k].mode == KMM_UPDATE))
            return false;
    }
    return true;
}

/* A plain function has a chunk of each axis, as a grid of blocks of one thread would. */
static bool of_call(sample_t *s, geometry_t *g)
{
    if (s->d->axis_count > 3 || !ranges(s, g))
        return false;
    for (int k = 0; k < 3; k++) {
        int64_t size = 1;
        bool is_axis = k < s->d->axis_count;
        g->block[k] = 1;
        g->grid[k] = is_axis ? g->end[k] - g->lower[k] : 1;
        if (g->grid[k] < 1 || g->grid[k] > MOST_BLOCKS)
            return false;
        bool one = !is_axis || !geometry_splits(s->u, s->d, k);
        if (!one && k < s->d->chunk_count && !sample_expression(s, s->d->chunk[k], &size))
            return false;
        if (!one && !s->d->chunk_count)
            size = (g->grid[k] + 2) / 3;
        one |= s->d->chunk_count && k >= s->d->chunk_count;
        g->chunk[k] = one ? g->grid[k] : size < 1 ? 1 : size > g->grid[k] ? g->grid[k] : size;
        g->count[k] = (g->grid[k] + g->chunk[k] - 1) / g->chunk[k];
    }
    return true;
}

bool geometry_of(sample_t *s, const bool uses[3], int64_t block_x, geometry_t *g)
{
    CXCursor c[3];
    if (!s->d->is_kernel)
        return of_call(s, g);
    bool wide = uses[1] || uses[2];
    int64_t guess[3] = {wide ? 16 : block_x, uses[1] ? 8 : 1, uses[2] ? 4 : 1};
    if (wide && block_x < 64)
        guess[0] = guess[1] = block_x;
    int count = configuration(s, 2, c);
    bool guessed = false;
    s->used = 0;
    for (int k = 0; k < 3; k++)
        g->block[k] = k < count ? component(s, c[k], guess[k], &guessed) : count ? 1 : guess[k];
    g->launch = s->used;
    follow_blocks(s, g);
    if (g->block[0] < 1 || g->block[1] < 1 || g->block[2] < 1 ||
        g->block[0] * g->block[1] * g->block[2] > MOST_THREADS || !ranges(s, g))
        return false;
    count = configuration(s, 1, c);
    g->guessed = count == 0;
    s->used = 0;
    for (int k = 0; k < 3; k++) {
        int64_t cover = covering(s, g, k);
        cover = cover ? cover : uses[k] ? FREE_GRID : 1;
        g->grid[k] = k < count ? component(s, c[k], cover, &g->guessed) : count ? 1 : cover;
        if (g->grid[k] < 1 || g->grid[k] > MOST_BLOCKS)
            return false;
    }
    g->launch |= s->used;
    for (int k = 0; k < s->d->axis_count; k++) {
        const axis_t *a = &s->d->axis[k];
        if (!a->length)
            g->end[k] =
                g->grid[dimension_of(a)] * (is_block_axis(a) ? 1 : g->block[dimension_of(a)]);
    }
    return in_grid(s, g) && chunks(s, g);
}

void geometry_box(const sample_t *s, const geometry_t *g, const int64_t first[3],
                  const int64_t count[3], chunk_box_t *box)
{
    for (int k = 0; k < s->d->axis_count; k++) {
        const axis_t *a = &s->d->axis[k];
        int at = s->d->is_kernel ? dimension_of(a) : k;
        int64_t step = is_block_axis(a) ? 1 : g->block[at],
                from = s->d->is_kernel ? 0 : g->lower[k];
        box->begin[k] = from + first[at] * step;
        box->end[k] = from + (first[at] + count[at]) * step;
        if (box->begin[k] < g->lower[k])
            box->begin[k] = g->lower[k];
        if (box->end[k] > g->end[k])
            box->end[k] = g->end[k];
    }
}

bool geometry_is_shared(const sample_t *s, const geometry_t *g)
{
    for (int k = 0; k < s->d->axis_count; k++) {
        const axis_t *a = &s->d->axis[k];
        const int at = dimension_of(a);
        const int64_t length = g->chunk[at] * (is_block_axis(a) ? 1 : g->block[at]);
        if (g->count[at] > 1 && g->end[k] > length)
            return true;
    }
    return false;
}
