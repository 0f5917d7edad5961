/* SPDX-License-Identifier: Apache-2.0 */
/* The life of launches through the public interface, on the CPU and on pretend devices. */
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

#include "base/runtime.h"
#include "share.h"

/* ---- Kernels ---- */

static void each_thread(const kmm_host_blocks_t *b, void **args,
                        void (*fn)(const uint32_t global[3], const kmm_host_blocks_t *b,
                                   void **args))
{
    for (uint64_t k = b->first; k < b->last; k++) {
        uint32_t block[3] = {(uint32_t)(k % b->count[0]) + b->offset[0],
                             (uint32_t)(k / b->count[0] % b->count[1]) + b->offset[1],
                             (uint32_t)(k / b->count[0] / b->count[1]) + b->offset[2]};
        for (uint32_t z = 0; z < b->block[2]; z++)
            for (uint32_t y = 0; y < b->block[1]; y++)
                for (uint32_t x = 0; x < b->block[0]; x++) {
                    uint32_t g[3] = {block[0] * b->block[0] + x, block[1] * b->block[1] + y,
                                     block[2] * b->block[2] + z};
                    fn(g, b, args);
                }
    }
}

#define ARG(T, k) (*(T *)args[k])

static void add_thread(const uint32_t g[3], const kmm_host_blocks_t *b, void **args)
{
    (void)b;
    if ((int64_t)g[0] < ARG(int64_t, 0))
        ARG(int *, 1)[g[0]] = ARG(int *, 2)[g[0]] + ARG(int *, 3)[g[0]];
}

static void add_run(const kmm_host_blocks_t *b, void **args)
{
    each_thread(b, args, add_thread);
}

static const uint32_t four_words[] = {8, 8, 8, 8};
static const kmm_kernel_t add_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "add", add_run, NULL, 4, four_words, 0, NULL};

/* out[y][x] = in[y][x] + neighbours, clamped at the edges */
static void stencil_thread(const uint32_t g[3], const kmm_host_blocks_t *b, void **args)
{
    (void)b;
    int64_t w = ARG(int64_t, 0), h = ARG(int64_t, 1), x = g[0], y = g[1];
    int *out = ARG(int *, 2);
    const int *in = ARG(const int *, 3);
    if (x >= w || y >= h)
        return;
    int sum = in[y * w + x];
    sum += x > 0 ? in[y * w + x - 1] : 0;
    sum += x + 1 < w ? in[y * w + x + 1] : 0;
    sum += y > 0 ? in[(y - 1) * w + x] : 0;
    sum += y + 1 < h ? in[(y + 1) * w + x] : 0;
    out[y * w + x] = sum;
}

static void stencil_run(const kmm_host_blocks_t *b, void **args)
{
    each_thread(b, args, stencil_thread);
}

static const kmm_kernel_t stencil_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "stencil", stencil_run, NULL, 4, four_words, 0, NULL};

static void sum_thread(const uint32_t g[3], const kmm_host_blocks_t *b, void **args)
{
    (void)b;
    if ((int64_t)g[0] < ARG(int64_t, 0))
        __atomic_fetch_add(ARG(int *, 1) + g[0] % 7, ARG(int *, 2)[g[0]], __ATOMIC_RELAXED);
}

static void sum_run(const kmm_host_blocks_t *b, void **args)
{
    each_thread(b, args, sum_thread);
}

static const kmm_kernel_t sum_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "sum", sum_run, NULL, 3, four_words, 0, NULL};

/* ---- Helpers ---- */

static const char *const configurations[] = {"host",
                                             "host:1,mem=16M",
                                             "host:1,mem=256K",
                                             "host:2,mem=256K",
                                             "host:4,mem=200K",
                                             "host:2,mem=256K,host"};

static kmm_runtime_t *make(const char *devices)
{
    kmm_runtime_t *rt = NULL;
    kmm_config_t config = {.devices = devices};
    int error = kmm_create(&rt, &config);
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

static void *array(kmm_runtime_t *rt, size_t bytes)
{
    void *p = NULL;
    assert_int_equal(
        kmm_array_create(
            rt, &(kmm_shape_t){.dims = 1, .extent = {(int64_t)bytes}, .element_bytes = 1}, &p),
        0);
    return p;
}

static void index_1d(kmm_launch_t *l, kmm_mode_t mode, const char *text, const void *base)
{
    kmm_launch_access(l, mode, text, base, sizeof(int));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
}

static int add(int64_t n, int64_t chunk, int *c, int *a, int *b)
{
    kmm_geometry_t geometry = {{(uint32_t)((n + 63) / 64), 1, 1}, {64, 1, 1}, 0, NULL};
    void *args[] = {&n, &c, &a, &b};
    kmm_launch_t *l = kmm_launch_begin("add", "test.cu", 1);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
    if (chunk)
        kmm_launch_chunk(l, KMM_GLOBAL_X, chunk);
    index_1d(l, KMM_READ, "A[i]", a);
    index_1d(l, KMM_READ, "B[i]", b);
    index_1d(l, KMM_WRITE, "C[i]", c);
    kmm_launch_arm(l);
    return kmm_launch_kernel(&add_kernel, &geometry, args);
}

static int *random_ints(size_t n)
{
    int *p = malloc(n * sizeof(int) + 1);
    for (size_t k = 0; k < n; k++)
        p[k] = rand() % 1000;
    return p;
}

/* ---- Tests ---- */

static void adds_in_chunks(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(configurations) / sizeof(*configurations); c++) {
        static const int64_t sizes[] = {1, 63, 64, 65, 1000, 40000};
        for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
            int64_t n = sizes[s];
            kmm_runtime_t *rt = make(configurations[c]);
            size_t bytes = (size_t)n * sizeof(int);
            int *a = random_ints((size_t)n), *b = random_ints((size_t)n),
                *out = calloc((size_t)n, sizeof(int));
            int *A = array(rt, bytes), *B = array(rt, bytes), *C = array(rt, bytes);
            assert_int_equal(kmm_copy_in(rt, A, a, bytes), 0);
            assert_int_equal(kmm_copy_in(rt, B, b, bytes), 0);
            if (add(n, n / 10, C, A, B))
                fail_msg("%s n=%ld: %s", configurations[c], (long)n, kmm_error_text(rt));
            assert_int_equal(add(n, n / 3, A, C, B), 0);
            assert_int_equal(add(n, 0, C, A, A), 0);
            assert_int_equal(kmm_copy_out(rt, out, C, bytes), 0);
            for (int64_t k = 0; k < n; k++)
                if (out[k] != 2 * (a[k] + 2 * b[k]))
                    fail_msg("%s n=%ld k=%ld: %d != %d; %s", configurations[c], (long)n, (long)k,
                             out[k], 2 * (a[k] + 2 * b[k]), rt->error.text);
            end(rt);
            free(a);
            free(b);
            free(out);
        }
    }
}

static void stencil_step(int64_t w, int64_t h, int64_t rows, int *out, int *in)
{
    kmm_geometry_t geometry = {
        {(uint32_t)((w + 15) / 16), (uint32_t)((h + 3) / 4), 1}, {16, 4, 1}, 0, NULL};
    void *args[] = {&w, &h, &out, &in};
    kmm_launch_t *l = kmm_launch_begin("stencil", "test.cu", 2);
    kmm_launch_axis(l, "x", KMM_GLOBAL_X, 0, w);
    kmm_launch_axis(l, "y", KMM_GLOBAL_Y, 0, h);
    kmm_launch_chunk(l, KMM_GLOBAL_X, w);
    kmm_launch_chunk(l, KMM_GLOBAL_Y, rows);
    kmm_launch_access(l, KMM_READ, "in[y-1:3][x-1:3]", in, sizeof(int));
    kmm_launch_extent(l, h);
    kmm_launch_extent(l, w);
    kmm_launch_index(l, -1, 3);
    kmm_launch_coef(l, 1, 1, 0);
    kmm_launch_index(l, -1, 3);
    kmm_launch_coef(l, 0, 1, 0);
    kmm_launch_access(l, KMM_WRITE, "out[y][x]", out, sizeof(int));
    kmm_launch_extent(l, h);
    kmm_launch_extent(l, w);
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 1, 1, 0);
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    kmm_launch_arm(l);
    int error = kmm_launch_kernel(&stencil_kernel, &geometry, args);
    if (error)
        fail_msg("%s", kmm_error_text(NULL));
}

static void exchanges_halos(void **state)
{
    (void)state;
    enum { W = 70, H = 150, STEPS = 6 };
    for (size_t c = 0; c < sizeof(configurations) / sizeof(*configurations); c++) {
        kmm_runtime_t *rt = make(configurations[c]);
        int *a = random_ints(W * H), *b = calloc(W * H, sizeof(int)),
            *out = calloc(W * H, sizeof(int));
        size_t bytes = W * H * sizeof(int);
        int *A = array(rt, bytes), *B = array(rt, bytes);
        kmm_copy_in(rt, A, a, bytes);
        for (int step = 0; step < STEPS; step++) {
            stencil_step(W, H, 8 + 12 * (step % 3), B, A);
            int *T = A;
            A = B;
            B = T;
            int64_t w = W, h = H;
            void *args[] = {&w, &h, &b, &a};
            kmm_host_blocks_t all = {{(W + 15) / 16, (H + 3) / 4, 1},
                                     {16, 4, 1},
                                     {0},
                                     {(W + 15) / 16, (H + 3) / 4, 1},
                                     0,
                                     ((W + 15) / 16) * ((H + 3) / 4),
                                     0};
            stencil_run(&all, args);
            T = a;
            a = b;
            b = T;
        }
        int error = kmm_copy_out(rt, out, A, bytes);
        if (error)
            fail_msg("%s: %s", configurations[c], kmm_error_text(rt));
        assert_memory_equal(out, a, bytes);
        end(rt);
        free(a);
        free(b);
        free(out);
    }
}

static void reduces(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(configurations) / sizeof(*configurations); c++) {
        int64_t n = 30000;
        kmm_runtime_t *rt = make(configurations[c]);
        int *a = random_ints((size_t)n), expected[7], out[7];
        int *A = array(rt, (size_t)n * sizeof(int)), *S = array(rt, sizeof(out));
        for (int k = 0; k < 7; k++)
            expected[k] = 100 + k;
        kmm_copy_in(rt, A, a, (size_t)n * sizeof(int));
        kmm_copy_in(rt, S, expected, sizeof(expected));
        for (int64_t k = 0; k < n; k++)
            expected[k % 7] += a[k];
        kmm_geometry_t geometry = {{(uint32_t)((n + 63) / 64), 1, 1}, {64, 1, 1}, 0, NULL};
        void *args[] = {&n, &S, &A};
        kmm_launch_t *l = kmm_launch_begin("sum", "test.cu", 3);
        kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
        kmm_launch_chunk(l, KMM_GLOBAL_X, 3000);
        index_1d(l, KMM_READ, "A[i]", A);
        kmm_launch_reduce(l, KMM_OP_ADD, KMM_INT32, "S[0:7]", S);
        kmm_launch_index(l, 0, 7);
        kmm_launch_arm(l);
        if (kmm_launch_kernel(&sum_kernel, &geometry, args))
            fail_msg("%s", kmm_error_text(rt));
        kmm_copy_out(rt, out, S, sizeof(out));
        assert_memory_equal(out, expected, sizeof(out));
        end(rt);
        free(a);
    }
}

struct saxpy {
    int64_t n;
    float a;
    const float *x;
    float *y;
};

static void saxpy_chunk(const kmm_chunk_t *chunk, void *args)
{
    struct saxpy *s = args;
    if ((uintptr_t)args % KMM_MAX_ALIGN)
        abort();
    for (int64_t k = chunk->begin[0]; k < chunk->end[0]; k++)
        s->y[k] += s->a * s->x[k];
}

static int saxpy(int64_t n, int64_t chunk, float a, const float *x, float *y)
{
    struct saxpy args = {n, a, x, y};
    kmm_launch_t *l = kmm_launch_begin("saxpy", "test.c", 4);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, n);
    kmm_launch_chunk(l, KMM_RANGE_0, chunk);
    index_1d(l, KMM_READ, "x[i]", x);
    index_1d(l, KMM_UPDATE, "y[i]", y);
    return kmm_launch_call(l, saxpy_chunk, &args, sizeof(args));
}

static void calls_functions_on_host_memory(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(configurations) / sizeof(*configurations); c++) {
        enum { N = 20000 };
        kmm_runtime_t *rt = make(configurations[c]);
        float *x = malloc(N * sizeof(float)), *y = malloc(N * sizeof(float));
        for (int k = 0; k < N; k++)
            x[k] = (float)(rand() % 100), y[k] = (float)k;
        assert_int_equal(saxpy(N, 999, 2, x, y), 0);
        for (int k = 0; k < N; k++)
            assert_true(y[k] == (float)k + 2 * x[k]);
        assert_int_equal(kmm_map(rt, KMM_MAP_TO, x, N * sizeof(float)), 0);
        assert_int_equal(kmm_map(rt, KMM_MAP_TOFROM, y, N * sizeof(float)), 0);
        for (int step = 0; step < 3; step++)
            assert_int_equal(saxpy(N, 1000 + step, 1, x, y), 0);
        assert_int_equal(saxpy(N, 1000, 1, y, x), KMM_E_INVALID);
        assert_int_equal(kmm_unmap(rt, y), 0);
        assert_int_equal(kmm_unmap(rt, x), 0);
        for (int k = 0; k < N; k++)
            assert_true(y[k] == (float)k + 5 * x[k]);
        end(rt);
        free(x);
        free(y);
    }
}

static void refuses(void **state)
{
    (void)state;
    kmm_runtime_t *rt; /* of limited host memory, nothing is host-backed */
    assert_int_equal(
        kmm_create(&rt, &(kmm_config_t){.devices = "host:1,mem=256K", .host_mem = 64 << 20}), 0);
    kmm_use(rt);
    int64_t n = 200000;
    int *A = array(rt, (size_t)n * 4), *B = array(rt, (size_t)n * 4), *C = array(rt, (size_t)n * 4);
    kmm_fill(rt, A, 1, (size_t)n * 4);
    kmm_fill(rt, B, 1, (size_t)n * 4);
    kmm_fill(rt, C, 7, 1000);
    assert_int_equal(add(n, n, C, A, B), KMM_E_MEMORY); /* one chunk that cannot fit */
    unsigned long long needs, most, part = 0;
    const char *said = strstr(kmm_error_text(rt), "test.cu:1: add: needs ");
    assert_non_null(said);
    assert_int_equal(sscanf(said,
                            "test.cu:1: add: needs %llu bytes on host:0 at once, of which %llu can "
                            "be used; a chunk of at most 1/%llu of",
                            &needs, &most, &part),
                     3);
    assert_true(needs >= 3 * (uint64_t)n * 4 && needs < 3 * ((uint64_t)n * 4 + 65536) &&
                most <= 256 << 10);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(add(n, n / (int64_t)part, C, A, B), 0);
    if (kmm_wait(rt))
        fail_msg("%s", kmm_error_text(rt));
    char out[1000]; /* nothing is lost, and what comes after it runs */
    kmm_fill(rt, B, 2, (size_t)n * 4);
    assert_int_equal(add(n, n, C, A, B), KMM_E_MEMORY);
    assert_int_equal(add(n, n, A, A, C), KMM_E_MEMORY);
    assert_int_equal(kmm_copy_out(rt, out, C, sizeof(out)), 0);
    assert_int_equal(out[999], 2);
    assert_int_equal(add(n, n / 20, C, A, B), 0);
    assert_int_equal(kmm_copy_out(rt, out, C, sizeof(out)), 0);
    assert_int_equal(out[999], 3);
    assert_int_equal(kmm_copy_in(rt, &n, out, 4), KMM_E_ADDRESS);
    assert_int_equal(kmm_fill(rt, NULL, 0, 0), KMM_E_ADDRESS);
    assert_int_equal(kmm_copy_in(rt, A, out, (size_t)n * 4 + 1), KMM_E_RANGE);
    assert_int_equal(kmm_array_destroy(rt, A + 1), KMM_E_ADDRESS);
    end(rt);
}

/* dst[y][x] = src[h - 1 - y][x] + 1 for a column x, which lies in all frames of its array. */
static void column_thread(const uint32_t g[3], const kmm_host_blocks_t *b, void **args)
{
    (void)b;
    int64_t w = ARG(int64_t, 0), h = ARG(int64_t, 1);
    for (int64_t y = 0; y < h && g[0] < w; y++)
        ARG(int *, 2)[y * w + g[0]] = ARG(const int *, 3)[(h - 1 - y) * w + g[0]] + 1;
}

static void column_run(const kmm_host_blocks_t *b, void **args)
{
    each_thread(b, args, column_thread);
}

static int columns(int64_t w, int64_t h, int64_t chunk, int *dst, int *src)
{
    static const kmm_kernel_t kernel = {
        KMM_LAUNCH_VERSION, KMM_KIND_HOST, "columns", column_run, NULL, 4, four_words, 0, NULL};
    kmm_launch_t *l = kmm_launch_begin("columns", "test.cu", 8);
    kmm_launch_axis(l, "x", KMM_GLOBAL_X, 0, w);
    if (chunk)
        kmm_launch_chunk(l, KMM_GLOBAL_X, chunk);
    for (int k = 0; k < 2; k++) {
        kmm_launch_access(l, k ? KMM_WRITE : KMM_READ, k ? "dst[:][x]" : "src[:][x]", k ? dst : src,
                          sizeof(int));
        kmm_launch_extent(l, h);
        kmm_launch_extent(l, w);
        kmm_launch_index(l, 0, KMM_WHOLE);
        kmm_launch_index(l, 0, 1);
        kmm_launch_coef(l, 0, 1, 0);
    }
    kmm_launch_arm(l);
    return kmm_launch_kernel(
        &kernel, &(kmm_geometry_t){{(uint32_t)((w + 63) / 64), 1, 1}, {64, 1, 1}, 0, NULL},
        (void *[]){&w, &h, &dst, &src});
}

/* Checks and ThreadSanitizer together take minutes; each of them has the test by itself. */
static void skip_if_slow(void)
{
#if defined(__SANITIZE_THREAD__)
    if (getenv("KMM_CHECK"))
        skip();
#endif
}

static char *said_by(int (*run)(kmm_runtime_t *rt, int *out), kmm_runtime_t *rt, int *out)
{
    static char text[4096];
    FILE *f = tmpfile();
    int old = dup(2);
    dup2(fileno(f), 2);
    int error = run(rt, out);
    dup2(old, 2);
    close(old);
    rewind(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = 0;
    fclose(f);
    if (error)
        fail_msg("%s", kmm_error_text(rt));
    return text;
}

enum { COLUMNS = 256, ROWS = 512, ALL = COLUMNS * ROWS };

/* Columns there and back, and between them a launch by rows, which fits and shares elements with
 * chunks of columns on all devices. */
static int turn_columns(kmm_runtime_t *rt, int *out)
{
    int64_t n = ALL;
    int *A = array(rt, ALL * 4), *B = array(rt, ALL * 4), *C = array(rt, ALL * 4);
    for (int k = 0; k < ALL; k++)
        out[k] = k % 1009;
    int error = kmm_copy_in(rt, A, out, ALL * 4);
    for (int k = 0; k < 3 && !error; k++) {
        error = columns(COLUMNS, ROWS, k == 1 ? 0 : 64, B, A);
        error = error ? error : add(n, n / 64, C, A, B);
        error = error ? error : columns(COLUMNS, ROWS, 128, A, B);
        error = error ? error : add(n, n / 64, A, A, C);
    }
    error = error ? error : kmm_copy_out(rt, out, A, ALL * 4);
    kmm_array_destroy(rt, A);
    kmm_array_destroy(rt, B);
    kmm_array_destroy(rt, C);
    return error ? error : kmm_wait(rt);
}

/* A chunk that no splitting makes fit works on the host's memory as far as its device has no room,
 * on one device and on several that have parts of the same frames, and says so once. */
static void what_no_chunk_fits_is_host_backed(void **state)
{
    (void)state;
    skip_if_slow();
    static const char *const places[] = {"host", "host:1,mem=256K", "host:2,mem=256K",
                                         "host:3,mem=128K", "host:2,mem=64K"};
    int *want = malloc(ALL * sizeof(int)), *got = malloc(ALL * sizeof(int));
    for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
        kmm_runtime_t *rt = make(places[k]);
        const char *said = said_by(turn_columns, rt, k ? got : want);
        const char *first = strstr(said, "columns: ");
        assert_true(!first == !k);
        if (k && !strstr(first, "slowly; no chunk is small enough, because each uses so much of "
                                "its arrays [exceeding]"))
            fail_msg("%s: %s", places[k], said);
        for (int d = 0; k && d < kmm_device_count(rt); d++) { /* once on each device */
            char name[32];
            snprintf(name, sizeof(name), "on host:%d at once", d);
            const char *one = strstr(said, name);
            assert_true(!one || !strstr(one + 1, name));
        }
        if (k)
            assert_memory_equal(got, want, ALL * sizeof(int));
        end(rt);
    }
    free(want);
    free(got);
}

enum { TILE = 16 };

/* Adds its number and the element left of it to each element of a tile on the diagonal from the
 * lower left. */
static void diagonal_run(const kmm_host_blocks_t *b, void **args)
{
    int64_t tiles = ARG(int64_t, 0), w = tiles * TILE + 1;
    for (uint64_t k = b->first; k < b->last; k++) {
        int64_t tile = (int64_t)k + b->offset[0];
        for (int64_t y = (tiles - 1 - tile) * TILE; y < (tiles - tile) * TILE; y++)
            for (int64_t x = tile * TILE + 1; x <= (tile + 1) * TILE; x++)
                ARG(int *, 1)[y * w + x] += (int)tile + ARG(int *, 1)[y * w + x - 1];
    }
}

static int diagonal(int64_t tiles, int64_t chunk, int *A)
{
    static const kmm_kernel_t kernel = {
        KMM_LAUNCH_VERSION, KMM_KIND_HOST, "diagonal", diagonal_run, NULL, 2, four_words, 0, NULL};
    kmm_launch_t *l = kmm_launch_begin("diagonal", "test.cu", 9);
    kmm_launch_axis(l, "b", KMM_BLOCK_X, 0, tiles);
    if (chunk)
        kmm_launch_chunk(l, KMM_BLOCK_X, chunk);
    for (int k = 0; k < 2; k++) {
        kmm_launch_access(l, k ? KMM_UPDATE : KMM_READ, "A", A, sizeof(int));
        kmm_launch_extent(l, tiles * TILE);
        kmm_launch_extent(l, tiles * TILE + 1);
        kmm_launch_index(l, (tiles - 1) * TILE, TILE);
        kmm_launch_coef(l, 0, -TILE, 0);
        kmm_launch_index(l, k, TILE + 1 - k);
        kmm_launch_coef(l, 0, TILE, 0);
    }
    kmm_launch_arm(l);
    return kmm_launch_kernel(&kernel,
                             &(kmm_geometry_t){{(uint32_t)tiles, 1, 1}, {TILE, 1, 1}, 0, NULL},
                             (void *[]){&tiles, &A});
}

/* A launch along a diagonal passes over all of the array and touches little of it: where chunks are
 * not given it is not cut for memory's sake, and what does not fit is not brought for each launch.
 */
static void passes_over_what_it_hardly_touches(void **state)
{
    (void)state;
    skip_if_slow();
    enum { TILES = 40, LENGTH = TILES * TILE * (TILES * TILE + 1), LAUNCHES = 9 };
    static const char *const places[] = {"host", "host:1,mem=256K", "host:2,mem=256K"};
    int *want = malloc(LENGTH * sizeof(int)), *got = malloc(LENGTH * sizeof(int));
    for (size_t p = 0; p < 3; p++) {
        kmm_runtime_t *rt = make(places[p]);
        int *A = array(rt, LENGTH * 4), *out = p ? got : want;
        for (int k = 0; k < LENGTH; k++)
            out[k] = k % 7;
        assert_int_equal(kmm_copy_in(rt, A, out, LENGTH * 4), 0);
        for (int k = 0; k < LAUNCHES; k++)
            assert_int_equal(diagonal(TILES, k == 4 && p ? 2 : 0, A), 0);
        if (kmm_copy_out(rt, out, A, LENGTH * 4))
            fail_msg("%s", kmm_error_text(rt));
        uint64_t chunks = 0, in = 0;
        for (int d = 0; d < kmm_device_count(rt); d++) {
            kmm_device_info_t info;
            assert_int_equal(kmm_device_get(rt, d, &info), 0);
            chunks += info.chunks;
            in += info.bytes_in;
        }
        if (p)
            assert_int_equal(chunks, (LAUNCHES - 1) * p + TILES / 2);
        assert_true(in < 3 * LENGTH * sizeof(int));
        end(rt);
    }
    assert_memory_equal(got, want, LENGTH * sizeof(int));
    free(want);
    free(got);
}

static int add_in_two(kmm_runtime_t *rt, int *out)
{
    enum { N = 200000 };
    int *A = array(rt, N * 4), *B = array(rt, N * 4);
    for (int k = 0; k < N; k++)
        out[k] = k;
    int error = kmm_copy_in(rt, A, out, N * 4);
    for (int k = 0; k < 3 && !error; k++) {
        error = add(N, N / 2, B, A, A);
        error = error ? error : add(N, N / 100, A, B, B);
    }
    error = error ? error : kmm_copy_out(rt, out, A, N * 4);
    return error ? error : kmm_wait(rt);
}

/* A chunk that was asked for runs although it does not fit, and the warning names one that does. */
static void asked_chunks_may_be_host_backed(void **state)
{
    (void)state;
    skip_if_slow();
    enum { N = 200000 };
    static const char *const places[] = {"host:1,mem=256K", "host:2,mem=256K", "host:3,mem=64K"};
    int *got = malloc(N * sizeof(int));
    for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
        kmm_runtime_t *rt = make(places[k]);
        const char *said = said_by(add_in_two, rt, got), *part;
        unsigned long long needs, most, parts;
        assert_non_null(part = strstr(said, "needs "));
        assert_int_equal(sscanf(part,
                                "needs %llu bytes on host:%*d at once, of which %llu can be "
                                "used: it works on the rest in the host's memory, slowly; a "
                                "chunk of at most 1/%llu of its size would fit [exceeding]",
                                &needs, &most, &parts),
                         3);
        assert_true(needs > most && parts >= needs / most && parts < 4 * needs / most);
        for (int j = 0; j < N; j++)
            assert_int_equal(got[j], 64 * j);
        end(rt);
    }
    free(got);
}

/* With a limit of the host's memory there is nowhere to be. */
static void nothing_is_host_backed_of_limited_memory(void **state)
{
    (void)state;
    skip_if_slow();
    kmm_runtime_t *rt;
    assert_int_equal(
        kmm_create(&rt, &(kmm_config_t){.devices = "host:1,mem=256K", .host_mem = 4 << 20}), 0);
    kmm_use(rt);
    int *A = array(rt, ALL * 4), *B = array(rt, ALL * 4);
    kmm_fill(rt, A, 1, ALL * 4);
    assert_int_equal(columns(COLUMNS, ROWS, 64, B, A), KMM_E_MEMORY);
    assert_non_null(strstr(kmm_error_text(rt), "can be used; no chunk is small enough"));
    int64_t tiles = 40; /* and launches that pass over much are cut as others are */
    int *C = array(rt, (size_t)(tiles * TILE * (tiles * TILE + 1) * 4));
    kmm_fill(rt, C, 0, (size_t)(tiles * TILE * (tiles * TILE + 1) * 4));
    for (int k = 0; k < 3; k++)
        assert_int_equal(diagonal(tiles, 0, C), 0);
    if (kmm_wait(rt))
        fail_msg("%s", kmm_error_text(rt));
    end(rt);
}

/* Where `chunk` is not given chunks are made to fit: beside what all of them use, and across rows
 * where there are few. */
static void cuts_what_does_not_fit(void **state)
{
    (void)state;
    enum { N = 57000, W = 40000, H = 2 };
    kmm_runtime_t *rt = make("host:1,mem=256K");
    int *A = array(rt, N * 4), *B = array(rt, N * 4), *C = array(rt, N * 4),
        *out = malloc(2 * N * 4);
    int64_t n = N, w = W, h = H;
    kmm_fill(rt, A, 1, N * 4);
    kmm_fill(rt, B, 2, N * 4);
    kmm_launch_t *l = kmm_launch_begin("add", "test.cu", 5);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
    index_1d(l, KMM_READ, "A[i]", A);
    kmm_launch_access(l, KMM_READ, "B[:]", B, sizeof(int));
    kmm_launch_index(l, 0, KMM_WHOLE);
    index_1d(l, KMM_WRITE, "C[i]", C);
    kmm_launch_arm(l);
    assert_int_equal(kmm_launch_kernel(
                         &add_kernel, &(kmm_geometry_t){{(N + 63) / 64, 1, 1}, {64, 1, 1}, 0, NULL},
                         (void *[]){&n, &C, &A, &B}),
                     0);
    if (kmm_copy_out(rt, out, C, N * 4))
        fail_msg("%s", kmm_error_text(rt));
    for (int k = 0; k < N; k++)
        assert_int_equal(out[k], 0x03030303);
    A = array(rt, W * H * 4), C = array(rt, W * H * 4);
    kmm_fill(rt, A, 1, W * H * 4);
    l = kmm_launch_begin("stencil", "test.cu", 6);
    kmm_launch_axis(l, "x", KMM_GLOBAL_X, 0, w);
    kmm_launch_axis(l, "y", KMM_GLOBAL_Y, 0, h);
    for (int k = 0; k < 2; k++) {
        kmm_launch_access(l, k ? KMM_WRITE : KMM_READ, k ? "out[y][x]" : "in[y-1:3][x-1:3]",
                          k ? C : A, sizeof(int));
        kmm_launch_extent(l, h);
        kmm_launch_extent(l, w);
        kmm_launch_index(l, k ? 0 : -1, k ? 1 : 3);
        kmm_launch_coef(l, 1, 1, 0);
        kmm_launch_index(l, k ? 0 : -1, k ? 1 : 3);
        kmm_launch_coef(l, 0, 1, 0);
    }
    kmm_launch_arm(l);
    assert_int_equal(kmm_launch_kernel(&stencil_kernel,
                                       &(kmm_geometry_t){{W / 64, H, 1}, {64, 1, 1}, 0, NULL},
                                       (void *[]){&w, &h, &C, &A}),
                     0);
    if (kmm_copy_out(rt, out, C, W * H * 4))
        fail_msg("%s", kmm_error_text(rt));
    for (int k = 0; k < W * H; k++)
        assert_int_equal(out[k], 0x01010101 * (k % W == 0 || k % W == W - 1 ? 3 : 4));
    end(rt);
    free(out);
}

/* An item may name nothing: no elements of memory that is no array, of which the pointer may be
 * NULL. */
static void nothing_may_be_read(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(configurations) / sizeof(*configurations); c++) {
        enum { N = 1000 };
        kmm_runtime_t *rt = make(configurations[c]);
        float x[N] = {0}, y[N] = {0};
        for (int k = 0; k < N; k++)
            x[k] = 1;
        for (int k = 0; k < 4; k++) {
            struct saxpy args = {N, 1, x, y};
            kmm_launch_t *l = kmm_launch_begin("saxpy", "test.c", 5);
            kmm_launch_axis(l, "i", KMM_RANGE_0, 0, N);
            if (k / 2)
                kmm_launch_chunk(l, KMM_RANGE_0, 100);
            index_1d(l, KMM_READ, "x[i]", x);
            index_1d(l, KMM_UPDATE, "y[i]", y);
            kmm_launch_access(l, KMM_READ, "z[0:0]", k % 2 ? args.x + N / 2 : NULL, sizeof(float));
            kmm_launch_index(l, 0, 0);
            assert_int_equal(kmm_launch_call(l, saxpy_chunk, &args, sizeof(args)), 0);
        }
        for (int k = 0; k < N; k++)
            assert_true(y[k] == 4);
        end(rt);
    }
}

/* A launch that says nothing of chunks runs, however little memory there is: the rest of it is the
 * host's. */
static void what_does_not_fit_stays_host_backed(void **state)
{
    (void)state;
    static const char *const devices[] = {"host:1,mem=256K", "host:1,mem=4K", "host:2,mem=900K"};
    for (size_t d = 0; d < sizeof(devices) / sizeof(*devices); d++) {
        kmm_runtime_t *rt = make(devices[d]);
        enum { N = 100000 };
        int64_t n = N;
        int *A = array(rt, N * 4), *B = array(rt, N * 4), *C = array(rt, N * 4);
        int *in = malloc(N * sizeof(int)), *out = malloc(N * sizeof(int));
        kmm_geometry_t geometry = {{(N + 63) / 64, 1, 1}, {64, 1, 1}, 0, NULL};
        for (int k = 0; k < N; k++)
            in[k] = k;
        kmm_copy_in(rt, A, in, N * 4);
        kmm_fill(rt, B, 0, N * 4);
        kmm_fill(rt, C, 0, N * 4);
        for (int step = 0; step < 6; step++) { /* C = B + A, then B = C + A, and so on */
            int *to = step % 2 ? B : C, *from = step % 2 ? C : B;
            void *args[] = {&n, &to, &from, &A};
            assert_int_equal(kmm_launch_kernel(&add_kernel, &geometry, args), 0);
            assert_int_equal(add(n, n / 40, A, A, A),
                             0); /* chunks that fit, of data that is partly host-backed */
        }
        assert_int_equal(kmm_wait(rt), 0);
        assert_int_equal(kmm_copy_out(rt, out, B, N * 4), 0);
        for (int k = 0; k < N; k++)
            assert_int_equal(out[k], 63 * k);
        kmm_device_info_t info;
        assert_int_equal(kmm_device_get(rt, 0, &info), 0);
        assert_true(info.used_bytes <= info.memory_bytes);
        assert_int_equal(kmm_array_destroy(rt, C), 0);
        assert_int_equal(kmm_copy_out(rt, out, A, N * 4), 0);
        for (int k = 0; k < N; k++)
            assert_int_equal(out[k], 64 * k);
        end(rt);
        free(in);
        free(out);
    }
}

static void refuses_overlapping_writes(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("host");
    int64_t n = 1000;
    int *A = array(rt, (size_t)n * 4), *C = array(rt, (size_t)n * 4);
    kmm_geometry_t geometry = {{16, 1, 1}, {64, 1, 1}, 0, NULL};
    void *args[] = {&n, &C, &A, &A};
    kmm_launch_t *l = kmm_launch_begin("add", "test.cu", 9);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
    kmm_launch_chunk(l, KMM_GLOBAL_X, 128);
    index_1d(l, KMM_READ, "A[i]", A);
    kmm_launch_access(l, KMM_UPDATE, "C[i:2]", C, sizeof(int));
    kmm_launch_index(l, 0, 2);
    kmm_launch_coef(l, 0, 1, 0);
    kmm_launch_arm(l);
    assert_int_equal(kmm_launch_kernel(&add_kernel, &geometry, args), KMM_E_OVERLAP);
    assert_non_null(strstr(kmm_error_text(rt), "C[i:2]"));
    kmm_wait(rt);
    end(rt);
}

/* Arrays far smaller than a frame share frames, and give their places back. */
static void packs_small_arrays(void **state)
{
    (void)state;
    enum { ARRAYS = 150, N = 60 };
    kmm_runtime_t *rt = make("host:2,mem=1M");
    for (int round = 0; round < 5; round++) {
        int *x[ARRAYS], *y = array(rt, N * sizeof(int)), got[N];
        assert_int_equal(kmm_fill(rt, y, 0, N * sizeof(int)), 0);
        for (int k = 0; k < ARRAYS; k++) {
            x[k] = array(rt, N * sizeof(int));
            for (int i = 0; i < N; i++)
                got[i] = k + i;
            assert_int_equal(kmm_copy_in(rt, x[k], got, sizeof(got)), 0);
            assert_int_equal(add(N, 0, x[k], x[k], k ? x[k - 1] : y), 0);
        }
        int sum[N] = {0};
        for (int k = 0; k < ARRAYS; k++) {
            assert_int_equal(kmm_copy_out(rt, got, x[k], sizeof(got)), 0);
            for (int i = 0; i < N; i++) {
                sum[i] += k + i;
                assert_int_equal(got[i], sum[i]);
            }
        }
        for (int k = 0; k < 2; k++) {
            kmm_device_info_t info;
            assert_int_equal(kmm_device_get(rt, k, &info), 0);
            assert_true(info.used_bytes <=
                        (ARRAYS + 1) * 256 + 4096); /* one frame each would be 600 KiB */
        }
        for (int k = 0; k < ARRAYS; k++)
            assert_int_equal(kmm_array_destroy(rt, x[k]), 0);
        assert_int_equal(kmm_array_destroy(rt, y), 0);
    }
    end(rt);
}

int main(void)
{
    const char *seed = getenv("KMM_SEED");
    srand(seed ? (unsigned)atoi(seed) : 1);
    struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_in_chunks),
        cmocka_unit_test(exchanges_halos),
        cmocka_unit_test(reduces),
        cmocka_unit_test(calls_functions_on_host_memory),
        cmocka_unit_test(refuses),
        cmocka_unit_test(what_no_chunk_fits_is_host_backed),
        cmocka_unit_test(asked_chunks_may_be_host_backed),
        cmocka_unit_test(nothing_is_host_backed_of_limited_memory),
        cmocka_unit_test(passes_over_what_it_hardly_touches),
        cmocka_unit_test(cuts_what_does_not_fit),
        cmocka_unit_test(nothing_may_be_read),
        cmocka_unit_test(what_does_not_fit_stays_host_backed),
        cmocka_unit_test(refuses_overlapping_writes),
        cmocka_unit_test(packs_small_arrays),
    };
    size_t count = share_take(tests, sizeof(tests) / sizeof(*tests), sizeof(*tests));
    return _cmocka_run_group_tests("engine", tests, count, NULL, NULL);
}
