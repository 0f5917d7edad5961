/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels as `kmmcc --target=host` runs them beside the same work in C with OpenMP (host_target.c),
 * taking turns, on all cores. Results are compared. With an argument: how often each is run.
 */
#include <cuda_runtime.h>

#include "bench.h"
#include "host_target.h"

#include <cmath>
#include <cstring>

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

/* The same with indices of other types, and in a loop with a stride. */
__global__ void saxpy_unsigned(unsigned n, float a, const float *x, float *y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void strided_unsigned(unsigned n, float a, const float *x, float *y)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

__global__ void strided_size(size_t n, float a, const float *x, float *y)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

template <class T, class I> __global__ void strided(I n, T a, const T *x, T *y)
{
    for (I i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

/* Of each 32 elements. */
__global__ void warp_scan(int n, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float sum = i < n ? x[i] : 0.0f;
    for (int d = 1; d < 32; d *= 2) {
        const float other = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d)
            sum += other;
    }
    if (i < n)
        y[i] = sum;
}

__global__ void add(int n, const float *a, const float *b, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__device__ inline float normal(float d)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float tail =
        0.39894228040143267794f * expf(-0.5f * d * d) *
        (k * (0.31938153f +
              k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

__global__ void options(int n, const float *price, const float *strike, const float *years,
                        float *call, float *put)
{
    const float rate = 0.02f, volatility = 0.30f;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float root = sqrtf(years[i]);
    const float d1 =
        (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
        (volatility * root);
    const float d2 = d1 - volatility * root, n1 = normal(d1), n2 = normal(d2),
                discount = expf(-rate * years[i]);
    call[i] = price[i] * n1 - strike[i] * discount * n2;
    put[i] = strike[i] * discount * (1.0f - n2) - price[i] * (1.0f - n1);
}

__global__ void sums(int n, const float *x, float *partial)
{
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int width = blockDim.x / 2; width > 0; width /= 2) {
        if (t < width)
            s[t] += s[t + width];
        __syncthreads();
    }
    if (t == 0)
        partial[blockIdx.x] = s[0];
}

enum { TILE = 16 };
__global__ void matmul(int n, const float *a, const float *b, float *c)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y,
        column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        as[y][x] = a[row * n + k0 + x];
        bs[y][x] = b[(k0 + y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

__global__ void stencil(int n, const float *x, float *y)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < n - 1 && j > 0 && j < n - 1)
        y[i * n + j] = 0.5f * x[i * n + j] + 0.125f * (x[i * n + j - 1] + x[i * n + j + 1] +
                                                       x[(i - 1) * n + j] + x[(i + 1) * n + j]);
}

__global__ void histogram(int n, const unsigned char *x, unsigned *bins)
{
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[x[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void nothing() {}

/* ---- Runs ---- */

static int repeats = 21;

/* One array for the C code, and one of the device for the kernels, alike at first. */
template <class T> struct arrays {
    size_t count;
    T *plain, *device;

    template <class F>
    arrays(size_t n, F value) : count(n), plain(static_cast<T *>(malloc(n * sizeof(T))))
    {
        bench_check(cudaMalloc(&device, n * sizeof(T)), "cudaMalloc");
        for (size_t i = 0; i < n; i++)
            plain[i] = value((int)i);
        bench_check(cudaMemcpy(device, plain, n * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    arrays(const arrays &) = delete;
    ~arrays()
    {
        free(plain);
        cudaFree(device);
    }
    void compare(const char *what, size_t n, double error) const
    {
        T *got = static_cast<T *>(malloc(n * sizeof(T)));
        bench_check(cudaMemcpy(got, device, n * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
        for (size_t i = 0; i < n; i++)
            if (!(fabs((double)got[i] - (double)plain[i]) <=
                  error * (1 + fabs((double)plain[i])))) {
                fprintf(stderr, "%s: wrong at %zu: %g is not %g\n", what, i, (double)got[i],
                        (double)plain[i]);
                exit(1);
            }
        free(got);
    }
};

/* Seconds that all threads of the process have run, whatever else the machine does. */
static double spent()
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

template <class K, class P>
static void measure(const char *what, double wanted, K kernel, P plain,
                    const char *subject = "host_target/kernels")
{
    double k[1000], p[1000], least_k = 1e9, least_p = 1e9;
    for (int r = -2; r < repeats; r++) {
        double t0 = bench_now(), c0 = spent();
        kernel();
        bench_check(cudaDeviceSynchronize(), what);
        double t1 = bench_now(), c1 = spent();
        plain();
        double t2 = bench_now(), c2 = spent();
        if (r >= 0) {
            k[r] = t1 - t0;
            p[r] = t2 - t1;
            least_k = fmin(least_k, c1 - c0);
            least_p = fmin(least_p, c2 - c1);
        }
    }
    qsort(k, repeats, sizeof(*k), bench_compare);
    qsort(p, repeats, sizeof(*p), bench_compare);
    printf("%-42s %8.3f ms, plain C %8.3f ms: %4.2f of its speed; least %.3f and %.3f: %4.2f; "
           "processor's time %.3f and %.3f: %4.2f; wanted %.2f\n",
           what, 1e3 * k[repeats / 2], 1e3 * p[repeats / 2], p[repeats / 2] / k[repeats / 2],
           1e3 * k[0], 1e3 * p[0], p[0] / k[0], 1e3 * least_k, 1e3 * least_p, least_p / least_k,
           wanted);
    bench_row(subject, 1e3 * least_k, 1e3 * least_p, "ms", "%s", what);
}

static void run_streams(void)
{
    const int n = 8 << 20, few = 1 << 20, part = 4 << 20;
    auto zero = [](int) { return 0.0f; };
    arrays<float> x(n, [](int i) { return 5.0f + 25.0f * (float)(i % 1009) / 1009; });
    arrays<float> y(n, [](int i) { return 1.0f + 99.0f * (float)(i % 2003) / 2003; });
    arrays<float> v(n, [](int i) { return 0.25f + 9.75f * (float)(i % 4001) / 4001; });
    arrays<float> z(n, zero), u(n, zero);
    measure(
        "saxpy, 8M floats", 0.90,
        [&] { saxpy<<<(n + 255) / 256, 256>>>(n, 0.5f, x.device, z.device); },
        [&] { plain_saxpy(n, 0.5f, x.plain, z.plain); });
    z.compare("saxpy", n, 1e-6);
    auto others = [&](const char *what, auto launch) {
        measure(
            what, 0.90, launch, [&] { plain_saxpy(n, 0.5f, x.plain, z.plain); },
            "host_target/indices");
        z.compare(what, n, 1e-6);
    };
    others("the same, an unsigned index",
           [&] { saxpy_unsigned<<<(n + 255) / 256, 256>>>(n, 0.5f, x.device, z.device); });
    others("the same, strided, unsigned",
           [&] { strided_unsigned<<<1024, 256>>>(n, 0.5f, x.device, z.device); });
    others("the same, strided, size_t",
           [&] { strided_size<<<1024, 256>>>(n, 0.5f, x.device, z.device); });
    others("the same, strided, template of int",
           [&] { strided<float, int><<<1024, 256>>>(n, 0.5f, x.device, z.device); });
    others("the same, strided, template of unsigned",
           [&] { strided<float, unsigned><<<1024, 256>>>(n, 0.5f, x.device, z.device); });
    measure(
        "scan of each warp, 4M floats", 0.40,
        [&] { warp_scan<<<part / 256, 256>>>(part, x.device, u.device); },
        [&] { plain_warp_scan(part, x.plain, u.plain); });
    u.compare("warp scan", part, 1e-4);
    measure(
        "vector add, 8M floats", 0.90,
        [&] { add<<<(n + 255) / 256, 256>>>(n, x.device, y.device, z.device); },
        [&] { plain_add(n, x.plain, y.plain, z.plain); });
    z.compare("vector add", n, 0);
    measure(
        "Black-Scholes, 1M options", 0.90,
        [&] {
            options<<<(few + 255) / 256, 256>>>(few, x.device, y.device, v.device, z.device,
                                                u.device);
        },
        [&] { plain_options(few, x.plain, y.plain, v.plain, z.plain, u.plain); });
    z.compare("options", few, 1e-4);
    measure(
        "block reduction, 4M floats, 256 threads", 1 / 1.5,
        [&] { sums<<<part / 256, 256>>>(part, x.device, u.device); },
        [&] { plain_sums(part / 256, x.plain, u.plain); });
    u.compare("sums", part / 256, 0);
}

static void run_squares(void)
{
    const int n = 1024, m = 4096;
    arrays<float> a((size_t)m * m, [](int i) { return (float)(i % 7) - 3; });
    arrays<float> b((size_t)m * m, [](int i) { return (float)(i % 5); });
    arrays<float> c((size_t)m * m, [](int) { return 0.0f; });
    measure(
        "matmul 1024, tiles of 16 x 16", 0.50,
        [&] {
            matmul<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(n, a.device, b.device, c.device);
        },
        [&] { plain_matmul(n, a.plain, b.plain, c.plain); });
    c.compare("matmul", (size_t)n * n, 0);
    measure(
        "stencil 4096 x 4096, blocks of 32 x 8", 0.85,
        [&] { stencil<<<dim3(m / 32, m / 8), dim3(32, 8)>>>(m, a.device, c.device); },
        [&] { plain_stencil(m, a.plain, c.plain); });
    c.compare("stencil", (size_t)m * m, 1e-6);
}

static void run_histogram(void)
{
    const int n = 16 << 20;
    unsigned random = 1;
    arrays<unsigned char> x(
        n, [&](int) { return (unsigned char)((random = random * 1664525u + 1013904223u) >> 24); });
    arrays<unsigned> bins(256, [](int) { return 0u; });
    measure(
        "histogram, 16M bytes, shared atomics", 0.50,
        [&] { histogram<<<256, 256>>>(n, x.device, bins.device); },
        [&] { plain_histogram(n, x.plain, bins.plain); });
    bins.compare("histogram", 256, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        repeats = atoi(argv[1]);
    if (repeats < 1 || repeats > 1000) {
        fprintf(stderr, "usage: %s [1 to 1000 repeats]\n", argv[0]);
        return 2;
    }
    run_streams();
    run_squares();
    run_histogram();
    double empty[1000];
    for (int r = 0; r < repeats; r++) {
        double t0 = bench_now();
        nothing<<<1, 1>>>();
        bench_check(cudaDeviceSynchronize(), "nothing");
        empty[r] = 1e6 * (bench_now() - t0);
    }
    bench_report("an empty launch of one block, submit to wait", "us", empty, repeats);
    bench_row("host_target/launch", empty[repeats / 2], 0, "us",
              "an empty launch of one block, submit to wait");
}
