/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_CHECK=access: what chunks do against their clauses is found, on the CPU, on pretend devices
 * and on a driver's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>

#include "base/exit_status.h"
#include "fake_gpu.h"
#include "with_runtime.h"

enum { N = 6400, BLOCK = 64, CHUNK = 640, FAR = 1000, PATTERN = (int)0xfffdfff5 };

/* ---- A kernel that behaves, or not: element i of out is element i of in, plus 1 ---- */

typedef enum behaviour {
    GOOD,
    STORES_FAR,
    STORES_INPUT,
    READS_FAR,
    SKIPS,
    STORES_SAME
} behaviour_t;

static void run_block(int64_t block, int *out, int *in, int how)
{
    for (int64_t i = block * BLOCK; i < N && i < (block + 1) * BLOCK; i++) {
        if (how == SKIPS && i % CHUNK >= 5 && i % CHUNK < 8)
            continue;
        out[i] = in[how == READS_FAR ? (i + FAR) % N : i] + 1;
        if (how == STORES_FAR && block == 12)
            out[i % 3 + 5000] = 77;
        if (how == STORES_INPUT && i == 700)
            in[i] = -1;
        if (how == STORES_SAME)
            in[i] = in[i] + 0;
    }
}

static void host_run(const kmm_host_blocks_t *b, void **args)
{
    for (uint64_t k = b->first; k < b->last; k++)
        run_block((int64_t)k + b->offset[0], *(int **)args[1], *(int **)args[2], *(int *)args[3]);
}

static int fake_run(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)grid;
    run_block(block[0] + ((kmm_blocks_t *)args[0])->offset_x, *(int **)args[1], *(int **)args[2],
              *(int *)args[3]);
    return 0;
}

static const uint32_t sizes[] = {sizeof(kmm_blocks_t), 8, 8, 4};
static fake_kernel_t fake = {fake_run, 4, sizes, 0, NULL};
static const kmm_kernel_t host_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "step", host_run, NULL, 4, sizes, 1, NULL};
static const kmm_kernel_t cuda_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "step", NULL, &fake, 4, sizes, 1, NULL};
static const kmm_kernel_t hip_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HIP, "step", NULL, &fake, 4, sizes, 1, NULL};

/* ---- Helpers ---- */

static const char *const configurations[] = {"host", "host:2,mem=1M", "cuda,mem=4M",
                                             "hip,mem=4M"}; /* which cannot map memory */
enum { CONFIGURATIONS = 4 };

static kmm_runtime_t *make(const char *devices)
{
    return runtime_open(&(kmm_config_t){.devices = devices, .threads = 2});
}

static int *numbers(kmm_runtime_t *rt, const int *from)
{
    void *p = NULL;
    assert_int_equal(
        kmm_array_create(rt, &(kmm_shape_t){.dims = 1, .extent = {N}, .element_bytes = sizeof(int)},
                         &p),
        0);
    if (from)
        assert_int_equal(kmm_copy_in(rt, p, from, N * sizeof(int)), 0);
    return p;
}

static void each_element(kmm_launch_t *l, kmm_mode_t mode, const char *text, const int *base)
{
    kmm_launch_access(l, mode, text, base, sizeof(int));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
}

static int step(const char *devices, int *out, int *in, int how, kmm_mode_t mode)
{
    kmm_geometry_t geometry = {{N / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    kmm_blocks_t blocks = {0};
    void *args[] = {&blocks, &out, &in, &how};
    kmm_launch_t *l = kmm_launch_begin("step", "test.cu", 20);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, N);
    kmm_launch_chunk(l, KMM_GLOBAL_X, CHUNK);
    each_element(l, KMM_READ, "in[i]", in);
    each_element(l, mode, "out[i]", out);
    kmm_launch_arm(l);
    return kmm_launch_kernel(!strncmp(devices, "cuda", 4)  ? &cuda_kernel
                             : !strncmp(devices, "hip", 3) ? &hip_kernel
                                                           : &host_kernel,
                             &geometry, args);
}

static int *counting(void)
{
    static int a[N];
    for (int k = 0; k < N; k++)
        a[k] = k * 3;
    return a;
}

/* Runs a launch that must fail with a text that has all these parts. */
static void finds(int how, const char *const *parts)
{
    for (int c = 0; c < CONFIGURATIONS; c++) {
        kmm_runtime_t *rt = make(configurations[c]);
        int *A = numbers(rt, counting()), *B = numbers(rt, NULL), got[N];
        assert_int_equal(step(configurations[c], B, A, how, KMM_WRITE), 0);
        if (kmm_wait(rt) != KMM_E_ACCESS)
            fail_msg("%s: nothing was found", configurations[c]);
        for (const char *const *p = parts; *p; p++)
            if (!strstr(kmm_error_text(rt), *p))
                fail_msg("%s: '%s' is not in '%s'", configurations[c], *p, kmm_error_text(rt));
        /* The input is what it was, and what the chunk wrote is lost until it is written anew. */
        assert_int_equal(kmm_copy_out(rt, got, A, sizeof(got)), 0);
        assert_memory_equal(got, counting(), sizeof(got));
        assert_int_equal(kmm_copy_out(rt, got, B, sizeof(got)), KMM_E_POISONED);
        assert_int_equal(step(configurations[c], B, A, GOOD, KMM_WRITE), 0);
        assert_int_equal(kmm_copy_out(rt, got, B, sizeof(got)), 0);
        assert_int_equal(got[N - 1], counting()[N - 1] + 1);
        kmm_wait(rt);
        assert_int_equal(kmm_destroy(rt), 0);
    }
}

/* ---- Tests ---- */

static void is_silent_about_good_programs(void **state)
{
    (void)state;
    static const int good[] = {
        GOOD, STORES_SAME}; /* a store of what is there cannot be seen, and does no harm */
    for (int c = 0; c < CONFIGURATIONS; c++) {
        kmm_runtime_t *rt = make(configurations[c]);
        int *A = numbers(rt, counting()), *B = numbers(rt, NULL), got[N];
        for (int k = 0; k < 2; k++) {
            assert_int_equal(step(configurations[c], B, A, good[k], KMM_WRITE), 0);
            assert_int_equal(step(configurations[c], A, B, good[k], KMM_UPDATE), 0);
        }
        if (kmm_copy_out(rt, got, A, sizeof(got)))
            fail_msg("%s: %s", configurations[c], kmm_error_text(rt));
        for (int k = 0; k < N; k++)
            assert_int_equal(got[k], counting()[k] + 4);
        assert_int_equal(kmm_destroy(rt), 0);
    }
}

static void finds_stores_outside_the_region(void **state)
{
    (void)state;
    static const char *const parts[] = {"test.cu:20: step: chunk 1 of 10: argument out[i]: the "
                                        "chunk stores to elements 5000 to 5002,",
                                        "(bytes 20000 to 20011 of its array)",
                                        "none of its clauses names", NULL};
    finds(STORES_FAR, parts);
}

static void finds_stores_to_what_is_read(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "test.cu:20: step: chunk 1 of 10: argument in[i]: the chunk stores to elements 700 to 700,",
        "(bytes 2800 to 2803 of its array)", "its clauses let it read only", NULL};
    finds(STORES_INPUT, parts);
}

static void undeclared_reads_meet_a_pattern(void **state)
{
    (void)state;
    for (int c = 0; c < CONFIGURATIONS; c++) {
        kmm_runtime_t *rt = make(configurations[c]);
        int *A = numbers(rt, counting()), *B = numbers(rt, NULL), got[N];
        assert_int_equal(step(configurations[c], B, A, READS_FAR, KMM_WRITE), 0);
        assert_int_equal(kmm_copy_out(rt, got, B, sizeof(got)), 0);
        for (int k = 0; k < N; k++)
            assert_int_equal(got[k], PATTERN + 1); /* FAR lies outside of every chunk */
        assert_int_equal(kmm_destroy(rt), 0);
    }
    float f;
    double d;
    memset(&d, 0, sizeof(d));
    memcpy(&f, &(int){PATTERN}, sizeof(f));
    memcpy(&d, (int[]){PATTERN, PATTERN}, sizeof(d));
    assert_true(f != f && d != d);
}

/* What a function prints to stderr, at most size - 1 bytes of it. */
static void printed(void (*fn)(int c), int c, char *out, size_t size)
{
    FILE *to = tmpfile();
    fflush(stderr);
    int saved = dup(2);
    dup2(fileno(to), 2);
    fn(c);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    rewind(to);
    out[fread(out, 1, size - 1, to)] = 0;
    fclose(to);
}

static void run_skips(int c)
{
    kmm_runtime_t *rt = make(configurations[c]);
    int *A = numbers(rt, counting()), *B = numbers(rt, NULL), got[N];
    assert_int_equal(step(configurations[c], B, A, SKIPS, KMM_WRITE), 0);
    assert_int_equal(kmm_copy_out(rt, got, B, sizeof(got)), 0);
    for (int k = 0; k < N; k++)
        if (k % CHUNK >= 5 && k % CHUNK < 8) /* the pattern of the chunk's first or second copy */
            assert_true(got[k] == PATTERN || got[k] == PATTERN - 1);
        else
            assert_int_equal(got[k], counting()[k] + 1);
    assert_int_equal(kmm_copy_in(rt, B, counting(), sizeof(got)), 0);
    assert_int_equal(step(configurations[c], B, A, SKIPS, KMM_UPDATE),
                     0); /* which promises nothing */
    assert_int_equal(kmm_copy_out(rt, got, B, sizeof(got)), 0);
    assert_int_equal(got[5], counting()[5]);
    assert_int_equal(kmm_destroy(rt), 0);
}

static void warns_of_broken_promises(void **state)
{
    (void)state;
    for (int c = 0; c < CONFIGURATIONS; c++) {
        char text[2000];
        printed(run_skips, c, text, sizeof(text));
        const char *found = strstr(text, "argument out[i]: `write` promises to store every "
                                         "element, but the chunk does not store elements ");
        if (!strstr(text, "kmm: warning: test.cu:20: step: chunk ") || !found ||
            strstr(found + 10, "kmm: warning"))
            fail_msg("%s: '%s'", configurations[c], text);
    }
}

/* ---- Functions, and reductions ---- */

struct sum_args {
    const int *in;
    int *sum;
    int how;
};

static void sum_chunk(const kmm_chunk_t *chunk, void *args)
{
    struct sum_args *s = args;
    for (int64_t k = chunk->begin[0]; k < chunk->end[0]; k++)
        s->sum[0] += s->in[k];
    if (s->how)
        s->sum[7] = 1;
}

static int sum(const int *in, int *out, int how)
{
    struct sum_args args = {in, out, how};
    kmm_launch_t *l = kmm_launch_begin("sum", "test.c", 30);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, N);
    kmm_launch_chunk(l, KMM_RANGE_0, CHUNK);
    each_element(l, KMM_READ, "in[i]", in);
    kmm_launch_reduce(l, KMM_OP_ADD, KMM_INT32, "sum[0]", out);
    kmm_launch_index(l, 0, 1);
    return kmm_launch_call(l, sum_chunk, &args, sizeof(args));
}

/* Functions run on the CPU itself in another way than on a pretend device's streams. */
static void checks_functions_and_reductions(void **state)
{
    (void)state;
    static const char *const devices[] = {"host", "host:1,mem=1M"};
    static int zero[N];
    for (int c = 0; c < 2; c++) {
        int got;
        kmm_runtime_t *rt = make(devices[c]);
        int *A = numbers(rt, counting()), *S = numbers(rt, zero);
        assert_int_equal(sum(A, S, 0), 0);
        if (kmm_copy_out(rt, &got, S, sizeof(got)))
            fail_msg("%s: %s", devices[c], kmm_error_text(rt));
        assert_int_equal(got, 3 * (N - 1) * N / 2);
        assert_int_equal(sum(A, S, 1), 0);
        if (kmm_wait(rt) != KMM_E_ACCESS)
            fail_msg("%s: nothing was found", devices[c]);
        assert_non_null(strstr(kmm_error_text(rt), "test.c:30: sum: chunk "));
        assert_non_null(strstr(kmm_error_text(rt), "argument sum[0]: the chunk stores to "));
        assert_int_equal(kmm_destroy(rt), 0);
    }
}

static void refuses_unknown_checks(void **state)
{
    (void)state;
    kmm_runtime_t *rt = NULL;
    setenv("KMM_CHECK", "everything", 1);
    assert_int_equal(kmm_create(&rt, NULL), KMM_E_INVALID);
    assert_non_null(strstr(kmm_error_text(NULL), "KMM_CHECK=everything"));
    setenv("KMM_CHECK", "", 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "host"}), 0);
    kmm_destroy(rt);
    setenv("KMM_CHECK", "access", 1);
}

int main(void)
{
    setenv("KMM_CHECK", "access", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_silent_about_good_programs),
        cmocka_unit_test(finds_stores_outside_the_region),
        cmocka_unit_test(finds_stores_to_what_is_read),
        cmocka_unit_test(undeclared_reads_meet_a_pattern),
        cmocka_unit_test(warns_of_broken_promises),
        cmocka_unit_test(checks_functions_and_reductions),
        cmocka_unit_test(refuses_unknown_checks),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kmm__exit_forget(); /* the violations that the tests are about */
    return failed;
}
