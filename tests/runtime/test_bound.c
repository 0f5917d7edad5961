/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound of what is submitted: a program that submits ever more tasks waits when the bookkeeping
 * of those that are unfinished has as many bytes as it may have.
 */
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <cmocka.h>

#include <kmm.h>
#include <kmm/launch.h>

#include "task/task.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif
enum { FRAME = 16384, PART = FRAME / 4, PARTS = 64, FRAMES = 32, MOST_ARRAYS = 16 };

static _Atomic bool gate_is_open;

static void gate_run(const kmm_host_blocks_t *b, void **args)
{
    struct timespec nap = {0, 20000};
    (void)b, (void)args;
    while (!atomic_load(&gate_is_open))
        nanosleep(&nap, NULL);
}

static void nothing_run(const kmm_host_blocks_t *b, void **args)
{
    (void)b, (void)args;
}

/* Launches over `arrays` arrays, in `chunks` chunks, until they end. */
typedef struct fill {
    kmm_runtime_t *rt;
    kmm_kernel_t gate, nothing;
    void *x[MOST_ARRAYS];
    int arrays, chunks;
    _Atomic bool ends;
} fill_t;

static const uint32_t pointers[MOST_ARRAYS] = {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8};

static kmm_kernel_t kernel(const char *name, void (*run)(const kmm_host_blocks_t *, void **),
                           int arrays)
{
    return (kmm_kernel_t){KMM_LAUNCH_VERSION, KMM_KIND_HOST, name, run, NULL,
                          (uint32_t)arrays,   pointers,      0,    NULL};
}

/* Launches a kernel that updates every other array, beginning with number `first`, and reads the
 * rest, in chunks of one part. */
static void launch(fill_t *f, const kmm_kernel_t *k, int chunks, int first)
{
    kmm_geometry_t g = {{(uint32_t)chunks, 1, 1}, {1, 1, 1}, 0, NULL};
    void *args[MOST_ARRAYS];
    kmm_launch_t *l = kmm_launch_begin(k->name, "bound.cu", 1);
    kmm_launch_axis(l, "b", KMM_BLOCK_X, 0, chunks);
    kmm_launch_chunk(l, KMM_BLOCK_X, 1);
    for (int a = 0; a < f->arrays; a++) {
        args[a] = &f->x[a];
        kmm_launch_access(l, (a + first) % 2 ? KMM_READ : KMM_UPDATE, "x", f->x[a],
                          sizeof(uint32_t));
        kmm_launch_index(l, 0, PART);
        kmm_launch_coef(l, 0, PART, 0);
    }
    kmm_launch_arm(l);
    if (kmm_launch_kernel(k, &g, args))
        fail_msg("%s: %s", k->name, kmm_error_text(NULL));
}

static void *fill_up(void *arg)
{
    fill_t *f = arg;
    kmm_use(f->rt);
    for (int step = 0; !atomic_load(&f->ends); step++)
        launch(f, &f->nothing, f->chunks, step);
    return NULL;
}

/* Waits until the program has to wait. Returns the number of unfinished tasks. */
static uint32_t wait_until_full(kmm_runtime_t *rt, uint64_t *kept)
{
    struct timespec nap = {0, 1000000};
    for (;; nanosleep(&nap, NULL)) {
        pthread_mutex_lock(&rt->lock);
        bool full = rt->tasks->is_throttled;
        uint32_t count = rt->tasks->outstanding;
        *kept = rt->tasks->kept;
        pthread_mutex_unlock(&rt->lock);
        if (full)
            return count;
    }
}

/* The first task waits until a thread that submits others has to wait. At least 10,000 are
 * unfinished then, and the heap has grown by about as much as counts for them. */
static void until_full(int arrays, int chunks)
{
    char devices[64];
    kmm_runtime_t *rt = NULL;
    fill_t f = {.arrays = arrays,
                .chunks = chunks,
                .gate = kernel("gate", gate_run, arrays),
                .nothing = kernel("nothing", nothing_run, arrays)};
    uint64_t kept;
    pthread_t thread;
    snprintf(devices, sizeof(devices), "host:1,mem=%d", FRAMES * FRAME);
    assert_int_equal(
        kmm_create(&rt, &(kmm_config_t){.devices = devices, .threads = 1, .frame_bytes = FRAME}),
        0);
    kmm_use(rt);
    f.rt = rt;
    for (int k = 0; k < arrays; k++)
        assert_int_equal(
            kmm_array_create(
                rt, &(kmm_shape_t){.dims = 1, .extent = {PARTS * PART}, .element_bytes = 4},
                &f.x[k]),
            0);
    atomic_store(&gate_is_open, false);
    launch(&f, &f.gate, 1, 0);
    size_t before = mallinfo2().uordblks;
    assert_int_equal(pthread_create(&thread, NULL, fill_up, &f), 0);
    uint32_t tasks = wait_until_full(rt, &kept);
    size_t grown = mallinfo2().uordblks - before;
    atomic_store(&f.ends, true);
    atomic_store(&gate_is_open, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(rt->tasks->kept, 0);
    kmm_destroy(rt);
    print_message("%d arrays, %d chunks: %u tasks, %.0f bytes each, of which %.0f count\n", arrays,
                  chunks, tasks, (double)grown / tasks, (double)kept / tasks);
    assert_in_range(kept, KMM__MOST_KEPT, KMM__MOST_KEPT / 8 * 9);
    assert_in_range(tasks, 10000, 100000);
    if (!IS_SANITIZED)
        assert_in_range(grown, kept / 4 * 3, kept / 2 * 3);
}

static void bookkeeping_is_bounded(void **state)
{
    (void)state;
    until_full(16, 1);
    if (IS_SANITIZED) /* which is slow */
        return;
    until_full(1, 1);
    until_full(1, PARTS);
    until_full(4, 1);
    until_full(4, PARTS);
    until_full(16, PARTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bookkeeping_is_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
