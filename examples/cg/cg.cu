// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients: solves A x = b for a sparse, symmetric, positive definite matrix A in CSR
// form: the entries of row r are those from begin[r] to begin[r + 1]. A matrix that is larger than
// a device is no obstacle: it is multiplied in blocks of rows, and the host knows which entries the
// rows of a block have.
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { THREADS = 128, BLOCKS_OF_ROWS = 7 };

struct matrix {
    int rows, *begin, *column;
    double *value;
};

// y = A x, for `rows` rows from `first` on
__global__ void multiply(int first, int rows, const int *begin, const int *column,
                         const double *value, const double *x, double *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows)
        return;
    double sum = 0;
    for (int k = begin[first + i]; k < begin[first + i + 1]; k++)
        sum += value[k] * x[column[k]];
    y[first + i] = sum;
}

// y = a x + b y
__global__ void combine(int n, double a, const double *x, double b, double *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + b * y[i];
}

// sum[0] += x . y
__global__ void dot(int n, const double *x, const double *y, double *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&sum[0], x[i] * y[i]);
}

static void launch_multiply(const struct matrix *host, const struct matrix *A, const double *X,
                            double *Y)
{
    const int *begin = A->begin, *column = A->column;
    const double *value = A->value;
    int n = host->rows, step = (n + BLOCKS_OF_ROWS - 1) / BLOCKS_OF_ROWS;
    for (int first = 0; first < n; first += step) {
        int rows = first + step < n ? step : n - first;
        int from = host->begin[first], entries = host->begin[first + rows] - from;
        #pragma kmm parallel(i = 0:rows) chunk(rows) read(begin[first + i : 2], X[0:n]) \
                    read(column[from:entries], value[from:entries]) write(Y[first + i])
        multiply<<<(rows + THREADS - 1) / THREADS, THREADS>>>(first, rows, begin, column, value, X,
                                                              Y);
    }
    CHECK(cudaGetLastError());
}

static void launch_combine(int n, double a, const double *X, double b, double *Y)
{
    #pragma kmm parallel(i = 0:n) chunk(n / 5) read(X[i]) update(Y[i])
    combine<<<(n + THREADS - 1) / THREADS, THREADS>>>(n, a, X, b, Y);
    CHECK(cudaGetLastError());
}

static double launch_dot(int n, const double *X, const double *Y, double *SUM)
{
    double sum;
    CHECK(cudaMemset(SUM, 0, sizeof(double)));
    #pragma kmm parallel(i = 0:n) chunk(n / 5) read(X[i], Y[i]) reduce(+: SUM[0])
    dot<<<(n + THREADS - 1) / THREADS, THREADS>>>(n, X, Y, SUM);
    CHECK(cudaMemcpy(&sum, SUM, sizeof(double), cudaMemcpyDeviceToHost));
    return sum;
}

static void *to_device(const void *from, size_t bytes)
{
    void *to;
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
}

// Solves A x = b from x = 0 until the residual is small; returns the number of steps.
static int solve(const struct matrix *host, const double *b, double *x, int most)
{
    int n = host->rows, entries = host->begin[n], steps = 0;
    size_t bytes = n * sizeof(double);
    struct matrix A = {n, (int *)to_device(host->begin, (n + 1) * sizeof(int)),
                       (int *)to_device(host->column, entries * sizeof(int)),
                       (double *)to_device(host->value, entries * sizeof(double))};
    double *X = (double *)to_device(x, bytes), *R = (double *)to_device(b, bytes);
    double *P = (double *)to_device(b, bytes), *AP, *SUM;
    CHECK(cudaMalloc(&AP, bytes));
    CHECK(cudaMalloc(&SUM, sizeof(double)));
    double old = launch_dot(n, R, R, SUM), enough = 1e-20 * old;
    for (; steps < most && old > enough; steps++) {
        launch_multiply(host, &A, P, AP);
        double alpha = old / launch_dot(n, P, AP, SUM);
        launch_combine(n, alpha, P, 1, X);
        launch_combine(n, -alpha, AP, 1, R);
        double now = launch_dot(n, R, R, SUM);
        launch_combine(n, 1, R, now / old, P);
        old = now;
    }
    CHECK(cudaMemcpy(x, X, bytes, cudaMemcpyDeviceToHost));
    void *all[] = {A.begin, A.column, A.value, X, R, P, AP, SUM};
    for (void *each : all)
        CHECK(cudaFree(each));
    return steps;
}

// The five-point Laplacian of a square with m x m cells, with 4.1 on the diagonal.
static struct matrix make_matrix(int m)
{
    int n = m * m, k = 0;
    struct matrix A = {n, (int *)malloc((n + 1) * sizeof(int)),
                       (int *)malloc(5 * n * sizeof(int)),
                       (double *)malloc(5 * n * sizeof(double))};
    for (int r = 0; r < n; r++) {
        int near[] = {r >= m ? r - m : -1, r % m ? r - 1 : -1, r, (r + 1) % m ? r + 1 : -1,
                      r + m < n ? r + m : -1};
        A.begin[r] = k;
        for (int column : near)
            if (column >= 0) {
                A.column[k] = column;
                A.value[k++] = column == r ? 4.1 : -1;
            }
    }
    A.begin[n] = k;
    return A;
}

int main(int argc, char **argv)
{
    int m = argc > 1 ? atoi(argv[1]) : 150;
    if (argc > 2 || m < 1 || m > 5000)
        return fprintf(stderr, "usage: cg [side of the square, 1 to 5000]\n"), 2;
    struct matrix A = make_matrix(m);
    double *b = (double *)malloc(A.rows * sizeof(double));
    double *x = (double *)calloc(A.rows, sizeof(double));
    for (int r = 0; r < A.rows; r++)
        b[r] = (r * 7919 % 1000) / 1000.0 - 0.5;
    int steps = solve(&A, b, x, 1000);

    // The largest element of b - A x, computed plainly.
    double worst = 0;
    for (int r = 0; r < A.rows; r++) {
        double left = b[r];
        for (int k = A.begin[r]; k < A.begin[r + 1]; k++)
            left -= A.value[k] * x[A.column[k]];
        worst = fmax(worst, fabs(left));
    }
    bool right = worst < 1e-8;
    printf("cg: %d unknowns, %d entries, %d steps: %s\n", A.rows, A.begin[A.rows], steps,
           right ? "ok" : "FAILED");
    free(A.begin), free(A.column), free(A.value), free(b), free(x);
    return !right;
}
