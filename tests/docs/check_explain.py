# SPDX-License-Identifier: Apache-2.0
"""Usage: check_explain.py <kmmcc> <source folder> <work folder> [-w]

docs/explain.md shows what kmmcc prints: the text, the pictures docs/pictures/regions.svg and
regions-1d.svg, which is of the program on the page, and all members of the JSON. The program of
docs/tutorial.md is docs/pictures/heat-regions.svg. -w writes the pictures.
"""
import json
import os
import re
import subprocess
import sys

kmmcc, root, work = sys.argv[1:4]
example = "examples/stencil/stencil.cu"
with open(os.path.join(root, "docs/explain.md")) as file:
    page = file.read()


def explain(form, example=example, folder=root):
    done = subprocess.run([kmmcc, "--target=host", f"--explain={form}", example], cwd=folder, text=True, capture_output=True, timeout=600)
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
shown = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
for text, of in zip(shown, (example, "examples/kmeans/kmeans.cu"), strict=True):
    if text not in explain("text", of):
        failures.append(f"the page's text is not what --explain prints of {of}")
((program, source),) = re.findall(r"^```cuda source=(\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
os.makedirs(work, exist_ok=True)
with open(os.path.join(root, "docs/tutorial.md")) as file:
    (heat,) = re.findall(r"^```cuda test=heat.cu\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
for path, text in (program, source), ("heat.cu", heat):
    with open(os.path.join(work, path), "w") as file:
        file.write(text)
for name, drawn in (("regions", explain("svg")), ("regions-1d", explain("svg", program, work)),
                    ("heat-regions", explain("svg", "heat.cu", work))):
    path = os.path.join(root, f"docs/pictures/{name}.svg")
    if sys.argv[4:] == ["-w"]:
        with open(path, "w") as file:
            file.write(drawn)
    with open(path) as file:
        if file.read() != drawn:
            failures.append(f"docs/pictures/{name}.svg is old: {os.path.basename(sys.argv[0])} with -w writes it again")
used = names(json.loads(explain("json")))
described = set(re.findall(r"`(\w+)`", page[page.index("## JSON"):]))
if used - described or len(used) < 30:
    failures.append(f"members of the JSON that the page does not name: {sorted(used - described)}")
print("\n".join(failures) or "docs/explain.md is as kmmcc is")
sys.exit(bool(failures))
