// SPDX-License-Identifier: Apache-2.0
// PyTorch trusts what a pluggable allocator returns, so a failure must be thrown as PyTorch's own
// exception, whose class only PyTorch's headers know. kmm_torch.py compiles this file once.
#include <c10/util/Exception.h>

extern "C" __attribute__((visibility("default"))) void kmm_torch_throw(int device, std::size_t bytes, const char *text)
{
    TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. kmm could not allocate ", bytes, " bytes on GPU ", device, ": ", text);
}
