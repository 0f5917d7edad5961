// SPDX-License-Identifier: Apache-2.0
// Usage: device_gather <MiB of each array> [refused]
// Chunks that read whole tables, on a device whose memory (KMM_DEVICE_MEM) is a third of the four arrays or less. They run with the
// rest in the host's memory. `refused`: with KMM_HOST_MEM they cannot, and are refused before anything is lost.
#define SUBJECT "gather"
#include "verdict.h"

#include <string.h>

enum { ROUNDS = 3, CHUNKS = 8 };

__host__ __device__ static unsigned gathered(int i, int n, const unsigned *a, const unsigned *b, const int *where)
{
    int at = where[i];
    return a[at] + 3 * b[n - 1 - at];
}

__global__ void gather(int n, unsigned *out, const unsigned *a, const unsigned *b, const int *where)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = gathered(i, n, a, b, where);
}

__global__ void add(int n, unsigned *a, const unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] += out[i];
}

// What is on the host, and the same in managed memory.
typedef struct tables {
    int n, *where;
    unsigned *a, *b, *out;
} tables_t;

static tables_t host, managed;

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void make(int n)
{
    size_t bytes = (size_t)n * sizeof(int);
    unsigned state = 1;
    host = (tables_t){n, (int *)malloc(bytes), (unsigned *)malloc(bytes), (unsigned *)malloc(bytes), (unsigned *)malloc(bytes)};
    managed.n = n;
    must(cudaMalloc(&managed.where, bytes), "cudaMalloc");
    for (unsigned **x : {&managed.a, &managed.b, &managed.out})
        must(cudaMalloc(x, bytes), "cudaMalloc");
    for (int i = 0; i < n; i++) {
        host.where[i] = (int)(next_random(&state) % (unsigned)n);
        host.a[i] = next_random(&state);
        host.b[i] = next_random(&state);
        host.out[i] = (unsigned)i;
    }
    must(cudaMemcpy(managed.where, host.where, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemcpy(managed.a, host.a, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemcpy(managed.b, host.b, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemcpy(managed.out, host.out, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

static int is_there(const unsigned *array, const unsigned *want)
{
    size_t bytes = (size_t)host.n * sizeof(int);
    unsigned *got = (unsigned *)malloc(bytes);
    int error = cudaMemcpy(got, array, bytes, cudaMemcpyDeviceToHost), same = !error && !memcmp(got, want, bytes);
    for (int i = 0; !error && !same && i < host.n; i++)
        if (got[i] != want[i]) {
            printf("  element %d of %d is %u, not %u\n", i, host.n, got[i], want[i]);
            break;
        }
    if (error)
        printf("  error %d: %s\n", error, kmm_error_text(kmm_default()));
    free(got);
    return same;
}

static void launch_gather()
{
    int n = managed.n, *where = managed.where;
    unsigned *a = managed.a, *b = managed.b, *out = managed.out;
    #pragma kmm parallel(i = 0:n) chunk(n / CHUNKS) read(a[:], b[:], where[i]) write(out[i])
    gather<<<(n + 255) / 256, 256>>>(n, out, a, b, where);
}

static void launch_add()
{
    int n = managed.n;
    unsigned *a = managed.a, *out = managed.out;
    #pragma kmm parallel(i = 0:n) chunk(n / 64) read(out[i]) update(a[i])
    add<<<(n + 255) / 256, 256>>>(n, a, out);
}

static void add_on_host()
{
    for (int i = 0; i < host.n; i++)
        host.a[i] += host.out[i];
}

// Each launch of gathers is followed by one of small chunks, which needs what the gathers have left.
static void run_all()
{
    for (int round = 0; round < ROUNDS; round++) {
        launch_gather();
        launch_add();
        for (int i = 0; i < host.n; i++)
            host.out[i] = gathered(i, host.n, host.a, host.b, host.where);
        add_on_host();
    }
    must(cudaGetLastError(), "the launches");
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    expect(is_there(managed.out, host.out) && is_there(managed.a, host.a), "chunks that read whole tables run");
}

static void refuse_all()
{
    launch_gather();
    cudaError_t launched = cudaGetLastError(), synced = cudaDeviceSynchronize();
    expect(launched == cudaErrorMemoryAllocation && synced == launched, "the launch and the synchronization tell that it was refused");
    expect(strstr(kmm_error_text(kmm_default()), "nothing of the launch has run") != NULL, "and that nothing has run");
    expect(is_there(managed.out, host.out) && is_there(managed.a, host.a) && is_there(managed.b, host.b), "nothing is lost");
    launch_add();
    add_on_host();
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    expect(is_there(managed.a, host.a), "a launch that fits runs");
}

int main(int argc, char **argv)
{
    int mib = argc > 1 ? atoi(argv[1]) : 0;
    if (mib <= 0) {
        fprintf(stderr, "usage: device_gather <MiB of each array> [refused]\n");
        return 2;
    }
    make(mib << 18);
    argc > 2 ? refuse_all() : run_all();
    return failures != 0;
}
