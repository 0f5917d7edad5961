/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA runtime's memory, stream and event calls, with their meaning, over libkmm's arrays.
 *
 * Programs do not call these. For a CUDA program the linker turns its calls into calls of
 * libkmm_cuda.a's wrappers, which call these for managed memory; on the CPU target they are what
 * kmm's own cuda_runtime.h calls. Results are cudaError_t numbers. An error is printed once, and
 * remembered for kmm_cuda_get_last_error. A stream is named by its handle; NULL is the default one.
 */
#ifndef KMM_CUDA_API_H
#define KMM_CUDA_API_H

#include <stddef.h>

#include "launch.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    KMM_CUDA_SUCCESS = 0,
    KMM_CUDA_INVALID_VALUE = 1,
    KMM_CUDA_MEMORY_ALLOCATION = 2,
    KMM_CUDA_INVALID_CONFIGURATION = 9,
    KMM_CUDA_INVALID_DEVICE_POINTER = 17,
    KMM_CUDA_INVALID_MEMCPY_DIRECTION = 21,
    KMM_CUDA_NO_DEVICE = 100,
    KMM_CUDA_INVALID_DEVICE = 101,
    KMM_CUDA_INVALID_RESOURCE_HANDLE = 400,
    KMM_CUDA_NOT_READY = 600,
    KMM_CUDA_PEER_ACCESS_ALREADY_ENABLED = 704,
    KMM_CUDA_PEER_ACCESS_NOT_ENABLED = 705,
    KMM_CUDA_LAUNCH_FAILURE = 719,
    KMM_CUDA_NOT_SUPPORTED = 801,
    KMM_CUDA_UNKNOWN = 999
};

int kmm_cuda_malloc(void **out, size_t bytes);
int kmm_cuda_free(void *base);
/* Whether the address lies in an array that kmm_cuda_malloc or kmm_malloc made. */
int kmm_cuda_is_managed(const void *address);

/* kind is a cudaMemcpyKind: 0 host to host, 1 host to device, 2 device to host, 3 device to device,
 * 4 by the addresses. A kind that contradicts the addresses is KMM_CUDA_INVALID_VALUE. All return
 * when the source may be reused and, to host memory, the data is there. */
int kmm_cuda_memcpy(void *dst, const void *src, size_t bytes, int kind);
int kmm_cuda_memcpy_async(void *dst, const void *src, size_t bytes, int kind, void *stream);
int kmm_cuda_memcpy_2d(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                       size_t height, int kind);
int kmm_cuda_memset(void *dst, int value, size_t bytes);
int kmm_cuda_memset_async(void *dst, int value, size_t bytes, void *stream);

int kmm_cuda_device_synchronize(void);
int kmm_cuda_stream_create(void **out);
int kmm_cuda_stream_destroy(void *stream);
int kmm_cuda_stream_synchronize(void *stream);
int kmm_cuda_stream_query(void *stream);
int kmm_cuda_stream_wait_event(void *stream, void *event);
/* The same for what is not managed, too, and is put on the driver's stream later. */
int kmm_cuda_stream_await_event(void *stream, void *event);
/* Before the program does something itself that is to come after managed work on the stream (NULL:
 * on all), which may use memory that is not managed: waits for that work, and returns its error; or
 * has the driver's stream wait for it. Nothing inside of such work. */
int kmm_cuda_stream_settle(void *stream);
void kmm_cuda_stream_catch_up(void *stream);

int kmm_cuda_event_create(void **out);
int kmm_cuda_event_create_untimed(void **out); /* cudaEventDisableTiming */
int kmm_cuda_event_destroy(void *event);
/* Events are named by their handles, which may be the CUDA runtime's own. */
int kmm_cuda_event_record(void *event, void *stream);
int kmm_cuda_event_synchronize(void *event);
int kmm_cuda_event_query(void *event);
int kmm_cuda_event_is_recorded(void *event);
int kmm_cuda_event_elapsed_time(float *milliseconds, void *start, void *end);
/* Forgets what was recorded under a handle that is about to be destroyed. */
void kmm_cuda_event_forget(void *event);

/* The devices of the CPU target: one, or the pretend ones of KMM_DEVICES. Each thread has a current
 * device; on it its unannotated launches run once it has been set. */
typedef struct kmm_cuda_device_info {
    char name[64];
    size_t memory_bytes, free_bytes;
} kmm_cuda_device_info_t;
int kmm_cuda_device_count(int *count);
int kmm_cuda_device_set(int device);
int kmm_cuda_device_current(void);
/* "" and 0 where the device's memory is the host's. What was allocated while it was current is not
 * free. */
int kmm_cuda_device_info(int device, kmm_cuda_device_info_t *out);
int kmm_cuda_pointer_device(
    const void *address); /* on which it was allocated; -1: it is in no such memory */
int kmm_cuda_handle_device(const void *handle); /* of a stream or event that was made here */
/* The time between events that were made here. */
int kmm_cuda_event_elapsed_timed(float *milliseconds, void *start, void *end);
/* Memory of the host that kernels on the CPU use as well; to free another address is an error. */
int kmm_cuda_malloc_common(void **out, size_t bytes);
int kmm_cuda_free_common(void *p);
/* Whether two of these are of one device; else an error that says `what` they are. */
int kmm_cuda_same_device(const void *a, const void *b, const char *what);
/* Copies to and from variables of the device, which all of the CPU's devices share. What would need
 * one for each device is KMM_CUDA_NOT_SUPPORTED: other contents than another device wrote; contents
 * or an address of which another device has had the use, as by kernels that can change such
 * variables. */
int kmm_cuda_symbol_write(const void *symbol, void *at, const void *src, size_t bytes);
int kmm_cuda_symbol_read(void *dst, const void *symbol, const void *at, size_t bytes);
int kmm_cuda_symbol_address(void **out, const void *symbol);
void kmm_cuda_symbols_change(const char *kernel); /* by a kernel on the current device; said when
                                                     others may have changed them, too */
int kmm_cuda_peer_can(int device, int peer);
int kmm_cuda_peer_set(int peer, int enable);
int kmm_cuda_memcpy_peer(void *dst, int dst_device, const void *src, int src_device, size_t bytes);

/* The program's calls reach these functions first and CUDA's or HIP's runtime after them. Where
 * libkmm has no device, only the latter fails. */
void kmm_cuda_wrap(void);
int kmm_cuda_get_last_error(void);
int kmm_cuda_peek_at_last_error(void);
const char *kmm_cuda_get_error_name(int error);
const char *kmm_cuda_get_error_string(int error);

/* Whether a kernel for the CPU can be launched with that many threads (bound 0: any) and that much
 * dynamic shared memory. */
int kmm_cuda_check_launch(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                          uint32_t bound, size_t dynamic_bytes);
/* kmm_launch_kernel, with its result as these functions give it. */
int kmm_cuda_launch(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry, void **args);
/* Remembers the error of a launch, 0: none, and drops its pragma. Returns it. Unless the program
 * asks for it, which it does by the four calls above, its exit status is not 0. */
int kmm_cuda_launch_failed(int error);

#ifdef __cplusplus
}
#endif
#endif
