# SPDX-License-Identifier: Apache-2.0
"""kmm.Array and launches of Python functions, compared with NumPy on random inputs."""
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import kmm

seed = int(os.environ.get("KMM_SEED") or random.randrange(1 << 30))
rng, choose = np.random.default_rng(seed), random.Random(seed)
print("KMM_SEED=%d" % seed)


def raises(kind, text, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as e:
        assert text in str(e), (text, str(e))
        return e
    raise AssertionError("%s was not raised: %s" % (kind.__name__, text))


def random_index(shape):
    index = []
    has_dots = choose.random() < 0.3
    for n in shape[:len(shape) if has_dots else choose.randint(0, len(shape))]:
        kind = choose.random()
        if kind < 0.3 and n:
            index.append(choose.randrange(-n, n))
        else:
            a, b = (choose.choice([None, choose.randint(-n - 2, n + 2)]) for _ in range(2))
            index.append(slice(a, b, choose.choice([None, None, 1, 2, 3, -1, -2])))
    if has_dots:
        a = choose.randint(0, len(index))
        index[a:choose.randint(a, len(index))] = [Ellipsis]
    return tuple(index)


def test_elements():
    for _ in range(60):
        ndim = choose.randint(1, 6)
        shape = tuple(choose.randint(1, 7 if ndim < 5 else 3) for _ in range(ndim))
        dtype = choose.choice(["f4", "f8", "i2", "u1", "c16", "?", [("a", "i4"), ("b", "f8")]])
        x = rng.integers(0, 255, shape + (np.dtype(dtype).itemsize,)).astype("u1")
        x = np.zeros(shape, dtype) if dtype == "?" else x.view(dtype).reshape(shape)
        if np.dtype(dtype).kind in "fc" or np.dtype(dtype).names:
            x = (rng.integers(0, 99, shape)).astype("f8").astype(dtype)
        a = kmm.array(x)
        assert (a.shape, a.dtype, a.ndim, a.size, a.nbytes) == (x.shape, x.dtype, x.ndim, x.size,
                                                                x.nbytes)
        for _ in range(10):
            index = random_index(shape)
            got, expected = a[index], x[index]
            assert np.array_equal(got, expected) and np.shape(got) == np.shape(expected), index
            value = np.asarray(rng.integers(0, 99, np.shape(expected))).astype("f8").astype(dtype)
            x[index] = value
            a[index] = value
        assert np.array_equal(a.numpy(), x) and np.array_equal(np.asarray(a.copy()), x)
    a = kmm.full((3, 5), 7, "i4")
    a[1] = 2
    assert a.numpy().tolist() == [[7] * 5, [2] * 5, [7] * 5]
    assert kmm.zeros(0).numpy().shape == (0,) and kmm.zeros((3, 0), "i8").numpy().shape == (3, 0)
    raises(IndexError, "out of range", lambda: a[3])
    raises(IndexError, "3 indices for 2", lambda: a[1, 2, 3])
    raises(TypeError, "but not True", lambda: a[True])
    raises(TypeError, "cannot be", kmm.empty, 3, object)
    raises(ValueError, "1 to 6 dimensions", kmm.empty, (1,) * 7)
    raises(TypeError, "iterable", iter, a)
    raises(ValueError, "contiguous", a.numpy, out=np.empty((3, 5), "i8"))
    assert "(3, 5)" in repr(a) and "60 bytes" in repr(a)


def test_launches():
    """A launch over random regions does what NumPy does with whole arrays."""
    for _ in range(25):
        n, m = choose.randint(1, 300), choose.randint(1, 9)
        x, y = rng.random((n, m)), rng.random((n + 3, m))
        a, b, out = kmm.array(x), kmm.array(y), kmm.array(np.zeros((n, m)))
        sums, most = kmm.zeros(m, "f8"), kmm.full(1, -1, "f8")
        i, j = kmm.axis(n), kmm.axis(m)
        shift = choose.randint(0, 2)

        def combine(chunk, a, b, out, sums, most, factor, extra):
            rows = len(chunk)
            assert chunk.slices[0][0] == slice(chunk.begin, chunk.end, 1)
            assert a.shape == out.shape and not a.flags.writeable
            out[...] = factor * a + b[:rows] - b[1:rows + 1] + extra[chunk.begin:chunk.end, None]
            sums += a.sum(0)
            np.maximum(most, a.max(), out=most)

        extra = rng.random(n)
        args = (kmm.read(a[i, :]), kmm.read(b[i + shift:i + shift + 2]), kmm.write(out[i]),
                kmm.reduce("+", sums), kmm.reduce("max", most.region[0]), 2.0, extra)
        kmm.parallel(i, chunk=choose.randint(1, n), schedule=choose.choice(
            [None, "block", "cyclic"]), if_=choose.random() < 0.9).run(combine, *args)
        expected = 2.0 * x + y[shift:n + shift] - y[shift + 1:n + shift + 1] + extra[:, None]
        assert np.array_equal(out.numpy(), expected)
        assert np.allclose(sums.numpy(), x.sum(0)) and most[0] == x.max()

        def flip(chunk, a, out):
            out[...] = a[:, ::-1]

        kmm.parallel(j, i, chunk=(m, choose.randint(1, n))).run(
            flip, kmm.read(a[i, m - 1 - j]), kmm.write(out[i, j]))
        assert np.array_equal(out.numpy(), x[:, ::-1])


def test_rows():
    """Regions that data gives, as of rows in CSR form: a launch for each chunk, side by side."""
    for _ in range(5):
        n = choose.randint(1, 200)
        rows = np.concatenate(([0], np.cumsum(rng.integers(0, 9, n))))
        columns, values, x = rng.integers(0, n, rows[-1]), rng.random(rows[-1]), rng.random(n)
        c, v, a = kmm.array(columns), kmm.array(values), kmm.array(x)
        out = kmm.zeros(n, "f8")

        def multiply(chunk, starts, c, v, x, out):
            for k in range(len(out)):
                mine = slice(starts[k] - starts[0], starts[k + 1] - starts[0])
                out[k] = (v[mine] * x[c[mine]]).sum()

        size = choose.randint(1, n)
        for b in range(0, n, size):
            e = min(b + size, n)
            first, end = rows[b], rows[e]
            kmm.parallel(kmm.axis(b, e), chunk=size, nowait=True).run(
                multiply, rows[b:e + 1], kmm.read(c.region[first:end]),
                kmm.read(v.region[first:end]), kmm.read(a), kmm.write(out.region[b:e]))
        expected = [(values[s:t] * x[columns[s:t]]).sum() for s, t in zip(rows, rows[1:])]
        assert np.allclose(out.numpy(), expected)


def test_parts():
    """The same in one launch; then elements of the rows are changed, and rows of a neighbour
    read."""
    for kind in ("i4", "u4", "i8", "u8"):
        n = choose.randint(1, 200)
        rows = np.concatenate(([0], np.cumsum(rng.integers(0, 9, n)))).astype(kind)
        values = rng.random(int(rows[-1]) + 3)
        v, out, i = kmm.array(values), kmm.zeros(n, "f8"), kmm.axis(n)
        launch = kmm.parallel(i, chunk=choose.randint(1, n))

        def sums(chunk, starts, v, out):
            first = int(starts[0])
            where, = chunk.slices[0]
            assert where.stop - where.start == len(v)
            for k in range(len(out)):
                out[k] = v[int(starts[k]) - first:int(starts[k + 1]) - first].sum()

        def sums_of_chunk(chunk, v, out):
            sums(chunk, rows[chunk.begin:chunk.end + 1], v, out)

        def double(chunk, v):
            v *= 2

        def both(chunk, v, out):
            out[...] = len(v)

        launch.run(sums_of_chunk, kmm.read(v[kmm.part(rows, i)]), kmm.write(out[i]))
        expected = [values[s:t].sum() for s, t in zip(rows, rows[1:])]
        assert np.allclose(out.numpy(), expected)
        launch.run(double, kmm.update(v[kmm.part(rows, i)]))
        values[:int(rows[-1])] *= 2
        assert np.array_equal(v.numpy(), values)
        kmm.parallel(i, chunk=1).run(both, kmm.read(v[kmm.part(rows, slice(i - 1, i + 2))]),
                                     kmm.write(out[i]))
        ends = [(rows[max(k - 1, 0)], rows[min(k + 2, n)]) for k in range(n)]
        assert out.numpy().tolist() == [int(e) - int(s) for s, e in ends]
    raises(TypeError, "offsets are a row of integers", kmm.part, [0.5], i)
    raises(TypeError, "offsets are a row of integers", kmm.part, [], i)
    raises(TypeError, "a launch that has write", v.__setitem__, kmm.part(rows, i), 0)


def test_strided_and_clipped():
    n = 101
    x = rng.random(2 * n)
    a, b, i = kmm.array(x), kmm.zeros(2 * n, "f8"), kmm.axis(n)

    def even(chunk, a, b):
        b[...] = a.reshape(-1, 2).sum(1)

    kmm.parallel(i, chunk=10).run(even, kmm.read(a[2 * i:2 * i + 2]), kmm.write(b[2 * i + 1]))
    expected = np.zeros(2 * n)
    expected[1::2] = x.reshape(-1, 2).sum(1)
    assert np.array_equal(b.numpy(), expected)

    def count(chunk, a, c):
        assert len(a) == chunk.slices[0][0].stop - chunk.slices[0][0].start
        c += len(a)

    c = kmm.zeros(1, "i8")
    kmm.parallel(i, chunk=7).run(count, kmm.read(a[i - 3:i - 1]), kmm.reduce("+", c))
    chunks = [(k, min(k + 7, n)) for k in range(0, n, 7)]
    assert c[0] == sum(max(0, min(e - 2, 2 * n) - max(0, b - 3)) for b, e in chunks)
    backward = kmm.zeros(n, "f8")
    kmm.parallel(i, chunk=9).run(lambda chunk, a, b: b.__setitem__(..., a[::-1]),
                                 kmm.read(a[n - 1 - i]), kmm.write(backward[i]))
    assert np.array_equal(backward.numpy(), x[:n][::-1])


def test_refused():
    a, m, i, j = kmm.zeros(50), kmm.zeros((50, 50)), kmm.axis(50), kmm.axis(50)

    def nothing(*_):
        pass

    run = kmm.parallel(i, chunk=5).run
    raises(TypeError, "read(a[i])", run, nothing, a)
    raises(TypeError, "read(a[i])", run, nothing, a[i])
    raises(ValueError, "an axis that the launch has not", run, nothing, kmm.read(a[j]))
    raises(kmm.Unsupported, "same axis in two", lambda: m[i, i])
    raises(kmm.Unsupported, "gaps", run, nothing, kmm.read(a[3 * i:3 * i + 2]))
    raises(TypeError, "division", lambda: a[i // 2])
    raises(TypeError, "product", lambda: a[i * j])
    raises(TypeError, "no step", lambda: a[0:i:2])
    raises(TypeError, "a.region[0]", kmm.read, a[0])
    raises(ValueError, "operator", kmm.reduce, "-", a)
    raises(TypeError, "does not take", kmm.reduce, "+", kmm.zeros(3, "?"))
    raises(TypeError, "axes", kmm.parallel)
    raises(ValueError, "twice", kmm.parallel, i, i)
    raises(kmm.Error, "another chunk of this launch writes the same", run, nothing,
           kmm.write(a.region[0:3]))
    other = kmm.Runtime("host")
    with other:
        b = kmm.zeros(50)
        raises(ValueError, "another runtime", run, nothing, kmm.read(b[i]))
    raises(kmm.StateError, "closed", b.numpy)
    kept = []
    raises(RuntimeError, "keeps its array argument 1", run, lambda c, x: kept.append(x[1:]),
           kmm.read(a[i]))
    raises(ValueError, "read-only", run, lambda c, x: x.fill(0), kmm.read(a[i]))


def test_no_elements():
    """A launch returns when all its chunks have run, also those that have no element."""
    a, i, ran = kmm.zeros(10), kmm.axis(1000), []

    def slow(chunk, x):
        time.sleep(0.01)
        ran.append(chunk.begin)

    kmm.parallel(i, chunk=100).run(slow, kmm.read(a[i]))
    assert sorted(ran) == list(range(0, 1000, 100))
    kmm.parallel(i, chunk=100).run(lambda chunk: ran.append(chunk.begin))
    assert len(ran) == 20


class Mine(Exception):
    pass


def test_exceptions():
    a, i = kmm.zeros(1000), kmm.axis(1000)

    def fail(chunk, x):
        if chunk.begin >= 300:
            raise Mine(chunk.begin)
        x += 1

    e = raises(Mine, "300", kmm.parallel(i, chunk=100).run, fail, kmm.update(a[i]))
    assert e.args == (300,) and a[0] == 1
    kmm.parallel(i, chunk=100, nowait=True).run(fail, kmm.update(a[i]))
    raises(Mine, "300", kmm.wait)
    kmm.parallel(i, chunk=100, nowait=True).run(fail, kmm.update(a[i]))
    raises(Mine, "300", a.numpy)
    kmm.wait()
    kmm.parallel(kmm.axis(0)).run(fail, kmm.update(a.region[...]))  # nothing is called

    def waits(chunk, x):
        kmm.wait()

    raises(kmm.StateError, "", kmm.parallel(i).run, waits, kmm.update(a[i]))


def test_nowait():
    """What a launch with nowait was given may change after it."""
    n = 2000
    a, i, factor = kmm.zeros(n, "f8"), kmm.axis(n), np.ones(1)
    for k in range(20):
        factor[0] = k
        kmm.parallel(i, chunk=n // 9, nowait=True).run(
            lambda c, x, f: x.__iadd__(f[0]), kmm.update(a[i]), factor)
    kmm.wait(a)
    assert (a.numpy() == sum(range(20))).all()


def test_events():
    i, a, b = kmm.axis(100), kmm.zeros(100), kmm.zeros(100)
    gate = threading.Event()

    def slow(chunk, x):
        gate.wait()
        x += 1

    with kmm.event() as held:
        kmm.parallel(i, nowait=True).run(slow, kmm.update(a[i]))
    with kmm.event() as other:
        kmm.parallel(i, nowait=True).run(lambda c, x: x.fill(2), kmm.write(b[i]))
    both = kmm.join(held, other)
    assert not held.done() and not both.wait(0.01) and "pending" in repr(both)
    gate.set()
    assert both.wait() and held.done() and other.wait(0) and "done" in repr(both)
    assert a[99] == 1 and b[99] == 2 and kmm.join().wait()
    with kmm.event() as failing:
        kmm.parallel(i, nowait=True).run(lambda c, x: x.missing, kmm.update(a[i]))
    raises(AttributeError, "missing", failing.wait)
    with kmm.event() as outer:
        raises(kmm.StateError, "begun", kmm.event().__enter__)
    with kmm.Runtime("host") as r:
        with kmm.event() as e:
            kmm.empty(10)[:] = 3
        assert e.wait()
        raises(ValueError, "several runtimes", kmm.join, e, outer)
    raises(kmm.StateError, "closed", e.wait)


def test_threads():
    n, errors = 3000, []

    def work(k):
        try:
            with kmm.Runtime("host:2", device_mem=1 << 20):
                x = rng.random(n)
                a, i = kmm.array(x), kmm.axis(n)
                for _ in range(5):
                    kmm.parallel(i, chunk=n // 7).run(lambda c, x: x.__imul__(2), kmm.update(a[i]))
                assert np.array_equal(a.numpy(), 32 * x)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors, errors


def test_devices():
    with kmm.Runtime("host:2", device_mem=1 << 20) as rt:
        assert kmm.current() is rt and [d.kind for d in rt.devices] == ["host", "host"]
        x = rng.random(1 << 19)  # 4 MiB
        a, i = kmm.array(x), kmm.axis(x.size)
        kmm.parallel(i, chunk=x.size // 32).run(lambda c, x: x.__iadd__(1), kmm.update(a[i]))
        assert np.array_equal(a.numpy(), x + 1)
        assert all(d.chunks and d.memory == 1 << 20 for d in rt.devices)
        assert "<td>host:0</td>" in rt.devices._repr_html_()
    assert kmm.current() is kmm.default()
    raises(kmm.Error, "", kmm.Runtime, "no such device")


def test_report():
    path = os.path.join(tempfile.mkdtemp(), "trace.json")
    program = ("import kmm\nwith kmm.Runtime('host:1', device_mem=1 << 20):\n"
               "    a, i = kmm.zeros(1000), kmm.axis(1000)\n"
               "    kmm.parallel(i, chunk=100).run(lambda c, x: x.fill(1), kmm.update(a[i]))\n"
               "r = kmm.report(%r)\nprint(r)\nassert 'srcdoc' in r._repr_html_()\n" % path)
    result = subprocess.run([sys.executable, "-c", program], env=dict(os.environ, KMM_TRACE=path),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert result.returncode == 0 and "1 launch in 10 chunks" in result.stdout, result.stdout
    raises(ValueError, "kmm", kmm.report, path + "x")


def test_programs():
    """Of a libkmm that the loader finds by its name, programs are in PATH and nowhere else."""
    work = tempfile.mkdtemp()
    for folder in ("bin", "here", "path"):
        os.mkdir(os.path.join(work, folder))
    for folder in ("bin", "path"):
        with open(os.path.join(work, folder, "kmm-report"), "w") as file:
            os.chmod(file.fileno(), 0o755)
    program = ("from kmm import _library, _report\n_library.path = lambda: 'libkmm.so.0'\n"
               "print(_report.tool('kmm-report'))\n")
    package = os.path.dirname(os.path.dirname(os.path.abspath(kmm.__file__)))
    environment = dict(os.environ, PATH=os.path.join(work, "path"), PYTHONPATH=package)
    found = subprocess.run([sys.executable, "-c", program], cwd=os.path.join(work, "here"),
                           env=environment, stdout=subprocess.PIPE, text=True).stdout
    assert found.strip() == os.path.join(work, "path", "kmm-report"), found


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
print("ok")
if "unwaited" in sys.argv:
    a, i = kmm.zeros(10), kmm.axis(10)

    def lost(chunk, x):
        raise Mine("nobody asked")

    kmm.parallel(i, nowait=True).run(lost, kmm.update(a[i]))
