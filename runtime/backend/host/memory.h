/* SPDX-License-Identifier: Apache-2.0 */
/* Windows and frames of pretend devices. backend.h is the contract of the functions. */
#ifndef KMM__BACKEND_HOST_MEMORY_H
#define KMM__BACKEND_HOST_MEMORY_H

#include "backend/backend.h"

int kmm__host_window_reserve(kmm__gpu_t *gpu, size_t bytes, kmm__addr_t *out);
void kmm__host_window_release(kmm__gpu_t *gpu, kmm__addr_t window, size_t bytes);
int kmm__host_frame_create(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out);
int kmm__host_frame_create_host_backed(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out);
void kmm__host_frame_destroy(kmm__gpu_t *gpu, kmm__frame_handle_t frame, size_t bytes);
int kmm__host_frame_map(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes);
int kmm__host_frame_unmap(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes);
int kmm__host_frames_allow(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes);
int kmm__host_frame_share(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes, kmm__gpu_t *peer);

#endif
