/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of the CUDA or HIP runtime that a managed program makes through libkmm. kmmcc links
 * such a program with
 * `--wrap` of each name, and `__wrap_` of each is defined by wrap.c and launch.c, or by
 * cuda_calls.c and hip_calls.c for what only one of the two runtimes has: a name that stands only
 * in one of the two places is an undefined symbol, or is never reached.
 */
#ifndef KMM__CALLS_H
#define KMM__CALLS_H

/* Behind "cuda" and "hip". */
#define KMM_SHARED_CALLS(X)                                                                        \
    X(Malloc)                                                                                      \
    X(Free)                                                                                        \
    X(MallocAsync)                                                                                 \
    X(MallocFromPoolAsync)                                                                         \
    X(FreeAsync)                                                                                   \
    X(MallocPitch)                                                                                 \
    X(Memcpy)                                                                                      \
    X(MemcpyAsync)                                                                                 \
    X(Memcpy2D)                                                                                    \
    X(Memcpy2DAsync)                                                                               \
    X(Memset)                                                                                      \
    X(MemsetAsync)                                                                                 \
    X(MemcpyToSymbol)                                                                              \
    X(MemcpyToSymbolAsync)                                                                         \
    X(MemcpyFromSymbol)                                                                            \
    X(Memset2D)                                                                                    \
    X(Memcpy3D)                                                                                    \
    X(Memcpy3DAsync)                                                                               \
    X(Malloc3D)                                                                                    \
    X(Memset3D)                                                                                    \
    X(Memset3DAsync)                                                                               \
    X(Memset2DAsync)                                                                               \
    X(MemcpyPeer)                                                                                  \
    X(MemcpyPeerAsync)                                                                             \
    X(MemcpyFromSymbolAsync)                                                                       \
    X(MemPrefetchAsync)                                                                            \
    X(MemAdvise)                                                                                   \
    X(CreateTextureObject)                                                                         \
    X(IpcGetMemHandle)                                                                             \
    X(GetSymbolAddress)                                                                            \
    X(DeviceSetLimit)                                                                              \
    X(Memcpy2DToArray)                                                                             \
    X(Memcpy2DFromArray)                                                                           \
    X(Memcpy2DToArrayAsync)                                                                        \
    X(Memcpy2DFromArrayAsync)                                                                      \
    X(MemcpyToArray)                                                                               \
    X(MemcpyFromArray)                                                                             \
    X(HostUnregister)                                                                              \
    X(FreeArray)                                                                                   \
    X(DestroyTextureObject)                                                                        \
    X(DestroySurfaceObject)                                                                        \
    X(PointerGetAttributes)                                                                        \
    X(LaunchKernel)                                                                                \
    X(LaunchCooperativeKernel)                                                                     \
    X(DeviceSynchronize)                                                                           \
    X(DeviceReset)                                                                                 \
    X(StreamSynchronize)                                                                           \
    X(StreamQuery)                                                                                 \
    X(StreamDestroy)                                                                               \
    X(StreamBeginCapture)                                                                          \
    X(GraphCreate)                                                                                 \
    X(GraphLaunch)                                                                                 \
    X(StreamWaitEvent)                                                                             \
    X(LaunchHostFunc)                                                                              \
    X(StreamAddCallback)                                                                           \
    X(EventRecordWithFlags)                                                                        \
    X(EventRecord)                                                                                 \
    X(EventQuery)                                                                                  \
    X(EventSynchronize)                                                                            \
    X(EventElapsedTime)                                                                            \
    X(EventDestroy)                                                                                \
    X(GetLastError)                                                                                \
    X(PeekAtLastError)

#define KMM_CUDA_CALLS(X)                                                                          \
    X(cudaFreeHost)                                                                                \
    X(cudaFreeMipmappedArray)                                                                      \
    X(__cudaLaunchKernel)                                                                          \
    X(cudaLaunchKernelExC)

/* What calls are named where the program has a default stream for each thread (nvcc
 * --default-stream per-thread), and the calls: there the default stream orders more than was asked
 * for, which is no mistake. */
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
    X(hipHostFree)                                                                                 \
    X(__hipRegisterFatBinary)                                                                      \
    X(__hipRegisterFunction)                                                                       \
    X(__hipPushCallConfiguration)                                                                  \
    X(hipExtLaunchKernel)                                                                          \
    X(hipLaunchCooperativeKernelMultiDevice)                                                       \
    X(hipModuleLaunchKernel)                                                                       \
    X(hipMemcpyWithStream)                                                                         \
    X(hipMemcpyHtoD)                                                                               \
    X(hipMemcpyHtoDAsync)                                                                          \
    X(hipMemcpyDtoH)                                                                               \
    X(hipMemcpyDtoHAsync)                                                                          \
    X(hipMemcpyDtoD)                                                                               \
    X(hipMemcpyDtoDAsync)                                                                          \
    X(hipMemsetD8)                                                                                 \
    X(hipMemsetD8Async)                                                                            \
    X(hipMemsetD16)                                                                                \
    X(hipMemsetD16Async)                                                                           \
    X(hipMemsetD32)                                                                                \
    X(hipMemsetD32Async)

#endif
