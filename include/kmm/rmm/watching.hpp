// SPDX-License-Identifier: Apache-2.0
// Under RMM's names: adaptors that write down, count, or remember what is allocated.
#ifndef KMM_RMM_WATCHING_HPP
#define KMM_RMM_WATCHING_HPP

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <shared_mutex>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "adaptors.hpp"

namespace RMM_NAMESPACE
{
namespace detail
{

// The stack of the thread that makes it.
class stack_trace
{
  public:
    stack_trace() : frames_(depth)
    {
        frames_.resize(static_cast<std::size_t>(backtrace(frames_.data(), depth)));
    }
    friend std::ostream &operator<<(std::ostream &out, const stack_trace &trace)
    {
        const std::unique_ptr<char *, void (*)(void *)> names(
            backtrace_symbols(trace.frames_.data(), static_cast<int>(trace.frames_.size())),
            std::free);
        for (std::size_t i = 0; names && i < trace.frames_.size(); i++)
            out << "#" << i << " in " << names.get()[i] << std::endl;
        return out;
    }

  private:
    static constexpr int depth = 64;
    std::vector<void *> frames_;
};

// Lines of a log, which goes to a file or to somebody else's stream.
class log_lines
{
  public:
    log_lines(const std::string &path, bool flushes)
        : file_(std::make_unique<std::ofstream>(path)), out_(file_.get()), flushes_(flushes)
    {
        RMM_EXPECTS(file_->good(), "cannot write the log to " + path);
    }
    log_lines(std::ostream &out, bool flushes) : out_(&out), flushes_(flushes) {}

    void write(const std::string &line)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        *out_ << line << '\n';
        if (flushes_)
            out_->flush();
    }
    void flush()
    {
        std::lock_guard<std::mutex> lock(mutex_);
        out_->flush();
    }

    // Returns "thread,hours:minutes:seconds.microseconds,".
    static std::string stamp()
    {
        const auto now = std::chrono::system_clock::now();
        const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
        const auto micro = std::chrono::duration_cast<std::chrono::microseconds>(
            now - std::chrono::system_clock::from_time_t(seconds));
        std::tm local{};
        localtime_r(&seconds, &local);
        char text[64];
        std::snprintf(text, sizeof(text), "%ld,%02d:%02d:%02d.%06d,", syscall(SYS_gettid),
                      local.tm_hour, local.tm_min, local.tm_sec, static_cast<int>(micro.count()));
        return text;
    }

  private:
    std::unique_ptr<std::ofstream> file_;
    std::ostream *out_;
    bool flushes_;
    std::mutex mutex_;
};

} // namespace detail

namespace mr
{

// Writes a line of CSV for each call: Thread,Time,Action,Pointer,Size,Stream. kmm-replay reads it.
template <class Upstream>
class logging_resource_adaptor final : public detail::adaptor<logging_resource_adaptor<Upstream>>
{
    using base = detail::adaptor<logging_resource_adaptor<Upstream>>;
    using lines = rmm::detail::log_lines;

  public:
    logging_resource_adaptor(device_async_resource_ref upstream,
                             const std::string &path = get_default_filename(),
                             bool auto_flush = false)
        : base(upstream), lines_(std::make_shared<lines>(path, auto_flush))
    {
        lines_->write(header());
    }
    logging_resource_adaptor(device_async_resource_ref upstream, std::ostream &out,
                             bool auto_flush = false)
        : base(upstream), lines_(std::make_shared<lines>(out, auto_flush))
    {
        lines_->write(header());
    }
    logging_resource_adaptor(Upstream *upstream, const std::string &path = get_default_filename(),
                             bool auto_flush = false)
        : logging_resource_adaptor(to_device_async_resource_ref_checked(upstream), path, auto_flush)
    {
    }
    logging_resource_adaptor(Upstream *upstream, std::ostream &out, bool auto_flush = false)
        : logging_resource_adaptor(to_device_async_resource_ref_checked(upstream), out, auto_flush)
    {
    }

    void flush() { lines_->flush(); }
    std::string header() const { return "Thread,Time,Action,Pointer,Size,Stream"; }
    static std::string get_default_filename()
    {
        const char *path = std::getenv("RMM_LOG_FILE");
        RMM_EXPECTS(path, "RMM logging requested without an explicit file name, but RMM_LOG_FILE "
                          "is unset");
        return path;
    }

  private:
    void write(const char *action, void *p, std::size_t bytes, cuda_stream_view stream)
    {
        std::ostringstream line;
        line << lines::stamp() << action << ',';
        if (p)
            line << p;
        else
            line << "(nil)";
        line << ',' << bytes << ',' << rmm::detail::format_stream(stream);
        lines_->write(line.str());
    }
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        try {
            void *p = this->take(bytes, stream);
            write("allocate", p, bytes, stream);
            return p;
        } catch (...) {
            write("allocate failure", nullptr, bytes, stream);
            throw;
        }
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        write("free", p, bytes, stream);
        this->give(p, bytes, stream);
    }

    std::shared_ptr<lines> lines_;
};

// Counts bytes and allocations, in nested scopes.
template <class Upstream>
class statistics_resource_adaptor final
    : public detail::adaptor<statistics_resource_adaptor<Upstream>>
{
    using base = detail::adaptor<statistics_resource_adaptor<Upstream>>;

  public:
    using read_lock_t = std::shared_lock<std::shared_mutex>;
    using write_lock_t = std::unique_lock<std::shared_mutex>;
    struct counter {
        std::int64_t value{0}, peak{0}, total{0};

        counter &operator+=(std::int64_t n)
        {
            value += n;
            total += n;
            peak = std::max(value, peak);
            return *this;
        }
        counter &operator-=(std::int64_t n)
        {
            value -= n;
            return *this;
        }
        void add_counters_from_tracked_sub_block(const counter &inner)
        {
            peak = std::max(value + inner.peak, peak);
            value += inner.value;
            total += inner.total;
        }
    };

    statistics_resource_adaptor(device_async_resource_ref upstream) : base(upstream) {}
    statistics_resource_adaptor(Upstream *upstream)
        : base(to_device_async_resource_ref_checked(upstream))
    {
    }
    counter get_bytes_counter() const noexcept
    {
        read_lock_t lock(mutex_);
        return scopes_.top().first;
    }
    counter get_allocations_counter() const noexcept
    {
        read_lock_t lock(mutex_);
        return scopes_.top().second;
    }
    // Begins a scope that counts from zero. Returns the counts of the scope around it.
    std::pair<counter, counter> push_counters()
    {
        write_lock_t lock(mutex_);
        const auto outer = scopes_.top();
        scopes_.push({});
        return outer;
    }
    // Ends a scope, adds its counts to the scope around it, and returns them.
    std::pair<counter, counter> pop_counters()
    {
        write_lock_t lock(mutex_);
        if (scopes_.size() < 2)
            throw std::out_of_range("cannot pop the last counter pair");
        const auto inner = scopes_.top();
        scopes_.pop();
        scopes_.top().first.add_counters_from_tracked_sub_block(inner.first);
        scopes_.top().second.add_counters_from_tracked_sub_block(inner.second);
        return inner;
    }

  private:
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        void *p = this->take(bytes, stream);
        write_lock_t lock(mutex_);
        scopes_.top().first += static_cast<std::int64_t>(bytes);
        scopes_.top().second += 1;
        return p;
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        this->give(p, bytes, stream);
        write_lock_t lock(mutex_);
        scopes_.top().first -= static_cast<std::int64_t>(bytes);
        scopes_.top().second -= 1;
    }

    using counters = std::pair<counter, counter>;
    std::stack<counters> scopes_{std::deque<counters>(1)};
    mutable std::shared_mutex mutex_;
};

// Remembers what is allocated, and where, if `capture_stacks` says so.
template <class Upstream>
class tracking_resource_adaptor final : public detail::adaptor<tracking_resource_adaptor<Upstream>>
{
    using base = detail::adaptor<tracking_resource_adaptor<Upstream>>;

  public:
    using read_lock_t = std::shared_lock<std::shared_mutex>;
    using write_lock_t = std::unique_lock<std::shared_mutex>;
    struct allocation_info {
        std::unique_ptr<rmm::detail::stack_trace> strace;
        std::size_t allocation_size;

        allocation_info() = delete;
        allocation_info(std::size_t bytes, bool capture_stack)
            : strace(capture_stack ? std::make_unique<rmm::detail::stack_trace>() : nullptr),
              allocation_size(bytes)
        {
        }
    };

    tracking_resource_adaptor(device_async_resource_ref upstream, bool capture_stacks = false)
        : base(upstream), capture_stacks_(capture_stacks)
    {
    }
    tracking_resource_adaptor(Upstream *upstream, bool capture_stacks = false)
        : base(to_device_async_resource_ref_checked(upstream)), capture_stacks_(capture_stacks)
    {
    }
    const std::map<void *, allocation_info> &get_outstanding_allocations() const noexcept
    {
        return live_;
    }
    std::size_t get_allocated_bytes() const noexcept { return bytes_; }
    std::string get_outstanding_allocations_str() const
    {
        read_lock_t lock(mutex_);
        std::ostringstream text;
        for (const auto &a : live_) {
            text << a.first << ": " << a.second.allocation_size << " B";
            if (a.second.strace)
                text << " : callstack:" << std::endl << *a.second.strace;
            text << std::endl;
        }
        return text.str();
    }
    // Writes them to stderr.
    void log_outstanding_allocations() const
    {
        std::fprintf(stderr, "Outstanding Allocations: %s\n",
                     get_outstanding_allocations_str().c_str());
    }

  private:
    void *do_allocate(std::size_t bytes, cuda_stream_view stream) override
    {
        void *p = this->take(bytes, stream);
        write_lock_t lock(mutex_);
        live_.emplace(p, allocation_info{bytes, capture_stacks_});
        bytes_ += bytes;
        return p;
    }
    void do_deallocate(void *p, std::size_t bytes, cuda_stream_view stream) override
    {
        forget(p, bytes);
        this->give(p, bytes, stream);
    }
    void forget(void *p, std::size_t bytes)
    {
        write_lock_t lock(mutex_);
        const auto found = live_.find(p);
        if (found == live_.end()) {
            std::fprintf(stderr,
                         "rmm: deallocation of %zu bytes at %p, which were not allocated here\n",
                         bytes, p);
            return;
        }
        const std::size_t allocated = found->second.allocation_size;
        if (allocated != bytes)
            std::fprintf(stderr, "rmm: deallocation of %zu bytes at %p, where %zu are allocated\n",
                         bytes, p, allocated);
        live_.erase(found);
        bytes_ -= allocated;
    }

    bool capture_stacks_;
    std::map<void *, allocation_info> live_;
    std::atomic<std::size_t> bytes_{0};
    mutable std::shared_mutex mutex_;
};

} // namespace mr
} // namespace RMM_NAMESPACE
#endif
