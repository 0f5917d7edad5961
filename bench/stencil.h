// SPDX-License-Identifier: Apache-2.0
// The 5-point stencil on n x n cells that is run by hand and managed, and what it begins with. All
// arithmetic is exact but for rounding that does not depend on how the compiler contracts it, so
// that results are compared bit by bit.
#ifndef KMM_BENCH_STENCIL_H
#define KMM_BENCH_STENCIL_H

#include <stdint.h>
#include <string.h>

__host__ __device__ static inline float stencil_begin(long i)
{
    unsigned int h = (unsigned int)i * 2654435761u;
    return (float)((h ^ h >> 15) % 1024);
}

__host__ __device__ static inline float stencil_cell(float middle, float up, float down, float left,
                                                     float right)
{
    return 0.5f * middle + 0.125f * ((up + down) + (left + right));
}

// What cell i adds to the sum that stands for all cells.
__host__ __device__ static inline unsigned long long stencil_weight(long i, float value)
{
    unsigned int bits;
    memcpy(&bits, &value, sizeof(bits));
    return (unsigned long long)bits * (2ull * (unsigned long long)i + 1);
}

// Adds v of all threads of a block of 256 to *sum.
__device__ static inline void stencil_add(unsigned long long v, unsigned long long *sum)
{
    __shared__ unsigned long long part[256];
    part[threadIdx.x] = v;
    for (int k = 128; k > 0; k /= 2) {
        __syncthreads();
        if (threadIdx.x < k)
            part[threadIdx.x] += part[threadIdx.x + k];
    }
    if (threadIdx.x == 0)
        atomicAdd(sum, part[0]);
}

#endif
