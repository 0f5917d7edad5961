# SPDX-License-Identifier: Apache-2.0
"""Arrays of libkmm: elements that may lie on devices, in host memory and on disk."""
from __future__ import annotations

import ctypes
import itertools
import operator
from typing import Any

import numpy

from . import _structs
from ._error import check
from ._library import load
from ._region import Affine, Part, Region, section
from ._runtime import Runtime, current

_PIECE = 1 << 24  # bytes of host memory that fill() uses at a time


class Array:
    """An array that launches use. It may be larger than the memory of devices and of the host.

    `x[i]`, with an axis in the index, is a region for a launch. `x[2:5]`, with numbers alone, is a
    copy of these elements as an array of NumPy; it waits for the work that computes them.
    `x[2:5] = values` sets elements. numpy.asarray(x) and x.numpy() copy all of it."""

    __iter__ = None  # each element would be a copy of its own; x.numpy() can be iterated over
    __array_priority__ = 1000

    def __init__(self, shape: int | tuple[int, ...], dtype: Any = "float32", *,
                 label: str | None = None, runtime: Runtime | None = None):
        """Elements have no value at first. `label` names the array in messages."""
        self._base = None
        self.shape = tuple(map(operator.index,
                               shape if hasattr(shape, "__len__") else (shape,)))
        self.dtype = numpy.dtype(dtype)
        self.label, self.runtime = label, runtime or current()
        if not 1 <= self.ndim <= _structs.MAX_DIMS or min(self.shape) < 0:
            raise ValueError("kmm: an array has 1 to %d dimensions, none negative, but this has "
                             "the shape %s" % (_structs.MAX_DIMS, self.shape))
        if self.dtype.hasobject or not self.dtype.itemsize or self.dtype.subdtype:
            raise TypeError("kmm: elements are copied as bytes, which those of %s cannot be"
                            % self.dtype)
        if not self.dtype.isnative:
            raise TypeError("kmm: devices cannot compute with the byte order of %s" % self.dtype)
        if self.size == 0:
            return
        out = ctypes.c_void_p()
        extents = (ctypes.c_int64 * _structs.MAX_DIMS)(*self.shape)
        described = _structs.kmm_shape(self.ndim, extents, self.dtype.itemsize,
                                       label.encode() if label else None)
        handle = self.runtime._get()
        check(load().kmm_array_create(handle, ctypes.byref(described), ctypes.byref(out)), handle)
        self._base = out.value

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __del__(self):
        handle = self.runtime._handle if getattr(self, "_base", None) else None
        if handle is not None:  # a runtime that has been closed has freed its arrays
            check(load().kmm_array_destroy(handle, self._base), handle)

    # ---- Elements ----

    @property
    def region(self):
        """x.region[0:5] is a region also without an axis in the index, and x.region[...] all."""
        return _Regions(self)

    def __getitem__(self, index):
        index = self._expand(index)
        if any(isinstance(part, (Affine, Part)) for k in index for part in
               ((k.start, k.stop) if isinstance(k, slice) else (k,))):
            return self.region[index]
        out, dropped = self._outline(index)
        for place, at, count in self._runs(index):
            self._copy_out(out[place], at, count)
        return out.reshape(dropped)[()]

    def __setitem__(self, index, values):
        index = self._expand(index)
        if any(isinstance(k, (Affine, Part)) for k in index):
            raise TypeError("kmm: elements of an axis are set by a launch that has write(x[i])")
        shape, dropped = self._outline(index, shape_only=True)
        values = numpy.broadcast_to(numpy.asarray(values), dropped).reshape(shape)
        for place, at, count in self._runs(index):
            self._copy_in(at, numpy.ascontiguousarray(values[place], self.dtype))

    def numpy(self, out: numpy.ndarray | None = None) -> numpy.ndarray:
        """A copy of all elements as an array of NumPy, in `out` if it is given."""
        if out is None:
            out = numpy.empty(self.shape, self.dtype)
        if (out.shape != self.shape or out.dtype != self.dtype or not out.flags.c_contiguous
                or not out.flags.writeable):
            raise ValueError("kmm: out is a writable, contiguous array of shape %s and dtype %s"
                             % (self.shape, self.dtype))
        self._copy_out(out, 0, self.size)
        return out

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("kmm: an array's elements are nowhere that NumPy can see; a copy is "
                             "needed")
        out = self.numpy()
        return out if dtype is None else out.astype(dtype, copy=False)

    def fill(self, value: Any) -> None:
        """Sets all elements to a value."""
        one = numpy.full(1, value, self.dtype)
        if self.size and len(set(one.tobytes())) == 1:
            self._check(load().kmm_fill(self.runtime._get(), self._base, one.tobytes()[0],
                                        self.nbytes))
            return
        piece = numpy.full(min(self.size, max(1, _PIECE // self.dtype.itemsize)), value, self.dtype)
        for at in range(0, self.size, max(piece.size, 1)):
            self._copy_in(at, piece[:self.size - at])

    def copy(self) -> Array:
        """A new array with these elements."""
        new = Array(self.shape, self.dtype, label=self.label, runtime=self.runtime)
        if self.size:
            self._check(load().kmm_copy(self.runtime._get(), new._base, self._base, self.nbytes))
        return new

    def _check(self, status):
        self.runtime._check(status)

    def _address(self, at):
        return self._base + at * self.dtype.itemsize

    def _copy_out(self, out, at, count):
        if count:
            self._check(load().kmm_copy_out(self.runtime._get(), out.ctypes.data, self._address(at),
                                            count * self.dtype.itemsize))

    def _copy_in(self, at, values):
        if values.size:
            self._check(load().kmm_copy_in(self.runtime._get(), self._address(at),
                                           values.ctypes.data, values.nbytes))

    def _expand(self, index):
        """The index with one part for each dimension."""
        index = index if isinstance(index, tuple) else (index,)
        if any(k is Ellipsis for k in index):
            at = [k is Ellipsis for k in index].index(True)
            rest = index[at + 1:]
            index = index[:at] + (slice(None),) * (self.ndim - at - len(rest)) + rest
        if len(index) > self.ndim:
            raise IndexError("%d indices for %d dimensions" % (len(index), self.ndim))
        for k in index:
            if isinstance(k, (bool, numpy.bool_)) or not (
                    isinstance(k, (slice, Affine, Part)) or hasattr(k, "__index__")):
                raise TypeError("kmm: an index is a number, a slice, or a sum of axes, but not %r"
                                % (k,))
        return index + (slice(None),) * (self.ndim - len(index))

    def _ranges(self, index):
        """The indices of each dimension, as ranges."""
        ranges = []
        for k, extent in zip(index, self.shape):
            if isinstance(k, slice):
                ranges.append(range(*k.indices(extent)))
            else:
                at = operator.index(k) + (extent if operator.index(k) < 0 else 0)
                if not 0 <= at < extent:
                    raise IndexError("index %s is out of range for %d elements" % (k, extent))
                ranges.append(range(at, at + 1))
        return ranges

    def _outline(self, index, shape_only=False):
        """What holds the elements, or its shape; and the shape without dimensions of one number."""
        shape = tuple(map(len, self._ranges(index)))
        dropped = tuple(n for n, k in zip(shape, index) if isinstance(k, slice))
        return shape if shape_only else numpy.empty(shape, self.dtype), dropped

    def _runs(self, index):
        """(place in the result, first element, count) of each run of neighbouring elements."""
        ranges = self._ranges(index)
        inner = self.ndim  # dimensions from here on are one run
        row = 1
        while inner > 0:
            r, extent = ranges[inner - 1], self.shape[inner - 1]
            if len(r) > 1 and r.step != 1:
                break
            inner -= 1
            row *= len(r)
            if len(r) != extent:
                break
        if row == 0 or any(len(r) == 0 for r in ranges):
            return
        strides = [1]
        for extent in reversed(self.shape[1:]):
            strides.insert(0, strides[0] * extent)
        first = sum(r[0] * s for r, s in zip(ranges[inner:], strides[inner:]))
        for place in itertools.product(*(range(len(r)) for r in ranges[:inner])):
            at = sum(r[k] * s for r, k, s in zip(ranges, place, strides))
            yield place + (slice(None),) * (self.ndim - inner) if inner < self.ndim else \
                place[:-1] + (slice(place[-1], place[-1] + 1),), at + first, row

    def __repr__(self):
        return "<kmm.Array%s, shape %s, %s, %s>" % (
            " " + self.label if self.label else "", self.shape, self.dtype, _size(self.nbytes))


class _Regions:
    def __init__(self, array):
        self._array = array

    def __getitem__(self, index):
        index = self._array._expand(index)
        return Region(self._array, [section(k, n) for k, n in zip(index, self._array.shape)])


def _size(count):
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return "%g %s" % (round(count, 1), unit)
        count /= 1024


def array(values: Any, dtype: Any = None, *, label: str | None = None,
          runtime: Runtime | None = None) -> Array:
    """An array with a copy of these values, which numpy.asarray takes."""
    values = numpy.asarray(values, dtype)
    new = Array(values.shape if values.ndim else (1,), values.dtype, label=label, runtime=runtime)
    new._copy_in(0, numpy.ascontiguousarray(values))
    return new


def empty(shape: int | tuple[int, ...], dtype: Any = "float32", **options: Any) -> Array:
    """An array whose elements have no value yet. Options: label, runtime."""
    return Array(shape, dtype, **options)


def full(shape: int | tuple[int, ...], value: Any, dtype: Any = "float32",
         **options: Any) -> Array:
    """An array of one value."""
    new = Array(shape, dtype, **options)
    new.fill(value)
    return new


def zeros(shape: int | tuple[int, ...], dtype: Any = "float32", **options: Any) -> Array:
    """An array of zeros."""
    return full(shape, 0, dtype, **options)
