/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of one place in the source that come again, on the fake CUDA driver, as kmmcc writes
 * them: a launch is described only if kmm_launch_again has not kept its description. When it is
 * kept, one thing changes. Then the launch ends as one that is described each time, and what native
 * kernels would do is done here.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>
#include <kmm/cuda_api.h>

#include "fake_work.h"
#include "launch/natively.h"
#include "native_work.h"

enum { N = 4096, BLOCKS = N / BLOCK, KEPT = 1000, MOST = 20 };

/* A launch of dst[i] = dst[i] * 3 + 1. */
typedef struct shot {
    int32_t *dst;   /* of the clause */
    int32_t *given; /* the argument */
    int64_t n, chunk;
    int64_t step; /* update(dst[step * i]) */
    uint32_t blocks, threads;
    bool is_whole; /* parallel(i), without a range */
    const kmm_kernel_t *kernel;
    int line;
} shot_t;

static int descriptions; /* of this process, in launches of one thread */

static kmm_launch_t *describe(const shot_t *s)
{
    kmm_launch_t *l = kmm_launch_begin("scale", "keep.c", s->line);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, s->is_whole ? KMM_WHOLE : s->n);
    kmm_launch_chunk(l, KMM_GLOBAL_X, s->chunk);
    kmm_launch_bounded(l);
    fake_work_access(l, KMM_UPDATE, "dst[i]", s->dst, 0, s->step);
    __atomic_fetch_add(&descriptions, 1, __ATOMIC_RELAXED);
    return l;
}

/* Returns KEPT if the launch is made without its checks. A site NULL keeps nothing. */
static int shoot(kmm_site_t *site, const shot_t *s)
{
    const kmm_value_t values[] = {kmm_address(s->dst), kmm_number(s->n), kmm_number(s->chunk),
                                  kmm_number(s->step), kmm_number(s->is_whole)};
    const kmm_geometry_t g = {{s->blocks, 1, 1}, {s->threads, 1, 1}, 0, NULL};
    int32_t *none = NULL, *dst = s->given;
    int64_t n = s->n;
    void *args[] = {NULL, &n, &dst, &none, &none};
    kmm_launch_t *l = site ? kmm_launch_again(site, values, 5) : NULL;
    kmm_cuda_order_t *order;
    if (!l) {
        l = describe(s);
        if (site)
            kmm_launch_keep(l, site, values, 5);
        kmm_launch_arm(l);
    } else {
        assert_int_equal(kmm_cuda_native_enter_launch(KIND), KMM_CUDA_ARMED_AGAIN);
        if (kmm_cuda_launch_again(s->kernel, &g, args + 1, 1, &order) == 0) {
            kmm_cuda_native_order_end();
            return KEPT;
        }
    }
    return kmm_launch_kernel(s->kernel, &g, args);
}

/* Makes the launch, and does what a native kernel does. */
static int run(kmm_site_t *site, const shot_t *s)
{
    const int how = shoot(site, s);
    if (how == KMM__LAUNCH_NATIVELY || how == KEPT) {
        run_element_by_element(SCALE, s->n, s->given, NULL, NULL);
        kmm_cuda_native_leave();
    }
    return how;
}

static int32_t *zeros(size_t n)
{
    int32_t *x = (int32_t *)make(n * sizeof(*x));
    assert_true(kmm_cuda_native_enter(KIND));
    memset(x, 0, n * sizeof(*x));
    kmm_cuda_native_leave();
    return x;
}

static shot_t shot_at(int32_t *x)
{
    return (shot_t){.dst = x,
                    .given = x,
                    .n = N,
                    .chunk = N / 4,
                    .step = 1,
                    .blocks = BLOCKS,
                    .threads = BLOCK,
                    .kernel = &cuda_kernels[SCALE],
                    .line = 7};
}

static void run_until_kept(kmm_site_t *site, const shot_t *s)
{
    int how = 0;
    for (int k = 0; k < MOST && how != KEPT; k++) {
        how = run(site, s);
        assert_true(how == KMM__LAUNCH_NATIVELY || how == KEPT);
    }
    assert_int_equal(how, KEPT);
}

static void part_changes(void)
{
    int32_t *x = zeros(N), *y = zeros(N);
    shot_t s = shot_at(x), changed[] = {s, s, s, s, s, s, s, s};
    enum { CHANGES = sizeof(changed) / sizeof(*changed) };
    const int refused[CHANGES] = {[1] = KMM_E_INVALID, [4] = KMM_E_OVERLAP};
    changed[0].dst = changed[0].given = y;
    changed[1].given = y; /* which no clause names */
    changed[2].n = N / 2;
    changed[3].chunk = N / 2;
    changed[4].step = 0; /* all chunks write one element */
    changed[5].blocks = BLOCKS / 2;
    changed[6].threads = BLOCK / 2;
    changed[7].kernel = &cuda_kernels[ADD];
    for (int k = 0; k < CHANGES; k++) {
        kmm_site_t site = {0};
        s.line = changed[k].line = 100 + k;
        run_until_kept(&site, &s);
        const int expected = run(NULL, &changed[k]);
        assert_int_equal(expected, refused[k] ? refused[k] : KMM__LAUNCH_NATIVELY);
        assert_int_equal(run(&site, &changed[k]), expected);
        run_until_kept(&site, &s);
    }
    end();
}

static const kmm_launch_t *again(kmm_site_t *site, const shot_t *s)
{
    const kmm_value_t values[] = {kmm_address(s->dst), kmm_number(s->n), kmm_number(s->chunk),
                                  kmm_number(s->step), kmm_number(s->is_whole)};
    return kmm_launch_again(site, values, 5);
}

/* The description that is kept is the program's, and not what a smaller grid has left of it. */
static void part_grid(void)
{
    kmm_site_t site = {0};
    int32_t *x = zeros(N), got[N];
    shot_t s = shot_at(x);
    s.blocks = BLOCKS / 2;
    run_until_kept(&site, &s);
    memset(x, 0, sizeof(got));
    s.blocks = BLOCKS;
    const int before = descriptions;
    assert_int_equal(run(&site, &s), KMM__LAUNCH_NATIVELY);
    assert_int_equal(descriptions, before);
    const kmm_launch_t *l = again(&site, &s);
    assert_non_null(l);
    assert_int_equal(kmm_copy_out(kmm_default(), got, x, sizeof(got)), 0); /* takes over */
    const kmm_geometry_t g = {{BLOCKS, 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    int64_t n = N;
    int32_t *none = NULL;
    void *args[] = {NULL, &n, &x, &none, &none};
    assert_int_equal(kmm_launch_kernel(s.kernel, &g, args), 0);
    assert_int_equal(kmm_copy_out(kmm_default(), got, x, sizeof(got)), 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(got[i], 4);
    end();
}

/* Arrays that come after each other at one address are told apart. */
static void part_freed(void)
{
    kmm_site_t site = {0};
    int32_t *x = zeros(N);
    const shot_t s = shot_at(x);
    run_until_kept(&site, &s);
    drop((char *)x);
    assert_null(again(&site, &s)); /* there is no array */
    assert_ptr_equal(zeros(N), x);
    assert_null(again(&site, &s));
    const int before = descriptions;
    assert_int_equal(run(&site, &s), KMM__LAUNCH_NATIVELY);
    assert_int_equal(descriptions, before + 1);
    run_until_kept(&site, &s);
    drop(make(1000)); /* an array that lies elsewhere, too, since a pointer may now lead there */
    assert_null(again(&site, &s));
    run_until_kept(&site, &s);
    end();
}

/* An array is freed, or made, between kmm_launch_again and the launch: the kept description is
 * checked. */
static void part_freed_between(void)
{
    kmm_site_t site = {0};
    int32_t *x = zeros(N), *none = NULL;
    const shot_t s = shot_at(x);
    const kmm_geometry_t g = {{BLOCKS, 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    int64_t n = N;
    void *args[] = {NULL, &n, &x, &none, &none};
    kmm_cuda_order_t *order;
    run_until_kept(&site, &s);
    assert_non_null(again(&site, &s));
    char *other = make(1000);
    assert_int_equal(kmm_cuda_launch_again(s.kernel, &g, args + 1, 1, &order), -1);
    assert_int_equal(kmm_launch_kernel(s.kernel, &g, args), KMM__LAUNCH_NATIVELY);
    kmm_cuda_native_leave();
    drop(other);
    end();
}

static bool await_return(void)
{
    for (int k = 0; k < 60000 && !kmm_cuda_native(KIND); k++) {
        usleep(1000);
        assert_int_equal(kmm_cuda_device_settle(), 0);
    }
    return kmm_cuda_native(KIND);
}

/* libkmm takes over and hands back, also between kmm_launch_again and the launch. */
static void part_takeover(void)
{
    kmm_site_t site = {0};
    int32_t *x = zeros(N), got[N];
    const shot_t s = shot_at(x);
    uint32_t expected = 0;
    for (int turn = 0; turn < 3; turn++) {
        memset(x, 0, sizeof(got));
        run_until_kept(&site, &s);
        memset(x, 0, sizeof(got));
        assert_int_equal(run(&site, &s), KEPT);
        expected = 1;
        if (turn == 2) {
            const kmm_geometry_t g = {{BLOCKS, 1, 1}, {BLOCK, 1, 1}, 0, NULL};
            int64_t n = N;
            int32_t *dst = x, *none = NULL;
            void *args[] = {NULL, &n, &dst, &none, &none};
            kmm_cuda_order_t *order;
            assert_non_null(again(&site, &s));
            assert_int_equal(kmm_copy_out(kmm_default(), got, x, sizeof(got)), 0);
            assert_int_equal(kmm_cuda_launch_again(s.kernel, &g, args + 1, 1, &order), -1);
            assert_int_equal(kmm_launch_kernel(s.kernel, &g, args), 0);
            expected = 4;
        }
        assert_int_equal(kmm_copy_out(kmm_default(), got, x, sizeof(got)), 0);
        for (int i = 0; i < N; i++)
            assert_int_equal(got[i], expected);
        for (int k = 0; k < 3; k++, expected = expected * 3 + 1)
            assert_int_equal(run(&site, &s), 0); /* in chunks */
        assert_int_equal(kmm_copy_out(kmm_default(), got, x, sizeof(got)), 0);
        for (int i = 0; i < N; i++)
            assert_int_equal(got[i], expected);
        assert_true(await_return());
    }
    end();
}

/* Another GPU is current, on which the arrays are not. */
static void part_device(void)
{
    kmm_site_t site = {0};
    const shot_t s = shot_at(zeros(N));
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *other;
    int (*retain)(void **, int), (*push)(void *);
    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&push = dlsym(driver, "cuCtxPushCurrent_v2");
    run_until_kept(&site, &s);
    assert_int_equal(retain(&other, 1), 0);
    assert_int_equal(push(other), 0);
    assert_int_equal(run(&site, &s), 0); /* libkmm takes over */
    assert_false(kmm_cuda_native(KIND));
    _exit(0);
}

/* Another runtime is current. */
static void part_runtime(void)
{
    kmm_site_t site = {0};
    const shot_t s = shot_at(zeros(N));
    kmm_runtime_t *rt = NULL;
    run_until_kept(&site, &s);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1"}), 0);
    kmm_use(rt);
    assert_null(again(&site, &s));
    kmm_use(NULL);
    assert_int_equal(run(&site, &s), 0); /* in chunks, since the standing has ended */
    assert_int_equal(kmm_destroy(rt), 0);
    _exit(0);
}

/* A launch whose result depends on its chunks is described each time. */
static void part_rounding(void)
{
    kmm_site_t site = {0};
    float *x = (float *)zeros(N), *sum = (float *)zeros(1);
    const kmm_geometry_t g = {{BLOCKS, 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    const kmm_value_t values[] = {kmm_address(x), kmm_address(sum)};
    int64_t n = N;
    int32_t *none = NULL;
    void *args[] = {NULL, &n, &sum, &x, &none};
    for (int k = 0; k < MOST; k++) {
        assert_null(kmm_launch_again(&site, values, 2));
        kmm_launch_t *l = kmm_launch_begin("sum", "keep.c", 8);
        kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, N);
        kmm_launch_chunk(l, KMM_GLOBAL_X, N); /* one chunk, as it stands */
        fake_work_access(l, KMM_READ, "x[i]", (int32_t *)x, 0, 1);
        kmm_launch_reduce(l, KMM_OP_ADD, KMM_FLOAT, "sum[0]", sum);
        kmm_launch_index(l, 0, 1);
        kmm_launch_keep(l, &site, values, 2);
        kmm_launch_arm(l);
        assert_int_equal(kmm_launch_kernel(&cuda_kernels[SUM], &g, args), KMM__LAUNCH_NATIVELY);
        kmm_cuda_native_leave();
    }
    end();
}

/* The pragma of a launch that does not happen is dropped, and is still kept. */
static void part_dropped(void)
{
    kmm_site_t site = {0}, inner = {0};
    const shot_t s = shot_at(zeros(N));
    run_until_kept(&site, &s);
    run_until_kept(&inner, &s);
    const kmm_launch_t *l = again(&site, &s);
    assert_non_null(l);
    assert_null(again(&site, &s)); /* it is taken */
    kmm_launch_disarm(l);
    assert_int_equal(kmm_cuda_native_enter_launch(KIND), 1); /* without a pragma */
    kmm_cuda_native_leave();
    assert_int_equal(run(&site, &s), KEPT);
    /* A launch among the arguments of another one is refused as it is without all that. */
    assert_non_null(again(&site, &s));
    assert_int_equal(run(&inner, &s), KMM_E_STATE);
    assert_int_equal(run(&site, &s), KEPT);
    assert_int_equal(run(&inner, &s), KEPT);
    end();
}

/* More values than a place keeps take turns: each is right, whether it is kept or not. */
static void part_many(void)
{
    enum { ARRAYS = 12, TURNS = 8 };
    kmm_site_t site = {0};
    int32_t *x[ARRAYS];
    int kept = 0;
    for (int k = 0; k < ARRAYS; k++)
        x[k] = zeros(N);
    for (int turn = 0; turn < TURNS; turn++)
        for (int k = 0; k < ARRAYS; k++) {
            const shot_t s = shot_at(x[k]);
            const int how = run(&site, &s);
            kept += how == KEPT;
            assert_true(how == KEPT || how == KMM__LAUNCH_NATIVELY);
        }
    for (int k = 0; k < ARRAYS; k++)
        for (int i = 0; i < N; i++)
            assert_int_equal(x[k][i], 3280); /* (3^8 - 1) / 2 */
    for (int turn = 0; turn < TURNS; turn++) /* two buffers that take turns are both kept */
        for (int k = 0; k < 2; k++) {
            const shot_t s = shot_at(x[k]);
            const int how = run(&site, &s);
            assert_true(turn < TURNS / 2 || how == KEPT);
        }
    end();
}

enum { THREADS = 4, TURNS = 400 };
static kmm_site_t shared;

static void *repeat(void *arg)
{
    int32_t *own = arg;
    for (int k = 0; k < TURNS; k++) {
        const shot_t s = shot_at(own);
        int32_t first;
        if (run(&shared, &s) < 0 ||
            (k % 50 == 7 && kmm_copy_out(kmm_default(), &first, own, sizeof(first))))
            return own;
        if (k % 50 == 11)
            drop(make(1000));
        if (k % 50 == 9)
            kmm_cuda_device_settle();
    }
    return NULL;
}

/* Threads share a place, each with an array of its own; the standing ends and returns meanwhile. */
static void part_threads(void)
{
    pthread_t thread[THREADS];
    int32_t *x[THREADS], got[N], one = 0;
    void *failed;
    for (int k = 0; k < THREADS; k++)
        x[k] = zeros(N);
    for (int k = 0; k < THREADS; k++)
        pthread_create(&thread[k], NULL, repeat, x[k]);
    for (int k = 0; k < THREADS; k++) {
        pthread_join(thread[k], &failed);
        assert_null(failed);
    }
    for (int k = 0; k < TURNS; k++)
        one = (int32_t)((uint32_t)one * 3 + 1);
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(kmm_copy_out(kmm_default(), got, x[k], sizeof(got)), 0);
        for (int i = 0; i < N; i++)
            assert_int_equal(got[i], one);
    }
    end();
}

PART(changes)
PART(grid)
PART(freed)
PART(freed_between)
PART(takeover)
PART(device)
PART(runtime)
PART(dropped)
PART(many)
PART(rounding)
PART(threads)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),  cmocka_unit_test(test_grid),
        cmocka_unit_test(test_freed),    cmocka_unit_test(test_freed_between),
        cmocka_unit_test(test_takeover), cmocka_unit_test(test_device),
        cmocka_unit_test(test_runtime),  cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_many),     cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_threads),
    };
    setenv("KMM_DEVICES", "cuda:1", 1);
    setenv("KMM_FAKE_MEM", "16777216", 1);
    setenv("KMM_ON_ERROR", "continue", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
