/* SPDX-License-Identifier: Apache-2.0 */
/* On the fake CUDA driver: tasks whose statements put work on streams of their own, which finds the
 * task's data, and what follows finds its results; and what kernels print. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <kmm.h>
#include <kmm/cuda_api.h>

#include "fake_work.h"
#include "with_runtime.h"

enum { N = 1 << 14, NON_BLOCKING = 1 };

static struct {
    int (*stream_create)(void **out, unsigned flags);
    int (*stream_destroy)(void *s);
    int (*kernel_function)(void **out, void *kernel);
    fake_counts_function_t *counts;
    int (*launch)(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared_bytes, void *s, void **args, void **extra);
} cu;

static int find_driver(void **state)
{
    (void)state;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return 1;
    *(void **)&cu.stream_create = dlsym(driver, "cuStreamCreate");
    *(void **)&cu.stream_destroy = dlsym(driver, "cuStreamDestroy_v2");
    *(void **)&cu.kernel_function = dlsym(driver, "cuKernelGetFunction");
    *(void **)&cu.launch = dlsym(driver, "cuLaunchKernel");
    *(void **)&cu.counts = dlsym(driver, "fake_counts");
    return !cu.counts || !cu.stream_create || !cu.stream_destroy || !cu.kernel_function ||
           !cu.launch;
}

static int run_add_all(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)grid;
    for (int64_t i = (int64_t)block[0] * BLOCK; i < (int64_t)(block[0] + 1) * BLOCK; i++)
        fake_work_element(ADD, i, N, *(int32_t **)args[0], *(int32_t **)args[1],
                          *(int32_t **)args[2]);
    return 0;
}

/* What a library does: dst = a + b on a stream of the driver's. */
static void put_add(void *stream, int32_t *dst, int32_t *a, int32_t *b)
{
    static const uint32_t eight[] = {8, 8, 8};
    static fake_kernel_t add = {run_add_all, 3, eight, 0, NULL};
    void *f;
    assert_int_equal(cu.kernel_function(&f, &add), 0);
    assert_int_equal(
        cu.launch(f, N / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, (void *[]){&dst, &a, &b}, NULL), 0);
}

/* The same, after others that take their time. */
static void put_add_late(void *stream, int32_t *dst, int32_t *a, int32_t *b)
{
    for (int k = 0; k < 3; k++)
        put_add(stream, dst, dst, a);
    put_add(stream, dst, a, b);
}

/* The numbers from 0 on, four times each, by launches that take their time. */
static int32_t *fourfold(kmm_runtime_t *rt)
{
    static int32_t values[N];
    for (int i = 0; i < N; i++)
        values[i] = i;
    int32_t *once = array_of(rt, N, values), *twice = array_of(rt, N, NULL),
            *often = array_of(rt, N, NULL);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 1, twice, once, once), 0);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 1, often, twice, twice), 0);
    return often;
}

static kmm_launch_t *describe(int32_t *to, int32_t *more, int32_t *from)
{
    kmm_launch_t *l = kmm_launch_begin("task", "beside.c", 3);
    int32_t *const base[] = {to, more, from};
    for (int k = 0; k < 3; k++) {
        kmm_launch_access(l, k == 2 ? KMM_READ : KMM_WRITE,
                          k == 2   ? "from"
                          : k == 1 ? "more"
                                   : "to",
                          base[k], sizeof(*to));
        kmm_launch_index(l, 0, N);
    }
    return l;
}

/* Kernels take 10 ms. */
static kmm_runtime_t *slow_runtime(void)
{
    kmm_runtime_t *rt;
    setenv("KMM_FAKE_CUDA_KERNEL_US", "10000", 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=4M"}), 0);
    kmm_use(rt);
    return rt;
}

static void end(kmm_runtime_t *rt, int32_t *array, int factor)
{
    static int32_t got[N];
    assert_int_equal(kmm_copy_out(rt, got, array, sizeof(got)), 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(got[i], factor * i);
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
    unsetenv("KMM_FAKE_CUDA_KERNEL_US");
}

/* One that names no stream may use any, also those that libkmm hears nothing of. */
static void a_task_without_a_stream_may_use_any(void **state)
{
    (void)state;
    kmm_runtime_t *rt = slow_runtime();
    int32_t *a = fourfold(rt), *b = array_of(rt, N, NULL), *c = array_of(rt, N, NULL),
            *d = array_of(rt, N, NULL);
    void *x, *y;
    kmm_task_t *t = kmm_task_begin(describe(b, c, a), NULL, NULL);
    assert_non_null(t);
    assert_int_equal(cu.stream_create(&x, NON_BLOCKING), 0);
    assert_int_equal(cu.stream_create(&y, 0), 0);
    assert_ptr_equal(kmm_task_stream(NULL), NULL);
    assert_ptr_equal(kmm_task_stream(x), x);
    put_add(x, kmm_task_pointer(t, b), kmm_task_pointer(t, a), kmm_task_pointer(t, a));
    put_add_late(y, kmm_task_pointer(t, c), kmm_task_pointer(t, a), kmm_task_pointer(t, a));
    kmm_task_end(t);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 2, d, b, c), 0);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(cu.stream_destroy(x), 0);
    assert_int_equal(cu.stream_destroy(y), 0);
    end(rt, d, 16);
}

static void *wait_for_all(void *rt)
{
    kmm_use(rt);
    assert_int_equal(kmm_wait(rt), 0);
    return NULL;
}

/* One that names its stream has what the program puts on the default stream there, and waits for
 * others that the program uses. */
static void a_task_with_a_stream_may_use_others(void **state)
{
    (void)state;
    kmm_runtime_t *rt = slow_runtime();
    int32_t *a = fourfold(rt), *b = array_of(rt, N, NULL), *c = array_of(rt, N, NULL),
            *d = array_of(rt, N, NULL);
    void *s, *x, *const legacy = (void *)1, *const per_thread = (void *)2;
    assert_ptr_equal(kmm_task_stream(NULL), NULL);
    kmm_task_t *t = kmm_task_begin(describe(b, c, a), NULL, &s);
    assert_non_null(t);
    assert_int_equal(cu.stream_create(&x, NON_BLOCKING), 0);
    assert_ptr_equal(kmm_task_stream(x), x);
    put_add(x, kmm_task_pointer(t, b), kmm_task_pointer(t, a), kmm_task_pointer(t, a));
    assert_ptr_equal(kmm_task_stream(NULL), s);
    assert_ptr_equal(kmm_task_stream(legacy), s);
    assert_ptr_equal(kmm_task_stream(per_thread), s);
    assert_ptr_equal(kmm_task_stream(s), s);
    put_add_late(s, kmm_task_pointer(t, c), kmm_task_pointer(t, b),
                 kmm_task_pointer(t, a)); /* behind x */
    assert_ptr_equal(kmm_task_stream(x), x);
    put_add_late(x, kmm_task_pointer(t, b), kmm_task_pointer(t, c),
                 kmm_task_pointer(t, a)); /* behind s */
    pthread_t thread;                     /* does not wait for the statements, which wait for it */
    assert_int_equal(pthread_create(&thread, NULL, wait_for_all, rt), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    kmm_task_end(t);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 2, d, b, c), 0);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(cu.stream_destroy(x), 0);
    end(rt, d, 28);
}

/* A library's call for each part of a sum. Tasks go to the devices in turn, and each adds to the
 * copy of its device; a launch adds the copies. */
static void tasks_for_parts_add_to_copies(void **state)
{
    enum { DEVICES = 2, PARTS = 6 };
    (void)state;
    kmm_runtime_t *rt;
    static int32_t zeros[N];
    setenv("KMM_FAKE_CUDA_KERNEL_US", "3000", 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:2,mem=4M"}), 0);
    kmm_use(rt);
    int32_t *part[PARTS], *copy[DEVICES], *sum = array_of(rt, N, NULL);
    for (int d = 0; d < DEVICES; d++)
        copy[d] = array_of(rt, N, zeros);
    for (int k = 0; k < PARTS; k++)
        part[k] = fourfold(rt);
    for (int k = 0; k < PARTS; k++) {
        int32_t *to = copy[k % DEVICES];
        void *s;
        kmm_launch_t *l = kmm_launch_begin("task", "beside.c", 4);
        kmm_launch_device(l, KMM_ON_DEVICE, k % DEVICES);
        kmm_launch_access(l, KMM_UPDATE, "to", to, sizeof(*to));
        kmm_launch_access(l, KMM_READ, "part", part[k], sizeof(*to));
        kmm_task_t *t = kmm_task_begin(l, NULL, &s);
        assert_non_null(t);
        put_add(s, kmm_task_pointer(t, to), kmm_task_pointer(t, to), kmm_task_pointer(t, part[k]));
        kmm_task_end(t);
    }
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 2, sum, copy[0], copy[1]), 0);
    end(rt, sum, 4 * PARTS);
}

/* What kernels have printed is the driver's until it is asked to wait: of the devices that the
 * program has not current libkmm asks, and of all at a copy. */
static void what_kernels_print_is_printed(void **state)
{
    static int32_t got[N];
    fake_counts_t counts;
    (void)state;
    setenv("KMM_DEVICES", "cuda:2,mem=4M", 1);
    kmm_runtime_t *rt = kmm_default();
    assert_non_null(rt);
    int32_t *a = fourfold(rt), *b = array_of(rt, N, NULL);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 2, b, a, a), 0);
    assert_int_equal(kmm_cuda_memcpy_async(got, b, sizeof(got), 2, NULL),
                     0); /* is not held up by other launches */
    cu.counts(&counts);
    assert_int_equal(counts.flushes, 0);
    assert_int_equal(kmm_cuda_memcpy(got, b, sizeof(got), 2), 0);
    cu.counts(&counts);
    assert_int_equal(counts.flushes, 2);
    assert_int_equal(kmm_cuda_memcpy(got, b, sizeof(got), 2), 0); /* nothing more */
    cu.counts(&counts);
    assert_int_equal(counts.flushes, 2);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 2, b, a, a), 0);
    assert_int_equal(kmm_cuda_device_synchronize(), 0); /* device 0 is current */
    cu.counts(&counts);
    assert_int_equal(counts.flushes, 3);
    for (int i = 0; i < N; i++)
        assert_int_equal(got[i], 8 * i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_without_a_stream_may_use_any),
        cmocka_unit_test(a_task_with_a_stream_may_use_others),
        cmocka_unit_test(tasks_for_parts_add_to_copies),
        cmocka_unit_test(what_kernels_print_is_printed),
    };
    return cmocka_run_group_tests(tests, find_driver, NULL);
}
