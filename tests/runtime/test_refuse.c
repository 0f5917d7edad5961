/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches that need more memory than there is, and cannot use other memory for the rest: on AMD
 * GPUs, and with a limit of the host's memory. They are refused before anything is lost: arrays
 * keep their values, no error is left, and a smaller launch runs. What fits runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <kmm.h>

#include "backend/device.h"
#include "base/exit_status.h"
#include "fake_work.h"
#include "memory/state.h"
#include "with_runtime.h"

enum { K = 1 << 10, SMALL = 256, SMALLS = 40 };

/* Devices of 256 KiB, which are mapped in pieces of 4 KiB, or whole. */
static const struct place {
    const char *devices;
    kmm_kind_t kind;
    size_t host_mem;
    bool is_whole;
} places[] = {
    {"hip:1,mem=256K", KMM_KIND_HIP, 0, false},
    {"hip:2,mem=256K", KMM_KIND_HIP, 0, false},
    {"cuda:1,mem=256K", KMM_KIND_CUDA, 16 << 20, false},
    {"cuda:2,mem=256K", KMM_KIND_CUDA, 16 << 20, false},
    {"hip:1,mem=256K", KMM_KIND_HIP, 0, true},
};
enum { PLACES = sizeof(places) / sizeof(*places) };

static kmm_runtime_t *open_place(const struct place *p)
{
    (p->is_whole ? setenv("KMM_FAKE_HIP_WHOLE", "1", 1) : unsetenv("KMM_FAKE_HIP_WHOLE"));
    return runtime_open(&(kmm_config_t){.devices = p->devices, .host_mem = p->host_mem});
}

static int32_t *filled(kmm_runtime_t *rt, int64_t n, int byte)
{
    int32_t *a = array_of(rt, n, NULL);
    assert_int_equal(kmm_fill(rt, a, byte, (size_t)n * 4), 0);
    return a;
}

static void expect_all(kmm_runtime_t *rt, const int32_t *a, int64_t n, uint32_t value)
{
    int32_t *got = malloc((size_t)n * 4);
    if (kmm_copy_out(rt, got, a, (size_t)n * 4))
        fail_msg("%s", kmm_error_text(rt));
    for (int64_t k = 0; k < n; k++)
        if ((uint32_t)got[k] != value)
            fail_msg("element %lld is %x, not %x", (long long)k, (unsigned)got[k], value);
    free(got);
}

static void expect_refused(kmm_runtime_t *rt, int result, const char *why)
{
    assert_int_equal(result, KMM_E_MEMORY);
    if (!strstr(kmm_error_text(rt), why) || !strstr(kmm_error_text(rt), "has run"))
        fail_msg("it says: %s", kmm_error_text(rt));
    assert_int_equal(kmm_wait(rt), 0);
}

/* Small arrays that are used lie in slabs, which stay there while others are used. */
static void slabs_of_other_arrays_count(void **state)
{
    (void)state;
    enum { CHUNK = 62 * K };
    for (const struct place *p = places; p < places + PLACES - 1; p++) {
        kmm_runtime_t *rt = open_place(p);
        int32_t *a = filled(rt, CHUNK, 1);
        for (int k = 0; k < SMALLS; k++)
            assert_int_equal(
                fake_work_launch(p->kind, SCALE, SMALL, 2, filled(rt, SMALL, 1), NULL, NULL), 0);
        assert_int_equal(kmm_wait(rt), 0);
        expect_refused(rt, fake_work_launch(p->kind, SCALE, CHUNK, 1, a, NULL, NULL),
                       "needs 253952 bytes");
        assert_non_null(strstr(kmm_error_text(rt), "a chunk of at most 1/2 of its size would fit"));
        expect_all(rt, a, CHUNK, 0x01010101);
        assert_int_equal(fake_work_launch(p->kind, SCALE, CHUNK, 2, a, NULL, NULL), 0);
        expect_all(rt, a, CHUNK, 0x01010101 * 3 + 1);
        runtime_close(rt);
    }
}

/* Small arrays that the program has freed take no room, even while tasks still use them. */
static void slabs_of_freed_arrays_do_not_count(void **state)
{
    (void)state;
    enum { CHUNK = 62 * K };
    setenv("KMM_FAKE_KERNEL_US", "2000", 1);
    for (const struct place *p = places; p < places + PLACES - 1; p++) {
        kmm_runtime_t *rt = open_place(p);
        int32_t *a = filled(rt, CHUNK, 1), *small[SMALLS];
        for (int k = 0; k < SMALLS; k++) {
            small[k] = filled(rt, SMALL, 1);
            assert_int_equal(fake_work_launch(p->kind, SCALE, SMALL, 2, small[k], NULL, NULL), 0);
        }
        for (int k = 0; k < SMALLS; k++)
            assert_int_equal(kmm_array_destroy(rt, small[k]), 0);
        if (fake_work_launch(p->kind, SCALE, CHUNK, 1, a, NULL, NULL))
            fail_msg("%s", kmm_error_text(rt));
        expect_all(rt, a, CHUNK, 0x01010101 * 3 + 1);
        assert_int_equal(rt->device[0]->counters.host_backed_most, 0);
        runtime_close(rt);
    }
    unsetenv("KMM_FAKE_KERNEL_US");
}

/* Chunks that fill a device, and small arrays whose tasks begin between them: no slab takes the
 * room. */
static void slabs_are_made_of_what_is_left(void **state)
{
    (void)state;
    enum { CHUNK = 62 * K, N = 4 * CHUNK };
    setenv("KMM_FAKE_KERNEL_US", "300", 1);
    for (const struct place *p = places; p < places + PLACES - 1; p++) {
        kmm_runtime_t *rt = open_place(p);
        int32_t *a = filled(rt, N, 1), *small[SMALLS];
        for (int k = 0; k < SMALLS; k++)
            small[k] = filled(rt, SMALL, 1);
        for (int k = 0; k < SMALLS; k++) {
            if (k % 8 == 0)
                assert_int_equal(fake_work_launch(p->kind, SCALE, N, 4, a, NULL, NULL), 0);
            assert_int_equal(fake_work_launch(p->kind, SCALE, SMALL, 2, small[k], NULL, NULL), 0);
        }
        if (kmm_wait(rt))
            fail_msg("%s", kmm_error_text(rt));
        for (int k = 0; k < SMALLS; k++)
            expect_all(rt, small[k], SMALL, 0x01010101 * 3 + 1);
        uint32_t want = 0x01010101;
        for (int k = 0; k < SMALLS / 8; k++)
            want = want * 3 + 1;
        expect_all(rt, a, N, want);
        assert_int_equal(rt->device[0]->counters.host_backed_most, 0);
        runtime_close(rt);
    }
    unsetenv("KMM_FAKE_KERNEL_US");
}

/* Of several chunks of a kernel, each that is too large is divided, along what the directive
 * divides.
 */
static void several_chunks_are_divided(void **state)
{
    (void)state;
    enum { N = 256 * K };
    for (const struct place *p = places; p < places + PLACES - 1; p++) {
        kmm_runtime_t *rt = open_place(p);
        int32_t *a = filled(rt, N, 1), *b = filled(rt, N, 2), *c = filled(rt, N, 0);
        uint64_t chunks = 0;
        assert_int_equal(fake_work_launch(p->kind, SCALE, N, 2, a, NULL, NULL), 0);
        assert_int_equal(fake_work_launch(p->kind, ADD, N, 3, c, a, b), 0);
        assert_int_equal(fake_work_launch(p->kind, MIRROR, N, 2, a, c, b), 0);
        expect_all(rt, a, N, 0x01010101 * 3 + 1);
        expect_all(rt, c, N, 0x01010101 * 3 + 1 + 0x02020202);
        for (int d = 0; d < kmm_device_count(rt); d++) {
            kmm_device_info_t info;
            assert_int_equal(kmm_device_get(rt, d, &info), 0);
            chunks += info.chunks;
        }
        assert_true(chunks >= 4 + 12 + 16);
        assert_int_equal(rt->device[0]->counters.host_backed_most, 0);
        expect_refused(rt, fake_work_launch(p->kind, SCALE, N, 1, b, NULL, NULL),
                       "a chunk of at most 1/4 of its size would fit");
        expect_all(rt, b, N, 0x02020202);
        runtime_close(rt);
    }
}

/* A sum of a into each of `width` elements, of which the kernel adds to the first. */
static int launch_sums(kmm_kind_t kind, int64_t n, int chunks, int64_t width, int32_t *dst,
                       int32_t *a)
{
    void *none = NULL;
    kmm_launch_t *l = kmm_launch_begin("sums", "refuse.c", 1);
    kmm_geometry_t g = {{(uint32_t)(n / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
    kmm_launch_chunk(l, KMM_GLOBAL_X, n / chunks);
    fake_work_access(l, KMM_READ, "a[i]", a, 0, 1);
    kmm_launch_reduce(l, KMM_OP_ADD, KMM_INT32, "dst[:]", dst);
    kmm_launch_index(l, 0, width);
    kmm_launch_arm(l);
    return kmm_launch_kernel(kind == KMM_KIND_HIP ? &hip_kernels[SUM] : &cuda_kernels[SUM], &g,
                             (void *[]){NULL, &n, &dst, &a, &none});
}

/* Each chunk of a reduction uses its private copy of the target, too. */
static void private_copies_count(void **state)
{
    (void)state;
    enum { N = 64 * K, WIDE = 50 * K };
    for (const struct place *p = places; p < places + PLACES; p++) {
        kmm_runtime_t *rt = open_place(p);
        int32_t *a = filled(rt, N, 1), *sums = filled(rt, WIDE, 2);
        expect_refused(rt, launch_sums(p->kind, N, 4, WIDE, sums, a), "chunk 0 of 4 needs ");
        expect_all(rt, sums, WIDE, 0x02020202);
        expect_all(rt, a, N, 0x01010101);
        if (!p->is_whole) {
            assert_int_equal(launch_sums(p->kind, N, 16, WIDE, sums, a), 0);
            expect_all(rt, sums + 1, WIDE - 1, 0x02020202);
            expect_all(rt, sums, 1, 0x02020202 + 0x01010101u * N);
        }
        runtime_close(rt);
    }
}

/* The tasks that begin and end a reduction work on the host, in what is left there. */
static void private_copies_fit_the_host(void **state)
{
    (void)state;
    enum { N = 64 * K, WIDE = 50 * K, FAR = 600 * K };
    kmm_runtime_t *rt =
        runtime_open(&(kmm_config_t){.devices = "cuda:1,mem=8M", .host_mem = 2 << 20});
    int32_t *a = filled(rt, N, 1), *sums = filled(rt, WIDE, 2), *far = filled(rt, FAR, 2);
    assert_int_equal(launch_sums(KMM_KIND_CUDA, N, 16, WIDE, sums, a), 0);
    expect_all(rt, sums, 1, 0x02020202 + 0x01010101u * N);
    expect_all(rt, sums + 1, WIDE - 1, 0x02020202);
    expect_refused(rt, launch_sums(KMM_KIND_CUDA, N, 16, FAR, far, a),
                   "a reduction needs 2490368 bytes of host memory at once");
    expect_all(rt, far, FAR, 0x02020202);
    runtime_close(rt);
}

/* Somebody else has taken most of the memory that the driver named. */
static void the_driver_may_have_less(void **state)
{
    (void)state;
    enum { N = 64 * K, TAKEN = 896 * K };
    setenv("KMM_FAKE_MEM", "1048576", 1);
    for (const struct place *p = places; p < places + PLACES; p++) {
        struct place wide = *p;
        wide.devices = p->kind == KMM_KIND_HIP ? "hip:1,mem=512K" : "cuda:1,mem=512K";
        kmm_runtime_t *rt = open_place(&wide);
        const kmm__device_t *d = rt->device[0];
        kmm__frame_handle_t taken;
        int32_t *a = filled(rt, N, 1), *b = filled(rt, 16 * K, 1);
        assert_int_equal(d->backend->frame_create(d->gpu, TAKEN, &taken), 0);
        expect_refused(rt, fake_work_launch(p->kind, SCALE, N, 1, a, NULL, NULL),
                       " at once, of which 131072 can be used");
        expect_all(rt, a, N, 0x01010101);
        assert_int_equal(fake_work_launch(p->kind, SCALE, 16 * K, 1, b, NULL, NULL), 0);
        expect_all(rt, b, 16 * K, 0x01010101 * 3 + 1);
        if (!p->is_whole) {
            assert_int_equal(fake_work_launch(p->kind, SCALE, N, 4, a, NULL, NULL), 0);
            expect_all(rt, a, N, 0x01010101 * 3 + 1);
            assert_int_equal(kmm_fill(rt, a, 1, N * 4), 0);
        }
        d->backend->frame_destroy(d->gpu, taken, TAKEN); /* and gives it back */
        assert_int_equal(fake_work_launch(p->kind, SCALE, N, 1, a, NULL, NULL), 0);
        expect_all(rt, a, N, 0x01010101 * 3 + 1);
        runtime_close(rt);
    }
    unsetenv("KMM_FAKE_MEM");
}

/* Memory is taken after a launch was accepted. True: in time, so that frames are the host's. */
static bool runs_when_memory_goes(void)
{
    enum { N = 256 * K, LARGEST = 512 * K, SIZES = 4 };
    kmm__frame_handle_t taken[SIZES];
    kmm_runtime_t *rt =
        runtime_open(&(kmm_config_t){.devices = "cuda:1,mem=512K", .host_mem = 16 << 20});
    const kmm__device_t *d = rt->device[0];
    int32_t *a = filled(rt, N, 1);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SCALE, N, 4, a, NULL, NULL), 0);
    for (int k = 0; k < SIZES; k++)
        if (d->backend->frame_create(d->gpu, LARGEST >> k, &taken[k]))
            taken[k] = 0;
    expect_all(rt, a, N, 0x01010101 * 3 + 1);
    assert_int_equal(kmm_wait(rt), 0);
    bool in_time = d->counters.host_backed_most > 0;
    for (int k = 0; k < SIZES; k++)
        if (taken[k])
            d->backend->frame_destroy(d->gpu, taken[k], LARGEST >> k);
    runtime_close(rt);
    return in_time;
}

/* What finds no room then is in the host's memory, beyond its limit. */
static void nothing_is_lost_when_memory_goes_later(void **state)
{
    (void)state;
    enum { TRIES = 20 };
    int tries = 0;
    setenv("KMM_FAKE_MEM", "1048576", 1);
    setenv("KMM_FAKE_MAP_US", "3000", 1);
    while (tries < TRIES && !runs_when_memory_goes())
        tries++;
    assert_true(tries < TRIES);
    unsetenv("KMM_FAKE_MEM");
    unsetenv("KMM_FAKE_MAP_US");
}

static void take_memory(const kmm__device_t *d, kmm__frame_handle_t *taken, int sizes, size_t most)
{
    for (int k = 0; k < sizes; k++)
        if (d->backend->frame_create(d->gpu, most >> k, &taken[k]))
            taken[k] = 0;
}

/* The same where a device can use no other memory. True: in time, so that the launch has failed. */
static bool fails_when_memory_goes(const char *devices)
{
    enum { N = 256 * K, M = 2 * K, LARGEST = 512 * K, SIZES = 8 };
    kmm__frame_handle_t taken[SIZES];
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = devices});
    const kmm__device_t *d = rt->device[0];
    int32_t *a = filled(rt, N, 1), *b = filled(rt, M, 1), *got = malloc(N * 4);
    assert_int_equal(fake_work_launch(KMM_KIND_HIP, SCALE, M, 1, b, NULL, NULL), 0);
    expect_all(rt, b, M, 0x01010101 * 3 + 1);
    assert_int_equal(fake_work_launch(KMM_KIND_HIP, SCALE, M, 1, b, NULL, NULL), 0);
    assert_int_equal(fake_work_launch(KMM_KIND_HIP, SCALE, N, 4, a, NULL, NULL), 0);
    take_memory(d, taken, SIZES, LARGEST);
    int error = kmm_wait(rt);
    if (error && (error != KMM_E_MEMORY || !strstr(kmm_error_text(rt), "faults.c:7: scale: ")))
        fail_msg("error %d: %s", error, kmm_error_text(rt));
    assert_int_equal(kmm_copy_out(rt, got, a, N * 4) != 0, error != 0);
    for (int k = 0; k < N && !error; k++)
        assert_int_equal(got[k], 0x01010101 * 3 + 1);
    expect_all(rt, b, M, (0x01010101 * 3 + 1) * 3u + 1); /* the device alone had it */
    for (int k = 0; k < SIZES; k++)
        if (taken[k])
            d->backend->frame_destroy(d->gpu, taken[k], LARGEST >> k);
    kmm_wait(rt);
    assert_int_equal(kmm_fill(rt, a, 1, N * 4), 0); /* and it can be used again */
    assert_int_equal(fake_work_launch(KMM_KIND_HIP, SCALE, N, 4, a, NULL, NULL), 0);
    expect_all(rt, a, N, 0x01010101 * 3 + 1);
    free(got);
    runtime_close(rt);
    return error != 0;
}

/* The launch whose chunk finds no room is named, what it does not write keeps its values, and the
 * runtime can be used. */
static void an_error_is_told_when_memory_goes_later(void **state)
{
    (void)state;
    enum { TRIES = 20 };
    setenv("KMM_FAKE_KERNEL_US", "2000", 1);
    setenv("KMM_FAKE_MAP_US", "3000", 1);
    for (int whole = 0; whole < 2; whole++) {
        int tries = 0;
        setenv("KMM_FAKE_MEM", whole ? "1572864" : "1048576", 1);
        setenv("KMM_FAKE_PLAIN", "1572864", 1);
        (whole ? setenv("KMM_FAKE_HIP_WHOLE", "1", 1) : unsetenv("KMM_FAKE_HIP_WHOLE"));
        while (tries < TRIES &&
               !fails_when_memory_goes(whole ? "hip:1,mem=1100K" : "hip:1,mem=512K"))
            tries++;
        assert_true(tries < TRIES);
    }
    unsetenv("KMM_FAKE_HIP_WHOLE");
    unsetenv("KMM_FAKE_MEM");
    unsetenv("KMM_FAKE_PLAIN");
    unsetenv("KMM_FAKE_KERNEL_US");
    unsetenv("KMM_FAKE_MAP_US");
}

static kmm_launch_t *task_on(int32_t *a, int64_t n)
{
    kmm_launch_t *l = kmm_launch_begin("task", "refuse.c", 2);
    kmm_launch_access(l, KMM_UPDATE, "a[0:n]", a, sizeof(*a));
    kmm_launch_index(l, 0, n);
    return l;
}

static void tasks_are_refused_too(void **state)
{
    (void)state;
    enum { N = 256 * K };
    setenv("KMM_ON_ERROR", "continue", 1);
    for (const struct place *p = places; p < places + PLACES; p++) {
        kmm_runtime_t *rt = open_place(p);
        int32_t *a = filled(rt, N, 1), *b = filled(rt, 8 * K, 1);
        void *stream;
        assert_null(kmm_task_begin(task_on(a, 100 * K), NULL, &stream));
        if (!strstr(kmm_error_text(rt), "refuse.c:2: task: needs ") ||
            !strstr(kmm_error_text(rt), "nothing of the task has run"))
            fail_msg("%s", kmm_error_text(rt));
        assert_int_equal(kmm_wait(rt), 0);
        expect_all(rt, a, N, 0x01010101);
        kmm_task_t *t = kmm_task_begin(task_on(b, 8 * K), NULL, &stream);
        assert_non_null(t);
        kmm_task_end(t);
        assert_int_equal(kmm_wait(rt), 0);
        expect_all(rt, b, 8 * K, 0x01010101);
        runtime_close(rt);
    }
    unsetenv("KMM_ON_ERROR");
    kmm__exit_forget();
}

static void run_on_host(const kmm_host_blocks_t *b, void **args)
{
    int32_t *x = *(int32_t **)args[0];
    for (uint64_t k = b->first; k < b->last; k++)
        for (uint64_t i = 0; i < BLOCK; i++)
            x[(k + b->offset[0]) * BLOCK + i] += 1;
}

static int launch_on_host(int64_t n, int64_t chunk, int32_t *x)
{
    static const uint32_t word[] = {8};
    static const kmm_kernel_t kernel = {
        KMM_LAUNCH_VERSION, KMM_KIND_HOST, "increment", run_on_host, NULL, 1, word, 0, NULL};
    kmm_geometry_t g = {{(uint32_t)(n / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    if (chunk) {
        kmm_launch_t *l = kmm_launch_begin("increment", "refuse.c", 3);
        kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
        kmm_launch_chunk(l, KMM_GLOBAL_X, chunk);
        fake_work_access(l, KMM_UPDATE, "x[i]", x, 0, 1);
        kmm_launch_arm(l);
    }
    return kmm_launch_kernel(&kernel, &g, (void *[]){&x});
}

/* Chunks on the CPU need pages of the host's memory, and a launch without a pragma all pages. */
static void chunks_fit_the_host(void **state)
{
    (void)state;
    enum { N = 1 << 20, SOME = 64 * K };
    static const char *const devices[] = {"host", "host:1,mem=64M,host"};
    for (int k = 0; k < 2; k++) {
        kmm_runtime_t *rt =
            runtime_open(&(kmm_config_t){.devices = devices[k], .host_mem = 1 << 20});
        int32_t *x = filled(rt, N, 1), *y = filled(rt, SOME, 1);
        if (k == 0) {
            expect_refused(rt, launch_on_host(N, N, x),
                           "needs 4194304 bytes of host memory at once, of which KMM_HOST_MEM "
                           "leaves ");
            assert_non_null(strstr(kmm_error_text(rt), "a chunk of at most 1/"));
            expect_all(rt, x, N, 0x01010101);
            expect_refused(rt, launch_on_host(N, 0, x), "`#pragma kmm parallel` above its launch");
            expect_all(rt, x, N, 0x01010101);
        }
        assert_int_equal(launch_on_host(N, N / 16, x), 0);
        assert_int_equal(launch_on_host(N, N / 2, x), 0);
        expect_all(rt, x, N, 0x01010103);
        assert_int_equal(launch_on_host(SOME, 0, y), 0);
        expect_all(rt, y, SOME, 0x01010102);
        runtime_close(rt);
    }
}

/* What a chunk reads from devices of another driver comes through the host's memory. */
static void what_crosses_fits_the_host(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    kmm_runtime_t *rt = runtime_open(
        &(kmm_config_t){.devices = "cuda:1,mem=16M,hip:1,mem=16M", .host_mem = 1 << 20});
    int32_t *a = filled(rt, N, 1);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SCALE, N, 16, a, NULL, NULL), 0);
    expect_refused(rt, fake_work_launch(KMM_KIND_HIP, SCALE, N, 1, a, NULL, NULL),
                   "of host memory at once");
    expect_all(rt, a, N, 0x01010101 * 3 + 1);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SCALE, N, 16, a, NULL, NULL), 0);
    assert_int_equal(fake_work_launch(KMM_KIND_HIP, SCALE, N, 2, a, NULL, NULL), 0);
    expect_all(rt, a, N, ((0x01010101 * 3 + 1) * 3u + 1) * 3u + 1);
    runtime_close(rt);
}

/* Launches without a pragma use all of each array. */
static void whole_arrays_count(void **state)
{
    (void)state;
    enum { N = 62 * K };
    for (const struct place *p = places; p < places + PLACES; p++) {
        kmm_runtime_t *rt = open_place(p);
        int32_t *a = filled(rt, 100 * K, 1), *b = filled(rt, 8 * K, 1), *none = NULL;
        int64_t n = 8 * K;
        kmm_geometry_t g = {{(uint32_t)(n / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, NULL};
        const kmm_kernel_t *kernel =
            p->kind == KMM_KIND_HIP ? &hip_kernels[SCALE] : &cuda_kernels[SCALE];
        expect_refused(rt, kmm_launch_kernel(kernel, &g, (void *[]){NULL, &n, &a, &none, &none}),
                       "`#pragma kmm parallel` above its launch splits it");
        expect_all(rt, a, 100 * K, 0x01010101);
        assert_int_equal(kmm_launch_kernel(kernel, &g, (void *[]){NULL, &n, &b, &none, &none}), 0);
        expect_all(rt, b, 8 * K, 0x01010101 * 3 + 1);
        runtime_close(rt);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slabs_of_other_arrays_count),
        cmocka_unit_test(slabs_of_freed_arrays_do_not_count),
        cmocka_unit_test(slabs_are_made_of_what_is_left),
        cmocka_unit_test(several_chunks_are_divided),
        cmocka_unit_test(private_copies_count),
        cmocka_unit_test(private_copies_fit_the_host),
        cmocka_unit_test(the_driver_may_have_less),
        cmocka_unit_test(nothing_is_lost_when_memory_goes_later),
        cmocka_unit_test(an_error_is_told_when_memory_goes_later),
        cmocka_unit_test(tasks_are_refused_too),
        cmocka_unit_test(chunks_fit_the_host),
        cmocka_unit_test(what_crosses_fits_the_host),
        cmocka_unit_test(whole_arrays_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
