# SPDX-License-Identifier: Apache-2.0
"""kmm.allocators with stand-ins for CuPy and Numba, on the fake driver: what is allocated, freed
and raised. tests/frameworks has the real ones, on a GPU."""
import ctypes
import sys
import types

from kmm import mr


def module(name, **members):
    made = types.ModuleType(name)
    vars(made).update(members)
    sys.modules[name] = made
    return made


# ---- CuPy ----

class OutOfMemoryError(MemoryError):
    pass


class Memory:
    def __init__(self, allocator, size):
        self.allocator = allocator
        self.ptr = allocator.alloc(allocator.parameter, size, 0) or 0

    def __del__(self):
        if self.ptr:
            self.allocator.free(self.allocator.parameter, self.ptr, 0)


class CFunctionAllocator:
    def __init__(self, parameter, alloc, free, owner):
        p, n, i = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        self.parameter, self.owner = parameter, owner
        self.alloc = ctypes.CFUNCTYPE(p, p, n, i)(alloc)
        self.free = ctypes.CFUNCTYPE(None, p, p, i)(free)

    def malloc(self, size):
        return Memory(self, size)


class Stream:
    destroyed = 0

    def __init__(self, ptr):
        self.ptr, self.device_id = ptr, 0

    def __del__(self):
        Stream.destroyed += 1


streams, chosen = mr.StreamPool(0, 2), []
stream = Stream(streams[0].ptr)
cuda = module("cupy.cuda", CFunctionAllocator=CFunctionAllocator, Stream=Stream,
              get_current_stream=lambda: stream, Device=lambda: types.SimpleNamespace(id=0),
              memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
              runtime=types.SimpleNamespace(getDeviceCount=lambda: 1), set_allocator=chosen.append)
module("cupy", cuda=cuda)
import kmm.allocators.cupy  # noqa: E402

kmm.allocators.cupy.use(mapped=False)
kmm.allocators.cupy.use(mapped=False)  # streams tell kmm once
allocate = chosen[-1]
pool = mr.get_per_device_resource(0)
assert pool.name == "pool(device 0)"
memory = allocate(5000)
assert pool.size(memory.ptr) == 5000 and pool.usage().live_count == 1
try:
    allocate(1 << 45)
    raise AssertionError("an absurd array was made")
except OutOfMemoryError as e:
    assert e.args[0] == 1 << 45 and 0 < e.args[1] < 1 << 45
assert allocate(0).ptr == 0
stream = Stream(streams[1].ptr)  # the first one ends; its memory lives on
assert Stream.destroyed == 1
del memory
assert pool.usage().live_count == 0


# ---- Numba ----

class CudaAPIError(Exception):
    def __init__(self, code, text):
        self.code, self.text = code, text


class Manager:
    def __init__(self, context):
        self.context = context

    def initialize(self):
        pass


driver = module("numba.cuda.cudadrv.driver", USE_NV_BINDING=False, CudaAPIError=CudaAPIError)
drivers = module("numba.cuda.cudadrv", driver=driver)
cuda = module("numba.cuda", HostOnlyCUDAMemoryManager=Manager, cudadrv=drivers,
              MemoryPointer=lambda *a, **k: (a, k), MemoryInfo=lambda *a: a)
module("numba", cuda=cuda)
from kmm.allocators import numba  # noqa: E402

manager = numba._numba_memory_manager(types.SimpleNamespace(device=types.SimpleNamespace(id=0)))
manager.initialize()
(_, pointer, size), options = manager.memalloc(700)
assert size == 700 and pool.size(pointer.value) == 700
options["finalizer"]()
assert pool.usage().live_count == 0 and manager.get_memory_info() == pool.memory_info()
try:
    manager.memalloc(1 << 45)
    raise AssertionError("an absurd array was made")
except CudaAPIError as e:
    assert e.code == 2 and "kmm" in e.text
print("ok")
