# SPDX-License-Identifier: Apache-2.0
"""Memory resources: allocators that compose, as kmm/resource.h has them. docs/resources.md is the
guide.

A resource keeps those that it is built on alive. It is destroyed when nothing refers to it. Streams
are None (the default stream), numbers, or stream objects of any framework."""
from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
import weakref
from typing import Any, Callable, NamedTuple, Sequence, TextIO

from . import _structs
from ._buffer import DeviceBuffer
from ._error import check_resource
from ._library import load
from ._stream import Stream, StreamPool, stream_address

__all__ = [
    "Resource", "HostResource", "NumaResource", "DeviceResource", "MappedResource",
    "ManagedResource", "PinnedResource", "AsyncResource", "CallbackResource", "PoolResource",
    "PinnedPoolResource", "ArenaResource", "FixedSizeResource", "BinningResource",
    "LimitingResource", "AlignedResource", "LoggingResource", "StatisticsResource",
    "TrackingResource", "FailureResource", "PrefetchResource", "ThreadSafeResource",
    "DeviceBuffer", "Stream", "StreamPool", "Counter", "Statistics", "Usage", "Allocation",
    "get_current_device_resource", "set_current_device_resource", "get_per_device_resource",
    "set_per_device_resource", "reinitialize"]

_raised = threading.local()  # .exception: what a callback of this thread has raised
_loggers = weakref.WeakSet()


class Usage(NamedTuple):
    """What a resource holds."""
    live_bytes: int  #: of requests that are not freed
    live_count: int
    held_bytes: int  #: taken from upstream
    regions: int  #: pieces in which they were taken
    extent_bytes: int  #: the highest end of a block so far, over all pieces
    waits: int  #: how often a stream was made to wait for another
    events: int  #: recorded


class Counter(NamedTuple):
    """Bytes, or allocations: now, at most, and all so far."""
    current: int
    peak: int
    total: int


class Statistics(NamedTuple):
    bytes: Counter
    count: Counter


class Allocation(NamedTuple):
    """A live allocation. `stack`: return addresses, the innermost first."""
    ptr: int
    bytes: int
    stream: int
    stack: tuple


class Resource:
    """What all resources have. Only its subclasses are created."""

    def __init__(self, create, *arguments, keep=()):
        self._handle = None
        out = ctypes.c_void_p()
        check_resource(getattr(load(), create)(*arguments, ctypes.byref(out)))
        self._handle, self._keep, self._is_owner = out.value, keep, True

    @classmethod
    def _borrow(cls, handle):
        """A resource of libkmm, which is not destroyed with the object."""
        found = Resource.__new__(Resource)
        found._handle, found._keep, found._is_owner = handle, (), False
        return found

    def allocate(self, nbytes: int, stream: Any = None, alignment: int = 0) -> int:
        """The address of memory that work on `stream` may use from now on; 0 for 0 bytes.
        Alignment: 256, or more if a power of two is given."""
        out = ctypes.c_void_p()
        _raised.exception = None
        status = load().kmm_resource_allocate(self._handle, nbytes, alignment,
                                              stream_address(stream), ctypes.byref(out))
        if status:
            _raise_from(status)
        return out.value or 0

    def deallocate(self, ptr: int, nbytes: int | None = None, stream: Any = None) -> None:
        """Frees memory. Work that is on `stream` already may still use it. If `nbytes` is given and
        is not the request's, that is an error."""
        size = _structs.SIZE_MAX if nbytes is None else nbytes
        check_resource(load().kmm_resource_deallocate(self._handle, ptr, size,
                                                      stream_address(stream)))

    def size(self, ptr: int) -> int:
        """The bytes of the request that `ptr` is of."""
        out = ctypes.c_size_t()
        check_resource(load().kmm_resource_size(self._handle, ptr, ctypes.byref(out)))
        return out.value

    def memory_info(self) -> tuple[int, int]:
        """(bytes that can still be allocated, all bytes)."""
        available, total = ctypes.c_size_t(), ctypes.c_size_t()
        check_resource(load().kmm_resource_memory_info(
            self._handle, ctypes.byref(available), ctypes.byref(total)))
        return available.value, total.value

    def trim(self, keep: int = 0) -> None:
        """Gives unused memory back until at most `keep` bytes are held."""
        check_resource(load().kmm_resource_trim(self._handle, keep))

    def allow(self, device: int) -> None:
        """Gives another device access to the memory."""
        check_resource(load().kmm_resource_allow(self._handle, device))

    def stream_end(self, stream: Any) -> None:
        """To be called before a stream that memory was used on is destroyed."""
        check_resource(load().kmm_resource_stream_end(self._handle, stream_address(stream)))

    def usage(self) -> Usage:
        """A Usage. kmm.Unsupported: the resource holds no memory of its own."""
        out = _structs.kmm_resource_usage()
        check_resource(load().kmm_resource_usage(self._handle, ctypes.byref(out)))
        return Usage(*(getattr(out, name) for name in Usage._fields))

    @property
    def upstream(self) -> Resource | None:
        """The resource that this one is built on; None: a source."""
        return self._keep[0] if self._keep else None

    @property
    def name(self) -> str:
        return load().kmm_resource_name(self._handle).decode()

    @property
    def kind(self) -> str:
        """"host", "pinned", "managed" or "device"."""
        return _structs.MEMORY_KINDS[load().kmm_resource_kind(self._handle)]

    @property
    def device(self) -> int:
        """The device's number; -1: host memory."""
        return load().kmm_resource_device(self._handle)

    def __eq__(self, other):
        """True if memory of one can be freed by the other."""
        return isinstance(other, Resource) and load().kmm_resource_equal(self._handle,
                                                                         other._handle)

    def __hash__(self):
        return hash(self._handle)

    def __repr__(self):
        return "<kmm.mr.%s %s>" % (type(self).__name__, self.name)

    def __del__(self):
        if getattr(self, "_handle", None) and self._is_owner and not sys.is_finalizing():
            check_resource(load().kmm_resource_destroy(self._handle))


def _raise_from(status):
    cause, _raised.exception = getattr(_raised, "exception", None), None
    try:
        check_resource(status)
    except Exception as e:
        raise e from cause


# ---- Sources ----

class HostResource(Resource):
    """Host memory."""

    def __init__(self):
        super().__init__("kmm_host_resource_create")


class NumaResource(Resource):
    """Host memory on one NUMA node."""

    def __init__(self, node: int):
        super().__init__("kmm_numa_resource_create", node)


class DeviceResource(Resource):
    """Device memory, as cudaMalloc has it."""

    def __init__(self, device: int = 0):
        super().__init__("kmm_device_resource_create", device)


class MappedResource(Resource):
    """Device memory in frames, which a pool on it can move: it loses none to fragmentation."""

    def __init__(self, device: int = 0):
        super().__init__("kmm_mapped_resource_create", device)


class ManagedResource(Resource):
    """Memory that the driver moves between the host and devices."""

    def __init__(self, device: int = 0):
        super().__init__("kmm_managed_resource_create", device)


class PinnedResource(Resource):
    """Page-locked host memory."""

    def __init__(self, device: int = 0):
        super().__init__("kmm_pinned_resource_create", device)


class AsyncResource(Resource):
    """The driver's own pool. `pool`: the handle of one that exists, which the program keeps.
    managed: its memory is managed (CUDA 13)."""

    def __init__(self, device: int = 0, *, pool: int | None = None, initial_bytes: int = 0,
                 release_threshold: int = 0, maximum_bytes: int = 0, managed: bool = False):
        kind = _structs.MEMORY_KINDS.index("managed") if managed else 0
        options = _structs.kmm_async_options(pool, initial_bytes, release_threshold, maximum_bytes,
                                             kind)
        super().__init__("kmm_async_resource_create", device, ctypes.byref(options))


class CallbackResource(Resource):
    """Functions of the program: allocate(nbytes, stream) returns an address, and
    deallocate(ptr, nbytes, stream) frees it. MemoryError means that memory has run out. The memory
    is used without streams."""

    def __init__(self, allocate: Callable[[int, int], int],
                 deallocate: Callable[[int, int, int], Any], *, kind: str = "host",
                 device: int = -1, alignment: int = 0):
        def call(function, *arguments):
            try:
                return 0, function(*arguments)
            except BaseException as e:
                _raised.exception = e
                return (-2 if isinstance(e, MemoryError) else -5), None

        def do_allocate(_, nbytes, stream, out):
            status, ptr = call(allocate, nbytes, stream or 0)
            out[0] = ptr
            return status

        def do_deallocate(_, ptr, nbytes, stream):
            return call(deallocate, ptr, nbytes, stream or 0)[0]

        functions = _structs.ALLOCATE(do_allocate), _structs.DEALLOCATE(do_deallocate)
        options = _structs.kmm_callback_options(
            None, *functions, None, alignment, _structs.MEMORY_KINDS.index(kind), device, None)
        self._functions = functions
        super().__init__("kmm_callback_resource_create", ctypes.byref(options))


# ---- Pools ----

def _pool_options(initial_bytes, maximum_bytes, growth_bytes, cache_bytes, wait_first):
    return ctypes.byref(_structs.kmm_pool_options(
        initial_bytes, maximum_bytes, growth_bytes,
        _structs.SIZE_MAX if cache_bytes is None else cache_bytes, int(wait_first)))


class PoolResource(Resource):
    """A pool that merges free blocks and grows. Sizes are in bytes, and 0 is the default;
    cache_bytes None: streams have no caches. wait_first: a stream waits for another before the pool
    takes more memory."""

    def __init__(self, upstream: Resource, *, initial_bytes: int = 0, maximum_bytes: int = 0,
                 growth_bytes: int = 0, cache_bytes: int | None = 0, wait_first: bool = False):
        super().__init__("kmm_pool_resource_create", upstream._handle, _pool_options(
            initial_bytes, maximum_bytes, growth_bytes, cache_bytes, wait_first), keep=(upstream,))


class PinnedPoolResource(Resource):
    """A pool on page-locked host memory of its own."""

    def __init__(self, device: int = 0, *, initial_bytes: int = 0, maximum_bytes: int = 0,
                 growth_bytes: int = 0, cache_bytes: int | None = 0, wait_first: bool = False):
        super().__init__("kmm_pinned_pool_resource_create", device, _pool_options(
            initial_bytes, maximum_bytes, growth_bytes, cache_bytes, wait_first))


class ArenaResource(Resource):
    """A pool for each stream, or for each thread, on one that they share."""

    def __init__(self, upstream: Resource, *, per_thread: bool = False, arena_bytes: int = 0,
                 initial_bytes: int = 0, maximum_bytes: int = 0):
        options = _structs.kmm_arena_options(int(per_thread), arena_bytes, initial_bytes,
                                             maximum_bytes)
        super().__init__("kmm_arena_resource_create", upstream._handle, ctypes.byref(options),
                         keep=(upstream,))


class FixedSizeResource(Resource):
    """Blocks of one size. initial_chunks None: none are taken before the first request."""

    def __init__(self, upstream: Resource, *, block_bytes: int = 0, blocks_per_chunk: int = 0,
                 initial_chunks: int | None = 0):
        options = _structs.kmm_fixed_size_options(
            block_bytes, blocks_per_chunk,
            _structs.SIZE_MAX if initial_chunks is None else initial_chunks)
        super().__init__("kmm_fixed_size_resource_create", upstream._handle, ctypes.byref(options),
                         keep=(upstream,))


class BinningResource(Resource):
    """Sends requests to resources by their size, larger ones to upstream."""

    def __init__(self, upstream: Resource):
        super().__init__("kmm_binning_resource_create", upstream._handle, keep=(upstream,))

    def add(self, nbytes: int, bin: Resource | None = None) -> None:
        """Requests of at most `nbytes` go to `bin`, or to a new FixedSizeResource."""
        check_resource(load().kmm_binning_add(self._handle, nbytes, bin._handle if bin else None))
        if bin:
            self._keep += (bin,)


# ---- Adaptors ----

class LimitingResource(Resource):
    """At most `limit` bytes at a time."""

    def __init__(self, upstream: Resource, limit: int):
        super().__init__("kmm_limiting_resource_create", upstream._handle, limit, keep=(upstream,))


class AlignedResource(Resource):
    """Aligns requests of at least `threshold` bytes to `alignment`."""

    def __init__(self, upstream: Resource, alignment: int, threshold: int = 0):
        super().__init__("kmm_aligned_resource_create", upstream._handle, alignment, threshold,
                         keep=(upstream,))


class LoggingResource(Resource):
    """Writes a line of CSV for each call to a file, which kmm-replay reads."""

    def __init__(self, upstream: Resource, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        super().__init__("kmm_logging_resource_create", upstream._handle, os.fsencode(path),
                         keep=(upstream,))
        _loggers.add(self)

    def flush(self) -> None:
        check_resource(load().kmm_logging_flush(self._handle))


class StatisticsResource(Resource):
    """Counts bytes and allocations. push() begins a scope that counts from zero, pop() ends it and
    returns its counts; kmm.statistics has that as a context manager and a profiler."""

    def __init__(self, upstream: Resource):
        super().__init__("kmm_statistics_resource_create", upstream._handle, keep=(upstream,))

    def _read(self, function):
        out = _structs.kmm_statistics()
        check_resource(function(self._handle, ctypes.byref(out)))
        return Statistics(*(Counter(c.current, c.peak, c.total) for c in (out.bytes, out.count)))

    def statistics(self) -> Statistics:
        return self._read(load().kmm_statistics_get)

    def push(self) -> None:
        check_resource(load().kmm_statistics_push(self._handle))

    def pop(self) -> Statistics:
        return self._read(load().kmm_statistics_pop)


class TrackingResource(Resource):
    """Records live allocations; stacks: also where libkmm was called."""

    def __init__(self, upstream: Resource, *, stacks: bool = False):
        super().__init__("kmm_tracking_resource_create", upstream._handle, int(stacks),
                         keep=(upstream,))

    def outstanding(self) -> list[Allocation]:
        """The live allocations, the oldest first."""
        count = load().kmm_tracking_outstanding(self._handle, None, 0)
        found = (_structs.kmm_tracked * max(check_resource(count), 1))()
        count = min(load().kmm_tracking_outstanding(self._handle, found, len(found)), len(found))
        return [Allocation(t.p or 0, t.bytes, t.stream or 0, tuple(t.stack[:t.depth]))
                for t in found[:count]]

    def print(self, file: TextIO | None = None) -> None:
        """Prints the live allocations, with symbols, to a file of the system (stderr)."""
        file = sys.stderr if file is None else file
        file.flush()
        check_resource(load().kmm_tracking_print(self._handle, file.fileno()))


class FailureResource(Resource):
    """Calls function(nbytes) when upstream has run out of memory. True: it is tried again."""

    def __init__(self, upstream: Resource, function: Callable[[int], bool]):
        def call(_, nbytes):
            try:
                return bool(function(nbytes))
            except BaseException as e:
                _raised.exception = e
                return False

        self._function = _structs.FAILURE(call)
        super().__init__("kmm_failure_resource_create", upstream._handle,
                         ctypes.cast(self._function, ctypes.c_void_p), None, keep=(upstream,))


class PrefetchResource(Resource):
    """Moves managed memory to its device when it is allocated."""

    def __init__(self, upstream: Resource):
        super().__init__("kmm_prefetch_resource_create", upstream._handle, keep=(upstream,))


class ThreadSafeResource(Resource):
    """Lets one thread at a time call upstream."""

    def __init__(self, upstream: Resource):
        super().__init__("kmm_thread_safe_resource_create", upstream._handle, keep=(upstream,))


# ---- Current resources ----

_current = {}  # device -> the resource that was set
_former = []  # resources that were set: frameworks may have memory of them
_current_lock = threading.Lock()


def get_per_device_resource(device: int) -> Resource:
    """The current resource of a device; -1 is the host."""
    with _current_lock:
        handle = load().kmm_resource_of_device(device)
        if not handle:
            check_resource(-6)
        found = _current.get(device)
        return found if found and found._handle == handle else Resource._borrow(handle)


def set_per_device_resource(device: int, resource: Resource | None) -> None:
    """Sets the current resource of a device; None: the initial one. The old one gives back what is
    not in use; it lives on, because its memory may be in use."""
    with _current_lock:
        check_resource(load().kmm_resource_set_of_device(
            device, resource._handle if resource else None, None))
        old, _current[device] = _current.get(device), resource
        if old and old is not resource:
            old.trim()
            _former.append(old)


def get_current_device_resource() -> Resource:
    """The current resource of this thread's device, or of the host if there is no device."""
    handle = load().kmm_resource_current()
    with _current_lock:
        for found in _current.values():
            if found and found._handle == handle:
                return found
    return Resource._borrow(handle)


def set_current_device_resource(resource: Resource | None) -> None:
    """Sets the current resource of this thread's device."""
    set_per_device_resource(get_current_device_resource().device, resource)


def reinitialize(pool_allocator: bool = False, managed_memory: bool = False,
                 initial_pool_size: int | None = None, maximum_pool_size: int | None = None,
                 devices: int | Sequence[int] = 0, logging: bool = False,
                 log_file_name: str | None = None) -> None:
    """Sets new resources for devices (a number, or several; -1 is the host), as RMM's function of
    this name does: device memory, or managed memory, or a pool on it; logged, if asked for, to
    log_file_name, with the device's number before its suffix."""
    if logging and not log_file_name:
        raise ValueError("kmm: logging needs log_file_name")
    for device in (devices,) if isinstance(devices, int) else devices:
        if device < 0:
            resource = HostResource()
        else:
            resource = (ManagedResource if managed_memory else DeviceResource)(device)
        if pool_allocator:
            resource = PoolResource(resource, initial_bytes=initial_pool_size or 0,
                                    maximum_bytes=maximum_pool_size or 0)
        if logging:
            base, suffix = os.path.splitext(log_file_name)
            resource = LoggingResource(resource, "%s.dev%d%s" % (base, device, suffix))
        set_per_device_resource(device, resource)


@atexit.register
def _end():
    for logger in list(_loggers):
        logger.flush()
