/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runtime itself costs, through the public interface on the CPU: empty tasks, chunks that
 * are only submitted, and short tasks on two threads. With StarPU's development files, its empty
 * tasks beside ours.
 *
 *     bench_task_overhead                    everything
 *     bench_task_overhead compare THREADS    empty tasks beside StarPU's, whose benchmark has 2
 *     bench_task_overhead counts             empty tasks by their number
 *     bench_task_overhead chunks             chunks of a launch by their number
 *     bench_task_overhead short              tasks of 10 us on two threads
 *
 * One configuration once, for a profiler:
 *
 *     bench_task_overhead tasks REGIONS COUNT [THREADS]    COUNT empty tasks
 *     bench_task_overhead submit CHUNKS LAUNCHES           LAUNCHES launches of CHUNKS chunks
 *     bench_task_overhead work COUNT [launch]              COUNT tasks of 10 us on two threads
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

#include <kmm.h>

#include "bench.h"
#include "task_overhead.h"

enum { SAMPLES = 7, TASKS = 65536, ROUNDS = 3 };
static const double WORK_SECONDS = 10e-6, TARGET_RATIO = 0.25, TARGET_SUBMIT_US = 1.0,
                    TARGET_BUSY = 90;

/* ---- Runtimes ---- */

static void check(kmm_runtime_t *rt, int error, const char *what)
{
    if (error)
        fprintf(stderr, "%s\n", kmm_error_text(rt));
    bench_check(error, what);
}

static kmm_runtime_t *open_host(uint32_t threads)
{
    kmm_runtime_t *rt;
    check(NULL, kmm_create(&rt, &(kmm_config_t){.devices = "host", .threads = threads}),
          "kmm_create");
    kmm_use(rt);
    return rt;
}

static void close_host(kmm_runtime_t *rt)
{
    check(rt, kmm_wait(rt), "kmm_wait");
    kmm_use(NULL);
    check(NULL, kmm_destroy(rt), "kmm_destroy");
}

static float *array(kmm_runtime_t *rt, int64_t elements)
{
    void *base;
    kmm_shape_t shape = {.dims = 1, .extent = {elements}, .element_bytes = sizeof(float)};
    check(rt, kmm_array_create(rt, &shape, &base), "kmm_array_create");
    check(rt, kmm_fill(rt, base, 0, (size_t)elements * sizeof(float)), "kmm_fill");
    return base;
}

static double cpu_seconds(void) /* of all threads of this process */
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Empty tasks ---- */

static void empty_chunk(const kmm_chunk_t *chunk, void *args)
{
    (void)chunk, (void)args;
}

/* One task that updates the whole of each array. */
static int submit_empty(float *const *arrays, uint32_t count)
{
    kmm_launch_t *l = kmm_launch_begin("empty", __FILE__, __LINE__);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, 1);
    kmm_launch_chunk(l, KMM_RANGE_0, 1);
    for (uint32_t k = 0; k < count; k++)
        kmm_launch_access(l, KMM_UPDATE, "a[:]", arrays[k], sizeof(float));
    return kmm_launch_call(l, empty_chunk, arrays, count * sizeof(*arrays));
}

static double kmm_run(kmm_runtime_t *rt, const shape_t *s)
{
    float *arrays[MAX_REGIONS];
    for (uint32_t k = 0; k < s->regions; k++)
        arrays[k] = array(rt, REGION_FLOATS);
    check(rt, kmm_wait(rt), "kmm_wait");
    double begin = bench_now();
    for (uint32_t t = 0; t < s->tasks; t++)
        check(rt, submit_empty(arrays, s->regions), "submit");
    check(rt, kmm_wait(rt), "kmm_wait");
    double seconds = bench_now() - begin;
    for (uint32_t k = 0; k < s->regions; k++)
        check(rt, kmm_array_destroy(rt, arrays[k]), "kmm_array_destroy");
    return seconds;
}

static double median(double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof(*samples), bench_compare);
    return samples[count / 2];
}

typedef enum system { KMM, STARPU, STARPU_TAGGED, SYSTEMS } system_t;

/* One round of one shape on one system: us per task, each sample a run of its own; of all threads
 * together in cpu. */
static void sample_tasks(system_t system, const shape_t *s, double *samples, double *cpu, int count)
{
    kmm_runtime_t *rt = NULL;
    if (system == KMM)
        rt = open_host(s->threads);
#ifdef KMM_BENCH_STARPU
    else
        starpu_begin(s->threads);
#endif
    for (int k = 0; k < count; k++) {
        double seconds = 0, used = cpu_seconds();
        if (system == KMM)
            seconds = kmm_run(rt, s);
#ifdef KMM_BENCH_STARPU
        else
            seconds = system == STARPU ? starpu_run(s) : starpu_run_tagged(s);
#endif
        samples[k] = 1e6 * seconds / s->tasks;
        cpu[k] = 1e6 * (cpu_seconds() - used) / s->tasks;
    }
    if (system == KMM)
        close_host(rt);
#ifdef KMM_BENCH_STARPU
    else
        starpu_end();
#endif
}

/* Systems take turns, so that what else the machine does meets all of them. */
static void compare_tasks(const shape_t *s)
{
    static const char *const names[SYSTEMS] = {"kmm", "StarPU", "StarPU, as its own benchmark"};
    double samples[SYSTEMS][ROUNDS * SAMPLES], cpu[SYSTEMS][ROUNDS * SAMPLES],
        medians[SYSTEMS] = {0};
#ifdef KMM_BENCH_STARPU
    int systems = SYSTEMS;
#else
    int systems = KMM + 1;
#endif
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < systems; k++)
            sample_tasks((system_t)k, s, samples[k] + round * SAMPLES, cpu[k] + round * SAMPLES,
                         SAMPLES);
    for (int k = 0; k < systems; k++) {
        char what[80];
        snprintf(what, sizeof(what), "%u threads, %u regions: %s", s->threads, s->regions,
                 names[k]);
        bench_report(what, "us/task", samples[k], ROUNDS * SAMPLES);
        medians[k] = median(samples[k], ROUNDS * SAMPLES);
    }
    printf("%-58s %10.3f us of all cores by kmm for a task\n", "",
           median(cpu[KMM], ROUNDS * SAMPLES));
    for (int k = 1; k < systems; k++)
        printf("%-58s %10.3f of %s's time; wanted: at most %.2f\n", "", medians[KMM] / medians[k],
               names[k], TARGET_RATIO);
    char subject[64];
    snprintf(subject, sizeof(subject), "task_overhead/%u-threads", s->threads);
    bench_row(subject, medians[KMM], medians[STARPU_TAGGED], "us/task", "%u array%s", s->regions,
              s->regions == 1 ? "" : "s");
}

static void measure_tasks(uint32_t threads)
{
    static const uint32_t regions[] = {0, 1, 2, 4, 8};
    printf(
        "== empty tasks, from the first submission to the last completion, %d tasks, %u threads\n",
        TASKS, threads);
    for (size_t k = 0; k < sizeof(regions) / sizeof(*regions); k++)
        compare_tasks(&(shape_t){regions[k], threads, TASKS});
}

/* Whether the time per task, or memory, depends on how many there are. */
static void measure_task_counts(void)
{
    static const uint32_t counts[] = {1000, 10000, 100000, 1000000};
    double first = 0;
    printf("== empty tasks with 2 regions, 1 thread, by number of tasks; wanted: flat\n");
    for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++) {
        double samples[SAMPLES], cpu[SAMPLES];
        int runs = counts[k] > 100000 ? 3 : SAMPLES;
        struct rusage usage;
        char what[80];
        sample_tasks(KMM, &(shape_t){2, 1, counts[k]}, samples, cpu, runs);
        snprintf(what, sizeof(what), "%u tasks", counts[k]);
        bench_report(what, "us/task", samples, runs);
        first = k == 0 ? samples[runs / 2] : first;
        getrusage(RUSAGE_SELF, &usage);
        printf("%-58s %10.3f of the time with %u; largest resident size so far %ld MiB\n", "",
               samples[runs / 2] / first, counts[0], usage.ru_maxrss / 1024);
        bench_row("task_overhead/counts", samples[runs / 2], 0, "us/task", "%u tasks", counts[k]);
    }
}

/* ---- Submitting chunks ---- */

typedef struct three {
    float *c;
    const float *a, *b;
} three_t;

/* Keeps the only thread busy until it is let go, so that nothing submitted behind it runs. */
static _Atomic bool gate_is_open;

static void gate_chunk(const kmm_chunk_t *chunk, void *args)
{
    (void)chunk, (void)args;
    struct timespec nap = {0, 50000};
    while (!atomic_load(&gate_is_open))
        nanosleep(&nap, NULL);
}

static int submit_gate(three_t *t)
{
    kmm_launch_t *l = kmm_launch_begin("gate", __FILE__, __LINE__);
    atomic_store(&gate_is_open, false);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, 1);
    kmm_launch_chunk(l, KMM_RANGE_0, 1);
    kmm_launch_access(l, KMM_UPDATE, "a[:]", t->a, sizeof(float));
    kmm_launch_access(l, KMM_UPDATE, "b[:]", t->b, sizeof(float));
    kmm_launch_access(l, KMM_UPDATE, "c[:]", t->c, sizeof(float));
    return kmm_launch_call(l, gate_chunk, t, sizeof(*t));
}

static void access_one(kmm_launch_t *l, kmm_mode_t mode, const char *text, const float *base)
{
    kmm_launch_access(l, mode, text, base, sizeof(float));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
}

/* c[i] from a[i] and b[i] in `chunks` chunks. */
static int submit_three(three_t *t, int64_t elements, int64_t chunks)
{
    kmm_launch_t *l = kmm_launch_begin("add", __FILE__, __LINE__);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, elements);
    kmm_launch_chunk(l, KMM_RANGE_0, elements / chunks);
    access_one(l, KMM_READ, "a[i]", t->a);
    access_one(l, KMM_READ, "b[i]", t->b);
    access_one(l, KMM_WRITE, "c[i]", t->c);
    return kmm_launch_call(l, empty_chunk, t, sizeof(*t));
}

typedef struct submitted {
    double submit, whole;
} submitted_t; /* us per chunk */

/* `held`: nothing runs while it is submitted, so what is measured is the plan and the DAG alone.
 * The first launch cuts the arrays into chunks and is not counted. */
static submitted_t run_submit(int64_t chunks, int launches, bool held)
{
    int64_t elements = chunks * 64;
    kmm_runtime_t *rt = open_host(1);
    three_t t = {array(rt, elements), array(rt, elements), array(rt, elements)};
    if (held)
        check(rt, submit_gate(&t), "gate");
    check(rt, submit_three(&t, elements, chunks), "submit");
    if (!held)
        check(rt, kmm_wait(rt), "kmm_wait");
    double begin = bench_now();
    for (int k = 0; k < launches; k++)
        check(rt, submit_three(&t, elements, chunks), "submit");
    double middle = bench_now();
    atomic_store(&gate_is_open, true);
    check(rt, kmm_wait(rt), "kmm_wait");
    double end = bench_now(), count = (double)chunks * launches;
    close_host(rt);
    return (submitted_t){1e6 * (middle - begin) / count, 1e6 * (end - begin) / count};
}

static int launches_of(int64_t chunks)
{
    return (int)(20000 / chunks);
}

/* With the launch that is not counted, fewer chunks than are let in before a program has to wait:
 * about 2000. */
static int launches_held(int64_t chunks)
{
    return (int)(2000 / chunks) - 1;
}

static void report_chunks(int64_t chunks, double held, double submit, double whole)
{
    const struct {
        const char *subject;
        double us;
    } rows[] = {{"task_overhead/submit-alone", held},
                {"task_overhead/submit", submit},
                {"task_overhead/done", whole}};
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++)
        if (rows[k].us > 0)
            bench_row(rows[k].subject, rows[k].us, 0, "us/chunk", "%lld chunk%s", (long long)chunks,
                      chunks == 1 ? "" : "s");
}

static void measure_submit(void)
{
    static const int64_t counts[] = {1, 10, 100, 1000, 10000};
    double first = 0;
    printf("== chunks of a launch with three arrays, by chunks per array; wanted: at most %.1f us "
           "to submit, flat\n",
           TARGET_SUBMIT_US);
    for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
        double held[SAMPLES], submit[SAMPLES], whole[SAMPLES];
        char what[80];
        for (int k = 0; k < SAMPLES; k++) {
            if (launches_held(counts[c]) > 0)
                held[k] = run_submit(counts[c], launches_held(counts[c]), true).submit;
            submitted_t free_running = run_submit(counts[c], launches_of(counts[c]), false);
            submit[k] = free_running.submit;
            whole[k] = free_running.whole;
        }
        snprintf(what, sizeof(what), "%lld chunks: submit, nothing runs meanwhile",
                 (long long)counts[c]);
        if (launches_held(counts[c]) > 0)
            bench_report(what, "us/chunk", held, SAMPLES);
        snprintf(what, sizeof(what), "%lld chunks: submit, chunks run meanwhile",
                 (long long)counts[c]);
        bench_report(what, "us/chunk", submit, SAMPLES);
        snprintf(what, sizeof(what), "%lld chunks: submit to completion", (long long)counts[c]);
        bench_report(what, "us/chunk", whole, SAMPLES);
        first = counts[c] == 10 ? whole[SAMPLES / 2]
                                : first; /* a launch of one chunk pays for the launch */
        if (first > 0)
            printf("%-58s %10.3f of the time with %lld\n", "", whole[SAMPLES / 2] / first,
                   (long long)counts[1]);
        report_chunks(counts[c], launches_held(counts[c]) > 0 ? held[SAMPLES / 2] : 0,
                      submit[SAMPLES / 2], whole[SAMPLES / 2]);
    }
}

/* ---- Short tasks on two threads ---- */

static uint64_t turns; /* of the loop below that take WORK_SECONDS */

/* A fixed amount of work, so that a thread that is kept from its core finishes late. */
static void work(uint64_t count)
{
    uint64_t x = count;
    for (uint64_t k = 0; k < count; k++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
}

static void work_chunk(const kmm_chunk_t *chunk, void *args)
{
    (void)args;
    for (int64_t k = chunk->begin[0]; k < chunk->end[0]; k++)
        work(turns);
}

static void calibrate(void)
{
    double best = 1;
    turns = 1 << 20;
    for (int k = 0; k < 50; k++) {
        double begin = bench_now();
        work(turns);
        double seconds = bench_now() - begin;
        best = seconds < best ? seconds : best;
    }
    turns = (uint64_t)((double)turns * WORK_SECONDS / best);
}

/* `count` points of 10 us each: as one launch of as many chunks, or as launches of one chunk. */
static int submit_points(int64_t count, bool as_one)
{
    int error = 0;
    for (int64_t k = 0; k < (as_one ? 1 : count) && !error; k++) {
        kmm_launch_t *l = kmm_launch_begin("work", __FILE__, __LINE__);
        kmm_launch_axis(l, "i", KMM_RANGE_0, 0, as_one ? count : 1);
        kmm_launch_chunk(l, KMM_RANGE_0, 1);
        error = kmm_launch_call(l, work_chunk, NULL, 0);
    }
    return error;
}

typedef struct busy {
    double wall, cpu;
} busy_t; /* percent: of two cores' time; of the CPU time that was used */

static busy_t run_points(int64_t count, bool as_one)
{
    kmm_runtime_t *rt = open_host(2);
    check(rt, submit_points(100, true), "submit");
    check(rt, kmm_wait(rt), "kmm_wait");
    double begin = bench_now(), cpu = cpu_seconds();
    check(rt, submit_points(count, as_one), "submit");
    check(rt, kmm_wait(rt), "kmm_wait");
    cpu = cpu_seconds() - cpu;
    double wall = bench_now() - begin, useful = (double)count * WORK_SECONDS;
    close_host(rt);
    return (busy_t){100 * useful / (2 * wall), 100 * useful / cpu};
}

static void measure_work(void)
{
    calibrate();
    printf("== tasks of 10 us on 2 threads; wanted: at least %.0f%% of two cores\n", TARGET_BUSY);
    for (int as_one = 1; as_one >= 0; as_one--) {
        double wall[SAMPLES], cpu[SAMPLES];
        const char *how = as_one ? "chunks of one launch" : "launches of one chunk";
        char what[80];
        for (int k = 0; k < SAMPLES; k++) {
            busy_t b = run_points(TASKS, as_one);
            wall[k] = b.wall;
            cpu[k] = b.cpu;
        }
        snprintf(what, sizeof(what), "%d %s: of two cores", TASKS, how);
        bench_report(what, "%", wall, SAMPLES);
        bench_row("task_overhead/busy", wall[SAMPLES / 2], 100, "%", "tasks of 10 us, %s", how);
        snprintf(what, sizeof(what), "%d %s: of the CPU time used", TASKS, how);
        bench_report(what, "%", cpu, SAMPLES);
    }
}

/* ---- One configuration ---- */

static long number(int argc, char **argv, int k, long otherwise)
{
    return k < argc ? atol(argv[k]) : otherwise;
}

static const struct {
    const char *name;
    void (*measure)(void);
} sections[] = {
    {"counts", measure_task_counts},
    {"chunks", measure_submit},
    {"short", measure_work},
};

static int run_one(int argc, char **argv)
{
    if (!strcmp(argv[1], "tasks") && argc >= 4) {
        shape_t s = {(uint32_t)atol(argv[2]), (uint32_t)number(argc, argv, 4, 1),
                     (uint32_t)atol(argv[3])};
        double us, cpu;
        if (s.regions > MAX_REGIONS || s.tasks < 1 || s.threads < 1)
            return 2;
        sample_tasks(KMM, &s, &us, &cpu, 1);
        printf("%.3f us/task, %.3f of all cores\n", us, cpu);
        return 0;
    }
    if (!strcmp(argv[1], "compare") && argc == 3 && atol(argv[2]) > 0) {
        measure_tasks((uint32_t)atol(argv[2]));
        return 0;
    }
    for (size_t k = 0; argc == 2 && k < sizeof(sections) / sizeof(*sections); k++) {
        if (strcmp(argv[1], sections[k].name))
            continue;
        sections[k].measure();
        return 0;
    }
    if (!strcmp(argv[1], "submit") && argc == 4) {
        submitted_t s = run_submit(atol(argv[2]), (int)atol(argv[3]), false);
        printf("%.3f us/chunk to submit, %.3f to completion\n", s.submit, s.whole);
        return 0;
    }
    if (!strcmp(argv[1], "work") && argc >= 3) {
        calibrate();
        busy_t b = run_points(atol(argv[2]), argc > 3 && !strcmp(argv[3], "launch"));
        printf("%.1f%% of two cores, %.1f%% of the CPU time used\n", b.wall, b.cpu);
        return 0;
    }
    return 2;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        int status = run_one(argc, argv);
        if (status)
            fprintf(stderr,
                    "usage: %s [tasks REGIONS COUNT [THREADS] | compare THREADS | counts | chunks "
                    "| short | submit CHUNKS LAUNCHES | work COUNT [launch]]\n",
                    argv[0]);
        return status;
    }
    measure_tasks(1);
    measure_tasks(2);
    measure_task_counts();
    measure_submit();
    measure_work();
    return 0;
}
