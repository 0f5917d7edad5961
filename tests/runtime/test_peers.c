/* SPDX-License-Identifier: Apache-2.0 */
/* What other systems of this kind have got wrong, each as a test of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm.h>

#include "with_runtime.h"

enum { BLOCK = 64 };

/* ---- One kernel: element i of out from elements of in, for i in [first, first + n) ---- */

typedef enum what { INCREMENT, SPREAD, COPY, COPY_SLOWLY, SIGNAL } what_t;

static atomic_int signalled;

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void element(what_t what, int *out, const int *in, int64_t i, int64_t n)
{
    switch (what) {
    case INCREMENT: out[i]++; break;
    case SPREAD: out[i] = in[i] + (i > 0 ? in[i - 1] : 0) + (i + 1 < n ? in[i + 1] : 0); break;
    case COPY_SLOWLY:
        if (i % 512 == 0)
            nap();
        out[i] = in[i];
        break;
    case COPY: out[i] = in[i]; break;
    case SIGNAL:
        out[i] = 1;
        atomic_store(&signalled, 1);
        break;
    }
}

static void line_run(const kmm_host_blocks_t *b, void **args)
{
    int64_t n = *(int64_t *)args[0];
    for (int64_t k = (int64_t)(b->first + b->offset[0]) * BLOCK;
         k < (int64_t)(b->last + b->offset[0]) * BLOCK && k < n; k++)
        element((what_t) * (int64_t *)args[3], *(int **)args[1], *(int **)args[2], k, n);
}

static const uint32_t words[] = {8, 8, 8, 8};
static const kmm_kernel_t line_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "line", line_run, NULL, 4, words, 0, NULL};

static kmm_runtime_t *make(const char *devices)
{
    return runtime_open(&(kmm_config_t){.devices = devices, .threads = 2});
}

static void end(kmm_runtime_t *rt)
{
    int error = kmm_destroy(rt);
    kmm_use(NULL);
    if (error)
        fail_msg("%s", kmm_error_text(NULL));
}

static int *numbers(kmm_runtime_t *rt, int64_t n, int64_t scale)
{
    void *p = NULL;
    int *from = malloc((size_t)n * sizeof(int));
    for (int64_t k = 0; k < n; k++)
        from[k] = (int)(k * scale);
    assert_int_equal(
        kmm_array_create(rt, &(kmm_shape_t){.dims = 1, .extent = {n}, .element_bytes = sizeof(int)},
                         &p),
        0);
    assert_int_equal(kmm_copy_in(rt, p, from, (size_t)n * sizeof(int)), 0);
    free(from);
    return p;
}

static int *fetched(kmm_runtime_t *rt, const int *array, int64_t n)
{
    int *to = malloc((size_t)n * sizeof(int));
    if (kmm_copy_out(rt, to, array, (size_t)n * sizeof(int)))
        fail_msg("%s", kmm_error_text(rt));
    return to;
}

static void item(kmm_launch_t *l, kmm_mode_t mode, const char *text, const int *base, int64_t lower,
                 int64_t length)
{
    kmm_launch_access(l, mode, text, base, sizeof(int));
    kmm_launch_index(l, lower, length);
    kmm_launch_coef(l, 0, 1, 0);
}

static int line(int64_t n, int64_t chunk, int *out, const int *in, what_t what)
{
    int64_t code = what;
    kmm_geometry_t geometry = {{(uint32_t)((n + BLOCK - 1) / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    void *args[] = {&n, &out, &in, &code};
    kmm_launch_t *l = kmm_launch_begin("line", "test.cu", 5);
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
    kmm_launch_chunk(l, KMM_GLOBAL_X, chunk);
    if (in != out)
        item(l, KMM_READ, "in[i]", in, what == SPREAD ? -1 : 0, what == SPREAD ? 3 : 1);
    item(l, what == INCREMENT ? KMM_UPDATE : KMM_WRITE, "out[i]", out, 0, 1);
    kmm_launch_arm(l);
    return kmm_launch_kernel(&line_kernel, &geometry, args);
}

static uint64_t bytes_moved(kmm_runtime_t *rt)
{
    uint64_t bytes = 0;
    for (int k = 0; k < kmm_device_count(rt); k++) {
        kmm_device_info_t info;
        assert_int_equal(kmm_device_get(rt, k, &info), 0);
        bytes += info.bytes_in + info.bytes_out + info.bytes_peer;
    }
    return bytes;
}

/* ---- Values ---- */

/* What the first device wrote is the newest, also once it has been spilled. */
static void ten_increments_survive_spilling(void **state)
{
    (void)state;
    enum { N = 100000 };
    kmm_runtime_t *rt = make("host:1,mem=256K");
    int *A = numbers(rt, N, 1), *B = numbers(rt, N, 0);
    for (int k = 0; k < 10; k++) {
        assert_int_equal(line(N, 8000, A, A, INCREMENT), 0);
        assert_int_equal(line(N, 8000, B, B, INCREMENT), 0);
        assert_int_equal(kmm_wait(rt), 0); /* what is queued is ordered so that less is spilled */
    }
    kmm_device_info_t info;
    int *a = fetched(rt, A, N), *b = fetched(rt, B, N);
    for (int k = 0; k < N; k++)
        if (a[k] != k + 10 || b[k] != 10)
            fail_msg("element %d: %d, %d", k, a[k], b[k]);
    kmm_device_get(rt, 0, &info);
    assert_true(info.bytes_out > 10 * N * sizeof(int)); /* it was spilled */
    end(rt);
    free(a);
    free(b);
}

static void reads_span_chunks(void **state)
{
    (void)state;
    enum { N = 10000, STEPS = 5 };
    static const char *const devices[] = {"host:1,mem=64K", "host:3,mem=128K", "host:4,mem=4M"};
    for (int c = 0; c < 3; c++) {
        kmm_runtime_t *rt = make(devices[c]);
        int *A = numbers(rt, N, 3), *B = numbers(rt, N, 0), *a = malloc(N * sizeof(int)),
            *b = malloc(N * sizeof(int));
        for (int k = 0; k < N; k++)
            a[k] = 3 * k;
        for (int step = 0; step < STEPS; step++) {
            int *t = a;
            assert_int_equal(line(N, 640 + 128 * step, B, A, SPREAD), 0);
            for (int k = 0; k < N; k++)
                element(SPREAD, b, a, k, N);
            a = b, b = t;
            t = A, A = B, B = t;
        }
        int *got = fetched(rt, A, N);
        assert_memory_equal(got, a, N * sizeof(int));
        end(rt);
        free(a);
        free(b);
        free(got);
    }
}

/* ---- Several dimensions ---- */

enum { W = 150, H = 90, D = 7 };

static void plane_run(const kmm_host_blocks_t *b, void **args)
{
    int *out = *(int **)args[0];
    for (uint64_t k = b->first; k < b->last; k++) {
        int64_t bx = (int64_t)(k % b->count[0]) + b->offset[0],
                by = (int64_t)(k / b->count[0] % b->count[1]) + b->offset[1],
                z = (int64_t)(k / b->count[0] / b->count[1]) + b->offset[2];
        for (int64_t y = by * 4; y < by * 4 + 4 && y < H; y++)
            for (int64_t x = bx * 16; x < bx * 16 + 16 && x < W; x++)
                out[(z * H + y) * W + x] = (int)((z * H + y) * W + x);
    }
}

static const kmm_kernel_t plane_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "plane", plane_run, NULL, 1, words, 0, NULL};

static void copies_of_several_dimensions_keep_their_order(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("host:3,mem=2M");
    int64_t n = (int64_t)W * H * D, extent[] = {D, H, W};
    int *A = numbers(rt, n, 0), *B = numbers(rt, n, 0);
    kmm_geometry_t geometry = {{(W + 15) / 16, (H + 3) / 4, D}, {16, 4, 1}, 0, NULL};
    void *args[] = {&A};
    static const char *const names[] = {"x", "y", "z"};
    kmm_launch_t *l = kmm_launch_begin("plane", "test.cu", 6);
    for (int d = 0; d < 3; d++)
        kmm_launch_axis(l, names[d], (kmm_source_t)(KMM_GLOBAL_X + d), 0, extent[2 - d]);
    kmm_launch_chunk(l, KMM_GLOBAL_X, 48);
    kmm_launch_chunk(l, KMM_GLOBAL_Y, 20);
    kmm_launch_chunk(l, KMM_GLOBAL_Z, 2);
    kmm_launch_access(l, KMM_WRITE, "A[z][y][x]", A, sizeof(int));
    for (int d = 0; d < 3; d++)
        kmm_launch_extent(l, extent[d]);
    for (unsigned d = 0; d < 3; d++) {
        kmm_launch_index(l, 0, 1);
        kmm_launch_coef(l, 2 - d, 1, 0);
    }
    kmm_launch_arm(l);
    assert_int_equal(kmm_launch_kernel(&plane_kernel, &geometry, args), 0);
    assert_int_equal(kmm_copy(rt, B, A, (size_t)n * sizeof(int)), 0);
    int *whole = fetched(rt, B, n), *part = fetched(rt, A + 12345, 30000);
    for (int k = 0; k < n; k++)
        assert_int_equal(whole[k], k);
    for (int k = 0; k < 30000; k++)
        assert_int_equal(part[k], 12345 + k);
    end(rt);
    free(whole);
    free(part);
}

/* ---- Tasks ---- */

static void errors_are_told(void **state)
{
    (void)state;
    enum { N = 200000 };
    kmm_runtime_t *rt = make("host:2,mem=256K");
    static int A[N]; /* promised to be written before it is read */
    int *B = numbers(rt, N, 0), *C = numbers(rt, 1000, 2), got;
    assert_int_equal(kmm_map(rt, KMM_MAP_FROM, A, sizeof(A)), 0);
    assert_int_equal(line(N, 1000, B, A, COPY), 0);
    assert_int_equal(line(1000, 100, C, C, INCREMENT), 0);
    assert_int_equal(kmm_copy_out(rt, &got, C + 999, sizeof(got)), 0); /* other work goes on */
    assert_int_equal(got, 999 * 2 + 1);
    assert_int_equal(kmm_wait(rt), KMM_E_INVALID);
    assert_non_null(strstr(kmm_error_text(rt), "test.cu:5: line"));
    assert_int_equal(kmm_wait(rt), 0); /* told once */
    assert_int_equal(kmm_copy_out(rt, &got, B, sizeof(got)), KMM_E_POISONED);
    assert_int_equal(kmm_unmap(rt, A), 0);
    end(rt);
}

static void work_runs_before_the_program_waits(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("host:2,mem=1M");
    int *A = numbers(rt, 1000, 0);
    atomic_store(&signalled, 0);
    assert_int_equal(line(1000, 500, A, A, SIGNAL), 0);
    while (!atomic_load(&signalled))
        nap(); /* and calls nothing of libkmm */
    end(rt);
}

/* ---- Regions ---- */

/* Half an array on each device: what they exchange are the two elements at the border, not the
 * halves. */
static void coherence_is_finer_than_arrays(void **state)
{
    (void)state;
    enum { N = 64000 };
    kmm_runtime_t *rt = make("host:2,mem=4M");
    int *A = numbers(rt, N, 1), *B = numbers(rt, N, 0);
    assert_int_equal(line(N, N / 2, A, A, INCREMENT), 0);
    assert_int_equal(kmm_wait(rt), 0);
    uint64_t before = bytes_moved(rt);
    assert_int_equal(line(N, N / 2, B, A, SPREAD), 0);
    assert_int_equal(kmm_wait(rt), 0);
    assert_int_equal(bytes_moved(rt) - before, 2 * sizeof(int));
    int *got = fetched(rt, B, N);
    for (int k = 1; k + 1 < N; k++)
        assert_int_equal(got[k], 3 * (k + 1));
    end(rt);
    free(got);
}

/* Chunks that cut across earlier ones, read with halos and written in place. */
static void overlapping_partitions_are_coherent_and_writable(void **state)
{
    (void)state;
    enum { N = 9000, SHIFT = 777 };
    kmm_runtime_t *rt = make("host:3,mem=256K");
    int *A = numbers(rt, N, 1), *B = numbers(rt, N, 0), *a = malloc(N * sizeof(int)),
        *b = calloc(N, sizeof(int));
    for (int k = 0; k < N; k++)
        a[k] = k;
    for (int round = 0; round < 6; round++) {
        assert_int_equal(line(N, 1280, A, A, INCREMENT), 0);
        assert_int_equal(line(N - SHIFT, 960 + 64 * round, A + SHIFT, A + SHIFT, INCREMENT), 0);
        assert_int_equal(line(N, 2048, B, A, SPREAD), 0);
        assert_int_equal(line(N - 2 * SHIFT, 704, A + SHIFT, B + SHIFT, COPY), 0);
        for (int k = 0; k < N; k++)
            a[k] += k >= SHIFT ? 2 : 1;
        for (int k = 0; k < N; k++)
            element(SPREAD, b, a, k, N);
        memcpy(a + SHIFT, b + SHIFT, (N - 2 * SHIFT) * sizeof(int));
        for (int k = 0; k < N; k++)
            a[k] &= 0xffff, b[k] &= 0xffff;
        int *got = fetched(rt, A, N);
        for (int k = 0; k < N; k++)
            got[k] &= 0xffff;
        assert_memory_equal(got, a, N * sizeof(int));
        assert_int_equal(kmm_copy_in(rt, A, a, N * sizeof(int)), 0);
        free(got);
    }
    end(rt);
    free(a);
    free(b);
}

/* A read that begins inside what is being written follows it, and a write inside what is being read
 * too. */
static void regions_match_by_overlap(void **state)
{
    (void)state;
    enum { N = 4096 };
    kmm_runtime_t *rt = make("host:2,mem=1M");
    int *A = numbers(rt, N, 5), *B = numbers(rt, N, 0), *C = numbers(rt, N, 0);
    assert_int_equal(line(N, N, B, A, COPY_SLOWLY), 0);     /* writes B[0:N] */
    assert_int_equal(line(1000, 500, C, B + 37, COPY), 0);  /* reads B[37:1000] */
    assert_int_equal(line(N, N, C + 0, A, COPY_SLOWLY), 0); /* reads A[0:N] */
    assert_int_equal(line(2000, 700, A + 1500, B, INCREMENT),
                     0); /* updates A[1500:2000], listed with a read of B */
    int *a = fetched(rt, A, N), *c = fetched(rt, C, N), *b = fetched(rt, B, N);
    for (int k = 0; k < N; k++) {
        assert_int_equal(b[k], 5 * k);
        assert_int_equal(c[k], 5 * k);
        assert_int_equal(a[k], 5 * k + (k >= 1500 && k < 3500));
    }
    assert_int_equal(line(N, N, B, A, COPY_SLOWLY), 0);
    assert_int_equal(line(1000, 500, C, B + 1600, COPY), 0);
    int *d = fetched(rt, C, 1000);
    for (int k = 0; k < 1000; k++)
        assert_int_equal(d[k], 5 * (k + 1600) + 1);
    end(rt);
    free(a);
    free(b);
    free(c);
    free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_increments_survive_spilling),
        cmocka_unit_test(reads_span_chunks),
        cmocka_unit_test(copies_of_several_dimensions_keep_their_order),
        cmocka_unit_test(errors_are_told),
        cmocka_unit_test(work_runs_before_the_program_waits),
        cmocka_unit_test(coherence_is_finer_than_arrays),
        cmocka_unit_test(overlapping_partitions_are_coherent_and_writable),
        cmocka_unit_test(regions_match_by_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
