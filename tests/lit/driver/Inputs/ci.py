# SPDX-License-Identifier: Apache-2.0
"""ci.py WORKFLOW: runs the commands of a workflow's `run:` entries, in order, as a runner does, in the current folder. Prints the name
of each step and its status; ends with the first failure, after steps that are always run.
"""
import re
import subprocess
import sys

steps, step = [], None
with open(sys.argv[1]) as file:
    lines = file.read().split("\n")
for number, line in enumerate(lines):
    text = re.sub(r"^\s*- ", lambda m: " " * len(m.group()), line)
    indent = len(text) - len(text.lstrip())
    if text != line:
        step = {}
        steps.append(step)
    entry = re.match(r"\s*(name|run): (.*)", text)
    if not entry or not steps:
        continue
    key, value = entry.groups()
    if value == "|":
        block = []
        for more in lines[number + 1:]:
            if more.strip() and len(more) - len(more.lstrip()) <= indent:
                break
            block.append(more)
        value = "\n".join(block)
    step[key] = value
commands = [step for step in steps if "run" in step]
assert len(commands) == sum(1 for line in lines if re.match(r"\s*(- )?run:", line)), "a run: entry was not read"
for step in commands:
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step["run"]], timeout=300)
    print(f"{step['name']}: {done.returncode}", flush=True)
    if done.returncode:
        sys.exit(1)
