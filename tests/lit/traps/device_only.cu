// REQUIRES: nvcc
// RUN: %not %kmmcc --target=cuda -std=c++17 -rdc=true -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// What only a whole grid, or one device, can do: launches from kernels, textures, clusters, grid-wide synchronization; and names that macros write.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#define NAMED named
__global__ void NAMED(int n, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 1;
}

__global__ void child(int n, float *x) { x[threadIdx.x] = n; }
__global__ void parent(int n, float *x)
{
    child<<<1, 32>>>(n, x);
}

static __device__ float fetch(cudaTextureObject_t texture, int i) { return tex1Dfetch<float>(texture, i); }
__global__ void textured(int n, cudaTextureObject_t texture, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = fetch(texture, i);
}

__global__ void __cluster_dims__(2, 1, 1) clustered(int n, float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = n; }

__global__ void synchronizing(int n, float *x)
{
    x[threadIdx.x] = n;
    cooperative_groups::this_grid().sync();
}

struct list { int n; float *of[4]; };
__global__ void pointers(int n, float **rows, list *lists)
{
    rows[blockIdx.x][threadIdx.x] = lists[0].of[1][n];
}

void launches(int n, float *x, cudaTextureObject_t texture, float **rows, list *lists, void **packed)
{
    // CHECK: :[[#@LINE+2]]:5: error: kernel 'parent' launches kernels itself, so it cannot be split; launch it without the pragma
    #pragma kmm parallel(i = 0:n) update(x[i])
    parent<<<1, 32>>>(n, x);
    // CHECK: :[[#@LINE+2]]:5: error: kernel 'textured' calls 'tex1Dfetch': textures and surfaces belong to one device, so it cannot be split; launch it without the pragma
    #pragma kmm parallel(i = 0:n) write(x[i])
    textured<<<n / 32, 32>>>(n, texture, x);
    // CHECK: :[[#@LINE+2]]:5: error: the name of kernel 'named' is written by a macro, so the kernel cannot be split; write its name out, or make it a template
    #pragma kmm parallel(i = 0:n) write(x[i])
    NAMED<<<n / 32, 32>>>(n, x);
    // CHECK: :[[#@LINE+2]]:5: error: kernel 'clustered' uses clusters of thread blocks
    #pragma kmm parallel(i = 0:n) write(x[i])
    clustered<<<n / 32, 32>>>(n, x);
    // CHECK: :[[#@LINE+2]]:5: error: kernel 'synchronizing' synchronizes its whole grid (cooperative groups), so it cannot be split; launch it without the pragma
    #pragma kmm parallel(i = 0:n) write(x[i])
    synchronizing<<<n / 32, 32>>>(n, x);
    // CHECK: :[[#@LINE+1]]:17: error: a cooperative launch synchronizes its whole grid, so it cannot be split; launch it without the pragma
    #pragma kmm parallel(i = 0:n) write(x[i])
    cudaLaunchCooperativeKernel((const void *)synchronizing, n / 32, 32, packed, 0, 0);
    // CHECK: :[[#@LINE+2]]:43: warning: the elements of 'rows' hold pointers, and one to managed memory means nothing to a kernel that finds it in an array; pass the arrays as arguments, or in a struct by value [-Wkmm-pointers]
    // CHECK: :[[#@LINE+1]]:57: warning: the elements of 'lists' hold pointers
    #pragma kmm parallel(b: block.x) read(rows[b]) read(lists[0])
    pointers<<<n / 32, 32>>>(n, rows, lists);
}
