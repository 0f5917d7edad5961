/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of managed programs in native standing (memory/residency/native.h): the wrappers ask here
 * whether a call goes to the driver as it is. */
#include <pthread.h>
#include <stdio.h>

#include "api/runtime.h"
#include "launch/builder.h"
#include "launch/keep.h"
#include "launch/native_chunks.h"
#include "launch/own_kernels.h"
#include "launch/sites.h"
#include "managed/managed.h"
#include "memory/array.h"
#include "memory/residency/native.h"
#include "memory/residency/scratch.h"
#include "task/inside.h"
#include "task/marker.h"

KMM__API int kmm_cuda_native_enter(int kind)
{
    if (kmm__native_is_undecided())
        kmm__native_start(kmm_default(), (kmm_kind_t)kind);
    return kmm__native_enter((kmm_kind_t)kind) && (kmm__native_count_call(false), 1);
}

KMM__API int kmm_cuda_native_enter_launch(int kind)
{
    const kmm_launch_t *armed = *kmm__launch_armed();
    if (armed)
        return armed->kept ? KMM_CUDA_ARMED_AGAIN : 0;
    if (kmm__native_is_undecided())
        kmm__native_start(kmm_default(), (kmm_kind_t)kind);
    return kmm__native_enter((kmm_kind_t)kind) && (kmm__native_count_call(true), 1);
}

KMM__API int kmm_cuda_native_sample(void)
{
    return kmm__site_sample(kmm_default());
}

KMM__API void kmm_cuda_native_measured(int sample, uint64_t ns)
{
    kmm__site_measured(kmm_default(), sample, ns);
}

KMM__API void kmm_cuda_native_leave(void)
{
    kmm__native_leave();
}

KMM__API int kmm_cuda_native(int kind)
{
    return kmm__native_is((kmm_kind_t)kind);
}

KMM__API int kmm_cuda_native_malloc(void **out, size_t bytes)
{
    kmm_runtime_t *rt = kmm_default();
    kmm__device_t *d = kmm__current_gpu(rt);
    return d ? kmm__native_array_new(rt, d, bytes, out) == 0 : 0;
}

KMM__API int kmm_cuda_native_free(void *base)
{
    return kmm__native_array_free(kmm_default(), base);
}

KMM__API int kmm_cuda_native_return(int kind)
{
    return kmm__native_return((kmm_kind_t)kind, NULL);
}

void kmm__managed_return(void)
{
    if (kmm__native_may_move())
        kmm__native_return(kmm__native_kind(), kmm__own_kernel_gather);
}

KMM__API int kmm_cuda_native_has_returned(void)
{
    return kmm__native_has_returned();
}

KMM__API void kmm_cuda_native_device(int ordinal)
{
    kmm__native_device(ordinal);
}

KMM__API void kmm_cuda_native_several(int kind)
{
    if (kmm__native_is_undecided())
        kmm__native_start(kmm_default(), (kmm_kind_t)kind);
    kmm__native_use_several((kmm_kind_t)kind);
}

KMM__API int kmm_cuda_native_between(const void *dst, const void *src, int *to, int *from)
{
    kmm_runtime_t *rt = kmm__native_uses_several() ? kmm_default() : NULL;
    if (!rt)
        return 0;
    pthread_mutex_lock(&rt->lock);
    const kmm__array_t *a = kmm__array_find(rt, dst), *b = kmm__array_find(rt, src);
    bool is = a && b && a->home && b->home && a->home != b->home;
    if (is) {
        *to = a->home->ordinal;
        *from = b->home->ordinal;
    }
    pthread_mutex_unlock(&rt->lock);
    return is;
}

KMM__API void kmm_cuda_native_at_end(void (*call)(void))
{
    kmm__native_at_end(call);
}

KMM__API void kmm_cuda_native_stay(void)
{
    kmm__native_stay();
}

KMM__API void kmm_cuda_native_bind(const char *call)
{
    kmm__native_bind(call);
}

KMM__API int kmm_cuda_native_is_bound(void)
{
    return kmm__native_is_bound();
}

KMM__API int kmm_cuda_native_chunks(int error)
{
    if (error) {
        kmm__native_chunks_enqueue(KMM_E_STATE); /* drops it */
        return error;
    }
    return kmm__managed_refuse(kmm__managed_result(kmm__native_chunks_enqueue(0)));
}

static pthread_mutex_t order_lock = PTHREAD_MUTEX_INITIALIZER;

KMM__API kmm_cuda_order_t *kmm_cuda_native_order(void)
{
    static kmm_cuda_order_t order;
    pthread_mutex_lock(&order_lock);
    return &order;
}

KMM__API void kmm_cuda_native_order_end(void)
{
    pthread_mutex_unlock(&order_lock);
}

KMM__API int kmm_cuda_launch_again(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                                   void **args, unsigned first, kmm_cuda_order_t **order)
{
    const int device = kmm__kept_launch(kernel, geometry, args, first);
    if (device >= 0)
        *order = kmm_cuda_native_order();
    return device;
}

KMM__API void kmm_cuda_launch_again_end(void)
{
    pthread_mutex_unlock(&order_lock);
    kmm__native_leave();
}

KMM__API void kmm_cuda_native_stream_ends(void *stream)
{
    kmm__scratch_end_stream((uint64_t)(uintptr_t)stream);
}

KMM__API int kmm_cuda_native_synced(int error)
{
    enum { FIRST_FAULT = 700, LAST_FAULT = 719 }; /* errors that a kernel leaves to its GPU */
    if (error >= FIRST_FAULT && error <= LAST_FAULT)
        kmm__native_fault(error);
    return error ? error : kmm__managed_synced(KMM_CUDA_SUCCESS);
}
