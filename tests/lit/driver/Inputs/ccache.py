# SPDX-License-Identifier: Apache-2.0
"""Compiles by ccache: the same source again, and with another pragma; says whether ccache had them."""
import os
import re
import shutil
import subprocess
import sys

kmmcc = sys.argv[1]
if not shutil.which("ccache"):
    sys.exit(print("no ccache"))
environment = {name: value for name, value in os.environ.items() if not name.startswith("CCACHE_")}
environment["CCACHE_DIR"] = os.path.abspath("cache")


def compile_once():
    """Whether the object came from the cache."""
    subprocess.run(["ccache", "--zero-stats"], env=environment, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ccache", kmmcc, "-O1", "-c", "saxpy.c", "-o", "cached.o"], env=environment, check=True)
    statistics = subprocess.run(["ccache", "--print-stats"], env=environment, check=True, capture_output=True, text=True).stdout
    return any(int(count) for count in re.findall(r"^(?:direct|preprocessed)_cache_hit\s+(\d+)", statistics, re.M))


compile_once()
same = compile_once()
with open("saxpy.c") as file:
    text = file.read()
with open("saxpy.c", "w") as file:
    file.write(text.replace("chunk(100)", "chunk(50)"))
changed = compile_once()
print(f"same {'hit' if same else 'miss'} changed {'hit' if changed else 'miss'}")
