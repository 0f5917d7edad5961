# SPDX-License-Identifier: Apache-2.0
"""Runtimes: the devices that launches use, and the arrays that are theirs."""
from __future__ import annotations

import atexit
import ctypes
import sys
import threading
import traceback
import warnings
import weakref
from typing import TYPE_CHECKING, NamedTuple

from . import _structs
from ._error import StateError, check
from ._library import load

if TYPE_CHECKING:
    from ._array import Array

_open = weakref.WeakSet()  # runtimes that have not been closed
_current = threading.local()


class Device(NamedTuple):
    """A device of a runtime, and what it has done so far. Sizes are in bytes."""
    name: str
    kind: str  #: "host", "cuda" or "hip"
    ordinal: int  #: its number in its driver
    memory: int  #: the most that arrays may use; 0: it shares the host's memory
    used: int  #: what they use now
    bytes_in: int  #: copied from the host
    bytes_out: int  #: copied to the host
    bytes_peer: int  #: copied from other devices
    chunks: int  #: that have completed
    launches: int  #: of kernels, for these chunks
    total: int  #: the device's memory; 0: it has none of its own
    compute: str  #: the compute capability, as "9.0"; "": not known
    multiprocessors: int  #: or threads of the CPU; 0: not known
    pci: str  #: the address on the PCI bus, as "0000:3b:00.0"; "": not known


class Devices(tuple):
    """The devices of a runtime. A notebook shows them as a table."""

    def _repr_html_(self):
        def row(tag, cells):
            return "<tr>%s</tr>" % "".join("<%s>%s</%s>" % (tag, c, tag) for c in cells)
        return "<table>%s%s</table>" % (row("th", Device._fields),
                                        "".join(row("td", map(_escape, d)) for d in self))


def _escape(value):
    return str(value).replace("&", "&amp;").replace("<", "&lt;")


class Runtime:
    """Devices and their arrays. Parameters that are None have the environment's value, or else
    the default: `devices` is a list as that of KMM_DEVICES, such as "cuda" or "host:2"; the others
    are the sizes in bytes of kmm_config_t in kmm.h, and its number of threads.

    `with runtime:` makes it current for the thread, and closes it at the end."""

    def __init__(self, devices: str | None = None, *, device_mem: int | None = None,
                 frame_bytes: int | None = None, threads: int | None = None,
                 host_mem: int | None = None, spill_dir: str | None = None,
                 device_keep_free: int | None = None, pinned_mem: int | None = None):
        self._set(None)
        config = _structs.kmm_config(
            devices.encode() if devices is not None else None, device_mem or 0, frame_bytes or 0,
            threads or 0, host_mem or 0, str(spill_dir).encode() if spill_dir is not None else None,
            device_keep_free or 0, pinned_mem or 0)
        handle = ctypes.c_void_p()
        check(load().kmm_create_version(_structs.VERSION, ctypes.sizeof(config),
                                        ctypes.byref(handle), ctypes.byref(config)))
        self._set(handle.value)
        _open.add(self)

    def _set(self, handle, is_owner=True):
        self._handle, self._is_owner = handle, is_owner
        self._lock = threading.Lock()
        self._thrown = None  # (order, exception) of the first chunk that threw; under the lock

    def _get(self):
        if self._handle is None:
            raise StateError(-12, "the runtime is closed")
        return self._handle

    def _keep(self, order, exception):
        with self._lock:
            if self._thrown is None or order < self._thrown[0]:
                self._thrown = order, exception

    def _check(self, status):
        """Raises the exception of a chunk that has ended, or else the call's error."""
        with self._lock:
            thrown, self._thrown = self._thrown, None
        if thrown:
            raise thrown[1]
        return check(status, self._handle)

    def wait(self, array: Array | None = None) -> None:
        """Waits for all work, or for that on an array. Raises what its chunks have raised."""
        if array is None:
            self._check(load().kmm_wait(self._get()))
        elif array._base:
            self._check(load().kmm_wait_array(self._get(), array._base))

    def close(self) -> None:
        """Waits for all work and frees the arrays. Raises what the work has failed with."""
        handle, self._handle = self._handle, None
        _open.discard(self)
        if handle is None:
            return
        status = load().kmm_destroy(handle) if self._is_owner else load().kmm_wait(handle)
        self._check(status)

    @property
    def devices(self) -> Devices:
        """The devices, with what each has done so far."""
        found = []
        for k in range(load().kmm_device_count(self._get())):
            info = _structs.kmm_device_info()
            check(load().kmm_device_get_sized(ctypes.sizeof(info), self._get(), k,
                                              ctypes.byref(info)), self._handle)
            found.append(Device(
                info.name.decode("utf-8", "replace"), _structs.KINDS.get(info.kind, "unknown"),
                info.ordinal, info.memory_bytes, info.used_bytes, info.bytes_in, info.bytes_out,
                info.bytes_peer, info.chunks, info.launches, info.total_bytes,
                "%d.%d" % (info.compute_major, info.compute_minor) if info.compute_major else "",
                info.multiprocessors,
                "" if info.pci_bus < 0 else "%04x:%02x:%02x.%x" % (
                    info.pci_domain, info.pci_bus, info.pci_device, info.pci_function)))
        return Devices(found)

    def __enter__(self) -> Runtime:
        self._get()
        stack().append(self)
        return self

    def __exit__(self, kind, value, trace):
        stack().pop()
        if self._is_owner and kind is None:
            self.close()
        elif self._is_owner:
            try:
                self.close()
            except Exception:  # that of the block is the first one
                pass

    def __del__(self):
        if getattr(self, "_handle", None) is not None and self._is_owner:
            warnings.warn("a kmm.Runtime was not closed", ResourceWarning, source=self)
            self.close()

    def __repr__(self):
        if self._handle is None:
            return "<kmm.Runtime, closed>"
        return "<kmm.Runtime of %s>" % ", ".join(d.name for d in self.devices)


def stack():
    """The runtimes that this thread has entered, the current one last."""
    if not hasattr(_current, "stack"):
        _current.stack = []
    return _current.stack


_default_lock = threading.Lock()
_default = None


def default() -> Runtime:
    """The process's runtime, which has the devices of the environment."""
    global _default
    with _default_lock:
        if _default is None:
            handle = load().kmm_default()
            if not handle:
                check(-5)
            runtime = Runtime.__new__(Runtime)
            runtime._set(handle, is_owner=False)
            _default = runtime
        return _default


def current() -> Runtime:
    """The runtime that this thread has entered last, or else the process's."""
    return stack()[-1] if stack() else default()


def wait(array: Array | None = None) -> None:
    """Waits for all work of the current runtime, or for that on an array. Raises what the work
    has failed with."""
    (array.runtime if array is not None else current()).wait(array)


def devices() -> Devices:
    """The devices of the current runtime, with what each has done so far."""
    return current().devices


@atexit.register
def _end():
    """Functions of Python cannot run when the interpreter has ended, so all work ends before.
    What nobody has asked for is printed, and makes the exit status 1."""
    failed = False
    if _default is not None:
        load().kmm_wait_at_exit()
        failed = _default._thrown is not None
        if failed:
            traceback.print_exception(*_parts(_default._thrown[1]))
    for runtime in list(_open):
        try:
            runtime.close()
        except Exception as e:
            failed = True
            traceback.print_exception(*_parts(e))
    if failed:
        sys.stdout.flush()
        sys.stderr.flush()
        ctypes.CDLL(None).exit(1)


def _parts(exception):
    return type(exception), exception, exception.__traceback__
