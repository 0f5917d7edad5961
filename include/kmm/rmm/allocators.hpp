// SPDX-License-Identifier: Apache-2.0
// Under RMM's names: allocators.
#ifndef KMM_RMM_ALLOCATORS_HPP
#define KMM_RMM_ALLOCATORS_HPP

#include <cstddef>
#include <cstdint>
#include <memory>

#include "current.hpp"

namespace RMM_NAMESPACE
{
namespace mr
{
namespace detail
{
template <class T>
T *allocate_elements(device_async_resource_ref r, std::size_t n, cuda_stream_view stream)
{
    RMM_EXPECTS(n <= SIZE_MAX / sizeof(T), "too many elements", rmm::bad_alloc);
    return static_cast<T *>(r.allocate_async(n * sizeof(T), stream));
}
} // namespace detail

// An allocator whose calls name a stream.
template <class T> class polymorphic_allocator
{
  public:
    using value_type = T;

    polymorphic_allocator() = default;
    polymorphic_allocator(device_async_resource_ref r) : resource_(r) {}
    template <class U>
    polymorphic_allocator(const polymorphic_allocator<U> &o) noexcept
        : resource_(o.get_upstream_resource())
    {
    }
    T *allocate(std::size_t n, cuda_stream_view stream)
    {
        return detail::allocate_elements<T>(resource_, n, stream);
    }
    void deallocate(T *p, std::size_t n, cuda_stream_view stream)
    {
        get_upstream_resource().deallocate_async(p, n * sizeof(T), stream);
    }
    device_async_resource_ref get_upstream_resource() const noexcept { return resource_; }

  private:
    device_async_resource_ref resource_ = get_current_device_resource_ref();
};

template <class T, class U>
bool operator==(const polymorphic_allocator<T> &a, const polymorphic_allocator<U> &b)
{
    return a.get_upstream_resource() == b.get_upstream_resource();
}
template <class T, class U>
bool operator!=(const polymorphic_allocator<T> &a, const polymorphic_allocator<U> &b)
{
    return !(a == b);
}

// An allocator of the standard, made of one whose calls name a stream.
template <class Allocator> class stream_allocator_adaptor
{
  public:
    using value_type = typename std::allocator_traits<Allocator>::value_type;
    template <class T> struct rebind {
        using other = stream_allocator_adaptor<
            typename std::allocator_traits<Allocator>::template rebind_alloc<T>>;
    };

    stream_allocator_adaptor() = delete;
    stream_allocator_adaptor(const Allocator &a, cuda_stream_view stream)
        : allocator_(a), stream_(stream)
    {
    }
    template <class Other>
    stream_allocator_adaptor(const stream_allocator_adaptor<Other> &o)
        : stream_allocator_adaptor(o.underlying_allocator(), o.stream())
    {
    }
    value_type *allocate(std::size_t n) { return allocator_.allocate(n, stream_); }
    void deallocate(value_type *p, std::size_t n) { allocator_.deallocate(p, n, stream_); }
    cuda_stream_view stream() const noexcept { return stream_; }
    Allocator underlying_allocator() const noexcept { return allocator_; }

  private:
    Allocator allocator_;
    cuda_stream_view stream_;
};

template <class A, class B>
bool operator==(const stream_allocator_adaptor<A> &a, const stream_allocator_adaptor<B> &b)
{
    return a.underlying_allocator() == b.underlying_allocator();
}
template <class A, class B>
bool operator!=(const stream_allocator_adaptor<A> &a, const stream_allocator_adaptor<B> &b)
{
    return !(a == b);
}

template <class Allocator>
auto make_stream_allocator_adaptor(const Allocator &allocator, cuda_stream_view stream)
{
    return stream_allocator_adaptor<Allocator>{allocator, stream};
}

} // namespace mr
} // namespace RMM_NAMESPACE
#endif
