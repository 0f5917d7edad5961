// A program for several GPUs on the pretend devices of the CPU: counting, choosing, memory, streams, events, peers.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host:4,mem=64M %t 4 67108864 | FileCheck %s --check-prefix=FOUR
// RUN: env KMM_DEVICES=host:2,mem=8M %t 2 8388608 | FileCheck %s --check-prefix=TWO
// RUN: env KMM_DEVICES=host %t 1 0 | FileCheck %s --check-prefix=ONE
// RUN: env KMM_DEVICES=host:1,mem=16M %t 1 16777216 | FileCheck %s --check-prefix=ONE
// RUN: env KMM_DEVICES=host:4,mem=64M KMM_STATS=1 %t 4 67108864 2>&1 | FileCheck %s --check-prefix=STATS
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 4, N = 100000 };
static int failed;
#define OK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess)                                                                  \
            failed += printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error));     \
    } while (0)
#define IS(condition)                                                                              \
    do {                                                                                           \
        if (!(condition))                                                                          \
            failed += printf("line %d: not %s\n", __LINE__, #condition);                           \
    } while (0)

__global__ void fill(int n, int value, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value + i;
}
__global__ void add(int n, const int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] += a[i];
}

static void properties(int count, size_t memory)
{
    char id[20];
    for (int d = 0; d < count; d++) {
        cudaDeviceProp p;
        int bus = -1, same = -1;
        size_t available, total;
        OK(cudaGetDeviceProperties(&p, d));
        OK(cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, d));
        OK(cudaDeviceGetPCIBusId(id, sizeof(id), d));
        OK(cudaDeviceGetByPCIBusId(&same, id));
        IS(bus == d && p.pciBusID == d && same == d);
        OK(cudaSetDevice(d));
        OK(cudaMemGetInfo(&available, &total));
        if (memory)
            IS(p.totalGlobalMem == memory && total == memory && available == memory && !p.integrated && strstr(p.name, "host:"));
        else
            IS(p.totalGlobalMem == total && available <= total && p.integrated);
    }
    cudaDeviceProp p;
    IS(cudaGetDeviceProperties(&p, count) == cudaErrorInvalidDevice);
    IS(cudaGetDeviceProperties(&p, -1) == cudaErrorInvalidDevice);
    IS(cudaGetLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaSuccess);
    IS(cudaSetDevice(count) == cudaErrorInvalidDevice && cudaSetDevice(-1) == cudaErrorInvalidDevice);
    int device = -1;
    OK(cudaGetDevice(&device));
    IS(device == count - 1);
    cudaGetLastError();
}

/* Each device fills memory of its own; the last one adds up what the others bring it. */
static void work(int count, size_t memory)
{
    int *x[MAX], *sum, *part, *h = (int *)malloc(N * sizeof(int));
    cudaStream_t s[MAX];
    cudaEvent_t done[MAX];
    size_t before[MAX], available, total;
    for (int d = 0; d < count; d++) {
        cudaPointerAttributes a;
        int device = -1;
        OK(cudaSetDevice(d));
        OK(cudaMemGetInfo(&before[d], &total));
        OK(cudaMalloc(&x[d], N * sizeof(int)));
        OK(cudaMemGetInfo(&available, &total));
        if (memory)
            IS(available == before[d] - N * sizeof(int));
        OK(cudaPointerGetAttributes(&a, x[d] + 5));
        IS(a.type == cudaMemoryTypeDevice && a.device == d);
        OK(cudaStreamCreate(&s[d]));
        OK(cudaStreamGetDevice(s[d], &device));
        OK(cudaEventCreate(&done[d]));
        IS(device == d);
        fill<<<(N + 255) / 256, 256, 0, s[d]>>>(N, 1000 * d, x[d]);
        OK(cudaGetLastError());
        OK(cudaEventRecord(done[d], s[d]));
    }
    const int last = count - 1;
    OK(cudaMalloc(&sum, N * sizeof(int)));
    OK(cudaMalloc(&part, N * sizeof(int)));
    OK(cudaMemset(sum, 0, N * sizeof(int)));
    for (int d = 0; d < count; d++) {
        OK(cudaStreamWaitEvent(s[last], done[d], 0));
        OK(cudaMemcpyPeerAsync(part, last, x[d], d, N * sizeof(int), s[last]));
        add<<<(N + 255) / 256, 256, 0, s[last]>>>(N, part, sum);
    }
    OK(cudaStreamSynchronize(s[last]));
    OK(cudaMemcpy(h, sum, N * sizeof(int), cudaMemcpyDeviceToHost));
    int base = 0;
    for (int d = 0; d < count; d++)
        base += 1000 * d;
    for (int i = 0; i < N; i++)
        if (h[i] != base + count * i) {
            IS(h[i] == base + count * i);
            break;
        }
    OK(cudaMemcpyPeer(x[0], 0, sum, last, N * sizeof(int)));
    OK(cudaMemcpy(h, x[0], N * sizeof(int), cudaMemcpyDefault));
    IS(h[N - 1] == base + count * (N - 1));
    IS(cudaMemcpyPeer(x[0], count, sum, last, 4) == cudaErrorInvalidDevice);
    if (count > 1) { /* what belongs to one device cannot be used on another */
        float ms;
        OK(cudaSetDevice(0));
        IS(cudaEventRecord(done[0], s[1]) == cudaErrorInvalidResourceHandle);
        IS(cudaEventElapsedTime(&ms, done[0], done[1]) == cudaErrorInvalidResourceHandle);
        cudaGetLastError();
        fill<<<1, 1, 0, s[1]>>>(1, 77, x[0]);
        IS(cudaGetLastError() == cudaErrorInvalidResourceHandle);
        OK(cudaMemcpy(h, x[0], sizeof(int), cudaMemcpyDefault));
        IS(h[0] == base);
    }
    for (int d = 0; d < count; d++) {
        OK(cudaSetDevice(d));
        OK(cudaFree(x[d]));
        OK(cudaStreamDestroy(s[d]));
        OK(cudaEventDestroy(done[d]));
    }
    OK(cudaFree(sum));
    OK(cudaFree(part));
    for (int d = 0; memory && d < count; d++) {
        OK(cudaSetDevice(d));
        OK(cudaMemGetInfo(&available, &total));
        IS(available == before[d]);
    }
    free(h);
}

static void peers(int count)
{
    int can = -1, value = -1;
    OK(cudaSetDevice(0));
    OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    IS(can == 0);
    IS(cudaDeviceCanAccessPeer(&can, 0, count) == cudaErrorInvalidDevice);
    IS(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice && cudaDeviceEnablePeerAccess(count, 0) == cudaErrorInvalidDevice);
    cudaGetLastError();
    if (count == 1)
        return;
    OK(cudaDeviceCanAccessPeer(&can, 1, 0));
    IS(can == 1);
    OK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
    IS(value == 1);
    IS(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
    OK(cudaDeviceEnablePeerAccess(1, 0));
    IS(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
    OK(cudaDeviceDisablePeerAccess(1));
    cudaGetLastError();
}

static void *thread_main(void *)
{
    int device = -1;
    OK(cudaGetDevice(&device)); /* each thread begins on device 0 */
    IS(device == 0);
    return nullptr;
}

int main(int argc, char **argv)
{
    int count = 0, expected = argc > 1 ? atoi(argv[1]) : 1;
    size_t memory = argc > 2 ? strtoul(argv[2], nullptr, 10) : 0;
    pthread_t thread;
    OK(cudaGetDeviceCount(&count));
    IS(count == expected);
    properties(count, memory);
    work(count, memory);
    peers(count);
    OK(cudaSetDevice(count - 1));
    pthread_create(&thread, nullptr, thread_main, nullptr);
    pthread_join(thread, nullptr);
    printf("%d devices, %s\n", count, failed ? "FAILED" : "ok");
    return failed != 0;
}
// FOUR: 4 devices, ok
// TWO: 2 devices, ok
// ONE: 1 devices, ok
// Kernels ran where the program wanted them.
// STATS-DAG: kmm: host:0{{ +}}1{{ }}
// STATS-DAG: kmm: host:1{{ +}}1{{ }}
// STATS-DAG: kmm: host:2{{ +}}1{{ }}
// STATS-DAG: kmm: host:3{{ +}}5{{ }}
