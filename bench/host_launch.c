/* SPDX-License-Identifier: Apache-2.0 */
/* What the host backend costs by itself: launches of an empty kernel, and tasks on two threads. */
#include <sched.h>
#include <stdatomic.h>

#include "backend/backend.h"
#include "bench.h"

enum { SAMPLES = 21, ROUND_TRIPS = 2000, LAUNCHES = 100000, TASKS = 4000 };

typedef struct host {
    kmm__backend_t *b;
    kmm__gpu_t *gpu;
} host_t;

static void empty_run(const kmm_host_blocks_t *blocks, void **args)
{
    (void)blocks, (void)args;
}

/* Spins for args[0] seconds. */
static void busy_run(const kmm_host_blocks_t *blocks, void **args)
{
    for (uint64_t k = blocks->first; k < blocks->last; k++)
        for (double end = bench_now() + *(double *)args[0]; bench_now() < end;)
            ;
}

static const uint32_t busy_params[] = {sizeof(double)};
static const kmm_kernel_t empty_kernel = {
    .version = KMM_LAUNCH_VERSION, .kind = KMM_KIND_HOST, .name = "empty", .run = empty_run};
static const kmm_kernel_t busy_kernel = {.version = KMM_LAUNCH_VERSION,
                                         .kind = KMM_KIND_HOST,
                                         .name = "busy",
                                         .run = busy_run,
                                         .param_count = 1,
                                         .param_bytes = busy_params};

static void launch(host_t *h, kmm__stream_t *s, const kmm_kernel_t *kernel, uint32_t blocks,
                   void **args)
{
    kmm__run_t run = {.kernel = kernel,
                      .geometry = {.grid = {blocks, 1, 1}, .block = {256, 1, 1}},
                      .count = {blocks, 1, 1},
                      .args = args};
    bench_check(h->b->launch(s, &run), "launch");
}

static void set_flag(void *arg, int status)
{
    atomic_store((_Atomic int *)arg, status == 0 ? 1 : status);
}

static void notify_and_wait(host_t *h, kmm__stream_t *s)
{
    _Atomic int flag = 0;
    bench_check(h->b->notify(s, set_flag, &flag), "notify");
    while (!atomic_load(&flag))
        sched_yield();
}

static void open_host(host_t *h, uint32_t threads)
{
    bench_check(kmm__host_backend_create(threads, 0, 0, &h->b), "create");
    bench_check(h->b->open(h->b, 0, &h->gpu), "open");
}

static void close_host(host_t *h)
{
    h->b->close(h->gpu);
    h->b->unload(h->b);
}

static void measure_latency(uint32_t threads)
{
    host_t h;
    open_host(&h, threads);
    kmm__stream_t *s;
    bench_check(h.b->stream_create(h.gpu, &s), "stream");
    static double samples[ROUND_TRIPS];
    for (int k = 0; k < ROUND_TRIPS; k++) {
        double begin = bench_now();
        launch(&h, s, &empty_kernel, 1, NULL);
        notify_and_wait(&h, s);
        samples[k] = 1e6 * (bench_now() - begin);
    }
    char what[80];
    snprintf(what, sizeof(what), "empty launch and notify, round trip, %u thread(s)", threads);
    bench_report(what, "us", samples, ROUND_TRIPS);
    bench_row("host_launch/cost", samples[ROUND_TRIPS / 2], 0, "us", "%s", what);
    h.b->stream_destroy(s);
    close_host(&h);
}

static void measure_throughput(uint32_t threads)
{
    host_t h;
    open_host(&h, threads);
    kmm__stream_t *s;
    bench_check(h.b->stream_create(h.gpu, &s), "stream");
    double enqueue[SAMPLES], whole[SAMPLES];
    for (int k = 0; k < SAMPLES; k++) {
        double begin = bench_now();
        for (int n = 0; n < LAUNCHES; n++)
            launch(&h, s, &empty_kernel, 1, NULL);
        enqueue[k] = 1e9 * (bench_now() - begin) / LAUNCHES;
        notify_and_wait(&h, s);
        whole[k] = 1e9 * (bench_now() - begin) / LAUNCHES;
    }
    char what[80];
    snprintf(what, sizeof(what), "%d empty launches on a stream, enqueue, %u thread(s)", LAUNCHES,
             threads);
    bench_report(what, "ns/launch", enqueue, SAMPLES);
    bench_row("host_launch/cost", 1e-3 * enqueue[SAMPLES / 2], 0, "us", "%s", what);
    snprintf(what, sizeof(what), "%d empty launches on a stream, whole, %u thread(s)", LAUNCHES,
             threads);
    bench_report(what, "ns/launch", whole, SAMPLES);
    bench_row("host_launch/cost", 1e-3 * whole[SAMPLES / 2], 0, "us", "%s", what);
    h.b->stream_destroy(s);
    close_host(&h);
}

/* Efficiency: the time the tasks spin, over the time it took times the threads. */
static void measure_tasks(uint32_t threads, double seconds)
{
    host_t h;
    open_host(&h, threads);
    kmm__stream_t *streams[64];
    for (uint32_t k = 0; k < threads; k++)
        bench_check(h.b->stream_create(h.gpu, &streams[k]), "stream");
    double samples[SAMPLES];
    for (int k = 0; k < SAMPLES; k++) {
        double begin = bench_now();
        for (int n = 0; n < TASKS; n++)
            launch(&h, streams[(uint32_t)n % threads], &busy_kernel, 1, (void *[]){&seconds});
        for (uint32_t t = 0; t < threads; t++)
            notify_and_wait(&h, streams[t]);
        samples[k] = 100 * TASKS * seconds / ((bench_now() - begin) * threads);
    }
    char what[80];
    snprintf(what, sizeof(what), "tasks of %.0f us, one stream a thread, %u threads", 1e6 * seconds,
             threads);
    bench_report(what, "% busy", samples, SAMPLES);
    bench_row("host_launch/busy", samples[SAMPLES / 2], 100, "%", "%s", what);
    for (uint32_t k = 0; k < threads; k++)
        h.b->stream_destroy(streams[k]);
    close_host(&h);
}

static void measure_blocks(uint32_t threads, double seconds)
{
    host_t h;
    open_host(&h, threads);
    kmm__stream_t *s;
    bench_check(h.b->stream_create(h.gpu, &s), "stream");
    double samples[SAMPLES];
    for (int k = 0; k < SAMPLES; k++) {
        double begin = bench_now();
        launch(&h, s, &busy_kernel, TASKS, (void *[]){&seconds});
        notify_and_wait(&h, s);
        samples[k] = 100 * TASKS * seconds / ((bench_now() - begin) * threads);
    }
    char what[80];
    snprintf(what, sizeof(what), "one kernel of %d blocks of %.0f us, %u threads", TASKS,
             1e6 * seconds, threads);
    bench_report(what, "% busy", samples, SAMPLES);
    bench_row("host_launch/busy", samples[SAMPLES / 2], 100, "%", "%s", what);
    h.b->stream_destroy(s);
    close_host(&h);
}

int main(void)
{
    measure_latency(1);
    measure_latency(2);
    measure_throughput(1);
    measure_throughput(2);
    measure_tasks(2, 10e-6);
    measure_blocks(2, 10e-6);
    return 0;
}
