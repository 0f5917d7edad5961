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
#include <type_traits>
#include <utility>

#include "resource.h"

#if defined(__CUDACC__) && __has_include(<thrust/device_malloc_allocator.h>)
#include <thrust/device_malloc_allocator.h>
#define KMM_RESOURCE_THRUST 1
#endif

namespace kmm
{

// KMM_E_MEMORY; what() is the resource's text.
class out_of_memory : public std::bad_alloc
{
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
    const std::string text =
        std::string(kmm_error_string(status)) + ": " + kmm_resource_error_text();
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
template <class Create, class... Arguments>
unique_resource make(Create create, Arguments... arguments)
{
    kmm_resource_t *r = nullptr;
    check(create(arguments..., &r));
    return unique_resource(r);
}

// Owners of what the C functions make; moved, not copied. The resource, and the stream's end, are
// the program's business as in C. A resource that is nullptr is kmm_resource_current().
template <class C, int (*Deinit)(C *)> class owned
{
  public:
    owned() : c_{} {}
    owned(owned &&o) noexcept : c_(std::exchange(o.c_, C{})) {}
    owned &operator=(owned &&o) noexcept
    {
        std::swap(c_, o.c_);
        return *this;
    }
    ~owned() { Deinit(&c_); }
    C *c() noexcept { return &c_; } // for the functions of kmm/resource.h
    const C *c() const noexcept { return &c_; }

  protected:
    C c_;
};

class buffer : public owned<kmm_buffer_t, kmm_buffer_deinit>
{
  public:
    buffer() = default;
    explicit buffer(std::size_t bytes, kmm_stream_t stream = nullptr, kmm_resource_t *r = nullptr)
    {
        check(kmm_buffer_init(&c_, bytes, stream, r));
    }
    buffer(const void *src, std::size_t bytes, kmm_stream_t stream = nullptr,
           kmm_resource_t *r = nullptr)
    {
        check(kmm_buffer_init_copy(&c_, src, bytes, stream, r));
    }
    void *data() const noexcept { return c_.data; }
    std::size_t size() const noexcept { return c_.bytes; }
    std::size_t capacity() const noexcept { return c_.capacity; }
    kmm_stream_t stream() const noexcept { return c_.stream; }
    void resize(std::size_t bytes, kmm_stream_t stream)
    {
        check(kmm_buffer_resize(&c_, bytes, stream));
    }
    void reserve(std::size_t bytes, kmm_stream_t stream)
    {
        check(kmm_buffer_reserve(&c_, bytes, stream));
    }
    void shrink_to_fit(kmm_stream_t stream) { check(kmm_buffer_shrink(&c_, stream)); }
    void set_stream(kmm_stream_t stream) noexcept { kmm_buffer_set_stream(&c_, stream); }
};

// Elements that have no value at first. Those of device memory are not the host's to touch: element
// and set_element copy one.
template <class T> class vector : public owned<kmm_vector_t, kmm_vector_deinit>
{
    static_assert(std::is_trivially_copyable<T>::value, "elements are copied as bytes");

  public:
    using value_type = T;
    vector() = default;
    explicit vector(std::size_t n, kmm_stream_t stream = nullptr, kmm_resource_t *r = nullptr)
    {
        check(kmm_vector_init(&c_, sizeof(T), n, stream, r));
    }
    T *data() const noexcept { return static_cast<T *>(c_.buffer.data); }
    T *begin() const noexcept { return data(); }
    T *end() const noexcept { return data() + c_.count; }
    std::size_t size() const noexcept { return c_.count; }
    bool is_empty() const noexcept { return c_.count == 0; }
    void resize(std::size_t n, kmm_stream_t stream) { check(kmm_vector_resize(&c_, n, stream)); }
    T element(std::size_t i) const
    {
        T value;
        check(kmm_vector_get(&c_, i, &value));
        return value;
    }
    void set_element(std::size_t i, const T &value) { check(kmm_vector_set(&c_, i, &value)); }
};

template <class T> class scalar : public owned<kmm_scalar_t, kmm_scalar_deinit>
{
    static_assert(std::is_trivially_copyable<T>::value, "a value is copied as bytes");

  public:
    explicit scalar(const T &value, kmm_stream_t stream = nullptr, kmm_resource_t *r = nullptr)
    {
        check(kmm_scalar_init(&c_, &value, sizeof(T), stream, r));
    }
    T *data() const noexcept { return static_cast<T *>(c_.vector.buffer.data); }
    T value() const
    {
        T value;
        check(kmm_scalar_get(&c_, &value));
        return value;
    }
    void set_value(const T &value) { check(kmm_scalar_set(&c_, &value)); }
};

// Memory that the host can reach, for standard containers. Borrows the resource.
class pmr_resource : public std::pmr::memory_resource
{
  public:
    explicit pmr_resource(kmm_resource_t *r, kmm_stream_t stream = nullptr)
        : resource_(r), stream_(stream)
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
template <class T> class thrust_allocator : public thrust::device_malloc_allocator<T>
{
    using base = thrust::device_malloc_allocator<T>;

  public:
    using pointer = typename base::pointer;
    using size_type = typename base::size_type;
    template <class U> struct rebind {
        using other = thrust_allocator<U>;
    };

    thrust_allocator() : resource_(kmm_resource_current()), stream_(nullptr) {}
    explicit thrust_allocator(kmm_resource_t *r, kmm_stream_t stream = nullptr)
        : resource_(r), stream_(stream)
    {
    }
    template <class U>
    thrust_allocator(const thrust_allocator<U> &o) : resource_(o.resource()), stream_(o.stream())
    {
    }

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
    friend bool operator!=(const thrust_allocator &a, const thrust_allocator &b)
    {
        return !(a == b);
    }

  private:
    kmm_resource_t *resource_;
    kmm_stream_t stream_;
};
#endif

} // namespace kmm
#endif
