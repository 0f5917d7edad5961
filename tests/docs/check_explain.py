# SPDX-License-Identifier: Apache-2.0
"""Usage: check_explain.py <kmmcc> <source folder>

docs/explain.md shows what kmmcc prints: the text, the picture docs/plots/regions.svg, and all members of the JSON.
"""
import json
import os
import re
import subprocess
import sys

kmmcc, root = sys.argv[1:3]
example = "examples/stencil/stencil.cu"
with open(os.path.join(root, "docs/explain.md")) as file:
    page = file.read()
with open(os.path.join(root, "docs/plots/regions.svg")) as file:
    picture = file.read()


def explain(form):
    done = subprocess.run([kmmcc, "--target=host", f"--explain={form}", example], cwd=root, text=True, capture_output=True, timeout=600)
    if done.returncode:
        sys.exit(f"kmmcc --explain={form} {example} ended with {done.returncode}\n{done.stderr}")
    return done.stdout


def names(value):
    """The members of all objects in the value."""
    if isinstance(value, list):
        return set().union(*map(names, value))
    if not isinstance(value, dict):
        return set()
    return set(value) | names(list(value.values()))


failures = []
(shown,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
if shown not in explain("text"):
    failures.append("the page's text is not what --explain prints")
if picture != explain("svg"):
    failures.append(f"the picture is old; write it again: kmmcc --target=host --explain=svg {example} > docs/plots/regions.svg")
used = names(json.loads(explain("json")))
described = set(re.findall(r"`(\w+)`", page[page.index("## JSON"):]))
if used - described or len(used) < 30:
    failures.append(f"members of the JSON that the page does not name: {sorted(used - described)}")
print("\n".join(failures) or "docs/explain.md is as kmmcc is")
sys.exit(bool(failures))
