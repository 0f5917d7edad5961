/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs of two kinds in one process, on the fake drivers: launches of both, and data that moves
 * between them. */
#include <dlfcn.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>
#include <kmm/cuda_api.h>

#include "base/running.h"
#include "fake_work.h"
#include "memory/residency/frame.h"
#include "task/marker.h"
#include "with_runtime.h"

enum { N = 1 << 16 };

static kmm_device_info_t info(kmm_runtime_t *rt, int device)
{
    kmm_device_info_t i;
    assert_int_equal(kmm_device_get(rt, device, &i), 0);
    return i;
}

static void data_moves_between_them_through_the_host(void **state)
{
    (void)state;
    kmm_runtime_t *rt;
    static int32_t values[N], got[N];
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,hip:1,mem=4M"}), 0);
    kmm_use(rt);
    for (int i = 0; i < N; i++)
        values[i] = i * 3;
    int32_t *a = array_of(rt, N, values), *b = array_of(rt, N, NULL), *c = array_of(rt, N, NULL),
            *d = array_of(rt, N, NULL);
    assert_int_equal(info(rt, 0).kind, KMM_KIND_CUDA);
    assert_int_equal(info(rt, 1).kind, KMM_KIND_HIP);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 4, b, a, a), 0);
    assert_int_equal(fake_work_launch(KMM_KIND_HIP, MIRROR, N, 4, c, b, a), 0);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 4, d, c, b), 0);
    assert_int_equal(kmm_copy_out(rt, got, d, sizeof(got)), 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(got[i], 2 * values[N - 1 - i] - values[i] + 2 * values[i]);
    /* Each moved what the other needed, once: a and b to HIP, a and c to CUDA; b, then d from CUDA;
     * c from HIP. */
    assert_int_equal(info(rt, 0).bytes_in, 2 * N * 4);
    assert_int_equal(info(rt, 0).bytes_out, 2 * N * 4);
    assert_int_equal(info(rt, 1).bytes_in, 2 * N * 4);
    assert_int_equal(info(rt, 1).bytes_out, N * 4);
    assert_int_equal(info(rt, 0).bytes_peer + info(rt, 1).bytes_peer, 0);
    assert_int_equal(info(rt, 0).chunks, 8);
    assert_int_equal(info(rt, 1).chunks, 4);
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
}

/* When the AMD GPU is lost, the NVIDIA GPU and what is not on the lost one go on. */
static void one_kind_may_be_lost(void **state)
{
    (void)state;
    kmm_runtime_t *rt;
    static int32_t values[N], got[N];
    setenv("KMM_FAKE_HIP_FAIL", "running:2", 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "hip:1,cuda:1,mem=4M"}), 0);
    kmm_use(rt);
    for (int i = 0; i < N; i++)
        values[i] = i;
    int32_t *a = array_of(rt, N, values), *b = array_of(rt, N, NULL), *c = array_of(rt, N, NULL);
    assert_int_equal(fake_work_launch(KMM_KIND_HIP, ADD, N, 4, b, a, a), 0);
    assert_int_equal(kmm_wait(rt), KMM_E_KERNEL);
    assert_non_null(strstr(kmm_error_text(rt), "faults.c:7: add: "));
    assert_int_equal(kmm_copy_out(rt, got, b, sizeof(got)), KMM_E_POISONED);
    assert_int_equal(fake_work_launch(KMM_KIND_HIP, ADD, N, 4, b, a, a), KMM_E_NO_DEVICE);
    assert_non_null(strstr(kmm_error_text(rt), "lost by earlier failures"));
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 4, c, a, a), 0);
    assert_int_equal(kmm_copy_out(rt, got, c, sizeof(got)), 0);
    assert_int_equal(got[N - 1], 2 * (N - 1));
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
    unsetenv("KMM_FAKE_HIP_FAIL");
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The fake can be slow, for tests of overlap: 768 KiB at 2 MiB a second, each way. */
static void copies_take_the_time_they_are_given(void **state)
{
    (void)state;
    kmm_runtime_t *rt;
    static int32_t values[N];
    setenv("KMM_FAKE_CUDA_COPY_RATE", "2097152", 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=4M"}), 0);
    kmm_use(rt);
    int32_t *a = array_of(rt, N, values), *b = array_of(rt, N, NULL);
    double begun = now();
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 1, b, a, a), 0);
    assert_int_equal(kmm_wait(rt), 0);
    double took = now() - begun;
    assert_true(took >= 0.125); /* a is brought in: 256 KiB */
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
    unsetenv("KMM_FAKE_CUDA_COPY_RATE");
}

static int run_plain_add(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)grid;
    int64_t n = *(int64_t *)args[0], begin = (int64_t)block[0] * BLOCK;
    for (int64_t i = begin; i < begin + BLOCK && i < n; i++)
        fake_work_element(ADD, i, n, *(int32_t **)args[1], *(int32_t **)args[2],
                          *(int32_t **)args[3]);
    return 0;
}

/* dst = a + b by a launch that nobody described. */
static int launch_plain_add(int32_t *dst, int32_t *a, int32_t *b)
{
    static const uint32_t eight[] = {8, 8, 8, 8};
    static fake_kernel_t fake = {run_plain_add, 4, eight, 0, NULL};
    static const kmm_kernel_t kernel = {
        KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "plain_add", NULL, &fake, 4, eight, 0, NULL};
    int64_t n = N;
    return kmm_launch_kernel(&kernel, &(kmm_geometry_t){{N / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0, NULL},
                             (void *[]){&n, &dst, &a, &b});
}

/* A kernel without a clone runs whole: what its GPU has no room for is in the host's memory, and
 * nothing is left over. */
static void what_does_not_fit_stays_host_backed(void **state)
{
    (void)state;
    kmm_runtime_t *rt;
    static int32_t values[N], got[N];
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=200K"}), 0);
    kmm_use(rt);
    for (int i = 0; i < N; i++)
        values[i] = i;
    int32_t *a = array_of(rt, N, values), *b = array_of(rt, N, NULL), *c = array_of(rt, N, NULL);
    assert_int_equal(launch_plain_add(b, a, a), 0);
    assert_int_equal(launch_plain_add(c, b, a), 0);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 16, a, c, b), 0);
    assert_int_equal(launch_plain_add(b, a, c), 0);
    assert_int_equal(kmm_copy_out(rt, got, b, sizeof(got)), 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(got[i], 8 * i);
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
}

enum { WIDE = 256, HIGH = N / WIDE };

/* A block's columns, from the bottom to the top. */
static int run_columns(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)grid;
    int32_t *dst = *(int32_t **)args[1];
    const int32_t *a = *(int32_t **)args[2];
    int64_t begin = ((int64_t)block[0] + ((const kmm_blocks_t *)args[0])->offset_x) * BLOCK;
    for (int64_t y = 0; y < HIGH; y++)
        for (int64_t x = begin; x < begin + BLOCK; x++)
            dst[y * WIDE + x] = a[(HIGH - 1 - y) * WIDE + x] + 1;
    return 0;
}

static int launch_columns(kmm_kind_t kind, int32_t *dst, int32_t *a)
{
    static fake_kernel_t fake = {run_columns, 3, sizes, 0, NULL};
    static const kmm_kernel_t kernels[] = {
        {KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "columns", NULL, &fake, 3, sizes, 1, NULL},
        {KMM_LAUNCH_VERSION, KMM_KIND_HIP, "columns", NULL, &fake, 3, sizes, 1, NULL}};
    kmm_launch_t *l = kmm_launch_begin("columns", "kinds.c", 2);
    kmm_launch_axis(l, "x", KMM_GLOBAL_X, 0, WIDE);
    kmm_launch_chunk(l, KMM_GLOBAL_X, BLOCK);
    for (int k = 0; k < 2; k++) {
        kmm_launch_access(l, k ? KMM_WRITE : KMM_READ, k ? "dst[:][x]" : "a[:][x]", k ? dst : a,
                          sizeof(*a));
        kmm_launch_extent(l, HIGH);
        kmm_launch_extent(l, WIDE);
        kmm_launch_index(l, 0, KMM_WHOLE);
        kmm_launch_index(l, 0, 1);
        kmm_launch_coef(l, 0, 1, 0);
    }
    kmm_launch_arm(l);
    return kmm_launch_kernel(&kernels[kind == KMM_KIND_HIP],
                             &(kmm_geometry_t){{WIDE / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0, NULL},
                             (void *[]){NULL, &dst, &a});
}

#ifdef __SANITIZE_THREAD__
enum { STEPS = 1 };
#else
enum { STEPS = 3 };
#endif

/* Chunks of which each uses pieces of all frames, beside others that fit; devices have parts of the
 * same frames, some of them in the host's memory. HIP's driver cannot map that, and they are
 * refused before anything has run, so that nothing is lost. */
static void chunks_that_cannot_be_small_are_host_backed(void **state)
{
    (void)state;
    static const struct {
        const char *devices, *check;
        kmm_kind_t kind;
    } runs[] = {
        {"cuda:1,mem=200K", "", KMM_KIND_CUDA},       {"cuda:2,mem=200K", "", KMM_KIND_CUDA},
        {"cuda:2,mem=100K", "", KMM_KIND_CUDA},       {"cuda:1,mem=400K", "access", KMM_KIND_CUDA},
        {"cuda:2,mem=200K", "access", KMM_KIND_CUDA}, {"hip:1,mem=200K", "", KMM_KIND_HIP},
    };
    static int32_t values[N], got[N];
    for (size_t k = 0; k < sizeof(runs) / sizeof(runs[0]); k++) {
        kmm_runtime_t *rt;
        setenv("KMM_CHECK", runs[k].check, 1);
        assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = runs[k].devices}), 0);
        kmm_use(rt);
        for (int i = 0; i < N; i++)
            values[i] = i % 1013;
        int32_t *a = array_of(rt, N, values), *b = array_of(rt, N, NULL),
                *c = array_of(rt, N, NULL);
        bool refused = runs[k].kind == KMM_KIND_HIP;
        int expected = refused ? KMM_E_MEMORY : 0;
        for (int step = 0; step < STEPS; step++) {
            assert_int_equal(launch_columns(runs[k].kind, b, a), expected);
            if (!refused)
                fake_work_launch(runs[k].kind, ADD, N, 32, c, a, b);
            assert_int_equal(launch_columns(runs[k].kind, a, b), expected);
            if (!refused)
                fake_work_launch(runs[k].kind, ADD, N, 32, a, c, a);
        }
        int error = kmm_copy_out(rt, got, a, sizeof(got));
        if (error)
            fail_msg("%s: %s", runs[k].devices, kmm_error_text(rt));
        assert_true(!refused == !!rt->device[0]->counters.host_backed_most);
        for (int step = 0; step < STEPS && !refused; step++) {
            static int32_t turned[N];
            for (int i = 0; i < N; i++)
                turned[i] = values[N - WIDE - i / WIDE * WIDE + i % WIDE] + 1;
            for (int i = 0; i < N; i++)
                values[i] += turned[i] + turned[N - WIDE - i / WIDE * WIDE + i % WIDE] + 1;
        }
        assert_memory_equal(got, values, sizeof(got));
        kmm_use(NULL);
        assert_int_equal(kmm_destroy(rt), 0);
        unsetenv("KMM_CHECK");
    }
}

/* A MIRROR whose chunks each read all of a and of b. */
static int launch_gather(kmm_kind_t kind, int chunks, int32_t *dst, int32_t *a, int32_t *b)
{
    static int64_t n = N;
    kmm_launch_t *l = kmm_launch_begin("gather", "kinds.c", 3);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
    kmm_launch_chunk(l, KMM_GLOBAL_X, N / chunks);
    kmm_launch_access(l, KMM_READ, "a[:]", a, sizeof(*a));
    kmm_launch_index(l, 0, KMM_WHOLE);
    kmm_launch_access(l, KMM_READ, "b[:]", b, sizeof(*b));
    kmm_launch_index(l, 0, KMM_WHOLE);
    fake_work_access(l, KMM_WRITE, "dst[i]", dst, 0, 1);
    kmm_launch_arm(l);
    return kmm_launch_kernel(kind == KMM_KIND_HIP ? &hip_kernels[MIRROR] : &cuda_kernels[MIRROR],
                             &(kmm_geometry_t){{N / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0, NULL},
                             (void *[]){NULL, &n, &dst, &a, &b});
}

/* Chunks that the program asked for and that each read whole tables, on a device with a third of
 * their memory, and with just what one chunk's frames are but for a slab. */
static void gathers_run_whatever_the_chunk(void **state)
{
    (void)state;
    static const char *const devices[] = {"cuda:1,mem=256K", "cuda:2,mem=256K", "cuda:1,mem=544K",
                                          "cuda:2,mem=544K", "cuda:2,mem=64K",  "cuda:1,mem=4M"};
    static int32_t values[N], got[N];
    for (size_t k = 0; k < sizeof(devices) / sizeof(devices[0]); k++)
        for (int chunks = 1; chunks <= 64; chunks *= 8) {
            kmm_runtime_t *rt;
            assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = devices[k]}), 0);
            kmm_use(rt);
            for (int i = 0; i < N; i++)
                values[i] = i * 7 % 1013;
            int32_t *a = array_of(rt, N, values), *b = array_of(rt, N, values),
                    *c = array_of(rt, N, NULL), *tiny = array_of(rt, 64, values);
            assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SCALE, 64, 1, tiny, NULL, NULL), 0);
            for (int step = 0; step < 3; step++) {
                assert_int_equal(launch_gather(KMM_KIND_CUDA, chunks, c, a, b), 0);
                assert_int_equal(launch_gather(KMM_KIND_CUDA, chunks, a, c, b), 0);
            }
            if (kmm_copy_out(rt, got, a, sizeof(got)))
                fail_msg("%s in %d: %s", devices[k], chunks, kmm_error_text(rt));
            for (int step = 0; step < 3; step++) {
                static int32_t turned[N];
                for (int i = 0; i < N; i++)
                    turned[i] = values[N - 1 - i] - i * 7 % 1013;
                for (int i = 0; i < N; i++)
                    values[i] = turned[N - 1 - i] - i * 7 % 1013;
            }
            assert_memory_equal(got, values, sizeof(got));
            assert_int_equal(kmm_copy_out(rt, got, tiny, 64 * sizeof(*got)), 0);
            assert_int_equal(got[63], 63 * 7 % 1013 * 3 + 1);
            kmm_use(NULL);
            assert_int_equal(kmm_destroy(rt), 0);
        }
}

static uint64_t host_backed_bytes(const kmm_runtime_t *rt, const void *x)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < rt->memory->array_count; k++) {
        const kmm__array_t *a = rt->memory->arrays[k];
        const kmm__frame_t *frames = a->residence[0].frames;
        for (uint64_t f = 0; (const void *)a->base == x && frames && f < a->frame_count; f++)
            if (frames[f].host_backed)
                bytes += kmm__frame_size(&frames[f]);
    }
    return bytes;
}

/* A block's columns, from the bottom to the top, and an element of the table for each. */
static int run_mixed(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)grid;
    int32_t *dst = *(int32_t **)args[1];
    const int32_t *a = *(int32_t **)args[2], *table = *(int32_t **)args[3];
    int64_t begin = ((int64_t)block[0] + ((const kmm_blocks_t *)args[0])->offset_x) * BLOCK;
    for (int64_t y = 0; y < HIGH; y++)
        for (int64_t x = begin; x < begin + BLOCK; x++)
            dst[y * WIDE + x] = a[(HIGH - 1 - y) * WIDE + x] + table[(y * WIDE + x) * 7 % N];
    return 0;
}

static void launch_mixed(bool table_first, int32_t *dst, int32_t *a, int32_t *table)
{
    static const uint32_t words[] = {sizeof(kmm_blocks_t), 8, 8, 8};
    static fake_kernel_t fake = {run_mixed, 4, words, 0, NULL};
    static const kmm_kernel_t kernel = {
        KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "mixed", NULL, &fake, 4, words, 1, NULL};
    kmm_launch_t *l = kmm_launch_begin("mixed", "kinds.c", 4);
    kmm_launch_axis(l, "x", KMM_GLOBAL_X, 0, WIDE);
    kmm_launch_chunk(l, KMM_GLOBAL_X, BLOCK);
    for (int k = 0; k < 3; k++) {
        if (k == (table_first ? 0 : 2)) {
            kmm_launch_access(l, KMM_READ, "table[:]", table, sizeof(*table));
            kmm_launch_index(l, 0, KMM_WHOLE);
            continue;
        }
        bool stores = k == 1;
        kmm_launch_access(l, stores ? KMM_WRITE : KMM_READ, stores ? "dst[:][x]" : "a[:][x]",
                          stores ? dst : a, sizeof(*a));
        kmm_launch_extent(l, HIGH);
        kmm_launch_extent(l, WIDE);
        kmm_launch_index(l, 0, KMM_WHOLE);
        kmm_launch_index(l, 0, 1);
        kmm_launch_coef(l, 0, 1, 0);
    }
    kmm_launch_arm(l);
    assert_int_equal(
        kmm_launch_kernel(&kernel, &(kmm_geometry_t){{WIDE / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0, NULL},
                          (void *[]){NULL, &dst, &a, &table}),
        0);
}

/* Each chunk reads all of a table, and columns of two other arrays. The device has room for one of
 * the three arrays and a bit. Most of the table stays there, wherever the clauses name it. */
static void the_least_used_is_host_backed(void **state)
{
    (void)state;
    static int32_t values[N], got[N];
    for (int i = 0; i < N; i++)
        values[i] = i * 7 % 1013;
    for (int table_first = 0; table_first < 2; table_first++) {
        kmm_runtime_t *rt;
        assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=300K"}), 0);
        kmm_use(rt);
        int32_t *a = array_of(rt, N, values), *dst = array_of(rt, N, NULL),
                *table = array_of(rt, N, values);
        launch_mixed(table_first, dst, a, table);
        assert_int_equal(kmm_wait(rt), 0);
        pthread_mutex_lock(&rt->lock);
        uint64_t of_table = host_backed_bytes(rt, table), of_a = host_backed_bytes(rt, a),
                 of_dst = host_backed_bytes(rt, dst);
        pthread_mutex_unlock(&rt->lock);
        assert_true(of_a + of_dst > 0);
        assert_true(of_table <= sizeof(values) / 4); /* other chunks may hold frames meanwhile */
        assert_true(of_dst >= of_a);                 /* rather what is stored than what is read */
        assert_int_equal(kmm_copy_out(rt, got, dst, sizeof(got)), 0);
        for (int i = 0; i < N; i++)
            assert_int_equal(got[i],
                             values[N - WIDE - i / WIDE * WIDE + i % WIDE] + values[i * 7 % N]);
        kmm_use(NULL);
        assert_int_equal(kmm_destroy(rt), 0);
    }
}

/* A launch that nobody described runs on the device that the program has current. One that libkmm
 * leaves out is an error, and not another. */
static void the_current_device_may_be_left_out(void **state)
{
    (void)state;
    kmm_runtime_t *rt;
    static int32_t values[N], got[N];
    int (*retain)(void **out, int device), (*release)(int device), (*push)(void *context),
        (*pop)(void **out);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&release = dlsym(driver, "cuDevicePrimaryCtxRelease_v2");
    *(void **)&push = dlsym(driver, "cuCtxPushCurrent_v2");
    *(void **)&pop = dlsym(driver, "cuCtxPopCurrent_v2");
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=4M"}), 0);
    kmm_use(rt);
    for (int i = 0; i < N; i++)
        values[i] = i;
    int32_t *a = array_of(rt, N, values), *b = array_of(rt, N, NULL);
    assert_int_equal(retain(&context, 1), 0);
    assert_int_equal(push(context), 0);
    assert_int_equal(launch_plain_add(b, a, a), KMM_E_NO_DEVICE);
    assert_non_null(
        strstr(kmm_error_text(rt), "device 1 is current, which KMM_DEVICES leaves out"));
    assert_int_equal(pop(&context), 0);
    assert_int_equal(release(1), 0);
    assert_int_equal(launch_plain_add(b, a, a), 0);
    assert_int_equal(kmm_copy_out(rt, got, b, sizeof(got)), 0);
    assert_int_equal(got[N - 1], 2 * (N - 1));
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
    dlclose(driver);
}

static void lists_of_devices_are_checked(void **state)
{
    (void)state;
    kmm_runtime_t *rt;
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "hip:9"}), KMM_E_NO_DEVICE);
    assert_non_null(strstr(kmm_error_text(NULL), "9 HIP devices were asked for, and 2 answer"));
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "rocm"}), KMM_E_INVALID);
    assert_non_null(strstr(kmm_error_text(NULL), "there are cuda, hip and host"));
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda,hip,host:2,host,host"}),
                     KMM_E_INVALID);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = ","}), KMM_E_INVALID);
    assert_non_null(strstr(kmm_error_text(NULL), "names no device"));
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=nan"}), KMM_E_INVALID);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=1e30"}), KMM_E_INVALID);
    static const char *const threads[] = {"two", "-1", "100000", "2x"};
    for (int k = 0; k < 4; k++) {
        setenv("KMM_THREADS", threads[k], 1);
        assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1"}), KMM_E_INVALID);
        assert_non_null(strstr(kmm_error_text(NULL), "no number of threads"));
    }
    unsetenv("KMM_THREADS");
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda,hip,host:2,mem=1M"}), 0);
    assert_int_equal(kmm_device_count(rt), 6);
    assert_int_equal(kmm_destroy(rt), 0);
}

/* As many as there can be, and no more; all of them work. */
static void there_may_be_many_devices(void **state)
{
    enum { MOST = KMM__MAX_DEVICES - 1 };
    (void)state;
    kmm_runtime_t *rt;
    static int32_t ones[N], got[N];
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    setenv("KMM_FAKE_CUDA_DEVICES", "32", 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda,hip:1"}), KMM_E_INVALID);
    assert_non_null(strstr(kmm_error_text(NULL), "more than 23 devices"));
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:23,host:1"}), KMM_E_INVALID);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:20,hip:2,host:1,mem=1M"}), 0);
    assert_int_equal(kmm_device_count(rt), MOST);
    assert_int_equal(kmm_destroy(rt), 0);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.device_mem = 4 << 20}), 0);
    assert_int_equal(kmm_device_count(rt), MOST);
    kmm_use(rt);
    int32_t *b = array_of(rt, N, ones), *c = array_of(rt, N, NULL);
    for (int turn = 0; turn < 3; turn++)
        assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, MOST, turn % 2 ? b : c,
                                          turn % 2 ? c : b, turn % 2 ? c : b),
                         0);
    assert_int_equal(kmm_copy_out(rt, got, c, sizeof(got)), 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(got[i], 8);
    for (int k = 0; k < MOST; k++)
        assert_int_equal(info(rt, k).chunks, 3);
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
    unsetenv("KMM_FAKE_CUDA_DEVICES");
}

/* device(cuda), device(hip) and device(all) in one program. A kernel runs on GPUs of its kind
 * alone: of all of them, of its kind when that is named, and nowhere when another kind is. */
static int launch_on(kmm_kind_t kind, kmm_where_t where, int ordinal, int32_t *dst, int32_t *a)
{
    kmm_launch_t *l = kmm_launch_begin("add", "kinds.c", 1);
    kmm_geometry_t g = {{N / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    int64_t n = N;
    void *args[] = {NULL, &n, &dst, &a, &a};
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, N);
    kmm_launch_chunk(l, KMM_GLOBAL_X, N / 8);
    kmm_launch_device(l, where, ordinal);
    fake_work_access(l, KMM_READ, "a[i]", a, 0, 1);
    fake_work_access(l, KMM_WRITE, "dst[i]", dst, 0, 1);
    kmm_launch_arm(l);
    return kmm_launch_kernel(kind == KMM_KIND_HIP ? &hip_kernels[ADD] : &cuda_kernels[ADD], &g,
                             args);
}

static void chunks_run_where_the_directive_says(void **state)
{
    (void)state;
    kmm_runtime_t *rt;
    static int32_t values[N], got[N];
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:2,hip:2,mem=4M"}), 0);
    kmm_use(rt);
    for (int i = 0; i < N; i++)
        values[i] = i;
    int32_t *a = array_of(rt, N, values), *b = array_of(rt, N, NULL);
    uint64_t expected[4] = {0};
    static const struct {
        kmm_kind_t kind;
        kmm_where_t where;
        int ordinal;
        int adds[4], error;
    } cases[] = {
        {KMM_KIND_CUDA, KMM_ON_CUDA, 0, {4, 4, 0, 0}, 0},
        {KMM_KIND_HIP, KMM_ON_HIP, 0, {0, 0, 4, 4}, 0},
        {KMM_KIND_CUDA, KMM_ON_ALL, 0, {4, 4, 0, 0}, 0},
        {KMM_KIND_HIP, KMM_ON_ALL, 0, {0, 0, 4, 4}, 0},
        {KMM_KIND_HIP, KMM_ON_DEVICE, 1, {0, 0, 0, 8}, 0},
        {KMM_KIND_CUDA, KMM_ON_DEVICE, 0, {8, 0, 0, 0}, 0},
        {KMM_KIND_HIP, KMM_ON_CUDA, 0, {0}, KMM_E_NO_DEVICE},
        {KMM_KIND_CUDA, KMM_ON_HIP, 0, {0}, KMM_E_NO_DEVICE},
        {KMM_KIND_HIP, KMM_ON_DEVICE, 2, {0}, KMM_E_NO_DEVICE},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        int32_t *from = k % 2 ? b : a, *to = k % 2 ? a : b;
        int error = launch_on(cases[k].kind, cases[k].where, cases[k].ordinal, to, from);
        assert_int_equal(error ? error : kmm_wait(rt), cases[k].error);
        for (int d = 0; d < 4; d++) {
            expected[d] += (uint64_t)cases[k].adds[d];
            assert_int_equal(info(rt, d).chunks, expected[d]);
        }
    }
    /* Six launches doubled the values, each where the last one's result was not. */
    assert_int_equal(kmm_copy_out(rt, got, a, sizeof(got)), 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(got[i], values[i] * 64);
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
}

/* A launch that nobody described may change variables of its device, and so may one that says so:
 * both go to the device that the program has current, wherever their data is. */
static void variables_of_devices_stay_on_one(void **state)
{
    (void)state;
    kmm_runtime_t *rt;
    static int32_t values[N], got[N];
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:2,mem=4M"}), 0);
    kmm_use(rt);
    for (int i = 0; i < N; i++)
        values[i] = i;
    int32_t *a = array_of(rt, N, values), *b = array_of(rt, N, NULL), *c = array_of(rt, N, NULL);
    int64_t n = N;
    kmm_geometry_t g = {{N / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    assert_int_equal(launch_on(KMM_KIND_CUDA, KMM_ON_DEVICE, 1, b, a), 0);
    assert_int_equal(launch_plain_add(c, b, b), 0);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(info(rt, 0).chunks, 1);
    assert_int_equal(info(rt, 1).chunks, 8);
    assert_int_equal(launch_on(KMM_KIND_CUDA, KMM_ON_DEVICE, 1, a, c), 0);
    kmm_launch_t *l = kmm_launch_begin("add", "kinds.c", 1);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, N);
    kmm_launch_chunk(l, KMM_GLOBAL_X, N / 8);
    kmm_launch_home(l);
    fake_work_access(l, KMM_READ, "a[i]", a, 0, 1);
    fake_work_access(l, KMM_WRITE, "dst[i]", b, 0, 1);
    kmm_launch_arm(l);
    assert_int_equal(kmm_launch_kernel(&cuda_kernels[ADD], &g, (void *[]){NULL, &n, &b, &a, &a}),
                     0);
    assert_int_equal(kmm_copy_out(rt, got, b, sizeof(got)), 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(got[i], 16 * i);
    assert_int_equal(info(rt, 0).chunks, 2);
    assert_int_equal(info(rt, 1).chunks, 16);
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
}

/* ---- Lanes ---- */

static uint32_t lanes_seen;

/* Each warp counts its lanes with odd elements, as by a ballot, and its first lane adds the count.
 */
static int run_count(const fake_warp_t *w, void **args)
{
    const kmm_blocks_t *blocks = args[0];
    int64_t n = *(int64_t *)args[1],
            begin = ((int64_t)w->block[0] + blocks->offset_x) * 96 + w->first;
    uint64_t ballot = 0;
    for (uint32_t lane = 0; lane < w->count; lane++)
        ballot |= (uint64_t)(begin + lane < n && (*(int32_t **)args[3])[begin + lane] % 2) << lane;
    (*(int32_t **)args[2])[0] += __builtin_popcountll(ballot);
    __atomic_store_n(&lanes_seen, w->lanes, __ATOMIC_RELAXED);
    return 0;
}

/* Blocks of 96 threads are three warps of 32, or one and a half of 64: whichever they are, chunks
 * are whole blocks. */
static void nothing_depends_on_the_lanes_of_a_warp(void **state)
{
    static fake_kernel_t fake = {NULL, 4, sizes, 0, run_count};
    static const kmm_kernel_t kernel = {
        KMM_LAUNCH_VERSION, KMM_KIND_HIP, "count", NULL, &fake, 4, sizes, 1, NULL};
    static int32_t values[N];
    int64_t odd = 0, n = N - 5;
    (void)state;
    for (int i = 0; i < N; i++) {
        values[i] = (i * 7) % 5;
        odd += i < n && values[i] % 2;
    }
    for (uint32_t lanes = 32; lanes <= 64; lanes *= 2) {
        setenv("KMM_FAKE_HIP_LANES", lanes == 64 ? "64" : "32", 1);
        kmm_runtime_t *rt;
        int32_t total = 0;
        assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "hip:2,mem=4M"}), 0);
        kmm_use(rt);
        int32_t *a = array_of(rt, N, values), *sum = array_of(rt, N, NULL);
        void *args[] = {NULL, &n, &sum, &a};
        kmm_geometry_t g = {{(N + 95) / 96, 1, 1}, {96, 1, 1}, 0, NULL};
        kmm_launch_t *l = kmm_launch_begin("count", "kinds.c", 2);
        kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
        kmm_launch_chunk(l, KMM_GLOBAL_X, 1000);
        fake_work_access(l, KMM_READ, "a[i]", a, 0, 1);
        kmm_launch_reduce(l, KMM_OP_ADD, KMM_INT32, "sum[0]", sum);
        kmm_launch_index(l, 0, 1);
        assert_int_equal(kmm_fill(rt, sum, 0, 4), 0);
        kmm_launch_arm(l);
        assert_int_equal(kmm_launch_kernel(&kernel, &g, args), 0);
        assert_int_equal(kmm_copy_out(rt, &total, sum, 4), 0);
        assert_int_equal(total, odd);
        assert_int_equal(lanes_seen, lanes);
        kmm_use(NULL);
        assert_int_equal(kmm_destroy(rt), 0);
    }
    unsetenv("KMM_FAKE_HIP_LANES");
}

/* Giving access costs a driver much, and as much for one frame as for many: a task's frames get it
 * together, and so do those that another device copies. */
static void access_is_given_to_runs_of_frames(void **state)
{
    (void)state;
    kmm_runtime_t *rt;
    static int32_t got[16 * N];
    int32_t *a, *b;
    kmm_shape_t shape = {.dims = 1, .extent = {16 * N}, .element_bytes = 4};
    assert_int_equal(
        kmm_create(&rt, &(kmm_config_t){.devices = "cuda:2,mem=64M", .frame_bytes = 64 << 10}), 0);
    kmm_use(rt);
    assert_int_equal(kmm_array_create(rt, &shape, (void **)&a), 0);
    assert_int_equal(kmm_array_create(rt, &shape, (void **)&b), 0);
    assert_int_equal(kmm_fill(rt, a, 1, 16 * N * 4), 0);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, 16 * N, 2, b, a, a),
                     0); /* half of each on each device */
    assert_int_equal(kmm_wait(rt), 0);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(rt->device[k]->counters.mappings, 64);
        assert_int_equal(rt->device[k]->counters.allowings, 2);
        assert_int_equal(rt->device[k]->counters.sharings, 0);
    }
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, MIRROR, 16 * N, 2, a, b, b),
                     0); /* each reads the other's half */
    assert_int_equal(kmm_copy_out(rt, got, a, sizeof(got)), 0);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(rt->device[k]->counters.mappings, 96);
        assert_int_equal(rt->device[k]->counters.allowings, 3);
        assert_int_equal(rt->device[k]->counters.sharings, 1);
    }
    for (int i = 0; i < 16 * N; i++)
        assert_int_equal(got[i], 0);
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
}

/* ---- Other users of the devices ---- */

static void memory_is_left_free(void **state)
{
    (void)state;
    kmm_runtime_t *rt;
    static const struct {
        uint64_t mem, keep, limit;
    } cases[] = {
        {0, 0, (256 << 20) - (256 << 20) / 32},
        {0, 64 << 20, 192 << 20},
        {16 << 20, 0, 16 << 20},
        {16 << 20, 64 << 20, 16 << 20},
        {200 << 20, 64 << 20, 192 << 20},
        {255 << 20, 0, 255 << 20},
        {(uint64_t)1 << 40, 0, 256 << 20},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        kmm_config_t config = {
            .devices = "cuda:1", .device_mem = cases[k].mem, .device_keep_free = cases[k].keep};
        assert_int_equal(kmm_create(&rt, &config), 0);
        assert_int_equal(info(rt, 0).memory_bytes, cases[k].limit);
        assert_int_equal(kmm_destroy(rt), 0);
    }
    setenv("KMM_DEVICE_KEEP_FREE", "128M", 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1"}), 0);
    assert_int_equal(info(rt, 0).memory_bytes, 128 << 20);
    assert_int_equal(kmm_destroy(rt), 0);
    setenv("KMM_DEVICE_KEEP_FREE", "256M", 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1"}), KMM_E_INVALID);
    assert_non_null(strstr(kmm_error_text(NULL),
                           "KMM_DEVICE_KEEP_FREE: 268435456 bytes are to be left free on "
                           "Fake GPU 0, of which 268435456 are"));
    setenv("KMM_DEVICE_KEEP_FREE", "much", 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1"}), KMM_E_INVALID);
    unsetenv("KMM_DEVICE_KEEP_FREE");
}

/* The driver as a program uses it that knows nothing of libkmm. */
typedef struct plain {
    int (*retain)(void **context, int device), (*release)(int device), (*push)(void *context),
        (*pop)(void **context);
    int (*create)(void **stream, unsigned flags), (*destroy)(void *stream), (*query)(void *stream),
        (*function)(void **out, void *kernel);
    int (*launch)(void *f, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *stream, void **args, void **extra);
    void *stream;
} plain_t;

static sem_t go_on;
static int32_t *plain_memory;

static int run_plain(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)block, (void)grid, (void)args;
    while (sem_wait(&go_on))
        ;
    for (int i = 0; i < N; i++)
        plain_memory[i] = i;
    return 0;
}

static plain_t plain_open(void)
{
    plain_t p;
    void *context, *library = dlopen("libcuda.so.1", RTLD_NOW);
    const struct {
        void *at;
        const char *name;
    } calls[] = {
        {&p.retain, "cuDevicePrimaryCtxRetain"},
        {&p.release, "cuDevicePrimaryCtxRelease_v2"},
        {&p.push, "cuCtxPushCurrent_v2"},
        {&p.pop, "cuCtxPopCurrent_v2"},
        {&p.create, "cuStreamCreate"},
        {&p.destroy, "cuStreamDestroy_v2"},
        {&p.query, "cuStreamQuery"},
        {&p.function, "cuKernelGetFunction"},
        {&p.launch, "cuLaunchKernel"},
    };
    assert_non_null(library);
    for (size_t k = 0; k < sizeof(calls) / sizeof(*calls); k++)
        assert_non_null(*(void **)calls[k].at = dlsym(library, calls[k].name));
    assert_int_equal(p.retain(&context, 0), 0);
    assert_int_equal(p.push(context), 0);
    assert_int_equal(p.create(&p.stream, 1), 0);
    return p;
}

static void plain_close(plain_t *p)
{
    void *context;
    assert_int_equal(p->destroy(p->stream), 0);
    assert_int_equal(p->pop(&context), 0);
    assert_int_equal(p->release(0), 0);
}

static void plain_start(const plain_t *p)
{
    static fake_kernel_t kernel = {run_plain, 0, NULL, 0, NULL};
    void *f;
    assert_int_equal(p->function(&f, &kernel), 0);
    assert_int_equal(p->launch(f, 1, 1, 1, 1, 1, 1, 0, p->stream, NULL, NULL), 0);
}

/* A runtime beside plain work, b of ones and c. */
typedef struct beside {
    kmm_runtime_t *rt;
    plain_t plain;
    int32_t *b, *c;
} beside_t;

static beside_t beside_open(void)
{
    static int32_t ones[N];
    beside_t s;
    plain_memory = calloc(N, sizeof(*plain_memory));
    sem_init(&go_on, 0, 0);
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    assert_int_equal(kmm_create(&s.rt, &(kmm_config_t){.devices = "cuda:1,mem=4M"}), 0);
    kmm_use(s.rt);
    s.plain = plain_open();
    s.b = array_of(s.rt, N, ones);
    s.c = array_of(s.rt, N, NULL);
    return s;
}

static void beside_close(beside_t *s)
{
    assert_int_equal(kmm_array_destroy(s->rt, s->b), 0);
    assert_int_equal(kmm_array_destroy(s->rt, s->c), 0);
    plain_close(&s->plain);
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(s->rt), 0);
    free(plain_memory);
}

/* A launch on a stream comes after what others have put there, in memory that both use; one on
 * another stream does not wait for it. */
static void launches_come_after_others_work(void **state)
{
    (void)state;
    static int32_t got[N];
    int64_t n = N;
    beside_t s = beside_open();
    kmm_runtime_t *rt = s.rt;
    int32_t *b = s.b, *c = s.c;
    for (int turn = 0; turn < 3; turn++) { /* nothing is on the stream in the last */
        memset(plain_memory, 0, N * sizeof(*plain_memory));
        if (turn < 2)
            plain_start(&s.plain);
        assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 4, c, b, b),
                         0); /* on another stream */
        assert_int_equal(kmm_copy_out(rt, got, c, sizeof(got)), 0);
        assert_int_equal(got[N - 1], 2);
        kmm_geometry_t g = {
            {(uint32_t)((n + BLOCK - 1) / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, s.plain.stream};
        void *args[] = {NULL, &n, &c, &plain_memory, &b};
        kmm_launch_t *l = kmm_launch_begin("add", "kinds.c", 3);
        kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, N);
        fake_work_access(l, KMM_READ, "a[i]", plain_memory, 0, 1);
        fake_work_access(l, KMM_READ, "b[i]", b, 0, 1);
        fake_work_access(l, KMM_WRITE, "dst[i]", c, 0, 1);
        kmm_launch_nowait(l);
        kmm_launch_arm(l);
        assert_int_equal(kmm_cuda_launch(&cuda_kernels[ADD], &g, args), 0);
        if (turn < 2) {
            usleep(20000);
            sem_post(&go_on);
        }
        assert_int_equal(kmm_wait(rt), 0);
        assert_int_equal(kmm_copy_out(rt, got, c, sizeof(got)), 0);
        for (int i = 0; i < N; i++)
            assert_int_equal(got[i], turn < 2 ? i + 1 : 1);
    }
    beside_close(&s);
}

/* The driver does not say so, but a launch on the default stream comes after what is on streams
 * that were not made to be free of it. */
static void launches_come_after_what_the_default_stream_waits_for(void **state)
{
    (void)state;
    static int32_t got[N];
    int64_t n = N;
    beside_t s = beside_open();
    kmm_runtime_t *rt = s.rt;
    plain_t *plain = &s.plain;
    int32_t *b = s.b, *c = s.c;
    void *free_one = plain->stream, *blocking;
    assert_int_equal(plain->create(&blocking, 0), 0);
    for (int turn = 0; turn < 3; turn++) { /* it waits for one kind of stream only */
        memset(plain_memory, 0, N * sizeof(*plain_memory));
        plain->stream = turn == 1 ? free_one : blocking;
        plain_start(plain);
        kmm_geometry_t g = {{(uint32_t)((n + BLOCK - 1) / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, NULL};
        void *args[] = {NULL, &n, &c, &b, &b};
        kmm_launch_t *l = kmm_launch_begin("add", "kinds.c", 5);
        kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, N);
        fake_work_access(l, KMM_READ, "a[i]", b, 0, 1);
        fake_work_access(l, KMM_WRITE, "dst[i]", c, 0, 1);
        kmm_launch_arm(l);
        uint64_t before = info(rt, 0).chunks;
        assert_int_equal(kmm_cuda_launch(&cuda_kernels[ADD], &g, args), 0);
        usleep(20000);
        if (turn == 1)
            assert_int_equal(kmm_wait(rt), 0);
        assert_int_equal(info(rt, 0).chunks > before, turn == 1);
        sem_post(&go_on);
        assert_int_equal(kmm_wait(rt), 0);
        while (plain->query(plain->stream))
            usleep(100);
    }
    assert_int_equal(kmm_copy_out(rt, got, c, sizeof(got)), 0);
    assert_int_equal(got[N - 1], 2);
    assert_int_equal(plain->destroy(blocking), 0);
    plain->stream = free_one;
    beside_close(&s);
}

static int run_after(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)block, (void)grid, (void)args;
    for (int i = 0; i < N; i++)
        plain_memory[i]++;
    return 0;
}

/* A launch of a kernel that takes as long as go_on is not posted. */
static void start_slow(int32_t *x, void *stream)
{
    static const uint32_t params[] = {sizeof(kmm_blocks_t), 8};
    static fake_kernel_t fake = {run_plain, 2, params, 0, NULL};
    static const kmm_kernel_t slow = {
        KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "slow", NULL, &fake, 2, params, 1, NULL};
    kmm_geometry_t g = {{1, 1, 1}, {1, 1, 1}, 0, stream};
    void *args[] = {NULL, &x};
    kmm_launch_t *l = kmm_launch_begin("slow", "kinds.c", 4);
    kmm_launch_access(l, KMM_UPDATE, "x", x, sizeof(*x));
    kmm_launch_arm(l);
    assert_int_equal(kmm_launch_kernel(&slow, &g, args), 0);
}

static int run_bad(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)block, (void)grid, (void)args;
    return 700; /* an illegal address */
}

static void start_bad(int32_t *x, void *stream, uint32_t chunks)
{
    static const uint32_t params[] = {sizeof(kmm_blocks_t), 8};
    static fake_kernel_t fake = {run_bad, 2, params, 0, NULL};
    static const kmm_kernel_t bad = {
        KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "bad", NULL, &fake, 2, params, 1, NULL};
    kmm_geometry_t g = {{chunks, 1, 1}, {1, 1, 1}, 0, stream};
    void *args[] = {NULL, &x};
    kmm_launch_t *l = kmm_launch_begin("bad", "kinds.c", 6);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, chunks);
    kmm_launch_chunk(l, KMM_GLOBAL_X, 1);
    kmm_launch_access(l, KMM_UPDATE, "x[i]", x, sizeof(*x));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    kmm_launch_arm(l);
    assert_int_equal(kmm_launch_kernel(&bad, &g, args), 0);
}

/* Of chunks that were issued together the message says how many, and which is the first. Under the
 * check they run one by one. */
static void a_fault_counts_the_chunks(void **state)
{
    (void)state;
    static int32_t zeros[N];
    static const struct {
        uint32_t chunks;
        const char *check, *text;
    } cases[] = {
        {1, "", "kinds.c:6: bad: "},
        {4, "", "kinds.c:6: bad: one of 4 chunks, the first of them chunk 0 of 4: "},
        {4, "access", "kinds.c:6: bad: chunk 0 of 4: "},
    };
    plain_memory = calloc(N, sizeof(*plain_memory));
    sem_init(&go_on, 0, 0);
    setenv("KMM_JOIN", "0", 1);
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        kmm_runtime_t *rt;
        setenv("KMM_CHECK", cases[k].check, 1);
        assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=4M"}), 0);
        kmm_use(rt);
        kmm__marker_t *m;
        int before, behind;
        int32_t *x = array_of(rt, N, zeros), *z = array_of(rt, N, zeros);
        assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 1, x, x, z), 0);
        assert_int_equal(kmm_wait(rt), 0); /* all are there now */
        start_slow(x, &before);
        assert_int_equal(kmm__marker_create(rt, &before, &m), 0);
        assert_int_equal(kmm__marker_precede(m, &behind), 0);
        kmm__marker_release(m);
        start_bad(z, &behind, cases[k].chunks); /* held, and so issued together */
        sem_post(&go_on);
        assert_int_equal(kmm_wait(rt), KMM_E_KERNEL);
        if (!strstr(kmm_error_text(rt), cases[k].text))
            fail_msg("%s\nis not: %s", kmm_error_text(rt), cases[k].text);
        assert_int_equal(strstr(kmm_error_text(rt), "one of") != NULL, k == 1);
        kmm_use(NULL);
        kmm_destroy(rt);
    }
    unsetenv("KMM_CHECK");
    unsetenv("KMM_JOIN");
    free(plain_memory);
}

/* A driver says of all that was enqueued that it has failed: the kernel at fault is named alone if
 * it was alone, and else among those that were issued with it. */
static void a_fault_names_the_kernel(void **state)
{
    (void)state;
    static int32_t zeros[N];
    plain_memory = calloc(N, sizeof(*plain_memory));
    sem_init(&go_on, 0, 0);
    for (int others = 0; others < 2; others++) {
        kmm_runtime_t *rt;
        kmm__marker_t *m;
        int before, behind;
        assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=4M"}), 0);
        kmm_use(rt);
        int32_t *x = array_of(rt, N, zeros), *y = array_of(rt, N, zeros),
                *z = array_of(rt, N, zeros);
        assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 1, y, x, z),
                         0); /* all are there now */
        assert_int_equal(kmm_wait(rt), 0);
        if (others) { /* both are held until the first one is done, and so issued together */
            start_slow(x, &before);
            assert_int_equal(kmm__marker_create(rt, &before, &m), 0);
            assert_int_equal(kmm__marker_precede(m, &behind), 0);
            kmm__marker_release(m);
            start_slow(y, &behind);
        }
        start_bad(z, others ? &behind : NULL, 1);
        for (int k = 0; k < 2 * others; k++)
            sem_post(&go_on);
        assert_int_equal(kmm_wait(rt), KMM_E_KERNEL);
        const char *text = kmm_error_text(rt);
        assert_non_null(
            strstr(text, others ? "kinds.c:4: slow or kinds.c:6: bad: " : "kinds.c:6: bad: "));
        assert_int_equal(strstr(text, "compute-sanitizer") != NULL, others > 0);
        kmm_use(NULL);
        kmm_destroy(rt);
    }
    free(plain_memory);
}

/* What others put on a stream behind a wait comes after managed work, which is not waited for here;
 * what was not on streams when it was asked for is waited for until it is. */
static void others_work_comes_after_launches(void **state)
{
    (void)state;
    kmm_runtime_t *rt;
    static fake_kernel_t after = {run_after, 0, NULL, 0, NULL};
    static int32_t zeros[N];
    int managed;
    kmm__marker_t *m;
    plain_memory = calloc(N, sizeof(*plain_memory));
    sem_init(&go_on, 0, 0);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:2,mem=4M"}), 0);
    kmm_use(rt);
    plain_t plain = plain_open();
    int32_t *x = array_of(rt, N, zeros);
    for (int turn = 0; turn < 3; turn++) { /* the last time all is done already */
        void *f;
        for (int i = 0; i < N; i++)
            plain_memory[i] = -1;
        if (turn < 2)
            start_slow(x, &managed);
        assert_int_equal(kmm__marker_create(rt, &managed, &m), 0);
        assert_int_equal(kmm__marker_precede_driver(m, plain.stream), turn < 2);
        assert_int_equal(kmm__marker_query(m), turn == 2);
        assert_int_equal(plain.function(&f, &after), 0);
        assert_int_equal(plain.launch(f, 1, 1, 1, 1, 1, 1, 0, plain.stream, NULL, NULL), 0);
        usleep(turn < 2 ? 20000 : 0);
        if (turn < 2) {
            assert_int_equal(plain_memory[0], -1);
            sem_post(&go_on);
        }
        while (plain.query(plain.stream))
            usleep(100);
        for (int i = 0; i < N; i++)
            assert_int_equal(plain_memory[i], turn < 2 ? i + 1 : 0);
        assert_int_equal(kmm__marker_wait(m), 0);
        kmm__marker_release(m);
    }
    assert_int_equal(kmm_array_destroy(rt, x), 0);
    plain_close(&plain);
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
    free(plain_memory);
}

/* What the program does itself, with memory that is not managed, comes after launches on that
 * stream. */
static void the_program_comes_after_launches(void **state)
{
    (void)state;
    static fake_kernel_t after = {run_after, 0, NULL, 0, NULL};
    static int32_t zeros[N];
    void *f;
    plain_memory = calloc(N, sizeof(*plain_memory));
    sem_init(&go_on, 0, 0);
    setenv("KMM_DEVICES", "cuda:2,mem=4M", 1);
    kmm_runtime_t *rt = kmm_default(); /* which the program's calls use */
    assert_non_null(rt);
    plain_t plain = plain_open();
    int32_t *x = array_of(rt, N, zeros);
    start_slow(x, plain.stream);
    kmm_cuda_stream_catch_up(plain.stream);
    assert_int_equal(kmm_cuda_stream_query(plain.stream), KMM_CUDA_NOT_READY);
    assert_int_equal(plain.function(&f, &after), 0);
    assert_int_equal(plain.launch(f, 1, 1, 1, 1, 1, 1, 0, plain.stream, NULL, NULL), 0);
    usleep(20000);
    assert_int_equal(plain_memory[1], 0);
    static const kmm__running_t chunk = {NULL, 1};
    kmm__running = &chunk; /* which must not wait for what may wait for it */
    assert_int_equal(kmm_cuda_stream_settle(NULL), 0);
    kmm_cuda_stream_catch_up(NULL);
    kmm__running = NULL;
    assert_int_equal(kmm_cuda_stream_query(plain.stream), KMM_CUDA_NOT_READY);
    sem_post(&go_on);
    while (plain.query(plain.stream))
        usleep(100);
    assert_int_equal(plain_memory[1], 2);
    start_slow(x, plain.stream);
    sem_post(&go_on);
    assert_int_equal(kmm_cuda_stream_settle(NULL), 0);
    assert_int_equal(plain_memory[1], 1);
    for (uintptr_t name = 1; name <= 2;
         name++) { /* cudaStreamLegacy and cudaStreamPerThread are the default stream, too */
        start_slow(x, plain.stream);
        assert_int_equal(kmm_cuda_stream_query((void *)name), KMM_CUDA_NOT_READY);
        sem_post(&go_on);
        assert_int_equal(kmm_cuda_stream_synchronize((void *)name), 0);
        assert_int_equal(kmm_cuda_stream_query(plain.stream), KMM_CUDA_SUCCESS);
    }
    assert_int_equal(kmm_array_destroy(rt, x), 0);
    plain_close(&plain);
    free(plain_memory);
    unsetenv("KMM_DEVICES");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_moves_between_them_through_the_host),
        cmocka_unit_test(one_kind_may_be_lost),
        cmocka_unit_test(chunks_run_where_the_directive_says),
        cmocka_unit_test(variables_of_devices_stay_on_one),
        cmocka_unit_test(nothing_depends_on_the_lanes_of_a_warp),
        cmocka_unit_test(copies_take_the_time_they_are_given),
        cmocka_unit_test(what_does_not_fit_stays_host_backed),
        cmocka_unit_test(chunks_that_cannot_be_small_are_host_backed),
        cmocka_unit_test(gathers_run_whatever_the_chunk),
        cmocka_unit_test(the_least_used_is_host_backed),
        cmocka_unit_test(the_current_device_may_be_left_out),
        cmocka_unit_test(lists_of_devices_are_checked),
        cmocka_unit_test(there_may_be_many_devices),
        cmocka_unit_test(access_is_given_to_runs_of_frames),
        cmocka_unit_test(memory_is_left_free),
        cmocka_unit_test(launches_come_after_others_work),
        cmocka_unit_test(others_work_comes_after_launches),
        cmocka_unit_test(a_fault_counts_the_chunks),
        cmocka_unit_test(a_fault_names_the_kernel),
        cmocka_unit_test(launches_come_after_what_the_default_stream_waits_for),
        cmocka_unit_test(the_program_comes_after_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
