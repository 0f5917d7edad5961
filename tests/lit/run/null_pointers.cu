// RUN: %kmmcc --target=host -fno-kmm %san -w %s -o %t.plain && env KMM_DEVICES=host %t.plain > %t.want
// RUN: %kmmcc --target=host %san -O1 -w %s -o %t && env KMM_DEVICES=host %t > %t.one && diff %t.want %t.one
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three && diff %t.want %t.three
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t > %t.check && diff %t.want %t.check
// Pointers that are null when the launch happens, of arrays that clauses name: read, written, reduced.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 40000 };
#define INDEX (int)(blockIdx.x * blockDim.x + threadIdx.x)

__global__ void product(int n, int *o, const int *a, const int *m)
{
    int i = INDEX;
    if (i < n)
        o[i] = m ? a[i] * m[i] : a[i] + 1;
}

__global__ void both(int n, int *o, int *p, const int *a)
{
    int i = INDEX;
    if (i < n && o)
        o[i] = a[i];
    if (i < n && p)
        p[i] = 2 * a[i];
}

__global__ void total(int n, const int *a, int *sum, int *copy)
{
    int i = INDEX;
    if (i < n && sum)
        atomicAdd(sum, a[i]);
    if (i < n)
        copy[i] = a[i] + 3;
}

static unsigned hash(const int *x)
{
    unsigned h = 0;
    for (int i = 0; i < N; i++)
        h = h * 31 + (unsigned)x[i];
    return h;
}

static int *fresh()
{
    int *p;
    cudaMallocManaged(&p, N * sizeof(int));
    for (int i = 0; i < N; i++)
        p[i] = i * 7 % 1000;
    return p;
}

int main()
{
    int *o = fresh(), *a = fresh(), *m = fresh(), *p = fresh(), *sum = fresh();
    for (int k = 0; k < 2; k++) { // with arrays, and without
        int *m1 = k ? NULL : m, *p1 = k ? NULL : p, *s1 = k ? NULL : sum;
        int *mark = k ? NULL : m - 0;
#pragma kmm parallel(i = 0:N) chunk(N / 4) read(a[i], m1[i]) write(o[i])
        product<<<(N + 127) / 128, 128>>>(N, o, a, m1);
        cudaDeviceSynchronize();
        printf("%u\n", hash(o));
#pragma kmm parallel
        product<<<(N + 127) / 128, 128>>>(N, o, a, mark);
        cudaDeviceSynchronize();
        printf("%u\n", hash(o));
#pragma kmm parallel(i = 0:N) chunk(N / 4) read(a[i]) update(o[i]) update(p1[i])
        both<<<(N + 127) / 128, 128>>>(N, o, p1, a);
        cudaDeviceSynchronize();
        printf("%u %u\n", hash(o), hash(p));
#pragma kmm parallel(i = 0:N) chunk(N / 4) read(a[i]) reduce(+: s1[0]) write(o[i])
        total<<<(N + 127) / 128, 128>>>(N, a, s1, o);
        cudaDeviceSynchronize();
        printf("%u %d\n", hash(o), sum[0]);
    }
}
