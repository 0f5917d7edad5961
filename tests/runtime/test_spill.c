/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that are larger than host memory may be: what goes to disk, what comes back, and what goes
 * wrong. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
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

#include "fake_gpu.h"
#include "memory/disk/disk.h"
#include "memory/disk/page.h"
#include "memory/disk/spill.h"
#include "memory/host/pagelock.h"
#include "share.h"
#include <kmm.h>

#define LIMIT ((uint64_t)4 << 20)
#define WORDS ((int64_t)3 * (4 << 20) / 4) /* of an array of three times the limit */

static const char *const configurations[] = {"host", "host:1,mem=1M", "host:2,mem=2M",
                                             "host:2,mem=1M,host", "host:1,mem=64M"};
static const char *const modes[] = {"", "pread", "cached", "pread,cached"};
enum {
    CONFIGURATIONS = sizeof(configurations) / sizeof(*configurations),
    MODES = sizeof(modes) / sizeof(*modes)
};

/* ---- Helpers ---- */

static kmm_runtime_t *make(const char *devices, uint64_t limit, const char *folder)
{
    kmm_runtime_t *rt = NULL;
    int error = kmm_create(
        &rt, &(kmm_config_t){.devices = devices, .host_mem = limit, .spill_dir = folder});
    if (error)
        fail_msg("%s: %s", devices, kmm_error_text(NULL));
    kmm_use(rt);
    return rt;
}

static void end(kmm_runtime_t *rt)
{
    int error = kmm_destroy(rt);
    kmm_use(NULL);
    if (error)
        fail_msg("%s", kmm_error_text(NULL));
}

static void good(kmm_runtime_t *rt, int error)
{
    if (error)
        fail_msg("error %d: %s", error, kmm_error_text(rt));
}

static void *array(kmm_runtime_t *rt, int64_t words)
{
    void *p = NULL;
    good(rt, kmm_array_create(rt, &(kmm_shape_t){.dims = 1, .extent = {words}, .element_bytes = 4},
                              &p));
    return p;
}

static kmm__spill_stats_t stats(kmm_runtime_t *rt)
{
    kmm__spill_stats_t s;
    pthread_mutex_lock(&rt->lock);
    kmm__spill_stats(rt, &s);
    pthread_mutex_unlock(&rt->lock);
    return s;
}

/* x[i] = 3 * x[i] + y[i] */
static void step_run(const kmm_host_blocks_t *b, void **args)
{
    int64_t n = *(int64_t *)args[0];
    uint32_t *x = *(uint32_t **)args[1];
    const uint32_t *y = *(const uint32_t **)args[2];
    for (uint64_t k = b->first; k < b->last; k++) {
        int64_t begin = (int64_t)(k % b->count[0] + b->offset[0]) * b->block[0],
                stop = begin + b->block[0];
        for (int64_t i = begin; i < stop && i < n; i++)
            x[i] = 3 * x[i] + y[i];
    }
}

static const uint32_t words3[] = {8, 8, 8};
static const kmm_kernel_t step_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "step", step_run, NULL, 3, words3, 0, NULL};

/* The same for the fake GPU. */
enum { BLOCK = 1024 };

static int step_block(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    const kmm_blocks_t *b = args[0];
    int64_t n = *(int64_t *)args[1], begin = (int64_t)(block[0] + b->offset_x) * BLOCK;
    uint32_t *x = *(uint32_t **)args[2];
    const uint32_t *y = *(const uint32_t **)args[3];
    (void)grid;
    for (int64_t i = begin; i < begin + BLOCK && i < n; i++)
        x[i] = 3 * x[i] + y[i];
    return 0;
}

static const uint32_t clone_words[] = {sizeof(kmm_blocks_t), 8, 8, 8};
static fake_kernel_t fake_step = {step_block, 4, clone_words, 0, NULL};
static const kmm_kernel_t step_on_gpu = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "step", NULL, &fake_step, 4, clone_words, 1, NULL};

static int step_with(const kmm_kernel_t *kernel, int64_t n, uint32_t *x, uint32_t *y, int64_t chunk)
{
    kmm_launch_t *l = kmm_launch_begin("step", "test_spill.c", __LINE__);
    void *args[] = {NULL, &n, &x, &y};
    kmm_geometry_t g = {{(uint32_t)((n + BLOCK - 1) / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
    kmm_launch_chunk(l, KMM_GLOBAL_X, chunk);
    kmm_launch_access(l, KMM_UPDATE, "x[i]", x, 4);
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    kmm_launch_access(l, KMM_READ, "y[i]", y, 4);
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    kmm_launch_arm(l);
    return kmm_launch_kernel(kernel, &g, kernel->is_clone ? args : args + 1);
}

static int step(int64_t n, uint32_t *x, uint32_t *y, int64_t chunk)
{
    return step_with(&step_kernel, n, x, y, chunk);
}

/* What only this test touches needs no ThreadSanitizer, which would take most of its time there. */
#define MODEL __attribute__((no_sanitize("thread")))

MODEL static uint32_t *words(int64_t n, uint32_t seed)
{
    uint32_t *p = malloc((size_t)n * 4);
    for (int64_t k = 0; k < n; k++)
        p[k] = seed = seed * 1664525u + 1013904223u;
    return p;
}

/* x[:] = 3 * x[:] + y[:], as the kernels do. */
MODEL static void model_step(uint32_t *x, const uint32_t *y, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        x[k] = 3 * x[k] + y[k];
}

MODEL static void assert_holds(kmm_runtime_t *rt, const void *a, const uint32_t *expected,
                               int64_t n)
{
    uint32_t *got = malloc((size_t)n * 4);
    good(rt, kmm_copy_out(rt, got, a, (size_t)n * 4));
    for (int64_t k = 0; k < n; k++)
        if (got[k] != expected[k])
            fail_msg("word %lld is %u, should be %u", (long long)k, got[k], expected[k]);
    free(got);
}

/* ---- The disk by itself ---- */

static void checksums_are_xxh64(void **state)
{
    (void)state;
    assert_true(kmm__disk_checksum("", 0) == 0xEF46DB3751D8E999u);
    assert_true(kmm__disk_checksum("a", 1) == 0xD24EC4F1A98C6E5Bu);
    assert_true(kmm__disk_checksum("abc", 3) == 0x44BC2CF5AD770999u);
    const char *text =
        "Nobody inspects the spammish repetition"; /* 39 bytes: four lanes, and a rest of seven */
    assert_true(kmm__disk_checksum(text, 39) == 0xFBCEA83C8A378BF1u);
}

static void write_and_read(const char *how)
{
    enum { BYTES = 1 << 20, COUNT = KMM__DISK_DEPTH };
    kmm__disk_t *d;
    kmm__disk_op_t op[COUNT];
    assert_int_equal(kmm__disk_open(&d, "/var/tmp", how), 0);
    char *memory = aligned_alloc(KMM__DISK_ALIGN, (size_t)BYTES * COUNT);
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < COUNT; k++) {
            memset(memory + k * BYTES, pass ? 0 : k + 1, BYTES);
            op[k] = (kmm__disk_op_t){.writes = !pass,
                                     .memory = memory + k * BYTES,
                                     .bytes = BYTES,
                                     .offset = (int64_t)(COUNT - k) * BYTES};
            kmm__disk_start(d, &op[k]);
        }
        for (int k = 0; k < COUNT; k++) {
            kmm__disk_op_t *done = kmm__disk_await(d);
            assert_non_null(done);
            assert_int_equal(done->error, 0);
        }
    }
    for (int k = 0; k < COUNT * BYTES; k++)
        assert_int_equal(memory[k], k / BYTES + 1);
    kmm__disk_wake(d);
    assert_null(kmm__disk_await(d));
    op[0].offset = (int64_t)1 << 30; /* beyond the end */
    kmm__disk_start(d, &op[0]);
    kmm__disk_op_t *done;
    while (!(done = kmm__disk_await(d)))
        continue;
    assert_int_not_equal(done->error, 0);
    free(memory);
    kmm__disk_close(d);
}

static void disk_keeps_blocks(void **state)
{
    (void)state;
    for (int k = 0; k < MODES; k++)
        write_and_read(modes[k]);
}

/* ---- Arrays of three times the limit ---- */

static void compute(const char *devices, const char *mode)
{
    setenv("KMM_SPILL_IO", mode, 1);
    kmm_runtime_t *rt = make(devices, LIMIT, NULL);
    uint32_t *x = words(WORDS, 1), *y = words(WORDS, 2);
    uint32_t *a = array(rt, WORDS), *b = array(rt, WORDS);
    good(rt, kmm_copy_in(rt, a, x, WORDS * 4));
    good(rt, kmm_copy_in(rt, b, y, WORDS * 4));
    for (int sweep = 0; sweep < 3; sweep++) {
        good(rt, step(WORDS, a, b, sweep == 1 ? 10007 : 32768));
        model_step(x, y, WORDS);
        if (sweep == 0)
            good(rt, kmm_wait(rt));
    }
    assert_holds(rt, a, x, WORDS);
    assert_holds(rt, b, y, WORDS);
    kmm__spill_stats_t s = stats(rt);
    assert_true(s.limit <= LIMIT && s.most <= s.limit && s.resident <= s.most);
    if (!strstr(devices, "64M"))
        assert_true(s.written >= (uint64_t)WORDS * 4 && s.read >= (uint64_t)WORDS * 4);
    assert_true(s.file_bytes <= 2 * (uint64_t)WORDS * 4 + 2 * s.page_bytes);
    good(rt, kmm_array_destroy(rt, a));
    good(rt, kmm_array_destroy(rt, b));
    free(x);
    free(y);
    end(rt);
    unsetenv("KMM_SPILL_IO");
}

static void arrays_may_be_larger_than_memory(void **state)
{
    (void)state;
    for (int k = 0; k < CONFIGURATIONS; k++)
        compute(configurations[k], modes[k % MODES]);
}

/* Copies inside one array that overlap themselves, larger than memory. */
static void copies_overlap(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("host:1,mem=1M", LIMIT, NULL);
    uint32_t *x = words(WORDS, 7), *a = array(rt, WORDS);
    const int64_t shift = 12345, n = WORDS - shift;
    good(rt, kmm_copy_in(rt, a, x, WORDS * 4));
    good(rt, kmm_copy(rt, a + shift, a, (size_t)n * 4));
    memmove(x + shift, x, (size_t)n * 4);
    assert_holds(rt, a, x, WORDS);
    good(rt, kmm_copy(rt, a, a + shift, (size_t)n * 4));
    memmove(x, x + shift, (size_t)n * 4);
    assert_holds(rt, a, x, WORDS);
    free(x);
    end(rt);
}

/* ---- GPUs: page-locked memory, and data that crosses from one driver to another ---- */

static fake_counts_function_t *gpu_counts(void)
{
    fake_counts_function_t *fn = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library)
        *(void **)&fn = dlsym(library, "fake_counts");
    return fn;
}

/* ThreadSanitizer is slow at kernels. It runs the last of the two large programs, which has all
 * that the other has. */
#if defined(__SANITIZE_THREAD__)
enum { SLOW = 1, SWEEPS = 2, LARGE = 8 << 20 };
#else
enum { SLOW = 0, SWEEPS = 4, LARGE = 12 << 20 };
#endif

/* Sweeps with kernels of the GPU, and every other time with one of the pretend devices if there are
 * any. */
static void sweep_gpus(const char *devices, uint64_t limit, int64_t n, bool mixed)
{
    kmm_runtime_t *rt = make(devices, limit, NULL);
    uint32_t *x = words(n, 1), *y = words(n, 2), *a = array(rt, n), *b = array(rt, n);
    good(rt, kmm_copy_in(rt, a, x, (size_t)n * 4));
    good(rt, kmm_copy_in(rt, b, y, (size_t)n * 4));
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        good(rt, step_with(mixed && sweep % 2 ? &step_kernel : &step_on_gpu, n, a, b, n / 40));
        model_step(x, y, n);
    }
    assert_holds(rt, a, x, n);
    assert_holds(rt, b, y, n);
    kmm__spill_stats_t s = stats(rt);
    assert_true(s.most <= s.limit && s.written >= (uint64_t)n * 4 && s.read >= (uint64_t)n * 4);
    assert_true(limit < 32 << 20 || s.page_bytes >= KMM__LOCK_AT_LEAST);
    free(x);
    free(y);
    end(rt);
}

static void gpus_spill_to_disk(void **state)
{
    (void)state;
    fake_counts_t c;
    fake_counts_function_t *counts = gpu_counts();
    if (!counts)
        skip();
    setenv("KMM_FAKE_GRANULE", "64K", 1);
    sweep_gpus("cuda:2,mem=2M", LIMIT, WORDS, false);
    if (!SLOW)
        sweep_gpus("cuda:1,mem=16M", 32 << 20, LARGE, false);
    sweep_gpus("cuda:1,host:1,mem=2M", LIMIT, WORDS, true);
    sweep_gpus("cuda:2,host:2,mem=8M", 32 << 20, LARGE, true);
    counts(&c);
    assert_int_equal(c.registrations + c.frames + c.windows + c.events, 0);
}

/* An array that ends while its pages are locked, with a limit of host memory. */
static void what_ends_is_unlocked(void **state)
{
    (void)state;
    fake_counts_t before, after;
    fake_counts_function_t *counts = gpu_counts();
    if (!counts)
        skip();
    const int64_t n = (int64_t)2 << 20;
    kmm_runtime_t *rt = make("cuda:1,mem=16M", 64 << 20, NULL);
    uint32_t *x = words(n, 1), *a = array(rt, n), *b = array(rt, n);
    good(rt, kmm_copy_in(rt, a, x, (size_t)n * 4));
    good(rt, kmm_fill(rt, b, 1, (size_t)n * 4));
    good(rt, kmm_wait(rt));
    counts(&before);
    good(rt, step_with(&step_on_gpu, n, a, b, n / 4));
    good(rt, kmm_wait(rt));
    counts(&after);
    assert_true(after.registrations > before.registrations);
    good(rt, kmm_array_destroy(rt, a));
    good(rt, kmm_array_destroy(rt, b));
    free(x);
    end(rt);
    counts(&after);
    assert_int_equal(after.registrations, 0);
}

#if defined(__SANITIZE_THREAD__)
enum { ROUNDS = 1 };
#else
enum { ROUNDS = 4 };
#endif

/* The same behind a page's first bytes, where large memory from malloc begins. */
static uint32_t *shifted(uint32_t *values, int64_t n)
{
    uint32_t *p =
        mmap(NULL, (size_t)n * 4 + 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    memcpy(p + 4, values, (size_t)n * 4);
    free(values);
    return p + 4;
}

/* Memory of the program that is used from one end to the other: blocks are page-locked before they
 * are used, each once, and all unlocked; also where the map ends before they are used. */
static void blocks_are_locked_early(void **state)
{
    (void)state;
    enum { BLOCK = 64 << 20 };
    fake_counts_t c;
    fake_counts_function_t *counts = gpu_counts();
    if (!counts)
        skip();
    const int64_t n = (int64_t)(2 * BLOCK + 5 * 4096) / 4;
    uint32_t *x = shifted(words(n, 1), n), *y = shifted(words(n, 2), n), *expected = words(n, 1);
    for (int k = 0; k < ROUNDS; k++) {
        kmm_runtime_t *rt = make(k % 2 ? "cuda:2,mem=16M" : "cuda:1,mem=16M", 0, NULL);
        int64_t used = k < 2 ? n : 1000;
        good(rt, kmm_map(rt, KMM_MAP_TOFROM, x, (size_t)n * 4));
        good(rt, kmm_map(rt, KMM_MAP_TO, y, (size_t)n * 4));
        good(rt, step_with(&step_on_gpu, used, x, y, used / 50));
        good(rt, kmm_wait(rt));
        counts(&c);
        assert_in_range(c.registrations, used == n ? 4 : 2,
                        4); /* the last block of each is not worth it */
        good(rt, kmm_unmap(rt, x));
        counts(&c);
        assert_in_range(c.registrations, used == n ? 2 : 1, 2);
        good(rt, kmm_unmap(rt, y));
        end(rt);
        counts(&c);
        assert_int_equal(c.registrations, 0);
        model_step(expected, y, used);
    }
    assert_memory_equal(x, expected, (size_t)n * 4);
    munmap(x - 4, (size_t)n * 4 + 16);
    munmap(y - 4, (size_t)n * 4 + 16);
    free(expected);
}

/* ---- What is not written ---- */

static void only_what_nobody_else_has_is_written(void **state)
{
    (void)state;
    const int64_t n = (int64_t)(LIMIT / 2 / 4);
    kmm_runtime_t *rt = make("host:1,mem=64M", LIMIT, NULL);
    uint32_t *x = words(n, 3), *y = words(n, 4), *a = array(rt, n), *b = array(rt, n),
             *c = array(rt, WORDS);
    good(rt, kmm_copy_in(rt, a, x, (size_t)n * 4));
    good(rt, kmm_copy_in(rt, b, y, (size_t)n * 4));
    good(rt, step(n, a, b, n)); /* the device has the newest of both */
    good(rt, kmm_wait(rt));
    uint64_t before = stats(rt).written;
    good(rt, kmm_fill(rt, c, 1, WORDS * 4)); /* pushes them out of the host's memory */
    kmm__spill_stats_t s = stats(rt);
    assert_true(s.written - before <= (uint64_t)WORDS * 4);
    assert_true(s.dropped >= (uint64_t)n * 4); /* b at least: of a nothing was valid */
    model_step(x, y, n);
    assert_holds(rt, a, x, n);
    assert_holds(rt, b, y, n);
    free(x);
    free(y);
    end(rt);
}

/* What was read back and not changed is not written again. */
static void unchanged_data_is_written_once(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("host", LIMIT, NULL);
    uint32_t *x = words(WORDS, 5), *a = array(rt, WORDS);
    good(rt, kmm_copy_in(rt, a, x, WORDS * 4));
    for (int k = 0; k < 3; k++)
        assert_holds(rt, a, x, WORDS);
    kmm__spill_stats_t s = stats(rt);
    assert_true(s.written <= (uint64_t)WORDS * 4);
    assert_true(s.read >= 3 * ((uint64_t)WORDS * 4 - LIMIT));
    free(x);
    end(rt);
}

/* An array that is overwritten whole is not read back for it, and one that ended is not written. */
static void dead_data_does_not_move(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("host", LIMIT, NULL);
    uint32_t *a = array(rt, WORDS);
    good(rt, kmm_fill(rt, a, 1, WORDS * 4));
    good(rt, kmm_fill(rt, a, 2, WORDS * 4));
    assert_true(stats(rt).read == 0);
    good(rt, kmm_array_destroy(rt, a));
    uint64_t before = stats(rt).written;
    a = array(rt, (int64_t)(LIMIT / 8));
    good(rt, kmm_fill(rt, a, 3, LIMIT / 2));
    assert_true(stats(rt).written - before <=
                LIMIT / 8 + 2 * stats(rt).page_bytes); /* writes that were under way */
    end(rt);
}

static void mapped_memory_is_not_counted(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("host:2,mem=1M", LIMIT, NULL);
    uint32_t *x = words(WORDS, 1), *y = words(WORDS, 2), *expected = words(WORDS, 1);
    good(rt, kmm_map(rt, KMM_MAP_TOFROM, x, WORDS * 4));
    good(rt, kmm_map(rt, KMM_MAP_TO, y, WORDS * 4));
    good(rt, step(WORDS, x, y, 32768));
    good(rt, kmm_unmap(rt, x));
    good(rt, kmm_unmap(rt, y));
    for (int64_t k = 0; k < WORDS; k++)
        assert_int_equal(x[k], 3 * expected[k] + y[k]);
    kmm__spill_stats_t s = stats(rt);
    assert_true(s.most == 0 && s.written == 0);
    free(x);
    free(y);
    free(expected);
    end(rt);
}

/* ---- What goes wrong ---- */

/* The spill file of this process in a folder, opened once more; -1: there is none. */
static int spill_file(const char *folder)
{
    char path[64], target[4096];
    int found = -1;
    for (int fd = 0; fd < 256 && found < 0; fd++) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, target, sizeof(target) - 1);
        if (n < 0)
            continue;
        target[n] = '\0';
        if (!strncmp(target, folder, strlen(folder)) && strstr(target, "(deleted)"))
            found = open(path, O_RDWR);
    }
    return found;
}

static char *make_folder(char *path)
{
    strcpy(path, "/var/tmp/kmm-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

static int entries(const char *folder)
{
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static void changed_blocks_are_noticed(const char *devices)
{
    char folder[64];
    kmm_runtime_t *rt = make(devices, LIMIT, make_folder(folder));
    uint32_t *x = words(WORDS, 1), *y = words(WORDS, 2), *a = array(rt, WORDS),
             *b = array(rt, WORDS), *got = malloc(WORDS * 4);
    good(rt, kmm_copy_in(rt, a, x, WORDS * 4)); /* its first sheets are written first */
    good(rt, kmm_copy_in(rt, b, y, WORDS * 4));
    int file = spill_file(folder);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, "wrong", 5, 1000), 5);
    close(file);
    /* b is somewhere else in the file. */
    assert_holds(rt, b, y, WORDS);
    int error = step(WORDS, a, b, 32768);
    error = error ? error : kmm_wait(rt);
    assert_int_equal(error, KMM_E_CORRUPT);
    assert_non_null(strstr(kmm_error_text(rt), folder));
    assert_int_equal(kmm_copy_out(rt, got, a, WORDS * 4), KMM_E_POISONED);
    assert_holds(rt, b, y, WORDS);
    /* What is overwritten whole is right again, and the runtime works on. */
    good(rt, kmm_copy_in(rt, a, x, WORDS * 4));
    good(rt, step(WORDS, a, b, 32768));
    model_step(x, y, WORDS);
    assert_holds(rt, a, x, WORDS);
    free(x);
    free(y);
    free(got);
    end(rt);
    assert_int_equal(entries(folder), 0);
    rmdir(folder);
}

static void corruption_is_an_error(void **state)
{
    (void)state;
    changed_blocks_are_noticed("host");
    changed_blocks_are_noticed("host:1,mem=2M");
    changed_blocks_are_noticed("host:2,mem=2M");
}

static void fill_the_disk(const char *devices)
{
    char folder[64];
    struct rlimit old, small;
    kmm_runtime_t *rt = make(devices, LIMIT, make_folder(folder));
    const int64_t n = (int64_t)(LIMIT / 4 / 4);
    uint32_t *x = words(n, 1), *a = array(rt, n), *b = array(rt, WORDS);
    good(rt, kmm_copy_in(rt, a, x, (size_t)n * 4));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 2 << 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int error = kmm_fill(rt, b, 1, WORDS * 4);
    assert_int_equal(error, KMM_E_DISK_FULL);
    assert_non_null(strstr(kmm_error_text(rt), folder));
    assert_non_null(strstr(kmm_error_text(rt), "bytes"));
    kmm_wait(rt);
    /* With less to keep, or more room on the disk, all goes on; what was not touched is what it
     * was. */
    good(rt, kmm_array_destroy(rt, b));
    assert_holds(rt, a, x, n);
    b = array(rt, n);
    good(rt, kmm_fill(rt, b, 0, (size_t)n * 4));
    good(rt, step(n, a, b, 4096));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    for (int64_t k = 0; k < n; k++)
        x[k] *= 3;
    uint32_t *c = array(rt, WORDS);
    good(rt, kmm_fill(rt, c, 9, WORDS * 4));
    assert_holds(rt, a, x, n);
    free(x);
    end(rt);
    rmdir(folder);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    for (int k = 0; k < MODES; k++) {
        setenv("KMM_SPILL_IO", modes[k], 1);
        fill_the_disk("host");
        fill_the_disk("host:1,mem=2M");
    }
    unsetenv("KMM_SPILL_IO");
}

static void nothing_is_left_after_a_crash(void **state)
{
    (void)state;
    char folder[64], byte;
    int ends[2], status;
    make_folder(folder);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        kmm_runtime_t *rt = make("host", LIMIT, folder);
        uint32_t *a = array(rt, WORDS);
        kmm_fill(rt, a, 1, WORDS * 4);
        byte = stats(rt).written > 0 && spill_file(folder) >= 0;
        if (write(ends[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            kmm_fill(rt, a, 2, WORDS * 4);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(byte, 1);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(entries(folder), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* KMM_STATS=1 says what went to disk and came back. */
static void bytes_are_told(void **state)
{
    (void)state;
    char text[2048] = "", *at;
    FILE *file = tmpfile();
    int old = dup(STDERR_FILENO);
    double written, read_back;
    char unit[2][8];
    assert_non_null(file);
    setenv("KMM_STATS", "1", 1);
    kmm_runtime_t *rt = make("host", LIMIT, NULL);
    uint32_t *x = words(WORDS, 5), *a = array(rt, WORDS);
    good(rt, kmm_copy_in(rt, a, x, WORDS * 4));
    assert_holds(rt, a, x, WORDS);
    kmm__spill_stats_t s = stats(rt);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    end(rt);
    fflush(stderr);
    dup2(old, STDERR_FILENO);
    close(old);
    unsetenv("KMM_STATS");
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    at = strstr(text, "kmm: host memory: at most 4.0 MiB");
    assert_non_null(at);
    assert_int_equal(sscanf(strstr(at, "written"), "written to disk %lf %3s, read back %lf %3s",
                            &written, unit[0], &read_back, unit[1]),
                     4);
    assert_string_equal(unit[0], "MiB");
    assert_string_equal(unit[1], "MiB");
    assert_true(written > (double)s.written / 1048576 - 0.1 && written >= 8 && written <= 12.1);
    assert_true(read_back > (double)s.read / 1048576 - 0.1 && read_back >= 8);
    free(x);
}

static void refuses(void **state)
{
    (void)state;
    kmm_runtime_t *rt;
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "host", .host_mem = 4096}),
                     KMM_E_INVALID);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "host",
                                                     .host_mem = LIMIT,
                                                     .spill_dir = "/no such folder"}),
                     KMM_E_IO);
    assert_non_null(strstr(kmm_error_text(NULL), "/no such folder"));
    setenv("KMM_HOST_MEM", "much", 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "host"}), KMM_E_INVALID);
    setenv("KMM_HOST_MEM", "2M", 1);
    setenv("KMM_SPILL_DIR", "/var/tmp", 1);
    rt = make("host", 0, NULL);
    assert_true(stats(rt).limit == 2 << 20);
    unsetenv("KMM_HOST_MEM");
    unsetenv("KMM_SPILL_DIR");
    /* A chunk that can never be in memory. */
    uint32_t *a = array(rt, WORDS), *b = array(rt, WORDS);
    good(rt, kmm_fill(rt, b, 1, WORDS * 4));
    good(rt, kmm_fill(rt, a, 1, WORDS * 4));
    int error = step(WORDS, a, b, WORDS);
    error = error ? error : kmm_wait(rt);
    assert_int_equal(error, KMM_E_MEMORY);
    assert_non_null(strstr(kmm_error_text(rt), "KMM_HOST_MEM"));
    end(rt);
}

int main(void)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_are_xxh64),
        cmocka_unit_test(disk_keeps_blocks),
        cmocka_unit_test(arrays_may_be_larger_than_memory),
        cmocka_unit_test(copies_overlap),
        cmocka_unit_test(gpus_spill_to_disk),
        cmocka_unit_test(what_ends_is_unlocked),
        cmocka_unit_test(blocks_are_locked_early),
        cmocka_unit_test(only_what_nobody_else_has_is_written),
        cmocka_unit_test(unchanged_data_is_written_once),
        cmocka_unit_test(dead_data_does_not_move),
        cmocka_unit_test(mapped_memory_is_not_counted),
        cmocka_unit_test(corruption_is_an_error),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(nothing_is_left_after_a_crash),
        cmocka_unit_test(bytes_are_told),
        cmocka_unit_test(refuses),
    };
    size_t count = share_take(tests, sizeof(tests) / sizeof(*tests), sizeof(*tests));
    return _cmocka_run_group_tests("spill", tests, count, NULL, NULL);
}
