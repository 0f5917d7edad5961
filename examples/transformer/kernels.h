// SPDX-License-Identifier: Apache-2.0
// The kernels of transformer.cu: all that is no matrix product.
#ifndef TRANSFORMER_KERNELS_H
#define TRANSFORMER_KERNELS_H
#include <math.h>

enum { THREADS = 128 };
#define EPSILON 1e-5f // keeps a row of equal values from a division by 0

// The sum, or the largest, of the values that the threads of a block give; each thread gets it.
__device__ static float combine(float value, bool largest)
{
    __shared__ float shared[THREADS];
    int t = threadIdx.x;
    shared[t] = value;
    __syncthreads();
    for (int width = THREADS / 2; width > 0; width /= 2) {
        if (t < width)
            shared[t] = largest ? fmaxf(shared[t], shared[t + width])
                                : shared[t] + shared[t + width];
        __syncthreads();
    }
    float result = shared[0];
    __syncthreads();
    return result;
}

// out = (in - mean) / deviation, row by row: a block has one row.
__global__ void normalize(int width, const float *in, float *out)
{
    int row = blockIdx.x;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        sum += in[row * width + i];
    float mean = combine(sum, false) / width;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float off = in[row * width + i] - mean;
        squares += off * off;
    }
    float scale = 1 / sqrtf(combine(squares, false) / width + EPSILON);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[row * width + i] = (in[row * width + i] - mean) * scale;
}

// Softmax of each row of scores, in place. A token attends to itself and to those before it: row r
// of a head has r + 1 scores, and 0 behind them.
__global__ void softmax(int tokens, float *scores)
{
    int row = blockIdx.x, used = row % tokens + 1;
    float largest = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < used; i += blockDim.x)
        largest = fmaxf(largest, scores[row * tokens + i]);
    largest = combine(largest, true);
    for (int i = threadIdx.x; i < used; i += blockDim.x)
        sum += expf(scores[row * tokens + i] - largest);
    sum = combine(sum, false);
    for (int i = threadIdx.x; i < tokens; i += blockDim.x)
        scores[row * tokens + i] = i < used ? expf(scores[row * tokens + i] - largest) / sum : 0;
}

__global__ void gelu(int n, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
}

__global__ void add(int n, const float *more, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += more[i];
}

#endif
