/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels and launches as kmmcc rewrites them. A kernel keeps its name and signature. Its body
 * moves into a function `kmm__thread` of a local struct, so that its template parameters stay in
 * scope:
 *
 *     __global__ void k(int n, float *x)
 *     {
 *         struct kmm__kernel {
 *             static KMM_HOST_INLINE void kmm__thread(KMM_HOST_INDEX, int n, float *x) { ... }
 *         };
 *         kmm_host_launch<kmm__kernel, KMM_HOST_PLAIN>(n, x);
 *     }
 *
 * and `k<<<grid, block>>>(n, x)` becomes `(kmm_host_configure(grid, block), k(n, x))`.
 */
#ifndef KMM_HOST_LAUNCH_H
#define KMM_HOST_LAUNCH_H

#include <type_traits>

#include "../cuda_api.h"
#include "../fiber.h"
#include "../launch.h"
#include "kmm_flags.h"

typedef struct CUstream_st *cudaStream_t;

#ifdef KMM_HOST_PARSE
extern const __attribute__((device)) uint3 threadIdx, blockIdx;
extern const __attribute__((device)) dim3 blockDim, gridDim;
int cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                                cudaStream_t stream = 0);
#else
/* The index variables for functions that kernels call. They are set before each thread runs, if a
 * function of the file reads them. In a kernel itself, parameters of the same names hide them. */
#if __cplusplus >= 201703L
#define KMM_HOST_VARIABLE inline thread_local
#else
#define KMM_HOST_VARIABLE __attribute__((__weak__)) thread_local
#endif
KMM_HOST_VARIABLE uint3 threadIdx, blockIdx;
KMM_HOST_VARIABLE dim3 blockDim, gridDim;
KMM_HOST_VARIABLE void
    /* the dynamic shared memory of the block that this thread of the CPU runs */
    *kmm_host_shared_base;
#endif

#define KMM_HOST_INLINE inline __attribute__((__always_inline__))
/* Under -fkmm-check, kernels are compiled twice: with gcc's calls before each access, and without
 * them, for chunks that are proven to need none. Only what is inlined has no calls then. */
#ifdef KMM_HOST_CHECKED
#define KMM_HOST_BODY KMM_HOST_INLINE
#define KMM_HOST_UNCHECKED __attribute__((__no_sanitize_thread__))
#else
#define KMM_HOST_BODY
#endif
#define KMM_HOST_INDEX                                                                             \
    const ::uint3 threadIdx __attribute__((__unused__)),                                           \
        const ::uint3 blockIdx __attribute__((__unused__)),                                        \
        const ::dim3 blockDim __attribute__((__unused__)),                                         \
        const ::dim3 gridDim __attribute__((__unused__))

/* KMM_HOST_DYNAMIC is the limit of a kernel's shared memory, static and dynamic together, unless
 * cudaFuncSetAttribute raises it. KMM_HOST_DYNAMIC_MOST is the highest limit. */
enum : unsigned {
    KMM_HOST_DYNAMIC = 48 << 10,
    KMM_HOST_DYNAMIC_MOST = 227 << 10,
    KMM_HOST_MOST_THREADS = 1024
};
struct kmm_host_asked {
    unsigned bound;  /* maximum threads of a block */
    size_t shared;   /* bytes of shared memory that the kernel and the functions it calls declare */
    size_t *dynamic; /* limit of the dynamic shared memory of a launch, in bytes */
};

#ifndef KMM_HOST_PARSE
/* ---- A launch ---- */

struct kmm_host_configuration {
    kmm_geometry_t geometry;
    bool given;
};
inline kmm_host_configuration &kmm_host_configured()
{
    static thread_local kmm_host_configuration c;
    return c;
}

inline void kmm_host_configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0)
{
    kmm_geometry_t g = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream};
    kmm_host_configured().geometry = g;
    kmm_host_configured().given = true;
}

/* The dynamic shared memory of the running block, as an array of T. */
template <class kmm_T> struct kmm_host_shared {
    operator kmm_T *() const { return static_cast<kmm_T *>(kmm_host_shared_base); }
    kmm_T &operator[](size_t k) const { return static_cast<kmm_T *>(kmm_host_shared_base)[k]; }
};

inline void *kmm_host_allocate(size_t bytes)
{
    void *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!p) {
        fprintf(stderr, "kmm: out of memory for %zu bytes of a block's variables\n", bytes);
        abort();
    }
    return p;
}

#endif
#include "kmm_block.h"
#ifndef KMM_HOST_PARSE
#ifdef KMM_HOST_EXACT_SHARED
#include <mutex>
#endif

/* ---- Blocks ---- */

struct kmm_host_arena {
    void *base = nullptr;
    size_t bytes = 0;
    void *get(size_t wanted)
    {
#if defined(KMM_HOST_EXACT_SHARED)
        if (wanted != bytes) { /* exact size, so that AddressSanitizer watches the end */
            free(base);
            base = malloc(wanted);
            bytes = wanted;
        }
        return base;
#endif
        if (wanted > bytes) {
            free(base);
            base = kmm_host_allocate(wanted);
            bytes = wanted;
        }
        return base;
    }
    ~kmm_host_arena() { free(base); }
};

template <size_t... k> struct kmm_host_indices {
};
template <size_t n, size_t... k> struct kmm_host_count : kmm_host_count<n - 1, n - 1, k...> {
};
template <size_t... k> struct kmm_host_count<0, k...> {
    typedef kmm_host_indices<k...> type;
};

/* Runs a block's threads one after another, or as fibers. */
template <class kmm_Body, int flags, class... kmm_P> struct kmm_host_threads {
    uint3 block_index;
    dim3 block_extent, grid_extent;
    void **args;

    typedef typename kmm_host_count<sizeof...(kmm_P)>::type all;

    static KMM_HOST_INLINE void set(uint3 t, uint3 b, dim3 bd, dim3 gd)
    {
        ::threadIdx = t;
        ::blockIdx = b;
        ::blockDim = bd;
        ::gridDim = gd;
    }

    /* The parameters are values of this function, so the compiler knows that nothing changes them.
     */
    static KMM_HOST_INLINE void plain_block(uint3 b, dim3 bd, dim3 gd, const kmm_P... p)
    {
        for (unsigned z = 0; z < bd.z; z++)
            for (unsigned y = 0; y < bd.y; y++)
                for (unsigned x = 0; x < bd.x; x++) {
                    if (flags & KMM_HOST_HELPERS)
                        set(uint3{x, y, z}, b, bd, gd);
                    kmm_Body::kmm__thread(uint3{x, y, z}, b, bd, gd, p...);
                }
    }

    uint3 place(uint32_t t) const
    {
        return uint3{t % block_extent.x, t / block_extent.x % block_extent.y,
                     t / block_extent.x / block_extent.y};
    }

    template <size_t... k> void one(uint32_t t, kmm_host_indices<k...>)
    {
        kmm_Body::kmm__thread(place(t), block_index, block_extent, grid_extent,
                              *static_cast<const kmm_P *>(args[k])...);
    }
    static void fiber_thread(void *self, uint32_t t)
    {
        static_cast<kmm_host_threads *>(self)->one(t, all());
    }
    static void fiber_resume(void *self, uint32_t t)
    {
        kmm_host_threads *r = static_cast<kmm_host_threads *>(self);
        set(r->place(t), r->block_index, r->block_extent, r->grid_extent);
    }

    static void fibers(uint3 b, dim3 bd, dim3 gd, void **args)
    {
        kmm_host_threads r = {b, bd, gd, args};
        kmm_fiber_block_t block = {kmm_Body::kmm__name(),
                                   {b.x, b.y, b.z},
                                   bd.x * bd.y * bd.z,
                                   fiber_thread,
                                   flags & KMM_HOST_HELPERS ? fiber_resume : nullptr,
                                   &r};
#ifdef KMM_HOST_EXACT_SHARED
        static std::mutex turn;
        std::lock_guard<std::mutex> lock(turn);
#endif
#ifdef KMM_HOST_RANDOM
        kmm_fiber_run_random(&block, &kmm_host_random_state());
#else
        kmm_fiber_run(&block);
#endif
    }

    template <size_t... k>
    static KMM_HOST_INLINE void block(uint3 b, dim3 bd, dim3 gd, dim3, void **args,
                                      kmm_host_indices<k...>)
    {
        if (flags & KMM_HOST_SYNC)
            fibers(b, bd, gd, args);
        else
            plain_block(b, bd, gd, *static_cast<const kmm_P *>(args[k])...);
    }
};

/* Runs a block at once. Uses the function for blocks of its size if there is one. */
template <class kmm_Body, bool is_sized> struct kmm_host_sized {
    template <class... kmm_P> static KMM_HOST_INLINE void run(kmm_host_block &b, const kmm_P &...p)
    {
        if (b.extent.x == kmm_Body::kmm__x && b.extent.y == kmm_Body::kmm__y &&
            b.extent.z == kmm_Body::kmm__z)
            kmm_Body::kmm__sized(b, p...);
        else
            kmm_Body::kmm__block(b, p...);
    }
};
template <class kmm_Body> struct kmm_host_sized<kmm_Body, false> {
    template <class... kmm_P> static KMM_HOST_INLINE void run(kmm_host_block &b, const kmm_P &...p)
    {
        kmm_Body::kmm__block(b, p...);
    }
};

/* Runs a kernel that was split at its barriers, a block at a time. */
template <class kmm_Body, int flags, class... kmm_P> struct kmm_host_split {
    template <size_t... k>
    static KMM_HOST_BODY void block(uint3 b, dim3 bd, dim3 gd, dim3 loop, void **args,
                                    kmm_host_indices<k...>)
    {
        if (flags & KMM_HOST_HELPERS) {
            ::blockIdx = b;
            ::blockDim = bd;
            ::gridDim = gd;
        }
        kmm_host_block state(b, bd, gd, loop, kmm_Body::kmm__name(),
                             (flags & KMM_HOST_STATES) != 0);
        kmm_host_sized<kmm_Body, (flags & KMM_HOST_SIZED) != 0>::run(
            state, *static_cast<const kmm_P *>(args[k])...);
    }
};

/* Returns how many adjacent blocks of a row run as one wide block: as many as keep what a block
 * uses in the cache. */
inline uint64_t kmm_host_side_by_side(dim3 block, uint64_t left, uint64_t in_row)
{
#ifdef KMM_HOST_RANDOM
    return 1;
#endif
    const uint64_t most = (block.y * block.z > 1 ? 4096u : 65536u) / block.x,
                   count = left < in_row ? left : in_row;
    return most < 1 ? 1 : most < count ? most : count;
}

template <class kmm_Body, int flags, class... kmm_P> struct kmm_host_runner {
    typedef typename kmm_host_count<sizeof...(kmm_P)>::type all;
    typedef typename std::conditional<(flags & KMM_HOST_BLOCK) != 0,
                                      kmm_host_split<kmm_Body, flags, kmm_P...>,
                                      kmm_host_threads<kmm_Body, flags, kmm_P...>>::type runner;

    static void run(const kmm_host_blocks_t *range, void **args) { blocks(range, args); }
#ifdef KMM_HOST_CHECKED
    static KMM_HOST_UNCHECKED void run_unchecked(const kmm_host_blocks_t *range, void **args)
    {
        blocks(range, args);
    }
#endif

    static KMM_HOST_INLINE void blocks(const kmm_host_blocks_t *range, void **args)
    {
        static thread_local kmm_host_arena arena;
        const dim3 bd(range->block[0], range->block[1], range->block[2]),
            gd(range->grid[0], range->grid[1], range->grid[2]);
        if ((uint64_t)bd.x * bd.y * bd.z > KMM_HOST_THREADS) {
            fprintf(stderr,
                    "kmm: error: kernel %s has blocks of %u x %u x %u threads, at most %d are "
                    "possible\n",
                    kmm_Body::kmm__name(), bd.x, bd.y, bd.z, (int)KMM_HOST_THREADS);
            abort();
        }
        kmm_host_shared_base = range->shared_bytes ? arena.get(range->shared_bytes) : nullptr;
        uint64_t count = 1;
        for (uint64_t n = range->first; n < range->last; n += count) {
            const uint64_t column = n % range->count[0], row = n / range->count[0];
            const uint3 b = {(unsigned)(range->offset[0] + column),
                             (unsigned)(range->offset[1] + row % range->count[1]),
                             (unsigned)(range->offset[2] + row / range->count[1])};
            if (flags & KMM_HOST_WIDE)
                count = kmm_host_side_by_side(bd, range->last - n, range->count[0] - column);
            runner::block(b, bd, gd, dim3((unsigned)(bd.x * count), bd.y, bd.z), args, all());
        }
    }
};

/* True if the program has memory that host and kernels both use. libkmm cannot order accesses to
 * it. */
inline bool &kmm_host_has_common_memory()
{
    static bool has = false;
    return has;
}

/* The type of a parameter's value. gcc takes a restricted pointer for a different type. */
template <class kmm_T> struct kmm_host_value {
    typedef kmm_T type;
};
template <class kmm_T> struct kmm_host_value<kmm_T *__restrict__> {
    typedef kmm_T *type;
};

/* True if T is a pointer to, or an object of, a type that may hold pointers: a pointer or a class.
 */
template <class kmm_T> struct kmm_host_nests {
    static constexpr bool value = std::is_class<kmm_T>::value;
};
template <class kmm_T> struct kmm_host_nests<kmm_T *> {
    static constexpr bool value = std::is_pointer<kmm_T>::value || std::is_class<kmm_T>::value;
};
inline constexpr bool kmm_host_any() { return false; }
template <class... kmm_T> inline constexpr bool kmm_host_any(bool first, kmm_T... others)
{
    return first || kmm_host_any(others...);
}

/* Where a kernel that is being asked about itself (kmm_host_ask) puts its answers; nullptr while
 * kernels run normally. */
inline kmm_host_asked *&kmm_host_asking()
{
    static thread_local kmm_host_asked *asking = nullptr;
    return asking;
}

/* Launches the kernel with the configuration that was set last, and consumes it. Errors are printed
 * and recorded, since a launch has no result. */
template <class kmm_Body, int flags, class... kmm_P> inline void kmm_host_launch(kmm_P &...p)
{
    static const uint32_t bytes[sizeof...(kmm_P) + 1] = {(uint32_t)sizeof(kmm_P)...};
    typedef kmm_host_runner<kmm_Body, flags,
                            typename kmm_host_value<typename std::remove_cv<kmm_P>::type>::type...>
        runner;
#ifdef KMM_HOST_CHECKED
    static const kmm_kernel_t unchecked = {KMM_LAUNCH_VERSION,
                                           KMM_KIND_HOST,
                                           kmm_Body::kmm__name(),
                                           &runner::run_unchecked,
                                           nullptr,
                                           (uint32_t)sizeof...(kmm_P),
                                           bytes,
                                           0,
                                           nullptr};
    static const kmm_kernel_t *const whole = &unchecked;
#else
    static const kmm_kernel_t *const whole = nullptr;
#endif
    static const kmm_kernel_t kernel = {KMM_LAUNCH_VERSION,
                                        KMM_KIND_HOST,
                                        kmm_Body::kmm__name(),
                                        &runner::run,
                                        nullptr,
                                        (uint32_t)sizeof...(kmm_P),
                                        bytes,
                                        0,
                                        whole};
    static size_t dynamic =
        kmm_Body::kmm__shared() < KMM_HOST_DYNAMIC ? KMM_HOST_DYNAMIC - kmm_Body::kmm__shared() : 0;
    if (kmm_host_asked *asked = kmm_host_asking()) {
        const unsigned bound = kmm_Body::kmm__bound();
        *asked = kmm_host_asked{
            bound && bound < KMM_HOST_MOST_THREADS ? bound : (unsigned)KMM_HOST_MOST_THREADS,
            kmm_Body::kmm__shared(), &dynamic};
        return;
    }
    void *args[sizeof...(kmm_P) + 1] = {(void *)&p...};
    kmm_host_configuration &c = kmm_host_configured();
    if (!c.given) {
        fprintf(stderr, "kmm: error: kernel %s is called without <<<...>>>\n",
                kmm_Body::kmm__name());
        abort();
    }
    c.given = false;
    const kmm_geometry_t geometry = c.geometry;
    if (kmm_cuda_check_launch(&kernel, &geometry, kmm_Body::kmm__bound(),
                              __atomic_load_n(&dynamic, __ATOMIC_RELAXED)))
        return;
    const bool pointers =
        (flags & KMM_HOST_POINTERS) ||
        ((flags & KMM_HOST_GENERIC) &&
         kmm_host_any(kmm_host_nests<typename std::remove_cv<kmm_P>::type>::value...));
    const bool alone = (flags & KMM_HOST_GLOBALS) || pointers || kmm_host_has_common_memory();
    if (alone)
        kmm_cuda_device_settle();
    if (flags & KMM_HOST_GLOBALS)
        kmm_cuda_symbols_change(kmm_Body::kmm__name());
    if (kmm_cuda_launch(&kernel, &geometry, args) == 0 && alone)
        kmm_cuda_device_settle();
}
#endif

#endif
