# SPDX-License-Identifier: Apache-2.0
"""The page: one HTML file with its style, its scripts, and the trace as packed columns."""
import array
import base64
import bisect
import html
import json
import re
import sys
import zlib

import events
import tell
from words import percent, seconds

SCRIPTS = ("page.js", "timeline.js", "tables.js", "graph.js")
TYPES = {"B": "Uint8", "I": "Uint32", "i": "Int32", "d": "Float64"}
SLICES = (("begin", "I"), ("length", "I"), ("name", "i"), ("kind", "B"), ("bytes", "d"),
          ("array", "i"), ("cause", "i"), ("chunk", "i"), ("last", "i"), ("chunks", "i"),
          ("task", "d"), ("line", "i"))


class Columns:
    """Arrays of numbers, one behind the other, each at a multiple of 8 bytes."""

    def __init__(self):
        self.bytes = bytearray()

    def add(self, code, values):
        """Returns where the column is: its type, its begin and its length."""
        column = array.array(code, values)
        if sys.byteorder == "big":
            column.byteswap()
        self.bytes += bytes(-len(self.bytes) % 8)
        place = [TYPES[code], len(self.bytes), len(column)]
        self.bytes += column.tobytes()
        return place

    def packed(self):
        return base64.b64encode(zlib.compress(bytes(self.bytes), 6)).decode()


def deltas(times, shift):
    """Differences in ticks of 2**shift ns of times in order."""
    last = 0
    for time in times:
        tick = time >> shift
        yield tick - last
        last = tick


def order(track):
    """Devices stand first, then the disk and the host."""
    return (-1, track.pid) if track.pid >= events.DEVICE else (track.pid == events.HOST, 0)


def tracks_of(trace):
    return sorted((t for t in trace.tracks.values() if len(t)), key=lambda t: (order(t), t.tid))


def track_data(trace, track, columns, shift):
    data = {"pid": track.pid, "tid": track.tid, "title": track.title,
            "process": trace.processes.get(track.pid, str(track.pid))}
    for name, code in SLICES:
        values = getattr(track, name)
        if name == "begin":
            values = deltas(values, shift)
        elif name == "length":
            values = (v >> shift for v in values)
        data[name] = columns.add(code, values)
    return data


def slice_at(track, time):
    """Number of the slice in which a time is; those of a device's stream lie apart."""
    return bisect.bisect_right(track.begin, time) - 1


def arrow_data(trace, tracks, columns):
    numbers = {(t.pid, t.tid): k for k, t in enumerate(tracks)}
    rows = ([], [], [], [])
    for from_pid, from_tid, left, to_pid, to_tid, arrived in trace.arrows:
        source, target = numbers.get((from_pid, from_tid)), numbers.get((to_pid, to_tid))
        if source is None or target is None:
            continue
        row = (source, slice_at(tracks[source], left), target, slice_at(tracks[target], arrived))
        for column, value in zip(rows, row):
            column.append(value)
    return [columns.add("i", column) for column in rows]


def counter_data(trace, columns, shift):
    found = []
    for (pid, name), (times, values) in sorted(trace.counters.items()):
        if "memory" in name:
            found.append({"name": f"{trace.processes.get(pid, pid)}: {name}",
                          "limit": trace.limits.get(pid, 0),
                          "time": columns.add("d", (t >> shift for t in times)),
                          "value": columns.add("d", values)})
    return found


def site_data(s, site):
    return [site.name, site.line, len(site.launches), site.chunks, site.kernels, site.time,
            site.bytes_in, site.bytes_out, site.bytes_peer, sum(e - b for b, e in site.room)]


def data(s):
    """The description of the trace, and its columns."""
    trace, columns = s.trace, Columns()
    tracks = tracks_of(trace)
    widest = max([s.end] + [max(t.length) for t in tracks])
    shift = max(0, widest.bit_length() - 32)
    arrays = sorted(trace.arrays)
    numbers = {number: k for k, number in enumerate(arrays)}
    for track in tracks:
        track.array = [numbers.get(a, -1) for a in track.array]
    return {
        "tick": 1 << shift, "begin": s.begin >> shift, "end": (s.end >> shift) + 1,
        "texts": trace.texts, "arrays": [trace.arrays[a] for a in arrays],
        "tracks": [track_data(trace, t, columns, shift) for t in tracks],
        "arrows": arrow_data(trace, tracks, columns),
        "counters": counter_data(trace, columns, shift),
        "sites": [site_data(s, site) for site in s.sites.values()],
        "bytes": [s.bytes_in, s.bytes_out, s.bytes_peer],
        "uses": [[u.name, u.bytes_in, u.bytes_out, u.bytes_peer, u.again]
                 for u in s.uses.values()],
    }, columns


# ---- The summary as HTML ----

def bar(shares):
    parts = "".join(
        f'<div class="{what}" style="flex-grow:{part:.5f}" title="{html.escape(text)}: '
        f'{percent(part)}"></div>' for what, text, _, part in shares)
    return f'<div class="bar">{parts}</div>'


def share_rows(shares):
    return "".join(
        f'<tr><td><i class="{what}"></i></td><td class="number">{percent(part)}</td>'
        f'<td class="number">{seconds(ns)}</td><td>{html.escape(text)}</td></tr>'
        for what, text, ns, part in shares)


def summary_html(s):
    parts = [f"<p>{html.escape(tell.opening(s))}</p>"]
    parts += [f'<p class="note">{html.escape(note)}</p>' for note in tell.notes(s)]
    if s.lanes:
        shares = tell.shares(s)
        mean = ", as a mean of the devices" if len(s.lanes) > 1 else ""
        parts.append(f"<h3>Where the time went{mean}</h3>{bar(shares)}"
                     f'<table class="shares">{share_rows(shares)}</table>')
    if len(s.lanes) > 1:
        parts += [f"<p>{html.escape(s.trace.processes.get(pid, str(pid)))}</p>" +
                  bar(tell.device_shares(s, pid)) for pid in s.lanes]
    advised = "".join(f"<dt>{html.escape(heading)}</dt><dd>{html.escape(text)}</dd>"
                      for heading, text in tell.advised(s))
    if advised:
        parts.append(f'<h3>What would help</h3><dl id="advice">{advised}</dl>')
    return "\n".join(parts)


def read(name):
    """The text of a file beside this one, also in an archive."""
    return __loader__.get_data(__file__[:-len("page.py")] + name).decode()


def make(s, name):
    """Returns the text of the page. `name` is what the trace is called."""
    described, columns = data(s)
    description = json.dumps(described, separators=(",", ":")).replace("<", "\\u003c")
    parts = {"@NAME@": html.escape(name), "/*@STYLE@*/": read("page.css"),
             "/*@SCRIPT@*/": "\n".join(read(script) for script in SCRIPTS),
             "@COLUMNS@": columns.packed(), "@DATA@": description, "@SUMMARY@": summary_html(s)}
    return re.sub("|".join(map(re.escape, parts)), lambda found: parts[found[0]],
                  read("page.html"))
