// SPDX-License-Identifier: Apache-2.0
// Under RMM's names: the current resource of each device. It is not that of kmm/resource.h.
#ifndef KMM_RMM_CURRENT_HPP
#define KMM_RMM_CURRENT_HPP

#include <map>
#include <mutex>

#include "sources.hpp"

namespace RMM_NAMESPACE
{
namespace mr
{
namespace detail
{

inline device_memory_resource *initial_resource()
{
    static cuda_memory_resource r;
    return &r;
}

// RMM keeps pointers and references apart: what is set by reference is not seen as a pointer.
struct current_resources {
    std::mutex mutex;
    std::map<int, device_memory_resource *> pointers;
    std::map<int, device_async_resource_ref> refs;

    static current_resources &get()
    {
        static current_resources all;
        return all;
    }
    device_async_resource_ref ref(int device)
    {
        return refs.try_emplace(device, *initial_resource()).first->second;
    }
    device_async_resource_ref exchange(int device, device_async_resource_ref r)
    {
        const device_async_resource_ref old = ref(device);
        refs.at(device) = r;
        return old;
    }
    device_memory_resource *&pointer(int device)
    {
        return pointers.try_emplace(device, initial_resource()).first->second;
    }
};

} // namespace detail

inline device_memory_resource *get_per_device_resource(cuda_device_id device)
{
    auto &all = detail::current_resources::get();
    std::lock_guard<std::mutex> lock(all.mutex);
    return all.pointer(device.value());
}

// nullptr restores the initial resource. Sets the reference, too.
inline device_memory_resource *set_per_device_resource(cuda_device_id device,
                                                       device_memory_resource *r)
{
    auto &all = detail::current_resources::get();
    std::lock_guard<std::mutex> lock(all.mutex);
    r = r ? r : detail::initial_resource();
    all.exchange(device.value(), *r);
    return std::exchange(all.pointer(device.value()), r);
}

inline device_memory_resource *get_current_device_resource()
{
    return get_per_device_resource(get_current_cuda_device());
}

inline device_memory_resource *set_current_device_resource(device_memory_resource *r)
{
    return set_per_device_resource(get_current_cuda_device(), r);
}

inline device_async_resource_ref get_per_device_resource_ref(cuda_device_id device)
{
    auto &all = detail::current_resources::get();
    std::lock_guard<std::mutex> lock(all.mutex);
    return all.ref(device.value());
}

inline device_async_resource_ref set_per_device_resource_ref(cuda_device_id device,
                                                             device_async_resource_ref r)
{
    auto &all = detail::current_resources::get();
    std::lock_guard<std::mutex> lock(all.mutex);
    return all.exchange(device.value(), r);
}

inline device_async_resource_ref get_current_device_resource_ref()
{
    return get_per_device_resource_ref(get_current_cuda_device());
}

inline device_async_resource_ref set_current_device_resource_ref(device_async_resource_ref r)
{
    return set_per_device_resource_ref(get_current_cuda_device(), r);
}

inline device_async_resource_ref reset_per_device_resource_ref(cuda_device_id device)
{
    return set_per_device_resource_ref(device, *detail::initial_resource());
}

inline device_async_resource_ref reset_current_device_resource_ref()
{
    return reset_per_device_resource_ref(get_current_cuda_device());
}

} // namespace mr
} // namespace RMM_NAMESPACE
#endif
