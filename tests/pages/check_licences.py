# SPDX-License-Identifier: Apache-2.0
"""Usage: check_licences.py <source folder>

Each file says its licence in a line near its beginning, or REUSE.toml says it for its folder or
kind. Source files of kmm itself say it themselves.
"""
import re
import subprocess
import sys

root = sys.argv[1]
LINE = b"SPDX-License-Identifier: Apache-2.0"
# Where REUSE.toml may speak for source files: inputs of tests, whose lines are counted.
INPUTS = re.compile(r"^tests/(lit|fuzz/corpus)/")
SOURCES = re.compile(r"\.(c|h|cpp|hpp|cu|cuh|hip|py|cmake|f90|F90|js|css|sh|S|yml|toml)$"
                     r"|CMakeLists\.txt$|Makefile$")


def pattern(glob):
    """`*` is any text but a slash, and `**` any text, as in REUSE.toml."""
    parts = re.split(r"(\*\*|\*)", glob)
    return "".join({"**": ".*", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)


def main():
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True)
    if listed.returncode:
        print("not a checkout: nothing to compare")
        return 0
    with open(f"{root}/REUSE.toml", encoding="utf-8") as file:
        globs = re.findall(r'^  "(.*)",$', file.read(), re.M)
    spoken = re.compile("|".join(map(pattern, globs)))
    missing = []
    names = [name for name in listed.stdout.decode().split("\0") if name]
    for name in names:
        try:
            with open(f"{root}/{name}", "rb") as file:
                says = LINE in file.read(1000)
        except (FileNotFoundError, IsADirectoryError):
            continue
        own = SOURCES.search(name) and not INPUTS.match(name)
        if not says and (own or not spoken.fullmatch(name)):
            missing.append(name)
    for name in missing:
        print(f"{name} does not name its licence: {LINE.decode()}")
    return 1 if missing or len(names) < 100 else 0


sys.exit(main())
