// REQUIRES: nvcc
// RUN: %kmmcc --target=cuda -std=c++17 --extended-lambda -Xcompiler -Wall -Werror all-warnings -c %s -o %t.o
// RUN: %kmmcc --target=cuda -std=c++17 --emit-source=%t.cu %s && grep -v "^ *// CHECK" %t.cu | FileCheck %s
// RUN: %kmmcc --target=host %san -std=c++17 -c %s -o %t.o
// Functions that kernels reach other than by name look up what runs, where every kernel leaves it.
#include <cuda_runtime.h>
struct position {
    int i;
    // CHECK: __device__ position() : i(0) { const kmm_blocks_t kmm__blocks = kmm_shared_blocks(); (void)kmm__blocks; const uint3 blockIdx = kmm_block_index(kmm__blocks); i =
    __device__ position() : i(0) { i = blockIdx.x * blockDim.x + threadIdx.x; }
    // CHECK: __device__ operator int() const { return i; }
    __device__ operator int() const { return i; }
};
struct pair { int a, b; };
// CHECK: operator+(pair a, pair b) { const kmm_blocks_t kmm__blocks = kmm_shared_blocks(); (void)kmm__blocks; const dim3 gridDim =
__device__ pair operator+(pair a, pair b) { return {a.a + b.a, (int)gridDim.x}; }
struct from_block {
    // CHECK: operator()(int i) const { return i + first(); }
    __device__ int operator()(int i) const { return i + first(); }
    // CHECK: first() const { const kmm_blocks_t kmm__blocks = kmm_shared_blocks();
    __device__ int first() const { return blockIdx.x * blockDim.x; }
};
// CHECK: apply(int *x, int n, F f)
// CHECK-NEXT: { kmm_share_blocks(kmm_all_blocks());
// CHECK: kmm_apply(const kmm_blocks_t kmm__blocks, int *x, int n, F f)
// CHECK-NEXT: { kmm_share_blocks(kmm__blocks);
template <typename F> __global__ void apply(int *x, int n, F f)
{
    position i;
    if (i < n)
        x[i] = f(threadIdx.x) + (pair{1, 2} + pair{3, 4}).b;
}
// CHECK: unsplit(int *x) { kmm_share_blocks(kmm_all_blocks());
__global__ void unsplit(int *x) { x[0] = from_block()(0); }
void run(int *x, int n)
{
#pragma kmm parallel(i = 0:n) write(x[i])
    apply<<<1, 1>>>(x, n, from_block());
    // CHECK: [=] __device__ (int i) { const kmm_blocks_t kmm__blocks = kmm_shared_blocks(); (void)kmm__blocks; const uint3 blockIdx =
#pragma kmm parallel(i = 0:n) write(x[i])
    apply<<<1, 1>>>(x, n, [=] __device__ (int i) { return i + n + blockIdx.x; });
    unsplit<<<1, 1>>>(x);
}
// What only template arguments resolve may be any function of the name.
struct of_block {
    // CHECK: at() const { const kmm_blocks_t kmm__blocks = kmm_shared_blocks();
    __device__ int at() const { return blockIdx.x; }
    // CHECK: other() const { return blockIdx.x; }
    __device__ int other() const { return blockIdx.x; }
};
template <typename T> __device__ int of(const T &t) { return t.at(); }
template <typename T> __global__ void open(int *x, T t) { x[threadIdx.x] = of(t); }
void run_open(int *x)
{
#pragma kmm parallel(i) write(x[i])
    open<<<1, 1>>>(x, of_block());
}
