// SPDX-License-Identifier: Apache-2.0
// Under RMM's names: memory that knows its stream, its resource and its device.
#ifndef KMM_RMM_CONTAINERS_HPP
#define KMM_RMM_CONTAINERS_HPP

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <cuda/std/span>

#include "adaptors.hpp"

namespace RMM_NAMESPACE
{

template <class T>
void prefetch(cuda::std::span<const T> data, cuda_device_id device, cuda_stream_view stream)
{
    prefetch(data.data(), data.size_bytes(), device, stream);
}

// Untyped memory. What it does is ordered on a stream that the caller names.
class device_buffer
{
  public:
    device_buffer() : resource_(mr::get_current_device_resource_ref()) {}
    explicit device_buffer(std::size_t bytes, cuda_stream_view stream,
                           device_async_resource_ref r = mr::get_current_device_resource_ref())
        : stream_(stream), resource_(r)
    {
        const cuda_set_device_raii current(device_);
        data_ = bytes ? resource_.allocate_async(bytes, stream) : nullptr;
        bytes_ = capacity_ = bytes;
    }
    device_buffer(const void *from, std::size_t bytes, cuda_stream_view stream,
                  device_async_resource_ref r = mr::get_current_device_resource_ref())
        : device_buffer(bytes, stream, r)
    {
        if (!bytes)
            return;
        RMM_EXPECTS(from, "Invalid copy from nullptr.");
        const cuda_set_device_raii current(device_);
        copy(from, bytes);
    }
    device_buffer(const device_buffer &o, cuda_stream_view stream,
                  device_async_resource_ref r = mr::get_current_device_resource_ref())
        : device_buffer(o.data(), o.size(), stream, r)
    {
    }
    device_buffer(device_buffer &&o) noexcept
        : data_(std::exchange(o.data_, nullptr)), bytes_(std::exchange(o.bytes_, 0)),
          capacity_(std::exchange(o.capacity_, 0)), stream_(std::exchange(o.stream_, {})),
          resource_(o.resource_), device_(o.device_)
    {
    }
    device_buffer &operator=(device_buffer &&o) noexcept
    {
        if (&o == this)
            return *this;
        free();
        data_ = std::exchange(o.data_, nullptr);
        bytes_ = std::exchange(o.bytes_, 0);
        capacity_ = std::exchange(o.capacity_, 0);
        stream_ = std::exchange(o.stream_, {});
        resource_ = o.resource_;
        device_ = o.device_;
        return *this;
    }
    device_buffer(const device_buffer &) = delete;
    device_buffer &operator=(const device_buffer &) = delete;
    ~device_buffer() noexcept { free(); }

    // These three leave the buffer on `stream`. None reduces the capacity but shrink_to_fit.
    void reserve(std::size_t capacity, cuda_stream_view stream)
    {
        set_stream(stream);
        if (capacity > capacity_)
            reallocate(capacity, bytes_);
    }
    void resize(std::size_t bytes, cuda_stream_view stream)
    {
        set_stream(stream);
        if (bytes > capacity_)
            reallocate(bytes, bytes);
        bytes_ = bytes;
    }
    void shrink_to_fit(cuda_stream_view stream)
    {
        set_stream(stream);
        if (bytes_ != capacity_)
            reallocate(bytes_, bytes_);
    }

    const void *data() const noexcept { return data_; }
    void *data() noexcept { return data_; }
    std::size_t size() const noexcept { return bytes_; }
    std::int64_t ssize() const noexcept { return static_cast<std::int64_t>(bytes_); }
    bool is_empty() const noexcept { return bytes_ == 0; }
    std::size_t capacity() const noexcept { return capacity_; }
    cuda_stream_view stream() const noexcept { return stream_; }
    void set_stream(cuda_stream_view stream) noexcept { stream_ = stream; }
    device_async_resource_ref memory_resource() const noexcept { return resource_; }

  private:
    void copy(const void *from, std::size_t bytes)
    {
        RMM_CUDA_TRY(cudaMemcpyAsync(data_, from, bytes, cudaMemcpyDefault, stream_.value()));
    }
    void reallocate(std::size_t capacity, std::size_t bytes)
    {
        const cuda_set_device_raii current(device_);
        device_buffer larger(capacity, stream_, resource_);
        larger.device_ = device_;
        if (const std::size_t kept = bytes_ < capacity ? bytes_ : capacity)
            larger.copy(data_, kept);
        larger.bytes_ = bytes;
        *this = std::move(larger);
    }
    void free() noexcept
    {
        if (!capacity_)
            return;
        const cuda_set_device_raii current(device_);
        resource_.deallocate_async(data_, capacity_, stream_);
        data_ = nullptr;
        bytes_ = capacity_ = 0;
    }

    void *data_ = nullptr;
    std::size_t bytes_ = 0, capacity_ = 0;
    cuda_stream_view stream_;
    device_async_resource_ref resource_;
    cuda_device_id device_ = get_current_cuda_device();
};

// Elements that have no value at first.
template <class T> class device_uvector
{
    static_assert(std::is_trivially_copyable_v<T>,
                  "device_uvector only supports types that are trivially copyable.");

  public:
    using value_type = T;
    using size_type = std::size_t;
    using reference = T &;
    using const_reference = const T &;
    using pointer = T *;
    using const_pointer = const T *;
    using iterator = pointer;
    using const_iterator = const_pointer;
    using reverse_iterator = std::reverse_iterator<iterator>;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;

    device_uvector() = delete;
    explicit device_uvector(size_type n, cuda_stream_view stream,
                            device_async_resource_ref r = mr::get_current_device_resource_ref())
        : storage_(bytes_of(n), stream, r)
    {
    }
    explicit device_uvector(const device_uvector &o, cuda_stream_view stream,
                            device_async_resource_ref r = mr::get_current_device_resource_ref())
        : storage_(o.storage_, stream, r)
    {
    }
    device_uvector(device_uvector &&) noexcept = default;
    device_uvector &operator=(device_uvector &&) noexcept = default;

    pointer element_ptr(size_type i) noexcept
    {
        assert(i < size());
        return data() + i;
    }
    const_pointer element_ptr(size_type i) const noexcept
    {
        assert(i < size());
        return data() + i;
    }
    // The value must live until the copy is done.
    void set_element_async(size_type i, const T &value, cuda_stream_view stream)
    {
        expect_element(i);
        RMM_CUDA_TRY(
            cudaMemcpyAsync(data() + i, &value, sizeof(T), cudaMemcpyDefault, stream.value()));
    }
    void set_element_async(size_type, const T &&, cuda_stream_view) = delete;
    void set_element_to_zero_async(size_type i, cuda_stream_view stream)
    {
        expect_element(i);
        RMM_CUDA_TRY(cudaMemsetAsync(data() + i, 0, sizeof(T), stream.value()));
    }
    void set_element(size_type i, const T &value, cuda_stream_view stream)
    {
        set_element_async(i, value, stream);
        stream.synchronize_no_throw();
    }
    T element(size_type i, cuda_stream_view stream) const
    {
        expect_element(i);
        T value;
        RMM_CUDA_TRY(
            cudaMemcpyAsync(&value, data() + i, sizeof(T), cudaMemcpyDefault, stream.value()));
        stream.synchronize();
        return value;
    }
    T front_element(cuda_stream_view stream) const { return element(0, stream); }
    T back_element(cuda_stream_view stream) const { return element(size() - 1, stream); }

    void reserve(size_type n, cuda_stream_view stream) { storage_.reserve(bytes_of(n), stream); }
    void resize(size_type n, cuda_stream_view stream) { storage_.resize(bytes_of(n), stream); }
    void shrink_to_fit(cuda_stream_view stream) { storage_.shrink_to_fit(stream); }
    device_buffer release() noexcept { return std::move(storage_); }

    pointer data() noexcept { return static_cast<pointer>(storage_.data()); }
    const_pointer data() const noexcept { return static_cast<const_pointer>(storage_.data()); }
    iterator begin() noexcept { return data(); }
    iterator end() noexcept { return data() + size(); }
    const_iterator begin() const noexcept { return data(); }
    const_iterator end() const noexcept { return data() + size(); }
    const_iterator cbegin() const noexcept { return begin(); }
    const_iterator cend() const noexcept { return end(); }
    reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
    reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
    const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
    const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
    const_reverse_iterator crbegin() const noexcept { return rbegin(); }
    const_reverse_iterator crend() const noexcept { return rend(); }

    size_type size() const noexcept { return storage_.size() / sizeof(T); }
    std::int64_t ssize() const noexcept { return static_cast<std::int64_t>(size()); }
    size_type capacity() const noexcept { return storage_.capacity() / sizeof(T); }
    bool is_empty() const noexcept { return size() == 0; }
    device_async_resource_ref memory_resource() const noexcept
    {
        return storage_.memory_resource();
    }
    cuda_stream_view stream() const noexcept { return storage_.stream(); }
    void set_stream(cuda_stream_view stream) noexcept { storage_.set_stream(stream); }

  private:
    static size_type bytes_of(size_type n)
    {
        RMM_EXPECTS(n <= SIZE_MAX / sizeof(T), "device_uvector: too many elements", rmm::bad_alloc);
        return n * sizeof(T);
    }
    void expect_element(size_type i) const
    {
        RMM_EXPECTS(i < size(), "Attempt to access out of bounds element.", rmm::out_of_range);
    }

    device_buffer storage_;
};

template <class T> class device_scalar
{
  public:
    using value_type = T;
    using size_type = std::size_t;
    using reference = T &;
    using const_reference = const T &;
    using pointer = T *;
    using const_pointer = const T *;

    device_scalar() = delete;
    explicit device_scalar(cuda_stream_view stream,
                           device_async_resource_ref r = mr::get_current_device_resource_ref())
        : storage_(1, stream, r)
    {
    }
    explicit device_scalar(const T &value, cuda_stream_view stream,
                           device_async_resource_ref r = mr::get_current_device_resource_ref())
        : storage_(1, stream, r)
    {
        set_value_async(value, stream);
    }
    device_scalar(const device_scalar &o, cuda_stream_view stream,
                  device_async_resource_ref r = mr::get_current_device_resource_ref())
        : storage_(o.storage_, stream, r)
    {
    }
    device_scalar(device_scalar &&) noexcept = default;
    device_scalar &operator=(device_scalar &&) noexcept = default;

    T value(cuda_stream_view stream) const { return storage_.front_element(stream); }
    // The value must live until the copy is done.
    void set_value_async(const T &value, cuda_stream_view stream)
    {
        storage_.set_element_async(0, value, stream);
    }
    void set_value_async(T &&, cuda_stream_view) = delete;
    void set_value_to_zero_async(cuda_stream_view stream)
    {
        storage_.set_element_to_zero_async(0, stream);
    }
    pointer data() noexcept { return storage_.data(); }
    const_pointer data() const noexcept { return storage_.data(); }
    constexpr size_type size() const noexcept { return 1; }
    cuda_stream_view stream() const noexcept { return storage_.stream(); }
    void set_stream(cuda_stream_view stream) noexcept { storage_.set_stream(stream); }

  private:
    device_uvector<T> storage_;
};

} // namespace RMM_NAMESPACE
#endif
