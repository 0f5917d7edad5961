/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns nodes into polynomials. Sums and products of n bits are computed modulo 2^n, so a
 * polynomial is first read modulo 2^n. Where the value is extended or compared, it must be proven,
 * or assumed and noted, that the value does not wrap. The flag `nsw` in the code proves nothing.
 */
#include "analyze/affine_value.h"

#include <stddef.h>
#include <string.h>

#include "analyze/quotient.h"
#include "base/arena.h"

enum { LARGE_COEFFICIENT = 1 << 24, MOST_VISITS = 20000, MOST_FLAGS = 16 };

static poly_t fail(reading_t *r, const char *reason)
{
    if (!r->reason)
        r->reason = reason;
    return poly_failed();
}

static const ir_node_t *node_of(const reading_t *r, int node)
{
    return &r->x->f->node[node];
}

static bool is_leaf(const ir_node_t *n)
{
    return n->op <= IR_DATA;
}

/* True if parameters alone decide the node. */
static bool of_parameters(const reading_t *r, int node)
{
    return r->x->of_parameters[node];
}

static poly_t atom(reading_t *r, atom_kind_t kind, int64_t number, bool is_unsigned)
{
    return poly_atom(affine_atom(r->x, kind, (int)number, is_unsigned));
}

static poly_t of_grid(reading_t *r, int64_t what)
{
    static const atom_kind_t kinds[] = {ATOM_THREAD, ATOM_BLOCK, ATOM_BLOCK_DIM, ATOM_GRID_DIM};
    int64_t size = r->x->block[what % 3];
    if (what / 3 == IR_BLOCK_DIM && size > 0)
        return poly_constant(size);
    return atom(r, kinds[what / 3], what % 3, false);
}

static poly_t modulo(reading_t *r, int node, bool is_unsigned);

static poly_t of_select(reading_t *r, int node, bool is_unsigned)
{
    const ir_node_t *n = node_of(r, node);
    if (r->taken[node])
        return modulo(r, r->taken[node] == 1 ? n->b : n->c, is_unsigned);
    r->choice = node;
    return fail(r, "an index that is chosen by too many conditions");
}

static const char *reason_of(ir_op_t op)
{
    switch (op) {
    case IR_SYMBOL: return "an index that depends on a __device__ or __constant__ variable";
    case IR_DATA: return "an index that is read from memory or computed in a loop";
    case IR_UDIV:
    case IR_SDIV:
    case IR_UREM:
    case IR_SREM: return "a division or remainder of an index";
    case IR_LSHR:
    case IR_ASHR:
    case IR_AND:
    case IR_OR:
    case IR_XOR: return "bits of an index";
    default: return "an index that is no polynomial";
    }
}

/* The power of two that a mask or a shift stands for; 0: none. */
static int64_t power_of(const ir_node_t *n, const ir_node_t *b)
{
    if (b->op != IR_CONST)
        return 0;
    if (n->op == IR_LSHR || n->op == IR_ASHR)
        return b->value > 0 && b->value < 31 ? 1LL << b->value : 0;
    return b->value > 0 && b->value < INT32_MAX && !(b->value & (b->value + 1)) ? b->value + 1 : 0;
}

/* A division, a remainder, a shift to the right or a mask of the low bits. */
static poly_t of_division(reading_t *r, const ir_node_t *n)
{
    bool divides = n->op == IR_UDIV || n->op == IR_SDIV,
         rests = n->op == IR_UREM || n->op == IR_SREM,
         is_signed = n->op == IR_SDIV || n->op == IR_SREM;
    int64_t power = divides || rests ? 0 : power_of(n, node_of(r, n->b));
    if (!divides && !rests && !power)
        return fail(r, reason_of(n->op));
    bool rounds_down = n->op == IR_ASHR; /* also what is negative */
    poly_t of = affine_value(r, n->a, !is_signed && !rounds_down),
           by = power ? poly_constant(power) : affine_value(r, n->b, !is_signed);
    const quotient_t *q = of.fails || by.fails ? NULL : quotient_of(r->x, of, by, is_signed);
    if (!q || (rounds_down && !affine_never_negative(r->x, of)))
        return fail(r, reason_of(n->op));
    return poly_atom(divides || n->op == IR_LSHR || rounds_down ? q->whole : q->rest);
}

/* A polynomial that equals the node modulo 2 to the number of its bits. */
static poly_t modulo(reading_t *r, int node, bool is_unsigned)
{
    const ir_node_t *n = node_of(r, node), *b = n->b >= 0 ? node_of(r, n->b) : NULL;
    if (r->steps++ > MOST_VISITS)
        return fail(r, "an index that is too large a polynomial");
    switch (n->op) {
    case IR_CONST: return poly_constant(n->value);
    case IR_PARAM: return atom(r, ATOM_VALUE, node, is_unsigned);
    case IR_GRID: return of_grid(r, n->value);
    case IR_COUNTER: return atom(r, ATOM_LOOP, n->value, false);
    case IR_ADD: return poly_add(modulo(r, n->a, is_unsigned), modulo(r, n->b, is_unsigned));
    case IR_SUB: return poly_sub(modulo(r, n->a, is_unsigned), modulo(r, n->b, is_unsigned));
    case IR_MUL: return poly_mul(modulo(r, n->a, is_unsigned), modulo(r, n->b, is_unsigned));
    case IR_SHL:
        if (b->op == IR_CONST && b->value >= 0 && b->value < 24)
            return poly_scale(modulo(r, n->a, is_unsigned), 1LL << b->value);
        break;
    case IR_UDIV:
    case IR_SDIV:
    case IR_UREM:
    case IR_SREM:
    case IR_LSHR:
    case IR_ASHR:
    case IR_AND:
        if (!of_parameters(r, node))
            return of_division(r, n);
        break;
    case IR_ZEXT:
        if (node_of(r, n->a)->bits > 1)
            return affine_value(r, n->a, true);
        break;
    case IR_SEXT:
        if (node_of(r, n->a)->bits > 1)
            return affine_value(r, n->a, false);
        break;
    case IR_TRUNC:
        if (!of_parameters(r, node))
            return modulo(r, n->a, is_unsigned);
        break;
    case IR_SELECT:
        if (!of_parameters(r, node))
            return of_select(r, node, is_unsigned);
        break;
    default: break;
    }
    return of_parameters(r, node) ? atom(r, ATOM_VALUE, node, is_unsigned)
                                  : fail(r, reason_of(n->op));
}

/* p >= 0 follows from a guard. */
static bool is_guarded(const reading_t *r, poly_t p)
{
    int64_t over;
    for (int k = 0; k < r->guards.count; k++)
        if (poly_is_constant(poly_sub(p, r->guards.at[k]), &over) && over >= 0)
            return true;
    return false;
}

/* True if no term is negative. */
static bool has_no_minus(const reading_t *r, poly_t p)
{
    for (int k = 0; k < p.count; k++) {
        if (p.term[k].coef < 0)
            return false;
        for (int i = 0; i < p.term[k].factors; i++)
            if (!affine_is_count(r->x, p.term[k].factor[i]))
                return false;
    }
    return true;
}

/* An unsigned sum that is negative is another number. One of 64 bits is so, too, if its summands
 * are parameters that stand for negative numbers; with fewer bits libkmm looks at the launch. */
static bool stays_unsigned(const reading_t *r, poly_t p, int bits)
{
    bool indices = true;
    for (int k = 0; k < p.count; k++) {
        bool has_index = p.term[k].factors == 0;
        for (int i = 0; i < p.term[k].factors; i++)
            has_index |= affine_is_index(r->x, p.term[k].factor[i]) ||
                         r->x->atom[p.term[k].factor[i]].kind == ATOM_BLOCK_DIM ||
                         r->x->atom[p.term[k].factor[i]].kind == ATOM_GRID_DIM;
        indices &= has_index;
    }
    return (has_no_minus(r, p) && (indices || bits < 64)) || is_guarded(r, p);
}

/* A part of the polynomial that is at least as great, and not negative where the polynomial, which
 * a guard keeps from it, would be for other threads. */
static poly_t without_minus(const reading_t *r, poly_t p)
{
    poly_t out = poly_constant(0);
    for (int k = 0; k < p.count; k++) {
        poly_t one = {.term = &p.term[k], .count = 1};
        if (p.term[k].coef > 0)
            out = poly_add(out, one);
    }
    return is_guarded(r, p) && has_no_minus(r, out) ? out : p;
}

static poly_t unsigned_of_parameters(reading_t *r, int node)
{
    const ir_node_t *n = node_of(r, node);
    if (n->op == IR_CONST && (n->value >= 0 || n->bits < 64))
        return poly_constant(n->bits < 64 ? (int64_t)((uint64_t)n->value & ((1ULL << n->bits) - 1))
                                          : n->value);
    if (n->op == IR_ZEXT && node_of(r, n->a)->bits > 1)
        return affine_value(r, n->a, true);
    return atom(r, ATOM_VALUE, node, true);
}

/* The polynomial is the node itself, of which parameters alone decide. */
static bool is_value(const reading_t *r, poly_t p, int node)
{
    const atom_t *a = p.count == 1 && p.term[0].factors == 1 && p.term[0].coef == 1
                          ? &r->x->atom[p.term[0].factor[0]]
                          : NULL;
    return a && a->kind == ATOM_VALUE && a->number == node;
}

static void note(reading_t *r, poly_t p, int bits, bool is_unsigned)
{
    fit_t *fit = arena_alloc(sizeof(*fit));
    *fit = (fit_t){r->fits, p, bits, is_unsigned, r->at, r->loop, r->at != FIT_PLACE};
    r->fits = fit;
}

poly_t affine_value(reading_t *r, int node, bool is_unsigned)
{
    const ir_node_t *n = node_of(r, node);
    if (is_unsigned && of_parameters(r, node))
        return unsigned_of_parameters(r, node);
    poly_t p = modulo(r, node, is_unsigned);
    if (p.fails || is_leaf(n) || is_value(r, p, node) || (n->bits >= 64 && !is_unsigned))
        return p.fails ? fail(r, "an index that is too large a polynomial") : p;
    if (is_unsigned && !stays_unsigned(r, p, n->bits))
        return fail(r, "an unsigned index that may be less than 0");
    for (int k = 0; k < p.count && n->bits < 64; k++)
        if (p.term[k].factors &&
            (p.term[k].coef >= LARGE_COEFFICIENT || p.term[k].coef <= -LARGE_COEFFICIENT))
            return fail(r, "an index that wraps around");
    if (n->bits < 64)
        note(r, is_unsigned ? without_minus(r, p) : p, n->bits, is_unsigned);
    return p;
}

/* ---- Guards ---- */

static void add(reading_t *r, poly_t p)
{
    guards_t *g = &r->guards;
    if (p.fails || g->count == MOST_GUARDS) {
        g->incomplete = true;
        return;
    }
    if (affine_never_negative(r->x, p))
        return;
    for (int k = 0; k < g->count; k++)
        if (poly_equal(g->at[k], p))
            return;
    g->at[g->count++] = p;
}

static void differ(reading_t *r, poly_t a, poly_t b)
{
    int64_t zero;
    poly_t d = poly_sub(a, b);
    guards_t *g = &r->guards;
    if (poly_is_constant(b, &zero) && zero == 0 && affine_never_negative(r->x, a))
        add(r, poly_sub(d, poly_constant(1)));
    else if (!d.fails && g->holes < MOST_HOLES)
        g->hole[g->holes++] = d;
    else
        g->incomplete = true;
}

static void compare(reading_t *r, const ir_node_t *n, bool truth)
{
    bool is_unsigned = n->op == IR_ULT || n->op == IR_ULE;
    poly_t a = affine_value(r, n->a, is_unsigned), b = affine_value(r, n->b, is_unsigned),
           one = poly_constant(1);
    if (a.fails || b.fails) {
        r->guards.incomplete = true;
        return;
    }
    bool equal = n->op == IR_EQ || n->op == IR_NE, less = n->op == IR_ULT || n->op == IR_SLT;
    if (equal && (n->op == IR_EQ) == truth) {
        add(r, poly_sub(a, b));
        add(r, poly_sub(b, a));
    } else if (equal) {
        differ(r, a, b);
    } else if (truth) {
        add(r, less ? poly_sub(poly_sub(b, a), one) : poly_sub(b, a));
    } else {
        add(r, less ? poly_sub(a, b) : poly_sub(poly_sub(a, b), one));
    }
}

/* Adds the guards that follow from a disjunction: those that follow from both conditions. */
static void either(reading_t *r, int a, int b, bool truth)
{
    guards_t before = r->guards, first;
    affine_guard(r, a, truth);
    first = r->guards;
    r->guards = before;
    affine_guard(r, b, truth);
    r->guards.holes = before.holes;
    int kept = before.count;
    for (int k = before.count; k < r->guards.count; k++)
        for (int i = before.count; i < first.count; i++)
            if (poly_equal(first.at[i], r->guards.at[k])) {
                r->guards.at[kept++] = r->guards.at[k];
                break;
            }
    r->guards.count = kept;
    r->guards.incomplete = true;
}

static void choose(reading_t *r, const ir_node_t *n, bool truth)
{
    const ir_node_t *b = node_of(r, n->b), *c = node_of(r, n->c);
    bool first = b->op == IR_CONST, second = c->op == IR_CONST;
    if (second && (c->value != 0) != truth) { /* a && b, as if it were false: !a || !b */
        affine_guard(r, n->a, true);
        affine_guard(r, n->b, truth);
    } else if (first && (b->value != 0) != truth) {
        affine_guard(r, n->a, false);
        affine_guard(r, n->c, truth);
    } else {
        r->guards.incomplete = true;
    }
}

/* True if the number is 0 or 1, of conditions: `a < b & c < d`. */
static bool is_flag(const reading_t *r, int node, int depth)
{
    const ir_node_t *n = node_of(r, node);
    if (n->op == IR_ZEXT)
        return node_of(r, n->a)->bits == 1 || (depth < MOST_FLAGS && is_flag(r, n->a, depth + 1));
    if (n->op == IR_TRUNC)
        return depth < MOST_FLAGS && is_flag(r, n->a, depth + 1);
    return depth < MOST_FLAGS && (n->op == IR_AND || n->op == IR_OR) &&
           is_flag(r, n->a, depth + 1) && is_flag(r, n->b, depth + 1);
}

static bool is_zero(const reading_t *r, int node)
{
    return node_of(r, node)->op == IR_CONST && node_of(r, node)->value == 0;
}

/* The node that the comparison compares with 0 and that is a flag; -1: none. */
static int flag_of(const reading_t *r, const ir_node_t *n)
{
    if (is_zero(r, n->b) && is_flag(r, n->a, 0))
        return n->a;
    return is_zero(r, n->a) && is_flag(r, n->b, 0) ? n->b : -1;
}

void affine_guard(reading_t *r, int node, bool truth)
{
    const ir_node_t *n = node_of(r, node);
    const char *reason = r->reason;
    int choice = r->choice;
    if (r->steps++ > MOST_VISITS) {
        r->guards.incomplete = true;
        return;
    }
    switch (n->op) {
    case IR_CONST: break;
    case IR_XOR:
        if (node_of(r, n->b)->op == IR_CONST)
            affine_guard(r, n->a, truth != (node_of(r, n->b)->value != 0));
        else if (node_of(r, n->a)->op == IR_CONST)
            affine_guard(r, n->b, truth != (node_of(r, n->a)->value != 0));
        else
            r->guards.incomplete = true;
        break;
    case IR_AND:
    case IR_OR:
        if ((n->op == IR_AND) != truth) {
            either(r, n->a, n->b, truth);
            break;
        }
        affine_guard(r, n->a, truth);
        affine_guard(r, n->b, truth);
        break;
    case IR_SELECT: choose(r, n, truth); break;
    case IR_ZEXT:
    case IR_TRUNC:
        if (is_flag(r, node, 0))
            affine_guard(r, n->a, truth);
        else
            r->guards.incomplete = true;
        break;
    case IR_EQ:
    case IR_NE:
        if (flag_of(r, n) < 0)
            compare(r, n, truth);
        else
            affine_guard(r, flag_of(r, n), (n->op == IR_NE) == truth);
        break;
    case IR_ULT:
    case IR_ULE:
    case IR_SLT:
    case IR_SLE: compare(r, n, truth); break;
    default: r->guards.incomplete = true; break;
    }
    r->reason = reason;
    r->choice = choice;
}
