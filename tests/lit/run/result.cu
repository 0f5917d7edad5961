// RUN: %kmmcc --target=host %san -fno-kmm-compare -w -O1 %s -o %t
// RUN: env KMM_CHECK=result KMM_DEVICES=host %t right > %t.out 2>&1 && FileCheck --check-prefix=RIGHT %s < %t.out
// RUN: env KMM_CHECK=result KMM_FRAME=64K KMM_JOIN=0 KMM_DEVICES=host:3,mem=1M %t right > %t.out 2>&1 && FileCheck --check-prefix=RIGHT %s < %t.out
// RUN: %not env KMM_CHECK=result KMM_FRAME=64K KMM_JOIN=0 KMM_DEVICES=host:3,mem=1M %t wrong 2>&1 | FileCheck --check-prefix=WRONG %s
// RUN: %not env KMM_CHECK=result KMM_FRAME=64K KMM_JOIN=0 KMM_DEVICES=host:3,mem=1M %t asked 2>&1 | FileCheck --check-prefix=ASKED %s
// RUN: %not env KMM_CHECK=result KMM_FRAME=64K KMM_JOIN=0 KMM_DEVICES=host:3,mem=1M %t chosen 2>&1 | FileCheck --check-prefix=CHOSEN %s
// RUN: env KMM_CHECK=result KMM_FRAME=4K KMM_JOIN=0 KMM_DEVICES=host:1,mem=256K %t right 2>&1 | FileCheck --check-prefix=RIGHT %s
// RUN: %not env KMM_CHECK=result KMM_DEVICES=host %t pairs 2>&1 | FileCheck --check-prefix=PAIRS %s
// RUN: %not env KMM_CHECK=result KMM_DEVICES=host:1 %t pairs 2>&1 | FileCheck --check-prefix=PAIRS %s
// RUN: %not env KMM_CHECK=result KMM_DEVICES=host:1 %t odd 2>&1 | FileCheck --check-prefix=ODD %s
// RUN: %if !san %{ %not --crash env KMM_CHECK=result KMM_DEVICES=host %t beyond 2>&1 | FileCheck --check-prefix=BEYOND %s %}
// Chunks that are compared find only what their clauses name, also where all of them work in one
// memory: stores elsewhere are lost, and what a `write` item names is stored or differs, but for
// padding.
//
// KMM_CHECK=result and kernels: those that give other results in each run, a clause that forgets a
// halo, and launches that do not fit undivided. The exit status is not 0 also if the program asks for
// the error of a launch. kmmcc does not compare launches with an array of arguments, nor reductions
// through an array of pointers.
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

enum { N = 40000 };
#define INDEX (int)(blockIdx.x * blockDim.x + threadIdx.x)

__device__ int next;

__global__ void fill(int n, int *x)
{
    int i = INDEX;
    if (i < n)
        x[i] = i % 77;
}

__global__ void tickets(int n, int *o)
{
    int i = INDEX;
    if (i < n)
        o[i] = atomicAdd(&next, 1);
}

__global__ void histogram(int n, int *h, const int *x)
{
    int i = INDEX;
    if (i < n)
        atomicAdd(&h[x[i]], 1);
}

__global__ void smooth(int n, int *o, const int *x)
{
    int i = INDEX;
    if (i > 0 && i < n - 1)
        o[i] = x[i - 1] + x[i] + x[i + 1];
}

__global__ void parities(int n, int *o, int *even, int *odd, const int *x)
{
    int i = INDEX, *of[2] = {even, odd};
    if (i < n)
        o[i] = atomicAdd(of[x[i] % 2], 1) < 5;
}

__global__ void copy_pairs(int n, int *o, const int *x)
{
    int i = INDEX;
    if (i < n)
        ((int2 *)o)[i] = ((const int2 *)x)[i];
}

__global__ void copy_odd(int n, int *o, const int *x)
{
    int i = INDEX;
    if (i < n && x[i] % 2)
        o[i] = x[i];
}

struct padded {
    char c;
    double d;
    short s;
};

__global__ void pad(int n, padded *p)
{
    int i = INDEX;
    if (i < n) {
        p[i].c = (char)i;
        p[i].d = i;
        p[i].s = (short)i;
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int n = N, *x, *o, *h, got[77];
    cudaMalloc(&x, N * sizeof(int));
    cudaMalloc(&o, N * sizeof(int));
    cudaMalloc(&h, sizeof(got));
    padded *p;
    cudaMalloc(&p, N / 8 * sizeof(*p));
    cudaMemset(p, 0, N / 8 * sizeof(*p));
    cudaMemset(h, 0, sizeof(got));
    cudaMemset(o, 0, N * sizeof(int));
#pragma kmm parallel(i = 0:n) chunk(1024) write(x[i])
    fill<<<(n + 255) / 256, 256>>>(n, x);
    if (!strcmp(what, "right")) {
#pragma kmm parallel(i = 0:n) chunk(5000) write(o[i])
        tickets<<<(n + 255) / 256, 256>>>(n, o);
#pragma kmm parallel(i = 0:n) chunk(5000) read(x[i]) reduce(+: h[0:77])
        histogram<<<(n + 255) / 256, 256>>>(n, h, x);
#pragma kmm parallel(i = 0:n) chunk(5000) read(x[i - 1:3]) update(o[i])
        smooth<<<(n + 255) / 256, 256>>>(n, o, x);
#pragma kmm parallel(i = 0:n / 8) chunk(500) write(p[i])
        pad<<<(n / 8 + 255) / 256, 256>>>(n / 8, p);
    }
    if (!strcmp(what, "pairs")) {
        // PAIRS: result.cu:[[#@LINE+1]]: copy_pairs: argument o[4 * i:4]: its 8 chunks leave another result than the launch as a whole: in element {{[0-9]+}}
#pragma kmm parallel(i = 0:256) chunk(32) read(x[4 * i:4]) write(o[4 * i:4])
        copy_pairs<<<8, 32>>>(256, o, x);
    }
    if (!strcmp(what, "odd")) {
        // ODD: result.cu:[[#@LINE+1]]: copy_odd: argument o[i]: its 8 chunks leave another result than the launch as a whole: in element 0, and in {{[0-9]+}} others
#pragma kmm parallel(i = 0:n) chunk(5000) read(x[i]) write(o[i])
        copy_odd<<<(n + 255) / 256, 256>>>(n, o, x);
    }
    if (!strcmp(what, "beyond")) {
        // BEYOND: result.cu:[[#@LINE+1]]: copy_pairs: chunk {{.*}} of 8{{.*}}: a read of {{.*}}, and no clause of the launch names it for this chunk
#pragma kmm parallel(i = 0:n / 4) chunk(1250) read(x[4 * i:4]) write(o[4 * i:4])
        copy_pairs<<<(n / 4 + 249) / 250, 250>>>(n / 4, o, x);
    }
    if (!strcmp(what, "wrong")) {
        // WRONG: result.cu:[[#@LINE+1]]: smooth: argument o[i]: its 8 chunks leave another result than the launch as a whole: in element {{[0-9]+}}
#pragma kmm parallel(i = 0:n) chunk(5000) read(x[i]) update(o[i])
        smooth<<<(n + 255) / 256, 256>>>(n, o, x);
    }
    if (!strcmp(what, "asked")) {
        void *args[] = {&n, &o, &x};
        // ASKED: result.cu:[[#@LINE+1]]: smooth: argument o[i]: its 8 chunks leave another result than the launch as a whole: in element {{[0-9]+}}
#pragma kmm parallel(i = 0:n) chunk(5000) read(x[i]) update(o[i])
        if (cudaLaunchKernel((const void *)smooth, dim3((n + 255) / 256), dim3(256), args, 0, 0))
            printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    }
    if (!strcmp(what, "chosen")) {
        // CHOSEN: result.cu:[[#@LINE+1]]: parities: argument o[i]: its 8 chunks leave another result than the launch as a whole
#pragma kmm parallel(i = 0:n) chunk(5000) read(x[i]) write(o[i]) reduce(+: h[0], h[1])
        parities<<<(n + 255) / 256, 256>>>(n, o, h, h + 1, x);
    }
    cudaMemcpy(got, h, sizeof(got), cudaMemcpyDeviceToHost);
    // RIGHT-NOT: kmm:
    // RIGHT: 520 519
    // RIGHT-NOT: kmm:
    printf("%d %d\n", got[0], got[76]);
    return cudaDeviceSynchronize() != cudaSuccess;
}
