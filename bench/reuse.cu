// SPDX-License-Identifier: Apache-2.0
// Time loops over more than a GPU may hold, in the order of submission (KMM_ORDER=submission) and
// by reuse, side by side in one process; and in memory, where they fit.
//
//     bench_reuse sweeps  GB LIMIT_GB STEPS CHUNKS   in-place sweeps over one array
//     bench_reuse jacobi  GB LIMIT_GB STEPS ROWS     5-point steps from one array to another, of
//                                                    GB each; rows of 32,768 floats
//     bench_reuse unchunked GB LIMIT_GB STEPS 0      the same without `chunk`
//     bench_reuse cube    GB LIMIT_GB STEPS PLANES   7-point steps in three dimensions, two arrays
//     bench_reuse lattice GB LIMIT_GB STEPS ROWS     nine planes that move in nine directions,
//                                                    periodic, two arrays
//     bench_reuse add     GB LIMIT_GB STEPS CHUNKS   C = A + B, of GB each
//
// GB may have a fraction. ROWS, PLANES: of a chunk. The first steps of each run, and page-locking
// host memory, are not timed. When the time begins, all data is in host memory alone; it ends when
// all arrays are there again. In memory, nothing is brought to the host. The bits of all runs are
// compared. KMM_BENCH_MODES=reuse,memory leaves out the order of submission.
#include "measure.h"
#include "stencil.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <kmm.h>

enum { WIDTH = 32768, PLANES = 9, ARRAYS = 3 };

typedef struct work {
    const char *name;
    double bytes, limit; // of an array; of the device
    int steps;
    long chunk, n, rows; // n: elements of an array; rows: rows, or planes of the cube
    int side;            // of the cube
    float *x[ARRAYS];
} work_t;

typedef struct result {
    double seconds;
    uint64_t in, out, sum;
} result_t;

static void check(int error)
{
    if (error == 0)
        return;
    fprintf(stderr, "%s\n", kmm_error_text(NULL));
    exit(1);
}

// ---- Kernels ----

__global__ void begin(long n, float *x)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = stencil_begin(i);
}

__global__ void sweep(long n, float a, float *x)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 0.5f * x[i] + a;
}

__global__ void add(long n, float *c, const float *a, const float *b)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ void jacobi(int rows, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= rows)
        return;
    long i = (long)y * WIDTH + x;
    float c = in[i];
    out[i] = stencil_cell(c, y > 0 ? in[i - WIDTH] : c, y < rows - 1 ? in[i + WIDTH] : c,
                          x > 0 ? in[i - 1] : c, x < WIDTH - 1 ? in[i + 1] : c);
}

__global__ void cube(int n, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z;
    if (x >= n || y >= n || z >= n)
        return;
    long plane = (long)n * n, i = z * plane + (long)y * n + x;
    float c = in[i], v = (z > 0 ? in[i - plane] : c) + (z < n - 1 ? in[i + plane] : c);
    out[i] = 0.5f * stencil_cell(c, y > 0 ? in[i - n] : c, y < n - 1 ? in[i + n] : c,
                                 x > 0 ? in[i - 1] : c, x < n - 1 ? in[i + 1] : c) +
             0.25f * v;
}

// Rows 1 to rows - 2 of each plane; the first and the last row are copies of those at the other
// end.
__global__ void lattice(int rows, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y < 1 || y >= rows - 1)
        return;
    float f[PLANES], mean = 0;
    for (int p = 0; p < PLANES; p++) {
        int from_x = (x + WIDTH + p % 3 - 1) % WIDTH, from_y = y + p / 3 - 1;
        f[p] = in[((long)p * rows + from_y) * WIDTH + from_x];
        mean += f[p];
    }
    for (int p = 0; p < PLANES; p++)
        out[((long)p * rows + y) * WIDTH + x] = 0.5f * f[p] + mean * (0.5f / PLANES);
}

__global__ void wrap(int rows, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= WIDTH)
        return;
    for (int p = 0; p < PLANES; p++) {
        x[(long)p * rows * WIDTH + i] = x[((long)p * rows + rows - 2) * WIDTH + i];
        x[((long)p * rows + rows - 1) * WIDTH + i] = x[((long)p * rows + 1) * WIDTH + i];
    }
}

__global__ void sum_cells(long n, const float *x, unsigned long long *sum)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    stencil_add(i < n ? stencil_weight(i, x[i]) : 0, sum);
}

// ---- Steps ----

static unsigned blocks_of(long n)
{
    return (unsigned)((n + 255) / 256);
}

static void sweep_step(work_t *w, int t)
{
    long n = w->n, chunk = w->chunk;
    float *x = w->x[0], a = (float)(t % 7);
    #pragma kmm parallel(i = 0:n) chunk(chunk) update(x[i])
    sweep<<<blocks_of(n), 256>>>(n, a, x);
}

static void add_step(work_t *w, int)
{
    long n = w->n, chunk = w->chunk;
    float *a = w->x[1], *b = w->x[2], *c = w->x[0];
    #pragma kmm parallel(i = 0:n) chunk(chunk) read(a[i], b[i]) write(c[i])
    add<<<blocks_of(n), 256>>>(n, c, a, b);
}

static void jacobi_step(work_t *w, int t)
{
    int rows = (int)w->rows, chunk = (int)w->chunk;
    float *in = w->x[t % 2], *out = w->x[!(t % 2)];
    dim3 block(64, 4), grid(WIDTH / 64, (rows + 3) / 4);
    #pragma kmm parallel(x = 0:WIDTH, y = 0:rows) chunk(WIDTH, chunk) shape(in[rows][WIDTH], out[rows][WIDTH]) \
        read(in[y-1:3][0:WIDTH]) write(out[y][0:WIDTH])
    jacobi<<<grid, block>>>(rows, in, out);
}

static void unchunked_step(work_t *w, int t)
{
    int rows = (int)w->rows;
    float *in = w->x[t % 2], *out = w->x[!(t % 2)];
    dim3 block(64, 4), grid(WIDTH / 64, (rows + 3) / 4);
    #pragma kmm parallel(y: global.y = 0:rows) shape(in[rows][WIDTH], out[rows][WIDTH]) \
        read(in[y-1:3][0:WIDTH]) write(out[y][0:WIDTH])
    jacobi<<<grid, block>>>(rows, in, out);
}

static void cube_step(work_t *w, int t)
{
    int n = w->side, chunk = (int)w->chunk;
    float *in = w->x[t % 2], *out = w->x[!(t % 2)];
    dim3 block(64, 4, 1), grid((n + 63) / 64, (n + 3) / 4, n);
    #pragma kmm parallel(x = 0:n, y = 0:n, z = 0:n) chunk(n, n, chunk) shape(in[n][n][n], out[n][n][n]) \
        read(in[z-1:3][0:n][0:n]) write(out[z][0:n][0:n])
    cube<<<grid, block>>>(n, in, out);
}

static void lattice_step(work_t *w, int t)
{
    int rows = (int)w->rows, chunk = (int)w->chunk, last = rows - 2;
    float *in = w->x[t % 2], *out = w->x[!(t % 2)];
    dim3 block(64, 4), grid(WIDTH / 64, (rows + 3) / 4);
    #pragma kmm parallel() shape(in[PLANES][rows][WIDTH]) \
        read(in[0:PLANES][1:1][0:WIDTH], in[0:PLANES][last:1][0:WIDTH]) \
        write(in[0:PLANES][0:1][0:WIDTH], in[0:PLANES][last+1:1][0:WIDTH])
    wrap<<<blocks_of(WIDTH), 256>>>(rows, in);
    #pragma kmm parallel(x = 0:WIDTH, y = 1:last) chunk(WIDTH, chunk) \
        shape(in[PLANES][rows][WIDTH], out[PLANES][rows][WIDTH]) \
        read(in[0:PLANES][y-1:3][0:WIDTH]) write(out[0:PLANES][y][0:WIDTH])
    lattice<<<grid, block>>>(rows, in, out);
}

typedef void step_t(work_t *w, int t);
static const struct {
    const char *name, *unit;
    step_t *step;
    int arrays;
} kinds[] = {
    {"sweeps", "chunks", sweep_step, 1}, {"jacobi", "rows a chunk", jacobi_step, 2},
    {"unchunked", "(no chunk)", unchunked_step, 2}, {"cube", "planes a chunk", cube_step, 2},
    {"lattice", "rows a chunk", lattice_step, 2}, {"add", "chunks", add_step, 3},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

// ---- Runs ----

static kmm_runtime_t *runtime_create(double limit, const char *order)
{
    kmm_config_t config;
    kmm_runtime_t *rt = NULL;
    memset(&config, 0, sizeof(config));
    const char *kind = getenv("KMM_BENCH_KIND"); // "host": a pretend device, to try this program
    config.devices = kind && !strcmp(kind, "host") ? "host:1" : "cuda:1";
    config.device_mem = (uint64_t)limit;
    setenv("KMM_ORDER", order, 1);
    check(kmm_create(&rt, &config));
    kmm_use(rt);
    return rt;
}

static float *array_create(kmm_runtime_t *rt, long n)
{
    kmm_shape_t shape;
    void *p = NULL;
    memset(&shape, 0, sizeof(shape));
    shape.dims = 1;
    shape.extent[0] = n;
    shape.element_bytes = sizeof(float);
    check(kmm_array_create(rt, &shape, &p));
    return (float *)p;
}

static void fill_begin(long n, float *x)
{
    long chunk = n / 96 + 1;
    #pragma kmm parallel(i = 0:n) chunk(chunk) write(x[i])
    begin<<<blocks_of(n), 256>>>(n, x);
}

static void look(long begin, long end, const float *x)
{
    volatile float first = begin < end ? x[begin] : 0;
    (void)first;
}

// Brings the newest values of all arrays to host memory, each chunk as soon as it has them.
static void bring_to_host(const work_t *w, int arrays)
{
    long n = w->n, chunk = n / 96 + 1;
    for (int k = 0; k < arrays; k++) {
        const float *x = w->x[k];
        #pragma kmm parallel(i = 0:n) chunk(chunk) read(x[i]) rebase(begin: begin(i), end: end(i)) nowait
        look(0, n, x);
    }
}

// Takes all of the device's memory, and gives it back, so that no array is there.
static void empty_device(kmm_runtime_t *rt, long n)
{
    float *all = array_create(rt, n), *last;
    fill_begin(n, all);
    check(kmm_wait(rt));
    check(kmm_array_destroy(rt, all));
    last = array_create(rt, 1); // a device frees memory before it takes a task
    fill_begin(1, last);
    check(kmm_wait(rt));
    check(kmm_array_destroy(rt, last));
}

static uint64_t sum_of(kmm_runtime_t *rt, long n, const float *x)
{
    void *p = NULL;
    kmm_shape_t shape;
    memset(&shape, 0, sizeof(shape));
    shape.dims = 1;
    shape.extent[0] = 1;
    shape.element_bytes = sizeof(unsigned long long);
    check(kmm_array_create(rt, &shape, &p));
    unsigned long long *SUM = (unsigned long long *)p, sum;
    long chunk = n / 96 + 1;
    check(kmm_fill(rt, SUM, 0, sizeof(sum)));
    #pragma kmm parallel(i = 0:n) chunk(chunk) read(x[i]) reduce(+: SUM[0])
    sum_cells<<<blocks_of(n), 256>>>(n, x, SUM);
    check(kmm_copy_out(rt, &sum, SUM, sizeof(sum)));
    check(kmm_array_destroy(rt, SUM));
    return sum;
}

static result_t run(work_t *w, int kind, double limit, const char *order)
{
    result_t r;
    kmm_device_info_t before, after;
    kmm_runtime_t *rt = runtime_create(limit, order);
    for (int k = 0; k < kinds[kind].arrays; k++) {
        w->x[k] = array_create(rt, w->n);
        fill_begin(w->n, w->x[k]);
    }
    kinds[kind].step(w, 0);
    kinds[kind].step(w, 1);
    if (limit > 0) {
        bring_to_host(w, kinds[kind].arrays);
        empty_device(rt, (long)(limit / sizeof(float)));
    }
    check(kmm_wait(rt));
    check(kmm_device_get(rt, 0, &before));
    double start = bench_now();
    for (int t = 0; t < w->steps; t++)
        kinds[kind].step(w, t);
    if (limit > 0)
        bring_to_host(w, kinds[kind].arrays);
    check(kmm_wait(rt));
    r.seconds = bench_now() - start;
    check(kmm_device_get(rt, 0, &after));
    r.in = after.bytes_in - before.bytes_in;
    r.out = after.bytes_out - before.bytes_out;
    r.sum = 0;
    for (int k = 0; k < kinds[kind].arrays; k++)
        r.sum = 3 * r.sum + sum_of(rt, w->n, w->x[k]);
    kmm_use(NULL);
    check(kmm_destroy(rt));
    printf("%-10s %8.3f s, %8.1f GB in, %8.1f GB out, sum %016llx\n", limit > 0 ? order : "in memory",
           r.seconds, 1e-9 * r.in, 1e-9 * r.out, (unsigned long long)r.sum);
    return r;
}

static void measures(work_t *w, int kind)
{
    const char *name = kinds[kind].name;
    w->n = (long)(w->bytes / sizeof(float)) / WIDTH * WIDTH;
    w->rows = w->n / WIDTH;
    if (!strcmp(name, "sweeps") || !strcmp(name, "add")) {
        w->chunk = (w->n / w->chunk + 255) / 256 * 256;
    } else if (!strcmp(name, "cube")) {
        for (w->side = 4; (double)w->side * w->side * w->side * sizeof(float) < w->bytes;)
            w->side += 4;
        w->n = (long)w->side * w->side * w->side;
    } else if (!strcmp(name, "lattice")) {
        w->rows /= PLANES;
        w->n = w->rows * PLANES * WIDTH;
    }
}

static bool has_mode(const char *name)
{
    const char *modes = getenv("KMM_BENCH_MODES");
    return !modes || strstr(modes, name);
}

int main(int count, char **args)
{
    work_t w;
    int kind = 0;
    memset(&w, 0, sizeof(w));
    while (count == 6 && kind < KINDS && strcmp(args[1], kinds[kind].name))
        kind++;
    if (count != 6 || kind == KINDS) {
        fprintf(stderr,
                "usage: %s sweeps|jacobi|unchunked|cube|lattice|add GB LIMIT_GB STEPS CHUNK\n",
                args[0]);
        return 2;
    }
    w.bytes = 1e9 * atof(args[2]);
    w.limit = 1e9 * atof(args[3]);
    w.steps = atoi(args[4]);
    w.chunk = atol(args[5]);
    measures(&w, kind);
    size_t free_bytes = 0, total_bytes = 0;
    result_t in_order = {0}, by_reuse = {0};
    uint64_t sums[3];
    int runs = 0;
    if (has_mode("submission"))
        sums[runs++] = (in_order = run(&w, kind, w.limit, "submission")).sum;
    if (has_mode("reuse"))
        sums[runs++] = (by_reuse = run(&w, kind, w.limit, "reuse")).sum;
    CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (has_mode("memory") &&
        (double)kinds[kind].arrays * w.n * sizeof(float) < 0.9 * (double)free_bytes)
        sums[runs++] = run(&w, kind, 0, "reuse").sum;
    bool same = true;
    for (int k = 1; k < runs; k++)
        same &= sums[k] == sums[0];
    if (in_order.seconds > 0 && by_reuse.seconds > 0)
        bench_row("reuse/loops", by_reuse.seconds, in_order.seconds, "s",
                  "%s: %d arrays of %s GB within %s GB, %d steps, %s %s", args[1],
                  kinds[kind].arrays, args[2], args[3], w.steps, args[5], kinds[kind].unit);
    if (!same)
        fprintf(stderr, "the orders give different results\n");
    return !same;
}
