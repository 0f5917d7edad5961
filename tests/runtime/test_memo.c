/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches that come again with something changed. The first launches of a place in the source are
 * right and alike, so that the runtime has a memo of their checks. Then one thing differs, and the
 * launch is as right, or as refused, as one that never had a memo.
 */
#include <setjmp.h>
#include <stdarg.h>
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
#include "launch/state.h"
#include "with_runtime.h"

enum { N = 4096, SAME = 6 };

/* What a launch's tasks get: they set out[i] = in[i] + add for i in [begin, end) of their chunk. */
typedef struct args {
    int32_t *out;
    const int32_t *in;
    int64_t add;
    int64_t calls; /* an address of the test's memory, which the runtime does not know */
} args_t;

/* What a launch says. */
typedef struct call {
    args_t args;
    int32_t *out; /* bases of the items */
    int32_t *in;
    int64_t n, chunk;     /* elements */
    int64_t lower, step;  /* out[lower + step * i] */
    int64_t in_length;    /* in[i : in_length] */
    kmm_mode_t mode;      /* of out */
    bool is_whole;        /* in[:] */
    int device, priority; /* device -1: any */
} call_t;

static void work(const kmm_chunk_t *chunk, void *args)
{
    const args_t *a = args;
    for (int64_t i = chunk->begin[0]; i < chunk->end[0]; i++)
        a->out[i] = a->in[i] + (int32_t)a->add;
    __atomic_fetch_add((int64_t *)(uintptr_t)a->calls, 1, __ATOMIC_RELAXED);
}

static int launch_at(const call_t *c, int line)
{
    kmm_launch_t *l = kmm_launch_begin("work", "memo.c", line);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, c->n);
    kmm_launch_chunk(l, KMM_RANGE_0, c->chunk);
    kmm_launch_priority(l, c->priority);
    if (c->device >= 0)
        kmm_launch_device(l, KMM_ON_DEVICE, c->device);
    kmm_launch_access(l, c->mode, "out[i]", c->out, sizeof(*c->out));
    kmm_launch_index(l, c->lower, 1);
    kmm_launch_coef(l, 0, c->step, 0);
    kmm_launch_access(l, KMM_READ, "in[i]", c->in, sizeof(*c->in));
    if (c->is_whole) {
        kmm_launch_index(l, 0, KMM_WHOLE);
    } else {
        kmm_launch_index(l, 0, c->in_length);
        kmm_launch_coef(l, 0, 1, 0);
    }
    return kmm_launch_call(l, work, &c->args, sizeof(c->args));
}

/* Most launches of this test have this place in the source. */
static int launch(const call_t *c)
{
    return launch_at(c, 1);
}

/* ---- Runtimes and values ---- */

static const char *const places[] = {"host", "host:1", "host:3,mem=1M"};
enum { PLACES = sizeof(places) / sizeof(*places) };

static int64_t calls;

static call_t call_of(int32_t *out, int32_t *in)
{
    return (call_t){.args = {out, in, 1, (int64_t)(uintptr_t)&calls},
                    .out = out,
                    .in = in,
                    .n = N,
                    .chunk = N,
                    .step = 1,
                    .in_length = 1,
                    .mode = KMM_WRITE,
                    .device = -1};
}

static int32_t *numbers(kmm_runtime_t *rt, int64_t n)
{
    int32_t *values = malloc((size_t)n * sizeof(*values));
    for (int64_t k = 0; k < n; k++)
        values[k] = (int32_t)k;
    int32_t *a = array_of(rt, n, values);
    free(values);
    return a;
}

static void expect_values(kmm_runtime_t *rt, const int32_t *a, int64_t n, int32_t add)
{
    int32_t *got = malloc((size_t)n * sizeof(*got));
    assert_int_equal(kmm_copy_out(rt, got, a, (size_t)n * sizeof(*got)), 0);
    for (int64_t k = 0; k < n; k++)
        if (got[k] != (int32_t)k + add)
            fail_msg("element %lld is %d", (long long)k, got[k]);
    free(got);
}

static uint64_t used(const kmm_runtime_t *rt)
{
    return rt->launches->memos_used;
}

/* Launches c until a memo is used for it. */
static void launch_until_known(kmm_runtime_t *rt, const call_t *c)
{
    uint64_t before = used(rt);
    for (int k = 0; k < SAME; k++) {
        if (launch(c))
            fail_msg("%s", kmm_error_text(rt));
        if (c->mode == KMM_READ) /* which is not true of `out`, so nothing orders the launches */
            assert_int_equal(kmm_wait(rt), 0);
    }
    assert_int_equal(kmm_wait(rt), 0);
    assert_true(used(rt) >= before + SAME - 2);
}

static void expect_refused(kmm_runtime_t *rt, const call_t *c, int error, const char *text)
{
    uint64_t before = used(rt);
    assert_int_equal(launch(c), error);
    if (!strstr(kmm_error_text(rt), text))
        fail_msg("it says: %s", kmm_error_text(rt));
    assert_int_equal(used(rt), before);
    kmm_wait(rt); /* a refused chunk's error is told again */
}

/* A runtime, two arrays, and a launch that has a memo. */
typedef struct known {
    kmm_runtime_t *rt;
    int32_t *out, *in;
    call_t call;
} known_t;

static known_t known_open(const char *devices)
{
    known_t k = {.rt = runtime_open(&(kmm_config_t){.devices = devices, .threads = 2})};
    k.out = numbers(k.rt, N);
    k.in = numbers(k.rt, N);
    k.call = call_of(k.out, k.in);
    launch_until_known(k.rt, &k.call);
    return k;
}

#define EACH_PLACE(k)                                                                              \
    for (int place = 0; place < PLACES; place++)                                                   \
        for (known_t k = known_open(places[place]); k.rt; runtime_close(k.rt), k.rt = NULL)

/* ---- What differs ---- */

/* A number that no clause uses may differ: the memo is used, and the kernel gets the number. */
static void a_number(void **state)
{
    (void)state;
    EACH_PLACE(k)
    {
        uint64_t before = used(k.rt);
        for (int add = 2; add < 20; add++) {
            k.call.args.add = add;
            assert_int_equal(launch(&k.call), 0);
            expect_values(k.rt, k.out, N, add);
        }
        k.call.args.add = -1;
        assert_int_equal(launch(&k.call), 0);
        expect_values(k.rt, k.out, N, -1);
        assert_int_equal(used(k.rt), before + 19);
    }
}

/* Two launches that take turns have a memo each, and each gets its own arrays. */
static void arrays_that_change_roles(void **state)
{
    (void)state;
    EACH_PLACE(k)
    {
        call_t back = call_of(k.in, k.out);
        for (int turn = 0; turn < 8; turn++) {
            assert_int_equal(launch(&k.call), 0);
            assert_int_equal(launch(&back), 0);
        }
        expect_values(k.rt, k.in, N, 16);
        assert_true(used(k.rt) >= SAME - 2 + 8 + 6);
    }
}

/* An argument points into an array that no clause names. */
static void an_argument(void **state)
{
    (void)state;
    EACH_PLACE(k)
    {
        int32_t *other = numbers(k.rt, N);
        launch_until_known(k.rt, &k.call);
        k.call.args.out = other;
        expect_refused(k.rt, &k.call, KMM_E_INVALID, "no access clause names");
        expect_values(k.rt, other, N, 0);
        k.call.args.out = k.out;
        k.call.args.add = (int64_t)(uintptr_t)(other + 7); /* a number that is an address now */
        expect_refused(k.rt, &k.call, KMM_E_INVALID, "no access clause names");
    }
}

/* A clause's index lets two chunks write the same elements. */
static void a_region(void **state)
{
    (void)state;
    EACH_PLACE(k)
    {
        k.call.chunk = N / 4;
        launch_until_known(k.rt, &k.call);
        k.call.step = 0;
        expect_refused(k.rt, &k.call, KMM_E_OVERLAP, "the same elements");
    }
}

static void the_chunks(void **state)
{
    (void)state;
    EACH_PLACE(k)
    {
        for (int64_t chunks = 1; chunks <= 8; chunks *= 2) {
            calls = 0;
            k.call.chunk = N / chunks;
            assert_int_equal(launch(&k.call), 0);
            assert_int_equal(kmm_wait(k.rt), 0);
            assert_int_equal(calls, chunks);
        }
        calls = 0;
        k.call.n = N / 2; /* and the range */
        k.call.chunk = N;
        k.call.args.add = 5;
        assert_int_equal(launch(&k.call), 0);
        expect_values(k.rt, k.out, N / 2, 5);
        assert_int_equal(calls, 1);
    }
}

static void the_device(void **state)
{
    (void)state;
    known_t k = known_open("host:3,mem=1M");
    for (int device = 2; device >= 0; device--) {
        uint64_t before = k.rt->device[device]->counters.chunks;
        k.call.device = device;
        k.call.args.add = device;
        assert_int_equal(launch(&k.call), 0);
        expect_values(k.rt, k.out, N, device);
        assert_int_equal(k.rt->device[device]->counters.chunks, before + 1);
    }
    k.call.device = 3;
    expect_refused(k.rt, &k.call, KMM_E_NO_DEVICE, "3 devices");
    runtime_close(k.rt);
}

/* A clause said that `out` is read; now it is written. */
static void the_mode(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++) {
        kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = places[place]});
        int32_t *out = numbers(rt, N);
        call_t c = call_of(out, numbers(rt, N));
        c.mode = KMM_READ;
        launch_until_known(rt, &c);
        c.mode = KMM_UPDATE;
        c.args.add = 3;
        assert_int_equal(launch(&c), 0);
        expect_values(rt, out, N, 3);
        runtime_close(rt);
    }
}

/* ---- Arrays and maps that end ---- */

static void a_freed_array(void **state)
{
    (void)state;
    EACH_PLACE(k)
    {
        k.call.is_whole = true;
        launch_until_known(k.rt, &k.call);
        assert_int_equal(kmm_array_destroy(k.rt, k.in), 0);
        expect_refused(k.rt, &k.call, KMM_E_ADDRESS, "it is no array");
    }
}

/* Arrays are freed and made again, most often at the same address, and smaller. */
static void an_array_made_again(void **state)
{
    (void)state;
    EACH_PLACE(k)
    {
        int same = 0;
        for (int turn = 0; turn < 10; turn++) {
            char *old = (char *)k.in;
            int64_t n = N / (turn % 3 + 1);
            assert_int_equal(kmm_array_destroy(k.rt, k.in), 0);
            k.in = numbers(k.rt, n);
            same += (char *)k.in == old;
            k.call = call_of(k.out, k.in);
            k.call.n = n;
            k.call.args.add = turn;
            launch_until_known(k.rt, &k.call);
            expect_values(k.rt, k.out, n, turn);
        }
        assert_true(same > 0);
    }
}

/* Memory is mapped, and mapped again: shorter, or such that nothing may be written. */
static void a_map(void **state)
{
    (void)state;
    static int32_t memory[N];
    EACH_PLACE(k)
    {
        call_t c = call_of(memory, k.in);
        assert_int_equal(kmm_map(k.rt, KMM_MAP_TOFROM, memory, sizeof(memory)), 0);
        launch_until_known(k.rt, &c);
        assert_int_equal(kmm_unmap(k.rt, memory), 0);
        assert_int_equal(kmm_map(k.rt, KMM_MAP_TOFROM, memory, sizeof(memory) / 2), 0);
        expect_refused(k.rt, &c, KMM_E_RANGE, "map all that the launch uses");
        assert_int_equal(kmm_unmap(k.rt, memory), 0);
        assert_int_equal(kmm_map(k.rt, KMM_MAP_TO, memory, sizeof(memory)), 0);
        expect_refused(k.rt, &c, KMM_E_INVALID, "mapped `to`");
        assert_int_equal(kmm_unmap(k.rt, memory), 0);
    }
}

/* A region that was in the mapped memory ends behind it. */
static void a_region_of_a_map(void **state)
{
    (void)state;
    static int32_t memory[N];
    EACH_PLACE(k)
    {
        call_t c = call_of(memory, k.in);
        assert_int_equal(kmm_map(k.rt, KMM_MAP_TOFROM, memory, sizeof(memory)), 0);
        launch_until_known(k.rt, &c);
        c.n = 2 * N;
        expect_refused(k.rt, &c, KMM_E_RANGE, "map all that the launch uses");
        assert_int_equal(kmm_unmap(k.rt, memory), 0);
    }
}

/* Without a `data` region, a launch's results are in memory when it returns; with one, at its end.
 */
static void a_data_region(void **state)
{
    (void)state;
    static int32_t memory[N];
    EACH_PLACE(k)
    {
        call_t c = call_of(memory, k.in);
        for (int turn = 0; turn < 3; turn++) {
            assert_int_equal(kmm_map(k.rt, KMM_MAP_TOFROM, memory, sizeof(memory)), 0);
            for (c.args.add = 0; c.args.add < 6; c.args.add++)
                assert_int_equal(launch(&c), 0);
            assert_int_equal(kmm_unmap(k.rt, memory), 0);
            assert_int_equal(memory[N - 1], N - 1 + 5);
            for (c.args.add = 10; c.args.add < 16; c.args.add++) {
                assert_int_equal(launch(&c), 0);
                assert_int_equal(memory[N - 1], N - 1 + c.args.add);
            }
        }
    }
}

/* ---- Without a pragma ---- */

/* ADD of fake_work.h without a pragma: the arguments alone tell which arrays it uses. */
static void launch_add(kmm_runtime_t *rt, int32_t *to, int32_t *a, int32_t *b)
{
    int64_t n = N;
    void *args[] = {NULL, &n, &to, &a, &b};
    kmm_geometry_t g = {{N / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    if (kmm_launch_kernel(&cuda_kernels[ADD], &g, args))
        fail_msg("%s", kmm_error_text(rt));
}

/* Arrays change roles, and one is freed and made again with other values. */
static void launches_without_a_pragma(void **state)
{
    (void)state;
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = "cuda:1,mem=1M"});
    int32_t *x = numbers(rt, N), *y = numbers(rt, N), *one = NULL, *two = numbers(rt, N);
    static int32_t ones[N], got[N];
    int32_t want = 0;
    for (int turn = 1; turn < 30; turn++) {
        if (turn % 10 == 1) {
            if (one)
                assert_int_equal(kmm_array_destroy(rt, one), 0);
            for (int k = 0; k < N; k++)
                ones[k] = turn;
            one = array_of(rt, N, ones);
        }
        launch_add(rt, y, x, one); /* y = x + one, x = y + one */
        launch_add(rt, x, y, one);
        launch_add(rt, two, two, one);
        want += turn - (turn - 1) % 10;
    }
    assert_true(used(rt) > 40);
    assert_int_equal(kmm_copy_out(rt, got, x, sizeof(got)), 0);
    for (int k = 0; k < N; k++)
        assert_int_equal(got[k], k + 2 * want);
    assert_int_equal(kmm_copy_out(rt, got, two, sizeof(got)), 0);
    for (int k = 0; k < N; k++)
        assert_int_equal(got[k], k + want);
    runtime_close(rt);
}

/* A reduction makes and frees an array of its own. That ends no memo. */
static void launches_beside_reductions(void **state)
{
    (void)state;
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = "cuda:1,mem=1M"});
    int32_t *to = numbers(rt, N), *a = numbers(rt, N), *b = numbers(rt, N), *sum = numbers(rt, 1);
    int32_t got = 0, want = 0;
    for (int turn = 0; turn < 10; turn++) {
        assert_int_equal(fake_work_launch(KMM_KIND_CUDA, ADD, N, 1, to, a, b), 0);
        assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SUM, N, 4, sum, to, NULL), 0);
        want += N * (N - 1);
    }
    assert_int_equal(kmm_copy_out(rt, &got, sum, sizeof(got)), 0);
    assert_int_equal(got, want);
    assert_int_equal(used(rt), 8);
    runtime_close(rt);
}

/* Where each access is checked, each launch is. */
static void checked_accesses(void **state)
{
    (void)state;
    setenv("KMM_CHECK", "access", 1);
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = "host"});
    call_t c = call_of(numbers(rt, N), numbers(rt, N));
    for (int k = 0; k < SAME; k++)
        assert_int_equal(launch(&c), 0);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(used(rt), 0);
    c.chunk = N / 2;
    c.args.out++; /* the clause says out[i], the chunks write out[i + 1] */
    c.n = N - 2;
    launch(&c);
    assert_int_not_equal(kmm_wait(rt), 0);
    kmm_use(NULL);
    kmm_destroy(rt);
    unsetenv("KMM_CHECK");
    kmm__exit_forget(); /* the violation that the test is about */
}

/* A launch of which each differs costs memos for a while only. */
static void launches_that_never_repeat(void **state)
{
    (void)state;
    EACH_PLACE(k)
    {
        uint64_t before = used(k.rt);
        for (int turn = 0; turn < 100; turn++) {
            k.call.in_length = turn % 50 + 2;
            assert_int_equal(launch(&k.call), 0);
        }
        k.call.in_length = 1;
        k.call.args.add = 9;
        assert_int_equal(launch(&k.call), 0);
        expect_values(k.rt, k.out, N, 9);
        assert_true(used(k.rt) <= before + 1);
    }
}

/* Up to four launches that take turns keep their memos, whatever their hashes are. The test tries
 * 300 sets of four places, of which some fall together where a place in the table holds one memo.
 */
static void launches_that_take_turns(void **state)
{
    (void)state;
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = "host"});
    enum { SETS = 300, TURNS = 4, PLACES_OF_A_SET = 4 };
    call_t c = call_of(numbers(rt, N), numbers(rt, N));
    for (int set = 0; set < SETS; set++) {
        uint64_t before = used(rt);
        for (int k = 0; k < TURNS * PLACES_OF_A_SET; k++) {
            assert_int_equal(launch_at(&c, 10 + set * PLACES_OF_A_SET + k % PLACES_OF_A_SET), 0);
            assert_int_equal(kmm_wait(rt), 0);
        }
        assert_int_equal(used(rt) - before, (TURNS - 2) * PLACES_OF_A_SET);
    }
    runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number),
        cmocka_unit_test(arrays_that_change_roles),
        cmocka_unit_test(an_argument),
        cmocka_unit_test(a_region),
        cmocka_unit_test(the_chunks),
        cmocka_unit_test(the_device),
        cmocka_unit_test(the_mode),
        cmocka_unit_test(a_freed_array),
        cmocka_unit_test(an_array_made_again),
        cmocka_unit_test(a_map),
        cmocka_unit_test(a_region_of_a_map),
        cmocka_unit_test(a_data_region),
        cmocka_unit_test(launches_without_a_pragma),
        cmocka_unit_test(launches_beside_reductions),
        cmocka_unit_test(checked_accesses),
        cmocka_unit_test(launches_that_never_repeat),
        cmocka_unit_test(launches_that_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
