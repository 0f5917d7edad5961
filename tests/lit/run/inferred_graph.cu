// REQUIRES: ir
// RUN: %kmmcc --target=host -w --emit-source %s | FileCheck %s
// RUN: %kmmcc --target=host -fno-kmm %san -w %s -o %t.plain && env KMM_DEVICES=host %t.plain > %t.want
// RUN: %kmmcc --target=host %san -O1 -w %s -o %t && env KMM_DEVICES=host %t > %t.one && diff %t.want %t.one
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three 2>/dev/null && diff %t.want %t.three
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t > %t.check && diff %t.want %t.check
// What is inferred from the graph: loops, tiles, grid strides, clamped neighbours, other types, functions.
#include <cuda_runtime.h>
#include <stdio.h>

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
__global__ void sums(const float *a, float *s, int n, int h) { int row = INDEX; if (row < h) { float v = 0; for (int k = 0; k < n; k++) v += a[row * n + k]; s[row] = v; } }
__global__ void fills(float *a, int n, int h) { int row = INDEX; if (row < h) for (int k = 0; k < n; k++) a[row * n + k] = row + k; }
__global__ void holes(float *a, int n, int h) { int row = INDEX; if (row < h) for (int k = 0; k < n; k++) if (k % 3) a[row * n + k] = row - k; }
__global__ void window(const float *a, float *b, int n, int r) { int i = INDEX; if (i >= n) return; float v = 0; for (int k = -r; k <= r; k++) if (i + k >= 0 && i + k < n) v += a[i + k]; b[i] = v; }
__global__ void clamped(const float *a, float *b, int n) { int i = INDEX; if (i >= n) return; int l = i > 0 ? i - 1 : 0, r = min(i + 1, n - 1); b[i] = a[l] + 2 * a[r]; }
__global__ void strides(const float *a, float *b, int n) { for (int i = INDEX; i < n; i += blockDim.x * gridDim.x) b[i] = 2 * a[i]; }
__global__ void product(const float *a, const float *b, float *c, int n, int m, int l)
{
    int x = INDEX, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y < n && x < m) {
        float v = 0;
        for (int k = 0; k < l; k++)
            v += a[y * l + k] * b[k * m + x];
        c[y * m + x] = v;
    }
}
__global__ void tiles(const float *a, const float *b, float *c, int n)
{
    __shared__ float s[8][8], t[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    float v = 0;
    for (int m = 0; m < n / 8; m++) {
        s[y][x] = a[row * n + m * 8 + x];
        t[y][x] = b[(m * 8 + y) * n + col];
        __syncthreads();
        for (int k = 0; k < 8; k++)
            v += s[y][k] * t[k][x];
        __syncthreads();
    }
    c[row * n + col] = v;
}
__global__ void walks(float *a, int n) { for (int c = threadIdx.x; c < n; c += blockDim.x) a[blockIdx.x * n + c] = blockIdx.x + c; }
__global__ void firsts(float *o) { if (threadIdx.x == 0) o[blockIdx.x] = blockIdx.x * 3; }
__global__ void quads(const float *a, float *b, int n) { int i = INDEX; if (i < n) { float4 v = ((const float4 *)a)[i]; b[i] = v.x + v.y + v.z + v.w; } }
template <int K> __device__ float dot(const float *p) { float v = 0; for (int k = 0; k < K; k++) v += p[k] * k; return v; }
template <int K> __global__ void dots(const float *a, float *b, int n) { int i = INDEX; if (i < n) b[i] = dot<K>(a + K * i); }
__global__ void reversed(const float *a, float *b, int n) { int i = INDEX; if (i < n) for (int k = 3; k >= 0; k--) b[4 * i + k] = a[n - 1 - i] + k; }
__global__ void unsigneds(const float *a, float *b, unsigned n) { unsigned i = INDEX; if (i > 0 && i < n) { const float *p = a + i - 1; b[i] = p[0] + p[1]; } }
__global__ void adds(float *a, int n) { int i = INDEX; if (i < n) { atomicAdd(a + i, 1.0f); } }
__global__ void transposes(const float *a, float *b, int n, int h) { int row = INDEX; if (row < h) for (int k = 0; k < n; k++) b[k * h + row] = a[row * n + k]; }
__global__ void crosses(float *a, int n, int h) { int i = INDEX; if (i < h) for (int k = 0; k < n; k++) a[k * h + i + 1] += 1; }
struct three { float x, y, z; };
__global__ void parts(three *b, int n, int h) { int row = INDEX; if (row < h) for (int k = 0; k < n; k++) b[row * n + k].y = row; }
__global__ void part_rows(three *b, int n, int h) { int i = INDEX; if (i < h) for (int k = 0; k < n; k++) b[k * h + i].z = i; }
__global__ void strips(const float *a, float *b, int n, int pitch) { int i = INDEX; if (i < n) { float v = 0; for (int k = 0; k < 3; k++) v += a[k * pitch + i]; b[i] = v; } }
__global__ void layers(const float *a, float *b, int n, int m, int l)
{
    int x = INDEX, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < n - 1 && y < m)
        for (int z = 1; z < l - 1; z++)
            b[(z * m + y) * n + x] = a[((z - 1) * m + y) * n + x];
}

enum { N = 40000, ALL = 4 * N };
static float *A, *B, *C, host[ALL];
static void fill()
{
    for (int k = 0; k < ALL; k++)
        host[k] = k % 113;
    cudaMemcpy(A, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemcpy(B, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemcpy(C, host, sizeof(host), cudaMemcpyHostToDevice);
}
static void show(const char *name)
{
    double sum = 0;
    float *all[] = {A, B, C};
    for (float *p : all) {
        cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost);
        for (int k = 0; k < ALL; k++)
            sum += (k % 17 + 1) * host[k];
    }
    printf("%s %.1f %s\n", name, sum, cudaGetErrorString(cudaGetLastError()));
    fill();
}
static void run(int n, int w)
{
    int blocks = (n + 63) / 64;
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) write(B[x]) read(A[w * x:w]) bounded{{$}}
    #pragma kmm parallel
    sums<<<blocks, 64>>>(A, B, w, n);
    show("sums");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) write(A[w * x:w]) bounded{{$}}
    #pragma kmm parallel
    fills<<<blocks, 64>>>(A, w, n);
    show("fills");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) update(A[w * x:w]) bounded{{$}}
    #pragma kmm parallel
    holes<<<blocks, 64>>>(A, w, n);
    show("holes");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) write(B[x]) read(A[-w + x:2 * w + 1]) bounded{{$}}
    #pragma kmm parallel
    window<<<blocks, 64>>>(A, B, n, w);
    show("window");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) write(B[x]) read(A[x - 1], A[0], A[n - 1], A[x + 1]) bounded{{$}}
    #pragma kmm parallel
    clamped<<<blocks, 64>>>(A, B, n);
    show("clamped");
    // A grid that covers the range, and one that strides over it.
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) read(A[x]) write(B[x]){{$}}
    #pragma kmm parallel
    strides<<<blocks, 64>>>(A, B, n);
    show("strides");
    #pragma kmm parallel
    strides<<<3, 64>>>(A, B, n);
    show("strides");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:100, y: global.y = 0:n / 100) write(C[x + 100 * y]) read(A[w * y:w], B[x:100 * w - 100 + 1]) bounded{{$}}
    #pragma kmm parallel
    product<<<dim3(7, n / 1600 + 1), dim3(16, 16)>>>(A, B, C, n / 100, 100, w);
    show("product");
    // CHECK: { // #pragma kmm parallel(x: global.x, y: global.y) read(A[64 * y:8 * (64 / 8)], B[x:8 * (64 / 8) * 64 - 64 + 1]) write(C[64 * y + x]){{$}}
    #pragma kmm parallel
    tiles<<<dim3(8, 8), dim3(8, 8)>>>(A, B, C, 64);
    show("tiles");
    // CHECK: { // #pragma kmm parallel(block_x: block.x) write(A[block_x * (unsigned)(w):w]){{$}}
    #pragma kmm parallel
    walks<<<100, 64>>>(A, w);
    show("walks");
    // CHECK: { // #pragma kmm parallel(block_x: block.x) write(B[block_x]){{$}}
    #pragma kmm parallel
    firsts<<<blocks, 64>>>(B);
    show("firsts");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) write(B[x]) read(A[4 * x:4]) bounded{{$}}
    #pragma kmm parallel
    quads<<<blocks, 64>>>(A, B, n);
    show("quads");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) write(B[x]) read(A[3 * x:3]) bounded{{$}}
    #pragma kmm parallel
    dots<3><<<blocks, 64>>>(A, B, n);
    show("dots");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) read(A[(-1) * x + n - 1]) write(B[4 * x:4]) bounded{{$}}
    #pragma kmm parallel
    reversed<<<blocks, 64>>>(A, B, n);
    show("reversed");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:((unsigned int)(n))) update(B[x]) read(A[x - 1:2]) bounded{{$}}
    #pragma kmm parallel
    unsigneds<<<blocks, 64>>>(A, B, n);
    show("unsigneds");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) update(A[x]) bounded{{$}}
    #pragma kmm parallel
    adds<<<blocks, 64>>>(A, n);
    show("adds");
    // Stores with gaps are rows, while no column leaves its row.
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) shape(B[w][n]) read(A[w * x:w]) write(B[0:w][x]) bounded{{$}}
    // CHECK: kmm_launch_fits(kmm__launch, "n - x - 1", KMM_UINT32, KMM_IN_RANGE
    #pragma kmm parallel
    transposes<<<blocks, 64>>>(A, B, w, n);
    show("transposes");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) shape(A[w][n]) update(A[0:w][x + 1]) bounded{{$}}
    // CHECK: kmm_launch_fits(kmm__launch, "n - x - 2", KMM_UINT32, KMM_IN_RANGE
    #pragma kmm parallel
    crosses<<<blocks, 64>>>(A, w, n);
    show("crosses");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:(n / 100) - 1, y: global.y = 0:16) shape(C[w - 1][16 * (n / 100)]) {{.*}} update(C[1:w - 2][(n / 100) * y + x]) bounded{{$}}
    #pragma kmm parallel
    layers<<<dim3(n / 1600 + 1, 2), dim3(16, 8)>>>(A, C, n / 100, 16, w);
    show("layers");
    // Stores to parts of elements.
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n / 3) update(((three *)C)[w * x:w]) bounded{{$}}
    #pragma kmm parallel
    parts<<<blocks, 64>>>((three *)C, w, n / 3);
    show("parts");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n / 3) shape(((three *)C)[w][(n / 3)]) update(((three *)C)[0:w][x]) bounded{{$}}
    #pragma kmm parallel
    part_rows<<<blocks, 64>>>((three *)C, w, n / 3);
    show("part_rows");
    // What is inferred holds while a distance between elements is not negative.
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n / 3) write(B[x]) read(A[x:2 * w + 1]) bounded{{$}}
    // CHECK: kmm_launch_fits(kmm__launch, "w", KMM_UINT32, KMM_IN_RANGE
    #pragma kmm parallel
    strips<<<blocks, 64>>>(A, B, n / 3, w);
    show("strips");
    #pragma kmm parallel
    strips<<<blocks, 64>>>(A + 2 * (n / 3), B, n / 3, -(n / 3));
    show("strips");
}
// Atomic operations on the same elements are reductions.
__global__ void adds_to(const int *a, int *s, int n) { int i = INDEX; if (i < n) { atomicAdd(s + 1, a[i]); atomicAdd_block(&s[2], 1); } }
__global__ void reals(const int *a, double *s, int n) { int i = INDEX; if (i < n && a[i] > 2) atomicAdd(&s[1], (double)a[i]); }
__global__ void ends(const int *a, int *least, unsigned *most, int k, int n) { int i = INDEX; if (i < n) { atomicMin(&least[k], a[i]); atomicMax(most, (unsigned)a[i] & 1023); } }
__global__ void bins(const int *a, int *h, int n) { __shared__ int b[64]; int i = INDEX; b[threadIdx.x] = 0; __syncthreads(); if (i < n) atomicAdd(&b[a[i] & 63], 1); __syncthreads(); for (int k = threadIdx.x; k < 64; k += blockDim.x) atomicAdd(&h[k], b[k]); }
__global__ void blocks_of(const int *a, int *s, int n) { __shared__ int t[64]; int i = INDEX; t[threadIdx.x] = i < n ? a[i] : 0; for (int k = 32; k; k /= 2) { __syncthreads(); if (threadIdx.x < k) t[threadIdx.x] += t[threadIdx.x + k]; } if (threadIdx.x == 0) atomicSub(s, t[0]); }
__global__ void strides(const int *a, unsigned long long *s, int n) { unsigned long long t = 0; for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) t += a[i]; atomicAdd(s, t); }
__global__ void masks(const int *a, int *s, int n) { int i = INDEX; if (i < n) atomicXor((unsigned *)s, (unsigned)a[i]); }
__global__ void twice(const int *x, int *s, const int *t, int n) { int i = INDEX; if (i < n) atomicAdd(&s[0], x[i] + t[1]); }
static int numbers[N], *I, *S;
static void sums_of(const char *name)
{
    unsigned h = 0;
    cudaMemcpy(numbers, S, 400, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 100; i++)
        h = h * 31 + numbers[i];
    printf("%s %u\n", name, h);
}
static void reductions(int n)
{
    const int blocks = n / 64 + 1;
    double *real = (double *)(S + 80);
    for (int i = 0; i < N; i++)
        numbers[i] = i * 7919 % 1001 - 300;
    cudaMemcpy(I, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
    cudaMemset(S, 0, 400);
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) read(I[x]) reduce(+: S[1], S[2]) bounded{{$}}
    #pragma kmm parallel
    adds_to<<<blocks, 64>>>(I, S, n);
    sums_of("adds_to");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) read(I[x]) reduce(+: real[1]) bounded{{$}}
    #pragma kmm parallel
    reals<<<blocks, 64>>>(I, real, n);
    sums_of("reals");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) read(I[x]) reduce(min: (S + 3)[(n % 2)]) reduce(max: ((unsigned *)S + 6)[0]) bounded{{$}}
    #pragma kmm parallel
    ends<<<blocks, 64>>>(I, S + 3, (unsigned *)S + 6, n % 2, n);
    sums_of("ends");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) read(I[x]) reduce(+: (S + 10)[0:64]) bounded{{$}}
    #pragma kmm parallel
    bins<<<blocks, 64>>>(I, S + 10, n);
    sums_of("bins");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) read(I[x]) reduce(+: S[0]) bounded{{$}}
    #pragma kmm parallel
    blocks_of<<<blocks, 64>>>(I, S, n);
    sums_of("blocks_of");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) read(I[x]) reduce(+: ((unsigned long long *)S)[0]){{$}}
    #pragma kmm parallel
    strides<<<9, 64>>>(I, (unsigned long long *)S, n);
    sums_of("strides");
    // CHECK: { // #pragma kmm parallel(x: global.x = 0:n) read(I[x]) reduce(^: (S + 7)[0]) bounded{{$}}
    #pragma kmm parallel
    masks<<<blocks, 64>>>(I, S + 7, n);
    sums_of("masks");
    // What is inferred does not hold for one pointer in two parameters.
    // CHECK: { // #pragma kmm parallel(x_: global.x = 0:n) read(I[x_], S[1]) reduce(+: S[0]) bounded{{$}}
    #pragma kmm parallel
    twice<<<blocks, 64>>>(I, S, S, n);
    sums_of("twice");
}
int main()
{
    cudaMalloc(&I, sizeof(numbers)), cudaMalloc(&S, 400);
    reductions(N);
    reductions(100);
    cudaMalloc(&A, sizeof(host));
    cudaMalloc(&B, sizeof(host));
    cudaMalloc(&C, sizeof(host));
    fill();
    run(N, 4);
    run(N / 3, 3);
    run(5000, 1);
    run(100, 0);
    cudaFree(A);
    cudaFree(B);
    cudaFree(C);
    return 0;
}
