// SPDX-License-Identifier: Apache-2.0
// A block of a transformer, forward: y = x + attention(norm(x)), then y + mlp(norm(y)).
//
// The launches of the kernels, which are in kernels.h, have pragmas that divide them. The matrix
// products are calls of a library, cuBLAS (blas.h), and so stand in tasks: libkmm brings the parts
// that the clauses name to a GPU, and hands their addresses there to the call. A product is made in
// bands of rows, so that no GPU has to hold a whole matrix. Of the scores of all heads, which are
// the largest array, a task uses a few rows of one head.
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "blas.h"
#include "kernels.h"
#include "reference.h"

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { BAND = 64, MAX_GPUS = 16 };

static int gpus;
static blas_t blas[MAX_GPUS];

// A matrix of height x width, and the part of it that a product uses.
struct part {
    float *at;
    int height, width, row, rows, column, columns;
};

static struct part whole(float *at, int height, int width)
{
    return {at, height, width, 0, height, 0, width};
}

// Rows from `row` on and the columns of head h.
static struct part head(float *at, int height, int width, int h, int heads)
{
    return {at, height, width, 0, height, width / heads * h, width / heads};
}

// C = factor A B, or factor A B^T: a task for each band of rows, on each GPU in turn.
static void multiply(struct part C, float factor, struct part A, struct part B, bool transposed)
{
    const float *a = A.at, *b = B.at;
    float *c = C.at;
    for (int first = 0; first < C.rows; first += BAND) {
        int rows = C.rows - first < BAND ? C.rows - first : BAND, gpu = first / BAND % gpus;
        int from = A.row + first, to = C.row + first;
        struct product p = {transposed, rows, C.columns, A.columns, A.width, B.width, C.width,
                            factor};
        cudaStream_t stream = 0;
        bool good = false;
        #pragma kmm task stream(stream) device(gpu) \
                    shape(a[A.height][A.width], b[B.height][B.width], c[C.height][C.width]) \
                    read(a[from:rows][A.column:A.columns]) \
                    read(b[B.row:B.rows][B.column:B.columns]) \
                    write(c[to:rows][C.column:C.columns])
        good = blas_multiply(blas[gpu], stream, &p, a + (size_t)from * A.width + A.column,
                             b + (size_t)B.row * B.width + B.column,
                             c + (size_t)to * C.width + C.column);
        if (!good) {
            fprintf(stderr, "transformer: a matrix product failed\n");
            exit(1);
        }
    }
}

static void launch_normalize(int rows, int width, const float *in, float *out)
{
    #pragma kmm parallel(row: block.x) chunk(BAND) shape(in[rows][width], out[rows][width]) \
                read(in[row][:]) write(out[row][:])
    normalize<<<rows, THREADS>>>(width, in, out);
    CHECK(cudaGetLastError());
}

static void launch_add(int n, const float *more, float *x)
{
    #pragma kmm parallel(i = 0:n) chunk(n / 4) read(more[i]) update(x[i])
    add<<<(n + THREADS - 1) / THREADS, THREADS>>>(n, more, x);
    CHECK(cudaGetLastError());
}

// out = the attention of all heads, for normalized tokens in `in`.
static void attention(struct sizes z, float *in, float *const *w, float *out)
{
    float *q, *k, *v, *scores, *mixed;
    size_t bytes = (size_t)z.tokens * z.width * sizeof(float);
    int rows = z.heads * z.tokens, tokens = z.tokens;
    for (float **each : {&q, &k, &v, &mixed})
        CHECK(cudaMalloc(each, bytes));
    CHECK(cudaMalloc(&scores, (size_t)rows * tokens * sizeof(float)));
    struct part x = whole(in, tokens, z.width);
    multiply(whole(q, tokens, z.width), 1, x, whole(w[0], z.width, z.width), false);
    multiply(whole(k, tokens, z.width), 1, x, whole(w[1], z.width, z.width), false);
    multiply(whole(v, tokens, z.width), 1, x, whole(w[2], z.width, z.width), false);
    float factor = 1 / sqrtf(z.width / z.heads);
    for (int h = 0; h < z.heads; h++)
        multiply({scores, rows, tokens, h * tokens, tokens, 0, tokens}, factor,
                 head(q, tokens, z.width, h, z.heads), head(k, tokens, z.width, h, z.heads), true);
    #pragma kmm parallel(row: block.x) chunk(BAND) shape(scores[rows][tokens]) \
                update(scores[row][:])
    softmax<<<rows, THREADS>>>(tokens, scores);
    CHECK(cudaGetLastError());
    for (int h = 0; h < z.heads; h++)
        multiply(head(mixed, tokens, z.width, h, z.heads), 1,
                 {scores, rows, tokens, h * tokens, tokens, 0, tokens},
                 head(v, tokens, z.width, h, z.heads), false);
    multiply(whole(out, tokens, z.width), 1, whole(mixed, tokens, z.width),
             whole(w[3], z.width, z.width), false);
    for (float *each : {q, k, v, mixed, scores})
        CHECK(cudaFree(each));
}

// The block: x becomes its result. w are the weights: of queries, keys, values, the attention's
// result, and the two layers of the MLP.
static void block_on_device(struct sizes z, float *x, float *const *w)
{
    int n = z.tokens * z.width, inner = z.tokens * z.inner;
    float *normal, *hidden, *change;
    CHECK(cudaMalloc(&normal, n * sizeof(float)));
    CHECK(cudaMalloc(&change, n * sizeof(float)));
    CHECK(cudaMalloc(&hidden, inner * sizeof(float)));
    launch_normalize(z.tokens, z.width, x, normal);
    attention(z, normal, w, change);
    launch_add(n, change, x);

    launch_normalize(z.tokens, z.width, x, normal);
    multiply(whole(hidden, z.tokens, z.inner), 1, whole(normal, z.tokens, z.width),
             whole(w[4], z.width, z.inner), false);
    #pragma kmm parallel(i = 0:inner) chunk(inner / 8) update(hidden[i])
    gelu<<<(inner + THREADS - 1) / THREADS, THREADS>>>(inner, hidden);
    CHECK(cudaGetLastError());
    multiply(whole(change, z.tokens, z.width), 1, whole(hidden, z.tokens, z.inner),
             whole(w[5], z.inner, z.width), false);
    launch_add(n, change, x);
    for (float *each : {normal, hidden, change})
        CHECK(cudaFree(each));
}

static float *random_matrix(size_t count, float scale)
{
    static unsigned z = 1;
    float *x = (float *)malloc(count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        z = z * 1664525u + 1013904223u;
        x[i] = scale * ((float)(z >> 8) / (1 << 23) - 1);
    }
    return x;
}

static float *to_device(const float *x, size_t count)
{
    float *copy;
    CHECK(cudaMalloc(&copy, count * sizeof(float)));
    CHECK(cudaMemcpy(copy, x, count * sizeof(float), cudaMemcpyHostToDevice));
    return copy;
}

int main(int argc, char **argv)
{
    int tokens = argc > 1 ? atoi(argv[1]) : 256, heads = argc > 2 ? atoi(argv[2]) : 4, have;
    gpus = argc > 3 ? atoi(argv[3]) : 1; // more than 1 need kmmcc: others know no device() clause
    CHECK(cudaGetDeviceCount(&have));
    have = have > MAX_GPUS ? MAX_GPUS : have;
    if (argc > 4 || tokens < 1 || tokens > 4096 || heads < 1 || heads > 32 || gpus < 1 ||
        gpus > have)
        return fprintf(stderr, "usage: transformer [tokens [heads [GPUs of the products]]]\n"), 2;
    struct sizes z = {tokens, heads, 32 * heads, 128 * heads};
    size_t n = (size_t)z.tokens * z.width, square = (size_t)z.width * z.width;
    size_t count[] = {square, square, square, square, 4 * square, 4 * square};
    float *x = random_matrix(n, 1), *weight[6], *W[6];
    for (int k = 0; k < 6; k++) {
        weight[k] = random_matrix(count[k], 1 / sqrtf(k == 5 ? z.inner : z.width));
        W[k] = to_device(weight[k], count[k]);
    }
    for (int k = 0; k < gpus; k++) {
        CHECK(cudaSetDevice(k));
        if (!blas_open(&blas[k]))
            return fprintf(stderr, "transformer: no cuBLAS on GPU %d\n", k), 1;
    }
    CHECK(cudaSetDevice(0));
    float *X = to_device(x, n), *y = (float *)malloc(n * sizeof(float));
    block_on_device(z, X, W);
    CHECK(cudaMemcpy(y, X, n * sizeof(float), cudaMemcpyDeviceToHost));

    double *expected = block_on_host(z, x, weight), worst = 0;
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(y[i] - expected[i]));
    bool right = worst < 1e-4;
    printf("transformer: %d tokens, %d heads, %d wide: %s\n", tokens, heads, z.width,
           right ? "ok" : "FAILED");
    for (int k = 0; k < gpus; k++)
        blas_close(blas[k]);
    CHECK(cudaFree(X));
    for (int k = 0; k < 6; k++) {
        CHECK(cudaFree(W[k]));
        free(weight[k]);
    }
    free(x), free(y), free(expected);
    return !right;
}
