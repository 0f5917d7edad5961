# SPDX-License-Identifier: Apache-2.0
"""The summary in words: paragraphs for the page, lines for the terminal."""
import textwrap

import advice
from summary import WHERE
from words import count, percent, seconds, size


def notes(s):
    """What the reader must know of the trace itself."""
    t = s.trace
    unfinished = sum(track.unfinished for track in t.tracks.values())
    if not s.lanes:
        yield "Nothing ran on a device."
    if t.failed:
        yield f"{count(t.failed, 'task')} failed."
    if unfinished:
        yield (f"{count(unfinished, 'slice')} had not ended when the trace ended; the program was "
               "killed, or still runs.")
    if t.cut:
        yield f"The file is cut: what follows line {t.cut - 1} is left out."
    if t.left_out:
        yield (f"{count(t.left_out, 'event')} were left out when the trace was written, because of "
               "KMM_TRACE_MAX. What came later is not in this report.")
    if s.part(1000 * t.waited_us) >= 0.03:
        yield f"Threads waited {seconds(1000 * t.waited_us)} for the trace to be written."


def opening(s):
    chunks = sum(site.chunks for site in s.sites.values())
    launches = len({l for site in s.sites.values() for l in site.launches})
    return (f"The run took {seconds(s.length)}, with {count(launches, 'launch', 'launches')} in "
            f"{count(chunks, 'chunk')} on {count(len(s.lanes), 'device')}. {size(s.bytes_in)} were "
            f"copied in, {size(s.bytes_out)} out, {size(s.bytes_peer)} between devices.")


def shares(s):
    """Rows of the table of time: key, text, nanoseconds, part of the run."""
    return [(what, text, s.mean(what), s.part(s.mean(what))) for what, text in WHERE
            if s.mean(what)]


def device_shares(s, pid):
    """The same of one device."""
    return [(what, text, s.where[pid][what], s.part(s.where[pid][what])) for what, text in WHERE
            if s.where[pid][what]]


def advised(s):
    found = advice.all_advice(s)
    if found or not s.lanes:
        return found
    busy = s.part(s.mean("kernels"))
    if busy >= 0.8:
        return [("kmm leaves little to gain", f"Kernels ran {percent(busy)} of the time.")]
    return [("No reason stands out", "No single cause that kmm knows took 5% of the run. Look at "
             "the gaps between kernels in the timeline.")]


def lines(s):
    yield from textwrap.wrap(opening(s), 100)
    for note in notes(s):
        yield from textwrap.wrap(note, 100)
    if s.lanes:
        yield ""
        yield "Where the time went" + (", as a mean of the devices:" if len(s.lanes) > 1 else ":")
        for _, text, ns, part in shares(s):
            yield f"  {percent(part):>5}  {seconds(ns):>8}  {text}"
    for heading, text in advised(s):
        yield ""
        yield from textwrap.wrap(heading + ".", 100)
        yield from textwrap.wrap(text, 100, initial_indent="  ", subsequent_indent="  ")
