/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a block as loops. kmmcc splits a kernel at its barriers. The code between two
 * barriers becomes a lambda, which `kmm_host_each` calls for every thread. A value that a thread
 * keeps across a barrier lies in `kmm_host_values`.
 *
 *     static void kmm__block(kmm_host_block &kmm__b, const float *x, float *y)
 *     {
 *         KMM_HOST_BLOCK_VALUES
 *         kmm_host_each<0>(kmm__e, kmm_host_whole(kmm__e), KMM_HOST_EACH {
 *             s[threadIdx.x] = x[threadIdx.x];
 *         });
 *         kmm_host_each<0>(kmm__e, kmm_host_whole(kmm__e), KMM_HOST_EACH {
 *             y[threadIdx.x] = s[63 - threadIdx.x];
 *         });
 *     }
 *
 * A thread that leaves the common control flow, by a branch that others do not take or by a jump,
 * waits. Its state is then the number of the statement at whose end it goes on; active threads
 * have state 0.
 */
#ifndef KMM_HOST_BLOCK_H
#define KMM_HOST_BLOCK_H

#include "kmm_flags.h"

#ifndef KMM_HOST_PARSE

enum { KMM_HOST_THREADS = 1024 }; /* maximum threads of a block */

/* A debugger finds no variable of the kernel inside of what is inlined without optimization. */
#if defined(__OPTIMIZE__) || defined(KMM_HOST_CHECKED)
#define KMM_HOST_EACH_INLINE __attribute__((__always_inline__))
#else
#define KMM_HOST_EACH_INLINE
#endif
#define KMM_HOST_EACH                                                                              \
    [&](const ::uint3 threadIdx __attribute__((__unused__)),                                       \
        const int kmm__t __attribute__((__unused__))) KMM_HOST_EACH_INLINE
/* The same lambda with the parameter kmm__small: true if unsigned counters that run along the block
 * are small (kmm_host_counted). */
#define KMM_HOST_EACH_COUNTED                                                                      \
    [&](const ::uint3 threadIdx __attribute__((__unused__)),                                       \
        const int kmm__t __attribute__((__unused__)),                                              \
        const bool kmm__small __attribute__((__unused__))) KMM_HOST_EACH_INLINE

/* Accepts types without a destructor to run: kmm never destroys a thread's values. kmmcc uses it
 * where the type depends on a template, so only the compiler can check it. */
template <class kmm_T> struct kmm_host_silent {
    static_assert(
        std::is_void<kmm_T>::value ||
            std::is_trivially_destructible<typename std::remove_all_extents<kmm_T>::type>::value,
        "a variable of this kernel template has a destructor: compile with -fkmm-fibers");
    using type = kmm_T;
};
template <class kmm_T> using kmm_host_as = typename kmm_host_silent<kmm_T>::type;
template <class kmm_T> using kmm_host_decay = typename std::decay<kmm_T>::type;

/* One value for each thread of a block. Large types lie on the heap. A thread constructs its value
 * when it reaches the declaration. Nothing is destroyed. */
template <class kmm_T> union kmm_host_slot {
    kmm_T value;
    kmm_host_slot() {}
};
template <class kmm_T, bool is_large = (sizeof(kmm_T) > 64)> struct kmm_host_values {
    kmm_host_slot<kmm_T> at[KMM_HOST_THREADS];
    kmm_host_values() {}
    KMM_HOST_INLINE kmm_T &operator[](ptrdiff_t t) { return at[t].value; }
};
template <class kmm_T> struct kmm_host_values<kmm_T, true> {
    kmm_host_slot<kmm_T> *at;
    kmm_host_values()
        : at(static_cast<kmm_host_slot<kmm_T> *>(
              kmm_host_allocate(KMM_HOST_THREADS * sizeof(kmm_T))))
    {
    }
    kmm_host_values(const kmm_host_values &) = delete;
    ~kmm_host_values() { free(at); }
    KMM_HOST_INLINE kmm_T &operator[](ptrdiff_t t) { return at[t].value; }
};

/* A local copy of one thread's value, for a loop that may change it. It is written back at the
 * loop's end without a branch, so the compiler can make vectors. */
template <class kmm_T> struct kmm_host_home {
    kmm_T kmm_value, &home;
    KMM_HOST_INLINE explicit kmm_host_home(kmm_T &at) : kmm_value(at), home(at) {}
    kmm_host_home(const kmm_host_home &) = delete;
    KMM_HOST_INLINE ~kmm_host_home() { home = kmm_value; }
};

/* The threads of a block with x0 <= x < x1 and y0 <= y < y1. */
struct kmm_host_part {
    int x0, x1, y0, y1;
    KMM_HOST_INLINE void kmm_from_x(int x) { x0 = x > x0 ? x : x0; }
    KMM_HOST_INLINE void kmm_to_x(int x) { x1 = x < x1 ? x : x1; }
    KMM_HOST_INLINE void kmm_from_y(int y) { y0 = y > y0 ? y : y0; }
    KMM_HOST_INLINE void kmm_to_y(int y) { y1 = y < y1 ? y : y1; }
};

/* gcc's ivdep also reorders a load with a stride before an earlier store of the same thread, so gcc
 * is not told of loops with KMM_HOST_CROSSED. */
#if defined(__clang__)
#define KMM_HOST_KEEPS_ORDER 0
#else
#define KMM_HOST_KEEPS_ORDER KMM_HOST_CROSSED
#endif
#if defined(__clang__)
#define KMM_HOST_NO_DEPENDENCES                                                                    \
    _Pragma("clang diagnostic ignored \"-Wpass-failed\"")                                          \
        _Pragma("clang loop vectorize(assume_safety)")
#else
#define KMM_HOST_NO_DEPENDENCES _Pragma("GCC ivdep")
#endif
/* Stands before a loop that runs at most 16 times. */
#if defined(__clang__)
#define KMM_HOST_UNROLL _Pragma("clang loop unroll(full)")
#define KMM_HOST_UNROLL_4 _Pragma("clang loop unroll_count(4)")
#else
#define KMM_HOST_UNROLL _Pragma("GCC unroll 16")
#define KMM_HOST_UNROLL_4 _Pragma("GCC unroll 4")
#endif

#ifdef KMM_HOST_RANDOM
inline uint64_t &kmm_host_random_state()
{
    static thread_local uint64_t kmm_state = 0;
    if (!kmm_state) {
        const char *seed = getenv("KMM_SEED");
        kmm_state = 0x9e3779b97f4a7c15u * (1 + strtoull(seed ? seed : "0", nullptr, 0)) | 1;
    }
    return kmm_state;
}

/* A random order of a block's threads. Each use gives another order. Runs with the same KMM_SEED
 * give the same ones. */
struct kmm_host_order {
    uint16_t at[KMM_HOST_THREADS];
    explicit kmm_host_order(uint32_t count)
    {
        uint64_t &kmm_state = kmm_host_random_state();
        for (uint32_t k = 0; k < count; k++) {
            kmm_state ^= kmm_state << 13;
            kmm_state ^= kmm_state >> 7;
            kmm_state ^= kmm_state << 17;
            const uint32_t other = (uint32_t)(kmm_state >> 33) % (k + 1);
            at[k] = at[other];
            at[other] = (uint16_t)k;
        }
    }
};
#endif

/* Returns the flags, without KMM_HOST_APART unless all types T are scalars: an object of a class
 * may point to memory that several threads use. */
template <class... kmm_T> struct kmm_host_are_scalars {
    static constexpr bool value = true;
};
template <class kmm_A, class... kmm_T> struct kmm_host_are_scalars<kmm_A, kmm_T...> {
    static constexpr bool value =
        std::is_scalar<kmm_host_decay<kmm_A>>::value && kmm_host_are_scalars<kmm_T...>::value;
};
template <class... kmm_T> constexpr int kmm_host_apart_if(int flags)
{
    return kmm_host_are_scalars<kmm_T...>::value ? flags
                                                 : flags & ~(KMM_HOST_APART | KMM_HOST_CROSSED);
}

KMM_HOST_INLINE kmm_host_part kmm_host_whole(const dim3 e)
{
    return kmm_host_part{0, (int)e.x, 0, (int)e.y};
}

template <int flags> KMM_HOST_INLINE void kmm_host_enter(uint3 t)
{
    if (flags & KMM_HOST_HELPERS)
        ::threadIdx = t;
}

#ifdef KMM_HOST_RANDOM
template <int flags, class kmm_F>
KMM_HOST_INLINE void kmm_host_each_random(const dim3 e, const kmm_host_part p, kmm_F f)
{
    const uint32_t threads = e.x * e.y * e.z;
    const kmm_host_order order(threads);
    for (uint32_t k = 0; k < threads; k++) {
        const uint32_t t = order.at[k];
        const uint3 place = {t % e.x, t / e.x % e.y, t / e.x / e.y};
        if ((int)place.x < p.x0 || (int)place.x >= p.x1 || (int)place.y < p.y0 ||
            (int)place.y >= p.y1)
            continue;
        kmm_host_enter<flags>(place);
        f(place, (int)t);
    }
}
#endif

/* Calls f for each thread of the part p of a block with the extent e, in any order: only barriers
 * order threads. With KMM_HOST_APART no thread uses what another one changes, and the compiler is
 * told so. The counters are signed, so the compiler knows that they do not wrap. */
template <int flags, class kmm_F>
KMM_HOST_INLINE void kmm_host_each(const dim3 e, const kmm_host_part p, kmm_F f)
{
#ifdef KMM_HOST_RANDOM
    kmm_host_each_random<flags>(e, p, f);
#else
    const int width = (int)e.x, height = (int)e.y;
    for (int z = 0; z < (int)e.z; z++)
        for (int y = p.y0; y < p.y1; y++) {
            const int row = (z * height + y) * width;
            if ((flags & KMM_HOST_APART) && !(flags & KMM_HOST_KEEPS_ORDER)) {
                KMM_HOST_NO_DEPENDENCES
                for (int x = p.x0; x < p.x1; x++)
                    f(uint3{(unsigned)x, (unsigned)y, (unsigned)z}, row + x);
            } else if (flags & KMM_HOST_SHORT) {
                KMM_HOST_UNROLL_4
                for (int x = p.x0; x < p.x1; x++) {
                    kmm_host_enter<flags>(uint3{(unsigned)x, (unsigned)y, (unsigned)z});
                    f(uint3{(unsigned)x, (unsigned)y, (unsigned)z}, row + x);
                }
            } else {
                for (int x = p.x0; x < p.x1; x++) {
                    kmm_host_enter<flags>(uint3{(unsigned)x, (unsigned)y, (unsigned)z});
                    f(uint3{(unsigned)x, (unsigned)y, (unsigned)z}, row + x);
                }
            }
        }
#endif
}

/*
 * An unsigned index that counts along the block may wrap to 0, and a compiler that cannot rule that
 * out makes no vectors of loads at that index. So kmmcc emits two loops. In one of them the index
 * is known to be small, and the compiler is told. Small means that three times the index, plus as
 * much again, is still within the type.
 */
template <class kmm_A> constexpr bool kmm_host_is_narrow()
{
    return std::is_integral<kmm_A>::value &&
           (sizeof(kmm_A) < sizeof(int) ||
            (sizeof(kmm_A) == sizeof(int) && std::is_unsigned<kmm_A>::value));
}
template <class kmm_A> constexpr unsigned long long kmm_host_small()
{
    return sizeof(kmm_A) == sizeof(int) ? 1ull << 30 : 1ull << (8 * sizeof(kmm_A) - 1);
}
template <class kmm_A> KMM_HOST_INLINE bool kmm_host_is_small(kmm_A first, unsigned extent)
{
    return !kmm_host_is_narrow<kmm_A>() ||
           (first >= (kmm_A)0 && (unsigned long long)first + extent <= kmm_host_small<kmm_A>());
}
template <class kmm_A> KMM_HOST_INLINE kmm_A kmm_host_counted(bool is_small, kmm_A first, int x)
{
    if (kmm_host_is_narrow<kmm_A>() && is_small) {
        const unsigned long long sum = (unsigned long long)first + (unsigned long long)x;
        if (sum >= kmm_host_small<kmm_A>()) /* one comparison of what is used: gcc forgets it then,
                                           and keeps the range */
            __builtin_unreachable();
        return (kmm_A)sum;
    }
    return (kmm_A)(first + (kmm_A)x);
}

/* Decides at run time whether an index counts up by one along the block. Needed where its type
 * depends on a template's arguments, or where it goes through narrower integers. All types must be
 * integers (A is the index's own); then the numbers of the first and the last thread tell. */
template <class... kmm_T> struct kmm_host_are_numbers {
    static constexpr bool value = true;
};
template <class kmm_A, class... kmm_T> struct kmm_host_are_numbers<kmm_A, kmm_T...> {
    typedef kmm_host_decay<kmm_A> type;
    static constexpr bool
        value = std::is_integral<type>::value && sizeof(type) > 1 &&
                sizeof(type) <= sizeof(long long) && kmm_host_are_numbers<kmm_T...>::value;
};
template <bool may, class kmm_A> struct kmm_host_counts_if {
    static KMM_HOST_INLINE bool kmm_along(kmm_A first, kmm_A last, unsigned extent)
    {
        return last >= first && (unsigned long long)last - (unsigned long long)first == extent - 1;
    }
    template <class kmm_F>
    static KMM_HOST_INLINE kmm_A at(bool is_small, kmm_A first, int x, kmm_F value)
    {
        return is_small ? kmm_host_counted(true, first, x) : value();
    }
};
template <class kmm_A> struct kmm_host_counts_if<false, kmm_A> {
    static KMM_HOST_INLINE bool kmm_along(const kmm_A &, const kmm_A &, unsigned) { return false; }
    template <class kmm_F> static KMM_HOST_INLINE kmm_A at(bool, const kmm_A &, int, kmm_F value)
    {
        return value();
    }
};
template <class kmm_A, class... kmm_T>
struct kmm_host_counts : kmm_host_counts_if<kmm_host_are_numbers<kmm_A, kmm_T...>::value, kmm_A> {
    static constexpr bool may = kmm_host_are_numbers<kmm_A, kmm_T...>::value;
};
template <class kmm_A, class kmm_F>
KMM_HOST_INLINE kmm_A kmm_host_counted_or(bool is_small, const kmm_A &first, int x, kmm_F value)
{
    return kmm_host_counts<kmm_A>::at(is_small, first, x, value);
}
KMM_HOST_INLINE uint3 kmm_host_last_place(const dim3 e) { return uint3{e.x - 1, e.y - 1, 0}; }

template <int flags, class kmm_F>
KMM_HOST_INLINE void kmm_host_each_counted(const dim3 e, const kmm_host_part p, bool is_small,
                                           kmm_F f)
{
    if (is_small)
        kmm_host_each<flags>(e, p,
                             [&](const uint3 place, const int t)
                                 __attribute__((__always_inline__)) { f(place, t, true); });
    else
        kmm_host_each<flags>(e, p,
                             [&](const uint3 place, const int t)
                                 __attribute__((__always_inline__)) { f(place, t, false); });
}

/* The same as functions of their own. Compilers need more time per loop the more loops a function
 * has. */
template <int flags, class kmm_F>
__attribute__((__noinline__)) void kmm_host_each_far(const dim3 e, const kmm_host_part p, kmm_F f)
{
    kmm_host_each<flags>(e, p, f);
}
template <int flags, class kmm_F>
__attribute__((__noinline__)) void kmm_host_each_counted_far(const dim3 e, const kmm_host_part p,
                                                             bool is_small, kmm_F f)
{
    kmm_host_each_counted<flags>(e, p, is_small, f);
}

/* The storage of shared variables in a kernel that runs a block at once. With AddressSanitizer they
 * lie on the stack, where it watches their ends; otherwise they are thread_local, which needs no
 * stack. */
#if defined(__SANITIZE_ADDRESS__)
#define KMM_HOST_SHARED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KMM_HOST_SHARED
#endif
#endif
#ifndef KMM_HOST_SHARED
#define KMM_HOST_SHARED static thread_local
#define KMM_HOST_FIBER_SHARED static thread_local
#else
#define KMM_HOST_EXACT_SHARED 1
#define KMM_HOST_FIBER_SHARED                                                                      \
    static /* whose ends are watched, other than a thread's: blocks take turns */
#endif

struct kmm_host_block {
    uint3 index;
    dim3 extent, grid;
    dim3 loop; /* the extent; with KMM_HOST_WIDE that of several blocks side by side, of which this
                  is the first */
    const char *kernel;
    uint32_t threads, kmm_active; /* how many have state 0 */
    /* range of threads with state 0, where x is the only dimension of the block; else all
     * threads */
    uint32_t first, last;
    bool has_gaps; /* some threads of that range have another state */
    uint8_t kmm_state[KMM_HOST_THREADS];

    kmm_host_block(uint3 index, dim3 extent, dim3 grid, dim3 loop, const char *kernel,
                   bool has_states)
        : index(index), extent(extent), grid(grid), loop(loop), kernel(kernel),
          threads(extent.x * extent.y * extent.z), kmm_active(threads), first(0), last(extent.x),
          has_gaps(false)
    {
        if (has_states)
            memset(kmm_state, 0, threads);
    }

    /* Makes the block of a function that the active threads of `caller` call. */
    explicit kmm_host_block(const kmm_host_block &caller)
        : index(caller.index), extent(caller.extent), grid(caller.grid), loop(caller.loop),
          kernel(caller.kernel), threads(caller.threads), kmm_active(caller.kmm_active),
          first(caller.first), last(caller.last), has_gaps(caller.has_gaps)
    {
        for (uint32_t t = 0; t < threads; t++)
            kmm_state[t] = caller.kmm_state[t] == 0 || caller.kmm_state[t] == KMM_HOST_GONE
                               ? caller.kmm_state[t]
                               : (uint8_t)KMM_HOST_OUTSIDE;
    }

    /* Calls f for the active threads of the part. */
    template <int flags, class kmm_F>
    KMM_HOST_INLINE void kmm_each_active(const dim3 e, kmm_host_part p, kmm_F f) const
    {
        p.x0 = p.x0 < (int)first ? (int)first : p.x0;
        p.x1 = p.x1 > (int)last ? (int)last : p.x1;
        if (!has_gaps) {
            kmm_host_each<flags>(e, p, f);
            return;
        }
        kmm_host_each<flags & ~KMM_HOST_APART>(
            e, p, [&](const uint3 place, const int t) __attribute__((__always_inline__)) {
                if (!kmm_state[t])
                    f(place, t);
            });
    }

    template <int flags, class kmm_F>
    KMM_HOST_INLINE void kmm_each_counted(const dim3 e, kmm_host_part p, bool is_small,
                                          kmm_F f) const
    {
        p.x0 = p.x0 < (int)first ? (int)first : p.x0;
        p.x1 = p.x1 > (int)last ? (int)last : p.x1;
        if (!has_gaps) {
            kmm_host_each_counted<flags>(e, p, is_small, f);
            return;
        }
        kmm_host_each<flags & ~KMM_HOST_APART>(
            e, p, [&](const uint3 place, const int t) __attribute__((__always_inline__)) {
                if (!kmm_state[t])
                    f(place, t, false);
            });
    }

    template <int flags, class kmm_F>
    __attribute__((__noinline__)) void each_active_far(const dim3 e, kmm_host_part p, kmm_F f) const
    {
        kmm_each_active<flags>(e, p, f);
    }
    template <int flags, class kmm_F>
    __attribute__((__noinline__)) void each_counted_far(const dim3 e, kmm_host_part p,
                                                        bool is_small, kmm_F f) const
    {
        kmm_each_counted<flags>(e, p, is_small, f);
    }

    /* For code among the program's, whose macros may have the members' names. */
    KMM_HOST_INLINE uint3 kmm_index() const { return index; }
    KMM_HOST_INLINE dim3 kmm_loop() const { return loop; }
    KMM_HOST_INLINE dim3 kmm_extent() const { return extent; }
    KMM_HOST_INLINE dim3 kmm_grid() const { return grid; }

    /* Returns the index of the block that usually runs next. */
    KMM_HOST_INLINE uint3 kmm_after() const { return uint3{index.x + 1, index.y, index.z}; }

    /* ---- Control flow ---- */

    /* Counts the active threads again. Call it after states have changed. */
    void kmm_update()
    {
        uint32_t count = 0, low = threads, high = 0;
        for (uint32_t t = 0; t < threads; t++)
            count += !kmm_state[t];
        kmm_active = count;
        first = 0;
        last = extent.x;
        has_gaps = count != threads;
        if (count == threads || extent.x != threads)
            return;
        for (low = 0; low < threads && kmm_state[low]; low++) {
        }
        for (high = threads; high > low && kmm_state[high - 1]; high--) {
        }
        first = low;
        last = high;
        has_gaps = count != high - low;
    }
    void change(uint8_t from, uint8_t to)
    {
        for (uint32_t t = 0; t < threads; t++)
            if (kmm_state[t] == from)
                kmm_state[t] = to;
    }
    /* Puts active threads into the state `rest`, and makes those in the state `next` active. */
    void kmm_turn(uint8_t next, uint8_t rest)
    {
        change(0, rest);
        change(next, 0);
        kmm_update();
    }
    /* Makes those threads active that wait in the state `waiting` and have chosen this group of
     * statements. */
    template <class kmm_Chosen> void kmm_choose(uint8_t waiting, kmm_Chosen &chosen, int group)
    {
        for (uint32_t t = 0; t < threads; t++)
            if (kmm_state[t] == waiting && chosen[t] == group)
                kmm_state[t] = 0;
        kmm_update();
    }
    void kmm_resume(uint8_t at)
    {
        change(at, 0);
        kmm_update();
    }
    void kmm_leave(uint8_t to)
    {
        change(0, to);
        kmm_update();
    }

    /* ---- Barriers ---- */

    __attribute__((__noinline__, __cold__, __noreturn__)) void diverge() const
    {
        uint32_t gone = 0;
        for (uint32_t t = 0; t < threads; t++)
            gone += kmm_state[t] == KMM_HOST_GONE;
        fprintf(
            stderr,
            "kmm: error: kernel %s, block (%u, %u, %u) hangs: %u threads wait at __syncthreads, %u "
            "have taken another branch, "
            "%u have returned\n",
            kernel, index.x, index.y, index.z, kmm_active, threads - kmm_active - gone, gone);
        abort();
    }
    void kmm_barrier() const
    {
        for (uint32_t t = 0; t < threads && kmm_active && kmm_active != threads; t++)
            if (kmm_state[t] && kmm_state[t] != KMM_HOST_GONE)
                diverge();
    }
};

#define KMM_HOST_BLOCK_VALUES                                                                      \
    const ::uint3 blockIdx __attribute__((__unused__)) = kmm__b.kmm_index();                       \
    const ::dim3 kmm__e __attribute__((__unused__)) = kmm__b.kmm_loop();                           \
    const ::dim3 blockDim __attribute__((__unused__)) = kmm__b.kmm_extent(),                       \
                          gridDim __attribute__((__unused__)) = kmm__b.kmm_grid();                 \
    const ::uint3 threadIdx                                                                        \
        __attribute__((__unused__)) = {0, 0, 0}; /* where only a type is asked for */              \
    const int kmm__t __attribute__((__unused__)) = 0;
/* The same, for a block whose size is a compile-time constant. */
#define KMM_HOST_SIZED_VALUES(x, y, z)                                                             \
    const ::uint3 blockIdx __attribute__((__unused__)) = kmm__b.kmm_index();                       \
    const ::dim3 kmm__e __attribute__((__unused__)) = ::dim3(x, y, z);                             \
    const ::dim3 blockDim __attribute__((__unused__)) = ::dim3(x, y, z),                           \
                          gridDim __attribute__((__unused__)) = kmm__b.kmm_grid();                 \
    const ::uint3 threadIdx __attribute__((__unused__)) = {0, 0, 0};                               \
    const int kmm__t __attribute__((__unused__)) = 0;

/*
 * Loop bounds from comparisons: the number of threads, from the first one on, for which `a + x < b`
 * or `a + x <= b` holds, where x is the thread's position and a the value for the first thread.
 *
 * kmm_host_exact is false if each thread must compare for itself; the number is then that of all
 * threads. That is so for an unsigned comparison where `a` is negative, for an unsigned a + x that
 * wraps, and for floating-point numbers.
 */
template <class kmm_A, class kmm_B> struct kmm_host_compares {
    static constexpr bool value =
        (std::is_arithmetic<kmm_A>::value || std::is_enum<kmm_A>::value) &&
        (std::is_arithmetic<kmm_B>::value || std::is_enum<kmm_B>::value);
};
#define KMM_HOST_IF_NUMBERS                                                                        \
    template <class kmm_A, class kmm_B,                                                            \
              typename std::enable_if<kmm_host_compares<kmm_A, kmm_B>::value, int>::type = 0>      \
    KMM_HOST_INLINE
#define KMM_HOST_IF_OTHERS                                                                         \
    template <class kmm_A, class kmm_B,                                                            \
              typename std::enable_if<!kmm_host_compares<kmm_A, kmm_B>::value, int>::type = 0>     \
    KMM_HOST_INLINE
KMM_HOST_IF_OTHERS bool kmm_host_exact(const kmm_A &, const kmm_B &, unsigned) { return false; }
KMM_HOST_IF_OTHERS int kmm_host_below(const kmm_A &, const kmm_B &, unsigned extent)
{
    return (int)extent;
}
KMM_HOST_IF_OTHERS int kmm_host_below_or_at(const kmm_A &, const kmm_B &, unsigned extent)
{
    return (int)extent;
}
KMM_HOST_IF_OTHERS int kmm_host_from(const kmm_A &, const kmm_B &, unsigned) { return 0; }
KMM_HOST_IF_OTHERS int kmm_host_from_behind(const kmm_A &, const kmm_B &, unsigned) { return 0; }
KMM_HOST_IF_NUMBERS bool kmm_host_exact(kmm_A a, kmm_B b, unsigned extent)
{
    typedef decltype(a + b) both;
    if (!std::is_integral<both>::value)
        return false;
    if (std::is_unsigned<kmm_A>::value)
        return (kmm_A)(a + (kmm_A)(extent - 1)) >= a;
    return std::is_signed<both>::value || a > 0 || a == 0;
}
KMM_HOST_IF_NUMBERS int kmm_host_below(kmm_A a, kmm_B b, unsigned extent)
{
    typedef decltype(a + b) both;
    if (!kmm_host_exact(a, b, extent))
        return (int)extent;
    if ((both)b <= (both)a)
        return 0;
    const unsigned long long more = (unsigned long long)(both)b - (unsigned long long)(both)a;
    return more < extent ? (int)more : (int)extent;
}
KMM_HOST_IF_NUMBERS int kmm_host_below_or_at(kmm_A a, kmm_B b, unsigned extent)
{
    typedef decltype(a + b) both;
    if (!kmm_host_exact(a, b, extent))
        return (int)extent;
    if ((both)b < (both)a)
        return 0;
    const unsigned long long more = (unsigned long long)(both)b - (unsigned long long)(both)a;
    return more < extent ? (int)more + 1 : (int)extent;
}
/* The complement: at which thread those begin for which the comparison does not hold. */
KMM_HOST_IF_NUMBERS int kmm_host_from(kmm_A a, kmm_B b, unsigned extent)
{
    return kmm_host_exact(a, b, extent) ? kmm_host_below(a, b, extent) : 0;
}
KMM_HOST_IF_NUMBERS int kmm_host_from_behind(kmm_A a, kmm_B b, unsigned extent)
{
    return kmm_host_exact(a, b, extent) ? kmm_host_below_or_at(a, b, extent) : 0;
}

/*
 * The loop `for (i = first + x; i < limit; i += stride)` of all threads at once. If the first
 * thread's i stays the least one all the way, the block goes on as long as the first thread does.
 * Otherwise each thread stops on its own, and the block stops when all have.
 */
struct kmm_host_strides {
    bool kmm_is_exact, is_any;
    bool *stopped;

    template <class kmm_A, class kmm_B, class kmm_S>
    KMM_HOST_INLINE kmm_host_strides(kmm_A first, kmm_B limit, kmm_S stride, const dim3 e)
        : kmm_is_exact(kmm_is_even(first, limit, stride, e)), is_any(true), stopped(nullptr)
    {
        if (!kmm_is_exact)
            stopped = static_cast<bool *>(
                memset(kmm_host_allocate((size_t)e.x * e.y * e.z), 0, (size_t)e.x * e.y * e.z));
    }
    kmm_host_strides(const kmm_host_strides &) = delete;
    ~kmm_host_strides() { free(stopped); }

    template <class kmm_A, class kmm_B, class kmm_S>
    static KMM_HOST_INLINE bool kmm_is_even(kmm_A first, kmm_B limit, kmm_S stride, const dim3 e)
    {
        return kmm_host_exact(first, limit, e.x) && has_room<kmm_A>(limit, stride, e.x);
    }

    /* True if no thread's i can wrap before it reaches the limit. */
    template <class kmm_A, class kmm_B, class kmm_S>
    static KMM_HOST_INLINE bool has_room(kmm_B limit, kmm_S stride, unsigned extent)
    {
        typedef decltype(kmm_A() + limit) both;
        if (!std::is_unsigned<kmm_A>::value && !std::is_unsigned<both>::value &&
            sizeof(kmm_A) >= sizeof(int))
            return true;
        const unsigned long long most =
            (unsigned long long)~(typename std::make_unsigned<kmm_A>::type)0 >>
            (std::is_signed<kmm_A>::value ? 1 : 0);
        return (double)stride >= 0 && (double)limit < (double)most - (double)extent -
                                                          (double)stride - (double)(most >> 48);
    }
    KMM_HOST_INLINE bool kmm_goes_on(bool is_below)
    {
        const bool more = kmm_is_exact ? is_below : is_any;
        is_any = false;
        return more;
    }
    KMM_HOST_INLINE bool kmm_runs(int thread, bool is_below)
    {
        stopped[thread] |= !is_below;
        is_any |= !stopped[thread];
        return !stopped[thread];
    }
};

/* Prefetches `count` elements from `first` on, at most 1 KiB. The processor's own prefetcher
 * guesses only after the first accesses. */
template <class kmm_T>
KMM_HOST_INLINE void kmm_host_soon(const kmm_T *p, size_t first, size_t count)
{
    const uintptr_t begin = (uintptr_t)p + first * sizeof(kmm_T); /* nothing need be there */
    const size_t bytes = count * sizeof(kmm_T) < 1024 ? count * sizeof(kmm_T) : 1024;
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch((const void *)(begin + at));
}

/* Prefetches the elements that a loop with this step reads next, while it reads `count` elements
 * from `first` on. */
template <class kmm_T>
KMM_HOST_INLINE void kmm_host_ahead(const kmm_T *p, size_t first, size_t step, size_t count)
{
    if (step > count)
        kmm_host_soon(p, first + step, count);
}

/* ---- Operations of all threads, or of those of a warp ---- */

/* __syncthreads_count, __syncthreads_and and __syncthreads_or. */
struct kmm_host_predicates {
    uint8_t holds[KMM_HOST_THREADS];
    int total, arrived;
    KMM_HOST_INLINE void kmm_put(int t, int predicate) { holds[t] = predicate != 0; }
    void kmm_join(const kmm_host_block &b)
    {
        b.kmm_barrier();
        arrived = (int)b.kmm_active;
        total = 0;
        for (uint32_t t = 0; t < b.threads; t++)
            total += !b.kmm_state[t] && holds[t];
    }
    int syncthreads_count() const { return total; }
    int syncthreads_or() const { return total > 0; }
    int syncthreads_and() const { return total == arrived; }
};

/* Ends the program: a thread's mask does not contain its own lane. */
__attribute__((__noinline__, __cold__, __noreturn__)) inline void kmm_host_lacks_lane(unsigned mask,
                                                                                      unsigned lane)
{
    fprintf(stderr,
            "kmm: a thread calls a warp operation whose mask 0x%08x lacks its own lane %u\n", mask,
            lane);
    abort();
}
KMM_HOST_INLINE unsigned kmm_host_with_lane(unsigned mask, unsigned thread)
{
    if (mask != ~0u && __builtin_expect(!(mask >> (thread & 31) & 1), 0))
        kmm_host_lacks_lane(mask, thread & 31);
    return mask;
}

/* __ballot_sync, __any_sync, __all_sync and __activemask: one bit for each lane. */
struct kmm_host_ballots {
    enum { KMM_WARP = 32, KMM_WARPS = KMM_HOST_THREADS / KMM_WARP };
    uint8_t holds[KMM_HOST_THREADS];
    unsigned word[KMM_WARPS], present[KMM_WARPS];
    KMM_HOST_INLINE void kmm_put(int t, int predicate) { holds[t] = predicate != 0; }
    /* Returns 32 bytes that are 0 or 1 as 32 bits. */
    static KMM_HOST_INLINE unsigned bits(const uint8_t *bytes)
    {
        unsigned out = 0;
        for (int k = 0; k < KMM_WARP; k += 8) {
            uint64_t eight = 0;
            for (int i = 0; i < 8; i++)
                eight |= (uint64_t)bytes[k + i] << 8 * i;
            out |= (unsigned)(eight * 0x0102040810204080u >> 56) << k;
        }
        return out;
    }
    void kmm_join(const kmm_host_block &b)
    {
        for (uint32_t w = 0; w * KMM_WARP < b.threads; w++) {
            const uint32_t first = w * KMM_WARP, count = b.threads - first < (uint32_t)KMM_WARP
                                                             ? b.threads - first
                                                             : (uint32_t)KMM_WARP;
            if (b.kmm_active == b.threads && count == KMM_WARP) {
                present[w] = ~0u;
                word[w] = bits(holds + first);
                continue;
            }
            word[w] = present[w] = 0;
            for (uint32_t k = 0; k < count; k++) {
                const unsigned here = b.kmm_state[first + k] == 0;
                present[w] |= here << k;
                word[w] |= (here & holds[first + k]) << k;
            }
        }
    }
    KMM_HOST_INLINE unsigned ballot_sync(int t, unsigned mask) const
    {
        return word[t / KMM_WARP] & kmm_host_with_lane(mask, (unsigned)t);
    }
    KMM_HOST_INLINE int any_sync(int t, unsigned mask) const
    {
        return (word[t / KMM_WARP] & kmm_host_with_lane(mask, (unsigned)t)) != 0;
    }
    KMM_HOST_INLINE int all_sync(int t, unsigned mask) const
    {
        return (word[t / KMM_WARP] & kmm_host_with_lane(mask, (unsigned)t)) ==
               (present[t / KMM_WARP] & mask);
    }
    KMM_HOST_INLINE unsigned activemask(int t) const { return present[t / KMM_WARP]; }
};

/* Shuffles whose distance is the same for all threads. The block moves the values in loops that the
 * compiler can make vectors of. */
template <class kmm_T> struct kmm_host_shuffles {
    kmm_host_values<kmm_T> value, result;
    KMM_HOST_INLINE void kmm_put(ptrdiff_t t, kmm_T v)
    {
        ::new (static_cast<void *>(&value[t])) kmm_T(v);
    }
    KMM_HOST_INLINE kmm_T kmm_get(ptrdiff_t t) { return result[t]; }
    template <class kmm_F> KMM_HOST_INLINE void move(const kmm_host_block &b, kmm_F from)
    {
        const int threads = (int)b.threads;
        for (int t = 0; t < threads; t++) {
            const int source = t / 32 * 32 + from(t % 32);
            if (!b.kmm_state[t])
                ::new (static_cast<void *>(&result[t]))
                    kmm_T(value[source < threads && !b.kmm_state[source] ? source : t]);
        }
    }
    /* True if all lanes are active and CUDA allows the width: then the values move between adjacent
     * places. */
    static KMM_HOST_INLINE bool kmm_is_even(const kmm_host_block &b, int by, int width)
    {
        return b.kmm_active == b.threads && b.threads % 32 == 0 && width > 0 && width <= 32 &&
               (width & (width - 1)) == 0 && by >= 0 && by < width;
    }
    KMM_HOST_INLINE void copy(int to, int from)
    {
        ::new (static_cast<void *>(&result[to])) kmm_T(value[from]);
    }
    template <int bits> KMM_HOST_INLINE void swap(int threads)
    {
        for (int first = 0; first < threads; first += 2 * bits)
            for (int k = 0; k < bits; k++) {
                copy(first + k, first + bits + k);
                copy(first + bits + k, first + k);
            }
    }
    KMM_HOST_INLINE void shfl_sync(const kmm_host_block &b, int lane, int width = 32)
    {
        const int threads = (int)b.threads, source = lane & (width - 1);
        if (!kmm_is_even(b, source, width)) {
            move(b, [=](int own) __attribute__((__always_inline__)) {
                return (own & ~(width - 1)) + source;
            });
            return;
        }
        for (int first = 0; first < threads; first += width)
            for (int k = 0; k < width; k++)
                copy(first + k, first + source);
    }
    KMM_HOST_INLINE void shfl_up_sync(const kmm_host_block &b, int by, int width = 32)
    {
        const int threads = (int)b.threads;
        if (!kmm_is_even(b, by, width)) {
            move(b, [=](int own) __attribute__((__always_inline__)) {
                return (unsigned)by > 31 || own - by < (own & ~(width - 1)) ? own : own - by;
            });
            return;
        }
        for (int t = by; t < threads; t++)
            copy(t, t - by);
        for (int first = 0; first < threads; first += width)
            for (int k = 0; k < by; k++)
                copy(first + k, first + k);
    }
    KMM_HOST_INLINE void shfl_down_sync(const kmm_host_block &b, int by, int width = 32)
    {
        const int threads = (int)b.threads;
        if (!kmm_is_even(b, by, width)) {
            move(b, [=](int own) __attribute__((__always_inline__)) {
                return (unsigned)by > 31 || own + by >= (own & ~(width - 1)) + width ? own
                                                                                     : own + by;
            });
            return;
        }
        for (int t = 0; t < threads - by; t++)
            copy(t, t + by);
        for (int first = width - by; first < threads; first += width)
            for (int k = 0; k < by; k++)
                copy(first + k, first + k);
    }
    KMM_HOST_INLINE void shfl_xor_sync(const kmm_host_block &b, int bits, int width = 32)
    {
        const int threads = (int)b.threads;
        const bool is_even_here = kmm_is_even(b, bits, width);
        if (is_even_here && bits == 1)
            swap<1>(threads);
        else if (is_even_here && bits == 2)
            swap<2>(threads);
        else if (is_even_here && bits == 4)
            swap<4>(threads);
        else if (is_even_here && bits == 8)
            swap<8>(threads);
        else if (is_even_here && bits == 16)
            swap<16>(threads);
        else
            move(b, [=](int own) __attribute__((__always_inline__)) {
                return (own ^ bits) >= (own & ~(width - 1)) + width ? own : own ^ bits;
            });
    }
};

/* An operation of warps: the value and the mask that each lane contributes, and which lanes do. */
template <class kmm_T> struct kmm_host_exchange {
    enum { KMM_WARP = 32, KMM_WARPS = KMM_HOST_THREADS / KMM_WARP };
    kmm_host_values<kmm_T> value;
    unsigned mask[KMM_HOST_THREADS];
    int operand[KMM_HOST_THREADS], width[KMM_HOST_THREADS];
    unsigned present[KMM_WARPS], folded_of[KMM_WARPS];
    bool is_folded[KMM_WARPS];
    kmm_host_values<kmm_T> folded;

    KMM_HOST_INLINE void kmm_put(uint32_t t, unsigned m, kmm_T v, int o = 0, int w = KMM_WARP)
    {
        ::new (static_cast<void *>(&value[t])) kmm_T(v);
        mask[t] = m;
        operand[t] = o;
        width[t] = w;
    }
    void kmm_join(const kmm_host_block &b)
    {
        for (uint32_t w = 0; w * KMM_WARP < b.threads; w++) {
            present[w] = 0;
            is_folded[w] = false;
            for (uint32_t k = 0; k < KMM_WARP && w * KMM_WARP + k < b.threads; k++)
                present[w] |= b.kmm_state[w * KMM_WARP + k] ? 0u : 1u << k;
        }
    }
    KMM_HOST_INLINE kmm_T from(uint32_t t, int lane)
    {
        const uint32_t source = t / KMM_WARP * KMM_WARP + (uint32_t)lane;
        return present[t / KMM_WARP] >> lane & 1 ? value[source] : value[t];
    }
    KMM_HOST_INLINE kmm_T shfl_sync(uint32_t t)
    {
        const int lane = (int)(t % KMM_WARP), w = width[t];
        return from(t, (lane & ~(w - 1)) + (operand[t] & (w - 1)));
    }
    KMM_HOST_INLINE kmm_T shfl_up_sync(uint32_t t)
    {
        const int lane = (int)(t % KMM_WARP), source = lane - operand[t];
        return from(t, source < (lane & ~(width[t] - 1)) ? lane : source);
    }
    KMM_HOST_INLINE kmm_T shfl_down_sync(uint32_t t)
    {
        const int lane = (int)(t % KMM_WARP), source = lane + operand[t];
        return from(t, source >= (lane & ~(width[t] - 1)) + width[t] ? lane : source);
    }
    KMM_HOST_INLINE kmm_T shfl_xor_sync(uint32_t t)
    {
        const int lane = (int)(t % KMM_WARP), source = lane ^ operand[t];
        return from(t, source >= (lane & ~(width[t] - 1)) + width[t] ? lane : source);
    }
    unsigned group(uint32_t t) const
    {
        return present[t / KMM_WARP] & kmm_host_with_lane(mask[t], t);
    }

    template <class kmm_F> unsigned lanes_where(uint32_t t, kmm_F holds)
    {
        unsigned all = group(t), out = 0;
        for (uint32_t k = 0; k < KMM_WARP; k++)
            out |= all >> k & 1 && holds(value[t / KMM_WARP * KMM_WARP + k]) ? 1u << k : 0;
        return out;
    }
    unsigned match_any_sync(uint32_t t)
    {
        const kmm_T own = value[t];
        return lanes_where(t,
                           [&own](const kmm_T &v) { return memcmp(&v, &own, sizeof(kmm_T)) == 0; });
    }
    unsigned match_all_sync(uint32_t t, int *same)
    {
        *same = match_any_sync(t) == group(t);
        return *same ? group(t) : 0;
    }

    /* Folds the values of the lanes. The lanes of a warp usually ask for the same result, so it is
     * kept. */
    template <class kmm_F> kmm_T reduce(uint32_t t, kmm_F fold)
    {
        const uint32_t w = t / KMM_WARP;
        const unsigned all = group(t);
        if (is_folded[w] && folded_of[w] == all)
            return folded[w];
        kmm_T result = value[t];
        bool any = false;
        for (uint32_t k = 0; k < KMM_WARP; k++)
            if (all >> k & 1) {
                result = any ? fold(result, value[w * KMM_WARP + k]) : value[w * KMM_WARP + k];
                any = true;
            }
        is_folded[w] = true;
        folded_of[w] = all;
        return folded[w] = result;
    }
    kmm_T reduce_add_sync(uint32_t t)
    {
        return reduce(t, [](kmm_T a, kmm_T b) { return (kmm_T)(a + b); });
    }
    kmm_T reduce_min_sync(uint32_t t)
    {
        return reduce(t, [](kmm_T a, kmm_T b) { return b < a ? b : a; });
    }
    kmm_T reduce_max_sync(uint32_t t)
    {
        return reduce(t, [](kmm_T a, kmm_T b) { return a < b ? b : a; });
    }
    kmm_T reduce_and_sync(uint32_t t)
    {
        return reduce(t, [](kmm_T a, kmm_T b) { return (kmm_T)(a & b); });
    }
    kmm_T reduce_or_sync(uint32_t t)
    {
        return reduce(t, [](kmm_T a, kmm_T b) { return (kmm_T)(a | b); });
    }
    kmm_T reduce_xor_sync(uint32_t t)
    {
        return reduce(t, [](kmm_T a, kmm_T b) { return (kmm_T)(a ^ b); });
    }
};

#endif
#endif
