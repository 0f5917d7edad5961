// Kernels with barriers in every control flow, as loops over the threads and as fibers: both must agree.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Wno-unknown-pragmas -Werror %s -o %t && %t | FileCheck %s
// RUN: %kmmcc --target=host -fkmm-fibers %san -Wall -Wextra -Wno-unknown-pragmas -Werror %s -o %t.fibers && %t.fibers | FileCheck %s
// RUN: %kmmcc --target=host --emit-source=%t.txt %s && FileCheck --check-prefix=TEXT %s < %t.txt
// TEXT-NOT: {{kmm__kernel[,] KMM_HOST_SYNC}}
#include <cuda_runtime.h>
#include <stdio.h>

struct pair { int a; float b; };

// An array, a structure and several declarators live across barriers; a parameter is changed.
__global__ void values(int n, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x, own[3] = {t, 2 * t, 3 * t}, *mine = &out[blockIdx.x * blockDim.x + t];
    pair p = {t, 0.5f}, q{};
    const int twice = own[1];
    auto half = p.b;
    n += t;
    s[t] = own[2];
    __syncthreads();
    own[0] += s[127 - t];
    p.a++;
    q.a -= n;
    __syncthreads();
    s[t] = own[0] + p.a + q.a;
    __syncthreads();
    *mine = s[(t + 1) % 128] + twice + (int)(2 * half) + own[2] + n;
}

// Uniform loops: a counter changed in the body, continue, break, do, while, and two counters.
__global__ void loops(int n, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (int k = 0, w = 1; k < n; k++, w *= 2) {
        if (k == 2)
            continue;
        if (w > 32)
            break;
        int v = s[(t + w) % 128];
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    int rounds = 3;
    do {
        int v = s[127 - t];
        __syncthreads();
        s[t] = v + rounds;
        rounds--;
        __syncthreads();
    } while (rounds > 0);
    while (rounds < n) {
        rounds += 2;
        if (rounds == n)
            return;
        __syncthreads();
        s[t] ^= rounds;
    }
    out[blockIdx.x * blockDim.x + t] = s[t];
}

// Some threads return early, from inside branches and loops; the others meet without them.
__global__ void early(int n, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = -1;
    out[blockIdx.x * blockDim.x + t] = -t;
    if (t >= n)
        return;
    s[t] = t;
    __syncthreads();
    for (int k = 0; k < 5; k++) {
        if (t == 10 * k) {
            out[blockIdx.x * blockDim.x + t] = 1000 + k;
            return;
        }
        int v = t ? s[t - 1] : s[n - 1];
        __syncthreads();
        s[t] = v;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = s[t];
}

// Loops that threads leave one after another meet in warps; a condition made of votes ends a loop.
__global__ void votes(int n, int *out)
{
    int t = threadIdx.x, steps = 0, x = t % n;
    while (__syncthreads_or(x > 0)) {
        steps++;
        if (x > 0)
            x--;
    }
    int all = __syncthreads_and(t >= 0), count = __syncthreads_count(t % 3 == 0);
    if (t < 32) {
        int v = t;
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(0xffffffffu, v, d);
        v = __shfl_sync(0xffffffffu, v, 0) + __shfl_xor_sync(0xffffffffu, t, 1) + __shfl_up_sync(0xffffffffu, t, 3);
        bool some = __any_sync(0xffffffffu, v == 496) && t > 0;
        if (!__all_sync(0xffffffffu, t > 3) && some)
            v += 10000;
        steps += v;
    } else if (t < 64) {
        int k = t - 32;
        unsigned some = __ballot_sync(0xffffffffu, k % 2);
        int last = 0;
        for (int i = 0; i < 4; i++) {
            int from = __shfl_sync(0xffffffffu, k + i, i * 8, 16);
            if (from % 3 == 0)
                continue;
            last += from;
        }
        steps += __popc(some) + last + __shfl_sync(0xffffffffu, __shfl_xor_sync(0xffffffffu, k, 2), 5);
    } else {
        steps += (int)__popc(__match_any_sync(0xffffffffu, t / 5)) + __reduce_add_sync(0xffffffffu, (unsigned)t) +
                 __reduce_max_sync(0xffffffffu, -t);
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = steps + 100 * all + 1000 * count;
}

// A branch that only some threads take, with a warp's barrier in it, in two dimensions.
__global__ void branches(int n, int *out)
{
    extern __shared__ int dynamic[];
    __shared__ volatile int s[4][32];
    const int x = threadIdx.x, y = threadIdx.y;
    int i = (blockIdx.x * blockDim.y + y) * blockDim.x + x;
    s[y][x] = i;
    __syncwarp();
    if (y % 2) {
        s[y][x] += s[y][31 - x] + n;
        __syncwarp();
        if (x < 16)
            s[y][x] *= 2;
        else {
            __syncwarp(0xffff0000u);
            s[y][x] -= s[y][16];
        }
    } else
        s[y][x] = -s[y][x];
    dynamic[31 - x + 32 * y] = s[y][x];
    __syncthreads();
    for (int k = y; k < 4; k += blockDim.y)
        out[i] = dynamic[x + 32 * ((y + n) % 4)];
}

// Threads leave a loop with warp operations at different times.
__global__ void leaving(int n, int *out)
{
    int t = threadIdx.x, sum = 0, round;
    for (round = 0; round < 40; round++) {
        if (round > t % 32)
            break;
        if ((round + t) % 3 == 0)
            continue;
        unsigned here = __activemask();
        sum += (here >> (t % 32)) & 1;
    }
    for (int k = t; k < n; k += 32) {
        __syncwarp(1u << (t % 32));
        sum += k;
    }
    out[blockIdx.x * blockDim.x + t] = sum + 1000 * round;
}

template <int block, class T> __global__ void reduced(T *out)
{
    __shared__ T s[block];
    const unsigned t = threadIdx.x;
    T value = (T)(t + 1);
    s[t] = value;
    __syncthreads();
#pragma unroll
    for (unsigned w = block / 2; w > 0; w >>= 1) {
        if (t < w)
            s[t] = value = value + s[t + w];
        __syncthreads();
    }
    if (block >= 64) {
        __syncthreads();
        value += s[0];
    }
#ifdef NEVER
    __syncthreads();
    value = 0;
#else
    value *= 2;
#endif
#define TWICE(x) (2 * (x))
    __syncthreads();
    value = TWICE(value);
    out[blockIdx.x * block + t] = value;
}

template <class F> void show(const char *name, F launch)
{
    int *x, h[256] = {0};
    unsigned hash = 0;
    cudaMalloc(&x, sizeof(h));
    cudaMemset(x, 0, sizeof(h));
    launch(x);
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    for (int k = 0; k < 256; k++)
        hash = hash * 31 + (unsigned)h[k];
    printf("%s %d %d %d %d %08x %d\n", name, h[0], h[1], h[33], h[255], hash, cudaGetLastError());
    cudaFree(x);
}

int main()
{
    show("values", [](int *x) { values<<<2, 128>>>(7, x); });
    show("loops 9", [](int *x) { loops<<<2, 128>>>(9, x); });
    show("loops 4", [](int *x) { loops<<<2, 128>>>(4, x); });
    show("loops 0", [](int *x) { loops<<<2, 128>>>(0, x); });
    show("early", [](int *x) { early<<<2, 128>>>(100, x); });
    show("early none", [](int *x) { early<<<2, 128>>>(0, x); });
    show("votes", [](int *x) { votes<<<2, 128>>>(11, x); });
    show("branches", [](int *x) { branches<<<2, dim3(32, 4), 512>>>(3, x); });
    show("leaving", [](int *x) { leaving<<<4, 64>>>(77, x); });
    show("reduced int", [](int *x) { reduced<128, int><<<2, 128>>>(x); });
    show("reduced float", [](int *x) { reduced<32, float><<<8, 32>>>((float *)x); });
}
// CHECK: values 381 385 513 1145 1e4dd400 0
// CHECK: loops 9 1044 1140 2164 948 8ce34000 0
// CHECK: loops 4 0 0 0 0 00000000 0
// CHECK: loops 0 133 132 100 6 3ff74f80 0
// CHECK: early 1000 0 28 -127 c951c746 0
// CHECK: early none 0 -1 -33 -127 7d84ff80 0
// CHECK: votes 43607 43607 43146 46585 56ea8f76 0
// CHECK: branches 356 355 -30 -192 33f9894c 0
// CHECK: leaving 1096 2101 2099 32084 9c909468 0
// CHECK: reduced int 66048 49664 33552 33536 48360600 0
// CHECK: reduced float 1157890048 1149763584 1149763584 1124073472 e3e00000 0
