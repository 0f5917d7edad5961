# SPDX-License-Identifier: Apache-2.0
"""The structs and numbers of kmm.h, kmm/launch.h and kmm/resource.h. tests/python compares them
with tests/abi/libkmm.abi."""
import ctypes
from ctypes import c_bool, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

VERSION = 100  # KMM_VERSION_NUMBER of the kmm.h that this follows
LAUNCH_VERSION = 2  # KMM_LAUNCH_VERSION
MAX_AXES, MAX_SPLIT, MAX_DIMS = 6, 3, 6
WHOLE = -(1 << 63)  # KMM_WHOLE
SIZE_MAX = (1 << 64) - 1  # KMM_SIZE_RECORDED, KMM_ALL_BYTES
PENDING = 1  # KMM_PENDING
RANGE_0 = 6  # KMM_RANGE_0
READ, WRITE, UPDATE, REDUCE = 1, 2, 3, 4  # kmm_mode_t
KINDS = {1: "host", 2: "cuda", 3: "hip"}  # kmm_kind_t
SCHEDULES = {"locality": 0, "block": 1, "cyclic": 2}  # kmm_schedule_t
OPERATORS = {"+": 0, "*": 1, "min": 2, "max": 3, "&": 4, "|": 5, "^": 6, "&&": 7, "||": 8}
# kmm_type_t, by NumPy's names
TYPES = {"int8": 0, "int16": 1, "int32": 2, "int64": 3, "uint8": 4, "uint16": 5, "uint32": 6,
         "uint64": 7, "float32": 8, "float64": 9, "float16": 10, "complex64": 12,
         "complex128": 13}
MEMORY_KINDS = ("host", "pinned", "managed", "device")  # kmm_memory_kind_t
TRACK_DEPTH = 24

FUNCTION = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)  # kmm_function_t
FAILURE = ctypes.CFUNCTYPE(c_bool, c_void_p, c_size_t)  # kmm_failure_fn
ALLOCATE = ctypes.CFUNCTYPE(c_int, c_void_p, c_size_t, c_void_p, ctypes.POINTER(c_void_p))
DEALLOCATE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, c_void_p)


class kmm_config(ctypes.Structure):
    _fields_ = [("devices", c_char_p), ("device_mem", c_uint64), ("frame_bytes", c_uint64),
                ("threads", c_uint32), ("host_mem", c_uint64), ("spill_dir", c_char_p),
                ("device_keep_free", c_uint64), ("pinned_mem", c_uint64)]


class kmm_shape(ctypes.Structure):
    _fields_ = [("dims", c_uint32), ("extent", c_int64 * MAX_DIMS), ("element_bytes", c_size_t),
                ("label", c_char_p)]


class kmm_device_info(ctypes.Structure):
    _fields_ = [("name", c_char * 64), ("kind", c_int), ("ordinal", c_int),
                ("memory_bytes", c_uint64), ("used_bytes", c_uint64), ("bytes_in", c_uint64),
                ("bytes_out", c_uint64), ("bytes_peer", c_uint64), ("chunks", c_uint64),
                ("launches", c_uint64), ("whole_arrays", c_int), ("total_bytes", c_uint64),
                ("compute_major", c_int), ("compute_minor", c_int), ("multiprocessors", c_int),
                ("pci_domain", c_int), ("pci_bus", c_int), ("pci_device", c_int),
                ("pci_function", c_int)]


class kmm_chunk(ctypes.Structure):
    _fields_ = [("begin", c_int64 * MAX_SPLIT), ("end", c_int64 * MAX_SPLIT),
                ("lower", c_int64 * MAX_SPLIT), ("launch", c_int64), ("thread", c_int64)]


class kmm_resource_usage(ctypes.Structure):
    _fields_ = [("live_bytes", c_size_t), ("live_count", c_size_t), ("held_bytes", c_size_t),
                ("regions", c_size_t), ("extent_bytes", c_size_t), ("waits", c_size_t),
                ("events", c_size_t)]


class kmm_async_options(ctypes.Structure):
    _fields_ = [("pool", c_void_p), ("initial_bytes", c_size_t), ("release_threshold", c_size_t),
                ("maximum_bytes", c_size_t), ("kind", c_int)]


class kmm_callback_options(ctypes.Structure):
    _fields_ = [("context", c_void_p), ("allocate", ALLOCATE), ("deallocate", DEALLOCATE),
                ("memory_info", c_void_p), ("alignment", c_size_t), ("kind", c_int),
                ("device", c_int), ("order", c_void_p)]


class kmm_pool_options(ctypes.Structure):
    _fields_ = [("initial_bytes", c_size_t), ("maximum_bytes", c_size_t),
                ("growth_bytes", c_size_t), ("cache_bytes", c_size_t), ("reuse", c_int)]


class kmm_arena_options(ctypes.Structure):
    _fields_ = [("key", c_int), ("arena_bytes", c_size_t), ("initial_bytes", c_size_t),
                ("maximum_bytes", c_size_t)]


class kmm_fixed_size_options(ctypes.Structure):
    _fields_ = [("block_bytes", c_size_t), ("blocks_per_chunk", c_size_t),
                ("initial_chunks", c_size_t)]


class kmm_counter(ctypes.Structure):
    _fields_ = [("current", c_int64), ("peak", c_int64), ("total", c_int64)]


class kmm_statistics(ctypes.Structure):
    _fields_ = [("bytes", kmm_counter), ("count", kmm_counter)]


class kmm_tracked(ctypes.Structure):
    _fields_ = [("p", c_void_p), ("bytes", c_size_t), ("stream", c_void_p),
                ("stack", c_void_p * TRACK_DEPTH), ("depth", c_int)]


class kmm_buffer(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("bytes", c_size_t), ("capacity", c_size_t),
                ("stream", c_void_p), ("resource", c_void_p)]
