/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an access of a kernel's graph reaches in a chunk.
 *
 * Parameters, grid and block are numbers here, so each value is a form in the indices of threads,
 * blocks and iterations, or it is not known. A value of n bits equals its form modulo 2^n. Where
 * the value itself matters, that is where it is widened or compared, the form has to stay within n
 * bits for all indices of the chunk; otherwise the value is not known.
 *
 * A condition that is not known, or that has several variables, does not narrow the ranges of
 * variables. So what is reached is never too little.
 */
#include "execute/reach.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { MOST_DEPTH = 200, MOST_CHECKS = 64 };

static const int64_t endless = INT64_C(1) << 60; /* iterations that no loop runs */

/* ---- Values ---- */

/* A form that has to stay within bits. */
typedef struct check {
    kmm__form_t form;
    int bits;
    bool is_unsigned;
} check_t;

typedef struct reading {
    const kmm__graph_t *g;
    const kmm__graph_chunk_t *chunk;
    kmm__reach_t *out;
    kmm__form_t *form; /* of each node; of those that have been read */
    bool *is_read;
    /* True while a loop's test is read, whose range is not known yet: checks are noted. */
    bool is_noting;
    check_t *noted;
    int noted_count;
    bool is_too_many;
} reading_t;

static const kmm__form_t unknown = {.is_known = false};

static kmm__wide_t least_of(int bits, bool is_unsigned)
{
    return is_unsigned ? 0 : -((kmm__wide_t)1 << (bits - 1));
}

static kmm__wide_t most_of(int bits, bool is_unsigned)
{
    return ((kmm__wide_t)1 << (is_unsigned ? bits : bits - 1)) - 1;
}

/* The number that n bits of `value` are. */
static kmm__wide_t wrapped(kmm__wide_t value, int bits, bool is_unsigned)
{
    kmm__wide_t size = (kmm__wide_t)1 << bits, rest = value % size;
    rest += rest < 0 ? size : 0;
    return rest > most_of(bits, is_unsigned) ? rest - size : rest;
}

static bool stays(const kmm__reach_t *out, const kmm__form_t *f, int bits, bool is_unsigned)
{
    kmm__wide_t least, most;
    kmm__form_t folded = *f;
    kmm__form_fold(&folded, &out->ranges);
    kmm__form_ends(&folded, &out->ranges, &least, &most);
    return least >= least_of(bits, is_unsigned) && most <= most_of(bits, is_unsigned);
}

/* The value itself of what equals the form modulo 2^bits. */
static kmm__form_t itself(reading_t *r, const kmm__form_t *f, int bits, bool is_unsigned)
{
    if (!f->is_known)
        return unknown;
    if (kmm__form_is_number(f))
        return kmm__form_number(wrapped(f->constant, bits, is_unsigned));
    if (!r->is_noting)
        return stays(r->out, f, bits, is_unsigned) ? *f : unknown;
    r->is_too_many |= r->noted_count == MOST_CHECKS;
    if (!r->is_too_many)
        r->noted[r->noted_count++] = (check_t){*f, bits, is_unsigned};
    return r->is_too_many ? unknown : *f;
}

static kmm__form_t value(reading_t *r, int node, int depth);

static kmm__form_t of_grid(const reading_t *r, int64_t what)
{
    int d = (int)(what % 3);
    switch (what / 3) {
    case 0: return kmm__form_variable(KMM__THREAD + d);
    case 1: return kmm__form_variable(KMM__BLOCK + d);
    case 2: return kmm__form_number(r->chunk->block[d]);
    default: return kmm__form_number(r->chunk->grid[d]);
    }
}

static kmm__form_t of_parameter(const reading_t *r, const kmm__graph_node_t *n)
{
    int64_t number;
    if (!r->chunk->parameter(r->chunk->context, (int)n->value, n->a < 0 ? 0 : n->a, n->bits,
                             &number))
        return unknown;
    return kmm__form_number(number);
}

static kmm__form_t product(const kmm__form_t *a, const kmm__form_t *b)
{
    const kmm__form_t zero = {.is_known = true};
    if (!a->is_known || !b->is_known)
        return unknown;
    if (!kmm__form_is_number(b))
        return kmm__form_is_number(a) ? product(b, a) : unknown;
    if (b->constant < INT64_MIN || b->constant > INT64_MAX)
        return unknown;
    return kmm__form_add(&zero, a, (int64_t)b->constant);
}

static bool compares(char op, kmm__wide_t a, kmm__wide_t b)
{
    switch (op) {
    case '=': return a == b;
    case '!': return a != b;
    case '<':
    case 'L': return a < b;
    default: return a <= b;
    }
}

/* Operations of which nothing is known unless both operands are numbers. */
static kmm__form_t of_numbers(const kmm__graph_node_t *n, int bits, kmm__wide_t first,
                              kmm__wide_t second)
{
    bool is_unsigned = strchr("u%h&|^<(", n->op) != NULL;
    kmm__wide_t a = wrapped(first, bits, is_unsigned), b = wrapped(second, bits, is_unsigned);
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (n->op) {
    case 'u':
    case 'q': return b ? kmm__form_number(a / b) : unknown;
    case '%':
    case 'r': return b ? kmm__form_number(a % b) : unknown;
    case 'h':
    case 'a': return b >= 0 && b < bits ? kmm__form_number(a >> (int)b) : unknown;
    case '&': return kmm__form_number(x & y);
    case '|': return kmm__form_number(x | y);
    case '^': return kmm__form_number(x ^ y);
    default: return kmm__form_number(compares(n->op, a, b));
    }
}

static kmm__form_t of_widening(reading_t *r, const kmm__graph_node_t *n, int depth)
{
    kmm__form_t a = value(r, n->a, depth);
    return itself(r, &a, r->g->node[n->a].bits, n->op == 'z');
}

static kmm__form_t of_choice(reading_t *r, const kmm__graph_node_t *n, int depth)
{
    kmm__form_t a = value(r, n->a, depth);
    if (!kmm__form_is_number(&a))
        return unknown;
    return value(r, wrapped(a.constant, 1, true) ? n->b : n->c, depth);
}

static kmm__form_t of_pair(reading_t *r, const kmm__graph_node_t *n, int depth)
{
    int bits = r->g->node[n->a].bits;
    kmm__form_t a = value(r, n->a, depth), b = value(r, n->b, depth);
    if (!a.is_known || !b.is_known)
        return unknown;
    switch (n->op) {
    case '+': return kmm__form_add(&a, &b, 1);
    case '-': return kmm__form_add(&a, &b, -1);
    case 'm': return product(&a, &b);
    case 'l':
        if (!kmm__form_is_number(&b) || b.constant < 0 || b.constant >= bits || b.constant > 47)
            return unknown;
        b = kmm__form_number((kmm__wide_t)1 << (int)b.constant);
        return product(&a, &b);
    default: break;
    }
    return kmm__form_is_number(&a) && kmm__form_is_number(&b)
               ? of_numbers(n, bits, a.constant, b.constant)
               : unknown;
}

static kmm__form_t of_node(reading_t *r, const kmm__graph_node_t *n, int depth)
{
    switch (n->op) {
    case 'n': return kmm__form_number(n->value);
    case 'p': return of_parameter(r, n);
    case 'g': return of_grid(r, n->value);
    case 'k': return kmm__form_variable(KMM__LOOP + (int)n->value);
    case 's':
    case 'd': return unknown;
    case '?': return of_choice(r, n, depth);
    case 'z':
    case 'x': return of_widening(r, n, depth);
    case 't': return value(r, n->a, depth);
    default: return of_pair(r, n, depth);
    }
}

/* Returns a form that equals the node modulo 2 to the number of its bits. */
static kmm__form_t value(reading_t *r, int node, int depth)
{
    const kmm__graph_node_t *n = &r->g->node[node];
    if (r->is_read[node])
        return r->form[node];
    kmm__form_t f = depth > MOST_DEPTH ? unknown : of_node(r, n, depth + 1);
    if (kmm__form_is_number(&f))
        f = kmm__form_number(wrapped(f.constant, n->bits, false));
    r->is_read[node] = true;
    return r->form[node] = f;
}

/* What was read depends on the ranges. */
static void forget(reading_t *r)
{
    memset(r->is_read, 0, (size_t)r->g->node_count * sizeof(*r->is_read));
}

/* ---- Conditions ---- */

static int64_t floor_of(kmm__wide_t a, kmm__wide_t b)
{
    kmm__wide_t whole = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return whole > endless ? endless : whole < -endless ? -endless : (int64_t)whole;
}

/* f >= 0 where the access happens. */
static void add_condition(reading_t *r, kmm__form_t f)
{
    kmm__reach_t *out = r->out;
    int v = 0;
    kmm__form_fold(&f, &out->ranges);
    int variables = kmm__form_variables(&f, &v);
    if (variables == 0) {
        out->is_never |= f.constant < 0;
        return;
    }
    if (out->condition_count < KMM__MOST_CONDITIONS)
        out->condition[out->condition_count++] = f;
    else
        out->is_exact = false;
    if (variables > 1) {
        out->is_exact = false;
    } else if (f.by[v] > 0) {
        int64_t least = -floor_of(f.constant, f.by[v]);
        out->ranges.least[v] = least > out->ranges.least[v] ? least : out->ranges.least[v];
    } else {
        int64_t most = floor_of(f.constant, -(kmm__wide_t)f.by[v]);
        out->ranges.most[v] = most < out->ranges.most[v] ? most : out->ranges.most[v];
    }
    out->is_never |= variables == 1 && out->ranges.most[v] < out->ranges.least[v];
}

static void add_comparison(reading_t *r, const kmm__graph_node_t *n, bool truth)
{
    const kmm__form_t one = kmm__form_number(1);
    int bits = r->g->node[n->a].bits;
    bool is_unsigned = n->op == '<' || n->op == '(', is_less = n->op == '<' || n->op == 'L';
    kmm__form_t a = value(r, n->a, 0), b = value(r, n->b, 0);
    a = itself(r, &a, bits, is_unsigned);
    b = itself(r, &b, bits, is_unsigned);
    if (!a.is_known || !b.is_known) {
        r->out->is_exact = false;
        return;
    }
    kmm__form_t up = kmm__form_add(&b, &a, -1), down = kmm__form_add(&a, &b, -1);
    bool is_equality = n->op == '=' || n->op == '!';
    if (kmm__form_is_number(&up)) {
        r->out->is_never |= compares(n->op, 0, up.constant) != truth;
    } else if (is_equality && (n->op == '=') != truth) {
        r->out->is_exact = false;
    } else if (is_equality) {
        add_condition(r, up);
        add_condition(r, down);
    } else if (truth) {
        add_condition(r, is_less ? kmm__form_add(&up, &one, -1) : up);
    } else {
        add_condition(r, is_less ? down : kmm__form_add(&down, &one, -1));
    }
}

static void add_guard(reading_t *r, int node, bool truth, int depth);

/* Two conditions of which one is a number, or both have to hold; otherwise nothing follows. */
static void add_both(reading_t *r, const kmm__graph_node_t *n, bool truth, int depth)
{
    if ((n->op == '&') == truth) {
        add_guard(r, n->a, truth, depth);
        add_guard(r, n->b, truth, depth);
        return;
    }
    kmm__form_t a = value(r, n->a, 0), b = value(r, n->b, 0);
    if (kmm__form_is_number(&a) && (wrapped(a.constant, 1, true) != 0) != truth)
        add_guard(r, n->b, truth, depth);
    else if (kmm__form_is_number(&b) && (wrapped(b.constant, 1, true) != 0) != truth)
        add_guard(r, n->a, truth, depth);
    else
        r->out->is_exact &= (kmm__form_is_number(&a) || kmm__form_is_number(&b));
}

/* a ? b : c, where b or c is a number that is not `truth`: then the other one counts. */
static void add_choice(reading_t *r, const kmm__graph_node_t *n, bool truth, int depth)
{
    kmm__form_t a = value(r, n->a, 0), b = value(r, n->b, 0), c = value(r, n->c, 0);
    if (kmm__form_is_number(&a)) {
        add_guard(r, wrapped(a.constant, 1, true) ? n->b : n->c, truth, depth);
    } else if (kmm__form_is_number(&c) && (wrapped(c.constant, 1, true) != 0) != truth) {
        add_guard(r, n->a, true, depth);
        add_guard(r, n->b, truth, depth);
    } else if (kmm__form_is_number(&b) && (wrapped(b.constant, 1, true) != 0) != truth) {
        add_guard(r, n->a, false, depth);
        add_guard(r, n->c, truth, depth);
    } else {
        r->out->is_exact = false;
    }
}

static void add_opposite(reading_t *r, const kmm__graph_node_t *n, bool truth, int depth)
{
    kmm__form_t a = value(r, n->a, 0), b = value(r, n->b, 0);
    if (kmm__form_is_number(&b))
        add_guard(r, n->a, truth != (wrapped(b.constant, 1, true) != 0), depth);
    else if (kmm__form_is_number(&a))
        add_guard(r, n->b, truth != (wrapped(a.constant, 1, true) != 0), depth);
    else
        r->out->is_exact = false;
}

/* The access happens only where the node, of one bit, is `truth`. */
static void add_guard(reading_t *r, int node, bool truth, int depth)
{
    const kmm__graph_node_t *n = &r->g->node[node];
    if (n->bits != 1 || depth > MOST_DEPTH) {
        r->out->is_exact = false;
        return;
    }
    switch (n->op) {
    case '=':
    case '!':
    case '<':
    case '(':
    case 'L':
    case ')': add_comparison(r, n, truth); return;
    case '&':
    case '|': add_both(r, n, truth, depth + 1); return;
    case '?': add_choice(r, n, truth, depth + 1); return;
    case '^': add_opposite(r, n, truth, depth + 1); return;
    default: break;
    }
    kmm__form_t f = value(r, node, 0);
    if (kmm__form_is_number(&f))
        r->out->is_never |= (wrapped(f.constant, 1, true) != 0) != truth;
    else
        r->out->is_exact = false;
}

/* ---- Loops ---- */

/* The greatest iteration for which the form, the loop's test, is not negative; `endless`: the form
 * does not end the loop. Of a loop that tests at its end, the test of the iteration before
 * counts. */
static int64_t last_iteration(const kmm__reach_t *out, const kmm__form_t *test, int variable,
                              bool at_end)
{
    kmm__form_t rest = *test;
    kmm__wide_t least, most;
    int64_t by = test->by[variable];
    if (by >= 0)
        return endless;
    rest.by[variable] = 0;
    kmm__form_ends(&rest, &out->ranges, &least, &most);
    int64_t last = floor_of(most, -(kmm__wide_t)by);
    return !at_end ? last : last < 0 ? 0 : last + 1;
}

static bool checks_hold(const reading_t *r)
{
    for (int k = 0; k < r->noted_count; k++)
        if (!stays(r->out, &r->noted[k].form, r->noted[k].bits, r->noted[k].is_unsigned))
            return false;
    return !r->is_too_many;
}

/*
 * Finds the range of a loop's iterations. The test is read as if its values did not leave their
 * bits. If that is so up to the iteration behind the last one, that iteration does not run.
 */
static bool read_loop(reading_t *r, int loop)
{
    const kmm__graph_loop_t *l = &r->g->loop[loop];
    kmm__reach_t *out = r->out, tested = *out;
    int variable = KMM__LOOP + loop;
    int64_t last = endless;
    tested.condition_count = 0;
    r->noted_count = 0;
    r->is_noting = true;
    r->out = &tested;
    forget(r);
    tested.ranges.least[variable] = 0;
    tested.ranges.most[variable] = endless;
    tested.is_never = false;
    add_guard(r, l->test, true, 0);
    r->out = out;
    r->is_noting = false;
    forget(r);
    for (int k = 0; k < tested.condition_count; k++) {
        int64_t one = last_iteration(out, &tested.condition[k], variable, l->tests_at_end);
        last = one < last ? one : last;
        if (tested.condition[k].by[variable] > 0)
            out->is_exact = false; /* an iteration before may have ended the loop */
    }
    if (tested.is_never) /* the test never holds */
        last = l->tests_at_end ? 0 : -1;
    if (last >= endless)
        return false;
    out->ranges.least[variable] = 0;
    out->ranges.most[variable] = last < 0 ? 1 : last + 1;
    if (!checks_hold(r))
        return false;
    out->ranges.most[variable] = last;
    out->is_never |= last < 0;
    out->is_exact &= tested.is_exact && !l->has_breaks;
    for (int k = 0; k < tested.condition_count && !l->tests_at_end; k++)
        add_condition(r, tested.condition[k]);
    return true;
}

static bool read_loops(reading_t *r, int innermost)
{
    int chain[KMM__FORM_LOOPS], count = 0;
    for (int l = innermost; l >= 0; l = r->g->loop[l].parent)
        chain[count++] = l;
    while (count > 0 && !r->out->is_never)
        if (!read_loop(r, chain[--count]))
            return false;
    return true;
}

/* ---- Accesses ---- */

static void set_ranges(const kmm__graph_chunk_t *c, kmm__ranges_t *r)
{
    for (int d = 0; d < 3; d++) {
        r->block[d] = c->block[d];
        r->least[KMM__BLOCK + d] = c->first[d];
        r->most[KMM__BLOCK + d] = c->first[d] + c->count[d] - 1;
        r->least[KMM__THREAD + d] = 0;
        r->most[KMM__THREAD + d] = c->block[d] - 1;
        r->least[KMM__GLOBAL + d] = c->first[d] * c->block[d];
        r->most[KMM__GLOBAL + d] = (c->first[d] + c->count[d]) * c->block[d] - 1;
    }
    for (int l = 0; l < KMM__FORM_LOOPS; l++)
        r->most[KMM__LOOP + l] = endless;
}

/* A global index says less about the indices of block and thread than their own ranges do, and the
 * other way round. So an access whose forms have both does not reach all that the ranges say. */
static bool mixes_indices(const kmm__reach_t *out)
{
    for (int d = 0; d < 3; d++) {
        bool global = out->offset.by[KMM__GLOBAL + d] != 0,
             parts = out->offset.by[KMM__BLOCK + d] || out->offset.by[KMM__THREAD + d];
        for (int k = 0; k < out->condition_count; k++) {
            global |= out->condition[k].by[KMM__GLOBAL + d] != 0;
            parts |= out->condition[k].by[KMM__BLOCK + d] || out->condition[k].by[KMM__THREAD + d];
        }
        if (global && parts)
            return true;
    }
    return false;
}

static void read_place(reading_t *r, const kmm__graph_access_t *a)
{
    kmm__reach_t *out = r->out;
    forget(r);
    kmm__form_t offset = value(r, a->offset, 0), bytes = value(r, a->bytes, 0);
    offset = itself(r, &offset, 64, false);
    kmm__form_fold(&offset, &out->ranges);
    out->offset = offset;
    out->bytes = (int64_t)bytes.constant;
    out->is_known = offset.is_known && kmm__form_is_number(&bytes) && bytes.constant > 0 &&
                    out->bytes < endless;
    out->is_exact &= !mixes_indices(out);
}

/* Conditions without iterations come first: they narrow the ranges that loops are read with. */
void kmm__reach_find(const kmm__graph_t *g, const kmm__graph_access_t *a,
                     const kmm__graph_chunk_t *chunk, kmm__reach_t *out)
{
    size_t nodes = (size_t)g->node_count + 1;
    reading_t r = {.g = g, .chunk = chunk, .out = out};
    r.form = kmm__alloc(nodes * sizeof(*r.form));
    r.is_read = kmm__alloc(nodes * sizeof(*r.is_read));
    r.noted = kmm__alloc(MOST_CHECKS * sizeof(*r.noted));
    *out = (kmm__reach_t){.is_exact = true};
    set_ranges(chunk, &out->ranges);
    forget(&r);
    add_guard(&r, a->guard, true, 0);
    out->is_exact = true;
    out->condition_count = 0;
    if (read_loops(&r, a->loop)) {
        forget(&r);
        add_guard(&r, a->guard, true, 0);
        if (!out->is_never)
            read_place(&r, a);
        out->is_known |= out->is_never;
    }
    free(r.form);
    free(r.is_read);
    free(r.noted);
}
