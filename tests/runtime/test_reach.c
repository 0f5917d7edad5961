/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs of few bits, run thread by thread: each access lies in what kmm__reach_find says,
 * and what it calls exact is accessed wholly. Values of few bits wrap around all the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "execute/reach.h"
#include "random.h"

enum {
    GRAPHS = 20000,
    MOST = 120,
    LOOPS = 2,
    PARAMETERS = 3,
    MOST_ITERATIONS = 300,
    MOST_OFFSETS = 1 << 16,
    HALF = 1 << 20 /* offsets lie between -HALF and HALF, or the graph is left out */
};

static rng_t r;
static kmm__graph_t graph;
static kmm__graph_node_t nodes[MOST];
static kmm__graph_loop_t loops[LOOPS];
static kmm__graph_access_t accesses[1];
static kmm__graph_chunk_t chunk;
static int64_t parameters[PARAMETERS];

static int below(int n)
{
    return (int)rng_range(&r, 0, n - 1);
}

/* ---- Graphs ---- */

static int add(char op, int bits, int a, int b, int c, int64_t value)
{
    nodes[graph.node_count] = (kmm__graph_node_t){op, bits, a, b, c, value};
    return graph.node_count++;
}

static int make_value(int bits, int depth, int in_loops);

static int make_leaf(int bits, int in_loops)
{
    switch (below(6)) {
    case 0: return add('n', bits, -1, -1, -1, below(24) - 4);
    case 1: return add('p', bits, -1, -1, -1, below(PARAMETERS));
    case 2: return in_loops ? add('k', bits, -1, -1, -1, below(in_loops)) : make_leaf(bits, 0);
    case 3: return below(12) ? make_leaf(bits, in_loops) : add('d', bits, -1, -1, -1, 0);
    default: return add('g', bits, -1, -1, -1, 3 * below(4) + below(2));
    }
}

/* The index of the grid that kernels compute. */
static int make_global(int bits)
{
    int d = below(2), index = add('g', bits, -1, -1, -1, 3 + d),
        size = add('g', bits, -1, -1, -1, 6 + d), product = add('m', bits, index, size, -1, 0),
        thread = add('g', bits, -1, -1, -1, d);
    return add('+', bits, product, thread, -1, 0);
}

static int make_test(int depth, int in_loops)
{
    static const char comparisons[] = "=!<(L)L<", both[] = "&|^";
    int kind = below(8), a, b;
    if (depth > 0 && kind == 0) {
        a = make_test(depth - 1, in_loops), b = make_test(depth - 1, in_loops);
        return add(both[below(3)], 1, a, b, -1, 0);
    }
    if (depth > 0 && kind == 1) {
        a = make_test(depth - 1, in_loops), b = make_test(depth - 1, in_loops);
        int none = add('n', 1, -1, -1, -1, below(2));
        return below(2) ? add('?', 1, a, b, none, 0) : add('?', 1, a, none, b, 0);
    }
    int bits = below(2) ? 8 : 16;
    a = make_value(bits, depth, in_loops);
    b = below(2) ? add('p', bits, -1, -1, -1, below(PARAMETERS))
                 : make_value(bits, depth - 1, in_loops);
    return below(3) ? add(comparisons[below(8)], 1, a, b, -1, 0)
                    : add(comparisons[below(8)], 1, b, a, -1, 0);
}

static int make_value(int bits, int depth, int in_loops)
{
    static const char ops[] = "+++-mmluqhra%&|^";
    int a, b, kind = below(12);
    if (depth <= 0 || graph.node_count > MOST - 40)
        return make_leaf(bits, in_loops);
    if (kind < 3)
        return make_global(bits);
    if (kind == 3 && bits == 16) {
        a = make_value(8, depth - 1, in_loops);
        return add(below(2) ? 'z' : 'x', 16, a, -1, -1, 0);
    }
    if (kind == 4 && bits == 8) {
        a = make_value(16, depth - 1, in_loops);
        return add('t', 8, a, -1, -1, 0);
    }
    if (kind == 5) {
        int test = make_test(0, in_loops);
        a = make_value(bits, depth - 1, in_loops), b = make_value(bits, depth - 1, in_loops);
        return add('?', bits, test, a, b, 0);
    }
    a = make_value(bits, depth - 1, in_loops), b = make_value(bits, depth - 2, in_loops);
    return add(ops[below(below(3) ? 6 : 16)], bits, a, b, -1, 0);
}

/* A test that ends its loop soon, mostly. */
static int make_loop_test(int loop)
{
    if (below(6) == 0)
        return make_test(1, loop + 1);
    int bits = below(2) ? 8 : 16, i = add('k', bits, -1, -1, -1, loop),
        step = add('n', bits, -1, -1, -1, 1 + below(4)), by = add('m', bits, i, step, -1, 0),
        start = below(2) ? make_value(bits, 1, loop) : add('n', bits, -1, -1, -1, below(3)),
        sum = add('+', bits, start, by, -1, 0), end = make_value(bits, below(2), loop);
    return add("L<)("[below(4)], 1, sum, end, -1, 0);
}

static void make_graph(void)
{
    graph = (kmm__graph_t){0, below(LOOPS + 1), 1, nodes, loops, accesses};
    for (int l = 0; l < graph.loop_count; l++) {
        int test = make_loop_test(l);
        loops[l] = (kmm__graph_loop_t){l - 1, test, below(4) == 0, false};
    }
    int guard = below(4) ? make_test(2, graph.loop_count) : add('n', 1, -1, -1, -1, 1);
    int index = make_value(16, 3, graph.loop_count),
        wide = add("xz"[below(2)], 64, index, -1, -1, 0), size = add('n', 64, -1, -1, -1, 4),
        offset = add('m', 64, wide, size, -1, 0), bytes = add('n', 64, -1, -1, -1, 4);
    accesses[0] = (kmm__graph_access_t){KMM__GRAPH_WRITE,     0,    -1, offset, bytes, guard,
                                        graph.loop_count - 1, false};
}

static bool read_parameter(void *context, int param, int at, int bits, int64_t *value)
{
    (void)context, (void)at;
    *value = (int64_t)((uint64_t)parameters[param] & ((UINT64_C(1) << bits) - 1));
    return true;
}

static void make_chunk(void)
{
    for (int d = 0; d < 3; d++) {
        chunk.block[d] = d < 2 ? 1 + below(d ? 3 : 8) : 1;
        chunk.grid[d] = d < 2 ? 1 + below(d ? 3 : 6) : 1;
        chunk.first[d] = below((int)chunk.grid[d]);
        chunk.count[d] = 1 + below((int)(chunk.grid[d] - chunk.first[d]));
    }
    for (int k = 0; k < PARAMETERS; k++)
        parameters[k] = below(4) ? below(60) : below(300) - 20;
    chunk.parameter = read_parameter;
}

/* ---- One thread ---- */

static int64_t place[9], counter[LOOPS]; /* place: as variables of a form are numbered */
static kmm__reach_t reach;
static unsigned char is_accessed[2 * HALF];
static int accessed_count;
static bool is_left_out;

static int64_t as(uint64_t value, int bits, bool is_unsigned)
{
    if (bits == 64)
        return (int64_t)value;
    value &= (UINT64_C(1) << bits) - 1;
    return !is_unsigned && value >> (bits - 1) ? (int64_t)(value - (UINT64_C(1) << bits))
                                               : (int64_t)value;
}

static uint64_t run(int node);

static uint64_t run_pair(const kmm__graph_node_t *n)
{
    int bits = nodes[n->a].bits;
    uint64_t x = run(n->a), y = run(n->b);
    bool is_unsigned = strchr("u%h&|^<(=!", n->op) != NULL;
    int64_t a = as(x, bits, is_unsigned), b = as(y, bits, is_unsigned);
    switch (n->op) {
    case '+': return x + y;
    case '-': return x - y;
    case 'm': return x * y;
    case 'l': return as(y, bits, true) < bits ? x << as(y, bits, true) : 0;
    case 'u':
    case 'q': return b ? (uint64_t)(a / b) : 0;
    case '%':
    case 'r': return b ? (uint64_t)(a % b) : 0;
    case 'h':
    case 'a': return as(y, bits, true) < bits ? (uint64_t)(a >> as(y, bits, true)) : 0;
    case '&': return x & y;
    case '|': return x | y;
    case '^': return x ^ y;
    case '=': return a == b;
    case '!': return a != b;
    case '<':
    case 'L': return a < b;
    default: return a <= b;
    }
}

static uint64_t run(int node)
{
    const kmm__graph_node_t *n = &nodes[node];
    switch (n->op) {
    case 'n': return (uint64_t)n->value;
    case 'p': return (uint64_t)parameters[n->value];
    case 'k': return (uint64_t)counter[n->value];
    case 'd': return (uint64_t)rng_range(&r, 0, 999);
    case 'g':
        return (uint64_t)(n->value < 3   ? place[KMM__THREAD + n->value]
                          : n->value < 6 ? place[KMM__BLOCK + n->value - 3]
                          : n->value < 9 ? chunk.block[n->value - 6]
                                         : chunk.grid[n->value - 9]);
    case '?': return run(n->a) & 1 ? run(n->b) : run(n->c);
    case 'z':
    case 'x': return (uint64_t)as(run(n->a), nodes[n->a].bits, n->op == 'z');
    case 't': return run(n->a);
    default: return run_pair(n);
    }
}

static kmm__wide_t form_here(const kmm__form_t *f)
{
    kmm__wide_t sum = f->constant;
    for (int v = 0; v < KMM__VARIABLES; v++)
        sum += (kmm__wide_t)f->by[v] * (v < 9           ? place[v]
                                        : v < 9 + LOOPS ? counter[v - KMM__LOOP]
                                                        : 0);
    return sum;
}

static void check_access(void)
{
    if (!(run(accesses[0].guard) & 1))
        return;
    int64_t at = (int64_t)run(accesses[0].offset);
    is_left_out |= at < -HALF || at >= HALF;
    if (!reach.is_known || is_left_out)
        return;
    assert_false(reach.is_never);
    assert_true(form_here(&reach.offset) == at);
    for (int k = 0; k < reach.condition_count; k++)
        assert_true(form_here(&reach.condition[k]) >= 0);
    for (int v = 0; v < 9 + graph.loop_count; v++) {
        int64_t value = v < 9 ? place[v] : counter[v - KMM__LOOP];
        assert_true(value >= reach.ranges.least[v] && value <= reach.ranges.most[v]);
    }
    accessed_count += !is_accessed[at + HALF];
    is_accessed[at + HALF] = 1;
}

static void run_loops(int l)
{
    if (l == graph.loop_count) {
        check_access();
        return;
    }
    for (counter[l] = 0; !is_left_out; counter[l]++) {
        if (counter[l] == MOST_ITERATIONS) {
            is_left_out = true;
            return;
        }
        if (!loops[l].tests_at_end && !(run(loops[l].test) & 1))
            return;
        run_loops(l + 1);
        if (loops[l].tests_at_end && !(run(loops[l].test) & 1))
            return;
    }
}

static void run_chunk(void)
{
    for (int64_t by = 0; by < chunk.count[1]; by++)
        for (int64_t bx = 0; bx < chunk.count[0]; bx++)
            for (int64_t ty = 0; ty < chunk.block[1]; ty++)
                for (int64_t tx = 0; tx < chunk.block[0] && !is_left_out; tx++) {
                    const int64_t b[3] = {chunk.first[0] + bx, chunk.first[1] + by, chunk.first[2]},
                                  t[3] = {tx, ty, 0};
                    for (int d = 0; d < 3; d++) {
                        place[KMM__BLOCK + d] = b[d];
                        place[KMM__THREAD + d] = t[d];
                        place[KMM__GLOBAL + d] = b[d] * chunk.block[d] + t[d];
                    }
                    run_loops(0);
                }
}

/* ---- What is exact ---- */

/* Returns how many of what is reached was not accessed. */
static int count_missing(void)
{
    int64_t at[KMM__VARIABLES];
    int missing = 0;
    memcpy(at, reach.ranges.least, sizeof(at));
    for (int v = 0; v < KMM__VARIABLES;) {
        kmm__wide_t sum = reach.offset.constant;
        for (int k = 0; k < KMM__VARIABLES; k++)
            sum += reach.offset.by[k] ? (kmm__wide_t)reach.offset.by[k] * at[k] : 0;
        missing += sum < -HALF || sum >= HALF || !is_accessed[(int64_t)sum + HALF];
        for (v = 0; v < KMM__VARIABLES; v++) {
            if (!reach.offset.by[v])
                continue;
            if (++at[v] <= reach.ranges.most[v])
                break;
            at[v] = reach.ranges.least[v];
        }
    }
    return missing;
}

static void print_graph(void)
{
    for (int k = 0; k < graph.node_count; k++)
        printf("%d: %c %d %d %d %d %lld\n", k, nodes[k].op, nodes[k].bits, nodes[k].a, nodes[k].b,
               nodes[k].c, (long long)nodes[k].value);
    for (int l = 0; l < graph.loop_count; l++)
        printf("loop %d: test %d%s\n", l, loops[l].test, loops[l].tests_at_end ? ", at end" : "");
    printf("guard %d, offset %d\n", accesses[0].guard, accesses[0].offset);
    for (int d = 0; d < 2; d++)
        printf("dimension %d: %lld threads, %lld blocks, from %lld on %lld of them\n", d,
               (long long)chunk.block[d], (long long)chunk.grid[d], (long long)chunk.first[d],
               (long long)chunk.count[d]);
    for (int k = 0; k < PARAMETERS; k++)
        printf("parameter %d: %lld\n", k, (long long)parameters[k]);
    for (int v = 0; v < KMM__VARIABLES; v++)
        if (reach.offset.by[v])
            printf("%lld * variable %d, from %lld to %lld\n", (long long)reach.offset.by[v], v,
                   (long long)reach.ranges.least[v], (long long)reach.ranges.most[v]);
}

static void test_random(void **state)
{
    (void)state;
    int known = 0, exact = 0, looped = 0, never = 0;
    r.state = getenv("KMM_SEED") ? rng_seed() : 7;
    for (int k = 0; k < GRAPHS; k++) {
        make_graph();
        make_chunk();
        kmm__reach_find(&graph, &accesses[0], &chunk, &reach);
        is_left_out = false;
        accessed_count = 0;
        run_chunk();
        if (reach.is_known && !is_left_out) {
            known++;
            looped += graph.loop_count > 0;
            never += reach.is_never;
            if (!reach.is_never && reach.is_exact) {
                exact += accessed_count > 1;
                int missing = count_missing();
                if (missing)
                    print_graph();
                assert_int_equal(missing, 0);
            }
        }
        if (accessed_count)
            memset(is_accessed, 0, sizeof(is_accessed));
    }
    printf("%d of %d known, %d of them with loops, %d never, %d exact\n", known, GRAPHS, looped,
           never, exact);
    assert_true(known > GRAPHS / 20 && exact > GRAPHS / 100 && looped > GRAPHS / 100);
}

/* ---- Text ---- */

static void test_text(void **state)
{
    static const char *const wrong[] = {"",
                                        "1",
                                        "1 0 0",
                                        "1 0 0 w 8 0 0 0 0",
                                        "1 0 0 + 8 0 0 -1 0",
                                        "1 0 0 n 65 -1 -1 -1 0",
                                        "1 0 1 n 64 -1 -1 -1 4 1 0 -1 0 1 0 -1 0",
                                        "1 1 0 n 1 -1 -1 -1 1 0 0 0 0",
                                        "1 0 0 k 32 -1 -1 -1 0",
                                        "99999999 0 0"};
    (void)state;
    for (size_t k = 0; k < sizeof(wrong) / sizeof(*wrong); k++)
        assert_null(kmm__graph_parse(wrong[k]));
    kmm__graph_t *g = kmm__graph_parse("2 0 1 n 64 -1 -1 -1 4 n 1 -1 -1 -1 1 1 0 -1 0 0 1 -1 0");
    assert_non_null(g);
    assert_int_equal(g->access[0].guard, 1);
    kmm__graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
