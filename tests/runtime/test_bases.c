/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches whose arguments are not the bases of their items, against a plain loop: arguments and
 * bases lie before, in and behind regions, two items share an argument, and a reduction is reached
 * from beside its element. A launch that does not say so (kmm_launch_through) is right or refused.
 * Pointers to one element before an array, and to its end, lead to the array also where another
 * array lies there, and where other items of the pointer are empty, or the whole launch is.
 * KMM_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <kmm/resource.h>

#include "fake_gpu.h"
#include "random.h"
#include "with_runtime.h"

enum { N = 3000, ROOM = 500, ALL = 2 * N + 4 * ROOM, SUMS = 64, WARPS = 64, ROUNDS = 60 };

/* What the call passes: pointers, and how far from them the program works, in elements. */
typedef struct args {
    const int32_t *from;
    int32_t *to, *sum;
    int64_t first, second, out, total;
} args_t;

typedef struct memory {
    int32_t in[ALL], out[ALL], gap[ROOM], sum[SUMS]; /* a base is at most in the gap */
} memory_t;

static void work(const args_t *a, int64_t begin, int64_t end)
{
    int32_t sum = 0;
    for (int64_t i = begin; i < end; i++) {
        int32_t v = a->from[a->first + i] + 3 * a->from[a->second + i];
        a->to[a->out + i] = v;
        sum += v & 7;
    }
    a->sum[a->total] += sum;
}

static void run_function(const kmm_chunk_t *chunk, void *args)
{
    work(args, chunk->begin[0], chunk->end[0]);
}

static int run_warp(const fake_warp_t *w, void **args)
{
    const kmm_blocks_t *blocks = args[0];
    int64_t begin = ((int64_t)w->block[0] + blocks->offset_x) * WARPS + w->first;
    int64_t end = begin + w->count < N ? begin + w->count : N;
    if (begin < end)
        work(args[1], begin, end);
    return 0;
}

static const uint32_t sizes[] = {sizeof(kmm_blocks_t), sizeof(args_t)};
static fake_kernel_t fake = {NULL, 2, sizes, 0, run_warp};
static const kmm_kernel_t kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "work", NULL, &fake, 2, sizes, 1, NULL};

static rng_t rng;

/* An item whose region begins at `region`, with a base beside that, and an argument. */
static void describe(kmm_launch_t *l, kmm_mode_t mode, const int32_t *region, int64_t length,
                     const int32_t *argument, bool says)
{
    int64_t shift = rng_range(&rng, 0, 2) ? 0 : rng_range(&rng, -ROOM / 4, ROOM / 4);
    const int32_t *base =
        says || rng_range(&rng, 0, 1)
            ? (const int32_t *)((uintptr_t)region - (uintptr_t)(shift * (int64_t)sizeof(*region)))
            : argument;
    shift = ((intptr_t)region - (intptr_t)base) / (int64_t)sizeof(*region);
    if (mode == KMM_REDUCE)
        kmm_launch_reduce(l, KMM_OP_ADD, KMM_INT32, "sum", base);
    else
        kmm_launch_access(l, mode, mode == KMM_READ ? "in" : "out", base, sizeof(*base));
    if (says)
        kmm_launch_through(l, argument);
    kmm_launch_index(l, shift, length);
    if (mode != KMM_REDUCE)
        kmm_launch_coef(l, 0, 1, 0);
}

static int launch(bool on_gpu, const args_t *a, bool says)
{
    kmm_launch_t *l = kmm_launch_begin("work", "bases.c", 7);
    kmm_launch_axis(l, "i", on_gpu ? KMM_GLOBAL_X : KMM_RANGE_0, 0, N);
    kmm_launch_chunk(l, on_gpu ? KMM_GLOBAL_X : KMM_RANGE_0, rng_range(&rng, 100, N));
    describe(l, KMM_READ, a->from + a->first, 1, a->from, says);
    describe(l, KMM_READ, a->from + a->second, 1, a->from, says);
    describe(l, KMM_WRITE, a->to + a->out, 1, a->to, says);
    describe(l, KMM_REDUCE, a->sum + a->total, 1, a->sum, says);
    if (!on_gpu)
        return kmm_launch_call(l, run_function, a, sizeof(*a));
    args_t copy = *a;
    kmm_geometry_t g = {{(N + WARPS - 1) / WARPS, 1, 1}, {WARPS, 1, 1}, 0, NULL};
    kmm_launch_arm(l);
    return kmm_launch_kernel(&kernel, &g, (void *[]){NULL, &copy});
}

static void fill(memory_t *m)
{
    for (int64_t k = 0; k < ALL; k++) {
        m->in[k] = (int32_t)(k * 7919 % 1000);
        m->out[k] = -1;
    }
    for (int64_t k = 0; k < SUMS; k++)
        m->sum[k] = (int32_t)k;
}

/* Pointers anywhere in their arrays, and the distances to regions there. */
static args_t choose(memory_t *m)
{
    int64_t from = rng_range(&rng, 0, ALL - 1), to = rng_range(&rng, 0, ALL - 1),
            sum = rng_range(&rng, 0, SUMS - 1);
    return (args_t){.from = m->in + from,
                    .to = m->out + to,
                    .sum = m->sum + sum,
                    .first = rng_range(&rng, ROOM, 2 * ROOM) - from,
                    .second = rng_range(&rng, ROOM, 2 * ROOM + N) - from,
                    .out = rng_range(&rng, ROOM, 2 * ROOM + N) - to,
                    .total = rng_range(&rng, 0, SUMS - 1) - sum};
}

static void run(const char *devices, bool on_gpu, bool checks)
{
    static memory_t m, model;
    int refused = 0;
    if (checks)
        setenv("KMM_CHECK", "access", 1);
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = devices, .frame_bytes = 64 << 10});
    unsetenv("KMM_CHECK");
    for (int round = 0; round < ROUNDS; round++) {
        bool says = rng_range(&rng, 0, 3) != 0, maps = rng_range(&rng, 0, 3) == 0;
        fill(&m);
        fill(&model);
        args_t a = choose(&m), b = a;
        b.from = model.in + (a.from - m.in);
        b.to = model.out + (a.to - m.out);
        b.sum = model.sum + (a.sum - m.sum);
        work(&b, 0, N);
        if (maps)
            assert_int_equal(kmm_map(rt, KMM_MAP_TO, m.in + ROOM, (ALL - 2 * ROOM) * 4), 0);
        int error = launch(on_gpu, &a, says);
        if (!error)
            error = kmm_wait(rt);
        if (maps)
            assert_int_equal(kmm_unmap(rt, m.in + ROOM), 0);
        refused += error != 0;
        if (error && says)
            fail_msg("%s: %s", devices, kmm_error_text(NULL));
        if (!error && memcmp(&m, &model, sizeof(m)) != 0)
            fail_msg("%s: a wrong result in round %d%s", devices, round,
                     says ? "" : ", of a launch that does not name its arguments");
    }
    assert_true(refused < ROUNDS / 2);
    runtime_close(rt);
}

static void test_host(void **state)
{
    (void)state;
    run("host", false, false);
    run("host:3,mem=1M", false, false);
}

static void test_check(void **state)
{
    (void)state;
    run("host", false, true);
}

static void test_gpu(void **state)
{
    (void)state;
    run("cuda:1,mem=4M", true, false);
    run("cuda:2,mem=4M", true, false);
}

/* ---- Pointers beside their array ---- */

/* What an array is, and what lies beside it. MANAGED has nothing there. */
typedef enum kind { MANAGED, MAPPED_BETWEEN_MAPPED, BARE, BARE_BETWEEN_MAPPED, KINDS } kind_t;

typedef struct between {
    int32_t before[N], array[N], behind[N];
} between_t;

/* Which of the indices a launch has: all, none by its range, or none by its grid. */
typedef enum extent { ALL_OF_THEM, EMPTY_RANGE, EMPTY_GRID, EXTENTS } extent_t;

static int run_copy(const fake_warp_t *w, void **args)
{
    const kmm_blocks_t *blocks = args[0];
    const args_t *a = args[1];
    int64_t begin = ((int64_t)w->block[0] + blocks->offset_x) * WARPS + w->first;
    for (int64_t i = begin; i < begin + w->count && i < a->total; i++)
        a->to[a->out + i] = a->from[a->first + i] + 1;
    return 0;
}

static void copy_chunk(const kmm_chunk_t *chunk, void *args)
{
    const args_t *a = args;
    for (int64_t i = chunk->begin[0]; i < chunk->end[0]; i++)
        a->to[a->out + i] = a->from[a->first + i] + 1;
}

static fake_kernel_t fake_copy = {NULL, 2, sizes, 0, run_copy};
static const kmm_kernel_t copy_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "copy", NULL, &fake_copy, 2, sizes, 1, NULL};

/* Describes a pointer to the array, to one element before it or to its end: the item with the
 * region, and two empty ones. Returns the pointer; *offset: where it is from the array. */
static int32_t *describe_beside(kmm_launch_t *l, kmm_mode_t mode, int32_t *array, int64_t *offset)
{
    static const int64_t offsets[] = {0, -1, N};
    const int64_t at = rng_range(&rng, 0, 2);
    *offset = offsets[rng_range(&rng, 0, 2)];
    int32_t *base = (int32_t *)((uintptr_t)array + (uintptr_t)(*offset * (int64_t)sizeof(*array)));
    for (int64_t k = 0; k < 3; k++) {
        kmm_launch_access(l, mode, mode == KMM_READ ? "in" : "out", base, sizeof(*base));
        kmm_launch_index(l, k == at ? -*offset : rng_range(&rng, -N, N), k == at);
        if (k == at)
            kmm_launch_coef(l, 0, 1, 0);
    }
    return base;
}

static int launch_copy(bool on_gpu, int32_t *from, int32_t *to, extent_t extent)
{
    const int64_t lower = extent == EMPTY_GRID ? 2 * WARPS : 0, n = extent == EMPTY_RANGE ? 0 : N;
    kmm_launch_t *l = kmm_launch_begin("copy", "bases.c", 8);
    kmm_launch_axis(l, "i", on_gpu ? KMM_GLOBAL_X : KMM_RANGE_0, lower, n - lower);
    kmm_launch_chunk(l, on_gpu ? KMM_GLOBAL_X : KMM_RANGE_0, rng_range(&rng, 100, N));
    args_t a = {.total = n};
    a.from = describe_beside(l, KMM_READ, from, &a.first);
    a.to = describe_beside(l, KMM_WRITE, to, &a.out);
    a.first = -a.first;
    a.out = -a.out;
    if (!on_gpu)
        return kmm_launch_call(l, copy_chunk, &a, sizeof(a));
    uint32_t blocks = extent == EMPTY_GRID ? 1 : (N + WARPS - 1) / WARPS;
    a.total = extent == ALL_OF_THEM ? n : 0;
    if (extent == EMPTY_GRID)
        kmm_launch_bounded(l);
    kmm_launch_arm(l);
    return kmm_launch_kernel(&copy_kernel, &(kmm_geometry_t){{blocks, 1, 1}, {WARPS, 1, 1}, 0, 0},
                             (void *[]){NULL, &a});
}

/* Makes an array of memory between others, and returns it. */
static int32_t *begin_beside(kmm_runtime_t *rt, between_t *m, kind_t kind)
{
    if (kind == MANAGED)
        return array_of(rt, N, m->array);
    if (kind != BARE) {
        assert_int_equal(kmm_map(rt, KMM_MAP_TO, m->before, sizeof(m->before)), 0);
        assert_int_equal(kmm_map(rt, KMM_MAP_TO, m->behind, sizeof(m->behind)), 0);
    }
    if (kind == MAPPED_BETWEEN_MAPPED)
        assert_int_equal(kmm_map(rt, KMM_MAP_TOFROM, m->array, sizeof(m->array)), 0);
    return m->array;
}

/* Ends the array, whose last values are in memory then. */
static void end_beside(kmm_runtime_t *rt, between_t *m, kind_t kind, int32_t *array)
{
    if (kind == MANAGED) {
        assert_int_equal(kmm_copy_out(rt, m->array, array, sizeof(m->array)), 0);
        assert_int_equal(kmm_array_destroy(rt, array), 0);
    } else if (kind != BARE) {
        assert_int_equal(kmm_unmap(rt, m->before), 0);
        assert_int_equal(kmm_unmap(rt, m->behind), 0);
    }
    if (kind == MAPPED_BETWEEN_MAPPED)
        assert_int_equal(kmm_unmap(rt, m->array), 0);
}

static void round_beside(kmm_runtime_t *rt, between_t *m, bool on_gpu)
{
    const kind_t in = (kind_t)rng_range(&rng, 0, KINDS - 1),
                 out = (kind_t)rng_range(&rng, 0, KINDS - 1);
    const extent_t extent =
        rng_range(&rng, 0, 1) ? ALL_OF_THEM : (extent_t)rng_range(&rng, 0, on_gpu ? 2 : 1);
    int32_t *values = (int32_t *)m;
    for (int64_t k = 0; k < 6 * N; k++)
        values[k] = (int32_t)k;
    int32_t *from = begin_beside(rt, &m[0], in), *to = begin_beside(rt, &m[1], out);
    if (launch_copy(on_gpu, from, to, extent) || kmm_wait(rt))
        fail_msg("in %d, out %d, extent %d: %s", in, out, extent, kmm_error_text(NULL));
    end_beside(rt, &m[0], in, from);
    end_beside(rt, &m[1], out, to);
    for (int64_t k = 0; k < 6 * N; k++) {
        bool is_copied = extent == ALL_OF_THEM && k >= 4 * N && k < 5 * N;
        if (values[k] != (is_copied ? k - 3 * N + 1 : k))
            fail_msg("in %d, out %d, extent %d: element %lld is %d", in, out, extent, (long long)k,
                     values[k]);
    }
}

static void run_beside(const char *devices, bool on_gpu, const char *checks)
{
    setenv("KMM_CHECK", checks, 1);
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = devices, .frame_bytes = 64 << 10});
    unsetenv("KMM_CHECK");
    kmm_resource_t *pinned = NULL;
    void *memory = NULL;
    if (on_gpu) {
        assert_int_equal(kmm_pinned_resource_create(0, &pinned), 0);
        assert_int_equal(kmm_resource_allocate(pinned, 2 * sizeof(between_t), 0, NULL, &memory), 0);
    }
    static between_t own[2];
    for (int round = 0; round < 2 * ROUNDS; round++)
        round_beside(rt, memory && round % 2 ? memory : own, on_gpu);
    if (memory)
        kmm_resource_deallocate(pinned, memory, KMM_SIZE_RECORDED, NULL);
    if (pinned)
        kmm_resource_destroy(pinned);
    runtime_close(rt);
}

static void test_beside(void **state)
{
    (void)state;
    run_beside("host", false, "");
    run_beside("host:3,mem=1M", false, "");
    run_beside("host", false, "access");
    run_beside("host", false, "result");
    run_beside("cuda:1,mem=4M", true, "");
    run_beside("cuda:2,mem=4M", true, "access");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_host), cmocka_unit_test(test_check),
                                       cmocka_unit_test(test_gpu), cmocka_unit_test(test_beside)};
    rng = (rng_t){rng_seed()};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
