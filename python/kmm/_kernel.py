# SPDX-License-Identifier: Apache-2.0
"""Kernels from CUDA source, compiled by kmmcc when they are launched first. The clauses of a launch
are texts of the pragma's language, so kmmcc checks them against the kernel's code."""
from __future__ import annotations

import contextlib
import ctypes
import hashlib
import numbers
import operator
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from typing import Any, Sequence

import numpy

from . import _cache, _library
from ._error import CompileError, Error, InvalidArgument, OutOfMemory, Unsupported
from ._array import Array
from ._report import tool
from ._runtime import current

# Behind the kernel's source. A row of kmm_py_parameters: kind and bytes of a parameter, and of a
# pointer's elements.
_TYPES = """
#include <type_traits>
template <unsigned K, class F> struct kmm_py_at;
template <unsigned K, class P, class... R> struct kmm_py_at<K, void (*)(P, R...)>
    : kmm_py_at<K - 1, void (*)(R...)> {};
template <class P, class... R> struct kmm_py_at<0, void (*)(P, R...)> { using type = P; };
template <class... P> constexpr int kmm_py_count(void (*)(P...)) { return sizeof...(P); }
template <class T> constexpr int kmm_py_kind()
{
    if constexpr (std::is_same<T, bool>::value) return 'b';
    else if constexpr (std::is_floating_point<T>::value) return 'f';
    else if constexpr (std::is_integral<T>::value || std::is_enum<T>::value)
        return T(-1) < T(0) ? 'i' : 'u';
    else if constexpr (std::is_pointer<T>::value) return 'p';
    else return std::is_void<T>::value ? 'v' : 's';
}
template <class T> constexpr int kmm_py_bytes()
{
    if constexpr (std::is_void<T>::value) return 0; else return sizeof(T);
}
template <unsigned K> using kmm_py_parameter = typename kmm_py_at<K, decltype(&NAME)>::type;
template <unsigned K>
using kmm_py_element = std::remove_cv_t<std::remove_pointer_t<kmm_py_parameter<K>>>;
extern "C" const int kmm_py_parameters[][4];
const int kmm_py_parameters[][4] = {ROWS
    {0, kmm_py_count(&NAME), 0, 0}};
"""
_ROW = """
    {kmm_py_kind<kmm_py_parameter<%d>>(), kmm_py_bytes<kmm_py_parameter<%d>>(),
     kmm_py_kind<kmm_py_element<%d>>(), kmm_py_bytes<kmm_py_element<%d>>()},"""
_LAUNCH = """
extern "C" int kmm_py_launch(const unsigned *kmm_py_g, const long long *kmm_py_v, void **kmm_py_a)
{
VALUES#pragma kmm CLAUSES
    NAME<<<dim3(kmm_py_g[0], kmm_py_g[1], kmm_py_g[2]), dim3(kmm_py_g[3], kmm_py_g[4], kmm_py_g[5]),
           kmm_py_g[6]>>>(ARGUMENTS);
    return cudaGetLastError();
}
extern "C" const char *kmm_py_error(int status) { return cudaGetErrorString((cudaError_t)status); }
"""
_COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)


def _signature(source, name):
    """The names of a kernel's parameters; `name` may be None if the source has one kernel."""
    text = _COMMENT_OR_TEXT.sub(lambda m: " " * len(m[0]), source)
    plain = re.sub(r"<.*>", "", name).split("::")[-1].strip() if name else r"\w+"
    found = list(re.finditer(
        r"__global__\b[^;{}()]*(?:__launch_bounds__\s*\([^()]*\)[^;{}()]*)?\b(%s)\s*\(" % plain,
        text))
    if not found:
        raise ValueError("kmm: the source has no kernel %s" % (name or "(__global__ function)"))
    if len({m[1] for m in found}) > 1:
        raise ValueError("kmm: which kernel? The source has " +
                         ", ".join(sorted({m[1] for m in found})))
    names = [_parameters(text, m.end()) for m in found]
    if any(other != names[-1] for other in names):
        raise Unsupported(-10, "several kernels have the name %s" % found[0][1])
    return name or found[0][1], names[-1]


def _parameters(text, at):
    """The names of the parameters whose list begins at a place of the text."""
    depth, parts, part = 1, [], ""
    while depth and at < len(text):
        c = text[at]
        at += 1
        depth += (c in "([{<") - (c in ")]}>")
        if depth == 0 or (c == "," and depth == 1):
            parts.append(part)
            part = ""
        else:
            part += c
    if [p.strip() for p in parts] in ([""], ["void"]):
        return []
    names = []
    for part in parts:
        m = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", part.split("=")[0].rstrip())
        if not m or not re.search(r"\w", part[:m.start()]):
            raise Unsupported(-10, "the parameter '%s' has no name that can be read" % part.strip())
        names.append(m[1])
    return names


class Kernel:
    """A kernel of CUDA source; kernel() makes it. Calling it launches it::

        k(n, C, A, B, threads=n, block=256, parallel="i = 0:n", chunk=n // 10,
          read="A[i], B[i]", write="C[i]")

    threads: how many threads, in up to three dimensions, x first; or grid: how many blocks. block:
    threads of a block. shared: bytes of dynamic shared memory. All others are clauses of the
    pragma: a text in the pragma's language, which names the kernel's parameters; a number, which
    is no part of what is compiled; a list, for a clause that is there several times, or for numbers
    in one; True, for a clause without a value. The clause `if` is `if_`, which takes what is true or
    false."""

    def __init__(self, source, name, options):
        self.name, self.parameters = _signature(source, name)
        self._source, self._options = source, list(options)
        self._libraries = {}  # (target, clauses) -> library
        self._lock = threading.Lock()

    def __call__(self, *arguments: Any, grid: int | Sequence[int] | None = None,
                 threads: int | Sequence[int] | None = None, block: int | Sequence[int] = 256,
                 shared: int = 0, **clauses: Any) -> None:
        if len(arguments) != len(self.parameters):
            raise TypeError("kmm: %s has the parameters (%s), but got %d arguments" % (
                self.name, ", ".join(self.parameters), len(arguments)))
        arrays = [a for a in arguments if isinstance(a, Array)]
        runtime = arrays[0].runtime if arrays else current()
        if any(a.runtime is not runtime for a in arrays):
            raise ValueError("kmm: the arrays are of several runtimes")
        geometry = _geometry(grid, threads, block, shared)
        text, values = _pragma(clauses)
        if any(n < 1 for n in geometry[:6]) and all(n >= 0 for n in geometry):
            return
        library = self._library(runtime, text, len(values))
        rows = library.rows
        held = [_argument(self.parameters[k], rows[k], a) for k, a in enumerate(arguments)]
        pointers = (ctypes.c_void_p * (len(held) + 1))(*map(ctypes.addressof, held))
        handle = runtime._get()
        libkmm = _library.load()
        libkmm.kmm_use(handle)
        try:
            status = library.launch((ctypes.c_uint32 * 7)(*geometry),
                                    (ctypes.c_int64 * (len(values) + 1))(*values), pointers)
            if status:
                reason = libkmm.kmm_error_text(handle).decode("utf-8", "replace")
                kind, code = {1: (InvalidArgument, -1), 2: (OutOfMemory, -2)}.get(status,
                                                                                  (Error, -4))
                raise kind(code, library.error(status).decode() +
                           (": " + reason if reason != "no error" else ""))
        finally:
            libkmm.kmm_use(None)

    def _library(self, runtime, clauses, count):
        kinds = {d.kind for d in runtime.devices}
        if "hip" in kinds:
            raise Unsupported(-10, "kernels of CUDA source run on NVIDIA's GPUs and on the CPU")
        target = "cuda" if "cuda" in kinds else "host"
        options = list(self._options)
        if target == "cuda" and not any(o.startswith(("-arch", "--gpu-a", "-gencode", "--gene"))
                                        for o in options):
            options.append("-arch=native")
        with self._lock:
            key = target, clauses
            if key not in self._libraries:
                devices = [d.name for d in runtime.devices] if target == "cuda" else []
                self._libraries[key] = _Library(_built(
                    self._text(clauses, count), self.name, target, options, devices))
            return self._libraries[key]

    def _text(self, clauses, count):
        """What is compiled: the source first, so that its lines keep their numbers."""
        rows = "".join(_ROW % (k, k, k, k) for k in range(len(self.parameters)))
        values = "".join("    const long long kmm_py_v%d = kmm_py_v[%d];\n" % (k, k)
                         for k in range(count))
        values += "".join("    auto %s = *(std::remove_cv_t<kmm_py_parameter<%d>> *)kmm_py_a[%d];\n"
                          % (name, k, k) for k, name in enumerate(self.parameters))
        launch = _LAUNCH.replace("VALUES", values).replace("ARGUMENTS", ", ".join(self.parameters))
        launch = launch.replace("#pragma kmm CLAUSES", "#pragma kmm " + clauses if clauses else "")
        return self._source + "\n" + (_TYPES.replace("ROWS", rows) + launch).replace("NAME",
                                                                                     self.name)

    def __repr__(self):
        return "<kmm.Kernel %s(%s)>" % (self.name, ", ".join(self.parameters))


class _Library:
    """A compiled launch. It stays loaded: libkmm keeps addresses of its kernels."""

    def __init__(self, library):
        self.launch = library.kmm_py_launch
        self.launch.restype = ctypes.c_int
        self.launch.argtypes = [ctypes.c_void_p] * 3
        self.error = library.kmm_py_error
        self.error.restype, self.error.argtypes = ctypes.c_char_p, [ctypes.c_int]
        row = ctypes.c_int * 4
        at = ctypes.addressof(row.in_dll(library, "kmm_py_parameters"))
        self.rows = []
        while row.from_address(at)[0]:
            self.rows.append(tuple(row.from_address(at)))
            at += ctypes.sizeof(row)


def _numbers(value, name):
    sizes = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(sizes) <= 3:
        raise ValueError("kmm: %s has 1 to 3 dimensions" % name)
    return [operator.index(n) for n in sizes] + [1] * (3 - len(sizes))


def _geometry(grid, threads, block, shared):
    if (grid is None) == (threads is None):
        raise TypeError("kmm: a launch has either threads= or grid=")
    block = _numbers(block, "block")
    if any(n < 1 for n in block):
        raise ValueError("kmm: a block has threads")
    grid = _numbers(grid, "grid") if threads is None else [
        -(-n // b) for n, b in zip(_numbers(threads, "threads"), block)]
    geometry = grid + block + [operator.index(shared)]
    if any(not 0 <= n < 1 << 31 for n in geometry):
        raise ValueError("kmm: a grid of %s blocks of %s threads" % (grid, block))
    return geometry


def _pragma(clauses):
    """The pragma's text, and the numbers that it gets at each launch."""
    parts, values = [], []

    def word(value):
        if isinstance(value, str):
            if "\n" in value or "\\" in value:
                raise ValueError("kmm: a clause is one line")
            return value
        values.append(operator.index(value))
        return "kmm_py_v%d" % (len(values) - 1)

    for name, value in clauses.items():
        name = name.rstrip("_")
        if name == "if" and not isinstance(value, str):
            value = int(bool(value))
        if value is None or value is False:
            continue
        if value is True:
            parts.append(name)
        elif isinstance(value, (tuple, list)) and all(isinstance(v, str) for v in value):
            parts += ["%s(%s)" % (name, word(v)) for v in value]
        else:
            many = value if isinstance(value, (tuple, list)) else (value,)
            text = ", ".join(map(word, many))
            parts.append("%s(%s)" % (name, '"%s"' % text.replace('"', "'") if name == "label"
                                     else text))
    if parts and not parts[0].startswith("parallel"):
        parallel = [p for p in parts if p.startswith("parallel(")]
        if not parallel:
            raise TypeError("kmm: clauses need parallel=\"i = 0:n\", which names the axes")
        parts.remove(parallel[0])
        parts.insert(0, parallel[0])
    return " ".join(parts), values


def _argument(name, row, value):
    """The value of a parameter, as ctypes has it."""
    kind, size = chr(row[0]), row[1]
    if kind == "p":
        return _pointer(name, row, value)
    if isinstance(value, Array):
        raise TypeError("kmm: parameter %s is no pointer, but got an array" % name)
    if kind in "iub":
        number = operator.index(value)
        low, high = (-(1 << 8 * size - 1), 1 << 8 * size - 1) if kind == "i" else \
            (0, 2 if kind == "b" else 1 << 8 * size)
        if not low <= number < high:
            raise OverflowError("kmm: parameter %s: %d does not fit" % (name, number))
        return (ctypes.c_char * size)(*number.to_bytes(size, "little", signed=kind == "i"))
    if kind == "f" and size in (4, 8):
        if not isinstance(value, numbers.Real):
            raise TypeError("kmm: parameter %s is a number, but got %r" % (name, value))
        return (ctypes.c_float if size == 4 else ctypes.c_double)(float(value))
    if isinstance(value, (ctypes.Structure, ctypes.Union, numpy.generic)):
        value = bytes(value)
    if not isinstance(value, bytes) or len(value) != size:
        raise TypeError("kmm: parameter %s is a struct of %d bytes: give a ctypes.Structure, a "
                        "NumPy scalar, or bytes of that size" % (name, size))
    return ctypes.create_string_buffer(value, size)


def _pointer(name, row, value):
    kind, size = chr(row[2]), row[3]
    if value is None:
        return ctypes.c_void_p(None)
    if not isinstance(value, Array):
        raise TypeError("kmm: parameter %s is a pointer; it takes a kmm.Array, such as "
                        "kmm.array(x), but got %s" % (name, type(value).__name__))
    known = kind in "iufb"
    if kind == "p" or (kind != "v" and value.dtype.itemsize != size) or (
            known and value.dtype.kind != {"b": "b"}.get(kind, kind)):
        words = {"i": "int", "u": "uint", "f": "float", "b": "bool", "s": "structs of bits: ",
                 "p": "pointers of bits: "}
        raise TypeError("kmm: parameter %s points to %s%d, but the array has %s" % (
            name, words[kind], 8 * size, value.dtype))
    return ctypes.c_void_p(value._base)


# ---- Compiling ----

def _state(path):
    """What changes when a file does."""
    try:
        found = os.stat(path)
    except OSError:
        return "%s: none" % path
    return "%s: %d %d" % (path, found.st_size, found.st_mtime_ns)


def _built(text, name, target, options, devices):
    """The loaded library: from the cache, if nothing it was made of has changed."""
    kmmcc, folder = tool("kmmcc"), _cache.folder()
    key = "kmm_kernel_" + hashlib.sha256("\0".join(
        [text, target, _state(kmmcc)] + options + devices).encode()).hexdigest()[:24]
    kept = _kept(folder, key) if folder else None
    if kept:
        return ctypes.CDLL(kept)
    work, begin = tempfile.mkdtemp(prefix="kmm_", dir=folder), time.time_ns()
    try:
        path, files = _compile(kmmcc, work, text, name, target, options)
        library = ctypes.CDLL(path)  # it stays loaded when the file has another name, or none
        if folder and all(os.stat(f).st_mtime_ns < begin for f in files):
            _keep(folder, key, work, path, files)
        return library
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _kept(folder, key):
    """The path of a library that was kept; None: there is none, or a file has changed."""
    made_of = _cache.find(folder, key, ".d")
    if made_of is None:
        return None
    with open(made_of) as f:
        states = f.read()
    library = _cache.find(folder, _paired(key, states), ".so")
    if all(_state(line.rsplit(": ", 1)[0]) == line for line in states.split("\n")):
        return library
    for old in filter(None, (made_of, library)):
        with contextlib.suppress(FileNotFoundError):  # another process does the same
            os.unlink(old)
    return None


def _keep(folder, key, work, path, files):
    """Keeps a library, and what it was made of: the library's name has a hash of that."""
    states, listed = "\n".join(map(_state, files)), os.path.join(work, "files")
    with open(listed, "w") as f:
        f.write(states)
    _cache.keep(path, folder, _paired(key, states), ".so")
    _cache.keep(listed, folder, key, ".d")


def _paired(key, states):
    return "%s_%s" % (key, hashlib.sha256(states.encode()).hexdigest()[:16])


def _compile(kmmcc, work, text, name, target, options):
    """(path of the library, files that it was made of)"""
    plain = re.sub(r"\W", "_", name)
    source, out, listed = (plain + s for s in (".cu", ".so", ".d"))
    with open(os.path.join(work, source), "w") as f:
        f.write(text)
    # Unique symbols would be those of the library that was loaded first, of another source.
    command = [kmmcc, "--target=" + target, "-O2", "-std=c++17", "-shared", "-Xcompiler", "-fPIC",
               "-Xcompiler", "-fno-gnu-unique", "-MD", "-MF", listed, source, "-o", out] + options
    result = subprocess.run(command, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    if result.returncode:
        raise CompileError(-4, result.stdout.decode("utf-8", "replace").strip())
    with open(os.path.join(work, listed)) as f:
        files = re.sub(r"\\\n", " ", f.read()).split(":", 1)[1].split()
    return os.path.join(work, out), sorted(set(filter(os.path.isabs, files)))


def kernel(source: Any, name: str | None = None, *, options: Sequence[str] = ()) -> Kernel:
    """A kernel of CUDA source: a text, or a file if `source` is a pathlib.Path; or a kernel of CuPy
    (RawKernel), whose source is taken. `name` is needed if the source has several kernels, and for
    a template: "scale<float>". `options` go to kmmcc. Where the runtime has no GPU, the kernel is
    compiled for the CPU."""
    options = ["-I" + os.path.abspath(o[2:]) if o.startswith("-I") else o for o in options]
    if isinstance(source, os.PathLike):
        options.append("-I" + os.path.dirname(os.path.abspath(source)))
        with open(source) as f:
            source = f.read()
    elif not isinstance(source, str) and isinstance(getattr(source, "code", None), str):
        source, name = source.code, name or source.name
    if not isinstance(source, str):
        raise TypeError("kmm: a kernel is a text of CUDA source, a pathlib.Path, or a RawKernel of "
                        "CuPy. Kernels that are compiled already (of Numba, or modules of PTX) "
                        "cannot run in chunks: kmmcc compiles a clone that knows its chunk")
    return Kernel(source, name, options)
