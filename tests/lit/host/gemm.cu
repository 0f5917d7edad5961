// Library calls for each part of a product, C = A B split along k: a task for each part, on each device in turn, adds to the device's own copy of C; a launch adds the copies up.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t
// RUN: timeout 600 %t | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=1M KMM_CHECK=access timeout 600 %t | FileCheck %s
// RUN: %kmmcc --target=host -fno-kmm %san -O1 %s -o %t.erased && timeout 600 %t.erased | FileCheck %s
// CHECK: gemm: 0 wrong
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 150, SIZE = 40, MOST_DEVICES = 4 };

__global__ void part_of_product(int n, int length, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && col < n)
        for (int k = 0; k < length; k++)
            C[row * n + col] += A[row * n + k] * B[k * n + col];
}

// A library: C += A B, with rows of n elements, and `length` columns of A.
struct handle_t {
    cudaStream_t stream;
};
static void library_gemm(const handle_t *h, int n, int length, const float *A, const float *B,
                         float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    part_of_product<<<grid, block, 0, h->stream>>>(n, length, A, B, C);
}

__global__ void add(int n, const float *P, float *C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] += P[i];
}

int main()
{
    static float a[N * N], b[N * N], got[N * N];
    float *A, *B, *C, *copies[MOST_DEVICES];
    cudaStream_t streams[MOST_DEVICES];
    handle_t handles[MOST_DEVICES];
    const size_t bytes = sizeof(a);
    int devices = 0, wrong = 0;
    cudaGetDeviceCount(&devices);
    devices = devices < MOST_DEVICES ? devices : MOST_DEVICES;
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 7);
        b[i] = (float)(i % 5);
    }
    cudaMalloc(&A, bytes);
    cudaMalloc(&B, bytes);
    cudaMalloc(&C, bytes);
    cudaMemcpy(A, a, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(B, b, bytes, cudaMemcpyHostToDevice);
    cudaMemset(C, 0, bytes);
    for (int d = 0; d < devices; d++) {
        cudaSetDevice(d);
        cudaStreamCreate(&streams[d]);
        cudaMalloc(&copies[d], bytes);
        cudaMemset(copies[d], 0, bytes);
    }
    for (int k = 0, turn = 0; k < N; k += SIZE, turn++) {
        const int d = turn % devices, length = N - k < SIZE ? N - k : SIZE;
        const cudaStream_t s = streams[d];
        float *const P = copies[d];
        cudaSetDevice(d);
        #pragma kmm task stream(s) shape(A[N][N]) read(A[:][k:length], B[k * N:length * N]) update(P[0:N * N])
        {
            handles[d].stream = s;
            library_gemm(&handles[d], N, length, A + k, B + k * N, P);
        }
    }
    for (int d = 0; d < devices; d++) {
        const float *P = copies[d];
        cudaSetDevice(d);
        cudaStreamSynchronize(streams[d]);
        #pragma kmm parallel(i = 0:N * N) read(P[i]) update(C[i])
        add<<<(N * N + 255) / 256, 256>>>(N * N, P, C);
        cudaDeviceSynchronize();
    }
    cudaMemcpy(got, C, bytes, cudaMemcpyDeviceToHost);
    for (int row = 0; row < N; row++)
        for (int col = 0; col < N; col++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[row * N + k] * b[k * N + col];
            wrong += got[row * N + col] != sum;
        }
    printf("gemm: %d wrong\n", wrong);
    return wrong != 0;
}
