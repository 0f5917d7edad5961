/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libkmm_cuda.a and libkmm_hip.a: wrappers for a program's calls of the CUDA or HIP runtime. The
 * program is linked with `--wrap`, so that its calls reach them. A call on managed addresses goes
 * to libkmm, any other to the real call.
 *
 * The archives are linked into the program, beside its CUDA or HIP runtime, because only there can
 * that runtime be asked for a kernel; it may be a static library. They are compiled without the
 * headers of either runtime. The declarations here are the runtimes' ABI, which is the same apart
 * from the names. So wrap.c and launch.c are one implementation, compiled with KMM__WRAP_HIP 0 and
 * 1. The differences are in cuda_calls.c and hip_calls.c. A program may contain both archives.
 */
#ifndef KMM__WRAP_H
#define KMM__WRAP_H

#include <stdbool.h>
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

/* The layouts of cudaPitchedPtr, cudaExtent and cudaMemcpy3DParms, and of HIP's equivalents.
 * Widths and x are in bytes unless a CUDA array takes part. */
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

#define LEGACY ((stream_t)(uintptr_t)1) /* cudaStreamLegacy: the ordinary default stream */
/* cudaStreamPerThread: another stream for each thread that uses the handle. */
#define PER_THREAD ((stream_t)(uintptr_t)2)
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3, PITCH = 512 };

/* Declares each wrapper and the runtime's own call. A call that some releases lack is weak, and
 * a program for those releases never calls its wrapper. All others are strong, since a weak
 * reference would not pull a call out of a static CUDA runtime. */
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

int api(EventCreateWithFlags)(event_t *out, unsigned flags);
enum { DISABLE_TIMING = 2 };
int api(GetDevice)(int *device);
int api(StreamIsCapturing)(stream_t s, int *status);

/* ---- gpus.c ---- */
/* number of GPUs that libkmm uses and the program was built for */
int internal(device_count)(void);
/* Returns the error that the runtime's calls give if there is no GPU that the program was built
 * for; else 0. Reports it once. */
int internal(is_absent)(void);
/* Makes the first of these GPUs current for a thread of libkmm. */
void internal(use_own_gpu)(void);
void internal(say_absent)(int error); /* reports once that there is no such GPU */

/* Called inside a native call: the program has set this variable of the current device, or knows
 * its address. When native standing ends, the devices on which that was not done get the value. */
void internal(symbol_set)(const void *symbol);

/* ---- allocate.c ---- */
/* Allocates an array, in native standing or not. */
int internal(malloc)(void **out, size_t bytes);
/* True if a graph is being made of the stream's work. */
bool internal(is_captured)(stream_t s);
/* Called before a stream is destroyed: another one may get its handle. */
void internal(stream_ends)(stream_t s);

/* ---- wrap.c ---- */
/* First statement of a wrapper: in native standing it makes the real call and returns. */
#define NATIVE(name, arguments)                                                                    \
    do {                                                                                           \
        if (kmm_cuda_native_enter(KIND)) {                                                         \
            int native_result = real(name) arguments;                                              \
            kmm_cuda_native_leave();                                                               \
            return native_result;                                                                  \
        }                                                                                          \
    } while (0)
/* The same for a call after which the driver keeps addresses of arrays. */
#define NATIVE_BIND(name, arguments)                                                               \
    do {                                                                                           \
        if (kmm_cuda_native_enter(KIND)) {                                                         \
            kmm_cuda_native_bind(RUNTIME #name);                                                   \
            int native_result = real(name) arguments;                                              \
            kmm_cuda_native_leave();                                                               \
            return native_result;                                                                  \
        }                                                                                          \
    } while (0)
/* The same for a call that managed standing refuses on arrays. */
#define NATIVE_ONLY(name, arguments)                                                               \
    do {                                                                                           \
        if (kmm_cuda_native_enter(KIND)) {                                                         \
            kmm_cuda_native_stay();                                                                \
            int native_result = real(name) arguments;                                              \
            kmm_cuda_native_leave();                                                               \
            return native_result;                                                                  \
        }                                                                                          \
    } while (0)
/* The same for a call that touches no array. */
#define NATIVE_WAIT(name, arguments)                                                               \
    do {                                                                                           \
        if (kmm_cuda_native(KIND))                                                                 \
            return kmm_cuda_native_synced(real(name) arguments);                                   \
    } while (0)
/* reports the call; returns KMM_CUDA_NOT_SUPPORTED */
int internal(not_supported)(const char *call);

/* ---- beside.c ---- */
/* Returns the stream for a call of the program on memory that is not managed. The call is
 * ordered after managed work. Inside a task the task's stream replaces the default stream.
 * `task_default` returns the task's stream inside a task that has one; else NULL. */
stream_t internal(stream)(stream_t s);
stream_t internal(task_default)(void);
/* Called after a call on that stream; `error` is the call's result. */
int internal(wait_for)(stream_t own, int error);
/* Returns when all work now on the runtime's stream has ended, or the device has failed. */
void internal(await_others)(stream_t s);
/* Copies between managed and other memory, which may be a device's. Work of others on the stream
 * has ended before the copy. Managed launches on the stream end before memory that they may use
 * is copied. */
int internal(copy)(void *dst, const void *src, size_t n, int kind, stream_t s);
int internal(copy_2d)(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h,
                      int kind, stream_t s);

/* Copies a variable's value on the current device to all other devices, so that chunks that read
 * it may run there. */
void SHARE_SYMBOL(const void *symbol, size_t bytes);

/* True if the address is of memory that is not managed and that the driver knows. */
bool internal(is_memory)(const void *p);

/* ---- order.c ---- */
/* Makes a launch that libkmm has checked, in the order of these launches. Called inside a native
 * call, which it ends. last NULL: `how` is what kmm_cuda_launch has returned. Otherwise it is what
 * kmm_cuda_launch_again has returned, and `last` is the order. */
int internal(launch_natively)(int how, kmm_cuda_order_t *last, const void *handle,
                              const kmm_geometry_t *g, void **args);

/* ---- launch.c ---- */
/* First statements of a wrapper of a launch. In native standing, a launch without a pragma is the
 * real call, and one that comes again with its pragma is made at once. */
#define NATIVE_LAUNCH(call, again)                                                                 \
    do {                                                                                           \
        const int native_how = kmm_cuda_native_enter_launch(KIND);                                 \
        int native_result = 0;                                                                     \
        if (native_how > 0) {                                                                      \
            native_result = call;                                                                  \
            kmm_cuda_native_leave();                                                               \
            return native_result;                                                                  \
        }                                                                                          \
        if (native_how == KMM_CUDA_ARMED_AGAIN && (again))                                         \
            return native_result;                                                                  \
    } while (0)
#define GEOMETRY(grid, block, bytes, stream)                                                       \
    (&(const kmm_geometry_t){                                                                      \
        {(grid).x, (grid).y, (grid).z}, {(block).x, (block).y, (block).z}, bytes, stream})
/* True if the launch is made, with that result. */
bool internal(launch_again)(const void *handle, const kmm_geometry_t *g, void **args, int *result);
/* Registers `clone`: the kernel `original` with a kmm_blocks_t before its other parameters. Both
 * are host functions. */
int REGISTER_CLONE(const void *clone, const void *original);
/* Launches the kernel of that handle. Addresses in args that point into arrays are the arrays'
 * own. */
int internal(launch)(const void *handle, dim3_t grid, dim3_t block, void **args,
                     size_t shared_bytes, stream_t stream);
/* makes libkmm forget the kernels that were launched from this program or library */
void internal(image_ends)(void);

/* ---- cuda_calls.c, hip_calls.c ---- */
void internal(open)(void); /* called once, before kernel_read */
/* Returns the kernel of a host function in the form that libkmm takes. */
int internal(kernel)(void **handle, const void *function);
/* Returns the host function of a kernel that was read; NULL: it is not known. */
const void *internal(function)(const kmm_kernel_t *k);
/* Fills in the kernel's name, if known, and its parameters, in memory that is never freed.
 * Returns a result of the CUDA or HIP runtime. */
int internal(kernel_read)(kmm_kernel_t *k);
/* reports why a kernel was not found or read; returns the error */
int internal(kernel_failed)(int error);

#endif
