# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a compilation database without their output, as tools do that read it."""
import json
import os
import shlex
import subprocess
import sys

for entry in json.load(open(sys.argv[1])):
    command = shlex.split(entry["command"]) if "command" in entry else entry["arguments"]
    subprocess.run(command + ["-fsyntax-only"], cwd=entry["directory"], check=True)
    print(f"{os.path.basename(entry['file'])} compiles")
