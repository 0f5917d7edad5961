// SPDX-License-Identifier: Apache-2.0
// Arrays and mapped host memory of kmm/kmm.hpp, and what its calls share.
#ifndef KMM_ARRAY_HPP
#define KMM_ARRAY_HPP

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../kmm.h"
#include "region.hpp"

namespace kmm
{

namespace impl
{

inline void check(kmm_runtime_t *rt, int status)
{
    if (status < 0)
        throw error(status, std::string(kmm_error_string(status)) + ": " + kmm_error_text(rt));
}

// Reports what nobody can catch, and makes the program's exit status 1.
inline void report(const char *what) noexcept
{
    std::fprintf(stderr, "kmm: error: %s\n", what);
    static const int registered = std::atexit([] {
        std::exit(EXIT_FAILURE); // goes on with the remaining handlers
    });
    (void)registered;
}

// A runtime, which its arrays share: they outlive kmm::runtime, if empty.
struct state {
    kmm_runtime_t *rt = nullptr;
    bool is_owner = true;
    std::mutex lock; // of what follows
    std::exception_ptr thrown;
    kmm_chunk_t thrower{}; // the chunk that threw it

    kmm_runtime_t *get() const
    {
        if (!rt)
            throw error(KMM_E_STATE, "the runtime has ended");
        return rt;
    }
    // Keeps the exception that is caught, unless an earlier launch or chunk has thrown.
    void keep(const kmm_chunk_t &c)
    {
        const std::lock_guard<std::mutex> guard(lock);
        bool is_first = !thrown || c.launch < thrower.launch;
        if (!is_first && c.launch == thrower.launch) {
            unsigned k = KMM_MAX_SPLIT - 1;
            while (k > 0 && c.begin[k] == thrower.begin[k])
                k--;
            is_first = c.begin[k] < thrower.begin[k];
        }
        if (is_first) {
            thrown = std::current_exception();
            thrower = c;
        }
    }
    std::exception_ptr take()
    {
        const std::lock_guard<std::mutex> guard(lock);
        return std::exchange(thrown, nullptr);
    }
    void rethrow()
    {
        if (const std::exception_ptr e = take())
            std::rethrow_exception(e);
    }
    // Throws the exception of a chunk that has ended, or else what the status says.
    void check(int status)
    {
        rethrow();
        impl::check(rt, status);
    }
    // Ends the runtime; throws as check() does.
    void close()
    {
        kmm_runtime_t *ending = std::exchange(rt, nullptr);
        const int status = !ending ? 0 : is_owner ? kmm_destroy(ending) : kmm_wait(ending);
        rethrow();
        impl::check(nullptr, status);
    }
};

// Calls f, and reports what it throws: for destructors.
template <class F> void settle(F f) noexcept
{
    try {
        f();
    } catch (const std::exception &e) {
        report(e.what());
    } catch (...) {
        report("a chunk threw an exception that is no std::exception");
    }
}

template <class T> struct is_access : std::false_type {
};
template <class T, unsigned D> struct is_access<access<T, D>> : std::true_type {
};

// What the function gets for an argument.
template <class A> struct passed {
    using type = A;
    static A of(const A &value) { return value; }
};
template <class T, unsigned D> struct passed<access<T, D>> {
    using type = view<T, D>;
    static type of(const access<T, D> &a) { return {a.base, a.extents.data()}; }
};

// The values of arguments. It is copied as bytes, unlike std::tuple.
template <class... V> struct values {
};
template <class V, class... Rest> struct values<V, Rest...> {
    V first;
    values<Rest...> rest;
};
template <std::size_t K, class V> auto &value_of(V &v)
{
    if constexpr (K == 0)
        return v.first;
    else
        return value_of<K - 1>(v.rest);
}
inline void fill(values<> &) {}
template <class V, class... Rest, class A, class... More>
void fill(values<V, Rest...> &v, const A &a, const More &...more)
{
    new (&v.first) V(passed<A>::of(a));
    fill(v.rest, more...);
}

// What each chunk gets a copy of.
template <class F, class... V> struct block {
    F function;
    state *owner;
    values<V...> arguments;

    template <std::size_t... K> void call(const kmm_chunk_t &c, std::index_sequence<K...>) const
    {
        const chunk part(c);
        function(part, value_of<K>(arguments)...);
    }
    static void run(const kmm_chunk_t *c, void *memory) noexcept
    {
        const block *b = static_cast<const block *>(memory);
        try {
            b->call(*c, std::index_sequence_for<V...>());
        } catch (...) {
            if (!kmm_is_dropped(c))
                b->owner->keep(*c);
        }
    }
};

template <class T> struct is_reference : std::false_type {
};
template <class T> struct is_reference<std::reference_wrapper<T>> : std::true_type {
};

template <class T>
struct is_number : std::bool_constant<(std::is_arithmetic_v<T> && sizeof(T) <= 8) ||
                                      std::is_same_v<T, std::complex<float>> ||
                                      std::is_same_v<T, std::complex<double>>> {
};
template <class T> constexpr kmm_type_t number_type()
{
    static_assert(is_number<T>::value, "kmm: reduce() takes numbers of at most 64 bits, and "
                                       "std::complex of float and double");
    if constexpr (std::is_same_v<T, std::complex<float>>) {
        return KMM_COMPLEX_FLOAT;
    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
        return KMM_COMPLEX_DOUBLE;
    } else if constexpr (std::is_floating_point_v<T>) {
        return sizeof(T) == 4 ? KMM_FLOAT : KMM_DOUBLE;
    } else {
        constexpr int size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
        return static_cast<kmm_type_t>((std::is_signed_v<T> ? KMM_INT8 : KMM_UINT8) + size);
    }
}

// The names of arguments in messages, which add the word argument.
inline const char *argument_text(std::size_t number) noexcept
{
    static const char *const texts[] = {"1", "2",  "3",  "4",  "5",  "6",  "7",  "8",
                                        "9", "10", "11", "12", "13", "14", "15", "16"};
    return number <= 16 ? texts[number - 1] : "behind the 16th";
}

} // namespace impl

// ---- Arrays ----

// Memory that a launch can use: an array or mapped host memory. Index it with axes to name a
// region: a[i], a[2 * i + 1], a[range(i - 1, i + 2)], m[y][x], m[y][all]; m alone is all of it.
template <class T, unsigned D> class storage : public impl::no_argument
{
    static_assert(std::is_trivially_copyable_v<T>, "kmm: elements are copied as bytes");
    static_assert(D >= 1 && D <= KMM_MAX_DIMS, "kmm: an array has 1 to KMM_MAX_DIMS dimensions");

  public:
    storage(const storage &) = delete;
    storage &operator=(const storage &) = delete;

    template <class Index> region<T, D, 1> operator[](const Index &index) { return whole()[index]; }
    template <class Index> region<const T, D, 1> operator[](const Index &index) const
    {
        return whole()[index];
    }
    region<T, D, 0> whole() { return {base_, extents_}; }
    region<const T, D, 0> whole() const { return {base_, extents_}; }
    // Returns the address that names the array in kmm.h. Of an array it is not to be dereferenced.
    T *name() const noexcept { return base_; }
    std::int64_t extent(unsigned k = 0) const noexcept { return extents_[k]; }
    std::size_t size() const noexcept
    {
        std::size_t n = 1;
        for (const std::int64_t e : extents_)
            n *= static_cast<std::size_t>(e);
        return n;
    }
    bool empty() const noexcept { return size() == 0; }
    // Waits for the work on this memory, and throws what its chunks have thrown.
    void wait() const
    {
        if (!empty())
            state_->check(kmm_wait_array(state_->get(), base_));
    }

  protected:
    storage() = default;
    storage(std::shared_ptr<impl::state> s, const std::array<std::int64_t, D> &extents)
        : state_(std::move(s)), extents_(extents)
    {
        for (const std::int64_t e : extents_)
            if (e < 0)
                throw error(KMM_E_RANGE, "an array of negative extent");
    }
    void swap(storage &o) noexcept
    {
        std::swap(state_, o.state_);
        std::swap(extents_, o.extents_);
        std::swap(base_, o.base_);
    }
    std::shared_ptr<impl::state> state_;
    std::array<std::int64_t, D> extents_{};
    T *base_ = nullptr;
};

class runtime;
class launch;

// An array of libkmm, which may be larger than the memory of devices and of the host. Its elements
// have no value at first. They are copied to and from host memory.
template <class T, unsigned D = 1> class array : public storage<T, D>
{
    static_assert(!std::is_const_v<T>, "kmm: an array's elements are not const");

  public:
    array() = default; // of no elements
    // array<float, 2> m(rt, height, width): the outermost dimension first.
    template <class... Extents, class = std::enable_if_t<sizeof...(Extents) == D &&
                                                         (std::is_integral_v<Extents> && ...)>>
    explicit array(const runtime &rt, Extents... extents);
    // The elements of a std::vector, std::array or std::span.
    template <class Range,
              class = std::enable_if_t<
                  D == 1 &&
                  std::is_convertible_v<decltype(std::declval<const Range &>().data()), const T *>>>
    array(const runtime &rt, const Range &elements) : array(rt, elements.size())
    {
        copy_from(elements.data(), elements.size());
    }
    // The elements of [first, last).
    template <class Iterator, class = typename std::iterator_traits<Iterator>::iterator_category,
              class = std::enable_if_t<D == 1 && !std::is_integral_v<Iterator>>>
    array(const runtime &rt, Iterator first, Iterator last) : array(rt, std::vector<T>(first, last))
    {
    }
    array(array &&o) noexcept { this->swap(o); }
    array &operator=(array &&o) noexcept
    {
        array old(std::move(*this));
        this->swap(o);
        return *this;
    }
    // Frees the array when the work that uses it is done, without waiting for it.
    ~array()
    {
        if (this->base_ && this->state_->rt)
            impl::settle([this] {
                impl::check(this->state_->rt, kmm_array_destroy(this->state_->rt, this->base_));
            });
    }

    // Copies `count` elements between host memory and the elements from `offset` on. copy_to waits
    // for the work that computes them, and throws what its chunks have thrown.
    void copy_from(const T *from, std::size_t count, std::size_t offset = 0)
    {
        if (is_within(count, offset))
            this->state_->check(
                kmm_copy_in(this->state_->get(), this->base_ + offset, from, count * sizeof(T)));
    }
    void copy_to(T *to, std::size_t count, std::size_t offset = 0) const
    {
        if (is_within(count, offset))
            this->state_->check(
                kmm_copy_out(this->state_->get(), to, this->base_ + offset, count * sizeof(T)));
    }
    // Copies all elements of an array of the same size and runtime.
    void copy_from(const array &other)
    {
        if (other.size() != this->size())
            throw error(KMM_E_RANGE, "arrays of different sizes");
        if (!this->empty())
            this->state_->check(
                kmm_copy(this->state_->get(), this->base_, other.base_, this->size() * sizeof(T)));
    }
    // All elements, in the order of the array, outermost dimension first.
    std::vector<T> to_vector() const
    {
        static_assert(!std::is_same_v<T, bool>,
                      "kmm: std::vector<bool> has no elements to copy to");
        std::vector<T> out(this->size());
        copy_to(out.data(), out.size());
        return out;
    }
    // Sets all elements.
    void fill(const T &value);

  private:
    friend class runtime;
    bool is_within(std::size_t count, std::size_t offset) const
    {
        if (offset > this->size() || count > this->size() - offset)
            throw error(KMM_E_RANGE, "a copy of elements that the array does not have");
        return count > 0;
    }
};

// Host memory that launches can use until the end of the scope. The host may not access it
// meanwhile, but for what update_from has brought. Memory of const elements is only read.
template <class T, unsigned D = 1> class mapped : public storage<T, D>
{
  public:
    // mapped<double, 2> m(rt, pointer, height, width)
    template <class... Extents, class = std::enable_if_t<sizeof...(Extents) == D &&
                                                         (std::is_integral_v<Extents> && ...)>>
    mapped(const runtime &rt, T *memory, Extents... extents);
    // The elements of a std::vector, std::array or std::span.
    template <class Range,
              class = std::enable_if_t<
                  D == 1 && std::is_convertible_v<decltype(std::declval<Range &>().data()), T *>>>
    mapped(const runtime &rt, Range &elements) : mapped(rt, elements.data(), elements.size())
    {
    }
    mapped(mapped &&o) noexcept { this->swap(o); }
    ~mapped()
    {
        impl::settle([this] { unmap(); });
    }
    // Ends the map: the host has the results. Throws what chunks have thrown. The destructor calls
    // it, too, but can only report an error.
    void unmap()
    {
        T *base = std::exchange(this->base_, nullptr);
        if (base && !this->empty() && this->state_->rt)
            this->state_->check(
                kmm_unmap(this->state_->rt, const_cast<std::remove_const_t<T> *>(base)));
    }
    // After update_from the host may read and write the memory; update_to then makes its values the
    // newest.
    void update_from() const { update(kmm_update_from); }
    void update_to() const { update(kmm_update_to); }

  private:
    template <class Call> void update(Call call) const
    {
        if (!this->empty())
            this->state_->check(call(this->state_->get(), this->base_, this->size() * sizeof(T)));
    }
};

// ---- What a launch does with its arguments ----

namespace impl
{
template <class T, unsigned D, unsigned N>
access<T, D> make_access(kmm_mode_t mode, const region<T, D, N> &r, kmm_op_t op = KMM_OP_ADD)
{
    static_assert(!std::is_const_v<T>, "kmm: the array is const, so that it can only be read");
    return {mode, op, r.base(), r.extents(), r.sections()};
}
} // namespace impl

// The function reads the region: read(a[i]).
template <class T, unsigned D, unsigned N> access<const T, D> read(const region<T, D, N> &r)
{
    return {KMM_READ, KMM_OP_ADD, r.base(), r.extents(), r.sections()};
}
template <class T, unsigned D> access<const T, D> read(const storage<T, D> &s)
{
    return read(s.whole());
}
// The function gives a new value to every element of the region, and does not read it before.
template <class T, unsigned D, unsigned N> access<T, D> write(const region<T, D, N> &r)
{
    return impl::make_access(KMM_WRITE, r);
}
template <class T, unsigned D> access<T, D> write(storage<T, D> &s) { return write(s.whole()); }
// The function reads and writes the region.
template <class T, unsigned D, unsigned N> access<T, D> update(const region<T, D, N> &r)
{
    return impl::make_access(KMM_UPDATE, r);
}
template <class T, unsigned D> access<T, D> update(storage<T, D> &s) { return update(s.whole()); }

// How reduce() combines.
enum class op {
    add = KMM_OP_ADD,
    multiply = KMM_OP_MUL,
    min = KMM_OP_MIN,
    max = KMM_OP_MAX,
    bit_and = KMM_OP_BAND,
    bit_or = KMM_OP_BOR,
    bit_xor = KMM_OP_BXOR,
    logical_and = KMM_OP_LAND,
    logical_or = KMM_OP_LOR
};
// The function combines values with the elements of the region by op: reduce(kmm::op::add, sum[0]).
// Chunks may work on copies that begin as the identity of op, so it uses the elements for nothing
// else.
template <class T, unsigned D, unsigned N> access<T, D> reduce(op how, const region<T, D, N> &r)
{
    static_cast<void>(impl::number_type<std::remove_const_t<T>>());
    return impl::make_access(KMM_REDUCE, r, static_cast<kmm_op_t>(how));
}
template <class T, unsigned D> access<T, D> reduce(op how, storage<T, D> &s)
{
    return reduce(how, s.whole());
}

} // namespace kmm
#endif
