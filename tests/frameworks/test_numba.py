# SPDX-License-Identifier: Apache-2.0
import sys

try:
    import numba
    import numpy
    if not hasattr(numpy, "row_stack"):
        numpy.row_stack = numpy.vstack  # some releases of numba-cuda ask for a name that NumPy has dropped
    from numba import cuda
except ImportError:
    print("numba is not installed")
    sys.exit(77)
from kmm.allocators import numba as kmm_numba
from numba.cuda.cudadrv.driver import CudaAPIError

cuda.set_memory_manager(kmm_numba.KmmManager)


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


host = numpy.arange(100000, dtype=numpy.float32)
device = cuda.to_device(host)
double[(host.size + 255) // 256, 256](device)
assert (device.copy_to_host() == 2 * host).all()
for i in range(100):
    a = cuda.device_array(100000 + i, dtype=numpy.float32)
    del a
info = cuda.current_context().get_memory_info()
assert 0 < info.free <= info.total
for attempt in range(3):
    try:
        cuda.device_array(1 << 45, dtype=numpy.uint8)
        sys.exit("an absurd array was made")
    except CudaAPIError as e:
        assert e.code == 2 and "kmm" in str(e), e
print("ok: numba", numba.__version__)
