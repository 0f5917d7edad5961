/* SPDX-License-Identifier: Apache-2.0 */
/* Where and in which order chunks run: device, schedule, priority; and when results come back:
 * nowait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>

#include "share.h"
#include "with_runtime.h"

enum { N = 1 << 16, CHUNKS = 8 };

static kmm_runtime_t *make(const char *devices)
{
    return runtime_open(&(kmm_config_t){.devices = devices, .threads = 1});
}

static void *array(kmm_runtime_t *rt, size_t bytes)
{
    void *p = NULL;
    assert_int_equal(
        kmm_array_create(
            rt, &(kmm_shape_t){.dims = 1, .extent = {(int64_t)bytes}, .element_bytes = 1}, &p),
        0);
    return p;
}

static kmm_device_info_t info(kmm_runtime_t *rt, int device)
{
    kmm_device_info_t out;
    assert_int_equal(kmm_device_get(rt, device, &out), 0);
    return out;
}

typedef struct increment {
    int *x;
} increment_t;

static void increment(const kmm_chunk_t *c, void *args)
{
    increment_t *a = args;
    for (int64_t i = c->begin[0]; i < c->end[0]; i++)
        a->x[i]++;
}

/* x[i]++ for i in 0:N, in CHUNKS chunks. */
static kmm_launch_t *describe(kmm_mode_t mode, int *x)
{
    kmm_launch_t *l = kmm_launch_begin("increment", "test.c", 1);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, N);
    kmm_launch_chunk(l, KMM_RANGE_0, N / CHUNKS);
    kmm_launch_access(l, mode, "x[i]", x, sizeof(int));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    return l;
}

static int run(kmm_launch_t *l, int *x)
{
    return kmm_launch_call(l, increment, &(increment_t){x}, sizeof(increment_t));
}

static int *zeros(kmm_runtime_t *rt)
{
    int *x = array(rt, N * sizeof(int));
    assert_int_equal(kmm_fill(rt, x, 0, N * sizeof(int)), 0);
    return x;
}

static void expect_all(kmm_runtime_t *rt, const int *x, int value)
{
    int *got = malloc(N * sizeof(int));
    assert_int_equal(kmm_copy_out(rt, got, x, N * sizeof(int)), 0);
    for (int i = 0; i < N; i++)
        if (got[i] != value)
            fail_msg("x[%d] is %d, not %d", i, got[i], value);
    free(got);
}

static void test_one_device(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("host:3,mem=4M");
    int *x = zeros(rt);
    kmm_launch_t *l = describe(KMM_UPDATE, x);
    kmm_launch_device(l, KMM_ON_DEVICE, 1);
    assert_int_equal(run(l, x), 0);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(info(rt, 0).chunks, 0);
    assert_int_equal(info(rt, 1).chunks, CHUNKS);
    assert_int_equal(info(rt, 2).chunks, 0);
    expect_all(rt, x, 1);
    runtime_close(rt);
}

static void test_no_such_device(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("host:2,mem=4M");
    int *x = zeros(rt);
    for (int k = 0; k < 3; k++) {
        kmm_launch_t *l = describe(KMM_UPDATE, x);
        kmm_launch_device(l, k < 2 ? KMM_ON_DEVICE : KMM_ON_CUDA, k == 0 ? 2 : -1);
        assert_int_equal(run(l, x), KMM_E_NO_DEVICE);
        assert_non_null(strstr(kmm_error_text(rt), "test.c:1: increment: "));
        assert_non_null(strstr(kmm_error_text(rt), k == 0   ? "device(2): there are 2 devices"
                                                   : k == 1 ? "device(-1)"
                                                            : "runs on the CPU"));
    }
    expect_all(rt, x, 0);
    runtime_close(rt);
}

/* Chunks go where their data is: a launch that is dealt in turn is followed by one that moves
 * nothing. */
static void test_locality(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("host:3,mem=4M");
    int *x = array(rt, N * sizeof(int));
    kmm_launch_t *l = describe(KMM_WRITE, x);
    kmm_launch_schedule(l, KMM_SCHEDULE_CYCLIC);
    assert_int_equal(run(l, x), 0);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(info(rt, 0).chunks, 3);
    assert_int_equal(info(rt, 1).chunks, 3);
    assert_int_equal(info(rt, 2).chunks, 2);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(run(describe(KMM_UPDATE, x), x), 0);
        assert_int_equal(kmm_wait(rt), 0);
    }
    for (int k = 0; k < 3; k++)
        assert_int_equal(info(rt, k).bytes_peer + info(rt, k).bytes_in, 0);
    /* In contiguous parts, some chunks have to move. */
    l = describe(KMM_UPDATE, x);
    kmm_launch_schedule(l, KMM_SCHEDULE_BLOCK);
    assert_int_equal(run(l, x), 0);
    assert_int_equal(kmm_wait(rt), 0);
    assert_true(info(rt, 0).bytes_peer + info(rt, 1).bytes_peer + info(rt, 2).bytes_peer > 0);
    runtime_close(rt);
}

/* All data on one device: the others get their share of the work all the same. */
static void test_balance(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("host:2,mem=4M");
    int *x = zeros(rt);
    kmm_launch_t *l = describe(KMM_UPDATE, x);
    kmm_launch_device(l, KMM_ON_DEVICE, 0);
    assert_int_equal(run(l, x), 0);
    assert_int_equal(run(describe(KMM_UPDATE, x), x), 0);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(info(rt, 0).chunks, CHUNKS + CHUNKS / 2);
    assert_int_equal(info(rt, 1).chunks, CHUNKS / 2);
    expect_all(rt, x, 2);
    runtime_close(rt);
}

/* ---- Priority ---- */

static int gate[2], at_gate[2];
static int order[16];
static _Atomic int ran;

static void wait_at_gate(const kmm_chunk_t *c, void *args)
{
    char byte = 0;
    (void)c;
    (void)args;
    assert_int_equal(write(at_gate[1], &byte, 1), 1);
    assert_int_equal(read(gate[0], &byte, 1), 1);
}

static void note(const kmm_chunk_t *c, void *args)
{
    (void)c;
    order[ran++] = *(int *)args;
}

static void submit_one(kmm_function_t *function, int priority)
{
    kmm_launch_t *l = kmm_launch_begin("one", "test.c", 1);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, 1);
    kmm_launch_priority(l, priority);
    assert_int_equal(kmm_launch_call(l, function, &priority, sizeof(priority)), 0);
}

static void test_priority(void **state)
{
    (void)state;
    static const int priorities[] = {0, 1, -5, 1, 7, 0, 7}, expected[] = {7, 7, 1, 1, 0, 0, -5};
    kmm_runtime_t *rt = make("host");
    ran = 0;
    char byte = 0;
    assert_true(pipe(gate) == 0 && pipe(at_gate) == 0);
    /* The one thread is busy until all the others are there. */
    submit_one(wait_at_gate, 100);
    assert_int_equal(read(at_gate[0], &byte, 1), 1);
    for (int k = 0; k < 7; k++)
        submit_one(note, priorities[k]);
    assert_int_equal(write(gate[1], &byte, 1), 1);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(ran, 7);
    for (int k = 0; k < 7; k++)
        assert_int_equal(order[k], expected[k]);
    for (int k = 0; k < 2; k++) {
        close(gate[k]);
        close(at_gate[k]);
    }
    runtime_close(rt);
}

/* ---- nowait ---- */

static void test_nowait(void **state)
{
    (void)state;
    static int x[N], y[N];
    for (int kind = 0; kind < 3; kind++) {
        kmm_runtime_t *rt = make("host:2,mem=128K");
        memset(x, 0, sizeof(x));
        memset(y, 0, sizeof(y));
        for (int k = 0; k < 4; k++) {
            /* The last one of kind 1 writes back all that those before it left. */
            kmm_launch_t *l = describe(KMM_UPDATE, x);
            if (kind != 1 || k < 3)
                kmm_launch_nowait(l);
            assert_int_equal(run(l, x), 0);
            l = describe(KMM_UPDATE, y);
            kmm_launch_nowait(l);
            assert_int_equal(run(l, y), 0);
        }
        if (kind == 0)
            assert_int_equal(kmm_wait(rt), 0);
        if (kind == 2) /* the end of the runtime is a wait, too */
            runtime_close(rt);
        for (int i = 0; i < N; i++)
            assert_true(x[i] == 4 && (kind == 1 || y[i] == 4));
        assert_int_equal(kind == 2 ? 0 : kmm_wait(rt), 0);
        assert_int_equal(y[N - 1], 4);
        /* Nothing is mapped any more. */
        if (kind != 2)
            assert_int_equal(kmm_unmap(rt, x), KMM_E_ADDRESS);
        if (kind != 2)
            runtime_close(rt);
    }
}

/* Parts of one piece of host memory, which launches name by its beginning: a part that another
 * launch has left mapped is not where the region of the next one is. */
static void test_nowait_in_parts(void **state)
{
    (void)state;
    enum { PART = N / 4 };
    static int x[N];
    static const char *const devices[] = {"host", "host:1,mem=256K", "host:3,mem=256K"};
    for (size_t d = 0; d < sizeof(devices) / sizeof(*devices); d++)
        for (int waits = 0; waits < 2; waits++) {
            kmm_runtime_t *rt = make(devices[d]);
            memset(x, 0, sizeof(x));
            for (int part = 0; part < 4; part += 2) {
                kmm_launch_t *l = kmm_launch_begin("increment", "test.c", 2);
                kmm_launch_axis(l, "i", KMM_RANGE_0, part * PART, PART);
                kmm_launch_chunk(l, KMM_RANGE_0, PART / 4);
                kmm_launch_access(l, KMM_UPDATE, "x[i]", x, sizeof(*x));
                kmm_launch_index(l, 0, 1);
                kmm_launch_coef(l, 0, 1, 0);
                if (part == 0 || !waits)
                    kmm_launch_nowait(l);
                assert_int_equal(run(l, x), 0);
            }
            assert_int_equal(kmm_wait(rt), 0);
            for (int i = 0; i < N; i++)
                assert_int_equal(x[i], i / PART % 2 == 0);
            runtime_close(rt);
        }
}

/* ---- Many tasks ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MANY = 200000, COUNT = 60000 };
#else
enum { MANY = 1000000, COUNT = 120000 };
#endif

static void count_one(const kmm_chunk_t *c, void *args)
{
    (void)c;
    (void)args;
    ran++;
}

/* Who submits more than can be remembered waits for some to end; memory is bounded by those
 * outstanding. */
static void test_many(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("host");
    struct rusage before, after;
    char byte = 0;
    ran = 0;
    assert_true(pipe(gate) == 0 && pipe(at_gate) == 0);
    submit_one(wait_at_gate, 1);
    assert_int_equal(read(at_gate[0], &byte, 1), 1);
    getrusage(RUSAGE_SELF, &before);
    kmm_launch_t *l = kmm_launch_begin("many", "test.c", 1);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, MANY);
    kmm_launch_chunk(l, KMM_RANGE_0, 1);
    /* Nothing runs until the gate opens; it does when so many have been submitted that the rest
     * must wait. */
    pid_t opener = fork();
    if (opener == 0) {
        usleep(300000);
        _exit(write(gate[1], &byte, 1) != 1);
    }
    assert_int_equal(kmm_launch_call(l, count_one, &byte, 1), 0);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(ran, MANY);
    getrusage(RUSAGE_SELF, &after);
    /* 1500 bytes for each that may be outstanding; sanitizers take several times that. */
    assert_true(after.ru_maxrss - before.ru_maxrss < 100000 * (MANY < 1000000 ? 8 : 1));
    assert_int_equal(waitpid(opener, NULL, 0), opener);
    for (int k = 0; k < 2; k++) {
        close(gate[k]);
        close(at_gate[k]);
    }
    runtime_close(rt);
}

static void count_blocks(const kmm_host_blocks_t *b, void **args)
{
    (void)args;
    __atomic_fetch_add(&ran, (int)(b->last - b->first), __ATOMIC_RELAXED);
}

/* Chunks of a launch run before all of it has been submitted: more than may wait have run when it
 * returns, with and without devices that have memory of their own. */
static void test_starts_while_submitting(void **state)
{
    (void)state;
    enum { MOST_WAIT = 90000 };
    static const kmm_kernel_t kernel = {
        KMM_LAUNCH_VERSION, KMM_KIND_HOST, "count", count_blocks, NULL, 0, NULL, 0, NULL};
    static const char *const devices[] = {"host", "host:1,mem=1M", "host:2,mem=1M"};
    for (size_t c = 0; c < sizeof(devices) / sizeof(*devices); c++) {
        kmm_runtime_t *rt = make(devices[c]);
        kmm_geometry_t g = {{COUNT, 1, 1}, {1, 1, 1}, 0, NULL};
        __atomic_store_n(&ran, 0, __ATOMIC_RELAXED);
        kmm_launch_t *l = kmm_launch_begin("count", "test.c", 1);
        kmm_launch_axis(l, "b", KMM_BLOCK_X, 0, KMM_WHOLE);
        kmm_launch_chunk(l, KMM_BLOCK_X, 1);
        kmm_launch_arm(l);
        assert_int_equal(kmm_launch_kernel(&kernel, &g, NULL), 0);
        assert_true(__atomic_load_n(&ran, __ATOMIC_RELAXED) > COUNT - MOST_WAIT);
        assert_int_equal(kmm_wait(rt), 0);
        assert_int_equal(__atomic_load_n(&ran, __ATOMIC_RELAXED), COUNT);
        runtime_close(rt);
    }
}

int main(void)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_device),
        cmocka_unit_test(test_no_such_device),
        cmocka_unit_test(test_locality),
        cmocka_unit_test(test_balance),
        cmocka_unit_test(test_priority),
        cmocka_unit_test(test_nowait),
        cmocka_unit_test(test_nowait_in_parts),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_starts_while_submitting),
    };
    size_t count = share_take(tests, sizeof(tests) / sizeof(*tests), sizeof(*tests));
    return _cmocka_run_group_tests("schedule", tests, count, NULL, NULL);
}
