# SPDX-License-Identifier: Apache-2.0
"""Where the time of a run went, and what each launch and array had of it."""
import bisect
import collections

import ranges
import events

WHERE = (("kernels", "kernels ran"),
         ("copies", "copies that no kernel hid"),
         ("disk", "reads and writes of the disk that neither hid"),
         ("room", "waiting for room on the device"),
         ("map", "mapping memory of the device"),
         ("lock", "page-locking host memory"),
         ("submit", "submitting launches"),
         ("host", "nothing of the above: the program itself, or waiting"))


class Site:
    """What the launches of one place in the source did."""

    def __init__(self, name):
        self.name, self.line, self.launches = name, -1, set()
        self.chunks = self.kernels = self.time = self.chunks_of_launch = 0
        self.bytes_in = self.bytes_out = self.bytes_peer = 0
        self.waits, self.room = 0, []  # ranges of waits for room
        self.need = 0  # bytes of the largest chunk that waited for room
        self.waited_on = None  # the device on which that chunk waited


class Use:
    """What was copied of one array."""

    def __init__(self, name):
        self.name, self.bytes_in, self.bytes_out, self.bytes_peer = name, 0, 0, 0
        self.again = 0  # bytes in or from devices that the device had evicted before


class Wait:
    """A wait of the program for work, after which it launched more."""

    def __init__(self, begin, end, after, what):
        self.begin, self.end, self.after = begin, end, after  # `after`: the launch before it
        self.what = what  # what it waits for


class Summary:
    def __init__(self, trace):
        self.trace = trace
        self.begin, self.end = trace.span()
        self.length = self.end - self.begin
        self.sites, self.uses = {}, {}
        self.kernels = collections.defaultdict(list)  # pid -> ranges
        self.copies = collections.defaultdict(list)
        self.room = collections.defaultdict(list)
        self.maps = collections.defaultdict(list)
        self.room_of = {}  # task -> (begin, end, bytes) of its waits
        self.disk, self.locks, self.submits, self.waits = [], [], [], []
        self.bytes_in = self.bytes_out = self.bytes_peer = self.bytes_disk = self.again = 0
        self.bytes_locked = 0
        for track in trace.tracks.values():
            self.see_host(track)
        for track in trace.tracks.values():
            self.see_work(track)
        self.merge()
        self.where = self.share_time()
        self.count_again()
        self.find_waits()

    def site(self, text):
        name = self.trace.texts[text]
        if name not in self.sites:
            self.sites[name] = Site(name)
        return self.sites[name]

    def use(self, number):
        name = self.trace.arrays[number]
        if name not in self.uses:
            self.uses[name] = Use(name)
        return self.uses[name]

    def see_host(self, track):
        room, submit, lock = (self.trace.numbers.get(text) for text in
                              ("wait for room", "submit", "page-lock"))
        for k, kind in enumerate(track.kind):
            span = (track.begin[k], track.end(k))
            if kind == events.DISK_TRANSFER:
                self.disk.append(span)
                self.bytes_disk += track.bytes[k]
            elif kind != events.HOST_SPAN:
                pass
            elif track.name[k] == room:
                self.room_of.setdefault(track.task[k], []).append((*span, track.bytes[k]))
            elif track.name[k] == submit:
                self.submits.append(span)
            elif track.name[k] == lock:
                self.locks.append(span)
                self.bytes_locked += track.bytes[k]
            elif track.array[k] >= 0:
                self.maps[self.trace.lane(track.array[k])].append(span)

    def see_work(self, track):
        for k, kind in enumerate(track.kind):
            if kind == events.KERNEL:
                self.see_kernel(track, k)
            elif kind == events.OPERATION and track.pid >= events.DEVICE:
                self.kernels[self.trace.lane(track.pid)].append((track.begin[k], track.end(k)))
            elif kind == events.COPY:
                self.see_copy(track, k)

    def see_kernel(self, track, k):
        site, span = self.site(track.name[k]), (track.begin[k], track.end(k))
        lane = self.trace.lane(track.pid)
        self.kernels[lane].append(span)
        site.line = max(site.line, track.line[k])
        site.kernels += 1
        site.time += track.length[k]
        site.chunks += track.last[k] - track.chunk[k] + 1
        site.chunks_of_launch = max(site.chunks_of_launch, track.chunks[k])
        site.launches.add(track.launch[k])
        for task in track.tasks(k):
            for begin, end, need in self.room_of.get(task, ()):
                site.waits += 1
                site.room.append((begin, end))
                self.room[lane].append((begin, end))
                if need > site.need:
                    site.need, site.waited_on = need, track.pid

    def see_copy(self, track, k):
        self.copies[self.trace.lane(track.pid)].append((track.begin[k], track.end(k)))
        if track.bytes[k] < 0:  # unfinished
            return
        way = {events.IN: "bytes_in", events.OUT: "bytes_out"}.get(track.tid, "bytes_peer")
        counted = [self, self.use(track.array[k])]
        if track.cause[k] >= 0:
            counted.append(self.site(track.cause[k]))
        for one in counted:
            setattr(one, way, getattr(one, way) + track.bytes[k])

    def merge(self):
        self.lanes = sorted(set(self.kernels) | set(self.copies))
        for which in self.kernels, self.copies, self.room, self.maps:
            for pid in self.lanes:
                which[pid] = ranges.union(which[pid])
        self.disk, self.submits = ranges.union(self.disk), ranges.union(self.submits)
        self.locks = ranges.union(self.locks)
        self.any_kernel = ranges.union(r for pid in self.lanes for r in self.kernels[pid])

    def share_time(self):
        """Nanoseconds of each kind of WHERE, for each device. What comes first counts."""
        shares = {}
        for pid in self.lanes:
            rest, shares[pid] = [[self.begin, self.end]], {}
            for (what, _), those in zip(WHERE, (self.kernels[pid], self.copies[pid], self.disk,
                                                self.room[pid], self.maps[pid], self.locks,
                                                self.submits)):
                left = ranges.subtract(rest, those)
                shares[pid][what] = ranges.total(rest) - ranges.total(left)
                rest = left
            shares[pid]["host"] = ranges.total(rest)
        return shares

    def mean(self, what):
        """Nanoseconds, as a mean of the devices."""
        return sum(self.where[pid][what] for pid in self.lanes) / max(1, len(self.lanes))

    def part(self, ns):
        return ns / self.length if self.length else 0

    # ---- What was evicted and came again ----

    def count_again(self):
        here = collections.defaultdict(ranges.Set)  # (pid, array) -> what was copied to the device
        gone = collections.defaultdict(ranges.Set)  # what the device had and has evicted since
        for pid, is_copy_in, number, begin, end, size in self.trace.movements:
            key = pid, number
            if is_copy_in:
                again = ranges.total(gone[key].cut(begin, end))
                part = size * again // max(1, end - begin)
                self.again += part
                self.use(number).again += part
                here[key].add(begin, end)
            elif is_copy_in is None:
                for piece in here[key].cut(begin, end):
                    gone[key].add(*piece)
            else:
                gone[key].add(begin, end)

    # ---- Waits of the program ----

    def find_waits(self):
        """Finds the waits between two launches of a thread. Several are one."""
        between = {}
        self.launched = sorted(self.trace.launched.values())
        wait, submit = self.trace.numbers.get("wait for work"), self.trace.numbers.get("submit")
        for track in self.trace.tracks.values():
            if track.pid != events.HOST:
                continue
            submits = [k for k in range(len(track)) if track.name[k] == submit]
            begins = [track.begin[k] for k in submits]
            for k in range(len(track)):
                next_one = bisect.bisect_left(begins, track.end(k))
                if track.name[k] != wait or not 0 < next_one < len(begins):
                    continue
                before = submits[next_one - 1]
                found = between.setdefault((track.tid, before), Wait(
                    track.begin[k], 0, self.launch_of(track, before), self.awaited(track, k)))
                found.end = max(found.end, track.end(k))
        self.waits = sorted(between.values(), key=lambda w: w.end)

        self.kernel_begins = [begin for begin, _ in self.any_kernel]

    def awaited(self, track, k):
        """What a slice `wait for work` waits for, in words."""
        operation = self.trace.texts[track.cause[k]] if track.cause[k] >= 0 else None
        return {None: "all work", "copy out": "a copy to its own memory",
                "copy in": "a copy from its own memory"}.get(operation, f"a {operation}")

    def launch_of(self, track, k):
        """The name of the launch that a slice `submit` has submitted."""
        first = bisect.bisect_left(self.launched, (track.begin[k], ""))
        if first < len(self.launched) and self.launched[first][0] <= track.end(k):
            return self.launched[first][1]
        return f"{self.trace.texts[track.cause[k]]} in line {track.line[k]}"

    def gap(self, wait):
        """The range from the last kernel of a wait to the first kernel after it; or None."""
        k = bisect.bisect_left(self.kernel_begins, wait.end)
        before = self.any_kernel[k - 1][1] if k else self.begin
        after = self.kernel_begins[k] if k < len(self.kernel_begins) else self.end
        return (max(wait.begin, before), after) if before <= wait.end else None
