# SPDX-License-Identifier: Apache-2.0
"""Usage: trace.py <trace_work> <folder>

KMM_TRACE and KMM_DOT. Runs trace_work and compares its traces and graphs with what it did.
"""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)
HANG = 300  # seconds
DEVICE, KERNELS, IN, OUT, PEER = 10, range(1, 1000), 1001, 1002, 1003
SMALL = {"KMM_FRAME": "4K", "KMM_JOIN": "0", "KMM_NATIVE": "0"}


def environment(more):
    return {**os.environ, **SMALL, **more}


def run(arguments, status=0, **more):
    """Runs trace_work; returns its output and its messages."""
    result = subprocess.run([program, *arguments.split()], env=environment(more), text=True,
                            capture_output=True, timeout=HANG, check=False)
    assert result.returncode == status, (arguments, more, result)
    return result.stdout, result.stderr


def start(arguments, **more):
    return subprocess.Popen([program, *arguments.split()], env=environment(more),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def await_true(process, what):
    """Waits until what() is true, while the process runs."""
    until = time.monotonic() + HANG
    while True:
        assert process.poll() is None and time.monotonic() < until, what
        if what():
            return
        time.sleep(0.01)


def has_event(name, wanted):
    try:
        return any(wanted(e) for e in read(name))
    except (OSError, ValueError):  # not made yet, or being written
        return False


def statistics(text):
    found = re.findall(r"device (\d+) chunks (\d+) in (\d+) out (\d+) peer (\d+) limit (\d+)", text)
    return [tuple(map(int, row[1:])) for row in found]


# ---- What holds of each trace ----

def slices(events):
    return [e for e in events if e["ph"] == "X"]


def check_nesting(events):
    """Slices of a track lie within each other or apart; those of a device's streams apart."""
    tracks = collections.defaultdict(list)
    for e in slices(events):
        assert e["dur"] >= 0 and e["ts"] >= 0
        tracks[e["pid"], e["tid"]].append((round(1000 * e["ts"]), -round(1000 * e["dur"])))
    for (pid, _), all_of in tracks.items():
        open_ends = []
        for begin, length in sorted(all_of):
            end = begin - length
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            assert not open_ends or (pid < DEVICE and end <= open_ends[-1]), (pid, begin, end)
            open_ends.append(end)


def check_tasks(events, stats):
    """Each chunk has run once, after it was submitted and ready."""
    tasks, chunks = collections.Counter(), 0
    for e in slices(events):
        if e["cat"] not in ("chunk", "operation"):
            continue
        a = e["args"]
        tasks.update(a["tasks"])
        assert a["submitted"] <= a["ready"] <= a["issued"] and a["ready"] <= e["ts"], e
        if e["cat"] == "chunk":
            chunks += a["last_chunk"] - a["chunk"] + 1
            assert a["file"] == "folder/trace.cu" and a["line"] in (10, 20, 30), e
            name = 'second "step" ?' if a["line"] == 20 else "step" if a["line"] == 10 else "sum"
            assert e["name"] == f"{name} (trace.cu:{a['line']})", e
    assert set(tasks.values()) == {1}
    assert chunks == sum(s[0] for s in stats) > 0, (chunks, stats)


def check_copies(events, stats):
    """The copied bytes are those of the statistics."""
    copied = collections.Counter()
    for e in slices(events):
        if e["cat"] == "copy":
            copied[e["pid"], e["tid"]] += e["args"]["bytes"]
    for k, (_, came, went, peer, _) in enumerate(stats):
        found = tuple(copied[DEVICE + k, tid] for tid in (IN, OUT, PEER))
        assert found == (came, went, peer), (k, found, came, went, peer)


def check_arrows(events):
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    begins = [e for e in events if e["ph"] == "s"]
    at = collections.defaultdict(list)
    for e in slices(events):
        at[e["pid"], e["tid"]].append(e)
    for s in begins:
        f = ends.pop(s["id"])
        assert any(e["ts"] <= s["ts"] <= e["ts"] + e["dur"] for e in at[s["pid"], s["tid"]]), s
        assert any(e["ts"] == f["ts"] for e in at[f["pid"], f["tid"]]), f
    assert not ends
    return len(begins)


def check_counters(events, stats):
    for e in events:
        if e["ph"] == "C" and e["name"] == "memory in use":
            assert e["args"]["bytes"] <= stats[e["pid"] - DEVICE][4], e


def check_disk(events):
    open_now, written = {}, 0
    for e in events:
        if e.get("cat") == "disk":
            if e["ph"] == "b":
                assert e["id"] not in open_now
                open_now[e["id"]] = e
            else:
                assert open_now.pop(e["id"])["name"] == e["name"]
                written += e["args"]["bytes"] if e["name"] == "write" else 0
    assert not open_now
    counted = [e["args"]["bytes"] for e in events if e["name"] == "written to disk"]
    assert (counted[-1] if counted else 0) == written
    return written


def check_names(events):
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in slices(events)} <= named


def check_run(name, output):
    events, stats = read(name), statistics(output)
    check_nesting(events)
    check_tasks(events, stats)
    check_copies(events, stats)
    check_counters(events, stats)
    check_names(events)
    return events, stats, check_arrows(events), check_disk(events)


# ---- The tests ----

def has(events, **wanted):
    return any(all(e.get(k) == v for k, v in wanted.items()) for e in events)


def test_devices():
    for k, devices in enumerate(("host:3,mem=256K", "cuda:2,mem=256K")):
        name = f"devices{k}.json"
        output, _ = run(f"work {devices} 65536 16", KMM_TRACE=name)
        events, _, _, _ = check_run(name, output)
        assert has(events, cat="eviction") and has(events, name="copy out (eviction)")
        assert has(events, name="map") and has(events, name="submit")
        assert any(e["name"] == "rate in" and e["args"]["bytes/s"] > 0 for e in events)
        assert has(events, cat="operation")
        assert has(events, name="end of a reduction (trace.cu:30)")


def test_gate():
    """What a task has waited for is an arrow."""
    for devices in "host:1", "cuda:1", "host":
        output, _ = run(f"gate {devices} 4096 4", KMM_TRACE="gate.json")
        _, _, arrows, _ = check_run("gate.json", output)
        assert arrows >= 4 * 2, arrows


def test_joined():
    """Chunks that run as one kernel are named all."""
    output, _ = run("gate cuda:1 65536 64", KMM_TRACE="joined.json")
    events, _, _, _ = check_run("joined.json", output)
    assert any(len(e["args"]["tasks"]) > 1 for e in slices(events) if e["cat"] == "chunk")


def test_disk():
    output, _ = run("work host 4194304 8", KMM_TRACE="disk.json", KMM_HOST_MEM="20M",
                    KMM_SPILL_DIR=".")
    events, _, _, written = check_run("disk.json", output)
    assert written > 0 and has(events, name="host memory in use")


def test_limit():
    output, messages = run("work host:2,mem=256K 65536 16", KMM_TRACE="limit.json",
                           KMM_TRACE_MAX="16K")
    assert statistics(output) and os.path.getsize("limit.json") <= 16384
    left_out = [e for e in read("limit.json") if e["name"] == "left_out"]
    number = left_out[0]["args"]["events"]
    assert len(left_out) == 1 and f"{number} events were left out" in messages, messages
    _, messages = run("work host:1 64 1", status=2, KMM_TRACE="limit.json", KMM_TRACE_MAX="many")
    assert "KMM_TRACE_MAX=many: no number of bytes" in messages, messages


def test_unwritable():
    os.mkfifo("fifo")
    for name in "no/folder/trace.json", ".", "fifo":
        output, messages = run("work host:1 4096 2", KMM_TRACE=name)
        assert statistics(output) and f"kmm: warning: KMM_TRACE={name}: " in messages, messages
    output, messages = run("work host:1 4096 2", KMM_DOT="no/folder/run.dot")
    assert statistics(output) and "kmm: warning: KMM_DOT=no/folder/run.dot: " in messages, messages


def test_killed():
    """The file of a program that was killed can be read, and says what ran."""
    process = start("forever host:1 4096 2", KMM_TRACE="killed.json")
    is_open = lambda e: e["ph"] == "B" and e["name"] == "step (trace.cu:10)"
    await_true(process, lambda: has_event("killed.json", is_open))
    # the file is another process's, which gets one of its own
    output, messages = run("work host:1 4096 2", KMM_TRACE="killed.json")
    other = re.search(r"so (killed\.json\.\d+) is written", messages)[1]
    check_run(other, output)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=HANG)
    assert has_event("killed.json", is_open)
    # however early: before anything is flushed
    process = start("forever host:1 4096 2", KMM_TRACE="early.json")
    await_true(process, lambda: os.path.exists("early.json") and os.path.getsize("early.json"))
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=HANG)
    assert read("early.json")
    process = start("endless host:2 65536 8", KMM_TRACE="endless.json")
    await_true(process, lambda: os.path.exists("endless.json") and
               os.path.getsize("endless.json") > 100000)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=HANG)
    with open("endless.json", encoding="utf-8") as file:
        lines = file.read().split("\n")
    assert lines[0] == "["  # the last line may be cut, if the signal came amid a write
    events = [json.loads(line.rstrip(",")) for line in lines[1:-1] if line not in ("]", "")]
    assert len(events) > 100
    check_nesting(events)


def test_processes():
    options = os.environ.get("TSAN_OPTIONS", "") + " die_after_fork=0"
    output, _ = run("fork host:2 4096 4", KMM_TRACE="fork%%.%p.json", TSAN_OPTIONS=options)
    names = [name for name in os.listdir() if re.fullmatch(r"fork%\.\d+\.json", name)]
    assert len(names) == 2, names
    half = len(output) // 2
    for name in names:
        check_run(name, output[:half])


# ---- KMM_DOT ----

def read_dot(name, draws=True):
    """Clusters, with labels and numbers of nodes, and edges with their labels."""
    with open(name, encoding="utf-8") as file:
        text = file.read()
    string = r'"(?:[^"\\]|\\.)*"'
    token = re.compile(rf'\s*({string}|->|[\w.]+|[{{}}\[\]=;])')
    tokens, at = [], 0
    while at < len(text.rstrip()):
        found = token.match(text, at)
        assert found, text[at:at + 40]
        tokens.append(found[1])
        at = found.end()
    for opening, closing in "{}", "[]":
        assert tokens.count(opening) == tokens.count(closing)
    clusters = {}
    for label, body in re.findall(rf"subgraph cluster_\d+ {{\n    label=({string});\n(.*?)\n  }}",
                                  text, re.DOTALL):
        for node, attributes in re.findall(rf"    (t\d+) \[(.*)\];", body):
            clusters[node] = (label, re.search(rf"label=({string})", attributes)[1])
    edges = {(a, b): label for a, b, label in re.findall(rf"  (t\d+) -> (t\d+) \[label=({string})\]",
                                                         text)}
    assert all(node in clusters for edge in edges for node in edge)
    if draws and shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg", name, "-o", name + ".svg"], check=True, timeout=HANG)
    return clusters, edges


def test_dot():
    """Chunk k of the second launch follows chunk k of the first, and so on."""
    for devices in "host:2", "cuda:1", "host":
        run(f"work {devices} 4096 4", KMM_DOT="run.dot", KMM_DOT_LINES="10:20")
        clusters, edges = read_dot("run.dot")
        nodes = [f"t{k}" for k in range(3 * 2 * 4)]  # rounds, launches, chunks
        assert list(clusters) == nodes, clusters
        for k, node in enumerate(nodes):
            launch, text = clusters[node]
            where = "step\\ntrace.cu:10" if k // 4 % 2 == 0 else 'second \\"step\\" ?\\ntrace.cu:20'
            assert launch == f'"{where}"' and f"chunk {k % 4} of 4" in text, clusters[node]
            assert re.search(r"\d ms|in a kernel with others", text), text
        wanted = {(nodes[k], nodes[k + 4]) for k in range(len(nodes) - 4)}
        assert set(edges) == wanted, (edges, wanted)
        assert edges["t1", "t5"] == '"src[1024:2048]"', edges
    run("work host:1 4096 2", KMM_DOT="all.dot")
    clusters, _ = read_dot("all.dot")
    assert any("end of a reduction" in label for label, _ in clusters.values())
    run("work host:1 65536 500", KMM_DOT="most.dot")
    assert len(read_dot("most.dot", draws=False)[0]) == 1000
    for lines in "0", "20:10", "x", "1:2:3":
        _, messages = run("work host:1 64 1", status=2, KMM_DOT="run.dot", KMM_DOT_LINES=lines)
        assert f"KMM_DOT_LINES={lines}: neither a line" in messages, messages


for name, test in list(globals().items()):
    if name.startswith("test_") and (len(sys.argv) < 4 or name in sys.argv[3:]):
        test()
        print(name, flush=True)
