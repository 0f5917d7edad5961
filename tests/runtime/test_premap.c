/* SPDX-License-Identifier: Apache-2.0 */
/* Premapped frames on the fake CUDA driver: that frames are premapped, by which thread and within
 * which limits, and what happens when premapping fails. */
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

#include "counts.h"
#include "fake_work.h"
#include "memory/state.h"
#include "random.h"
#include "with_runtime.h"

/* An array is 16 frames, a chunk of one of 8 two of them. */
enum {
    FRAME = 64 << 10,
    N = 16 * FRAME / 4,
    CHUNKS = 8,
    CHUNK_FRAMES = 3 * 2,
    FRAMES = 3 * 16,
    MOST = 5
};

static kmm_runtime_t *make(const char *devices, uint64_t keep_free)
{
    return runtime_open(
        &(kmm_config_t){.devices = devices, .frame_bytes = FRAME, .device_keep_free = keep_free});
}

static void end(kmm_runtime_t *rt)
{
    runtime_close(rt);
    fake_counts_t left = fake_counts_now();
    assert_int_equal(left.frames + left.mappings + left.windows, 0);
}

static int32_t *array(kmm_runtime_t *rt, int32_t *model, int32_t first)
{
    int32_t *x = kmm_malloc(N * sizeof(*x));
    assert_non_null(x);
    for (int k = 0; k < N; k++)
        model[k] = first + k;
    assert_int_equal(kmm_copy_in(rt, x, model, N * sizeof(*x)), 0);
    return x;
}

static void check(kmm_runtime_t *rt, const int32_t *x, const int32_t *model)
{
    int32_t *got = malloc(N * sizeof(*got));
    assert_int_equal(kmm_copy_out(rt, got, x, N * sizeof(*got)), 0);
    assert_memory_equal(got, model, N * sizeof(*got));
    free(got);
}

/* ---- While the thread that issues is held up ---- */

typedef struct sum {
    kmm_runtime_t *rt;
    kmm__device_t *d;
    int32_t *x[3], *model[3];
    unsigned long faults;
} sum_t;

/* x[2] = x[0] + x[1], the copies of whose first chunk cannot be enqueued as long as the caller
 * holds d->in_lock. */
static sum_t sum_begin(kmm_runtime_t *rt)
{
    sum_t s = {.rt = rt, .d = rt->device[0], .faults = fake_counts_now().faults};
    for (int k = 0; k < 3; k++) {
        s.model[k] = malloc(N * sizeof(int32_t));
        s.x[k] = array(rt, s.model[k], k);
    }
    assert_null(s.d->memory->premapper);
    pthread_mutex_lock(&s.d->in_lock);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, CHUNKS, s.x[2], s.x[0], s.x[1]), 0);
    for (int64_t k = 0; k < N; k++)
        fake_work_element(ADD, k, N, s.model[2], s.model[0], s.model[1]);
    return s;
}

static bool is_struck(const sum_t *s)
{
    return fake_counts_now().faults > s->faults;
}

/* Waits until all frames but the first chunk's have been premapped, or a call has failed. */
static void await_premap(const sum_t *s)
{
    for (bool over = false; !over;) {
        pthread_mutex_lock(&s->rt->lock);
        over = s->d->counters.premapped == FRAMES - CHUNK_FRAMES || is_struck(s);
        pthread_mutex_unlock(&s->rt->lock);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    pthread_mutex_unlock(&s->d->in_lock);
}

/* What the launch came to. */
static int sum_end(sum_t *s)
{
    int error = kmm_wait(s->rt);
    if (!error)
        check(s->rt, s->x[2], s->model[2]);
    for (int k = 0; k < 3; k++) {
        free(s->model[k]);
        kmm_free(s->x[k]);
    }
    return error;
}

static void test_premapped_while_issuing(void **state)
{
    (void)state;
    setenv("KMM_FAKE_MAP_US", "300", 1);
    kmm_runtime_t *rt = make("cuda:1,mem=64M", 0);
    sum_t s = sum_begin(rt);
    await_premap(&s);
    assert_int_equal(kmm_wait(rt), 0);
    pthread_mutex_lock(&rt->lock);
    assert_int_equal(s.d->counters.premapped, FRAMES - CHUNK_FRAMES);
    assert_int_equal(
        s.d->counters.mappings,
        CHUNK_FRAMES); /* by the thread that issues: the first chunk's, whatever came later */
    assert_int_equal(s.d->memory->premapped_bytes, 0);
    pthread_mutex_unlock(&rt->lock);
    assert_int_equal(sum_end(&s), 0);
    end(rt);
    unsetenv("KMM_FAKE_MAP_US");
}

/* A failed call of the premapping thread is reported nowhere. A failed call of the issuing thread
 * is an error of the launch. Of all these calls the issuing thread makes the 9 for the first chunk;
 * which of the calls these are differs from run to run. */
static void test_failures(void **state)
{
    enum { TRIES = 40 };
    int errors = 0, quiet = 0;
    (void)state;
    for (int k = 1; k <= TRIES; k++) {
        char fault[32];
        snprintf(fault, sizeof(fault), "map:%d", k);
        setenv("KMM_FAKE_FAIL", fault, 1);
        kmm_runtime_t *rt = make("cuda:1,mem=64M", 0);
        sum_t s = sum_begin(rt);
        await_premap(&s);
        int error = sum_end(&s);
        errors += error != 0;
        quiet += !error && is_struck(&s);
        end(rt);
    }
    unsetenv("KMM_FAKE_FAIL");
    assert_in_range(errors, 1, TRIES / 2);
    assert_in_range(quiet, TRIES / 4, TRIES);
}

/* ---- Any work ---- */

typedef struct some {
    int32_t *x[MOST], *model[MOST];
} some_t;

static void launch(rng_t *rng, some_t *s)
{
    what_t what = (what_t)rng_range(rng, ADD, MIRROR);
    int dst = (int)rng_range(rng, 0, MOST - 1), a = (dst + 1) % MOST, b = (dst + 2) % MOST,
        chunks = (int)rng_range(rng, 4, 16);
    int64_t n = rng_range(rng, 1, 2) * N / 2;
    bool reads = what != SCALE;
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, what, n, chunks, s->x[dst],
                                      reads ? s->x[a] : NULL, reads ? s->x[b] : NULL),
                     0);
    for (int64_t k = 0; k < n; k++)
        fake_work_element(what, k, n, s->model[dst], s->model[a], s->model[b]);
}

static void renew(kmm_runtime_t *rt, rng_t *rng, some_t *s)
{
    int k = (int)rng_range(rng, 0, MOST - 1);
    kmm_free(s->x[k]);
    s->x[k] = array(rt, s->model[k], k);
}

/* Where everything fits, and where memory is short: results are right, and no more memory is used
 * than may be. */
static void work(const char *devices, uint64_t keep_free, uint64_t most, uint64_t seed)
{
    enum { ROUNDS = 60 };
    kmm_runtime_t *rt = make(devices, keep_free);
    rng_t rng = {.state = seed};
    some_t s;
    for (int k = 0; k < MOST; k++) {
        s.model[k] = malloc(N * sizeof(int32_t));
        s.x[k] = array(rt, s.model[k], k);
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (rng_range(&rng, 0, 3) == 0)
            renew(rt, &rng, &s);
        launch(&rng, &s);
    }
    for (int k = 0; k < MOST; k++) {
        check(rt, s.x[k], s.model[k]);
        kmm_free(s.x[k]);
        free(s.model[k]);
    }
    assert_int_equal(kmm_wait(rt), 0);
    assert_in_range(fake_counts_now().most_bytes, most / 2, most);
    end(rt);
}

/* ThreadSanitizer is slow at the kernels; the threads meet in each of the programs. */
#if defined(__SANITIZE_THREAD__)
enum { PROGRAMS = 1 };
#else
enum { PROGRAMS = 3 };
#endif

static void test_limits(void **state)
{
    const uint64_t memory = UINT64_C(16) << 20;
    (void)state;
    setenv("KMM_FAKE_MEM", "16777216", 1);
    setenv("KMM_FAKE_MAP_US", "100", 1);
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        work("cuda:1,mem=8M", 0, 8 << 20, seed);
        work("cuda:1,mem=2M", 0, 2 << 20, seed);
        work("cuda:1,mem=16M", memory - (2 << 20), 2 << 20, seed);
    }
    unsetenv("KMM_FAKE_MAP_US");
    unsetenv("KMM_FAKE_MEM");
}

/* Arrays that are freed, and runtimes that end, while their frames are being mapped. */
static void test_ends(void **state)
{
    enum { TIMES = 20 };
    (void)state;
    setenv("KMM_FAKE_MAP_US", "200", 1);
    for (int k = 0; k < TIMES; k++) {
        kmm_runtime_t *rt = make("cuda:2,mem=16M", 0);
        int32_t *model = malloc(N * sizeof(*model)), *x[3];
        for (int j = 0; j < 3; j++)
            x[j] = array(rt, model, j);
        assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 2 * CHUNKS, x[2], x[0], x[1]), 0);
        for (int j = 0; j < 3; j++)
            kmm_free(x[j]);
        free(model);
        end(rt);
    }
    unsetenv("KMM_FAKE_MAP_US");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_premapped_while_issuing),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
