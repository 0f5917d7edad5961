// REQUIRES: ir
// RUN: %kmmcc --target=host -fkmm-auto --explain %s | FileCheck %s --check-prefix=EXPLAIN
// RUN: %kmmcc --target=host -fkmm-auto -Werror --emit-source %s | grep -v CHECK | FileCheck %s
// RUN: %kmmcc --target=host -fno-kmm %san -w %s -o %t.plain && env KMM_DEVICES=host %t.plain > %t.want
// RUN: %kmmcc --target=host -fkmm-auto %san -O1 -w %s -o %t && env KMM_DEVICES=host %t > %t.one && diff %t.want %t.one
// RUN: env KMM_STATS=1 KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three 2> %t.stats && diff %t.want %t.three
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t > %t.check && diff %t.want %t.check
// -fkmm-auto: a program without a pragma is chunked where that is proven right.
// RUN: FileCheck %s --check-prefix=STATS < %t.stats
// STATS: chunks
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define CHECKED(call) do { call; if (cudaGetLastError() != cudaSuccess) exit(3); } while (0)
__global__ void doubles(const float *a, float *b, int n) { int i = INDEX; if (i < n) b[i] = 2 * a[i]; }
__global__ void gathers(const int *index, const float *a, float *b, int n) { int i = INDEX; if (i < n) b[i] = a[index[i]]; }
__global__ void scatters(const int *index, const float *a, float *b, int n) { int i = INDEX; if (i < n) b[index[i]] = a[i] + 1; }
__global__ void total(const float *a, double *sum, int n) { int i = INDEX; if (i < n) atomicAdd(sum, (double)a[i]); }
__device__ int calls;
__global__ void counts(float *a, int n) { int i = INDEX; if (i < n) { a[i] += 1; if (i == 0) calls++; } }
__global__ void bumps(float *a, float *b, int n) { int i = INDEX; if (i < n) { a[i] += 1; b[0] = 5; } }
struct view { float *p; int n; };
__global__ void fills(view v) { int i = INDEX; if (i < v.n) v.p[i] = i % 7; }
struct pair { float *from, *unused, *to; int n; };
__global__ void moves(int step, pair v) { int i = INDEX; if (i < v.n) { v.to[i] += step * v.from[i]; } }
__global__ void both(pair v) { int i = INDEX; if (i < v.n) { v.from[i] += 1; v.to[i] += 2; } }
class hidden { float *p; public: hidden(float *q) = delete; __device__ float &operator[](int i) { return p[i]; } };
__global__ void hides(hidden h, int n) { int i = INDEX; if (i < n) h[i] += 1; }
struct several { float *p[2]; };
__global__ void picks(several s, int n) { int i = INDEX; if (i < n) s.p[1][i] += 1; }
__global__ void indices(int *index, int n) { int i = INDEX; if (i < n) index[i] = (i * 7LL + 3) % n; }
template <class T> __global__ void adds(const T *a, T *b, int n) { for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) b[i] += a[i]; }

static const int N = 300000;
static float host[N];
int main()
{
    float *a, *b;
    int *index;
    double *sum, result;
    cudaMalloc(&a, N * sizeof(*a));
    cudaMalloc(&b, N * sizeof(*b));
    cudaMalloc(&index, N * sizeof(*index));
    cudaMalloc(&sum, sizeof(*sum));
    cudaMemset(sum, 0, sizeof(*sum));
    int blocks = (N + 255) / 256;
    // Pointers in structs that are passed by value.
    // EXPLAIN: automatic.cu:[[#@LINE+3]]: #pragma kmm parallel(x: global.x = 0:v.n) write(v.p[x]) bounded
    // CHECK: kmm_launch_begin("fills"
    view v = {a, N};
    fills<<<blocks, 256>>>(v);
    // EXPLAIN: automatic.cu:[[#@LINE+3]]: #pragma kmm parallel(x: global.x = 0:N) write(index[x])
    // CHECK: kmm_launch_begin("indices"
    // CHECK: kmm_launch_access(kmm__launch, KMM_WRITE, "index[x]"
    indices<<<blocks, 256>>>(index, N);
    // EXPLAIN: automatic.cu:[[#@LINE+2]]: #pragma kmm parallel(x: global.x = 0:N) read(a[x]) write(b[x])
    // CHECK: kmm_launch_begin("doubles"
    CHECKED((doubles<<<blocks, 256>>>(a, b, N)));
    // EXPLAIN: automatic.cu:[[#@LINE+3]]: #pragma kmm parallel(x: global.x = 0:N) read(index[x]) write(a[x]){{.*}} read(b)
    // CHECK: kmm_launch_begin("gathers"
    // CHECK: kmm_launch_access(kmm__launch, KMM_READ, "b", b
    gathers<<<blocks, 256>>>(index, b, a, N);
    // EXPLAIN: automatic.cu:[[#@LINE+2]]: no pragma for the launch of 'scatters': no clause for b: unknown
    // CHECK-NOT: {{^ *}}kmm_launch_t *kmm__launch = kmm_launch_begin("scatters"
    scatters<<<blocks, 256>>>(index, a, b, N);
    // EXPLAIN: automatic.cu:[[#@LINE+1]]: #pragma kmm parallel(x: global.x = 0:N) read(b[x]) reduce(+: sum[0])
    total<<<blocks, 256>>>(b, sum, N);
    // EXPLAIN: automatic.cu:[[#@LINE+1]]: no pragma for the launch of 'counts': {{.*}}calls
    counts<<<blocks, 256>>>(a, N);
    // EXPLAIN: automatic.cu:[[#@LINE+1]]: no pragma for the launch of 'bumps': all chunks would store to the same elements
    bumps<<<blocks, 256>>>(a, b, N);
    // EXPLAIN: automatic.cu:[[#@LINE+3]]: #pragma kmm parallel(x: global.x = 0:w.n) read(w.from[x]) update(w.to[x])
    // CHECK: kmm_launch_begin("moves"
    pair w = {a, nullptr, b, N}, same = {a, b, a + N / 2, N / 2}, *at = &w;
    moves<<<blocks, 256>>>(3, w);
    // EXPLAIN: automatic.cu:[[#@LINE+2]]: #pragma kmm parallel(x: global.x = 0:same.n) {{.*}}update(same.to[x])
    // CHECK: kmm_launch_begin("moves"
    moves<<<blocks, 256>>>(2, same);
    // Stores through two members that meet in one array: libkmm runs the launch whole.
    // EXPLAIN: automatic.cu:[[#@LINE+2]]: #pragma kmm parallel(x: global.x = 0:same.n) update(same.from[x], same.to[x])
    // CHECK: kmm_launch_begin("both"
    both<<<blocks, 256>>>(same);
    // EXPLAIN: automatic.cu:[[#@LINE+2]]: no pragma for the launch of 'both': no clause for (*at).from
    // EXPLAIN: automatic.cu:[[#@LINE+3]]: no pragma for the launch of 'hides': no clause for the pointer at byte 0
    both<<<blocks, 256>>>(*at);
    hidden *h = (hidden *)&a;
    hides<<<blocks, 256>>>(*h, N);
    // EXPLAIN: automatic.cu:[[#@LINE+2]]: no pragma for the launch of 'picks': no clause for the pointer at byte 8
    several s = {{a, b}};
    picks<<<blocks, 256>>>(s, N);
    // A pointer that leads to two parameters.
    // EXPLAIN: automatic.cu:[[#@LINE+2]]: #pragma kmm parallel(x: global.x = 0:N / 3) read(b[x]) write((b + N / 2)[x])
    // CHECK: kmm_launch_begin("doubles"
    doubles<<<blocks, 256>>>(b, b + N / 2, N / 3);
    // EXPLAIN: automatic.cu:[[#@LINE+3]]: #pragma kmm parallel(x: global.x = 0:N) read(a[x]) update(b[x])
    // CHECK: kmm_launch_begin("adds"
    for (int k = 0; k < 3; k++)
        adds<<<blocks, 256>>>(a, b, N);
    // A user's pragma stays.
    // CHECK: // #pragma kmm parallel(i = 0:N) update(b[i])
#pragma kmm parallel(i = 0:N) update(b[i])
    counts<<<blocks, 256>>>(b, N);
    // EXPLAIN: automatic.cu:[[#@LINE+4]]: no pragma for the launch of 'doubles': it is part of a task
    #pragma kmm task read(a[0:N]) update(b[0:N])
    {
        // CHECK: #pragma kmm task
        doubles<<<blocks, 256>>>(a, b, N / 2);
    }
    cudaMemcpy(host, b, sizeof(host), cudaMemcpyDeviceToHost);
    cudaMemcpy(&result, sum, sizeof(result), cudaMemcpyDeviceToHost);
    double all = 0;
    for (int k = 0; k < N; k++)
        all += host[k] * (k % 13);
    int many = 0;
    cudaMemcpyFromSymbol(&many, calls, sizeof(many));
    printf("%.1f %.1f %d %s\n", all, result, many, cudaGetErrorString(cudaGetLastError()));
    return 0;
}
