/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well copies in, copies out and kernels overlap: sweeps over more than a device holds, on the
 * fake CUDA driver with copies and kernels that take a given time, so that what the time should be
 * is known. In place: x += 1 in 64 chunks. Two in, one out: c = a + b. The same of the host's
 * memory, which each launch maps: its end, when what is left is written back, is within the time.
 */
#include <stdbool.h>

#include <kmm.h>

#include "bench.h"
#include "fake_gpu.h"

enum { CHUNKS = 64, RESIDENT = 16, SAMPLES = 3, CHUNK_BYTES = 256 << 10, SPARE_BYTES = 64 << 10 };
static const double WANTED = 1.05;

static int nothing(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)block, (void)grid, (void)args;
    return 0;
}

static const uint32_t params[] = {sizeof(kmm_blocks_t), 8, 8, 8};
static fake_kernel_t fake = {nothing, 4, params, 0, NULL};
static const kmm_kernel_t kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "sweep", NULL, &fake, 4, params, 1, NULL};

static void check(kmm_runtime_t *rt, int error, const char *what)
{
    if (error)
        fprintf(stderr, "%s\n", kmm_error_text(rt));
    bench_check(error, what);
}

static char *array(kmm_runtime_t *rt, bool mapped)
{
    void *base;
    if (mapped)
        return aligned_alloc(4096, (size_t)CHUNKS * CHUNK_BYTES);
    kmm_shape_t shape = {.dims = 1, .extent = {(int64_t)CHUNKS * CHUNK_BYTES}, .element_bytes = 1};
    check(rt, kmm_array_create(rt, &shape, &base), "kmm_array_create");
    check(rt, kmm_fill(rt, base, 1, (size_t)CHUNKS * CHUNK_BYTES), "kmm_fill");
    return base;
}

static void access_chunk(kmm_launch_t *l, kmm_mode_t mode, const char *text, const char *base)
{
    kmm_launch_access(l, mode, text, base, 1);
    kmm_launch_index(l, 0, CHUNK_BYTES);
    kmm_launch_coef(l, 0, CHUNK_BYTES, 0);
}

/* x alone is updated; with a and b, x is written. */
static void sweep(kmm_runtime_t *rt, char *x, char *a, char *b)
{
    kmm_blocks_t blocks = {0};
    kmm_geometry_t g = {{CHUNKS, 1, 1}, {1, 1, 1}, 0, NULL};
    void *args[] = {&blocks, &x, &a, &b};
    kmm_launch_t *l = kmm_launch_begin("sweep", __FILE__, __LINE__);
    kmm_launch_axis(l, "b", KMM_BLOCK_X, 0, CHUNKS);
    kmm_launch_chunk(l, KMM_BLOCK_X, 1);
    access_chunk(l, a ? KMM_WRITE : KMM_UPDATE, "x[chunk]", x);
    if (a) {
        access_chunk(l, KMM_READ, "a[chunk]", a);
        access_chunk(l, KMM_READ, "b[chunk]", b);
    }
    kmm_launch_arm(l);
    check(rt, kmm_launch_kernel(&kernel, &g, args), "launch");
}

typedef struct timing {
    double seconds, in, out, compute;
} timing_t;

static void set_number(const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof(text), "%.0f", value);
    setenv(name, text, 1);
}

/* `copy`, `run`: milliseconds that copying a chunk, and its kernel, take. */
static timing_t run_one(double copy, double run, int inputs, bool waits, bool mapped)
{
    kmm_runtime_t *rt;
    kmm_device_info_t before, after;
    double rate = CHUNK_BYTES / (1e-3 * copy);
    set_number("KMM_FAKE_COPY_RATE", rate);
    set_number("KMM_FAKE_KERNEL_US", 1e3 * run);
    uint64_t memory = (uint64_t)(inputs ? 3 : 1) * RESIDENT * CHUNK_BYTES + SPARE_BYTES;
    check(NULL,
          kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1",
                                          .device_mem = memory,
                                          .frame_bytes = CHUNK_BYTES}),
          "kmm_create");
    kmm_use(rt);
    char *x = array(rt, mapped), *a = inputs ? array(rt, mapped) : NULL,
         *b = inputs ? array(rt, mapped) : NULL;
    check(rt, kmm_wait(rt), "kmm_wait");
    sweep(rt, x, a, b); /* so that the device is full, as it is in the middle of a program */
    check(rt, kmm_wait(rt), "kmm_wait");
    check(rt, kmm_device_get(rt, 0, &before), "kmm_device_get");
    double begin = bench_now();
    for (int k = 0; k < 2; k++) {
        sweep(rt, x, a, b);
        if (waits)
            check(rt, kmm_wait(rt), "kmm_wait");
    }
    check(rt, kmm_wait(rt), "kmm_wait");
    double seconds = bench_now() - begin;
    check(rt, kmm_device_get(rt, 0, &after), "kmm_device_get");
    kmm_use(NULL);
    check(NULL, kmm_destroy(rt), "kmm_destroy");
    for (char **m = (char *[]){x, a, b, NULL}; mapped && *m; m++)
        free(*m);
    return (timing_t){seconds, (double)(after.bytes_in - before.bytes_in) / rate,
                      (double)(after.bytes_out - before.bytes_out) / rate, 1e-3 * run * 2 * CHUNKS};
}

static double greatest(const timing_t *t)
{
    double most = t->in > t->out ? t->in : t->out;
    return t->compute > most ? t->compute : most;
}

static void measure(const char *name, double copy, double run, int inputs, bool waits, bool mapped)
{
    double ratio[SAMPLES];
    timing_t t = {0};
    char what[120];
    for (int k = 0; k < SAMPLES; k++) {
        t = run_one(copy, run, inputs, waits, mapped);
        ratio[k] = t.seconds / greatest(&t);
    }
    snprintf(what, sizeof(what), "%s,%s: copy %.1f ms, kernel %.1f ms", name,
             mapped  ? " mapped by launches"
             : waits ? " wait"
                     : " no wait",
             copy, run);
    bench_report(what, "of the max", ratio, SAMPLES);
    bench_row(mapped  ? "overlap/mapped"
              : waits ? "overlap/wait"
                      : "overlap/no-wait",
              ratio[SAMPLES / 2], 0, "x", "%s: copy %.0f ms, kernel %.0f ms", name, copy, run);
    printf("%-58s %10.3f wanted at most; last: %.1f ms; in %.1f, out %.1f, kernels %.1f ms\n", "",
           WANTED, 1e3 * t.seconds, 1e3 * t.in, 1e3 * t.out, 1e3 * t.compute);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    double scale =
        argc > 1 ? atof(argv[1]) : 1; /* of all times: on a loaded machine larger ones are surer */
    if (!(scale > 0)) {
        fprintf(stderr, "usage: %s [SCALE]\n", argv[0]);
        return 2;
    }
    setenv("KMM_FAKE_GRANULE", "4096", 1);
    setenv("KMM_FAKE_MEM", "1073741824", 1);
    printf("== two sweeps of %d chunks of %d KiB, of which a device holds %d; time over max(copies "
           "in, copies out, kernels)\n",
           CHUNKS, CHUNK_BYTES >> 10, RESIDENT);
    for (int waits = 0; waits < 2; waits++) {
        measure("in place", 2 * scale, 1 * scale, 0, waits, false);
        measure("in place", 2 * scale, 2 * scale, 0, waits, false);
        measure("in place", 2 * scale, 4 * scale, 0, waits, false);
        measure("two in, one out", 2 * scale, 1 * scale, 2, waits, false);
        measure("two in, one out", 2 * scale, 6 * scale, 2, waits, false);
    }
    setenv("KMM_STAGE_THREADS", "0",
           1); /* at the rate of the fake driver's copies, not of this machine's */
    measure("two in, one out", 2 * scale, 1 * scale, 2, false, true);
    measure("two in, one out", 2 * scale, 6 * scale, 2, false, true);
    return 0;
}
