// SPDX-License-Identifier: Apache-2.0
// What the benchmarks for GPUs share: figures (bench.h), and calls of the CUDA runtime that must
// succeed.
#ifndef MEASURE_H
#define MEASURE_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#include "bench.h"

#define MEASURE_CHECK(call, otherwise)                                                             \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            otherwise;                                                                             \
        }                                                                                          \
    } while (0)
#define CHECK(call) MEASURE_CHECK(call, exit(1))
#define TRY(call) MEASURE_CHECK(call, return -1)

#endif
