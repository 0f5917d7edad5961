/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only programs that nvcc compiled call of libcudart.so: kernels by their handles, devices,
 * and calls on streams and events that HIP's driver has by the same names as its runtime. The
 * library is also the driver, libcuda.so.1, so both have one machine.
 */
#include <string.h>

#include "fake.h"
#include "program.h"

#define FAKE FAKE_EXPORT int

typedef struct CUctx_st *context_t;
FAKE cuDevicePrimaryCtxRetain(context_t *out, int device);
FAKE cuCtxPushCurrent_v2(context_t c);
FAKE cuCtxPopCurrent_v2(context_t *out);
FAKE cuCtxGetCurrent(context_t *out);

/* ---- Devices: the runtime makes a device's context current when it is needed ---- */

static _Thread_local int chosen;
static context_t contexts[FAKE_MAX_DEVICES]; /* of devices that were chosen; guarded by the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int enter(void)
{
    context_t c = NULL;
    int error = fake_count() < 0 ? fake_start() : FAKE_OK;
    if (error || (cuCtxGetCurrent(&c) == FAKE_OK && c))
        return error;
    pthread_mutex_lock(&lock);
    if (!contexts[chosen])
        error = cuDevicePrimaryCtxRetain(&contexts[chosen], chosen);
    c = contexts[chosen];
    pthread_mutex_unlock(&lock);
    return error ? error : cuCtxPushCurrent_v2(c);
}

FAKE cudaSetDevice(int device)
{
    context_t c = NULL;
    int error = fake_count() < 0 ? fake_start() : FAKE_OK;
    if (error || !fake_is_device(device))
        return error ? error : FAKE_INVALID_DEVICE;
    cuCtxPopCurrent_v2(&c);
    chosen = device;
    return enter();
}

FAKE cudaGetDevice(int *out)
{
    *out = chosen;
    return FAKE_OK;
}

FAKE cudaGetDeviceCount(int *out)
{
    int error = fake_count() < 0 ? fake_start() : FAKE_OK;
    *out = error ? 0 : fake_count();
    return error;
}

/* Programs call it for NULL, so that there is a context. */
FAKE cudaFree(void *p)
{
    return p ? FAKE_INVALID_VALUE : enter();
}

FAKE cudaGetLastError(void)
{
    return FAKE_OK;
}

FAKE_EXPORT const char *cudaGetErrorString(int error)
{
    return error ? "an error of the fake runtime" : "no error";
}

/* ---- Kernels ---- */

FAKE_EXPORT void __cudaRegisterFatBinaryEnd(void **modules)
{
    (void)modules;
}

FAKE_EXPORT char __cudaInitModule(void **modules)
{
    return modules != NULL;
}

FAKE cudaGetKernel(fake_kernel_t **out, const void *function)
{
    *out = fake_program_kernel(function);
    return FAKE_OK;
}

FAKE __cudaGetKernel(fake_kernel_t **out, const void *function)
{
    return cudaGetKernel(out, function);
}

/* A kernel of a program; NULL: it is libkmm's own. */
static const fake_program_kernel_t *of_program(const fake_kernel_t *k)
{
    return k->run || k->run_warp ? NULL : (const fake_program_kernel_t *)k;
}

FAKE cuKernelGetName(const char **out, const fake_kernel_t *k)
{
    *out = of_program(k) ? of_program(k)->name : NULL;
    return *out ? FAKE_OK : FAKE_NOT_FOUND;
}

FAKE cuKernelGetParamInfo(const fake_kernel_t *k, size_t index, size_t *offset, size_t *bytes)
{
    *offset = 0;
    if (index >= k->parameters)
        return FAKE_INVALID_VALUE;
    *bytes = k->parameter_bytes[index];
    return FAKE_OK;
}

FAKE __cudaLaunchKernel(fake_kernel_t *k, fake_dim3_t grid, fake_dim3_t block, void **args,
                        size_t shared, fake_stream_t *s)
{
    int error = enter();
    return error ? error
                 : fake_enqueue_kernel(chosen, s, k, (uint32_t[]){grid.x, grid.y, grid.z},
                                       (uint32_t[]){block.x, block.y, block.z}, (uint32_t)shared,
                                       args);
}

FAKE cudaLaunchKernel(const void *function, fake_dim3_t grid, fake_dim3_t block, void **args,
                      size_t shared, fake_stream_t *s)
{
    return __cudaLaunchKernel(fake_program_kernel(function), grid, block, args, shared, s);
}

/* ---- Streams and events ---- */

FAKE cudaStreamCreateWithFlags(fake_stream_t **out, unsigned flags)
{
    int error = enter();
    return error ? error : fake_stream_create(chosen, !flags, out);
}
FAKE cudaStreamDestroy(fake_stream_t *s)
{
    return fake_stream_destroy(s);
}
FAKE cudaStreamQuery(fake_stream_t *s)
{
    return fake_stream_query(s);
}
FAKE cudaStreamWaitEvent(fake_stream_t *s, fake_event_t *e, unsigned flags)
{
    (void)flags;
    return fake_stream_wait(s, e);
}
FAKE cudaStreamIsCapturing(fake_stream_t *s, int *out)
{
    return fake_capture_status(s, out);
}

FAKE cudaEventCreateWithFlags(fake_event_t **out, unsigned flags)
{
    enum { DISABLE_TIMING = 2 };
    int error = enter();
    return error ? error : fake_event_create(chosen, !(flags & DISABLE_TIMING), out);
}
FAKE cudaEventDestroy(fake_event_t *e)
{
    return fake_event_destroy(e);
}
FAKE cudaEventRecord(fake_event_t *e, fake_stream_t *s)
{
    int error = enter();
    return error ? error : fake_event_record(e, s);
}
FAKE cudaEventQuery(fake_event_t *e)
{
    return fake_event_query(e);
}
FAKE cudaEventElapsedTime(float *ms, fake_event_t *from, fake_event_t *to)
{
    return fake_event_elapsed(ms, from, to);
}

/* ---- Memory ---- */

FAKE cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                  size_t height, int kind)
{
    (void)kind;
    fake_settle();
    for (size_t row = 0; row < height; row++)
        memmove((char *)dst + row * dst_pitch, (const char *)src + row * src_pitch, width);
    return FAKE_OK;
}
