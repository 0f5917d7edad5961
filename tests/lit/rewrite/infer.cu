// RUN: %kmmcc --target=host -Wno-kmm --emit-source %s | grep -v "// CHECK" | FileCheck %s
// RUN: %kmmcc --target=host %san -O1 -w %s -o %t && %t > %t.with
// RUN: %kmmcc --target=host -fno-kmm %san -O1 -w %s -o %t && %t > %t.without
// RUN: diff %t.with %t.without
// What a kernel's code shows of its accesses needs no clause.
#include <cuda_runtime.h>
#include <stdio.h>

enum { STEP = 2 };

__global__ void add(int n, float *C, const float *A, float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i] + B[i];
}

__global__ void stencil(int w, int h, const float *in, float *out)
{
    const int c = threadIdx.x + blockDim.x * blockIdx.x, r = threadIdx.y + (int)blockIdx.y * blockDim.y;
    if (c >= w || r >= h)
        return;
    float sum = in[r * w + c];
    if (c > 0)
        sum += in[r * w + c - 1];
    if (r > 0)
        sum += *(in + ((r - 1) * w + c));
    out[r * w + c] = sum;
}

template <class T, int K> __global__ void sparse(int n, T *x, const int *index)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && index[i] > 0) {
        x[K * i] += 1;
        x[K * i + STEP] = 3;
    }
}

__global__ void unguarded(float *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// These are not inferred: strides over the grid, a thread that another condition lets through, accesses before the comparison.
__global__ void strided(int n, const float *x, float *sum)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(sum, x[i]);
}

__global__ void some(int n, int first, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= first)
        y[i] = x[i];
}

__global__ void before(int n, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < 10 ? x[i] : 0;
    if (i < n)
        y[i] = v;
}

__global__ void moved(int n, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    i += 1;
    if (i < n)
        y[i] = x[i];
}

static void show(const float *x, int n)
{
    static float host[4096];
    double sum = 0;
    cudaMemcpy(host, x, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        sum += (i % 17 + 1) * host[i];
    printf("%.3f\n", sum);
}

int main()
{
    const int n = 1000, w = 50, h = 20;
    float *p, *q, *r;
    int *index, numbers[n];
    cudaMalloc(&p, 4 * n * sizeof(float));
    cudaMalloc(&q, 4 * n * sizeof(float));
    cudaMalloc(&r, 4 * n * sizeof(float));
    cudaMalloc(&index, n * sizeof(int));
    for (int i = 0; i < n; i++)
        numbers[i] = i % 3 - 1;
    cudaMemcpy(index, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
    cudaMemset(p, 1, 4 * n * sizeof(float));
    cudaMemset(q, 2, 4 * n * sizeof(float));
    cudaMemset(r, 3, 4 * n * sizeof(float));
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) chunk(n / 7) write(p[x]) read((q + 1)[x], r[x]) bounded
    #pragma kmm parallel chunk(n / 7)
    add<<<(n + 63) / 64, 64>>>(n, p, q + 1, r);
    show(p, n);
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:w, y: global.y = 0:h) chunk(w, 8) read((p + 1)[x + w * y + (-1) * w], (p + 1)[x + w * y - 1], (p + 1)[x + w * y]) write(r[x + w * y]) bounded
    #pragma kmm parallel chunk(w, 8)
    stencil<<<dim3(7, 5), dim3(8, 4)>>>(w, h, p + 1, r);
    show(r, n);
    // The range of the launch is another's, so a store is an update.
    // CHECK: { // #pragma kmm parallel(k = 0:w, y: global.y = 0:h) chunk(w) read(p[k + w * y + (-1) * w], p[k + w * y - 1], p[k + w * y]) update(r[k + w * y])
    #pragma kmm parallel(k = 0:w) chunk(w)
    stencil<<<dim3(7, 5), dim3(8, 4)>>>(w, h, p, r);
    show(r, n);
    // CHECK: { // #pragma kmm parallel(x_: global.x = 0:(unsigned)(n)) chunk(100) update(r[3 * x_ + 2], r[3 * x_]) read(index[x_]) bounded
    #pragma kmm parallel chunk(100)
    sparse<float, 3><<<(n + 63) / 64, 64>>>(n, r, index);
    show(r, 4 * n);
    // CHECK: { // #pragma kmm parallel(x_: global.x) write((q + 8)[x_])
    #pragma kmm parallel
    unguarded<<<10, 64>>>(q + 8);
    show(q, n);
    // What is said stays.
    // CHECK: { // #pragma kmm parallel(i = 0:n) chunk(64) write(p[i]) read(q[i], r[i])
    #pragma kmm parallel(i = 0:n) chunk(64) write(p[i])
    add<<<(n + 63) / 64, 64>>>(n, p, q, r);
    show(p, n);
    // CHECK: { // #pragma kmm parallel(i = 0:n) update(r)
    #pragma kmm parallel(i = 0:n) update(r)
    strided<<<4, 64>>>(n, p, r);
    // CHECK: { // #pragma kmm parallel(i) update(q[i])
    #pragma kmm parallel(i) update(q[i])
    some<<<n / 64, 64>>>(n, n / 2, p, q);
    show(q, n);
    // CHECK: { // #pragma kmm parallel(i = 0:n) chunk(64) write(q[i])
    #pragma kmm parallel(i = 0:n) chunk(64) write(q[i])
    before<<<(n + 63) / 64, 64>>>(n, p, q);
    show(q, n);
    // CHECK: { // #pragma kmm parallel(i = 0:n) update(q[i:2])
    #pragma kmm parallel(i = 0:n) update(q[i:2])
    moved<<<(n + 63) / 64, 64>>>(n, p, q);
    show(q, n);
    return 0;
}
