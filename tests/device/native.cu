// SPDX-License-Identifier: Apache-2.0
// Native standing on a GPU: what a program whose data fits does without libkmm's knowledge, and the takeover. Usage: device_native PART;
// each part is a process of its own, because the standing is the process's.
#define SUBJECT "native"
#include "verdict.h"

#include <cstring>
#include <pthread.h>
#include <unistd.h>
#include <vector>

enum { N = 1 << 20, THREADS = 256 };

__global__ void add(int n, int by, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += by;
}

__global__ void add_through(int n, int by, int **xs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        xs[1][i] += by;
}

__global__ void twice_slowly(int n, int *x, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long begin = clock64();
    if (i < n) {
        int old = x[i];
        while (clock64() - begin < 20000)
            ;
        x[i] = (old * 3 + by) & 0xffff;
    }
}

__global__ void add_after(int n, int by, int *x, volatile int *flag)
{
    while (*flag == 0)
        ;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += by;
}

static int *fresh(size_t n)
{
    int *p = nullptr;
    must(cudaMalloc(&p, n * sizeof(int)), "cudaMalloc");
    return p;
}

static bool holds(const int *x, int value, size_t n = N)
{
    std::vector<int> got(n);
    must(cudaMemcpy(got.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (size_t k = 0; k < n; k++)
        if (got[k] != value) {
            printf("element %zu is %d, not %d\n", k, got[k], value);
            return false;
        }
    return true;
}

static void launch(int by, int *x, cudaStream_t s = nullptr) { add<<<N / THREADS, THREADS, 0, s>>>(N, by, x); }

static void in_chunks(int by, int *x)
{
    #pragma kmm parallel(i = 0:N) chunk(N / 8) update(x[i])
    add<<<N / THREADS, THREADS>>>(N, by, x);
}

// Pointers to arrays in arrays, graphs, addresses, the driver's copies.
static void unseen()
{
    int *a = fresh(N), *b = fresh(N), **table, *both[2] = {a, b};
    must(cudaMalloc(&table, sizeof(both)), "cudaMalloc");
    must(cudaMemcpy(table, both, sizeof(both), cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemset(a, 0, N * sizeof(int)), "cudaMemset");
    must(cudaMemset(b, 0, N * sizeof(int)), "cudaMemset");
    add_through<<<N / THREADS, THREADS>>>(N, 5, table);
    expect(holds(b, 5) && holds(a, 0), "a kernel finds an array by a pointer that is stored in another");
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    must(cudaStreamCreate(&s), "cudaStreamCreate");
    must(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), "capture");
    launch(1, a, s);
    launch(2, b, s);
    must(cudaStreamEndCapture(s, &graph), "capture");
    must(cudaGraphInstantiate(&runs, graph, 0), "graph");
    for (int k = 0; k < 10; k++)
        must(cudaGraphLaunch(runs, s), "graph");
    must(cudaStreamSynchronize(s), "graph");
    expect(holds(a, 10) && holds(b, 25), "a captured graph runs ten times");
    cudaPointerAttributes what;
    must(cudaPointerGetAttributes(&what, a), "attributes");
    expect(what.type == cudaMemoryTypeDevice, "an array is device memory to cudaPointerGetAttributes");
    // The graph has recorded addresses, so what would move the arrays is refused.
    size_t free_bytes, total;
    must(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
    int *c = nullptr;
    expect(cudaMalloc(&c, free_bytes + (64 << 20)) == cudaErrorMemoryAllocation, "beside a graph an array that does not fit is refused");
    cudaGetLastError();
    must(cudaGraphLaunch(runs, s), "graph");
    must(cudaStreamSynchronize(s), "graph");
    expect(holds(a, 11) && holds(b, 27), "the graph still runs");
}

// Nearly all memory that cudaMemGetInfo says is free.
static void whole()
{
    size_t free_bytes, total;
    must(cudaFree(nullptr), "cudaFree");
    must(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
    std::vector<int *> parts;
    size_t n = free_bytes / 100 * 95 / 7 / sizeof(int);
    for (int k = 0; k < 7; k++) {
        parts.push_back(fresh(n));
        must(cudaMemset(parts[k], k, n * sizeof(int)), "cudaMemset");
        launch(k, parts[k] + n - N);
    }
    int *last = fresh(1000);
    must(cudaMemset(last, 0, 4000), "cudaMemset");
    bool right = true;
    for (int k = 0; k < 7; k++)
        right = right && holds(parts[k] + n - N, k * 0x01010101 + k) && holds(parts[k], k * 0x01010101);
    expect(right, "arrays of 95% of the free memory");
    for (int *p : parts)
        must(cudaFree(p), "cudaFree");
    must(cudaFree(last), "cudaFree");
    int *again = fresh(n * 7);
    must(cudaMemset(again, 1, n * 7 * sizeof(int)), "cudaMemset");
    expect(holds(again + n * 7 - N, 0x01010101), "one array where seven were");
}

// An array that does not fit: cudaMalloc takes nothing over while a kernel waits for the program.
static void takeover()
{
    int *a = fresh(N), *small = fresh(100), *flag;
    must(cudaMemset(a, 0, N * sizeof(int)), "cudaMemset");
    must(cudaMemset(small, 0, 400), "cudaMemset");
    must(cudaMallocHost(&flag, sizeof(int)), "cudaMallocHost");
    *(volatile int *)flag = 0;
    add_after<<<N / THREADS, THREADS>>>(N, 3, a, flag);
    add<<<1, 100>>>(100, 4, small);
    size_t free_bytes, total;
    must(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
    int *big = fresh((free_bytes + (256 << 20)) / sizeof(int));
    *(volatile int *)flag = 1;
    launch(1, a);
    expect(holds(a, 4) && holds(small, 4, 100), "what ran before a takeover is there afterwards");
    launch(2, a);
    must(cudaMemset(big, 0, N * sizeof(int)), "cudaMemset");
    in_chunks(7, big);
    expect(holds(a, 6) && holds(big, 7), "launches on both afterwards");
    in_chunks(10, a);
    in_chunks(20, big);
    expect(holds(a, 16) && holds(big, 27), "launches in chunks afterwards");
    must(cudaFree(small), "cudaFree");
    must(cudaFree(a), "cudaFree");
    must(cudaFree(big), "cudaFree");
    a = fresh(N);
    must(cudaMemset(a, 0, N * sizeof(int)), "cudaMemset");
    launch(2, a);
    expect(holds(a, 2), "an array made afterwards");
}

// Launches with and without a pragma in turn, on several streams.
static void mixed()
{
    int *a = fresh(N), *b = fresh(N);
    cudaStream_t s;
    must(cudaStreamCreate(&s), "cudaStreamCreate");
    must(cudaMemset(a, 0, N * sizeof(int)), "cudaMemset");
    must(cudaMemset(b, 0, N * sizeof(int)), "cudaMemset");
    for (int k = 0; k < 20; k++) {
        launch(1, a, s);
        in_chunks(2, a);
        launch(3, b);
        in_chunks(4, b);
        launch(1, b, s);
    }
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    expect(holds(a, 60) && holds(b, 160), "launches with and without a pragma in turn");
    std::vector<int> host(N, 1);
    int *h = host.data();
    in_chunks(5, a);
    #pragma kmm parallel(i = 0:N) chunk(N / 8) update(h[i])
    add<<<N / THREADS, THREADS>>>(N, 6, h);
    bool right = true;
    for (int x : host)
        right = right && x == 7;
    expect(right && holds(a, 65), "memory of the host in chunks");
}

// Launches with a pragma whose arrays fit: they are made as they stand, and their mistakes are found all the same.
static void annotated()
{
    int *a = fresh(N), *b = fresh(N), **table, *both[2] = {a, b}, *flag;
    must(cudaMalloc(&table, sizeof(both)), "cudaMalloc");
    must(cudaMemcpy(table, both, sizeof(both), cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemset(a, 0, N * sizeof(int)), "cudaMemset");
    must(cudaMemset(b, 0, N * sizeof(int)), "cudaMemset");
    for (int k = 0; k < 100; k++) {
        in_chunks(1, a);
        in_chunks(2, b);
        launch(1, b);
    }
    add_through<<<N / THREADS, THREADS>>>(N, 5, table); // only in native standing it finds b
    expect(holds(a, 100) && holds(b, 305), "launches with a pragma do not end the standing");
    // Order across streams that CUDA does not order.
    cudaStream_t s[2];
    for (auto &each : s)
        must(cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking), "cudaStreamCreate");
    must(cudaMallocHost(&flag, sizeof(int)), "cudaMallocHost");
    *(volatile int *)flag = 1;
    for (int k = 0; k < 50; k++) {
        #pragma kmm parallel(i = 0:N) chunk(N / 8) update(a[i])
        twice_slowly<<<N / THREADS, THREADS, 0, s[k % 2]>>>(N, a, k + 1);
    }
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    int x = 100;
    for (int k = 0; k < 50; k++)
        x = (x * 3 + k + 1) & 0xffff;
    expect(holds(a, x), "they keep their order across streams");
    // A region outside of its array, from the first time on and after right ones.
    for (int k = 0; k < 5; k++) {
        int n = k < 4 ? N : 2 * N;
        #pragma kmm parallel(i = 0:n) chunk(n / 8) update(b[i])
        add<<<N / THREADS, THREADS>>>(N, 1, b);
    }
    bool told = cudaGetLastError() != cudaSuccess;
    expect(told && holds(b, 309), "a region beyond its array is refused");
}

// Each block adds what one thread has computed, so the sum of a chunk of one block has one order.
template<typename T>
__global__ void dot(int n, const T *x, const T *y, T *out)
{
    __shared__ T part[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] * y[i] : T(0);
    __syncthreads();
    for (int k = THREADS / 2; k > 0; k /= 2) {
        if (threadIdx.x < k)
            part[threadIdx.x] += part[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, part[0]);
}

__global__ void columns(int n, const float *x, float *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&sums[threadIdx.x], x[i]);
}

enum { REDUCED = THREADS * 100 };
struct sums_t {
    float dot, columns[THREADS];
    double wide;
};

static sums_t reduce_all(const float *x, const float *y, const double *wx, const double *wy, int rounds,
                         const cudaStream_t s[2])
{
    float *out, *sums;
    double *wide;
    sums_t got;
    must(cudaMalloc(&out, sizeof(float)), "cudaMalloc");
    must(cudaMalloc(&wide, sizeof(double)), "cudaMalloc");
    must(cudaMalloc(&sums, sizeof(got.columns)), "cudaMalloc");
    must(cudaMemset(out, 0, sizeof(float)), "cudaMemset");
    must(cudaMemset(wide, 0, sizeof(double)), "cudaMemset");
    must(cudaMemset(sums, 0, sizeof(got.columns)), "cudaMemset");
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    for (int k = 0; k < rounds; k++) {
        #pragma kmm parallel(i = 0:REDUCED) chunk(THREADS) read(x[i], y[i]) reduce(+: out[0])
        dot<<<REDUCED / THREADS, THREADS, 0, s[k % 2]>>>(REDUCED, x, y, out);
        #pragma kmm parallel(i = 0:REDUCED) chunk(THREADS) read(wx[i], wy[i]) reduce(+: wide[0])
        dot<<<REDUCED / THREADS, THREADS, 0, s[k % 2]>>>(REDUCED, wx, wy, wide);
        #pragma kmm parallel(i = 0:REDUCED) chunk(THREADS) read(x[i]) reduce(+: sums[0:THREADS])
        columns<<<REDUCED / THREADS, THREADS, 0, s[(k + 1) % 2]>>>(REDUCED, x, sums);
    }
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    must(cudaMemcpy(&got.dot, out, sizeof(got.dot), cudaMemcpyDeviceToHost), "cudaMemcpy");
    must(cudaMemcpy(&got.wide, wide, sizeof(got.wide), cudaMemcpyDeviceToHost), "cudaMemcpy");
    must(cudaMemcpy(got.columns, sums, sizeof(got.columns), cudaMemcpyDeviceToHost), "cudaMemcpy");
    must(cudaFree(out), "cudaFree");
    must(cudaFree(wide), "cudaFree");
    must(cudaFree(sums), "cudaFree");
    return got;
}

static bool is_same(const sums_t &a, const sums_t &b)
{
    return !memcmp(&a.dot, &b.dot, sizeof(a.dot)) && !memcmp(&a.wide, &b.wide, sizeof(a.wide)) &&
           !memcmp(a.columns, b.columns, sizeof(a.columns));
}

// Reductions of floating-point numbers do not end the standing, and have the bits that they have afterwards.
static void reduced()
{
    float *x, *y;
    double *wx, *wy;
    int *b = fresh(N), **table, *both[2] = {b, b};
    cudaStream_t s[2];
    std::vector<float> random(2 * REDUCED);
    std::vector<double> wide(2 * REDUCED);
    for (size_t k = 0; k < random.size(); k++) {
        random[k] = (float)((k * 2654435761u >> 7) % 100003) / 999.0f - 50;
        wide[k] = random[k] * 1.00000001;
    }
    for (auto &each : s)
        must(cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking), "cudaStreamCreate");
    must(cudaMalloc(&x, REDUCED * sizeof(float)), "cudaMalloc");
    must(cudaMalloc(&y, REDUCED * sizeof(float)), "cudaMalloc");
    must(cudaMalloc(&wx, REDUCED * sizeof(double)), "cudaMalloc");
    must(cudaMalloc(&wy, REDUCED * sizeof(double)), "cudaMalloc");
    must(cudaMemcpy(x, &random[0], REDUCED * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemcpy(y, &random[REDUCED], REDUCED * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemcpy(wx, &wide[0], REDUCED * sizeof(double), cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemcpy(wy, &wide[REDUCED], REDUCED * sizeof(double), cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemset(b, 0, N * sizeof(int)), "cudaMemset");
    sums_t natively = reduce_all(x, y, wx, wy, 20, s);
    expect(is_same(natively, reduce_all(x, y, wx, wy, 20, s)), "reductions have the same bits again");
    must(cudaMalloc(&table, sizeof(both)), "cudaMalloc");
    must(cudaMemcpy(table, both, sizeof(both), cudaMemcpyHostToDevice), "cudaMemcpy");
    add_through<<<N / THREADS, THREADS>>>(N, 5, table); // only in native standing it finds b
    expect(holds(b, 5), "reductions of floating-point numbers do not end the standing");
    size_t free_bytes, total;
    must(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
    int *big = fresh((free_bytes + (256 << 20)) / sizeof(int)); // the next call takes over
    expect(is_same(natively, reduce_all(x, y, wx, wy, 20, s)), "reductions have the same bits in managed standing");
    must(cudaFree(big), "cudaFree");
}

// When what did not fit is freed, the other arrays are native again, twice.
static void back()
{
    int *a = fresh(N), *small = fresh(100), *later = nullptr, **table, *both[2] = {a, a};
    must(cudaMalloc(&table, sizeof(both)), "cudaMalloc");
    must(cudaMemcpy(table, both, sizeof(both), cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemset(a, 0, N * sizeof(int)), "cudaMemset");
    must(cudaMemset(small, 0, 400), "cudaMemset");
    for (int turn = 1; turn <= 2; turn++) {
        size_t free_bytes, total;
        must(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
        int *big = fresh((free_bytes + (256 << 20)) / sizeof(int));
        in_chunks(turn, big);
        in_chunks(1, a);
        if (!later) {
            later = fresh(N);
            must(cudaMemset(later, 0, N * sizeof(int)), "cudaMemset");
        }
        in_chunks(2, later);
        must(cudaFree(big), "cudaFree");
        for (int k = 0; k < 30; k++) {
            usleep(10000);
            must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        }
        add_through<<<N / THREADS, THREADS>>>(N, 5, table); // only in native standing it finds a
        add<<<1, 100>>>(100, 4, small);
        launch(3, later);
        expect(holds(a, 6 * turn) && holds(small, 4 * turn, 100) && holds(later, 5 * turn),
               "arrays are native again when what did not fit is freed");
    }
}

struct worker_t {
    int *x;
    int index;
    int rounds;
};

static void *work(void *arg)
{
    worker_t *w = (worker_t *)arg;
    cudaStream_t s;
    must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreate");
    for (int k = 0; k < w->rounds; k++) {
        launch(1, w->x, s);
        if (k % 10 == w->index) {
            int *t;
            must(cudaMalloc(&t, (k % 3 ? 1000 : N) * sizeof(int)), "cudaMalloc");
            must(cudaFree(t), "cudaFree");
        }
        if (k % 50 == 7)
            must(cudaStreamSynchronize(s), "cudaStreamSynchronize");
    }
    must(cudaStreamSynchronize(s), "cudaStreamSynchronize");
    return nullptr;
}

// Threads at work while another one takes over.
static void threads()
{
    enum { WORKERS = 6, ROUNDS = 3000 };
    pthread_t thread[WORKERS];
    worker_t worker[WORKERS];
    for (int k = 0; k < WORKERS; k++) {
        worker[k] = {fresh(N), k, ROUNDS};
        must(cudaMemset(worker[k].x, 0, N * sizeof(int)), "cudaMemset");
    }
    int *own = fresh(N);
    must(cudaMemset(own, 0, N * sizeof(int)), "cudaMemset");
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    for (int k = 0; k < WORKERS; k++)
        pthread_create(&thread[k], nullptr, work, &worker[k]);
    for (int k = 0; k < 200; k++)
        launch(1, own);
    size_t free_bytes, total;
    must(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
    int *big = fresh((free_bytes + (256 << 20)) / sizeof(int)); // the next call of any thread takes over
    for (int k = 0; k < 200; k++)
        launch(1, own);
    for (int k = 0; k < WORKERS; k++)
        pthread_join(thread[k], nullptr);
    bool right = holds(own, 400);
    for (int k = 0; k < WORKERS; k++)
        right = right && holds(worker[k].x, ROUNDS);
    expect(right, "six threads at work while the standing ends");
    must(cudaFree(big), "cudaFree");
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    if (!strcmp(part, "unseen"))
        unseen();
    else if (!strcmp(part, "whole"))
        whole();
    else if (!strcmp(part, "takeover"))
        takeover();
    else if (!strcmp(part, "mixed"))
        mixed();
    else if (!strcmp(part, "annotated"))
        annotated();
    else if (!strcmp(part, "reduced"))
        reduced();
    else if (!strcmp(part, "back"))
        back();
    else if (!strcmp(part, "threads"))
        threads();
    else
        expect(false, "there is no such part");
    return failures != 0;
}
