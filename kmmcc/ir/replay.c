/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a graph for single threads. A value is kept as long as all that it depends on stays the
 * same: for the launch, the block, the thread, or one iteration of a loop.
 */
#include "ir/replay.h"

#include <stddef.h>

#include "base/arena.h"

enum { OF_LAUNCH, OF_BLOCK, OF_THREAD, OF_ITERATION, LIFETIMES };
enum {
    MAX_LOOPS = 16,
    FIRST_ITERATIONS = 4,
    MOST_ITERATIONS = 1 << 14,
    UNKNOWN_ITERATIONS = 3,
    TESTED_ITERATIONS = 64
};

struct replay {
    const ir_function_t *f;
    replay_param_fn *param;
    void *context;
    int64_t grid[12], *counter, *value;
    bool *known;
    unsigned char *lifetime;
    unsigned *stamp, now[LIFETIMES];
    bool complete; /* no iteration was left out */
    replay_visit_fn *visit;
    void *visit_context;
    bool all;
};

static unsigned char lifetime_of(const replay_t *r, const ir_node_t *n)
{
    unsigned char longest = OF_LAUNCH;
    switch (n->op) {
    case IR_GRID:
        return n->value / 3 == IR_THREAD_INDEX  ? OF_THREAD
               : n->value / 3 == IR_BLOCK_INDEX ? OF_BLOCK
                                                : OF_LAUNCH;
    case IR_COUNTER: return OF_ITERATION;
    case IR_CONST:
    case IR_PARAM:
    case IR_SYMBOL:
    case IR_DATA: return OF_LAUNCH;
    default: break;
    }
    const int operand[] = {n->a, n->b, n->c};
    for (int k = 0; k < 3; k++)
        if (operand[k] >= 0 && r->lifetime[operand[k]] > longest)
            longest = r->lifetime[operand[k]];
    return longest;
}

replay_t *replay_new(const ir_function_t *f, replay_param_fn *param, void *context)
{
    size_t count = (size_t)f->node_count;
    replay_t *r = arena_alloc(sizeof(*r));
    *r = (replay_t){.f = f, .param = param, .context = context};
    r->counter = arena_alloc(((size_t)f->loop_count + 1) * sizeof(*r->counter));
    r->value = arena_alloc(count * sizeof(*r->value));
    r->known = arena_alloc(count * sizeof(*r->known));
    r->lifetime = arena_alloc(count);
    r->stamp = arena_alloc(count * sizeof(*r->stamp));
    for (size_t k = 0; k < count; k++) {
        r->lifetime[k] = lifetime_of(r, &f->node[k]);
        r->stamp[k] = 0;
    }
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
    value = masked((int64_t)value, bits);
    return bits > 1 && value >> (bits - 1) ? (int64_t)(value | ~((1ULL << bits) - 1))
                                           : (int64_t)value;
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

static bool value_of(replay_t *r, int node, int64_t *out);

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

static bool value_of(replay_t *r, int node, int64_t *out)
{
    const ir_node_t *n = &r->f->node[node];
    unsigned now = r->now[r->lifetime[node]];
    if (r->stamp[node] != now) {
        int64_t value = 0;
        r->known[node] = compute(r, n, &value);
        r->value[node] = extended((uint64_t)value, n->bits);
        r->stamp[node] = now;
    }
    *out = r->value[node];
    return r->known[node];
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

static void iterate(replay_t *r, const ir_access_t *a, const int *loop, int count, bool certain);

static void iteration(replay_t *r, const ir_access_t *a, const int *loop, int count, int64_t k,
                      bool certain)
{
    r->counter[*loop] = k;
    forget(r, OF_ITERATION);
    iterate(r, a, loop + 1, count - 1, certain);
}

static bool test(replay_t *r, int loop, int64_t k, bool *holds)
{
    int64_t value = 0;
    r->counter[loop] = k;
    forget(r, OF_ITERATION);
    bool known = value_of(r, r->f->loop[loop].test, &value);
    *holds = value != 0;
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

/* The last iteration that runs, from one that runs; -1: it is not known. */
static int64_t last_iteration(replay_t *r, int loop, int64_t from)
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

/* The loops from `loop` on, from the outermost to the innermost. */
static void iterate(replay_t *r, const ir_access_t *a, const int *loop, int count, bool certain)
{
    if (count == 0) {
        visit(r, a, certain);
        return;
    }
    const ir_loop_t *l = &r->f->loop[*loop];
    int64_t most = r->all ? MOST_ITERATIONS : FIRST_ITERATIONS;
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
