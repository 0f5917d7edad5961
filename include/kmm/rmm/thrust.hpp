// SPDX-License-Identifier: Apache-2.0
// Under RMM's names: Thrust's vectors and execution policies.
#ifndef KMM_RMM_THRUST_HPP
#define KMM_RMM_THRUST_HPP

#include <thrust/device_malloc_allocator.h>
#include <thrust/device_vector.h>

#include "allocators.hpp"

#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA
#include <thrust/system/cuda/execution_policy.h>
#endif

namespace RMM_NAMESPACE
{
namespace mr
{

template <class T> class thrust_allocator : public thrust::device_malloc_allocator<T>
{
  public:
    using Base = thrust::device_malloc_allocator<T>;
    using pointer = typename Base::pointer;
    using size_type = typename Base::size_type;
    template <class U> struct rebind {
        using other = thrust_allocator<U>;
    };

    thrust_allocator() = default;
    explicit thrust_allocator(cuda_stream_view stream) : stream_(stream) {}
    thrust_allocator(cuda_stream_view stream, device_async_resource_ref r)
        : stream_(stream), resource_(r)
    {
    }
    template <class U>
    thrust_allocator(const thrust_allocator<U> &o)
        : stream_(o.stream()), resource_(o.get_upstream_resource()), device_(o.device_)
    {
    }
    pointer allocate(size_type n)
    {
        const cuda_set_device_raii current(device_);
        return thrust::device_pointer_cast(detail::allocate_elements<T>(resource_, n, stream_));
    }
    void deallocate(pointer p, size_type n)
    {
        const cuda_set_device_raii current(device_);
        resource_.deallocate_async(thrust::raw_pointer_cast(p), n * sizeof(T), stream_);
    }
    device_async_resource_ref get_upstream_resource() const noexcept { return resource_; }
    cuda_stream_view stream() const noexcept { return stream_; }
    friend void get_property(const thrust_allocator &, cuda::mr::device_accessible) noexcept {}

  private:
    template <class U> friend class thrust_allocator;
    cuda_stream_view stream_;
    device_async_resource_ref resource_ = get_current_device_resource_ref();
    cuda_device_id device_ = get_current_cuda_device();
};

} // namespace mr

template <class T> using device_vector = thrust::device_vector<T, mr::thrust_allocator<T>>;

#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA
// Policies for Thrust's algorithms. The second does not wait for the stream where Thrust need not.
using thrust_exec_policy_t =
    thrust::detail::execute_with_allocator<mr::thrust_allocator<char>,
                                           thrust::cuda_cub::execute_on_stream_base>;
class exec_policy : public thrust_exec_policy_t
{
  public:
    explicit exec_policy(cuda_stream_view stream = cuda_stream_default,
                         device_async_resource_ref r = mr::get_current_device_resource_ref())
        : thrust_exec_policy_t(
              thrust::cuda::par(mr::thrust_allocator<char>(stream, r)).on(stream.value()))
    {
    }
};

using thrust_exec_policy_nosync_t =
    thrust::detail::execute_with_allocator<mr::thrust_allocator<char>,
                                           thrust::cuda_cub::execute_on_stream_nosync_base>;
class exec_policy_nosync : public thrust_exec_policy_nosync_t
{
  public:
    explicit exec_policy_nosync(cuda_stream_view stream = cuda_stream_default,
                                device_async_resource_ref r = mr::get_current_device_resource_ref())
        : thrust_exec_policy_nosync_t(
              thrust::cuda::par_nosync(mr::thrust_allocator<char>(stream, r)).on(stream.value()))
    {
    }
};
#endif

} // namespace RMM_NAMESPACE
#endif
