/* SPDX-License-Identifier: Apache-2.0 */
/* Small arrays in frames that they share: where they lie, what that may take, and that it goes
 * back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "memory/residency/pack.h"
#include "with_runtime.h"
#include <kmm.h>

enum { LIMIT = 1 << 20, SMALL = 24, BLOCK = 64, FIVES = 0x05050505 };

static kmm_runtime_t *make(void)
{
    return runtime_open(&(kmm_config_t){.devices = "host:1,mem=1M"});
}

static void end(kmm_runtime_t *rt)
{
    assert_int_equal(kmm_destroy(rt), 0);
    kmm_use(NULL);
}

/* ---- Places; nothing else uses the device meanwhile ---- */

static void places_share_frames_and_are_used_again(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make();
    kmm__device_t *d = rt->device[0];
    const uint64_t granule = d->info.granularity;
    enum { COUNT = 200 };
    kmm__addr_t at[COUNT];
    pthread_mutex_lock(&rt->lock);
    for (int k = 0; k < COUNT; k++) {
        assert_true(kmm__pack_take(d, 1 + (uint64_t)k % 256, &at[k]));
        assert_int_equal(at[k] % 256, 0);
        for (int i = 0; i < k; i++)
            assert_true(at[i] != at[k]);
    }
    const uint64_t used = d->memory->used;
    assert_int_equal(used, (COUNT * 256 + granule - 1) / granule * granule);
    assert_false(kmm__pack_trim(d)); /* all are taken */
    for (int k = 0; k < COUNT; k += 2)
        kmm__pack_return(d, at[k]);
    for (int k = 0; k < COUNT; k += 2)
        assert_true(kmm__pack_take(d, 256, &at[k]));
    assert_int_equal(d->memory->used, used);
    for (int k = 0; k < COUNT; k++)
        kmm__pack_return(d, at[k]);
    assert_true(kmm__pack_trim(d));
    assert_int_equal(d->memory->used, 0);
    assert_false(kmm__pack_trim(d));
    pthread_mutex_unlock(&rt->lock);
    end(rt);
}

static void they_take_a_part_of_the_device_at_most(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make();
    kmm__device_t *d = rt->device[0];
    kmm__addr_t at, first = 0;
    uint64_t count = 0;
    pthread_mutex_lock(&rt->lock);
    assert_false(kmm__pack_take(d, d->info.granularity / 4 + 1, &at));
    assert_true(kmm__pack_take(d, d->info.granularity / 4, &first));
    while (kmm__pack_take(d, 256, &at) && count < LIMIT)
        count++;
    assert_int_equal(d->memory->used,
                     d->memory->limit / 16 / d->info.granularity * d->info.granularity);
    assert_int_equal(count * 256 + d->info.granularity / 4, d->memory->used);
    kmm__pack_return(d, first);
    assert_true(kmm__pack_take(d, d->info.granularity / 4, &at));
    assert_int_equal(at, first);
    pthread_mutex_unlock(&rt->lock);
    end(rt);
}

/* ---- With programs ---- */

static void add_run(const kmm_host_blocks_t *b, void **args)
{
    int64_t n = *(int64_t *)args[0];
    uint32_t *x = *(uint32_t **)args[1];
    for (uint64_t k = b->first; k < b->last; k++) {
        int64_t begin = (int64_t)(k % b->count[0] + b->offset[0]) * b->block[0];
        for (int64_t i = begin; i < begin + b->block[0] && i < n; i++)
            x[i]++;
    }
}

static const uint32_t words2[] = {8, 8};
static const kmm_kernel_t add = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "add", add_run, NULL, 2, words2, 0, NULL};

static uint32_t *array(kmm_runtime_t *rt, int64_t n)
{
    void *p = NULL;
    assert_int_equal(
        kmm_array_create(rt, &(kmm_shape_t){.dims = 1, .extent = {n}, .element_bytes = 4}, &p), 0);
    assert_int_equal(kmm_fill(rt, p, 5, (size_t)n * 4), 0);
    return p;
}

static void add_one(int64_t n, uint32_t *x)
{
    kmm_launch_t *l = kmm_launch_begin("add", "test_pack.c", __LINE__);
    void *args[] = {&n, &x};
    kmm_geometry_t g = {{(uint32_t)((n + BLOCK - 1) / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
    kmm_launch_chunk(l, KMM_GLOBAL_X, n);
    kmm_launch_access(l, KMM_UPDATE, "x[i]", x, 4);
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    kmm_launch_arm(l);
    if (kmm_launch_kernel(&add, &g, args))
        fail_msg("%s", kmm_error_text(NULL));
}

static void check(kmm_runtime_t *rt, const uint32_t *x, int64_t n, uint32_t value)
{
    uint32_t *got = malloc((size_t)n * 4);
    assert_int_equal(kmm_copy_out(rt, got, x, (size_t)n * 4), 0);
    for (int64_t k = 0; k < n; k++)
        assert_int_equal(got[k], value);
    free(got);
}

/* A chunk that needs all of the device gets the frames that small arrays had. */
static void frames_of_small_arrays_that_are_gone_go_to_large_ones(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make();
    enum { COUNT = 100 };
    uint32_t *x[COUNT];
    for (int k = 0; k < COUNT; k++)
        add_one(SMALL, x[k] = array(rt, SMALL));
    for (int k = 0; k < COUNT; k++)
        check(rt, x[k], SMALL, FIVES + 1);
    pthread_mutex_lock(&rt->lock);
    assert_true(rt->device[0]->memory->used > 0);
    assert_null(rt->device[0]->memory->idle); /* none has a frame of its own */
    pthread_mutex_unlock(&rt->lock);
    for (int k = 0; k < COUNT; k++)
        assert_int_equal(kmm_array_destroy(rt, x[k]), 0);
    uint32_t *large = array(rt, LIMIT / 4);
    add_one(LIMIT / 4, large);
    check(rt, large, LIMIT / 4, FIVES + 1);
    end(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_share_frames_and_are_used_again),
        cmocka_unit_test(they_take_a_part_of_the_device_at_most),
        cmocka_unit_test(frames_of_small_arrays_that_are_gone_go_to_large_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
