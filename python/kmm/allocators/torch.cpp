// SPDX-License-Identifier: Apache-2.0
// PyTorch trusts what a pluggable allocator returns, so a failure must be thrown as PyTorch's own
// exception, whose class only PyTorch's headers know. torch.py compiles this file once.
//
// No stream is used to make the text: where the compiler links a second copy of the C++ library into
// this file, streams mix facets of both copies, and crash.
#include <c10/util/Exception.h>

#include <string>

extern "C" __attribute__((visibility("default"))) void kmm_torch_throw(int status, int device, std::size_t bytes, const char *text)
{
    const int out_of_memory = -2; // KMM_E_MEMORY
    const c10::SourceLocation here = {__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)};
    std::string what = "kmm could not allocate " + std::to_string(bytes) + " bytes on GPU " + std::to_string(device) + ": " + text;
    if (status == out_of_memory)
        throw c10::OutOfMemoryError(here, "CUDA out of memory. " + what);
    throw c10::Error(here, std::move(what));
}
