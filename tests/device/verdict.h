// SPDX-License-Identifier: Apache-2.0
// What the tests on GPUs say. A file defines SUBJECT, which begins each of its lines.
#ifndef VERDICT_H
#define VERDICT_H

#include <cuda_runtime.h>
#include <kmm.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

static inline void expect(bool holds, const char *what)
{
    printf("%s: " SUBJECT ": %s\n", holds ? "PASS" : "FAIL", what);
    fflush(stdout);
    failures += !holds;
}

// Ends the test at an error of CUDA or of libkmm.
static inline void must(int error, const char *what)
{
    if (error == 0)
        return;
    printf("FAIL: " SUBJECT ": %s: error %d: %s %s\n", what, error,
           error > 0 ? cudaGetErrorString((cudaError_t)error) : "", kmm_error_text(kmm_default()));
    exit(1);
}

#endif
