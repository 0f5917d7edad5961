// SPDX-License-Identifier: Apache-2.0
// The same block of a transformer on the CPU, in plain C and in double, to compare with.
#ifndef TRANSFORMER_REFERENCE_H
#define TRANSFORMER_REFERENCE_H
#include <math.h>
#include <stdlib.h>

// Tokens; heads of the attention; values of a token; values of a token inside the MLP.
struct sizes {
    int tokens, heads, width, inner;
};

static double *host_zeros(size_t n)
{
    return (double *)calloc(n, sizeof(double));
}

// out += in w, for m rows of k values that become n values
static void host_multiply(int m, int k, int n, const double *in, const float *w, double *out)
{
    for (int r = 0; r < m; r++)
        for (int i = 0; i < k; i++)
            for (int c = 0; c < n; c++)
                out[(size_t)r * n + c] += in[(size_t)r * k + i] * w[(size_t)i * n + c];
}

static double *host_normalize(int rows, int width, const double *in)
{
    double *out = host_zeros((size_t)rows * width);
    for (int r = 0; r < rows; r++) {
        const double *row = in + (size_t)r * width;
        double mean = 0, square = 0;
        for (int i = 0; i < width; i++)
            mean += row[i] / width;
        for (int i = 0; i < width; i++)
            square += (row[i] - mean) * (row[i] - mean) / width;
        for (int i = 0; i < width; i++)
            out[(size_t)r * width + i] = (row[i] - mean) / sqrt(square + EPSILON);
    }
    return out;
}

// Adds to `out` what token t of one head gets. q, k, v and out are at the head's first column.
static void host_attend(struct sizes z, int t, const double *const *qkv, double *score, double *out)
{
    int d = z.width / z.heads;
    double largest = -INFINITY, sum = 0;
    for (int s = 0; s <= t; s++) {
        score[s] = 0;
        for (int i = 0; i < d; i++)
            score[s] += qkv[0][(size_t)t * z.width + i] * qkv[1][(size_t)s * z.width + i];
        score[s] /= sqrt((double)d);
        largest = fmax(largest, score[s]);
    }
    for (int s = 0; s <= t; s++)
        sum += score[s] = exp(score[s] - largest);
    for (int s = 0; s <= t; s++)
        for (int i = 0; i < d; i++)
            out[(size_t)t * z.width + i] += score[s] / sum * qkv[2][(size_t)s * z.width + i];
}

static void host_attention(struct sizes z, const double *in, float *const *w, double *out)
{
    size_t n = (size_t)z.tokens * z.width;
    double *all[3], *mixed = host_zeros(n), *score = host_zeros(z.tokens);
    for (int k = 0; k < 3; k++) {
        all[k] = host_zeros(n);
        host_multiply(z.tokens, z.width, z.width, in, w[k], all[k]);
    }
    for (int first = 0; first < z.width; first += z.width / z.heads) {
        const double *qkv[] = {all[0] + first, all[1] + first, all[2] + first};
        for (int t = 0; t < z.tokens; t++)
            host_attend(z, t, qkv, score, mixed + first);
    }
    host_multiply(z.tokens, z.width, z.width, mixed, w[3], out);
    free(all[0]), free(all[1]), free(all[2]), free(mixed), free(score);
}

static double *block_on_host(struct sizes z, const float *x, float *const *w)
{
    size_t n = (size_t)z.tokens * z.width, inner = (size_t)z.tokens * z.inner;
    double *y = host_zeros(n), *hidden = host_zeros(inner);
    for (size_t i = 0; i < n; i++)
        y[i] = x[i];
    double *normal = host_normalize(z.tokens, z.width, y);
    host_attention(z, normal, w, y);
    free(normal);
    normal = host_normalize(z.tokens, z.width, y);
    host_multiply(z.tokens, z.width, z.inner, normal, w[4], hidden);
    for (size_t i = 0; i < inner; i++)
        hidden[i] = 0.5 * hidden[i] * (1 + erf(hidden[i] * sqrt(0.5)));
    host_multiply(z.tokens, z.inner, z.width, hidden, w[5], y);
    free(normal), free(hidden);
    return y;
}

#endif
