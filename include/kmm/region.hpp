// SPDX-License-Identifier: Apache-2.0
// The parts of arrays that launches of kmm/kmm.hpp name, as indices of axes, and what the function
// that is launched sees of them.
#ifndef KMM_REGION_HPP
#define KMM_REGION_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "launch.h"

namespace kmm
{

// A failed call. code() is a number of kmm/error.h, what() the text of kmm_error_text.
class error : public std::runtime_error
{
  public:
    error(int code, const std::string &text) : std::runtime_error(text), code_(code) {}
    int code() const noexcept { return code_; }

  private:
    int code_;
};

// ---- Indices: sums of axes times constants ----

// A dimension of a launch, with the indices [lower, upper). A copy is the same axis.
class axis
{
  public:
    explicit axis(std::int64_t length) : axis(0, length) {}
    axis(std::int64_t lower, std::int64_t upper) : lower_(lower), upper_(upper), id_(next_id()) {}
    std::int64_t lower() const noexcept { return lower_; }
    std::int64_t upper() const noexcept { return upper_; }
    std::uint64_t id() const noexcept { return id_; }

  private:
    static std::uint64_t next_id() noexcept
    {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
    }
    std::int64_t lower_, upper_;
    std::uint64_t id_;
};

// An index: a constant plus axes times coefficients, as in 2 * i + j - 1. Arithmetic that leaves 64
// bits throws KMM_E_RANGE.
class affine
{
  public:
    affine(std::int64_t constant) : constant_(constant) {}
    affine(const axis &a) : count_(1) { terms_[0] = {a.id(), 1}; }
    std::int64_t constant() const noexcept { return constant_; }
    // Returns the coefficient of an axis.
    std::int64_t of(const axis &a) const noexcept
    {
        for (unsigned k = 0; k < count_; k++)
            if (terms_[k].id == a.id())
                return terms_[k].coefficient;
        return 0;
    }
    // True if it has no other axes than these.
    bool is_over(const std::vector<axis> &axes) const noexcept
    {
        for (unsigned k = 0; k < count_; k++) {
            bool found = terms_[k].coefficient == 0;
            for (const axis &a : axes)
                found = found || a.id() == terms_[k].id;
            if (!found)
                return false;
        }
        return true;
    }
    // Adds `factor` times another index.
    affine plus(const affine &other, std::int64_t factor) const
    {
        affine sum = *this;
        sum.constant_ = added(constant_, other.constant_, factor);
        for (unsigned k = 0; k < other.count_; k++)
            sum.add(other.terms_[k].id, added(0, other.terms_[k].coefficient, factor));
        return sum;
    }

  private:
    struct term {
        std::uint64_t id;
        std::int64_t coefficient;
    };
    static std::int64_t added(std::int64_t a, std::int64_t b, std::int64_t factor)
    {
        std::int64_t product, sum;
        if (__builtin_mul_overflow(b, factor, &product) || __builtin_add_overflow(a, product, &sum))
            throw error(KMM_E_RANGE, "an index does not fit in 64 bits");
        return sum;
    }
    void add(std::uint64_t id, std::int64_t coefficient)
    {
        for (unsigned k = 0; k < count_; k++)
            if (terms_[k].id == id) {
                terms_[k].coefficient = added(terms_[k].coefficient, coefficient, 1);
                return;
            }
        if (count_ == KMM_MAX_AXES)
            throw error(KMM_E_INVALID, "an index of too many axes");
        terms_[count_++] = {id, coefficient};
    }
    std::int64_t constant_ = 0;
    unsigned count_ = 0;
    term terms_[KMM_MAX_AXES] = {};
};

inline affine operator+(const affine &a, const affine &b) { return a.plus(b, 1); }
inline affine operator-(const affine &a, const affine &b) { return a.plus(b, -1); }
inline affine operator-(const affine &a) { return affine(0).plus(a, -1); }
inline affine operator*(const affine &a, std::int64_t factor) { return affine(0).plus(a, factor); }
template <class T> affine operator/(const affine &a, const T &)
{
    static_assert(sizeof(T) == 0, "kmm: an index is a sum of axes times numbers, without a "
                                  "quotient: let an index j of a shorter axis stand for n "
                                  "elements, as a[kmm::range(n * j, n * j + n)]");
    return a;
}
inline affine operator*(std::int64_t factor, const affine &a) { return a * factor; }

// Where parts of an array begin, as the rows of a matrix in CSR form: part k has the elements
// [at[k], at[k + 1]). They are not copied.
struct offsets {
    const void *at;
    kmm_type_t type;
    std::int64_t count;
};

// The indices of one dimension that a region has: one, [lower, upper), all, or those of parts.
class section
{
  public:
    section() : lower_(0), length_(0), is_all_(true) {}
    section(const affine &lower, const affine &length)
        : lower_(lower), length_(length), is_all_(false)
    {
    }
    section(const section &numbers, const kmm::offsets &o) : section(numbers) { offsets_ = o; }
    const affine &lower() const noexcept { return lower_; }
    const affine &length() const noexcept { return length_; }
    bool is_all() const noexcept { return is_all_; }
    const kmm::offsets &offsets() const noexcept { return offsets_; }

  private:
    affine lower_, length_;
    bool is_all_;
    kmm::offsets offsets_{};
};

// All indices of a dimension: m[i][kmm::all].
struct all_indices {
};
inline constexpr all_indices all{};

// The indices [lower, upper): a[kmm::range(i - 1, i + 2)].
inline section range(const affine &lower, const affine &upper)
{
    return section(lower, upper - lower);
}

// The elements of one part, or of several: val[kmm::part(rowptr, i)] are those from rowptr[i] on,
// before rowptr[i + 1]. `offsets` is a container of integers of 32 or 64 bits that lie one behind
// the other, such as a std::vector. It stays as it is until run() has returned.
template <class C> section part(const C &offsets, const section &numbers)
{
    using T = std::remove_cv_t<std::remove_reference_t<decltype(*std::data(offsets))>>;
    static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                  "kmm: offsets are integers of 32 or 64 bits");
    constexpr kmm_type_t type = sizeof(T) == 4        ? std::is_signed_v<T> ? KMM_INT32 : KMM_UINT32
                                : std::is_signed_v<T> ? KMM_INT64
                                                      : KMM_UINT64;
    return {numbers, {std::data(offsets), type, static_cast<std::int64_t>(std::size(offsets))}};
}
template <class C> section part(const C &offsets, const affine &number)
{
    return part(offsets, section(number, affine(1)));
}
template <class C> void part(const C &&, const section &) = delete; // offsets that end before run()
template <class C> void part(const C &&, const affine &) = delete;

namespace impl
{
// What a launch takes only inside of read() and the like.
struct no_argument {
};
} // namespace impl

// A part of an array: N of its D dimensions have a section, outermost first; the others are whole.
template <class T, unsigned D, unsigned N> class region : public impl::no_argument
{
  public:
    region(T *base, const std::array<std::int64_t, D> &extents) : base_(base), extents_(extents) {}
    template <unsigned M>
    region(const region<T, D, M> &outer, const section &inner)
        : base_(outer.base()), extents_(outer.extents()), sections_(outer.sections())
    {
        static_assert(N == M + 1 && N <= D, "an array has no more indices than dimensions");
        sections_[M] = inner;
    }
    region<T, D, N + 1> operator[](const affine &index) const
    {
        return {*this, section(index, affine(1))};
    }
    region<T, D, N + 1> operator[](const section &indices) const { return {*this, indices}; }
    region<T, D, N + 1> operator[](all_indices) const { return {*this, section()}; }
    T *base() const noexcept { return base_; }
    const std::array<std::int64_t, D> &extents() const noexcept { return extents_; }
    const std::array<section, D> &sections() const noexcept { return sections_; }

  private:
    T *base_;
    std::array<std::int64_t, D> extents_;
    std::array<section, D> sections_;
};

// ---- What a function gets ----

// The part of the axes that one call of the function has. Axis k is the k-th of parallel().
class chunk
{
  public:
    // For range-for.
    class index_range
    {
      public:
        class iterator
        {
          public:
            using iterator_category = std::input_iterator_tag;
            using value_type = std::int64_t;
            using difference_type = std::int64_t;
            using pointer = const std::int64_t *;
            using reference = std::int64_t;
            explicit iterator(std::int64_t at) noexcept : at_(at) {}
            std::int64_t operator*() const noexcept { return at_; }
            iterator &operator++() noexcept
            {
                ++at_;
                return *this;
            }
            iterator operator++(int) noexcept { return iterator(at_++); }
            bool operator==(const iterator &o) const noexcept { return at_ == o.at_; }
            bool operator!=(const iterator &o) const noexcept { return at_ != o.at_; }

          private:
            std::int64_t at_;
        };
        index_range(std::int64_t begin, std::int64_t end) noexcept : begin_(begin), end_(end) {}
        iterator begin() const noexcept { return iterator(begin_); }
        iterator end() const noexcept { return iterator(end_); }

      private:
        std::int64_t begin_, end_;
    };

    explicit chunk(const kmm_chunk_t &c) noexcept : c_(c) {}
    std::int64_t begin(unsigned k = 0) const noexcept { return c_.begin[k]; }
    std::int64_t end(unsigned k = 0) const noexcept { return c_.end[k]; }
    std::int64_t size(unsigned k = 0) const noexcept { return end(k) - begin(k); }
    // The chunk's indices of axis k: for (std::int64_t i : c.indices()).
    index_range indices(unsigned k = 0) const noexcept { return {begin(k), end(k)}; }

  private:
    kmm_chunk_t c_;
};

// An array as a function sees it. Indices are those of the whole array; only elements of the
// regions that the launch names may be used. Converts to a pointer to element 0.
template <class T, unsigned D> class view
{
  public:
    view() = default;
    view(T *data, const std::int64_t *extents) noexcept : data_(data)
    {
        for (unsigned k = 0; k < D; k++)
            extents_[k] = extents[k];
    }
    decltype(auto) operator[](std::int64_t index) const noexcept
    {
        if constexpr (D == 1) {
            return (data_[index]);
        } else {
            std::int64_t row = 1;
            for (unsigned k = 1; k < D; k++)
                row *= extents_[k];
            return view<T, D - 1>(data_ + index * row, extents_ + 1);
        }
    }
    T *data() const noexcept { return data_; }
    operator T *() const noexcept { return data_; }
    std::int64_t extent(unsigned k = 0) const noexcept { return extents_[k]; }

  private:
    T *data_;
    std::int64_t extents_[D];
};

// What a launch does to a region: the argument that the function gets as a view.
template <class T, unsigned D> struct access {
    kmm_mode_t mode;
    kmm_op_t op; // of KMM_REDUCE
    T *base;
    std::array<std::int64_t, D> extents;
    std::array<section, D> sections;
};

} // namespace kmm
#endif
