/* SPDX-License-Identifier: Apache-2.0 */
/* The part of HIP's interface that libkmm uses and that CUDA lacks, declared here so that the build
 * needs no ROCm. backend/gpu/driver.h has what both have. Names without prefix are HIP's. Numbers
 * are its ABI, from ROCm 5 to 7. */
#ifndef KMM__BACKEND_HIP_HIP_DRIVER_H
#define KMM__BACKEND_HIP_HIP_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int hipError_t;
typedef struct ihipStream_t *hipStream_t;
typedef void *hipDeviceptr_t;
typedef struct hip_dim3 {
    uint32_t x, y, z;
} hip_dim3_t;

enum {
    hipSuccess = 0,
    hipMemcpyDefault = 4 /* HIP finds out where the addresses belong */
};

/* X(member, symbol, result, parameters) */
#define KMM__HIP_CALLS(X)                                                                          \
    X(GetErrorName, "hipGetErrorName", const char *, (hipError_t))                                 \
    X(GetErrorString, "hipGetErrorString", const char *, (hipError_t))                             \
    X(GetDevice, "hipGetDevice", hipError_t, (int *))                                              \
    X(SetDevice, "hipSetDevice", hipError_t, (int))                                                \
    X(DeviceGetPCIBusId, "hipDeviceGetPCIBusId", hipError_t, (char *, int, int))                   \
    X(DeviceEnablePeerAccess, "hipDeviceEnablePeerAccess", hipError_t, (int, unsigned))            \
    X(GetLastError, "hipGetLastError", hipError_t, (void))                                         \
    X(Memcpy2DAsync, "hipMemcpy2DAsync", hipError_t,                                               \
      (void *, size_t, const void *, size_t, size_t, size_t, int, hipStream_t))                    \
    X(MemcpyPeerAsync, "hipMemcpyPeerAsync", hipError_t,                                           \
      (void *, int, const void *, int, size_t, hipStream_t))                                       \
    X(FuncSetAttribute, "hipFuncSetAttribute", hipError_t, (const void *, int, int))               \
    X(LaunchKernel, "hipLaunchKernel", hipError_t,                                                 \
      (const void *, hip_dim3_t, hip_dim3_t, void **, size_t, hipStream_t))

typedef struct kmm__hip_driver {
#define KMM_X(member, symbol, result, parameters) result(*member) parameters;
    KMM__HIP_CALLS(KMM_X)
#undef KMM_X
} kmm__hip_driver_t;

#endif
