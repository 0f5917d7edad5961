/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation, copies and fills of managed programs. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "api/runtime.h"
#include "launch/builder.h"
#include "launch/natively.h"
#include "launch/task_directive.h"
#include "managed/managed.h"
#include "memory/lifetime.h"
#include "memory/residency/native.h"
#include "task/marker.h"

enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };

KMM__API int kmm_cuda_malloc(void **out, size_t bytes)
{
    kmm_shape_t shape = {.dims = 1, .extent = {(int64_t)bytes}, .element_bytes = 1};
    if (!out)
        return kmm__managed_fail(KMM_CUDA_INVALID_VALUE, "cudaMalloc: nowhere to put the address");
    *out = NULL;
    if (bytes && kmm_default())
        kmm__arrays_use_host_addresses(kmm_default());
    int error = bytes ? kmm__managed_result(kmm_array_create(kmm_default(), &shape, out))
                      : KMM_CUDA_SUCCESS;
    kmm__device_allocated(*out);
    return error;
}

KMM__API int kmm_cuda_free(void *base)
{
    int error =
        base ? kmm__managed_result(kmm_array_destroy(kmm_default(), base)) : KMM_CUDA_SUCCESS;
    kmm__managed_return();
    return error;
}

KMM__API int kmm_cuda_is_managed(const void *address)
{
    kmm_runtime_t *rt = address ? kmm_default() : NULL;
    return rt && kmm_array_find(rt, address, NULL) == 0;
}

static int memory_copy(kmm_runtime_t *rt, void *dst, const void *src, size_t bytes)
{
    kmm__marker_t *m;
    /* Inside a task its arrays are there, and what it launched on the CPU has run. */
    if (kmm_task_active()) {
        memmove(dst, src, bytes);
        return 0;
    }
    /* Kernels on the CPU may use ordinary memory too, so earlier launches must end first. */
    int error = kmm__marker_create(rt, &kmm__all_streams, &m);
    if (error)
        return error;
    kmm__marker_wait(m);
    kmm__marker_release(m);
    memmove(dst, src, bytes);
    return 0;
}

/* Copies in the order of the data's accesses, on no stream. */
static int copy(void *dst, const void *src, size_t bytes, int kind)
{
    kmm_runtime_t *rt = kmm_default();
    if (kind < HOST_TO_HOST || kind > BY_ADDRESS)
        return kmm__managed_fail(KMM_CUDA_INVALID_MEMCPY_DIRECTION,
                                 "cudaMemcpy: there is no such direction");
    if (!rt)
        return kmm__managed_fail(KMM_CUDA_INVALID_VALUE, "cudaMemcpy: there is no runtime");
    if (bytes == 0)
        return KMM_CUDA_SUCCESS;
    if (!dst || !src)
        return kmm__managed_fail(KMM_CUDA_INVALID_VALUE, "cudaMemcpy: an address is NULL");
    int to = kmm_cuda_is_managed(dst) && !kmm__task_directive_reaches(dst),
        from = kmm_cuda_is_managed(src) && !kmm__task_directive_reaches(src);
    int actual = from ? (to ? DEVICE_TO_DEVICE : DEVICE_TO_HOST)
                 : to ? HOST_TO_DEVICE
                      : HOST_TO_HOST;
    /* Ordinary memory may be given as device memory, because kernels on the CPU can use it. */
    bool wrong = (kind == HOST_TO_DEVICE && from && !to) ||
                 (kind == DEVICE_TO_HOST && to && !from) ||
                 (kind == HOST_TO_HOST && actual != HOST_TO_HOST);
    if (wrong)
        return kmm__managed_fail(KMM_CUDA_INVALID_VALUE,
                                 "cudaMemcpy: the direction contradicts the addresses");
    switch (actual) {
    case DEVICE_TO_DEVICE: return kmm__managed_result(kmm_copy(rt, dst, src, bytes));
    case DEVICE_TO_HOST: return kmm__managed_result(kmm_copy_out(rt, dst, src, bytes));
    case HOST_TO_DEVICE: return kmm__managed_result(kmm_copy_in(rt, dst, src, bytes));
    }
    return kmm__managed_result(memory_copy(rt, dst, src, bytes));
}

/* Output of kernels is printed before the program can print their results. */
KMM__API int kmm_cuda_memcpy(void *dst, const void *src, size_t bytes, int kind)
{
    int error = copy(dst, src, bytes, kind);
    if (!error && bytes && kmm_cuda_is_managed(src) && !kmm_cuda_is_managed(dst) &&
        !kmm__task_directive_reaches(src))
        kmm__flush(kmm_default(), NULL);
    kmm__managed_return();
    return error;
}

KMM__API int kmm_cuda_memcpy_async(void *dst, const void *src, size_t bytes, int kind, void *stream)
{
    /* The order of the data's accesses is enough: the copy need not wait for other work on the
     * stream. It may be done when this returns, as CUDA allows. */
    (void)stream;
    return copy(dst, src, bytes, kind);
}

KMM__API int kmm_cuda_memcpy_2d(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                                size_t width, size_t height, int kind)
{
    int error = KMM_CUDA_SUCCESS;
    if (width > dst_pitch || width > src_pitch)
        return kmm__managed_fail(KMM_CUDA_INVALID_VALUE,
                                 "cudaMemcpy2D: rows are wider than their pitch");
    if (width == dst_pitch && width == src_pitch)
        return kmm_cuda_memcpy(dst, src, width * height, kind);
    for (size_t row = 0; row < height && !error; row++)
        error = kmm_cuda_memcpy((char *)dst + row * dst_pitch, (const char *)src + row * src_pitch,
                                width, kind);
    return error;
}

KMM__API int kmm_cuda_memset(void *dst, int value, size_t bytes)
{
    if (bytes && kmm_task_active() &&
        (!kmm_cuda_is_managed(dst) || kmm__task_directive_reaches(dst))) {
        memset(dst, value, bytes);
        return KMM_CUDA_SUCCESS;
    }
    return bytes ? kmm__managed_result(kmm_fill(kmm_default(), dst, value, bytes))
                 : KMM_CUDA_SUCCESS;
}

KMM__API int kmm_cuda_memset_async(void *dst, int value, size_t bytes, void *stream)
{
    (void)stream;
    return kmm_cuda_memset(dst, value, bytes);
}

enum {
    MAX_THREADS = 1024,
    MAX_DEPTH = 64,
    MAX_ROWS = 65535
}; /* threads of a block; of its z dimension; blocks of a grid in y and z */

static double product(const uint32_t size[3])
{
    return (double)size[0] * size[1] * size[2];
}

static __attribute__((cold, noinline)) int refuse_geometry(const kmm_kernel_t *kernel,
                                                           const kmm_geometry_t *g, bool is_large)
{
    char text[200];
    if (is_large)
        snprintf(text, sizeof(text),
                 "kernel %s is launched with %u x %u x %u blocks %u threads deep; a grid has at "
                 "most 2147483647 x 65535 x 65535, a block is 64 deep",
                 kernel->name, g->grid[0], g->grid[1], g->grid[2], g->block[2]);
    else
        snprintf(text, sizeof(text),
                 "kernel %s is launched with %.0f blocks of %.0f threads; a block has 1 to %d, a "
                 "grid at least 1",
                 kernel->name, product(g->grid), product(g->block), MAX_THREADS);
    return kmm__managed_fail(KMM_CUDA_INVALID_CONFIGURATION, text);
}

/* Refuses launches that every GPU's driver refuses. */
static int check_geometry(const kmm_kernel_t *kernel, const kmm_geometry_t *g)
{
    const double threads = product(g->block);
    const bool is_large = g->block[2] > MAX_DEPTH || g->grid[0] > INT32_MAX ||
                          g->grid[1] > MAX_ROWS || g->grid[2] > MAX_ROWS;
    return threads >= 1 && threads <= MAX_THREADS && product(g->grid) >= 1 && !is_large
               ? 0
               : refuse_geometry(kernel, g, is_large);
}

KMM__API int kmm_cuda_check_launch(const kmm_kernel_t *kernel, const kmm_geometry_t *g,
                                   uint32_t bound, size_t dynamic_bytes)
{
    double threads = (double)g->block[0] * g->block[1] * g->block[2];
    char text[200];
    bool crowded = bound && threads > bound &&
                   threads <= MAX_THREADS; /* a larger number is refused by the launch itself */
    if (!crowded && g->shared_bytes <= dynamic_bytes)
        return KMM_CUDA_SUCCESS;
    if (crowded)
        snprintf(text, sizeof(text),
                 "kernel %s is launched with blocks of %.0f threads; its __launch_bounds__ has %u",
                 kernel->name, threads, bound);
    else
        snprintf(text, sizeof(text),
                 "kernel %s is launched with %zu bytes of dynamic shared memory; without "
                 "cudaFuncSetAttribute it can have %zu",
                 kernel->name, (size_t)g->shared_bytes, dynamic_bytes);
    kmm__launch_disarm();
    return kmm_cuda_launch_failed(kmm__managed_fail(KMM_CUDA_INVALID_VALUE, text));
}

/* Plain CUDA refuses it, too, and tells so at the launch only. */
static bool is_empty(const kmm_geometry_t *g)
{
    bool empty = false;
    for (int d = 0; d < 3; d++)
        empty |= g->grid[d] == 0 || g->block[d] == 0;
    return empty;
}

KMM__API int kmm_cuda_launch(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                             void **args)
{
    int error = check_geometry(kernel, geometry);
    if (!error && kernel->kind == KMM_KIND_HOST && geometry->stream)
        error = kmm_cuda_same_device(
            geometry->stream, NULL,
            "a launch into a stream that is not the current device's: a stream");
    if (error) {
        kmm__launch_disarm();
        return kmm_cuda_launch_failed(error);
    }
    /* When native standing ends, the device has done all its work. */
    if (kernel->kind != KMM_KIND_HOST && !kmm__native_is(kernel->kind))
        kmm__stream_follow(kmm__current(), geometry->stream);
    error = kmm_launch_kernel(kernel, geometry, args);
    if (error == KMM__LAUNCH_NATIVELY)
        return KMM_CUDA_NATIVELY;
    if (error == KMM__LAUNCH_IN_CHUNKS)
        return KMM_CUDA_IN_CHUNKS;
    error = kmm__managed_result(error);
    return is_empty(geometry) ? kmm_cuda_launch_failed(error) : kmm__managed_refuse(error);
}
