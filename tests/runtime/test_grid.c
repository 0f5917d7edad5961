/* SPDX-License-Identifier: Apache-2.0 */
/* Grids with fewer threads than the launch's range has indices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <kmm.h>

#include "with_runtime.h"

enum { N = 1000, BLOCK = 32, CHUNK = 64 };
static const char *const configurations[] = {"host", "host:3,mem=256K"};

/* Adds 1 to elements from `lower` on: each thread to its own, or to all with the grid's stride. */
static void grow_run(const kmm_host_blocks_t *b, void **args)
{
    int64_t lower = *(int64_t *)args[1], strides = *(int64_t *)args[2];
    for (uint64_t k = b->first; k < b->last; k++)
        for (uint32_t t = 0; t < b->block[0]; t++)
            for (int64_t i = (int64_t)(k + b->offset[0]) * b->block[0] + t; i < N;
                 i += strides ? (int64_t)b->grid[0] * b->block[0] : N)
                if (i >= lower)
                    (*(int32_t **)args[0])[i]++;
}

static const uint32_t sizes[] = {8, 8, 8};
static const kmm_kernel_t grow_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "grow", grow_run, NULL, 3, sizes, 0, NULL};

/* Of elements [lower, N) of x. */
static int grow(int32_t *x, int64_t lower, uint32_t blocks, int64_t chunk, int64_t strides)
{
    kmm_geometry_t geometry = {{blocks, 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    void *args[] = {&x, &lower, &strides};
    kmm_launch_t *l = kmm_launch_begin("grow", "grid.cu", 3);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, lower, N - lower);
    if (!strides)
        kmm_launch_bounded(l);
    if (chunk)
        kmm_launch_chunk(l, KMM_GLOBAL_X, chunk);
    kmm_launch_access(l, KMM_UPDATE, "x[i]", x, sizeof(*x));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    kmm_launch_arm(l);
    return kmm_launch_kernel(&grow_kernel, &geometry, args);
}

static void expect(kmm_runtime_t *rt, const int32_t *x, int64_t begin, int64_t end)
{
    int32_t got[N];
    assert_int_equal(kmm_copy_out(rt, got, x, sizeof(got)), 0);
    for (int64_t i = 0; i < N; i++)
        if (got[i] != (i >= begin && i < end))
            fail_msg("x[%d] is %d", (int)i, got[i]);
}

/* The range ends with the grid, and is empty where the grid ends before it begins. */
static void bounded_ranges_end_with_the_grid(void **state)
{
    (void)state;
    static const int32_t zero[N];
    static const int64_t lower[] = {0, 5, 6 * BLOCK - 1, 6 * BLOCK, 6 * BLOCK + 1, N - 1};
    for (size_t c = 0; c < 2; c++)
        for (size_t k = 0; k < sizeof(lower) / sizeof(*lower); k++) {
            kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = configurations[c]});
            int32_t *x = array_of(rt, N, zero);
            assert_int_equal(grow(x, lower[k], 6, CHUNK, 0), 0);
            expect(rt, x, lower[k], 6 * BLOCK);
            runtime_close(rt);
        }
}

/* Each block of a kernel that loops with the grid's stride reaches the whole range. */
static void strides_leave_one_chunk(void **state)
{
    (void)state;
    static const int32_t zero[N];
    for (size_t c = 0; c < 2; c++) {
        kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = configurations[c]});
        int32_t *x = array_of(rt, N, zero);
        assert_int_equal(grow(x, 7, 6, CHUNK, 1), KMM_E_RANGE);
        assert_non_null(strstr(kmm_error_text(rt), "axis i: its range ends at 1000, but the grid's "
                                                   "indices at 192"));
        expect(rt, x, 0, 0);
        assert_int_equal(grow(x, 7, 6, 0, 1), 0);
        expect(rt, x, 7, N);
        runtime_close(rt);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounded_ranges_end_with_the_grid),
        cmocka_unit_test(strides_leave_one_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
