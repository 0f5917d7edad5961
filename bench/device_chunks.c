/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a chunk on a device costs the host: launches of an empty kernel in chunks over three arrays
 * that stay in a device's memory, on the fake CUDA driver, whose own work is a small part of it.
 * For `valgrind --tool=callgrind --separate-threads=yes`, which counts the instructions of the
 * thread that submits and of the device's: as the program's arguments differ by launches, so do the
 * counts.
 */
#include <stdbool.h>
#include <string.h>

#include <kmm.h>

#include "bench.h"
#include "fake_gpu.h"

enum { ARRAY_BYTES = 400000000, MOST_CHUNKS = 100000, WARM = 33 };

static int nothing(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)block, (void)grid, (void)args;
    return 0;
}

static const uint32_t params[] = {sizeof(kmm_blocks_t), 8, 8, 8};
static fake_kernel_t fake = {nothing, 4, params, 0, NULL};
static const kmm_kernel_t kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "add", NULL, &fake, 4, params, 1, NULL};

static void access_chunk(kmm_launch_t *l, kmm_mode_t mode, const char *text, const void *base,
                         int64_t bytes)
{
    kmm_launch_access(l, mode, text, base, 1);
    kmm_launch_index(l, 0, bytes);
    kmm_launch_coef(l, 0, bytes, 0);
}

static void add(void *to, void *from, void *b, uint32_t chunks)
{
    kmm_blocks_t blocks = {0};
    kmm_geometry_t g = {{chunks, 1, 1}, {1, 1, 1}, 0, NULL};
    void *args[] = {&blocks, &to, &from, &b};
    kmm_launch_t *l = kmm_launch_begin("add", __FILE__, __LINE__);
    kmm_launch_axis(l, "k", KMM_BLOCK_X, 0, chunks);
    kmm_launch_chunk(l, KMM_BLOCK_X, 1);
    access_chunk(l, KMM_WRITE, "to[k]", to, ARRAY_BYTES / chunks);
    access_chunk(l, KMM_READ, "from[k]", from, ARRAY_BYTES / chunks);
    access_chunk(l, KMM_READ, "b[k]", b, ARRAY_BYTES / chunks);
    kmm_launch_arm(l);
    bench_check(kmm_launch_kernel(&kernel, &g, args), "kmm_launch_kernel");
}

/* Nanoseconds a chunk: of submitting, and until all is done. */
typedef struct cost {
    double submitted, done;
} cost_t;

static cost_t measure(kmm_runtime_t *rt, void *x[2], void *b, uint32_t chunks, int launches,
                      bool turn)
{
    double begin = bench_now(), each = 1e9 / ((double)launches * chunks);
    for (int k = 0; k < launches; k++)
        add(x[turn ? (k + 1) % 2 : 1], x[turn ? k % 2 : 0], b, chunks);
    double submitted = bench_now();
    bench_check(kmm_wait(rt), "kmm_wait");
    return (cost_t){each * (submitted - begin), each * (bench_now() - begin)};
}

int main(int argc, char **argv)
{
    enum { SAMPLES = 9 };
    int chunks = argc > 1 ? atoi(argv[1]) : 1000, launches = argc > 2 ? atoi(argv[2]) : 20,
        samples = argc > 3 ? 1 : SAMPLES;
    bool turn = argc > 3 && strcmp(argv[3], "turn") == 0;
    if (argc > 4 || chunks < 1 || chunks > MOST_CHUNKS || launches < 1 ||
        (argc > 3 && !turn && strcmp(argv[3], "same"))) {
        fprintf(stderr, "usage: %s [CHUNKS [LAUNCHES [same|turn]]]\n", argv[0]);
        return 2;
    }
    kmm_runtime_t *rt;
    void *x[2], *b;
    kmm_shape_t shape = {.dims = 1, .extent = {ARRAY_BYTES}, .element_bytes = 1};
    setenv("KMM_FAKE_CUDA_MEM", "4294967296", 1);
    bench_check(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1"}), "kmm_create");
    kmm_use(rt);
    void **arrays[] = {&x[0], &x[1], &b};
    for (int k = 0; k < 3; k++)
        bench_check(kmm_array_create(rt, &shape, arrays[k]), "kmm_array_create");
    for (int mode = argc > 3 ? turn : 0; mode <= (argc > 3 ? turn : 1); mode++) {
        double submitted[SAMPLES], done[SAMPLES];
        for (int k = -1; k < samples; k++) {
            cost_t c =
                measure(rt, x, b, (uint32_t)chunks, k < 0 && argc > 3 ? WARM : launches, mode);
            submitted[k < 0 ? 0 : k] = c.submitted;
            done[k < 0 ? 0 : k] = c.done;
        }
        bench_report(mode ? "two arrays that change roles: submitted"
                          : "the same launch repeated: submitted",
                     "ns a chunk", submitted, samples);
        const char *roles = mode ? "two arrays that change roles" : "the same launch repeated";
        bench_row("device_chunks/submitted", submitted[samples / 2], 0, "ns/chunk", "%s", roles);
        bench_report(mode ? "two arrays that change roles: done" : "the same launch repeated: done",
                     "ns a chunk", done, samples);
        bench_row("device_chunks/done", done[samples / 2], 0, "ns/chunk", "%s", roles);
    }
    kmm_use(NULL);
    bench_check(kmm_destroy(rt), "kmm_destroy");
    return 0;
}
