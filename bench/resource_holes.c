/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of one allocation and free in a pool that is in pieces, and how two threads get along.
 *
 *   resource_holes [holes]          default 65536
 *
 * The pool is filled with small blocks, of which every other one is freed, in sizes of 256 to 4096
 * bytes, so that none of the holes is of use to the larger requests that follow. `pairs` allocate and
 * free at once; `window` keeps 64 live, which no cache of equal sizes can serve.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <kmm/resource.h>

typedef struct job {
    kmm_resource_t *pool;
    kmm_stream_t stream;
    int window; /* live at a time; 0: one */
    size_t pairs, least, most;
    uint64_t seed;
} job_t;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
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
    const job_t *j = argument;
    void *live[64] = { NULL };
    size_t bytes[64];
    uint64_t state = j->seed;
    int window = j->window ? j->window : 1;
    for (size_t i = 0; i < j->pairs + (size_t)window; i++) {
        size_t slot = i % (size_t)window;
        if (live[slot])
            check(kmm_resource_deallocate(j->pool, live[slot], bytes[slot], j->stream));
        live[slot] = NULL;
        if (i >= j->pairs)
            continue;
        bytes[slot] = j->least + roll(&state, j->most - j->least + 1);
        check(kmm_resource_allocate(j->pool, bytes[slot], 0, j->stream, &live[slot]));
    }
    return NULL;
}

/* Runs the job on so many threads; returns ns per pair of one thread. */
static double time_threads(job_t job, int threads)
{
    pthread_t id[8];
    job_t jobs[8];
    double start = now();
    for (int i = 0; i < threads; i++) {
        jobs[i] = job;
        jobs[i].stream = (kmm_stream_t)(uintptr_t)(0x1000 * (i + 1));
        jobs[i].seed += (uint64_t)i;
        pthread_create(&id[i], NULL, work, &jobs[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    return 1e9 * (now() - start) / (double)job.pairs;
}

static void report(const char *name, job_t job)
{
    double one = time_threads(job, 1);
    for (int i = 0; i < 2; i++) { /* the best of three: other work disturbs */
        double again = time_threads(job, 1);
        one = again < one ? again : one;
    }
    double two = time_threads(job, 2);
    for (int i = 0; i < 2; i++) {
        double again = time_threads(job, 2);
        two = again < two ? again : two;
    }
    printf("%-44s %7.1f ns a pair; two threads %.2f times one\n", name, one, 2 * one / two);
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

int main(int argc, char **argv)
{
    size_t holes = argc > 1 ? strtoull(argv[1], NULL, 10) : 65536;
    kmm_resource_t *host, *pool;
    check(kmm_host_resource_create(&host));
    check(kmm_pool_resource_create(host, &(kmm_pool_options_t){ .initial_bytes = (size_t)4 << 30 }, &pool));
    make_holes(pool, holes);
    printf("%zu holes\n", holes);
    report("pairs of 8 KiB", (job_t){ pool, NULL, 0, 2000000, 8192, 8192, 1 });
    report("pairs of 1 KiB, which holes fit", (job_t){ pool, NULL, 0, 2000000, 1024, 1024, 1 });
    report("pairs of 1 B to 64 KiB", (job_t){ pool, NULL, 0, 2000000, 1, 65536, 1 });
    report("window of 64, 1 B to 64 KiB", (job_t){ pool, NULL, 64, 2000000, 1, 65536, 1 });
    report("pairs of 2 MiB, larger than what is cached", (job_t){ pool, NULL, 0, 1000000, 2 << 20, 2 << 20, 1 });
    report("window of 64, 1 B to 4 MiB", (job_t){ pool, NULL, 64, 1000000, 1, 4 << 20, 1 });
    kmm_resource_destroy(pool); /* reports the blocks between the holes, on purpose */
    kmm_resource_destroy(host);
    return 0;
}
