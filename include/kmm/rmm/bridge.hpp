// SPDX-License-Identifier: Apache-2.0
// Between RMM's resources and those of kmm/resource.h: a resource of kmm that is used under RMM's
// rules, and any resource of RMM's interface as the upstream of kmm's pools.
#ifndef KMM_RMM_BRIDGE_HPP
#define KMM_RMM_BRIDGE_HPP

#include <cstddef>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "../resource.hpp"
#include "resource.hpp"

namespace RMM_NAMESPACE
{
namespace detail
{

// NULL is kmm's name of the legacy default stream.
inline kmm_stream_t stream_of(cuda_stream_view stream)
{
    return stream.is_per_thread_default() ? cudaStreamPerThread
           : stream.is_default()          ? nullptr
                                          : stream.value();
}

inline cudaStream_t handle_of(kmm_stream_t stream)
{
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    if (!stream)
        return cudaStreamLegacy;
#endif
    return static_cast<cudaStream_t>(stream);
}

// Programs may round the sizes of an allocation and of its deallocation differently.
inline std::size_t rounded(std::size_t bytes) { return align_up(bytes, CUDA_ALLOCATION_ALIGNMENT); }

[[noreturn]] inline void throw_status(int status, const std::string &text)
{
    if (status == KMM_E_MEMORY)
        throw out_of_memory(text);
    if (status == KMM_E_INVALID || status == KMM_E_UNSUPPORTED)
        throw logic_error(text);
    throw bad_alloc(text);
}

inline void *allocate(kmm_resource_t *r, std::size_t bytes, cuda_stream_view stream,
                      std::size_t alignment = 0)
{
    void *p = nullptr;
    const std::size_t all = padded(bytes, CUDA_ALLOCATION_ALIGNMENT);
    const int status = kmm_resource_allocate(r, all, alignment, stream_of(stream), &p);
    if (status)
        throw_status(status, "failed to allocate " + format_bytes(bytes) + ": " +
                                 kmm_resource_error_text());
    return p;
}

// Deallocation does not throw. What goes wrong is said on stderr; a wrong size alone does not keep
// the memory from being freed.
inline void deallocate(kmm_resource_t *r, void *p, std::size_t bytes,
                       cuda_stream_view stream) noexcept
{
    int status = kmm_resource_deallocate(r, p, rounded(bytes), stream_of(stream));
    if (!status)
        return;
    std::fprintf(stderr, "rmm: deallocation of %zu bytes at %p: %s\n", bytes, p,
                 kmm_resource_error_text());
    if (status == KMM_E_INVALID)
        kmm_resource_deallocate(r, p, KMM_SIZE_RECORDED, stream_of(stream));
}

// How kmm's pools order streams for RMM's programs. Such a program may destroy a stream whose work
// uses freed memory, without telling anybody. So nothing is recorded on a stream later than the
// program uses it: each stream has one event, recorded when memory is freed on the stream, when the
// stream has waited for another one, and when it has memory from upstream. After one of these a
// block of the pool has the stream's tag. A mark of kmm's refers to the event of its stream. The
// event may be recorded again meanwhile, and then covers more.
class stream_events
{
  public:
    ~stream_events()
    {
        for (auto &e : events_)
            destroy(e.second.event);
    }

    // Records the stream's event. If that fails, as while the stream is captured into a graph, no
    // other stream gets what the stream has freed.
    bool record(kmm_stream_t stream) noexcept
    {
        const cudaStream_t s = handle_of(stream);
        std::lock_guard<std::mutex> lock(mutex_);
        entry &e = events_[key(stream)];
        e.is_known =
            !is_captured(s) && create(e.event) && cudaEventRecord(e.event, s) == cudaSuccess;
        if (!e.is_known)
            cudaGetLastError();
        return e.is_known;
    }

    kmm_stream_order_t order()
    {
        kmm_stream_order_t o{};
        o.context = this;
        o.event_create = [](void *, void **out) {
            *out = new (std::nothrow) mark;
            return *out ? 0 : static_cast<int>(KMM_E_MEMORY);
        };
        o.event_destroy = [](void *, void *m) {
            destroy(static_cast<mark *>(m)->own);
            delete static_cast<mark *>(m);
        };
        o.event_record = [](void *c, void *m, kmm_stream_t stream) {
            return static_cast<stream_events *>(c)->refer(stream, static_cast<mark *>(m));
        };
        o.stream_wait = [](void *c, kmm_stream_t stream, void *m) {
            const cudaStream_t s = handle_of(stream);
            if (is_captured(s))
                return static_cast<int>(KMM_E_STATE);
            const bool waits =
                cudaStreamWaitEvent(s, static_cast<mark *>(m)->event, 0) == cudaSuccess;
            return waits && static_cast<stream_events *>(c)->record(stream)
                       ? 0
                       : static_cast<int>(KMM_E_DEVICE);
        };
        o.event_query = [](void *, void *m) {
            const cudaError_t error = cudaEventQuery(static_cast<mark *>(m)->event);
            if (error != cudaSuccess)
                cudaGetLastError();
            return error == cudaErrorNotReady ? 0 : error ? static_cast<int>(KMM_E_DEVICE) : 1;
        };
        o.event_wait = [](void *, void *m) {
            const cudaError_t error = cudaEventSynchronize(static_cast<mark *>(m)->event);
            return error ? static_cast<int>(KMM_E_DEVICE) : 0;
        };
        return o;
    }

  private:
    struct entry {
        cudaEvent_t event = nullptr;
        bool is_known = false; // the event covers all that has the stream's tag
    };
    struct mark {
        cudaEvent_t event = nullptr; // a stream's, or own
        cudaEvent_t own = nullptr;
    };
    using key_type = std::pair<kmm_stream_t, std::thread::id>;

    // The default stream of a thread is one of several with the same handle.
    static key_type key(kmm_stream_t stream)
    {
        const bool is_of_thread = stream == static_cast<kmm_stream_t>(cudaStreamPerThread);
        return {stream, is_of_thread ? std::this_thread::get_id() : std::thread::id()};
    }
    static bool is_captured(cudaStream_t s) noexcept
    {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        return cudaStreamIsCapturing(s, &status) || status != cudaStreamCaptureStatusNone;
    }
    static bool create(cudaEvent_t &e) noexcept
    {
        return e || cudaEventCreateWithFlags(&e, cudaEventDisableTiming) == cudaSuccess;
    }
    static void destroy(cudaEvent_t e) noexcept
    {
        if (e)
            cuda_report(cudaEventDestroy(e));
    }

    // NULL is also how kmm names a thread's own stream in other threads. The legacy default stream
    // waits for the work of all of them, and is never destroyed.
    int refer(kmm_stream_t stream, mark *m)
    {
        if (!stream) {
            const cudaStream_t legacy = handle_of(stream);
            m->event = create(m->own) && !is_captured(legacy) ? m->own : nullptr;
            const bool recorded = m->event && cudaEventRecord(m->event, legacy) == cudaSuccess;
            return recorded ? 0 : static_cast<int>(KMM_E_DEVICE);
        }
        std::lock_guard<std::mutex> lock(mutex_);
        const auto e = events_.find(key(stream));
        if (e == events_.end() || !e->second.is_known)
            return KMM_E_STATE;
        m->event = e->second.event;
        return 0;
    }

    std::mutex mutex_;
    std::map<key_type, entry> events_;
};

// A pool of kmm on a resource of RMM's interface. Not moved: the callbacks have its address.
class pool_on_upstream
{
  public:
    // `create` makes the pool on the resource that it is given.
    template <class Create>
    pool_on_upstream(device_async_resource_ref upstream, Create create) : upstream_(upstream)
    {
        const kmm_stream_order_t order = events_.order();
        kmm_callback_options_t o{};
        o.context = this;
        o.allocate = take;
        o.deallocate = give;
        o.memory_info = [](void *, std::size_t *available, std::size_t *total) {
            return cudaMemGetInfo(available, total) ? static_cast<int>(KMM_E_DEVICE) : 0;
        };
        o.kind = KMM_MEMORY_DEVICE;
        o.device = get_current_cuda_device().value();
        o.order = &order;
        make(kmm_callback_resource_create(&o, source_.out()));
        make(create(source_.get(), pool_.out()));
    }
    pool_on_upstream(const pool_on_upstream &) = delete;
    pool_on_upstream &operator=(const pool_on_upstream &) = delete;

    device_async_resource_ref upstream() const noexcept { return upstream_; }
    kmm_resource_t *pool() const noexcept { return pool_.get(); }

    void *allocate(std::size_t bytes, cuda_stream_view stream)
    {
        why().clear();
        try {
            return detail::allocate(pool_.get(), bytes, stream);
        } catch (const out_of_memory &e) {
            throw out_of_memory("Maximum pool size exceeded (failed to allocate " +
                                format_bytes(bytes) + "): " + e.what() + why());
        }
    }
    void deallocate(void *p, std::size_t bytes, cuda_stream_view stream) noexcept
    {
        if (p)
            events_.record(stream_of(stream));
        detail::deallocate(pool_.get(), p, bytes, stream);
    }

  private:
    struct owner {
        kmm_resource_t *r = nullptr;
        ~owner() { kmm_resource_destroy(r); }
        kmm_resource_t *get() const { return r; }
        kmm_resource_t **out() { return &r; }
    };

    static void make(int status)
    {
        if (status)
            throw_status(status, std::string(kmm_resource_error_text()) + why());
    }

    // What the upstream's last exception in this thread said.
    static std::string &why()
    {
        static thread_local std::string text;
        return text;
    }

    static int take(void *context, std::size_t bytes, kmm_stream_t stream, void **out) noexcept
    {
        try {
            const cuda_stream_view s(handle_of(stream));
            auto *self = static_cast<pool_on_upstream *>(context);
            *out = self->upstream_.allocate(s, bytes, CUDA_ALLOCATION_ALIGNMENT);
            self->events_.record(stream);
            return 0;
        } catch (const std::exception &e) {
            why() = std::string("; ") + e.what();
        } catch (...) {
            why() = "; upstream threw what is no std::exception";
        }
        return KMM_E_MEMORY;
    }

    static int give(void *context, void *p, std::size_t bytes, kmm_stream_t stream) noexcept
    {
        const cuda_stream_view s(handle_of(stream));
        static_cast<pool_on_upstream *>(context)->upstream_.deallocate(s, p, bytes,
                                                                       CUDA_ALLOCATION_ALIGNMENT);
        return 0;
    }

    device_async_resource_ref upstream_;
    stream_events events_;
    owner source_, pool_;
};

// The resources that all objects of one type share, one for each device: RMM's programs may free
// what one such object has allocated at another one. They live until the process ends.
template <int (*Create)(int, kmm_resource_t **)> class shared_source
{
  public:
    static void *allocate(std::size_t bytes, cuda_stream_view stream, std::size_t alignment = 0)
    {
        return detail::allocate(of(get_current_cuda_device().value()), bytes, stream, alignment);
    }
    static void deallocate(void *p, std::size_t bytes, cuda_stream_view stream) noexcept
    {
        std::size_t recorded;
        kmm_resource_t *owner = of(get_current_cuda_device().value());
        if (p && kmm_resource_size(owner, p, &recorded)) {
            state &s = instance();
            std::lock_guard<std::mutex> lock(s.mutex);
            for (auto &r : s.resources)
                if (!kmm_resource_size(r.second, p, &recorded))
                    owner = r.second;
        }
        detail::deallocate(owner, p, bytes, stream);
    }

  private:
    struct state {
        std::mutex mutex;
        std::map<int, kmm_resource_t *> resources;
    };
    static state &instance()
    {
        static state *s = new state;
        return *s;
    }
    static kmm_resource_t *of(int device)
    {
        state &s = instance();
        std::lock_guard<std::mutex> lock(s.mutex);
        kmm_resource_t *&r = s.resources[device];
        if (!r)
            if (const int status = Create(device, &r))
                throw_status(status, kmm_resource_error_text());
        return r;
    }
};

inline int create_host(int, kmm_resource_t **out) { return kmm_host_resource_create(out); }

} // namespace detail
} // namespace RMM_NAMESPACE
#endif
