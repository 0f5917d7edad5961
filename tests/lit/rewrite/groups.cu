// REQUIRES: nvcc
// RUN: %kmmcc --target=cuda -std=c++17 -Xcompiler -Wall -Werror all-warnings -c %s -o %t.o
// RUN: %kmmcc --target=cuda -std=c++17 --emit-source=%t.cu %s && grep -v "^ *// CHECK" %t.cu | FileCheck %s
// RUN: %not %kmmcc --target=cuda -DWRONG -c %s -o %t.o 2>&1 | FileCheck --check-prefix=WRONG %s
// What cooperative groups know of the grid is told to the clone; what synchronizes the grid cannot be split.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// CHECK: __device__ unsigned long long kmm_rank(const kmm_blocks_t kmm__blocks) { return kmm_this_grid(kmm__blocks).thread_rank(); }
__device__ unsigned long long rank() { return cg::this_grid().thread_rank(); }
__global__ void ranks(float *x, int n)
{
    cg::grid_group grid = cg::this_grid();
    auto block = cg::this_thread_block();
    // CHECK: kmm_ranks(
    // CHECK: kmm_grid_group grid = kmm_this_grid(kmm__blocks);
    // CHECK: auto block = cg::this_thread_block();
    // CHECK: for (unsigned long long i = grid.thread_rank(); i < n + 0 * kmm_rank(kmm__blocks); i += grid.size())
    for (unsigned long long i = grid.thread_rank(); i < n + 0 * rank(); i += grid.size())
        x[i] = block.group_index().x + grid.block_rank();
    // CHECK: x[i] = kmm_block_index(kmm__blocks).x + grid.block_rank();
    block.sync();
}
__global__ void tile(float *x, int n)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = tile.shfl(1.0f, 0);
}
void run(float *x, int n)
{
#pragma kmm parallel(i = 0:n) write(x[i])
    ranks<<<1, 1>>>(x, n);
#pragma kmm parallel(i = 0:n) write(x[i])
    tile<<<1, 1>>>(x, n);
}
#ifdef WRONG
__device__ void meet(const cg::grid_group &g) { g.sync(); }
__global__ void direct(float *x) { cg::this_grid().sync(); x[0] = 1; }
__global__ void by_function(float *x) { auto g = cg::this_grid(); cg::sync(g); x[0] = 1; }
__device__ unsigned block_of() { unsigned c; asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(c)); return c; }
__global__ void by_assembly(float *x) { x[block_of()] = 1; }
__device__ unsigned asks(unsigned a) { return a + blockIdx.x; }
__device__ unsigned asks_not(unsigned a) { return a + 1; }
__device__ unsigned (*held)(unsigned) = asks, (*other)(unsigned) = asks_not;
__global__ void by_pointer(float *x) { x[held(0)] = 1; }
__global__ void by_helper(float *x) { meet(cg::this_grid()); x[0] = 1; }
void wrong(float *x)
{
#pragma kmm parallel(i) update(x)
    // WRONG: :[[#@LINE+1]]:5: error: kernel 'direct' synchronizes its whole grid (cooperative groups), so it cannot be split; launch it without the pragma
    direct<<<1, 1>>>(x);
#pragma kmm parallel(i) update(x)
    // WRONG: :[[#@LINE+1]]:5: error: kernel 'by_function' synchronizes its whole grid
    by_function<<<1, 1>>>(x);
#pragma kmm parallel(i) update(x)
    // WRONG: :[[#@LINE+1]]:5: error: kernel 'by_helper' synchronizes its whole grid
    by_helper<<<1, 1>>>(x);
#pragma kmm parallel(i) update(x)
    // WRONG: :[[#@LINE+1]]:5: error: kernel 'by_assembly' asks for its block or grid by assembly, which would give those of a chunk; use blockIdx and gridDim
    by_assembly<<<1, 1>>>(x);
#pragma kmm parallel(i) update(x)
    // WRONG: :[[#@LINE+1]]:5: error: kernel 'by_pointer' calls a function through a pointer, and 'asks', of which a variable holds the address, asks for its block or grid
    by_pointer<<<1, 1>>>(x);
    void *args[] = {&x};
#pragma kmm parallel(i) update(x)
    // WRONG: :[[#@LINE-1]]:13: error: a cooperative launch synchronizes its whole grid, so it cannot be split; launch it without the pragma
    cudaLaunchCooperativeKernel(direct, dim3(1), dim3(1), args);
}
#endif
