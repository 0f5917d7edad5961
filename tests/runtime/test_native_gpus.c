/* SPDX-License-Identifier: Apache-2.0 */
/* Native standing where there are several GPUs, on the fake CUDA driver. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "backend/device.h"
#include "base/spin.h"
#include "fake_work.h"
#include "launch/natively.h"
#include "memory/array.h"
#include "memory/residency/native.h"
#include "native_work.h"
#include "random.h"

enum { GPUS = 4, BYTES = 100000 };

static uint64_t program; /* number of the random program */

static kmm__device_t *gpu_at(int k)
{
    return kmm_default()->device[k];
}

/* As cudaSetDevice. */
static void set_device(int k)
{
    static _Thread_local bool entered;
    kmm__device_t *d = gpu_at(k);
    d->backend->leave(entered);
    entered = d->backend->enter(d->gpu);
    kmm_cuda_native_device(k);
}

static kmm__array_t *array_at(const void *p)
{
    kmm_runtime_t *rt = kmm_default();
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, p);
    pthread_mutex_unlock(&rt->lock);
    return a;
}

/* As a copy of the program on a stream of GPU `by`, which needs access where `to` and `from` are
 * that GPU. Returns its error. */
static int copy_by(int by, void *dst, int to, const void *src, int from, size_t n)
{
    kmm__device_t *d = gpu_at(by);
    kmm__stream_t *s;
    const kmm__copy_t copy = {.dst_gpu = gpu_at(to)->gpu,
                              .src_gpu = gpu_at(from)->gpu,
                              .dst = (kmm__addr_t)(uintptr_t)dst,
                              .src = (kmm__addr_t)(uintptr_t)src,
                              .width = (int64_t)n,
                              .rows = 1};
    assert_int_equal(d->backend->stream_create(d->gpu, &s), 0);
    int error = d->backend->copy(s, &copy);
    if (!error)
        error = kmm__stream_drain(d->backend, s);
    d->backend->stream_destroy(s);
    return error;
}

/* A program that names no GPU uses one, natively, and all of them after the takeover. */
static void part_one(void)
{
    int64_t n = 20000;
    int32_t *x = (int32_t *)make((size_t)n * sizeof(*x)), *got = malloc((size_t)n * sizeof(*x));
    assert_int_equal(kmm_device_count(kmm_default()), GPUS);
    assert_true(kmm_cuda_native(KIND));
    assert_ptr_equal(array_at(x)->home, gpu_at(0));
    for (int64_t i = 0; i < n; i++)
        x[i] = (int32_t)i;
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SCALE, n, 8, x, NULL, NULL),
                     KMM__LAUNCH_NATIVELY);
    run_element_by_element(SCALE, n, x, NULL, NULL);
    kmm_cuda_native_leave();
    assert_false(kmm__native_uses_several());
    make(20 << 20); /* it does not fit */
    for (int k = 0; k < 3; k++)
        assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SCALE, n, 8, x, NULL, NULL), 0);
    assert_false(kmm_cuda_native(KIND));
    assert_int_equal(kmm_copy_out(kmm_default(), got, x, (size_t)n * sizeof(*x)), 0);
    for (int64_t i = 0; i < n; i++) {
        uint32_t v = (uint32_t)i;
        for (int k = 0; k < 4; k++)
            v = v * 3 + 1;
        assert_int_equal((uint32_t)got[i], v);
    }
    for (int k = 0; k < GPUS; k++)
        assert_true(kmm__counted(&gpu_at(k)->counters.chunks) > 0);
    free(got);
    end();
}

/* Arrays on each GPU. Without `several` GPU 1 could not read what is on GPU 0. */
static void part_several(void)
{
    char *p[GPUS], *small[GPUS];
    for (int k = 0; k < GPUS; k++) {
        set_device(k);
        p[k] = make(BYTES);
        small[k] = make(100);
        assert_ptr_equal(array_at(p[k])->home, gpu_at(k));
        assert_ptr_equal(array_at(small[k])->home, gpu_at(k));
        fill_native(p[k], BYTES, (size_t)k);
        fill_native(small[k], 100, (size_t)k + 10);
    }
    assert_true(kmm__native_uses_several());
    for (int k = 0; k < GPUS; k++) {
        int to = (k + 1) % GPUS, a, b;
        assert_true(kmm_cuda_native_between(p[to], p[k] + 5, &a, &b));
        assert_int_equal(a, to);
        assert_int_equal(b, k);
        assert_int_equal(copy_by(k, small[to], to, small[k], k, 50), 0);
        assert_int_equal(copy_by(to, small[to] + 50, to, small[k] + 50, to, 50), 0);
    }
    for (int k = 0; k < GPUS; k++) {
        set_device(k);
        drop(p[(k + 1) % GPUS]); /* also one of another GPU */
        p[(k + 1) % GPUS] = make(BYTES + 1);
        fill_native(p[(k + 1) % GPUS], BYTES + 1, (size_t)k + 20);
    }
    assert_true(kmm_cuda_native(KIND));
    for (int k = 0; k < GPUS; k++) {
        check(p[(k + 1) % GPUS], BYTES + 1, (size_t)k + 20); /* the first one takes over */
        check(small[k], 100, 10);
    }
    assert_false(kmm_cuda_native(KIND));
    end();
}

/* The arrays are there before the program uses another GPU. */
static void part_later(void)
{
    char *a = make(BYTES), *small = make(100), *b;
    drop(make(5000)); /* it is kept */
    fill_native(a, BYTES, 1);
    fill_native(small, 100, 2);
    set_device(1);
    assert_true(kmm_cuda_native_enter(KIND)); /* a launch, say */
    kmm_cuda_native_leave();
    assert_true(kmm__native_uses_several());
    b = make(BYTES);
    assert_int_equal(copy_by(1, b, 1, a, 1, BYTES), 0);
    assert_int_equal(copy_by(1, b, 1, small, 1, 100), 0);
    set_device(0);
    char *kept = make(5000);
    assert_int_equal(copy_by(1, kept, 1, b, 1, 5000), 0);
    end();
}

static void part_enable(void)
{
    char *a = make(BYTES);
    kmm_cuda_native_several(KIND);
    assert_true(kmm__native_uses_several());
    fill_native(a, BYTES, 1);
    assert_int_equal(copy_by(1, a, 0, a + BYTES / 2, 0, 100), 0);
    end();
}

/* The driver has no access from one GPU to another: the second GPU's use takes over. */
static void part_no_access(void)
{
    char *a = make(BYTES), *b;
    fill_native(a, BYTES, 1);
    set_device(1);
    b = make(BYTES);
    assert_non_null(b);
    assert_false(kmm_cuda_native_enter(KIND));
    check(a, BYTES, 1);
    assert_int_equal(kmm_copy(kmm_default(), b, a, BYTES), 0);
    check(b, BYTES, 1);
    end();
}

/* The user has said how many GPUs to use. */
static void part_counted(void)
{
    char *a = make(BYTES);
    assert_non_null(a);
    assert_false(kmm_cuda_native(KIND));
    end();
}

static void part_forced(void)
{
    make(BYTES);
    assert_true(kmm_cuda_native(KIND));
    end();
}

static int end_calls;
static void note_end(void)
{
    end_calls++;
    assert_false(kmm_cuda_native(KIND)); /* nobody enters any more */
}

static void part_at_end(void)
{
    char *a = make(BYTES);
    fill_native(a, BYTES, 1);
    kmm_cuda_native_at_end(note_end);
    kmm_cuda_native_at_end(note_end);
    assert_int_equal(end_calls, 0);
    check(a, BYTES, 1);
    assert_int_equal(end_calls, 1);
    end();
}

/* ---- More GPUs where they pay ---- */

enum { N = 60000, MS = 1000000 };

/* Launches what adds to the N elements of x, as the wrappers do, which time it where libkmm asks
 * for that. */
static void launch(what_t what, int32_t *x, int32_t *a, int32_t *b, uint64_t ns)
{
    int result = fake_work_launch(KMM_KIND_CUDA, what, N, 8, x, a, b);
    if (result == KMM__LAUNCH_NATIVELY) {
        int sample = kmm_cuda_native_sample();
        run_element_by_element(what, N, x, a, b);
        if (sample)
            kmm_cuda_native_measured(sample, ns);
        kmm_cuda_native_leave();
        result = 0;
    }
    assert_int_equal(result, 0);
}

static int32_t *ones(void)
{
    int32_t *x = (int32_t *)make(N * sizeof(*x));
    for (int i = 0; i < N; i++)
        x[i] = 1;
    return x;
}

static void check_all(const int32_t *x, int32_t value)
{
    int32_t *got = malloc(N * sizeof(*got));
    assert_int_equal(kmm_copy_out(kmm_default(), got, x, N * sizeof(*got)), 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(got[i], value);
    free(got);
}

static uint64_t chunks_on(int gpu)
{
    kmm_wait(kmm_default());
    return kmm__counted(&gpu_at(gpu)->counters.chunks);
}

/* Kernels of 10 ms take over after some launches, and then run on all GPUs. Short ones that know
 * their data on one GPU stay there. */
static void part_pays(void)
{
    int32_t *x = ones(), *y = ones(), *z = ones(), *small = ones();
    int k;
    for (k = 0; k < 20 && kmm_cuda_native(KIND); k++) {
        launch(ADD, x, y, z, 10 * MS);
        launch(MIRROR, small, small, z, MS / 100);
    }
    assert_in_range(k, 3, 12);
    for (int i = 0; i < 5; i++)
        launch(ADD, x, y, z, 0);
    for (int i = 0; i < GPUS; i++)
        assert_true(chunks_on(i) > 0);
    const uint64_t before = chunks_on(1) + chunks_on(2) + chunks_on(3), first = chunks_on(0);
    for (int i = 0; i < 4; i++)
        launch(MIRROR, small, small, z, 0);
    assert_int_equal(chunks_on(1) + chunks_on(2) + chunks_on(3), before);
    assert_true(chunks_on(0) > first);
    check_all(x, 2);
    drop((char *)x);
    drop((char *)y);
    drop((char *)z);
    drop((char *)small);
    usleep(120000);
    small = ones(); /* natively again */
    z = ones();
    for (int i = 0; i < 10; i++)
        launch(MIRROR, small, small, z, MS / 100);
    assert_true(kmm_cuda_native(KIND));
    end();
}

/* Short kernels never take over. */
static void part_short(void)
{
    int32_t *x = ones(), *y = ones(), *z = ones();
    for (int k = 0; k < 3000 / BRIEF; k++)
        launch(ADD, x, y, z, MS / 20);
    assert_true(kmm_cuda_native(KIND));
    check_all(x, 2);
    end();
}

/* Nor do kernels between which so many copies are made that these would lose more. */
static void part_copies(void)
{
    int32_t *x = ones(), *y = ones(), *z = ones();
    for (int k = 0; k < 1000; k++) {
        launch(ADD, x, y, z, MS);
        for (int i = 0; i < 8; i++) {
            assert_true(kmm_cuda_native_enter(KIND));
            kmm_cuda_native_leave();
        }
    }
    assert_true(kmm_cuda_native(KIND));
    end();
}

/* Nor does anything when a graph has recorded addresses, or the program uses several GPUs or calls
 * that managed standing lacks. */
static void part_must_stay(void)
{
    int32_t *x = ones(), *y = ones(), *z = ones();
    if (program == 0)
        kmm_cuda_native_several(KIND);
    else if (program == 1)
        kmm_cuda_native_stay();
    else
        kmm_cuda_native_bind("cudaGraphCreate");
    for (int k = 0; k < 100; k++)
        launch(ADD, x, y, z, 10 * MS);
    assert_true(kmm_cuda_native(KIND));
    _exit(0);
}

/* A clause that says where chunks run. */
static void part_clause(void)
{
    int32_t *x = ones();
    kmm_launch_t *l = kmm_launch_begin("scale", "faults.c", 8);
    kmm_launch_device(l, KMM_ON_DEVICE, 0); /* where the array is */
    assert_int_equal(fake_work_launch_of(l, KMM_KIND_CUDA, SCALE, N, 8, x, NULL, NULL),
                     KMM__LAUNCH_NATIVELY);
    run_element_by_element(SCALE, N, x, NULL, NULL);
    kmm_cuda_native_leave();
    l = kmm_launch_begin("scale", "faults.c", 9);
    if (program == 0)
        kmm_launch_device(l, KMM_ON_ALL, 0);
    else if (program == 1)
        kmm_launch_schedule(l, KMM_SCHEDULE_CYCLIC);
    else
        kmm_launch_device(l, KMM_ON_DEVICE, 2);
    assert_int_equal(fake_work_launch_of(l, KMM_KIND_CUDA, SCALE, N, 8, x, NULL, NULL), 0);
    assert_false(kmm_cuda_native(KIND));
    assert_true(chunks_on(2) > 0);
    assert_int_equal(chunks_on(1) > 0, program < 2);
    check_all(x, 13);
    end();
}

/* ---- Becoming native again ---- */

static void *stay_a_while(void *arg)
{
    atomic_int *step = arg;
    kmm_free(kmm_malloc(10)); /* it has called libkmm */
    atomic_store(step, 1);
    while (atomic_load(step) == 1)
        usleep(1000);
    return NULL;
}

/* Takes over, and frees all. */
static void take_over_and_free(char *p)
{
    char *big = make(20 << 20); /* it does not fit */
    assert_non_null(big);
    assert_false(kmm_cuda_native_enter(KIND));
    check(p, BYTES, 1);
    kmm_wait(kmm_default());
    drop(big);
    drop(p);
}

/* An array is not native sooner than this after the first hand-over. */
static const uint64_t LEAST_WAIT_NS = 50000000;

/* Makes an array once enough time has passed for the first array to be native again. How long that
 * is depends on how often it has been, and a busy machine needs more. */
static char *make_native_again(size_t bytes)
{
    for (int turn = 0; turn < 600; turn++) {
        char *p = make(bytes);
        if (kmm_cuda_native(KIND))
            return p;
        drop(p);
        usleep(100000);
    }
    fail_msg("no array is native again within a minute");
    return NULL;
}

/* After the program has freed all arrays, the first new one is native again, when enough time has
 * passed. */
static void part_return(void)
{
    char *p = make(BYTES), *small = make(100);
    fill_native(p, BYTES, 1);
    take_over_and_free(p);
    usleep(120000);
    p = make(BYTES);
    assert_false(kmm_cuda_native(KIND)); /* one array is left */
    drop(p);
    drop(small);
    for (int turn = 0; turn < 3; turn++) {
        p = make_native_again(BYTES);
        assert_true(is_accessible(p));
        small = make(100);
        fill_native(small, 100, 2);
        fill_native(p, BYTES, 1);
        char *more = make(1000);
        const uint64_t taken = kmm__now();
        take_over_and_free(p);
        check(small, 100, 2);
        drop(small);
        drop(more);
        p = make(BYTES);
        if (kmm__now() - taken < LEAST_WAIT_NS << turn) /* unless the machine is busy */
            assert_false(kmm_cuda_native(KIND));
        drop(p);
    }
    end();
}

/* Also while another thread lives that has called libkmm, and is in no call now. */
static void part_return_of_two(void)
{
    pthread_t thread;
    atomic_int step = 0;
    char *p = make(BYTES);
    fill_native(p, BYTES, 1);
    take_over_and_free(p);
    pthread_create(&thread, NULL, stay_a_while, &step);
    while (!atomic_load(&step))
        usleep(1000);
    p = make_native_again(BYTES);
    atomic_store(&step, 2);
    pthread_join(thread, NULL);
    fill_native(p, BYTES, 3);
    check(p, BYTES, 3);
    end();
}

/* ---- Random programs ---- */

enum { ARRAYS = 6, STEPS = 200, LONGEST = 20000 };

typedef struct both {
    int32_t *x, *model;
    int64_t n;
} both_t;

static void both_make(both_t *t, rng_t *r)
{
    t->n = rng_range(r, 1, LONGEST);
    const size_t bytes = (size_t)t->n * sizeof(*t->x);
    t->x = (int32_t *)make(bytes);
    t->model = malloc(bytes);
    for (int64_t i = 0; i < t->n; i++)
        t->model[i] = (int32_t)rng_next(r);
    if (kmm_cuda_native_enter(KIND)) {
        memcpy(t->x, t->model, bytes);
        kmm_cuda_native_leave();
    } else {
        assert_int_equal(kmm_copy_in(kmm_default(), t->x, t->model, bytes), 0);
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A launch with a pragma, over arrays that may be on several GPUs. */
static void step_launch(both_t *t, rng_t *r)
{
    what_t what = (what_t)(rng_next(r) % WHATS);
    const both_t *dst = &t[0], *a = &t[1 + rng_next(r) % 2], *b = &t[3];
    int64_t n = what == SUM ? a->n : rng_range(r, 1, least(least(dst->n, a->n), b->n));
    int32_t *pa = what == SCALE ? NULL : a->x, *pb = what == SUM || what == SCALE ? NULL : b->x;
    int result = fake_work_launch(KMM_KIND_CUDA, what, n, (int)rng_range(r, 1, 5), dst->x, pa, pb);
    if (result == KMM__LAUNCH_NATIVELY) {
        assert_true(kmm_cuda_native(KIND));
        int sample = kmm_cuda_native_sample();
        run_element_by_element(what, n, dst->x, a->x, b->x);
        if (sample) /* long ones take over, if the program uses one GPU */
            kmm_cuda_native_measured(sample, rng_next(r) % (20 * MS));
        kmm_cuda_native_leave();
        result = 0;
    }
    if (result)
        fail_msg("launch of %s: %s", names[what], kmm_error_text(NULL));
    run_element_by_element(what, n, dst->model, a->model, b->model);
}

/* A copy between two arrays, natively by one GPU or between two. */
static void step_copy(const both_t *dst, const both_t *src, rng_t *r)
{
    const size_t bytes = (size_t)least(dst->n, src->n) * sizeof(*dst->x);
    int to, from;
    if (dst == src)
        return;
    if (kmm_cuda_native_enter(KIND)) {
        if (!kmm_cuda_native_between(dst->x, src->x, &to, &from))
            memcpy(dst->x, src->x, bytes);
        else
            assert_int_equal(copy_by(to, dst->x, to, src->x, rng_next(r) % 2 ? to : from, bytes),
                             0);
        kmm_cuda_native_leave();
    } else {
        assert_int_equal(kmm_copy(kmm_default(), dst->x, src->x, bytes), 0);
    }
    memcpy(dst->model, src->model, bytes);
}

static void part_oracle(void)
{
    rng_t r = {rng_seed() + program};
    both_t t[ARRAYS];
    int32_t *got = malloc(LONGEST * sizeof(*got));
    const int end_at = (int)rng_range(&r, 0, 2 * STEPS); /* in half of the programs never */
    const int gpus = (int)rng_range(&r, 1, GPUS);
    for (int k = 0; k < ARRAYS; k++)
        both_make(&t[k], &r);
    for (int step = 0; step < STEPS; step++) {
        both_t *one = &t[rng_next(&r) % ARRAYS], first = t[0];
        uint64_t what = rng_next(&r) % 8;
        if (step == end_at)
            make(20 << 20); /* it does not fit */
        if (what < 2) {
            set_device((int)(rng_next(&r) % (uint64_t)gpus));
        } else if (what == 2) {
            free(one->model);
            drop((char *)one->x);
            both_make(one, &r);
        } else if (what == 3) {
            t[0] = *one; /* another one is written from now on */
            *one = first;
        } else if (what < 6) {
            step_copy(one, &t[rng_next(&r) % ARRAYS], &r);
        } else if (step > (int)(program % 4) * STEPS / 4) { /* most of them take over */
            step_launch(t, &r);
        }
    }
    for (int k = 0; k < ARRAYS; k++) {
        const size_t bytes = (size_t)t[k].n * sizeof(*got);
        assert_int_equal(kmm_copy_out(kmm_default(), got, t[k].x, bytes), 0);
        assert_memory_equal(got, t[k].model, bytes);
    }
    free(got);
    end();
}

/* ---- Threads, each on a GPU of its own ---- */

enum { TURNS = 400, WORDS = 3000 };

typedef struct worker {
    int gpu;
    uint32_t *x;
    uint32_t turns;
} worker_t;

static void *work(void *arg)
{
    worker_t *w = arg;
    const size_t bytes = WORDS * sizeof(*w->x);
    uint32_t *copy = calloc(WORDS, sizeof(*copy));
    set_device(w->gpu);
    w->x = (uint32_t *)make(bytes);
    for (; w->turns < TURNS; w->turns++) {
        if (w->turns % 16 == 3)
            drop(make(1 + (size_t)w->turns * 100));
        if (kmm_cuda_native_enter(KIND)) {
            for (int i = 0; i < WORDS; i++)
                w->x[i] = w->turns ? w->x[i] + 1 : 1;
            kmm_cuda_native_leave();
            continue;
        }
        if (w->turns)
            assert_int_equal(kmm_copy_out(kmm_default(), copy, w->x, bytes), 0);
        for (int i = 0; i < WORDS; i++)
            copy[i]++;
        assert_int_equal(kmm_copy_in(kmm_default(), w->x, copy, bytes), 0);
    }
    free(copy);
    return NULL;
}

static void part_threads(void)
{
    rng_t r = {rng_seed() + program};
    pthread_t thread[GPUS];
    worker_t w[GPUS];
    uint32_t got[WORDS];
    uint32_t *mine = (uint32_t *)make(sizeof(got));
    for (int k = 0; k < GPUS; k++) {
        w[k] = (worker_t){.gpu = k};
        pthread_create(&thread[k], NULL, work, &w[k]);
    }
    usleep((useconds_t)rng_range(&r, 0, 10000));
    assert_int_equal(kmm_fill(kmm_default(), mine, 7, sizeof(got)), 0); /* takes over */
    for (int k = 0; k < GPUS; k++)
        pthread_join(thread[k], NULL);
    for (int k = 0; k < GPUS; k++) {
        assert_int_equal(kmm_copy_out(kmm_default(), got, w[k].x, sizeof(got)), 0);
        for (int i = 0; i < WORDS; i++)
            if (got[i] != TURNS)
                fail_msg("array %d, element %d: %u of %d", k, i, got[i], TURNS);
    }
    end();
}

PART(one)
PART(several)
PART(later)
PART(enable)
PART(at_end)
PART(pays)
PART(short)
PART(copies)
PART(return)
PART(return_of_two)

static void test_clause(void **state)
{
    (void)state;
    for (program = 0; program < 3; program++)
        child(part_clause);
}

static void test_must_stay(void **state)
{
    (void)state;
    for (program = 0; program < 3; program++)
        child(part_must_stay);
}

static void test_no_access(void **state)
{
    (void)state;
    setenv("KMM_FAKE_PEERS", "0", 1);
    child(part_no_access);
    unsetenv("KMM_FAKE_PEERS");
}

static void test_counted(void **state)
{
    (void)state;
    setenv("KMM_DEVICES", "cuda:2", 1);
    child(part_counted);
    setenv("KMM_NATIVE", "1", 1);
    child(part_forced);
    unsetenv("KMM_NATIVE");
    setenv("KMM_DEVICES", "cuda", 1);
    child(part_forced);
    setenv("KMM_NATIVE", "0", 1);
    child(part_counted);
    unsetenv("KMM_NATIVE");
    unsetenv("KMM_DEVICES");
}

static void test_oracle(void **state)
{
    (void)state;
    for (program = 0; program < 30 / BRIEF; program++)
        child(part_oracle);
}

static void test_threads(void **state)
{
    (void)state;
    for (program = 0; program < 5 / BRIEF + 2; program++)
        child(part_threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),       cmocka_unit_test(test_several),
        cmocka_unit_test(test_later),     cmocka_unit_test(test_enable),
        cmocka_unit_test(test_no_access), cmocka_unit_test(test_counted),
        cmocka_unit_test(test_at_end),    cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_pays),
        cmocka_unit_test(test_short),     cmocka_unit_test(test_copies),
        cmocka_unit_test(test_must_stay), cmocka_unit_test(test_clause),
        cmocka_unit_test(test_return),    cmocka_unit_test(test_return_of_two),
    };
    setenv("KMM_FAKE_DEVICES", "4", 1);
    setenv("KMM_FAKE_MEM", "16777216", 1);
    setenv("KMM_ON_ERROR", "continue", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
