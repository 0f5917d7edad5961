/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmm-replay [--resource=SPEC] [--serial] [--repeat=N] log.csv
 *
 * Each thread of the log becomes a thread and does its calls in the log's order; a free waits for
 * its allocation where that is another thread's. --serial does all calls in the log's order in one
 * thread.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <kmm.h>

#include "base/bar.h"
#include "replay.h"
#include "spec.h"

typedef enum { SERIAL_NO, SERIAL_YES } serial_t;

typedef struct replay {
    const replay_log_t *log;
    kmm_resource_t *resource;
    kmm_stream_t *streams;
    _Atomic(void *) *blocks; /* NULL: not yet; FAILED; or the address */
    _Atomic size_t failed, errors;
    size_t failed_in_order; /* of them, where the memory the log needs was looked for */
    serial_t serial;
} replay_t;

typedef struct worker {
    replay_t *replay;
    uint32_t thread;
    _Alignas(64) _Atomic size_t at; /* calls of the log that it has passed, about */
} worker_t;

static char failed_mark;
#define FAILED ((void *)&failed_mark)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *wait_for_block(replay_t *r, uint32_t block)
{
    void *p;
    while (!(p = atomic_load_explicit(&r->blocks[block], memory_order_acquire)))
        sched_yield();
    return p;
}

static void event_run(replay_t *r, const replay_event_t *e)
{
    if (e->allocates) {
        void *p = NULL;
        int status = kmm_resource_allocate(r->resource, e->bytes, 0, r->streams[e->stream], &p);
        if (status == KMM_E_MEMORY)
            atomic_fetch_add(&r->failed, 1);
        else if (status)
            atomic_fetch_add(&r->errors, 1);
        atomic_store_explicit(&r->blocks[e->block], status ? FAILED : p, memory_order_release);
        return;
    }
    void *p = wait_for_block(r, e->block);
    if (p != FAILED && kmm_resource_deallocate(r->resource, p, e->bytes, r->streams[e->stream]))
        atomic_fetch_add(&r->errors, 1);
    atomic_store_explicit(&r->blocks[e->block], FAILED,
                          memory_order_relaxed); /* nothing left to free */
}

static void *worker_run(void *argument)
{
    enum { NOTED = 1024 }; /* a power of two */
    worker_t *w = argument;
    const replay_log_t *log = w->replay->log;
    for (size_t i = 0; i < log->count; i++) {
        if (w->replay->serial || log->events[i].thread == w->thread)
            event_run(w->replay, &log->events[i]);
        if (i % NOTED == 0)
            atomic_store_explicit(&w->at, i, memory_order_relaxed);
    }
    return NULL;
}

/* Draws a bar of how far all threads are. */
static void bar_draw(const worker_t *workers, uint32_t threads, double seconds)
{
    char text[KMM__BAR_TEXT];
    uint64_t all = (uint64_t)workers->replay->log->count * threads, done = 0;
    unsigned columns = kmm__bar_columns(STDERR_FILENO);
    for (uint32_t k = 0; k < threads; k++)
        done += atomic_load_explicit(&workers[k].at, memory_order_relaxed);
    double rate = (double)done / seconds;
    kmm__bar_t bar = {.what = "kmm-replay",
                      .done = done,
                      .all = all,
                      .rate = rate / threads,
                      .unit = "calls",
                      .left = rate > 0 ? (double)(all - done) / rate : -1};
    if (columns)
        fwrite(text, 1, kmm__bar_text(&bar, columns, text), stderr);
}

/* Waits for a thread. After a few seconds a bar is drawn, if stderr is a terminal. */
static void join(pthread_t id, const worker_t *workers, uint32_t threads, double start)
{
    enum { PATIENCE = 3, LOOK_NS = 200000000 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    while (kmm__bar_possible(STDERR_FILENO)) {
        until.tv_nsec += LOOK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_timedjoin_np(id, NULL, &until) != ETIMEDOUT)
            return;
        if (now() - start > PATIENCE)
            bar_draw(workers, threads, now() - start);
    }
    pthread_join(id, NULL);
}

/* Seconds for the whole log; negative: no threads. */
static double run(replay_t *r)
{
    uint32_t threads = r->serial ? 1 : r->log->thread_count, started = 0;
    pthread_t *ids = calloc(threads, sizeof(*ids));
    worker_t *workers = aligned_alloc(_Alignof(worker_t), threads * sizeof(*workers));
    double start = now();
    for (; ids && workers && started < threads; started++) {
        workers[started] = (worker_t){.replay = r, .thread = started};
        if (pthread_create(&ids[started], NULL, worker_run, &workers[started])) {
            fprintf(stderr, "kmm-replay: no thread could be made\n");
            exit(1);
        }
    }
    for (uint32_t i = 0; i < started; i++)
        join(ids[i], workers, started, start);
    double seconds = now() - start;
    if (kmm__bar_possible(STDERR_FILENO))
        fputs("\033[K", stderr);
    free(ids);
    free(workers);
    return started == threads ? seconds : -1;
}

/* What the log leaves allocated is freed, so that the next round starts as this one did. */
static void free_left_over(replay_t *r)
{
    for (size_t i = 0; i < r->log->blocks; i++) {
        void *p = r->blocks[i];
        if (p && p != FAILED)
            kmm_resource_deallocate(r->resource, p, KMM_SIZE_RECORDED, NULL);
        r->blocks[i] = NULL;
    }
}

/* Streams of a device are made; for host memory the log's handles do. */
static int streams_make(replay_t *r, kmm_stream_pool_t **pool)
{
    int device = kmm_resource_device(r->resource);
    r->streams = calloc(r->log->stream_count + 1, sizeof(*r->streams));
    if (!r->streams)
        return KMM_E_MEMORY;
    int status = device >= 0 && r->log->stream_count
                     ? kmm_stream_pool_create(device, r->log->stream_count, pool)
                     : 0;
    for (uint32_t i = 0; i < r->log->stream_count && status == 0; i++) {
        bool standard = r->log->streams[i] <= 2; /* the default stream, or each thread's own */
        r->streams[i] = (kmm_stream_t)(uintptr_t)r->log->streams[i];
        if (*pool && !standard)
            status = kmm_stream_pool_get(*pool, i, &r->streams[i]);
    }
    return status;
}

/* What the log's peak needed is known only where all of it was had. */
static void report_usage(const replay_log_t *log, const kmm_resource_usage_t *usage, size_t failed)
{
    const double mib = 1 << 20;
    printf("held           %.3f MiB in %zu regions\n", (double)usage->held_bytes / mib,
           usage->regions);
    if (failed)
        printf("fragmentation  not known: not all of the peak was had\n");
    else
        printf("fragmentation  %.3f: %.3f MiB of extent for the peak, calls in the log's order\n",
               log->peak ? (double)usage->extent_bytes / (double)log->peak : 1.0,
               (double)usage->extent_bytes / mib);
    printf("streams        %zu events, %zu waits\n", usage->events, usage->waits);
}

static void report(const replay_t *r, double best, const char *spec,
                   const kmm_resource_usage_t *usage)
{
    const double mib = 1 << 20;
    printf("resource       %s\n", spec);
    printf("calls          %zu of %u threads on %u streams\n", r->log->count, r->log->thread_count,
           r->log->stream_count);
    printf("time           %.3f ms, %.0f ns a call\n", 1e3 * best,
           r->log->count ? 1e9 * best / (double)r->log->count : 0);
    printf("peak           %.3f MiB live; %.3f MiB left at the end\n", (double)r->log->peak / mib,
           (double)r->log->left / mib);
    if (usage)
        report_usage(r->log, usage, r->failed_in_order);
    printf("out of memory  %zu times here, %zu when logged\n", (size_t)r->failed, r->log->failures);
    if (r->log->unknown)
        printf("left out       %zu frees of what was allocated before the log began\n",
               r->log->unknown);
}

static int resource_make(const char *spec, kmm_resource_t **out)
{
    const char *where = spec;
    int status = kmm_spec_create(spec, out, &where);
    if (status)
        fprintf(stderr, "kmm-replay: resource %s: %s at \"%s\"%s%s\n", spec,
                kmm_error_string(status), where, status == KMM_E_INVALID ? "" : ": ",
                status == KMM_E_INVALID ? "" : kmm_resource_error_text());
    return status;
}

static int rounds(replay_t *r, int repeat, double *best)
{
    *best = -1;
    for (int i = 0; i < repeat; i++) {
        double seconds = run(r);
        if (seconds < 0)
            return KMM_E_MEMORY;
        *best = *best < 0 || seconds < *best ? seconds : *best;
        free_left_over(r);
    }
    return 0;
}

/* What the log needs of memory: in its own order, since threads that run free of each other have
 * another peak than the log, and on a resource that nothing else has used. False: the resource does
 * not tell. */
static bool usage_of(replay_t *r, const char *spec, kmm_resource_usage_t *out)
{
    kmm_resource_t *timed = r->resource;
    bool tells = kmm_resource_usage(timed, out) == 0;
    const size_t failed = r->failed;
    const serial_t serial = r->serial;
    if (!tells || resource_make(spec, &r->resource))
        return false;
    r->serial = SERIAL_YES;
    tells = run(r) >= 0 && kmm_resource_usage(r->resource, out) == 0;
    free_left_over(r);
    if (kmm_resource_destroy(r->resource))
        r->errors++;
    r->resource = timed;
    r->serial = serial;
    r->failed_in_order = r->failed - failed;
    r->failed = failed;
    return tells;
}

static int replay(const replay_log_t *log, const char *spec, serial_t serial, int repeat)
{
    replay_t r = {.log = log, .serial = serial};
    kmm_stream_pool_t *pool = NULL;
    kmm_resource_usage_t usage;
    double best = -1;
    if (resource_make(spec, &r.resource))
        return 1;
    r.blocks = calloc(log->blocks + 1, sizeof(*r.blocks));
    int status = r.blocks ? streams_make(&r, &pool) : KMM_E_MEMORY;
    if (status == 0)
        status = rounds(&r, repeat, &best);
    if (status == 0)
        report(&r, best, spec, usage_of(&r, spec, &usage) ? &usage : NULL);
    else
        fprintf(stderr, "kmm-replay: %s: %s\n", kmm_error_string(status),
                kmm_resource_error_text());
    if (r.errors)
        fprintf(stderr, "kmm-replay: %zu calls failed otherwise\n", (size_t)r.errors);
    status |= kmm_resource_destroy(r.resource);
    kmm_stream_pool_destroy(pool);
    free(r.streams);
    free(r.blocks);
    return status || r.errors ? 1 : 0;
}

/* A pool on the best memory there is: what can be mapped, else the first device's, else the host's.
 */
static const char *usual_spec(void)
{
    kmm_resource_t *r;
    const char *spec = kmm_mapped_resource_create(0, &r) == 0   ? "pool/mapped"
                       : kmm_device_resource_create(0, &r) == 0 ? "pool/device"
                                                                : NULL;
    if (!spec)
        return "pool/host";
    kmm_resource_destroy(r);
    return spec;
}

static const char help[] =
    "Usage: kmm-replay [options] log.csv\n"
    "\n"
    "Runs a log of allocations again, thread by thread and stream by stream, and reports time, "
    "peak\n"
    "and fragmentation. kmm_logging_resource_create and RMM write such logs.\n"
    "\n"
    "Options:\n"
    "  --resource=SPEC  what allocates: layers over a source, such as pool:1G/device. Without it\n"
    "                   pool/mapped where device 0 can map memory, else pool/device, and "
    "pool/host\n"
    "                   where there is no device\n"
    "  --serial         one thread, in the log's order\n"
    "  --repeat=N       N rounds, the best of which is reported; 1 without it\n"
    "  --help, -h       this text\n"
    "  --version        the version of libkmm\n"
    "\n"
    "Sources, with :N behind them for a node or device:\n"
    "  host numa device mapped async managed pinned pinned_pool\n"
    "\n"
    "Layers:\n"
    "  pool[:initial[-maximum]] arena[:initial[-maximum]] thread_arena[:initial[-maximum]]\n"
    "  binning:least-most fixed_size:bytes limiting:bytes aligned:bytes\n"
    "  statistics tracking prefetch thread_safe\n";

static int print_version(void)
{
    printf("kmm-replay %s\n", kmm_version_string());
    return 0;
}

static int usage(FILE *to)
{
    fputs(help, to);
    return to == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"resource", required_argument, NULL, 'r'}, {"serial", no_argument, NULL, 's'},
        {"repeat", required_argument, NULL, 'n'},   {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},        {0},
    };
    const char *spec = NULL;
    serial_t serial = SERIAL_NO;
    int repeat = 1;
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (c == 'r')
            spec = optarg;
        else if (c == 's')
            serial = SERIAL_YES;
        else if (c == 'n')
            repeat = atoi(optarg);
        else if (c == 'v')
            return print_version();
        else
            return usage(c == 'h' ? stdout : stderr);
    }
    replay_log_t log;
    if (optind + 1 != argc || repeat < 1)
        return usage(stderr);
    if (replay_log_read(argv[optind], &log))
        return 1;
    int status = replay(&log, spec ? spec : usual_spec(), serial, repeat);
    replay_log_free(&log);
    return status;
}
