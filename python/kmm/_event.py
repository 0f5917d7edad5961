# SPDX-License-Identifier: Apache-2.0
"""Events: waiting for some launches, with a time limit."""
from __future__ import annotations

import ctypes

from . import _structs
from ._error import check
from ._library import load
from ._runtime import Runtime, current


class Event:
    """What a thread submits in `with kmm.event() as e:`, launches and copies. Launches of kernels
    belong to it, and those of functions with nowait=True."""

    def __init__(self, runtime: Runtime, handle=None):
        self.runtime, self._handle = runtime, handle

    def __enter__(self) -> Event:
        handle = ctypes.c_void_p()
        check(load().kmm_event_begin(self.runtime._get(), ctypes.byref(handle)))
        self._handle, old = handle.value, self._handle
        if old:
            load().kmm_event_destroy(old)
        return self

    def __exit__(self, kind, value, trace):
        check(load().kmm_event_end(self._handle))

    def _passed(self, status):
        if status != _structs.PENDING:
            self.runtime._check(status)
        return status != _structs.PENDING

    def done(self) -> bool:
        """True if the work is done. Raises what it has failed with."""
        self.runtime._get()
        return not self._handle or self._passed(load().kmm_event_test(self._handle))

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for the work, at most `timeout` seconds. False: it is not done. Raises what chunks
        have raised."""
        self.runtime._get()
        limit = -1 if timeout is None else int(max(0, min(timeout, 1 << 32)) * 1e9)
        return not self._handle or self._passed(load().kmm_event_wait(self._handle, limit))

    def __del__(self):
        if getattr(self, "_handle", None):
            load().kmm_event_destroy(self._handle)

    def __repr__(self):
        if self.runtime._handle is None:
            return "<kmm.Event of a closed runtime>"
        status = load().kmm_event_test(self._handle) if self._handle else 0
        return "<kmm.Event, %s>" % ("pending" if status == _structs.PENDING else
                                    "failed" if status < 0 else "done")


def event(runtime: Runtime | None = None) -> Event:
    """An event of the current runtime, for a `with` block."""
    return Event(runtime or current())


def join(*events: Event) -> Event:
    """An event of all that belongs to these, which are of one runtime."""
    runtime = events[0].runtime if events else current()
    if any(e.runtime is not runtime for e in events):
        raise ValueError("kmm: events of several runtimes")
    handles = [e._handle for e in events if e._handle]
    joined = ctypes.c_void_p()
    check(load().kmm_event_join(runtime._get(), (ctypes.c_void_p * len(handles))(*handles),
                                len(handles), ctypes.byref(joined)))
    return Event(runtime, joined.value)
