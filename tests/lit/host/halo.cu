// Indices that begin below 0 or come to 0 again, variables that hide others, lambdas and packs at barriers: what split kernels give is
// what threads with a stack of their own give.
// RUN: %kmmcc --target=host %san -std=c++17 -w -fkmm-fibers %s -o %t && %t > %t.fibers
// RUN: %kmmcc --target=host %san -std=c++17 -O1 -march=native -w %s -o %t && %t > %t.split
// RUN: cmp %t.split %t.fibers && FileCheck %s < %t.split
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
#include <new>
#include <stdio.h>
namespace cg = cooperative_groups;

enum { N = 64 };

// ---- Conditions ----
__global__ void below_1(int *o, int w) { if (threadIdx.x - 1 < 10) o[threadIdx.x] = w; }
__global__ void below_2(int *o, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x - 1;
    if ((unsigned)x < (unsigned)w)
        o[threadIdx.x] = 1;
}
__global__ void below_3(int *o, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x - 2, y = threadIdx.y - 1;
    if ((unsigned)x >= w || (unsigned)y >= 5)
        return;
    o[threadIdx.x] += 1;
}
__global__ void below_4(int *o, int w)
{
    __shared__ int s[N];
    s[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x - 1 <= (unsigned)w)
        s[threadIdx.x] = 1;
    __syncthreads();
    o[threadIdx.x] = s[N - 1 - threadIdx.x];
}
__global__ void below_5(int *o, int w)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x - 3; // wraps at 32 bits
    if (i < (size_t)w)
        o[i] = (int)i + 1;
    if (i > 4000000000u)
        o[N - 1] += (int)(i >> 31);
    long j = threadIdx.x - 5u;
    o[threadIdx.x] += j > 100 ? 1000 : (int)j;
}

// ---- Loops ----
__global__ void loop_1(int *o, unsigned n)
{
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    for (int i = (int)threadIdx.x - 5; i < n; i += blockDim.x)
        s[t] += i + 1000;
    __syncthreads();
    o[t] = s[t];
}
__global__ void loop_2(int *o, int n)
{
    for (unsigned i = threadIdx.x - 3; i < n; i += 64)
        o[threadIdx.x] += i * 3;
}
__global__ void loop_3(int *o, int r)
{
    for (int i = threadIdx.x - r; i < blockDim.x + r; i += blockDim.x)
        o[threadIdx.x] += i + 100;
}
__global__ void loop_4(int *o, unsigned n)
{
    for (unsigned i = threadIdx.x; i < 0xfffffff0u - n; i += 0x3fffffffu) // comes close to its type's end
        o[threadIdx.x] += i > 0x7fffffffu ? 1 : 2;
}
__global__ void loop_5(int *o, float n)
{
    for (int i = threadIdx.x - 9; i < n; i += blockDim.x)
        o[threadIdx.x] += i;
}

// ---- What one thread stores, and reads again by another pointer ----
__global__ void order_1(int *p, const int *q)
{
    const int i = threadIdx.x;
    if (i >= N / 2)
        return;
    const int a = q[2 * i];
    p[2 * i + 1] = a + 1;
    const int b = q[2 * i + 1];
    p[2 * i] = b * 2 + a;
}
__global__ void order_2(int2 *p, int2 *q)
{
    const int i = threadIdx.x;
    if (i >= N / 2)
        return;
    p[i].x = q[i].y + 1;
    q[i].y = p[i].x * 2;
    p[i].x += q[i].y;
}
__global__ void widened(int *o, long r)
{
    long long x = blockIdx.x * blockDim.x + threadIdx.x - (int)r;
    if (x >= 0 && x < N)
        o[x] += 1;
    unsigned long y = threadIdx.x + 4294967290u;
    o[threadIdx.x] += (int)(y >> 20);
    size_t z = threadIdx.x + (unsigned)r;
    if (z < N)
        o[z] += 1000;
}

// ---- Names ----
__global__ void hidden_1(int *o, int)
{
    __shared__ int s[N];
    const int t = threadIdx.x;
    int n = blockIdx.x + 1;
    int i = n * 64 + t * 2;
    s[t] = 0;
    {
        int n = 100;
        __syncthreads();
        s[t] += i + n;
    }
    __syncthreads();
    o[t] = s[N - 1 - t] + i;
}
__global__ void hidden_2(int *o, int n)
{
    __shared__ int s[N];
    unsigned t = threadIdx.x, q = t + 1, w = q * n;
    s[t] = 0;
    for (int n = 0; n < 3; n++) {
        int t = 5;
        __syncthreads();
        s[(q + n) % N] += q + t + w;
    }
    __syncthreads();
    o[t] = s[t];
}

// ---- Jumps ----
__global__ void jumps(int *o, int m)
{
    __shared__ int s[N];
    const int t = threadIdx.x;
    int v = t * 37 % 101;
    for (int j = 0; j < 3; j++) {
        int i = 0, steps = 0;
        do {
            v ^= __any_sync(~0u, v > 50);
            switch ((m ^ j) & 3) {
            case 0:
                s[t] = v;
                __syncthreads();
                v += s[N - 1 - t];
                steps++;
                break;
            case 2:
                v += 3;
                __syncthreads();
                break;
            default:
                v = v * 5 % 997;
            }
            v += steps;
        } while (++i < (m & 3));
    }
    o[t] = v;
}

// ---- What meets with a lambda or any number of arguments ----
template <class F> __device__ float folded(float v, F f)
{
    __shared__ float s[N];
    s[threadIdx.x] = v;
    __syncthreads();
    return f(s[threadIdx.x], s[N - 1 - threadIdx.x]);
}
__global__ void lambdas(int *o, int k)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const float most = cg::reduce(warp, (float)threadIdx.x, [](float a, float b) { return a > b ? a : b; });
    o[threadIdx.x] = (int)most + (int)folded((float)threadIdx.x, [k](float a, float b) { return a * k + b; });
}
template <class... A> __device__ int all(A... a) { return (a + ... + 0); }
template <class... A> __global__ void packs(int *o, A... a)
{
    __shared__ int s[N];
    s[threadIdx.x] = all(a...) + threadIdx.x;
    __syncthreads();
    o[threadIdx.x] = s[N - 1 - threadIdx.x] + all(a...);
}
__global__ void local_class(int *o, int k)
{
    struct own {
        int k;
        __device__ int value() const { return k * threadIdx.x + blockDim.x; }
        static __device__ int twice(int v) { return 2 * v + blockIdx.x + threadIdx.x; }
    };
    __shared__ int s[N];
    own mine = {k};
    __builtin_assume(k >= 0);
    s[threadIdx.x] = mine.value();
    __syncthreads();
    o[threadIdx.x] = own::twice(s[N - 1 - threadIdx.x]);
}
struct object { int v; __device__ object(int v) : v(v) {} };
__global__ void placed(int *o, int k)
{
    alignas(object) char raw[sizeof(object)];
    o[threadIdx.x] = (new (raw) object(threadIdx.x * k))->v;
}

static int *device;
#define RUN(kernel, ...)                                                                           \
    do {                                                                                           \
        int own[N];                                                                                \
        cudaMemset(device, 0, sizeof(own));                                                        \
        kernel<<<1, N>>>(device, __VA_ARGS__);                                                     \
        cudaMemcpy(own, device, sizeof(own), cudaMemcpyDeviceToHost);                              \
        printf("%s(%s):", #kernel, #__VA_ARGS__);                                                  \
        for (int v : own)                                                                          \
            printf(" %d", v);                                                                      \
        printf("\n");                                                                              \
    } while (0)

int main()
{
    cudaMalloc(&device, N * sizeof(int));
    for (int w : {0, 1, 10, 64, 200}) {
        RUN(below_1, w); RUN(below_2, w); RUN(below_3, w); RUN(below_4, w); RUN(below_5, w > 60 ? 60 : w);
        RUN(loop_1, w); RUN(loop_2, w); RUN(loop_3, w); RUN(loop_5, w); RUN(hidden_2, w); RUN(lambdas, w); RUN(placed, w); RUN(local_class, w); RUN(jumps, w); RUN(jumps, w + 3);
    }
    RUN(loop_4, 1);
    RUN(order_1, device);
    {
        int own[N];
        for (int k = 0; k < N; k++)
            own[k] = k * k;
        cudaMemcpy(device, own, sizeof(own), cudaMemcpyHostToDevice);
        order_1<<<1, N>>>(device, device);
        order_2<<<1, N>>>((int2 *)device, (int2 *)device);
        cudaMemcpy(own, device, sizeof(own), cudaMemcpyDeviceToHost);
        for (int v : own)
            printf("%d ", v);
        printf("\n");
    }
    for (int r : {0, 3, -3})
        RUN(widened, r);
    RUN(hidden_1, 0);
    RUN(packs, 1, 2, 3);
    // CHECK: below_2(w): 0 1 0
    // CHECK: below_2(w): 0 1 1 1 1 1 1 1 1 1 1 0 0
    // CHECK: packs(1, 2, 3): 75 74
    return cudaGetLastError() != cudaSuccess;
}
