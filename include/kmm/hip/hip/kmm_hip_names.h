/* SPDX-License-Identifier: Apache-2.0 */
/* Names of HIP's interface that stand for CUDA's of the same meaning, and with the same numbers. */
#ifndef KMM_HIP_NAMES_H
#define KMM_HIP_NAMES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HIP_VERSION_MAJOR 5
#define HIP_VERSION_MINOR 2
#define HIP_VERSION_PATCH 0
#define HIP_VERSION 50200000
#define HIPRT_CB

typedef cudaError_t hipError_t;
typedef cudaEvent_t hipEvent_t;
typedef cudaStream_t hipStream_t;
typedef enum cudaMemcpyKind hipMemcpyKind;
typedef struct cudaDeviceProp hipDeviceProp_t;
typedef struct cudaFuncAttributes hipFuncAttributes;
typedef enum cudaFuncAttribute hipFuncAttribute;
typedef enum cudaFuncCache hipFuncCache_t;
typedef enum cudaDeviceAttr hipDeviceAttribute_t;
typedef cudaHostFn_t hipHostFn_t;
typedef void *hipDeviceptr_t;
typedef int hipDevice_t;

#define hipSuccess cudaSuccess
#define hipErrorInvalidValue cudaErrorInvalidValue
#define hipErrorInitializationError cudaErrorInitializationError
#define hipErrorInvalidConfiguration cudaErrorInvalidConfiguration
#define hipErrorInvalidSymbol cudaErrorInvalidSymbol
#define hipErrorInvalidDevicePointer cudaErrorInvalidDevicePointer
#define hipErrorInvalidMemcpyDirection cudaErrorInvalidMemcpyDirection
#define hipErrorInsufficientDriver cudaErrorInsufficientDriver
#define hipErrorInvalidDeviceFunction cudaErrorInvalidDeviceFunction
#define hipErrorNoDevice cudaErrorNoDevice
#define hipErrorInvalidDevice cudaErrorInvalidDevice
#define hipErrorNotReady cudaErrorNotReady
#define hipErrorPeerAccessAlreadyEnabled cudaErrorPeerAccessAlreadyEnabled
#define hipErrorPeerAccessNotEnabled cudaErrorPeerAccessNotEnabled
#define hipErrorIllegalAddress cudaErrorIllegalAddress
#define hipErrorLaunchFailure cudaErrorLaunchFailure
#define hipErrorNotSupported cudaErrorNotSupported
#define hipErrorUnknown cudaErrorUnknown
#define hipMemcpyHostToHost cudaMemcpyHostToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipMemcpyDefault cudaMemcpyDefault
#define hipStreamDefault cudaStreamDefault
#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipStreamPerThread cudaStreamPerThread
#define hipEventDefault cudaEventDefault
#define hipEventBlockingSync cudaEventBlockingSync
#define hipEventDisableTiming cudaEventDisableTiming
#define hipEventInterprocess cudaEventInterprocess
#define hipHostRegisterDefault cudaHostRegisterDefault
#define hipHostRegisterPortable cudaHostRegisterPortable
#define hipHostRegisterMapped cudaHostRegisterMapped
#define hipHostRegisterIoMemory cudaHostRegisterIoMemory
#define hipMemAttachGlobal cudaMemAttachGlobal
#define hipMemAttachHost cudaMemAttachHost
#define hipCpuDeviceId cudaCpuDeviceId
#define hipFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define hipFuncAttributePreferredSharedMemoryCarveout cudaFuncAttributePreferredSharedMemoryCarveout
#define hipFuncCachePreferNone cudaFuncCachePreferNone
#define hipFuncCachePreferShared cudaFuncCachePreferShared
#define hipFuncCachePreferL1 cudaFuncCachePreferL1
#define hipFuncCachePreferEqual cudaFuncCachePreferEqual
#define hipErrorOutOfMemory cudaErrorMemoryAllocation
#define hipErrorMemoryAllocation cudaErrorMemoryAllocation
#define hipErrorNotInitialized cudaErrorInitializationError
#define hipErrorInvalidHandle cudaErrorInvalidResourceHandle
#define hipErrorInvalidResourceHandle cudaErrorInvalidResourceHandle
#define hipHostMallocDefault cudaHostAllocDefault
#define hipHostMallocPortable cudaHostAllocPortable
#define hipHostMallocMapped cudaHostAllocMapped
#define hipHostMallocWriteCombined cudaHostAllocWriteCombined
#define hipDeviceAttributeMaxThreadsPerBlock cudaDevAttrMaxThreadsPerBlock
#define hipDeviceAttributeMaxSharedMemoryPerBlock cudaDevAttrMaxSharedMemoryPerBlock
#define hipDeviceAttributeWarpSize cudaDevAttrWarpSize
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipDeviceAttributeComputeCapabilityMajor cudaDevAttrComputeCapabilityMajor
#define hipDeviceAttributeComputeCapabilityMinor cudaDevAttrComputeCapabilityMinor
#define hipHostMallocNonCoherent 0
#define hipHostMallocCoherent 0
#define hipHostMallocNumaUser 0

/* ---- Calls ---- */
#define hipMalloc cudaMalloc
#define hipFree cudaFree
#define hipMallocAsync cudaMallocAsync
#define hipFreeAsync cudaFreeAsync
#define hipMallocPitch cudaMallocPitch
#define hipMallocHost cudaMallocHost
#define hipMallocManaged cudaMallocManaged
#define hipFreeHost cudaFreeHost
#define hipHostGetDevicePointer cudaHostGetDevicePointer
#define hipHostRegister cudaHostRegister
#define hipHostUnregister cudaHostUnregister
#define hipMemPrefetchAsync cudaMemPrefetchAsync
#define hipMemGetInfo cudaMemGetInfo
#define hipMemcpy cudaMemcpy
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpy2D cudaMemcpy2D
#define hipMemcpy2DAsync cudaMemcpy2DAsync
#define hipMemcpyToSymbol cudaMemcpyToSymbol
#define hipMemcpyToSymbolAsync cudaMemcpyToSymbolAsync
#define hipMemcpyFromSymbol cudaMemcpyFromSymbol
#define hipGetSymbolAddress cudaGetSymbolAddress
#define hipMemset cudaMemset
#define hipMemsetAsync cudaMemsetAsync
#define hipMemset2D cudaMemset2D
#define hipStreamCreate cudaStreamCreate
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamCreateWithPriority cudaStreamCreateWithPriority
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStreamQuery cudaStreamQuery
#define hipStreamWaitEvent cudaStreamWaitEvent
#define hipLaunchHostFunc cudaLaunchHostFunc
#define hipEventCreate cudaEventCreate
#define hipEventCreateWithFlags cudaEventCreateWithFlags
#define hipEventDestroy cudaEventDestroy
#define hipEventRecord cudaEventRecord
#define hipEventSynchronize cudaEventSynchronize
#define hipEventQuery cudaEventQuery
#define hipEventElapsedTime cudaEventElapsedTime
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipDeviceReset cudaDeviceReset
#define hipDeviceGetAttribute cudaDeviceGetAttribute
#define hipGetDeviceCount cudaGetDeviceCount
#define hipGetDevice cudaGetDevice
#define hipSetDevice cudaSetDevice
#define hipSetDeviceFlags cudaSetDeviceFlags
#define hipGetDeviceProperties cudaGetDeviceProperties
#define hipDriverGetVersion cudaDriverGetVersion
#define hipRuntimeGetVersion cudaRuntimeGetVersion
#define hipFuncGetAttributes cudaFuncGetAttributes
#define hipFuncSetAttribute cudaFuncSetAttribute
#define hipFuncSetCacheConfig cudaFuncSetCacheConfig
#define hipGetLastError cudaGetLastError
#define hipPeekAtLastError cudaPeekAtLastError
#define hipLaunchCooperativeKernel cudaLaunchCooperativeKernel
#define hipMemcpyPeer cudaMemcpyPeer
#define hipMemcpyPeerAsync cudaMemcpyPeerAsync
#define hipHostFree cudaFreeHost
#define hipHostAlloc cudaHostAlloc
#define hipHostAllocDefault cudaHostAllocDefault
#define hipHostAllocPortable cudaHostAllocPortable
#define hipHostAllocMapped cudaHostAllocMapped
#define hipHostAllocWriteCombined cudaHostAllocWriteCombined
#define hipMemset2DAsync(p, pitch, v, w, h, s) ((void)(s), cudaMemset2D(p, pitch, v, w, h))
#define hipGetErrorString cudaGetErrorString
#define hipGraph_t cudaGraph_t
#define hipGraphExec_t cudaGraphExec_t
#define hipGraphNode_t cudaGraphNode_t
#define hipGraphCreate cudaGraphCreate
#define hipStreamBeginCapture cudaStreamBeginCapture
#define hipGraphLaunch cudaGraphLaunch
#ifndef KMM_HOST_CUDA_RUNTIME_H /* calls that the CPU target lacks */
#define hipMallocFromPoolAsync cudaMallocFromPoolAsync
#define hipMemPool_t cudaMemPool_t
#define hipMemPoolProps cudaMemPoolProps
#define hipMemPoolAttr cudaMemPoolAttr
#define hipMemPoolAttrReleaseThreshold cudaMemPoolAttrReleaseThreshold
#define hipMemPoolCreate cudaMemPoolCreate
#define hipMemPoolDestroy cudaMemPoolDestroy
#define hipMemPoolTrimTo cudaMemPoolTrimTo
#define hipMemPoolSetAttribute cudaMemPoolSetAttribute
#define hipMemPoolGetAttribute cudaMemPoolGetAttribute
#define hipDeviceGetDefaultMemPool cudaDeviceGetDefaultMemPool
#define hipDeviceGetMemPool cudaDeviceGetMemPool
#define hipDeviceSetMemPool cudaDeviceSetMemPool
#define hipMemAllocationTypePinned cudaMemAllocationTypePinned
#define hipMemLocationTypeDevice cudaMemLocationTypeDevice
#define hipStreamEndCapture cudaStreamEndCapture
#define hipStreamIsCapturing cudaStreamIsCapturing
#define hipThreadExchangeStreamCaptureMode cudaThreadExchangeStreamCaptureMode
#define hipStreamCaptureMode cudaStreamCaptureMode
#define hipStreamCaptureModeGlobal cudaStreamCaptureModeGlobal
#define hipStreamCaptureModeThreadLocal cudaStreamCaptureModeThreadLocal
#define hipStreamCaptureModeRelaxed cudaStreamCaptureModeRelaxed
#define hipStreamCaptureStatus cudaStreamCaptureStatus
#define hipStreamCaptureStatusNone cudaStreamCaptureStatusNone
#define hipStreamCaptureStatusActive cudaStreamCaptureStatusActive
#define hipGraphInstantiate cudaGraphInstantiate
#define hipGraphInstantiateWithFlags cudaGraphInstantiateWithFlags
#define hipGraphDestroy cudaGraphDestroy
#define hipGraphExecDestroy cudaGraphExecDestroy
#endif
#define hipMemcpy3D cudaMemcpy3D
#define hipMemcpy3DAsync cudaMemcpy3DAsync
#define hipMemcpy3DParms cudaMemcpy3DParms
#define hipPointerGetAttributes cudaPointerGetAttributes
#define hipPointerAttribute_t cudaPointerAttributes
#define hipDeviceCanAccessPeer cudaDeviceCanAccessPeer
#define hipDeviceEnablePeerAccess cudaDeviceEnablePeerAccess
#define hipDeviceDisablePeerAccess cudaDeviceDisablePeerAccess
#define hipDeviceGetPCIBusId cudaDeviceGetPCIBusId
#define hipDeviceGetByPCIBusId cudaDeviceGetByPCIBusId
#define hipOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessor
#define hipOccupancyMaxPotentialBlockSize cudaOccupancyMaxPotentialBlockSize

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device begin
#endif

static inline hipError_t hipInit(unsigned) { return cudaSuccess; }
template <class kmm_T>
static inline hipError_t hipHostMalloc(kmm_T **out, size_t bytes, unsigned flags = 0)
{
    return cudaHostAlloc(out, bytes, flags);
}
template <class kmm_T>
static inline hipError_t hipExtMallocWithFlags(kmm_T **out, size_t bytes, unsigned)
{
    return cudaMallocManaged(out, bytes);
}
static inline hipError_t hipMemcpyWithStream(void *dst, const void *src, size_t n,
                                             hipMemcpyKind kind, hipStream_t s)
{
    hipError_t error = cudaMemcpyAsync(dst, src, n, kind, s);
    return error ? error : cudaStreamSynchronize(s);
}
static inline hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, const void *src, size_t n)
{
    return cudaMemcpy(dst, src, n, cudaMemcpyHostToDevice);
}
static inline hipError_t hipMemcpyDtoH(void *dst, hipDeviceptr_t src, size_t n)
{
    return cudaMemcpy(dst, src, n, cudaMemcpyDeviceToHost);
}
static inline hipError_t hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t n)
{
    return cudaMemcpy(dst, src, n, cudaMemcpyDeviceToDevice);
}
static inline hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, const void *src, size_t n,
                                            hipStream_t s)
{
    return cudaMemcpyAsync(dst, src, n, cudaMemcpyHostToDevice, s);
}
static inline hipError_t hipMemcpyDtoHAsync(void *dst, hipDeviceptr_t src, size_t n, hipStream_t s)
{
    return cudaMemcpyAsync(dst, src, n, cudaMemcpyDeviceToHost, s);
}
static inline hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src, size_t n,
                                            hipStream_t s)
{
    return cudaMemcpyAsync(dst, src, n, cudaMemcpyDeviceToDevice, s);
}

/* Sets `count` elements to `value`. Copies from a small array that holds the value many times. */
template <class kmm_T> static inline hipError_t kmm_hip_fill(void *dst, kmm_T value, size_t count)
{
    enum { KMM_PIECE = 1 << 10 };
    kmm_T piece[KMM_PIECE];
    hipError_t error = cudaSuccess;
    for (int k = 0; k < KMM_PIECE; k++)
        piece[k] = value;
    for (size_t at = 0; at < count && !error; at += KMM_PIECE)
        error = cudaMemcpy((kmm_T *)dst + at, piece,
                           (count - at < KMM_PIECE ? count - at : KMM_PIECE) * sizeof(kmm_T),
                           cudaMemcpyHostToDevice);
    return error;
}
static inline hipError_t hipMemsetD8(hipDeviceptr_t dst, unsigned char value, size_t count)
{
    return cudaMemset(dst, value, count);
}
static inline hipError_t hipMemsetD16(hipDeviceptr_t dst, unsigned short value, size_t count)
{
    return kmm_hip_fill(dst, value, count);
}
static inline hipError_t hipMemsetD32(hipDeviceptr_t dst, int value, size_t count)
{
    return kmm_hip_fill(dst, value, count);
}
static inline hipError_t hipMemsetD8Async(hipDeviceptr_t dst, unsigned char value, size_t count,
                                          hipStream_t s = 0)
{
    return cudaMemsetAsync(dst, value, count, s);
}
static inline hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count,
                                           hipStream_t s = 0)
{
    hipError_t error = cudaStreamSynchronize(s);
    return error ? error : kmm_hip_fill(dst, value, count);
}

/* Returns CUDA's name of the error with HIP's prefix, where the two interfaces name it alike. */
static inline const char *hipGetErrorName(hipError_t error)
{
    static thread_local char name[64];
    if (error == cudaErrorMemoryAllocation)
        return "hipErrorOutOfMemory";
    if (error == cudaErrorInvalidResourceHandle)
        return "hipErrorInvalidHandle";
    const char *text = cudaGetErrorName(error);
    if (strncmp(text, "cuda", 4) != 0)
        return text;
    snprintf(name, sizeof(name), "hip%s", text + 4);
    return name;
}

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device end
#endif

#endif
