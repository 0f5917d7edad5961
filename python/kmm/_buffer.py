# SPDX-License-Identifier: Apache-2.0
"""Untyped memory of a resource, for other libraries to use in place."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from . import _structs
from ._error import StateError, Unsupported, check_resource
from ._library import load
from ._stream import stream_address

if TYPE_CHECKING:
    from .mr import Resource

# kDLCPU, kDLCUDAHost, kDLCUDAManaged, kDLCUDA of dlpack.h, by the kind of memory
_DLPACK_KINDS = {"host": 1, "pinned": 3, "managed": 13, "device": 2}


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _DLManagedTensor(ctypes.Structure):
    pass


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_DLManagedTensor._fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p),
                             ("deleter", _DELETER)]
_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_lent = {}  # address of a _DLManagedTensor -> what lives until the consumer has done


@_DELETER
def _delete(address):
    _lent.pop(address, None)


@_DESTRUCTOR
def _destroy(capsule):  # of one that nobody has taken
    if _api.PyCapsule_IsValid(capsule, b"dltensor"):
        _lent.pop(_api.PyCapsule_GetPointer(capsule, b"dltensor"), None)


class DeviceBuffer:
    """Memory of a resource. It is freed on its stream when nothing refers to the buffer.

    Libraries use it in place: by __cuda_array_interface__, or by __array_interface__ where it is
    host memory, and by DLPack. It is then an array of bytes. When a library has the address, the
    memory stays where it is: what would move it is a kmm.StateError."""

    def __init__(self, size: int = 0, stream: Any = None, mr: Resource | None = None, *,
                 data: Any = None):
        """mr None: the current resource. data: bytes, or what has a buffer, to fill it with."""
        from .mr import get_current_device_resource
        self._buffer = None
        self.mr = mr or get_current_device_resource()
        if data is not None:
            data = memoryview(data).cast("B")
            size = size or len(data)
            if len(data) != size:
                raise ValueError("kmm: size is %d, but data has %d bytes" % (size, len(data)))
        buffer = _structs.kmm_buffer()
        self._stream = stream  # kept alive
        check_resource(load().kmm_buffer_init(ctypes.byref(buffer), size, stream_address(stream),
                                              self.mr._handle))
        self._buffer = buffer
        self._lends = 0  # consumers by DLPack
        self._is_exposed = False  # an interface has been read
        if data is not None:
            self.copy_from_host(data)

    @classmethod
    def to_device(cls, data: Any, stream: Any = None, mr: Resource | None = None) -> DeviceBuffer:
        """A buffer with a copy of `data`."""
        return cls(0, stream, mr, data=data)

    @property
    def ptr(self) -> int:
        """The address; 0 if the buffer is empty."""
        return self._buffer.data or 0

    @property
    def size(self) -> int:
        """In bytes."""
        return self._buffer.bytes

    nbytes = size

    def __len__(self) -> int:
        return self.size

    @property
    def capacity(self) -> int:
        return self._buffer.capacity

    @property
    def stream(self):
        """The stream that the memory is ordered on."""
        return self._stream

    @stream.setter
    def stream(self, stream):
        load().kmm_buffer_set_stream(ctypes.byref(self._buffer), stream_address(stream))
        self._stream = stream

    def copy_from_host(self, data: Any, offset: int = 0) -> None:
        """Copies from what has a buffer, such as bytes or an array of NumPy."""
        data = memoryview(data).cast("B")
        self._within(offset, len(data))
        held = bytes(data) if data.readonly else data
        source = held if isinstance(held, bytes) else (ctypes.c_char * len(data)).from_buffer(held)
        if len(data):
            check_resource(load().kmm_buffer_write(
                ctypes.byref(self._buffer), offset,
                ctypes.cast(ctypes.c_char_p(source), ctypes.c_void_p)
                if isinstance(source, bytes) else ctypes.addressof(source), len(data)))

    def copy_to_host(self, out: Any = None, offset: int = 0) -> Any:
        """Copies to `out`, which is writable, or to new bytes."""
        if out is None:
            out = bytearray(self.size - offset)
            self.copy_to_host(out, offset)
            return bytes(out)
        view = memoryview(out).cast("B")
        self._within(offset, len(view))
        if len(view):
            target = (ctypes.c_char * len(view)).from_buffer(view)
            check_resource(load().kmm_buffer_read(ctypes.byref(self._buffer), offset,
                                                  ctypes.addressof(target), len(view)))
        return out

    def copy_from_device(self, source: Any, offset: int = 0) -> None:
        """Copies from another buffer, or from an array of bytes in one piece that has
        __cuda_array_interface__. Work on it must be ordered before the buffer's stream."""
        if isinstance(source, DeviceBuffer):
            ptr, size = source.ptr, source.size
        else:
            shown = source.__cuda_array_interface__
            ptr, size = shown["data"][0], int(shown["typestr"][2:])
            for extent in shown["shape"]:
                size *= extent
            if shown.get("strides") is not None:
                raise ValueError("kmm: the array is not in one piece")
        self._within(offset, size)
        if size:
            check_resource(load().kmm_buffer_write(ctypes.byref(self._buffer), offset, ptr, size))

    def copy(self) -> DeviceBuffer:
        """A new buffer of the same resource and stream, with these contents."""
        new = DeviceBuffer(self.size, self._stream, self.mr)
        new.copy_from_device(self)
        return new

    def tobytes(self) -> bytes:
        return self.copy_to_host()

    def __reduce__(self):
        return DeviceBuffer.to_device, (self.tobytes(),)

    def fill(self, value: int, offset: int = 0, size: int | None = None) -> None:
        """Sets bytes to a value of 0 to 255."""
        size = self.size - offset if size is None else size
        self._within(offset, size)
        check_resource(load().kmm_buffer_fill(ctypes.byref(self._buffer), offset, value, size))

    def resize(self, size: int) -> None:
        """Keeps the contents up to the smaller size; never reduces the capacity."""
        self._change(load().kmm_buffer_resize, size, moves=size > self.capacity)

    def reserve(self, capacity: int) -> None:
        self._change(load().kmm_buffer_reserve, capacity, moves=capacity > self.capacity)

    def shrink(self) -> None:
        """Reduces the capacity to the size."""
        self._change(load().kmm_buffer_shrink)

    def _change(self, function, *arguments, moves=True):
        if moves and (self._lends or self._is_exposed):
            raise StateError(-12, "another library has the memory's address")
        check_resource(function(ctypes.byref(self._buffer), *arguments,
                                stream_address(self._stream)))

    def _within(self, offset, size):
        if offset < 0 or size < 0 or offset + size > self.size:
            raise ValueError("kmm: bytes %d to %d of a buffer of %d" % (offset, offset + size,
                                                                      self.size))

    # ---- For other libraries ----

    def _interface(self):
        self._is_exposed = True
        return {"data": (self.ptr, False), "shape": (self.size,), "strides": None,
                "typestr": "|u1", "version": 3}

    @property
    def __cuda_array_interface__(self):
        if self.mr.kind == "host":
            raise AttributeError("host memory has no __cuda_array_interface__")
        return dict(self._interface(), stream=stream_address(self._stream) or 1)

    @property
    def __array_interface__(self):
        if self.mr.kind != "host":
            raise AttributeError("use __cuda_array_interface__, or copy_to_host()")
        return self._interface()

    def __dlpack_device__(self):
        return _DLPACK_KINDS[self.mr.kind], max(self.mr.device, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """The consumer's stream: -1 for none. If it is another than the buffer's, the work on the
        buffer's is waited for."""
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise Unsupported(-10, "the memory is lent where it is")
        own = stream_address(self._stream) or 1
        if self.mr.kind != "host" and self.size and stream != -1 and (stream or 1) != own:
            self.copy_to_host(bytearray(1))
        shape = (ctypes.c_int64 * 1)(self.size)
        kind, device = self.__dlpack_device__()
        tensor = _DLManagedTensor(_DLTensor(self.ptr, kind, device, 1, 1, 8, 1, shape, None, 0),
                                  None, _delete)
        address = ctypes.addressof(tensor)
        _lent[address] = tensor, shape, _Loan(self)
        return _api.PyCapsule_New(address, b"dltensor", ctypes.cast(_destroy, ctypes.c_void_p))

    def __repr__(self):
        return "<kmm.mr.DeviceBuffer of %d bytes at 0x%x, %s>" % (self.size, self.ptr, self.mr.name)

    def __del__(self):
        if getattr(self, "_buffer", None):
            check_resource(load().kmm_buffer_deinit(ctypes.byref(self._buffer)))


class _Loan:
    """Counts a consumer of a buffer while it lives."""

    def __init__(self, buffer):
        self._buffer = buffer
        buffer._lends += 1

    def __del__(self):
        self._buffer._lends -= 1
