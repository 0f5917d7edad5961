# SPDX-License-Identifier: Apache-2.0
"""Usage: check_environment.py <environment.md> <runtime/base/environment.c>

The page on environment variables and libkmm's table of them have the same names.
"""
import re
import sys

page, table = (open(path).read() for path in sys.argv[1:3])
in_page = {name for row in re.findall(r"^\| (`KMM_[^|]*)", page, re.MULTILINE) for name in re.findall(r"`(KMM_\w+)`", row)}
in_table = set(re.findall(r'^    \{"(KMM_\w+)"', table, re.MULTILINE))
for name in sorted(in_page ^ in_table):
    print(f"{name} is only in {sys.argv[1] if name in in_page else sys.argv[2]}")
sys.exit(1 if in_page != in_table or not in_page else 0)
