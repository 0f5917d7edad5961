# SPDX-License-Identifier: Apache-2.0
"""Launches of functions of Python: they run in chunks on the CPU, and see arrays of NumPy."""
from __future__ import annotations

import ctypes
import itertools
import operator
import os
import sys
import threading
import traceback
from typing import Any, Callable, Sequence

import numpy

from . import _structs
from ._error import check
from ._library import load
from ._array import Array
from ._region import Access, Axis, Part, Region
from ._runtime import Runtime, current

_records = {}  # number -> _Record of a launch whose chunks may still run
_numbers = itertools.count(1)
_texts = {}  # text -> bytes; libkmm keeps their addresses


class Chunk:
    """The part of the axes that one call of a function has. `begin` and `end` are those of the
    first axis; begins[k] and ends[k] those of axis k. slices[k] says where in the whole array the
    elements are that the k-th array argument has."""

    def __init__(self, begins, ends, slices):
        self.begins, self.ends, self.slices = begins, ends, slices

    @property
    def begin(self) -> int:
        return self.begins[0]

    @property
    def end(self) -> int:
        return self.ends[0]

    def __len__(self) -> int:
        return self.end - self.begin

    def __repr__(self):
        return "<kmm.Chunk %s>" % ", ".join("%d:%d" % k for k in zip(self.begins, self.ends))


class _Record:
    """A launch whose chunks call `function`."""

    def __init__(self, runtime, axes, function, arguments, nowait):
        self.runtime, self.axes, self.function = runtime, axes, function
        self.arguments, self.nowait = arguments, nowait
        self.thrown = None  # (order, exception)
        self.left = 1  # indices whose chunks have not run
        for a in axes:
            self.left *= len(a)
        self.lock = threading.Lock()

    def keep(self, chunk, exception):
        order = (chunk.launch,) + tuple(reversed(chunk.begin))
        if self.nowait:
            self.runtime._keep(order, exception)
            return
        with self.lock:
            if self.thrown is None or order < self.thrown[0]:
                self.thrown = order, exception

    def call(self, chunk, addresses):
        begins, ends = (list(v)[:len(self.axes)] for v in (chunk.begin, chunk.end))
        box = dict(zip(self.axes, zip(begins, ends)))
        values, slices, held = [], [], []
        memory = view = None
        for argument in self.arguments:
            if not isinstance(argument, Access):
                values.append(argument)
                continue
            where = argument.region.slices(box)
            memory, view = _view(argument, addresses[len(slices)], where)
            values.append(view)
            held.append((memory, sys.getrefcount(memory)))
            slices.append(where)
        del view, memory
        self.function(Chunk(begins, ends, slices), *values)
        del values
        self._check_held(held)

    def _check_held(self, held):
        """An array that the function keeps would show memory that is someone else's later."""
        for number, (memory, count) in enumerate(held):
            if sys.getrefcount(memory) >= count:
                raise RuntimeError(
                    "kmm: %s keeps its array argument %d, or a part of it, when it has returned; "
                    "keep a copy() instead" % (_name(self.function), number + 1))

    def done(self, chunk):
        """Counts a chunk that has run. A launch of which all have run needs no record."""
        count = 1
        for k in range(len(self.axes)):
            count *= chunk.end[k] - chunk.begin[k]
        with self.lock:
            self.left -= count
            return self.left <= 0


def _view(access, address, where):
    """The memory of the elements at `where`, and an array over it; `address` is that of the whole
    array's first element."""
    array = access.region.array
    strides = [array.dtype.itemsize]
    for extent in reversed(array.shape[1:]):
        strides.insert(0, strides[0] * extent)
    counts = [len(range(s.start, s.stop, s.step)) for s in where]
    first = sum(s.start * stride for s, stride in zip(where, strides))
    steps = [s.step * stride for s, stride in zip(where, strides)]
    size = sum((n - 1) * step for n, step in zip(counts, steps)) + array.dtype.itemsize
    if 0 in counts:
        first, size = 0, 0
    memory = (ctypes.c_char * size).from_address(address + first)
    kept = [k for k, s in enumerate(access.region.sections) if not s.is_one]
    view = numpy.ndarray([counts[k] for k in kept], array.dtype, memory, 0,
                         [steps[k] for k in kept])
    view.flags.writeable = access.mode != _structs.READ
    return memory, view


@_structs.FUNCTION
def _run(chunk_address, block_address):
    """Called by libkmm for each chunk, on threads of its own. Nothing may be raised from here."""
    chunk = _structs.kmm_chunk.from_address(chunk_address)
    number = ctypes.c_uint64.from_address(block_address).value
    record = _records[number]
    try:
        count = sum(isinstance(a, Access) for a in record.arguments)
        addresses = (ctypes.c_uint64 * count).from_address(block_address + 8)
        record.call(chunk, addresses)
    except BaseException as e:
        traceback.clear_frames(e.__traceback__)  # they hold arrays over memory that goes
        library = load()
        if not (library.kmm_launch_threw(chunk_address) and library.kmm_launch_thrown(
                chunk_address, type(e).__name__.encode(), repr(e).encode(), None)):
            record.keep(chunk, e)
    # Under KMM_CHECK=result chunks run more than once.
    if record.done(chunk) and record.nowait and not os.environ.get("KMM_CHECK"):
        _records.pop(number, None)


def _text(text):
    return _texts.setdefault(text, text.encode())


def _name(function):
    return getattr(function, "__qualname__", type(function).__name__)


class Launch:
    """A launch that is being described; parallel() makes it."""

    def __init__(self, axes, chunk, label, priority, schedule, condition, nowait, runtime):
        if not 1 <= len(axes) <= _structs.MAX_SPLIT or not all(isinstance(a, Axis) for a in axes):
            raise TypeError("kmm: a launch has 1 to %d axes" % _structs.MAX_SPLIT)
        if len(set(axes)) != len(axes):
            raise ValueError("kmm: the same axis twice")
        if schedule is not None and schedule not in _structs.SCHEDULES:
            raise ValueError("kmm: a schedule is one of " + ", ".join(_structs.SCHEDULES))
        self.axes, self.label, self.priority, self.schedule = axes, label, priority, schedule
        sizes = chunk if isinstance(chunk, (tuple, list)) else () if chunk is None else (chunk,)
        self.sizes = [operator.index(size) for size in sizes]
        if len(self.sizes) > len(axes):
            raise ValueError("kmm: more sizes of a chunk than axes")
        self.condition, self.nowait, self.runtime = condition, nowait, runtime or current()

    def run(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Calls function(chunk, arguments...) for each chunk, on threads of kmm. An argument
        read(r), write(r), update(r) or reduce(op, r) is an array of NumPy with the chunk's
        elements of the region, in the array's order; the others are handed on. Returns when the
        chunks have run, and raises what the first of them has raised.

        With nowait it returns before. Then the function, and what it uses besides its arguments,
        stays as it is until kmm.wait(), which raises what chunks have raised; arrays of NumPy among
        the arguments are copied."""
        arguments = [self._argument(k + 1, a) for k, a in enumerate(arguments)]
        accesses = [a for a in arguments if isinstance(a, Access)]
        if any(len(a) == 0 for a in self.axes):
            return
        record = _Record(self.runtime, self.axes, function, arguments, self.nowait)
        number = next(_numbers)
        block = (ctypes.c_uint64 * (1 + len(accesses)))(
            number, *(a.region.array._base or 0 for a in accesses))
        _records[number] = record
        frame = sys._getframe(1)
        library = load()
        status = -1
        try:
            handle = self.runtime._get()
            library.kmm_use(handle)
            built = self._describe(_name(function), frame, [
                (k + 1, a) for k, a in enumerate(arguments) if isinstance(a, Access)])
            status = library.kmm_launch_call(built, ctypes.cast(_run, ctypes.c_void_p), block,
                                             ctypes.sizeof(block))
        finally:
            library.kmm_use(None)
            if status < 0 or not self.nowait:
                _records.pop(number, None)
        if record.thrown:
            raise record.thrown[1]
        check(status, handle)

    __call__ = run

    def _argument(self, number, value):
        if isinstance(value, (Array, Region)):
            raise TypeError("kmm: argument %d: say what the function does with the array: "
                            "read(a[i]), write(a[i]), update(a[i]) or reduce('+', a[i])" % number)
        if isinstance(value, Access):
            if value.region.array.runtime is not self.runtime:
                raise ValueError("kmm: argument %d is an array of another runtime" % number)
            if not value.region.axes <= set(self.axes):
                raise ValueError("kmm: argument %d: %r has an axis that the launch has not"
                                 % (number, value.region))
        elif isinstance(value, numpy.ndarray):
            value = value.copy() if self.nowait else value.view()
            value.flags.writeable = False
        return value

    def _describe(self, name, frame, accesses):
        library = load()
        l = library.kmm_launch_begin_version(_structs.LAUNCH_VERSION, _text(name),
                                             _text(frame.f_code.co_filename), frame.f_lineno)
        if self.label:
            library.kmm_launch_label(l, self.label.encode())
        if self.priority:
            library.kmm_launch_priority(l, self.priority)
        if self.schedule:
            library.kmm_launch_schedule(l, _structs.SCHEDULES[self.schedule])
        if not self.condition:
            library.kmm_launch_if(l, 0)
        (library.kmm_launch_nowait if self.nowait else library.kmm_launch_await)(l)
        for k, a in enumerate(self.axes):
            library.kmm_launch_axis(l, _text(a.name), _structs.RANGE_0 + k, a.lower,
                                    a.upper - a.lower)
        for k, size in enumerate(self.sizes):
            library.kmm_launch_chunk(l, _structs.RANGE_0 + k, size)
        for number, access in accesses:
            if access.region.array.size:
                self._describe_access(l, "%d, %r" % (number, access.region), access)
        return l

    def _describe_access(self, l, text, access):
        library, array = load(), access.region.array
        if access.mode == _structs.REDUCE:
            library.kmm_launch_reduce(l, _structs.OPERATORS[access.op],
                                      _structs.TYPES[array.dtype.name], _text(text), array._base)
        else:
            library.kmm_launch_access(l, access.mode, _text(text), array._base,
                                      array.dtype.itemsize)
        for extent in array.shape:
            library.kmm_launch_extent(l, extent)
        for s in access.region.sections:
            library.kmm_launch_index(l, 0 if s.is_all else s.lower.constant,
                                     _structs.WHOLE if s.is_all else s.length.constant)
            for k, axis in enumerate(() if s.is_all else self.axes):
                coefficients = s.lower.terms.get(axis, 0), s.length.terms.get(axis, 0)
                if any(coefficients):
                    library.kmm_launch_coef(l, k, *coefficients)
            if isinstance(s, Part):
                library.kmm_launch_offsets(l, s.offsets.ctypes.data,
                                           _structs.TYPES[s.offsets.dtype.name], len(s.offsets))


def parallel(*axes: Axis, chunk: int | Sequence[int] | None = None, label: str | None = None,
             priority: int = 0, schedule: str | None = None, if_: bool = True,
             nowait: bool = False, runtime: Runtime | None = None) -> Launch:
    """Begins a launch over 1 to 3 axes: parallel(i, chunk=1000).run(function, read(a[i]), ...).

    chunk: indices of a chunk, one number for each axis; axes behind the last are not divided.
    Without it kmm chooses. label: the name in messages and traces. priority: of the chunks that
    are ready, those of higher priority start first. schedule: "locality", "block" or "cyclic", by
    which chunks go to devices. `if_`: false makes it one chunk. nowait: see Launch.run."""
    return Launch(axes, chunk, label, priority, schedule, if_, nowait, runtime)
