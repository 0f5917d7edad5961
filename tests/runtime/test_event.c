/* SPDX-License-Identifier: Apache-2.0 */
/* Events: what belongs to them, time limits, joins, and errors, on the CPU and the fake driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>

#include "fake_work.h"
#include "with_runtime.h"

enum { N = 4096, CHUNKS = 4 };

/* Chunks of this function end when their gate is open. */
typedef struct gated {
    int32_t *to;
    atomic_bool *gate;
    int32_t value;
} gated_t;

static void run_gated(const kmm_chunk_t *chunk, void *memory)
{
    const gated_t *g = memory;
    while (g->gate && !atomic_load(g->gate))
        usleep(100);
    for (int64_t k = chunk->begin[0]; k < chunk->end[0]; k++)
        g->to[k] = g->value;
}

static int launch_gated(int32_t *to, atomic_bool *gate, int32_t value)
{
    kmm_launch_t *l = kmm_launch_begin("gated", "event.c", 9);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, N);
    kmm_launch_chunk(l, KMM_RANGE_0, N / CHUNKS);
    kmm_launch_nowait(l);
    fake_work_access(l, KMM_WRITE, "to[i]", to, 0, 1);
    return kmm_launch_call(l, run_gated, &(gated_t){to, gate, value}, sizeof(gated_t));
}

static kmm_event_t *event_of(kmm_runtime_t *rt, int32_t *to, atomic_bool *gate, int32_t value)
{
    kmm_event_t *e = NULL;
    assert_int_equal(kmm_event_begin(rt, &e), 0);
    assert_int_equal(launch_gated(to, gate, value), 0);
    assert_int_equal(kmm_event_end(e), 0);
    return e;
}

enum { MS = 1000000 };

/* On as many threads as the gated launch has chunks, and more. */
static void test_waits_for_its_launches_alone(void **state)
{
    const char *const devices[] = {"host", "host:2,mem=4M"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        kmm_runtime_t *rt =
            runtime_open(&(kmm_config_t){.devices = devices[k], .threads = 2 * CHUNKS});
        atomic_bool gate = false;
        int32_t *slow = array_of(rt, N, NULL), *fast = array_of(rt, N, NULL);
        kmm_event_t *held = event_of(rt, slow, &gate, 1), *quick, *both, *events[2];
        assert_int_equal(kmm_event_test(held), KMM_PENDING);
        assert_int_equal(kmm_event_wait(held, 0), KMM_PENDING);
        assert_int_equal(kmm_event_wait(held, 5 * MS), KMM_PENDING);
        if (k == 0) { /* a pretend device runs one chunk at a time */
            quick = event_of(rt, fast, NULL, 2);
            assert_int_equal(kmm_event_wait(quick, -1), 0);
            assert_int_equal(kmm_event_test(quick), 0);
            assert_int_equal(kmm_event_test(held), KMM_PENDING);
        } else {
            quick = event_of(rt, fast, &gate, 2);
        }
        events[0] = quick, events[1] = held;
        assert_int_equal(kmm_event_join(rt, events, 2, &both), 0);
        kmm_event_destroy(quick);
        kmm_event_destroy(held);
        assert_int_equal(kmm_event_wait(both, 1), KMM_PENDING);
        atomic_store(&gate, true);
        assert_int_equal(kmm_event_wait(both, -1), 0);
        assert_int_equal(kmm_event_test(both), 0);
        kmm_event_destroy(both);
        runtime_close(rt);
    }
}

/* Results in memory that a launch with nowait has mapped are there after the wait. */
static void test_brings_back_what_a_launch_mapped(void **state)
{
    static int32_t memory[N];
    (void)state;
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = "host:1,mem=4M"});
    for (int32_t value = 1; value <= 3; value++) {
        kmm_event_t *e = event_of(rt, memory, NULL, value);
        assert_int_equal(kmm_event_wait(e, -1), 0);
        for (int k = 0; k < N; k++)
            assert_int_equal(memory[k], value);
        kmm_event_destroy(e);
    }
    runtime_close(rt);
}

static void test_tells_errors_of_its_launches(void **state)
{
    const char *text = "faults.c:7: add: chunk 3 of 8: cuLaunchKernel: CUDA_ERROR_UNKNOWN";
    (void)state;
    setenv("KMM_FAKE_FAIL", "launch:4", 1);
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = "cuda:1"});
    int32_t values[N] = {0}, sum = 0;
    int32_t *a = array_of(rt, N, values), *x = array_of(rt, N, values),
            *y = array_of(rt, N, values), *total = array_of(rt, 1, &sum);
    kmm_event_t *failed, *poisoned, *fine, *all;
    assert_int_equal(kmm_event_begin(rt, &failed), 0);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 8, x, a, a), 0);
    assert_int_equal(kmm_event_end(failed), 0);
    assert_int_equal(kmm_event_begin(rt, &fine), 0);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SCALE, N, 8, y, NULL, NULL), 0);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SUM, N, 8, total, y, NULL), 0);
    assert_int_equal(kmm_event_end(fine), 0);
    assert_int_equal(kmm_event_begin(rt, &poisoned), 0);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SUM, N, 8, total, x, NULL), 0);
    assert_int_equal(kmm_event_end(poisoned), 0);

    assert_int_equal(kmm_event_wait(fine, -1), 0);
    assert_int_equal(kmm_event_wait(failed, -1), KMM_E_DEVICE);
    assert_non_null(strstr(kmm_error_text(rt), text));
    assert_int_equal(kmm_wait(rt), KMM_E_DEVICE);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(kmm_event_test(failed), KMM_E_DEVICE); /* also when kmm_wait has told it */
    assert_non_null(strstr(kmm_error_text(rt), text));
    assert_int_equal(kmm_event_wait(poisoned, -1), KMM_E_POISONED);
    assert_non_null(strstr(kmm_error_text(rt), "faults.c:7: sum"));
    assert_int_equal(kmm_event_join(rt, (kmm_event_t *[]){fine, poisoned, failed}, 3, &all), 0);
    assert_int_equal(kmm_event_wait(all, -1), KMM_E_POISONED);
    kmm_event_destroy(all);
    kmm_event_destroy(fine);
    kmm_event_destroy(poisoned);
    kmm_use(NULL);
    assert_int_equal(kmm_destroy(rt), 0);
    kmm_event_destroy(failed); /* after its runtime */
    unsetenv("KMM_FAKE_FAIL");
}

/* What copies and reductions submit belongs to the event: nothing is left to do after it. */
static void test_covers_all_tasks(void **state)
{
    (void)state;
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = "cuda:2"});
    int32_t values[N], sum = 0;
    for (int k = 0; k < N; k++)
        values[k] = k;
    int32_t *a = array_of(rt, N, values), *b = array_of(rt, N, NULL),
            *total = array_of(rt, 1, &sum);
    kmm_event_t *e;
    assert_int_equal(kmm_event_begin(rt, &e), 0);
    assert_int_equal(kmm_copy(rt, b, a, sizeof(values)), 0);
    assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SUM, N, 8, total, b, NULL), 0);
    assert_int_equal(kmm_event_end(e), 0);
    assert_int_equal(kmm_event_wait(e, -1), 0);
    assert_int_equal(kmm_copy_out(rt, &sum, total, sizeof(sum)), 0);
    assert_int_equal(sum, N * (N - 1) / 2);
    kmm_event_destroy(e);
    runtime_close(rt);
}

static int in_chunk[2];
static kmm_event_t *seen_by_chunk;

static void run_waiting(const kmm_chunk_t *chunk, void *memory)
{
    (void)chunk, (void)memory;
    in_chunk[0] = kmm_event_wait(seen_by_chunk, -1);
    in_chunk[1] = kmm_event_test(seen_by_chunk);
}

static void test_refuses(void **state)
{
    (void)state;
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = "host", .threads = 2}), *other;
    kmm_event_t *e, *f;
    assert_int_equal(kmm_create(&other, &(kmm_config_t){.devices = "host"}), 0);
    assert_int_equal(kmm_event_begin(NULL, &e), KMM_E_INVALID);
    assert_int_equal(kmm_event_begin(rt, NULL), KMM_E_INVALID);
    assert_int_equal(kmm_event_begin(rt, &e), 0);
    assert_int_equal(kmm_event_begin(rt, &f), KMM_E_STATE);
    assert_int_equal(kmm_event_wait(e, -1), KMM_E_STATE);
    assert_int_equal(kmm_event_test(e), KMM_E_STATE);
    assert_int_equal(kmm_event_end(e), 0);
    assert_int_equal(kmm_event_end(e), KMM_E_STATE);
    assert_int_equal(kmm_event_wait(e, 0), 0); /* nothing belongs to it */
    assert_int_equal(kmm_event_join(other, &e, 1, &f), KMM_E_INVALID);
    assert_int_equal(kmm_event_join(rt, NULL, 0, &f), 0);
    assert_int_equal(kmm_event_wait(f, -1), 0);
    kmm_event_destroy(f);
    assert_int_equal(kmm_event_end(NULL), KMM_E_INVALID);
    assert_int_equal(kmm_event_wait(NULL, 0), KMM_E_INVALID);
    assert_int_equal(kmm_event_test(NULL), KMM_E_INVALID);
    kmm_event_destroy(NULL);
    seen_by_chunk = e;
    kmm_launch_t *l = kmm_launch_begin("waiting", "event.c", 1);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, 1);
    assert_int_equal(kmm_launch_call(l, run_waiting, NULL, 0), 0);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(in_chunk[0], KMM_E_STATE);
    assert_int_equal(in_chunk[1], 0);
    kmm_event_destroy(e);
    assert_int_equal(kmm_event_begin(rt, &e), 0);
    kmm_event_destroy(e); /* ends it, too */
    assert_int_equal(kmm_event_begin(rt, &e), 0);
    kmm_event_destroy(e);
    assert_int_equal(kmm_destroy(other), 0);
    runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_for_its_launches_alone),
        cmocka_unit_test(test_brings_back_what_a_launch_mapped),
        cmocka_unit_test(test_tells_errors_of_its_launches),
        cmocka_unit_test(test_covers_all_tasks),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
