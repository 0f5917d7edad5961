# SPDX-License-Identifier: Apache-2.0
"""Usage: check_clauses.py <source folder>

Each clause and each directive that kmmcc parses is a heading of a page in docs/clauses/, or has a
syntax there. docs/clauses.md links to each page, which has all parts that a page has.
"""
import os
import re
import sys

root = sys.argv[1]
PARTS = ["## Syntax", "## Example", "## A common mistake", "## What it costs", "../language.md#"]


def read(path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def words_between(path, begin, pattern):
    """What the pattern finds in the table that begins so."""
    text = read(path)
    start = text.index(begin)
    return set(re.findall(pattern, text[start:text.index("};", start)]))


words = words_between("kmmcc/pragma/clause.c", "clause_t clauses[] = {", r'\{"(\w+)"')
words |= words_between("kmmcc/pragma/parse.c", 'names[] = {"parallel"', r'"(\w+)"')
overview = read("docs/clauses.md")
failures = []
described = set()
for name in sorted(os.listdir(os.path.join(root, "docs/clauses"))):
    page = read("docs/clauses/" + name)
    described |= set(re.findall(r"\w+", page.split("\n")[0]))
    described |= set(re.findall(r"\w+", page.split("## Syntax")[-1].split("```")[1]))
    failures += [f"docs/clauses/{name} has no '{part}'" for part in PARTS if part not in page]
    if f"(clauses/{name})" not in overview and f"]: clauses/{name}\n" not in overview:
        failures.append(f"docs/clauses.md does not link to clauses/{name}")
failures += [f"no page of docs/clauses/ is about '{word}'" for word in sorted(words - described)]
if len(words) < 25:
    failures.append(f"kmmcc's tables have only {sorted(words)}")
print("\n".join(failures) or f"{len(words)} words of pragmas have pages")
sys.exit(bool(failures))
