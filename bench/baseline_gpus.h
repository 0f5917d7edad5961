/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person would write by hand on one GPU or several, in the library of baseline.h. Times are
 * seconds; a negative one is a failure, which has been printed.
 */
#ifndef KMM_BENCH_BASELINE_GPUS_H
#define KMM_BENCH_BASELINE_GPUS_H

#include <stddef.h>
#include <stdint.h>

#include "cublas.h"

#ifdef __cplusplus
extern "C" {
#endif

int baseline_gpu_count(void);

/* One copy from the first GPU to the second, with access enabled: the least time of `repeat`. */
double baseline_peer(size_t bytes, int repeat);

/* What mapping costs: `frames` pieces of `bytes` are mapped side by side and unmapped, by a thread
 * for each GPU at the same time, with access for the GPU itself and, `peers`, all others.
 * `together`: access is set once for all pieces. Seconds for each piece. */
double baseline_map(int gpus, size_t bytes, int frames, int peers, int together);

/* Bytes a second, both ways and all GPUs together, of `pieces` copies of `bytes` in and as many out
 * on each GPU at the same time, pinned. */
double baseline_two_way_gpus(int gpus, size_t bytes, int pieces);

/* The stencil of stencil.h on n x n cells, in a band for each GPU, whose outermost rows are copied
 * to its neighbours after each step: the time of `steps` after `warm` steps, and the sum of all
 * cells (stencil.h). */
double baseline_stencil(int gpus, int n, int warm, int steps, uint64_t *sum);

/* b added to a and a to b in turn, each time in `chunks` launches: as launches, or as a graph of
 * two times that, made by capturing them. The least time of `repeat` runs of `iterations`, for each
 * iteration. */
double baseline_launches(int n, int chunks, int iterations, int repeat);
double baseline_graph(int n, int chunks, int iterations, int repeat);

/* C = A B in the memory of the first GPU: the least time of `repeat` calls. */
double baseline_matmul(const cublas_t *cublas, int n, int repeat);

#ifdef __cplusplus
}
#endif
#endif
