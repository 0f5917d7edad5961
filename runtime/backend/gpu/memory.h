/* SPDX-License-Identifier: Apache-2.0 */
/* Windows and frames of a GPU, and page-locking of host memory. backend.h is the contract of
 * functions without a comment. */
#ifndef KMM__BACKEND_GPU_MEMORY_H
#define KMM__BACKEND_GPU_MEMORY_H

#include "backend/gpu/driver.h"

/* Properties of a frame of the device's own memory. */
kmm__gpu_allocation_t kmm__gpu_frame_properties(const kmm__gpu_t *gpu);
/* Bytes of which sizes and addresses of frames are multiples; 0: the driver does not say. */
size_t kmm__gpu_granularity(const kmm__gpu_t *gpu);
/* Gives the device with this ordinal access to mapped memory. */
int kmm__gpu_set_access(const kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes, int ordinal);

int kmm__gpu_window_reserve(kmm__gpu_t *gpu, size_t bytes, kmm__addr_t *out);
void kmm__gpu_window_release(kmm__gpu_t *gpu, kmm__addr_t window, size_t bytes);
int kmm__gpu_frame_create(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out);
int kmm__gpu_frame_create_host_backed(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out);
void kmm__gpu_frame_destroy(kmm__gpu_t *gpu, kmm__frame_handle_t frame, size_t bytes);
int kmm__gpu_frame_map(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes);
int kmm__gpu_frame_map_without_access(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame,
                                      size_t bytes);
int kmm__gpu_frames_allow(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes);
int kmm__gpu_frame_unmap(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes);
int kmm__gpu_frame_share(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes, kmm__gpu_t *peer);
int kmm__gpu_host_register(kmm__backend_t *b, void *base, size_t bytes);
int kmm__gpu_host_unregister(kmm__backend_t *b, void *base);

#endif
