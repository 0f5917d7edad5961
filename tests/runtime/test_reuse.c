/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order by reuse. Time loops over more than a device holds run on a pretend device, in the order of
 * submission and by reuse. The results are the same, and by reuse few bytes are copied.
 *
 * All arrays consist of parts of FRAME bytes, which is a frame, or half of one. A kernel has a
 * block for each part.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>

#include "memory/residency/reuse.h"
#include "task/marker.h"

/* ThreadSanitizer is slow at what kernels do with each element, and at a hundred thousand tasks. */
#if defined(__SANITIZE_THREAD__)
enum { FRAME = 4096, IS_SLOW = 1 };
#else
enum { FRAME = 16384, IS_SLOW = 0 };
#endif
enum { PART = FRAME / 4, PLANES = 9, SPARE = 8 * 4096 };

#define ARG(T, k) (*(T *)args[k])

/* ---- Kernels ---- */

static _Atomic bool gate_is_open;

static void gate_run(const kmm_host_blocks_t *b, void **args)
{
    struct timespec nap = {0, 20000};
    (void)b;
    while (!atomic_load(&gate_is_open))
        nanosleep(&nap, NULL);
    ARG(uint32_t *, 0)[0]++;
}

static void nothing_run(const kmm_host_blocks_t *b, void **args)
{
    (void)b, (void)args;
}

/* x[part] = 3 * x[part] + value */
static void sweep_run(const kmm_host_blocks_t *b, void **args)
{
    uint32_t *x = ARG(uint32_t *, 0), value = (uint32_t)ARG(int64_t, 1);
    for (uint64_t k = b->first; k < b->last; k++)
        for (uint64_t e = (k + b->offset[0]) * PART; e < (k + b->offset[0] + 1) * PART; e++)
            x[e] = 3 * x[e] + value;
}

/* out[part] = a mixture of the parts from -halo to halo of in; parts outside are left out, or those
 * at the other end if the works is periodic. In each of `planes` planes. */
static void step_run(const kmm_host_blocks_t *b, void **args)
{
    uint32_t *out = ARG(uint32_t *, 0);
    const uint32_t *in = ARG(const uint32_t *, 1);
    int64_t parts = ARG(int64_t, 2), halo = ARG(int64_t, 3), planes = ARG(int64_t, 4);
    for (int64_t k = (int64_t)b->first; k < (int64_t)b->last; k++)
        for (int64_t e = 0; e < planes * PART; e++) {
            int64_t at = k + b->offset[0], plane = e / PART * parts * PART;
            uint32_t sum = 1;
            for (int64_t n = at - halo; n <= at + halo; n++)
                if (n >= 0 && n < parts)
                    sum += (uint32_t)(n - at + halo + 2) * in[plane + n * PART + e % PART];
            out[plane + at * PART + e % PART] = sum;
        }
}

/* y[part] += sum of x[part] */
static void sum_run(const kmm_host_blocks_t *b, void **args)
{
    uint32_t *y = ARG(uint32_t *, 0);
    const uint32_t *x = ARG(const uint32_t *, 1);
    for (uint64_t k = b->first; k < b->last; k++)
        for (uint64_t e = 0; e < PART; e++)
            y[k + b->offset[0]] += x[(k + b->offset[0]) * PART + e];
}

/* The last inner part becomes the first one, and the first inner part the last one. */
static void wrap_run(const kmm_host_blocks_t *b, void **args)
{
    uint32_t *x = ARG(uint32_t *, 0);
    int64_t parts = ARG(int64_t, 1);
    (void)b;
    for (int64_t p = 0; p < PLANES; p++) {
        uint32_t *plane = x + p * parts * PART;
        memcpy(plane, plane + (parts - 2) * PART, FRAME);
        memcpy(plane + (parts - 1) * PART, plane + PART, FRAME);
    }
}

static const uint32_t words[] = {8, 8, 8, 8, 8};
#define KERNEL(name, count)                                                                        \
    static const kmm_kernel_t name##_kernel = {                                                    \
        KMM_LAUNCH_VERSION, KMM_KIND_HOST, #name, name##_run, NULL, count, words, 0, NULL}
KERNEL(gate, 1);
KERNEL(nothing, 1);
KERNEL(sweep, 2);
KERNEL(step, 5);
KERNEL(sum, 2);
KERNEL(wrap, 2);

/* ---- Launches ---- */

static kmm_launch_t *begin(const char *name, int64_t parts)
{
    kmm_launch_t *l = kmm_launch_begin(name, "reuse.cu", 1);
    kmm_launch_axis(l, "b", KMM_BLOCK_X, 0, parts);
    kmm_launch_chunk(l, KMM_BLOCK_X, 1);
    return l;
}

/* x[0:planes][lower .. lower + length of each part] */
static void access_parts(kmm_launch_t *l, kmm_mode_t mode, const void *x, int64_t planes,
                         int64_t parts, int64_t lower, int64_t length)
{
    kmm_launch_access(l, mode, "x", x, sizeof(uint32_t));
    if (planes > 1) {
        kmm_launch_extent(l, planes);
        kmm_launch_extent(l, parts * PART);
        kmm_launch_index(l, 0, KMM_WHOLE);
    }
    kmm_launch_index(l, lower * PART, length * PART);
    kmm_launch_coef(l, 0, PART, 0);
}

static void submit(kmm_launch_t *l, const kmm_kernel_t *kernel, int64_t parts, void **args)
{
    kmm_geometry_t g = {{(uint32_t)parts, 1, 1}, {1, 1, 1}, 0, NULL};
    kmm_launch_arm(l);
    if (kmm_launch_kernel(kernel, &g, args))
        fail_msg("%s: %s", kernel->name, kmm_error_text(NULL));
}

static void gate(uint32_t *x)
{
    void *args[] = {&x};
    kmm_launch_t *l = begin("gate", 1);
    kmm_launch_access(l, KMM_UPDATE, "x", x, sizeof(uint32_t));
    kmm_launch_index(l, 0, 1);
    submit(l, &gate_kernel, 1, args);
}

static void sweep(uint32_t *x, int64_t parts, int64_t value)
{
    void *args[] = {&x, &value};
    kmm_launch_t *l = begin("sweep", parts);
    access_parts(l, KMM_UPDATE, x, 1, parts, 0, 1);
    submit(l, &sweep_kernel, parts, args);
}

static void step(uint32_t *out, uint32_t *in, int64_t parts, int64_t halo, int64_t planes)
{
    void *args[] = {&out, &in, &parts, &halo, &planes};
    kmm_launch_t *l = begin("step", parts);
    access_parts(l, KMM_READ, in, planes, parts, -halo, 2 * halo + 1);
    access_parts(l, KMM_WRITE, out, planes, parts, 0, 1);
    submit(l, &step_kernel, parts, args);
}

static void sum(uint32_t *y, uint32_t *x, int64_t parts)
{
    void *args[] = {&y, &x};
    kmm_launch_t *l = begin("sum", parts);
    access_parts(l, KMM_READ, x, 1, parts, 0, 1);
    kmm_launch_access(l, KMM_UPDATE, "y", y, sizeof(uint32_t));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    submit(l, &sum_kernel, parts, args);
}

static void wrap_access(kmm_launch_t *l, kmm_mode_t mode, const void *x, int64_t parts, int64_t at)
{
    kmm_launch_access(l, mode, "x", x, sizeof(uint32_t));
    kmm_launch_extent(l, PLANES);
    kmm_launch_extent(l, parts * PART);
    kmm_launch_index(l, 0, KMM_WHOLE);
    kmm_launch_index(l, at * PART, PART);
}

static void wrap(uint32_t *x, int64_t parts)
{
    void *args[] = {&x, &parts};
    kmm_launch_t *l = begin("wrap", 1);
    wrap_access(l, KMM_READ, x, parts, parts - 2);
    wrap_access(l, KMM_READ, x, parts, 1);
    wrap_access(l, KMM_WRITE, x, parts, 0);
    wrap_access(l, KMM_WRITE, x, parts, parts - 1);
    submit(l, &wrap_kernel, 1, args);
}

/* ---- Works ---- */

typedef struct work {
    const char *name;
    int frames; /* of the device, of one part each */
    int64_t parts, planes, steps;
    int arrays;
    void (*step)(const struct work *w, uint32_t **x, int64_t t);
    /* the most frames that may be copied: by reuse, as a part of those in the order of submission;
     * and in that order, for each task */
    double by_reuse, in_order;
    int joint;   /* parts in a frame */
    int devices; /* each with `frames` */
} work_t;

static void in_place(const work_t *w, uint32_t **x, int64_t t)
{
    sweep(x[0], w->parts, t);
}

static void two_arrays(const work_t *w, uint32_t **x, int64_t t)
{
    step(x[!(t % 2)], x[t % 2], w->parts, 1, w->planes);
}

static void wide_halo(const work_t *w, uint32_t **x, int64_t t)
{
    step(x[!(t % 2)], x[t % 2], w->parts, 3, 1);
}

static void several_kernels(const work_t *w, uint32_t **x, int64_t t)
{
    step(x[1], x[0], w->parts, 1, 1);
    sweep(x[1], w->parts, t);
    step(x[0], x[1], w->parts, 0, 1);
}

static void with_sums(const work_t *w, uint32_t **x, int64_t t)
{
    two_arrays(w, x, t);
    sum(x[2], x[!(t % 2)], w->parts);
}

static void periodic(const work_t *w, uint32_t **x, int64_t t)
{
    wrap(x[t % 2], w->parts);
    step(x[!(t % 2)], x[t % 2], w->parts, 1, w->planes);
}

/* In the order of submission, a step of two arrays copies 1.4 frames for each task if what is
 * overwritten before it is read is copied too, and 0.86 otherwise. */
static const work_t works[] = {
    {"in-place sweeps", 64, 192, 1, 10, 1, in_place, 0.18, 1.5, 1, 1},
    {"two arrays", 64, 96, 1, 50, 2, two_arrays, 0.13, 1, 1, 1},
    {"two arrays, two parts", 64, 96, 1, 50, 2, two_arrays, 0.17, 1.5, 2, 1},
    {"two arrays, wide halo", 64, 96, 1, 20, 2, wide_halo, 0.48, 1, 1, 1},
    {"several kernels", 64, 96, 1, 15, 2, several_kernels, 0.15, 2.9, 1, 1},
    {"sums nobody reads", 64, 96, 1, 20, 3, with_sums, 0.15, 1.6, 1, 1},
    {"sweeps, 2 devices", 32, 192, 1, 6, 1, in_place, 0.3, 1.5, 1, 2},
    {"two arrays, 2 devices", 32, 96, 1, 15, 2, two_arrays, 0.8, 1.5, 1, 2},
    {"two arrays, 3 devices", 24, 96, 1, 15, 2, two_arrays, 0.9, 1.5, 1, 3},
    {"nine planes, periodic", 192, 32, 9, 12, 2, periodic, 0.6, 13, 1, 1},
};

static kmm_runtime_t *make(int devices, int frames, int joint, const char *order)
{
    char list[64];
    kmm_runtime_t *rt = NULL;
    snprintf(list, sizeof(list), "host:%d,mem=%d", devices, frames * FRAME + SPARE);
    setenv("KMM_ORDER", order, 1);
    if (kmm_create(&rt, &(kmm_config_t){.devices = list,
                                        .threads = 2,
                                        .frame_bytes = (uint64_t)(joint * FRAME)}))
        fail_msg("%s: %s", list, kmm_error_text(NULL));
    kmm_use(rt);
    return rt;
}

/* Ends a runtime. Returns the sums of what its devices have done. */
static kmm_device_info_t end(kmm_runtime_t *rt)
{
    kmm_device_info_t sum = {0}, d;
    for (int k = 0; k < kmm_device_count(rt); k++) {
        assert_int_equal(kmm_device_get(rt, k, &d), 0);
        sum.bytes_in += d.bytes_in;
        sum.bytes_out += d.bytes_out;
        sum.chunks += d.chunks;
    }
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
    return sum;
}

/* No task that is submitted from now on begins before the gate is open. */
static void gate_close(kmm_runtime_t *rt, uint32_t *x)
{
    kmm__marker_t *closed = NULL;
    atomic_store(&gate_is_open, false);
    gate(x);
    assert_int_equal(kmm__marker_create(rt, &kmm__all_streams, &closed), 0);
    assert_int_equal(kmm__marker_precede(closed, NULL), 0);
    kmm__marker_release(closed);
}

static uint32_t *array(kmm_runtime_t *rt, int64_t n)
{
    void *p = NULL;
    kmm_shape_t shape = {.dims = 1, .extent = {n}, .element_bytes = sizeof(uint32_t)};
    assert_int_equal(kmm_array_create(rt, &shape, &p), 0);
    return p;
}

/* Runs a work. Returns the bytes copied in and out; *bits receives its arrays. */
static uint64_t run(const work_t *w, const char *order, uint32_t *bits)
{
    kmm_runtime_t *rt = make(w->devices, w->frames, w->joint, order);
    uint32_t *x[3] = {0};
    const int64_t n = w->parts * w->planes * PART;
    for (int k = 0; k < w->arrays; k++) {
        x[k] = array(rt, n);
        for (int64_t e = 0; e < n; e++)
            bits[e] = (uint32_t)(e * (k + 3));
        assert_int_equal(kmm_copy_in(rt, x[k], bits, (size_t)n * sizeof(uint32_t)), 0);
    }
    gate_close(rt, x[0]);
    for (int64_t t = 0; t < w->steps; t++)
        w->step(w, x, t);
    atomic_store(&gate_is_open, true);
    assert_int_equal(kmm_wait(rt), 0);
    for (int k = 0; k < w->arrays; k++)
        assert_int_equal(kmm_copy_out(rt, bits + k * n, x[k], (size_t)n * sizeof(uint32_t)), 0);
    kmm_device_info_t d = end(rt);
    return d.bytes_in + d.bytes_out;
}

/* How many frames are copied depends on which thread comes first. So a busy machine gets another
 * try, and under ThreadSanitizer the results count alone. */
static bool check_work(const work_t *w)
{
    enum { TRIES = 3 };
    size_t bytes = (size_t)(w->parts * w->planes * w->arrays) * FRAME;
    uint32_t *expected = malloc(bytes), *bits = malloc(bytes);
    bool good = false;
    for (int k = 0; k < TRIES && !good; k++) {
        double in_order = (double)run(w, "submission", expected) / FRAME,
               by_reuse = (double)run(w, "reuse", bits) / FRAME,
               tasks = (double)(w->steps * w->parts);
        print_message("%-22s %6.0f frames in order, %.2f a task; %6.0f by reuse, %.3f of that\n",
                      w->name, in_order, in_order / tasks, by_reuse, by_reuse / in_order);
        if (memcmp(expected, bits, bytes))
            fail_msg("%s: the order changes the results", w->name);
        good = IS_SLOW || (by_reuse <= w->by_reuse * in_order && in_order <= w->in_order * tasks);
    }
    free(expected);
    free(bits);
    return good;
}

static void few_bytes_are_copied(void **state)
{
    bool good = true;
    (void)state;
    for (size_t k = 0; k < sizeof(works) / sizeof(*works); k += IS_SLOW ? 4 : 1)
        good &= check_work(&works[k]);
    assert_true(good);
}

/* ---- Who comes first ---- */

/* Returns how many chunks have run when a thread that waits for the first of some sweeps goes on.
 */
static uint64_t chunks_before_first(int parts, int sweeps)
{
    kmm_runtime_t *rt = make(1, 64, 1, "reuse");
    kmm_device_info_t d;
    kmm__marker_t *first = NULL;
    uint32_t *x = array(rt, parts * PART);
    atomic_store(&gate_is_open, false);
    gate(x);
    for (int t = 0; t < sweeps; t++) {
        sweep(x, parts, t);
        if (t == 0)
            assert_int_equal(kmm__marker_create(rt, &kmm__all_streams, &first), 0);
    }
    atomic_store(&gate_is_open, true);
    assert_int_equal(kmm__marker_wait(first), 0);
    assert_int_equal(kmm_device_get(rt, 0, &d), 0);
    kmm__marker_release(first);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(end(rt).chunks, sweeps * parts + 1);
    return d.chunks;
}

/* A thread that waits for the first of ten sweeps does not wait for the others. On a busy machine
 * the thread may come late, so it gets other tries. */
static void what_is_awaited_comes_first(void **state)
{
    enum { PARTS = 192, SWEEPS = 10, MOST = 4 * PARTS, TRIES = 5 };
    uint64_t chunks = MOST + 1;
    (void)state;
    for (int k = 0; k < TRIES && chunks > MOST; k++)
        chunks = chunks_before_first(PARTS, SWEEPS);
    assert_in_range(chunks, PARTS, MOST);
}

/* Work on the first part is submitted again and again, and data of the last part is not there. */
static void no_task_waits_for_ever(void **state)
{
    enum { PARTS = 96, TASKS = 3 * KMM__MOST_LAG };
    if (IS_SLOW)
        skip();
    kmm_runtime_t *rt = make(1, 64, 1, "reuse");
    kmm__marker_t *last = NULL;
    uint32_t *x = array(rt, PARTS * PART);
    (void)state;
    kmm_fill(rt, x, 0, (size_t)PARTS * FRAME);
    atomic_store(&gate_is_open, false);
    gate(x);
    sweep(x, PARTS, 1);
    assert_int_equal(kmm__marker_create(rt, &kmm__all_streams, &last), 0);
    atomic_store(&gate_is_open, true);
    for (int k = 0; k < TASKS; k++)
        gate(x);
    assert_int_equal(kmm__marker_query(last), 1);
    kmm__marker_release(last);
    assert_int_equal(kmm_wait(rt), 0);
    end(rt);
}

/* A chunk that has rows in many places takes a frame for each, so a device has many frames. */
static void a_device_has_many_frames(void **state)
{
    enum { MIB = 1 << 20 };
    kmm_runtime_t *rt = NULL;
    kmm_device_info_t d;
    (void)state;
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "host:1,mem=4G", .threads = 2}), 0);
    kmm_use(rt);
    uint32_t *x = array(rt, (int64_t)8 << 28);
    atomic_store(&gate_is_open, true);
    gate(x);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(kmm_device_get(rt, 0, &d), 0);
    assert_int_equal(d.used_bytes, 16 * MIB);
    end(rt);
}

/* ---- Notes ---- */

/* Runs eight sweeps over `parts` parts, and waits in each: for all work if `waits`, for a copy out
 * if `copies`. Returns how often a note says so, with `what` in it; -1: a note without that. */
static int notes(const char *order, int parts, bool waits, bool copies, const char *what)
{
    char text[4000];
    uint32_t first;
    int count = 0;
    FILE *to = tmpfile();
    kmm_runtime_t *rt = make(1, 64, 1, order);
    uint32_t *x = array(rt, parts * PART);
    kmm_fill(rt, x, 0, (size_t)parts * FRAME);
    fflush(stderr);
    int saved = dup(2);
    dup2(fileno(to), 2);
    for (int t = 0; t < 8; t++) {
        sweep(x, parts, t);
        if (waits)
            assert_int_equal(kmm_wait(rt), 0);
        if (copies)
            assert_int_equal(kmm_copy_out(rt, &first, x + (parts - 1) * PART, sizeof(first)), 0);
    }
    assert_int_equal(kmm_wait(rt), 0);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    rewind(to);
    text[fread(text, 1, sizeof(text) - 1, to)] = 0;
    fclose(to);
    for (const char *at = text; (at = strstr(at, "[waits]")); at++)
        count++;
    end(rt);
    return count && !strstr(text, what) ? -1 : count;
}

/* A program that waits in each step has no later steps submitted: it is told once. */
static void waits_are_said(void **state)
{
    (void)state;
    assert_int_equal(notes("reuse", 192, false, false, ""), 0);
    assert_int_equal(notes("reuse", 48, true, true, ""), 0);
    assert_int_equal(notes("submission", 192, true, false, ""), 0);
    assert_int_equal(notes("reuse", 192, true, false,
                           "note: reuse.cu:1: each time after this launch the "
                           "program synchronizes, and not all data fits"),
                     1);
    assert_int_equal(notes("reuse", 192, false, true, "the program waits for \"copy"), 1);
}

/* ---- Chunks that kmm chooses ---- */

/* Returns the number of chunks of a launch over `mib` MiB, which nobody has written, so that
 * nothing is copied. */
static uint64_t chosen(const char *devices, const char *order, int64_t mib)
{
    kmm_runtime_t *rt = NULL;
    const int64_t blocks = mib * 16, part = 65536;
    setenv("KMM_ORDER", order, 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = devices, .threads = 1}), 0);
    kmm_use(rt);
    uint32_t *x = array(rt, blocks * part / 4);
    void *args[] = {&x};
    kmm_launch_t *l = kmm_launch_begin("nothing", "reuse.cu", 1);
    kmm_launch_axis(l, "b", KMM_BLOCK_X, 0, blocks);
    kmm_launch_access(l, KMM_READ, "x", x, sizeof(uint32_t));
    kmm_launch_index(l, 0, part / 4);
    kmm_launch_coef(l, 0, part / 4, 0);
    submit(l, &nothing_kernel, blocks, args);
    assert_int_equal(kmm_wait(rt), 0);
    return end(rt).chunks;
}

/* Eight chunks fit on a device. Where not all arrays do, 64 fit, so that there is room for those of
 * several steps; but no chunk is smaller than 32 MiB. */
static void chunks_suit_the_loop(void **state)
{
    (void)state;
    assert_int_equal(chosen("host:1,mem=512M", "reuse", 256), 5);
    assert_int_equal(chosen("host:1,mem=512M", "reuse", 1024), 32);
    assert_int_equal(chosen("host:1,mem=512M", "submission", 1024), 17);
    assert_int_equal(chosen("host:1,mem=4G", "reuse", 8192), 129);
    assert_int_equal(chosen("host:2,mem=4G", "reuse", 8192), 130);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_bytes_are_copied),   cmocka_unit_test(what_is_awaited_comes_first),
        cmocka_unit_test(no_task_waits_for_ever), cmocka_unit_test(a_device_has_many_frames),
        cmocka_unit_test(waits_are_said),         cmocka_unit_test(chunks_suit_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
