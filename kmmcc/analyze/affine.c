/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns each access's offset into a polynomial. A sum that is an index of the grid becomes one
 * atom. Indices that have bounds of their own (threads of a block, iterations of a loop) are
 * eliminated. The rest says where a thread's accesses begin, and how far they go.
 */
#include "analyze/affine.h"

#include <stddef.h>
#include <string.h>

#include "analyze/affine_value.h"
#include "analyze/quotient.h"
#include "analyze/wrap.h"
#include "base/arena.h"

enum { MOST_CHOICES = 4, MOST_INDICES = 16 };

/* ---- Indices of the grid ---- */

/* A sum `first + by * second`, the product of atoms, which is the atom `whole`. */
typedef struct sum {
    int first, second[3], count;
    int64_t by;
    int whole;
} sum_t;

static poly_t product_of(const sum_t *s)
{
    poly_t p = poly_constant(s->by);
    for (int k = 0; k < s->count; k++)
        p = poly_mul(p, poly_atom(s->second[k]));
    return p;
}

static bool has_term(poly_t p, poly_t one)
{
    for (int k = 0; k < p.count; k++)
        if (p.term[k].coef == one.term[0].coef && p.term[k].factors == one.term[0].factors &&
            !memcmp(p.term[k].factor, one.term[0].factor,
                    sizeof(int) * (size_t)one.term[0].factors))
            return true;
    return false;
}

/* Puts the atom `whole` for each such sum, times whatever it is. */
static bool fold(poly_t *p, const sum_t *s)
{
    bool found = false;
    for (int k = 0; k < p->count; k++) {
        poly_t one = {.term = &p->term[k], .count = 1}, times, rest;
        if (!poly_has(one, s->first) || !poly_split(one, s->first, &times, &rest))
            continue;
        poly_t other = poly_mul(times, product_of(s));
        if (other.fails || other.count != 1 || !has_term(*p, other))
            continue;
        poly_t whole = poly_mul(times, poly_atom(s->whole));
        *p = poly_add(poly_sub(poly_sub(*p, one), other), whole);
        found = true;
        k = -1;
    }
    return found;
}

/* The factor that is the size of a block: an atom, or a number in `by`. */
static void multiply_by_block(footprint_t *x, sum_t *s, int d)
{
    if (x->block[d] > 0)
        s->by *= x->block[d];
    else
        s->second[s->count++] = affine_atom(x, ATOM_BLOCK_DIM, d, false);
}

static sum_t global_sum(footprint_t *x, int d)
{
    sum_t s = {affine_atom(x, ATOM_THREAD, d, false),
               {affine_atom(x, ATOM_BLOCK, d, false)},
               1,
               1,
               affine_atom(x, ATOM_GLOBAL, d, false)};
    multiply_by_block(x, &s, d);
    return s;
}

static sum_t stride_sum(footprint_t *x, int d, int loop)
{
    sum_t s = {affine_atom(x, ATOM_GLOBAL, d, false),
               {affine_atom(x, ATOM_LOOP, loop, false), affine_atom(x, ATOM_GRID_DIM, d, false)},
               2,
               1,
               affine_atom(x, ATOM_STRIDE, loop * 3 + d, false)};
    multiply_by_block(x, &s, d);
    return s;
}

static sum_t pace_sum(footprint_t *x, int d, int loop)
{
    return (sum_t){
        affine_atom(x, ATOM_BLOCK, d, false),
        {affine_atom(x, ATOM_LOOP, loop, false), affine_atom(x, ATOM_GRID_DIM, d, false)},
        2,
        1,
        affine_atom(x, ATOM_PACE, loop * 3 + d, false)};
}

static sum_t walk_sum(footprint_t *x, int d, int loop)
{
    sum_t s = {affine_atom(x, ATOM_THREAD, d, false),
               {affine_atom(x, ATOM_LOOP, loop, false)},
               1,
               1,
               affine_atom(x, ATOM_WALK, loop * 3 + d, false)};
    multiply_by_block(x, &s, d);
    return s;
}

void affine_fold(footprint_t *x, poly_t *p, guards_t *g)
{
    quotient_fold(x, p);
    for (int k = 0; k < g->count; k++)
        quotient_fold(x, &g->at[k]);
    for (int k = 0; k < g->holes; k++)
        quotient_fold(x, &g->hole[k]);
    for (int d = 0; d < 3; d++) {
        sum_t global = global_sum(x, d);
        fold(p, &global);
        for (int k = 0; k < g->count; k++)
            fold(&g->at[k], &global);
        for (int k = 0; k < g->holes; k++)
            fold(&g->hole[k], &global);
        for (int l = 0; l < x->f->loop_count; l++) {
            sum_t stride = stride_sum(x, d, l), walk = walk_sum(x, d, l), pace = pace_sum(x, d, l);
            bool walks = false;
            fold(p, &stride);
            fold(p, &pace);
            for (int k = 0; k < g->count; k++) {
                fold(&g->at[k], &stride);
                fold(&g->at[k], &pace);
                walks |= fold(&g->at[k], &walk); /* the loop's test is about the sum */
            }
            if (walks)
                fold(p, &walk);
        }
    }
}

/* ---- Signs ---- */

/* A guard says that the atom is at least a number that is not negative. */
static bool is_guarded_count(const footprint_t *x, const guards_t *g, int atom)
{
    for (int k = 0; k < g->count; k++) {
        poly_t coef, rest;
        int64_t one;
        if (!poly_split(g->at[k], atom, &coef, &rest) || !poly_is_constant(coef, &one) || one <= 0)
            continue;
        bool below = true; /* the rest is never positive */
        for (int i = 0; i < rest.count; i++) {
            below &= rest.term[i].coef < 0;
            for (int j = 0; j < rest.term[i].factors; j++)
                below &= affine_is_count(x, rest.term[i].factor[j]);
        }
        if (below)
            return true;
    }
    return false;
}

/* 1: never negative; -1: never positive; 0: not known. */
static int sign_of(const footprint_t *x, const guards_t *g, poly_t p)
{
    int sign = p.count && p.term[0].coef < 0 ? -1 : 1;
    for (int k = 0; k < p.count; k++) {
        if ((p.term[k].coef < 0) != (sign < 0))
            return 0;
        for (int i = 0; i < p.term[k].factors; i++)
            if (!affine_is_count(x, p.term[k].factor[i]) &&
                !is_guarded_count(x, g, p.term[k].factor[i]))
                return 0;
    }
    return p.fails ? 0 : sign;
}

/* The same, where what is not known of parameters is assumed: they are mostly sizes. */
static int assumed_sign_of(const footprint_t *x, box_t *b, const guards_t *g, poly_t p)
{
    int sign = sign_of(x, g, p);
    if (sign || p.fails || affine_has_index(x, p))
        return sign;
    bool negative = true;
    for (int k = 0; k < p.count; k++)
        negative &= p.term[k].coef < 0;
    p = negative ? poly_scale(p, -1) : p;
    return affine_assume(b, p) ? negative ? -1 : 1 : 0;
}

/* ---- Indices with bounds of their own ---- */

static bool is_index_of(const footprint_t *x, poly_t p, atom_kind_t kind)
{
    for (int k = 0; k < x->atom_count; k++)
        if (x->atom[k].kind == kind && poly_has(p, k))
            return true;
    return false;
}

static bool has_inner(const footprint_t *x, poly_t p)
{
    return is_index_of(x, p, ATOM_LOOP) || is_index_of(x, p, ATOM_WALK) ||
           is_index_of(x, p, ATOM_THREAD) || is_index_of(x, p, ATOM_QUOTIENT) ||
           is_index_of(x, p, ATOM_REST);
}

static void drop_guard(guards_t *g, int number)
{
    g->count--;
    memmove(g->at + number, g->at + number + 1, (size_t)(g->count - number) * sizeof(*g->at));
}

/* The block has a thread for each index up to `last`, or the box holds only where it does. */
static bool fits_block(const footprint_t *x, box_t *b, poly_t last, int64_t size)
{
    int64_t most;
    if (poly_is_constant(last, &most))
        return most < size;
    bool fits = size > 0 && !affine_has_index(x, last) &&
                affine_assume(b, poly_sub(poly_constant(size - 1), last));
    b->in_block |= fits;
    return fits;
}

bool affine_extent(footprint_t *x, box_t *b, int atom, extent_t *out)
{
    guards_t *g = &b->rest;
    int64_t size = x->atom[atom].kind == ATOM_THREAD ? x->block[x->atom[atom].number] : 0;
    *out = (extent_t){atom, poly_constant(size - 1), 1, size > 0};
    if (x->atom[atom].kind == ATOM_REST)
        return quotient_extent(x, b, atom, &out->last);
    if (x->atom[atom].kind == ATOM_QUOTIENT && !affine_is_count(x, atom))
        return false;
    /* A bound that is the same for all threads comes first. */
    for (int pass = 0; pass < 3; pass++)
        for (int k = 0; k < g->count; k++) {
            poly_t coef, rest;
            int64_t by, most;
            if (!poly_split(g->at[k], atom, &coef, &rest) || !poly_is_constant(coef, &by) ||
                by >= 0 || (by != -1 && pass < 2) || (affine_has_index(x, rest) && !pass))
                continue;
            if (size > 0 && poly_is_constant(rest, &most) && most >= -by * (size - 1)) {
                drop_guard(g, k); /* the block ends before */
                k = -1;
                continue;
            }
            atom_kind_t kind = x->atom[atom].kind;
            bool all = by == -1 && kind != ATOM_QUOTIENT &&
                       (kind != ATOM_THREAD || fits_block(x, b, rest, size));
            *out = (extent_t){atom, rest, -by, all};
            if (kind == ATOM_LOOP && poly_is_constant(rest, &most) && most >= 0)
                *out = (extent_t){atom, poly_constant(most / -by), 1, true};
            drop_guard(g, k);
            return true;
        }
    if (x->atom[atom].kind == ATOM_THREAD && size == 0) {
        poly_t dim = poly_atom(affine_atom(x, ATOM_BLOCK_DIM, x->atom[atom].number, false));
        *out = (extent_t){atom, poly_sub(dim, poly_constant(1)), 1, true};
        return true;
    }
    return size > 0;
}

static poly_t least_or_most(const footprint_t *x, box_t *b, const guards_t *g, poly_t p,
                            const extent_t *e, bool most)
{
    poly_t coef, rest, by;
    if (!poly_split(p, e->atom, &coef, &rest))
        return poly_failed();
    int sign = assumed_sign_of(x, b, g, coef);
    if (!coef.count || (sign > 0) != most)
        return sign ? rest : poly_failed();
    return sign && poly_divide(coef, e->step, &by) ? poly_add(rest, poly_mul(by, e->last))
                                                   : poly_failed();
}

/* True if the accesses leave nothing out between the first and the last: the indices' steps are
 * like digits of a number. */
static bool is_dense(const footprint_t *x, poly_t offset, int64_t bytes, const extent_t *e,
                     int count, poly_t *span)
{
    bool used[MOST_INDICES] = {false};
    *span = poly_constant(bytes);
    for (int done = 0; done < count; done++) {
        int next = -1;
        poly_t coef, rest;
        for (int k = 0; k < count && next < 0; k++)
            if (!used[k] && poly_split(offset, e[k].atom, &coef, &rest) &&
                (poly_equal(coef, *span) || poly_equal(poly_scale(coef, -1), *span)) && e[k].all &&
                !affine_has_index(x, e[k].last))
                next = k;
        if (next < 0)
            return false;
        used[next] = true;
        *span = poly_mul(*span, poly_add(e[next].last, poly_constant(1)));
    }
    return !span->fails;
}

static const char *reason_of(atom_kind_t kind)
{
    return kind >= ATOM_QUOTIENT ? "a division or remainder of an index"
           : kind == ATOM_THREAD ? "an index within the block, whose size is no constant"
                                 : "a loop whose number of iterations is not known";
}

static const char *find_extents(footprint_t *x, box_t *b, poly_t p, extent_t *out, int *count)
{
    static const atom_kind_t order[] = {ATOM_QUOTIENT, ATOM_REST, ATOM_WALK, ATOM_LOOP,
                                        ATOM_THREAD};
    int most = 3 * x->f->loop_count + 2;
    most = most > x->quotient_count ? most : x->quotient_count;
    *count = 0;
    for (int k = 0; k < 5; k++)
        for (int number = most; number >= 0; number--)
            for (int a = 0; a < x->atom_count; a++) {
                if (x->atom[a].kind != order[k] || x->atom[a].number != number || !poly_has(p, a))
                    continue;
                if (*count == MOST_INDICES)
                    return "an index that is too large a polynomial";
                if (!affine_extent(x, b, a, &out[*count]))
                    return reason_of(order[k]);
                p = poly_add(p, out[(*count)++].last); /* which may have indices itself */
            }
    return NULL;
}

/* Thread 0 is in every block, so what holds for it guards no block. */
static void drop_of_thread(const footprint_t *x, box_t *b)
{
    for (int k = 0; k < b->rest.count && !b->in_threads; k++) {
        poly_t p = b->rest.at[k];
        bool threads = poly_constant_term(p) >= 0;
        for (int i = 0; i < p.count; i++)
            threads &= p.term[i].factors == 0 ||
                       (p.term[i].factors == 1 && x->atom[p.term[i].factor[0]].kind == ATOM_THREAD);
        if (threads)
            drop_guard(&b->rest, k--);
    }
}

/* Indices of one dimension depend on each other, so one of them does not have all values for each
 * value of another. */
static void set_dependent(const footprint_t *x, poly_t offset, extent_t *e, int count)
{
    for (int k = 0; k < count; k++)
        for (int a = 0; a < x->atom_count; a++) {
            int d = affine_dimension(x, e[k].atom);
            if (d >= 0 && a != e[k].atom && affine_dimension(x, a) == d &&
                x->atom[a].kind != ATOM_BLOCK && poly_has(offset, a))
                e[k].all = false;
        }
}

/* A guard lets some threads of a block do the access, and others not. */
static bool guards_threads(const footprint_t *x, const guards_t *g)
{
    if (g->holes)
        return true;
    for (int k = 0; k < g->count; k++)
        for (int a = 0; a < x->atom_count; a++)
            if (affine_is_index(x, a) && x->atom[a].kind != ATOM_BLOCK &&
                x->atom[a].kind != ATOM_PACE && poly_has(g->at[k], a))
                return true;
    return false;
}

/* A guard is left of an index with bounds, which then does not have all values up to its last. */
static bool guards_indices(const guards_t *g, const extent_t *e, int count)
{
    for (int k = 0; k < g->count; k++)
        for (int i = 0; i < count; i++)
            if (poly_has(g->at[k], e[i].atom))
                return true;
    return false;
}

/* What the indices with bounds say, where each has all values for all values of the others. */
static void set_steps(const footprint_t *x, box_t *b, poly_t offset, const extent_t *e, int count)
{
    poly_t rest;
    bool of_block = false;
    for (int k = 0; k < count; k++)
        of_block |= x->atom[e[k].atom].kind != ATOM_LOOP;
    b->base = offset;
    b->stepped = count <= MOST_STEPS;
    for (int k = 0; k < count && b->stepped; k++) {
        b->stepped = e[k].all && e[k].step == 1 && !has_inner(x, e[k].last) &&
                     !(of_block && affine_has_index(x, e[k].last)) &&
                     poly_split(b->base, e[k].atom, &b->step[k].by, &rest) &&
                     !affine_has_index(x, b->step[k].by);
        b->base = rest;
        b->step[k].last = e[k].last;
        b->steps = k + 1;
    }
}

static void place(footprint_t *x, box_t *b, poly_t offset, int64_t bytes)
{
    extent_t e[MOST_INDICES];
    int count;
    guards_t all = b->rest;
    b->in_threads = is_index_of(x, offset, ATOM_GLOBAL) || is_index_of(x, offset, ATOM_STRIDE) ||
                    is_index_of(x, offset, ATOM_THREAD) || is_index_of(x, offset, ATOM_WALK) ||
                    is_index_of(x, offset, ATOM_QUOTIENT) || is_index_of(x, offset, ATOM_REST);
    b->reason = find_extents(x, b, offset, e, &count);
    set_dependent(x, offset, e, count);
    poly_t low = offset, high = offset, span;
    for (int k = 0; k < count && !b->reason; k++) {
        low = least_or_most(x, b, &all, low, &e[k], false);
        high = least_or_most(x, b, &all, high, &e[k], true);
    }
    if (b->reason)
        return;
    b->lower = low;
    b->span = poly_add(poly_sub(high, low), poly_constant(bytes));
    b->dense = is_dense(x, offset, bytes, e, count, &span);
    b->bytes = bytes;
    set_steps(x, b, offset, e, count);
    drop_of_thread(x, b);
    for (int k = 0; k < count; k++)
        b->uses_block |=
            x->atom[e[k].atom].kind == ATOM_THREAD || x->atom[e[k].atom].kind == ATOM_WALK;
    for (int k = 0; k < b->rest.holes; k++)
        b->rest.incomplete |= has_inner(x, b->rest.hole[k]);
    b->exact = (b->dense || b->stepped) && !b->rest.incomplete &&
               !(b->uses_block && guards_threads(x, &b->rest)) &&
               !guards_indices(&b->rest, e, count);
    if (low.fails || high.fails)
        b->reason = "an index whose direction is not known";
    else if (has_inner(x, low) || has_inner(x, high) || !affine_is_linear(x, low) ||
             !affine_is_linear(x, b->span))
        b->reason = "an index that is no sum of indices times numbers or parameters";
}

/* ---- Accesses ---- */

/* Loops around it: iteration k runs while the test holds. Of a loop that tests at its end, only the
 * first iteration is sure, and none is the last. */
static void read_loops(reading_t *r, const ir_access_t *a)
{
    const ir_function_t *f = r->x->f;
    for (int l = a->loop; l >= 0; l = f->loop[l].parent) {
        r->guards.incomplete |= f->loop[l].has_breaks != 0;
        r->loop = l;
        if (!f->loop[l].tests_at_end)
            affine_guard(r, f->loop[l].test, true);
    }
}

/* What the loops' tests say, without other guards. */
static void read_tests(reading_t *r, const ir_access_t *a)
{
    guards_t all = r->guards;
    r->guards = (guards_t){.count = 0};
    r->at = FIT_TEST;
    r->steps = 0;
    read_loops(r, a);
    r->tests = r->guards;
    r->guards = all;
}

/* Notes what blocks the index counts on. */
static void note_ratio(footprint_t *x, poly_t p)
{
    for (int d = 0; d < 3; d++) {
        poly_t of_block, of_thread, rest;
        int64_t ratio = -1;
        int block = affine_atom(x, ATOM_BLOCK, d, false),
            thread = affine_atom(x, ATOM_THREAD, d, false);
        if (p.fails || !poly_split(p, block, &of_block, &rest) ||
            !poly_split(p, thread, &of_thread, &rest) || !of_block.count || !of_thread.count)
            continue;
        int64_t by = of_thread.term[0].coef, times = of_block.term[0].coef;
        if (by && times % by == 0 && poly_equal(poly_scale(of_thread, times / by), of_block))
            ratio = times / by;
        x->ratio[d] = x->ratio[d] && x->ratio[d] != ratio ? -1 : ratio;
    }
}

static box_t *one_box(reading_t *r, const ir_access_t *a, box_t *list, poly_t offset)
{
    const ir_node_t *bytes = &r->x->f->node[a->bytes];
    box_t *b = arena_alloc(sizeof(*b));
    *b = (box_t){.next = list, .access = a, .rest = r->guards};
    affine_fold(r->x, &offset, &b->rest);
    quotient_spread(r->x, &offset);
    affine_fold(r->x, &offset, &b->rest);
    note_ratio(r->x, offset);
    if (offset.fails)
        b->reason = r->reason ? r->reason : "an index that is too large a polynomial";
    else if (bytes->op != IR_CONST)
        b->reason = "a copy of a length that is not constant";
    else
        place(r->x, b, offset, bytes->value);
    if (!wrap_settle(r, b) && !b->reason)
        b->reason = "an index that may leave the bits in which it is computed";
    return b;
}

static box_t *read_choices(reading_t *r, const ir_access_t *a, box_t *list, int depth)
{
    r->choice = -1;
    r->reason = NULL;
    fit_t *fits = r->fits;
    poly_t offset = affine_value(r, a->offset, false);
    int select = r->choice;
    if (!offset.fails || select < 0 || depth == MOST_CHOICES)
        return one_box(r, a, list, offset);
    guards_t before = r->guards;
    r->fits = fits;
    for (int side = 1; side <= 2; side++) {
        r->taken[select] = (signed char)side;
        r->guards = before;
        r->at = FIT_GUARD;
        affine_guard(r, r->x->f->node[select].a, side == 1);
        r->at = FIT_PLACE;
        list = read_choices(r, a, list, depth + 1);
        r->fits = fits;
    }
    r->taken[select] = 0;
    r->guards = before;
    return list;
}

static box_t *read_access(footprint_t *x, const ir_access_t *a, box_t *list)
{
    reading_t *r = arena_alloc(sizeof(*r));
    *r = (reading_t){.x = x, .taken = arena_alloc((size_t)x->f->node_count)};
    r->at = FIT_GUARD;
    affine_guard(r, a->guard, true);
    fit_t *fits = r->fits;
    read_loops(r, a);
    r->fits = fits;
    read_tests(r, a);
    r->at = FIT_PLACE;
    return read_choices(r, a, list, 0);
}

static void find_parameters(footprint_t *x)
{
    const ir_function_t *f = x->f;
    x->of_parameters = arena_alloc((size_t)f->node_count);
    for (int k = 0; k < f->node_count; k++) {
        const ir_node_t *n = &f->node[k];
        const int operand[] = {n->a, n->b, n->c};
        bool is = n->op == IR_CONST || n->op == IR_PARAM || n->op > IR_DATA;
        for (int i = 0; i < 3 && n->op > IR_DATA; i++)
            is &= operand[i] < 0 || x->of_parameters[operand[i]];
        x->of_parameters[k] = is;
    }
}

footprint_t *affine_of(const ir_function_t *f, const int64_t block[3])
{
    footprint_t *x = arena_alloc(sizeof(*x));
    *x = (footprint_t){.f = f, .block = {block[0], block[1], block[2]}};
    find_parameters(x);
    for (int k = f->access_count - 1; k >= 0; k--)
        x->box = read_access(x, &f->access[k], x->box);
    return x;
}

bool affine_blocks(const ir_function_t *f, int64_t block[3])
{
    enum { MOST_OF_BLOCK = 1024 };
    const footprint_t *x = affine_of(f, block);
    bool any = false;
    for (int d = 0; d < 3; d++)
        if (block[d] == 0 && x->ratio[d] > 1 && x->ratio[d] <= MOST_OF_BLOCK) {
            block[d] = x->ratio[d];
            any = true;
        }
    return any;
}
