# SPDX-License-Identifier: Apache-2.0
"""Usage: check_environment.py <project>

The page on environment variables and libkmm's table of them have the same names; and each variable
that a script, test or measurement reads or sets is one of them or has a prefix that the table
leaves to tests, so libkmm does not warn of it.
"""
import pathlib
import re
import sys

project = pathlib.Path(sys.argv[1])
page_path, table_path = project / "docs/environment.md", project / "runtime/base/environment.c"
page, table = page_path.read_text(), table_path.read_text()
in_page = {name for row in re.findall(r"^\| (`KMM_[^|]*)", page, re.MULTILINE) for name in re.findall(r"`(KMM_\w+)`", row)}
in_table = set(re.findall(r'^    \{"(KMM_\w+)"', table, re.MULTILINE))
prefixes = tuple(re.findall(r'"(KMM_\w+)"', re.search(r"internal_names\[\] = \{(.*?)\}", table, re.DOTALL)[1]))
wrong = [f"{name} is only in {page_path if name in in_page else table_path}" for name in sorted(in_page ^ in_table)]

# These set names that kmm does not have, to see the warning.
misspelling = {"tests/lit/run/environment.c"}
read_or_set = re.compile(r'getenv\("(KMM_\w+)"|(?:export |env |[\s";])(KMM_[A-Z_]+)=')
files = [file for folder in ("scripts", "tests", "bench") for file in (project / folder).rglob("*")
         if file.is_file() and file.suffix not in (".log", ".pyc", ".svg")]
for file in files:
    if str(file.relative_to(project)) in misspelling:
        continue
    try:
        text = file.read_text()
    except UnicodeDecodeError:
        continue
    for names in set(read_or_set.findall(text)):
        name = "".join(names)
        if name not in in_table and not name.startswith(prefixes):
            wrong.append(f"{file.relative_to(project)} uses {name}, of which libkmm warns")
for line in wrong:
    print(line)
sys.exit(1 if wrong or not in_page or not files else 0)
