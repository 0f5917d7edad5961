/* SPDX-License-Identifier: Apache-2.0 */
/* The backend of the CPU by its contract: streams, events, kernels, copies and notifications. */
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "backend/backend.h"

enum { THREADS = 4 };

typedef struct fixture {
    kmm__backend_t *b;
    kmm__gpu_t *gpu;
} fixture_t;

static fixture_t open_host(uint32_t threads, uint32_t pretend, uint64_t mem)
{
    fixture_t f = {0};
    assert_int_equal(kmm__host_backend_create(threads, pretend, mem, &f.b), 0);
    assert_int_equal(f.b->open(f.b, 0, &f.gpu), 0);
    return f;
}

static void close_host(fixture_t *f)
{
    f->b->close(f->gpu);
    f->b->unload(f->b);
}

static kmm__stream_t *new_stream(fixture_t *f)
{
    kmm__stream_t *s;
    assert_int_equal(f->b->stream_create(f->gpu, &s), 0);
    return s;
}

static kmm__event_t *new_event(fixture_t *f)
{
    kmm__event_t *e;
    assert_int_equal(f->b->event_create(f->gpu, &e), 0);
    return e;
}

static void set_flag(void *arg, int status)
{
    atomic_store((_Atomic int *)arg, status == 0 ? 1 : status);
}

static void drain(fixture_t *f, kmm__stream_t *s)
{
    _Atomic int flag = 0;
    assert_int_equal(f->b->notify(s, set_flag, &flag), 0);
    while (!atomic_load(&flag))
        sched_yield();
    assert_int_equal(atomic_load(&flag), 1);
}

static void await(_Atomic int *flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

/* Enqueues a call of `function` with a copy of `args`. */
static void call(fixture_t *f, kmm__stream_t *s, kmm_function_t *function, const void *args,
                 size_t bytes)
{
    kmm__run_t run = {.function = function, .args_block = args, .args_bytes = bytes};
    assert_int_equal(f->b->launch(s, &run), 0);
}

/* Holds a stream until *gate is set. */
static void hold(const kmm_chunk_t *chunk, void *args)
{
    (void)chunk;
    await(*(_Atomic int **)args);
}

static void call_hold(fixture_t *f, kmm__stream_t *s, _Atomic int *gate)
{
    call(f, s, hold, &gate, sizeof(gate));
}

typedef struct begun_args {
    _Atomic int *begun, *gate;
} begun_args_t;

/* Says that a thread is in it, and holds the thread until *gate is set. */
static void begin_and_hold(const kmm_chunk_t *chunk, void *args)
{
    (void)chunk;
    const begun_args_t *a = args;
    atomic_store(a->begun, 1);
    await(a->gate);
}

/* ---- Order ---- */

typedef struct append_args {
    int *log;
    int *length;
    int value;
} append_args_t;

static void append(const kmm_chunk_t *chunk, void *args)
{
    (void)chunk;
    const append_args_t *a = args;
    a->log[(*a->length)++] = a->value;
}

static void a_stream_runs_in_order(void **state)
{
    (void)state;
    enum { N = 5000 };
    fixture_t f = open_host(THREADS, 0, 0);
    kmm__stream_t *s = new_stream(&f);
    int *log = calloc(N, sizeof(*log)), length = 0;
    for (int k = 0; k < N; k++)
        call(&f, s, append, &(append_args_t){log, &length, k}, sizeof(append_args_t));
    drain(&f, s);
    assert_int_equal(length, N);
    for (int k = 0; k < N; k++)
        assert_int_equal(log[k], k);
    free(log);
    f.b->stream_destroy(s);
    close_host(&f);
}

typedef struct note {
    int *log;
    int *length;
    int value;
} note_t;

static void note(void *arg, int status)
{
    note_t *n = arg;
    n->log[(*n->length)++] = status == 0 ? n->value : status;
}

static void notifications_come_in_order_after_the_work(void **state)
{
    (void)state;
    enum { N = 200 };
    fixture_t f = open_host(THREADS, 0, 0);
    kmm__stream_t *s = new_stream(&f);
    int log[2 * N], length = 0;
    note_t notes[N];
    for (int k = 0; k < N; k++) {
        call(&f, s, append, &(append_args_t){log, &length, 2 * k}, sizeof(append_args_t));
        notes[k] = (note_t){log, &length, 2 * k + 1};
        assert_int_equal(f.b->notify(s, note, &notes[k]), 0);
    }
    drain(&f, s);
    assert_int_equal(length, 2 * N);
    for (int k = 0; k < 2 * N; k++)
        assert_int_equal(log[k], k);
    f.b->stream_destroy(s);
    close_host(&f);
}

typedef struct relay {
    fixture_t *f;
    kmm__stream_t *s;
    int left;
    _Atomic int done;
} relay_t;

static void relay(void *arg, int status)
{
    relay_t *r = arg;
    if (status != 0 || --r->left == 0)
        atomic_store(&r->done, status == 0 ? 1 : status);
    else
        r->f->b->notify(r->s, relay, r);
}

static void a_notification_may_enqueue(void **state)
{
    (void)state;
    fixture_t f = open_host(2, 0, 0);
    relay_t r = {.f = &f, .s = new_stream(&f), .left = 1000};
    assert_int_equal(f.b->notify(r.s, relay, &r), 0);
    await(&r.done);
    assert_int_equal(r.left, 0);
    f.b->stream_destroy(r.s);
    close_host(&f);
}

/* Two streams that each wait for the other's call to have begun can finish only together. */
static void independent_streams_run_at_the_same_time(void **state)
{
    (void)state;
    fixture_t f = open_host(2, 0, 0);
    kmm__stream_t *a = new_stream(&f), *b = new_stream(&f);
    _Atomic int from_a = 0, from_b = 0;
    f.b->notify(a, set_flag, &from_a);
    call_hold(&f, a, &from_b);
    call_hold(&f, b, &from_a);
    f.b->notify(b, set_flag, &from_b);
    drain(&f, a);
    drain(&f, b);
    f.b->stream_destroy(a);
    f.b->stream_destroy(b);
    close_host(&f);
}

/* ---- Events ---- */

static void an_event_is_done_when_its_work_is(void **state)
{
    (void)state;
    fixture_t f = open_host(2, 0, 0);
    kmm__stream_t *s = new_stream(&f), *t = new_stream(&f);
    kmm__event_t *e = new_event(&f);
    assert_int_equal(f.b->event_query(e), 1);
    assert_int_equal(f.b->stream_wait(t, e), 0); /* never recorded: no wait */
    drain(&f, t);
    _Atomic int gate = 0;
    call_hold(&f, s, &gate);
    f.b->event_record(e, s);
    assert_int_equal(f.b->event_query(e), 0);
    _Atomic int passed = 0;
    f.b->stream_wait(t, e);
    f.b->notify(t, set_flag, &passed);
    usleep(2000);
    assert_int_equal(atomic_load(&passed), 0);
    atomic_store(&gate, 1);
    await(&passed);
    assert_int_equal(f.b->event_query(e), 1);
    drain(&f, s);
    f.b->stream_destroy(s);
    assert_int_equal(f.b->event_query(e), 1); /* also when its stream is gone */
    kmm__stream_t *again = new_stream(&f);
    assert_int_equal(f.b->event_query(e), 1);
    f.b->stream_destroy(again);
    f.b->stream_destroy(t);
    f.b->event_destroy(e);
    close_host(&f);
}

/* A wait means the record that was last when it was enqueued, whatever is recorded later. */
static void recording_again_leaves_earlier_waits(void **state)
{
    (void)state;
    fixture_t f = open_host(3, 0, 0);
    kmm__stream_t *s = new_stream(&f), *t = new_stream(&f), *u = new_stream(&f);
    kmm__event_t *e = new_event(&f);
    _Atomic int first = 0, second = 0, passed = 0, late = 0;
    call_hold(&f, s, &first);
    f.b->event_record(e, s);
    f.b->stream_wait(t, e);
    f.b->notify(t, set_flag, &passed);
    call_hold(&f, s, &second);
    f.b->event_record(e, s);
    f.b->stream_wait(u, e);
    f.b->notify(u, set_flag, &late);
    atomic_store(&first, 1);
    await(&passed);
    assert_int_equal(f.b->event_query(e), 0);
    assert_int_equal(atomic_load(&late), 0);
    atomic_store(&second, 1);
    await(&late);
    assert_int_equal(f.b->event_query(e), 1);
    drain(&f, s);
    f.b->event_destroy(e);
    f.b->stream_destroy(s);
    f.b->stream_destroy(t);
    f.b->stream_destroy(u);
    close_host(&f);
}

/* A record on another stream that is done already must not release a wait for the first one. */
static void a_later_record_elsewhere_releases_nobody(void **state)
{
    (void)state;
    fixture_t f = open_host(3, 0, 0);
    kmm__stream_t *s = new_stream(&f), *t = new_stream(&f), *idle = new_stream(&f);
    kmm__event_t *e = new_event(&f);
    _Atomic int gate = 0, passed = 0;
    call_hold(&f, s, &gate);
    f.b->event_record(e, s);
    f.b->stream_wait(t, e);
    f.b->notify(t, set_flag, &passed);
    f.b->event_record(e, idle);
    assert_int_equal(f.b->event_query(e), 1);
    drain(&f, idle);
    usleep(2000);
    assert_int_equal(atomic_load(&passed), 0);
    atomic_store(&gate, 1);
    await(&passed);
    drain(&f, s);
    f.b->event_destroy(e);
    f.b->stream_destroy(s);
    f.b->stream_destroy(t);
    f.b->stream_destroy(idle);
    close_host(&f);
}

/* ---- A random graph of operations, against the clock of an oracle ---- */

enum { GRAPH_STREAMS = 8, GRAPH_OPS = 3000, GRAPH_EDGES = 3 };

typedef struct graph_node {
    int stream, edges, from[GRAPH_EDGES];
    uint64_t begun, ended;
} graph_node_t;

typedef struct graph_args {
    graph_node_t *node;
    _Atomic uint64_t *clock;
} graph_args_t;

static void graph_run(const kmm_chunk_t *chunk, void *args)
{
    (void)chunk;
    const graph_args_t *a = args;
    a->node->begun = atomic_fetch_add(a->clock, 1);
    a->node->ended = atomic_fetch_add(a->clock, 1);
}

static void graph_enqueue(fixture_t *f, kmm__stream_t **streams, graph_node_t *nodes,
                          kmm__event_t **events, _Atomic uint64_t *clock, unsigned *seed)
{
    for (int k = 0; k < GRAPH_OPS; k++) {
        graph_node_t *n = &nodes[k];
        n->stream = rand_r(seed) % GRAPH_STREAMS;
        n->edges = k > 0 ? rand_r(seed) % (GRAPH_EDGES + 1) : 0;
        for (int d = 0; d < n->edges; d++) {
            int back = 1 + rand_r(seed) % 20;
            n->from[d] = back > k ? 0 : k - back;
            f->b->stream_wait(streams[n->stream], events[n->from[d]]);
        }
        call(f, streams[n->stream], graph_run, &(graph_args_t){n, clock}, sizeof(graph_args_t));
        f->b->event_record(events[k], streams[n->stream]);
    }
}

static void graph_check(const graph_node_t *nodes)
{
    uint64_t last[GRAPH_STREAMS] = {0};
    for (int k = 0; k < GRAPH_OPS; k++) {
        const graph_node_t *n = &nodes[k];
        assert_true(n->begun > 0 && n->ended > n->begun);
        assert_true(n->begun > last[n->stream]);
        last[n->stream] = n->ended;
        for (int d = 0; d < n->edges; d++)
            assert_true(nodes[n->from[d]].ended < n->begun);
    }
}

static void a_random_graph_keeps_every_edge(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 6; seed++) {
        unsigned random = seed;
        fixture_t f = open_host(1 + seed % THREADS, 0, 0);
        kmm__stream_t *streams[GRAPH_STREAMS];
        for (int k = 0; k < GRAPH_STREAMS; k++)
            streams[k] = new_stream(&f);
        kmm__event_t **events = calloc(GRAPH_OPS, sizeof(*events));
        for (int k = 0; k < GRAPH_OPS; k++)
            events[k] = new_event(&f);
        graph_node_t *nodes = calloc(GRAPH_OPS, sizeof(*nodes));
        _Atomic uint64_t clock = 1;
        graph_enqueue(&f, streams, nodes, events, &clock, &random);
        for (int k = 0; k < GRAPH_STREAMS; k++)
            drain(&f, streams[k]);
        graph_check(nodes);
        for (int k = 0; k < GRAPH_STREAMS; k++)
            f.b->stream_destroy(streams[k]);
        for (int k = 0; k < GRAPH_OPS; k++)
            f.b->event_destroy(events[k]);
        free(events);
        free(nodes);
        close_host(&f);
    }
}

/* ---- Kernels ---- */

typedef struct cover {
    uint32_t grid[3];
    _Atomic uint32_t *hits;
    _Atomic int *wrong;
} cover_t;

static void cover_run(const kmm_host_blocks_t *b, void **args)
{
    const cover_t *c = args[0];
    if (b->first >= b->last || memcmp(b->grid, c->grid, sizeof(b->grid)) != 0 ||
        *(double *)args[1] != 2.5)
        atomic_store(c->wrong, 1);
    for (uint64_t k = b->first; k < b->last; k++) {
        uint64_t x = b->offset[0] + k % b->count[0];
        uint64_t y = b->offset[1] + k / b->count[0] % b->count[1];
        uint64_t z = b->offset[2] + k / b->count[0] / b->count[1];
        atomic_fetch_add(&c->hits[(z * c->grid[1] + y) * c->grid[0] + x], 1);
    }
}

static const uint32_t cover_params[] = {sizeof(cover_t), sizeof(double)};
static const kmm_kernel_t cover_kernel = {.version = KMM_LAUNCH_VERSION,
                                          .kind = KMM_KIND_HOST,
                                          .name = "cover",
                                          .run = cover_run,
                                          .param_count = 2,
                                          .param_bytes = cover_params};

static void check_cover(fixture_t *f, const uint32_t grid[3], const uint32_t offset[3],
                        const uint32_t count[3], uint32_t block)
{
    kmm__stream_t *s = new_stream(f);
    uint64_t total = (uint64_t)grid[0] * grid[1] * grid[2];
    _Atomic uint32_t *hits = calloc(total + 1, sizeof(*hits));
    _Atomic int wrong = 0;
    cover_t c = {{grid[0], grid[1], grid[2]}, hits, &wrong};
    double number = 2.5;
    kmm__run_t run = {.kernel = &cover_kernel, .args = (void *[]){&c, &number}};
    memcpy(run.geometry.grid, grid, sizeof(run.geometry.grid));
    memcpy(run.offset, offset, sizeof(run.offset));
    memcpy(run.count, count, sizeof(run.count));
    run.geometry.block[0] = block;
    run.geometry.block[1] = run.geometry.block[2] = 1;
    assert_int_equal(f->b->launch(s, &run), 0);
    memset(&c, 0, sizeof(c)); /* arguments were copied */
    number = 0;
    drain(f, s);
    assert_int_equal(atomic_load(&wrong), 0);
    for (uint64_t k = 0; k < total; k++) {
        uint64_t at[3] = {k % grid[0], k / grid[0] % grid[1], k / grid[0] / grid[1]};
        bool inside = true;
        for (int d = 0; d < 3; d++)
            inside = inside && at[d] >= offset[d] && at[d] < (uint64_t)offset[d] + count[d];
        assert_int_equal(atomic_load(&hits[k]), inside);
    }
    free(hits);
    f->b->stream_destroy(s);
}

static void every_block_runs_once(void **state)
{
    (void)state;
    static const struct {
        uint32_t grid[3], offset[3], count[3], block;
    } cases[] = {
        {{1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1},
        {{1, 1, 1}, {0, 0, 0}, {0, 1, 1}, 1},
        {{7, 1, 1}, {7, 0, 0}, {0, 1, 1}, 256},
        {{2, 1, 1}, {0, 0, 0}, {2, 1, 1}, 1024},
        {{1000, 1, 1}, {0, 0, 0}, {1000, 1, 1}, 1},
        {{1000, 1, 1}, {0, 0, 0}, {1000, 1, 1}, 256},
        {{100003, 1, 1}, {17, 0, 0}, {99001, 1, 1}, 128},
        {{33, 65, 1}, {0, 0, 0}, {33, 65, 1}, 64},
        {{33, 65, 1}, {1, 2, 0}, {31, 60, 1}, 64},
        {{5, 7, 11}, {0, 0, 0}, {5, 7, 11}, 64},
        {{5, 7, 11}, {4, 6, 10}, {1, 1, 1}, 64},
        {{5, 7, 11}, {1, 0, 3}, {3, 7, 5}, 8},
    };
    for (uint32_t threads = 1; threads <= THREADS; threads++) {
        fixture_t f = open_host(threads, 0, 0);
        for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
            check_cover(&f, cases[k].grid, cases[k].offset, cases[k].count, cases[k].block);
        close_host(&f);
    }
}

/* Blocks of one kernel that wait for each other can finish only when two threads run them. */
static void meet_run(const kmm_host_blocks_t *b, void **args)
{
    _Atomic int *flags = *(_Atomic int **)args[0];
    for (uint64_t k = b->first; k < b->last; k++) {
        atomic_store(&flags[k], 1);
        if (k == 0 || k == 1)
            await(&flags[1 - k]);
    }
}

static const uint32_t meet_params[] = {sizeof(void *)};
static const kmm_kernel_t meet_kernel = {.version = KMM_LAUNCH_VERSION,
                                         .kind = KMM_KIND_HOST,
                                         .name = "meet",
                                         .run = meet_run,
                                         .param_count = 1,
                                         .param_bytes = meet_params};

static void blocks_run_at_the_same_time(void **state)
{
    (void)state;
    fixture_t f = open_host(2, 0, 0);
    kmm__stream_t *s = new_stream(&f);
    for (int k = 0; k < 50; k++) {
        _Atomic int flags[2] = {0, 0}, *pointer = flags;
        kmm__run_t run = {.kernel = &meet_kernel,
                          .geometry = {.grid = {2, 1, 1}, .block = {1024, 1, 1}},
                          .count = {2, 1, 1},
                          .args = (void *[]){&pointer}};
        assert_int_equal(f.b->launch(s, &run), 0);
        drain(&f, s);
    }
    f.b->stream_destroy(s);
    close_host(&f);
}

/* Notes which thread it runs on, and how it rounds. */
typedef struct where {
    pthread_t thread;
    int rounding;
    _Atomic int done;
} where_t;

static void where_run(const kmm_host_blocks_t *b, void **args)
{
    (void)b;
    where_t *w = *(where_t **)args[0];
    w->thread = pthread_self();
    w->rounding = fegetround();
    atomic_store(&w->done, 1);
}

static const kmm_kernel_t where_kernel = {.version = KMM_LAUNCH_VERSION,
                                          .kind = KMM_KIND_HOST,
                                          .name = "where",
                                          .run = where_run,
                                          .param_count = 1,
                                          .param_bytes = meet_params};

static void launch_where(fixture_t *f, kmm__stream_t *s, where_t *w)
{
    kmm__run_t run = {.kernel = &where_kernel,
                      .geometry = {.grid = {1, 1, 1}, .block = {1, 1, 1}},
                      .count = {1, 1, 1},
                      .args = (void *[]){&w}};
    assert_int_equal(f->b->launch(s, &run), 0);
}

static void *assist_elsewhere(void *arg)
{
    const fixture_t *f = arg;
    return f->b->assist(f->b) ? arg : NULL;
}

static void the_first_thread_assists(void **state)
{
    (void)state;
    enum { BUSY = 2, MANY = 100 };
    fixture_t f = open_host(BUSY, 0, 0);
    kmm__stream_t *held[BUSY], *s = new_stream(&f), *other = new_stream(&f);
    _Atomic int gate = 0, begun[BUSY] = {0};
    static where_t where[MANY], more;
    void *elsewhere;
    pthread_t thread;
    assert_false(f.b->assist(f.b)); /* there is nothing */
    for (int k = 0; k < BUSY; k++) {
        begun_args_t args = {&begun[k], &gate};
        call(&f, held[k] = new_stream(&f), begin_and_hold, &args, sizeof(args));
    }
    for (int k = 0; k < BUSY; k++)
        await(&begun[k]); /* from here on no other thread is free */
    for (int k = 0; k < MANY; k++)
        launch_where(&f, s, &where[k]);
    pthread_create(&thread, NULL, assist_elsewhere, &f);
    pthread_join(thread, &elsewhere);
    assert_null(elsewhere); /* a thread's stack may be small */
    fesetround(FE_UPWARD);
    while (f.b->assist(f.b)) {
    }
    assert_int_equal(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    for (int k = 0; k < MANY; k++) {
        assert_int_equal(atomic_load(&where[k].done), 1);
        assert_true(pthread_equal(where[k].thread, pthread_self()));
        assert_int_equal(where[k].rounding, FE_TONEAREST);
    }
    call_hold(&f, other, &gate); /* functions are not for it */
    assert_false(f.b->assist(f.b));
    atomic_store(&gate, 1);
    launch_where(&f, other, &more);
    await(&more.done);
    for (int k = 0; k < BUSY; k++)
        drain(&f, held[k]);
    drain(&f, s);
    drain(&f, other);
    close_host(&f);
    f = open_host(1, 0, 0);
    s = new_stream(&f);
    gate = 0;
    call_hold(&f, s, &gate);
    other = new_stream(&f);
    launch_where(&f, other, &more);
    assert_false(f.b->assist(f.b)); /* one thread means one after another */
    atomic_store(&gate, 1);
    drain(&f, s);
    drain(&f, other);
    close_host(&f);
}

typedef struct wide {
    unsigned char bytes[1000];
} wide_t;

static void wide_run(const kmm_host_blocks_t *b, void **args)
{
    (void)b;
    const wide_t *w = args[1];
    memcpy(*(unsigned char **)args[2], w->bytes, sizeof(w->bytes));
    (*(unsigned char **)args[2])[0] = *(char *)args[0];
}

static void large_arguments_are_copied(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, sizeof(wide_t), sizeof(void *)};
    const kmm_kernel_t kernel = {.version = KMM_LAUNCH_VERSION,
                                 .kind = KMM_KIND_HOST,
                                 .name = "wide",
                                 .run = wide_run,
                                 .param_count = 3,
                                 .param_bytes = sizes};
    fixture_t f = open_host(2, 0, 0);
    kmm__stream_t *s = new_stream(&f);
    unsigned char out[1000], *to = out;
    wide_t w;
    char c = 'x';
    memset(&w, 42, sizeof(w));
    kmm__run_t run = {.kernel = &kernel,
                      .geometry = {.grid = {1, 1, 1}, .block = {1, 1, 1}},
                      .count = {1, 1, 1},
                      .args = (void *[]){&c, &w, &to}};
    assert_int_equal(f.b->launch(s, &run), 0);
    memset(&w, 0, sizeof(w));
    c = 0;
    drain(&f, s);
    assert_int_equal(out[0], 'x');
    for (int k = 1; k < 1000; k++)
        assert_int_equal(out[k], 42);
    f.b->stream_destroy(s);
    close_host(&f);
}

static void chunk_of(const kmm_chunk_t *chunk, void *args)
{
    **(kmm_chunk_t **)args = *chunk;
}

static void a_function_is_given_its_chunk(void **state)
{
    (void)state;
    fixture_t f = open_host(1, 0, 0);
    kmm__stream_t *s = new_stream(&f);
    kmm_chunk_t seen = {0}, *to = &seen;
    kmm__run_t run = {.function = chunk_of,
                      .chunk = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}},
                      .args_block = &to,
                      .args_bytes = sizeof(to)};
    assert_int_equal(f.b->launch(s, &run), 0);
    drain(&f, s);
    assert_memory_equal(&seen, &run.chunk, sizeof(seen));
    f.b->stream_destroy(s);
    close_host(&f);
}

static void bad_launches_are_refused(void **state)
{
    (void)state;
    fixture_t f = open_host(1, 0, 0);
    kmm__stream_t *s = new_stream(&f);
    kmm_kernel_t k = cover_kernel;
    kmm__run_t run = {
        .kernel = &k, .geometry = {.grid = {4, 1, 1}, .block = {1, 1, 1}}, .count = {4, 1, 1}};
    assert_int_equal(f.b->launch(s, &run), KMM_E_INVALID); /* no arguments */
    void *args[2] = {0};
    run.args = args;
    k.version++;
    assert_int_equal(f.b->launch(s, &run), KMM_E_INVALID);
    assert_non_null(strstr(f.b->error_text(f.b), "version"));
    k = cover_kernel;
    k.kind = KMM_KIND_CUDA;
    assert_int_equal(f.b->launch(s, &run), KMM_E_INVALID);
    assert_non_null(strstr(f.b->error_text(f.b), "cover"));
    k = cover_kernel;
    run.offset[0] = 1;
    assert_int_equal(f.b->launch(s, &run), KMM_E_INVALID);
    assert_non_null(strstr(f.b->error_text(f.b), "outside the grid"));
    assert_int_equal(f.b->launch(s, &(kmm__run_t){0}), KMM_E_INVALID);
    assert_int_equal(f.b->notify(s, NULL, NULL), KMM_E_INVALID);
    assert_int_equal(f.b->copy(s, &(kmm__copy_t){.width = -1, .rows = 1}), KMM_E_INVALID);
    kmm__gpu_t *none;
    assert_int_equal(f.b->open(f.b, 1, &none), KMM_E_NO_DEVICE);
    drain(&f, s);
    f.b->stream_destroy(s);
    close_host(&f);
}

/* ---- Copies ---- */

static void check_copy(fixture_t *f, int64_t width, int64_t rows, int64_t pitch)
{
    kmm__stream_t *s = new_stream(f);
    size_t bytes = (size_t)(rows * pitch);
    unsigned char *src = malloc(bytes + 1), *dst = malloc(bytes + 1);
    for (size_t k = 0; k < bytes; k++)
        src[k] = (unsigned char)(k * 31 + k / 251);
    f->b->fill(s, (kmm__addr_t)(uintptr_t)dst, 0x77, bytes);
    kmm__copy_t copy = {.dst = (kmm__addr_t)(uintptr_t)dst,
                        .src = (kmm__addr_t)(uintptr_t)src,
                        .dst_pitch = pitch,
                        .src_pitch = pitch,
                        .width = width,
                        .rows = rows};
    assert_int_equal(f->b->copy(s, &copy), 0);
    drain(f, s);
    for (size_t k = 0; k < bytes; k++)
        if (dst[k] != ((int64_t)k % pitch < width ? src[k] : 0x77))
            fail_msg("byte %zu of %zu", k, bytes);
    free(src);
    free(dst);
    f->b->stream_destroy(s);
}

static void copies_move_rows_and_nothing_else(void **state)
{
    (void)state;
    fixture_t f = open_host(THREADS, 0, 0);
    check_copy(&f, 1, 1, 1);
    check_copy(&f, 0, 5, 16);
    check_copy(&f, 16, 0, 16);
    check_copy(&f, 1000, 1, 1000);
    for (int64_t bytes = 1 << 16; bytes <= 4 << 20; bytes *= 2) {
        check_copy(&f, bytes - 1, 1, bytes - 1);
        check_copy(&f, bytes, 1, bytes);
        check_copy(&f, bytes + 1, 1, bytes + 1);
    }
    check_copy(&f, (5 << 20) + 13, 1, (5 << 20) + 13);
    check_copy(&f, 100, 1000, 128);
    check_copy(&f, 4096, 1000, 4096);
    close_host(&f);
}

/* ---- Pretend memory ---- */

static void a_pretend_device_has_limited_memory(void **state)
{
    (void)state;
    fixture_t f = open_host(1, 2, 10 * 4096);
    kmm__gpu_info_t info;
    f.b->info(f.gpu, &info);
    assert_int_equal(f.b->count(f.b), 2);
    assert_int_equal(info.memory_total, 10 * 4096);
    assert_int_equal(info.granularity, 4096);
    assert_int_equal(info.compute_streams, 1);
    kmm__frame_handle_t a, b, c;
    assert_int_equal(f.b->frame_create(f.gpu, 6 * 4096, &a), 0);
    assert_int_equal(f.b->frame_create(f.gpu, 5 * 4096, &b), KMM_E_MEMORY);
    assert_int_equal(f.b->frame_create(f.gpu, 4 * 4096, &b), 0);
    assert_int_equal(f.b->frame_create(f.gpu, 4096, &c), KMM_E_MEMORY);
    f.b->info(f.gpu, &info);
    assert_int_equal(info.memory_free, 0);
    kmm__gpu_t *other; /* each device has memory of its own */
    assert_int_equal(f.b->open(f.b, 1, &other), 0);
    assert_int_equal(f.b->frame_create(other, 10 * 4096, &c), 0);
    f.b->frame_destroy(other, c, 10 * 4096);
    f.b->close(other);
    f.b->frame_destroy(f.gpu, a, 6 * 4096);
    assert_int_equal(f.b->frame_create(f.gpu, 6 * 4096, &a), 0);
    assert_int_equal(f.b->frame_create(f.gpu, 0, &c), KMM_E_INVALID);
    assert_int_equal(f.b->frame_create(f.gpu, 100, &c), KMM_E_INVALID);
    f.b->frame_destroy(f.gpu, a, 6 * 4096);
    f.b->frame_destroy(f.gpu, b, 4 * 4096);
    close_host(&f);
}

/* Whether reading a byte kills a process. */
static bool faults(kmm__addr_t at)
{
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        volatile unsigned char byte = *(volatile unsigned char *)(uintptr_t)at;
        (void)byte;
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
}

static void windows_hold_frames_where_they_are_mapped(void **state)
{
    (void)state;
    enum { FRAME = 16 * 4096 };
    const size_t window = (size_t)16 << 30; /* far more than there is memory */
    setenv("KMM_CHECK", "other,frames", 1);
    fixture_t f = open_host(2, 1, 2 * FRAME);
    unsetenv("KMM_CHECK");
    kmm__stream_t *s = new_stream(&f);
    kmm__addr_t w;
    kmm__frame_handle_t a;
    assert_int_equal(f.b->window_reserve(f.gpu, window, &w), 0);
    assert_int_equal(f.b->frame_create(f.gpu, FRAME, &a), 0);
    assert_true(faults(w + FRAME));
    assert_int_equal(f.b->frame_map(f.gpu, w + FRAME, a, FRAME), 0);
    assert_int_equal(f.b->frame_map(f.gpu, w, a, FRAME), KMM_E_STATE);
    assert_false(faults(w + FRAME));
    assert_true(faults(w + FRAME - 1));
    assert_true(faults(w + 2 * FRAME));
    unsigned char *p = (unsigned char *)(uintptr_t)(w + FRAME);
    for (int k = 0; k < FRAME; k++)
        assert_int_equal(p[k], 0xA5);
    assert_int_equal(f.b->fill(s, w + FRAME, 3, FRAME), 0);
    drain(&f, s);
    assert_int_equal(p[0], 3);
    assert_int_equal(p[FRAME - 1], 3);
    assert_int_equal(f.b->frame_share(f.gpu, w + FRAME, FRAME, f.gpu), 0);
    assert_int_equal(f.b->frame_unmap(f.gpu, w + FRAME, FRAME), 0);
    assert_true(faults(w + FRAME));
    assert_int_equal(f.b->frame_map(f.gpu, w, a, FRAME), 0);
    assert_int_equal(*(unsigned char *)(uintptr_t)w, 0xA5); /* what it held is gone */
    assert_int_equal(f.b->frame_unmap(f.gpu, w, FRAME), 0);
    f.b->frame_destroy(f.gpu, a, FRAME);
    f.b->window_release(f.gpu, w, window);
    f.b->stream_destroy(s);
    close_host(&f);
}

static void the_host_itself_has_no_frames(void **state)
{
    (void)state;
    fixture_t f = open_host(3, 0, 0);
    kmm__gpu_info_t info;
    f.b->info(f.gpu, &info);
    assert_int_equal(info.memory_total, 0);
    assert_int_equal(info.compute_streams, 3);
    kmm__frame_handle_t a;
    kmm__addr_t w;
    assert_int_equal(f.b->frame_create(f.gpu, 4096, &a), KMM_E_UNSUPPORTED);
    assert_int_equal(f.b->window_reserve(f.gpu, 4096, &w), KMM_E_UNSUPPORTED);
    assert_int_equal(f.b->host_register(f.b, &info, sizeof(info)), KMM_E_UNSUPPORTED);
    close_host(&f);
}

/* ---- Life ---- */

/* Each stream adds to one counter of its own, and every one waits for its left neighbour. */
static void many_streams(void **state)
{
    (void)state;
    enum { STREAMS = 300, ROUNDS = 20 };
    fixture_t f = open_host(THREADS, 0, 0);
    kmm__stream_t *streams[STREAMS];
    kmm__event_t *events[STREAMS];
    static int logs[STREAMS][ROUNDS];
    int lengths[STREAMS] = {0};
    for (int k = 0; k < STREAMS; k++) {
        streams[k] = new_stream(&f);
        events[k] = new_event(&f);
    }
    for (int r = 0; r < ROUNDS; r++)
        for (int k = 0; k < STREAMS; k++) {
            f.b->stream_wait(streams[k], events[(k + STREAMS - 1) % STREAMS]);
            call(&f, streams[k], append, &(append_args_t){logs[k], &lengths[k], r},
                 sizeof(append_args_t));
            f.b->event_record(events[k], streams[k]);
        }
    for (int k = 0; k < STREAMS; k++) {
        drain(&f, streams[k]);
        assert_int_equal(lengths[k], ROUNDS);
        f.b->event_destroy(events[k]);
        f.b->stream_destroy(streams[k]);
    }
    close_host(&f);
}

/* Workers fall asleep between the rounds: each round must wake them. */
static void work_after_a_pause_is_run(void **state)
{
    (void)state;
    fixture_t f = open_host(THREADS, 0, 0);
    kmm__stream_t *s = new_stream(&f);
    for (int k = 0; k < 100; k++) {
        drain(&f, s);
        usleep(20u * (unsigned)k);
    }
    f.b->stream_destroy(s);
    close_host(&f);
}

static void creating_and_unloading_repeats(void **state)
{
    (void)state;
    for (int k = 0; k < 50; k++) {
        fixture_t f = open_host(1 + (uint32_t)k % 8, 0, 0);
        kmm__stream_t *s = new_stream(&f);
        if (k % 2)
            drain(&f, s);
        f.b->stream_destroy(s);
        close_host(&f);
    }
    fixture_t f = open_host(0, 0, 0);
    kmm__gpu_info_t info;
    f.b->info(f.gpu, &info);
    assert_true(info.compute_streams >= 1);
    close_host(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_runs_in_order),
        cmocka_unit_test(notifications_come_in_order_after_the_work),
        cmocka_unit_test(a_notification_may_enqueue),
        cmocka_unit_test(independent_streams_run_at_the_same_time),
        cmocka_unit_test(an_event_is_done_when_its_work_is),
        cmocka_unit_test(recording_again_leaves_earlier_waits),
        cmocka_unit_test(a_later_record_elsewhere_releases_nobody),
        cmocka_unit_test(a_random_graph_keeps_every_edge),
        cmocka_unit_test(every_block_runs_once),
        cmocka_unit_test(blocks_run_at_the_same_time),
        cmocka_unit_test(the_first_thread_assists),
        cmocka_unit_test(large_arguments_are_copied),
        cmocka_unit_test(a_function_is_given_its_chunk),
        cmocka_unit_test(bad_launches_are_refused),
        cmocka_unit_test(copies_move_rows_and_nothing_else),
        cmocka_unit_test(a_pretend_device_has_limited_memory),
        cmocka_unit_test(windows_hold_frames_where_they_are_mapped),
        cmocka_unit_test(the_host_itself_has_no_frames),
        cmocka_unit_test(many_streams),
        cmocka_unit_test(work_after_a_pause_is_run),
        cmocka_unit_test(creating_and_unloading_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
