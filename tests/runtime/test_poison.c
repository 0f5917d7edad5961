/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a failure spoils, and what it does not, on the fake CUDA driver: the fourth launch of a
 * kernel fails, which is the fourth chunk of the first launch of each test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>

#include "fake_work.h"

enum { CHUNKS = 8, PART = 512, N = CHUNKS * PART, BAD = 3 };

typedef struct fixture {
    kmm_runtime_t *rt;
    int32_t *a, *x, *y, *z;
} fixture_t;

static int32_t *array(kmm_runtime_t *rt, int value)
{
    int32_t *base;
    kmm_shape_t shape = {.dims = 1, .extent = {N}, .element_bytes = 4};
    assert_int_equal(kmm_array_create(rt, &shape, (void **)&base), 0);
    assert_int_equal(kmm_fill(rt, base, value, N * 4), 0);
    return base;
}

/* x = a + a has failed in chunk BAD, whose error kmm_wait tells once. */
static fixture_t begin(void)
{
    fixture_t f;
    setenv("KMM_FAKE_FAIL", "launch:4", 1);
    assert_int_equal(kmm_create(&f.rt, &(kmm_config_t){.devices = "cuda:1", .threads = 2}), 0);
    kmm_use(f.rt);
    f.a = array(f.rt, 1);
    f.x = array(f.rt, 2);
    f.y = array(f.rt, 3);
    f.z = array(f.rt, 4);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, CHUNKS, f.x, f.a, f.a), 0);
    return f;
}

static void expect_failure(const fixture_t *f)
{
    assert_int_equal(kmm_wait(f->rt), KMM_E_DEVICE);
    assert_non_null(strstr(kmm_error_text(f->rt),
                           "faults.c:7: add: chunk 3 of 8: cuLaunchKernel: CUDA_ERROR_UNKNOWN"));
    assert_int_equal(kmm_wait(f->rt), 0);
}

static void end(fixture_t *f)
{
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(f->rt), 0);
}

/* Chunk k of an array holds `value` everywhere, or is poisoned. */
static void check_chunk(const fixture_t *f, const int32_t *base, int k, int32_t value,
                        bool poisoned)
{
    int32_t got[PART];
    assert_int_equal(kmm_copy_out(f->rt, got, base + k * PART, sizeof(got)),
                     poisoned ? KMM_E_POISONED : 0);
    for (int i = 0; i < PART && !poisoned; i++)
        assert_int_equal(got[i], value);
}

static void check(const fixture_t *f, const int32_t *base, int32_t value, int bad)
{
    for (int k = 0; k < CHUNKS; k++)
        check_chunk(f, base, k, value, k == bad);
}

static void exactly_what_depends_on_it(void **state)
{
    (void)state;
    fixture_t f = begin();
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, CHUNKS, f.y, f.x, f.a),
                     0); /* chunk by chunk */
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, MIRROR, N, CHUNKS, f.z, f.y, f.a),
                     0); /* crosswise */
    int32_t *w = array(f.rt, 5);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SCALE, N, CHUNKS, w, NULL, NULL),
                     0); /* has nothing to do with it */
    expect_failure(&f);
    check(&f, f.a, 0x01010101, -1);
    check(&f, f.x, 0x02020202, BAD);
    check(&f, f.y, 0x03030303, BAD);
    check(&f, f.z, 0x02020202, CHUNKS - 1 - BAD);
    check(&f, w, (int32_t)(0x05050505u * 3 + 1), -1);
    end(&f);
}

static void not_what_overwrites_it_or_what_it_read(void **state)
{
    (void)state;
    fixture_t f = begin();
    assert_int_equal(kmm_fill(f.rt, f.a, 7, N * 4), 0); /* which the failed chunk read */
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, CHUNKS, f.x, f.a, f.z), 0);
    expect_failure(&f);
    check(&f, f.x, 0x0b0b0b0b, -1);
    end(&f);
}

static void a_full_write_clears_it_a_partial_one_its_part(void **state)
{
    (void)state;
    fixture_t f = begin();
    expect_failure(&f);
    int32_t *bad = f.x + BAD * PART, got[PART];
    assert_int_equal(kmm_fill(f.rt, bad, 9, PART * 2), 0); /* its first half */
    assert_int_equal(kmm_copy_out(f.rt, got, bad, PART * 2), 0);
    assert_int_equal(got[PART / 2 - 1], 0x09090909);
    assert_int_equal(kmm_copy_out(f.rt, got, bad, PART * 2 + 4), KMM_E_POISONED);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SCALE, N, CHUNKS, f.x, NULL, NULL),
                     0); /* an update spreads it */
    check_chunk(&f, f.x, BAD, 0, true);
    check_chunk(&f, f.x, 0, 0x02020202 * 3 + 1, false);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, CHUNKS, f.x, f.a, f.y), 0);
    check(&f, f.x, 0x04040404, -1);
    assert_int_equal(kmm_wait(f.rt), 0);
    end(&f);
}

/* x = x + a, said as what is stored before what is read. */
static void not_a_full_write_of_what_is_read_too(void **state)
{
    (void)state;
    fixture_t f = begin();
    int64_t n = N;
    kmm_launch_t *l = kmm_launch_begin("add", "poison.c", 1);
    kmm_geometry_t g = {{N / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    void *args[] = {NULL, &n, &f.x, &f.x, &f.a};
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
    kmm_launch_chunk(l, KMM_GLOBAL_X, PART);
    fake_work_access(l, KMM_WRITE, "x[i]", f.x, 0, 1);
    fake_work_access(l, KMM_READ, "x[i]", f.x, 0, 1);
    fake_work_access(l, KMM_READ, "a[i]", f.a, 0, 1);
    kmm_launch_arm(l);
    assert_int_equal(kmm_launch_kernel(&cuda_kernels[ADD], &g, args), 0);
    expect_failure(&f);
    check(&f, f.x, 0x03030303, BAD);
    end(&f);
}

static void the_end_of_an_array_clears_it(void **state)
{
    (void)state;
    fixture_t f = begin();
    assert_int_equal(kmm_array_destroy(f.rt, f.x), 0);
    f.x = array(f.rt, 6);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, CHUNKS, f.y, f.x, f.a), 0);
    expect_failure(&f);
    check(&f, f.y, 0x07070707, -1);
    end(&f);
}

static void a_sum_of_it_is_none(void **state)
{
    (void)state;
    fixture_t f = begin();
    int32_t *sum = array(f.rt, 0), got;
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SUM, N, CHUNKS, sum, f.x, NULL), 0);
    expect_failure(&f);
    assert_int_equal(kmm_copy_out(f.rt, &got, sum, 4), KMM_E_POISONED);
    assert_int_equal(kmm_copy_out(f.rt, &got, sum + 1, 4), 0);
    assert_int_equal(kmm_fill(f.rt, sum, 0, 4), 0);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SUM, N, CHUNKS, sum, f.a, NULL), 0);
    assert_int_equal(kmm_copy_out(f.rt, &got, sum, 4), 0);
    assert_int_equal(got, (int32_t)(0x01010101u * N));
    end(&f);
}

static void the_first_call_that_touches_it_says_why(void **state)
{
    (void)state;
    fixture_t f = begin();
    int32_t got[PART];
    assert_int_equal(kmm_copy_out(f.rt, got, f.x + BAD * PART, sizeof(got)), KMM_E_DEVICE);
    assert_non_null(strstr(kmm_error_text(f.rt), "chunk 3 of 8"));
    expect_failure(&f);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_what_depends_on_it),
        cmocka_unit_test(not_what_overwrites_it_or_what_it_read),
        cmocka_unit_test(a_full_write_clears_it_a_partial_one_its_part),
        cmocka_unit_test(not_a_full_write_of_what_is_read_too),
        cmocka_unit_test(the_end_of_an_array_clears_it),
        cmocka_unit_test(a_sum_of_it_is_none),
        cmocka_unit_test(the_first_call_that_touches_it_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
