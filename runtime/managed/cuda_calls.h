/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of the CUDA runtime that a managed program makes through libkmm. kmmcc links such a
 * program with `--wrap` of each name, and cuda_wrap.c defines `__wrap_` of each: a name that
 * stands only in one of the two places is an undefined symbol, or is never reached.
 */
#ifndef KMM__CUDA_CALLS_H
#define KMM__CUDA_CALLS_H

#define KMM_CUDA_CALLS(X)                                                                          \
    X(cudaMalloc)                                                                                  \
    X(cudaFree)                                                                                    \
    X(cudaMallocAsync)                                                                             \
    X(cudaFreeAsync)                                                                               \
    X(cudaMallocPitch)                                                                             \
    X(cudaMemcpy)                                                                                  \
    X(cudaMemcpyAsync)                                                                             \
    X(cudaMemcpy2D)                                                                                \
    X(cudaMemcpy2DAsync)                                                                           \
    X(cudaMemset)                                                                                  \
    X(cudaMemsetAsync)                                                                             \
    X(cudaMemcpyToSymbol)                                                                          \
    X(cudaMemcpyToSymbolAsync)                                                                     \
    X(cudaMemcpyFromSymbol)                                                                        \
    X(cudaMemset2D)                                                                                \
    X(cudaMemcpy3D)                                                                                \
    X(cudaPointerGetAttributes)                                                                    \
    X(cudaLaunchKernel)                                                                            \
    X(__cudaLaunchKernel)                                                                          \
    X(cudaLaunchKernelExC)                                                                         \
    X(cudaLaunchCooperativeKernel)                                                                 \
    X(cudaDeviceSynchronize)                                                                       \
    X(cudaDeviceReset)                                                                             \
    X(cudaStreamSynchronize)                                                                       \
    X(cudaStreamQuery)                                                                             \
    X(cudaStreamDestroy)                                                                           \
    X(cudaStreamWaitEvent)                                                                         \
    X(cudaEventRecord)                                                                             \
    X(cudaEventQuery)                                                                              \
    X(cudaEventSynchronize)                                                                        \
    X(cudaEventElapsedTime)                                                                        \
    X(cudaEventDestroy)                                                                            \
    X(cudaGetLastError)                                                                            \
    X(cudaPeekAtLastError)

#endif
