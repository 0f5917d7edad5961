/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a graph for single threads. A value is kept as long as all that it depends on stays the
 * same: for the launch, the block, the thread, or one iteration of a loop. Which iterations a loop
 * runs is kept alike, as long as what its test depends on stays the same.
 */
#include "ir/replay.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"

enum {
    MAX_LOOPS = 16,
    FIRST_ITERATIONS = 4,
    CONSTANT_ITERATIONS = 16, /* of stores in loops whose number of iterations is a constant */
    SHORT_ITERATIONS = 64,    /* of stores in loops that have no more, while MOST_EXTRA last */
    MOST_EXTRA = 1 << 20,     /* iterations of such loops, of all threads */
    MOST_ITERATIONS = 1 << 18,
    UNKNOWN_ITERATIONS = 3,
    TESTED_ITERATIONS = 64
};
/* OF_ITERATION: of the outermost loop; the next number: of a loop within one, and so on */
enum { OF_LAUNCH, OF_BLOCK, OF_THREAD, OF_ITERATION, LIFETIMES = OF_ITERATION + MAX_LOOPS };
/* Bits of a test's answer. */
enum { IS_TESTED = 1, IS_KNOWN = 2, HOLDS = 4 };

struct cell {
    int64_t value;
    unsigned stamp; /* the value is of this time; 0: there is none */
    unsigned char lifetime;
    bool known;
};

/* What is known of a loop's iterations. */
struct course {
    unsigned stamp;
    unsigned char lifetime, own; /* of its test, but for its own counter; of that counter */
    unsigned char answer[TESTED_ITERATIONS];
    bool is_constant;   /* its test depends on its own counter alone */
    int64_t from, last; /* what last_iteration returned; from -1: nothing yet */
};

struct replay {
    const ir_function_t *f;
    replay_param_fn *param;
    void *context;
    int64_t grid[12], *counter;
    struct cell *cell;
    struct course *course;
    unsigned now[LIFETIMES];
    int64_t extra; /* what is left of MOST_EXTRA */
    bool complete; /* no iteration was left out */
    replay_visit_fn *visit;
    void *visit_context;
    bool all;
};

static unsigned char lifetime_of_counter(const replay_t *r, int loop)
{
    int depth = 0;
    for (int l = r->f->loop[loop].parent; l >= 0 && depth < MAX_LOOPS - 1; l = r->f->loop[l].parent)
        depth++;
    return (unsigned char)(OF_ITERATION + depth);
}

/* `constant`: a loop whose counter counts as a constant; -1: none. */
static unsigned char lifetime_of(const replay_t *r, const ir_node_t *n, int constant)
{
    unsigned char shortest = OF_LAUNCH;
    switch (n->op) {
    case IR_GRID:
        return n->value / 3 == IR_THREAD_INDEX  ? OF_THREAD
               : n->value / 3 == IR_BLOCK_INDEX ? OF_BLOCK
                                                : OF_LAUNCH;
    case IR_COUNTER: return n->value == constant ? OF_LAUNCH : r->course[n->value].own;
    case IR_CONST:
    case IR_PARAM:
    case IR_SYMBOL:
    case IR_DATA: return OF_LAUNCH;
    default: break;
    }
    const int operand[] = {n->a, n->b, n->c};
    for (int k = 0; k < 3; k++)
        if (operand[k] >= 0 && r->cell[operand[k]].lifetime > shortest)
            shortest = r->cell[operand[k]].lifetime;
    return shortest;
}

static void set_lifetimes(replay_t *r, int constant)
{
    for (int k = 0; k < r->f->node_count; k++)
        r->cell[k].lifetime = lifetime_of(r, &r->f->node[k], constant);
}

static bool is_of_counter(const ir_function_t *f, int node, int loop)
{
    const ir_node_t *n = &f->node[node];
    if (n->op == IR_COUNTER)
        return n->value == loop;
    if (n->op <= IR_DATA)
        return n->op == IR_CONST;
    return (n->a < 0 || is_of_counter(f, n->a, loop)) &&
           (n->b < 0 || is_of_counter(f, n->b, loop)) && (n->c < 0 || is_of_counter(f, n->c, loop));
}

replay_t *replay_new(const ir_function_t *f, replay_param_fn *param, void *context)
{
    size_t count = (size_t)f->node_count;
    replay_t *r = arena_alloc(sizeof(*r));
    *r = (replay_t){.f = f, .param = param, .context = context, .extra = MOST_EXTRA};
    r->counter = arena_alloc(((size_t)f->loop_count + 1) * sizeof(*r->counter));
    r->course = arena_alloc(((size_t)f->loop_count + 1) * sizeof(*r->course));
    r->cell = arena_alloc(count * sizeof(*r->cell));
    for (size_t k = 0; k < count; k++)
        r->cell[k] = (struct cell){0};
    for (int l = 0; l < f->loop_count; l++) {
        r->counter[l] = 0;
        r->course[l] = (struct course){.own = lifetime_of_counter(r, l),
                                       .is_constant = is_of_counter(f, f->loop[l].test, l)};
    }
    for (int l = 0; l < f->loop_count; l++) {
        set_lifetimes(r, l);
        r->course[l].lifetime = r->cell[f->loop[l].test].lifetime;
    }
    set_lifetimes(r, -1);
    for (int k = 0; k < LIFETIMES; k++)
        r->now[k] = 1;
    return r;
}

static void forget(replay_t *r, int lifetime)
{
    for (int k = lifetime; k < LIFETIMES; k++)
        r->now[k]++;
}

void replay_restart(replay_t *r)
{
    forget(r, OF_LAUNCH);
}

void replay_set(replay_t *r, int what, int64_t value)
{
    if (r->grid[what] == value)
        return;
    r->grid[what] = value;
    forget(r, what / 3 == IR_THREAD_INDEX  ? OF_THREAD
              : what / 3 == IR_BLOCK_INDEX ? OF_BLOCK
                                           : OF_LAUNCH);
}

bool replay_uses(const replay_t *r, int what)
{
    for (int k = 0; k < r->f->node_count; k++)
        if (r->f->node[k].op == IR_GRID && r->f->node[k].value == what)
            return true;
    return false;
}

/* ---- Values ---- */

static uint64_t masked(int64_t value, int bits)
{
    return bits >= 64 ? (uint64_t)value : (uint64_t)value & ((1ULL << bits) - 1);
}

static int64_t extended(uint64_t value, int bits)
{
    if (bits >= 64)
        return (int64_t)value;
    if (bits == 1)
        return value & 1;
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static bool divide(ir_op_t op, int64_t a, int64_t b, int bits, int64_t *out)
{
    uint64_t x = masked(a, bits), y = masked(b, bits);
    if (b == 0 || (b == -1 && (op == IR_SDIV || op == IR_SREM)))
        return false;
    *out = op == IR_UDIV   ? (int64_t)(x / y)
           : op == IR_UREM ? (int64_t)(x % y)
           : op == IR_SDIV ? a / b
                           : a % b;
    return true;
}

static bool shift(ir_op_t op, int64_t a, int64_t b, int bits, int64_t *out)
{
    if (b < 0 || b >= bits)
        return false;
    *out = op == IR_SHL    ? (int64_t)((uint64_t)a << b)
           : op == IR_LSHR ? (int64_t)(masked(a, bits) >> b)
                           : a >> b;
    return true;
}

/* Of two operands of `bits` bits. */
static bool binary(ir_op_t op, int64_t a, int64_t b, int bits, int64_t *out)
{
    switch (op) {
    case IR_ADD: *out = (int64_t)((uint64_t)a + (uint64_t)b); return true;
    case IR_SUB: *out = (int64_t)((uint64_t)a - (uint64_t)b); return true;
    case IR_MUL: *out = (int64_t)((uint64_t)a * (uint64_t)b); return true;
    case IR_UDIV:
    case IR_SDIV:
    case IR_UREM:
    case IR_SREM: return divide(op, a, b, bits, out);
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR: return shift(op, a, b, bits, out);
    case IR_AND: *out = a & b; return true;
    case IR_OR: *out = a | b; return true;
    case IR_XOR: *out = a ^ b; return true;
    case IR_EQ: *out = a == b; return true;
    case IR_NE: *out = a != b; return true;
    case IR_ULT: *out = masked(a, bits) < masked(b, bits); return true;
    case IR_ULE: *out = masked(a, bits) <= masked(b, bits); return true;
    case IR_SLT: *out = a < b; return true;
    case IR_SLE: *out = a <= b; return true;
    default: return false;
    }
}

static void renew(replay_t *r, int node);

static inline bool value_of(replay_t *r, int node, int64_t *out)
{
    const struct cell *cell = &r->cell[node];
    if (cell->stamp != r->now[cell->lifetime])
        renew(r, node);
    *out = cell->value;
    return cell->known;
}

static bool compute(replay_t *r, const ir_node_t *n, int64_t *out)
{
    int64_t a, b;
    switch (n->op) {
    case IR_CONST: *out = n->value; return true;
    case IR_PARAM: return r->param(r->context, (int)n->value, n->a, n->bits, out);
    case IR_GRID: *out = r->grid[n->value]; return true;
    case IR_COUNTER: *out = r->counter[n->value]; return true;
    case IR_SYMBOL:
    case IR_DATA: return false;
    case IR_SELECT:
        if (value_of(r, n->a, &a))
            return value_of(r, a ? n->b : n->c, out);
        return value_of(r, n->b, &a) && value_of(r, n->c, &b) && a == b && ((*out = a), true);
    case IR_SEXT:
        if (!value_of(r, n->a, out))
            return false;
        if (r->f->node[n->a].bits == 1) /* one bit is kept as 0 or 1 */
            *out = -*out;
        return true;
    case IR_TRUNC: return value_of(r, n->a, out);
    case IR_ZEXT:
        if (!value_of(r, n->a, out))
            return false;
        *out = (int64_t)masked(*out, r->f->node[n->a].bits);
        return true;
    default: break;
    }
    bool first = value_of(r, n->a, &a), second = value_of(r, n->b, &b);
    if (first && second)
        return binary(n->op, a, b, r->f->node[n->a].bits, out);
    /* one operand decides the result */
    if ((n->op == IR_AND || n->op == IR_MUL) && ((first && !a) || (second && !b))) {
        *out = 0;
        return true;
    }
    if (n->op == IR_OR && n->bits == 1 && ((first && a) || (second && b))) {
        *out = 1;
        return true;
    }
    return false;
}

static void renew(replay_t *r, int node)
{
    struct cell *cell = &r->cell[node];
    const ir_node_t *n = &r->f->node[node];
    int64_t value = 0;
    cell->known = compute(r, n, &value);
    cell->value = extended((uint64_t)value, n->bits);
    cell->stamp = r->now[cell->lifetime];
}

bool replay_value(replay_t *r, int node, int64_t *value)
{
    return value_of(r, node, value);
}

/* ---- Accesses ---- */

static void visit(replay_t *r, const ir_access_t *a, bool certain)
{
    int64_t guard, offset = 0, bytes = 0;
    bool guarded = value_of(r, a->guard, &guard);
    if (guarded && !guard)
        return;
    bool placed = value_of(r, a->offset, &offset) && value_of(r, a->bytes, &bytes);
    if (placed && bytes <= 0)
        return;
    r->visit(r->visit_context, a, offset, offset + bytes, certain && guarded && placed, !placed);
}

static void count_to(replay_t *r, int loop, int64_t k)
{
    if (r->counter[loop] == k)
        return;
    r->counter[loop] = k;
    forget(r, r->course[loop].own);
}

static void iterate(replay_t *r, const ir_access_t *a, const int *loop, int count, bool certain);

static void iteration(replay_t *r, const ir_access_t *a, const int *loop, int count, int64_t k,
                      bool certain)
{
    count_to(r, *loop, k);
    iterate(r, a, loop + 1, count - 1, certain);
}

static struct course *course_of(replay_t *r, int loop)
{
    struct course *c = &r->course[loop];
    if (c->stamp != r->now[c->lifetime]) {
        c->stamp = r->now[c->lifetime];
        c->from = -1;
        memset(c->answer, 0, sizeof(c->answer));
    }
    return c;
}

static bool test(replay_t *r, int loop, int64_t k, bool *holds)
{
    struct course *c = course_of(r, loop);
    unsigned char *kept = k < TESTED_ITERATIONS ? &c->answer[k] : NULL;
    if (kept && *kept) {
        *holds = *kept & HOLDS;
        return *kept & IS_KNOWN;
    }
    int64_t value = 0;
    count_to(r, loop, k);
    bool known = value_of(r, r->f->loop[loop].test, &value);
    *holds = value != 0;
    if (kept)
        *kept = (unsigned char)(IS_TESTED | (known ? IS_KNOWN : 0) | (*holds ? HOLDS : 0));
    return known;
}

/* Tests such as k < n hold up to some iteration and never again. */
static bool is_order(const replay_t *r, int node)
{
    const ir_node_t *n = &r->f->node[node];
    if (n->op == IR_AND)
        return is_order(r, n->a) && is_order(r, n->b);
    if (n->op == IR_XOR && (n->a == 1 || n->b == 1)) /* node 1 is true */
        return is_order(r, n->a == 1 ? n->b : n->a);
    return n->op == IR_SLT || n->op == IR_SLE || n->op == IR_ULT || n->op == IR_ULE;
}

static int64_t find_last(replay_t *r, int loop, int64_t from)
{
    bool late = r->f->loop[loop].tests_at_end, holds;
    int64_t low = from, high = from + 1;
    for (; high < from + TESTED_ITERATIONS; low = high++)
        if (!test(r, loop, high - late, &holds))
            return -1;
        else if (!holds)
            return low;
    if (!is_order(r, r->f->loop[loop].test))
        return -1;
    while (high < INT32_MAX && test(r, loop, high - late, &holds) && holds) {
        low = high;
        high *= 2;
    }
    while (low + 1 < high) {
        int64_t middle = low + (high - low) / 2;
        if (test(r, loop, middle - late, &holds) && holds)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The last iteration that runs, from one that runs; -1: it is not known. */
static int64_t last_iteration(replay_t *r, int loop, int64_t from)
{
    struct course *c = course_of(r, loop);
    if (c->from != from) {
        c->last = find_last(r, loop, from);
        c->from = from;
    }
    return c->last;
}

/* The number of first iterations that are run of a loop around the access. */
static int64_t most_iterations(replay_t *r, const ir_access_t *a, int loop)
{
    if (r->all || a->kind == IR_READ)
        return r->all ? MOST_ITERATIONS : FIRST_ITERATIONS;
    const int64_t most = r->course[loop].is_constant ? CONSTANT_ITERATIONS : FIRST_ITERATIONS;
    bool holds = true;
    for (int64_t k = most; k < SHORT_ITERATIONS && r->extra > 0; k++) {
        r->extra--;
        if (!test(r, loop, k - (r->f->loop[loop].tests_at_end != 0), &holds))
            return most;
        if (!holds)
            return SHORT_ITERATIONS;
    }
    return most;
}

/* True if a part of the condition does not hold, and is the same in all iterations of the loop. */
static bool is_idle(replay_t *r, int condition, int loop)
{
    const ir_node_t *n = &r->f->node[condition];
    int64_t value;
    if (r->cell[condition].lifetime < r->course[loop].own)
        return value_of(r, condition, &value) && !value;
    return n->op == IR_AND && n->bits == 1 && (is_idle(r, n->a, loop) || is_idle(r, n->b, loop));
}

/* The loops from `loop` on, from the outermost to the innermost. */
static void iterate(replay_t *r, const ir_access_t *a, const int *loop, int count, bool certain)
{
    if (count == 0) {
        visit(r, a, certain);
        return;
    }
    if (is_idle(r, a->guard, *loop))
        return;
    const ir_loop_t *l = &r->f->loop[*loop];
    const int64_t most = most_iterations(r, a, *loop);
    for (int64_t k = 0;; k++) {
        bool holds = true, known = true;
        if (!l->tests_at_end)
            known = test(r, *loop, k, &holds);
        else if (k > 0)
            known = test(r, *loop, k - 1, &holds);
        if (known && !holds)
            return;
        certain = certain && known && (k == 0 || !l->has_breaks);
        if (!known && k == UNKNOWN_ITERATIONS) {
            r->complete &= a->kind == IR_READ && !r->all;
            return;
        }
        if (k == most) {
            r->complete &= a->kind == IR_READ && !r->all;
            int64_t last = last_iteration(r, *loop, k);
            if (last < 0)
                return;
            iteration(r, a, loop, count, (k + last) / 2, certain);
            iteration(r, a, loop, count, last > k ? last - 1 : last, certain);
            iteration(r, a, loop, count, last, certain);
            return;
        }
        iteration(r, a, loop, count, k, certain);
    }
}

bool replay_is_first(const replay_t *r, const ir_access_t *a)
{
    for (int l = a->loop; l >= 0; l = r->f->loop[l].parent)
        if (r->counter[l] != 0)
            return false;
    return true;
}

bool replay_thread(replay_t *r, bool all, replay_visit_fn *visit_one, void *context)
{
    r->visit = visit_one;
    r->visit_context = context;
    r->all = all;
    r->complete = true;
    for (int k = 0; k < r->f->access_count; k++) {
        const ir_access_t *a = &r->f->access[k];
        int loop[MAX_LOOPS], count = 0, at = MAX_LOOPS;
        for (int l = a->loop; l >= 0 && at > 0; l = r->f->loop[l].parent, count++)
            loop[--at] = l;
        iterate(r, a, loop + at, count, true);
    }
    return r->complete;
}
