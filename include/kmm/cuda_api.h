/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA runtime's memory, stream and event calls, implemented on libkmm's arrays.
 *
 * These functions are an internal interface. kmmcc links a CUDA program so that its calls reach the
 * wrappers of libkmm_cuda.a, and the wrappers call these functions for managed memory. On the CPU
 * target kmm's own cuda_runtime.h calls them.
 *
 * Results are cudaError_t numbers. Each error is printed once and is kept for
 * kmm_cuda_get_last_error. A stream is named by its handle; NULL is the default stream.
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
/* True if the address lies in an array made by kmm_cuda_malloc or kmm_malloc. */
int kmm_cuda_is_managed(const void *address);

/* kind is a cudaMemcpyKind: 0 host to host, 1 host to device, 2 device to host, 3 device to
 * device, 4 decided by the addresses. A kind that contradicts the addresses is
 * KMM_CUDA_INVALID_VALUE. A copy returns when the program may reuse the source. A copy to host
 * memory returns when the data is there. */
int kmm_cuda_memcpy(void *dst, const void *src, size_t bytes, int kind);
int kmm_cuda_memcpy_async(void *dst, const void *src, size_t bytes, int kind, void *stream);
int kmm_cuda_memcpy_2d(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                       size_t height, int kind);
int kmm_cuda_memset(void *dst, int value, size_t bytes);
int kmm_cuda_memset_async(void *dst, int value, size_t bytes, void *stream);

int kmm_cuda_device_synchronize(void);
/* Does the same before work of libkmm itself. The error of a launch that was refused is not
 * reported by it, but by the program's next synchronization. */
int kmm_cuda_device_settle(void);
int kmm_cuda_stream_create(void **out);
int kmm_cuda_stream_destroy(void *stream);
int kmm_cuda_stream_synchronize(void *stream);
int kmm_cuda_stream_query(void *stream);
int kmm_cuda_stream_wait_event(void *stream, void *event);
/* Like kmm_cuda_stream_wait_event, but the driver's stream waits for the event too. So work on
 * memory that is not managed, enqueued there later, also runs after the event. */
int kmm_cuda_stream_await_event(void *stream, void *event);
/* For work of the program's own, on memory that is not managed, that must run after managed work
 * on the stream (NULL: on all streams). `settle` blocks until the managed work has finished and
 * returns its error. `catch_up` makes the driver's stream wait for the managed work. Both do
 * nothing when called from inside such work. */
int kmm_cuda_stream_settle(void *stream);
void kmm_cuda_stream_catch_up(void *stream);

int kmm_cuda_event_create(void **out);
int kmm_cuda_event_create_untimed(void **out); /* an event with cudaEventDisableTiming */
int kmm_cuda_event_destroy(void *event);
/* An event is named by its handle, which may come from the CUDA runtime itself. */
int kmm_cuda_event_record(void *event, void *stream);
int kmm_cuda_event_synchronize(void *event);
int kmm_cuda_event_query(void *event);
int kmm_cuda_event_is_recorded(void *event);
int kmm_cuda_event_elapsed_time(float *milliseconds, void *start, void *end);
/* Drops what was recorded in an event whose handle is about to be destroyed. */
void kmm_cuda_event_forget(void *event);

/* Devices of the CPU target: one, or as many simulated devices as KMM_DEVICES asks for. Each
 * thread has a current device. A thread that has set its device runs its unannotated launches
 * there. */
typedef struct kmm_cuda_device_info {
    char name[64];
    size_t memory_bytes, free_bytes;
} kmm_cuda_device_info_t;
int kmm_cuda_device_count(int *count);
int kmm_cuda_device_set(int device);
int kmm_cuda_device_current(void);
/* The name is "" and the sizes are 0 if the device shares the host's memory. free_bytes excludes
 * what was allocated while the device was current. */
int kmm_cuda_device_info(int device, kmm_cuda_device_info_t *out);
/* The device that was current when the memory was allocated; -1: not managed device memory. */
int kmm_cuda_pointer_device(const void *address);
/* The device of a stream or event that was created through these functions. */
int kmm_cuda_handle_device(const void *handle);
/* The time between two events that were created through these functions. */
int kmm_cuda_event_elapsed_timed(float *milliseconds, void *start, void *end);
/* Host memory that kernels on the CPU use directly. Freeing any other address is an error. */
int kmm_cuda_malloc_common(void **out, size_t bytes);
int kmm_cuda_free_common(void *p);
/* Checks that two streams or events belong to one device. The error's text names them as `what`. */
int kmm_cuda_same_device(const void *a, const void *b, const char *what);
/* Copies to and from __device__ variables. All devices of the CPU target share one instance of
 * each variable. An access that would need one instance per device is KMM_CUDA_NOT_SUPPORTED:
 * writing contents that differ from what another device wrote, or using contents or an address
 * that another device has used, for example in a kernel that can change the variable. */
int kmm_cuda_symbol_write(const void *symbol, void *at, const void *src, size_t bytes);
int kmm_cuda_symbol_read(void *dst, const void *symbol, const void *at, size_t bytes);
int kmm_cuda_symbol_address(void **out, const void *symbol);
/* Notes that a kernel on the current device can change its variables. Reports if another device
 * may have changed them too. */
void kmm_cuda_symbols_change(const char *kernel);
int kmm_cuda_peer_can(int device, int peer);
int kmm_cuda_peer_set(int peer, int enable);
int kmm_cuda_memcpy_peer(void *dst, int dst_device, const void *src, int src_device, size_t bytes);

/* How libkmm names kernels to other processes that run the same program: by their host functions,
 * whose offsets in the program are the same there. */
typedef struct kmm_cuda_names {
    const void *(*function)(const kmm_kernel_t *kernel); /* NULL: its host function is not known */
    const kmm_kernel_t *(*kernel)(const void *function); /* NULL: it is no kernel's */
    int (*is_memory)(const void *address); /* true if it is of memory that the driver knows */
} kmm_cuda_names_t;
/* Called by each program and library before main. `names` lives as long as the caller. libkmm keeps
 * those of the program, one for each kind. */
void kmm_cuda_name_kernels(int kind, const kmm_cuda_names_t *names);

/* Native standing (docs/design.md): while all arrays of a program fit, its calls go to the driver
 * as they are. kind is a kmm_kind_t, that of the caller's runtime. */
/* Enters a native call, which ends with kmm_cuda_native_leave. 0: the call is libkmm's. */
int kmm_cuda_native_enter(int kind);
/* The same for a launch, which is libkmm's if a pragma is armed for it. KMM_CUDA_ARMED_AGAIN: it is
 * libkmm's, and kmm_launch_again has armed the pragma. */
enum { KMM_CUDA_ARMED_AGAIN = -1 };
int kmm_cuda_native_enter_launch(int kind);
void kmm_cuda_native_leave(void);
/* True in native standing. For calls that do not touch arrays, such as those that wait. */
int kmm_cuda_native(int kind);
/* Inside a native call. False: the array does not fit; kmm_cuda_malloc makes it, and the next
 * native call ends the standing. */
int kmm_cuda_native_malloc(void **out, size_t bytes);
/* An array is about to be made. True: the standing is native again. */
int kmm_cuda_native_return(int kind);
/* True if the standing has ever become native again. Then an event may have been recorded in
 * managed standing. */
int kmm_cuda_native_has_returned(void);
/* Inside a native call, when all work on the array is done. False: no array has this base. */
int kmm_cuda_native_free(void *base);
/* Inside a native call, for a launch that libkmm has checked. Returns 0 if the launch need not be
 * timed. Otherwise it returns a number, to be handed to kmm_cuda_native_measured with the
 * nanoseconds of the kernel (0: timing failed). */
int kmm_cuda_native_sample(void);
void kmm_cuda_native_measured(int sample, uint64_t ns);
/* cudaSetDevice has made that device the thread's current one. */
void kmm_cuda_native_device(int ordinal);
/* The program gives one device access to another's memory, or copies between them. */
void kmm_cuda_native_several(int kind);
/* True if both addresses are in arrays, and on different devices: cudaMemcpyPeer copies between
 * those. */
int kmm_cuda_native_between(const void *dst, const void *src, int *to, int *from);
/* `call` is called when native standing ends, once all work on the devices is done, and before work
 * that libkmm divides. It may call the driver, but nothing that waits for libkmm. */
void kmm_cuda_native_at_end(void (*call)(void));
/* Inside a native call: tells libkmm that managed standing would refuse this call. Then native
 * standing ends only where arrays no longer fit. */
void kmm_cuda_native_stay(void);
/* Inside a native call: keeps native standing from ending, because the call (static text) has
 * recorded addresses of arrays. */
void kmm_cuda_native_bind(const char *call);
int kmm_cuda_native_is_bound(void); /* true after kmm_cuda_native_bind */
/* The stream is about to be destroyed: another one may get its handle. */
void kmm_cuda_native_stream_ends(void *stream);
/* The latest launch with a pragma in native standing. There is one for the process, while the
 * wrappers are linked into each library that kmmcc has made. */
typedef struct kmm_cuda_order {
    int has, device;
    void *stream; /* where it was launched */
    void *event;  /* recorded behind it on a thread's own default stream; NULL: ask its stream */
    uint64_t thread;
} kmm_cuda_order_t;
/* Locks and returns it. Such launches and what they note of themselves are made under this lock. */
kmm_cuda_order_t *kmm_cuda_native_order(void);
void kmm_cuda_native_order_end(void); /* unlocks it */
/* The result of a synchronization: its error, or that of a launch which was refused before. */
int kmm_cuda_native_synced(int error);

/* Declares that after each of these functions the caller makes the CUDA or HIP runtime's own
 * call. If libkmm has no device, these functions then succeed and that call reports the error. */
void kmm_cuda_wrap(void);
int kmm_cuda_get_last_error(void);
int kmm_cuda_peek_at_last_error(void);
const char *kmm_cuda_get_error_name(int error);
const char *kmm_cuda_get_error_string(int error);
/* Prints "kmm: error: " and the text, as libkmm prints its messages. */
void kmm_cuda_say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Checks that a CPU kernel can be launched with that many threads (bound 0: any number) and that
 * much dynamic shared memory. */
int kmm_cuda_check_launch(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                          uint32_t bound, size_t dynamic_bytes);
/* No errors: the launch is checked, and the caller is inside a native call. The caller makes the
 * launch by itself, or has it made by kmm_cuda_native_chunks, until which the arguments stay as
 * they are, and then calls kmm_cuda_native_leave. */
enum { KMM_CUDA_NATIVELY = -1, KMM_CUDA_IN_CHUNKS = -2 };
/* Makes the launch that kmm_cuda_launch has answered with KMM_CUDA_IN_CHUNKS, on its stream. If
 * `error` is not 0, drops it, and returns `error`. */
int kmm_cuda_native_chunks(int error);
/* kmm_launch_kernel with its result as a cudaError_t number, or one of these two. */
int kmm_cuda_launch(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry, void **args);
/* For a pragma that kmm_launch_again has armed. args[k - first] points to the value of the kernel's
 * parameter k. If this launch is the one that was made before, returns the current device and
 * locks *order, as kmm_cuda_native_order does. Then the caller is inside a native call. It makes
 * the launch, and ends both by kmm_cuda_launch_again_end. -1: the launch is kmm_cuda_launch's. */
int kmm_cuda_launch_again(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry, void **args,
                          unsigned first, kmm_cuda_order_t **order);
void kmm_cuda_launch_again_end(void);
/* Records the error of a launch (0: none), drops the pragma armed for it, and returns the error.
 * If the program never asks for the error with one of the four calls above, its exit status is
 * not 0. */
int kmm_cuda_launch_failed(int error);

#ifdef __cplusplus
}
#endif
#endif
