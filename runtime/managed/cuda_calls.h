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
    X(cudaMemcpy)                                                                                  \
    X(cudaMemcpyAsync)                                                                             \
    X(cudaMemset)                                                                                  \
    X(cudaMemsetAsync)                                                                             \
    X(cudaMemcpyToSymbol)                                                                          \
    X(cudaMemcpyFromSymbol)                                                                        \
    X(cudaLaunchKernel)                                                                            \
    X(__cudaLaunchKernel)                                                                          \
    X(cudaDeviceSynchronize)                                                                       \
    X(cudaStreamSynchronize)                                                                       \
    X(cudaStreamQuery)                                                                             \
    X(cudaStreamWaitEvent)                                                                         \
    X(cudaEventRecord)                                                                             \
    X(cudaEventQuery)                                                                              \
    X(cudaEventSynchronize)                                                                        \
    X(cudaEventElapsedTime)

#endif
