# SPDX-License-Identifier: Apache-2.0
"""kmm as Numba's memory manager: NUMBA_CUDA_MEMORY_MANAGER=kmm_numba, or cuda.set_memory_manager(KmmManager)."""
import ctypes

from numba import cuda
from numba.cuda.cudadrv import driver

import kmm_library

_library = kmm_library.load()
_OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY


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
        if size and not address and _library.kmm_cupy_failure() != kmm_library.OUT_OF_MEMORY:
            raise RuntimeError("kmm: " + kmm_library.error_text(_library))
        if size and not address:
            raise driver.CudaAPIError(_OUT_OF_MEMORY, "kmm: " + kmm_library.error_text(_library))
        finalizer = (lambda: _library.kmm_cupy_free(None, address, device)) if address else None
        return cuda.MemoryPointer(self.context, _device_pointer(address or 0), size, finalizer=finalizer)

    def get_ipc_handle(self, memory):
        raise RuntimeError("kmm: memory of a pool cannot be shared between processes")

    def get_memory_info(self):
        return cuda.MemoryInfo(*kmm_library.memory_info(_library, self.context.device.id))

    @property
    def interface_version(self):
        return 1


_numba_memory_manager = KmmManager
