/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: each call makes the checks that hold for every resource, then calls the
 * resource's own function. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "resource/pressure.h"

static _Thread_local char error_text[256] = "no error";

int kmm__resource_fail(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error_text, sizeof(error_text), format, args);
    va_end(args);
    return code;
}

KMM__API const char *kmm_resource_error_text(void)
{
    return error_text;
}

void kmm__resource_init(kmm_resource_t *r, const kmm__resource_ops_t *ops, const char *noun,
                        kmm_resource_t *upstream)
{
    r->ops = ops;
    r->upstream = upstream;
    r->order = upstream ? upstream->order : NULL;
    r->mapper = NULL;
    r->carries = false;
    r->ordered = upstream && upstream->ordered;
    r->kind = upstream ? upstream->kind : KMM_MEMORY_HOST;
    r->device = upstream ? upstream->device : -1;
    if (upstream)
        snprintf(r->name, sizeof(r->name), "%.20s(%.40s)", noun, upstream->name);
    else
        snprintf(r->name, sizeof(r->name), "%s", noun);
}

int kmm__resource_give_back(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream)
{
    return r->ops->deallocate(r, p, bytes, stream);
}

KMM__API int kmm_resource_allocate(kmm_resource_t *r, size_t bytes, size_t alignment,
                                   kmm_stream_t stream, void **out)
{
    if (!r || !out)
        return kmm__resource_fail(KMM_E_INVALID,
                                  "allocate: no resource, or nowhere to put the address");
    *out = NULL;
    if (alignment & (alignment - 1))
        return kmm__resource_fail(KMM_E_INVALID, "allocate: alignment %zu is no power of two",
                                  alignment);
    if (bytes == 0)
        return 0;
    if (alignment < KMM_RESOURCE_ALIGNMENT)
        alignment = KMM_RESOURCE_ALIGNMENT;
    if (bytes > PTRDIFF_MAX || alignment > PTRDIFF_MAX - bytes)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: %zu bytes can never be had", r->name, bytes);
    return r->ops->allocate(r, bytes, alignment, stream, out);
}

KMM__API int kmm_resource_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream)
{
    if (!r)
        return kmm__resource_fail(KMM_E_INVALID, "deallocate: no resource");
    if (!p && (bytes == 0 || bytes == KMM_SIZE_RECORDED))
        return 0;
    if (!p)
        return kmm__resource_fail(KMM_E_INVALID, "%s: NULL was never %zu bytes", r->name, bytes);
    if (atomic_load_explicit(&r->carries, memory_order_relaxed) && kmm__is_held(r, p))
        return kmm__resource_fail(
            KMM_E_ADDRESS, "%s: %p belongs to what stands on it, where it may have been allocated",
            r->name, p);
    return r->ops->deallocate(r, p, bytes, stream);
}

KMM__API int kmm_resource_size(kmm_resource_t *r, const void *p, size_t *bytes)
{
    if (!r || !bytes)
        return kmm__resource_fail(KMM_E_INVALID, "size: no resource, or nowhere to put the size");
    *bytes = 0;
    return p ? r->ops->size(r, p, bytes) : 0;
}

KMM__API int kmm_resource_memory_info(kmm_resource_t *r, size_t *available, size_t *total)
{
    if (!r || !available || !total)
        return kmm__resource_fail(KMM_E_INVALID, "memory_info: an argument is NULL");
    *available = *total = 0;
    if (r->ops->info)
        return r->ops->info(r, available, total);
    if (r->upstream)
        return kmm_resource_memory_info(r->upstream, available, total);
    return kmm__resource_fail(KMM_E_UNSUPPORTED, "%s: does not know how much memory there is",
                              r->name);
}

KMM__API int kmm_resource_trim(kmm_resource_t *r, size_t keep)
{
    if (!r)
        return kmm__resource_fail(KMM_E_INVALID, "trim: no resource");
    if (r->ops->trim)
        return r->ops->trim(r, keep);
    return r->upstream ? kmm_resource_trim(r->upstream, keep) : 0;
}

KMM__API int kmm_resource_stream_end(kmm_resource_t *r, kmm_stream_t stream)
{
    if (!r)
        return kmm__resource_fail(KMM_E_INVALID, "stream_end: no resource");
    if (r->ops->stream_end)
        return r->ops->stream_end(r, stream);
    return r->upstream ? kmm_resource_stream_end(r->upstream, stream) : 0;
}

KMM__API int kmm_resource_allow(kmm_resource_t *r, int device)
{
    if (!r)
        return kmm__resource_fail(KMM_E_INVALID, "allow: no resource");
    if (r->ops->allow)
        return r->ops->allow(r, device);
    if (r->upstream)
        return kmm_resource_allow(r->upstream, device);
    return kmm__resource_fail(KMM_E_UNSUPPORTED, "%s: devices cannot be given access", r->name);
}

KMM__API int kmm_resource_usage(kmm_resource_t *r, kmm_resource_usage_t *out)
{
    if (!r || !out)
        return kmm__resource_fail(KMM_E_INVALID, "usage: an argument is NULL");
    memset(out, 0, sizeof(*out));
    if (r->ops->usage)
        return r->ops->usage(r, out);
    return kmm__resource_fail(KMM_E_UNSUPPORTED, "%s: holds no memory of its own", r->name);
}

KMM__API bool kmm_resource_equal(const kmm_resource_t *a, const kmm_resource_t *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->ops != b->ops || !a->ops->equal)
        return false;
    return a->ops->equal(a, b);
}

KMM__API const char *kmm_resource_name(const kmm_resource_t *r)
{
    return r ? r->name : "none";
}
KMM__API kmm_memory_kind_t kmm_resource_kind(const kmm_resource_t *r)
{
    return r ? r->kind : KMM_MEMORY_HOST;
}
KMM__API int kmm_resource_device(const kmm_resource_t *r)
{
    return r ? r->device : -1;
}

KMM__API int kmm_resource_destroy(kmm_resource_t *r)
{
    return r ? r->ops->destroy(r) : 0;
}
