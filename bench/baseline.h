/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The baselines: what a person would write by hand for the same work. They lie in a shared library
 * of their own, linked before kmm, so that none of their memory or launches are managed. Times are
 * in seconds; a negative one is a failure, which has been printed.
 */
#ifndef KMM_BENCH_BASELINE_H
#define KMM_BENCH_BASELINE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One plain launch on n elements in device memory: the least time of `repeat` runs. */
double baseline_launch(int n, int repeat);

/* Three arrays made, set and added, all of it within the time. */
double baseline_first(int n);

/* From pinned host memory and back in `chunks` chunks over three streams, which is one buffer of
 * each array for each stream: the least time of `repeat` runs. */
double baseline_stream(int n, int chunks, const float *a, const float *b, float *c, int repeat);

/* From nothing to a context on the first GPU; to be called before anything else that uses CUDA. */
double baseline_context(void);

/* From ordinary memory and back by cudaMemcpy, with one launch in between, device memory being
 * there before. */
double baseline_copy(int n, const float *a, const float *b, float *c);

/* Bytes a second, both ways together, of `pieces` copies of `bytes` in and as many out at the same
 * time, pinned. */
double baseline_two_way(size_t bytes, int pieces);

#ifdef __cplusplus
}
#endif
#endif
