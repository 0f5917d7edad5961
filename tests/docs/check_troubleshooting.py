# SPDX-License-Identifier: Apache-2.0
"""Usage: check_troubleshooting.py <source folder>

docs/troubleshooting.md has an entry for each warning of kmmcc, for each error code of libkmm with
its text, and for each word by which libkmm's warnings about speed end, and no others.
"""
import glob
import re
import sys

root = sys.argv[1]


def read(name):
    with open(f"{root}/{name}", encoding="utf-8") as file:
        return file.read()


def compare(what, here, there):
    for name in sorted(here ^ there):
        print(f"{what} {name} is only in the {'source' if name in here else 'document'}")
    if not here:
        print(f"the source has no {what}")
    return not here or here != there


page = read("docs/troubleshooting.md")
codes = {(f"KMM_E_{name}", text) for name, text in
         re.findall(r'X\((\w+), -\d+, "([^"]*)"\)', read("include/kmm/error.h"))}
warnings = set(re.findall(r'\{"(kmm-[a-z]+)"', read("kmmcc/base/warning.c")))
tags = {tag for name in glob.glob(f"{root}/runtime/**/*.c", recursive=True)
        for tag in re.findall(r' (\[[a-z]+\])(?:\\n)?",$', read(name.removeprefix(root + "/")), re.M)}
wrong = [compare("error code", codes, set(re.findall(r"^\| `(KMM_E_\w+)` \| ([^|]*) \|", page, re.M))),
         compare("warning", warnings, set(re.findall(r"^\| `(kmm-[a-z]+)` \|", page, re.M))),
         compare("word", tags, set(re.findall(r"^\| `(\[[a-z]+\])` \|", page, re.M)))]
sys.exit(any(wrong))
