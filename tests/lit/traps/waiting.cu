// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// Kernels whose blocks need each other: those that wait, that know the last one by a counter, and that keep a place for each
// other by an atomic addition.
#include <cuda_runtime.h>

__device__ unsigned finished;
__device__ float partial[1024];
__device__ int *place;

__device__ void wait_for(volatile int *flag)
{
    while (*flag == 0)
        ;
}

__global__ void look_back(int n, float *x, int *flags)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0)
        wait_for(flags + blockIdx.x - 1);
    if (i < n)
        x[i] += 1;
    flags[blockIdx.x] = 1;
}

__global__ void locked(int n, float *x, int *mutex)
{
    while (atomicCAS(mutex, 0, 1) != 0)
        __nanosleep(10);
    x[0] += n;
    atomicExch(mutex, 0);
}

// An addition by compare-and-swap waits for nobody.
__global__ void compare_and_swap(int n, const float *x, int *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, old = *sum, seen;
    do {
        seen = old;
        old = atomicCAS(sum, seen, seen + (int)x[i]);
    } while (seen != old);
    volatile __shared__ int ready;
    ready = n;
    while (ready == 0)
        ;
}

__global__ void last_block(int n, const float *x, float *sum)
{
    partial[blockIdx.x] = x[blockIdx.x * blockDim.x];
    __threadfence();
    if (atomicInc(&finished, gridDim.x) == gridDim.x - 1)
        for (int k = 0; k < gridDim.x; k++)
            *sum += partial[k];
}

__global__ void counted(int n, const float *x, int *count, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0)
        out[atomicAdd(count, 1)] = x[i];
}

__global__ void only_counts(int n, const float *x, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0)
        atomicAdd(&count[0], 1);
    *place = 3;
}

void launches(int n, float *x, float *y, int *flags)
{
    // CHECK: :[[#@LINE+4]]:5: error: kernel 'look_back' waits for what other blocks store, which may be of other chunks, so it cannot be split; launch it without the pragma
    // CHECK-NEXT: look_back
    // CHECK: :12:5: note: it does so here
    #pragma kmm parallel(i = 0:n, b: block.x) update(x[i]) update(flags[b-1:2])
    look_back<<<n / 64, 64>>>(n, x, flags);
    // CHECK: :[[#@LINE+2]]:5: error: kernel 'locked' waits for what other blocks store
    #pragma kmm parallel(i = 0:n) update(x[0], flags[0])
    locked<<<n / 64, 64>>>(n, x, flags);
    #pragma kmm parallel(i = 0:n) read(x[i]) reduce(+: flags[0])
    compare_and_swap<<<n / 64, 64>>>(n, x, flags);
    // CHECK: :[[#@LINE+1]]:41: warning: kernel 'last_block' changes the variable 'partial' of its device, so the launch is one chunk [-Wkmm-symbol]
    #pragma kmm parallel(i = 0:n) chunk(n / 10) read(x[i]) update(y[:])
    last_block<<<n / 64, 64>>>(n, x, y);
    // CHECK: :[[#@LINE+2]]:5: error: kernel 'last_block' changes the variable 'partial' of its device, so it cannot be split, and reductions here split it; launch it without the pragma
    #pragma kmm parallel(i = 0:n) read(x[i]) reduce(+: y[0])
    last_block<<<n / 64, 64>>>(n, x, y);
    // CHECK: :[[#@LINE+1]]:69: error: {{'flags\[0\]' is reduced here, but 'counted' also uses its values|'counted' uses what an atomic operation on 'flags\[0\]' returns}}
    #pragma kmm parallel(i = 0:n) read(x[i]) update(y[:]) reduce(+: flags[0])
    counted<<<n / 64, 64>>>(n, x, flags, y);
    #pragma kmm parallel(i = 0:n) read(x[i]) reduce(+: flags[0])
    only_counts<<<n / 64, 64>>>(n, x, flags);
}
