// SPDX-License-Identifier: Apache-2.0
// C++ over kmm/resource.h, header only: an owner, a std::pmr::memory_resource, and, where Thrust is
// there, an allocator for its vectors. Failures are exceptions here.
#ifndef KMM_RESOURCE_HPP
#define KMM_RESOURCE_HPP

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <string>

#include "resource.h"

#if defined(__CUDACC__) && __has_include(<thrust/device_malloc_allocator.h>)
#include <thrust/device_malloc_allocator.h>
#define KMM_RESOURCE_THRUST 1
#endif

namespace kmm {

// KMM_E_MEMORY; what() is the resource's text.
class out_of_memory : public std::bad_alloc {
public:
    out_of_memory() : text_(kmm_resource_error_text()) {}
    const char *what() const noexcept override { return text_.c_str(); }

private:
    std::string text_;
};

// Throws what a status says.
inline void check(int status)
{
    if (status == 0)
        return;
    if (status == KMM_E_MEMORY)
        throw out_of_memory();
    const std::string text = std::string(kmm_error_string(status)) + ": " + kmm_resource_error_text();
    if (status == KMM_E_INVALID || status == KMM_E_ADDRESS)
        throw std::invalid_argument(text);
    throw std::runtime_error(text);
}

struct resource_deleter {
    void operator()(kmm_resource_t *r) const noexcept { kmm_resource_destroy(r); }
};
// Destroys the resource at the end of its scope; declare upstream before what is built on it.
using unique_resource = std::unique_ptr<kmm_resource_t, resource_deleter>;

// Calls a creating function of kmm/resource.h: make(kmm_pool_resource_create, upstream, nullptr).
template <class Create, class... Arguments> unique_resource make(Create create, Arguments... arguments)
{
    kmm_resource_t *r = nullptr;
    check(create(arguments..., &r));
    return unique_resource(r);
}

// Memory that the host can reach, for standard containers. Borrows the resource.
class pmr_resource : public std::pmr::memory_resource {
public:
    explicit pmr_resource(kmm_resource_t *r, kmm_stream_t stream = nullptr) : resource_(r), stream_(stream)
    {
        if (!r || kmm_resource_kind(r) == KMM_MEMORY_DEVICE)
            throw std::invalid_argument("kmm::pmr_resource: the host cannot reach this memory");
    }
    kmm_resource_t *get() const noexcept { return resource_; }

private:
    // Zero bytes get an address of their own, as the standard wants.
    static std::size_t least(std::size_t bytes) { return bytes ? bytes : 1; }

    void *do_allocate(std::size_t bytes, std::size_t alignment) override
    {
        void *p = nullptr;
        check(kmm_resource_allocate(resource_, least(bytes), alignment, stream_, &p));
        return p;
    }
    void do_deallocate(void *p, std::size_t bytes, std::size_t) override
    {
        kmm_resource_deallocate(resource_, p, least(bytes), stream_);
    }
    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
    {
        const auto *o = dynamic_cast<const pmr_resource *>(&other);
        return o && kmm_resource_equal(resource_, o->resource_);
    }

    kmm_resource_t *resource_;
    kmm_stream_t stream_;
};

#ifdef KMM_RESOURCE_THRUST
// thrust::device_vector<T, kmm::thrust_allocator<T>> v(n, kmm::thrust_allocator<T>(pool, stream));
template <class T> class thrust_allocator : public thrust::device_malloc_allocator<T> {
    using base = thrust::device_malloc_allocator<T>;

public:
    using pointer = typename base::pointer;
    using size_type = typename base::size_type;
    template <class U> struct rebind { using other = thrust_allocator<U>; };

    thrust_allocator() : resource_(kmm_resource_current()), stream_(nullptr) {}
    explicit thrust_allocator(kmm_resource_t *r, kmm_stream_t stream = nullptr) : resource_(r), stream_(stream) {}
    template <class U> thrust_allocator(const thrust_allocator<U> &o) : resource_(o.resource()), stream_(o.stream()) {}

    pointer allocate(size_type n)
    {
        void *p = nullptr;
        if (n > static_cast<size_type>(PTRDIFF_MAX) / sizeof(T))
            throw std::bad_alloc();
        check(kmm_resource_allocate(resource_, n * sizeof(T), alignof(T), stream_, &p));
        return thrust::device_pointer_cast(static_cast<T *>(p));
    }
    void deallocate(pointer p, size_type n)
    {
        kmm_resource_deallocate(resource_, thrust::raw_pointer_cast(p), n * sizeof(T), stream_);
    }
    kmm_resource_t *resource() const noexcept { return resource_; }
    kmm_stream_t stream() const noexcept { return stream_; }
    friend bool operator==(const thrust_allocator &a, const thrust_allocator &b)
    {
        return kmm_resource_equal(a.resource_, b.resource_);
    }
    friend bool operator!=(const thrust_allocator &a, const thrust_allocator &b) { return !(a == b); }

private:
    kmm_resource_t *resource_;
    kmm_stream_t stream_;
};
#endif

} // namespace kmm
#endif
