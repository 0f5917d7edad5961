/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults in chunks. Random launches, each in a process of its own, fault in one chunk of many: the
 * message must name that one, with its indices, and where the address is. KMM_TEST_FAULTS is how
 * many there are.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>
#include <kmm/launch.h>

#include "random.h"
#include "with_runtime.h"

enum { BLOCK = 16 };

typedef enum where { NULL_POINTER, BEHIND, BEFORE, PROTECTED, WHERES } where_t;

/* A launch of `chunks` chunks of `size` blocks, or as many indices of a function, each. */
typedef struct program {
    const char *devices;
    bool is_kernel, is_two_dimensional;
    bool has_others;        /* there was another runtime */
    bool has_handler_above; /* the program's, which calls libkmm's, and outlives its runtime */
    bool is_in_thread;      /* the chunk starts a thread, which faults */
    uint32_t size, chunks, faulty;
    where_t where;
} program_t;

static const program_t *program; /* of this process */
static char *volatile null;

static int64_t length(const program_t *p)
{
    return (int64_t)p->size * p->chunks * BLOCK;
}

/* At the first index of the faulty chunk. */
static void fault(int32_t *x, int64_t at)
{
    volatile int32_t *v = x;
    int64_t most = length(program);
    switch (program->where) {
    case NULL_POINTER: *(volatile int32_t *)(null + 64) = 1; return;
    case BEHIND: v[most + 2] = 1; return;
    case BEFORE: v[-3] = 1; return;
    case PROTECTED: v[at] = 1; return;
    case WHERES: return;
    }
}

static void *fault_main(void *x)
{
    fault(x, (int64_t)program->faulty * program->size * BLOCK);
    return NULL;
}

/* The same, in a thread of its own if the program says so. */
static void fault_somewhere(int32_t *x, int64_t at)
{
    pthread_t thread;
    if (!program->is_in_thread)
        fault(x, at);
    else if (pthread_create(&thread, NULL, fault_main, x) == 0)
        pthread_join(thread, NULL);
}

static int64_t first_faulty(void)
{
    return (int64_t)program->faulty * program->size * BLOCK;
}

static void run_kernel(const kmm_host_blocks_t *blocks, void **args)
{
    int32_t *x = *(int32_t **)args[0];
    for (uint64_t b = blocks->first; b < blocks->last; b++) {
        int64_t block = blocks->offset[0] + (int64_t)(b % blocks->count[0]);
        if (block * BLOCK == first_faulty() && blocks->offset[1] + b / blocks->count[0] == 0)
            fault_somewhere(x, first_faulty());
    }
}

static void run_function(const kmm_chunk_t *chunk, void *args)
{
    int32_t *x;
    memcpy(&x, args, sizeof(x));
    if (chunk->begin[0] <= first_faulty() && first_faulty() < chunk->end[0])
        fault_somewhere(x, first_faulty());
}

static void launch(const program_t *p, int32_t *x)
{
    static const uint32_t bytes[] = {sizeof(x)};
    static const kmm_kernel_t kernel = {
        KMM_LAUNCH_VERSION, KMM_KIND_HOST, "faulty", run_kernel, NULL, 1, bytes, 0, NULL};
    kmm_launch_t *l = kmm_launch_begin("faulty", "fault.c", 5);
    kmm_source_t source = p->is_kernel ? KMM_GLOBAL_X : KMM_RANGE_0;
    kmm_launch_axis(l, "i", source, 0, length(p));
    kmm_launch_chunk(l, source, (int64_t)p->size * BLOCK);
    kmm_launch_access(l, KMM_UPDATE, "x[i]", x, sizeof(*x));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    if (!p->is_kernel) {
        kmm_launch_call(l, run_function, &x, sizeof(x));
        return;
    }
    kmm_geometry_t g = {
        {p->size * p->chunks, p->is_two_dimensional ? 3 : 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    void *args[] = {&x};
    kmm_launch_arm(l);
    kmm_launch_kernel(&kernel, &g, args);
}

/* The program's memory, with nothing before and behind it, whose faulty chunk cannot be written. */
static int32_t *lonely(const program_t *p)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)length(p) * sizeof(int32_t);
    char *all = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mprotect(all + page, bytes, PROT_READ | PROT_WRITE))
        _exit(2);
    return (int32_t *)(all + page);
}

static struct sigaction below;

/* A handler of the program's, over libkmm's, which it calls. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    below.sa_sigaction(number, info, context);
}

static kmm_runtime_t *open_runtime(const program_t *p)
{
    kmm_runtime_t *rt;
    if (kmm_create(&rt, &(kmm_config_t){.devices = p->devices}))
        _exit(3);
    return rt;
}

static void child(const program_t *p)
{
    struct rlimit none = {0, 0};
    struct sigaction over = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGSEGV, SIG_DFL); /* cmocka and sanitizers have handlers of their own */
    setenv("KMM_JOIN", "0", 1);
    program = p;
    kmm_runtime_t *first = open_runtime(p), *rt = p->has_others ? open_runtime(p) : first;
    if (p->has_others)
        kmm_destroy(first);
    if (p->has_handler_above) {
        sigaction(SIGSEGV, &over, &below);
        kmm_destroy(rt);
        rt = open_runtime(p);
    }
    kmm_use(rt);
    int32_t *x = lonely(p);
    if (kmm_map(rt, KMM_MAP_TOFROM, x, (size_t)length(p) * sizeof(*x)))
        _exit(4);
    if (p->where == PROTECTED)
        mprotect(x + first_faulty(), sizeof(*x), PROT_READ);
    launch(p, x);
    kmm_wait(rt);
    _exit(5);
}

static void expect_text(const program_t *p, const char *text)
{
    char want[200];
    int64_t each = (int64_t)p->size * BLOCK, first = p->faulty * each;
    const char *rows = p->is_two_dimensional && p->is_kernel ? ", 0 to 2" : "";
    if (p->is_in_thread) {
        if (!strstr(text, "in a thread that kmm does not know, such as one that "))
            fail_msg("%s\nnames no thread", text);
        snprintf(want, sizeof(want), "kmm: error: fault.c:5: faulty: ");
    } else if (p->chunks == 1)
        snprintf(want, sizeof(want), "kmm: error: fault.c:5: faulty: ");
    else
        snprintf(want, sizeof(want),
                 "kmm: error: fault.c:5: faulty: chunk %u of %u (indices %lld to %lld%s): ",
                 p->faulty, p->chunks, (long long)first, (long long)(first + each - 1), rows);
    if (strncmp(text, want, strlen(want)))
        fail_msg("%s\nis not: %s", text, want);
    snprintf(want, sizeof(want), "of x[i], which has %lld bytes at ", (long long)length(p) * 4);
    if (p->where != NULL_POINTER && !strstr(text, want))
        fail_msg("%s\nhas not: %s", text, want);
    const char *const place[] = {"64 bytes behind a null pointer", "8 bytes behind the end of",
                                 "12 bytes before", "its memory is protected"};
    if (!strstr(text, place[p->where]))
        fail_msg("%s\nhas not: %s", text, place[p->where]);
}

static void try(const program_t *p)
{
    char text[4096] = "";
    size_t n = 0;
    int status, ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        child(p);
    }
    close(ends[1]);
    for (ssize_t got;
         n < sizeof(text) - 1 && (got = read(ends[0], text + n, sizeof(text) - 1 - n)) > 0;)
        n += (size_t)got;
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    expect_text(p, text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* Memory of the program's is worked on in place by the CPU, and copied for devices that it plays.
 */
static program_t random_program(rng_t *r)
{
    bool in_place = rng_range(r, 0, 1);
    program_t p = {.devices = in_place ? "host" : "host:3,mem=4M"};
    p.is_kernel = rng_range(r, 0, 1);
    p.is_two_dimensional = rng_range(r, 0, 1);
    p.has_others = rng_range(r, 0, 3) == 0;
    p.has_handler_above = rng_range(r, 0, 3) == 0;
    p.is_in_thread = !p.has_handler_above && rng_range(r, 0, 2) == 0;
#ifdef __SANITIZE_THREAD__
    p.is_in_thread = false; /* the message is made of what threads that go on are doing */
#endif
    p.size = 64u << rng_range(r, 0, 2);
    p.chunks = (uint32_t)rng_range(r, 1, 12);
    p.faulty = (uint32_t)rng_range(r, 0, p.chunks - 1);
    p.where = (where_t)rng_range(r, 0, in_place ? WHERES - 1 : NULL_POINTER);
    return p;
}

static void messages_name_the_chunk(void **state)
{
    (void)state;
    const char *programs = getenv("KMM_TEST_FAULTS");
    rng_t r = {rng_seed()};
    for (int k = 0; k < (programs ? atoi(programs) : 60); k++) {
        program_t p = random_program(&r);
        try(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages_name_the_chunk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
