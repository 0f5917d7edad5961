# SPDX-License-Identifier: Apache-2.0
"""Usage: nodes_trace.py <trace of a node> <trace of the other node>

Compares the messages that two nodes have sent with those that they have received.
"""
import collections
import json
import sys

NODES = 3  # process of the trace


def contents(name):
    """Track -> bytes of the contents of arrays, and how many messages."""
    with open(name, encoding="utf-8") as file:
        events = json.load(file)
    tracks = {e["tid"]: e["args"]["name"] for e in events
              if e["pid"] == NODES and e["name"] == "thread_name"}
    found = collections.defaultdict(lambda: [0, 0])
    ends = collections.defaultdict(float)
    for e in events:
        if e["pid"] != NODES or e["ph"] != "X":
            continue
        assert e["ts"] >= ends[e["tid"]] - 0.01 and e["dur"] >= 0, e
        ends[e["tid"]] = e["ts"] + e["dur"]
        if e["name"] == "contents":
            found[tracks[e["tid"]]][0] += e["args"]["bytes"]
            found[tracks[e["tid"]]][1] += 1
    return found


traces = [contents(name) for name in sys.argv[1:]]
assert len(traces) == 2, sys.argv
first, second = sorted(traces, key=lambda t: "to node 1" not in t)
assert first["to node 1"] == second["from node 0"] != [0, 0], (first, second)
assert second["to node 0"] == first["from node 1"] != [0, 0], (first, second)
