// Functions of the device that meet at barriers, 'switch' and conditional expressions around barriers: as loops over the threads, in random
// order and as fibers all agree.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Wno-unknown-pragmas -Werror %s -o %t && %t | FileCheck %s
// RUN: %kmmcc --target=host -fkmm-random %san -Wno-unknown-pragmas %s -o %t.random && %t.random | FileCheck %s
// RUN: %kmmcc --target=host -fkmm-fibers %san -Wall -Wextra -Wno-unknown-pragmas -Werror %s -o %t.fibers && %t.fibers | FileCheck %s
// RUN: %kmmcc --target=host --verbose --emit-source=%t.txt %s 2>&1 | FileCheck --allow-empty --check-prefix=VERBOSE %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.txt
// VERBOSE-NOT: are fibers
// TEXT-NOT: {{kmm__kernel[,] KMM_HOST_SYNC}}
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <stdio.h>
namespace cg = cooperative_groups;

struct pair { int sum; float part; };
struct wide { double a, b, c; int d; };

template <class T> __device__ T warp_sum(T v)
{
    for (int d = warpSize / 2; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

template <int block, class T> __device__ __forceinline__ T block_sum(T v, T first = T())
{
    __shared__ T part[block / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_sum(v);
    if (lane == 0)
        part[warp] = v;
    __syncthreads();
    v = threadIdx.x < block / 32 ? part[lane] : T(0);
    if (warp == 0)
        v = warp_sum<T>(v) + first;
    __syncthreads();
    return v;
}

namespace tools {
// Changes what it is given by reference and by address; returns early.
__device__ void rotate(int &value, int *const both, int (&shared)[128], const int &by, int n)
{
    const int t = threadIdx.x;
    __syncthreads();
    shared[t] = value;
    __syncthreads();
    if (t >= n)
        return;
    value = shared[(t + by) % n];
    both[0] += value;
    both[1] = t;
}
// Overloads: one of them meets nobody.
__device__ int sum(int a) { return a + 1; }
__device__ pair sum(int a, float b)
{
    pair p = {__syncthreads_count(a > 3), b};
    return p;
}
struct ring {
    static __device__ wide turn(wide w, int) { __syncthreads(); w.d += (int)w.a; return {w.b, w.c, w.a, w.d}; }
};
}

// Calls itself; all threads go equally deep.
__device__ int deep(int *s, int level)
{
    if (level == 0)
        return s[127 - threadIdx.x];
    s[threadIdx.x] += level;
    __syncthreads();
    int below = deep(s, level - 1);
    return below + level;
}

__global__ void functions(int n, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x, own = t, both[2] = {1, 0};
    int total = block_sum<128>(t) + block_sum<128, int>(1, n);
    tools::rotate(own, both, s, 1, n);
    tools::rotate(own, &both[0], s, t % 2 + 1, n);
    __syncthreads();
    pair p = tools::sum(own, 0.5f);
    wide w = tools::ring::turn({1, 2, 3, own}, 0);
    s[t] = tools::sum(t);
    __syncthreads();
    int d = deep(s, 3);
    out[blockIdx.x * blockDim.x + t] = total + 3 * own + 5 * both[0] + 7 * both[1] + (int)(2 * p.part) + p.sum + w.d + (int)w.c + d;
}

// Called by some warps only, and inside loops and conditions.
__global__ void somewhere(int n, int *out)
{
    int t = threadIdx.x, warp = t / 32, sum = 0;
    if (warp % 2)
        sum = warp_sum(t);
    else if (warp == 2)
        sum = -warp_sum(2 * t);
    for (int k = 0; k < n; k++)
        sum += k % 2 ? warp_sum(t + k) : __shfl_sync(~0u, sum, k);
    bool some = t >= 0 && __syncthreads_or(t == 77) && __syncthreads_and(sum != 1 << 30);
    if (warp == 3 || __any_sync(~0u, t == 40))
        sum += 100000;
    while (warp < 2 && __ballot_sync(~0u, sum % 2))
        sum += 1;
    out[blockIdx.x * blockDim.x + t] = sum + some * 1000000;
}

__global__ void switches(int n, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x, rounds = 0;
    s[t] = t;
    __syncthreads();
    for (int k = 0; k < 6; k++) {
        __syncthreads();
        switch ((n + k) % 5) {
        case 0:
            s[t] += 1;
            break;
        case 1: {
            int v = s[127 - t];
            __syncthreads();
            s[t] = v;
        }
        // falls through
        case 2:
        case 3:
            __syncthreads();
            s[t] += 2;
            if (k == 1)
                break;
            if (k == 3)
                continue;
            __syncthreads();
            s[t] ^= 5;
            break;
        default:
            if (t > 100)
                s[t] = 7;
            else
                break;
            s[t]++;
        }
        rounds++;
    }
    // Each warp another one; what no label names does nothing.
    switch (t / 32 + n % 2) {
    case 3:
        rounds += 10;
        // falls through
    case 1:
        rounds += __shfl_xor_sync(~0u, t, 1);
        if (t % 32 == 5)
            break;
        rounds += 1000;
        break;
    case 0:
        rounds += __popc(__ballot_sync(~0u, t % 3 == 0));
    }
    out[blockIdx.x * blockDim.x + t] = s[t] * 10000 + rounds;
}

template <class G> __device__ int meet_all(const G &group, int *s, int v)
{
    s[group.thread_rank()] = v;
    group.sync();
    v = s[group.size() - 1 - group.thread_rank()];
    group.sync();
    return v;
}
template <unsigned size> __device__ int tiled(cg::thread_block_tile<size> tile, int v)
{
    for (int d = tile.size() / 2; d > 0; d /= 2)
        v += tile.shfl_xor(v, d);
    return v + (int)tile.ballot(v % 2) + tile.any(v == 3) - tile.all(v > 0) + (int)tile.match_any(threadIdx.x / 2);
}
__global__ void groups(int n, int *out)
{
    __shared__ int s[128];
    auto block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    const int t = block.thread_rank();
    int v = meet_all(block, s, t * n) + meet_all(cg::this_thread_block(), s, t);
    block.sync();
    for (unsigned i = block.size() / 2; i > 0; i /= 2) {
        if (block.thread_rank() < i)
            s[t] += s[t + i];
        cg::sync(block);
    }
    v += s[0] + tiled(tile, t) + tiled<16>(cg::tiled_partition<16>(block), v);
    v += cg::reduce(tile, t, cg::greater<int>()) + cg::inclusive_scan(tile, 1) * 100 + cg::exclusive_scan(tile, t, cg::plus<int>());
    double2 two = tile.shfl(make_double2(t, v), 3);
    int same;
    unsigned alike = __match_all_sync(~0u, t / 32, &same);
    out[blockIdx.x * blockDim.x + t] = v + (int)two.x + same + (alike == ~0u);
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
    show("functions 100", [](int *x) { functions<<<2, 128>>>(100, x); });
    show("functions 1", [](int *x) { functions<<<2, 128>>>(1, x); });
    show("somewhere 5", [](int *x) { somewhere<<<2, 128>>>(5, x); });
    show("somewhere 0", [](int *x) { somewhere<<<2, 128>>>(0, x); });
    for (int n = 0; n < 5; n++)
        show("switches", [n](int *x) { switches<<<2, 128>>>(n, x); });
    show("groups", [](int *x) { groups<<<2, 128>>>(3, x); });
}
// CHECK: functions 100 8651 8152 964 653 42cf6c78 0
// CHECK: functions 1 8529 8004 371 653 e25ced40 0
// CHECK: somewhere 5 1003488 1003520 1121968 1152080 18d31000 0
// CHECK: somewhere 0 1000000 1000000 1101536 1104064 e3790000 0
// CHECK: switches 1320016 1370016 1051037 91141 cf12c480 0
// CHECK: switches 141007 141006 550006 1490006 b411db40 0
// CHECK: switches 210017 210017 1161038 141142 0036a500 0
// CHECK: switches 151006 151005 1160005 140005 c4358dc0 0
// CHECK: switches 230016 230016 1091037 81141 11854ae0 0
// CHECK: groups 16428 16524 14700 60851 f9e68180 0
