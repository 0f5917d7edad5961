# SPDX-License-Identifier: Apache-2.0
"""kmm: arrays larger than the memory of devices, and functions and kernels that run over them in
chunks; kmm.mr: memory resources. docs/languages.md is the guide."""
from ._error import (AddressError, CompileError, Error, InvalidArgument, OutOfMemory, RangeError,
                     StateError, Unsupported)
from ._event import Event, event, join
from ._library import load as _load
from ._region import axis, part, read, reduce, update, write
from ._report import Report, report
from ._runtime import Device, Runtime, current, default, devices, wait

try:
    from ._array import Array, array, empty, full, zeros
    from ._kernel import Kernel, kernel
    from ._parallel import Chunk, Launch, parallel
except ModuleNotFoundError as _e:  # memory resources need no NumPy
    if _e.name != "numpy":
        raise

    def __getattr__(name):
        raise AttributeError("kmm has no %s, or it needs NumPy, which is not installed" % name)

__version__ = _load().kmm_version_string().decode()
