// SPDX-License-Identifier: Apache-2.0
// Events of kmm/kmm.hpp: waiting for some launches, with a time limit.
#ifndef KMM_EVENT_HPP
#define KMM_EVENT_HPP

#include <chrono>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "../kmm.h"
#include "array.hpp"

namespace kmm
{

// The launches and copies that runtime::record has seen. It is moved, not copied.
class event
{
  public:
    event() = default; // of no work
    event(event &&) noexcept = default;
    event &operator=(event &&) noexcept = default;

    // True if the work is done. Throws what it has failed with.
    bool is_done() const { return !handle_ || passed(kmm_event_test(get())); }
    // Waits for the work. Throws the exception of the first chunk that threw, or kmm::error.
    void wait() const
    {
        if (handle_)
            passed(kmm_event_wait(get(), -1));
    }
    // Waits at most so long. False: the time has passed, and the work is not done.
    template <class Count, class Period>
    bool wait_for(const std::chrono::duration<Count, Period> &limit) const
    {
        using namespace std::chrono;
        const std::int64_t count =
            limit.count() > 0 ? duration_cast<nanoseconds>(limit).count() : 0;
        return !handle_ || passed(kmm_event_wait(get(), count));
    }
    // For the functions of kmm.h. nullptr: no work.
    kmm_event_t *c() const noexcept { return handle_.get(); }

  private:
    friend class runtime;
    struct destroy {
        void operator()(kmm_event_t *e) const noexcept { kmm_event_destroy(e); }
    };
    explicit event(std::shared_ptr<impl::state> s) : state_(std::move(s)) {}
    void begin()
    {
        kmm_event_t *e = nullptr;
        impl::check(state_->get(), kmm_event_begin(state_->get(), &e));
        handle_.reset(e);
    }
    kmm_event_t *get() const
    {
        static_cast<void>(state_->get()); // throws if the runtime has ended
        return handle_.get();
    }
    bool passed(int status) const
    {
        if (status != KMM_PENDING)
            state_->check(status);
        return status != KMM_PENDING;
    }
    std::shared_ptr<impl::state> state_;
    std::unique_ptr<kmm_event_t, destroy> handle_;
};

} // namespace kmm
#endif
