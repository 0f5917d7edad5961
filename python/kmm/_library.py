# SPDX-License-Identifier: Apache-2.0
"""Finds libkmm and says what its functions take."""
import ctypes
import os


_UNSUPPORTED = -10  # KMM_E_UNSUPPORTED
OUT_OF_MEMORY = -2  # KMM_E_MEMORY


def path():
    """KMM_LIBRARY, or libkmm beside an installation or a build tree, or what the loader finds."""
    if "KMM_LIBRARY" in os.environ:
        return os.environ["KMM_LIBRARY"]
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in ("../lib", "../../lib", "../../../lib", "../../../lib64", "../build/release/lib"):
        found = os.path.join(here, folder, "libkmm.so.0")
        if os.path.exists(found):
            return os.path.normpath(found)
    return "libkmm.so.0"


def load():
    library = ctypes.CDLL(path())
    size, pointer, number = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int
    for name, result, arguments in (
        ("kmm_cupy_alloc", pointer, [pointer, size, number]),
        ("kmm_cupy_free", None, [pointer, pointer, number]),
        ("kmm_cupy_stream", None, [pointer]),
        ("kmm_cupy_failure", number, []),
        ("kmm_cupy_stream_end", None, [pointer, number]),
        ("kmm_torch_empty_cache", None, []),
        ("kmm_torch_on_failure", None, [pointer]),
        ("kmm_resource_of_device", pointer, [number]),
        ("kmm_resource_memory_info", number, [pointer, ctypes.POINTER(size), ctypes.POINTER(size)]),
        ("kmm_resource_error_text", ctypes.c_char_p, []),
        ("kmm_device_resource_create", number, [number, ctypes.POINTER(pointer)]),
        ("kmm_mapped_resource_create", number, [number, ctypes.POINTER(pointer)]),
        ("kmm_pool_resource_create", number, [pointer, pointer, ctypes.POINTER(pointer)]),
        ("kmm_resource_set_of_device", number, [number, pointer, pointer]),
        ("kmm_resource_allow", number, [pointer, number]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def error_text(library):
    return library.kmm_resource_error_text().decode()


def memory_info(library, device):
    """(available, total) bytes of the device's resource."""
    available, total = ctypes.c_size_t(), ctypes.c_size_t()
    resource = library.kmm_resource_of_device(device)
    if library.kmm_resource_memory_info(resource, ctypes.byref(available), ctypes.byref(total)):
        raise RuntimeError(error_text(library))
    return available.value, total.value


def choose_memory(library, devices, mapped):
    """What the pools of devices 0 to devices - 1 stand on, before anything is allocated. True: mapped memory, of which
    little is lost to fragmentation, open to every device that can reach it; other processes cannot. False: plain memory.
    None: mapped memory if the driver can map and all devices can reach each other, else plain; so it is without a call too."""
    if mapped is None:
        return
    create = library.kmm_mapped_resource_create if mapped else library.kmm_device_resource_create
    for device in range(devices):
        source, pool = ctypes.c_void_p(), ctypes.c_void_p()
        if (create(device, ctypes.byref(source))
                or library.kmm_pool_resource_create(source, None, ctypes.byref(pool))
                or library.kmm_resource_set_of_device(device, pool, None)):
            raise RuntimeError(error_text(library))
        for other in range(devices if mapped else 0):
            if library.kmm_resource_allow(pool, other) not in (0, _UNSUPPORTED):
                raise RuntimeError(error_text(library))


def address(function):
    return ctypes.cast(function, ctypes.c_void_p).value
