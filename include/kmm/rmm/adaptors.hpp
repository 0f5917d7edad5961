// SPDX-License-Identifier: Apache-2.0
// Under RMM's names: resources that pass requests on. They call functions and throw exceptions of
// C++, so they are here and not over kmm/resource.h.
#ifndef KMM_RMM_ADAPTORS_HPP
#define KMM_RMM_ADAPTORS_HPP

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "current.hpp"

namespace RMM_NAMESPACE
{

// Moves managed memory to a device; other memory is left alone.
inline void prefetch(const void *p, std::size_t bytes, cuda_device_id device,
                     cuda_stream_view stream)
{
    if (!p || !bytes || !detail::concurrent_managed_access::is_supported())
        return;
#if CUDART_VERSION >= 13000
    const bool is_host = device.value() == cudaCpuDeviceId;
    const cudaMemLocation where{is_host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                                is_host ? 0 : device.value()};
    const cudaError_t error = cudaMemPrefetchAsync(p, bytes, where, 0, stream.value());
#else
    const cudaError_t error = cudaMemPrefetchAsync(p, bytes, device.value(), stream.value());
#endif
    if (error == cudaErrorInvalidValue) // not managed
        cudaGetLastError();
    else
        RMM_CUDA_TRY(error);
}

namespace mr
{
namespace detail
{

// What adaptors have in common. Two adaptors of one type on equal upstreams are equal.
template <class Self> class adaptor : public device_memory_resource
{
  public:
    device_async_resource_ref get_upstream_resource() const noexcept { return upstream_; }

  protected:
    explicit adaptor(device_async_resource_ref upstream) : upstream_(upstream) {}
    void *take(std::size_t bytes, cuda_stream_view stream)
    {
        return upstream_.allocate_async(bytes, stream);
    }
    void give(void *p, std::size_t bytes, cuda_stream_view stream)
    {
        upstream_.deallocate_async(p, bytes, stream);
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        give(p, bytes, stream);
    }
    bool do_is_equal(const device_memory_resource &o) const noexcept override
    {
        const auto *a = dynamic_cast<const Self *>(&o);
        return this == &o || (a && upstream_ == a->get_upstream_resource());
    }

  private:
    device_async_resource_ref upstream_;
};

} // namespace detail

// Aligns requests of at least `threshold` bytes to `alignment`.
template <class Upstream>
class aligned_resource_adaptor final : public detail::adaptor<aligned_resource_adaptor<Upstream>>
{
    using base = detail::adaptor<aligned_resource_adaptor<Upstream>>;

  public:
    static constexpr std::size_t default_alignment_threshold = 0;

    explicit aligned_resource_adaptor(device_async_resource_ref upstream,
                                      std::size_t alignment = CUDA_ALLOCATION_ALIGNMENT,
                                      std::size_t threshold = default_alignment_threshold)
        : base(upstream), alignment_(std::max(alignment, CUDA_ALLOCATION_ALIGNMENT)),
          threshold_(threshold)
    {
        RMM_EXPECTS(is_supported_alignment(alignment), "Allocation alignment is not a power of 2.");
    }
    explicit aligned_resource_adaptor(Upstream *upstream,
                                      std::size_t alignment = CUDA_ALLOCATION_ALIGNMENT,
                                      std::size_t threshold = default_alignment_threshold)
        : aligned_resource_adaptor(to_device_async_resource_ref_checked(upstream), alignment,
                                   threshold)
    {
    }

  private:
    bool passes(std::size_t bytes) const
    {
        return alignment_ == CUDA_ALLOCATION_ALIGNMENT || bytes < threshold_;
    }
    std::size_t enlarged(std::size_t bytes) const
    {
        const std::size_t all = rmm::detail::padded(bytes, alignment_);
        return rmm::detail::padded(all + 1, alignment_) - CUDA_ALLOCATION_ALIGNMENT;
    }
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        if (passes(bytes))
            return this->get_upstream_resource().allocate_async(bytes, 1, stream);
        void *p = this->get_upstream_resource().allocate_async(enlarged(bytes), 1, stream);
        void *aligned =
            reinterpret_cast<void *>(align_up(reinterpret_cast<std::uintptr_t>(p), alignment_));
        if (p != aligned) {
            std::lock_guard<std::mutex> lock(mutex_);
            moved_[aligned] = p;
        }
        return aligned;
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        if (!passes(bytes)) {
            std::lock_guard<std::mutex> lock(mutex_);
            const auto m = moved_.find(p);
            if (m != moved_.end()) {
                p = m->second;
                moved_.erase(m);
            }
            bytes = enlarged(bytes);
        }
        this->get_upstream_resource().deallocate_async(p, bytes, 1, stream);
    }
    bool do_is_equal(const device_memory_resource &o) const noexcept override
    {
        const auto *a = dynamic_cast<const aligned_resource_adaptor *>(&o);
        return base::do_is_equal(o) && a->alignment_ == alignment_ && a->threshold_ == threshold_;
    }

    std::size_t alignment_, threshold_;
    std::mutex mutex_;
    std::map<void *, void *> moved_; // from what was given out to what upstream gave
};

// Allows at most `limit` bytes at a time. Each request counts as a multiple of `alignment`.
template <class Upstream>
class limiting_resource_adaptor final : public detail::adaptor<limiting_resource_adaptor<Upstream>>
{
    using base = detail::adaptor<limiting_resource_adaptor<Upstream>>;

  public:
    limiting_resource_adaptor(device_async_resource_ref upstream, std::size_t limit,
                              std::size_t alignment = CUDA_ALLOCATION_ALIGNMENT)
        : base(upstream), limit_(limit), alignment_(alignment)
    {
    }
    limiting_resource_adaptor(Upstream *upstream, std::size_t limit,
                              std::size_t alignment = CUDA_ALLOCATION_ALIGNMENT)
        : limiting_resource_adaptor(to_device_async_resource_ref_checked(upstream), limit,
                                    alignment)
    {
    }
    std::size_t get_allocated_bytes() const { return used_; }
    std::size_t get_allocation_limit() const { return limit_; }

  private:
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        const std::size_t counted = align_up(bytes, alignment_);
        std::size_t used = used_;
        do {
            if (counted < bytes || counted > limit_ || used > limit_ - counted)
                RMM_FAIL("Exceeded memory limit (failed to allocate " +
                             rmm::detail::format_bytes(bytes) + ")",
                         rmm::out_of_memory);
        } while (!used_.compare_exchange_weak(used, used + counted));
        try {
            return this->take(bytes, stream);
        } catch (...) {
            used_ -= counted;
            throw;
        }
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        this->give(p, bytes, stream);
        used_ -= align_up(bytes, alignment_);
    }

    std::size_t limit_, alignment_;
    std::atomic<std::size_t> used_{0};
};

using failure_callback_t = std::function<bool(std::size_t, void *)>;

// Calls `callback` when upstream throws `Exception`; while it returns true upstream is tried again.
template <class Upstream, class Exception = rmm::out_of_memory>
class failure_callback_resource_adaptor final
    : public detail::adaptor<failure_callback_resource_adaptor<Upstream, Exception>>
{
    using base = detail::adaptor<failure_callback_resource_adaptor<Upstream, Exception>>;

  public:
    using exception_type = Exception;

    failure_callback_resource_adaptor(device_async_resource_ref upstream,
                                      failure_callback_t callback, void *argument)
        : base(upstream), callback_(std::move(callback)), argument_(argument)
    {
    }
    failure_callback_resource_adaptor(Upstream *upstream, failure_callback_t callback,
                                      void *argument)
        : failure_callback_resource_adaptor(to_device_async_resource_ref_checked(upstream),
                                            std::move(callback), argument)
    {
    }

  private:
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        for (;;) {
            try {
                return this->take(bytes, stream);
            } catch (const Exception &) {
                if (!callback_(bytes, argument_))
                    throw;
            }
        }
    }

    failure_callback_t callback_;
    void *argument_;
};

// Moves managed memory to the current device when it is allocated.
template <class Upstream>
class prefetch_resource_adaptor final : public detail::adaptor<prefetch_resource_adaptor<Upstream>>
{
    using base = detail::adaptor<prefetch_resource_adaptor<Upstream>>;

  public:
    prefetch_resource_adaptor(device_async_resource_ref upstream) : base(upstream) {}
    prefetch_resource_adaptor(Upstream *upstream)
        : base(to_device_async_resource_ref_checked(upstream))
    {
    }

  private:
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        void *p = this->take(bytes, stream);
        prefetch(p, bytes, get_current_cuda_device(), stream);
        return p;
    }
};

// Lets one thread at a time call upstream.
template <class Upstream>
class thread_safe_resource_adaptor final
    : public detail::adaptor<thread_safe_resource_adaptor<Upstream>>
{
    using base = detail::adaptor<thread_safe_resource_adaptor<Upstream>>;

  public:
    using lock_t = std::lock_guard<std::mutex>;

    thread_safe_resource_adaptor(device_async_resource_ref upstream) : base(upstream) {}
    thread_safe_resource_adaptor(Upstream *upstream)
        : base(to_device_async_resource_ref_checked(upstream))
    {
    }

  private:
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        lock_t lock(mutex_);
        return this->take(bytes, stream);
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        lock_t lock(mutex_);
        this->give(p, bytes, stream);
    }

    std::mutex mutex_;
};

// A resource that owns those it stands on.
template <class Resource, class... Upstreams> class owning_wrapper : public device_memory_resource
{
  public:
    using upstream_tuple = std::tuple<std::shared_ptr<Upstreams>...>;

    template <class... Arguments>
    owning_wrapper(upstream_tuple upstreams, Arguments &&...arguments)
        : upstreams_(std::move(upstreams)),
          wrapped_(std::apply(
              [&](auto &...u) {
                  return std::make_unique<Resource>(u.get()...,
                                                    std::forward<Arguments>(arguments)...);
              },
              upstreams_))
    {
    }
    const Resource &wrapped() const noexcept { return *wrapped_; }
    Resource &wrapped() noexcept { return *wrapped_; }

  private:
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        return wrapped_->allocate(bytes, stream);
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        wrapped_->deallocate(p, bytes, stream);
    }
    bool do_is_equal(const device_memory_resource &o) const noexcept override
    {
        const auto *w = dynamic_cast<const owning_wrapper *>(&o);
        return this == &o || wrapped_->is_equal(w ? w->wrapped() : o);
    }

    upstream_tuple upstreams_;
    std::unique_ptr<Resource> wrapped_;
};

template <template <class...> class Resource, class... Upstreams, class... Arguments>
auto make_owning_wrapper(std::tuple<std::shared_ptr<Upstreams>...> upstreams,
                         Arguments &&...arguments)
{
    return std::make_shared<owning_wrapper<Resource<Upstreams...>, Upstreams...>>(
        std::move(upstreams), std::forward<Arguments>(arguments)...);
}

template <template <class> class Resource, class Upstream, class... Arguments>
auto make_owning_wrapper(std::shared_ptr<Upstream> upstream, Arguments &&...arguments)
{
    return std::make_shared<owning_wrapper<Resource<Upstream>, Upstream>>(
        std::make_tuple(std::move(upstream)), std::forward<Arguments>(arguments)...);
}

} // namespace mr
} // namespace RMM_NAMESPACE
#endif
