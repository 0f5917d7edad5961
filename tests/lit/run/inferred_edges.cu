// REQUIRES: ir
// RUN: %kmmcc --target=host --suggest %s | FileCheck %s
// RUN: %kmmcc --target=host -fno-kmm %san -w %s -o %t.plain && env KMM_DEVICES=host %t.plain > %t.want
// RUN: %kmmcc --target=host %san -O1 -w %s -o %t && env KMM_DEVICES=host %t > %t.one && diff %t.want %t.one
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three 2>/dev/null && diff %t.want %t.three
// Indices that depend on each other, ranges longer than the grid, blocks whose size changes,
// configurations that change variables.
#include <cuda_runtime.h>
#include <stdio.h>
#include <utility>

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
__global__ void nested(const float *a, float *b, int n, int m) { for (int i = INDEX; i < n; i += blockDim.x * gridDim.x) for (int j = INDEX; j < m; j += blockDim.x * gridDim.x) b[i] += a[i * m + j]; }
__global__ void twice(float *b) { b[32 * INDEX + threadIdx.x] = 1; }
__global__ void both(float *b) { b[INDEX + blockIdx.x] = 1; }
__global__ void stride_and_rows(float *b, int n, int m) { int y = blockIdx.y * blockDim.y + threadIdx.y; if (y < m) for (int x = INDEX; x < n; x += blockDim.x * gridDim.x) b[y * n + x] = y + x; }
__global__ void straight_and_stride(float *b, float *c, int n, int m) { int i = INDEX; if (i >= n) return; b[i] = 3; for (int j = i; j < m; j += blockDim.x * gridDim.x) c[j] = j; }
__global__ void two_bounds(float *b, int n, int m) { int i = INDEX; if (i >= n) return; for (int j = i; j < m; j += blockDim.x * gridDim.x) b[j] = j; }
__global__ void sixteens(float *b) { b[blockIdx.x * 16 + threadIdx.x] = blockIdx.x; }
__global__ void offset(const float *a, float *b, unsigned n, unsigned off) { unsigned i = INDEX; if (i < n) b[i] = a[i + off]; }
__global__ void hash(const float *a, float *b, unsigned n) { unsigned i = INDEX; if (i < n) b[i] = a[(i * 2654435761u) >> 20]; }
__global__ void breaks(const float *a, float *b, int n, int w) { int i = INDEX; if (i < n) for (int k = 0; k < w; k++) { if (a[i + k] > 100) break; b[i * w + k] = k; } }
__global__ void row_of_block(float *b, int w) { if ((int)threadIdx.x < w) b[blockIdx.x * w + threadIdx.x] = blockIdx.x; }

namespace far { int k = 16; dim3 sixteen(16); }
static void shrink() { far::sixteen.x = 8; }
static void shrink(dim3 &block) { block.x = 8; }
enum { N = 20000, ALL = 4 * N };
static float *A, *B, host[ALL];
static void show(const char *name)
{
    double sum = 0;
    cudaMemcpy(host, B, sizeof(host), cudaMemcpyDeviceToHost);
    for (int k = 0; k < ALL; k++)
        sum += (k % 17 + 1) * host[k];
    printf("%s %.1f %s\n", name, sum, cudaGetErrorString(cudaGetLastError()));
    for (int k = 0; k < ALL; k++)
        host[k] = k % 113;
    cudaMemcpy(A, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemcpy(B, host, sizeof(host), cudaMemcpyHostToDevice);
}
dim3 global(16);
void set(dim3 &d) { d.x = 4; }
// A block's size is no longer what its definition says where a reference to a part of it may change
// that.
static void change_blocks()
{
    dim3 in_c(16);
    unsigned &x_in_c = in_c.x;
    x_in_c = 8;
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)in_c.x - 16
    #pragma kmm parallel
    sixteens<<<100, in_c>>>(B);
    show("changed");
    dim3 in_d(16);
    auto &[p, q, r] = in_d;
    p = 8;
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)in_d.x - 16
    #pragma kmm parallel
    sixteens<<<100, in_d>>>(B);
    show("changed");
    dim3 in_e(16);
    const unsigned &x_in_e = in_e.x;
    const_cast<unsigned &>(x_in_e) = 8;
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)in_e.x - 16
    #pragma kmm parallel
    sixteens<<<100, in_e>>>(B);
    show("changed");
    dim3 in_f(16);
    unsigned dim3::*m_in_f = &dim3::x;
    in_f.*m_in_f = 8;
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)in_f.x - 16
    #pragma kmm parallel
    sixteens<<<100, in_f>>>(B);
    show("changed");
    dim3 in_g(16);
    reinterpret_cast<unsigned &>(in_g) = 8;
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)in_g.x - 16
    #pragma kmm parallel
    sixteens<<<100, in_g>>>(B);
    show("changed");
    dim3 in_h(16);
    unsigned eight = 8;
    std::swap(in_h.x, eight);
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)in_h.x - 16
    #pragma kmm parallel
    sixteens<<<100, in_h>>>(B);
    show("changed");
    dim3 in_k(16);
    auto f_in_k = [&q = in_k.x](int v) { q = v; };
    f_in_k(8);
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)in_k.x - 16
    #pragma kmm parallel
    sixteens<<<100, in_k>>>(B);
    show("changed");
    // What a class makes of the number in its constructor is not looked at.
    struct half : dim3 { half(int a) : dim3(a / 2) {} };
    struct third { int a; operator dim3() const { return dim3(a / 3); } };
    int sixteen = 16;
    // CHECK: :[[#@LINE+2]]: #pragma kmm parallel
    // CHECK: no clause for B
    sixteens<<<100, half(16)>>>(B);
    // CHECK: :[[#@LINE+2]]: #pragma kmm parallel
    // CHECK: no clause for B
    sixteens<<<100, half(sixteen)>>>(B);
    // CHECK: :[[#@LINE+2]]: #pragma kmm parallel
    // CHECK: no clause for B
    sixteens<<<100, third{16}>>>(B);
    dim3 outer(16);
    auto launch = [&] {
        // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)outer.x - 16
        #pragma kmm parallel
        sixteens<<<100, outer>>>(B);
        show("changed");
    };
    outer.x = 8;
    launch();
}

// C++ evaluates a configuration before the arguments, so clauses see what it changes.
static unsigned calls;
static int call() { return ++calls * 50; }
struct steps { unsigned n; int next() { return n += 500, 20; } };
static void change_variables()
{
    unsigned m = 0, n = 700;
    steps w = {7};
    float *p = B;
    cudaStream_t stream = 0;
    #pragma kmm parallel
    offset<<<20, 64, 0, (m += 77, stream)>>>(A, B, n, m);
    show("stream");
    #pragma kmm parallel
    offset<<<call(), 64>>>(A, B, n, calls * 10);
    show("called");
    #pragma kmm parallel
    offset<<<w.next(), 64>>>(A, B, n, w.n);
    show("member");
    #pragma kmm parallel
    offset<<<(p = B + 50, 20), 64>>>(A, p, n, 3);
    show("pointer");
    #pragma kmm parallel(i = 0:m * 64) chunk(64) read(A[i]) write(p[i])
    offset<<<m = 16, 64, 0>>>(A, p, m * 64, 0);
    show("grid");
}
int main()
{
    int n = 300;
    dim3 block(16, 1), fixed(16, 1);
    cudaMalloc(&A, sizeof(host));
    cudaMalloc(&B, sizeof(host));
    show("begin");
    change_blocks();
    change_variables();
    // CHECK: :[[#@LINE+2]]: #pragma kmm parallel
    // CHECK: no clause for B: an index that no condition keeps in the array
    nested<<<2, 64>>>(A, B, n, 20);
    // CHECK: :[[#@LINE+2]]: #pragma kmm parallel
    // CHECK: no clause for B: stores that leave elements out
    twice<<<20, 32>>>(B);
    // The threads of a block store to 32 neighbours.
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(block_x: block.x) write(B[33 * block_x:32])
    #pragma kmm parallel
    both<<<20, 32>>>(B);
    show("both");
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x = 0:n, y: global.y = 0:60) update(B[{{[^(]*}}]) fits(
    #pragma kmm parallel
    stride_and_rows<<<dim3(2, 10), dim3(32, 2)>>>(B, n, 60);
    show("stride_and_rows");
    // CHECK: :[[#@LINE+2]]: #pragma kmm parallel(x: global.x = 0:2000) write(B[x]) bounded
    // CHECK: no clause for A
    straight_and_stride<<<4, 64>>>(B, A, 2000, n);
    // CHECK: :[[#@LINE+2]]: #pragma kmm parallel
    // CHECK: no clause for B
    two_bounds<<<1, 64>>>(B, 50, n);
    // The kernel counts on blocks of 16 threads, which is a condition of the launch.
    for (int k = 8; k <= 16; k += 8) {
        block.x = k;
        // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)block.x - 16, -((int)block.x - 16))
        #pragma kmm parallel
        sixteens<<<100, block>>>(B);
        show("sixteens");
        // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)k - 16, -((int)k - 16))
        #pragma kmm parallel
        sixteens<<<100, k>>>(B);
        show("sixteens");
    }
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x])
    #pragma kmm parallel
    sixteens<<<100, fixed>>>(B);
    show("sixteens");
    // The size is the qualified variable's, and what a function makes of it.
    for (int k = 16, step = 0; step < 2; step++, far::k = 8) {
        // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)far::k - 16, -((int)far::k - 16))
        #pragma kmm parallel
        sixteens<<<100, far::k>>>(B);
        show(k == 16 ? "qualified" : "");
    }
    shrink();
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)far::sixteen.x - 16, -((int)far::sixteen.x - 16)
    #pragma kmm parallel
    sixteens<<<100, far::sixteen>>>(B);
    show("shrunk");
    dim3 local(16);
    shrink(local);
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)local.x - 16, -((int)local.x - 16)
    #pragma kmm parallel
    sixteens<<<100, local>>>(B);
    show("local");
    // CHECK: :[[#@LINE+2]]: #pragma kmm parallel({{.*}}read(A)
    // CHECK: wider than what is accessed: A: unknown: an unsigned index
    hash<<<4, 64>>>(A, B, n);
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x = 0:n) {{.*}}update(B[4 * x:4])
    #pragma kmm parallel
    breaks<<<4, 64>>>(A, B, n, 4);
    show("breaks");
    // A variable is no longer what its definition says where a function gets a reference to it.
    dim3 shrunk(16);
    set(shrunk);
    global.x = shrunk.x;
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)shrunk.x - 16
    #pragma kmm parallel
    sixteens<<<100, shrunk>>>(B);
    show("sixteens");
    // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(x: global.x) write(B[x]) fits({{.*}}(int)global.x - 16
    #pragma kmm parallel
    sixteens<<<100, global>>>(B);
    show("sixteens");
    // A block stores to its whole row only if it has a thread for each element.
    for (int w = 12; w < 28; w += 8) {
        // CHECK: :[[#@LINE+1]]: #pragma kmm parallel(block_x: block.x) write(B[{{.*}}:w]) fits({{.*}}-w + 16
        #pragma kmm parallel
        row_of_block<<<100, fixed>>>(B, w);
        show("row_of_block");
    }
    return 0;
}
