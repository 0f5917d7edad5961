# SPDX-License-Identifier: Apache-2.0
"""Errors of libkmm as exceptions."""
from ._library import load


class Error(RuntimeError):
    """A call of libkmm has failed. `code` is a number of kmm/error.h."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class OutOfMemory(Error, MemoryError):
    """Memory has run out (KMM_E_MEMORY)."""


class InvalidArgument(Error, ValueError):
    """An argument is wrong (KMM_E_INVALID)."""


class AddressError(Error, LookupError):
    """An address belongs to no array, or not to the resource (KMM_E_ADDRESS)."""


class RangeError(Error, IndexError):
    """A value or a region is out of range (KMM_E_RANGE)."""


class Unsupported(Error, NotImplementedError):
    """The device, the driver or libkmm cannot do it (KMM_E_UNSUPPORTED)."""


class StateError(Error):
    """The call is not allowed now (KMM_E_STATE)."""


class CompileError(Error):
    """kmmcc refuses the source or a clause; the text is what it says."""


_KINDS = {-1: InvalidArgument, -2: OutOfMemory, -3: AddressError, -9: RangeError,
          -10: Unsupported, -12: StateError}


def _text(found):
    return found.decode("utf-8", "replace")


def check(status, runtime=None):
    """Raises the error of a call of kmm.h; returns what is none."""
    if status < 0:
        library = load()
        raise _KINDS.get(status, Error)(status, "%s: %s" % (
            _text(library.kmm_error_string(status)), _text(library.kmm_error_text(runtime))))
    return status


def check_resource(status):
    """Raises the error of a call of kmm/resource.h."""
    if status < 0:
        raise _KINDS.get(status, Error)(status, _text(load().kmm_resource_error_text()))
    return status
