/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few calls of cuBLAS that are measured, from the library that KMM_BENCH_CUBLAS names, or one
 * of the usual names. It is opened when the program runs, so that nothing of it is needed to build.
 */
#ifndef KMM_BENCH_CUBLAS_H
#define KMM_BENCH_CUBLAS_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct cublas {
    int (*create)(void **handle); /* for the current device */
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    int (*set_math)(void *handle, int mode);
    /* Column-major C = alpha A B + beta C, with leading dimensions. */
    int (*sgemm)(void *handle, int op_a, int op_b, int m, int n, int k, const float *alpha,
                 const float *a, int lda, const float *b, int ldb, const float *beta, float *c,
                 int ldc);
} cublas_t;

enum { CUBLAS_PLAIN = 0 /* no transposition; the default arithmetic, which is that of FP32 */ };

/* 0, or -1 when there is none, which has been printed. */
static inline int cublas_open(cublas_t *out)
{
    const char *names[] = {getenv("KMM_BENCH_CUBLAS"), "libcublas.so.13", "libcublas.so.12",
                           "libcublas.so"};
    void *library = NULL;
    for (unsigned k = 0; k < sizeof(names) / sizeof(*names) && !library; k++)
        if (names[k] && *names[k])
            library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "no cuBLAS: %s; KMM_BENCH_CUBLAS names its library\n", dlerror());
        return -1;
    }
    struct {
        void **at;
        const char *name;
    } calls[] = {
        {(void **)&out->create, "cublasCreate_v2"},
        {(void **)&out->destroy, "cublasDestroy_v2"},
        {(void **)&out->set_stream, "cublasSetStream_v2"},
        {(void **)&out->set_math, "cublasSetMathMode"},
        {(void **)&out->sgemm, "cublasSgemm_v2"},
    };
    for (unsigned k = 0; k < sizeof(calls) / sizeof(*calls); k++) {
        *calls[k].at = dlsym(library, calls[k].name);
        if (!*calls[k].at) {
            fprintf(stderr, "cuBLAS has no %s\n", calls[k].name);
            return -1;
        }
    }
    return 0;
}

#endif
