/* SPDX-License-Identifier: Apache-2.0 */
/* -fkmm-check on a GPU, with a fake driver: kernels that take a table, as kmmcc makes them, and
 * what is said of their accesses. KMM_TEST_DRIVER says which driver: cuda, hip, or hip_whole, which
 * cannot map memory in parts. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>
#define KMM_CHECK_ON_HOST
#include <kmm/check.h>

#include "base/exit_status.h"
#include "execute/exact.h"
#include "fake_gpu.h"
#include "with_runtime.h"

enum { N = 6400, BLOCK = 64, CHUNK = 1600, FOUR = 4 << KMM_CHECK_BYTES };

/* ---- A kernel: element i of out becomes element i of in, plus 1 ---- */

typedef enum behaviour {
    GOOD,
    READS_NEXT,
    STORES_NEXT,
    STORES_FAR, /* before the array */
    STORES_INPUT,
    READS_OLD,
    ADDS_OLD, /* by an atomic operation */
    SKIPS,
    SKIPS_ALL,
    READS_TWICE, /* what it has stored before */
    READS_BYTES, /* one by one */
    STRAYS,
    NOTHING
} behaviour_t;

static int *stray; /* an array that is no argument */
static uint64_t table;

static int *at(const int *address, unsigned kind, const char *line)
{
    return (int *)(uintptr_t)kmm_check_access(table, (uint64_t)(uintptr_t)address, FOUR | kind,
                                              (uint64_t)(uintptr_t)line);
}

static void element(int64_t i, int *out, int *in, int how)
{
    const unsigned load = KMM_CHECK_LOAD, store = KMM_CHECK_STORE;
    if (how == NOTHING)
        return;
    int value = *at(&in[i], load, "k.cu:1");
    if (how == READS_NEXT)
        value = *at(&in[i + 1], load, "k.cu:2");
    if (how == STORES_NEXT)
        *at(&out[i + 1], store, "k.cu:3") = value;
    if (how == STORES_FAR && i == 1700)
        *at(&out[i - 100000], store, "k.cu:4") = value;
    if (how == STORES_INPUT)
        *at(&in[i], store, "k.cu:5") = 0;
    if (how == READS_OLD)
        value += *at(&out[i], load, "k.cu:6");
    if (how == ADDS_OLD)
        *at(&out[i], load | store, "k.cu:7") += 1;
    if (how == STRAYS)
        value += *at(&stray[i], load, "k.cu:8");
    if (how == READS_BYTES)
        kmm_check_access(table, (uint64_t)(uintptr_t)&in[i] + 2, 2 << KMM_CHECK_BYTES | load,
                         (uint64_t)(uintptr_t)"k.cu:9");
    if (how == SKIPS_ALL || (how == SKIPS && i % 100 == 7))
        return;
    *at(&out[i], store, "k.cu:10") = value + 1;
    if (how == READS_TWICE)
        *at(&out[i], load | store, "k.cu:11") += *at(&out[i], load, "k.cu:12") - value - 1;
}

static int fake_run(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    const kmm_checked_blocks_t *blocks = args[0];
    (void)grid;
    table = blocks->table;
    assert_int_equal(blocks->grid_x, N / BLOCK);
    for (int64_t k = 0; k < BLOCK; k++)
        element((int64_t)(block[0] + blocks->offset_x) * BLOCK + k, *(int **)args[1],
                *(int **)args[2], *(int *)args[3]);
    return 0;
}

static int whole_run(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)block, (void)grid, (void)args;
    fail_msg("the kernel that has no table ran");
    return 0;
}

static const uint32_t sizes[] = {sizeof(kmm_checked_blocks_t), 8, 8, 4};
static fake_kernel_t fake = {fake_run, 4, sizes, 0, NULL},
                     fake_whole = {whole_run, 3, sizes + 1, 0, NULL};
static kmm_kernel_t whole = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "step", NULL, &fake_whole, 3, sizes + 1, 0, NULL};
static kmm_kernel_t clone = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "step", NULL, &fake, 4, sizes, 1, &whole};

/* ---- The driver ---- */

static bool is_hip(void)
{
    const char *driver = getenv("KMM_TEST_DRIVER");
    return driver && !strncmp(driver, "hip", 3);
}

static const char *device(void)
{
    return is_hip() ? "hip:1" : "cuda:1";
}

/* ---- One launch ---- */

static void each_element(kmm_launch_t *l, kmm_mode_t mode, const char *text, const int *base)
{
    kmm_launch_access(l, mode, text, base, sizeof(int));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
}

static int step(int *out, int *in, int how, kmm_mode_t mode, int64_t chunk)
{
    kmm_geometry_t geometry = {{N / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    void *args[] = {NULL, &out, &in, &how};
    kmm_launch_t *l = kmm_launch_begin("step", "test.cu", 20);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, N);
    kmm_launch_chunk(l, KMM_GLOBAL_X, chunk);
    each_element(l, KMM_READ, "in[i]", in);
    each_element(l, mode, "out[i]", out);
    kmm_launch_arm(l);
    return kmm_launch_kernel(&clone, &geometry, args);
}

/* What the launch writes to standard error; *error: what it fails with. */
static const char *said(int how, kmm_mode_t mode, int64_t chunk, int *error)
{
    static char text[1 << 16];
    static int values[N], got[N];
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    kmm_runtime_t *rt = runtime_open(&(kmm_config_t){.devices = device(), .threads = 2});
    for (int k = 0; k < N; k++)
        values[k] = k * 3;
    int *in = array_of(rt, N, values), *out = array_of(rt, N, values);
    stray = array_of(rt, N, values);
    dup2(fileno(file), STDERR_FILENO);
    assert_int_equal(step(out, in, how, mode, chunk), 0);
    *error = kmm_wait(rt);
    if (!*error) {
        assert_int_equal(kmm_copy_out(rt, got, out, sizeof(got)), 0);
        for (int k = 0; k < N; k++)
            assert_int_equal(got[k], how == SKIPS && k % 100 == 7 ? k * 3 : k * 3 + 1);
    }
    assert_int_equal(kmm_copy_out(rt, got, in, sizeof(got)), 0);
    assert_memory_equal(got, values, sizeof(got)); /* whatever it does to the copies */
    runtime_close(rt);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    kmm__exit_forget();
    return text;
}

static void right(int how, kmm_mode_t mode, int64_t chunk)
{
    int error;
    const char *text = said(how, mode, chunk, &error);
    if (error || *text)
        fail_msg("%d: %s", how, text);
}

static void wrong(int how, kmm_mode_t mode, const char *expected)
{
    int error;
    const char *text = said(how, mode, CHUNK, &error), *found = strstr(text, expected);
    if (error != KMM_E_ACCESS || !found)
        fail_msg("%d: error %d: '%s' is not in '%s'", how, error, expected, text);
}

/* ---- Tests ---- */

static void right_accesses_say_nothing(void **state)
{
    (void)state;
    right(GOOD, KMM_WRITE, CHUNK);
    right(GOOD, KMM_WRITE, N);
    right(GOOD, KMM_UPDATE, CHUNK);
    right(SKIPS, KMM_UPDATE, CHUNK);
    right(READS_TWICE, KMM_WRITE, CHUNK);
    right(READS_BYTES, KMM_WRITE, CHUNK);
}

static void accesses_outside_of_regions(void **state)
{
    (void)state;
    wrong(READS_NEXT, KMM_WRITE,
          "argument in[i]: k.cu:2: the chunk reads element 1600, which no clause names for this "
          "chunk; widen `read(in[i])` (it names elements 0 to 1599, 1 fewer at its upper end)");
    wrong(STORES_NEXT, KMM_WRITE,
          "argument out[i]: k.cu:3: the chunk stores to element 1600, which no clause names");
    wrong(STORES_FAR, KMM_WRITE,
          "argument out[i]: k.cu:4: the chunk stores to element -98300, which no clause names");
    wrong(
        STORES_INPUT, KMM_WRITE,
        "argument in[i]: k.cu:5: the chunk stores to element 0 (and 1599 more), which its clauses "
        "let it read only; say `update(in[i])`");
    wrong(STRAYS, KMM_WRITE, "k.cu:8: the chunk accesses byte 0 of ");
}

static void elements_of_write(void **state)
{
    (void)state;
    wrong(READS_OLD, KMM_WRITE,
          "argument out[i]: k.cu:6: the chunk reads element 0 (and 1599 more), which it has not "
          "stored before");
    wrong(ADDS_OLD, KMM_WRITE, "argument out[i]: k.cu:7: the chunk reads element 0 (and 1599");
    wrong(SKIPS, KMM_WRITE,
          "argument out[i]: `write` promises to store every element, but the chunk does not store "
          "element 7 (and 15 more); say `update(out[i])`");
    wrong(SKIPS_ALL, KMM_WRITE, "does not store element 0 (and 1599 more)");
    wrong(NOTHING, KMM_WRITE, "does not store element 0 (and 1599 more)");
}

/* Each argument of a launch is named once, whatever number of its chunks is wrong. */
static void once_for_each_argument(void **state)
{
    (void)state;
    int error, count = 0;
    const char *text = said(STORES_INPUT, KMM_WRITE, CHUNK, &error);
    for (const char *found = text; (found = strstr(found, "kmm: error: test.cu:20: step")); found++)
        count++;
    assert_int_equal(count, 1);
}

/* ---- Calls that fail ---- */

static bool all_given_back(fake_counts_t *c)
{
    fake_counts_function_t *function = NULL;
    static const char *const hip[] = {"libamdhip64.so.6", "libamdhip64.so.5"};
    void *library = is_hip() ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    for (int k = 0; k < 2 && is_hip() && !library; k++)
        library = dlopen(hip[k], RTLD_NOW | RTLD_LOCAL);
    *(void **)&function = dlsym(library, "fake_counts");
    function(c);
    return !(c->windows || c->frames || c->mappings || c->allocations || c->streams || c->events);
}

/* In a process of its own: the call of that number fails. Returns 0 if the launch is right or has
 * an error, and nothing stays behind; 2: no call failed; 1: something is wrong. */
static int run_failing(const char *point, int number)
{
    fake_counts_t c;
    char fail[64];
    static int values[N], got[N];
    kmm_runtime_t *rt = NULL;
    void *in = NULL, *out = NULL;
    kmm_shape_t shape = {.dims = 1, .extent = {N}, .element_bytes = sizeof(int)};
    snprintf(fail, sizeof(fail), "%s:%d", point, number);
    setenv("KMM_FAKE_FAIL", fail, 1);
    int error = kmm_create(&rt, &(kmm_config_t){.devices = device(), .threads = 2});
    if (error)
        return !all_given_back(&c);
    kmm_use(rt);
    error = kmm_array_create(rt, &shape, &in);
    error = error ? error : kmm_array_create(rt, &shape, &out);
    error = error ? error : kmm_copy_in(rt, in, values, sizeof(values));
    if (!error) {
        error = step(out, in, GOOD, KMM_WRITE, CHUNK);
        error = error ? error : kmm_wait(rt);
    }
    bool is_right = error || kmm_copy_out(rt, got, out, sizeof(got)) != 0 || got[N - 1] == 1;
    kmm_use(NULL);
    kmm_destroy(rt);
    bool is_clean = all_given_back(&c);
    return !c.faults ? 2 : !(is_right && is_clean && error != KMM_E_ACCESS);
}

static void failures_are_errors(void **state)
{
    static const char *const points[] = {"alloc", "map", "reserve", "copy", "launch"};
    (void)state;
    for (size_t p = 0; p < sizeof(points) / sizeof(*points); p++) {
        int status = 0;
        for (int number = 1; status == 0; number++) {
            pid_t child = fork();
            if (child == 0) {
                freopen("/dev/null", "w", stderr);
                _exit(run_failing(points[p], number));
            }
            waitpid(child, &status, 0);
            if (status && status != 2 << 8)
                fail_msg("%s:%d: status %d", points[p], number, status);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_accesses_say_nothing), cmocka_unit_test(accesses_outside_of_regions),
        cmocka_unit_test(elements_of_write), cmocka_unit_test(once_for_each_argument),
        cmocka_unit_test(failures_are_errors)};
    kmm__exact_begin();
    whole.kind = clone.kind = is_hip() ? KMM_KIND_HIP : KMM_KIND_CUDA;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
