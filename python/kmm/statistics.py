# SPDX-License-Identifier: Apache-2.0
"""Counts of allocations through the current resource, and a profiler by function::

    kmm.statistics.enable_statistics()
    with kmm.statistics.statistics() as counts:
        ...
    print(counts.bytes.peak)

    @kmm.statistics.profiler()
    def step(): ...
    print(kmm.statistics.profiler_records.report())

Counts are those of the device's current resource, in all threads."""
from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from typing import NamedTuple

from . import mr


def _current():
    resource = mr.get_current_device_resource()
    return resource if isinstance(resource, mr.StatisticsResource) else None


def enable_statistics() -> None:
    """Makes the current resource one that counts."""
    if _current() is None:
        mr.set_current_device_resource(mr.StatisticsResource(mr.get_current_device_resource()))


def get_statistics() -> mr.Statistics | None:
    """The counts so far; None: they are not enabled."""
    resource = _current()
    return resource.statistics() if resource else None


def push_statistics() -> mr.Statistics | None:
    """Begins a scope that counts from zero. Returns the counts of the outer one, or None."""
    resource = _current()
    if resource is None:
        return None
    counts = resource.statistics()
    resource.push()
    return counts


def pop_statistics() -> mr.Statistics | None:
    """Ends a scope. Returns its counts, or None."""
    resource = _current()
    return resource.pop() if resource else None


class _Scope:
    """What statistics() gives: the counts of the scope so far, and when it has ended all of it."""

    def __init__(self, resource):
        self._resource, self._ended = resource, None

    def _counts(self):
        return self._ended or self._resource.statistics()

    bytes = property(lambda self: self._counts().bytes)
    count = property(lambda self: self._counts().count)

    def __repr__(self):
        return repr(self._counts())


@contextlib.contextmanager
def statistics():
    """A scope that counts from zero, as a context manager. It enables statistics."""
    enable_statistics()
    resource = _current()
    resource.push()
    scope = _Scope(resource)
    try:
        yield scope
    finally:
        scope._ended = resource.pop()


class Record(NamedTuple):
    """What the calls of a function, or the runs of a block, have allocated."""
    calls: int
    bytes_total: int
    bytes_peak: int  #: the most that one of them had at a time
    count_total: int


class ProfilerRecords:
    """Records by name, which has the file and the line."""

    def __init__(self):
        self._lock, self.records = threading.Lock(), {}

    def add(self, name, counts):
        with self._lock:
            old = self.records.get(name, Record(0, 0, 0, 0))
            self.records[name] = Record(
                old.calls + 1, old.bytes_total + counts.bytes.total,
                max(old.bytes_peak, counts.bytes.peak), old.count_total + counts.count.total)

    def clear(self) -> None:
        with self._lock:
            self.records.clear()

    def report(self, order: str = "bytes_peak") -> str:
        """A table as text, of the largest first by a field of Record."""
        with self._lock:
            rows = sorted(self.records.items(), key=lambda r: (-getattr(r[1], order), r[0]))
        lines = ["%10s %16s %16s %12s  %s" % ("calls", "bytes, peak", "bytes, total",
                                              "allocations", "function")]
        for name, r in rows:
            lines.append("%10d %16d %16d %12d  %s" % (r.calls, r.bytes_peak, r.bytes_total,
                                                      r.count_total, name))
        return "\n".join(lines)

    def __repr__(self):
        return self.report()


profiler_records = ProfilerRecords()


def profiler(name: str | None = None, records: ProfilerRecords = profiler_records):
    """Records what a function or a block allocates: a decorator, or a context manager. Where
    statistics are not enabled it does nothing. Without a name it is that of the function, or the
    place of the block."""
    return _Profiler(name, records, sys._getframe(1))


class _Profiler(contextlib.ContextDecorator):
    def __init__(self, name, records, frame):
        self._name, self._records, self._open = name, records, []
        self._place = "%s:%d" % (os.path.basename(frame.f_code.co_filename), frame.f_lineno)

    def __call__(self, function):
        code = getattr(function, "__code__", None)
        name = self._name or "%s (%s)" % (
            function.__qualname__, "%s:%d" % (os.path.basename(code.co_filename),
                                              code.co_firstlineno) if code else self._place)

        @functools.wraps(function)
        def profiled(*arguments, **named):
            with _Profiler(name, self._records, sys._getframe()):
                return function(*arguments, **named)
        return profiled

    def __enter__(self):
        resource = _current()
        if resource is not None:
            resource.push()
        self._open.append(resource)
        return self

    def __exit__(self, *_):
        resource = self._open.pop()
        if resource is not None:
            self._records.add(self._name or self._place, resource.pop())
