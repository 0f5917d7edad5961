# SPDX-License-Identifier: Apache-2.0
"""kmm as CuPy's memory allocator: `import kmm_cupy; kmm_cupy.use()`."""
import cupy

import kmm_library

_library = kmm_library.load()
_allocator = cupy.cuda.CFunctionAllocator(
    0, kmm_library.address(_library.kmm_cupy_alloc), kmm_library.address(_library.kmm_cupy_free), _library)


def allocate(size):
    """Memory on the current device and stream. Raises cupy.cuda.memory.OutOfMemoryError, and RuntimeError when something else is wrong."""
    _library.kmm_cupy_stream(cupy.cuda.get_current_stream().ptr)
    memory = _allocator.malloc(size)
    if size and not memory.ptr:
        if _library.kmm_cupy_failure() != kmm_library.OUT_OF_MEMORY:
            raise RuntimeError("kmm: " + kmm_library.error_text(_library))
        available, total = kmm_library.memory_info(_library, cupy.cuda.Device().id)
        raise cupy.cuda.memory.OutOfMemoryError(size, total - available)
    return memory


def _watch_streams():
    """CuPy destroys a stream with its object; memory that was allocated on it may live on, so kmm is told before."""
    destroy, end = cupy.cuda.Stream.__del__, _library.kmm_cupy_stream_end
    if getattr(destroy, "tells_kmm", False):
        return

    def __del__(stream, *arguments):
        if getattr(stream, "device_id", -1) >= 0:
            end(stream.ptr, stream.device_id)
        destroy(stream, *arguments)

    __del__.tells_kmm = True
    cupy.cuda.Stream.__del__ = __del__


def use(mapped=None):
    """mapped: see kmm_library.choose_memory."""
    _watch_streams()
    kmm_library.choose_memory(_library, cupy.cuda.runtime.getDeviceCount(), mapped)
    cupy.cuda.set_allocator(allocate)
