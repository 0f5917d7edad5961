# SPDX-License-Identifier: Apache-2.0
"""What would make a run faster, in words, with the figures that say so.

Each function returns pieces of advice: (nanoseconds that it is about, a heading, a text). A piece
is given only if it is about 5% of the run or more.
"""
import collections

import ranges
from words import count, percent, seconds, size

LEAST = 0.05  # part of the run
AGAIN_LEAST = 0.2  # part of the bytes that come to devices
SHORT = 20000  # nanoseconds: a kernel as short as what libkmm does for a chunk


def room(s):
    """Chunks that leave no room for the next one."""
    others = []  # sites whose chunks are small enough
    for site in s.sites.values():
        waited = ranges.total(ranges.union(site.room))
        limit = s.trace.limits.get(site.waited_on, 0)
        if s.part(waited) < LEAST or not limit:
            continue
        device = s.trace.processes.get(site.waited_on, "the device")
        figures = (f"A chunk of {site.name} uses {size(site.need)}, and {device} has "
                   f"{size(limit)}.")
        waits = (f"Its chunks waited {seconds(waited)} for room ({percent(s.part(waited))} of the "
                 "run).")
        if 2 * site.need > limit:
            # with one more, because what chunks use is rounded up to whole frames
            least = -(-2 * site.need * site.chunks_of_launch // limit)
            yield (waited, f"The chunks of {site.name} are too large for two at once",
                   f"{figures} So the next chunk's data cannot come while a chunk runs. {waits} "
                   f"The launch has {count(site.chunks_of_launch, 'chunk')}. Smaller chunks would "
                   f"fit: about {least + 1} or more, if the bytes shrink with the chunk.")
        else:
            others.append(site)
    waited = ranges.total(ranges.union(r for site in others for r in site.room))
    if others and s.part(s.mean("room")) >= LEAST and not comes_again(s):
        names = ", ".join(site.name for site in others)
        yield (waited, "Chunks wait for room that data of other launches takes",
               f"Chunks of {names} waited {seconds(waited)} for room "
               f"({percent(s.part(waited))} of the run), and in {seconds(s.mean('room'))} of that "
               "neither kernels nor copies ran. Two chunks of each would fit. The room is taken by "
               "arrays of other launches, which must be evicted first. It would help to launch one "
               "after the other what uses the same arrays.")


def comes_again(s):
    return s.again >= AGAIN_LEAST * max(1, s.bytes_in + s.bytes_peer)


def again(s):
    """Copies of what the device has had."""
    came = s.bytes_in + s.bytes_peer
    exposed = s.mean("copies") + s.mean("room") + s.mean("disk")
    if not comes_again(s) or s.part(exposed) < LEAST:
        return
    most = sorted((u for u in s.uses.values() if u.again), key=lambda u: -u.again)[:3]
    arrays = ", ".join(f"{u.name} {size(u.again)}" for u in most)
    yield (exposed, f"{percent(s.again / came)} of the copies bring what was evicted before",
           f"{size(came)} came to devices, and the device had {size(s.again)} of it before and has "
           f"evicted it since (most of {arrays}). In {seconds(exposed)} ({percent(s.part(exposed))}"
           " of the run) no kernel ran, but copies or waits for room. The data that is used again "
           f"is larger than the devices' memory. {ended_lookahead(s)}It would help to do more with "
           "a chunk's data while it is there: the same chunk sizes in launches that follow each "
           "other, no wait between them, several steps in one kernel, smaller elements, or more "
           "devices.")


def ended_lookahead(s):
    """A sentence if the program waits after every second launch or more often."""
    launches = len({launch for site in s.sites.values() for launch in site.launches})
    if len(s.waits) < 2 or 2 * len(s.waits) < launches:
        return ""
    (after, what), _ = collections.Counter((w.after, w.what) for w in s.waits).most_common(1)[0]
    return (f"The program waits {count(len(s.waits), 'time')} between its "
            f"{count(launches, 'launch', 'launches')}, mostly for {what} after the launch of "
            f"{after}. Without these waits, chunks of later launches would run while their data is "
            "there. ")


def waits(s):
    """Waits of the program after which devices have nothing to do."""
    places = collections.defaultdict(list)
    for wait in s.waits:
        places[wait.after].append(wait)
    for after, those in places.items():
        lost = ranges.total(ranges.union(g for g in map(s.gap, those) if g))
        if s.part(lost) < LEAST or len(those) < 2:
            continue
        yield (lost, f"The wait after the launch of {after} ends lookahead",
               f"The program waited {count(len(those), 'time')} for {those[0].what} right after it "
               f"had launched {after}, and launched more afterwards. From the last kernel before "
               f"such a wait ended to the first one after it, {seconds(lost)} passed "
               f"({percent(s.part(lost))} of the run) without a kernel. Nothing could be prepared "
               "meanwhile, because libkmm did not know the next launch. Move the call that waits "
               "(a synchronization, or a copy to the host) out of the loop, or do it less often.")


def small(s):
    """Chunks that are over before libkmm has prepared the next one."""
    kernels, time = sum(x.kernels for x in s.sites.values()), sum(x.time for x in
                                                                  s.sites.values())
    idle = s.mean("submit") + s.mean("host")
    if kernels >= 100 and time / kernels < SHORT and s.part(s.mean("submit")) >= LEAST:
        yield (idle, "The chunks are too small",
               f"{kernels} kernels took {seconds(time / kernels)} each, and in "
               f"{seconds(s.mean('submit'))} ({percent(s.part(s.mean('submit')))} of the run) the "
               "devices did nothing while launches were submitted. Larger chunks would help.")


def idle(s):
    """Devices that do much less than others."""
    busy = {pid: ranges.total(s.kernels[pid]) for pid in s.trace.devices()
            if s.trace.limits.get(pid)}  # not the CPU
    most = max(busy.values(), default=0)
    least = min(busy.values(), default=0)
    if len(busy) > 1 and s.part(most) >= LEAST and least < most / 2:
        slow = [s.trace.processes.get(p, str(p)) for p, t in busy.items() if t < most / 2]
        yield ((most - least) / 2, "The devices have unequal work",
               f"Kernels ran for {seconds(most)} on one device, and for less than half of that on "
               f"{', '.join(slow)}. More chunks, or another schedule clause, would divide the work "
               "better.")


def disk(s):
    """Host memory that is too small."""
    if s.part(s.mean("disk")) >= LEAST:
        yield (s.mean("disk"), "The disk is what the devices wait for",
               f"{size(s.bytes_disk)} were read or written, and {seconds(s.mean('disk'))} "
               f"({percent(s.part(s.mean('disk')))} of the run) were spent with nothing else. More "
               "host memory (KMM_HOST_MEM) would help, or a faster disk (KMM_SPILL_DIR).")


def copies(s):
    """Copies that take longer than the kernels, for no other reason."""
    exposed, came = s.mean("copies"), s.bytes_in + s.bytes_out + s.bytes_peer
    if s.part(exposed) >= 0.2:
        rate = sum(ranges.total(s.copies[p]) for p in s.lanes)
        yield (exposed, "The copies take longer than the kernels can hide",
               f"{size(came)} were copied in {seconds(rate)} ({came / max(1, rate):.3g} GB/s), and "
               f"kernels ran for {seconds(s.mean('kernels'))}. In {seconds(exposed)} "
               f"({percent(s.part(exposed))} of the run) copies ran without a kernel. It would "
               "help to do more with the data that is copied, or to copy less of it.")


def locking(s):
    """Host memory that is page-locked while the program runs."""
    took = ranges.total(s.locks)
    if s.part(took) >= LEAST:
        yield (took, "Host memory is page-locked while the program runs",
               f"Page-locking {size(s.bytes_locked)} took {seconds(took)} ({percent(s.part(took))}"
               " of the run), and other calls of the driver wait meanwhile. It happens once for "
               "each part of an array, when that is first copied. A longer run pays it once, too.")


def all_advice(s):
    """Pieces of advice, those first that are about more time."""
    if not s.lanes or not s.length:
        return []
    found = [piece for rule in (room, again, waits, small, idle, disk, locking)
             for piece in rule(s)]
    found = found or list(copies(s))
    return [piece[1:] for piece in sorted(found, key=lambda p: -p[0])]
