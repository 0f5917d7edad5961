// SPDX-License-Identifier: Apache-2.0
// Under RMM's names: exceptions, the macros that throw them, alignment, and devices.
#ifndef KMM_RMM_BASE_HPP
#define KMM_RMM_BASE_HPP

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <cuda_runtime_api.h>

#define RMM_EXPORT __attribute__((visibility("default")))
#define RMM_HIDDEN __attribute__((visibility("hidden")))
#define RMM_NAMESPACE RMM_EXPORT rmm

namespace RMM_NAMESPACE
{

struct logic_error : std::logic_error {
    using std::logic_error::logic_error;
};

struct cuda_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class bad_alloc : public std::bad_alloc
{
  public:
    bad_alloc(const char *text) : text_(std::string(std::bad_alloc::what()) + ": " + text) {}
    bad_alloc(const std::string &text) : bad_alloc(text.c_str()) {}
    const char *what() const noexcept override { return text_.c_str(); }

  private:
    std::string text_;
};

class out_of_memory : public bad_alloc
{
  public:
    out_of_memory(const char *text) : bad_alloc(std::string("out_of_memory: ") + text) {}
    out_of_memory(const std::string &text) : out_of_memory(text.c_str()) {}
};

class out_of_range : public std::out_of_range
{
    using std::out_of_range::out_of_range;
};

namespace detail
{

inline std::string place(const char *what, const char *file, int line)
{
    return std::string(what) + " at: " + file + ":" + std::to_string(line) + ": ";
}

inline std::string cuda_text(cudaError_t error)
{
    return std::string(cudaGetErrorName(error)) + " " + cudaGetErrorString(error);
}

// Throws Exception if a call of CUDA's runtime has failed, and clears the runtime's last error.
template <class Exception> void cuda_try(cudaError_t error, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    cudaGetLastError();
    throw Exception{place("CUDA error", file, line) + cuda_text(error)};
}

// `what` says in the message what has failed.
inline void cuda_try_alloc(cudaError_t error, const std::string &what, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    cudaGetLastError();
    const std::string text = place(("CUDA error" + what).c_str(), file, line) + cuda_text(error);
    if (error == cudaErrorMemoryAllocation)
        throw out_of_memory{text};
    throw bad_alloc{text};
}

// For calls that may not throw: says on stderr what has failed. When a process ends, the runtime
// may end before objects that give something back to it.
inline void cuda_report(cudaError_t error) noexcept
{
    if (error != cudaSuccess && error != cudaErrorCudartUnloading)
        std::cerr << "CUDA error: " << cudaGetErrorName(error) << " " << cudaGetErrorString(error)
                  << std::endl;
}

inline std::string format_bytes(std::size_t value)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = static_cast<double>(value);
    int unit = 0;
    for (; size > 1024; size /= 1024)
        unit++;
    return std::to_string(size) + ' ' + units[unit];
}

} // namespace detail

static constexpr std::size_t RMM_DEFAULT_HOST_ALIGNMENT{alignof(std::max_align_t)};
static constexpr std::size_t CUDA_ALLOCATION_ALIGNMENT{256};

inline bool is_pow2(std::size_t value) noexcept { return value != 0 && (value & (value - 1)) == 0; }

inline bool is_supported_alignment(std::size_t alignment) noexcept { return is_pow2(alignment); }

inline std::size_t align_down(std::size_t value, std::size_t alignment) noexcept
{
    assert(is_supported_alignment(alignment));
    return value & ~(alignment - 1);
}

inline std::size_t align_up(std::size_t value, std::size_t alignment) noexcept
{
    return align_down(value + alignment - 1, alignment);
}

namespace detail
{
// What an allocation of `bytes` needs in multiples of `alignment`.
inline std::size_t padded(std::size_t bytes, std::size_t alignment)
{
    const std::size_t all = align_up(bytes, alignment);
    if (all < bytes)
        throw out_of_memory("failed to allocate " + format_bytes(bytes));
    return all;
}
} // namespace detail

inline bool is_aligned(std::size_t value, std::size_t alignment) noexcept
{
    return value == align_down(value, alignment);
}

inline bool is_pointer_aligned(void *p, std::size_t alignment = CUDA_ALLOCATION_ALIGNMENT) noexcept
{
    return is_aligned(reinterpret_cast<std::uintptr_t>(p), alignment);
}

struct cuda_device_id {
    using value_type = int;

    inline cuda_device_id() noexcept;
    explicit constexpr cuda_device_id(value_type id) noexcept : id_(id) {}
    constexpr value_type value() const noexcept { return id_; }

    friend constexpr bool operator==(const cuda_device_id &a, const cuda_device_id &b) noexcept
    {
        return a.id_ == b.id_;
    }
    friend constexpr bool operator!=(const cuda_device_id &a, const cuda_device_id &b) noexcept
    {
        return a.id_ != b.id_;
    }

  private:
    value_type id_;
};

inline cuda_device_id get_current_cuda_device()
{
    int device = -1;
    detail::cuda_report(cudaGetDevice(&device));
    return cuda_device_id{device};
}

inline cuda_device_id::cuda_device_id() noexcept : id_(get_current_cuda_device().value()) {}

inline int get_num_cuda_devices()
{
    int n = -1;
    detail::cuda_report(cudaGetDeviceCount(&n));
    return n;
}

// Returns the bytes that are free on the current device, and all of its bytes.
inline std::pair<std::size_t, std::size_t> available_device_memory()
{
    std::size_t available = 0, total = 0;
    detail::cuda_try<cuda_error>(cudaMemGetInfo(&available, &total), __FILE__, __LINE__);
    return {available, total};
}

inline std::size_t percent_of_free_device_memory(int percent)
{
    const double part = static_cast<double>(percent) / 100.0;
    return align_down(
        static_cast<std::size_t>(static_cast<double>(available_device_memory().first) * part),
        CUDA_ALLOCATION_ALIGNMENT);
}

// Makes a device current until the end of a scope. A negative one changes nothing.
struct cuda_set_device_raii {
    explicit cuda_set_device_raii(cuda_device_id device)
        : old_(get_current_cuda_device()), changes_(device.value() >= 0 && device != old_)
    {
        if (changes_)
            detail::cuda_report(cudaSetDevice(device.value()));
    }
    ~cuda_set_device_raii() noexcept
    {
        if (changes_)
            detail::cuda_report(cudaSetDevice(old_.value()));
    }
    cuda_set_device_raii(const cuda_set_device_raii &) = delete;
    cuda_set_device_raii &operator=(const cuda_set_device_raii &) = delete;

  private:
    cuda_device_id old_;
    bool changes_;
};

// What the driver and the current device can do.
namespace detail
{

inline bool device_has(cudaDeviceAttr attribute, int mask = 1)
{
    int value = 0;
    const int device = get_current_cuda_device().value();
    return cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess &&
           (value & mask) == mask;
}

struct runtime_async_alloc {
    static bool is_supported() { return device_has(cudaDevAttrMemoryPoolsSupported); }
};

struct export_handle_type {
    static bool is_supported(cudaMemAllocationHandleType type)
    {
        return type == cudaMemHandleTypeNone ||
               device_has(cudaDevAttrMemoryPoolSupportedHandleTypes, type);
    }
};

struct hwdecompress {
    static bool is_supported()
    {
        int version = 0;
        return CUDART_VERSION >= 12080 && cudaDriverGetVersion(&version) == cudaSuccess &&
               version >= 12080;
    }
};

struct concurrent_managed_access {
    static bool is_supported() { return device_has(cudaDevAttrConcurrentManagedAccess); }
};

} // namespace detail
} // namespace RMM_NAMESPACE

#define RMM_STRINGIFY_DETAIL(x) #x
#define RMM_STRINGIFY(x) RMM_STRINGIFY_DETAIL(x)
#define KMM_RMM_THIRD(a, b, c, ...) c
#define KMM_RMM_FOURTH(a, b, c, d, ...) d

// RMM_EXPECTS(condition, reason[, exception]), RMM_FAIL(reason[, exception]): throw, by default an
// rmm::logic_error.
#define RMM_EXPECTS(...)                                                                           \
    KMM_RMM_FOURTH(__VA_ARGS__, RMM_EXPECTS_3, RMM_EXPECTS_2, unused)(__VA_ARGS__)
#define RMM_EXPECTS_3(condition, reason, type)                                                     \
    do {                                                                                           \
        static_assert(std::is_base_of_v<std::exception, type>);                                    \
        if (!(condition))                                                                          \
            throw type{rmm::detail::place("RMM failure", __FILE__, __LINE__) + reason};            \
    } while (0)
#define RMM_EXPECTS_2(condition, reason) RMM_EXPECTS_3(condition, reason, rmm::logic_error)

#define RMM_FAIL(...) KMM_RMM_THIRD(__VA_ARGS__, RMM_FAIL_2, RMM_FAIL_1, unused)(__VA_ARGS__)
#define RMM_FAIL_2(reason, type)                                                                   \
    throw type { rmm::detail::place("RMM failure", __FILE__, __LINE__) + reason }
#define RMM_FAIL_1(reason) RMM_FAIL_2(reason, rmm::logic_error)

// RMM_CUDA_TRY(call[, exception]): throws, by default an rmm::cuda_error.
#define RMM_CUDA_TRY(...)                                                                          \
    KMM_RMM_THIRD(__VA_ARGS__, RMM_CUDA_TRY_2, RMM_CUDA_TRY_1, unused)(__VA_ARGS__)
#define RMM_CUDA_TRY_2(call, type) rmm::detail::cuda_try<type>((call), __FILE__, __LINE__)
#define RMM_CUDA_TRY_1(call) RMM_CUDA_TRY_2(call, rmm::cuda_error)

// RMM_CUDA_TRY_ALLOC(call[, bytes]): throws rmm::out_of_memory or rmm::bad_alloc.
#define RMM_CUDA_TRY_ALLOC(...)                                                                    \
    KMM_RMM_THIRD(__VA_ARGS__, RMM_CUDA_TRY_ALLOC_2, RMM_CUDA_TRY_ALLOC_1, unused)(__VA_ARGS__)
#define RMM_CUDA_TRY_ALLOC_2(call, bytes)                                                          \
    rmm::detail::cuda_try_alloc(                                                                   \
        (call), " (failed to allocate " + std::to_string(bytes) + " bytes)", __FILE__, __LINE__)
#define RMM_CUDA_TRY_ALLOC_1(call) rmm::detail::cuda_try_alloc((call), "", __FILE__, __LINE__)

#ifdef NDEBUG
#define RMM_ASSERT_CUDA_SUCCESS(call) static_cast<void>(call)
#else
#define RMM_ASSERT_CUDA_SUCCESS(call)                                                              \
    do {                                                                                           \
        const cudaError_t kmm_rmm_error = (call);                                                  \
        rmm::detail::cuda_report(kmm_rmm_error);                                                   \
        assert(kmm_rmm_error == cudaSuccess);                                                      \
    } while (0)
#endif

#endif
