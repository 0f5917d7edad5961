/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points for programs with a default stream for each thread. Their calls have other names
 * (calls.h) and the same arguments. In native standing the default stream is the thread's own. In
 * managed standing it is the ordinary one, which orders more. */
#include "managed/wrap.h"

static stream_t own(stream_t s)
{
    return s || !kmm_cuda_native(KIND) ? s : PER_THREAD;
}

/* A call that takes a stream. */
#define ON(name, parameters, arguments)                                                            \
    int __wrap_##name##_ptsz parameters;                                                           \
    int __wrap_##name##_ptsz parameters                                                            \
    {                                                                                              \
        return __wrap_##name arguments;                                                            \
    }
/* A call that uses the default stream and waits for it. `async` is the same with a stream. */
#define AT_ONCE(name, async, parameters, arguments, on_own)                                        \
    int __wrap_##name##_ptds parameters;                                                           \
    int __wrap_##name##_ptds parameters                                                            \
    {                                                                                              \
        if (!kmm_cuda_native(KIND))                                                                \
            return __wrap_##name arguments;                                                        \
        int error = __wrap_##async on_own;                                                         \
        return error ? error : __wrap_cudaStreamSynchronize(PER_THREAD);                           \
    }

/* A set of memory, which uses the default stream and does not wait for it. */
#define SET(name, parameters, arguments, on_own)                                                   \
    int __wrap_##name##_ptds parameters;                                                           \
    int __wrap_##name##_ptds parameters                                                            \
    {                                                                                              \
        return kmm_cuda_native(KIND) ? __wrap_##name##Async on_own : __wrap_##name arguments;      \
    }

ON(cudaMemcpyAsync, (void *dst, const void *src, size_t n, int kind, stream_t s),
   (dst, src, n, kind, own(s)))
ON(cudaMemcpyToSymbolAsync,
   (const void *symbol, const void *src, size_t n, size_t offset, int kind, stream_t s),
   (symbol, src, n, offset, kind, own(s)))
ON(cudaMemcpyFromSymbolAsync,
   (void *dst, const void *symbol, size_t n, size_t offset, int kind, stream_t s),
   (dst, symbol, n, offset, kind, own(s)))
ON(cudaMemcpy2DAsync,
   (void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind, stream_t s),
   (dst, dp, src, sp, w, h, kind, own(s)))
ON(cudaMemcpy2DToArrayAsync,
   (void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t w, size_t h, int kind,
    stream_t s),
   (dst, x, y, src, pitch, w, h, kind, own(s)))
ON(cudaMemcpy2DFromArrayAsync,
   (void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t w, size_t h, int kind,
    stream_t s),
   (dst, pitch, src, x, y, w, h, kind, own(s)))
ON(cudaMemcpy3DAsync, (const copy_t *c, stream_t s), (c, own(s)))
ON(cudaMemsetAsync, (void *dst, int value, size_t n, stream_t s), (dst, value, n, own(s)))
ON(cudaMemset2DAsync, (void *dst, size_t pitch, int value, size_t w, size_t h, stream_t s),
   (dst, pitch, value, w, h, own(s)))
ON(cudaMemset3DAsync, (pitched_t memory, int value, extent_t extent, stream_t s),
   (memory, value, extent, own(s)))
ON(cudaMallocAsync, (void **out, size_t bytes, stream_t s), (out, bytes, own(s)))
ON(cudaMallocFromPoolAsync, (void **out, size_t bytes, void *pool, stream_t s),
   (out, bytes, pool, own(s)))
ON(cudaFreeAsync, (void *p, stream_t s), (p, own(s)))
ON(cudaStreamQuery, (stream_t s), (own(s)))
ON(cudaStreamSynchronize, (stream_t s), (own(s)))
ON(cudaStreamWaitEvent, (stream_t s, event_t e, unsigned flags), (own(s), e, flags))
ON(cudaStreamBeginCapture, (stream_t s, int mode), (own(s), mode))
ON(cudaGraphLaunch, (void *graph, stream_t s), (graph, own(s)))
ON(cudaEventRecord, (event_t e, stream_t s), (e, own(s)))
ON(cudaEventRecordWithFlags, (event_t e, stream_t s, unsigned flags), (e, own(s), flags))
ON(cudaLaunchHostFunc, (stream_t s, void (*function)(void *arg), void *arg),
   (own(s), function, arg))
ON(cudaStreamAddCallback,
   (stream_t s, void (*function)(stream_t s, int status, void *arg), void *arg, unsigned flags),
   (own(s), function, arg, flags))
ON(cudaLaunchKernel,
   (const void *function, dim3_t grid, dim3_t block, void **args, size_t shared_bytes, stream_t s),
   (function, grid, block, args, shared_bytes, own(s)))
ON(__cudaLaunchKernel,
   (const void *handle, dim3_t grid, dim3_t block, void **args, size_t shared_bytes, stream_t s),
   (handle, grid, block, args, shared_bytes, own(s)))
ON(cudaLaunchCooperativeKernel,
   (const void *function, dim3_t grid, dim3_t block, void **args, size_t shared_bytes, stream_t s),
   (function, grid, block, args, shared_bytes, own(s)))

AT_ONCE(cudaMemcpy, cudaMemcpyAsync, (void *dst, const void *src, size_t n, int kind),
        (dst, src, n, kind), (dst, src, n, kind, PER_THREAD))
AT_ONCE(cudaMemcpyToSymbol, cudaMemcpyToSymbolAsync,
        (const void *symbol, const void *src, size_t n, size_t offset, int kind),
        (symbol, src, n, offset, kind), (symbol, src, n, offset, kind, PER_THREAD))
AT_ONCE(cudaMemcpyFromSymbol, cudaMemcpyFromSymbolAsync,
        (void *dst, const void *symbol, size_t n, size_t offset, int kind),
        (dst, symbol, n, offset, kind), (dst, symbol, n, offset, kind, PER_THREAD))
AT_ONCE(cudaMemcpy2D, cudaMemcpy2DAsync,
        (void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind),
        (dst, dp, src, sp, w, h, kind), (dst, dp, src, sp, w, h, kind, PER_THREAD))
AT_ONCE(cudaMemcpy2DToArray, cudaMemcpy2DToArrayAsync,
        (void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t w, size_t h,
         int kind),
        (dst, x, y, src, pitch, w, h, kind), (dst, x, y, src, pitch, w, h, kind, PER_THREAD))
AT_ONCE(cudaMemcpy2DFromArray, cudaMemcpy2DFromArrayAsync,
        (void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t w, size_t h,
         int kind),
        (dst, pitch, src, x, y, w, h, kind), (dst, pitch, src, x, y, w, h, kind, PER_THREAD))
AT_ONCE(cudaMemcpy3D, cudaMemcpy3DAsync, (const copy_t *c), (c), (c, PER_THREAD))
SET(cudaMemset, (void *dst, int value, size_t n), (dst, value, n), (dst, value, n, PER_THREAD))
SET(cudaMemset2D, (void *dst, size_t pitch, int value, size_t w, size_t h),
    (dst, pitch, value, w, h), (dst, pitch, value, w, h, PER_THREAD))
SET(cudaMemset3D, (pitched_t memory, int value, extent_t extent), (memory, value, extent),
    (memory, value, extent, PER_THREAD))

/* The remaining calls have no form with a stream, or are hints. Their entry points are jumps to the
 * ordinary wrappers. */
#if defined(__x86_64__)
#define JUMP "jmp"
#elif defined(__aarch64__)
#define JUMP "b"
#endif

#define FORWARD(name, call)                                                                        \
    __asm__(".text\n"                                                                              \
            ".globl __wrap_" #name "\n"                                                            \
            ".type __wrap_" #name ",%function\n"                                                   \
            "__wrap_" #name ":\n"                                                                  \
            "    " JUMP " __wrap_" #call "\n"                                                      \
            ".size __wrap_" #name ",.-__wrap_" #name "\n");

FORWARD(cudaMemcpyToArray_ptds, cudaMemcpyToArray)
FORWARD(cudaMemcpyFromArray_ptds, cudaMemcpyFromArray)
FORWARD(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync)
