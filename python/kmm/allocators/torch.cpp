// SPDX-License-Identifier: Apache-2.0
// The part of PyTorch's allocator that needs C++. torch.py compiles this file once.
//
// PyTorch trusts what a pluggable allocator returns, so a failure must be thrown as PyTorch's own
// exception, whose class only PyTorch's headers know. And PyTorch names pools of memory, those of
// its graphs, by types of C++.
//
// No stream is used to make the text: where the compiler links a second copy of the C++ library into
// this file, streams mix facets of both copies, and crash.
#include <c10/util/Exception.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#pragma GCC visibility push(default)

extern "C" void kmm_torch_throw(int status, int device, std::size_t bytes, const char *text)
{
    const int out_of_memory = -2; // KMM_E_MEMORY
    const c10::SourceLocation here = {__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)};
    std::string what = "kmm could not allocate " + std::to_string(bytes) + " bytes on GPU " +
                       std::to_string(device) + ": " + text;
    if (status == out_of_memory)
        throw c10::OutOfMemoryError(here, "CUDA out of memory. " + what);
    throw c10::Error(here, std::move(what));
}

// ---- Pools of graphs ----

using pool_id = std::pair<unsigned long long, unsigned long long>;
using filter = std::function<bool(void *stream)>; // PyTorch's has the type of a stream here

// libkmm's functions; see kmm/resource.h.
static struct {
    int (*begin)(int, const std::uint64_t *, bool (*)(void *, void *), void *);
    void *(*end)(int, const std::uint64_t *);
    void (*release)(int, const std::uint64_t *);
    const char *(*error_text)();
} kmm;

extern "C" void kmm_torch_set(decltype(kmm.begin) begin, decltype(kmm.end) end,
                              decltype(kmm.release) release, decltype(kmm.error_text) error_text)
{
    kmm = {begin, end, release, error_text};
}

static bool fits(void *f, void *stream)
{
    return (*static_cast<filter *>(f))(stream);
}

extern "C" void kmm_torch_begin(int device, pool_id pool, filter f)
{
    const std::uint64_t id[] = {pool.first, pool.second};
    auto kept = std::make_unique<filter>(std::move(f));
    const int status = kmm.begin(device, id, fits, kept.get());
    if (status)
        kmm_torch_throw(status, device, 0, kmm.error_text());
    kept.release();
}

extern "C" void kmm_torch_end(int device, pool_id pool)
{
    const std::uint64_t id[] = {pool.first, pool.second};
    delete static_cast<filter *>(kmm.end(device, id));
}

extern "C" void kmm_torch_release(int device, pool_id pool)
{
    const std::uint64_t id[] = {pool.first, pool.second};
    kmm.release(device, id);
}
