/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks made of the program's own statements. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <kmm.h>

#include "base/exit_status.h"
#include "with_runtime.h"

enum { N = 1 << 15 };

static const char *const configurations[] = {"host", "host:1,mem=256K", "host:3,mem=256K"};

static kmm_runtime_t *make(const char *devices)
{
    return runtime_open(&(kmm_config_t){.devices = devices});
}

static int *zeros(kmm_runtime_t *rt, size_t n)
{
    void *p = NULL;
    assert_int_equal(
        kmm_array_create(
            rt, &(kmm_shape_t){.dims = 1, .extent = {(int64_t)n}, .element_bytes = sizeof(int)},
            &p),
        0);
    assert_int_equal(kmm_fill(rt, p, 0, n * sizeof(int)), 0);
    return p;
}

static void expect_all(kmm_runtime_t *rt, const int *x, int value)
{
    int *got = malloc(N * sizeof(int));
    assert_int_equal(kmm_copy_out(rt, got, x, N * sizeof(int)), 0);
    for (int i = 0; i < N; i++)
        if (got[i] != value)
            fail_msg("x[%d] is %d, not %d", i, got[i], value);
    free(got);
}

static void increment(const kmm_chunk_t *c, void *args)
{
    int *x = *(int **)args;
    for (int64_t i = c->begin[0]; i < c->end[0]; i++)
        x[i]++;
}

static int increment_all(int *x)
{
    kmm_launch_t *l = kmm_launch_begin("increment", "test.c", 1);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, N);
    kmm_launch_chunk(l, KMM_RANGE_0, N / 8);
    kmm_launch_access(l, KMM_UPDATE, "x[i]", x, sizeof(int));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    return kmm_launch_call(l, increment, &x, sizeof(x));
}

static kmm_launch_t *describe(kmm_mode_t mode, int *x, int64_t n)
{
    kmm_launch_t *l = kmm_launch_begin("task", "test.c", 2);
    kmm_launch_access(l, mode, "x", x, sizeof(int));
    if (n) {
        kmm_launch_index(l, 0, n);
    }
    return l;
}

/* Between chunks, in its place. */
static void test_order(void **state)
{
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        kmm_runtime_t *rt = make(configurations[c]);
        int *x = zeros(rt, N), *unrelated = zeros(rt, N), expected = 0;
        for (int round = 0; round < 20; round++) {
            assert_int_equal(increment_all(x), 0);
            kmm_launch_t *l = describe(KMM_UPDATE, x, 0);
            kmm_launch_device(l, KMM_ON_DEVICE, c == 2 ? round % 3 : 0);
            kmm_task_t *t = kmm_task_begin(l, NULL, NULL);
            assert_non_null(t);
            assert_true(kmm_task_active());
            int *here = kmm_task_pointer(t, x + 5);
            for (int i = 0; i < N; i++)
                here[i - 5] = here[i - 5] * 3 % 1000;
            assert_int_equal(increment_all(unrelated), 0); /* work may be submitted meanwhile */
            kmm_task_end(t);
            assert_false(kmm_task_active());
            expected = (expected + 1) * 3 % 1000;
        }
        expect_all(rt, x, expected);
        expect_all(rt, unrelated, 20);
        runtime_close(rt);
    }
}

static void triple(const kmm_host_blocks_t *b, void **args)
{
    for (uint64_t k = b->first; k < b->last; k++)
        for (uint32_t i = 0; i < b->block[0]; i++)
            (*(int **)args[0])[k * b->block[0] + i] *= 3;
}

static const uint32_t words[] = {8};
static const kmm_kernel_t triple_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "triple", triple, NULL, 1, words, 0, NULL};

/* A launch inside runs at once, on the pointers as they are. */
static void test_launch(void **state)
{
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        kmm_runtime_t *rt = make(configurations[c]);
        int *x = zeros(rt, N);
        assert_int_equal(increment_all(x), 0);
        kmm_task_t *t = kmm_task_begin(describe(KMM_UPDATE, x, 0), NULL, NULL);
        int *here = kmm_task_pointer(t, x);
        void *args[] = {&here};
        kmm_geometry_t geometry = {{N / 64, 1, 1}, {64, 1, 1}, 0, NULL};
        assert_int_equal(kmm_launch_kernel(&triple_kernel, &geometry, args), 0);
        assert_int_equal(here[N - 1], 3);
        kmm_task_end(t);
        assert_int_equal(increment_all(x), 0);
        expect_all(rt, x, 4);
        runtime_close(rt);
    }
}

/* Memory that is no array is mapped for the task. */
static void test_host_memory(void **state)
{
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        kmm_runtime_t *rt = make(configurations[c]);
        int y[100] = {7};
        kmm_task_t *t = kmm_task_begin(describe(KMM_UPDATE, y, 100), NULL, NULL);
        int *here = kmm_task_pointer(t, y);
        assert_int_equal(here[0], 7);
        for (int i = 0; i < 100; i++)
            here[i] += i;
        kmm_task_end(t);
        for (int i = 0; i < 100; i++)
            assert_int_equal(y[i], i + (i ? 0 : 7));
        assert_int_equal(kmm_unmap(rt, y), KMM_E_ADDRESS);
        runtime_close(rt);
    }
}

static void crash(const kmm_chunk_t *c, void *args)
{
    (void)c;
    (void)args;
}

/* What cannot be done inside a task, and tasks that cannot begin. */
static void test_mistakes(void **state)
{
    (void)state;
    setenv("KMM_ON_ERROR", "continue", 1);
    for (size_t c = 0; c < 3; c++) {
        kmm_runtime_t *rt = make(configurations[c]);
        int *x = zeros(rt, N), *other = zeros(rt, N), one = 0;
        kmm_task_t *t = kmm_task_begin(describe(KMM_UPDATE, x, 0), NULL, NULL);
        assert_int_equal(kmm_wait(rt), KMM_E_STATE);
        assert_int_equal(kmm_copy_out(rt, &one, x, sizeof(one)), KMM_E_STATE);
        assert_int_equal(kmm_fill(rt, x, 0, 4), KMM_E_STATE);
        assert_int_equal(kmm_copy(rt, x, other, 4), KMM_E_STATE);
        assert_null(kmm_task_begin(describe(KMM_READ, other, 0), NULL, NULL));
        assert_null(kmm_task_pointer(t, other));
        assert_null(kmm_task_pointer(t, &one));
        kmm_task_end(t);
        kmm_launch_t *l = describe(KMM_UPDATE, x, 0);
        kmm_launch_device(l, KMM_ON_DEVICE, 3);
        assert_null(kmm_task_begin(l, NULL, NULL));
        l = describe(KMM_UPDATE, x, 0);
        kmm_launch_reduce(l, KMM_OP_ADD, KMM_INT32, "other", other);
        assert_null(kmm_task_begin(l, NULL, NULL));
        assert_null(kmm_task_pointer(NULL, x));
        kmm_task_end(NULL);
        if (c > 0) { /* an array that no device can hold: a task cannot be split, and has the rest
                        in the host's memory */
            int *large = zeros(rt, 1 << 18);
            t = kmm_task_begin(describe(KMM_UPDATE, large, 0), NULL, NULL);
            assert_non_null(t);
            for (int k = 0; k < 1 << 18; k++)
                ((int *)kmm_task_pointer(t, large))[k] += k;
            kmm_task_end(t);
            assert_int_equal(kmm_copy_out(rt, &one, large + (1 << 18) - 1, sizeof(one)), 0);
            assert_int_equal(one, (1 << 18) - 1);
            /* What depends on a failed launch does not run. */
            l = kmm_launch_begin("crash", "test.c", 3);
            kmm_launch_axis(l, "i", KMM_RANGE_0, 0, 1);
            kmm_launch_chunk(l, KMM_RANGE_0, 1);
            static int never[N]; /* promised to be written before it is read */
            assert_int_equal(kmm_map(rt, KMM_MAP_FROM, never, sizeof(never)), 0);
            kmm_launch_access(l, KMM_READ, "never", never, sizeof(int));
            kmm_launch_access(l, KMM_WRITE, "x", x, sizeof(int));
            kmm_launch_call(l, crash, NULL, 0);
            assert_null(kmm_task_begin(describe(KMM_READ, x, 0), NULL, NULL));
            assert_int_equal(kmm_wait(rt), KMM_E_INVALID);
            assert_int_equal(kmm_unmap(rt, never), 0);
            assert_int_equal(kmm_fill(rt, x, 0, N * sizeof(int)), 0);
        }
        expect_all(rt, x, 0);
        expect_all(rt, other, 0);
        runtime_close(rt);
    }
    unsetenv("KMM_ON_ERROR");
    kmm__exit_forget();
}

static void *many_tasks(void *arg)
{
    int *x = arg;
    for (int round = 0; round < 50; round++) {
        kmm_task_t *t = kmm_task_begin(describe(KMM_UPDATE, x, 0), NULL, NULL);
        int *here = kmm_task_pointer(t, x);
        for (int i = 0; i < N; i++)
            here[i]++;
        kmm_task_end(t);
    }
    return NULL;
}

static kmm_runtime_t *shared;

static void *use_shared(void *arg)
{
    kmm_use(shared);
    return many_tasks(arg);
}

/* Two threads, whose arrays do not fit together beside the work of a third. */
static void test_threads(void **state)
{
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        kmm_runtime_t *rt = shared = make(configurations[c]);
        int *x = zeros(rt, N), *y = zeros(rt, N), *z = zeros(rt, N);
        pthread_t a, b;
        pthread_create(&a, NULL, use_shared, x);
        pthread_create(&b, NULL, use_shared, y);
        for (int k = 0; k < 50; k++)
            assert_int_equal(increment_all(z), 0);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
        expect_all(rt, x, 50);
        expect_all(rt, y, 50);
        expect_all(rt, z, 50);
        runtime_close(rt);
    }
}

static int *beside;
static pthread_barrier_t begun, waited;

static void *wait_beside(void *arg)
{
    (void)arg;
    kmm_use(shared);
    pthread_barrier_wait(&begun);
    assert_int_equal(increment_all(beside), 0);
    assert_int_equal(kmm_wait(shared), 0);
    pthread_barrier_wait(&waited);
    return NULL;
}

/* Statements wait for a thread that waits for all work: for its own, and not for the statements. */
static void test_beside(void **state)
{
    (void)state;
    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&waited, NULL, 2);
    for (size_t c = 0; c < 3; c++) {
        kmm_runtime_t *rt = shared = make(configurations[c]);
        int *x = zeros(rt, N);
        pthread_t a;
        beside = zeros(rt, N);
        pthread_create(&a, NULL, wait_beside, NULL);
        kmm_task_t *t = kmm_task_begin(describe(KMM_UPDATE, x, 0), NULL, NULL);
        int *here = kmm_task_pointer(t, x);
        pthread_barrier_wait(&begun);
        pthread_barrier_wait(&waited);
        for (int i = 0; i < N; i++)
            here[i]++;
        kmm_task_end(t);
        pthread_join(a, NULL);
        assert_int_equal(kmm_wait(rt), 0);
        expect_all(rt, x, 1);
        expect_all(rt, beside, 1);
        runtime_close(rt);
    }
}

/* ---- Functions that submit ---- */

enum { DEPTH = 5 };

typedef struct nested {
    int *x;
    int depth;
    int *refused;
} nested_t;

static int nest(nested_t n);

/* x[0] counts the calls: two for each, to a depth of DEPTH. */
static void nested(const kmm_chunk_t *c, void *args)
{
    nested_t n = *(nested_t *)args;
    (void)c;
    kmm_use(shared);
    __atomic_fetch_add(n.x, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(n.refused, kmm_wait(shared) == KMM_E_STATE, __ATOMIC_RELAXED);
    for (int k = 0; k < 2 && n.depth; k++)
        nest((nested_t){n.x, n.depth - 1, n.refused});
    kmm_use(NULL);
}

static int nest(nested_t n)
{
    kmm_launch_t *l = kmm_launch_begin("nested", "test.c", 4);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, 1);
    return kmm_launch_call(l, nested, &n, sizeof(n));
}

/* Work may submit work, and must not wait for it. */
static void test_nested(void **state)
{
    (void)state;
    int calls = 0, refused = 0;
    kmm_runtime_t *rt = shared = make("host");
    assert_int_equal(nest((nested_t){&calls, DEPTH, &refused}), 0);
    for (int k = 0; k <= DEPTH; k++) /* each covers what was submitted before */
        assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(calls, (2 << DEPTH) - 1);
    assert_int_equal(refused, calls);
    runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),       cmocka_unit_test(test_launch),
        cmocka_unit_test(test_host_memory), cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_threads),     cmocka_unit_test(test_nested),
        cmocka_unit_test(test_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
