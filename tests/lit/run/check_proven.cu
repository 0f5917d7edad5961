// REQUIRES: ir
// -fkmm-check: a chunk that a kernel's code proves to stay within its clauses, with the real grid and arguments, runs without a check of each
// access. -fkmm-check=all checks all chunks. What is not proven, or is wrong, is checked either way.
// RUN: %if !san %{ %kmmcc --target=host -fkmm-check -fno-kmm-compare -w %s -o %t %}
// RUN: %if !san %{ %kmmcc --target=host -fkmm-check=all -fno-kmm-compare -w %s -o %t.all %}
// RUN: %if !san %{ env KMM_STATS=1 KMM_DEVICES=host %t right 2>&1 | FileCheck --check-prefix=RIGHT %s %}
// RIGHT-DAG: right 4000
// RIGHT-DAG: kmm: {{.*}} 23{{ +}}23{{ +}}23{{ }}
// RUN: %if !san %{ env KMM_STATS=1 KMM_DEVICES=host %t.all right 2>&1 | FileCheck --check-prefix=ALL %s %}
// ALL-DAG: right 4000
// ALL-DAG: kmm: {{.*}} 23{{ +}}23{{ +}}{{[0-9]+%}}
// RUN: %if !san %{ env KMM_STATS=1 KMM_DEVICES=host %t data 2>&1 | FileCheck --check-prefix=DATA %s %}
// DATA-DAG: data 4000
// DATA-DAG: kmm: {{.*}} 4{{ +}}4{{ +}}{{[0-9]+%}}
// RUN: %if !san %{ env KMM_STATS=1 KMM_DEVICES=host %t short 2>&1 | FileCheck --check-prefix=SHORT %s %}
// SHORT-DAG: short 4000
// SHORT-DAG: kmm: {{.*}} 4{{ +}}4{{ +}}4{{ }}
// RUN: %if !san %{ env KMM_STATS=1 KMM_DEVICES=host %t instances 2>&1 | FileCheck --check-prefix=INSTANCES %s %}
// INSTANCES-DAG: instances 4000
// INSTANCES-DAG: kmm: {{.*}} 16{{ +}}16{{ +}}12{{ }}
// RUN: %if !san %{ env KMM_DEVICES=host %not %t wide 2>&1 | FileCheck --check-prefix=WIDE %s %}
// WIDE: halos: chunk {{[0-9]}} of 4: argument y[i+3]: {{.*}}check_proven.cu:[[#]]: the chunk reads element
// RUN: %if !san %{ env KMM_DEVICES=host %not %t tagged 2>&1 | FileCheck --check-prefix=TAGGED %s %}
// TAGGED: tagged: chunk {{[0-9]}} of 4: argument y[i]: check_proven.cu:[[#]]: the chunk reads element
// RUN: %if !san %{ env KMM_DEVICES=host %not %t long 2>&1 | FileCheck --check-prefix=LONG %s %}
// LONG: narrow: chunk {{[0-9]}} of 4: argument x[i]: check_proven.cu:[[#]]: the chunk stores to
// RUN: %if !san %{ env KMM_DEVICES=host %not %t off 2>&1 | FileCheck --check-prefix=OFF %s %}
// OFF: shifted: chunk {{[0-9]}} of 4: argument y[i]: check_proven.cu:[[#]]: the chunk reads element
// RUN: %if !san %{ env KMM_DEVICES=host %not %t gaps 2>&1 | FileCheck --check-prefix=GAPS %s %}
// GAPS: gaps: chunk {{[0-9]}} of 4: argument x[i]: `write` promises to store every element
// Code that may be other code for another compiler proves nothing.
// RUN: cp %s %t.cu && echo '// __CU''DA_ARCH__' >> %t.cu
// RUN: %if !san %{ %kmmcc --target=host -fkmm-check -fno-kmm-compare -w %t.cu -o %t.arch %}
// RUN: %if !san %{ env KMM_STATS=1 KMM_DEVICES=host %t.arch right 2>&1 | FileCheck --check-prefix=ALL %s %}
// RUN: %kmmcc --target=host -fkmm-check -fno-kmm-compare --emit-source %s -o - -w | FileCheck --check-prefix=TEXT %s
// RUN: %kmmcc --target=host -fkmm-check=all -fno-kmm-compare --emit-source %s -o - -w | FileCheck --check-prefix=NONE %s
// TEXT: kmm_launch_graph(kmm__launch, "{{[0-9]}}
// NONE-NOT: kmm_launch_graph(kmm__launch, "{{[0-9]}}
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>
#define I (blockIdx.x * blockDim.x + threadIdx.x)
__global__ void shifted(int n, int off, int *x, const int *y) { int i = I; if (i < n) x[i] = y[i + off] + 1; }
__global__ void early(unsigned n, int *x) { unsigned i = I; if (i >= n) return; x[i] += 1; }
__global__ void rows(int w, int h, int *x, const int *y)
{
    int r = I;
    if (r < h)
        for (int k = 0; k < w; k++) x[r * w + k] = y[(r + 1) * w + k] + y[r * w + k];
}
__global__ void planes(int w, int h, int *x, const int *y)
{
    int i = I, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < w && j < h) x[j * w + i] = y[j * w + i] + 1;
}
__global__ void tiles(int *x, const int *y)
{
    __shared__ int s[64];
    s[threadIdx.x] = y[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    x[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void total(int n, const int *y, int *s) { int i = I; if (i < n) atomicAdd(&s[0], y[i]); }
__global__ void gathers(int n, int *x, const int *at) { int i = I; if (i < n) x[i] = at[at[i]]; }
__global__ void narrow(int n, int *x) { short i = I; if ((int)I < n) x[i] = 1; }
__global__ void gaps(int n, int *x) { int i = I; if (i < n && i % 5) x[i] = 1; }
template <class T, int R> __global__ void halos(int n, T *x, const T *y) { int i = I; if (i < n) x[i] = y[i] + y[i + R]; }
template <class T, int R> void launches(int n, T *x, T *y)
{
#pragma kmm parallel(i = 0:n) chunk(n / 4) write(x[i]) read(y[i], y[i+3])
    halos<T, R><<<(n + 63) / 64, 64>>>(n, x, y);
}
template <int Off> struct tag { enum { off = Off }; };
template <class T> __global__ void tagged(int n, int *x, const int *y) { int i = I; if (i < n) x[i] = y[i + T::off]; }
template <class T> void tags(int n, int *x, int *y)
{
#pragma kmm parallel(i = 0:n) chunk(n / 4) write(x[i]) read(y[i])
    tagged<T><<<(n + 63) / 64, 64>>>(n, x, y);
}
int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int n = strcmp(mode, "long") ? 4000 : 40000, off = strcmp(mode, "off") ? 0 : 3, grid = (n + 63) / 64, *x, *y, *s, *h = new int[n + 64];
    cudaMalloc(&x, (n + 64) * 4);
    cudaMalloc(&y, (n + 64) * 4);
    cudaMalloc(&s, 4);
    cudaMemset(x, 0, (n + 64) * 4);
    cudaMemset(y, 0, (n + 64) * 4);
    cudaMemset(s, 0, 4);
    if (!strcmp(mode, "right") || !strcmp(mode, "off")) {
#pragma kmm parallel(i = 0:n) chunk(1000) write(x[i]) read(y[i])
        shifted<<<grid, 64>>>(n, off, x, y);
    }
    if (!strcmp(mode, "right")) {
#pragma kmm parallel(i = 0:n) chunk(1000) update(x[i])
        early<<<grid, 64>>>(n, x);
#pragma kmm parallel(i = 0:50) chunk(10) write(x[40 * i:40]) read(y[40 * i:80])
        rows<<<7, 8>>>(40, 50, x, y);
#pragma kmm parallel(i = 0:40, j = 0:50) chunk(40, 16) shape(x[50][40], y[50][40]) write(x[j][i]) read(y[j][i])
        planes<<<dim3(5, 7), dim3(8, 8)>>>(40, 50, x, y);
#pragma kmm parallel(b: block.x) chunk(16) write(x[64 * b:64]) read(y[64 * b:64])
        tiles<<<grid, 64>>>(x, y);
#pragma kmm parallel(i = 0:n) chunk(1500) read(y[i]) reduce(+: s[0])
        total<<<grid, 64>>>(n, y, s);
    }
    if (!strcmp(mode, "data")) {
#pragma kmm parallel(i = 0:n) chunk(1000) read(y[0:n]) write(x[i])
        gathers<<<grid, 64>>>(n, x, y);
    }
    if (!strcmp(mode, "short") || !strcmp(mode, "long")) {
#pragma kmm parallel(i = 0:n) chunk(n / 4) write(x[i])
        narrow<<<grid, 64>>>(n, x);
    }
    if (!strcmp(mode, "instances")) {
        launches<int, 0>(n, x, y), launches<float, 3>(n, (float *)x, (float *)y), launches<double, 3>(n / 2, (double *)x, (double *)y);
        tags<tag<0>>(n, x, y);
    }
    if (!strcmp(mode, "wide"))
        launches<int, 4>(n, x, y);
    if (!strcmp(mode, "tagged"))
        tags<tag<1>>(n, x, y);
    if (!strcmp(mode, "gaps")) {
#pragma kmm parallel(i = 0:n) chunk(1000) write(x[i])
        gaps<<<grid, 64>>>(n, x);
    }
    cudaMemcpy(h, x, n * 4, cudaMemcpyDeviceToHost);
    printf("%s %d\n", mode, n);
    delete[] h;
}
