/* SPDX-License-Identifier: Apache-2.0 */
#include "claims.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ir/replay.h"

enum { MOST_STRIDES = 3, MOST_ROUNDS = 1024, MOST_SPAN = 1 << 14, MOST_PLACES = 200 };

struct claims {
    const ir_function_t *f;
    const launch_t *launch;
    footprint_t *x;
    replay_t *replay;
    pointer_t pointer[MOST_POINTERS];
    int pointer_count;
    int64_t rounds[MOST_STRIDES]; /* of the loops with atoms `stride` */
    int stride[MOST_STRIDES], strides;
    int64_t grid[12];
    bool negative; /* as has_negative says */
};

static bool parameter(void *context, int param, int member, int bits, int64_t *value)
{
    const claims_t *c = context;
    int64_t v = 0;
    memcpy(&v, c->launch->argument[param] + (member < 0 ? 0 : member), (size_t)(bits + 7) / 8);
    *value = v;
    return true;
}

static void add_pointer(claims_t *c, int param, int member)
{
    for (int k = 0; k < c->pointer_count; k++)
        if (c->pointer[k].param == param && c->pointer[k].member == member)
            return;
    if (c->pointer_count < MOST_POINTERS)
        c->pointer[c->pointer_count++] = (pointer_t){param, member, true};
}

claims_t *claims_new(const ir_function_t *f, const int64_t block[3], const launch_t *l)
{
    claims_t *c = arena_alloc(sizeof(*c));
    bool unknown = false;
    *c = (claims_t){.f = f, .launch = l, .x = affine_of(f, block)};
    c->replay = replay_new(f, parameter, c);
    for (int k = 0; k < f->param_count; k++)
        if (f->is_pointer[k])
            add_pointer(c, k, -1);
    for (int k = 0; k < f->access_count; k++)
        add_pointer(c, f->access[k].param, f->access[k].member);
    for (int k = 0; k < f->unknown_count; k++)
        if (f->unknown[k].param < 0)
            unknown = true;
        else
            add_pointer(c, f->unknown[k].param, f->unknown[k].member);
    for (known_t *k = known_of(f, c->x); k; k = k->next)
        for (int i = 0; i < c->pointer_count; i++)
            if (c->pointer[i].param == k->param && c->pointer[i].member == k->member)
                c->pointer[i].known = k->knowledge != KNOWN_NOT;
    for (int i = 0; i < c->pointer_count; i++)
        c->pointer[i].known &= !unknown;
    return c;
}

int claims_pointers(claims_t *c, const pointer_t **list)
{
    *list = c->pointer;
    return c->pointer_count;
}

static bool has_negative(claims_t *c);

void claims_thread(claims_t *c, const int64_t thread[3], const int64_t block[3])
{
    memcpy(c->grid, c->launch->grid, sizeof(c->grid));
    for (int d = 0; d < 3; d++) {
        c->grid[IR_THREAD_INDEX * 3 + d] = thread[d];
        c->grid[IR_BLOCK_INDEX * 3 + d] = block[d];
    }
    for (int k = 6; k < 18; k++)
        replay_set(c->replay, k % 12, c->grid[k % 12]);
    c->negative = has_negative(c);
}

/* ---- Polynomials ---- */

static bool poly_value(claims_t *c, poly_t p, int64_t *out);

static bool division_value(claims_t *c, const atom_t *a, int64_t *out)
{
    const quotient_t *q = &c->x->quotient[a->number];
    int64_t of, by;
    if (!poly_value(c, q->of, &of) || !poly_value(c, q->by, &by) || by == 0)
        return false;
    *out = a->kind == ATOM_QUOTIENT ? of / by : of % by;
    return true;
}

static bool atom_value(claims_t *c, int number, int64_t *out)
{
    const atom_t *a = &c->x->atom[number];
    const ir_node_t *n = &c->f->node[a->number];
    int d = a->number % 3;
    int64_t of_block = c->grid[IR_BLOCK_DIM * 3 + d],
            global = c->grid[IR_BLOCK_INDEX * 3 + d] * of_block + c->grid[d];
    switch (a->kind) {
    case ATOM_GLOBAL: *out = global; return true;
    case ATOM_PACE:
    case ATOM_STRIDE:
        for (int k = 0; k < c->strides; k++)
            if (c->stride[k] == number) {
                *out = a->kind == ATOM_PACE ? c->grid[IR_BLOCK_INDEX * 3 + d] : global;
                *out += c->rounds[k] * (a->kind == ATOM_PACE ? 1 : of_block) *
                        c->grid[IR_GRID_DIM * 3 + d];
                return true;
            }
        return false;
    case ATOM_BLOCK: *out = c->grid[IR_BLOCK_INDEX * 3 + d]; return true;
    case ATOM_THREAD: *out = c->grid[d]; return true;
    case ATOM_BLOCK_DIM: *out = of_block; return true;
    case ATOM_QUOTIENT:
    case ATOM_REST: return division_value(c, a, out);
    case ATOM_GRID_DIM: *out = c->grid[IR_GRID_DIM * 3 + d]; return true;
    case ATOM_VALUE:
        if (!replay_value(c->replay, a->number, out))
            return false;
        if (a->is_unsigned && n->bits < 64)
            *out &= (int64_t)((1ULL << n->bits) - 1);
        return true;
    default: return false;
    }
}

/* False: it depends on an index that has many values for one thread. */
static bool poly_value(claims_t *c, poly_t p, int64_t *out)
{
    *out = 0;
    for (int k = 0; k < p.count; k++) {
        int64_t product = p.term[k].coef, factor;
        for (int i = 0; i < p.term[k].factors; i++) {
            if (!atom_value(c, p.term[k].factor[i], &factor))
                return false;
            product *= factor;
        }
        *out += product;
    }
    return !p.fails;
}

/* ---- Boxes ---- */

static void find_strides(claims_t *c, const box_t *b)
{
    c->strides = 0;
    for (int k = 0; k < c->x->atom_count && c->strides < MOST_STRIDES; k++)
        if ((c->x->atom[k].kind == ATOM_STRIDE || c->x->atom[k].kind == ATOM_PACE) &&
            (poly_has(b->lower, k) || poly_has(b->span, k))) {
            c->rounds[c->strides] = 0;
            c->stride[c->strides++] = k;
        }
}

/* The next iterations of the loops with the grid's stride. */
static bool next_round(claims_t *c)
{
    for (int k = 0; k < c->strides; k++) {
        if (++c->rounds[k] < (c->strides == 1 ? MOST_ROUNDS : 40))
            return true;
        c->rounds[k] = 0;
    }
    return false;
}

/* True if no guard says otherwise. *all: each has a value. */
static bool guards_hold(claims_t *c, const box_t *b, bool *all)
{
    int64_t value;
    *all = true;
    for (int k = 0; k < b->rest.count; k++)
        if (!poly_value(c, b->rest.at[k], &value))
            *all = false;
        else if (value < 0)
            return false;
    for (int k = 0; k < b->rest.holes; k++)
        if (!poly_value(c, b->rest.hole[k], &value))
            *all = false;
        else if (value == 0)
            return false;
    return true;
}

static bool is_of(const claims_t *c, const box_t *b, const seen_t *s)
{
    const pointer_t *p = &c->pointer[s->pointer];
    return b->access->param == p->param && b->access->member == p->member &&
           (int)b->access->kind == s->kind;
}

static bool was_written(const seen_t *s, const seen_t *before, int count)
{
    for (int64_t at = s->begin; at < s->end;) {
        int64_t from = at;
        for (int k = count - 1; k >= 0 && at == from; k--)
            if (before[k].pointer == s->pointer && before[k].kind == IR_WRITE &&
                before[k].begin <= at && before[k].end > at)
                at = before[k].end;
        if (at == from)
            return false;
    }
    return true;
}

/* A number of 32 bits that the kernel may take for a large one. */
static bool has_negative(claims_t *c)
{
    int64_t value;
    for (int k = 0; k < c->f->node_count; k++)
        if (c->f->node[k].op == IR_PARAM && c->f->node[k].bits > 1 &&
            replay_value(c->replay, k, &value) && value < 0)
            return true;
    return false;
}

/* What is assumed of the parameters holds. */
static bool assumptions_hold(claims_t *c, const box_t *b)
{
    int64_t value;
    if (b->fits && c->negative)
        return false;
    for (int k = 0; k < b->assumed_count; k++)
        if (poly_value(c, b->assumed[k], &value) && value < 0)
            return false;
    return true;
}

/* The end of what some box names from the byte `at` on; `at`: none names that. */
static int64_t covered_from(claims_t *c, const seen_t *s, int64_t at, const seen_t *before,
                            int count)
{
    for (const box_t *b = c->x->box; b; b = b->next) {
        if (is_of(c, b, s) && !assumptions_hold(c, b))
            return s->end;
        if (!is_of(c, b, s) || b->reason ||
            (b->access->line && s->line && b->access->line != s->line))
            continue;
        find_strides(c, b);
        do {
            int64_t lower, span;
            bool all;
            if (poly_value(c, b->lower, &lower) && poly_value(c, b->span, &span) && lower <= at &&
                lower + span > at && guards_hold(c, b, &all) &&
                (!b->access->after_write || was_written(s, before, count)))
                return lower + span;
        } while (next_round(c));
    }
    return at;
}

/* A copy of a struct may be several accesses of its members for the analysis. */
bool claims_cover(claims_t *c, const seen_t *s, const seen_t *before, int count)
{
    for (int64_t at = s->begin, to; at < s->end; at = to)
        if ((to = covered_from(c, s, at, before, count)) == at)
            return false;
    return true;
}

/* The accesses are at all multiples of the steps. */
static bool steps_through(claims_t *c, const box_t *b, const seen_t *list, int count)
{
    int64_t base, by[MOST_STEPS], last[MOST_STEPS], at[MOST_STEPS] = {0}, total = 1;
    if (!poly_value(c, b->base, &base))
        return true;
    for (int k = 0; k < b->steps; k++) {
        if (!poly_value(c, b->step[k].by, &by[k]) || !poly_value(c, b->step[k].last, &last[k]) ||
            last[k] < 0)
            return true;
        total *= last[k] + 1;
    }
    for (int64_t n = 0; n < total && n < MOST_PLACES; n++) {
        int64_t place = base;
        bool found = false;
        for (int k = 0; k < b->steps; k++)
            place += at[k] * by[k];
        for (int k = 0; k < count && !found; k++)
            found =
                is_of(c, b, &list[k]) && list[k].begin == place && list[k].end == place + b->bytes;
        if (!found)
            return false;
        for (int k = 0; k < b->steps && ++at[k] > last[k]; k++)
            at[k] = 0;
    }
    return true;
}

static bool fills(const claims_t *c, const box_t *b, int64_t lower, int64_t span,
                  const seen_t *list, int count)
{
    unsigned char *byte = calloc((size_t)span, 1);
    int64_t missing = span;
    for (int k = 0; k < count; k++)
        for (int64_t at = list[k].begin; is_of(c, b, &list[k]) && at < list[k].end; at++)
            if (at >= lower && at < lower + span && !byte[at - lower]) {
                byte[at - lower] = 1;
                missing--;
            }
    free(byte);
    return missing == 0;
}

const box_t *claims_left_out(claims_t *c, const seen_t *list, int count, bool of_block,
                             int64_t *checked)
{
    for (const box_t *b = c->x->box; b; b = b->next) {
        int64_t lower, span;
        bool all;
        int k = 0;
        while (k < c->pointer_count && (c->pointer[k].param != b->access->param ||
                                        c->pointer[k].member != b->access->member))
            k++;
        if (b->reason || !b->exact || (b->uses_block || !b->in_threads) != of_block ||
            !c->pointer[k].known || !assumptions_hold(c, b))
            continue;
        find_strides(c, b);
        do
            if (guards_hold(c, b, &all) && all && (!c->strides || b->rest.count) &&
                poly_value(c, b->lower, &lower) && poly_value(c, b->span, &span) && span > 0 &&
                span <= MOST_SPAN) {
                ++*checked;
                if (!(b->dense ? fills(c, b, lower, span, list, count)
                               : steps_through(c, b, list, count)))
                    return b;
            }
        while (next_round(c));
    }
    return NULL;
}
