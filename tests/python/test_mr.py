# SPDX-License-Identifier: Apache-2.0
"""kmm.mr and kmm.statistics, on host memory and, with the argument `device`, on a device (tests:
that of the fake driver).

    test_mr.py WORK [device]
"""
import ctypes
import gc
import os
import pickle
import random
import subprocess
import sys
import threading

try:
    import numpy as np
except ModuleNotFoundError:  # kmm.mr needs no NumPy
    np = None

import kmm
import kmm.statistics
from kmm import mr

WORK, ON_DEVICE = sys.argv[1], sys.argv[2:] == ["device"]
DEVICE = 0 if ON_DEVICE else -1


def raises(kind, text, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as e:
        assert text in str(e), (text, str(e))
        return e
    raise AssertionError("%s was not raised: %s" % (kind.__name__, text))


def source():
    return mr.DeviceResource() if ON_DEVICE else mr.HostResource()


def test_each():
    """Every kind gives memory, and takes it back."""
    s = source()
    kinds = [s, mr.PoolResource(s, initial_bytes=1 << 20, wait_first=True, cache_bytes=None),
             mr.ArenaResource(s, per_thread=True), mr.FixedSizeResource(s, block_bytes=8192),
             mr.BinningResource(s), mr.LimitingResource(s, 1 << 20), mr.AlignedResource(s, 4096),
             mr.LoggingResource(s, os.path.join(WORK, "each.csv")), mr.StatisticsResource(s),
             mr.TrackingResource(s, stacks=True), mr.FailureResource(s, lambda n: False),
             mr.PrefetchResource(s), mr.ThreadSafeResource(s), mr.HostResource(),
             mr.NumaResource(0)]
    if ON_DEVICE:
        kinds += [mr.MappedResource(), mr.ManagedResource(), mr.PinnedResource(),
                  mr.AsyncResource(), mr.PinnedPoolResource()]
    for r in kinds:
        p = r.allocate(5000)
        assert p and p % 256 == 0 and r.size(p) == 5000, r
        if r.kind in ("host", "pinned"):
            ctypes.memset(p, 1, 5000)
        if type(r) is not mr.AlignedResource:
            raises(kmm.InvalidArgument, "", r.deallocate, p, 4999)
        r.deallocate(p, 5000)
        raises(kmm.AddressError, "", r.deallocate, p)
        assert r.allocate(0) == 0 and r == r and r.memory_info()[1] >= r.memory_info()[0]
        assert r.upstream in (None, s) and type(r).__name__ in repr(r) and r.name in repr(r)
        r.trim()
    p = kinds[6].allocate(1, alignment=1 << 16)
    assert kinds[1] != kinds[2] and p % (1 << 16) == 0
    kinds[6].deallocate(p)
    if ON_DEVICE:
        kinds[-1].allow(0)
        assert [r.kind for r in kinds[-5:]] == ["device", "managed", "pinned", "device", "pinned"]


def test_random():
    """A random log of two threads' work through many resources: blocks never overlap."""
    choose = random.Random()
    pool = mr.PoolResource(mr.LimitingResource(source(), 1 << 26))
    binning = mr.BinningResource(pool)
    binning.add(1000)
    binning.add(5000, mr.FixedSizeResource(pool, block_bytes=5120, blocks_per_chunk=16))
    counted = mr.StatisticsResource(binning)
    live, lock = {}, threading.Lock()

    def work():
        for _ in range(400):
            with lock:
                if live and choose.random() < 0.45:
                    p, n = live.popitem()
                    counted.deallocate(p, n)
                    continue
                n = choose.choice([1, 900, 4000, choose.randrange(1, 100000)])
                p = counted.allocate(n)
                assert all(p + n <= q or q + m <= p for q, m in live.items())
                live[p] = n

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    counts = counted.statistics()
    assert counts.bytes.current == sum(live.values()) and counts.count.current == len(live)
    assert pool.usage().held_bytes >= pool.usage().live_bytes >= sum(
        n for n in live.values() if n > 5000)
    for p, n in live.items():
        counted.deallocate(p, n)
    assert counted.statistics().bytes.current == 0


def test_lifetime():
    """A resource keeps those below it alive, and a buffer its resource."""
    names = []
    upstream = mr.CallbackResource(lambda n, s: names.append(n) or host.allocate(n),
                                   lambda p, n, s: host.deallocate(p, n))
    host = mr.HostResource()
    buffer = mr.DeviceBuffer.to_device(b"some bytes", mr=mr.PoolResource(upstream))
    del upstream
    gc.collect()
    assert buffer.tobytes() == b"some bytes" and len(names) == 1
    tracking = mr.TrackingResource(host)
    p = tracking.allocate(77)
    assert [(a.ptr, a.bytes) for a in tracking.outstanding()] == [(p, 77)]
    with open(os.path.join(WORK, "tracked"), "w") as f:
        tracking.print(f)
    assert "77" in open(os.path.join(WORK, "tracked")).read()
    tracking.deallocate(p)


def test_callbacks():
    host = mr.HostResource()
    limited, asked = mr.LimitingResource(host, 1000), []
    failing = mr.FailureResource(limited, lambda n: asked.append(n) or len(asked) < 3)
    e = raises(MemoryError, "4000", failing.allocate, 4000)
    assert isinstance(e, kmm.OutOfMemory) and e.code == -2 and asked == [4000] * 3

    def broken(*_):
        raise ZeroDivisionError("mine")

    e = raises(kmm.OutOfMemory, "", mr.FailureResource(limited, broken).allocate, 4000)
    assert isinstance(e.__cause__, ZeroDivisionError)
    e = raises(kmm.Error, "", mr.CallbackResource(broken, broken).allocate, 10)
    assert isinstance(e.__cause__, ZeroDivisionError) and e.code == -5


def test_buffer():
    b = mr.DeviceBuffer.to_device(bytes(range(100)), mr=source())
    assert len(b) == b.size == b.nbytes == 100 and b.ptr and b.tobytes() == bytes(range(100))
    b.copy_from_host(b"abc", 10)
    b.fill(255, 20, 2)
    out = bytearray(14)
    b.copy_to_host(out, 9)
    assert out == b"\x09abc" + bytes(range(13, 20)) + b"\xff\xff" + bytes([22])
    b.reserve(1000)
    b.resize(600)
    assert b.capacity >= 1000 and b.size == 600 and b.tobytes()[:3] == bytes(range(3))
    b.resize(10)
    b.shrink()
    assert b.size == 10 and b.capacity < 600
    raises(ValueError, "of a buffer of 10", b.copy_from_host, b"x" * 5, 6)
    raises(ValueError, "of a buffer of 10", b.fill, 0, 0, 11)
    capsule = b.__dlpack__(stream=-1)
    raises(kmm.StateError, "another library", b.resize, 100000)
    del capsule
    b.resize(100000)
    kind, number = b.__dlpack_device__()
    assert (kind, number) == ((2, 0) if ON_DEVICE else (1, 0))
    if ON_DEVICE:
        shown = b.__cuda_array_interface__
        assert shown["data"] == (b.ptr, False) and shown["shape"] == (100000,)
        assert shown["typestr"] == "|u1" and shown["stream"] == 1 and shown["version"] == 3
        assert not hasattr(b, "__array_interface__")
    else:
        assert not hasattr(b, "__cuda_array_interface__")
        if np:
            lent = np.from_dlpack(b)
            b.fill(42, 0, 1)
            assert lent[0] == 42 and lent.nbytes == 100000
            del lent
            shown = np.asarray(b)
            assert shown[0] == 42 and shown.ctypes.data == b.ptr
        b.__array_interface__
    raises(kmm.StateError, "another library", b.resize, 1 << 20)
    copied = pickle.loads(pickle.dumps(b.copy()))
    b.fill(7)
    assert copied.size == b.size and copied.tobytes() != b.tobytes()
    copied.copy_from_device(b)
    assert copied.tobytes() == bytes([7]) * b.size
    raises(ValueError, "of a buffer", copied.copy_from_device, b, 1)
    assert mr.DeviceBuffer(0).tobytes() == b"" and mr.DeviceBuffer(7).size == 7


def test_current():
    before = mr.get_current_device_resource()
    assert before.device == DEVICE
    mine = mr.StatisticsResource(source())
    mr.set_current_device_resource(mine)
    assert mr.get_per_device_resource(DEVICE) is mine
    buffer = mr.DeviceBuffer(3000)
    assert buffer.mr is mine and mine.statistics().bytes.current == 3000
    path = os.path.join(WORK, "log.csv")
    mr.reinitialize(pool_allocator=True, initial_pool_size=1 << 20, devices=[DEVICE], logging=True,
                    log_file_name=path)
    logging = mr.get_current_device_resource()
    assert "logging(pool(" in logging.name and logging.path == os.path.join(
        WORK, "log.dev%d.csv" % DEVICE)
    del mine
    second = mr.DeviceBuffer(5000)
    del buffer, second
    logging.flush()
    with open(logging.path) as f:
        assert ",5000," in f.read()
    mr.set_current_device_resource(None)
    assert mr.get_current_device_resource() == before
    raises(kmm.Error, "", mr.get_per_device_resource, 1000)
    raises(ValueError, "log_file_name", mr.reinitialize, logging=True)


def test_statistics():
    kmm.statistics.profiler_records.clear()

    @kmm.statistics.profiler()
    def step(n):
        """Its text."""
        return mr.DeviceBuffer(n).size

    assert step(5) == 5 and not kmm.statistics.profiler_records.records  # not enabled
    assert kmm.statistics.get_statistics() is None and kmm.statistics.pop_statistics() is None
    with kmm.statistics.statistics() as counts:
        step(1000)
        assert step.__doc__ == "Its text." and counts.bytes.total == 1000
        held = mr.DeviceBuffer(300)
        with kmm.statistics.profiler("a block"):
            step(2000)
    step(7)
    assert (counts.bytes.peak, counts.bytes.total, counts.count.current) == (2300, 3300, 1)
    records = kmm.statistics.profiler_records.records
    assert records["a block"] == (1, 2000, 2000, 1)
    (name,) = [n for n in records if n.startswith("test_statistics.<locals>.step (test_mr.py:")]
    assert records[name] == (3, 3007, 2000, 3) and name in kmm.statistics.profiler_records.report()
    kmm.statistics.push_statistics()
    del held
    assert kmm.statistics.pop_statistics().bytes.current == -300
    mr.set_current_device_resource(None)


def test_streams():
    if not ON_DEVICE:
        return
    pool = mr.StreamPool(0, 3)
    assert len(pool) == 3 and len({s.ptr for s in (pool.next() for _ in range(6))}) == 3
    raises(IndexError, "3 streams", lambda: pool[3])
    a, b = pool[0], pool[1]
    resource = mr.PoolResource(mr.MappedResource())

    class Framework:  # a stream as CuPy, PyTorch, Numba and others have it
        def __init__(self, **members):
            vars(self).update(members)

    for stream in (a, a.ptr, Framework(ptr=a.ptr), Framework(cuda_stream=a.ptr),
                   Framework(handle=ctypes.c_void_p(a.ptr)),
                   Framework(__cuda_stream__=lambda: (0, a.ptr))):
        buffer = mr.DeviceBuffer.to_device(b"on a stream", stream, resource)
        assert buffer.__cuda_array_interface__["stream"] == a.ptr
    buffer.__dlpack__(stream=b.ptr)  # waits for a
    buffer.stream = b
    assert buffer.tobytes() == b"on a stream" and buffer.stream is b
    del buffer
    for stream in (a, b):
        resource.stream_end(stream)
    raises(TypeError, "", resource.allocate, 10, stream="a name")


def test_end():
    """Resources that are there when the interpreter ends do no harm, and a log is whole."""
    path = os.path.join(WORK, "end.csv")
    program = ("from kmm import mr\n"
               "r = mr.LoggingResource(mr.PoolResource(mr.HostResource()), %r)\n"
               "b = mr.DeviceBuffer(1234, mr=r)\np = r.allocate(99)\n"
               "mr.set_per_device_resource(-1, r)\n" % path)
    result = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE)
    assert result.returncode == 0 and result.stderr == b"", result
    with open(path) as f:
        text = f.read()
    assert ",1234," in text and ",99," in text


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
gc.collect()
print("ok")
