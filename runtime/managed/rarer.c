/* SPDX-License-Identifier: Apache-2.0 */
/* Rarer calls of both runtimes (wrap.h). Some mean the same on managed memory, some only need to
 * wait for managed work, and the others fail and name the call. */
#include <stdbool.h>
#include <string.h>

#include "managed/wrap.h"

enum { DEFAULT_KIND = 4, RESOURCE_LINEAR = 2, RESOURCE_PITCHED = 3 };

/* ---- Calls that mean the same on managed memory ---- */

int wrap(Memset2DAsync)(void *dst, size_t pitch, int value, size_t w, size_t h, stream_t s)
{
    NATIVE(Memset2DAsync, (dst, pitch, value, w, h, s));
    if (kmm_cuda_is_managed(dst))
        return wrap(Memset2D)(dst, pitch, value, w, h);
    s = internal(stream)(s);
    return real(Memset2DAsync)(dst, pitch, value, w, h, s);
}

/* Copies without regard to the devices that are given for managed memory: libkmm knows where it is.
 */
int wrap(MemcpyPeer)(void *dst, int to, const void *src, int from, size_t n)
{
    if (to != from)
        kmm_cuda_native_several(KIND);
    NATIVE(MemcpyPeer, (dst, to, src, from, n));
    if (kmm_cuda_is_managed(dst) || kmm_cuda_is_managed(src))
        return wrap(Memcpy)(dst, src, n, DEFAULT_KIND);
    stream_t own = internal(task_default)();
    if (own)
        return internal(wait_for)(own, real(MemcpyPeerAsync)(dst, to, src, from, n, own));
    int error = kmm_cuda_stream_settle(NULL);
    return error ? error : real(MemcpyPeer)(dst, to, src, from, n);
}

int wrap(MemcpyPeerAsync)(void *dst, int to, const void *src, int from, size_t n, stream_t s)
{
    if (to != from)
        kmm_cuda_native_several(KIND);
    NATIVE(MemcpyPeerAsync, (dst, to, src, from, n, s));
    if (kmm_cuda_is_managed(dst) || kmm_cuda_is_managed(src))
        return wrap(MemcpyAsync)(dst, src, n, DEFAULT_KIND, s);
    s = internal(stream)(s);
    return real(MemcpyPeerAsync)(dst, to, src, from, n, s);
}

int wrap(MemcpyFromSymbolAsync)(void *dst, const void *symbol, size_t n, size_t offset, int kind,
                                stream_t s)
{
    NATIVE(MemcpyFromSymbolAsync, (dst, symbol, n, offset, kind, s));
    if (!kmm_task_active())
        internal(await_others)(s);
    return wrap(MemcpyFromSymbol)(dst, symbol, n, offset, kind);
}

/* Hints about where memory is used. `where` is a device number, or from CUDA 13 on a structure of 8
 * bytes; both are passed in one register. In the form without flags the stream is the fourth
 * argument, in place of the flags. */
int wrap(MemPrefetchAsync)(const void *p, size_t n, uint64_t where, uint64_t flags, stream_t s)
{
    NATIVE(MemPrefetchAsync, (p, n, where, flags, s));
    return kmm_cuda_is_managed(p) ? 0 : real(MemPrefetchAsync)(p, n, where, flags, s);
}

int wrap(MemAdvise)(const void *p, size_t n, int advice, uint64_t where)
{
    NATIVE(MemAdvise, (p, n, advice, where));
    return kmm_cuda_is_managed(p) ? 0 : real(MemAdvise)(p, n, advice, where);
}

/* ---- Host functions and events: they run after managed work on their stream ---- */

int wrap(LaunchHostFunc)(stream_t s, void (*function)(void *arg), void *arg)
{
    NATIVE(LaunchHostFunc, (s, function, arg));
    s = internal(stream)(s);
    return real(LaunchHostFunc)(s, function, arg);
}

int wrap(StreamAddCallback)(stream_t s, void (*function)(stream_t s, int status, void *arg),
                            void *arg, unsigned flags)
{
    NATIVE(StreamAddCallback, (s, function, arg, flags));
    s = internal(stream)(s);
    return real(StreamAddCallback)(s, function, arg, flags);
}

int wrap(EventRecordWithFlags)(event_t e, stream_t s, unsigned flags)
{
    if (kmm_cuda_native_has_returned())
        kmm_cuda_event_forget(e);
    NATIVE(EventRecordWithFlags, (e, s, flags));
    int error = real(EventRecordWithFlags)(e, kmm_task_stream(s), flags);
    if (kmm_task_active())
        kmm_cuda_event_forget(e); /* inside a task the event is recorded by the runtime alone */
    return error || kmm_task_active() ? error : kmm_cuda_event_record(e, s);
}

/* ---- Calls that need memory that stays on one device ---- */

int wrap(CreateTextureObject)(uint64_t *out, const void *resource, const void *texture,
                              const void *view)
{
    struct {
        int kind;
        void *p;
    } r = {0, NULL}; /* the first fields of cudaResourceDesc and of HIP's equivalent */
    if (resource)
        memcpy(&r, resource, sizeof(r));
    bool memory = r.kind == RESOURCE_LINEAR || r.kind == RESOURCE_PITCHED;
    NATIVE_BIND(CreateTextureObject, (out, resource, texture, view));
    if (memory && kmm_cuda_is_managed(r.p))
        return internal(not_supported)(RUNTIME "CreateTextureObject");
    return real(CreateTextureObject)(out, resource, texture, view);
}

int wrap(IpcGetMemHandle)(void *out, void *p)
{
    return kmm_cuda_is_managed(p) ? internal(not_supported)(RUNTIME "IpcGetMemHandle")
                                  : real(IpcGetMemHandle)(out, p);
}

/* ---- CUDA arrays, which textures read. A copy waits for earlier launches, since they may use
 * the array or the copy's other side if that is not managed. ---- */

#define MANAGED_OR(p, call)                                                                        \
    if (kmm_cuda_is_managed(p))                                                                    \
    return internal(not_supported)(RUNTIME #call)

int wrap(Memcpy2DToArray)(void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t w,
                          size_t h, int kind)
{
    NATIVE_ONLY(Memcpy2DToArray, (dst, x, y, src, pitch, w, h, kind));
    MANAGED_OR(src, Memcpy2DToArray);
    stream_t own = internal(task_default)();
    if (own)
        return internal(wait_for)(
            own, real(Memcpy2DToArrayAsync)(dst, x, y, src, pitch, w, h, kind, own));
    int error = kmm_cuda_stream_settle(NULL);
    return error ? error : real(Memcpy2DToArray)(dst, x, y, src, pitch, w, h, kind);
}

int wrap(Memcpy2DToArrayAsync)(void *dst, size_t x, size_t y, const void *src, size_t pitch,
                               size_t w, size_t h, int kind, stream_t s)
{
    NATIVE_ONLY(Memcpy2DToArrayAsync, (dst, x, y, src, pitch, w, h, kind, s));
    MANAGED_OR(src, Memcpy2DToArrayAsync);
    s = internal(stream)(s);
    return real(Memcpy2DToArrayAsync)(dst, x, y, src, pitch, w, h, kind, s);
}

int wrap(Memcpy2DFromArray)(void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t w,
                            size_t h, int kind)
{
    NATIVE_ONLY(Memcpy2DFromArray, (dst, pitch, src, x, y, w, h, kind));
    MANAGED_OR(dst, Memcpy2DFromArray);
    stream_t own = internal(task_default)();
    if (own)
        return internal(wait_for)(
            own, real(Memcpy2DFromArrayAsync)(dst, pitch, src, x, y, w, h, kind, own));
    int error = kmm_cuda_stream_settle(NULL);
    return error ? error : real(Memcpy2DFromArray)(dst, pitch, src, x, y, w, h, kind);
}

int wrap(Memcpy2DFromArrayAsync)(void *dst, size_t pitch, const void *src, size_t x, size_t y,
                                 size_t w, size_t h, int kind, stream_t s)
{
    NATIVE_ONLY(Memcpy2DFromArrayAsync, (dst, pitch, src, x, y, w, h, kind, s));
    MANAGED_OR(dst, Memcpy2DFromArrayAsync);
    s = internal(stream)(s);
    return real(Memcpy2DFromArrayAsync)(dst, pitch, src, x, y, w, h, kind, s);
}

int wrap(MemcpyToArray)(void *dst, size_t x, size_t y, const void *src, size_t n, int kind)
{
    NATIVE_ONLY(MemcpyToArray, (dst, x, y, src, n, kind));
    MANAGED_OR(src, MemcpyToArray);
    int error = kmm_cuda_stream_settle(NULL);
    return error ? error : real(MemcpyToArray)(dst, x, y, src, n, kind);
}

int wrap(MemcpyFromArray)(void *dst, const void *src, size_t x, size_t y, size_t n, int kind)
{
    NATIVE_ONLY(MemcpyFromArray, (dst, src, x, y, n, kind));
    MANAGED_OR(dst, MemcpyFromArray);
    int error = kmm_cuda_stream_settle(NULL);
    return error ? error : real(MemcpyFromArray)(dst, src, x, y, n, kind);
}

/* ---- Freeing things that earlier launches may use: waits for them, then frees even if they
 * failed ---- */

#define END(name, parameters, arguments)                                                           \
    int wrap(name) parameters                                                                      \
    {                                                                                              \
        NATIVE(name, arguments);                                                                   \
        int error = kmm_cuda_stream_settle(NULL), ended = real(name) arguments;                    \
        return error ? error : ended;                                                              \
    }
END(HostUnregister, (void *p), (p))
END(FreeArray, (void *array), (array))
END(DestroyTextureObject, (uint64_t texture), (texture))
END(DestroySurfaceObject, (uint64_t surface), (surface))
#if KMM__WRAP_HIP
END(HostFree, (void *p), (p))
#else
END(FreeHost, (void *p), (p))
END(FreeMipmappedArray, (void *array), (array))
#endif
