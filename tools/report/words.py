# SPDX-License-Identifier: Apache-2.0
"""Numbers as text."""


def seconds(ns):
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= unit:
            return f"{ns / unit:.3g} {name}" if ns < 1000 * unit else f"{ns / unit:.0f} {name}"
    return f"{ns:.0f} ns"


def size(n):
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if n >= unit:
            return f"{n / unit:.4g} {name}"
    return f"{n:.0f} bytes"


def percent(part):
    return f"{100 * part:.0f}%" if part >= 0.1 or not part else f"{100 * part:.1f}%"


def count(n, one, many=None):
    return f"{n} {one if n == 1 else many or one + 's'}"
