# SPDX-License-Identifier: Apache-2.0
"""Usage: report.py <trace_work> <kmm-report> <folder>

kmm-report on traces of trace_work. What it says is compared with sums that are made here in another
way, and with what the program's statistics say.
"""
import base64
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zlib

program, report, folder = map(os.path.abspath, sys.argv[1:4])
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)
HANG = 300  # seconds
HOST, DISK, DEVICE, IN, OUT, PEER = 1, 2, 10, 1001, 1002, 1003
SMALL = {"KMM_FRAME": "4K", "KMM_JOIN": "0", "KMM_NATIVE": "0"}
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
SIZES = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def run(name, arguments, **more):
    """Makes a trace; returns its events and the program's output."""
    result = subprocess.run([program, *arguments.split()], capture_output=True, text=True,
                            env={**os.environ, **SMALL, **more, "KMM_TRACE": name}, timeout=HANG,
                            check=False)
    assert result.returncode == 0, result
    with open(name, encoding="utf-8") as file:
        return json.load(file), result.stdout


def tell(*arguments, status=0):
    """Runs kmm-report; returns what it prints, as one line."""
    result = subprocess.run([sys.executable, report, *arguments], capture_output=True, text=True,
                            timeout=HANG, check=False)
    assert result.returncode == status, (arguments, result)
    assert "Traceback" not in result.stderr, result.stderr
    return result.stdout if status == 0 else result.stderr


def words(text):
    return " ".join(text.split())


def near(text, value, units):
    """Whether a figure such as `1.59 ms`, of at least three digits, is this value."""
    figure, unit = text.split()
    return abs(float(figure) * units[unit] - value) <= 0.006 * value + 0.51 * units[unit] * (
        unit in ("ns", "bytes"))


# ---- Sums made in another way: from one begin or end of a slice to the next ----

def ns(micros):
    return round(1000 * micros)


def kind_of(e, pid_of, lanes):
    """The device, and the rank of what the slice is among what the report tells."""
    if e["pid"] >= DEVICE:
        return e["pid"], "kernels" if e["cat"] in ("chunk", "operation") else "copies"
    if e["name"] == "wait for room":
        return pid_of.get(e["args"]["task"]), "room"
    if "device" in e["args"]:
        return lanes[DEVICE + e["args"]["device"]], "map"
    return None, {"submit": "submit", "page-lock": "lock"}.get(e["name"])


def shares(events):
    """Device -> what -> nanoseconds. Devices of two runtimes are one if they are the same."""
    first, lanes = {}, {}
    for e in sorted((e for e in events if e["name"] == "memory_limit"), key=lambda e: e["pid"]):
        lanes[e["pid"]] = first.setdefault(e["args"]["index"], e["pid"])
    slices = [{**e, "pid": lanes.get(e["pid"], e["pid"])} for e in events if e["ph"] == "X"]
    pid_of = {t: e["pid"] for e in slices if e["cat"] == "chunk" for t in e["args"]["tasks"]}
    begin = min(ns(e["ts"]) for e in slices)
    end = max(ns(e["ts"]) + ns(e["dur"]) for e in slices)
    found = {}
    for pid in {e["pid"] for e in slices if e["pid"] >= DEVICE}:
        changes = collections.defaultdict(list)
        for e in slices:
            at, what = kind_of(e, pid_of, lanes)
            if what and at in (pid, None):
                changes[ns(e["ts"])].append((what, 1))
                changes[ns(e["ts"]) + ns(e["dur"])].append((what, -1))
        now, last, sums = collections.Counter(), begin, collections.Counter()
        for moment in sorted([*changes, end]):
            what = next((w for w in RANKS if now[w] > 0), "host")
            sums[what] += moment - last
            last = moment
            for one, step in changes[moment]:
                now[one] += step
        assert sum(sums.values()) == end - begin
        found[pid] = sums
    return found, end - begin


def again(events):
    """Bytes that were copied to a device that had them before and evicted them. By elements of 4
    bytes, in the order of the file."""
    here, gone, came_again = collections.defaultdict(set), collections.defaultdict(set), 0
    for e in events:
        if e.get("cat") not in ("copy", "eviction"):
            continue
        a, key = e["args"], (e["pid"], e["args"]["array"])
        elements = set(range(a["from"] // 4, a["to"] // 4))
        if e["cat"] == "eviction":
            gone[key] |= here[key] & elements
            here[key] -= elements
        elif e["tid"] != OUT:
            assert a["to"] - a["from"] == a["bytes"]
            came_again += 4 * len(gone[key] & elements)
            gone[key] -= elements
            here[key] |= elements
        elif "task" not in a:
            gone[key] |= elements
    return came_again


RANKS = "kernels", "copies", "room", "map", "lock", "submit"
TEXTS = {"kernels": "kernels ran", "copies": "copies that no kernel hid",
         "room": "waiting for room on the device", "map": "mapping memory of the device",
         "lock": "page-locking host memory", "submit": "submitting launches",
         "host": "nothing of the above: the program itself, or waiting"}


def check_shares(text, events):
    found, length = shares(events)
    for what, words_of in TEXTS.items():
        mean = sum(sums[what] for sums in found.values()) / len(found)
        row = re.search(rf"^ *([\d.]+)% +([\d.]+ \w+)  {words_of}$", text, re.M)
        assert bool(row) == (mean > 0), (what, mean, text)
        if row:
            assert abs(float(row[1]) - 100 * mean / length) <= 0.51, (what, row[0], mean, length)
            assert near(row[2], mean, UNITS), (what, row[0], mean)
    assert near(re.search(r"The run took ([\d.]+ \w+)", text)[1], length, UNITS), (text, length)


def check_bytes(text, output):
    """The bytes are those that the program's statistics say."""
    sums = [0, 0, 0]
    for row in re.findall(r"in (\d+) out (\d+) peer (\d+)", output):
        sums = [a + int(b) for a, b in zip(sums, row)]
    found = re.search(r"([\d.]+ \w+) were copied in, ([\d.]+ \w+) out, ([\d.]+ \w+) between",
                      words(text))
    for figure, value in zip(found.groups(), sums):
        assert near(figure, value, SIZES), (found[0], sums)
    chunks = sum(map(int, re.findall(r"chunks (\d+)", output)))
    assert f"with 9 launches in {chunks} chunks on" in words(text), (text, chunks)
    return sums


# ---- The page ----

class Page:
    """What a page has of the trace."""

    def __init__(self, name):
        with open(name, encoding="utf-8") as file:
            self.text = file.read()
        assert not re.search(r"""(src|href)\s*=\s*["']?(?!data:)\w|@import|url\(\s*["']?http""",
                             self.text.replace("http://www.w3.org/2000/svg", ""))
        self.data = json.loads(re.search(r'id="data">(.*?)</script>', self.text, re.S)[1])
        packed = re.search(r'id="columns">(.*?)</script>', self.text, re.S)[1]
        self.columns = zlib.decompress(base64.b64decode(packed))

    def column(self, place):
        kind = {"Uint8": "B", "Uint32": "I", "Int32": "i", "Float64": "d"}[place[0]]
        return memoryview(self.columns)[place[1]:].cast("B")[:place[2] * {
            "B": 1, "I": 4, "i": 4, "d": 8}[kind]].cast(kind)


def check_page(name, events):
    """The page has each slice of the trace, with its times."""
    page, wanted = Page(name), collections.Counter()
    for e in events:
        if e["ph"] == "X":
            wanted[e["pid"], e["tid"], ns(e["ts"]), ns(e["dur"]), e["name"]] += 1
    found = collections.Counter()
    for t in page.data["tracks"]:
        at = 0
        for step, length, text in zip(page.column(t["begin"]), page.column(t["length"]),
                                      page.column(t["name"])):
            at += step
            if t["pid"] != DISK:
                found[t["pid"], t["tid"], at, length, page.data["texts"][text]] += 1
    assert page.data["tick"] == 1 and found == wanted, (found - wanted, wanted - found)
    arrows = page.column(page.data["arrows"][1])
    assert len(arrows) == sum(e["ph"] == "f" for e in events)


# ---- The tests ----

def test_figures():
    for k, devices in enumerate(("host:2,mem=256K", "cuda:2,mem=256K", "host:1")):
        events, output = run(f"run{k}.json", f"work {devices} 65536 16", KMM_ORDER="submission")
        text = tell(f"run{k}.json", "-o", f"run{k}.html")
        check_shares(text, events)
        came = check_bytes(text, output)
        check_page(f"run{k}.html", events)
        figure = re.search(r"the device had ([\d.]+ \w+) of it before", words(text))
        expected = again(events)
        assert bool(figure) or expected < 0.25 * (came[0] + came[2]) or k == 2, (text, expected)
        if figure:
            assert near(figure[1], expected, SIZES), (figure[0], expected)


def test_too_large():
    """The reason of a slow program is named: chunks of which memory has only one."""
    run("large.json", "work host:1,mem=6M 2000000 4", KMM_FRAME="64K")
    text = words(tell("large.json"))
    name = 'second "step" ? (trace.cu:20)'
    assert f"The chunks of {name} are too large for two at once." in text, text
    assert "uses 4 MiB, and device 0: host:0 has 6 MiB" in text, text
    assert "The launch has 4 chunks. Smaller chunks would fit: about 7 or more" in text, text


def test_evicted_again():
    """... data that is evicted and needed again, in chunks that are small enough."""
    events, output = run("again.json", "work host:1,mem=4M 2000000 64", KMM_FRAME="64K",
                         KMM_ORDER="submission")
    text, came = words(tell("again.json")), int(re.search(r"in (\d+)", output)[1])
    part = round(100 * again(events) / came)
    assert f"{part}% of the copies bring what was evicted before." in text, (text, part)
    assert "too large for two" not in text and "ends lookahead" not in text, text
    assert "The program waits" not in text, text


def test_copies_end_lookahead():
    """... copies to the program in each step, between which data is evicted."""
    run("copies.json", "copies host:1,mem=4M 2000000 64", KMM_FRAME="64K")
    text = words(tell("copies.json"))
    assert "of the copies bring what was evicted before." in text, text
    assert re.search(r"The program waits 6 times between its 9 launches, mostly for a copy to its "
                     r"own memory after the launch of (step \(trace.cu:10\)|second)", text), text


def test_synchronized():
    """... a wait after each launch."""
    run("steps.json", "steps host:1,mem=64M 200000 8", KMM_FRAME="64K")
    text = words(tell("steps.json"))
    for name, times in ("step (trace.cu:10)", 3), ('second "step" ? (trace.cu:20)', 3):
        assert f"The wait after the launch of {name} ends lookahead." in text, text
        assert (f"The program waited {times} times for all work right after it had launched {name}"
                in text), text
    assert "too large" not in text and "evicted before" not in text, text
    run("free.json", "work host:1,mem=64M 200000 8", KMM_FRAME="64K")
    assert "ends lookahead" not in tell("free.json")


def write_trace(name, slices):
    """A trace of slices: pid, tid, begin and length in us, name, category, arguments."""
    events = [{"ph": "M", "pid": pid, "tid": 0, "ts": 0, "name": "process_name",
               "args": {"name": text}} for pid, text in ((1, "host"), (2, "disk"), (10, "device 0"),
                                                         (11, "device 1"))]
    events += [{"ph": "M", "pid": pid, "tid": 0, "ts": 0, "name": "memory_limit",
                "args": {"bytes": 1000, "runtime": 0, "index": pid - DEVICE}} for pid in {s[0] for s in slices if s[0] >= DEVICE}]
    for pid, tid, begin, length, text, category, arguments in slices:
        event = {"pid": pid, "tid": tid, "name": text, "cat": category, "args": arguments}
        if category == "disk":
            events += [{**event, "ph": "b", "ts": begin, "id": begin},
                       {**event, "ph": "e", "ts": begin + length, "id": begin}]
        else:
            events.append({**event, "ph": "X", "ts": begin, "dur": length})
    with open(name, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(map(json.dumps, events)) + "\n]\n")
    return words(tell(name))


def chunk(pid, begin, length, task=1):
    return (pid, 1, begin, length, "k (a.cu:3)", "chunk",
            {"tasks": [task], "launch": 1, "chunk": 0, "last_chunk": 0, "chunks": 1, "line": 3})


def copy_in(pid, begin, length, number=1):
    return (pid, IN, begin, length, "copy in", "copy",
            {"bytes": 100, "array": number, "from": 0, "to": 100, "task": 1})


HEADINGS = {"small": "The chunks are too small.", "unequal": "The devices have unequal work.",
            "disk": "The disk is what the devices wait for.",
            "copies": "The copies take longer than the kernels can hide.",
            "room": "Chunks wait for room that data of other launches takes.",
            "lock": "Host memory is page-locked while the program runs."}


def test_other_reasons():
    """Each other reason is named by a trace that has it, and by no other."""
    wait = (HOST, 7, 10, 80, "wait for room", "host", {"bytes": 400, "task": 5})
    submit = (HOST, 7, 0, 4000, "submit", "host", {"of": "k", "line": 3})
    traces = {
        "small": [submit] + [chunk(10, 40 * k, 10, k) for k in range(101)],
        "unequal": [chunk(10, 0, 100), chunk(11, 0, 40)],
        "disk": [chunk(10, 0, 80), (DISK, 1, 80, 20, "read", "disk", {"bytes": 4096})],
        "copies": [chunk(10, 30, 70), copy_in(10, 0, 30)],
        "room": [chunk(10, 0, 10), chunk(10, 90, 10, 5), wait],
        "lock": [chunk(10, 0, 80), (HOST, 7, 80, 20, "page-lock", "host", {"bytes": 4096})]}
    for name, slices in traces.items():
        text = write_trace(f"{name}.json", slices)
        for other, heading in HEADINGS.items():
            assert (heading in text) == (other == name), (name, other, text)
    for slices in ([chunk(10, 0, 100), chunk(11, 0, 60)], [chunk(10, 20, 80), copy_in(10, 0, 19)],
                   [submit] + [chunk(10, 40 * k, 39, k) for k in range(101)]):
        text = write_trace("none.json", slices)
        assert not any(heading in text for heading in HEADINGS.values()), text


def test_names():
    """Names may be any text. The name of a wait is that of the launch before it."""
    odd = "</script><b>@DATA@ \\u003c & \u00e9"
    named = [(*chunk(10, k, 10)[:4], odd, "chunk", {**chunk(10, k, 10)[6], "launch": k,
                                                   "submitted": k - 8}) for k in (10, 100, 190)]
    host = [(HOST, 7, k + at, 5, text, "host", {"of": "odd", "line": 3} if at < 0 else {})
            for k in (10, 100, 190) for at, text in ((-9, "submit"), (5, "wait for work"))]
    text = write_trace("names.json", named + host)
    assert f"The wait after the launch of {odd} ends lookahead. The program waited 2 times" in text
    tell("names.json", "-o", "names.html")
    page = Page("names.html")
    assert odd in page.data["texts"] and page.data["sites"][0][0] == odd
    assert "<b>" not in page.text
    text = write_trace("names.json", [s for s in host if s[4] == "submit"] + host[1::2] +
                       [chunk(10, 10, 5), chunk(10, 100, 5), chunk(10, 190, 5)])
    assert "The wait after the launch of odd in line 3 ends lookahead." in text, text


def test_killed():
    """The trace of a program that was killed, and one that was cut amid a line."""
    with subprocess.Popen([program, "endless", "host:2", "65536", "8"], stdout=subprocess.DEVNULL,
                          env={**os.environ, **SMALL, "KMM_TRACE": "killed.json"}) as process:
        until = time.monotonic() + HANG
        while not os.path.exists("killed.json") or os.path.getsize("killed.json") < 100000:
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.01)
        process.kill()
    assert "The run took" in tell("killed.json", "-o", "killed.html")
    Page("killed.html")
    with open("killed.json", encoding="utf-8") as file:
        lines = file.read().split("\n")
    with open("cut.json", "w", encoding="utf-8") as file:
        file.write("\n".join(lines[:200]) + "\n" + lines[200][:20])
    assert "The file is cut: what follows line 200 is left out." in words(tell("cut.json"))
    begun = '{"ph":"B","pid":10,"tid":1,"ts":9.000,"cat":"unfinished","name":"n","args":{"task":7}}'
    with open("begun.json", "w", encoding="utf-8") as file:
        file.write("\n".join(lines[:3]) + "\n" + begun + "\n]\n")
    assert "1 slice had not ended when the trace ended" in tell("begun.json")


def test_nothing():
    for name, content in (("empty.json", ""), ("array.json", "[]\n"), ("open.json", "[\n")):
        with open(name, "w", encoding="utf-8") as file:
            file.write(content)
        assert "Nothing ran on a device." in tell(name, "-o", "nothing.html")
        assert Page("nothing.html").data["tracks"] == []


def test_several_runtimes():
    """A device of several runtimes, one after the other, is one device."""
    for devices, number in ("host:1", 1), ("cuda:2", 2):
        events, _ = run("twice.json", f"twice {devices} 4096 4")
        text = tell("twice.json", "-o", "twice.html")
        assert len({e["pid"] for e in events if e.get("cat") == "chunk"}) == 2 * number
        check_shares(text, events)
        check_page("twice.html", events)
        assert re.search(rf"with 18 launches in 72 chunks on {number} devices?\.", words(text)), text
        kernels = sorted(sums["kernels"] for sums in shares(events)[0].values())
        assert len(kernels) == number
        if 2.02 * kernels[0] > kernels[-1]:  # as is meant; a busy machine may divide time otherwise
            assert "unequal" not in text, text


def test_refused():
    foreign = {"text": "hello\n", "object": '{"traceEvents": []}\n', "numbers": "[1, 2]\n",
               "other": '[\n{"ph":"X","pid":7,"tid":7,"ts":1,"dur":2,"cat":"x","name":"n"},\n]\n',
               "named": '[\n{"ph":"M","pid":1,"name":"process_name","args":{"name":"tab"}}\n]\n',
               "list": '[\n{"ph":"M","pid":1,"name":"process_name","args":[]}\n]\n',
               "cut": '[\n{"ph":\n'}
    for name, content in foreign.items():
        with open(name, "w", encoding="utf-8") as file:
            file.write(content)
        assert re.match(rf"kmm-report: {name}: (this is no trace that KMM_TRACE wrote|line 2 is no "
                        "event)", tell(name, "-o", "no.html", status=1))
    with open("binary", "wb") as file:
        file.write(bytes(range(256)))
    tell("binary", status=1)
    assert tell("absent.json", status=1) == "kmm-report: absent.json: No such file or directory\n"
    with open("array.json", "w", encoding="utf-8") as file:
        file.write("[]\n")
    assert "no/run.html" in tell("array.json", "-o", "no/run.html", status=1)
    assert not os.path.exists("no.html") and "usage: kmm-report" in tell("--help")
    assert "usage: kmm-report" in tell(status=2) and "--what" in tell("a", "--what", status=2)


for name, test in list(globals().items()):
    if name.startswith("test_") and (len(sys.argv) < 5 or name in sys.argv[4:]):
        test()
        print(name, flush=True)
