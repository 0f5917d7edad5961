# SPDX-License-Identifier: Apache-2.0
"""kmm as PyTorch's memory allocator: `kmm.allocators.torch.use()` before the first tensor on a
GPU."""
import ctypes
import hashlib
import os
import subprocess
import tempfile

import torch
from torch.utils import cpp_extension

from .. import _cache, _library
from ._memory import choose_memory

_kept = []  # what PyTorch calls as long as the process lives


def _loaded(name):
    """Paths of the libraries of this name that the process has; of Linux only."""
    try:
        with open("/proc/self/maps") as f:
            paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in f if "/" in line}
    except OSError:
        return []
    return sorted(path for path in paths
                  if os.path.basename(path).startswith(name) and os.path.exists(path))


def _shim():
    """The compiled torch.cpp, loaded; it is made once for each PyTorch."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch.cpp")
    folder = _cache.folder()
    if folder is None:
        with tempfile.TemporaryDirectory() as folder:
            return ctypes.CDLL(_compile(source, folder))
    with open(source, "rb") as f:
        key = hashlib.sha256(f.read() + torch.__version__.encode()).hexdigest()[:16]
    built = _cache.find(folder, "kmm_torch_" + key, ".so")
    if built is None:
        built = _cache.keep(_compile(source, folder), folder, "kmm_torch_" + key, ".so")
    return ctypes.CDLL(built)


def _compile(source, folder):
    """The path of a new library in the folder."""
    libraries = os.path.join(os.path.dirname(torch.__file__), "lib")
    handle, new = tempfile.mkstemp(suffix=".so", dir=folder)
    os.close(handle)
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-shared", "-fPIC", source,
               "-o", new, "-D_GLIBCXX_USE_CXX11_ABI=%d" % torch._C._GLIBCXX_USE_CXX11_ABI,
               "-L" + libraries, "-lc10", "-Wl,-rpath," + libraries]
    # The exception must be thrown by the C++ library that PyTorch catches it with, so it comes before the
    # compiler's own, which may be a static one.
    command += _loaded("libstdc++.so") + ["-I" + path for path in cpp_extension.include_paths()]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        os.unlink(new)
        raise RuntimeError("kmm: torch.cpp could not be compiled:\n" + result.stderr)
    return new


def use(mapped=None):
    """Makes kmm the allocator of this process. Out of memory is torch.OutOfMemoryError. mapped: see
    choose_memory of _memory.py."""
    library = _library.load()
    choose_memory(torch.cuda.device_count(), mapped)
    shim = _shim()
    library.kmm_torch_on_failure(_library.address(shim.kmm_torch_throw))
    allocator = torch.cuda.memory.CUDAPluggableAllocator(_library.path(), "kmm_torch_alloc",
                                                         "kmm_torch_free")
    inner = allocator.allocator()
    inner.set_record_stream_fn(_library.address(library.kmm_torch_record_stream))
    if hasattr(inner, "set_reset_fn"):  # for torch.cuda.empty_cache()
        inner.set_reset_fn(_library.address(library.kmm_torch_empty_cache))
    shim.kmm_torch_set(*(ctypes.c_void_p(_library.address(getattr(library, name)))
                         for name in ("kmm_torch_pool_begin", "kmm_torch_pool_end",
                                      "kmm_torch_pool_release", "kmm_resource_error_text")))
    for setter, function in (("set_begin_allocate_to_pool", shim.kmm_torch_begin),
                             ("set_end_allocate_to_pool_fn", shim.kmm_torch_end),
                             ("set_release_pool", shim.kmm_torch_release)):
        if hasattr(inner, setter):  # without them, memory for a graph is refused
            getattr(inner, setter)(_library.address(function))
    torch.cuda.memory.change_current_allocator(allocator)
    _kept.extend([library, shim, allocator])
    return allocator
