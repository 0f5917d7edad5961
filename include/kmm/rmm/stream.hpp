// SPDX-License-Identifier: Apache-2.0
// Under RMM's names: streams, borrowed and owned, and pools of them.
#ifndef KMM_RMM_STREAM_HPP
#define KMM_RMM_STREAM_HPP

#include <atomic>
#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <cuda/stream_ref>

#include "base.hpp"

namespace RMM_NAMESPACE
{

// A stream that somebody else owns.
class cuda_stream_view
{
  public:
    constexpr cuda_stream_view() = default;
    cuda_stream_view(int) = delete; // 0 and nullptr are not named as streams
    cuda_stream_view(std::nullptr_t) = delete;
    constexpr cuda_stream_view(cudaStream_t stream) noexcept : stream_(stream) {}
    cuda_stream_view(cuda::stream_ref stream) noexcept : stream_(stream.get()) {}

    constexpr cudaStream_t value() const noexcept { return stream_; }
    constexpr operator cudaStream_t() const noexcept { return stream_; }
    operator cuda::stream_ref() const noexcept { return stream_; }

    bool is_per_thread_default() const noexcept
    {
        return stream_ == cudaStreamPerThread || (null_is_per_thread && !stream_);
    }
    bool is_default() const noexcept
    {
        return stream_ == cudaStreamLegacy || (!null_is_per_thread && !stream_);
    }
    void synchronize() const { RMM_CUDA_TRY(cudaStreamSynchronize(stream_)); }
    void synchronize_no_throw() const noexcept
    {
        RMM_ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(stream_));
    }

  private:
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    static constexpr bool null_is_per_thread = true;
#else
    static constexpr bool null_is_per_thread = false;
#endif
    cudaStream_t stream_ = nullptr;
};

static constexpr cuda_stream_view cuda_stream_default{};
static const cuda_stream_view cuda_stream_legacy{cudaStreamLegacy};
static const cuda_stream_view cuda_stream_per_thread{cudaStreamPerThread};

inline bool operator==(cuda_stream_view a, cuda_stream_view b) { return a.value() == b.value(); }
inline bool operator!=(cuda_stream_view a, cuda_stream_view b) { return a.value() != b.value(); }
inline std::ostream &operator<<(std::ostream &out, cuda_stream_view stream)
{
    return out << stream.value();
}

namespace detail
{
inline std::string format_stream(cuda_stream_view stream)
{
    std::ostringstream text;
    text << stream.value();
    return text.str();
}
} // namespace detail

// A stream of its own; moved, not copied.
class cuda_stream
{
  public:
    enum class flags : unsigned {
        sync_default = cudaStreamDefault,
        non_blocking = cudaStreamNonBlocking
    };
    cuda_stream(flags f = flags::sync_default)
    {
        RMM_CUDA_TRY(cudaStreamCreateWithFlags(&stream_, static_cast<unsigned>(f)));
    }
    cuda_stream(cuda_stream &&o) noexcept : stream_(std::exchange(o.stream_, nullptr)) {}
    cuda_stream &operator=(cuda_stream &&o) noexcept
    {
        std::swap(stream_, o.stream_);
        return *this;
    }
    ~cuda_stream()
    {
        if (stream_)
            detail::cuda_report(cudaStreamDestroy(stream_));
    }
    bool is_valid() const { return stream_ != nullptr; }
    cudaStream_t value() const { return stream_; }
    explicit operator cudaStream_t() const noexcept { return stream_; }
    cuda_stream_view view() const { return cuda_stream_view{stream_}; }
    operator cuda_stream_view() const { return view(); }
    void synchronize() const { view().synchronize(); }
    void synchronize_no_throw() const noexcept { view().synchronize_no_throw(); }

  private:
    cudaStream_t stream_ = nullptr;
};

// Streams that are made once and handed out in turn.
class cuda_stream_pool
{
  public:
    static constexpr std::size_t default_size{16};

    explicit cuda_stream_pool(std::size_t n = default_size,
                              cuda_stream::flags f = cuda_stream::flags::sync_default)
    {
        RMM_EXPECTS(n > 0, "Stream pool size must be greater than zero");
        streams_.reserve(n);
        for (std::size_t i = 0; i < n; i++)
            streams_.emplace_back(f);
    }
    cuda_stream_pool(const cuda_stream_pool &) = delete;
    cuda_stream_pool &operator=(const cuda_stream_pool &) = delete;

    cuda_stream_view get_stream() const noexcept { return get_stream(next_++); }
    cuda_stream_view get_stream(std::size_t i) const { return streams_[i % streams_.size()]; }
    std::size_t get_pool_size() const noexcept { return streams_.size(); }

  private:
    std::vector<cuda_stream> streams_;
    mutable std::atomic<std::size_t> next_{0};
};

} // namespace RMM_NAMESPACE
#endif
