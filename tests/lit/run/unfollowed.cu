// What kmmcc infers may be more than a kernel touches: a pointer that it is given and does not follow, elements that only look shared.
// RUN: %kmmcc --target=host -fno-kmm %san %s -o %t.plain && %t.plain > %t.expected
// RUN: sed '/#pragma kmm/d' %s > %t.auto.cu && %kmmcc --target=host -fkmm-auto -O1 %san %t.auto.cu -o %t
// RUN: %kmmcc --target=host -O1 %san %s -o %t.chunks
// RUN: env KMM_DEVICES=host %t | diff - %t.expected
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff - %t.expected
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t | diff - %t.expected
// RUN: env KMM_DEVICES=host %t.chunks | diff - %t.expected
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t.chunks | diff - %t.expected
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t.chunks | diff - %t.expected
// RUN: env KMM_DEVICES=host:3 KMM_STATS=1 %t.chunks 2>&1 | FileCheck %s --check-prefix=STATS
// The lowest page is never mapped, so an address in it names nothing, and its launches are chunked.
// STATS: 5 launches ran whole, because what kmmcc has inferred of them did not hold
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRID (N + 127) / 128, 128

enum { N = 40000 };

__global__ void logs(int n, int *o, const int *a, int *log, int f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        o[i] = a[i] + 1;
        if (f)
            log[i] = i;
    }
}

__global__ void masks(int n, int *o, const int *a, const int *mask, int f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        o[i] = f ? a[i] * mask[i] : a[i] + 2;
}

// Each element of o is stored once, by one of two halves that run in opposite directions.
__global__ void fold(int n, int *o, const int *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = i < n / 2 ? i : n - 1 - (i - n / 2);
    if (i < n && j < n)
        o[j] = a[i];
}

static void print(const char *name, const int *d)
{
    static int h[N];
    unsigned sum = 0;
    cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        sum = sum * 31 + h[i];
    printf("%s %u\n", name, sum);
}

// An int in front of memory that cannot be touched.
static int *last_int(void)
{
    long page = sysconf(_SC_PAGESIZE);
    char *m = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED || mprotect(m + page, page, PROT_NONE))
        exit(1);
    return (int *)(m + page) - 1;
}

int main(void)
{
    static int h[N];
    int *o, *a, *freed, *one = last_int(), *odd = (int *)(uintptr_t)8;
    for (int i = 0; i < N; i++)
        h[i] = i % 97;
    *one = 5;
    cudaMalloc(&o, sizeof(h));
    cudaMalloc(&a, sizeof(h));
    cudaMalloc(&freed, sizeof(h));
    cudaFree(freed);
    cudaMemcpy(a, h, sizeof(h), cudaMemcpyHostToDevice);
    const struct { const char *name; int *p; } bases[] = {{"one int of the host", one}, {"freed", freed}, {"no address", odd}};
    for (int k = 0; k < 3; k++) {
        char name[64];
        #pragma kmm parallel chunk(N / 4)
        logs<<<GRID>>>(N, o, a, bases[k].p, 0);
        snprintf(name, sizeof(name), "%s, stored", bases[k].name);
        print(name, o);
        #pragma kmm parallel chunk(N / 4)
        masks<<<GRID>>>(N, o, a, bases[k].p, 0);
        snprintf(name, sizeof(name), "%s, read", bases[k].name);
        print(name, o);
    }
    #pragma kmm parallel chunk(N / 4)
    fold<<<GRID>>>(N, o, a);
    print("folded", o);
    printf("%d\n", *one);
    cudaFree(a);
    cudaFree(o);
    return 0;
}
