# SPDX-License-Identifier: Apache-2.0
"""kmm as CuPy's memory allocator: `import kmm_cupy; kmm_cupy.use()`."""
import cupy

import kmm_library

_library = kmm_library.load()
_allocator = cupy.cuda.CFunctionAllocator(
    0, kmm_library.address(_library.kmm_cupy_alloc), kmm_library.address(_library.kmm_cupy_free), _library)


def allocate(size):
    """Memory on the current device and stream. Raises cupy.cuda.memory.OutOfMemoryError."""
    _library.kmm_cupy_stream(cupy.cuda.get_current_stream().ptr)
    memory = _allocator.malloc(size)
    if size and not memory.ptr:
        available, total = kmm_library.memory_info(_library, cupy.cuda.Device().id)
        raise cupy.cuda.memory.OutOfMemoryError(size, total - available)
    return memory


def use(mapped=None):
    """mapped: see kmm_library.choose_memory."""
    kmm_library.choose_memory(_library, cupy.cuda.runtime.getDeviceCount(), mapped)
    cupy.cuda.set_allocator(allocate)
