// SPDX-License-Identifier: Apache-2.0
// Matrix products of transformer.cu. On a GPU cuBLAS computes them. The CPU target has no cuBLAS:
// there a plain kernel stands for it, and like cuBLAS it is put on a stream.
#ifndef TRANSFORMER_BLAS_H
#define TRANSFORMER_BLAS_H

// C = factor A B for a matrix A of m x k, or C = factor A B^T if `transposed` is set. C is m x n.
// Matrices lie by rows, whose starts are lda, ldb and ldc elements apart.
struct product {
    bool transposed;
    int m, n, k, lda, ldb, ldc;
    float factor;
};

#ifndef _KMM_HOST // which kmmcc defines for the CPU
#include <cublas_v2.h>

typedef cublasHandle_t blas_t;

static bool blas_open(blas_t *blas)
{
    return cublasCreate(blas) == CUBLAS_STATUS_SUCCESS;
}

static void blas_close(blas_t blas)
{
    cublasDestroy(blas);
}

// cuBLAS takes matrices by columns, and so reads each of ours as its transpose: it is asked for
// C^T = B^T A^T.
static bool blas_multiply(blas_t blas, cudaStream_t stream, const struct product *p, const float *a,
                          const float *b, float *c)
{
    const float none = 0;
    return cublasSetStream(blas, stream) == CUBLAS_STATUS_SUCCESS &&
           cublasSgemm(blas, p->transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->m,
                       p->k, &p->factor, b, p->ldb, a, p->lda, &none, c, p->ldc) ==
               CUBLAS_STATUS_SUCCESS;
}

#else

typedef int blas_t;

static bool blas_open(blas_t *blas)
{
    *blas = 0;
    return true;
}

static void blas_close(blas_t) {}

__global__ void plain_product(struct product p, const float *a, const float *b, float *c)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column >= p.n)
        return;
    float sum = 0;
    for (int i = 0; i < p.k; i++)
        sum += a[row * p.lda + i] * (p.transposed ? b[column * p.ldb + i] : b[i * p.ldb + column]);
    c[row * p.ldc + column] = p.factor * sum;
}

static bool blas_multiply(blas_t, cudaStream_t stream, const struct product *p, const float *a,
                          const float *b, float *c)
{
    plain_product<<<dim3((p->n + 63) / 64, p->m), 64, 0, stream>>>(*p, a, b, c);
    return cudaGetLastError() == cudaSuccess;
}

#endif
#endif
