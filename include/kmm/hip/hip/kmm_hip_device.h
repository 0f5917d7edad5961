/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warp operations as HIP has them: of the lanes that are active, without a mask. On the CPU, as on
 * NVIDIA's GPUs, a warp has 32 lanes, and all that have not returned take part. Source that asks
 * warpSize is right with any number of lanes.
 */
#ifndef KMM_HIP_DEVICE_H
#define KMM_HIP_DEVICE_H

#if defined(KMM_HOST_CUDA_RUNTIME_H)
#define KMM_HIP_LANES 0xffffffffu
#define KMM_HIP_FUNCTION static inline
#else
#define KMM_HIP_LANES __activemask()
#define KMM_HIP_FUNCTION static __device__ __forceinline__
#endif

template <class kmm_T> KMM_HIP_FUNCTION kmm_T kmm_hip_shfl(kmm_T value, int lane, int width = 32)
{
    return __shfl_sync(KMM_HIP_LANES, value, lane, width);
}
template <class kmm_T>
KMM_HIP_FUNCTION kmm_T kmm_hip_shfl_up(kmm_T value, unsigned delta, int width = 32)
{
    return __shfl_up_sync(KMM_HIP_LANES, value, delta, width);
}
template <class kmm_T>
KMM_HIP_FUNCTION kmm_T kmm_hip_shfl_down(kmm_T value, unsigned delta, int width = 32)
{
    return __shfl_down_sync(KMM_HIP_LANES, value, delta, width);
}
template <class kmm_T>
KMM_HIP_FUNCTION kmm_T kmm_hip_shfl_xor(kmm_T value, int bits, int width = 32)
{
    return __shfl_xor_sync(KMM_HIP_LANES, value, bits, width);
}
KMM_HIP_FUNCTION int kmm_hip_any(int p) { return __any_sync(KMM_HIP_LANES, p); }
KMM_HIP_FUNCTION int kmm_hip_all(int p) { return __all_sync(KMM_HIP_LANES, p); }
KMM_HIP_FUNCTION unsigned long long kmm_hip_ballot(int p)
{
    return __ballot_sync(KMM_HIP_LANES, p);
}
#define __shfl kmm_hip_shfl
#define __shfl_up kmm_hip_shfl_up
#define __shfl_down kmm_hip_shfl_down
#define __shfl_xor kmm_hip_shfl_xor
#define __any kmm_hip_any
#define __all kmm_hip_all
#define __ballot kmm_hip_ballot

KMM_HIP_FUNCTION unsigned __lane_id()
{
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

/* Atomic additions. On AMD GPUs these may use the memory's own floating-point atomics; here they
 * are atomicAdd. */
template <class kmm_T> KMM_HIP_FUNCTION kmm_T unsafeAtomicAdd(kmm_T *to, kmm_T value)
{
    return atomicAdd(to, value);
}
template <class kmm_T> KMM_HIP_FUNCTION kmm_T atomicAddNoRet(kmm_T *to, kmm_T value)
{
    return atomicAdd(to, value);
}

#endif
