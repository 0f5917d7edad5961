# SPDX-License-Identifier: Apache-2.0
"""Streams of a device."""
from __future__ import annotations

import ctypes
import operator
from typing import Any

from ._error import check_resource
from ._library import load


def stream_address(stream: Any) -> int | None:
    """The driver's handle of a stream: None (the default stream), a number, or an object of kmm,
    CuPy, Numba, PyTorch or any other that has __cuda_stream__."""
    if stream is None:
        return None
    if hasattr(stream, "__cuda_stream__"):
        found = stream.__cuda_stream__
        return (found() if callable(found) else found)[1] or None
    for name in ("ptr", "cuda_stream", "handle"):
        value = getattr(stream, name, None)
        if value is not None:
            return getattr(value, "value", value) or None
    return operator.index(stream) or None


class Stream:
    """A stream of a StreamPool, which it keeps alive."""

    def __init__(self, pool, address):
        self._pool, self.ptr = pool, address

    def __cuda_stream__(self):
        return 0, self.ptr or 0

    def __eq__(self, other):
        return isinstance(other, Stream) and self.ptr == other.ptr

    def __hash__(self):
        return hash(self.ptr)

    def __repr__(self):
        return "<kmm.mr.Stream 0x%x>" % (self.ptr or 0)


class StreamPool:
    """Non-blocking streams of a device, which are created once. len() is their number."""

    def __init__(self, device: int = 0, count: int = 0):
        """count 0: 16 streams."""
        self._pool = None
        out = ctypes.c_void_p()
        check_resource(load().kmm_stream_pool_create(device, count, ctypes.byref(out)))
        self._pool, self._turn = out.value, 0

    def __len__(self) -> int:
        return load().kmm_stream_pool_count(self._pool)

    def __getitem__(self, index: int) -> Stream:
        if not 0 <= index < len(self):
            raise IndexError("the pool has %d streams" % len(self))
        out = ctypes.c_void_p()
        check_resource(load().kmm_stream_pool_get(self._pool, index, ctypes.byref(out)))
        return Stream(self, out.value)

    def next(self) -> Stream:
        """The streams in turn."""
        self._turn += 1
        return self[(self._turn - 1) % len(self)]

    def __del__(self):
        if getattr(self, "_pool", None):
            load().kmm_stream_pool_destroy(self._pool)
