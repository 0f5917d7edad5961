# SPDX-License-Identifier: Apache-2.0
"""Usage: nodes_trace.py <trace of a node> <trace of the other node>

Compares the messages that two nodes have sent with those that they have received.
"""
import collections
import json
import sys

NODES = 3  # process of the trace


def contents(name):
    """Track -> bytes of each message with contents of arrays."""
    with open(name, encoding="utf-8") as file:
        events = json.load(file)
    tracks = {e["tid"]: e["args"]["name"] for e in events
              if e["pid"] == NODES and e["name"] == "thread_name"}
    found, ends = collections.defaultdict(list), collections.defaultdict(float)
    for e in events:
        if e["pid"] != NODES or e["ph"] != "X":
            continue
        assert e["ts"] >= ends[e["tid"]] - 0.01 and e["dur"] >= 0, e
        ends[e["tid"]] = e["ts"] + e["dur"]
        if e["name"] == "contents":
            found[tracks[e["tid"]]].append(e["args"]["bytes"])
    return found


def compare(sent, received):
    """The same messages in the same order. One node may have begun to listen a little later, or
    have ended earlier."""
    few, many = sorted((sent, received), key=len)
    assert few, (sent, received)
    assert any(many[k:k + len(few)] == few for k in range(len(many) - len(few) + 1)), (sent,
                                                                                       received)


traces = [contents(name) for name in sys.argv[1:]]
assert len(traces) == 2, sys.argv
first, second = sorted(traces, key=lambda t: "to node 1" not in t)
compare(first["to node 1"], second["from node 0"])
compare(second["to node 0"], first["from node 1"])
