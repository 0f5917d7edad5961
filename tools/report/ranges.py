# SPDX-License-Identifier: Apache-2.0
"""Half-open ranges of integers: sorted lists of disjoint ranges, and a set that changes."""
import bisect


def union(ranges):
    """The disjoint ranges, in order, that cover what these cover."""
    result = []
    for begin, end in sorted(ranges):
        if end <= begin:
            continue
        if result and begin <= result[-1][1]:
            result[-1][1] = max(result[-1][1], end)
        else:
            result.append([begin, end])
    return result


def subtract(these, those):
    """What of these disjoint ranges those do not cover; both are in order."""
    result, k = [], 0
    for begin, end in these:
        while k < len(those) and those[k][1] <= begin:
            k += 1
        j = k
        while j < len(those) and those[j][0] < end:
            if those[j][0] > begin:
                result.append([begin, those[j][0]])
            begin = max(begin, those[j][1])
            j += 1
        if begin < end:
            result.append([begin, end])
    return result


def total(ranges):
    return sum(end - begin for begin, end in ranges)


class Set:
    """A set of integers, as disjoint ranges in order."""

    def __init__(self):
        self.begins, self.ends = [], []

    def cut(self, begin, end):
        """Removes a range. Returns the ranges of it that were there."""
        first = bisect.bisect_right(self.ends, begin)
        last = bisect.bisect_left(self.begins, end)
        if first >= last:
            return []
        low, high = self.begins[first], self.ends[last - 1]
        removed = [(max(begin, b), min(end, e))
                   for b, e in zip(self.begins[first:last], self.ends[first:last])]
        rest = [(b, e) for b, e in ((low, begin), (end, high)) if b < e]
        self.begins[first:last] = [b for b, _ in rest]
        self.ends[first:last] = [e for _, e in rest]
        return removed

    def add(self, begin, end):
        if begin >= end:
            return
        self.cut(begin, end)
        k = bisect.bisect_left(self.begins, begin)
        self.begins.insert(k, begin)
        self.ends.insert(k, end)
