/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libkmm_cuda.a and libkmm_hip.a: what a program's calls of the CUDA or the HIP runtime become when
 * it is linked with
 * `--wrap`. They lie in the program, beside the runtime that it was linked with, because only there
 * can that runtime, which may be a static one, be asked for a kernel. Managed addresses go to
 * libkmm, all others to the real call. Compiled without the headers of either; the declarations are
 * the runtimes' ABI, which is the same but for the names. So wrap.c and launch.c are one
 * implementation, compiled with KMM__WRAP_HIP 0 and 1; what differs is in cuda_calls.c and
 * hip_calls.c. A program may hold both archives.
 */
#ifndef KMM__WRAP_H
#define KMM__WRAP_H

#include <stddef.h>
#include <stdint.h>

#include <kmm.h>
#include <kmm/cuda_api.h>

#if KMM__WRAP_HIP
#define RUNTIME "hip"
#define KIND KMM_KIND_HIP
#define API(name) hip##name
#define WRAP(name) __wrap_hip##name
#define REAL(name) __real_hip##name
#define OWN(name) kmm__hip_##name
#define REGISTER_CLONE kmm_hip_register_clone
#define SHARE_SYMBOL kmm_hip_share_symbol
#else
#define RUNTIME "cuda"
#define KIND KMM_KIND_CUDA
#define API(name) cuda##name
#define WRAP(name) __wrap_cuda##name
#define REAL(name) __real_cuda##name
#define OWN(name) kmm__cuda_##name
#define REGISTER_CLONE kmm_cuda_register_clone
#define SHARE_SYMBOL kmm_cuda_share_symbol
#endif

#if KMM__WRAP_HIP
#define SINCE_LATER                                                                                \
    __attribute__((weak)) /* older ROCm lacks it, and then nobody calls the wrapper */
#else
#define SINCE_LATER
#endif

typedef struct dim3 {
    unsigned x, y, z;
} dim3_t;
typedef void *stream_t;
typedef void *event_t;

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3, PITCH = 512 };

int REAL(LaunchKernel)
(const void *function, dim3_t grid, dim3_t block, void **args, size_t shared_bytes, stream_t s);
int REAL(Malloc)
(void **out, size_t bytes);
int REAL(MallocAsync)
(void **out, size_t bytes, stream_t s);
int REAL(MallocPitch)
(void **out, size_t *pitch, size_t width, size_t height);
int REAL(Free)
(void *p);
int REAL(FreeAsync)
(void *p, stream_t s);
int REAL(Memcpy)
(void *dst, const void *src, size_t n, int kind);
int REAL(MemcpyAsync)
(void *dst, const void *src, size_t n, int kind, stream_t s);
int REAL(Memcpy2D)
(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind);
int REAL(Memcpy2DAsync)
(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind, stream_t s);
int REAL(Memset)
(void *dst, int value, size_t n);
int REAL(MemsetAsync)
(void *dst, int value, size_t n, stream_t s);
int REAL(Memset2DAsync)
(void *dst, size_t pitch, int value, size_t w, size_t h, stream_t s);
int REAL(Memset2D)
(void *dst, size_t pitch, int value, size_t w, size_t h);
int REAL(MemcpyToSymbol)
(const void *symbol, const void *src, size_t n, size_t offset, int kind);
int REAL(MemcpyFromSymbol)
(void *dst, const void *symbol, size_t n, size_t offset, int kind);
int REAL(PointerGetAttributes)
(void *attributes, const void *p);
int REAL(DeviceSynchronize)
(void);
int REAL(StreamSynchronize)
(stream_t s);
int REAL(StreamQuery)
(stream_t s);
int REAL(StreamDestroy)
(stream_t s);
int REAL(StreamWaitEvent)
(stream_t s, event_t e, unsigned flags);
int REAL(EventRecord)
(event_t e, stream_t s);
int REAL(EventQuery)
(event_t e);
int REAL(EventSynchronize)
(event_t e);
int REAL(EventDestroy)
(event_t e);
int REAL(GetLastError)
(void);
int REAL(PeekAtLastError)
(void);
int API(GetDevice)(int *device);
int API(SetDevice)(int device);

/* ---- wrap.c ---- */
int OWN(not_supported)(const char *call); /* says so; KMM_CUDA_NOT_SUPPORTED */
int WRAP(MemcpyToSymbol)(const void *symbol, const void *src, size_t n, size_t offset, int kind);
int WRAP(MemcpyFromSymbol)(void *dst, const void *symbol, size_t n, size_t offset, int kind);
int WRAP(Memcpy)(void *dst, const void *src, size_t n, int kind);
int WRAP(MemcpyAsync)(void *dst, const void *src, size_t n, int kind, stream_t s);
int WRAP(Memset2D)(void *dst, size_t pitch, int value, size_t w, size_t h);
int WRAP(EventRecord)(event_t e, stream_t s);
int WRAP(StreamSynchronize)(stream_t s);

/* ---- beside.c ---- */
/* The stream that a call of the program's on memory that is not managed is made on: behind managed
 * work, and inside a task the task's in place of the default one. OWN(task_default): inside a task
 * that has one, the task's stream; else NULL. */
stream_t OWN(stream)(stream_t s);
stream_t OWN(task_default)(void);
int OWN(wait_for)(stream_t own,
                  int error);       /* after a call on that stream that gave the error, 0: none */
void OWN(await_others)(stream_t s); /* returns when what is on the runtime's stream now has ended,
                                       or the device has failed */
/* Of managed memory with other memory, which may be a device's. What others put on the stream has
 * ended; what was launched there ends before memory is copied that it may use. */
int OWN(copy)(void *dst, const void *src, size_t n, int kind, stream_t s);
int OWN(copy_2d)(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind,
                 stream_t s);

/* Gives a variable's value on the current device to all others: chunks that read it may run there.
 */
void SHARE_SYMBOL(const void *symbol, size_t bytes);

/* ---- launch.c ---- */
/* `clone` is the kernel `original` with a kmm_blocks_t before its other parameters; both are host
 * functions. */
int REGISTER_CLONE(const void *clone, const void *original);
/* A launch of the kernel with that handle. Arrays are named by their own addresses in args. */
int OWN(launch)(const void *handle, dim3_t grid, dim3_t block, void **args, size_t shared_bytes,
                stream_t stream);
int WRAP(LaunchKernel)(const void *function, dim3_t grid, dim3_t block, void **args,
                       size_t shared_bytes, stream_t s);
void OWN(image_ends)(void); /* libkmm forgets the kernels that were launched from here */

/* ---- cuda_calls.c, hip_calls.c ---- */
void OWN(open)(void); /* once, before kernel_read */
int OWN(kernel)(void **handle,
                const void *function); /* the kernel of a host function, as libkmm takes it */
/* The kernel's name, if it has one, and its parameters, in memory that is never freed. A result of
 * the runtime. */
int OWN(kernel_read)(kmm_kernel_t *k);
int OWN(kernel_failed)(int error); /* says why a kernel was not found or read; the error */

#endif
