// SPDX-License-Identifier: Apache-2.0
// Under RMM's names: the base classes of resources, and references to any resource.
#ifndef KMM_RMM_RESOURCE_HPP
#define KMM_RMM_RESOURCE_HPP

#include <cstddef>
#include <utility>

#ifndef LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE
#define LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE
#endif
#include <cuda/memory_resource>

#include "stream.hpp"

#if CCCL_VERSION >= 3002000
#error "kmm/rmm.hpp needs CCCL before 3.2, whose references take no class with RMM 25.10's allocate"
#endif

// CCCL 3.1 gave its concepts, their references, and the functions of resources other names.
#if CCCL_VERSION >= 3001000
#define KMM_RMM_CCCL_3_1 1
#else
#define KMM_RMM_CCCL_3_1 0
#endif

namespace RMM_NAMESPACE
{
namespace detail
{
namespace polyfill
{
#if KMM_RMM_CCCL_3_1
template <class R> inline constexpr bool resource = cuda::mr::synchronous_resource<R>;
template <class R, class... P>
inline constexpr bool resource_with = cuda::mr::synchronous_resource_with<R, P...>;
template <class R> inline constexpr bool async_resource = cuda::mr::resource<R>;
template <class R, class... P>
inline constexpr bool async_resource_with = cuda::mr::resource_with<R, P...>;
template <class... P> using sync_ref = cuda::mr::synchronous_resource_ref<P...>;
template <class... P> using async_ref = cuda::mr::resource_ref<P...>;
#else
template <class R> inline constexpr bool resource = cuda::mr::resource<R>;
template <class R, class... P>
inline constexpr bool resource_with = cuda::mr::resource_with<R, P...>;
template <class R> inline constexpr bool async_resource = cuda::mr::async_resource<R>;
template <class R, class... P>
inline constexpr bool async_resource_with = cuda::mr::async_resource_with<R, P...>;
template <class... P> using sync_ref = cuda::mr::resource_ref<P...>;
template <class... P> using async_ref = cuda::mr::async_resource_ref<P...>;
#endif
} // namespace polyfill

// A reference of CCCL, which has the functions of both sets of names.
template <class Base> class cccl_resource_ref : public Base
{
  public:
    using Base::Base;
    cccl_resource_ref(const Base &o) : Base(o) {}

    void *allocate_sync(std::size_t bytes, std::size_t alignment = RMM_DEFAULT_HOST_ALIGNMENT)
    {
#if KMM_RMM_CCCL_3_1
        return Base::allocate_sync(bytes, alignment);
#else
        return Base::allocate(bytes, alignment);
#endif
    }
    void deallocate_sync(void *p, std::size_t bytes,
                         std::size_t alignment = RMM_DEFAULT_HOST_ALIGNMENT) noexcept
    {
#if KMM_RMM_CCCL_3_1
        Base::deallocate_sync(p, bytes, alignment);
#else
        Base::deallocate(p, bytes, alignment);
#endif
    }
    void *allocate(std::size_t bytes, std::size_t alignment = RMM_DEFAULT_HOST_ALIGNMENT)
    {
        return allocate_sync(bytes, alignment);
    }
    void deallocate(void *p, std::size_t bytes,
                    std::size_t alignment = RMM_DEFAULT_HOST_ALIGNMENT) noexcept
    {
        deallocate_sync(p, bytes, alignment);
    }
};

template <class Base> class cccl_async_resource_ref : public cccl_resource_ref<Base>
{
    using sync = cccl_resource_ref<Base>;

  public:
    using sync::allocate;
    using sync::deallocate;
    using sync::sync;
    cccl_async_resource_ref(const Base &o) : sync(o) {}

    void *allocate(cuda_stream_view stream, std::size_t bytes,
                   std::size_t alignment = RMM_DEFAULT_HOST_ALIGNMENT)
    {
#if KMM_RMM_CCCL_3_1
        return Base::allocate(stream, bytes, alignment);
#else
        return Base::allocate_async(bytes, alignment, stream);
#endif
    }
    void deallocate(cuda_stream_view stream, void *p, std::size_t bytes,
                    std::size_t alignment = RMM_DEFAULT_HOST_ALIGNMENT) noexcept
    {
#if KMM_RMM_CCCL_3_1
        Base::deallocate(stream, p, bytes, alignment);
#else
        Base::deallocate_async(p, bytes, alignment, stream);
#endif
    }
    void *allocate_async(std::size_t bytes, std::size_t alignment, cuda_stream_view stream)
    {
        return allocate(stream, bytes, alignment);
    }
    void *allocate_async(std::size_t bytes, cuda_stream_view stream)
    {
        return allocate(stream, bytes);
    }
    void deallocate_async(void *p, std::size_t bytes, std::size_t alignment,
                          cuda_stream_view stream) noexcept
    {
        deallocate(stream, p, bytes, alignment);
    }
    void deallocate_async(void *p, std::size_t bytes, cuda_stream_view stream) noexcept
    {
        deallocate(stream, p, bytes);
    }
};

} // namespace detail

using device_resource_ref =
    detail::cccl_resource_ref<detail::polyfill::sync_ref<cuda::mr::device_accessible>>;
using host_resource_ref =
    detail::cccl_resource_ref<detail::polyfill::sync_ref<cuda::mr::host_accessible>>;
using host_device_resource_ref = detail::cccl_resource_ref<
    detail::polyfill::sync_ref<cuda::mr::host_accessible, cuda::mr::device_accessible>>;
using device_async_resource_ref =
    detail::cccl_async_resource_ref<detail::polyfill::async_ref<cuda::mr::device_accessible>>;
using host_async_resource_ref =
    detail::cccl_async_resource_ref<detail::polyfill::async_ref<cuda::mr::host_accessible>>;
using host_device_async_resource_ref = detail::cccl_async_resource_ref<
    detail::polyfill::async_ref<cuda::mr::host_accessible, cuda::mr::device_accessible>>;

template <class Resource>
device_async_resource_ref to_device_async_resource_ref_checked(Resource *r)
{
    RMM_EXPECTS(r, "Unexpected null resource pointer.");
    return device_async_resource_ref{*r};
}

namespace mr
{

// The base of resources of device memory. A program's own ones define do_allocate and
// do_deallocate.
class device_memory_resource
{
  public:
    device_memory_resource() = default;
    virtual ~device_memory_resource() = default;
    device_memory_resource(const device_memory_resource &) = default;
    device_memory_resource(device_memory_resource &&) noexcept = default;
    device_memory_resource &operator=(const device_memory_resource &) = default;
    device_memory_resource &operator=(device_memory_resource &&) noexcept = default;

    void *allocate(std::size_t bytes, cuda_stream_view stream = {})
    {
        return do_allocate(bytes, stream);
    }
    void deallocate(void *p, std::size_t bytes, cuda_stream_view stream = {})
    {
        do_deallocate(p, bytes, stream);
    }
    void *allocate(std::size_t bytes, std::size_t alignment)
    {
        return do_allocate(rmm::detail::padded(bytes, alignment), {});
    }
    void deallocate(void *p, std::size_t bytes, std::size_t alignment)
    {
        do_deallocate(p, align_up(bytes, alignment), {});
    }
    void *allocate(cuda_stream_view stream, std::size_t bytes,
                   std::size_t alignment = CUDA_ALLOCATION_ALIGNMENT)
    {
        RMM_EXPECTS(alignment <= CUDA_ALLOCATION_ALIGNMENT && is_supported_alignment(alignment),
                    "Alignment must be less than or equal to 256 and a power of two");
        return do_allocate(rmm::detail::padded(bytes, alignment), stream);
    }
    void deallocate(cuda_stream_view stream, void *p, std::size_t bytes,
                    std::size_t alignment = CUDA_ALLOCATION_ALIGNMENT) noexcept
    {
        do_deallocate(p, align_up(bytes, alignment), stream);
    }
    void *allocate_sync(std::size_t bytes, std::size_t alignment = CUDA_ALLOCATION_ALIGNMENT)
    {
        return allocate(cuda_stream_view{}, bytes, alignment);
    }
    void deallocate_sync(void *p, std::size_t bytes,
                         std::size_t alignment = CUDA_ALLOCATION_ALIGNMENT) noexcept
    {
        deallocate(cuda_stream_view{}, p, bytes, alignment);
    }
    void *allocate_async(std::size_t bytes, std::size_t alignment, cuda_stream_view stream)
    {
        return do_allocate(rmm::detail::padded(bytes, alignment), stream);
    }
    void *allocate_async(std::size_t bytes, cuda_stream_view stream)
    {
        return do_allocate(bytes, stream);
    }
    void deallocate_async(void *p, std::size_t bytes, std::size_t alignment,
                          cuda_stream_view stream)
    {
        do_deallocate(p, align_up(bytes, alignment), stream);
    }
    void deallocate_async(void *p, std::size_t bytes, cuda_stream_view stream)
    {
        do_deallocate(p, bytes, stream);
    }

    // True if memory of one can be freed at the other.
    bool is_equal(const device_memory_resource &o) const noexcept { return do_is_equal(o); }
    bool operator==(const device_memory_resource &o) const noexcept { return do_is_equal(o); }
    bool operator!=(const device_memory_resource &o) const noexcept { return !do_is_equal(o); }
    friend void get_property(const device_memory_resource &, cuda::mr::device_accessible) noexcept
    {
    }

  private:
    virtual void *do_allocate(std::size_t bytes, cuda_stream_view stream) = 0;
    virtual void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) = 0;
    virtual bool do_is_equal(const device_memory_resource &o) const noexcept { return this == &o; }
};

// The base of resources of host memory.
class host_memory_resource
{
  public:
    host_memory_resource() = default;
    virtual ~host_memory_resource() = default;
    host_memory_resource(const host_memory_resource &) = default;
    host_memory_resource(host_memory_resource &&) noexcept = default;
    host_memory_resource &operator=(const host_memory_resource &) = default;
    host_memory_resource &operator=(host_memory_resource &&) noexcept = default;

    void *allocate(std::size_t bytes, std::size_t alignment = RMM_DEFAULT_HOST_ALIGNMENT)
    {
        return do_allocate(bytes, alignment);
    }
    void deallocate(void *p, std::size_t bytes, std::size_t alignment = RMM_DEFAULT_HOST_ALIGNMENT)
    {
        do_deallocate(p, bytes, alignment);
    }
    void *allocate_sync(std::size_t bytes, std::size_t alignment)
    {
        return do_allocate(bytes, alignment);
    }
    void deallocate_sync(void *p, std::size_t bytes, std::size_t alignment)
    {
        do_deallocate(p, bytes, alignment);
    }
    bool is_equal(const host_memory_resource &o) const noexcept { return do_is_equal(o); }
    bool operator==(const host_memory_resource &o) const noexcept { return do_is_equal(o); }
    bool operator!=(const host_memory_resource &o) const noexcept { return !do_is_equal(o); }
    friend void get_property(const host_memory_resource &, cuda::mr::host_accessible) noexcept {}

  private:
    virtual void *do_allocate(std::size_t bytes, std::size_t alignment) = 0;
    virtual void do_deallocate(void *p, std::size_t bytes, std::size_t alignment) = 0;
    virtual bool do_is_equal(const host_memory_resource &o) const noexcept { return this == &o; }
};

// True of resources that stand on another one.
template <class Resource, class = void> inline constexpr bool is_resource_adaptor = false;
template <class Resource>
inline constexpr bool is_resource_adaptor<
    Resource, std::void_t<decltype(std::declval<Resource>().get_upstream_resource())>> =
    rmm::detail::polyfill::resource<Resource>;

} // namespace mr
} // namespace RMM_NAMESPACE
#endif
