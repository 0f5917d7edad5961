# SPDX-License-Identifier: Apache-2.0
"""Usage: check_transformed.py <kmmcc> <work folder> <nvcc or nothing> <file.md>

Blocks that say source=NAME are files. Each block that says becomes=NAME target=TARGET must stand, word for word, in what
kmmcc --emit-source prints for that file, behind the block before it that says the same. Lines may be broken elsewhere.
"""
import os
import re
import subprocess
import sys

kmmcc, work, nvcc, path = sys.argv[1:5]
os.makedirs(work, exist_ok=True)
document = open(path).read()
failures = compared = 0
emitted, places = {}, {}


def emit(name, target):
    result = subprocess.run([kmmcc, f"--target={target}", "--emit-source", name], cwd=work, text=True, capture_output=True, timeout=600)
    if result.returncode != 0:
        sys.exit(f"kmmcc --target={target} {name} ended with {result.returncode}\n{result.stderr}")
    return result.stdout


for name, text in re.findall(r"^```\w+ source=(\S+)\n(.*?)^```$", document, re.MULTILINE | re.DOTALL):
    with open(os.path.join(work, name), "w") as file:
        file.write(text)
for name, target, text in re.findall(r"^```\w+ becomes=(\S+) target=(\S+)\n(.*?)^```$", document, re.MULTILINE | re.DOTALL):
    if target == "cuda" and not nvcc:
        continue
    key = (name, target)
    if key not in emitted:
        emitted[key], places[key] = " ".join(emit(name, target).split()), 0
    at = f" {emitted[key]} ".find(" " + " ".join(text.split()) + " ", places[key])
    compared += 1
    if at < 0:
        failures += 1
        print(f"{os.path.basename(path)}: for {target}, kmmcc does not make of {name}:\n{text}\nbut:\n{emitted[key]}")
    else:
        places[key] = at + 1
print(compared, "blocks compared")
sys.exit(1 if failures or not compared else 0)
