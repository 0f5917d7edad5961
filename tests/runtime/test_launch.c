/* SPDX-License-Identifier: Apache-2.0 */
/* Which chunks become one task, and which one launch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "execute/kernel.h"
#include "launch/partition.h"
#include "launch/state.h"
#include "memory/array.h"
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
    uint32_t grid[3], block[3] = {1, 1, 1};
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
            t->tasks[k].part.offset[d] = (uint32_t)box.first[d];
            t->tasks[k].part.count[d] = (uint32_t)box.count[d];
        }
    }
}

/* The blocks of these chunks, which share none, are all of the smallest box around them. */
static void expect_box(kmm__task_t *const *tasks, uint32_t count)
{
    uint64_t blocks = 0, box = 1;
    for (uint32_t k = 0; k < count; k++)
        blocks +=
            (uint64_t)tasks[k]->part.count[0] * tasks[k]->part.count[1] * tasks[k]->part.count[2];
    for (int d = 0; d < 3; d++) {
        uint32_t low = UINT32_MAX, high = 0;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t end = tasks[k]->part.offset[d] + tasks[k]->part.count[d];
            low = tasks[k]->part.offset[d] < low ? tasks[k]->part.offset[d] : low;
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
        make_chunks(t, (const int64_t[]){8, 8, 8});
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
        make_chunks(t, (const int64_t[]){8, 8, 8});
        assert_int_equal(kmm__chunks_join(t->list, t->count), t->count);
    }
    free(t);
}

/* Chunks of other launches, on other streams, that failed, or that have memory of their own, stay
 * by themselves. */
static void test_apart(void **state)
{
    (void)state;
    trial_t *t = malloc(sizeof(*t));
    kmm__work_t other;
    do
        make_chunks(t, (const int64_t[]){64, 1, 1});
    while (t->count < 4);
    other = t->work;
    t->tasks[2].work = &other;
    assert_int_equal(kmm__chunks_join(t->list, t->count), 2);
    t->tasks[2].work = &t->work;
    t->tasks[3].issue.compute_stream = 1;
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
        __atomic_fetch_add(
            &x[b->offset[0] + k % b->count[0] + (b->offset[1] + k / b->count[0]) * b->grid[0]], 1,
            __ATOMIC_RELAXED);
}

static void launch(unsigned *x, uint32_t width, uint32_t height)
{
    static const uint32_t sizes[] = {sizeof(void *)};
    static const kmm_kernel_t kernel = {
        KMM_LAUNCH_VERSION, KMM_KIND_HOST, "mark", mark, NULL, 1, sizes, 0, NULL};
    void *args[] = {&x};
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
    assert_int_equal(
        kmm_launch_kernel(&kernel, &(kmm_geometry_t){{width, height, 1}, {1, 1, 1}, 0, NULL}, args),
        0);
}

/* Each block runs once whatever is joined, and sooner or later something is. */
static void test_runs_once(void **state)
{
    (void)state;
    enum { MOST_ROUNDS = 10000, WIDTH = 16, HEIGHT = BLOCKS / WIDTH };
    kmm_runtime_t *rt = NULL;
    kmm_device_info_t info = {0};
    void *x = NULL;
    unsigned rounds = 0;
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "host:1,mem=1M", .threads = 2}), 0);
    rt->launches->join.bytes = 0; /* it is launches that are to be joined */
    kmm_use(rt);
    assert_int_equal(
        kmm_array_create(
            rt, &(kmm_shape_t){.dims = 1, .extent = {BLOCKS}, .element_bytes = sizeof(unsigned)},
            &x),
        0);
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

/* A kernel that was compiled with another version of kmm/launch.h is refused, and the message names
 * both versions. */
static void test_versions(void **state)
{
    (void)state;
    kmm_runtime_t *rt = NULL;
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "host:1"}), 0);
    kmm_use(rt);
    for (uint32_t version = KMM_LAUNCH_VERSION - 1; version <= KMM_LAUNCH_VERSION + 1; version++) {
        unsigned x = 0, *address = &x;
        void *args[] = {&address};
        const uint32_t sizes[] = {sizeof(void *)};
        const kmm_kernel_t kernel = {version, KMM_KIND_HOST, "mark", mark, NULL, 1, sizes, 0, NULL};
        const kmm_geometry_t one = {{1, 1, 1}, {1, 1, 1}, 0, NULL};
        const int expected = version == KMM_LAUNCH_VERSION ? 0 : KMM_E_INVALID;
        char text[80];
        snprintf(text, sizeof(text), "version %u of kmm/launch.h, and libkmm has version %d",
                 version, KMM_LAUNCH_VERSION);
        assert_int_equal(kmm_launch_kernel(&kernel, &one, args), expected);
        assert_true(!expected || strstr(kmm_error_text(rt), text));
        kmm_wait(rt);
        assert_int_equal(x, expected ? 0 : 1);
    }
    kmm_use(NULL);
    kmm_destroy(rt);
}

/* ---- Small chunks that become one task ---- */

enum { ELEMENTS = 1 << 20, TASKS = 4 };

typedef struct desk {
    kmm_runtime_t runtime;
    struct kmm__launches launches;
    struct kmm__memory memory;
    kmm__device_t device;
    struct kmm__device_memory device_memory;
    kmm__placement_t place;
    kmm__array_t array;
    kmm_launch_t launch;
    kmm__partition_t asked, joined;
} desk_t;

/* A launch of `grid` blocks of one thread, in chunks, on a device. */
static void desk_begin(desk_t *d, const uint32_t grid[3], const int64_t chunk[3])
{
    static char memory[1];
    const uint32_t block[3] = {1, 1, 1};
    memset(d, 0, sizeof(*d));
    d->runtime.launches = &d->launches;
    d->runtime.memory = &d->memory;
    d->device.memory = &d->device_memory;
    d->runtime.launches->join.bytes = 64 << 10;
    d->runtime.launches->join.tasks = TASKS;
    d->runtime.launches->join.part = 64;
    d->device.space = 1;
    d->device.memory->limit = 1 << 30;
    d->place.device[0] = &d->device;
    d->place.count = 1;
    d->array =
        (kmm__array_t){.base = memory, .bytes = ELEMENTS * sizeof(int), .frame_bytes = 1 << 20};
    d->array.flat = kmm__layout_flat((int64_t)d->array.bytes);
    for (int k = 0; k < 3; k++) {
        kmm_launch_axis(&d->launch, "i", (kmm_source_t)(KMM_BLOCK_X + k), 0, grid[k]);
        kmm_launch_chunk(&d->launch, (kmm_source_t)(KMM_BLOCK_X + k), chunk[k]);
    }
    d->launch.items = d->launch.few;
    assert_int_equal(kmm__partition(&d->launch, grid, block, false, &d->asked), 0);
}

/* Elements [lower, lower + length) * scale and so on of the array, from those along the first axis.
 */
static void desk_access(desk_t *d, kmm_mode_t mode, int64_t lower, int64_t length, int64_t scale)
{
    kmm_launch_access(&d->launch, mode, "x", d->array.base, sizeof(int));
    d->launch.items[d->launch.item_count - 1].array = &d->array;
    kmm_launch_index(&d->launch, lower, length);
    kmm_launch_coef(&d->launch, 0, scale, 0);
}

static bool desk_joins(desk_t *d)
{
    d->joined = d->asked;
    kmm__partition_join(&d->joined, &d->launch, &d->runtime, &d->place);
    assert_int_equal(kmm__partition_asked(&d->joined), d->asked.count);
    return d->joined.count < d->asked.count;
}

/* Each joined chunk is the box of those whose numbers it has, and all are in one, in order. */
static void expect_cover(const desk_t *d)
{
    uint32_t next = 0;
    for (uint32_t k = 0; k < d->joined.count; k++) {
        kmm__chunk_box_t box, part;
        uint32_t first, last;
        int64_t blocks = 0;
        kmm__partition_numbers(&d->joined, k, &first, &last);
        kmm__partition_chunk(&d->joined, &d->launch, k, &box);
        assert_int_equal(first, next);
        assert_true(last >= first);
        for (uint32_t j = first; j <= last; j++) {
            kmm__partition_chunk(&d->asked, &d->launch, j, &part);
            blocks += part.count[0] * part.count[1] * part.count[2];
            for (int n = 0; n < 3; n++)
                assert_true(part.first[n] >= box.first[n] &&
                            part.first[n] + part.count[n] <= box.first[n] + box.count[n]);
        }
        assert_int_equal(blocks, box.count[0] * box.count[1] * box.count[2]);
        next = last + 1;
    }
    assert_int_equal(next, d->asked.count);
}

static const uint32_t line[3] = {1000, 1, 1};
static const int64_t ones[3] = {1, 1, 1};

static void test_join(void **state)
{
    (void)state;
    desk_t *d = malloc(sizeof(*d));
    desk_begin(d, line, ones);
    desk_access(d, KMM_WRITE, 0, 16, 16);
    desk_access(d, KMM_READ, 500000, 18, 16); /* and a halo */
    assert_true(desk_joins(d));
    expect_cover(d);
    assert_true(d->joined.count >= TASKS && d->joined.count <= TASKS + 1);
    desk_begin(d, line, ones);
    desk_access(d, KMM_WRITE, 0, 960, 960);
    assert_true(desk_joins(d));
    expect_cover(d);
    assert_true(d->joined.count > 2 * TASKS); /* by bytes */
    d->runtime.launches->join.bytes = 0;
    assert_false(desk_joins(d));
    desk_begin(d, line, ones); /* each reads all of the array beside its own part */
    desk_access(d, KMM_WRITE, 0, 16, 16);
    desk_access(d, KMM_READ, 0, ELEMENTS, 0);
    assert_true(desk_joins(d));
    expect_cover(d);
    assert_true(d->joined.count >= TASKS && d->joined.count <= TASKS + 1);
    d->device.memory->limit = 12 << 20; /* of which that is more than a fourth */
    assert_false(desk_joins(d));
    free(d);
}

/* Tiles of long rows: those of a row add little to each other, those of the next one much. */
static void test_join_tiles(void **state)
{
    (void)state;
    enum { SIDE = 1024, TILE = 16 };
    static const uint32_t grid[3] = {SIDE / TILE, SIDE / TILE, 1};
    desk_t *d = malloc(sizeof(*d));
    desk_begin(d, grid, ones);
    kmm_launch_access(&d->launch, KMM_WRITE, "x", d->array.base, sizeof(int));
    d->launch.items[0].array = &d->array;
    kmm_launch_extent(&d->launch, SIDE);
    kmm_launch_extent(&d->launch, SIDE);
    for (unsigned k = 2; k-- > 0;) {
        kmm_launch_index(&d->launch, 0, TILE);
        kmm_launch_coef(&d->launch, k, TILE, 0);
    }
    assert_true(desk_joins(d));
    expect_cover(d);
    assert_int_equal(d->joined.count,
                     SIDE / TILE / 2); /* 32 rows of 4 KiB: twice the bound, which is the most */
    free(d);
}

/* What would no longer be the same, or no longer be told. */
static void test_join_not(void **state)
{
    (void)state;
    static const int64_t large[3] = {1000 / (2 * TASKS - 1) + 1, 1, 1};
    desk_t *d = malloc(sizeof(*d));
    desk_begin(d, line, ones);
    desk_access(d, KMM_WRITE, 0, 17, 16); /* chunks write the same elements: an error */
    assert_false(desk_joins(d));
    desk_begin(d, line, ones);
    desk_access(d, KMM_WRITE, 0, 8, 16); /* with gaps: of one chunk alone it is a run */
    assert_false(desk_joins(d));
    desk_begin(d, line, ones);
    desk_access(d, KMM_UPDATE, 0, 16, 0);
    assert_false(desk_joins(d));
    desk_begin(d, line, large); /* too few */
    desk_access(d, KMM_WRITE, 0, 16, 16);
    assert_false(desk_joins(d));
    desk_begin(d, line, ones);
    desk_access(d, KMM_WRITE, 0, 16, 16);
    d->device.memory->limit = 3 << 20; /* two frames are more than half */
    assert_false(desk_joins(d));
    d->device.memory->limit = 1 << 30;
    d->launch.schedule = KMM_SCHEDULE_CYCLIC;
    assert_true(desk_joins(d));
    d->place.device[1] = &d->device;
    d->place.count = 2;
    assert_false(desk_joins(d));
    d->launch.schedule = KMM_SCHEDULE_LOCALITY;
    assert_true(desk_joins(d));
    d->place.count = 1;
    d->runtime.checks_access = true;
    assert_false(desk_joins(d));
    d->runtime.checks_access = false;
    d->device.space = KMM__HOST;
    assert_false(desk_joins(d));
    d->device.space = 1;
    assert_true(desk_joins(d));
    d->launch.items[0].mode = KMM_REDUCE;
    d->launch.items[0].type = KMM_FLOAT; /* the launch alone says how such sums are made */
    assert_false(desk_joins(d));
    d->launch.items[0].type = KMM_INT32;
    assert_true(desk_joins(d));
    free(d);
}

/* Grids of up to three dimensions, in an array of their shape: what is joined is joined along rows
 * first. */
static void test_join_boxes(void **state)
{
    (void)state;
    desk_t *d = malloc(sizeof(*d));
    unsigned joined = 0;
    for (int round = 0; round < 2000; round++) {
        uint32_t grid[3];
        int64_t chunk[3];
        for (int k = 0; k < 3; k++) {
            grid[k] = (uint32_t)rng_range(&rng, 1, 24);
            chunk[k] = rng_range(&rng, 1, 3);
        }
        desk_begin(d, grid, chunk);
        kmm_launch_access(&d->launch, KMM_WRITE, "x", d->array.base, sizeof(int));
        d->launch.items[0].array = &d->array;
        for (int k = 2; k >= 0; k--)
            kmm_launch_extent(&d->launch, grid[k]);
        for (unsigned k = 3; k-- > 0;) {
            kmm_launch_index(&d->launch, 0, 1);
            kmm_launch_coef(&d->launch, k, 1, 0);
        }
        d->runtime.launches->join.bytes = (uint64_t)rng_range(&rng, 16, 1 << 16);
        joined += desk_joins(d);
        expect_cover(d);
        assert_true(d->joined.count == d->asked.count || d->joined.count >= TASKS);
    }
    assert_true(joined > 100);
    free(d);
}

int main(void)
{
    rng.state = rng_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),      cmocka_unit_test(test_whole),
        cmocka_unit_test(test_apart),      cmocka_unit_test(test_runs_once),
        cmocka_unit_test(test_join),       cmocka_unit_test(test_join_not),
        cmocka_unit_test(test_join_boxes), cmocka_unit_test(test_join_tiles),
        cmocka_unit_test(test_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
