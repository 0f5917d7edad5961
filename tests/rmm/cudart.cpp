// SPDX-License-Identifier: Apache-2.0
// CUDA's runtime over the driver that is linked, as far as kmm/rmm.hpp and its test call it. The
// real one asks the driver for much that the fake one does not have.
#include <cstddef>
#include <mutex>
#include <utility>

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace
{

constexpr int max_devices = 8;
thread_local int device = 0, pushed = -1;
thread_local cudaError_t last = cudaSuccess;
std::mutex mutex;
CUcontext contexts[max_devices];

cudaError_t result(int r)
{
    const cudaError_t e = static_cast<cudaError_t>(r); // both interfaces have these numbers
    if (e != cudaSuccess && e != cudaErrorNotReady)
        last = e;
    return e;
}

// Makes the thread's device the driver's, too.
int enter()
{
    if (pushed == device)
        return 0;
    std::lock_guard<std::mutex> lock(mutex);
    CUdevice d;
    int r = cuInit(0);
    if (!r)
        r = cuDeviceGet(&d, device);
    if (!r && !contexts[device])
        r = cuDevicePrimaryCtxRetain(&contexts[device], d);
    CUcontext old;
    if (!r && pushed >= 0)
        r = cuCtxPopCurrent(&old);
    if (!r)
        r = cuCtxPushCurrent(contexts[device]);
    if (!r)
        pushed = device;
    return r;
}

template <class Call> cudaError_t with_device(Call call)
{
    const int r = enter();
    return result(r ? r : static_cast<int>(call()));
}

CUdeviceptr address(const void *p) { return reinterpret_cast<CUdeviceptr>(p); }

} // namespace

extern "C" {

cudaError_t cudaGetDevice(int *out)
{
    *out = device;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *out)
{
    const int r = cuInit(0);
    return result(r ? r : static_cast<int>(cuDeviceGetCount(out)));
}
cudaError_t cudaSetDevice(int d)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) || d < 0 || d >= n || d >= max_devices)
        return result(cudaErrorInvalidDevice);
    device = d;
    return cudaSuccess;
}
cudaError_t cudaGetLastError() { return std::exchange(last, cudaSuccess); }
const char *cudaGetErrorName(cudaError_t e)
{
    const char *name = nullptr;
    cuGetErrorName(static_cast<CUresult>(e), &name);
    return name ? name : "unknown";
}
const char *cudaGetErrorString(cudaError_t e)
{
    const char *text = nullptr;
    cuGetErrorString(static_cast<CUresult>(e), &text);
    return text ? text : "unknown";
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    return with_device([=] { return cuMemGetInfo(available, total); });
}
cudaError_t cudaDriverGetVersion(int *out)
{
    *out = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *out, cudaDeviceAttr attribute, int)
{
    *out = attribute == cudaDevAttrMemoryPoolsSupported ||
           attribute == cudaDevAttrMemoryPoolSupportedHandleTypes;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
    return with_device([=] { return cuStreamCreate(s, flags); });
}
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    return with_device([=] { return cuStreamDestroy(s); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    return with_device([=] { return cuStreamSynchronize(s); });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus *out)
{
    CUstreamCaptureStatus status{};
    const cudaError_t e = with_device([&] { return cuStreamIsCapturing(s, &status); });
    *out = static_cast<cudaStreamCaptureStatus>(status);
    return e;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
    return with_device([=] { return cuStreamWaitEvent(s, e, flags); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags)
{
    return with_device([=] { return cuEventCreate(e, flags); });
}
cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    return with_device([=] { return cuEventDestroy(e); });
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    return with_device([=] { return cuEventRecord(e, s); });
}
cudaError_t cudaEventQuery(cudaEvent_t e)
{
    return with_device([=] { return cuEventQuery(e); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    return with_device([=] { return cuEventSynchronize(e); });
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind, cudaStream_t s)
{
    return with_device([=] { return cuMemcpyAsync(address(to), address(from), n, s); });
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t n, cudaStream_t s)
{
    return with_device([=] {
        return cuMemsetD8Async(address(to), static_cast<unsigned char>(value), n, s);
    });
}
cudaError_t cudaMemPrefetchAsync(const void *, size_t, cudaMemLocation, unsigned, cudaStream_t)
{
    return cudaSuccess;
}
cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, cudaMemLocation)
{
    return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const cudaMemPoolProps *props)
{
    CUmemPoolProps p{};
    p.allocType = static_cast<CUmemAllocationType>(props->allocType);
    p.handleTypes = static_cast<CUmemAllocationHandleType>(props->handleTypes);
    p.location.type = static_cast<CUmemLocationType>(props->location.type);
    p.location.id = props->location.id;
    return with_device([&] { return cuMemPoolCreate(out, &p); });
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    return with_device([=] { return cuMemPoolDestroy(pool); });
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
    return with_device([=] {
        return cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value);
    });
}
}
