/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person would write by hand for the same work. It lies in a shared library of its own,
 * linked before kmm comes in, so that none of its memory or launches are managed.
 * Times are seconds; a negative one is a failure, which has been printed.
 */
#ifndef KMM_BENCH_BASELINE_H
#define KMM_BENCH_BASELINE_H

#ifdef __cplusplus
extern "C" {
#endif

/* One plain launch on n elements in device memory: the least time of `repeat` runs. */
double baseline_launch(int n, int repeat);

/* From pinned host memory and back in `chunks` chunks over three streams, which is one buffer of
 * each array for each stream: the least time of `repeat` runs. */
double baseline_stream(int n, int chunks, const float *a, const float *b, float *c, int repeat);

#ifdef __cplusplus
}
#endif
#endif
