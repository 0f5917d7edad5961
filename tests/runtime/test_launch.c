/* SPDX-License-Identifier: Apache-2.0 */
/* Which chunks become one launch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "internal.h"
#include "random.h"

enum { ROUNDS = 20000, MOST = 512 };

static rng_t rng;

typedef struct trial {
    kmm_launch_t launch;
    kmm__partition_t part;
    kmm_kernel_t kernel;
    kmm__work_t work;
    kmm__task_t tasks[MOST], *list[MOST];
    uint32_t count;
} trial_t;

/* All chunks of a random grid, in the order in which they are submitted. */
static void make_chunks(trial_t *t, const int64_t most[3])
{
    uint32_t grid[3], block[3] = { 1, 1, 1 };
    memset(t, 0, sizeof(*t));
    for (int d = 0; d < 3; d++) {
        grid[d] = (uint32_t)rng_range(&rng, 1, most[d]);
        kmm_launch_chunk(&t->launch, (kmm_source_t)(KMM_BLOCK_X + d), rng_range(&rng, 1, most[d]));
    }
    assert_int_equal(kmm__partition(&t->launch, grid, block, false, &t->part), 0);
    assert_true(t->part.count <= MOST);
    t->count = t->part.count;
    t->work.kernel = &t->kernel;
    for (uint32_t k = 0; k < t->count; k++) {
        kmm__chunk_box_t box;
        kmm__partition_chunk(&t->part, &t->launch, k, &box);
        t->tasks[k].work = &t->work;
        t->list[k] = &t->tasks[k];
        for (int d = 0; d < 3; d++) {
            t->tasks[k].offset[d] = (uint32_t)box.first[d];
            t->tasks[k].count[d] = (uint32_t)box.count[d];
        }
    }
}

/* The blocks of these chunks, which share none, are all of the smallest box around them. */
static void expect_box(kmm__task_t *const *tasks, uint32_t count)
{
    uint64_t blocks = 0, box = 1;
    for (uint32_t k = 0; k < count; k++)
        blocks += (uint64_t)tasks[k]->count[0] * tasks[k]->count[1] * tasks[k]->count[2];
    for (int d = 0; d < 3; d++) {
        uint32_t low = UINT32_MAX, high = 0;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t end = tasks[k]->offset[d] + tasks[k]->count[d];
            low = tasks[k]->offset[d] < low ? tasks[k]->offset[d] : low;
            high = end > high ? end : high;
        }
        box *= high - low;
    }
    assert_true(blocks == box);
}

/* Whatever part of a launch is ready, and whatever is missing in it. */
static void test_boxes(void **state)
{
    (void)state;
    trial_t *t = malloc(sizeof(*t));
    for (int round = 0; round < ROUNDS; round++) {
        kmm__task_t *ready[MOST];
        uint32_t count = 0, gaps = (uint32_t)rng_range(&rng, 0, 1);
        make_chunks(t, (const int64_t[]){ 8, 8, 8 });
        for (uint32_t k = (uint32_t)rng_range(&rng, 0, t->count - 1); k < t->count; k++)
            if (!gaps || rng_range(&rng, 0, 9))
                ready[count++] = t->list[k];
        for (uint32_t k = 0, n; k < count; k += n) {
            n = kmm__chunks_join(ready + k, count - k);
            assert_in_range(n, 1, count - k);
            expect_box(ready + k, n);
        }
    }
    free(t);
}

/* A launch that is ready whole is one launch again. */
static void test_whole(void **state)
{
    (void)state;
    trial_t *t = malloc(sizeof(*t));
    for (int round = 0; round < ROUNDS; round++) {
        make_chunks(t, (const int64_t[]){ 8, 8, 8 });
        assert_int_equal(kmm__chunks_join(t->list, t->count), t->count);
    }
    free(t);
}

/* Chunks of other launches, on other lanes, that failed, or that have memory of their own, stay by themselves. */
static void test_apart(void **state)
{
    (void)state;
    trial_t *t = malloc(sizeof(*t));
    kmm__work_t other;
    do
        make_chunks(t, (const int64_t[]){ 64, 1, 1 });
    while (t->count < 4);
    other = t->work;
    t->tasks[2].work = &other;
    assert_int_equal(kmm__chunks_join(t->list, t->count), 2);
    t->tasks[2].work = &t->work;
    t->tasks[3].lane = 1;
    assert_int_equal(kmm__chunks_join(t->list, t->count), 3);
    t->tasks[1].error = KMM_E_POISONED;
    assert_int_equal(kmm__chunks_join(t->list, t->count), 1);
    assert_int_equal(kmm__chunks_join(t->list + 1, t->count - 1), 1);
    t->tasks[1].error = 0;
    t->work.partials_count = 1;
    assert_int_equal(kmm__chunks_join(t->list, t->count), 1);
    free(t);
}

/* ---- Whole launches on a pretend device ---- */

enum { BLOCKS = 4096 };

static void mark(const kmm_host_blocks_t *b, void **args)
{
    unsigned *x = *(unsigned **)args[0];
    for (uint64_t k = b->first; k < b->last; k++)
        __atomic_fetch_add(&x[b->offset[0] + k % b->count[0] + (b->offset[1] + k / b->count[0]) * b->grid[0]], 1, __ATOMIC_RELAXED);
}

static void launch(unsigned *x, uint32_t width, uint32_t height)
{
    static const uint32_t sizes[] = { sizeof(void *) };
    static const kmm_kernel_t kernel = { KMM_LAUNCH_VERSION, KMM_KIND_HOST, "mark", mark, NULL, 1, sizes, 0, NULL };
    void *args[] = { &x };
    kmm_launch_t *l = kmm_launch_begin("mark", "test.c", 1);
    kmm_launch_axis(l, "i", KMM_BLOCK_X, 0, KMM_WHOLE);
    kmm_launch_axis(l, "j", KMM_BLOCK_Y, 0, KMM_WHOLE);
    kmm_launch_chunk(l, KMM_BLOCK_X, width / 4);
    kmm_launch_chunk(l, KMM_BLOCK_Y, 1);
    kmm_launch_access(l, KMM_UPDATE, "x[j][i]", x, sizeof(*x));
    kmm_launch_extent(l, height);
    kmm_launch_extent(l, width);
    for (unsigned axis = 2; axis-- > 0;) {
        kmm_launch_index(l, 0, 1);
        kmm_launch_coef(l, axis, 1, 0);
    }
    kmm_launch_arm(l);
    assert_int_equal(kmm_launch_kernel(&kernel, &(kmm_geometry_t){ { width, height, 1 }, { 1, 1, 1 }, 0, NULL }, args), 0);
}

/* Each block runs once whatever is joined, and sooner or later something is. */
static void test_runs_once(void **state)
{
    (void)state;
    enum { MOST_ROUNDS = 10000, WIDTH = 16, HEIGHT = BLOCKS / WIDTH };
    kmm_runtime_t *rt = NULL;
    kmm_device_info_t info = { 0 };
    void *x = NULL;
    unsigned rounds = 0;
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){ .devices = "host:1,mem=1M", .threads = 2 }), 0);
    kmm_use(rt);
    assert_int_equal(kmm_array_create(rt, &(kmm_shape_t){ .dims = 1, .extent = { BLOCKS }, .element_bytes = sizeof(unsigned) }, &x), 0);
    assert_int_equal(kmm_fill(rt, x, 0, BLOCKS * sizeof(unsigned)), 0);
    do {
        launch(x, WIDTH, HEIGHT);
        assert_int_equal(kmm_wait(rt), 0);
        assert_int_equal(kmm_device_get(rt, 0, &info), 0);
        assert_int_equal(info.chunks, ++rounds * 4 * HEIGHT);
    } while (info.launches == info.chunks && rounds < MOST_ROUNDS);
    assert_true(info.launches < info.chunks);
    unsigned got[BLOCKS];
    assert_int_equal(kmm_copy_out(rt, got, x, sizeof(got)), 0);
    for (int k = 0; k < BLOCKS; k++)
        assert_int_equal(got[k], rounds);
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
}

int main(void)
{
    rng.state = rng_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_runs_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
