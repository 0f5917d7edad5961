/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs on several nodes, beside a model in plain memory: launches of plain functions and
 * kernels that are divided among nodes and such that are not, reductions, copies, fills, tasks, and
 * arrays that come and go. Started by tests/fake/run_nodes or an mpirun with KMM_NODES=1. It prints
 * a hash of all sums of floating-point numbers, whose bits depend on the order of additions: they
 * are those of one process (same_bits).
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kmm.h>

#include "launch/nodes.h"
#include "node_kernels.h"
#include "nodes/nodes.h"
#include "random.h"

enum { ARRAYS = 4, STEPS = 200, PROGRAMS = 5, FAR = 150 };

static struct {
    bool is_mapped;
    uint32_t *base;  /* as libkmm knows it */
    uint32_t *model; /* what it should hold */
} arrays[ARRAYS];
static rng_t rng;

static int64_t pick(int64_t lo, int64_t hi)
{
    return rng_range(&rng, lo, hi);
}

static void expect(int error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "%s: %s\n", what, kmm_error_text(NULL));
    exit(1);
}

/* ---- Functions that are launched ---- */

typedef struct args {
    uint32_t *out;
    const uint32_t *in;
    int64_t far, shift, factor;
} args_t;

/* out[i + shift] = the sum of in[i] to in[i + 2 * far]. */
static void gather(int64_t begin, int64_t end, const args_t *a)
{
    for (int64_t i = begin; i < end; i++) {
        uint32_t sum = 0;
        for (int64_t k = i; k <= i + 2 * a->far; k++)
            sum = sum * 3 + a->in[k];
        a->out[i + a->shift] = sum * (uint32_t)a->factor;
    }
}

static void run_gather(const kmm_chunk_t *c, void *block)
{
    gather(c->begin[0], c->end[0], block);
}

/* out[i + shift] += factor */
static void add(int64_t begin, int64_t end, const args_t *a)
{
    for (int64_t i = begin; i < end; i++)
        a->out[i + a->shift] += (uint32_t)a->factor;
}

static void run_add(const kmm_chunk_t *c, void *block)
{
    add(c->begin[0], c->end[0], block);
}

/* Columns of out become the sums of the rows above. */
static void columns(int64_t begin, int64_t end, const args_t *a)
{
    for (int64_t j = begin; j < end; j++)
        for (int64_t i = 1; i < ROWS; i++)
            a->out[i * COLUMNS + j] += a->out[(i - 1) * COLUMNS + j];
}

static void run_columns(const kmm_chunk_t *c, void *block)
{
    columns(c->begin[0], c->end[0], block);
}

/* Adds, and finds the largest of, what `in` has. */
typedef struct folded {
    const uint32_t *in;
    float *sum;
    uint32_t *most;
    uint8_t *all;
} folded_t;

static void fold(int64_t begin, int64_t end, const folded_t *f)
{
    for (int64_t i = begin; i < end; i++) {
        f->sum[0] += (float)f->in[i] * 0.1f;
        f->sum[1] += 1.0f / (float)(1 + f->in[i] % 1000);
        f->most[0] = f->in[i] > f->most[0] ? f->in[i] : f->most[0];
        f->all[0] = f->all[0] && f->in[i];
    }
}

static void run_fold(const kmm_chunk_t *c, void *block)
{
    fold(c->begin[0], c->end[0], block);
}

/* ---- Steps ---- */

static void array_open(int k)
{
    arrays[k].is_mapped = pick(0, 1);
    if (arrays[k].is_mapped) {
        arrays[k].base = malloc(COUNT * sizeof(uint32_t));
        memcpy(arrays[k].base, arrays[k].model, COUNT * sizeof(uint32_t));
        expect(kmm_map(kmm_default(), KMM_MAP_TOFROM, arrays[k].base, COUNT * sizeof(uint32_t)),
               "map");
    } else {
        arrays[k].base = kmm_malloc(COUNT * sizeof(uint32_t));
        expect(
            kmm_copy_in(kmm_default(), arrays[k].base, arrays[k].model, COUNT * sizeof(uint32_t)),
            "copy in");
    }
}

static void check(const uint32_t *is, const uint32_t *should, int64_t count, const char *what)
{
    for (int64_t k = 0; k < count; k++)
        if (is[k] != should[k]) {
            fprintf(stderr, "%s: element %lld is %u and should be %u\n", what, (long long)k, is[k],
                    should[k]);
            exit(1);
        }
}

static void array_close(int k)
{
    if (arrays[k].is_mapped) {
        expect(kmm_unmap(kmm_default(), arrays[k].base), "unmap");
        check(arrays[k].base, arrays[k].model, COUNT, "after the end of a map");
        free(arrays[k].base);
    } else {
        kmm_free(arrays[k].base);
    }
}

static kmm_launch_t *launch_begin(const char *name, int64_t lower, int64_t count)
{
    kmm_launch_t *l = kmm_launch_begin(name, "test_nodes.c", __LINE__);
    int64_t chunk = pick(1, 5) == 1 ? count : pick(count / 30 + 1, count / 4 + 2);
    kmm_launch_axis(l, "i", KMM_RANGE_0, lower, count);
    kmm_launch_chunk(l, KMM_RANGE_0, chunk);
    if (pick(0, 9) == 0)
        kmm_launch_await(l); /* it stays on node 0 */
    return l;
}

static void access_begin(kmm_launch_t *l, kmm_mode_t mode, const uint32_t *base, int64_t lower,
                         int64_t length)
{
    kmm_launch_access(l, mode, "item", base, sizeof(*base));
    kmm_launch_index(l, lower, length);
    kmm_launch_coef(l, 0, 1, 0);
}

static void step_gather(void)
{
    int from = (int)pick(0, ARRAYS - 1), to = (from + (int)pick(1, ARRAYS - 1)) % ARRAYS;
    int64_t far = pick(0, FAR), lower = pick(0, COUNT / 3),
            count = pick(1, COUNT - 2 * far - lower), shift = pick(-lower, COUNT - lower - count);
    const args_t given = {arrays[to].base, arrays[from].base, far, shift, pick(1, 9)};
    const args_t model = {arrays[to].model, arrays[from].model, far, shift, given.factor};
    kmm_launch_t *l = launch_begin("gather", lower, count);
    access_begin(l, KMM_READ, arrays[from].base, 0, 2 * far + 1);
    access_begin(l, KMM_WRITE, arrays[to].base, shift, 1);
    expect(kmm_launch_call(l, run_gather, &given, sizeof(given)), "gather");
    gather(lower, lower + count, &model);
}

static void step_add(void)
{
    int to = (int)pick(0, ARRAYS - 1);
    int64_t lower = pick(0, COUNT / 2), count = pick(1, COUNT - lower);
    const args_t given = {arrays[to].base, NULL, 0, 0, pick(1, 99)};
    const args_t model = {arrays[to].model, NULL, 0, 0, given.factor};
    kmm_launch_t *l = launch_begin("add", lower, count);
    access_begin(l, KMM_UPDATE, arrays[to].base, 0, 1);
    expect(kmm_launch_call(l, run_add, &given, sizeof(given)), "add");
    add(lower, lower + count, &model);
}

/* Its regions are no runs of bytes. */
static void step_columns(void)
{
    int to = (int)pick(0, ARRAYS - 1);
    const args_t given = {.out = arrays[to].base}, model = {.out = arrays[to].model};
    kmm_launch_t *l = launch_begin("columns", 0, COLUMNS);
    kmm_launch_access(l, KMM_UPDATE, "item", given.out, sizeof(*given.out));
    kmm_launch_extent(l, ROWS);
    kmm_launch_extent(l, COLUMNS);
    kmm_launch_index(l, 0, KMM_WHOLE);
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    expect(kmm_launch_call(l, run_columns, &given, sizeof(given)), "columns");
    columns(0, COLUMNS, &model);
}

static uint64_t hash = 14695981039346656037u;

static void note(const void *bytes, size_t count)
{
    for (size_t k = 0; k < count; k++)
        hash = (hash ^ ((const unsigned char *)bytes)[k]) * 1099511628211u;
}

static void reduce_begin(kmm_launch_t *l, kmm_op_t op, kmm_type_t type, const void *base,
                         int64_t length)
{
    kmm_launch_reduce(l, op, type, "target", base);
    kmm_launch_index(l, 0, length);
}

/* The targets are mapped for the launch alone. */
static void step_fold(void)
{
    int from = (int)pick(0, ARRAYS - 1);
    int64_t lower = pick(0, COUNT / 2), count = pick(1, COUNT - lower);
    float sum[2] = {0.5f, 3}, other[2] = {0, 0};
    uint32_t most[1] = {(uint32_t)pick(0, 500)}, model_most[1] = {most[0]};
    uint8_t all[1] = {(uint8_t)pick(0, 3)}, model_all[1] = {all[0]};
    const folded_t given = {arrays[from].base, sum, most, all};
    kmm_launch_t *l = launch_begin("fold", lower, count);
    access_begin(l, KMM_READ, arrays[from].base, 0, 1);
    reduce_begin(l, KMM_OP_ADD, KMM_FLOAT, sum, 2);
    reduce_begin(l, KMM_OP_MAX, KMM_UINT32, most, 1);
    reduce_begin(l, KMM_OP_LAND, KMM_UINT8, all, 1);
    expect(kmm_launch_call(l, run_fold, &given, sizeof(given)), "fold");
    fold(lower, lower + count, &(folded_t){arrays[from].model, other, model_most, model_all});
    check(most, model_most, 1, "a maximum");
    if (!all[0] != !model_all[0])
        expect(KMM_E_INVALID, "a conjunction is wrong");
    note(sum, sizeof(sum));
}

static void step_spread(void)
{
    const kmm_kernel_t *kernel = node_kernel(0);
    int from = (int)pick(0, ARRAYS - 1), to = (from + (int)pick(1, ARRAYS - 1)) % ARRAYS;
    const kmm_geometry_t g = {{(COLUMNS + BLOCK - 1) / BLOCK, ROWS, 1}, {BLOCK, 1, 1}, 0, NULL};
    void *args[3] = {NULL, &arrays[from].base, &arrays[to].base};
    kmm_launch_t *l = kmm_launch_begin("spread", "test_nodes.c", __LINE__);
    if (pick(0, 9))
        kmm_launch_confined(l);
    kmm_launch_axis(l, "x", KMM_GLOBAL_X, 0, COLUMNS);
    kmm_launch_axis(l, "y", KMM_GLOBAL_Y, 0, ROWS);
    kmm_launch_chunk(l, KMM_GLOBAL_X, pick(0, 1) ? COLUMNS : pick(BLOCK, COLUMNS));
    kmm_launch_chunk(l, KMM_GLOBAL_Y, pick(2, ROWS / 2));
    for (int k = 0; k < 2; k++) {
        kmm_launch_access(l, k ? KMM_WRITE : KMM_READ, "item", arrays[k ? to : from].base,
                          sizeof(uint32_t));
        kmm_launch_extent(l, ROWS);
        kmm_launch_extent(l, COLUMNS);
        kmm_launch_index(l, k - 1, k ? 1 : 3);
        kmm_launch_coef(l, 1, 1, 0);
        kmm_launch_index(l, k - 1, k ? 1 : 3);
        kmm_launch_coef(l, 0, 1, 0);
    }
    kmm_launch_arm(l);
    expect(kmm_launch_kernel(kernel, &g, args + !kernel->is_clone), "spread");
    for (int64_t y = 0; y < ROWS; y++)
        for (int64_t x = 0; x < COLUMNS; x++)
            spread(x, y, arrays[from].model, arrays[to].model);
}

/* A kernel that reduces, with a number that may look like an address. The bits of its sum depend on
 * the chunks. A chunk is one block, because the CPU's threads share the blocks of a chunk, and the
 * kernel adds without atomic operations. */
static void step_sum_up(void)
{
    const kmm_kernel_t *kernel = node_kernel(1);
    int from = (int)pick(0, ARRAYS - 1);
    int64_t count = pick(1, COUNT), chunk = BLOCK, number = pick(0, 3) ? 1 : FOREIGN;
    const kmm_geometry_t g = {
        {(uint32_t)((count + BLOCK - 1) / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    float *sum = kmm_malloc(sizeof(*sum)), other = 0;
    uint32_t *most = kmm_malloc(sizeof(*most)), model_most = 0, is_most;
    kmm_runtime_t *rt = kmm_default();
    void *args[6] = {NULL, &count, &arrays[from].base, &sum, &most, &number};
    expect(kmm_fill(rt, sum, 0, sizeof(*sum)), "fill");
    expect(kmm_fill(rt, most, 0, sizeof(*most)), "fill");
    kmm__nodes_counts_t before = {.launches = 0}, after = before;
    kmm__nodes_count(&before);
    kmm_launch_t *l = kmm_launch_begin("sum_up", "test_nodes.c", __LINE__);
    kmm_launch_confined(l);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, count);
    kmm_launch_chunk(l, KMM_GLOBAL_X, chunk);
    access_begin(l, KMM_READ, arrays[from].base, 0, 1);
    reduce_begin(l, KMM_OP_ADD, KMM_FLOAT, sum, 1);
    reduce_begin(l, KMM_OP_MAX, KMM_UINT32, most, 1);
    kmm_launch_arm(l);
    expect(kmm_launch_kernel(kernel, &g, args + !kernel->is_clone), "sum_up");
    kmm__nodes_count(&after);
    if (number == FOREIGN && kernel->is_clone && before.launches != after.launches)
        expect(KMM_E_INVALID, "a kernel with a foreign address is divided");
    sum_up(0, count, arrays[from].model, &other, &model_most);
    expect(kmm_copy_out(rt, &other, sum, sizeof(other)), "copy out");
    expect(kmm_copy_out(rt, &is_most, most, sizeof(is_most)), "copy out");
    check(&is_most, &model_most, 1, "a maximum of a kernel");
    note(&other, sizeof(other));
    kmm_free(sum);
    kmm_free(most);
}

static void step_copy(void)
{
    int a = (int)pick(0, ARRAYS - 1), b = (int)pick(0, ARRAYS - 1);
    int64_t begin = pick(0, COUNT - 1), count = pick(1, COUNT - begin), to = pick(0, COUNT - count);
    size_t bytes = (size_t)count * sizeof(uint32_t);
    uint32_t *memory = malloc(bytes);
    kmm_runtime_t *rt = kmm_default();
    switch (pick(0, 3)) {
    case 0:
        for (int64_t k = 0; k < count; k++)
            memory[k] = arrays[a].model[begin + k] = (uint32_t)pick(0, 1000);
        expect(kmm_copy_in(rt, arrays[a].base + begin, memory, bytes), "copy in");
        break;
    case 1:
        expect(kmm_copy_out(rt, memory, arrays[a].base + begin, bytes), "copy out");
        check(memory, arrays[a].model + begin, count, "a copy");
        break;
    case 2:
        expect(kmm_fill(rt, arrays[a].base + begin, 7, bytes), "fill");
        memset(arrays[a].model + begin, 7, bytes);
        break;
    default:
        expect(kmm_copy(rt, arrays[b].base + to, arrays[a].base + begin, bytes), "copy");
        memmove(arrays[b].model + to, arrays[a].model + begin, bytes);
    }
    free(memory);
}

static void step_task(void)
{
    int a = (int)pick(0, ARRAYS - 1);
    int64_t begin = pick(0, COUNT - 1);
    kmm_launch_t *l = kmm_launch_begin("task", "test_nodes.c", __LINE__);
    kmm_launch_access(l, KMM_UPDATE, "item", arrays[a].base, sizeof(*arrays[a].base));
    kmm_launch_index(l, begin, 1);
    kmm_task_t *task = kmm_task_begin(l, NULL, NULL);
    *(uint32_t *)kmm_task_pointer(task, arrays[a].base + begin) += 5;
    kmm_task_end(task);
    arrays[a].model[begin] += 5;
}

/* The host reads and writes mapped memory. */
static void step_update(void)
{
    int a = (int)pick(0, ARRAYS - 1);
    int64_t begin = pick(0, COUNT - 1), count = pick(1, COUNT - begin);
    uint32_t *at = arrays[a].base + begin;
    if (!arrays[a].is_mapped)
        return;
    expect(kmm_update_from(kmm_default(), at, (size_t)count * sizeof(*at)), "update from");
    check(at, arrays[a].model + begin, count, "an update");
    for (int64_t k = 0; k < count; k++)
        at[k] = arrays[a].model[begin + k] = (uint32_t)pick(0, 1000);
    expect(kmm_update_to(kmm_default(), at, (size_t)count * sizeof(*at)), "update to");
}

static void step(void)
{
    switch (pick(0, 19)) {
    case 0: step_columns(); return;
    case 1: step_task(); return;
    case 2:
    case 3: step_copy(); return;
    case 4: step_update(); return;
    case 5:
        array_close(0);
        array_open(0);
        return;
    case 6: expect(kmm_wait(kmm_default()), "wait"); return;
    case 7:
    case 8:
    case 9: step_add(); return;
    case 10:
    case 11: step_fold(); return;
    case 12:
    case 13: step_spread(); return;
    case 14: step_sum_up(); return;
    default: step_gather();
    }
}

static void run_program(uint64_t seed)
{
    rng = (rng_t){seed};
    for (int k = 0; k < ARRAYS; k++) {
        arrays[k].model = calloc(COUNT, sizeof(uint32_t));
        for (int j = 0; j < COUNT; j++)
            arrays[k].model[j] = (uint32_t)pick(0, 1000);
        array_open(k);
    }
    for (int k = 0; k < STEPS; k++)
        step();
    for (int k = 0; k < ARRAYS; k++) {
        uint32_t *memory = malloc(COUNT * sizeof(*memory));
        expect(kmm_copy_out(kmm_default(), memory, arrays[k].base, COUNT * sizeof(*memory)),
               "copy out");
        check(memory, arrays[k].model, COUNT, "the end");
        free(memory);
        array_close(k);
        free(arrays[k].model);
    }
}

int main(void)
{
    kmm__nodes_counts_t counts = {.count = 1};
    node_kernels_start(getenv("KMM_TEST_LIBRARY"));
    kmm_nodes_start((const void *)&main);
    const uint64_t seed = rng_seed();
    for (uint64_t k = 0; k < PROGRAMS; k++)
        run_program(seed + k);
    if (kmm__nodes_hooks)
        kmm__nodes_count(&counts);
    if (counts.count > 1 && counts.launches < PROGRAMS * STEPS / 8) {
        fprintf(stderr, "only %llu launches were divided\n", (unsigned long long)counts.launches);
        return 1;
    }
    fprintf(stderr, "right on %u nodes: %llu launches were divided, %llu bytes held\n",
            counts.count, (unsigned long long)counts.launches, (unsigned long long)counts.held);
    printf("%llx\n", (unsigned long long)hash);
    return 0;
}
