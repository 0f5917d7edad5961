# SPDX-License-Identifier: Apache-2.0
"""Usage: check_docs.py <kmmcc> <work folder> <nvcc or nothing> <cpu: 0 or 1> <file.md>...

Compiles the fenced code blocks that say test=NAME behind their language, with all warnings as errors.
A block of C is run as well, with enough device memory and with too little, and so is CUDA source
where kmmcc can compile it for the CPU. What the program prints must stand in the document.
"""
import os
import re
import subprocess
import sys

kmmcc, work, nvcc, cpu = sys.argv[1:5]
os.makedirs(work, exist_ok=True)
failures = found = 0


def run(*command, **environment):
    global failures
    result = subprocess.run(command, cwd=work, env={**os.environ, **environment}, text=True, capture_output=True, timeout=600)
    if result.returncode != 0:
        failures += 1
        print(" ".join(command), "ended with", result.returncode, "\n", result.stdout, result.stderr)
    return result.stdout


def check(name, text, document):
    global failures
    with open(os.path.join(work, name), "w") as file:
        file.write(text)
    program = os.path.join(work, name.split(".")[0])
    flags = ["-O2", "-Wall", "-Werror"] if name.endswith(".c") else ["-O2"]
    if name.endswith(".cu") and nvcc:
        run(kmmcc, "--target=cuda", *flags, name, "-o", program + ".cuda")
    if name.endswith(".cu") and cpu == "0":
        return
    run(kmmcc, "--target=host", *flags, name, "-o", program)
    for devices in ("host", "host:2,mem=2M"):
        for line in run(program, KMM_DEVICES=devices, KMM_FRAME="64K").splitlines():
            if not re.search(r"^    " + re.escape(line) + "$", document, re.MULTILINE):
                failures += 1
                print(f"{name} with KMM_DEVICES={devices} prints '{line}', which the document does not show")


for path in sys.argv[5:]:
    document = open(path).read()
    for block in re.finditer(r"^```\w+ test=(\S+)\n(.*?)^```$", document, re.MULTILINE | re.DOTALL):
        found += 1
        print(f"{os.path.basename(path)}: {block[1]}")
        check(block[1], block[2], document)
if found == 0:
    print("no block says test=NAME")
sys.exit(1 if failures or not found else 0)
