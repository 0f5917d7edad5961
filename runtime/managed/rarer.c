/* SPDX-License-Identifier: Apache-2.0 */
/* Rarer calls of both runtimes (wrap.h): what means the same on managed memory or beside managed
 * work, and what fails by name. */
#include <stdbool.h>
#include <string.h>

#include "managed/wrap.h"

enum { DEFAULT_KIND = 4, RESOURCE_LINEAR = 2, RESOURCE_PITCHED = 3 };

SINCE_LATER int REAL(LaunchHostFunc)
(stream_t s, void (*function)(void *arg), void *arg);
int REAL(StreamAddCallback)
(stream_t s, void (*function)(stream_t s, int status, void *arg), void *arg, unsigned flags);
SINCE_LATER int REAL(EventRecordWithFlags)
(event_t e, stream_t s, unsigned flags);
int WRAP(LaunchHostFunc)(stream_t s, void (*function)(void *arg), void *arg);
int WRAP(StreamAddCallback)(stream_t s, void (*function)(stream_t s, int status, void *arg),
                            void *arg, unsigned flags);
int WRAP(EventRecordWithFlags)(event_t e, stream_t s, unsigned flags);
int REAL(MemcpyPeer)
(void *dst, int to, const void *src, int from, size_t n);
int REAL(MemcpyPeerAsync)
(void *dst, int to, const void *src, int from, size_t n, stream_t s);
int REAL(MemcpyFromSymbolAsync)
(void *dst, const void *symbol, size_t n, size_t offset, int kind, stream_t s);
int REAL(MemPrefetchAsync)
(const void *p, size_t n, uint64_t place, uint64_t flags, stream_t s);
int REAL(MemAdvise)
(const void *p, size_t n, int advice, uint64_t place);
int REAL(CreateTextureObject)
(uint64_t *out, const void *resource, const void *texture, const void *view);
int REAL(IpcGetMemHandle)
(void *out, void *p);
int REAL(Memcpy2DToArray)
(void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t w, size_t h, int kind);
int REAL(Memcpy2DFromArray)
(void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t w, size_t h, int kind);
SINCE_LATER int REAL(Memcpy2DToArrayAsync)
(void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t w, size_t h, int kind,
 stream_t s);
SINCE_LATER int REAL(Memcpy2DFromArrayAsync)
(void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t w, size_t h, int kind,
 stream_t s);
SINCE_LATER int REAL(MemcpyToArray)
(void *dst, size_t x, size_t y, const void *src, size_t n, int kind);
SINCE_LATER int REAL(MemcpyFromArray)
(void *dst, const void *src, size_t x, size_t y, size_t n, int kind);
int WRAP(Memset2DAsync)(void *dst, size_t pitch, int value, size_t w, size_t h, stream_t s);
int WRAP(Memcpy2DToArrayAsync)(void *dst, size_t x, size_t y, const void *src, size_t pitch,
                               size_t w, size_t h, int kind, stream_t s);
int WRAP(Memcpy2DFromArrayAsync)(void *dst, size_t pitch, const void *src, size_t x, size_t y,
                                 size_t w, size_t h, int kind, stream_t s);
int WRAP(MemcpyToArray)(void *dst, size_t x, size_t y, const void *src, size_t n, int kind);
int WRAP(MemcpyFromArray)(void *dst, const void *src, size_t x, size_t y, size_t n, int kind);
int WRAP(MemcpyPeer)(void *dst, int to, const void *src, int from, size_t n);
int WRAP(MemcpyPeerAsync)(void *dst, int to, const void *src, int from, size_t n, stream_t s);
int WRAP(MemcpyFromSymbolAsync)(void *dst, const void *symbol, size_t n, size_t offset, int kind,
                                stream_t s);
int WRAP(MemPrefetchAsync)(const void *p, size_t n, uint64_t place, uint64_t flags, stream_t s);
int WRAP(MemAdvise)(const void *p, size_t n, int advice, uint64_t place);
int WRAP(CreateTextureObject)(uint64_t *out, const void *resource, const void *texture,
                              const void *view);
int WRAP(IpcGetMemHandle)(void *out, void *p);
int WRAP(Memcpy2DToArray)(void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t w,
                          size_t h, int kind);
int WRAP(Memcpy2DFromArray)(void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t w,
                            size_t h, int kind);

/* ---- The same on managed memory ---- */

int WRAP(Memset2DAsync)(void *dst, size_t pitch, int value, size_t w, size_t h, stream_t s)
{
    if (kmm_cuda_is_managed(dst))
        return WRAP(Memset2D)(dst, pitch, value, w, h);
    s = OWN(stream)(s);
    return REAL(Memset2DAsync)
    (dst, pitch, value, w, h, s);
}

/* Where managed memory is, libkmm knows. */
int WRAP(MemcpyPeer)(void *dst, int to, const void *src, int from, size_t n)
{
    if (kmm_cuda_is_managed(dst) || kmm_cuda_is_managed(src))
        return WRAP(Memcpy)(dst, src, n, DEFAULT_KIND);
    stream_t own = OWN(task_default)();
    if (own)
        return OWN(wait_for)(own, REAL(MemcpyPeerAsync)(dst, to, src, from, n, own));
    int error = kmm_cuda_stream_settle(NULL);
    return error ? error : REAL(MemcpyPeer)
    (dst, to, src, from, n);
}

int WRAP(MemcpyPeerAsync)(void *dst, int to, const void *src, int from, size_t n, stream_t s)
{
    if (kmm_cuda_is_managed(dst) || kmm_cuda_is_managed(src))
        return WRAP(MemcpyAsync)(dst, src, n, DEFAULT_KIND, s);
    s = OWN(stream)(s);
    return REAL(MemcpyPeerAsync)
    (dst, to, src, from, n, s);
}

int WRAP(MemcpyFromSymbolAsync)(void *dst, const void *symbol, size_t n, size_t offset, int kind,
                                stream_t s)
{
    if (!kmm_task_active())
        OWN(await_others)(s);
    return WRAP(MemcpyFromSymbol)(dst, symbol, n, offset, kind);
}

/* Hints. The place is a device, or from CUDA 13 on a structure of 8 bytes: registers pass both
 * alike. Where there are no flags the stream is in their place. */
int WRAP(MemPrefetchAsync)(const void *p, size_t n, uint64_t place, uint64_t flags, stream_t s)
{
    return kmm_cuda_is_managed(p) ? 0 : REAL(MemPrefetchAsync)
    (p, n, place, flags, s);
}

int WRAP(MemAdvise)(const void *p, size_t n, int advice, uint64_t place)
{
    return kmm_cuda_is_managed(p) ? 0 : REAL(MemAdvise)
    (p, n, advice, place);
}

/* ---- Functions of the host and events: behind managed work on their stream ---- */

int WRAP(LaunchHostFunc)(stream_t s, void (*function)(void *arg), void *arg)
{
    s = OWN(stream)(s);
    return REAL(LaunchHostFunc)
    (s, function, arg);
}

int WRAP(StreamAddCallback)(stream_t s, void (*function)(stream_t s, int status, void *arg),
                            void *arg, unsigned flags)
{
    s = OWN(stream)(s);
    return REAL(StreamAddCallback)
    (s, function, arg, flags);
}

int WRAP(EventRecordWithFlags)(event_t e, stream_t s, unsigned flags)
{
    int error = REAL(EventRecordWithFlags)
    (e, kmm_task_stream(s), flags);
    if (kmm_task_active())
        kmm_cuda_event_forget(e); /* it is the runtime's alone */
    return error || kmm_task_active() ? error : kmm_cuda_event_record(e, s);
}

/* ---- What needs memory that stays on one device ---- */

int WRAP(CreateTextureObject)(uint64_t *out, const void *resource, const void *texture,
                              const void *view)
{
    struct {
        int kind;
        void *p;
    } r = {0, NULL}; /* the beginning of cudaResourceDesc and of HIP's */
    if (resource)
        memcpy(&r, resource, sizeof(r));
    bool memory = r.kind == RESOURCE_LINEAR || r.kind == RESOURCE_PITCHED;
    if (memory && kmm_cuda_is_managed(r.p))
        return OWN(not_supported)(RUNTIME "CreateTextureObject");
    return REAL(CreateTextureObject)
    (out, resource, texture, view);
}

int WRAP(IpcGetMemHandle)(void *out, void *p)
{
    return kmm_cuda_is_managed(p) ? OWN(not_supported)(RUNTIME "IpcGetMemHandle")
                                  : REAL(IpcGetMemHandle)
    (out, p);
}

/* ---- CUDA arrays, which textures read: launches before a copy may use them, and what is not
 * managed on its other side ---- */

#define MANAGED_OR(p, call)                                                                        \
    if (kmm_cuda_is_managed(p))                                                                    \
    return OWN(not_supported)(RUNTIME #call)

int WRAP(Memcpy2DToArray)(void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t w,
                          size_t h, int kind)
{
    MANAGED_OR(src, Memcpy2DToArray);
    stream_t own = OWN(task_default)();
    if (own)
        return OWN(wait_for)(own,
                             REAL(Memcpy2DToArrayAsync)(dst, x, y, src, pitch, w, h, kind, own));
    int error = kmm_cuda_stream_settle(NULL);
    return error ? error : REAL(Memcpy2DToArray)
    (dst, x, y, src, pitch, w, h, kind);
}

int WRAP(Memcpy2DToArrayAsync)(void *dst, size_t x, size_t y, const void *src, size_t pitch,
                               size_t w, size_t h, int kind, stream_t s)
{
    MANAGED_OR(src, Memcpy2DToArrayAsync);
    s = OWN(stream)(s);
    return REAL(Memcpy2DToArrayAsync)
    (dst, x, y, src, pitch, w, h, kind, s);
}

int WRAP(Memcpy2DFromArray)(void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t w,
                            size_t h, int kind)
{
    MANAGED_OR(dst, Memcpy2DFromArray);
    stream_t own = OWN(task_default)();
    if (own)
        return OWN(wait_for)(own,
                             REAL(Memcpy2DFromArrayAsync)(dst, pitch, src, x, y, w, h, kind, own));
    int error = kmm_cuda_stream_settle(NULL);
    return error ? error : REAL(Memcpy2DFromArray)
    (dst, pitch, src, x, y, w, h, kind);
}

int WRAP(Memcpy2DFromArrayAsync)(void *dst, size_t pitch, const void *src, size_t x, size_t y,
                                 size_t w, size_t h, int kind, stream_t s)
{
    MANAGED_OR(dst, Memcpy2DFromArrayAsync);
    s = OWN(stream)(s);
    return REAL(Memcpy2DFromArrayAsync)
    (dst, pitch, src, x, y, w, h, kind, s);
}

int WRAP(MemcpyToArray)(void *dst, size_t x, size_t y, const void *src, size_t n, int kind)
{
    MANAGED_OR(src, MemcpyToArray);
    int error = kmm_cuda_stream_settle(NULL);
    return error ? error : REAL(MemcpyToArray)
    (dst, x, y, src, n, kind);
}

int WRAP(MemcpyFromArray)(void *dst, const void *src, size_t x, size_t y, size_t n, int kind)
{
    MANAGED_OR(dst, MemcpyFromArray);
    int error = kmm_cuda_stream_settle(NULL);
    return error ? error : REAL(MemcpyFromArray)
    (dst, src, x, y, n, kind);
}

/* ---- The end of what launches before it may use. It is given back whatever they came to. ---- */

#define END(name, parameters, arguments)                                                           \
    SINCE_LATER int REAL(name)                                                                     \
    parameters;                                                                                    \
    int WRAP(name) parameters;                                                                     \
    int WRAP(name) parameters                                                                      \
    {                                                                                              \
        int error = kmm_cuda_stream_settle(NULL), ended = REAL(name)                               \
        arguments;                                                                                 \
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
