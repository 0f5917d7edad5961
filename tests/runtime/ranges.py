# SPDX-License-Identifier: Apache-2.0
"""Usage: ranges.py <trace_work> <library of tests/fake/ranges.c> <folder> <1: with NVTX> <1: a
sanitizer is in the program, which allows no LD_PRELOAD>

KMM_RANGES. Runs trace_work beside a profiler that writes the ranges it is told of, and compares
these with the chunks that ran.
"""
import collections
import os
import re
import shutil
import subprocess
import sys

program, library, folder = (os.path.abspath(a) for a in sys.argv[1:4])
has_nvtx = sys.argv[4] == "1"
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)
HANG = 300  # seconds
ROUNDS, CHUNKS = 3, 4  # ROUNDS as in trace_work.c
LAUNCHES = ("trace.cu:10: step", 'trace.cu:20: second "step" ', "trace.cu:30: sum")


def run(devices, **more):
    """Runs trace_work; returns the texts of its ranges, with their threads, and its messages."""
    if os.path.exists("ranges"):
        os.remove("ranges")
    variables = {**os.environ, "KMM_FAKE_RANGES": "ranges", "KMM_FRAME": "4K", "KMM_NATIVE": "0",
                 **more}
    result = subprocess.run([program, "work", devices, "1000", str(CHUNKS)], env=variables,
                            capture_output=True, timeout=HANG, check=True)
    if not os.path.exists("ranges"):
        return None, result.stderr.decode()
    with open("ranges", encoding="utf-8", errors="replace") as file:
        lines = [line.rstrip("\n").split(" ", 1) for line in file]
    return lines, result.stderr.decode()


def check_chunks(lines):
    """Each chunk of each launch is in one range."""
    seen = collections.Counter()
    for _, text in lines:
        one = re.fullmatch(r"(.*): chunks? (\d+)(?: to (\d+))? of (\d+)", text)
        if not one:
            continue
        assert int(one[4]) == CHUNKS, text
        name = next(n for n in LAUNCHES if one[1].startswith(n))
        for chunk in range(int(one[2]), int(one[3] or one[2]) + 1):
            seen[name, chunk] += 1
    wanted = {(name, chunk): ROUNDS for name in LAUNCHES for chunk in range(CHUNKS)}
    assert seen == wanted, (seen, lines)
    assert any(text == "trace.cu:30: end of a reduction" for _, text in lines), lines


tools = [{"KMM_RANGES": "roctx"}]
if has_nvtx:
    tools += [{"NVTX_INJECTION64_PATH": library},
              {"NVTX_INJECTION64_PATH": library, "KMM_RANGES": "nvtx"}]
for tool in tools:
    for devices in ("cuda:2", "host", "host:2"):
        for join in ("0", "32M"):
            ranges, said = run(devices, KMM_JOIN=join, **tool)
            check_chunks(ranges)
            assert "ranges" not in said, said

# Nobody is told where nobody asks, or where KMM_RANGES says so.
for tool in ({}, {"NVTX_INJECTION64_PATH": library, "KMM_RANGES": "0"}):
    assert run("host:2", **tool)[0] is None

# A library that the program has loaded is told, without a variable.
if sys.argv[5] != "1":
    check_chunks(run("host:2", LD_PRELOAD=library)[0])

# What is asked for and is not there is a warning, and the program runs.
ranges, said = run("host:2", KMM_RANGES="roctx", LD_LIBRARY_PATH="")
assert ranges is None and "KMM_RANGES=roctx: no library of roctx" in said, said
if not has_nvtx:
    ranges, said = run("host:2", KMM_RANGES="nvtx")
    assert ranges is None and "without the CUDA toolkit" in said, said
