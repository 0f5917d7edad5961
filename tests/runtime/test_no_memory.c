/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory. A program runs on several kinds of devices, and each allocation of the runtime is
 * made to fail in turn: the first, the second, and so on until there is none any more; then each
 * mapping of pages alone, of which there are few among many. Each run is a process of its own.
 * Whatever fails, the result is right, or an error has been told, or the process has ended with a
 * message. It neither hangs nor crashes.
 *
 * KMM_TEST_ONE=devices@k repeats one run in this process, devices@mk one of mappings.
 * KMM_TEST_NO_MEMORY=brief tries fewer. The linker redirects the calls of the runtime here
 * (--wrap); those of drivers are not redirected.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kmm.h>

#include "fake_gpu.h"
#include "fake_work.h"

enum { N = 6 << 10, LIMIT_S = 60, MOST = 20000, TEXT = 4096 };

/* ---- Allocations that fail ---- */

static atomic_ulong met, strikes; /* strikes: the call that fails; 0: none */
static atomic_bool only_mappings; /* the others are neither counted nor fail */

/* The call that fails, for breakpoints. */
__attribute__((noinline)) static bool strike_here(void)
{
    __asm__ volatile("");
    return true;
}

/* True if this call fails. */
static bool fails(bool is_mapping)
{
    unsigned long k = atomic_load(&strikes);
    return k && (is_mapping || !atomic_load(&only_mappings)) &&
           atomic_fetch_add(&met, 1) + 1 == k && strike_here();
}

#define WRAP(type, name, parameters, arguments, failure, is_mapping)                               \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails(is_mapping) ? failure : __real_##name arguments;                              \
    }
WRAP(void *, malloc, (size_t n), (n), NULL, false)
WRAP(void *, calloc, (size_t n, size_t m), (n, m), NULL, false)
WRAP(void *, realloc, (void *p, size_t n), (p, n), NULL, false)
WRAP(void *, aligned_alloc, (size_t a, size_t n), (a, n), NULL, false)
WRAP(char *, strdup, (const char *s), (s), NULL, false)
WRAP(void *, mmap, (void *p, size_t n, int protection, int flags, int fd, off_t offset),
     (p, n, protection, flags, fd, offset), MAP_FAILED, true)

/* ---- The program ---- */

static int32_t a[N], b[N], got[N];

static void add_on_host(const kmm_chunk_t *chunk, void *args)
{
    int32_t **p = args;
    for (int64_t i = chunk->begin[0]; i < chunk->end[0]; i++)
        fake_work_element(ADD, i, 0, p[0], p[1], p[2]);
}

static int launch_on_host(int32_t *dst, int32_t *x, int32_t *y)
{
    int32_t *args[] = {dst, x, y};
    kmm_launch_t *l = kmm_launch_begin("add_on_host", "faults.c", 8);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, N);
    kmm_launch_chunk(l, KMM_RANGE_0, N / 5 + 1);
    fake_work_access(l, KMM_READ, "x[i]", x, 0, 1);
    fake_work_access(l, KMM_READ, "y[i]", y, 0, 1);
    fake_work_access(l, KMM_WRITE, "dst[i]", dst, 0, 1);
    return kmm_launch_call(l, add_on_host, args, sizeof(args));
}

/* dst = x + y, by a function on the CPU or a kernel. */
static int add(kmm_kind_t kind, int chunks, int32_t *dst, int32_t *x, int32_t *y)
{
    return kind == KMM_KIND_HOST ? launch_on_host(dst, x, y)
                                 : fake_work_launch(kind, ADD, N, chunks, dst, x, y);
}

/* got = 5 a + 3 b, through arrays of the runtime. Returns the first error. */
static int compute(kmm_runtime_t *rt, kmm_kind_t kind)
{
    const kmm_shape_t shape = {.dims = 1, .extent = {N}, .element_bytes = 4, .label = "data"};
    int32_t *x[4] = {NULL};
    int error = 0;
    for (int k = 0; k < 4 && !error; k++)
        error = kmm_array_create(rt, &shape, (void **)&x[k]);
    error = error ? error : kmm_copy_in(rt, x[0], a, sizeof(a));
    error = error ? error : kmm_copy_in(rt, x[1], b, sizeof(b));
    for (int round = 0; round < 2 && !error; round++) {
        error = add(kind, 6, x[2], x[0], x[1]);                 /* a + b */
        error = error ? error : add(kind, 4, x[3], x[2], x[0]); /* 2 a + b */
        error = error ? error : add(kind, 3, x[2], x[2], x[3]); /* 3 a + 2 b */
    }
    error = error ? error : add(kind, 6, x[3], x[2], x[3]); /* 5 a + 3 b */
    int waited = kmm_wait(rt);
    error = error ? error : waited;
    error = error ? error : kmm_copy_out(rt, got, x[3], sizeof(got));
    for (int k = 0; k < 4; k++)
        if (x[k])
            kmm_array_destroy(rt, x[k]);
    return error;
}

/* 0: the result is right. 2: an error was told. 1: neither. */
static int run(const char *devices, kmm_kind_t kind)
{
    kmm_runtime_t *rt = NULL;
    for (int i = 0; i < N; i++) {
        a[i] = i * 7 + 1;
        b[i] = 3 - i;
    }
    int error = kmm_create(&rt, &(kmm_config_t){.devices = devices, .threads = 2});
    if (!error) {
        kmm_use(rt);
        error = compute(rt, kind);
        kmm_use(NULL);
        kmm_destroy(rt);
    }
    if (error)
        fprintf(stderr, "told: %s\n", kmm_error_text(NULL));
    for (int i = 0; i < N && !error; i++)
        if (got[i] != 5 * a[i] + 3 * b[i]) {
            fprintf(stderr, "element %d is %d, should be %d\n", i, got[i], 5 * a[i] + 3 * b[i]);
            return 1;
        }
    return error ? 2 : 0;
}

/* ---- All runs ---- */

typedef struct device {
    const char *list;
    kmm_kind_t kind;
} device_t;
static const device_t devices[] = {
    {"host", KMM_KIND_HOST},           {"host:2,mem=64K", KMM_KIND_HOST},
    {"cuda:1,mem=48K", KMM_KIND_CUDA}, {"cuda:2,mem=64K", KMM_KIND_CUDA},
    {"hip:1,mem=48K", KMM_KIND_HIP},
};
enum { DEVICES = sizeof(devices) / sizeof(*devices) };

static int run_one(const device_t *d, bool mappings, unsigned long k)
{
    alarm(LIMIT_S);
    atomic_store(&only_mappings, mappings);
    atomic_store(&strikes, k);
    int result = run(d->list, d->kind);
    unsigned long count = atomic_load(&met);
    return result == 0 && count < k ? 3 : result; /* 3: there is no k-th call */
}

/* Reads what the child prints until it ends. */
static void read_all(int fd, char *text)
{
    size_t n = 0;
    char rest[256];
    for (ssize_t got_bytes = 1; got_bytes > 0;) {
        got_bytes = n < TEXT - 1 ? read(fd, text + n, TEXT - 1 - n) : read(fd, rest, sizeof(rest));
        n += got_bytes > 0 && n < TEXT - 1 ? (size_t)got_bytes : 0;
    }
    text[n] = 0;
}

/* 0: as it should be. 3: there is no k-th call. 1: wrong. */
static int in_a_process(const device_t *d, bool mappings, unsigned long k)
{
    static char text[TEXT];
    int fds[2], status = 0;
    fflush(NULL);
    if (pipe(fds))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        dup2(fds[1], 2);
        close(fds[0]);
        close(fds[1]);
        exit(run_one(d, mappings, k));
    }
    close(fds[1]);
    read_all(fds[0], text);
    close(fds[0]);
    waitpid(child, &status, 0);
    bool ended = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
                 strstr(text, "kmm: error: no host memory for");
    if (ended || (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2)))
        return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
        return 3;
    fprintf(stderr, "%s%s %d\nFAILED; to repeat: KMM_TEST_ONE=%s@%s%lu\n", text,
            WIFSIGNALED(status) ? "signal" : "status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), d->list,
            mappings ? "m" : "", k);
    return 1;
}

/* Lets one call after another fail. Returns how many runs were wrong. */
static int each_call(const device_t *d, bool mappings, bool brief)
{
    int failed = 0;
    unsigned long k = 1;
    for (int code = 0; code != 3 && failed < 5 && k < MOST; k += brief ? 1 + k / 8 : 1) {
        code = in_a_process(d, mappings, k);
        failed += code == 1;
    }
    fprintf(stderr, "%s: %lu %s, %d failed\n", d->list, k, mappings ? "mappings" : "calls", failed);
    return failed;
}

int main(void)
{
    const char *one = getenv("KMM_TEST_ONE"), *how = getenv("KMM_TEST_NO_MEMORY");
    bool brief = how && !strcmp(how, "brief");
    int failed = 0;
    for (int i = 0; i < DEVICES; i++) {
        const device_t *d = &devices[i];
        size_t n = strlen(d->list);
        if (one && !strncmp(one, d->list, n) && one[n] == '@') {
            bool mappings = one[n + 1] == 'm';
            return run_one(d, mappings, strtoul(one + n + 1 + mappings, NULL, 10));
        }
        if (!one)
            failed += each_call(d, false, brief) + each_call(d, true, false);
    }
    return failed || one ? 1 : 0;
}
