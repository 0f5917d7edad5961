/* SPDX-License-Identifier: Apache-2.0 */
/* Rarer calls of the CUDA runtime that name memory (wrap.h): what means the same on managed memory, and what fails by name. */
#include <stdbool.h>
#include <string.h>

#include "wrap.h"

enum { DEFAULT_KIND = 4, RESOURCE_LINEAR = 2, RESOURCE_PITCHED = 3 };

int __real_cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t w, size_t h, stream_t s);
int __real_cudaMemcpyPeer(void *dst, int to, const void *src, int from, size_t n);
int __real_cudaMemcpyPeerAsync(void *dst, int to, const void *src, int from, size_t n, stream_t s);
int __real_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t n, size_t offset, int kind, stream_t s);
int __real_cudaMemPrefetchAsync(const void *p, size_t n, uint64_t place, uint64_t flags, stream_t s);
int __real_cudaMemAdvise(const void *p, size_t n, int advice, uint64_t place);
int __real_cudaCreateTextureObject(uint64_t *out, const void *resource, const void *texture, const void *view);
int __real_cudaIpcGetMemHandle(void *out, void *p);
int __real_cudaMemcpy2DToArray(void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t w, size_t h, int kind);
int __real_cudaMemcpy2DFromArray(void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t w, size_t h, int kind);
int __wrap_cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t w, size_t h, stream_t s);
int __wrap_cudaMemcpyPeer(void *dst, int to, const void *src, int from, size_t n);
int __wrap_cudaMemcpyPeerAsync(void *dst, int to, const void *src, int from, size_t n, stream_t s);
int __wrap_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t n, size_t offset, int kind, stream_t s);
int __wrap_cudaMemPrefetchAsync(const void *p, size_t n, uint64_t place, uint64_t flags, stream_t s);
int __wrap_cudaMemAdvise(const void *p, size_t n, int advice, uint64_t place);
int __wrap_cudaCreateTextureObject(uint64_t *out, const void *resource, const void *texture, const void *view);
int __wrap_cudaIpcGetMemHandle(void *out, void *p);
int __wrap_cudaMemcpy2DToArray(void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t w, size_t h, int kind);
int __wrap_cudaMemcpy2DFromArray(void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t w, size_t h, int kind);

/* ---- The same on managed memory ---- */

int __wrap_cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t w, size_t h, stream_t s)
{
    return kmm_cuda_is_managed(dst) ? WRAP(Memset2D)(dst, pitch, value, w, h) : __real_cudaMemset2DAsync(dst, pitch, value, w, h, s);
}

/* Where managed memory is, libkmm knows. */
int __wrap_cudaMemcpyPeer(void *dst, int to, const void *src, int from, size_t n)
{
    bool managed = kmm_cuda_is_managed(dst) || kmm_cuda_is_managed(src);
    return managed ? kmm_cuda_memcpy(dst, src, n, DEFAULT_KIND) : __real_cudaMemcpyPeer(dst, to, src, from, n);
}

int __wrap_cudaMemcpyPeerAsync(void *dst, int to, const void *src, int from, size_t n, stream_t s)
{
    bool managed = kmm_cuda_is_managed(dst) || kmm_cuda_is_managed(src);
    return managed ? kmm_cuda_memcpy_async(dst, src, n, DEFAULT_KIND, s) : __real_cudaMemcpyPeerAsync(dst, to, src, from, n, s);
}

int __wrap_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t n, size_t offset, int kind, stream_t s)
{
    (void)s; /* all work that may store to the symbol has ended before it is read */
    return WRAP(MemcpyFromSymbol)(dst, symbol, n, offset, kind);
}

/* Hints. The place is a device, or from CUDA 13 on a structure of 8 bytes: registers pass both alike. */
int __wrap_cudaMemPrefetchAsync(const void *p, size_t n, uint64_t place, uint64_t flags, stream_t s)
{
    return kmm_cuda_is_managed(p) ? 0 : __real_cudaMemPrefetchAsync(p, n, place, flags, s);
}

int __wrap_cudaMemAdvise(const void *p, size_t n, int advice, uint64_t place)
{
    return kmm_cuda_is_managed(p) ? 0 : __real_cudaMemAdvise(p, n, advice, place);
}

/* ---- What needs memory that stays on one device ---- */

int __wrap_cudaCreateTextureObject(uint64_t *out, const void *resource, const void *texture, const void *view)
{
    struct { int kind; void *p; } r = { 0, NULL }; /* the beginning of cudaResourceDesc */
    if (resource)
        memcpy(&r, resource, sizeof(r));
    bool memory = r.kind == RESOURCE_LINEAR || r.kind == RESOURCE_PITCHED;
    if (memory && kmm_cuda_is_managed(r.p))
        return OWN(not_supported)("cudaCreateTextureObject");
    return __real_cudaCreateTextureObject(out, resource, texture, view);
}

int __wrap_cudaIpcGetMemHandle(void *out, void *p)
{
    return kmm_cuda_is_managed(p) ? OWN(not_supported)("cudaIpcGetMemHandle") : __real_cudaIpcGetMemHandle(out, p);
}

int __wrap_cudaMemcpy2DToArray(void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t w, size_t h, int kind)
{
    if (kmm_cuda_is_managed(src))
        return OWN(not_supported)("cudaMemcpy2DToArray");
    return __real_cudaMemcpy2DToArray(dst, x, y, src, pitch, w, h, kind);
}

int __wrap_cudaMemcpy2DFromArray(void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t w, size_t h, int kind)
{
    if (kmm_cuda_is_managed(dst))
        return OWN(not_supported)("cudaMemcpy2DFromArray");
    return __real_cudaMemcpy2DFromArray(dst, pitch, src, x, y, w, h, kind);
}
