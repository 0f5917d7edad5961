/* SPDX-License-Identifier: Apache-2.0 */
/* The baselines of kernels on the CPU: the same work in C with OpenMP. */
#include "host_target.h"

#include <math.h>
#include <string.h>

void plain_saxpy(int n, float a, const float *x, float *y)
{
#pragma omp parallel for simd schedule(static)
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

void plain_add(int n, const float *a, const float *b, float *c)
{
#pragma omp parallel for simd schedule(static)
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

/* Abramowitz and Stegun's polynomial, as in CUDA's sample. */
static inline float normal(float d)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float tail =
        0.39894228040143267794f * expf(-0.5f * d * d) *
        (k * (0.31938153f +
              k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

void plain_options(int n, const float *price, const float *strike, const float *years, float *call,
                   float *put)
{
    const float rate = 0.02f, volatility = 0.30f;
#pragma omp parallel for simd schedule(static)
    for (int i = 0; i < n; i++) {
        const float root = sqrtf(years[i]);
        const float d1 =
            (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
            (volatility * root);
        const float d2 = d1 - volatility * root, n1 = normal(d1), n2 = normal(d2),
                    discount = expf(-rate * years[i]);
        call[i] = price[i] * n1 - strike[i] * discount * n2;
        put[i] = strike[i] * discount * (1.0f - n2) - price[i] * (1.0f - n1);
    }
}

void plain_sums(int blocks, const float *x, float *partial)
{
#pragma omp parallel for schedule(static)
    for (int b = 0; b < blocks; b++) {
        float s[256];
        for (int t = 0; t < 256; t++)
            s[t] = x[b * 256 + t];
        for (int width = 128; width > 0; width /= 2)
            for (int t = 0; t < width; t++)
                s[t] += s[t + width];
        partial[b] = s[0];
    }
}

void plain_warp_scan(int n, const float *x, float *y)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i += 32) {
        float sum = 0;
        for (int k = i; k < i + 32; k++)
            y[k] = sum += x[k];
    }
}

/* Blocked in k and j, the inner loop along rows. */
void plain_matmul(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    enum { K = 64, J = 512 };
#pragma omp parallel for schedule(static)
    for (int i0 = 0; i0 < n; i0 += 16) {
        memset(c + (size_t)i0 * n, 0, 16 * sizeof(float) * (size_t)n);
        for (int j0 = 0; j0 < n; j0 += J)
            for (int k0 = 0; k0 < n; k0 += K)
                for (int i = i0; i < i0 + 16; i++)
                    for (int k = k0; k < k0 + K; k++) {
                        const float factor = a[i * n + k];
                        for (int j = j0; j < j0 + J; j++)
                            c[i * n + j] += factor * b[k * n + j];
                    }
    }
}

void plain_stencil(int n, const float *x, float *y)
{
#pragma omp parallel for schedule(static)
    for (int i = 1; i < n - 1; i++)
#pragma omp simd
        for (int j = 1; j < n - 1; j++)
            y[i * n + j] = 0.5f * x[i * n + j] + 0.125f * (x[i * n + j - 1] + x[i * n + j + 1] +
                                                           x[(i - 1) * n + j] + x[(i + 1) * n + j]);
}

void plain_histogram(int n, const unsigned char *x, unsigned *bins)
{
#pragma omp parallel
    {
        unsigned own[256] = {0};
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++)
            own[x[i]]++;
#pragma omp critical
        for (int b = 0; b < 256; b++)
            bins[b] += own[b];
    }
}
