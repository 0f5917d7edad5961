// __activemask is all lanes that come to the call, whether the kernel is split or its threads are fibers.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t
// RUN: %kmmcc --target=host -fkmm-fibers %san %s -o %t.fibers && %t.fibers
// RUN: %kmmcc --target=host -fkmm-fibers -O0 %s -o %t.plain && %t.plain
// RUN: %kmmcc --target=host -fkmm-fibers -fkmm-random -O2 %s -o %t.random && %t.random
#include <cuda_runtime.h>
#include <stdio.h>

enum { THREADS = 80 }; /* the last warp has 16 */

__global__ void whole(int *x)
{
    unsigned m = __activemask();
    int v = threadIdx.x;
    for (int d = 16; d; d >>= 1)
        v += __shfl_down_sync(m, v, d);
    x[threadIdx.x] = v;
}
__global__ void count(int *x)
{
    if (threadIdx.x % 3 == 0)
        return;
    x[threadIdx.x] = __popc(__activemask());
}
/* Lanes of two branches do not come to one call; a lambda's kernel is never split. */
__global__ void branches(int *x)
{
    auto sum = [](unsigned m, int v) { return (int)__reduce_add_sync(m, v); };
    if (threadIdx.x % 4 == 1)
        x[threadIdx.x] = sum(__activemask(), 1);
    else
        x[threadIdx.x] = 100 + sum(__activemask(), 1);
}
/* One adds for all of its warp that are there. */
__global__ void aggregated(int *counter, int *x)
{
    const int lane = threadIdx.x % 32;
    if (lane % 2)
        return;
    const unsigned m = __activemask();
    const int leader = __ffs(m) - 1;
    int first = 0;
    if (lane == leader)
        first = atomicAdd(counter, __popc(m));
    x[threadIdx.x] = __shfl_sync(m, first, leader) + __popc(m & ((1u << lane) - 1));
}
/* Who waits for a lane that asks does not keep it waiting. */
__global__ void turns(int *lock, int *x)
{
    if (threadIdx.x == 5) {
        x[5] = (int)__activemask();
        __threadfence();
        atomicExch(lock, 1);
        return;
    }
    while (atomicCAS(lock, 1, 1) != 1)
        __nanosleep(1);
    x[threadIdx.x] = x[5];
}

static int failed;
static void is(const char *what, int thread, int value, int expected)
{
    if (value != expected)
        failed += printf("%s: thread %d: %d, not %d\n", what, thread, value, expected);
}

int main()
{
    int *x, *c, seen[THREADS] = {};
    cudaMallocManaged(&x, THREADS * sizeof(int));
    cudaMallocManaged(&c, sizeof(int));
    whole<<<1, THREADS>>>(x);
    cudaDeviceSynchronize();
    is("whole", 0, x[0], 31 * 16);
    is("whole", 32, x[32], 31 * 16 + 32 * 32);
    count<<<1, THREADS>>>(x);
    cudaDeviceSynchronize();
    for (int k = 0; k < THREADS; k++)
        if (k % 3)
            is("count", k, x[k], k < 32 ? 21 : k < 64 ? 21 : 11);
    branches<<<1, THREADS>>>(x);
    cudaDeviceSynchronize();
    for (int k = 0; k < THREADS; k++)
        is("branches", k, x[k], k % 4 == 1 ? (k < 64 ? 8 : 4) : 100 + (k < 64 ? 24 : 12));
    *c = 0;
    aggregated<<<1, THREADS>>>(c, x);
    cudaDeviceSynchronize();
    is("aggregated", 0, *c, THREADS / 2);
    for (int k = 0; k < THREADS; k += 2)
        seen[x[k]]++;
    for (int k = 0; k < THREADS; k++)
        is("aggregated", k, seen[k], k < THREADS / 2);
    *c = 0;
    turns<<<1, 32>>>(c, x);
    cudaDeviceSynchronize();
    for (int k = 0; k < 32; k++)
        is("turns", k, x[k], 1 << 5);
    return failed != 0;
}
