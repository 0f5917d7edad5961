// SPDX-License-Identifier: Apache-2.0
// C++17 over kmm.h, header only: runtimes, arrays, and functions that run over them in chunks.
//
//     kmm::runtime rt;
//     kmm::array<float> a(rt, x), b(rt, n);
//     kmm::axis i(n);
//     rt.parallel(i).chunk(n / 10).run(
//         [](const kmm::chunk &c, const float *from, float *to, float factor) {
//             for (std::int64_t k : c.indices())
//                 to[k] = factor * from[k];
//         },
//         read(a[i]), write(b[i]), 2.0f);
//     std::vector<float> y = b.to_vector();
//
// Errors are exceptions of kmm::error. Runtimes, arrays and maps are moved, not copied. They may be
// used from several threads as kmm.h says. docs/languages.md is the guide.
#ifndef KMM_HPP
#define KMM_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../kmm.h"
#include "array.hpp"
#include "event.hpp"
#include "region.hpp"

namespace kmm
{

// ---- Launches ----

// A launch that is being described; runtime::parallel makes it.
class launch
{
  public:
    // The chunks' sizes, one for each axis; axes behind the last one are not divided. Without this
    // call the runtime chooses.
    template <class... Sizes> launch &chunk(Sizes... sizes)
    {
        static_assert(sizeof...(Sizes) <= KMM_MAX_SPLIT && (std::is_integral_v<Sizes> && ...),
                      "kmm: a chunk has one integer for each axis");
        sizes_ = {static_cast<std::int64_t>(sizes)...};
        return *this;
    }
    // The devices on which chunks may run, by their numbers among those of the kernel's kind, or of
    // the CPU. Without this call all of them.
    template <class... Numbers> launch &device(Numbers... numbers)
    {
        static_assert(sizeof...(Numbers) > 0 && (std::is_integral_v<Numbers> && ...),
                      "kmm: a device is an integer");
        devices_ = {static_cast<int>(numbers)...};
        return *this;
    }
    // The name in messages and traces.
    launch &label(std::string text)
    {
        label_ = std::move(text);
        return *this;
    }
    // Chunks of higher priority start first.
    launch &priority(int p)
    {
        priority_ = p;
        return *this;
    }

    // Calls function(const kmm::chunk &, arguments...) for each chunk, on the CPU. An argument
    // read(r), write(r), update(r) or reduce(op, r) is a kmm::view, which converts to a pointer;
    // any other is copied. Returns before the chunks have run: memory that is not the runtime's and
    // to which a pointer leads must live until they have. Chunks run side by side on copies of the
    // function. A function or a lambda without captures by reference can run. If chunks throw, the
    // next call that waits throws the exception of the first one. For empty axes nothing is called.
    template <class F, class... A,
              class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, kmm_kernel_t>>>
    void run(F function, const A &...arguments)
    {
        (check_argument<A>(), ...);
        static_assert(std::is_trivially_copyable_v<F>,
                      "kmm: the function is copied as bytes to where chunks run: it may capture "
                      "numbers and plain structs, but no containers, strings or arrays");
        static_assert(std::is_standard_layout_v<F>,
                      "kmm: the lambda captures by reference, or a struct that is not of standard "
                      "layout. Its chunks run later, so capture numbers by value, and give arrays "
                      "and structs as arguments of the launch");
        static_assert(
            std::is_invocable_v<const F &, const kmm::chunk &,
                                const typename impl::passed<A>::type &...>,
            "kmm: the function is called as f(const kmm::chunk &, arguments...), where "
            "read(...) and others give a kmm::view or a pointer, const for read; a lambda "
            "may not be mutable");
        using block = impl::block<F, typename impl::passed<A>::type...>;
        static_assert(alignof(block) <= KMM_MAX_ALIGN, "kmm: an argument of too large alignment");
        if (is_empty())
            return;
        check_indices(arguments...);
        alignas(block) unsigned char memory[sizeof(block)] = {}; // also where there is padding
        block *b = reinterpret_cast<block *>(memory);
        new (&b->function) F(function);
        b->owner = state_.get();
        impl::fill(b->arguments, arguments...);
        kmm_launch_t *l = describe(KMM_RANGE_0, arguments...);
        finish(kmm_launch_call(l, block::run, b, sizeof(block)));
    }

    // Launches a kernel: one that was made for the CPU, CUDA or HIP, as kmm/launch.h says. Its
    // parameters are the arguments; a region is a pointer. The axes are those of the grid's
    // threads.
    template <class... A>
    void run(const kmm_kernel_t &kernel, const kmm_geometry_t &geometry, const A &...arguments)
    {
        (check_argument<A>(), ...);
        check_indices(arguments...);
        impl::values<typename impl::passed<A>::type...> v;
        impl::fill(v, arguments...);
        launch_kernel(kernel, geometry, v, std::index_sequence_for<A...>(), arguments...);
    }

  private:
    friend class runtime;
    template <class T, unsigned D> friend class array;
    launch(std::shared_ptr<impl::state> s, std::vector<axis> axes, const char *file, int line)
        : state_(std::move(s)), axes_(std::move(axes)), file_(file), line_(line)
    {
    }

    template <class A> static constexpr void check_argument()
    {
        static_assert(!std::is_base_of_v<impl::no_argument, A>,
                      "kmm: say what the function does with the array: read(a[i]), write(a[i]), "
                      "update(a[i]) or reduce(kmm::op::add, a[i])");
        static_assert(impl::is_access<A>::value || std::is_trivially_copyable_v<A>,
                      "kmm: an argument is copied as bytes: it may be a number or a plain struct");
        static_assert(!impl::is_reference<A>::value,
                      "kmm: a reference does not last until the chunks run");
    }
    bool is_empty() const noexcept
    {
        for (const axis &a : axes_)
            if (a.upper() <= a.lower())
                return true;
        return false;
    }

    template <class... A> void check_indices(const A &...arguments) const
    {
        std::size_t number = 0;
        (check_index(++number, arguments), ...);
    }
    template <class A> void check_index(std::size_t, const A &) const {}
    template <class T, unsigned D> void check_index(std::size_t number, const access<T, D> &a) const
    {
        for (const section &s : a.sections)
            if (!s.lower().is_over(axes_) || !s.length().is_over(axes_))
                throw error(KMM_E_INVALID, std::string("argument ") + impl::argument_text(number) +
                                               ": an index has an axis that the launch has not");
    }

    template <class... A> kmm_launch_t *describe(kmm_source_t first, const A &...arguments)
    {
        static const char *const names[] = {"axis 0", "axis 1", "axis 2"};
        kmm_use(state_->get());
        kmm_launch_t *l = kmm_launch_begin("kmm::parallel", file_, line_);
        if (!label_.empty())
            kmm_launch_label(l, label_.c_str());
        if (priority_)
            kmm_launch_priority(l, priority_);
        for (const int number : devices_)
            kmm_launch_device(l, KMM_ON_DEVICE, number);
        for (unsigned k = 0; k < axes_.size(); k++)
            kmm_launch_axis(l, names[k], source(first, k), axes_[k].lower(),
                            axes_[k].upper() - axes_[k].lower());
        for (unsigned k = 0; k < sizes_.size(); k++)
            kmm_launch_chunk(l, source(first, k), sizes_[k]);
        std::size_t number = 0;
        (describe_argument(l, ++number, arguments), ...);
        return l;
    }
    static kmm_source_t source(kmm_source_t first, unsigned k) noexcept
    {
        return static_cast<kmm_source_t>(first + static_cast<int>(k));
    }
    template <class A> void describe_argument(kmm_launch_t *, std::size_t, const A &) const {}
    template <class T, unsigned D>
    void describe_argument(kmm_launch_t *l, std::size_t number, const access<T, D> &a) const
    {
        const char *text = impl::argument_text(number);
        if constexpr (!std::is_const_v<T> && impl::is_number<T>::value) {
            if (a.mode == KMM_REDUCE)
                kmm_launch_reduce(l, a.op, impl::number_type<T>(), text, a.base);
        }
        if (a.mode != KMM_REDUCE)
            kmm_launch_access(l, a.mode, text, a.base, sizeof(T));
        for (unsigned d = 0; d < D; d++)
            kmm_launch_extent(l, a.extents[d]);
        for (const section &s : a.sections)
            describe_section(l, s);
    }
    void describe_section(kmm_launch_t *l, const section &s) const
    {
        kmm_launch_index(l, s.lower().constant(), s.is_all() ? KMM_WHOLE : s.length().constant());
        for (unsigned k = 0; k < axes_.size(); k++)
            if (s.lower().of(axes_[k]) || s.length().of(axes_[k]))
                kmm_launch_coef(l, k, s.lower().of(axes_[k]), s.length().of(axes_[k]));
        if (s.offsets().at)
            kmm_launch_offsets(l, s.offsets().at, s.offsets().type, s.offsets().count);
    }

    template <class V, std::size_t... K, class... A>
    void launch_kernel(const kmm_kernel_t &kernel, const kmm_geometry_t &geometry, V &v,
                       std::index_sequence<K...>, const A &...arguments)
    {
        void *parameters[] = {
            const_cast<void *>(static_cast<const void *>(&impl::value_of<K>(v)))..., nullptr};
        kmm_launch_arm(describe(KMM_GLOBAL_X, arguments...));
        finish(kmm_launch_kernel(&kernel, &geometry, parameters));
    }
    void finish(int status)
    {
        kmm_use(nullptr);
        impl::check(state_->rt, status);
    }

    std::shared_ptr<impl::state> state_;
    std::vector<axis> axes_;
    std::vector<std::int64_t> sizes_;
    std::vector<int> devices_;
    std::string label_;
    int priority_ = 0;
    const char *file_;
    int line_;
};

// ---- Runtimes ----

// A runtime with arrays of its own. Launches leave the process's default runtime current.
class runtime
{
  public:
    // With the devices and limits that the environment names.
    runtime() : runtime(kmm_config_t{}) {}
    explicit runtime(const kmm_config_t &config) : state_(std::make_shared<impl::state>())
    {
        impl::check(nullptr, kmm_create(&state_->rt, &config));
    }
    // The process's runtime, which pragmas use, too.
    static runtime of_process()
    {
        auto s = std::make_shared<impl::state>();
        s->is_owner = false;
        s->rt = kmm_default();
        if (!s->rt)
            throw error(KMM_E_DEVICE, kmm_error_text(nullptr));
        return runtime(std::move(s));
    }
    runtime(runtime &&) noexcept = default;
    runtime &operator=(runtime &&o) noexcept
    {
        runtime old(std::move(*this));
        state_ = std::move(o.state_);
        return *this;
    }
    runtime(const runtime &) = delete;
    // Waits for all work. What it would throw is reported, and makes the exit status 1.
    ~runtime()
    {
        if (state_)
            impl::settle([this] { state_->close(); });
    }
    // Ends the runtime before its scope does, and throws what its work has failed with.
    void close() { get().close(); }

    // Begins a launch over 1 to 3 axes. file and line are those of the caller.
    launch parallel(const axis &x, const char *file = __builtin_FILE(),
                    int line = __builtin_LINE()) const
    {
        return launch(state_, {x}, file, line);
    }
    launch parallel(const axis &x, const axis &y, const char *file = __builtin_FILE(),
                    int line = __builtin_LINE()) const
    {
        return launch(state_, {x, y}, file, line);
    }
    launch parallel(const axis &x, const axis &y, const axis &z,
                    const char *file = __builtin_FILE(), int line = __builtin_LINE()) const
    {
        return launch(state_, {x, y, z}, file, line);
    }

    // Waits for all work. Throws the exception of the first chunk that threw, or kmm::error.
    void wait() { get().check(kmm_wait(get().get())); }
    // Calls f, and returns an event of what this thread submits in f: launches, also those of
    // pragmas, and copies. Such calls do not lie in one another.
    template <class F> event record(F &&f) const
    {
        event e(state_);
        get();
        e.begin();
        std::forward<F>(f)();
        impl::check(get().get(), kmm_event_end(e.c()));
        return e;
    }
    // An event of all that belongs to these.
    template <class... Events> event join(const Events &...events) const
    {
        static_assert((std::is_same_v<Events, event> && ...), "kmm: join takes events");
        std::vector<kmm_event_t *> all;
        kmm_event_t *joined = nullptr;
        ((events.c() ? all.push_back(events.c()) : void()), ...);
        impl::check(get().get(), kmm_event_join(get().get(), all.data(),
                                                static_cast<std::uint32_t>(all.size()), &joined));
        event e(state_);
        e.handle_.reset(joined);
        return e;
    }
    int device_count() const { return kmm_device_count(get().get()); }
    kmm_device_info_t device(int k) const
    {
        kmm_device_info_t info{};
        impl::check(get().get(), kmm_device_get(get().get(), k, &info));
        return info;
    }
    // For the functions of kmm.h.
    kmm_runtime_t *c() const { return get().get(); }

  private:
    template <class T, unsigned D> friend class array;
    template <class T, unsigned D> friend class mapped;
    explicit runtime(std::shared_ptr<impl::state> s) : state_(std::move(s)) {}
    impl::state &get() const
    {
        if (!state_)
            throw error(KMM_E_STATE, "the runtime was moved");
        return *state_;
    }
    std::shared_ptr<impl::state> state_;
};

// ---- What needs both ----

template <class T, unsigned D>
template <class... Extents, class>
array<T, D>::array(const runtime &rt, Extents... extents)
    : storage<T, D>(rt.state_, {static_cast<std::int64_t>(extents)...})
{
    kmm_shape_t shape{};
    void *base = nullptr;
    shape.dims = D;
    for (unsigned k = 0; k < D; k++)
        shape.extent[k] = this->extents_[k];
    shape.element_bytes = sizeof(T);
    impl::check(rt.c(), kmm_array_create(rt.c(), &shape, &base));
    this->base_ = static_cast<T *>(base);
}

template <class T, unsigned D> void array<T, D>::fill(const T &value)
{
    const axis i(static_cast<std::int64_t>(this->size()));
    const access<T, 1> flat{KMM_WRITE, KMM_OP_ADD, this->base_, {i.upper()}, {section(i, 1)}};
    launch(this->state_, {i}, "kmm/kmm.hpp", 0)
        .run(
            [](const kmm::chunk &c, T *elements, const T &v) {
                for (const std::int64_t k : c.indices())
                    elements[k] = v;
            },
            flat, value);
}

template <class T, unsigned D>
template <class... Extents, class>
mapped<T, D>::mapped(const runtime &rt, T *memory, Extents... extents)
    : storage<T, D>(rt.state_, {static_cast<std::int64_t>(extents)...})
{
    void *base = const_cast<std::remove_const_t<T> *>(memory);
    if (!this->empty())
        impl::check(rt.c(), kmm_map(rt.c(), std::is_const_v<T> ? KMM_MAP_TO : KMM_MAP_TOFROM, base,
                                    this->size() * sizeof(T)));
    this->base_ = memory;
}

} // namespace kmm
#endif
