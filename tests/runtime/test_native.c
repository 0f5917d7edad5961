/* SPDX-License-Identifier: Apache-2.0 */
/* Native standing on the fake CUDA driver, one part in each process, since the standing is the
 * process's. What a native kernel would do, the test does itself: memory that the fake device may
 * access can be accessed at its address. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>
#include <kmm/cuda_api.h>

#include "base/runtime.h"
#include "fake_work.h"
#include "launch/natively.h"
#include "memory/array.h"
#include "memory/state.h"
#include "native_work.h"
#include "random.h"

enum { MANY = 40, GRANULE = 4096, MOST = 300000 };

static size_t size_at_random(rng_t *r)
{
    const size_t sizes[] = {1, 255, 256, 1000, 1024, 1025, GRANULE, GRANULE + 1, 100000, 1 << 20};
    size_t k = rng_next(r) % 16;
    return k < 10 ? sizes[k] : (size_t)rng_range(r, 1, MOST);
}

/* Arrays of many sizes are filled natively, and hold their values after the takeover. */
static void part_takeover(void)
{
    rng_t r = {rng_seed()};
    char *p[MANY];
    size_t n[MANY];
    for (int k = 0; k < MANY; k++) {
        n[k] = size_at_random(&r);
        p[k] = make(n[k]);
        assert_non_null(p[k]);
        assert_int_equal((uintptr_t)p[k] % 256, 0);
        assert_true(is_accessible(p[k]) && is_accessible(p[k] + n[k] - 1));
        assert_true(kmm_cuda_is_managed(p[k] + n[k] - 1));
        fill_native(p[k], n[k], (size_t)k);
    }
    for (int k = 0; k < MANY; k += 3) { /* others take their places */
        drop(p[k]);
        p[k] = make(n[k] = k % 2 ? n[k] : size_at_random(&r));
        fill_native(p[k], n[k], (size_t)k);
    }
    for (int k = 0; k < MANY; k++)
        check(p[k], n[k], (size_t)k); /* the first one takes over */
    assert_false(kmm_cuda_native_enter(KIND));
    for (int k = 0; k < MANY; k++) {
        assert_false(is_accessible(p[k]));
        assert_true(kmm_cuda_is_managed(p[k]));
    }
    for (int k = 0; k < MANY; k += 2) {
        assert_int_equal(kmm_fill(kmm_default(), p[k], 7, n[k]), 0);
        drop(p[k]);
        p[k] = make(n[k]);
        assert_non_null(p[k]);
        unsigned char *values = malloc(n[k]);
        for (size_t i = 0; i < n[k]; i++)
            values[i] = value_of((size_t)k + 1, i);
        assert_int_equal(kmm_copy_in(kmm_default(), p[k], values, n[k]), 0);
        free(values);
    }
    for (int k = 0; k < MANY; k++)
        check(p[k], n[k], (size_t)k + (k % 2 == 0));
    for (int k = 0; k < MANY; k += 3)
        drop(p[k]);
    end();
}

/* An array that does not fit is made, and the next native call takes over. */
static void part_doom(void)
{
    const size_t half = 9 << 20; /* of 16 MiB */
    char *a = make(half), *small = make(100), *b;
    assert_non_null(a);
    fill_native(a, half, 1);
    fill_native(small, 100, 2);
    b = make(half);
    assert_non_null(b);
    assert_true(is_accessible(a)); /* cudaMalloc has taken nothing over */
    assert_false(is_accessible(b));
    assert_false(kmm_cuda_native_enter(KIND));
    assert_false(is_accessible(a));
    unsigned char *values = malloc(half);
    for (size_t k = 0; k < half; k++)
        values[k] = value_of(3, k);
    assert_int_equal(kmm_copy_in(kmm_default(), b, values, half), 0);
    free(values);
    check(a, half, 1);
    check(b, half, 3);
    check(small, 100, 2);
    end();
}

/* KMM_LOG=info says which standing there is, and why it ends. */
static void part_said(void)
{
    char name[] = "/tmp/kmm-native-XXXXXX", text[4096];
    int file = mkstemp(name);
    assert_true(file >= 0);
    setenv("KMM_LOG", "info", 1);
    setenv("KMM_LOG_FILE", name, 1);
    const size_t half = 9 << 20; /* of 16 MiB */
    char *a = make(half), *b = make(half);
    assert_non_null(a);
    assert_non_null(b);
    assert_false(kmm_cuda_native_enter(KIND));
    end();
    ssize_t n = read(file, text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    close(file);
    unlink(name);
    const char *first = strstr(text, "kmm: info: native standing: calls go to the driver while");
    assert_non_null(first);
    assert_non_null(strstr(first, "kmm: info: native standing ends: libkmm takes over for "));
}

/* Memory that is kept for later arrays is given back when another one needs it. */
static void part_kept(void)
{
    char *p[8];
    for (int turn = 0; turn < 3; turn++) {
        for (int k = 0; k < 8; k++)
            p[k] = make(200000);
        for (int k = 0; k < 8; k++)
            drop(p[k]);
    }
    char *most = make((16 << 20) - GRANULE);
    fill_native(most, (16 << 20) - GRANULE, 5);
    assert_true(kmm_cuda_native(KIND));
    drop(most);
    end();
}

/* When a graph has recorded addresses, nothing takes over. */
static void part_bound(void)
{
    char *a = make(100000), b[10];
    fill_native(a, 100000, 1);
    assert_true(kmm_cuda_native_enter(KIND));
    kmm_cuda_native_bind("cudaStreamBeginCapture");
    kmm_cuda_native_leave();
    assert_null(make(20 << 20));
    assert_int_equal(kmm_copy_out(kmm_default(), b, a, 10), KMM_E_STATE);
    assert_non_null(strstr(kmm_error_text(NULL), "cudaStreamBeginCapture"));
    assert_true(kmm_cuda_native(KIND));
    assert_true(is_accessible(a));
    _exit(0);
}

/* A runtime of which something was asked before the first native call is not native. */
static void part_late(void)
{
    void *p = kmm_malloc(1000);
    assert_false(kmm_cuda_native_enter(KIND));
    assert_false(is_accessible(p));
    kmm_free(p);
    end();
}

/* Calls until the standing is native again, or for a minute. */
static bool await_return(void)
{
    for (int k = 0; k < 60000 && !kmm_cuda_native(KIND); k++) {
        usleep(1000);
        assert_int_equal(kmm_cuda_device_settle(), 0);
    }
    return kmm_cuda_native(KIND);
}

/* When the array that did not fit is freed, the others become native again, also those that were
 * made meanwhile, and with what was evicted; and the same a second time. */
static void part_return(void)
{
    const size_t n[] = {3 << 20, 100, 5000, 1 << 20, 70000};
    enum { FIRST = 3, ALL = 5 };
    char *p[ALL];
    for (int k = 0; k < FIRST; k++)
        fill_native(p[k] = make(n[k]), n[k], (size_t)k);
    for (int turn = 0; turn < 2; turn++) {
        char *most = make(15 << 20);
        assert_non_null(most);
        assert_false(kmm_cuda_native_enter(KIND));
        assert_int_equal(kmm_fill(kmm_default(), most, 1, 15 << 20), 0);
        assert_int_equal(
            fake_work_launch(KMM_KIND_CUDA, SCALE, (15 << 20) / 4, 4, (int32_t *)most, NULL, NULL),
            0); /* evicts the others */
        for (int k = FIRST; k < ALL && turn == 0; k++) {
            unsigned char *values = malloc(n[k]);
            p[k] = make(n[k]);
            for (size_t i = 0; i < n[k]; i++)
                values[i] = value_of((size_t)k, i);
            assert_int_equal(kmm_copy_in(kmm_default(), p[k], values, n[k]), 0);
            free(values);
        }
        usleep(100000);
        assert_int_equal(kmm_cuda_device_settle(), 0);
        assert_false(kmm_cuda_native(KIND)); /* it still does not fit */
        drop(most);
        assert_true(await_return());
        assert_true(kmm_cuda_native_enter(KIND));
        for (int k = 0; k < ALL; k++)
            for (size_t i = 0; i < n[k]; i++)
                assert_int_equal((unsigned char)p[k][i],
                                 value_of((size_t)k, i) ^ (i == n[k] - 1 ? turn : 0));
        for (int k = 0; k < ALL; k++)
            p[k][n[k] - 1] ^= 1; /* what only the GPU has is kept by the next takeover */
        kmm_cuda_native_leave();
        for (int k = 0; k < ALL && turn == 1; k++) {
            char last;
            assert_int_equal(kmm_copy_out(kmm_default(), &last, p[k] + n[k] - 1, 1), 0);
            assert_int_equal((unsigned char)last, value_of((size_t)k, n[k] - 1));
        }
    }
    assert_true(await_return());
    for (int k = 0; k < ALL; k++)
        drop(p[k]);
    end();
}

/* An array that work which failed was to write does not become native: its error is told. */
static void part_poisoned(void)
{
    char *a = make(1 << 20), got;
    fill_native(a, 1 << 20, 1);
    assert_int_equal(kmm_copy_out(kmm_default(), &got, a, 1), 0); /* takes over */
    setenv("KMM_FAKE_FAIL", "launch:1", 1);
    fake_work_launch(KMM_KIND_CUDA, SCALE, (1 << 20) / 4, 4, (int32_t *)a, NULL, NULL);
    kmm_wait(kmm_default());
    usleep(50000);
    kmm_cuda_device_settle();
    assert_false(kmm_cuda_native(KIND));
    assert_true(kmm_copy_out(kmm_default(), &got, a, 1) < 0);
    _exit(0);
}

enum { THREADS = 4, MOST_TURNS = 20000, WORDS = 3000, LARGER = 400000 };

typedef struct counter {
    uint32_t *x;
    uint32_t turns, value;
} counter_t;

static void scale(uint32_t *x)
{
    run_element_by_element(SCALE, WORDS, (int32_t *)x, NULL, NULL);
}

static atomic_bool stops;

/* Scales an array of its own by launches, by unseen kernels while the standing is native, and by
 * copies, until told to stop. */
static void *count(void *arg)
{
    counter_t *c = arg;
    uint32_t *copy = malloc(WORDS * sizeof(*copy));
    const size_t bytes = WORDS * sizeof(*copy);
    for (; c->turns < MOST_TURNS && !atomic_load(&stops); c->turns++) {
        if (c->turns % 16 == 3)
            drop(make(1 + (size_t)c->turns % 50 * 100));
        if (c->turns % 32 == 5)
            kmm_cuda_device_settle();
        c->value = c->value * 3 + 1;
        usleep(100);
        if (c->turns % 4 == 1) {
            int how = fake_work_launch(KMM_KIND_CUDA, SCALE, WORDS, 3, (int32_t *)c->x, NULL, NULL);
            assert_true(how == 0 || how == KMM__LAUNCH_NATIVELY);
            if (how == KMM__LAUNCH_NATIVELY) {
                scale(c->x);
                kmm_cuda_native_leave();
            }
            continue;
        }
        if (kmm_cuda_native_enter(KIND)) {
            scale(c->x);
            kmm_cuda_native_leave();
            continue;
        }
        assert_int_equal(kmm_copy_out(kmm_default(), copy, c->x, bytes), 0);
        scale(copy);
        assert_int_equal(kmm_copy_in(kmm_default(), c->x, copy, bytes), 0);
    }
    free(copy);
    return NULL;
}

/* Threads are at work while another one makes the standing end and become native again, at random
 * times. */
static void part_threads(void)
{
    rng_t r = {rng_seed()};
    pthread_t thread[THREADS];
    counter_t c[THREADS];
    uint32_t got[WORDS];
    for (int k = 0; k < THREADS; k++) {
        c[k] = (counter_t){(uint32_t *)make(sizeof(got)), 0, 0};
        assert_true(kmm_cuda_native_enter(KIND));
        memset(c[k].x, 0, sizeof(got));
        kmm_cuda_native_leave();
    }
    for (int k = 0; k < THREADS; k++)
        pthread_create(&thread[k], NULL, count, &c[k]);
    for (int turn = 0; turn < 3; turn++) {
        usleep((useconds_t)rng_range(&r, 0, 20000));
        if (turn % 2) {
            char *most = make(20 << 20);
            usleep((useconds_t)rng_range(&r, 0, 2000));
            drop(most);
        } else {
            assert_int_equal(kmm_copy_out(kmm_default(), got, c[0].x, sizeof(got)), 0);
            for (int i = 1; i < WORDS; i++)
                assert_int_equal(got[i], got[0]); /* no thread was inside */
        }
        if (turn < 2)
            assert_true(await_return());
    }
    atomic_store(&stops, true);
    for (int k = 0; k < THREADS; k++)
        pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(kmm_copy_out(kmm_default(), got, c[k].x, sizeof(got)), 0);
        for (int i = 0; i < WORDS; i++)
            if (got[i] != c[k].value)
                fail_msg("array %d, element %d: %u of %u", k, i, got[i], c[k].value);
    }
    end();
}

/* ---- Random programs ---- */

enum { ARRAYS = 4, STEPS = 300, LONGEST = 20000 };

typedef struct both {
    int32_t *x;     /* the array */
    int32_t *model; /* what it holds */
    int64_t n;
} both_t;

/* Makes an array with random values, natively if that is possible. */
static void both_make(both_t *t, rng_t *r)
{
    t->n = rng_range(r, 1, LONGEST);
    const size_t bytes = (size_t)t->n * sizeof(*t->x);
    t->x = (int32_t *)make(bytes);
    t->model = malloc(bytes);
    for (int64_t i = 0; i < t->n; i++)
        t->model[i] = (int32_t)rng_next(r);
    if (kmm_cuda_native_enter(KIND)) {
        memcpy(t->x, t->model, bytes);
        kmm_cuda_native_leave();
    } else {
        assert_int_equal(kmm_copy_in(kmm_default(), t->x, t->model, bytes), 0);
    }
}

/* fake_work_launch as kmmcc writes it: described only where its description is not kept. */
static int launch_kept(what_t what, int64_t n, int chunks, int32_t *dst, int32_t *a, int32_t *b)
{
    static kmm_site_t site;
    const kmm_value_t values[] = {
        what,           (kmm_value_t)n, (kmm_value_t)chunks, kmm_address(dst),
        kmm_address(a), kmm_address(b)};
    const kmm_geometry_t g = {{(uint32_t)((n + BLOCK - 1) / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    void *args[] = {NULL, &n, &dst, &a, &b};
    kmm_cuda_order_t *order;
    kmm_launch_t *l = kmm_launch_again(&site, values, 6);
    if (!l) {
        l = kmm_launch_begin(names[what], "faults.c", 7);
        kmm_launch_keep(l, &site, values, 6);
        return fake_work_launch_of(l, KMM_KIND_CUDA, what, n, chunks, dst, a, b);
    }
    if (kmm_cuda_launch_again(&cuda_kernels[what], &g, args + 1, 1, &order) < 0)
        return kmm_launch_kernel(&cuda_kernels[what], &g, args);
    kmm_cuda_native_order_end();
    return KMM__LAUNCH_NATIVELY;
}

/* A launch with a pragma. Native standing leaves it to the caller. */
static void step_launch(both_t *t, rng_t *r)
{
    what_t what = (what_t)(rng_next(r) % WHATS);
    both_t *dst = &t[0], *a = &t[1 + rng_next(r) % 2], *b = &t[3];
    int64_t n = dst->n < a->n ? dst->n : a->n;
    n = b->n < n ? b->n : n;
    n = what == SUM ? a->n : rng_range(r, 1, n);
    int chunks = (int)rng_range(r, 1, 5);
    int32_t *pa = what == SCALE ? NULL : a->x, *pb = what == SUM || what == SCALE ? NULL : b->x;
    for (uint64_t turns = 1 + rng_next(r) % 5; turns; turns--) {
        int result = launch_kept(what, n, chunks, dst->x, pa, pb);
        if (result == KMM__LAUNCH_NATIVELY) {
            assert_true(kmm_cuda_native(KIND));
            run_element_by_element(what, n, dst->x, a->x, b->x);
            kmm_cuda_native_leave();
            result = 0;
        }
        if (result)
            fail_msg("launch of %s: %s", names[what], kmm_error_text(NULL));
        run_element_by_element(what, n, dst->model, a->model, b->model);
    }
}

/* A launch whose chunks write the same element is refused and does nothing, in both standings. */
static void step_mistake(both_t *t, rng_t *r)
{
    int64_t n = rng_range(r, 5 * BLOCK, LONGEST);
    kmm_launch_t *l = kmm_launch_begin("overlaps", "native.c", 1);
    kmm_geometry_t g = {{(uint32_t)((n + BLOCK - 1) / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    int32_t *none = NULL, *dst = t[0].x;
    void *args[] = {NULL, &n, &dst, &none, &none};
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
    kmm_launch_chunk(l, KMM_GLOBAL_X, n / rng_range(r, 2, 5));
    fake_work_access(l, KMM_UPDATE, "dst[0]", dst, 0, 0);
    kmm_launch_arm(l);
    assert_int_equal(kmm_launch_kernel(&cuda_kernels[SCALE], &g, args), KMM_E_OVERLAP);
    kmm_wait(kmm_default());
}

/* What libkmm does not see; when the standing is over, the same by a copy. */
static void step_unseen(both_t *t, rng_t *r)
{
    int64_t at = rng_range(r, 0, t->n - 1);
    t->model[at] = (int32_t)rng_next(r);
    if (kmm_cuda_native_enter(KIND)) {
        t->x[at] = t->model[at];
        kmm_cuda_native_leave();
        return;
    }
    assert_int_equal(kmm_copy_in(kmm_default(), &t->x[at], &t->model[at], sizeof(*t->x)), 0);
}

static uint64_t program; /* number of the random program */

static void part_oracle(void)
{
    rng_t r = {rng_seed() + program};
    both_t t[ARRAYS];
    int32_t got[LONGEST];
    const int end_at = (int)rng_range(&r, 0, 2 * STEPS); /* in half of the programs never */
    const int return_at = end_at + (int)rng_range(&r, 1, STEPS / 2);
    char *most = NULL;
    for (int k = 0; k < ARRAYS; k++)
        both_make(&t[k], &r);
    for (int step = 0; step < STEPS; step++) {
        if (step == end_at)
            most = make(20 << 20); /* it does not fit */
        if (step == return_at) {
            drop(most);
            assert_true(await_return());
        }
        uint64_t what = rng_next(&r) % 10;
        both_t *one = &t[rng_next(&r) % ARRAYS], first = t[0];
        if (what < 6) {
            step_launch(t, &r);
        } else if (what == 6) {
            step_mistake(t, &r);
        } else if (what == 7) {
            free(one->model);
            drop((char *)one->x);
            both_make(one, &r);
        } else if (what == 8) {
            t[0] = *one; /* another one is written from now on */
            *one = first;
        } else {
            step_unseen(one, &r);
        }
    }
    for (int k = 0; k < ARRAYS; k++) {
        const size_t bytes = (size_t)t[k].n * sizeof(*got);
        assert_int_equal(kmm_copy_out(kmm_default(), got, t[k].x, bytes), 0);
        assert_memory_equal(got, t[k].model, bytes);
    }
    end();
}

static bool fails_return; /* the program goes on until native standing could return */

/* Some call of the driver fails. The values are right, or an error tells that they are not. */
static void part_failure(void)
{
    char *p[6];
    size_t n[6] = {100, 5000, 70000, 1 << 20, 2 << 20, 300};
    char *got = malloc(2 << 20);
    for (int k = 0; k < 6; k++) {
        p[k] = make(n[k]);
        if (!p[k] || !kmm_cuda_native(KIND))
            _exit(0); /* it was told, or another standing began: other tests have that */
        fill_native(p[k], n[k], (size_t)k);
    }
    for (int k = 0; k < 6; k++) {
        if (kmm_copy_out(kmm_default(), got, p[k], n[k]))
            continue;
        for (size_t i = 0; i < n[k]; i++)
            if ((unsigned char)got[i] != value_of((size_t)k, i))
                _exit(1);
    }
    if (!fails_return)
        _exit(0);
    usleep(60000);
    kmm_cuda_device_settle();
    for (int k = 0; k < 6; k++) {
        if (kmm_cuda_native_enter(KIND))
            memcpy(got, p[k], n[k]);
        else if (kmm_copy_out(kmm_default(), got, p[k], n[k]))
            continue;
        for (size_t i = 0; i < n[k]; i++)
            if ((unsigned char)got[i] != value_of((size_t)k, i))
                _exit(2);
    }
    _exit(0);
}

PART(said)
PART(takeover)
PART(return)
PART(poisoned)
PART(doom)
PART(kept)
PART(bound)
PART(late)

static void test_oracle(void **state)
{
    (void)state;
    for (program = 0; program < 20 / BRIEF; program++)
        child(part_oracle);
}

static void test_threads(void **state)
{
    (void)state;
    for (int k = 0; k < 2 / BRIEF + 1; k++)
        child(part_threads);
}

static void test_failures(void **state)
{
    const char *points[] = {"alloc", "reserve", "map"};
    char fail[32];
    (void)state;
    for (int point = 0; point < 3; point++)
        for (int k = 1; k < 40; k += BRIEF) {
            snprintf(fail, sizeof(fail), "%s:%d%s", points[point], k, k % 3 ? "" : "+");
            setenv("KMM_FAKE_FAIL", fail, 1);
            fails_return = point > 0 && k % 3 == 1;
            child(part_failure);
        }
    unsetenv("KMM_FAKE_FAIL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_return),   cmocka_unit_test(test_poisoned),
        cmocka_unit_test(test_takeover), cmocka_unit_test(test_said),
        cmocka_unit_test(test_doom),     cmocka_unit_test(test_kept),
        cmocka_unit_test(test_bound),    cmocka_unit_test(test_late),
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_failures),
    };
    setenv("KMM_DEVICES", "cuda:1", 1);
    setenv("KMM_FAKE_MEM", "16777216", 1);
    setenv("KMM_ON_ERROR", "continue", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
