# SPDX-License-Identifier: Apache-2.0
"""Rewrites a file as it is and with its unrelated code written otherwise; the blocks of its launches must be the same but for
the numbers of lines."""
import re
import subprocess
import sys
import tempfile

kmmcc, path = sys.argv[1:3]
text = open(path).read()


def blocks(source):
    """From `{ // #pragma` to the launch."""
    with tempfile.NamedTemporaryFile("w", suffix=".cu") as file:
        file.write(source)
        file.flush()
        result = subprocess.run([kmmcc, "--target=host", "--emit-source", file.name], capture_output=True, text=True)
        if result.returncode:
            sys.exit(result.stderr)
        name = re.escape(file.name)
    found = re.findall(r"\{ // #pragma kmm parallel.*?\n.*?\}\n", result.stdout, re.S)
    return [re.sub(r"#line \d+|, \d+\);", "", re.sub(name, "file", block)) for block in found]


ways = [
    text,
    text.replace("static int unrelated", "\n\n// moved\nstatic int\nunrelated").replace("2 * n", "2*n"),
    text.replace("    int twice", "\tint\ttwice").replace("/* before */", "// before\n\n"),
    text.replace("    if (i < n)\n        C[i]", "    if (i < n) C[i]").replace("    twice += unrelated(twice);", "    twice +=\n      unrelated( twice );"),
]
first = blocks(ways[0])
if len(first) != 2:
    sys.exit(f"{len(first)} launches were found")
for way in ways[1:]:
    if blocks(way) != first:
        sys.exit("\n".join(["the launches differ:"] + first + blocks(way)))
calls = [line for line in first[0].splitlines() if "kmm_launch_" in line]
if len(calls) != len(set(calls)) + 4:  # three items have the same section: index 0, coefficient 1
    sys.exit("a line is there twice:\n" + first[0])
print(len(ways), "ways to write the rest give the same launches")
