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

#include "managed/calls.h"

#if KMM__WRAP_HIP
#define RUNTIME "hip"
#define KIND KMM_KIND_HIP
#define api(name) hip##name
#define wrap(name) __wrap_hip##name
#define real(name) __real_hip##name
#define internal(name) kmm__hip_##name
#define REGISTER_CLONE kmm_hip_register_clone
#define SHARE_SYMBOL kmm_hip_share_symbol
#else
#define RUNTIME "cuda"
#define KIND KMM_KIND_CUDA
#define api(name) cuda##name
#define wrap(name) __wrap_cuda##name
#define real(name) __real_cuda##name
#define internal(name) kmm__cuda_##name
#define REGISTER_CLONE kmm_cuda_register_clone
#define SHARE_SYMBOL kmm_cuda_share_symbol
#endif

typedef struct dim3 {
    unsigned x, y, z;
} dim3_t;
typedef void *stream_t;
typedef void *event_t;

/* cudaPitchedPtr, cudaExtent and cudaMemcpy3DParms, and HIP's of the same layout. Widths and x are
 * in bytes where no CUDA array takes part. */
typedef struct pitched {
    void *p;
    size_t pitch, width, height;
} pitched_t;
typedef struct extent {
    size_t width, height, depth;
} extent_t;
typedef struct endpoint {
    void *array;
    size_t x, y, z;
    pitched_t memory;
} endpoint_t;
typedef struct copy {
    endpoint_t from, to;
    extent_t extent;
    int kind;
} copy_t;
typedef struct configuration configuration_t; /* cudaLaunchConfig_t: cuda_calls.c */

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3, PITCH = 512 };

/* What a program's calls reach, and the runtime's own. Where a release lacks a call it is weak, and
 * nobody calls its wrapper. A weak reference takes nothing out of a static CUDA runtime, so no
 * other is. */
#define SINCE_ALWAYS
#define SINCE_CUDA_13 __attribute__((weak))
#if KMM__WRAP_HIP
#define SINCE_LATER_ROCM __attribute__((weak))
#else
#define SINCE_LATER_ROCM
#endif
#define DECLARE_SHARED(since, result, name, parameters)                                            \
    SINCE_##since result real(name) parameters;                                                    \
    result wrap(name) parameters;
#define DECLARE(since, result, name, parameters)                                                   \
    SINCE_##since result __real_##name parameters;                                                 \
    result __wrap_##name parameters;
KMM_SHARED_CALLS(DECLARE_SHARED)
#if KMM__WRAP_HIP
KMM_HIP_CALLS(DECLARE)
#else
KMM_CUDA_CALLS(DECLARE)
#endif

int api(GetDevice)(int *device);
int api(SetDevice)(int device);

/* ---- absent.c ---- */
int internal(device_count)(void); /* how many GPUs libkmm uses that the program was built for */
/* The error of the runtime's calls if there is no GPU that the program was built for; else 0. Says
 * so once. */
int internal(is_absent)(void);
void internal(say_absent)(int error); /* says so once */

/* ---- wrap.c ---- */
int internal(not_supported)(const char *call); /* says so; KMM_CUDA_NOT_SUPPORTED */

/* ---- beside.c ---- */
/* The stream that a call of the program's on memory that is not managed is made on: behind managed
 * work, and inside a task the task's in place of the default one. internal(task_default): inside a
 * task that has one, the task's stream; else NULL. */
stream_t internal(stream)(stream_t s);
stream_t internal(task_default)(void);
int internal(wait_for)(stream_t own,
                       int error); /* after a call on that stream that gave the error, 0: none */
void internal(await_others)(stream_t s); /* returns when what is on the runtime's stream now has
                                       ended, or the device has failed */
/* Of managed memory with other memory, which may be a device's. What others put on the stream has
 * ended; what was launched there ends before memory is copied that it may use. */
int internal(copy)(void *dst, const void *src, size_t n, int kind, stream_t s);
int internal(copy_2d)(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h,
                      int kind, stream_t s);

/* Gives a variable's value on the current device to all others: chunks that read it may run there.
 */
void SHARE_SYMBOL(const void *symbol, size_t bytes);

/* ---- launch.c ---- */
/* `clone` is the kernel `original` with a kmm_blocks_t before its other parameters; both are host
 * functions. */
int REGISTER_CLONE(const void *clone, const void *original);
/* A launch of the kernel with that handle. Arrays are named by their own addresses in args. */
int internal(launch)(const void *handle, dim3_t grid, dim3_t block, void **args,
                     size_t shared_bytes, stream_t stream);
void internal(image_ends)(void); /* libkmm forgets the kernels that were launched from here */

/* ---- cuda_calls.c, hip_calls.c ---- */
void internal(open)(void); /* once, before kernel_read */
int internal(kernel)(void **handle,
                     const void *function); /* the kernel of a host function, as libkmm takes it */
/* The kernel's name, if it has one, and its parameters, in memory that is never freed. A result of
 * the runtime. */
int internal(kernel_read)(kmm_kernel_t *k);
int internal(kernel_failed)(int error); /* says why a kernel was not found or read; the error */

#endif
