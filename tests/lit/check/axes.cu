// REQUIRES: nvcc
// RUN: %not %kmmcc --target=cuda -c %s -o %t.o 2>&1 | FileCheck %s
// Axes of a grid, chunks, and what kernels cannot be split.
#include <cooperative_groups.h>

__global__ void add(int n, float *C, const float *A, const float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i] + B[i];
}

__global__ void grid(float *C)
{
    cooperative_groups::this_grid().sync();
    C[0] = 1;
}

template <typename T> __global__ void elsewhere(int n, T *C);

void axes(int n, float *C, const float *A, const float *B)
{
// CHECK: :[[#@LINE+1]]:41: error: axes 'i' and 'j' both split global.x; one axis splits a dimension, and only block.x beside global.x may name it again
#pragma kmm parallel(i: global.x = 0:n, j: global.x = 0:n) read(A[i], B[i]) write(C[j])
    add<<<(n + 255) / 256, 256>>>(n, C, A, B);
// CHECK: :[[#@LINE+1]]:34: error: axes 'i' and 'j' both split block.x; one axis splits a dimension, and only block.x beside global.x may name it again
#pragma kmm parallel(i: block.x, j: block.x) read(A, B) write(C[j])
    add<<<(n + 255) / 256, 256>>>(n, C, A, B);
// CHECK: :[[#@LINE+1]]:54: error: chunk has 2 entries, but 1 axis can be split; there is one entry for each axis
#pragma kmm parallel(i = 0:n, b: block.x) chunk(256, 1) read(A[i], B[i]) write(C[i])
    add<<<(n + 255) / 256, 256>>>(n, C, A, B);
// CHECK: :[[#@LINE+2]]:37: error: axis 'd' is the fourth: say what it runs over, as in d: block.x
// CHECK: :[[#@LINE+1]]:37: error: axes 'a' and 'd' both split global.x; one axis splits a dimension, and only block.x beside global.x may name it again
#pragma kmm parallel(a = 0:n, b, c, d) read(A[a], B[a]) write(C[a])
    add<<<(n + 255) / 256, 256>>>(n, C, A, B);
// CHECK: :[[#@LINE+1]]:38: error: rebase is for calls of functions; a kernel's chunks are blocks of its grid
#pragma kmm parallel(i = 0:n) rebase(n: i) read(A[i]) write(C[i])
    add<<<(n + 255) / 256, 256>>>(n, C, A, B);
#pragma kmm parallel(i = 0:n) write(C[0])
// CHECK: :[[#@LINE+1]]:5: error: kernel 'grid' synchronizes its whole grid (cooperative groups), so it cannot be split; launch it without the pragma
    grid<<<1, 1>>>(C);
#pragma kmm parallel(i = 0:n) write(C[i])
// CHECK: :[[#@LINE+1]]:5: error: kernel 'elsewhere' is a template that is only declared here; a launch of it can be split where its definition is seen: include it
    elsewhere<<<(n + 255) / 256, 256>>>(n, C);
#pragma kmm parallel(i = 0:n) read(A[i], B[i]) write(C[i])
    {
        add<<<(n + 255) / 256, 256>>>(n, C, A, B);
// CHECK: :[[#@LINE+1]]:9: error: 'parallel' governs several launches; it must govern exactly one: give each a pragma of its own
        add<<<(n + 255) / 256, 256>>>(n, C, A, B);
    }
}
