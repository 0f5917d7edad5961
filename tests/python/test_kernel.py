# SPDX-License-Identifier: Apache-2.0
"""Kernels of CUDA source, launched from Python on the CPU.

    test_kernel.py WORK
"""
import ctypes
import os
import pathlib
import shutil
import sys
import threading

import numpy as np

import kmm
from kmm import _kernel

WORK = pathlib.Path(sys.argv[1])
os.environ["KMM_CACHE_DIR"] = str(WORK / "cache")
rng = np.random.default_rng()
compiled = []
compile_ = _kernel._compile
_kernel._compile = lambda *arguments: compiled.append(0) or compile_(*arguments)


def raises(kind, text, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as e:
        assert text in str(e), (text, str(e))
        return e
    raise AssertionError("%s was not raised: %s" % (kind.__name__, text))


(WORK / "scale.h").write_text("#define FACTOR 2\n")
(WORK / "scale.cu").write_text('''#include "scale.h"
// __global__ void scale(int wrong)
struct pair { float a; int b; };
namespace ns {
template <class T>
__global__ void __launch_bounds__(256) scale(long n, T *__restrict__ out, const T in[], pair p,
                                             bool is_on, unsigned char c, double d /* ), */ = 1)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = FACTOR * in[i] + p.a + p.b + is_on + c + (T)d;
}
}
__global__ void total(int n, const float *x, long long *count, float2 *pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.5f)
        atomicAdd((unsigned long long *)count, 1);
    if (i < n)
        pairs[i] = make_float2(x[i], -x[i]);
}
''')


class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_float), ("b", ctypes.c_int)]


n = 5000
x = rng.random(n)
clauses = dict(parallel="i = 0:n", chunk=n // 7, read="in[i]", write="out[i]")


def test_file():
    scale = kmm.kernel(WORK / "scale.cu", "ns::scale<double>")
    assert scale.parameters == ["n", "out", "in", "p", "is_on", "c", "d"]
    a, b = kmm.array(x), kmm.empty(n, "f8")
    scale(n, b, a, Pair(0.5, 3), True, 7, 0.25, threads=n, **clauses)
    assert np.array_equal(b.numpy(), 2 * x + 0.5 + 3 + 1 + 7 + 0.25)
    # Another size of chunks is no other program; another kernel's object finds it in the cache.
    before = len(compiled)
    scale(n, b, a, Pair(0.5, 3), True, 7, 0.25, threads=n, **dict(clauses, chunk=100))
    again = kmm.kernel(WORK / "scale.cu", "ns::scale<double>")
    again(n, a, b, bytes(Pair(0, 0)), False, 0, 0, threads=n, **clauses)
    assert len(compiled) == before
    # A header that has changed is seen, also by its size and its time.
    (WORK / "scale.h").write_text("#define FACTOR 30\n")
    changed = kmm.kernel(WORK / "scale.cu", "ns::scale<double>")
    a = kmm.array(x)
    changed(n, b, a, Pair(0, 0), False, 0, 0, threads=n, **clauses)
    assert len(compiled) == before + 1 and np.array_equal(b.numpy(), 30 * x)
    folder = os.environ["KMM_CACHE_DIR"]
    assert os.stat(folder).st_mode & 0o777 == 0o700 and not [
        f for f in os.listdir(folder) if os.path.isdir(os.path.join(folder, f))]
    # A kept library that others could have written is compiled anew.
    for f in pathlib.Path(folder).glob("kmm_kernel_*.so"):
        f.chmod(0o777)
    kmm.kernel(WORK / "scale.cu", "ns::scale<double>")(
        n, b, a, Pair(0, 0), False, 0, 0, threads=n, **clauses)
    assert len(compiled) == before + 2
    # Without a cache it is compiled each time.
    os.environ["KMM_CACHE_DIR"] = "none"
    kmm.kernel(WORK / "scale.cu", "ns::scale<double>")(
        n, b, a, Pair(0, 0), False, 0, 0, threads=n, **clauses)
    os.environ["KMM_CACHE_DIR"] = folder
    assert len(compiled) == before + 3 and np.array_equal(b.numpy(), 30 * x)


def test_values():
    scale = kmm.kernel(WORK / "scale.cu", "ns::scale<double>")
    a, b, p = kmm.array(x), kmm.empty(n, "f8"), Pair(0, 0)

    def bad(kind, text, *arguments, **named):
        raises(kind, text, scale, *arguments, **dict(dict(clauses, threads=n), **named))

    bad(TypeError, "got 2 arguments", n, b)
    bad(TypeError, "takes a kmm.Array", n, x, a, p, True, 7, 0.25)
    bad(TypeError, "points to float64, but the array has float32", n, kmm.zeros(n), a, p, 1, 7, 1)
    bad(TypeError, "points to float64, but the array has int64", n, kmm.zeros(n, "i8"), a, p, 1, 7,
        1)
    bad(OverflowError, "parameter c: 256", n, b, a, p, True, 256, 0.25)
    bad(OverflowError, "parameter c: -1", n, b, a, p, True, -1, 0.25)
    bad(OverflowError, "parameter is_on: 2", n, b, a, p, 2, 0, 0.25)
    bad(OverflowError, "parameter n", 1 << 63, b, a, p, 1, 0, 0.25)
    bad(TypeError, "struct of 8 bytes", n, b, a, 3.5, True, 0, 0.25)
    bad(TypeError, "", n, b, a, p, True, 0, "text")
    bad(TypeError, "", 1.5, b, a, p, True, 0, 0.25)
    bad(TypeError, "no pointer", a, b, a, p, True, 0, 0.25)
    bad(TypeError, "either threads= or grid=", n, b, a, p, True, 0, 0, grid=1)
    bad(ValueError, "one line", n, b, a, p, True, 0, 0, read="in[i]\n")
    bad(kmm.Error, "invalid configuration", n, b, a, p, True, 0, 0, block=5000)
    with kmm.Runtime("host"):
        bad(ValueError, "several runtimes", n, kmm.empty(n, "f8"), a, p, True, 0, 0)
    raises(TypeError, "parallel=", scale, n, b, a, p, True, 0, 0, threads=n, read="in[i]")
    raises(ValueError, "which kernel?", kmm.kernel, WORK / "scale.cu")
    raises(ValueError, "no kernel other", kmm.kernel, WORK / "scale.cu", "other")
    raises(TypeError, "Numba", kmm.kernel, print)
    scale(n, b, a, p, True, 0, 0, grid=0)  # nothing runs
    kmm.wait()


def test_reduce():
    total = kmm.kernel(WORK / "scale.cu", "total")
    y = x.astype("f4")
    a, count, pairs = kmm.array(y), kmm.zeros(1, "i8"), kmm.empty(n, "c8")
    for k in range(2):
        count.fill(0)
        total(n, a, count, pairs, grid=(n + 127) // 128, block=128, parallel="i = 0:n", chunk=640,
              read="x[i]", write=["pairs[i]"], reduce=["+: count[0]"], label="a 'label'",
              priority=2, schedule="cyclic", if_=k)
        assert count[0] == (y > 0.5).sum() and np.array_equal(pairs.numpy(), y - 1j * y)


def test_clauses():
    """What is wrong with clauses is said by kmmcc, with lines of the source."""
    source = """__global__ void twice(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}"""
    twice = kmm.kernel(source)
    a = kmm.array(np.arange(n, dtype="i4"))
    e = raises(kmm.CompileError, "'x[i]' is only read here", twice, n, a, threads=n,
               parallel="i = 0:n", read="x[i]")
    assert "twice.cu:5:" in str(e)
    raises(kmm.CompileError, "unknown clause 'writes'", twice, n, a, threads=n,
           parallel="i = 0:n", writes="x[i]")
    raises(kmm.CompileError, "extraneous closing brace", kmm.kernel(source + "}"), n, a, threads=n)
    assert a[n - 1] == n - 1
    twice(n, a, threads=n)  # without clauses: one chunk
    twice(n, a, threads=n, parallel="i = 0:n", update="x[i]", device="host")
    assert np.array_equal(a.numpy(), 4 * np.arange(n))

    class RawKernel:  # as CuPy has it
        code, name = source, "twice"

    kmm.kernel(RawKernel())(n, a, threads=n, parallel="i = 0:n", update="x[i]")
    assert a[1] == 8
    # A launch that is refused raises, and nothing of it has run.
    total = kmm.kernel(WORK / "scale.cu", "total")
    pairs, count = kmm.zeros(n, "c8"), kmm.zeros(1, "i8")
    raises(kmm.InvalidArgument, "another chunk of this launch writes the same", total, n,
           kmm.zeros(n), count, pairs, threads=n, parallel="i = 0:n", chunk=512, read="x[i]",
           write="pairs[0:n]", reduce="+: count[0]")
    kmm.wait()
    assert not pairs.numpy().any()


def test_cuda():
    """Where nvcc is there, it takes what a launch is compiled from, and the parameters are those of
    the CPU."""
    if not (shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc")):
        return
    scale = kmm.kernel(WORK / "scale.cu", "ns::scale<double>")
    text = scale._text("parallel(i = 0:n) chunk(kmm_py_v0) read(in[i]) write(out[i])", 1)
    found = {}
    for target, options in (("cuda", ["-arch=sm_90"]), ("host", [])):
        folder = WORK / target
        folder.mkdir(exist_ok=True)
        path, files = compile_(_kernel.tool("kmmcc"), str(folder), text, scale.name, target,
                               scale._options + options)
        assert str(WORK / "scale.h") in files
        found[target] = _kernel._Library(ctypes.CDLL(path)).rows
    assert found["cuda"] == found["host"] and len(found["host"]) == 7


def test_devices():
    """On small devices, from several threads, after which the array is still right."""
    twice = kmm.kernel("__global__ void twice(long n, double *x) { long i = blockIdx.x * "
                       "(long)blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }")
    errors = []

    def work():
        try:
            with kmm.Runtime("host:2", device_mem=1 << 20) as rt:
                y = rng.random(1 << 18)
                a = kmm.array(y)
                for _ in range(3):
                    twice(y.size, a, threads=y.size, parallel="i = 0:n", chunk=1 << 14,
                          update="x[i]")
                assert np.array_equal(a.numpy(), 8 * y)
                assert all(d.chunks for d in rt.devices)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors, errors


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
print("ok")
