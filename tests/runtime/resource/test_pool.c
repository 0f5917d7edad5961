/* SPDX-License-Identifier: Apache-2.0 */
/* The pool on made-up memory and streams. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fake_memory.h"
#include "random_program.h"
#include "resource/index.h"
#include "resource/pool_check.h"

static const size_t KIB = 1024, MIB = 1024 * 1024;

typedef struct fixture {
    fake_memory_t memory;
    kmm_resource_t *source, *pool;
} fixture_t;

static void begin(fixture_t *f, size_t memory, kmm_pool_options_t options)
{
    fake_memory_init(&f->memory, memory);
    f->source = fake_memory_resource(&f->memory, &f->memory.streams.order);
    assert_int_equal(kmm_pool_resource_create(f->source, &options, &f->pool), 0);
}

static void finish(fixture_t *f)
{
    assert_true(kmm__pool_is_valid(f->pool));
    assert_int_equal(kmm_resource_destroy(f->pool), 0);
    assert_int_equal(kmm_resource_destroy(f->source), 0);
    assert_null(f->memory.wrong);
    assert_int_equal(f->memory.held_bytes, 0);
    assert_int_equal(f->memory.streams.events, 0);
    fake_memory_deinit(&f->memory);
}

static void *get(fixture_t *f, size_t bytes, int stream)
{
    void *p;
    assert_int_equal(kmm_resource_allocate(f->pool, bytes, 0, fake_stream(stream), &p), 0);
    const char *wrong = fake_memory_begin(&f->memory, p, bytes, stream);
    if (wrong)
        fail_msg("%s", wrong);
    return p;
}

static void put(fixture_t *f, void *p, size_t bytes, int stream)
{
    assert_null(fake_memory_end(&f->memory, p, bytes));
    assert_int_equal(kmm_resource_deallocate(f->pool, p, bytes, fake_stream(stream)), 0);
}

static kmm_resource_usage_t usage(fixture_t *f)
{
    kmm_resource_usage_t u;
    assert_int_equal(kmm_resource_usage(f->pool, &u), 0);
    return u;
}

static void memory_of_one_stream_is_reused_without_events(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 4 * MIB, (kmm_pool_options_t){.initial_bytes = MIB});
    for (int i = 0; i < 1000; i++)
        put(&f, get(&f, (size_t)(i * 37 % 500 + 1) * KIB, 1), (size_t)(i * 37 % 500 + 1) * KIB, 1);
    assert_int_equal(usage(&f).held_bytes, MIB);
    assert_int_equal(f.memory.streams.records,
                     1); /* the first: whether the initial memory is ready */
    assert_int_equal(f.memory.streams.waits, 0);
    finish(&f);
}

static void a_full_pool_makes_another_stream_wait_once(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, MIB, (kmm_pool_options_t){.initial_bytes = MIB, .maximum_bytes = MIB});
    fake_complete_all(&f.memory.streams);
    void *a[8];
    for (int i = 0; i < 8; i++)
        a[i] = get(&f, 128 * KIB, 1);
    for (int i = 0; i < 8; i++)
        put(&f, a[i], 128 * KIB, 1);
    int records = f.memory.streams.records;
    for (int i = 0; i < 8; i++)
        a[i] = get(&f, 128 * KIB, 2); /* get checks that the wait was there */
    assert_int_equal(f.memory.streams.waits, 1);
    assert_int_equal(f.memory.streams.records - records, 1);
    for (int i = 0; i < 8; i++)
        put(&f, a[i], 128 * KIB, 2);
    finish(&f);
}

static void streams_stay_independent_while_there_is_memory(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 16 * MIB, (kmm_pool_options_t){.initial_bytes = 8 * MIB});
    for (int i = 0; i < 200; i++) {
        int s = 1 + i % 4;
        void *p = get(&f, MIB, s); /* too large for the cache */
        put(&f, p, MIB, s);
    }
    assert_int_equal(f.memory.streams.waits, 0);
    finish(&f);
}

static void completed_work_is_noticed_without_waiting(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, MIB, (kmm_pool_options_t){.initial_bytes = MIB, .maximum_bytes = MIB});
    void *p = get(&f, MIB, 1);
    put(&f, p, MIB, 1);
    fake_complete_all(&f.memory.streams);
    p = get(&f, MIB, 2);
    assert_int_equal(f.memory.streams.waits, 0);
    put(&f, p, MIB, 2);
    finish(&f);
}

/* Stream 1's work is unfinished, stream 2's is done. Stream 2 asks for more than the free memory of
 * both, in vain. A pool that merges the lists of 1 and 2 on the way then takes stream 1's memory
 * for stream 2's, and gives it to stream 3 because stream 2 has finished. */
static void merging_for_a_request_that_fails_loses_no_tag(void **state)
{
    (void)state;
    for (int reuse = 0; reuse < 2; reuse++) {
        fixture_t f;
        begin(&f, 4 * MIB,
              (kmm_pool_options_t){.initial_bytes = 4 * MIB,
                                   .maximum_bytes = 4 * MIB,
                                   .cache_bytes = SIZE_MAX,
                                   .reuse = (kmm_pool_reuse_t)reuse});
        void *a = get(&f, MIB, 1), *b = get(&f, MIB, 2), *rest = get(&f, 2 * MIB, 3);
        uint64_t work_of_2 = f.memory.streams.clock[2][2];
        put(&f, a, MIB, 1);
        put(&f, b, MIB, 2);
        fake_complete(&f.memory.streams, 2, work_of_2);
        void *none;
        assert_int_equal(kmm_resource_allocate(f.pool, 3 * MIB, 0, fake_stream(2), &none),
                         KMM_E_MEMORY);
        fake_complete(&f.memory.streams, 2, f.memory.streams.clock[2][2]);
        a = get(&f, MIB, 3); /* checks both: each must be safe */
        b = get(&f, MIB, 3);
        put(&f, a, MIB, 3);
        put(&f, b, MIB, 3);
        put(&f, rest, 2 * MIB, 3);
        finish(&f);
    }
}

static void neighbours_of_two_streams_are_joined_when_nothing_else_fits(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 2 * MIB, (kmm_pool_options_t){.initial_bytes = 2 * MIB, .maximum_bytes = 2 * MIB});
    void *a = get(&f, MIB, 1), *b = get(&f, MIB, 2);
    put(&f, a, MIB, 1);
    put(&f, b, MIB, 2);
    void *both = get(&f, 2 * MIB, 3);
    assert_int_equal(f.memory.streams.waits, 2);
    put(&f, both, 2 * MIB, 3);
    a = get(&f, MIB, 4); /* waits for stream 3, which waited for 1 and 2 */
    put(&f, a, MIB, 4);
    finish(&f);
}

static void memory_of_a_stream_that_ended_is_still_ordered(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, MIB, (kmm_pool_options_t){.initial_bytes = MIB, .maximum_bytes = MIB});
    void *p = get(&f, MIB, 1);
    put(&f, p, MIB, 1);
    assert_int_equal(kmm_resource_stream_end(f.pool, fake_stream(1)), 0);
    int records = f.memory.streams.records;
    /* The handle serves a new stream, which has not been ordered after the old one's work: stream 5
     * stands for it in the model. */
    p = get(&f, MIB, 5);
    assert_int_equal(f.memory.streams.records, records);
    put(&f, p, MIB, 5);
    finish(&f);
}

static kmm_resource_t *waited_for;

/* Cannot wait; meanwhile another thread comes with a new stream. */
static int fail_to_wait(void *context, void *event)
{
    (void)context, (void)event;
    kmm_resource_deallocate(waited_for, &waited_for, 1, fake_stream(3));
    return KMM_E_DEVICE;
}

/* While a region is on its way back, its blocks are on no shelf, and the stream that freed them
 * seems to have none. */
static void a_new_stream_gets_no_memory_of_one_that_ended_for_its_own(void **state)
{
    (void)state;
    fixture_t f;
    fake_memory_init(&f.memory, MIB);
    kmm_stream_order_t order = f.memory.streams.order;
    order.event_wait = fail_to_wait;
    f.source = fake_memory_resource(&f.memory, &order);
    const kmm_pool_options_t o = {.initial_bytes = MIB, .maximum_bytes = MIB};
    assert_int_equal(kmm_pool_resource_create(f.source, &o, &f.pool), 0);
    waited_for = f.pool;
    void *p = get(&f, MIB, 1);
    put(&f, p, MIB, 1);
    assert_int_equal(kmm_resource_stream_end(f.pool, fake_stream(1)), 0);
    assert_int_equal(kmm_resource_trim(f.pool, 0), KMM_E_DEVICE);
    p = get(&f, MIB, 3);
    assert_int_equal(f.memory.streams.waits, 1);
    put(&f, p, MIB, 3);
    fake_complete_all(&f.memory.streams);
    finish(&f);
}

static void wrong_frees_are_reported_and_change_nothing(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 4 * MIB, (kmm_pool_options_t){0});
    void *p = get(&f, 1000, 1);
    assert_int_equal(kmm_resource_deallocate(f.pool, p, 999, fake_stream(1)), KMM_E_INVALID);
    assert_non_null(strstr(kmm_resource_error_text(), "1000"));
    assert_int_equal(kmm_resource_deallocate(f.pool, (char *)p + 256, 1000, fake_stream(1)),
                     KMM_E_ADDRESS);
    assert_int_equal(kmm_resource_deallocate(f.pool, &f, 1000, fake_stream(1)), KMM_E_ADDRESS);
    size_t bytes;
    assert_int_equal(kmm_resource_size(f.pool, p, &bytes), 0);
    assert_int_equal(bytes, 1000);
    assert_int_equal(usage(&f).live_count, 1);
    put(&f, p, 1000, 1);
    assert_int_equal(kmm_resource_deallocate(f.pool, p, 1000, fake_stream(1)), KMM_E_ADDRESS);
    assert_int_equal(kmm_resource_size(f.pool, p, &bytes), KMM_E_ADDRESS);
    assert_int_equal(kmm_resource_deallocate(f.pool, NULL, 7, fake_stream(1)), KMM_E_INVALID);
    assert_int_equal(kmm_resource_deallocate(f.pool, NULL, 0, fake_stream(1)), 0);
    finish(&f);
}

static void sizes_and_limits(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 8 * MIB, (kmm_pool_options_t){.maximum_bytes = 3 * MIB});
    void *p = &f;
    assert_int_equal(kmm_resource_allocate(f.pool, 0, 0, NULL, &p), 0);
    assert_null(p);
    assert_int_equal(kmm_resource_allocate(f.pool, 3 * MIB + 1, 0, NULL, &p), KMM_E_MEMORY);
    assert_int_equal(kmm_resource_allocate(f.pool, SIZE_MAX, 0, NULL, &p), KMM_E_MEMORY);
    assert_int_equal(kmm_resource_allocate(f.pool, PTRDIFF_MAX, 0, NULL, &p), KMM_E_MEMORY);
    assert_int_equal(kmm_resource_allocate(f.pool, 1, 3, NULL, &p), KMM_E_INVALID);
    p = get(&f, 3 * MIB, 1);
    assert_int_equal(usage(&f).held_bytes, 3 * MIB);
    put(&f, p, 3 * MIB, 1);
    assert_int_equal(kmm_resource_trim(f.pool, 0), 0);
    assert_int_equal(usage(&f).held_bytes, 0);
    for (size_t alignment = 1; alignment <= 64 * KIB; alignment *= 2) {
        assert_int_equal(kmm_resource_allocate(f.pool, 777, alignment, fake_stream(1), &p), 0);
        assert_int_equal((uintptr_t)p % alignment, 0);
        assert_int_equal(kmm_resource_deallocate(f.pool, p, KMM_SIZE_RECORDED, fake_stream(1)), 0);
    }
    size_t available, total;
    assert_int_equal(kmm_resource_memory_info(f.pool, &available, &total), 0);
    assert_int_equal(available, 3 * MIB);
    finish(&f);
}

static void allocate_inside(void *context)
{
    fixture_t *f = context;
    f->memory.on_allocate = NULL;
    void *p = get(f, KIB, 2);
    put(f, p, KIB, 2);
    (void)usage(f);
}

static void upstream_is_called_outside_the_lock(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 8 * MIB, (kmm_pool_options_t){.initial_bytes = MIB});
    f.memory.on_allocate = allocate_inside; /* would hang, were the lock held */
    f.memory.on_allocate_context = &f;
    void *p = get(&f, 2 * MIB, 1);
    assert_null(f.memory.on_allocate);
    put(&f, p, 2 * MIB, 1);
    finish(&f);
}

static void memory_goes_back_when_another_pool_needs_it(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 4 * MIB, (kmm_pool_options_t){0});
    void *p = get(&f, 3 * MIB, 1);
    put(&f, p, 3 * MIB, 1);
    kmm_resource_t *other;
    assert_int_equal(kmm_pool_resource_create(f.source, NULL, &other), 0);
    void *q;
    assert_int_equal(kmm_resource_allocate(other, 3 * MIB, 0, fake_stream(2), &q), 0);
    assert_int_equal(usage(&f).held_bytes, 0);
    assert_int_equal(kmm_resource_deallocate(other, q, 3 * MIB, fake_stream(2)), 0);
    assert_int_equal(kmm_resource_destroy(other), 0);
    finish(&f);
}

/* ---- Streams of threads ---- */

enum { PER_THREAD = 2 }; /* the handle of each thread's own default stream */

/* Counts what is recorded where; work is over when it has been waited for. */
typedef struct thread_streams {
    uint64_t owner; /* of the memory that is freed */
    int own, default_one, others_own;
} thread_streams_t;

static int counted_create(void *context, void **event)
{
    return *event = context, 0;
}
static void counted_destroy(void *context, void *event)
{
    (void)context, (void)event;
}
static int counted_record(void *context, void *event, kmm_stream_t stream)
{
    thread_streams_t *t = context;
    (void)event;
    t->default_one += stream == NULL;
    t->own += stream == (kmm_stream_t)PER_THREAD && kmm__thread_number() == t->owner;
    t->others_own += stream == (kmm_stream_t)PER_THREAD && kmm__thread_number() != t->owner;
    return 0;
}
static int counted_wait(void *context, kmm_stream_t stream, void *event)
{
    return (void)context, (void)stream, (void)event, 0;
}
static int counted_query(void *context, void *event)
{
    return (void)context, (void)event, 0;
}
static int counted_block(void *context, void *event)
{
    return (void)context, (void)event, 0;
}

static int paper_allocate(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    static uintptr_t next = (uintptr_t)1 << 40;
    (void)context, (void)stream;
    *out = (void *)next;
    next += kmm__round_up(bytes, 4096) + 4096;
    return 0;
}
static int paper_deallocate(void *context, void *p, size_t bytes, kmm_stream_t stream)
{
    return (void)context, (void)p, (void)bytes, (void)stream, 0;
}

typedef struct thread_work {
    kmm_resource_t *pool;
    thread_streams_t *streams;
} thread_work_t;

static void *use_and_free(void *argument)
{
    const thread_work_t *w = argument;
    void *p;
    w->streams->owner = kmm__thread_number();
    if (kmm_resource_allocate(w->pool, MIB, 0, (kmm_stream_t)PER_THREAD, &p))
        return "it could not be allocated";
    return kmm_resource_deallocate(w->pool, p, MIB, (kmm_stream_t)PER_THREAD)
               ? "it could not be freed"
               : NULL;
}

/* One handle names another stream in each thread: an event recorded on it by who wants the memory
 * says nothing of the thread that freed it. */
static void memory_of_another_threads_own_stream_is_awaited(void **state)
{
    (void)state;
    thread_streams_t streams = {0};
    const kmm_stream_order_t order = {&streams,     counted_create, counted_destroy, counted_record,
                                      counted_wait, counted_query,  counted_block};
    const kmm_callback_options_t options = {.allocate = paper_allocate,
                                            .deallocate = paper_deallocate,
                                            .kind = KMM_MEMORY_DEVICE,
                                            .order = &order};
    kmm_resource_t *source, *pool;
    pthread_t thread;
    void *wrong, *p;
    assert_int_equal(kmm_callback_resource_create(&options, &source), 0);
    const kmm_pool_options_t limits = {.initial_bytes = MIB, .maximum_bytes = MIB};
    assert_int_equal(kmm_pool_resource_create(source, &limits, &pool), 0);
    thread_work_t work = {pool, &streams};
    assert_int_equal(pthread_create(&thread, NULL, use_and_free, &work), 0);
    pthread_join(thread, &wrong);
    assert_null(wrong);
    const int before = streams.default_one;
    assert_int_equal(kmm_resource_allocate(pool, MIB, 0, (kmm_stream_t)PER_THREAD, &p),
                     0); /* ours: it waits for theirs */
    assert_int_equal(streams.others_own, 0);
    assert_true(streams.default_one > before);
    assert_int_equal(kmm_resource_deallocate(pool, p, MIB, (kmm_stream_t)PER_THREAD), 0);
    streams.owner = kmm__thread_number();
    assert_int_equal(kmm_resource_allocate(pool, MIB, 0, fake_stream(3), &p), 0);
    assert_true(streams.own > 0); /* ours can be named */
    assert_int_equal(kmm_resource_deallocate(pool, p, MIB, fake_stream(3)), 0);
    assert_int_equal(kmm_resource_destroy(pool), 0);
    assert_int_equal(kmm_resource_destroy(source), 0);
}

/* ---- Limits and failures ---- */

static void an_initial_size_that_is_the_maximum_holds_to_it(void **state)
{
    (void)state;
    for (size_t most = MIB - 3; most <= MIB + 3; most++) {
        fixture_t f;
        void *p;
        begin(&f, 16 * MIB, (kmm_pool_options_t){.initial_bytes = most, .maximum_bytes = most});
        assert_true(usage(&f).held_bytes <= most);
        assert_int_equal(kmm_resource_allocate(f.pool, 2 * MIB, 0, NULL, &p), KMM_E_MEMORY);
        p = get(&f, MIB - 256, 1);
        put(&f, p, MIB - 256, 1);
        finish(&f);
    }
    fixture_t f;
    void *p;
    begin(
        &f, MIB,
        (kmm_pool_options_t){.initial_bytes = 100, .maximum_bytes = 100}); /* less than any block */
    assert_int_equal(kmm_resource_allocate(f.pool, 1, 0, NULL, &p), KMM_E_MEMORY);
    finish(&f);
}

static int lost_status;
static int lost_allocate(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    return lost_status ? lost_status : paper_allocate(context, bytes, stream, out);
}

/* Who frees memory and tries again would do so for ever. */
static void a_lost_device_is_not_out_of_memory(void **state)
{
    (void)state;
    const kmm_callback_options_t options = {
        .allocate = lost_allocate, .deallocate = paper_deallocate, .kind = KMM_MEMORY_DEVICE};
    kmm_resource_t *source, *pool;
    void *p;
    assert_int_equal(kmm_callback_resource_create(&options, &source), 0);
    assert_int_equal(kmm_pool_resource_create(source, NULL, &pool), 0);
    lost_status = KMM_E_DEVICE;
    assert_int_equal(kmm_resource_allocate(pool, MIB, 0, NULL, &p), KMM_E_DEVICE);
    assert_non_null(strstr(kmm_resource_error_text(), kmm_error_string(KMM_E_DEVICE)));
    lost_status = KMM_E_MEMORY;
    assert_int_equal(kmm_resource_allocate(pool, MIB, 0, NULL, &p), KMM_E_MEMORY);
    lost_status = 0;
    assert_int_equal(kmm_resource_allocate(pool, MIB, 0, NULL, &p), 0);
    assert_int_equal(kmm_resource_deallocate(pool, p, MIB, NULL), 0);
    assert_int_equal(kmm_resource_destroy(pool), 0);
    assert_int_equal(kmm_resource_destroy(source), 0);
}

/* Two threads run out together: one holds a lock that the other needs to give memory back. */
typedef struct crossing {
    kmm_resource_t *below, *locked, *above, *beside;
    _Atomic bool exhausted, holds_lock,
        gives_back; /* upstream has no more; the first thread has the lock; the second needs it */
} crossing_t;
static _Thread_local bool is_first;

static int crossing_allocate(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    crossing_t *c = context;
    if (!c->exhausted)
        return paper_allocate(context, bytes, stream, out);
    if (is_first)
        for (c->holds_lock = true; !c->gives_back;)
            sched_yield();
    return KMM_E_MEMORY;
}

static int gate_allocate(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    return kmm_resource_allocate(((crossing_t *)context)->locked, bytes, 0, stream, out);
}

static int gate_deallocate(void *context, void *p, size_t bytes, kmm_stream_t stream)
{
    crossing_t *c = context;
    c->gives_back = true;
    return kmm_resource_deallocate(c->locked, p, bytes, stream);
}

static void *run_out_first(void *argument)
{
    void *p;
    is_first = true;
    return kmm_resource_allocate(((crossing_t *)argument)->locked, 64 * MIB, 0, NULL, &p) ==
                   KMM_E_MEMORY
               ? NULL
               : "there was memory";
}

static void *run_out_second(void *argument)
{
    crossing_t *c = argument;
    void *p;
    while (!c->holds_lock)
        sched_yield();
    return kmm_resource_allocate(c->beside, 64 * MIB, 0, NULL, &p) == KMM_E_MEMORY
               ? NULL
               : "there was memory";
}

static void threads_that_run_out_together_do_not_block_each_other(void **state)
{
    (void)state;
    crossing_t c = {.exhausted = false};
    const kmm_callback_options_t source_options = {.context = &c,
                                                   .allocate = crossing_allocate,
                                                   .deallocate = paper_deallocate,
                                                   .kind = KMM_MEMORY_DEVICE};
    const kmm_callback_options_t gate_options = {.context = &c,
                                                 .allocate = gate_allocate,
                                                 .deallocate = gate_deallocate,
                                                 .kind = KMM_MEMORY_DEVICE};
    kmm_resource_t *source, *gate;
    pthread_t threads[2];
    void *p, *wrong;
    assert_int_equal(kmm_callback_resource_create(&source_options, &source), 0);
    assert_int_equal(kmm_pool_resource_create(source, NULL, &c.below), 0);
    assert_int_equal(kmm_thread_safe_resource_create(c.below, &c.locked), 0);
    assert_int_equal(kmm_callback_resource_create(&gate_options, &gate), 0);
    assert_int_equal(kmm_pool_resource_create(gate, NULL, &c.above), 0);
    assert_int_equal(kmm_pool_resource_create(source, NULL, &c.beside), 0);
    assert_int_equal(kmm_resource_allocate(c.above, MIB, 0, NULL, &p), 0);
    assert_int_equal(kmm_resource_deallocate(c.above, p, MIB, NULL),
                     0); /* which it could give back */
    c.exhausted = true;
    assert_int_equal(pthread_create(&threads[0], NULL, run_out_first, &c), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, run_out_second, &c), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(kmm_resource_destroy(c.beside), 0);
    assert_int_equal(kmm_resource_destroy(c.above), 0);
    assert_int_equal(kmm_resource_destroy(gate), 0);
    assert_int_equal(kmm_resource_destroy(c.locked), 0);
    assert_int_equal(kmm_resource_destroy(c.below), 0);
    assert_int_equal(kmm_resource_destroy(source), 0);
}

static void a_failing_driver_costs_memory_and_not_safety(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, MIB, (kmm_pool_options_t){.initial_bytes = MIB, .maximum_bytes = MIB});
    fake_complete_all(&f.memory.streams);
    void *p = get(&f, MIB, 1), *q;
    put(&f, p, MIB, 1);
    f.memory.streams.fail_records = 1000;
    assert_int_equal(kmm_resource_allocate(f.pool, MIB, 0, fake_stream(2), &q), KMM_E_MEMORY);
    p = get(&f, MIB, 1); /* the stream itself needs no event */
    put(&f, p, MIB, 1);
    f.memory.streams.fail_records = 0;
    p = get(&f, MIB, 2);
    put(&f, p, MIB, 2);
    finish(&f);
}

static void leaks_are_reported(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, MIB, (kmm_pool_options_t){0});
    void *p;
    assert_int_equal(kmm_resource_allocate(f.pool, 5, 0, NULL, &p), 0);
    assert_int_equal(kmm_resource_destroy(f.pool), KMM_E_STATE);
    assert_int_equal(kmm_resource_destroy(f.source), 0);
    assert_int_equal(f.memory.held_bytes, 0);
    fake_memory_deinit(&f.memory);
}

/* ---- Streams that meet at the pool's lock ---- */

static size_t shelved(fixture_t *f)
{
    return ((kmm__pool_t *)f->pool)->shelved;
}

static kmm__pool_stream_t *stream_of(fixture_t *f, int stream)
{
    return (kmm__pool_stream_t *)kmm__timeline_of(&((kmm__pool_t *)f->pool)->timelines,
                                                  fake_stream(stream));
}

/* Takes the pool's lock for stream 1, twice each time: so much is not cached. */
static void take_lock(fixture_t *f, int times)
{
    for (int i = 0; i < times; i++)
        put(f, get(f, 4 * MIB, 1), 4 * MIB, 1);
}

static void *take_lock_once(void *fixture)
{
    take_lock(fixture, 1);
    return NULL;
}

/* A thread finds the lock taken, and sleeps before it is dropped. */
static void meet_at_lock(fixture_t *f)
{
    kmm__pool_t *p = (kmm__pool_t *)f->pool;
    pthread_t other;
    kmm__lock_take(&p->lock);
    assert_int_equal(pthread_create(&other, NULL, take_lock_once, f), 0);
    while (atomic_load(&p->lock.sleepers) == 0)
        sched_yield();
    kmm__lock_drop(&p->lock);
    pthread_join(other, NULL);
}

/* Bytes that reach the shelves when a block is freed that is for an eager stream's cache alone. */
static size_t shelved_by_free(fixture_t *f)
{
    void *p = get(f, 512 * KIB, 1);
    const size_t before = shelved(f);
    put(f, p, 512 * KIB, 1);
    return shelved(f) - before;
}

static void a_stream_that_waits_for_the_lock_caches_more_for_a_while(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 64 * MIB, (kmm_pool_options_t){.initial_bytes = 64 * MIB});
    fake_complete_all(&f.memory.streams);
    put(&f, get(&f, 48 * MIB, 1), 48 * MIB, 1); /* how much is cached follows the extent */
    kmm__pool_stream_t *s = stream_of(&f, 1);
    assert_int_equal(shelved_by_free(&f), 512 * KIB);
    meet_at_lock(&f);
    assert_true(s->eager > 0);
    assert_int_equal(shelved_by_free(&f), 0);
    put(&f, get(&f, 8 * KIB, 1), 8 * KIB, 1); /* what was freed before is filed now */
    const size_t before = shelved(&f);
    void *p =
        get(&f, 448 * KIB, 1); /* from the cache too, though there it is larger than asked for */
    assert_int_equal(shelved(&f), before);
    put(&f, p, 448 * KIB, 1);
    ((kmm__pool_t *)f.pool)->locker =
        kmm__thread_number() + 1; /* another thread had the lock: it lasts on */
    s->eager = 1;
    take_lock(&f, 1);
    assert_true(s->eager > 1);
    take_lock(&f, 150);
    assert_int_equal(s->eager, 0);
    assert_int_equal(shelved_by_free(&f), 512 * KIB);
    assert_int_equal(kmm_resource_stream_end(f.pool, fake_stream(1)), 0);
    finish(&f);
}

static void a_pool_without_a_cache_shelves_everything(void **state)
{
    (void)state;
    fixture_t f;
    begin(&f, 4 * MIB, (kmm_pool_options_t){.initial_bytes = 4 * MIB, .cache_bytes = SIZE_MAX});
    for (size_t bytes = 1; bytes <= MIB; bytes *= 4)
        put(&f, get(&f, bytes, 1), bytes, 1);
    assert_int_equal(shelved(&f), 4 * MIB);
    finish(&f);
}

/* The page of the block's descriptor, which threads that use the stream write to. */
static uintptr_t page_of(fixture_t *f, const void *p)
{
    return (uintptr_t)kmm__heap_find((kmm__pool_t *)f->pool, p, KMM_SIZE_RECORDED) / 4096;
}

/* Blocks lie in memory one after the other, whoever has them; and a quarter where one of the other
 * stream was, of just the size. */
static void what_threads_write_to_lies_in_pages_of_their_streams(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    fixture_t f;
    void *p[COUNT];
    size_t bytes[COUNT];
    int stream[COUNT];
    begin(
        &f, MIB,
        (kmm_pool_options_t){.initial_bytes = MIB, .maximum_bytes = MIB, .cache_bytes = SIZE_MAX});
    for (int i = 0; i < COUNT; i++)
        p[i] = get(&f, bytes[i] = KIB * (size_t)(1 + i % 5), stream[i] = 1 + i % 2);
    for (int i = 0; i < COUNT; i += 4)
        put(&f, p[i], bytes[i], stream[i]);
    fake_complete_all(&f.memory.streams);
    const size_t before = usage(&f).extent_bytes;
    for (int i = 0; i < COUNT; i += 4)
        p[i] = get(&f, bytes[i], stream[i] = 2);
    assert_int_equal(usage(&f).extent_bytes, before);
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < i; k++)
            assert_true(stream[i] == stream[k] || page_of(&f, p[i]) != page_of(&f, p[k]));
    for (int i = 0; i < COUNT; i++)
        put(&f, p[i], bytes[i], stream[i]);
    finish(&f);
}

/* ---- Random programs against the model ---- */

/* As if every stream had met others at the pool's lock, and so caches more. */
static void make_eager(fixture_t *f)
{
    kmm__pool_t *p = (kmm__pool_t *)f->pool;
    p->locker = kmm__thread_number();
    for (int i = 0; i < FAKE_STREAMS; i++) {
        kmm__pool_stream_t *s =
            (kmm__pool_stream_t *)kmm__timeline_of(&p->timelines, fake_stream(i));
        assert_non_null(s);
        s->eager = 1 << 30;
    }
}

typedef enum { EAGER_NO, EAGER_YES } eager_t;

static void random_options(uint64_t seed, kmm_pool_options_t options, eager_t eager)
{
    fixture_t f;
    begin(&f, 3 * MIB, options);
    if (eager)
        make_eager(&f);
    const random_program_t program = {f.pool,   &f.memory,         seed, 20000, 256 * KIB,
                                      16 * KIB, kmm__pool_is_valid};
    const char *wrong = random_program(&program);
    if (wrong)
        fail_msg("%s", wrong);
    assert_int_equal(kmm_resource_trim(f.pool, 0), 0);
    assert_int_equal(f.memory.held_bytes, 0);
    finish(&f);
}

static void random_programs_hold_to_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        random_options(seed * 7919, (kmm_pool_options_t){.growth_bytes = 512 * KIB}, EAGER_NO);
        random_options(seed * 104729,
                       (kmm_pool_options_t){.initial_bytes = 2 * MIB, .maximum_bytes = 2 * MIB},
                       EAGER_NO);
        random_options(seed * 31,
                       (kmm_pool_options_t){.cache_bytes = SIZE_MAX, .reuse = KMM_REUSE_WAIT_FIRST},
                       EAGER_NO);
        random_options(seed * 17,
                       (kmm_pool_options_t){.cache_bytes = 256 * KIB, .growth_bytes = 64 * KIB},
                       EAGER_NO);
        random_options(seed * 613,
                       (kmm_pool_options_t){.initial_bytes = 2 * MIB, .growth_bytes = 64 * KIB},
                       EAGER_YES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_one_stream_is_reused_without_events),
        cmocka_unit_test(a_full_pool_makes_another_stream_wait_once),
        cmocka_unit_test(streams_stay_independent_while_there_is_memory),
        cmocka_unit_test(completed_work_is_noticed_without_waiting),
        cmocka_unit_test(merging_for_a_request_that_fails_loses_no_tag),
        cmocka_unit_test(neighbours_of_two_streams_are_joined_when_nothing_else_fits),
        cmocka_unit_test(memory_of_a_stream_that_ended_is_still_ordered),
        cmocka_unit_test(a_new_stream_gets_no_memory_of_one_that_ended_for_its_own),
        cmocka_unit_test(wrong_frees_are_reported_and_change_nothing),
        cmocka_unit_test(sizes_and_limits),
        cmocka_unit_test(upstream_is_called_outside_the_lock),
        cmocka_unit_test(memory_goes_back_when_another_pool_needs_it),
        cmocka_unit_test(memory_of_another_threads_own_stream_is_awaited),
        cmocka_unit_test(an_initial_size_that_is_the_maximum_holds_to_it),
        cmocka_unit_test(a_lost_device_is_not_out_of_memory),
        cmocka_unit_test(threads_that_run_out_together_do_not_block_each_other),
        cmocka_unit_test(a_failing_driver_costs_memory_and_not_safety),
        cmocka_unit_test(leaks_are_reported),
        cmocka_unit_test(a_stream_that_waits_for_the_lock_caches_more_for_a_while),
        cmocka_unit_test(a_pool_without_a_cache_shelves_everything),
        cmocka_unit_test(what_threads_write_to_lies_in_pages_of_their_streams),
        cmocka_unit_test(random_programs_hold_to_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
