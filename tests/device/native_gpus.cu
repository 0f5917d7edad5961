// SPDX-License-Identifier: Apache-2.0
// Native standing on two GPUs or more: programs that use several, and those that are taken over because more GPUs pay.
// Usage: device_native_gpus PART; each part is a process of its own.
#define SUBJECT "native, several GPUs"
#include "verdict.h"

#include <cstring>
#include <pthread.h>
#include <vector>
#include <kmm/cuda_api.h>

enum { N = 1 << 20, THREADS = 256 };

__global__ void add(int n, int by, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += by;
}

__global__ void add_from(int n, const int *from, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += from[i];
}

__constant__ int step;
__device__ int second_step = 100;

__global__ void add_steps(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += step + second_step;
}

// Takes long for its bytes.
__global__ void grind(int n, int rounds, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = x[i];
    for (int k = 0; k < rounds; k++)
        v = v * 1664525u + 1013904223u;
    x[i] = (int)v;
}

static unsigned ground(unsigned v, long rounds)
{
    for (long k = 0; k < rounds; k++)
        v = v * 1664525u + 1013904223u;
    return v;
}

static int *fresh(size_t n, int device = 0)
{
    int *p = nullptr;
    must(cudaSetDevice(device), "cudaSetDevice");
    must(cudaMalloc(&p, n * sizeof(int)), "cudaMalloc");
    must(cudaMemset(p, 0, n * sizeof(int)), "cudaMemset");
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
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

static bool is_native() { return kmm_cuda_native(KMM_KIND_CUDA); }

static void add_on(int device, int by, int *x)
{
    must(cudaSetDevice(device), "cudaSetDevice");
    add<<<N / THREADS, THREADS>>>(N, by, x);
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

// Arrays on two GPUs, and all that copies between them.
static void peers()
{
    int *a = fresh(N), *b = fresh(N, 1), *small = fresh(100), *other = fresh(100, 1), can;
    const size_t bytes = N * sizeof(int);
    add_on(0, 5, a);
    add_on(1, 7, b);
    expect(holds(a, 5) && holds(b, 7), "kernels on arrays of both");
    must(cudaMemcpyPeer(b, 1, a, 0, bytes), "cudaMemcpyPeer");
    expect(holds(b, 5), "cudaMemcpyPeer");
    add_on(1, 1, b);
    must(cudaMemcpy(a, b, bytes, cudaMemcpyDeviceToDevice), "cudaMemcpy");
    expect(holds(a, 6), "cudaMemcpy from one to the other");
    add_on(0, 1, a);
    must(cudaMemcpy2D(b, 1024, a, 1024, 1024, bytes / 1024, cudaMemcpyDefault), "cudaMemcpy2D");
    expect(holds(b, 7), "cudaMemcpy2D");
    must(cudaSetDevice(1), "cudaSetDevice");
    cudaStream_t s;
    must(cudaStreamCreate(&s), "cudaStreamCreate");
    must(cudaMemcpyAsync(a, b, bytes / 2, cudaMemcpyDefault, s), "cudaMemcpyAsync");
    must(cudaMemcpyPeerAsync(a + N / 2, 0, b + N / 2, 1, bytes / 2, s), "cudaMemcpyPeerAsync");
    must(cudaMemcpyPeerAsync(other, 1, small, 0, 400, s), "cudaMemcpyPeerAsync");
    must(cudaStreamSynchronize(s), "cudaStreamSynchronize");
    expect(holds(a, 7), "asynchronous copies");
    must(cudaDeviceCanAccessPeer(&can, 1, 0), "cudaDeviceCanAccessPeer");
    if (can) {
        must(cudaDeviceEnablePeerAccess(0, 0), "cudaDeviceEnablePeerAccess");
        expect(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled, "access is enabled twice");
        cudaGetLastError();
        add_from<<<N / THREADS, THREADS>>>(N, a, b);
        add_from<<<1, 100>>>(100, small, other);
        must(cudaDeviceSynchronize(), "a kernel with access to the other GPU");
        expect(holds(b, 14), "a kernel that reads the other GPU's array");
        expect(is_native(), "the standing is native");
    }
    must(cudaFree(a), "cudaFree");
    a = fresh(N);
    must(cudaMemcpyPeer(a, 0, b, 1, bytes), "cudaMemcpyPeer");
    // The takeover, with arrays on both.
    std::vector<int> got(N);
    kmm_copy_out(kmm_default(), got.data(), b, bytes);
    bool right = !is_native();
    for (int x : got)
        right = right && x == (can ? 14 : 7);
    #pragma kmm parallel(i = 0:N) chunk(N / 8) read(b[i]) update(a[i])
    add_from<<<N / THREADS, THREADS>>>(N, b, a);
    expect(right && holds(a, can ? 28 : 14), "the takeover, and a launch in chunks on arrays of both");
}

// Variables that were set on one GPU are there on the others afterwards.
static void variables()
{
    int *x = fresh(N), first = 3, *at;
    must(cudaMemcpyToSymbol(step, &first, sizeof(first)), "cudaMemcpyToSymbol");
    must(cudaGetSymbolAddress((void **)&at, second_step), "cudaGetSymbolAddress");
    first = 40;
    must(cudaMemcpy(at, &first, sizeof(first), cudaMemcpyHostToDevice), "cudaMemcpy");
    #pragma kmm parallel(i = 0:N) chunk(N / 8) update(x[i])
    add_steps<<<N / THREADS, THREADS>>>(N, x);
    bool was_native = is_native();
    kmm_fill(kmm_default(), x, 0, 4); // takes over
    kmm_fill(kmm_default(), x, 0, N * sizeof(int));
    for (int k = 0; k < 3; k++) {
        #pragma kmm parallel(i = 0:N) chunk(N / 8) update(x[i])
        add_steps<<<N / THREADS, THREADS>>>(N, x);
    }
    expect(was_native && !is_native() && holds(x, 129), "variables of the device after a takeover");
}

// Long kernels take over, short ones do not.
static void pays()
{
    int *x = fresh(N);
    long rounds = 0;
    for (int k = 0; k < 300 && is_native(); k++) {
        #pragma kmm parallel(i = 0:N) update(x[i])
        grind<<<N / THREADS, THREADS>>>(N, 100, x);
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        rounds += 100;
    }
    expect(is_native(), "kernels of microseconds stay native");
    int k;
    for (k = 0; k < 300 && is_native(); k++) {
        #pragma kmm parallel(i = 0:N) update(x[i])
        grind<<<N / THREADS, THREADS>>>(N, 50000, x);
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // events are asked for later
        rounds += 50000;
    }
    printf("native standing ended after %d long launches\n", k);
    expect(!is_native(), "kernels of milliseconds take over");
    for (int i = 0; i < 10; i++) {
        #pragma kmm parallel(i = 0:N) update(x[i])
        grind<<<N / THREADS, THREADS>>>(N, 100, x);
        rounds += 100;
    }
    expect(holds(x, (int)ground(0, rounds)), "and the values are right");
}

struct worker_t {
    int *x;
    int device, rounds;
};

static void *work(void *arg)
{
    worker_t *w = (worker_t *)arg;
    cudaStream_t s;
    w->x = fresh(N, w->device);
    must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreate");
    for (int k = 0; k < w->rounds; k++) {
        add<<<N / THREADS, THREADS, 0, s>>>(N, 1, w->x);
        if (k % 10 == w->device) {
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

// A thread for each GPU, at work while another one takes over.
static void threads()
{
    enum { MOST = 8, ROUNDS = 2000 };
    pthread_t thread[MOST];
    worker_t worker[MOST];
    int count = 0;
    must(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    count = count < MOST ? count : MOST;
    int *own = fresh(N);
    for (int k = 0; k < count; k++) {
        worker[k] = {nullptr, k, ROUNDS};
        pthread_create(&thread[k], nullptr, work, &worker[k]);
    }
    for (int k = 0; k < 200; k++)
        add<<<N / THREADS, THREADS>>>(N, 1, own);
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    kmm_fill(kmm_default(), own, 1, N * sizeof(int)); // takes over
    for (int k = 0; k < count; k++)
        pthread_join(thread[k], nullptr);
    bool right = holds(own, 0x01010101);
    for (int k = 0; k < count; k++)
        right = right && holds(worker[k].x, ROUNDS);
    expect(right, "a thread for each GPU, while the standing ends");
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    int count = 0;
    must(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    if (count < 2) {
        printf("LEFT OUT: there is one GPU\n");
        return 0;
    }
    if (!strcmp(part, "peers"))
        peers();
    else if (!strcmp(part, "variables"))
        variables();
    else if (!strcmp(part, "pays"))
        pays();
    else if (!strcmp(part, "threads"))
        threads();
    else
        expect(false, "there is no such part");
    return failures != 0;
}
