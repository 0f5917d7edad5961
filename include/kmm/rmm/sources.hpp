// SPDX-License-Identifier: Apache-2.0
// Under RMM's names: where memory comes from, and the functions of a program as a source.
#ifndef KMM_RMM_SOURCES_HPP
#define KMM_RMM_SOURCES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "bridge.hpp"

namespace RMM_NAMESPACE
{
namespace mr
{
namespace detail
{
using namespace rmm::detail;

// All objects of such a type are equal.
template <class Self, int (*Create)(int, kmm_resource_t **)>
class shared_resource : public device_memory_resource
{
    using source = shared_source<Create>;
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        return source::allocate(bytes, stream);
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        source::deallocate(p, bytes, stream);
    }
    bool do_is_equal(const device_memory_resource &o) const noexcept override
    {
        return dynamic_cast<const Self *>(&o) != nullptr;
    }
};

inline bool is_system_memory_supported(cuda_device_id device)
{
    int can = 0;
    RMM_CUDA_TRY(cudaDeviceGetAttribute(&can, cudaDevAttrPageableMemoryAccess, device.value()));
    return can == 1;
}

inline void prefer(void *p, std::size_t bytes, int device)
{
    if (bytes == 0)
        return;
#if CUDART_VERSION >= 13000
    const bool is_host = device == cudaCpuDeviceId;
    const cudaMemLocation where{is_host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                                is_host ? 0 : device};
#else
    const int where = device;
#endif
    RMM_CUDA_TRY(cudaMemAdvise(p, bytes, cudaMemAdviseSetPreferredLocation, where));
}
} // namespace detail

class cuda_memory_resource final
    : public detail::shared_resource<cuda_memory_resource, kmm_device_resource_create>
{
};

class managed_memory_resource final
    : public detail::shared_resource<managed_memory_resource, kmm_managed_resource_create>
{
};

// Memory of the operating system, where the GPU can access that.
class system_memory_resource final : public device_memory_resource
{
  public:
    system_memory_resource()
    {
        RMM_EXPECTS(detail::is_system_memory_supported(get_current_cuda_device()),
                    "System memory allocator is not supported with this hardware/software "
                    "version.");
    }
    friend void get_property(const system_memory_resource &, cuda::mr::device_accessible) noexcept
    {
    }
    friend void get_property(const system_memory_resource &, cuda::mr::host_accessible) noexcept {}

  private:
    using source = rmm::detail::shared_source<rmm::detail::create_host>;
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        return source::allocate(bytes, stream);
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        stream.synchronize();
        source::deallocate(p, bytes, stream);
    }
    bool do_is_equal(const device_memory_resource &o) const noexcept override
    {
        return dynamic_cast<const system_memory_resource *>(&o) != nullptr;
    }
};

// Memory of the operating system, of which as much shall be on the GPU as leaves `headroom` bytes
// of it free.
class sam_headroom_memory_resource final : public device_memory_resource
{
  public:
    explicit sam_headroom_memory_resource(std::size_t headroom) : headroom_(headroom) {}

  private:
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        const std::size_t available = available_device_memory().first;
        const std::size_t room = available > headroom_ ? available - headroom_ : 0;
        const std::size_t part = align_down(std::min(room, bytes), CUDA_ALLOCATION_ALIGNMENT);
        void *p = system_.allocate(bytes, stream);
        try {
            detail::prefer(p, part, get_current_cuda_device().value());
            detail::prefer(static_cast<char *>(p) + part, bytes - part, cudaCpuDeviceId);
        } catch (...) {
            system_.deallocate(p, bytes, stream);
            throw;
        }
        return p;
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        system_.deallocate(p, bytes, stream);
    }
    bool do_is_equal(const device_memory_resource &o) const noexcept override
    {
        const auto *s = dynamic_cast<const sam_headroom_memory_resource *>(&o);
        return s && s->headroom_ == headroom_;
    }

    system_memory_resource system_;
    std::size_t headroom_;
};

// A pool of the driver that the program owns.
class cuda_async_view_memory_resource final : public device_memory_resource
{
  public:
    cuda_async_view_memory_resource(cudaMemPool_t pool) : handle_(pool)
    {
        RMM_EXPECTS(pool, "Unexpected null pool handle.");
        RMM_EXPECTS(rmm::detail::runtime_async_alloc::is_supported(),
                    "cudaMallocAsync not supported with this CUDA driver/runtime version");
        kmm_async_options_t o{};
        o.pool = pool;
        kmm_resource_t *r = nullptr;
        if (const int status = kmm_async_resource_create(get_current_cuda_device().value(), &o, &r))
            rmm::detail::throw_status(status, kmm_resource_error_text());
        resource_.reset(r, kmm::resource_deleter());
    }
    cudaMemPool_t pool_handle() const noexcept { return handle_; }

  private:
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        return rmm::detail::allocate(resource_.get(), bytes, stream);
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        rmm::detail::deallocate(resource_.get(), p, bytes, stream);
    }
    // Copies of one view share what they have allocated; other views of the pool do not.
    bool do_is_equal(const device_memory_resource &o) const noexcept override
    {
        const auto *v = dynamic_cast<const cuda_async_view_memory_resource *>(&o);
        return v && v->resource_ == resource_;
    }

    cudaMemPool_t handle_;
    std::shared_ptr<kmm_resource_t> resource_;
};

namespace detail
{
// A pool of the driver that goes with its object.
class own_pool
{
  public:
    own_pool(cudaMemPoolProps props)
    {
        RMM_EXPECTS(rmm::detail::runtime_async_alloc::is_supported(),
                    "cudaMallocAsync not supported with this CUDA driver/runtime version");
        RMM_EXPECTS(rmm::detail::export_handle_type::is_supported(props.handleTypes),
                    "Requested IPC memory handle type not supported");
        RMM_CUDA_TRY(cudaMemPoolCreate(&handle_, &props));
    }
    ~own_pool() { rmm::detail::cuda_report(cudaMemPoolDestroy(handle_)); }
    own_pool(const own_pool &) = delete;
    own_pool &operator=(const own_pool &) = delete;
    cudaMemPool_t handle() const { return handle_; }

  private:
    cudaMemPool_t handle_ = nullptr;
};
} // namespace detail

class cuda_async_memory_resource final : public device_memory_resource
{
  public:
    enum class allocation_handle_type : std::int32_t {
        none = cudaMemHandleTypeNone,
        posix_file_descriptor = cudaMemHandleTypePosixFileDescriptor,
        win32 = cudaMemHandleTypeWin32,
        win32_kmt = cudaMemHandleTypeWin32Kmt,
        fabric = 0x8
    };
    enum class mempool_usage : unsigned short { hw_decompress = 0x2 };

    // By default the pool begins with half of what is free, and keeps all that it has.
    cuda_async_memory_resource(std::optional<std::size_t> initial = {},
                               std::optional<std::size_t> release_threshold = {},
                               std::optional<allocation_handle_type> export_handle_type = {})
        : pool_(props(export_handle_type.value_or(allocation_handle_type::none))),
          view_(pool_.handle())
    {
        const auto [available, total] = available_device_memory();
        std::uint64_t keep = release_threshold.value_or(total);
        RMM_CUDA_TRY(
            cudaMemPoolSetAttribute(pool_.handle(), cudaMemPoolAttrReleaseThreshold, &keep));
        const std::size_t bytes = initial.value_or(available / 2);
        view_.deallocate(view_.allocate(bytes), bytes);
    }
    cudaMemPool_t pool_handle() const noexcept { return pool_.handle(); }

  private:
    static cudaMemPoolProps props(allocation_handle_type type)
    {
        cudaMemPoolProps p{};
        p.allocType = cudaMemAllocationTypePinned;
        p.handleTypes = static_cast<cudaMemAllocationHandleType>(type);
        p.location.type = cudaMemLocationTypeDevice;
        p.location.id = get_current_cuda_device().value();
#if CUDART_VERSION >= 12080
        if (rmm::detail::hwdecompress::is_supported())
            p.usage = static_cast<unsigned short>(mempool_usage::hw_decompress);
#endif
        return p;
    }
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        return view_.allocate(bytes, stream);
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        view_.deallocate(p, bytes, stream);
    }

    detail::own_pool pool_;
    cuda_async_view_memory_resource view_;
};

#if CUDART_VERSION >= 13000
class cuda_async_managed_memory_resource final : public device_memory_resource
{
  public:
    cuda_async_managed_memory_resource() : pool_(props()), view_(pool_.handle()) {}
    cudaMemPool_t pool_handle() const noexcept { return pool_.handle(); }

  private:
    static cudaMemPoolProps props()
    {
        cudaMemPoolProps p{};
        p.allocType = cudaMemAllocationTypeManaged;
        p.location.type = cudaMemLocationTypeDevice;
        p.location.id = get_current_cuda_device().value();
        return p;
    }
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        return view_.allocate(bytes, stream);
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        view_.deallocate(p, bytes, stream);
    }

    detail::own_pool pool_;
    cuda_async_view_memory_resource view_;
};
#endif

// Page-locked host memory, by the concepts of CCCL; it has no base class.
class pinned_host_memory_resource
{
    using source = rmm::detail::shared_source<kmm_pinned_resource_create>;

  public:
    static void *allocate(std::size_t bytes, std::size_t alignment = RMM_DEFAULT_HOST_ALIGNMENT)
    {
        return source::allocate(bytes, {}, alignment);
    }
    static void deallocate(void *p, std::size_t bytes,
                           std::size_t = RMM_DEFAULT_HOST_ALIGNMENT) noexcept
    {
        source::deallocate(p, bytes, {});
    }
    static void *allocate_async(std::size_t bytes, cuda::stream_ref) { return allocate(bytes); }
    static void *allocate_async(std::size_t bytes, std::size_t alignment, cuda::stream_ref)
    {
        return allocate(bytes, alignment);
    }
    static void deallocate_async(void *p, std::size_t bytes, cuda::stream_ref) noexcept
    {
        deallocate(p, bytes);
    }
    static void deallocate_async(void *p, std::size_t bytes, std::size_t, cuda::stream_ref) noexcept
    {
        deallocate(p, bytes);
    }
    static void *allocate_sync(std::size_t bytes, std::size_t alignment)
    {
        return allocate(bytes, alignment);
    }
    static void deallocate_sync(void *p, std::size_t bytes, std::size_t) noexcept
    {
        deallocate(p, bytes);
    }
    static void *allocate(cuda_stream_view, std::size_t bytes, std::size_t alignment)
    {
        return allocate(bytes, alignment);
    }
    static void deallocate(cuda_stream_view, void *p, std::size_t bytes, std::size_t) noexcept
    {
        deallocate(p, bytes);
    }
    bool operator==(const pinned_host_memory_resource &) const { return true; }
    bool operator!=(const pinned_host_memory_resource &) const { return false; }
    friend void get_property(const pinned_host_memory_resource &,
                             cuda::mr::device_accessible) noexcept
    {
    }
    friend void get_property(const pinned_host_memory_resource &,
                             cuda::mr::host_accessible) noexcept
    {
    }
};

namespace detail
{
// An alignment that is no power of two counts as the default one.
template <class Self, int (*Create)(int, kmm_resource_t **)>
class host_source : public host_memory_resource
{
    using source = shared_source<Create>;
    void *do_allocate(std::size_t bytes, std::size_t alignment) override
    {
        return source::allocate(bytes, {}, is_supported_alignment(alignment) ? alignment : 0);
    }
    void do_deallocate(void *p, std::size_t bytes, std::size_t) override
    {
        source::deallocate(p, bytes, {});
    }
};
} // namespace detail

class new_delete_resource final
    : public detail::host_source<new_delete_resource, rmm::detail::create_host>
{
};

class pinned_memory_resource final
    : public detail::host_source<pinned_memory_resource, kmm_pinned_resource_create>
{
  public:
    using host_memory_resource::allocate;
    using host_memory_resource::deallocate;
    void *allocate_async(std::size_t bytes, std::size_t alignment, cuda_stream_view)
    {
        return allocate(bytes, alignment);
    }
    void *allocate_async(std::size_t bytes, cuda_stream_view) { return allocate(bytes); }
    void deallocate_async(void *p, std::size_t bytes, std::size_t alignment, cuda_stream_view)
    {
        deallocate(p, bytes, alignment);
    }
    void *allocate(cuda_stream_view, std::size_t bytes, std::size_t alignment)
    {
        return allocate(bytes, alignment);
    }
    void deallocate(cuda_stream_view, void *p, std::size_t bytes, std::size_t alignment)
    {
        deallocate(p, bytes, alignment);
    }
    friend void get_property(const pinned_memory_resource &, cuda::mr::device_accessible) noexcept
    {
    }
};

using allocate_callback_t = std::function<void *(std::size_t, cuda_stream_view, void *)>;
using deallocate_callback_t = std::function<void(void *, std::size_t, cuda_stream_view, void *)>;

class callback_memory_resource final : public device_memory_resource
{
  public:
    callback_memory_resource(allocate_callback_t allocate, deallocate_callback_t deallocate,
                             void *allocate_argument = nullptr,
                             void *deallocate_argument = nullptr) noexcept
        : allocate_(std::move(allocate)), deallocate_(std::move(deallocate)),
          allocate_argument_(allocate_argument), deallocate_argument_(deallocate_argument)
    {
    }
    callback_memory_resource(callback_memory_resource &&) noexcept = default;
    callback_memory_resource &operator=(callback_memory_resource &&) noexcept = default;

  private:
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        return allocate_(bytes, stream, allocate_argument_);
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        deallocate_(p, bytes, stream, deallocate_argument_);
    }

    allocate_callback_t allocate_;
    deallocate_callback_t deallocate_;
    void *allocate_argument_, *deallocate_argument_;
};

} // namespace mr
} // namespace RMM_NAMESPACE
#endif
