# SPDX-License-Identifier: Apache-2.0
"""Axes of launches, and the parts of arrays that they name: a[i], a[2 * i + 1], a[i - 1:i + 2]."""
from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, Any

from . import _structs
from ._error import Unsupported

if TYPE_CHECKING:
    from ._array import Array

_numbers = itertools.count()


class Affine:
    """An index: a constant plus axes times constants."""

    def __init__(self, constant=0, terms=None):
        self.constant = operator.index(constant)
        self.terms = terms or {}  # Axis -> coefficient other than 0

    def _plus(self, other, factor):
        if not isinstance(other, Affine):
            try:
                other = Affine(other)
            except TypeError:
                return NotImplemented
        terms = dict(self.terms)
        for axis, k in other.terms.items():
            terms[axis] = terms.get(axis, 0) + factor * k
        return Affine(self.constant + factor * other.constant,
                      {a: k for a, k in terms.items() if k})

    def __add__(self, other):
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other):
        return self._plus(other, -1)

    def __rsub__(self, other):
        return (self * -1)._plus(other, 1)

    def __neg__(self):
        return self * -1

    def __mul__(self, factor):
        if isinstance(factor, Affine):
            raise TypeError("kmm: an index is a sum of axes times numbers; this is a product of "
                            "two axes")
        try:
            return Affine()._plus(self, operator.index(factor))
        except TypeError:
            return NotImplemented

    __rmul__ = __mul__

    def __floordiv__(self, _):
        raise TypeError("kmm: an index is a sum of axes times numbers; it has no division. Divide "
                        "the axis instead, and let one index stand for several elements: "
                        "a[2 * i:2 * i + 2]")

    __truediv__ = __mod__ = __floordiv__

    def extremes(self, box):
        """The least and the greatest value where `box` has (begin, end) of each axis."""
        low = high = self.constant
        for axis, k in self.terms.items():
            ends = k * box[axis][0], k * (box[axis][1] - 1)
            low, high = low + min(ends), high + max(ends)
        return low, high

    def __repr__(self):
        parts = ["%s%r" % ("" if k == 1 else "%d * " % k, axis) for axis, k in self.terms.items()]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")


class Axis(Affine):
    """A dimension of a launch, with the indices lower to upper - 1."""

    def __init__(self, lower, upper, name):
        super().__init__(0, {self: 1})
        self.lower, self.upper, self.name = lower, upper, name

    def __len__(self):
        return max(self.upper - self.lower, 0)

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other

    def __repr__(self):
        return self.name


def axis(*bounds: int, name: str | None = None) -> Axis:
    """A dimension of a launch: axis(n) has the indices 0 to n - 1, axis(a, b) those of a to b - 1.
    Regions are written with it: x[axis]."""
    if len(bounds) not in (1, 2):
        raise TypeError("axis takes a length, or the first index and the one behind the last")
    lower, upper = map(operator.index, bounds if len(bounds) == 2 else (0,) + bounds)
    return Axis(lower, upper, name or "i%d" % next(_numbers))


class Section:
    """The indices of one dimension: [lower, lower + length), for each value of the axes. `all`: the
    whole dimension. `is_one`: a number, which leaves no dimension."""

    def __init__(self, lower, length, is_all=False, is_one=False):
        self.lower, self.length, self.is_all, self.is_one = lower, length, is_all, is_one

    def slice(self, box, extent):
        """The elements of the chunk of which `box` has the axes, as a slice."""
        if self.is_all:
            return slice(0, extent, 1)
        low, _ = self.lower.extremes(box)
        _, high = (self.lower + self.length).extremes(box)
        step = self._step(box)
        if low < 0:
            low += -(low // step) * step
        return slice(low, max(low, min(high, extent)), step)

    def _step(self, box):
        """The distance of elements, 1 unless there are gaps. A region that is no slice is
        refused."""
        if self.length.terms:
            if self.lower.terms:
                raise Unsupported(-10, "%r has a length that depends on an axis" % self)
            return 1
        steps = sorted((abs(k), box[a][1] - box[a][0]) for a, k in self.lower.terms.items())
        steps = [(k, count) for k, count in steps if count > 1]
        span = self.length.constant
        if len(steps) == 1 and span == 1:
            return steps[0][0]
        for k, count in steps:
            if k > span:
                raise Unsupported(-10, "%r has gaps between the elements of a chunk" % self)
            span += k * (count - 1)
        return 1

    def __repr__(self):
        if self.is_all:
            return ":"
        if self.length.constant == 1 and not self.length.terms:
            return repr(self.lower)
        return "%r:%r" % (self.lower, self.lower + self.length)


class Part(Section):
    """The elements of parts whose numbers are the indices of a section."""

    def __init__(self, offsets, numbers):
        super().__init__(numbers.lower, numbers.length)
        self.offsets = offsets

    def slice(self, box, extent):
        """All elements from the first to the last."""
        last = len(self.offsets) - 1
        low, _ = self.lower.extremes(box)
        _, high = (self.lower + self.length).extremes(box)
        low = max(0, min(low, last))
        high = max(low, min(high, last))
        begins, ends = self.offsets[low:high], self.offsets[low + 1:high + 1]
        has = ends > begins
        if not has.any():
            return slice(0, 0, 1)
        begin, end = (max(0, min(int(k), extent)) for k in (begins[has].min(), ends[has].max()))
        return slice(begin, end, 1)

    def __repr__(self):
        return "part(..., %s)" % super().__repr__()


def part(offsets: Any, index: Affine | slice) -> Part:
    """The elements of parts of an array, as of the rows of a matrix in CSR form:
    values[kmm.part(rows, i)] are those from rows[i] on, before rows[i + 1]. With a slice for i they
    are those of several parts. The offsets, integers of 32 or 64 bits that numpy.array takes, are
    copied. A function gets all elements from the first to the last of its chunk's parts;
    chunk.slices says where they lie."""
    import numpy
    offsets = numpy.array(offsets, order="C")
    if offsets.ndim != 1 or not len(offsets) or offsets.dtype.name not in (
            "int32", "int64", "uint32", "uint64"):
        raise TypeError("kmm: offsets are a row of integers of 32 or 64 bits")
    if not isinstance(index, (Affine, slice)):
        index = Affine(index)
    numbers = section(index, len(offsets) - 1)
    return Part(offsets, Section(Affine(0), Affine(len(offsets) - 1)) if numbers.is_all
                else numbers)


def _affine(value):
    return value if isinstance(value, Affine) else Affine(value)


def _bound(value, extent, default):
    if value is None:
        return default
    if isinstance(value, Affine):
        return value
    value = operator.index(value)
    return value + extent if value < 0 else value


def section(index, extent):
    """What an index of NumPy's form means in a dimension of that extent."""
    if isinstance(index, Part):
        return index
    if isinstance(index, slice):
        if index.step not in (None, 1):
            raise TypeError("kmm: a region has no step; write a[2 * i] for every second element")
        if index.start is None and index.stop is None:
            return Section(None, None, is_all=True)
        low, high = _bound(index.start, extent, 0), _bound(index.stop, extent, extent)
        return Section(_affine(low), _affine(high) - low)
    if isinstance(index, Affine):
        return Section(index, Affine(1))
    value = _bound(index, extent, 0)
    if not 0 <= value < extent:
        raise IndexError("index %s is out of range for %d elements" % (index, extent))
    return Section(Affine(value), Affine(1), is_one=True)


class Region:
    """The part of an array that each index of the axes names. read(), write(), update() and
    reduce() make it an argument of a launch."""

    def __init__(self, array, sections):
        self.array, self.sections = array, sections
        seen = [a for s in sections if not s.is_all for a in {**s.lower.terms, **s.length.terms}]
        if len(seen) != len(set(seen)):
            raise Unsupported(-10, "%r has the same axis in two dimensions" % self)
        self.axes = set(seen)

    def slices(self, box):
        """The elements that a chunk has, one slice for each dimension."""
        return tuple(s.slice(box, n) for s, n in zip(self.sections, self.array.shape))

    def __repr__(self):
        return "%s[%s]" % (self.array.label or "array", ", ".join(map(repr, self.sections)))


class Access:
    """What a launch does to a region."""

    def __init__(self, mode, region, op=None):
        if not isinstance(region, Region):
            if not hasattr(region, "region"):
                raise TypeError("kmm: read(), write(), update() and reduce() take a kmm.Array, or "
                                "a part of one, such as a[i]; a[0], without an axis, is its "
                                "element, and a.region[0] the part")
            region = region.region[...]
        self.mode, self.region, self.op = mode, region, op
        if mode == _structs.REDUCE and region.array.dtype.name not in _structs.TYPES:
            raise TypeError("kmm: reduce() does not take elements of " + region.array.dtype.name)


def read(region: Region | Array) -> Access:
    """Chunks read the region."""
    return Access(_structs.READ, region)


def write(region: Region | Array) -> Access:
    """Chunks set every element of the region, and read none before."""
    return Access(_structs.WRITE, region)


def update(region: Region | Array) -> Access:
    """Chunks read the region and change it."""
    return Access(_structs.UPDATE, region)


def reduce(op: str, region: Region | Array) -> Access:
    """Chunks work on copies of the region that begin as the operator's neutral element; kmm joins
    them with it. Operators: + * min max & | ^ && ||."""
    if op not in _structs.OPERATORS:
        raise ValueError("kmm: the operator is one of " + " ".join(_structs.OPERATORS))
    return Access(_structs.REDUCE, region, op)
