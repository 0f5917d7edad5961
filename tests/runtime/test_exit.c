/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exit status of programs on fake GPUs in which something fails. Each program is this one with
 * arguments: what happens, and how the program asks for the error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>
#include <kmm/cuda_api.h>

#include "fake_gpu.h"

enum { N = 4096, BLOCK = 64, CHUNKS = 4, OWN_STATUS = 3 };

/* ---- The program ---- */

/* Element i becomes i; with `strays`, the element in front of the chunk's is stored, too. */
static int fill_run(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    int32_t *x = *(int32_t **)args[1];
    int64_t begin = (int64_t)(block[0] + ((kmm_blocks_t *)args[0])->offset_x) * BLOCK;
    (void)grid;
    for (int64_t i = begin; i < begin + BLOCK; i++)
        x[i] = (int32_t)i;
    if (*(int64_t *)args[2] && begin == N / 2)
        x[begin - 1] = -1;
    return 0;
}

static const uint32_t sizes[] = {sizeof(kmm_blocks_t), 8, 8};
static fake_kernel_t fake = {fill_run, 3, sizes, 0, NULL};
static const kmm_kernel_t cuda_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "fill", NULL, &fake, 3, sizes, 1, NULL};
static const kmm_kernel_t hip_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HIP, "fill", NULL, &fake, 3, sizes, 1, NULL};

static void launch(int32_t *x, bool is_hip, bool strays, uint32_t block)
{
    kmm_geometry_t g = {{N / BLOCK, 1, 1}, {block, 1, 1}, 0, NULL};
    int64_t how = strays;
    void *args[] = {NULL, &x, &how};
    kmm_launch_t *l = kmm_launch_begin("fill", "exit.cu", 7);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, N);
    kmm_launch_chunk(l, KMM_GLOBAL_X, N / CHUNKS);
    kmm_launch_access(l, KMM_WRITE, "x[i]", x, sizeof(*x));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    kmm_launch_arm(l);
    kmm_cuda_launch(is_hip ? &hip_kernel : &cuda_kernel, &g, args);
}

static void ask(const char *how)
{
    if (strcmp(how, "nothing"))
        kmm_cuda_device_synchronize();
    if (!strcmp(how, "last"))
        kmm_cuda_get_last_error();
    if (!strcmp(how, "peek"))
        kmm_cuda_peek_at_last_error();
    if (!strcmp(how, "name"))
        kmm_cuda_get_error_name(KMM_CUDA_LAUNCH_FAILURE);
    if (!strcmp(how, "text"))
        kmm_cuda_get_error_string(KMM_CUDA_LAUNCH_FAILURE);
}

static int program(const char *what, const char *how)
{
    bool is_hip = strstr(getenv("KMM_DEVICES"), "hip") != NULL;
    int32_t *x = kmm_malloc(N * sizeof(*x)), first;
    launch(x, is_hip, !strcmp(what, "strays"), !strcmp(what, "refused") ? 2048 : BLOCK);
    if (!strcmp(how, "wait")) { /* as a program does that uses kmm.h */
        kmm_wait(kmm_default());
    } else if (!strcmp(how, "copy")) {
        kmm_cuda_memcpy(&first, x, sizeof(first), 2 /* to the host */);
    } else {
        ask(how);
    }
    puts("end of main");
    return !strcmp(how, "own") ? OWN_STATUS : 0;
}

/* ---- The tests ---- */

static const char *const drivers[] = {"cuda:2", "hip:2", "cuda:1,hip:1"};
enum { DRIVERS = 3 };

/* Runs a program; `fault` as in KMM_FAKE_FAIL. Returns its exit status, and what it printed. */
static int run(const char *devices, const char *fault, const char *what, const char *how,
               char text[2000])
{
    char *const arguments[] = {"test_exit", (char *)(uintptr_t)what, (char *)(uintptr_t)how, NULL};
    int ends[2], status;
    size_t length = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        setenv("KMM_DEVICES", devices, 1);
        setenv("KMM_FAKE_FAIL", fault, 1);
        setenv("KMM_CHECK", !strcmp(what, "strays") ? "access" : "", 1);
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], text + length, 1999 - length)) > 0;)
        length += (size_t)got;
    text[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || !strstr(text, "end of main"))
        fail_msg("%s %s %s did not end: %s", devices, what, how, text);
    return WEXITSTATUS(status);
}

/* `said`: what the program must have printed; NULL: no error. */
static void expect(const char *fault, const char *what, const char *how, int status,
                   const char *said)
{
    char text[2000];
    for (int d = 0; d < DRIVERS; d++) {
        int got = run(drivers[d], fault, what, how, text);
        if (got != status)
            fail_msg("%s %s %s: status %d: %s", drivers[d], what, how, got, text);
        if (said ? !strstr(text, said) : strstr(text, "kmm: error") != NULL)
            fail_msg("%s %s %s: said: %s", drivers[d], what, how, text);
    }
}

static const char *const asks[] = {"last", "peek", "name", "text", "wait"};
static const char *const silences[] = {"nothing", "sync", "copy"};
enum { ASKS = 5, SILENCES = 3 };

static void programs_without_errors_end_well(void **state)
{
    (void)state;
    for (int k = 0; k < SILENCES; k++)
        expect("", "good", silences[k], 0, NULL);
    expect("", "good", "last", 0, NULL);
    expect("", "good", "own", OWN_STATUS, NULL);
}

/* `fault` in each of these ways. */
static void counts_unless_asked(const char *fault, const char *what, const char *said)
{
    for (int k = 0; k < SILENCES; k++)
        expect(fault, what, silences[k], EXIT_FAILURE, said);
    for (int k = 0; k < ASKS; k++)
        if (strcmp(asks[k], "wait"))
            expect(fault, what, asks[k], 0, said);
    expect(fault, what, "own", OWN_STATUS, said);
}

static void chunks_that_fail_count(void **state)
{
    (void)state;
    counts_unless_asked("launch:1", "good", "kmm: error: exit.cu:7: fill: chunk");
    expect("launch:1", "good", "wait", 0, "end of main");
}

static void lost_devices_count(void **state)
{
    (void)state;
    counts_unless_asked("running:1", "good", "kmm: error: ");
    expect("running:1", "good", "wait", 0, "end of main");
}

static void refused_launches_count(void **state)
{
    (void)state;
    counts_unless_asked("", "refused", "kmm: error: ");
    expect("", "refused", "wait", EXIT_FAILURE, "kmm: error: "); /* which tells of chunks only */
}

/* A program that asks has an error all the same. */
static void violations_always_count(void **state)
{
    (void)state;
    for (int k = 0; k < SILENCES; k++)
        expect("", "strays", silences[k], EXIT_FAILURE, "the chunk stores to");
    for (int k = 0; k < ASKS; k++)
        expect("", "strays", asks[k], EXIT_FAILURE, "end of main");
    expect("", "strays", "own", OWN_STATUS, "the chunk stores to");
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return program(argv[1], argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_without_errors_end_well),
        cmocka_unit_test(chunks_that_fail_count),
        cmocka_unit_test(lost_devices_count),
        cmocka_unit_test(refused_launches_count),
        cmocka_unit_test(violations_always_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
