// SPDX-License-Identifier: Apache-2.0
// Several GPUs, beside what a person would write by hand for them (baseline_gpus.h).
//
//     bench_multi_gpu peer [bytes]               an array written on one GPU is read on another
//     bench_multi_gpu map                        what mapping memory costs, on one GPU and on all
//                                                at the same time
//     bench_multi_gpu stencil [n [steps]]        a 5-point stencil in memory, on one GPU and on all
//     bench_multi_gpu sweep [bytes [limit]]      in-place sweeps over an array of so many bytes for
//                                                each GPU, which may use the limit;
//                                                KMM_FRAME is the size of frames, KMM_BENCH_CHUNKS
//                                                how many chunks make the limit
//
// KMM_BENCH_KIND=host runs all of it on pretended devices of the CPU; KMM_BENCH_GPUS says how many
// there are.
// Every result is checked.
#include "baseline_gpus.h"
#include "measure.h"

#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <kmm.h>
#include <vector>

#include "stencil.h"

static void check(int error, kmm_runtime_t *rt)
{
    if (error == 0)
        return;
    fprintf(stderr, "%s\n", kmm_error_text(rt));
    exit(1);
}

static const char *kind(void)
{
    const char *text = getenv("KMM_BENCH_KIND");
    return text && *text ? text : "cuda";
}

static int gpu_count(void)
{
    const char *text = getenv("KMM_BENCH_GPUS");
    return text && *text ? atoi(text) : baseline_gpu_count();
}

// A runtime on `gpus` GPUs, current for this thread.
static kmm_runtime_t *runtime_create(int gpus, long limit)
{
    char devices[32];
    kmm_runtime_t *rt;
    kmm_config_t config = {};
    snprintf(devices, sizeof(devices), "%s:%d", kind(), gpus);
    config.devices = devices;
    config.device_mem = (uint64_t)limit;
    check(kmm_create(&rt, &config), NULL);
    kmm_use(rt);
    return rt;
}

static void runtime_destroy(kmm_runtime_t *rt)
{
    kmm_use(NULL);
    check(kmm_destroy(rt), NULL);
}

template <typename T> static T *array_create(kmm_runtime_t *rt, long n)
{
    void *x;
    kmm_shape_t shape = {};
    shape.dims = 1;
    shape.extent[0] = n;
    shape.element_bytes = sizeof(T);
    check(kmm_array_create(rt, &shape, &x), rt);
    return (T *)x;
}

typedef struct traffic {
    uint64_t host, peer;
} traffic_t;

static traffic_t traffic(kmm_runtime_t *rt)
{
    traffic_t t = {0, 0};
    for (int k = 0; k < kmm_device_count(rt); k++) {
        kmm_device_info_t info;
        check(kmm_device_get(rt, k, &info), rt);
        t.host += info.bytes_in + info.bytes_out;
        t.peer += info.bytes_peer;
    }
    return t;
}

static int report(unsigned long long wrong, const char *what)
{
    if (wrong)
        fprintf(stderr, "%s: %llu elements are wrong\n", what, wrong);
    return wrong != 0;
}

__global__ void set(long n, int value, int *x)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value;
}

__global__ void add_one(long n, int *x)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

__global__ void add_one_to(long n, int *y, const int *x)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + 1;
}

__global__ void count_others(long n, int value, const int *x, unsigned long long *count)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n && x[i] != value)
        atomicAdd(count, 1ull);
}

// How many elements of x differ from `value`, counted where they are.
static unsigned long long wrong_in(kmm_runtime_t *rt, long n, long chunk, int value, const int *x)
{
    unsigned long long *COUNT = array_create<unsigned long long>(rt, 1), count;
    unsigned blocks = (unsigned)((n + 255) / 256);
    check(kmm_fill(rt, COUNT, 0, sizeof(count)), rt);
    #pragma kmm parallel(i = 0:n) chunk(chunk) read(x[i]) reduce(+: COUNT[0])
    count_others<<<blocks, 256>>>(n, value, x, COUNT);
    check(kmm_copy_out(rt, &count, COUNT, sizeof(count)), rt);
    check(kmm_array_destroy(rt, COUNT), rt);
    return count;
}

// ---- Copies from one GPU to another ----

static double read_on_second(kmm_runtime_t *rt, long n, long chunk, int *x, int *y)
{
    unsigned blocks = (unsigned)((n + 255) / 256);
    #pragma kmm parallel(i = 0:n) chunk(chunk) device(0) update(x[i])
    add_one<<<blocks, 256>>>(n, x);
    check(kmm_wait(rt), rt);
    double start = bench_now();
    #pragma kmm parallel(i = 0:n) chunk(chunk) device(1) read(x[i]) write(y[i])
    add_one_to<<<blocks, 256>>>(n, y, x);
    check(kmm_wait(rt), rt);
    return bench_now() - start;
}

static int bench_peer(long bytes, long)
{
    enum { REPEAT = 5, CHUNKS = 64 };
    if (gpu_count() < 2) {
        fprintf(stderr, "peer: there is one GPU only\n");
        return 1;
    }
    double by_hand = baseline_peer((size_t)bytes, REPEAT);
    if (by_hand < 0)
        return 1;
    kmm_runtime_t *rt = runtime_create(2, 0);
    long n = bytes / (long)sizeof(int), chunk = (n / CHUNKS + 255) / 256 * 256;
    int *x = array_create<int>(rt, n), *y = array_create<int>(rt, n);
    unsigned blocks = (unsigned)((n + 255) / 256);
    #pragma kmm parallel(i = 0:n) chunk(chunk) device(0) write(x[i])
    set<<<blocks, 256>>>(n, 0, x);
    double first = read_on_second(rt, n, chunk, x, y), best = 1e30;
    traffic_t before = traffic(rt);
    for (int k = 0; k < REPEAT; k++)
        best = fmin(best, read_on_second(rt, n, chunk, x, y));
    traffic_t after = traffic(rt);
    int failed = report(wrong_in(rt, n, chunk, REPEAT + 2, y), "peer");
    double moved = (double)(after.peer - before.peer) / REPEAT,
           other = (double)(after.host - before.host);
    runtime_destroy(rt);
    printf("a launch reads what another GPU wrote: first %.2f ms, then %.2f ms; %.2f GB moved, "
           "%.2f GB by way of the host\n",
           1e3 * first, 1e3 * best, 1e-9 * moved, 1e-9 * other);
    bench_row("multi_gpu/peer", 1e-9 * bytes / best, 1e-9 * bytes / by_hand, "GB/s",
              "a launch reads %.1f GB that another GPU wrote", 1e-9 * bytes);
    return failed;
}

// ---- Mapping ----

static int bench_map(long, long)
{
    int gpus = gpu_count();
    static const struct {
        long bytes;
        int frames, peers, together;
        const char *what;
    } cases[] = {{32L << 20, 64, 0, 0, "32 MiB"},
                 {32L << 20, 64, 0, 1, "32 MiB, access set for 64 of them at once"},
                 {128L << 20, 16, 0, 0, "128 MiB"},
                 {32L << 20, 64, 1, 0, "32 MiB, access for all GPUs too"},
                 {32L << 20, 64, 1, 1, "32 MiB, access for all GPUs and 64 of them at once"},
                 {128L << 20, 16, 1, 0, "128 MiB, access for all GPUs too"}};
    for (auto c : cases)
        for (int count : {1, gpus}) {
            if (count == 1 && c.peers)
                continue;
            double seconds = baseline_map(count, (size_t)c.bytes, c.frames, c.peers, c.together);
            if (seconds < 0)
                return 1;
            bench_row("multi_gpu/map", 1e6 * seconds, 0, "us", "%s, on %d GPU%s at once", c.what,
                      count, count > 1 ? "s" : "");
            if (gpus == 1)
                break;
        }
    return 0;
}

// ---- The stencil ----

__global__ void begin_cells(long n, float *x)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = stencil_begin(i);
}

__global__ void step(int n, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    size_t at = (size_t)y * n + x;
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1)
        out[at] = in[at];
    else
        out[at] = stencil_cell(in[at], in[at - n], in[at + n], in[at - 1], in[at + 1]);
}

__global__ void sum_cells(long n, const float *x, unsigned long long *sum)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    stencil_add(i < n ? stencil_weight(i, x[i]) : 0, sum);
}

static void steps_run(int n, int rows, int steps, float **in, float **out)
{
    dim3 block(64, 4), grid((n + 63) / 64, (n + 3) / 4);
    for (int k = 0; k < steps; k++) {
        float *from = *in, *to = *out;
        #pragma kmm parallel(x = 0:n, y = 0:n) chunk(n, rows) shape(from[n][n], to[n][n]) \
            read(from[y-1:3][x-1:3]) write(to[y][x])
        step<<<grid, block>>>(n, from, to);
        *in = to;
        *out = from;
    }
}

static uint64_t sum_of(kmm_runtime_t *rt, int n, int rows, const float *x)
{
    long cells = (long)n * n, chunk = (long)rows * n;
    unsigned long long *SUM = array_create<unsigned long long>(rt, 1), sum;
    unsigned blocks = (unsigned)((cells + 255) / 256);
    check(kmm_fill(rt, SUM, 0, sizeof(sum)), rt);
    #pragma kmm parallel(i = 0:cells) chunk(chunk) read(x[i]) reduce(+: SUM[0])
    sum_cells<<<blocks, 256>>>(cells, x, SUM);
    check(kmm_copy_out(rt, &sum, SUM, sizeof(sum)), rt);
    check(kmm_array_destroy(rt, SUM), rt);
    return sum;
}

// One cell after `steps`, from all that it depends on.
static float cell_on_host(int n, int steps, int x, int y)
{
    int x0 = x - steps < 0 ? 0 : x - steps, x1 = x + steps >= n ? n - 1 : x + steps;
    int y0 = y - steps < 0 ? 0 : y - steps, y1 = y + steps >= n ? n - 1 : y + steps,
        w = x1 - x0 + 1, h = y1 - y0 + 1;
    std::vector<float> in((size_t)w * h), out((size_t)w * h);
    for (int j = 0; j < h; j++)
        for (int i = 0; i < w; i++)
            in[(size_t)j * w + i] = stencil_begin((long)(y0 + j) * n + x0 + i);
    // Cells at the border of this window come out wrong, one more row of them with each step.
    for (int k = 0; k < steps; k++, in.swap(out))
        for (int j = 0; j < h; j++)
            for (int i = 0; i < w; i++) {
                const float *p = &in[(size_t)j * w + i];
                bool edge = j == 0 || i == 0 || j == h - 1 || i == w - 1;
                out[(size_t)j * w + i] = edge ? *p : stencil_cell(p[0], p[-w], p[w], p[-1], p[1]);
            }
    return in[(size_t)(y - y0) * w + (x - x0)];
}

static unsigned long long wrong_cells(kmm_runtime_t *rt, int n, int steps, const float *result)
{
    unsigned long long wrong = 0;
    for (int k = 0; k < 9; k++) { // beside the borders of bands too
        int y = k == 8 ? n - 1 : (int)((long)n * k / 8), x = (int)((long)n * (k * 5 % 9) / 9);
        float got;
        check(kmm_copy_out(rt, &got, result + (size_t)y * n + x, sizeof(got)), rt);
        wrong += got != cell_on_host(n, steps, x, y);
    }
    return wrong;
}

typedef struct run {
    double seconds;
    uint64_t sum;
    double peer, host;
} run_t;

enum { WARM_STEPS = 4 };

static run_t stencil_managed(int gpus, int n, int steps, int parts, int *failed)
{
    kmm_runtime_t *rt = runtime_create(gpus, 0);
    long cells = (long)n * n;
    int rows = (n + gpus * parts - 1) / (gpus * parts);
    long chunk = (long)rows * n;
    unsigned blocks = (unsigned)((cells + 255) / 256);
    float *in = array_create<float>(rt, cells), *out = array_create<float>(rt, cells);
    #pragma kmm parallel(i = 0:cells) chunk(chunk) write(in[i])
    begin_cells<<<blocks, 256>>>(cells, in);
    steps_run(n, rows, WARM_STEPS, &in, &out);
    check(kmm_wait(rt), rt);
    traffic_t before = traffic(rt);
    double start = bench_now();
    steps_run(n, rows, steps, &in, &out);
    check(kmm_wait(rt), rt);
    run_t r = {bench_now() - start, 0, 0, 0};
    traffic_t after = traffic(rt);
    r.peer = (double)(after.peer - before.peer);
    r.host = (double)(after.host - before.host);
    r.sum = sum_of(rt, n, rows, in);
    *failed |= report(wrong_cells(rt, n, WARM_STEPS + steps, in), "stencil");
    runtime_destroy(rt);
    return r;
}

// `one` is the time of one GPU, `by_hand` that of plain CUDA code on as many GPUs.
static void print_stencil(const char *who, int gpus, int n, int steps, double seconds, double one,
                          double by_hand)
{
    const char *s = gpus > 1 ? "s" : "";
    printf("stencil, %s, %d GPU%s: %.0f GB/s, efficiency %.3f\n", who, gpus, s,
           8e-9 * n * n * steps / seconds, one / (gpus * seconds));
    if (by_hand > 0)
        bench_row("multi_gpu/stencil", 1e3 * seconds / steps, 1e3 * by_hand / steps, "ms/step",
                  "stencil %d x %d, %d GPU%s, %s", n, n, gpus, s, who);
}

static int bench_stencil(long n, long steps)
{
    int gpus = gpu_count(), failed = 0;
    static const int parts[] = {1, 2, 4};
    double by_hand[2], one[3];
    uint64_t sum[2];
    for (int k = 0; k < (gpus > 1 ? 2 : 1); k++) {
        by_hand[k] = baseline_stencil(k ? gpus : 1, (int)n, WARM_STEPS, (int)steps, &sum[k]);
        if (by_hand[k] < 0)
            return 1;
        failed |= report(sum[k] != sum[0], "by hand, the sum of all cells");
        print_stencil("by hand", k ? gpus : 1, (int)n, (int)steps, by_hand[k], by_hand[0], 0);
    }
    for (int k = 0; k < (gpus > 1 ? 2 : 1); k++)
        for (int j = 0; j < 3; j++) {
            char who[64];
            run_t r = stencil_managed(k ? gpus : 1, (int)n, (int)steps, parts[j], &failed);
            failed |= report(r.sum != sum[0], "the sum of all cells");
            if (k == 0)
                one[j] = r.seconds;
            snprintf(who, sizeof(who), "%d chunk%s a GPU", parts[j], parts[j] > 1 ? "s" : "");
            print_stencil(who, k ? gpus : 1, (int)n, (int)steps, r.seconds,
                          fmin(one[0], fmin(k ? one[1] : 1e30, k ? one[2] : 1e30)), by_hand[k]);
            if (k)
                printf("  moved %.3f MB a step between GPUs, %.3f MB in all by way of the host\n",
                       1e-6 * r.peer / steps, 1e-6 * r.host);
            fflush(stdout);
        }
    return failed;
}

// ---- Sweeps over more than the GPUs have ----

static int bench_sweep(long bytes_each, long limit)
{
    enum { SWEEPS = 4 };
    int gpus = gpu_count();
    const char *text = getenv("KMM_BENCH_CHUNKS"), *frame = getenv("KMM_FRAME");
    int chunks = text && atoi(text) > 0 ? atoi(text) : 32;
    long n = gpus * bytes_each / (long)sizeof(int),
         chunk = (limit / chunks / (long)sizeof(int) + 255) / 256 * 256;
    double rate = baseline_two_way_gpus(gpus, (size_t)512 << 20, 16),
           bytes = (double)n * sizeof(int);
    if (rate < 0)
        return 1;
    printf("copies in and out at once on %d GPU%s, pinned, by hand: %.1f GB/s both ways together\n",
           gpus, gpus > 1 ? "s" : "", 1e-9 * rate);
    fflush(stdout);
    kmm_runtime_t *rt = runtime_create(gpus, limit);
    int *x = array_create<int>(rt, n);
    unsigned blocks = (unsigned)((n + 255) / 256);
    double start = bench_now();
    #pragma kmm parallel(i = 0:n) chunk(chunk) write(x[i])
    set<<<blocks, 256>>>(n, 0, x);
    #pragma kmm parallel(i = 0:n) chunk(chunk) update(x[i])
    add_one<<<blocks, 256>>>(n, x);
    check(kmm_wait(rt), rt);
    double first = bench_now() - start;
    traffic_t before = traffic(rt);
    start = bench_now();
    for (int k = 0; k < SWEEPS; k++) {
        #pragma kmm parallel(i = 0:n) chunk(chunk) update(x[i])
        add_one<<<blocks, 256>>>(n, x);
    }
    check(kmm_wait(rt), rt);
    double seconds = bench_now() - start;
    traffic_t after = traffic(rt);
    int failed = report(wrong_in(rt, n, chunk, SWEEPS + 1, x), "sweep");
    double held = fmin((double)gpus * limit, bytes),
           least = 2 * (SWEEPS * bytes - (SWEEPS - 1) * held),
           moved = (double)(after.host - before.host);
    runtime_destroy(rt);
    printf("sweeps in chunks of %.0f MB: %.3f s, two before them %.1f s; %.1f GB moved, the best "
           "policy moves %.1f, which takes %.3f s\n",
           4e-6 * chunk, seconds, first, 1e-9 * moved, 1e-9 * least, least / rate);
    bench_row("multi_gpu/sweep", 1e-9 * moved / seconds, 1e-9 * rate, "GB/s",
              "%d in-place sweeps over %.1f GB, %d GPU%s limited to %.1f GB each%s%s", SWEEPS,
              1e-9 * bytes, gpus, gpus > 1 ? "s" : "", 1e-9 * limit, frame ? ", KMM_FRAME=" : "",
              frame ? frame : "");
    return failed;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(long, long);
        long first, second, most;
    } modes[] = {{"peer", bench_peer, 8L << 30, 1, 1L << 38},
                 {"map", bench_map, 1, 1, 1},
                 {"stencil", bench_stencil, 32768, 100, 40000},
                 {"sweep", bench_sweep, 32L << 30, 8L << 30, 1L << 38}};
    for (auto mode : modes) {
        if (argc < 2 || argc > 4 || strcmp(argv[1], mode.name) != 0)
            continue;
        long first = argc > 2 ? atol(argv[2]) : mode.first,
             second = argc > 3 ? atol(argv[3]) : mode.second;
        if (first > 0 && second > 0 && first <= mode.most)
            return mode.run(first, second);
    }
    fprintf(stderr, "usage: bench_multi_gpu peer [bytes] | map | stencil [n [steps]] | sweep "
                    "[bytes for each GPU [limit of each]]\n");
    return 2;
}
