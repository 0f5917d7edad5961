// SPDX-License-Identifier: Apache-2.0
// libkmm from C, with no pragma and no kmmcc: two runtimes side by side, arrays of one and two
// dimensions, a kernel and a plain function over them in chunks, and what the devices did.
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kmm.h>

#define CHECK(rt, call)                                                                            \
    do {                                                                                           \
        int error = (call);                                                                        \
        if (error < 0) {                                                                           \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, kmm_error_text(rt),            \
                    kmm_error_string(error));                                                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// ---- A kernel for the CPU: runs some blocks of a grid. Parameters: w, h, in, out. ----

// Reverses each row.
static void mirror_cell(int64_t w, int64_t x, int64_t y, const int32_t *in, int32_t *out)
{
    out[y * w + x] = in[y * w + (w - 1 - x)];
}

static void mirror_run(const kmm_host_blocks_t *b, void **args)
{
    int64_t w = *(int64_t *)args[0], h = *(int64_t *)args[1];
    const int32_t *in = *(const int32_t **)args[2];
    int32_t *out = *(int32_t **)args[3];
    for (uint64_t k = b->first; k < b->last; k++) {
        int64_t x0 = (int64_t)(b->offset[0] + k % b->count[0]) * b->block[0];
        int64_t y0 = (int64_t)(b->offset[1] + k / b->count[0] % b->count[1]) * b->block[1];
        for (int64_t y = y0; y < y0 + b->block[1] && y < h; y++)
            for (int64_t x = x0; x < x0 + b->block[0] && x < w; x++)
                mirror_cell(w, x, y, in, out);
    }
}

static const uint32_t mirror_params[] = {sizeof(int64_t), sizeof(int64_t), sizeof(void *),
                                         sizeof(void *)};
static const kmm_kernel_t mirror_kernel = {.version = KMM_LAUNCH_VERSION,
                                           .kind = KMM_KIND_HOST,
                                           .name = "mirror",
                                           .run = mirror_run,
                                           .param_count = 4,
                                           .param_bytes = mirror_params};

static void launch_mirror(kmm_runtime_t *rt, int64_t w, int64_t h, int64_t rows, int32_t *in,
                          int32_t *out)
{
    kmm_launch_t *l = kmm_launch_begin("mirror", __FILE__, __LINE__);
    kmm_launch_axis(l, "x", KMM_GLOBAL_X, 0, w);
    kmm_launch_axis(l, "y", KMM_GLOBAL_Y, 0, h);
    kmm_launch_chunk(l, KMM_GLOBAL_Y, rows);
    kmm_launch_access(l, KMM_READ, "in[y][:]", in, sizeof(*in));
    kmm_launch_extent(l, h);
    kmm_launch_extent(l, w);
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 1, 1, 0); // row y ...
    kmm_launch_index(l, 0, KMM_WHOLE); // ... all of it
    kmm_launch_access(l, KMM_WRITE, "out[y][x]", out, sizeof(*out));
    kmm_launch_extent(l, h);
    kmm_launch_extent(l, w);
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 1, 1, 0);
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    kmm_launch_arm(l);
    kmm_geometry_t g = {.grid = {(uint32_t)((w + 31) / 32), (uint32_t)((h + 7) / 8), 1},
                        .block = {32, 8, 1}};
    void *args[] = {&w, &h, &in, &out};
    CHECK(rt, kmm_launch_kernel(&mirror_kernel, &g, args));
}

// ---- A plain function: one chunk of it. ----

typedef struct sum_args {
    const int32_t *x;
    int64_t *sum;
} sum_args_t;

// The chunk's pointers are valid where it runs; they address the whole arrays.
static void sum_chunk(const kmm_chunk_t *chunk, void *block)
{
    sum_args_t *args = block;
    for (int64_t i = chunk->begin[0]; i < chunk->end[0]; i++)
        *args->sum += args->x[i];
}

static void launch_sum(kmm_runtime_t *rt, int64_t n, int64_t size, const int32_t *x, int64_t *sum)
{
    sum_args_t args = {x, sum};
    kmm_launch_t *l = kmm_launch_begin("sum", __FILE__, __LINE__);
    kmm_launch_axis(l, "i", KMM_RANGE_0, 0, n);
    kmm_launch_chunk(l, KMM_RANGE_0, size);
    kmm_launch_access(l, KMM_READ, "x[i]", x, sizeof(*x));
    kmm_launch_index(l, 0, 1);
    kmm_launch_coef(l, 0, 1, 0);
    kmm_launch_reduce(l, KMM_OP_ADD, KMM_INT64, "sum[0]", sum);
    kmm_launch_index(l, 0, 1);
    CHECK(rt, kmm_launch_call(l, sum_chunk, &args, sizeof(args)));
}

// ---- The program ----

static void print_devices(kmm_runtime_t *rt, const char *which)
{
    for (int k = 0; k < kmm_device_count(rt); k++) {
        kmm_device_info_t d;
        CHECK(rt, kmm_device_get(rt, k, &d));
        fprintf(stderr, "%s: %s: %" PRIu64 " chunks, %" PRIu64 " bytes in, %" PRIu64 " out\n",
                which, d.name, d.chunks, d.bytes_in, d.bytes_out);
    }
}

// Mirrors the w x h matrix `in` twice over; true if it comes back and its sum is right.
static bool run(kmm_runtime_t *rt, int64_t w, int64_t h, const int32_t *in, int64_t expected)
{
    size_t bytes = (size_t)(w * h) * sizeof(int32_t);
    kmm_shape_t matrix = {
        .dims = 2, .extent = {h, w}, .element_bytes = sizeof(int32_t), .label = "matrix"};
    kmm_shape_t cell = {.dims = 1, .extent = {1}, .element_bytes = sizeof(int64_t), .label = "sum"};
    void *a, *b, *s;
    int64_t sum = 0;
    int32_t *once = malloc(bytes), *twice = malloc(bytes);
    CHECK(rt, kmm_array_create(rt, &matrix, &a));
    CHECK(rt, kmm_array_create(rt, &matrix, &b));
    CHECK(rt, kmm_array_create(rt, &cell, &s));
    CHECK(rt, kmm_copy_in(rt, a, in, bytes));
    CHECK(rt, kmm_copy_in(rt, s, &sum, sizeof(sum)));

    kmm_use(rt);
    launch_mirror(rt, w, h, h / 5, a, b);
    launch_sum(rt, w * h, w * h / 7, b, s);
    CHECK(rt, kmm_copy_out(rt, once, b, bytes));
    launch_mirror(rt, w, h, h / 3, b, a);
    kmm_use(NULL);

    CHECK(rt, kmm_copy_out(rt, twice, a, bytes));
    CHECK(rt, kmm_copy_out(rt, &sum, s, sizeof(sum)));
    CHECK(rt, kmm_wait(rt));
    bool right = memcmp(in, twice, bytes) == 0 && sum == expected;
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++)
            right = right && once[y * w + x] == in[y * w + (w - 1 - x)];
    CHECK(rt, kmm_array_destroy(rt, a));
    CHECK(rt, kmm_array_destroy(rt, b));
    CHECK(rt, kmm_array_destroy(rt, s));
    free(once);
    free(twice);
    return right;
}

int main(int argc, char **argv)
{
    long n = 300;
    bool verbose = false, bad = false;
    for (int option; (option = getopt(argc, argv, "n:v")) != -1;) {
        if (option == 'v')
            verbose = true;
        else if (option == 'n')
            n = strtol(optarg, NULL, 10);
        else
            bad = true;
    }
    if (bad || optind != argc || n < 1 || n > 20000) {
        fprintf(stderr, "usage: capi [-n columns, at most 20000] [-v]\n");
        return 2;
    }

    int64_t w = n, h = 2 * n + 1, expected = 0;
    int32_t *in = malloc((size_t)(w * h) * sizeof(int32_t));
    uint64_t z = 1;
    for (int64_t k = 0; k < w * h; k++) {
        z = z * 6364136223846793005u + 1442695040888963407u;
        in[k] = (int32_t)(z >> 33);
        expected += in[k];
    }

    // The CPU as it is; and two pretend devices with memory of their own, half of what is needed.
    uint64_t needed = 2 * (uint64_t)(w * h) * sizeof(int32_t);
    kmm_runtime_t *cpu, *pair;
    CHECK(NULL, kmm_create(&cpu, &(kmm_config_t){.devices = "host"}));
    CHECK(NULL, kmm_create(&pair, &(kmm_config_t){.devices = "host:2",
                                                  .device_mem = needed / 2 + (1 << 18),
                                                  .frame_bytes = 1 << 16}));
    bool on_cpu = run(cpu, w, h, in, expected), on_pair = run(pair, w, h, in, expected);
    if (verbose) {
        print_devices(cpu, "cpu");
        print_devices(pair, "pair");
    }
    CHECK(NULL, kmm_destroy(cpu));
    CHECK(NULL, kmm_destroy(pair));
    printf("capi: %" PRId64 " x %" PRId64 ", sum = %" PRId64 ": %s, %s\n", w, h, expected,
           on_cpu ? "ok" : "FAILED", on_pair ? "ok" : "FAILED");
    free(in);
    return !(on_cpu && on_pair);
}
