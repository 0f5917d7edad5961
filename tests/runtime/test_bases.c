/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches whose arguments are not the bases of their items, against a plain loop: arguments and
 * bases lie before, in and behind regions, two items share an argument, and a reduction is reached
 * from beside its element. A launch that does not say so (kmm_launch_through) is right or refused.
 * KMM_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_host), cmocka_unit_test(test_check),
                                       cmocka_unit_test(test_gpu)};
    rng = (rng_t){rng_seed()};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
