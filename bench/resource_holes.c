/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of one allocation and free in a pool that is in pieces, and how two threads get along.
 *
 *   resource_holes [holes [resource]]     default 65536 in pool:4G/host; tools/spec.h says what
 * else
 *
 * The pool is filled with small blocks, of which every other one is freed, in sizes of 256 to 4096
 * bytes, so that none of the holes is of use to the larger requests that follow. `pairs` allocate
 * and free at once; `window` keeps 64 live, which no cache of equal sizes can serve. One thread and
 * two take turns; of all rounds the medians are printed, and the lowest and highest ratio. The
 * ratio of the threads' processor time is what other work on the machine disturbs least.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "spec.h"

enum { THREADS = 2, ROUNDS = 5 };

typedef struct job {
    kmm_resource_t *pool;
    kmm_stream_t streams[THREADS]; /* one a thread; the first is this thread's */
    int window;                    /* live at a time; 0: one */
    size_t pairs, least, most;
    uint64_t seed;
    double processor; /* seconds of it, afterwards */
} job_t;

/* ns per pair of one thread. */
typedef struct cost {
    double time, processor;
} cost_t;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t roll(uint64_t *state, uint64_t n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state % n;
}

static void check(int status)
{
    if (status == 0)
        return;
    fprintf(stderr, "%s: %s\n", kmm_error_string(status), kmm_resource_error_text());
    exit(1);
}

static void *work(void *argument)
{
    job_t *j = argument;
    void *live[64] = {NULL};
    size_t bytes[64];
    uint64_t state = j->seed;
    int window = j->window ? j->window : 1;
    const double start = now(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0; i < j->pairs + (size_t)window; i++) {
        size_t slot = i % (size_t)window;
        if (live[slot])
            check(kmm_resource_deallocate(j->pool, live[slot], bytes[slot], j->streams[0]));
        live[slot] = NULL;
        if (i >= j->pairs)
            continue;
        bytes[slot] = j->least + roll(&state, j->most - j->least + 1);
        check(kmm_resource_allocate(j->pool, bytes[slot], 0, j->streams[0], &live[slot]));
    }
    j->processor = now(CLOCK_THREAD_CPUTIME_ID) - start;
    return NULL;
}

static cost_t time_threads(job_t job, int threads)
{
    pthread_t id[THREADS];
    job_t jobs[THREADS];
    double processor = 0, start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < threads; i++) {
        jobs[i] = job;
        jobs[i].streams[0] = job.streams[i];
        jobs[i].seed += (uint64_t)i;
        pthread_create(&id[i], NULL, work, &jobs[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(id[i], NULL);
        processor += jobs[i].processor / threads;
    }
    const double each = 1e9 / (double)job.pairs;
    return (cost_t){each * (now(CLOCK_MONOTONIC) - start), each * processor};
}

static void report(const char *name, job_t job)
{
    double one[ROUNDS], two[ROUNDS], ratio[ROUNDS], processor[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        const cost_t alone = time_threads(job, 1), both = time_threads(job, THREADS);
        one[i] = alone.time;
        two[i] = both.time;
        ratio[i] = THREADS * alone.time / both.time;
        processor[i] = THREADS * alone.processor / both.processor;
    }
    double *const all[] = {one, two, ratio, processor};
    for (int i = 0; i < 4; i++)
        qsort(all[i], ROUNDS, sizeof(double), bench_compare);
    printf("%-32s %6.1f ns a pair; two threads %.2f times one (%.2f to %.2f; by processor time "
           "%.2f)\n",
           name, one[ROUNDS / 2], THREADS * one[ROUNDS / 2] / two[ROUNDS / 2], ratio[0],
           ratio[ROUNDS - 1], processor[ROUNDS / 2]);
    bench_row("resource_holes/one", one[ROUNDS / 2], 0, "ns/pair", "%s", name);
    bench_row("resource_holes/two", processor[ROUNDS / 2], 0, "x", "%s", name);
}

static void make_holes(kmm_resource_t *pool, size_t holes)
{
    void **p = malloc(2 * holes * sizeof(*p));
    size_t *bytes = malloc(2 * holes * sizeof(*bytes));
    uint64_t state = 7;
    for (size_t i = 0; i < 2 * holes; i++) {
        bytes[i] = 256 * (1 + roll(&state, 16));
        check(kmm_resource_allocate(pool, bytes[i], 0, NULL, &p[i]));
    }
    for (size_t i = 0; i < 2 * holes; i += 2)
        check(kmm_resource_deallocate(pool, p[i], bytes[i], NULL));
    free(p);
    free(bytes);
}

/* Streams of the device, or any two numbers where memory has no streams. */
static kmm_stream_pool_t *make_streams(kmm_resource_t *r, job_t *job)
{
    kmm_stream_pool_t *streams = NULL;
    if (kmm_resource_device(r) >= 0)
        check(kmm_stream_pool_create(kmm_resource_device(r), THREADS, &streams));
    for (int i = 0; i < THREADS; i++) {
        job->streams[i] = (kmm_stream_t)(uintptr_t)(0x1000 * (i + 1));
        if (streams)
            check(kmm_stream_pool_get(streams, (size_t)i, &job->streams[i]));
    }
    return streams;
}

static const struct {
    const char *name;
    job_t job;
} jobs[] = {
    {"pairs of 8 KiB", {.pairs = 2000000, .least = 8192, .most = 8192}},
    {"pairs of 1 KiB, which holes fit", {.pairs = 2000000, .least = 1024, .most = 1024}},
    {"pairs of 1 B to 64 KiB", {.pairs = 2000000, .least = 1, .most = 65536}},
    {"window of 64, 1 B to 64 KiB", {.window = 64, .pairs = 2000000, .least = 1, .most = 65536}},
    {"pairs of 2 MiB", {.pairs = 1000000, .least = 2 << 20, .most = 2 << 20}},
    {"window of 64, 1 B to 4 MiB", {.window = 64, .pairs = 1000000, .least = 1, .most = 4 << 20}},
};

int main(int argc, char **argv)
{
    size_t holes = argc > 1 ? strtoull(argv[1], NULL, 10) : 65536;
    const char *spec = argc > 2 ? argv[2] : "pool:4G/host", *wrong = spec;
    kmm_resource_t *pool;
    if (kmm_spec_create(spec, &pool, &wrong)) {
        fprintf(stderr, "%s: wrong at \"%s\": %s\n", spec, wrong, kmm_resource_error_text());
        return 1;
    }
    make_holes(pool, holes);
    printf("%zu holes, %s\n", holes, spec);
    for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
        job_t job = jobs[i].job;
        job.pool = pool;
        job.seed = 1;
        kmm_stream_pool_t *streams = make_streams(pool, &job);
        report(jobs[i].name, job);
        for (int k = 0; k < THREADS && streams; k++)
            check(kmm_resource_stream_end(pool, job.streams[k]));
        kmm_stream_pool_destroy(streams);
    }
    kmm_resource_destroy(pool); /* reports the blocks between the holes, on purpose */
    return 0;
}
