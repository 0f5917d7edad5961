/* SPDX-License-Identifier: Apache-2.0 */
/* What is inferred of a launch holds where its integers fit; otherwise it runs as without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_gpu.h"
#include "launch/fits.h"
#include "launch/state.h"
#include <kmm.h>

enum { BLOCK = 64, N = 100 * BLOCK };

static int add_block(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    const kmm_blocks_t *b = args[0];
    int64_t begin = (int64_t)(block[0] + b->offset_x) * BLOCK;
    uint32_t *x = *(uint32_t **)args[1];
    (void)grid;
    for (int64_t i = begin; i < begin + BLOCK && i < N; i++)
        x[i] += (uint32_t)i;
    return 0;
}

static const uint32_t sizes[] = {sizeof(kmm_blocks_t), 8};
static fake_kernel_t fake_add = {add_block, 2, sizes, 0, NULL};
static const kmm_kernel_t kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "add", NULL, &fake_add, 2, sizes, 1, NULL};
static const kmm_geometry_t geometry = {{N / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0, NULL};

static kmm_launch_t *describe(uint32_t *x, int64_t lower)
{
    kmm_launch_t *l = kmm_launch_begin("add", "test_fits.c", __LINE__);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, N);
    kmm_launch_chunk(l, KMM_GLOBAL_X, N / 4);
    kmm_launch_access(l, KMM_UPDATE, "x[i]", x, 4);
    kmm_launch_index(l, lower, 1);
    kmm_launch_coef(l, 0, 1, 0);
    return l;
}

static void add(kmm_launch_t *l, uint32_t *x, int expected)
{
    void *args[] = {NULL, &x};
    kmm_launch_arm(l);
    assert_int_equal(kmm_launch_kernel(&kernel, &geometry, args), expected);
}

static uint64_t chunks(kmm_runtime_t *rt)
{
    uint64_t count = 0;
    kmm_device_info_t d;
    assert_int_equal(kmm_wait(rt), 0);
    for (int k = 0; kmm_device_get(rt, k, &d) == 0; k++)
        count += d.chunks;
    return count;
}

static void launches_run_whole(void **state)
{
    (void)state;
    const int64_t far = INT64_C(1) << 32;
    kmm_runtime_t *rt = NULL;
    uint32_t *x, got[N];
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:2"}), 0);
    kmm_use(rt);
    assert_int_equal(kmm_array_create(rt,
                                      &(kmm_shape_t){.dims = 1, .extent = {N}, .element_bytes = 4},
                                      (void **)&x),
                     0);
    assert_int_equal(kmm_fill(rt, x, 0, sizeof(got)), 0);
    kmm_launch_t *l = describe(x, 0);
    kmm_launch_fits(l, "i", KMM_INT32, KMM_IN_GRID, 0);
    kmm_launch_fits_coef(l, 0, 1);
    add(l, x, 0);
    assert_int_equal(chunks(rt), 4);
    l = describe(x, 0);
    kmm_launch_fits(l, "i + n", KMM_INT32, KMM_IN_GRID, INT32_MAX - N + 2);
    kmm_launch_fits_coef(l, 0, 1);
    add(l, x, 0);
    assert_int_equal(chunks(rt), 5);
    /* What would be refused runs whole if it is inferred, and is an error if it is not. */
    l = describe(x, far);
    kmm_launch_inferred(l);
    add(l, x, 0);
    assert_int_equal(chunks(rt), 6);
    add(describe(x, far), x, KMM_E_RANGE);
    assert_int_equal(chunks(rt), 6);
    assert_int_equal(rt->launches->undone, 2);
    assert_int_equal(kmm_copy_out(rt, got, x, sizeof(got)), 0);
    for (uint32_t k = 0; k < N; k++)
        assert_int_equal(got[k], 3 * k);
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
}

static bool holds(kmm_type_t type, kmm_reach_t reach, int64_t constant, int64_t coef)
{
    kmm_launch_t *l = kmm_launch_begin("none", "test_fits.c", 1);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 10, 100);
    kmm_launch_fits(l, "e", type, reach, constant);
    kmm_launch_fits_coef(l, 0, coef);
    bool good = kmm__fits_hold(l, &geometry);
    kmm_launch_arm(l);
    kmm_launch_disarm(l);
    return good;
}

static void ends_decide(void **state)
{
    (void)state;
    assert_true(holds(KMM_INT32, KMM_IN_RANGE, INT32_MAX - 109, 1));
    assert_false(holds(KMM_INT32, KMM_IN_RANGE, INT32_MAX - 108, 1));
    assert_true(holds(KMM_INT32, KMM_IN_GRID, INT32_MAX - N + 1, 1));
    assert_false(holds(KMM_INT32, KMM_IN_GRID, INT32_MAX - N + 2, 1));
    assert_true(holds(KMM_UINT32, KMM_IN_RANGE, -10, 1));
    assert_false(holds(KMM_UINT32, KMM_IN_GRID, -10, 1));
    assert_true(holds(KMM_INT32, KMM_IN_RANGE, INT32_MIN + 109, -1));
    assert_false(holds(KMM_INT32, KMM_IN_RANGE, INT32_MIN + 108, -1));
    assert_false(holds(KMM_INT32, KMM_IN_RANGE, 0, INT64_MAX));
    assert_false(holds(KMM_INT16, KMM_IN_RANGE, 32768, 0));
    assert_true(holds(KMM_UINT16, KMM_IN_RANGE, 65535, 0));
    assert_true(holds(KMM_INT8, KMM_IN_RANGE, -128, 0));
    assert_false(holds(KMM_UINT8, KMM_IN_RANGE, -1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_run_whole),
        cmocka_unit_test(ends_decide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
