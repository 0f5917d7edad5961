/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of the CUDA or HIP runtime that a managed program makes through libkmm.
 *
 * kmmcc links such a program with `--wrap` of each name. The program's calls then reach
 * `__wrap_NAME`, and `__real_NAME` is the runtime's own function. wrap.h declares both from these
 * lists.
 *
 * X(since, result, name, parameters). `since` is ALWAYS, or names the releases that have the call;
 * a program for other releases, which does not use the call, still links. Each name here needs a
 * function `__wrap_NAME`; without one, linking a program fails with an undefined symbol. kmmcc
 * reads the lists for the names alone, so types of parameters are declared in wrap.h.
 */
#ifndef KMM__CALLS_H
#define KMM__CALLS_H

/* Names without "cuda" or "hip" in front. One implementation serves both (wrap and real in
 * wrap.h). */
#define KMM_SHARED_CALLS(X)                                                                        \
    X(ALWAYS, int, Malloc, (void **out, size_t bytes))                                             \
    X(ALWAYS, int, Free, (void *p))                                                                \
    X(ALWAYS, int, MallocAsync, (void **out, size_t bytes, stream_t s))                            \
    X(ALWAYS, int, MallocFromPoolAsync, (void **out, size_t bytes, void *pool, stream_t s))        \
    X(ALWAYS, int, FreeAsync, (void *p, stream_t s))                                               \
    X(ALWAYS, int, MallocPitch, (void **out, size_t *pitch, size_t width, size_t height))          \
    X(ALWAYS, int, Memcpy, (void *dst, const void *src, size_t n, int kind))                       \
    X(ALWAYS, int, MemcpyAsync, (void *dst, const void *src, size_t n, int kind, stream_t s))      \
    X(ALWAYS, int, Memcpy2D,                                                                       \
      (void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind))            \
    X(ALWAYS, int, Memcpy2DAsync,                                                                  \
      (void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind,             \
       stream_t s))                                                                                \
    X(ALWAYS, int, Memset, (void *dst, int value, size_t n))                                       \
    X(ALWAYS, int, MemsetAsync, (void *dst, int value, size_t n, stream_t s))                      \
    X(ALWAYS, int, MemcpyToSymbol,                                                                 \
      (const void *symbol, const void *src, size_t n, size_t offset, int kind))                    \
    X(ALWAYS, int, MemcpyToSymbolAsync,                                                            \
      (const void *symbol, const void *src, size_t n, size_t offset, int kind, stream_t s))        \
    X(ALWAYS, int, MemcpyFromSymbol,                                                               \
      (void *dst, const void *symbol, size_t n, size_t offset, int kind))                          \
    X(ALWAYS, int, Memset2D, (void *dst, size_t pitch, int value, size_t w, size_t h))             \
    X(ALWAYS, int, Memcpy3D, (const copy_t *c))                                                    \
    X(ALWAYS, int, Memcpy3DAsync, (const copy_t *c, stream_t s))                                   \
    X(ALWAYS, int, Malloc3D, (pitched_t * out, extent_t extent))                                   \
    X(ALWAYS, int, Memset3D, (pitched_t memory, int value, extent_t extent))                       \
    X(ALWAYS, int, Memset3DAsync, (pitched_t memory, int value, extent_t extent, stream_t s))      \
    X(ALWAYS, int, Memset2DAsync,                                                                  \
      (void *dst, size_t pitch, int value, size_t w, size_t h, stream_t s))                        \
    X(ALWAYS, int, MemcpyPeer, (void *dst, int to, const void *src, int from, size_t n))           \
    X(ALWAYS, int, MemcpyPeerAsync,                                                                \
      (void *dst, int to, const void *src, int from, size_t n, stream_t s))                        \
    X(ALWAYS, int, MemcpyFromSymbolAsync,                                                          \
      (void *dst, const void *symbol, size_t n, size_t offset, int kind, stream_t s))              \
    X(ALWAYS, int, MemPrefetchAsync,                                                               \
      (const void *p, size_t n, uint64_t where, uint64_t flags, stream_t s))                       \
    X(ALWAYS, int, MemAdvise, (const void *p, size_t n, int advice, uint64_t where))               \
    X(ALWAYS, int, CreateTextureObject,                                                            \
      (uint64_t *out, const void *resource, const void *texture, const void *view))                \
    X(ALWAYS, int, IpcGetMemHandle, (void *out, void *p))                                          \
    X(ALWAYS, int, GetSymbolAddress, (void **out, const void *symbol))                             \
    X(LATER_ROCM, int, DeviceSetLimit, (int limit, size_t value))                                  \
    X(ALWAYS, int, Memcpy2DToArray,                                                                \
      (void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t w, size_t h,           \
       int kind))                                                                                  \
    X(ALWAYS, int, Memcpy2DFromArray,                                                              \
      (void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t w, size_t h,           \
       int kind))                                                                                  \
    X(LATER_ROCM, int, Memcpy2DToArrayAsync,                                                       \
      (void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t w, size_t h, int kind, \
       stream_t s))                                                                                \
    X(LATER_ROCM, int, Memcpy2DFromArrayAsync,                                                     \
      (void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t w, size_t h, int kind, \
       stream_t s))                                                                                \
    X(LATER_ROCM, int, MemcpyToArray,                                                              \
      (void *dst, size_t x, size_t y, const void *src, size_t n, int kind))                        \
    X(LATER_ROCM, int, MemcpyFromArray,                                                            \
      (void *dst, const void *src, size_t x, size_t y, size_t n, int kind))                        \
    X(LATER_ROCM, int, HostUnregister, (void *p))                                                  \
    X(LATER_ROCM, int, FreeArray, (void *array))                                                   \
    X(LATER_ROCM, int, DestroyTextureObject, (uint64_t texture))                                   \
    X(LATER_ROCM, int, DestroySurfaceObject, (uint64_t surface))                                   \
    X(ALWAYS, int, PointerGetAttributes, (void *attributes, const void *p))                        \
    X(ALWAYS, int, LaunchKernel,                                                                   \
      (const void *function, dim3_t grid, dim3_t block, void **args, size_t shared_bytes,          \
       stream_t s))                                                                                \
    X(ALWAYS, int, LaunchCooperativeKernel,                                                        \
      (const void *function, dim3_t grid, dim3_t block, void **args, size_t shared_bytes,          \
       stream_t s))                                                                                \
    X(ALWAYS, int, SetDevice, (int device))                                                        \
    X(LATER_ROCM, int, DeviceEnablePeerAccess, (int peer, unsigned flags))                         \
    X(ALWAYS, int, DeviceSynchronize, (void))                                                      \
    X(ALWAYS, int, DeviceReset, (void))                                                            \
    X(ALWAYS, int, StreamSynchronize, (stream_t s))                                                \
    X(ALWAYS, int, StreamQuery, (stream_t s))                                                      \
    X(ALWAYS, int, StreamDestroy, (stream_t s))                                                    \
    X(ALWAYS, int, StreamBeginCapture, (stream_t s, int mode))                                     \
    X(ALWAYS, int, GraphCreate, (void **graph, unsigned flags))                                    \
    X(ALWAYS, int, GraphLaunch, (void *graph, stream_t s))                                         \
    X(ALWAYS, int, StreamWaitEvent, (stream_t s, event_t e, unsigned flags))                       \
    X(LATER_ROCM, int, LaunchHostFunc, (stream_t s, void (*function)(void *arg), void *arg))       \
    X(ALWAYS, int, StreamAddCallback,                                                              \
      (stream_t s, void (*function)(stream_t s, int status, void *arg), void *arg,                 \
       unsigned flags))                                                                            \
    X(LATER_ROCM, int, EventRecordWithFlags, (event_t e, stream_t s, unsigned flags))              \
    X(ALWAYS, int, EventRecord, (event_t e, stream_t s))                                           \
    X(ALWAYS, int, EventQuery, (event_t e))                                                        \
    X(ALWAYS, int, EventSynchronize, (event_t e))                                                  \
    X(ALWAYS, int, EventElapsedTime, (float *milliseconds, event_t start, event_t end))            \
    X(ALWAYS, int, EventDestroy, (event_t e))                                                      \
    X(ALWAYS, int, GetLastError, (void))                                                           \
    X(ALWAYS, int, PeekAtLastError, (void))                                                        \
    X(ALWAYS, const char *, GetErrorName, (int error))                                             \
    X(ALWAYS, const char *, GetErrorString, (int error))

/* Full names of calls that only CUDA has. */
#define KMM_CUDA_CALLS(X)                                                                          \
    X(ALWAYS, void, __cudaRegisterFunction,                                                        \
      (void **modules, const char *function, char *device_function, const char *name, int limit,   \
       void *thread, void *block, dim3_t *block_size, dim3_t *grid_size, int *warp_size))          \
    X(LATER_ROCM, int, cudaFreeHost, (void *p))                                                    \
    X(LATER_ROCM, int, cudaFreeMipmappedArray, (void *array))                                      \
    X(CUDA_13, int, __cudaLaunchKernel,                                                            \
      (const void *handle, dim3_t grid, dim3_t block, void **args, size_t shared_bytes,            \
       stream_t s))                                                                                \
    X(ALWAYS, int, cudaLaunchKernelExC,                                                            \
      (const configuration_t *c, const void *function, void **args))

/* Names of calls in a program with a default stream for each thread (nvcc --default-stream
 * per-thread), and the calls that they stand for. In managed standing these calls use the ordinary
 * default stream, which is correct: it orders more work than the program asked for. */
#define KMM_CUDA_PER_THREAD_CALLS(X)                                                               \
    X(cudaMemcpy_ptds, cudaMemcpy)                                                                 \
    X(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol)                                                 \
    X(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol)                                             \
    X(cudaMemcpy2D_ptds, cudaMemcpy2D)                                                             \
    X(cudaMemcpy2DToArray_ptds, cudaMemcpy2DToArray)                                               \
    X(cudaMemcpy2DFromArray_ptds, cudaMemcpy2DFromArray)                                           \
    X(cudaMemcpy2DToArrayAsync_ptsz, cudaMemcpy2DToArrayAsync)                                     \
    X(cudaMemcpy2DFromArrayAsync_ptsz, cudaMemcpy2DFromArrayAsync)                                 \
    X(cudaMemcpyToArray_ptds, cudaMemcpyToArray)                                                   \
    X(cudaMemcpyFromArray_ptds, cudaMemcpyFromArray)                                               \
    X(cudaMemcpy3D_ptds, cudaMemcpy3D)                                                             \
    X(cudaMemset_ptds, cudaMemset)                                                                 \
    X(cudaMemset2D_ptds, cudaMemset2D)                                                             \
    X(cudaMemset3D_ptds, cudaMemset3D)                                                             \
    X(cudaMemcpyAsync_ptsz, cudaMemcpyAsync)                                                       \
    X(cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbolAsync)                                       \
    X(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync)                                   \
    X(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync)                                                   \
    X(cudaMemcpy3DAsync_ptsz, cudaMemcpy3DAsync)                                                   \
    X(cudaMemsetAsync_ptsz, cudaMemsetAsync)                                                       \
    X(cudaMemset2DAsync_ptsz, cudaMemset2DAsync)                                                   \
    X(cudaMemset3DAsync_ptsz, cudaMemset3DAsync)                                                   \
    X(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync)                                             \
    X(cudaMallocAsync_ptsz, cudaMallocAsync)                                                       \
    X(cudaMallocFromPoolAsync_ptsz, cudaMallocFromPoolAsync)                                       \
    X(cudaFreeAsync_ptsz, cudaFreeAsync)                                                           \
    X(cudaStreamQuery_ptsz, cudaStreamQuery)                                                       \
    X(cudaStreamSynchronize_ptsz, cudaStreamSynchronize)                                           \
    X(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent)                                               \
    X(cudaStreamBeginCapture_ptsz, cudaStreamBeginCapture)                                         \
    X(cudaGraphLaunch_ptsz, cudaGraphLaunch)                                                       \
    X(cudaEventRecord_ptsz, cudaEventRecord)                                                       \
    X(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags)                                     \
    X(cudaLaunchHostFunc_ptsz, cudaLaunchHostFunc)                                                 \
    X(cudaStreamAddCallback_ptsz, cudaStreamAddCallback)                                           \
    X(cudaLaunchKernel_ptsz, cudaLaunchKernel)                                                     \
    X(cudaLaunchKernelExC_ptsz, cudaLaunchKernelExC)                                               \
    X(cudaLaunchCooperativeKernel_ptsz, cudaLaunchCooperativeKernel)                               \
    X(__cudaLaunchKernel_ptsz, __cudaLaunchKernel)

#define KMM_HIP_CALLS(X)                                                                           \
    X(LATER_ROCM, int, hipHostFree, (void *p))                                                     \
    X(ALWAYS, void **, __hipRegisterFatBinary, (const void *data))                                 \
    X(ALWAYS, void, __hipRegisterFunction,                                                         \
      (void **modules, const void *function, char *device_function, const char *name,              \
       unsigned limit, void *thread, void *block, dim3_t *block_size, dim3_t *grid_size,           \
       int *warp_size))                                                                            \
    X(ALWAYS, int, __hipPushCallConfiguration,                                                     \
      (dim3_t grid, dim3_t block, size_t shared_bytes, stream_t s))                                \
    X(ALWAYS, int, hipExtLaunchKernel,                                                             \
      (const void *function, dim3_t grid, dim3_t block, void **args, size_t shared_bytes,          \
       stream_t s, event_t start, event_t stop, int flags))                                        \
    X(ALWAYS, int, hipLaunchCooperativeKernelMultiDevice,                                          \
      (void *launches, int count, unsigned flags))                                                 \
    X(ALWAYS, int, hipModuleLaunchKernel,                                                          \
      (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,      \
       unsigned shared_bytes, stream_t s, void **args, void **extra))                              \
    X(ALWAYS, int, hipMemcpyWithStream,                                                            \
      (void *dst, const void *src, size_t n, int kind, stream_t s))                                \
    X(ALWAYS, int, hipMemcpyHtoD, (void *dst, void *src, size_t n))                                \
    X(ALWAYS, int, hipMemcpyHtoDAsync, (void *dst, void *src, size_t n, stream_t s))               \
    X(ALWAYS, int, hipMemcpyDtoH, (void *dst, void *src, size_t n))                                \
    X(ALWAYS, int, hipMemcpyDtoHAsync, (void *dst, void *src, size_t n, stream_t s))               \
    X(ALWAYS, int, hipMemcpyDtoD, (void *dst, void *src, size_t n))                                \
    X(ALWAYS, int, hipMemcpyDtoDAsync, (void *dst, void *src, size_t n, stream_t s))               \
    X(ALWAYS, int, hipMemsetD8, (void *dst, unsigned char value, size_t count))                    \
    X(ALWAYS, int, hipMemsetD8Async, (void *dst, unsigned char value, size_t count, stream_t s))   \
    X(ALWAYS, int, hipMemsetD16, (void *dst, unsigned short value, size_t count))                  \
    X(ALWAYS, int, hipMemsetD16Async, (void *dst, unsigned short value, size_t count, stream_t s)) \
    X(ALWAYS, int, hipMemsetD32, (void *dst, int value, size_t count))                             \
    X(ALWAYS, int, hipMemsetD32Async, (void *dst, int value, size_t count, stream_t s))

#endif
