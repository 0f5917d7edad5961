/* SPDX-License-Identifier: Apache-2.0 */
/* The work of host_target.cu as a C programmer writes it, with OpenMP; host_target.c. Each runs on
 * all cores. */
#ifndef KMM_BENCH_HOST_TARGET_H
#define KMM_BENCH_HOST_TARGET_H

#ifdef __cplusplus
extern "C" {
#endif

void plain_saxpy(int n, float a, const float *x, float *y);
void plain_add(int n, const float *a, const float *b, float *c);
void plain_options(int n, const float *price, const float *strike, const float *years, float *call,
                   float *put);
void plain_sums(int blocks, const float *x, float *partial); /* of 256 elements each, as a tree */
void plain_warp_scan(int n, const float *x,
                     float *y); /* sums from the first of each 32 elements on */
void plain_matmul(int n, const float *a, const float *b, float *c);
void plain_stencil(int n, const float *x, float *y);
void plain_histogram(int n, const unsigned char *x, unsigned *bins); /* 256 bins, added to */

#ifdef __cplusplus
}
#endif
#endif
