// SPDX-License-Identifier: Apache-2.0
// C = A B for n x n matrices of float in host memory, by cuBLAS inside tasks, beside cuBLAS on
// matrices that are in one GPU's memory
// already (baseline_gpus.h).
//
//     bench_matmul [n [rows of a band of A and C [rows of a block of B]]]
//
// Limit what each GPU may use by KMM_DEVICE_MEM. A band of C is the sum of products of blocks:
// columns of the band of A, and as many rows
// of B. On several GPUs each has some of the bands; the blocks of B reach one of them from the host
// and the others from there. A thread
// for each GPU submits its tasks.
// Every result is checked.
#include "baseline_gpus.h"
#include "measure.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <kmm.h>
#include <thread>
#include <vector>

enum { MAX_GPUS = 16, REPEAT = 3 };

// Calls part(first, end) for parts of [0, n) on all cores.
template <typename F> static void on_all_cores(long n, F part)
{
    long count = std::thread::hardware_concurrency();
    std::vector<std::thread> threads;
    count = count < 1 ? 1 : count > n ? n : count;
    for (long k = 0; k < count; k++)
        threads.emplace_back([=] { part(n * k / count, n * (k + 1) / count); });
    for (std::thread &t : threads)
        t.join();
}

// ---- Matrices of small whole numbers, whose product has no rounding: its elements are below 2^24
// ----

static float cell(unsigned long i, unsigned salt)
{
    unsigned h = (unsigned)(i * 2654435761u) ^ (unsigned)(i >> 20) ^ salt;
    return (float)((int)((h ^ h >> 13) % 7) - 3);
}

static void fill(long n, float *x, unsigned salt)
{
    on_all_cores(n, [=](long first, long end) {
        for (long i = first; i < end; i++)
            for (long j = 0; j < n; j++)
                x[i * n + j] = cell((unsigned long)(i * n + j), salt);
    });
}

static std::vector<double> times(long n, const float *x, const std::vector<double> &v)
{
    std::vector<double> out(n);
    double *to = out.data();
    const double *from = v.data();
    on_all_cores(n, [=](long first, long end) {
        for (long i = first; i < end; i++) {
            double sum[4] = {0, 0, 0, 0};
            const float *row = x + i * n;
            long j = 0;
            for (; j + 4 <= n; j += 4)
                for (int k = 0; k < 4; k++)
                    sum[k] += (double)row[j + k] * from[j + k];
            for (; j < n; j++)
                sum[0] += (double)row[j] * from[j];
            to[i] = sum[0] + sum[1] + sum[2] + sum[3];
        }
    });
    return out;
}

// Rows of C that are not those of A B: C v and A (B v) for a vector v, all of them whole numbers
// below 2^53.
static long wrong_rows(long n, const float *A, const float *B, const float *C)
{
    std::vector<double> v(n);
    for (long i = 0; i < n; i++)
        v[i] = (double)((unsigned)(i * 2246822519u) >> 16) - 32768;
    std::vector<double> want = times(n, A, times(n, B, v)), got = times(n, C, v);
    long wrong = 0;
    for (long i = 0; i < n; i++)
        wrong += got[i] != want[i];
    return wrong;
}

// ---- In tasks ----

typedef struct product {
    long n, rows, block; // of the matrices, of a band, and of a block of B
    int gpus;
    const float *a, *b;
    float *c;
    cublas_t cublas;
    void *handle[MAX_GPUS];
    int failed[MAX_GPUS]; // a result of cuBLAS
} product_t;

static int multiply(product_t *p, int gpu, cudaStream_t s, long n, long m, long w, const float *one,
                    const float *a, const float *b, const float *before, float *c)
{
    int status = p->cublas.set_stream(p->handle[gpu], s);
    return status ? status
                  : p->cublas.sgemm(p->handle[gpu], CUBLAS_PLAIN, CUBLAS_PLAIN, (int)n, (int)m,
                                    (int)w, one, b, (int)n, a, (int)n, before, c, (int)n);
}

// Adds to the band of C at row i0 what rows k0 and on of B contribute. In cuBLAS's order of columns
// all are transposed.
static void block_product(product_t *p, int gpu, long i0, long k0, bool is_first)
{
    const float one = 1, before = is_first ? 0 : 1;
    long n = p->n, m = i0 + p->rows < n ? p->rows : n - i0,
         w = k0 + p->block < n ? p->block : n - k0;
    const float *a = p->a, *b = p->b;
    float *c = p->c;
    cudaStream_t s = 0;
    int status = 0;
    if (is_first) {
        #pragma kmm task stream(s) device(gpu) shape(a[n][n], b[n][n], c[n][n]) \
            read(a[i0:m][k0:w], b[k0:w][0:n]) write(c[i0:m][0:n])
        status =
            multiply(p, gpu, s, n, m, w, &one, a + i0 * n + k0, b + k0 * n, &before, c + i0 * n);
    } else {
        #pragma kmm task stream(s) device(gpu) shape(a[n][n], b[n][n], c[n][n]) \
            read(a[i0:m][k0:w], b[k0:w][0:n]) update(c[i0:m][0:n])
        status =
            multiply(p, gpu, s, n, m, w, &one, a + i0 * n + k0, b + k0 * n, &before, c + i0 * n);
    }
    if (status)
        p->failed[gpu] = status;
}

// A band of C is fetched while the next is computed.
static void band_fetch(const product_t *p, long i0)
{
    long n = p->n, m = i0 + p->rows < n ? p->rows : n - i0;
    float *c = p->c;
    #pragma kmm update from(c[i0 * n:m * n])
}

// Every gpus-th band. Each GPU begins at another block of B, so that they come from the host by all
// links.
static void bands_product(product_t *p, int gpu)
{
    long bands = (p->n + p->rows - 1) / p->rows, blocks = (p->n + p->block - 1) / p->block,
         first = gpu * blocks / p->gpus, last = -1;
    for (long band = gpu; band < bands; band += p->gpus) {
        for (long k = 0; k < blocks; k++)
            block_product(p, gpu, band * p->rows, (first + k) % blocks * p->block, k == 0);
        if (last >= 0)
            band_fetch(p, last * p->rows);
        last = band;
    }
    if (last >= 0)
        band_fetch(p, last * p->rows);
}

static double product_run(product_t *p)
{
    const float *a = p->a, *b = p->b;
    float *c = p->c;
    long cells = p->n * p->n;
    std::vector<std::thread> threads;
    double start = bench_now();
    #pragma kmm data map(to: a[0:cells]) map(to: b[0:cells]) map(from: c[0:cells])
    {
        for (int gpu = 0; gpu < p->gpus; gpu++)
            threads.emplace_back(bands_product, p, gpu);
        for (std::thread &t : threads)
            t.join();
    }
    return bench_now() - start;
}

// ---- Moved so far ----

static void traffic(double *host, double *peer)
{
    *host = *peer = 0;
    for (int k = 0; k < kmm_device_count(kmm_default()); k++) {
        kmm_device_info_t info;
        if (kmm_device_get(kmm_default(), k, &info))
            continue;
        *host += (double)(info.bytes_in + info.bytes_out);
        *peer += (double)info.bytes_peer;
    }
}

static int run(product_t *p, double by_hand)
{
    const char *frame = getenv("KMM_FRAME");
    double best = 1e30, host[2], peer[2], first = 0;
    for (int k = 0; k <= REPEAT; k++) { // the first run loads cuBLAS's kernels
        traffic(&host[0], &peer[0]);
        double time = product_run(p);
        traffic(&host[1], &peer[1]);
        if (k)
            best = fmin(best, time);
        else
            first = time;
    }
    for (int gpu = 0; gpu < p->gpus; gpu++)
        if (p->failed[gpu]) {
            fprintf(stderr, "cuBLAS failed with %d on GPU %d\n", p->failed[gpu], gpu);
            return 1;
        }
    long wrong = wrong_rows(p->n, p->a, p->b, p->c);
    if (wrong)
        fprintf(stderr, "%ld rows are wrong\n", wrong);
    double work = 2e-12 * p->n * p->n * p->n;
    printf("matmul %ld on %d GPUs, bands of %ld rows, blocks of %ld of B: %.3f s, first %.3f s; "
           "%.1f GB moved by the host's links, %.1f GB between GPUs\n",
           p->n, p->gpus, p->rows, p->block, best, first, 1e-9 * (host[1] - host[0]),
           1e-9 * (peer[1] - peer[0]));
    bench_row("matmul/host", work / best, work / by_hand * p->gpus, "TFLOPS",
              "matmul %ld from host memory%s%s, %d GPU%s", p->n, frame ? ", KMM_FRAME=" : "",
              frame ? frame : "", p->gpus, p->gpus > 1 ? "s" : "");
    return wrong != 0;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 32768, rows = argc > 2 ? atol(argv[2]) : 4096,
         block = argc > 3 ? atol(argv[3]) : 4096;
    product_t p = {n, rows, block, 0, NULL, NULL, NULL, {}, {}, {}};
    if (argc > 4 || n < 1 || n > 100000 || rows < 1 || block < 1) {
        fprintf(stderr, "usage: bench_matmul [n [rows of a band [rows of a block of B]]]\n");
        return 2;
    }
    if (cublas_open(&p.cublas))
        return 1;
    double by_hand = baseline_matmul(&p.cublas, (int)n, 2);
    if (by_hand < 0)
        return 1;
    printf("matmul %ld, FP32, cuBLAS in memory on 1 GPU, by hand: %.3f s, %.1f TFLOPS\n", n,
           by_hand, 2e-12 * n * n * n / by_hand);
    fflush(stdout);
    p.gpus = kmm_device_count(kmm_default());
    p.gpus = p.gpus > MAX_GPUS ? MAX_GPUS : p.gpus;
    float *matrix[3];
    for (float *&x : matrix)
        CHECK(cudaMallocHost(&x, (size_t)n * n * sizeof(float)));
    fill(n, matrix[0], 1);
    fill(n, matrix[1], 2);
    p.a = matrix[0];
    p.b = matrix[1];
    p.c = matrix[2];
    for (int gpu = 0; gpu < p.gpus; gpu++) {
        CHECK(cudaSetDevice(gpu));
        if (p.cublas.create(&p.handle[gpu]) || p.cublas.set_math(p.handle[gpu], CUBLAS_PLAIN)) {
            fprintf(stderr, "cuBLAS gives no handle on GPU %d\n", gpu);
            return 1;
        }
    }
    int failed = run(&p, by_hand);
    for (int gpu = 0; gpu < p.gpus; gpu++)
        p.cublas.destroy(p.handle[gpu]);
    for (float *x : matrix)
        CHECK(cudaFreeHost(x));
    return failed;
}
