// A matrix product that is split along its inner dimension: a loop makes a task with a library call for each part, which adds to the
// copy of its device, and launches add the copies. The bits are those without kmm, whatever the devices and their memory.
// RUN: %kmmcc --target=host -fno-kmm %san -O1 %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=256K KMM_FRAME=16K KMM_JOIN=0 %t 2>&1 | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=16K KMM_CHECK=access %t 2>&1 | diff %t.expected -
// RUN: FileCheck %s < %t.expected
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 128, SIZE = 20, COPIES = 2 };

__global__ void multiply_add(int n, int length, int row, const float *A, const float *B, float *P)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    float sum = P[y * n + x];
    for (int k = 0; k < length; k++)
        sum += A[y * row + k] * B[k * n + x];
    P[y * n + x] = sum;
}

__global__ void add(int n, const float *P, float *C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] += P[i];
}

// What cuBLAS does: P += A B on the stream, where A has `length` columns, and rows that are `row` apart.
static void library_gemm(cudaStream_t s, int n, int length, int row, const float *A, const float *B, float *P)
{
    multiply_add<<<dim3(n / 16, n / 16), dim3(16, 16), 0, s>>>(n, length, row, A, B, P);
}

static float *zeros(int n)
{
    float *p;
    cudaMalloc(&p, n * sizeof(float));
    cudaMemset(p, 0, n * sizeof(float));
    return p;
}

int main()
{
    static float a[N * N], b[N * N], c[N * N];
    int n = N, size = SIZE, count = 1;
    float *A = zeros(n * n), *B = zeros(n * n), *C = zeros(n * n), *copies[COPIES];
    cudaStream_t streams[COPIES];
    cudaGetDeviceCount(&count);
    srand(1);
    for (int i = 0; i < n * n; i++) {
        a[i] = rand() % 1000 / 997.0f;
        b[i] = rand() % 1000 / 991.0f;
    }
    cudaMemcpy(A, a, sizeof(a), cudaMemcpyHostToDevice);
    cudaMemcpy(B, b, sizeof(b), cudaMemcpyHostToDevice);
    for (int d = 0; d < COPIES; d++) {
        cudaSetDevice(d % count);
        cudaStreamCreate(&streams[d]);
        copies[d] = zeros(n * n);
    }
    for (int k = 0, turn = 0; k < n; k += size, turn++) {
        int d = turn % COPIES, length = n - k < size ? n - k : size;
        cudaStream_t s = streams[d];
        float *P = copies[d];
        cudaSetDevice(d % count);
        #pragma kmm task stream(s) shape(A[n][n], B[n][n]) \
                    read(A[:][k:length], B[k:length][:]) update(P[0:n * n])
        library_gemm(s, n, length, n, A + k, B + k * n, P);
    }
    for (int d = 0; d < COPIES; d++) {
        float *P = copies[d];
        cudaSetDevice(d % count);
        cudaStreamSynchronize(streams[d]);
        #pragma kmm parallel(i = 0:n * n) chunk(n * n / 3) read(P[i]) update(C[i])
        add<<<(n * n + 255) / 256, 256>>>(n * n, P, C);
        cudaDeviceSynchronize();
    }
    cudaMemcpy(c, C, sizeof(c), cudaMemcpyDeviceToHost);
    uint32_t bits, hash = 0;
    double wrong = 0;
    for (int i = 0; i < n * n; i++) {
        double sum = 0;
        for (int k = 0; k < n; k++)
            sum += (double)a[i / n * n + k] * b[k * n + i % n];
        wrong = sum - c[i] > wrong ? sum - c[i] : c[i] - sum > wrong ? c[i] - sum : wrong;
        memcpy(&bits, &c[i], sizeof(bits));
        hash = hash * 31 + bits;
    }
    // CHECK: right {{[0-9a-f]+}}
    printf("%s %x\n", wrong < 1e-3 ? "right" : "wrong", hash);
}
