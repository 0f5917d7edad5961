# SPDX-License-Identifier: Apache-2.0
"""Reads a file that KMM_TRACE has written into columns of numbers.

Times are nanoseconds since the trace's begin. Texts are numbers in Trace.texts.
"""
import array
import json

HOST, DISK, DEVICE = 1, 2, 10  # numbers of the trace's processes; device k is DEVICE + k
IN, OUT, PEER = 1001, 1002, 1003  # tracks of a device
KERNEL, OPERATION, COPY, HOST_SPAN, DISK_TRANSFER = range(5)  # kinds of slices
BATCH = 4096  # lines that are parsed at once
# Where a signal cut a write, a cut line is followed by the remains of what stood there before: the
# slices that were unfinished then. More lines are no trace.
REMAINS = 2 * BATCH
# array: of a HOST_SPAN the device that it is for
COLUMNS = ("begin", "length", "name", "kind", "bytes", "array", "cause", "launch", "chunk", "last",
           "chunks", "task", "line")


class NoTrace(Exception):
    """The file is no trace of kmm."""


class Track:
    """The slices of a stream or a thread. A column has -1 where a slice lacks the value."""

    def __init__(self, pid, tid):
        self.pid, self.tid, self.title = pid, tid, ""
        for column in COLUMNS:
            setattr(self, column, array.array("q"))
        self.joined = {}  # number of a slice -> its tasks, if they are several
        self.unfinished = 0

    def __len__(self):
        return len(self.begin)

    def add(self, **values):
        for column in COLUMNS:
            getattr(self, column).append(values.get(column, -1))

    def end(self, k):
        return self.begin[k] + self.length[k]

    def tasks(self, k):
        return self.joined.get(k, (self.task[k],))

    def sort(self):
        order = sorted(range(len(self)), key=lambda k: (self.begin[k], -self.length[k]))
        if all(a == b for a, b in enumerate(order)):
            return
        for column in COLUMNS:
            old = getattr(self, column)
            setattr(self, column, array.array("q", (old[k] for k in order)))
        self.joined = {new: self.joined[old] for new, old in enumerate(order)
                       if old in self.joined}


class Trace:
    def __init__(self):
        self.events = 0
        self.tracks = {}  # (pid, tid) -> Track
        self.processes = {}  # pid -> name
        self.limits = {}  # pid -> bytes of memory
        self.indexes = {}  # pid -> number of the device in its runtime
        self.lanes = {}  # pid -> the first pid of the same device; each runtime has its own pid
        self.counters = {}  # (pid, name) -> (times, values)
        self.movements = []  # (pid, is_copy_in, array, from, to, bytes), by the end of each
        self.instants = []  # (time, pid, tid, text)
        self.arrays = {}  # number -> label
        self.launched = {}  # number of a launch -> (time at which a chunk was submitted, its name)
        self.arrows = {}  # id -> [from pid, tid, time, to pid, tid, time]
        self.texts, self.numbers = [], {}
        self.left_out = self.failed = 0
        self.cut = 0  # number of a line that was cut, with which the reading ended
        self.waited_us = 0
        self.is_closed = False  # the last line is the array's end
        self.open = []  # unfinished slices
        self.transfers = {}  # of the disk, by id

    def text(self, text):
        number = self.numbers.get(text)
        if number is None:
            number = self.numbers[text] = len(self.texts)
            self.texts.append(text)
        return number

    def track(self, pid, tid):
        track = self.tracks.get((pid, tid))
        if track is None:
            track = self.tracks[pid, tid] = Track(pid, tid)
        return track

    def lane(self, pid):
        return self.lanes.get(pid, pid)

    def devices(self):
        return sorted({self.lane(pid) for pid, _ in self.tracks if pid >= DEVICE} |
                      {self.lane(pid) for pid in self.limits})

    # ---- Events ----

    def add(self, event):
        self.events += 1
        phase = event["ph"]
        getattr(self, "add_" + phase, self.ignore)(event)

    def ignore(self, event):
        """An event of a kind that no report shows."""

    def add_M(self, e):
        pid, args, what = e["pid"], e.get("args", {}), e["name"]
        if what == "process_name":
            self.processes[pid] = args["name"]
        elif what == "thread_name":
            self.track(pid, e["tid"]).title = args["name"]
        elif what == "memory_limit":
            self.limits[pid] = args["bytes"]
            self.indexes[pid] = args.get("index", -pid)
        elif what == "left_out":
            self.left_out = args["events"]
        elif what == "waited_for_tracer":
            self.waited_us = args["us"]

    def add_X(self, e):
        track, args, category = self.track(e["pid"], e["tid"]), e["args"], e["cat"]
        values = {"begin": nanoseconds(e["ts"]), "length": nanoseconds(e["dur"]),
                  "name": self.text(e["name"])}
        if category in ("chunk", "operation"):
            tasks = args["tasks"]
            if len(tasks) > 1:
                track.joined[len(track)] = tuple(tasks)
            values.update(kind=KERNEL if category == "chunk" else OPERATION, task=tasks[0],
                          launch=args.get("launch", -1), chunk=args.get("chunk", -1),
                          last=args.get("last_chunk", -1), chunks=args.get("chunks", -1),
                          line=args.get("line", -1))
            if category == "chunk" and "submitted" in args:
                self.launched[args["launch"]] = nanoseconds(args["submitted"]), e["name"]
        elif category == "copy":
            self.add_copy(e, args, values)
        else:
            values.update(kind=HOST_SPAN, bytes=args.get("bytes", -1), task=args.get("task", -1),
                          line=args.get("line", -1))
            if "of" in args:
                values["cause"] = self.text(args["of"])
            if "device" in args:
                values["array"] = DEVICE + args["device"]
        track.add(**values)

    def add_copy(self, e, args, values):
        number, first, last = args["array"], args.get("from", -1), args.get("to", -1)
        self.arrays[number] = args.get("label") or self.arrays.get(number) or f"array {number}"
        values.update(kind=COPY, bytes=args["bytes"], array=number, task=args.get("task", -1),
                      line=args.get("line", -1))
        if "for" in args:
            values["cause"] = self.text(args["for"])
        if first >= 0 and (e["tid"] in (IN, PEER) or "task" not in args):
            self.movements.append((e["pid"], e["tid"] != OUT, number, first, last, args["bytes"]))

    def add_i(self, e):
        args, category = e.get("args", {}), e.get("cat")
        if category == "eviction" and "from" in args:
            self.movements.append((e["pid"], None, args["array"], args["from"], args["to"],
                                   args["bytes"]))
        self.failed += category == "error"
        self.instants.append((nanoseconds(e["ts"]), e["pid"], e["tid"], self.text(e["name"])))

    def add_C(self, e):
        times, values = self.counters.setdefault((e["pid"], e["name"]),
                                                 (array.array("q"), array.array("q")))
        times.append(nanoseconds(e["ts"]))
        values.append(next(iter(e["args"].values())))

    def add_B(self, e):
        self.open.append(e)

    def add_b(self, e):
        self.transfers[e["id"]] = e

    def add_e(self, e):
        began = self.transfers.pop(e["id"], None)
        if began:
            begin = nanoseconds(began["ts"])
            self.track(e["pid"], e["tid"]).add(
                begin=begin, length=nanoseconds(e["ts"]) - begin, name=self.text(e["name"]),
                kind=DISK_TRANSFER, bytes=e["args"]["bytes"])

    def add_s(self, e):
        self.arrows[e["id"]] = [e["pid"], e["tid"], nanoseconds(e["ts"])]

    def add_f(self, e):
        if e["id"] in self.arrows:
            self.arrows[e["id"]] += [e["pid"], e["tid"], nanoseconds(e["ts"])]

    def finish(self):
        """Ends what had begun when the file ended, and sorts slices by their begin."""
        last = self.span()[1]
        first = {}  # index and name of a device -> pid
        for pid in sorted(self.indexes):
            name = self.processes.get(pid, "").partition(": ")[2]
            self.lanes[pid] = first.setdefault((self.indexes[pid], name), pid)
        for e in self.open:
            track, begin = self.track(e["pid"], e["tid"]), nanoseconds(e["ts"])
            kind = COPY if e["tid"] in (IN, OUT, PEER) and e["pid"] >= DEVICE else KERNEL
            track.unfinished += 1
            track.add(begin=begin, length=max(0, last - begin), kind=kind,
                      name=self.text(e["name"] + " (unfinished)"), task=e["args"]["task"])
        self.open = []
        for track in self.tracks.values():
            track.sort()
        self.arrows = [a for a in self.arrows.values() if len(a) == 6]

    def span(self):
        """Times of the first begin and of the last end of all slices."""
        tracks = [t for t in self.tracks.values() if len(t)]
        begins = [min(t.begin) for t in tracks] + [nanoseconds(e["ts"]) for e in self.open]
        ends = [max(map(int.__add__, t.begin, t.length)) for t in tracks]
        ends += [nanoseconds(e["ts"]) for e in self.open]
        return (min(begins), max(ends)) if begins else (0, 0)


def nanoseconds(micros):
    return round(1000 * micros)


def parse(lines, trace, name, first):
    """Adds the events of some lines, of which the first has the number `first`."""
    try:
        parsed = json.loads(b"[" + b",".join(lines) + b"]")
    except ValueError:
        parsed = None
    if parsed is not None:
        for event in parsed:
            add(event, trace, name)
        return
    for k, line in enumerate(lines):
        try:
            event = json.loads(line)
        except ValueError:
            trace.cut = first + k
            return
        add(event, trace, name)


def add(event, trace, name):
    try:
        trace.add(event)
    except (KeyError, TypeError, AttributeError, StopIteration):
        raise NoTrace(f"{name}: this is no trace that KMM_TRACE wrote: {json.dumps(event)[:80]}") \
            from None


def read(name):
    """Returns the Trace of a file. Raises OSError or NoTrace."""
    trace, lines, number, first = Trace(), [], 0, 1
    with open(name, "rb") as file:
        for line in file:
            number += 1
            line = line.strip().rstrip(b",")
            if number == 1:
                if not line.startswith(b"["):
                    raise NoTrace(f"{name}: this is no trace that KMM_TRACE wrote: line 1 is not [")
                line = line[1:]
            if line.endswith(b"]") and not line.endswith((b"}]", b"]]")) or line == b"]":
                trace.is_closed = True
                line = line[:-1]
            if not line.strip():
                continue
            first = first if lines else number
            lines.append(line)
            if trace.cut and number > trace.cut + REMAINS:
                raise NoTrace(f"{name}: line {trace.cut} is no event of a trace")
            if trace.cut:
                continue
            if len(lines) == BATCH:
                parse(lines, trace, name, first)
                lines = []
    if not trace.cut:
        parse(lines, trace, name, first)
    if trace.cut and (not trace.events or number > trace.cut + REMAINS):
        raise NoTrace(f"{name}: line {trace.cut} is no event of a trace")
    if trace.events and trace.processes.get(HOST) != "host":
        raise NoTrace(f"{name}: this is no trace that KMM_TRACE wrote: it has no process \"host\"")
    trace.finish()
    return trace
