// SPDX-License-Identifier: Apache-2.0
// C = A B for row-major matrices, A of m x k and B of k x n, by two kernels: one that reads global
// memory only, and one that shares tiles of 16 x 16 among the threads of a block.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TILE 16

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void matmul(int m, int n, int k, const float *A, const float *B, float *C)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n)
        return;
    float sum = 0;
    for (int l = 0; l < k; l++)
        sum += A[(size_t)i * k + l] * B[(size_t)l * n + j];
    C[(size_t)i * n + j] = sum;
}

__global__ void matmul_tiled(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int j = blockIdx.x * TILE + tx;
    int i = blockIdx.y * TILE + ty;
    float sum = 0;
    for (int first = 0; first < k; first += TILE) {
        a[ty][tx] = i < m && first + tx < k ? A[(size_t)i * k + first + tx] : 0;
        b[ty][tx] = j < n && first + ty < k ? B[(size_t)(first + ty) * n + j] : 0;
        __syncthreads();
        for (int l = 0; l < TILE; l++)
            sum += a[ty][l] * b[l][tx];
        __syncthreads();
    }
    if (i < m && j < n)
        C[(size_t)i * n + j] = sum;
}

// Counts the elements of the device's result that differ from the expected ones, and clears it.
static size_t count_wrong(float *C, const float *expected, float *got, size_t count)
{
    CHECK(cudaMemcpy(got, C, count * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(C, 0, count * sizeof(float)));
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += got[i] != expected[i];
    return wrong;
}

static size_t run_on_device(int m, int n, int k, const float *a, const float *b, const float *c)
{
    size_t a_bytes = (size_t)m * k * sizeof(float), b_bytes = (size_t)k * n * sizeof(float);
    size_t c_bytes = (size_t)m * n * sizeof(float);
    float *A, *B, *C, *got = (float *)malloc(c_bytes);
    CHECK(cudaMalloc(&A, a_bytes));
    CHECK(cudaMalloc(&B, b_bytes));
    CHECK(cudaMalloc(&C, c_bytes));
    CHECK(cudaMemcpy(A, a, a_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(B, b, b_bytes, cudaMemcpyHostToDevice));

    dim3 block(TILE, TILE);
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);

    // A chunk of rows of C needs the same rows of A, and all of B.
    #pragma kmm parallel(j = 0:n, i = 0:m) chunk(n, m / 4) shape(A[m][k], C[m][n]) \
                read(A[i][:], B) write(C[i][j])
    matmul<<<grid, block>>>(m, n, k, A, B, C);
    CHECK(cudaGetLastError());
    size_t wrong = count_wrong(C, c, got, (size_t)m * n);

    // In chunks of rows and columns a chunk needs columns of B only.
    #pragma kmm parallel(j = 0:n, i = 0:m) chunk(n / 2, m / 4) shape(A[m][k], B[k][n], C[m][n]) \
                read(A[i][:], B[:][j]) write(C[i][j])
    matmul_tiled<<<grid, block>>>(m, n, k, A, B, C);
    CHECK(cudaGetLastError());
    wrong += count_wrong(C, c, got, (size_t)m * n);

    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
    free(got);
    return wrong;
}

static void multiply_on_host(int m, int n, int k, const float *a, const float *b, float *c)
{
    memset(c, 0, (size_t)m * n * sizeof(float));
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++)
            for (int j = 0; j < n; j++)
                c[(size_t)i * n + j] += a[(size_t)i * k + l] * b[(size_t)l * n + j];
}

// Whole numbers in [-4, 4): every sum of products is exact in any order.
static float *random_matrix(size_t count, uint64_t seed)
{
    float *x = (float *)malloc(count * sizeof(float));
    if (!x) {
        fprintf(stderr, "matmul: not enough host memory for %zu floats\n", count);
        exit(1);
    }
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = (float)((int)(seed >> 61) - 4);
    }
    return x;
}

// A whole number from the command line; -1, which no option allows, when it is none.
static long number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    return end != text && *end == '\0' ? value : -1;
}

static int usage(void)
{
    fprintf(stderr, "usage: matmul [-n columns] [-m rows] [-k inner size] [-s seed]\n");
    return 2;
}

int main(int argc, char **argv)
{
    long n = 150, m = 0, k = 0;
    uint64_t seed = 1;
    for (int option; (option = getopt(argc, argv, "n:m:k:s:")) != -1;) {
        switch (option) {
        case 'n': n = number(optarg); break;
        case 'm': m = number(optarg); break;
        case 'k': k = number(optarg); break;
        case 's': seed = strtoull(optarg, NULL, 10); break;
        default: return usage();
        }
    }
    if (m == 0)
        m = n;
    if (k == 0)
        k = n;
    if (optind != argc || n < 1 || m < 1 || k < 1 || n > 200000 || m > 200000 || k > 200000)
        return usage();

    float *a = random_matrix((size_t)m * k, seed), *b = random_matrix((size_t)k * n, seed + 1);
    float *c = random_matrix((size_t)m * n, 0);
    multiply_on_host(m, n, k, a, b, c);
    double trace = 0;
    for (long i = 0; i < m && i < n; i++)
        trace += c[i * n + i];

    size_t wrong = run_on_device(m, n, k, a, b, c);
    printf("matmul: %ld x %ld x %ld, trace = %.9g, %zu wrong: %s\n", m, k, n, trace, wrong,
           wrong ? "FAILED" : "ok");
    free(a);
    free(b);
    free(c);
    return wrong != 0;
}
