// Arrays whose addresses the program has stored in others: tables of rows, structures of arrays, constant structures and variables. What kernels
// reach so has no other order than that of the launches.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t
// RUN: %kmmcc --target=host --emit-source %s | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>

enum { ROWS = 5, N = 20000, TIMES = 20 };
struct matrix { int rows, n; float **row; };
struct list { int value; list *next; };
struct point { float x, y; };
__constant__ matrix whole;
__device__ float *one_row;

// Functions that variables hold read the index, too.
__device__ int own_block(int i) { return i * 0 + blockIdx.x; }
__device__ int own_thread(int i) { return i * 0 + threadIdx.x; }
__constant__ int (*asks[2])(int) = {own_block, own_thread};
__device__ int (*one_that_asks)(int) = own_block;
__global__ void by_variables(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = asks[0](i) * blockDim.x + asks[1](i) + one_that_asks(i);
}

// CHECK: {{[K]}}MM_HOST_POINTERS{{.*}}>(row, n)
__global__ void fill(float **row, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = blockIdx.y; i < n && r < ROWS; r += gridDim.y)
        row[r][i] = r + i % 7;
}
// CHECK: {{[K]}}MM_HOST_POINTERS{{.*}}>(m, f)
__global__ void scale(const matrix *m, float f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; i < m->n && r < m->rows; r++)
        m->row[r][i] *= f;
}
// CHECK: {{[K]}}MM_HOST_POINTERS{{.*}}>(f)
__global__ void shift(float f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; i < whole.n && r < whole.rows; r++)
        whole.row[r][i] += f;
}
// CHECK: {{[K]}}MM_HOST_GENERIC{{.*}}>(rows, n)
template <class T> __global__ void negate(T *rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; i < n && r < ROWS; r++)
        rows[r][i] = -rows[r][i];
}
__global__ void swap_signs(int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        one_row[i] = -one_row[i];
}
// CHECK-NOT: {{[K]MM_HOST_POINTERS}}
// CHECK: >(p, n)
__global__ void plain(point *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i].x = p[i].y = i;
}
// CHECK: {{[K]}}MM_HOST_POINTERS{{.*}}>(l, result)
__global__ void walk(const list *l, int *result)
{
    for (*result = 0; l; l = l->next)
        *result = *result * 10 + l->value;
}

static int lists()
{
    list *at[4], *next = nullptr;
    int *d, result = 0;
    cudaMalloc(&d, sizeof(*d));
    for (int k = 4; k-- > 0;) {
        list one = {k + 1, next};
        cudaMalloc(&at[k], sizeof(one));
        cudaMemcpy(at[k], &one, sizeof(one), cudaMemcpyHostToDevice);
        next = at[k];
    }
    walk<<<1, 1>>>(next, d);
    cudaMemcpy(&result, d, sizeof(result), cudaMemcpyDeviceToHost);
    for (list *l : at)
        cudaFree(l);
    cudaFree(d);
    return result != 1234;
}

int main()
{
    float *row[ROWS], **table, h[N];
    matrix m = {ROWS, N, nullptr}, *d;
    point *p;
    int failed = lists();
    cudaMalloc(&table, sizeof(row));
    cudaMalloc(&d, sizeof(m));
    cudaMalloc(&p, N * sizeof(*p));
    for (float *&r : row)
        cudaMalloc(&r, sizeof(h));
    cudaMemcpy(table, row, sizeof(row), cudaMemcpyHostToDevice);
    m.row = table;
    cudaMemcpy(d, &m, sizeof(m), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(whole, &m, sizeof(m));
    cudaMemcpyToSymbol(one_row, &row[ROWS - 1], sizeof(one_row));
    const dim3 blocks((N + 127) / 128, 2);
    for (int k = 0; k < TIMES; k++) {
        fill<<<blocks, 128>>>(table, N);
        plain<<<blocks.x, 128>>>(p, N);
        scale<<<blocks.x, 128>>>(d, 2);
        shift<<<blocks.x, 128>>>(1);
        negate<<<blocks.x, 128>>>(table, N);
        swap_signs<<<blocks.x, 128>>>(N);
        for (int r = 0; r < ROWS; r++) {
            cudaMemcpy(h, row[r], sizeof(h), cudaMemcpyDeviceToHost);
            for (int i = 0; i < N; i++)
                failed += h[i] != (r == ROWS - 1 ? 1 : -1) * (float)(2 * (r + i % 7) + 1);
        }
    }
    by_variables<<<blocks.x, 128>>>(row[0], N);
    cudaMemcpy(h, row[0], sizeof(h), cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        failed += h[i] != i + i / 128;
    for (float *r : row)
        cudaFree(r);
    cudaFree(table);
    cudaFree(d);
    cudaFree(p);
    printf("%d wrong\n", failed);
    return failed != 0;
}
