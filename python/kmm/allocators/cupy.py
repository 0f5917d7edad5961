# SPDX-License-Identifier: Apache-2.0
"""kmm as CuPy's memory allocator: `kmm.allocators.cupy.use()`."""
import cupy

from .. import _library as _loading
from .._error import check_resource
from ._memory import OUT_OF_MEMORY, choose_memory, memory_info

_library = _loading.load()
_allocator = cupy.cuda.CFunctionAllocator(
    0, _loading.address(_library.kmm_cupy_alloc), _loading.address(_library.kmm_cupy_free),
    _library)


def allocate(size):
    """Memory on the current device and stream. Raises cupy.cuda.memory.OutOfMemoryError, and
    RuntimeError when something else is wrong."""
    _library.kmm_cupy_stream(cupy.cuda.get_current_stream().ptr)
    memory = _allocator.malloc(size)
    if size and not memory.ptr:
        if _library.kmm_cupy_failure() != OUT_OF_MEMORY:
            check_resource(_library.kmm_cupy_failure())
        available, total = memory_info(cupy.cuda.Device().id)
        raise cupy.cuda.memory.OutOfMemoryError(size, total - available)
    return memory


def _watch_streams():
    """CuPy destroys a stream with its object; memory that was allocated on it may live on, so kmm
    is told before."""
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
    """mapped: see choose_memory of _memory.py."""
    _watch_streams()
    choose_memory(cupy.cuda.runtime.getDeviceCount(), mapped)
    cupy.cuda.set_allocator(allocate)
