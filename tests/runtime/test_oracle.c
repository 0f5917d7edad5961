/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs against sequential execution. A program is some arrays for each of one to three
 * threads, and a list of operations on them: launches of kernels and functions with shifted,
 * strided, mirrored, whole and growing sections, reductions, copies, fills, ends and maps of
 * arrays, streams and marks on them. Pointers may lie before their array, or mapped memory, as
 * those of one-based arrays do. Grids may be smaller or larger than what a launch works on. The
 * threads have a runtime each, or one together and then also an array that all read and a sum that
 * all add to. Devices are pretended, or those of fake drivers; host memory may be limited. Each
 * program runs in a process of its own, so that a crash or a hang is a failure like any other.
 *
 * LD_LIBRARY_PATH must name the fake drivers. KMM_ORACLE_PROGRAMS programs are run, from seed
 * KMM_SEED on, KMM_ORACLE_JOBS at a time; share.h divides them. One that fails is shrunk by
 * dropping operations while it still fails, and printed with the seed that repeats it;
 * KMM_ORACLE_KEEP lists what was left. KMM_ORACLE_DEVICES, "cuda" or "hip": all programs are run on
 * GPUs, the first of that kind; KMM_FAKE_HIP_WHOLE and KMM_FAKE_HIP_LANES say which form of AMD's
 * they are. "one": on one device with little memory, which then orders chunks by reuse. A third of
 * the programs are loops. KMM_ORDER=submission repeats the
 * same programs in order.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bar.h"
#include "base/exit_status.h"
#include "base/spin.h"
#include "oracle_program.h"
#include "random.h"
#include "share.h"

static int gpu_count = 8; /* of each kind */

static const char *const op_names[] = {"launch", "reduce", "copy in", "copy out", "copy",
                                       "fill",   "renew",  "wait",    "nest",     "mark"};

/* ---- Running, shrinking, printing ---- */

/* Runs the program in a process of its own. */
static pid_t start(program_t *p, bool quiet)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(2);
    }
    if (child > 0)
        return child;
    alarm(LIMIT_S);
    if (quiet && !freopen("/dev/null", "w", stderr))
        _exit(2);
    if (oracle_kernel_find())
        exit(2);
    bool is_right = oracle_run(p);
    kmm__exit_forget(); /* of the stores that KMM_CHECK finds */
    exit(is_right ? 0 : 1);
}

static bool fails(program_t *p)
{
    int status;
    pid_t child = start(p, true);
    while (waitpid(child, &status, 0) != child)
        ;
    return status != 0;
}

/* A failure may depend on the order in which threads run. */
static bool fails_often(program_t *p)
{
    for (int k = 0; k < 4; k++)
        if (fails(p))
            return true;
    return false;
}

static void shrink(program_t *p)
{
    time_t end = time(NULL) + LIMIT_S;
    for (bool again = true; again;) {
        again = false;
        for (int t = 0; t < p->script_count; t++)
            for (int k = p->script[t].op_count; k-- > 0;) {
                op_t *op = &p->script[t].op[k];
                if (op->dropped || time(NULL) > end)
                    continue;
                op->dropped = true;
                op->dropped = fails_often(p);
                again |= op->dropped;
            }
    }
}

static void print_section(const section_t *c)
{
    if (c->whole)
        fprintf(stderr, "[:]");
    else
        fprintf(stderr, "[%lld*i%+lld:%lld%+lld*i]", (long long)c->scale, (long long)c->offset,
                (long long)c->length, (long long)c->growth);
}

static void print_op(const op_t *op, int k)
{
    fprintf(stderr, "  op %d: %s slot %d", k, op_names[op->kind], op->target);
    if (op->kind != LAUNCH && op->kind != REDUCE) {
        fprintf(stderr, " begin %lld count %lld other %d at %lld value %d\n", (long long)op->begin,
                (long long)op->count, op->other, (long long)op->other_begin, op->value);
        return;
    }
    fprintf(stderr, " mode %d op %d %s shift %lld extra %d stream %d schedule %d priority %d%s%s%s",
            op->mode, op->op,
            op->is_function ? "function"
            : op->on_gpu    ? "kernel of the GPU"
                            : "kernel",
            (long long)op->shift, op->extra, op->stream, op->schedule, op->priority,
            op->on_first ? " on the first device" : "", op->nowait ? " nowait" : "",
            op->has_if ? " in one chunk" : "");
    if (op->strays)
        fprintf(stderr, " strays at %lld,%lld,%lld", (long long)op->stray[0],
                (long long)op->stray[1], (long long)op->stray[2]);
    fprintf(stderr, " pointers before %lld %lld %lld", (long long)op->before[0],
            (long long)op->before[1], (long long)op->before[2]);
    if (op->kind == REDUCE)
        fprintf(stderr, " section %lld:%lld", (long long)op->begin, (long long)op->count);
    for (uint32_t d = 0; d < op->dims; d++) {
        fprintf(stderr, "\n    extent %lld range %lld:%lld chunk %lld%s block %u out ",
                (long long)op->extent[d], (long long)op->lo[d], (long long)op->length[d],
                (long long)op->chunk[d], op->in_blocks ? " blocks" : "", op->block[d]);
        print_section(&op->out[d]);
        if (op->grid[d])
            fprintf(stderr, " grid %u blocks%s", op->grid[d],
                    op->reach == STRIDED ? ", with its stride" : ", bounded");
        for (int j = 0; j < op->source_count; j++) {
            fprintf(stderr, " slot %d", op->source[j].slot);
            print_section(&op->source[j].section[d]);
        }
    }
    fprintf(stderr, "\n");
}

/* What keep_only reads. */
static void print_kept(const program_t *p)
{
    for (int t = 0; t < p->script_count; t++)
        for (int k = 0; k < p->script[t].op_count; k++)
            if (!p->script[t].op[k].dropped)
                fprintf(stderr, "%d.%d ", t, k);
}

static void print_program(const program_t *p)
{
    fprintf(stderr, "devices ");
    fprintf(stderr, p->devices, (long long)p->memory);
    fprintf(stderr,
            ", %u threads of the host, %lld bytes of its memory (0: all), disk \"%s\", %s, granule "
            "%d, jitter %d us, %d stagers, %s, chunks joined to %lld bytes\n",
            p->threads, (long long)p->host_memory, p->disk,
            p->apart ? "a runtime for each thread" : "one runtime", p->granule, p->jitter,
            p->stagers, p->locks ? "memory page-locked" : "none page-locked", (long long)p->join);
    fprintf(stderr, "%s%sfault %d at launch %d\n", p->checks ? "accesses checked, " : "",
            p->compares ? "results compared, " : "", p->fault, p->fault_at);
    for (int t = 0; t < p->script_count; t++) {
        const script_t *s = &p->script[t];
        fprintf(stderr, "thread %d:", t);
        for (int k = 0; k < s->slot_count; k++)
            fprintf(stderr, " slot %d (kind %d%s map %d type %d n %lld)", k, s->slot[k].kind,
                    s->slot[k].pinned ? " pinned" : "", s->slot[k].map, s->slot[k].type,
                    (long long)s->slot[k].n);
        fprintf(stderr, "\n");
        for (int k = 0; k < s->op_count; k++)
            if (!s->op[k].dropped)
                print_op(&s->op[k], k);
    }
}

static void report(uint64_t seed, int status)
{
    static program_t p;
    oracle_make(&p, seed, gpu_count);
    if (WIFSIGNALED(status))
        fprintf(stderr, "signal %d%s\n", WTERMSIG(status),
                WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
    fprintf(stderr, "FAILED; to repeat: KMM_ORACLE_PROGRAMS=1 KMM_SEED=%llu\n",
            (unsigned long long)seed);
    if (!getenv("KMM_ORACLE_NO_SHRINK"))
        shrink(&p);
    fprintf(stderr, "shrunk: KMM_ORACLE_KEEP=\"");
    print_kept(&p);
    fprintf(stderr, "\"\n");
    print_program(&p);
}

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atol(text) : otherwise;
}

typedef struct job {
    pid_t child;
    uint64_t seed;
} job_t;

/* Draws a bar on a terminal when some seconds have passed. all 0: erases it. */
static void show(uint64_t done, uint64_t all)
{
    enum { PATIENCE = 3 };
    static uint64_t began;
    static bool is_drawn;
    char text[KMM__BAR_TEXT];
    began = began ? began : kmm__now();
    double seconds = 1e-9 * (double)(kmm__now() - began);
    unsigned columns = kmm__bar_possible(STDERR_FILENO) ? kmm__bar_columns(STDERR_FILENO) : 0;
    if (columns && all && seconds > PATIENCE) {
        double rate = (double)done / seconds;
        kmm__bar_t bar = {"oracle", done,       all,
                          rate,     "programs", rate > 0 ? (double)(all - done) / rate : -1};
        fwrite(text, 1, kmm__bar_text(&bar, columns, text), stderr);
        is_drawn = true;
    } else if (is_drawn) {
        fputs("\033[K", stderr);
        is_drawn = false;
    }
}

int main(void)
{
    enum { JOBS = 16, MOST_FAILURES = 3 };
    static program_t p;
    job_t jobs[JOBS] = {{0, 0}};
    long count = number("KMM_ORACLE_PROGRAMS", 600), width = number("KMM_ORACLE_JOBS", 2),
         begun = 0, ended = 0;
    uint64_t seed = rng_seed();
    const share_t share = share_of_test();
    int failures = 0;
    const char *only = getenv("KMM_ORACLE_DEVICES");
    if (only && strcmp(only, "cuda") && strcmp(only, "hip") && strcmp(only, "one")) {
        fprintf(stderr, "KMM_ORACLE_DEVICES is cuda, hip or one\n");
        return 2;
    }
    gpu_count = (int)number("KMM_TEST_GPUS", gpu_count);
    seed += (uint64_t)(count * (share.number - 1) / share.count);
    count = count * share.number / share.count - count * (share.number - 1) / share.count;
    width = width < 1 ? 1 : width > JOBS ? JOBS : width;
    while (ended < begun || (begun < count && failures < MOST_FAILURES)) {
        for (long k = 0; k < width && begun < count && failures < MOST_FAILURES; k++)
            if (!jobs[k].child) {
                oracle_make(&p, seed + (uint64_t)begun++, gpu_count);
                jobs[k] = (job_t){start(&p, false), p.seed};
            }
        int status;
        pid_t child = waitpid(-1, &status, 0);
        for (long k = 0; k < width; k++)
            if (child > 0 && jobs[k].child == child) {
                jobs[k].child = 0;
                ended++;
                failures += status != 0;
                show(status ? 0 : (uint64_t)ended, status ? 0 : (uint64_t)count);
                if (status && failures <= MOST_FAILURES)
                    report(jobs[k].seed, status);
            }
    }
    show(0, 0);
    fprintf(stderr, "%ld programs, %d failed\n", ended, failures);
    return failures ? 1 : 0;
}
