// SPDX-License-Identifier: Apache-2.0
// The clock and the end at an error of benchmarks that nvcc and kmmcc compile alike.
#ifndef TIMED_H
#define TIMED_H

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>
#include <time.h>

static inline double now_us()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * t.tv_sec + 1e-3 * t.tv_nsec;
}

static inline void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    printf("FAILED: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

#endif
