/* SPDX-License-Identifier: Apache-2.0 */
/* HIP's launches. */
#ifndef KMM_HIP_LAUNCH_H
#define KMM_HIP_LAUNCH_H

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(x) x
#define HIP_TEMPLATE_KERNEL_LAUNCH

#if defined(KMM_HOST_CUDA_RUNTIME_H) && !defined(KMM_HOST_PARSE)
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...)                               \
    (kmm_host_configure((grid), (block), (shared), (stream)), (kernel)(__VA_ARGS__))
#define HIP_DYNAMIC_SHARED(type, name) kmm_host_shared<type> name;
#else
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...)                               \
    (kernel)<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#endif
#define HIP_DYNAMIC_SHARED_ATTRIBUTE

#ifdef KMM_HOST_PARSE
hipError_t hipLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args,
                           size_t shared = 0, hipStream_t stream = 0);
hipError_t hipExtLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
                              hipStream_t stream, hipEvent_t start, hipEvent_t stop, int flags);
#else
static inline hipError_t hipLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args,
                                         size_t shared = 0, hipStream_t stream = 0)
{
    return cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}
static inline hipError_t hipExtLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args,
                                            size_t shared, hipStream_t stream, hipEvent_t start,
                                            hipEvent_t stop, int)
{
    hipError_t error = start ? cudaEventRecord(start, stream) : cudaSuccess;
    if (!error)
        error = cudaLaunchKernel(kernel, grid, block, args, shared, stream);
    return !error && stop ? cudaEventRecord(stop, stream) : error;
}
#endif

#endif
