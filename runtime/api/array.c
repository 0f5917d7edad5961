/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls on arrays. */

#include "memory/array.h"
#include "api/runtime.h"
#include "base/error.h"
#include "base/log.h"
#include "launch/nodes.h"
#include "memory/lifetime.h"
#include "memory/residency/named.h"
#include "memory/residency/native.h"

KMM__API int kmm_array_create(kmm_runtime_t *rt, const kmm_shape_t *shape, void **out)
{
    kmm__array_t *a;
    size_t bytes;
    if (!rt || !shape || !out || shape->dims < 1 || shape->dims > KMM_MAX_DIMS ||
        shape->element_bytes == 0)
        return kmm__error_set(
            KMM_E_INVALID, "an array needs a runtime, 1 to %d dimensions and elements of some size",
            KMM_MAX_DIMS);
    bytes = shape->element_bytes;
    for (uint32_t d = 0; d < shape->dims; d++)
        if (shape->extent[d] < 0 ||
            __builtin_mul_overflow(bytes, (size_t)shape->extent[d], &bytes) || bytes > INT64_MAX)
            return kmm__error_set(KMM_E_RANGE, "extent %lld of an array",
                                  (long long)shape->extent[d]);
    KMM__NATIVE_HOLD(error, rt, NULL);
    error = kmm__native_doom(rt, "an array that does not fit beside the others");
    if (error)
        return error;
    pthread_mutex_lock(&rt->lock);
    kmm__device_t *home = shape->label ? NULL : kmm__native_home(rt, bytes);
    error = home ? kmm__array_new_at_home(rt, bytes, home, kmm__named_reserve, &a)
                 : kmm__array_new(rt, bytes, NULL, KMM_MAP_TOFROM, shape->label, &a);
    if (!error)
        *out = a->base;
    pthread_mutex_unlock(&rt->lock);
    return error;
}

KMM__API int kmm_array_destroy(kmm_runtime_t *rt, void *base)
{
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    KMM__NATIVE_HOLD(error, rt, "freeing an array");
    if (error)
        return error;
    kmm__nodes_forget(rt, base);
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, base);
    if (!a || a->is_mapped || a->base != base || a == rt->memory->globals) {
        error = kmm__error_set(KMM_E_ADDRESS, "%p is not the base of an array", base);
    } else {
        kmm__array_forget(a);
        kmm__array_unref(a);
    }
    pthread_mutex_unlock(&rt->lock);
    return error;
}

KMM__API void *kmm_malloc(size_t bytes)
{
    void *base = NULL;
    kmm_shape_t shape = {.dims = 1, .extent = {(int64_t)bytes}, .element_bytes = 1};
    if (kmm_array_create(kmm__current(), &shape, &base)) {
        kmm__log(KMM__LOG_ERROR, "%s", kmm__error_get());
        return NULL;
    }
    return base;
}

KMM__API void kmm_free(void *base)
{
    if (base && kmm_array_destroy(kmm__current(), base))
        kmm__log(KMM__LOG_ERROR, "kmm_free: %s", kmm__error_get());
}

KMM__API int kmm_array_find(kmm_runtime_t *rt, const void *address, kmm_extent_t *out)
{
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, address);
    if (a && out)
        *out = (kmm_extent_t){a->base, a->bytes};
    pthread_mutex_unlock(&rt->lock);
    return a ? 0 : kmm__error_set(KMM_E_ADDRESS, "%p is in no array", address);
}
