// SPDX-License-Identifier: Apache-2.0
// Under RMM's names: kmm's pools, on any upstream of RMM's interface.
#ifndef KMM_RMM_POOLS_HPP
#define KMM_RMM_POOLS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <list> // programs get it from RMM's headers
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "current.hpp"

namespace RMM_NAMESPACE
{
namespace mr
{
namespace detail
{

class pool_resource : public device_memory_resource
{
  public:
    device_async_resource_ref get_upstream_resource() const noexcept { return pool_.upstream(); }

  protected:
    template <class Create>
    pool_resource(device_async_resource_ref upstream, Create create) : pool_(upstream, create)
    {
    }
    kmm_resource_usage_t usage() const noexcept
    {
        kmm_resource_usage_t u{};
        kmm_resource_usage(pool_.pool(), &u);
        return u;
    }
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        return pool_.allocate(bytes, stream);
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        pool_.deallocate(p, bytes, stream);
    }

  private:
    rmm::detail::pool_on_upstream pool_;
};

} // namespace detail

template <class Upstream>
class pool_memory_resource final
    : public detail::pool_resource,
      public cuda::forward_property<pool_memory_resource<Upstream>, Upstream>
{
  public:
    explicit pool_memory_resource(device_async_resource_ref upstream, std::size_t initial,
                                  std::optional<std::size_t> maximum = std::nullopt)
        : pool_resource(upstream, [=](kmm_resource_t *source, kmm_resource_t **out) {
              RMM_EXPECTS(is_aligned(initial, CUDA_ALLOCATION_ALIGNMENT),
                          "Error, Initial pool size required to be a multiple of 256 bytes");
              RMM_EXPECTS(is_aligned(maximum.value_or(0), CUDA_ALLOCATION_ALIGNMENT),
                          "Error, Maximum pool size required to be a multiple of 256 bytes");
              RMM_EXPECTS(initial <= maximum.value_or(SIZE_MAX),
                          "Initial pool size exceeds the maximum pool size!");
              kmm_pool_options_t o{};
              o.initial_bytes = initial;
              o.maximum_bytes = maximum.value_or(0);
              return kmm_pool_resource_create(source, &o, out);
          })
    {
    }
    explicit pool_memory_resource(Upstream *upstream, std::size_t initial,
                                  std::optional<std::size_t> maximum = std::nullopt)
        : pool_memory_resource(to_device_async_resource_ref_checked(upstream), initial, maximum)
    {
    }
    template <class Other = Upstream,
              class = std::enable_if_t<!std::is_convertible_v<Other, device_async_resource_ref>>>
    explicit pool_memory_resource(Other &upstream, std::size_t initial,
                                  std::optional<std::size_t> maximum = std::nullopt)
        : pool_memory_resource(std::addressof(upstream), initial, maximum)
    {
    }

    // Returns the bytes that the pool has from upstream.
    std::size_t pool_size() const noexcept { return usage().held_bytes; }
};

// A part for each stream, or for each thread that uses its default stream, of one pool. The pool
// takes `bytes` from upstream at once (by default half of what is free), and never more.
template <class Upstream> class arena_memory_resource final : public detail::pool_resource
{
  public:
    explicit arena_memory_resource(device_async_resource_ref upstream,
                                   std::optional<std::size_t> bytes = std::nullopt,
                                   bool dump_log_on_failure = false)
        : pool_resource(upstream,
                        [bytes](kmm_resource_t *source, kmm_resource_t **out) {
                            return create(source, bytes, out);
                        }),
          dump_(dump_log_on_failure)
    {
    }
    explicit arena_memory_resource(Upstream *upstream,
                                   std::optional<std::size_t> bytes = std::nullopt,
                                   bool dump_log_on_failure = false)
        : arena_memory_resource(to_device_async_resource_ref_checked(upstream), bytes,
                                dump_log_on_failure)
    {
    }

  private:
    static constexpr std::size_t least_bytes = std::size_t{1} << 20;

    static int create(kmm_resource_t *source, std::optional<std::size_t> bytes,
                      kmm_resource_t **out)
    {
        const std::size_t n = align_down(bytes.value_or(available_device_memory().first / 2), 256);
        RMM_EXPECTS(n >= least_bytes, "Arena size smaller than minimum superblock size");
        kmm_arena_options_t o{};
        o.arena_bytes = std::min(least_bytes, align_down(n / 16, 65536)); // arenas share n
        o.initial_bytes = o.maximum_bytes = n;
        return kmm_arena_resource_create(source, &o, out);
    }
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        try {
            return pool_resource::do_allocate(bytes, stream);
        } catch (const out_of_memory &) {
            if (dump_)
                dump(bytes);
            throw;
        }
    }
    void dump(std::size_t bytes) const
    {
        const kmm_resource_usage_t u = usage();
        std::ofstream file("rmm_arena_memory_dump.log", std::ios::app);
        file << "Ran out of memory trying to allocate " << rmm::detail::format_bytes(bytes)
             << ". The arenas hold " << u.held_bytes << " bytes, of which " << u.live_bytes
             << " are in use, in " << u.live_count << " allocations." << std::endl;
    }

    bool dump_;
};

// Blocks of one size.
template <class Upstream> class fixed_size_memory_resource final : public detail::pool_resource
{
  public:
    static constexpr std::size_t default_block_size = 1 << 20;
    static constexpr std::size_t default_blocks_to_preallocate = 128;

    explicit fixed_size_memory_resource(device_async_resource_ref upstream,
                                        std::size_t block_bytes = default_block_size,
                                        std::size_t blocks = default_blocks_to_preallocate)
        : pool_resource(upstream,
                        [=](kmm_resource_t *source, kmm_resource_t **out) {
                            kmm_fixed_size_options_t o{};
                            o.block_bytes = rmm::detail::rounded(block_bytes);
                            o.blocks_per_chunk = blocks;
                            return kmm_fixed_size_resource_create(source, &o, out);
                        }),
          block_bytes_(rmm::detail::rounded(block_bytes))
    {
    }
    explicit fixed_size_memory_resource(Upstream *upstream,
                                        std::size_t block_bytes = default_block_size,
                                        std::size_t blocks = default_blocks_to_preallocate)
        : fixed_size_memory_resource(to_device_async_resource_ref_checked(upstream), block_bytes,
                                     blocks)
    {
    }
    std::size_t get_block_size() const noexcept { return block_bytes_; }

  private:
    std::size_t block_bytes_;
};

// Sends requests to resources by size: up to the size of a bin to that bin's, larger ones upstream.
template <class Upstream> class binning_memory_resource final : public device_memory_resource
{
  public:
    explicit binning_memory_resource(device_async_resource_ref upstream) : upstream_(upstream) {}
    explicit binning_memory_resource(Upstream *upstream)
        : binning_memory_resource(to_device_async_resource_ref_checked(upstream))
    {
    }
    // Bins of 2^first to 2^last bytes.
    binning_memory_resource(device_async_resource_ref upstream, std::int8_t first, std::int8_t last)
        : upstream_(upstream)
    {
        for (int i = first; i <= last; i++)
            add_bin(std::size_t{1} << i);
    }
    binning_memory_resource(Upstream *upstream, std::int8_t first, std::int8_t last)
        : binning_memory_resource(to_device_async_resource_ref_checked(upstream), first, last)
    {
    }
    binning_memory_resource(const binning_memory_resource &) = delete;
    binning_memory_resource &operator=(const binning_memory_resource &) = delete;

    device_async_resource_ref get_upstream_resource() const noexcept { return upstream_; }

    // Without a resource the bin has a new fixed_size_memory_resource. Does nothing if there is a
    // bin of this size. Not to be called while other threads allocate.
    void add_bin(std::size_t bytes, std::optional<device_async_resource_ref> bin = std::nullopt)
    {
        bytes = rmm::detail::rounded(bytes);
        if (bins_.count(bytes))
            return;
        if (!bin) {
            own_.push_back(
                std::make_unique<fixed_size_memory_resource<Upstream>>(upstream_, bytes));
            bin = *own_.back();
        }
        bins_.emplace(bytes, *bin);
    }

  private:
    device_async_resource_ref bin_of(std::size_t bytes) const
    {
        const auto bin = bins_.lower_bound(bytes);
        return bin == bins_.end() ? upstream_ : bin->second;
    }
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        return bytes ? bin_of(bytes).allocate_async(bytes, stream) : nullptr;
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        if (p)
            bin_of(bytes).deallocate_async(p, bytes, stream);
    }

    device_async_resource_ref upstream_;
    std::vector<std::unique_ptr<fixed_size_memory_resource<Upstream>>> own_;
    std::map<std::size_t, device_async_resource_ref> bins_;
};

} // namespace mr
} // namespace RMM_NAMESPACE
#endif
