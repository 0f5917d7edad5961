# SPDX-License-Identifier: Apache-2.0
"""kmm as Numba's memory manager: NUMBA_CUDA_MEMORY_MANAGER=kmm.allocators.numba, or
cuda.set_memory_manager(KmmManager)."""
import ctypes

from numba import cuda
from numba.cuda.cudadrv import driver

from .. import _library as _loading
from .._error import check_resource
from ._memory import OUT_OF_MEMORY, memory_info

_library = _loading.load()
_CUDA_OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY


def _device_pointer(address):
    if getattr(driver, "USE_NV_BINDING", True):
        try:
            from cuda.bindings import driver as binding
        except ImportError:
            from cuda import cuda as binding
        return binding.CUdeviceptr(address)
    return ctypes.c_uint64(address)


class KmmManager(cuda.HostOnlyCUDAMemoryManager):
    """Device memory from kmm, host memory from Numba. Numba has no streams here: it is the default one."""

    def initialize(self):
        super().initialize()

    def memalloc(self, size):
        device = self.context.device.id
        _library.kmm_cupy_stream(None)
        address = _library.kmm_cupy_alloc(None, size, device)
        if size and not address and _library.kmm_cupy_failure() != OUT_OF_MEMORY:
            check_resource(_library.kmm_cupy_failure())
        if size and not address:
            raise driver.CudaAPIError(_CUDA_OUT_OF_MEMORY, "kmm: " + _library.kmm_resource_error_text().decode())
        finalizer = (lambda: _library.kmm_cupy_free(None, address, device)) if address else None
        return cuda.MemoryPointer(self.context, _device_pointer(address or 0), size, finalizer=finalizer)

    def get_ipc_handle(self, memory):
        raise RuntimeError("kmm: memory of a pool cannot be shared between processes")

    def get_memory_info(self):
        return cuda.MemoryInfo(*memory_info(self.context.device.id))

    @property
    def interface_version(self):
        return 1


_numba_memory_manager = KmmManager
