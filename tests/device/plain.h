/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA code that knows nothing of kmm, in a library of its own, as others' libraries are. 0, or a cudaError_t. */
#ifndef KMM_TEST_PLAIN_H
#define KMM_TEST_PLAIN_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

int plain_alloc(int n, int **device, int **pinned);
/* Enqueue: keep the stream busy for that long; then device[i] = value + i; copy to pinned memory. */
int plain_slow_fill(cudaStream_t s, int milliseconds, int n, int value, int *device);
int plain_copy_out(cudaStream_t s, int n, int *pinned, const int *device);
int plain_add(cudaStream_t s, int n, int *device, const int *other);
int plain_wait(cudaStream_t s);
/* Memory of the current device that is free; and as much allocated, then freed. */
size_t plain_free_bytes(void);
int plain_can_alloc(size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
