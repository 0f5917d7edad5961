# SPDX-License-Identifier: Apache-2.0
"""Usage: check_docs.py <kmmcc> <work folder> <nvcc or nothing> <file.md>...

Checks the blocks of code in documents. Each is fenced, and says its language:

- test=NAME behind the language: a program. It is compiled with all warnings as errors and run,
  with enough device memory and with too little. What it prints must stand in the document. Python
  is not compiled, and is run if there is NumPy.
- console: a session. The lines behind `$ ` are run in a folder with the document's programs,
  without nvcc. They must print the lines below them; `...` is any lines, and spaces are as good as
  newlines.
- becomes=NAME or source=NAME: check_transformed.py compares them.
- a language in NOT_RUN: parts of programs, programs that other tests run, messages, pictures, and
  commands that change the machine.
"""
import os
import re
import subprocess
import sys

NOT_RUN = "text sh c cuda cpp fortran python julia cmake ini".split()
kmmcc, work, nvcc = sys.argv[1:4]
failures = found = 0


def fail(*message):
    global failures
    failures += 1
    print(*message)


def run(folder, *command, **environment):
    result = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, text=True,
                            capture_output=True, timeout=600)
    if result.returncode != 0:
        fail(" ".join(command), "ended with", result.returncode, "\n", result.stdout, result.stderr)
    return result.stdout


def blocks_of(path, document):
    """Yields (line, what is behind the fence, text); reports blocks without fence or language."""
    fence = None
    blank = True
    for number, line in enumerate(document.split("\n"), 1):
        mark = re.match(r"^( *)```(.*)$", line)
        if mark and fence:
            yield fence[0], fence[1], "".join(text + "\n" for text in fence[2])
            fence = None
        elif mark:
            fence = (number, mark[2].strip(), [], len(mark[1]))
            if not fence[1]:
                fail(f"{path}:{number}: the block says no language; `text` is run by nobody")
        elif fence:
            fence[2].append(line[fence[3]:])
        elif blank and re.match(r"^(    |\t)", line):
            fail(f"{path}:{number}: the block has no fence: put ``` and its language around it")
        blank = not line.strip() or line.startswith("#") or bool(mark)
    if fence:
        fail(f"{path}:{fence[0]}: the block has no end")


def check_program(folder, name, text, document):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
    program = os.path.join(folder, name.split(".")[0])
    if name.endswith(".py"):
        command = python_with_numpy()
        if command:
            check_runs(folder, name, [*command, name], document)
        return
    flags = ["-O2", "-Wall", "-Werror"] if name.endswith(".c") else ["-O2"]
    if name.endswith(".cu") and nvcc:
        run(folder, kmmcc, "--target=cuda", *flags, name, "-o", program + ".cuda")
    run(folder, kmmcc, "--target=host", *flags, name, "-o", program)
    check_runs(folder, name, [program], document)


def python_with_numpy():
    """The command of a Python that has NumPy; None: there is none."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode == 0:
            return [python, "-B"]
    return None


def check_runs(folder, name, command, document):
    for devices in ("host", "host:2,mem=2M"):
        for line in run(folder, *command, KMM_DEVICES=devices, KMM_FRAME="64K").splitlines():
            if not re.search(r"^ *" + re.escape(line) + "$", document, re.MULTILINE):
                fail(f"{name} with KMM_DEVICES={devices} prints '{line}', unlike the document")


def pattern_of(lines):
    words = [".*" if line == "..." else r"\s+".join(map(re.escape, line.split())) for line in lines]
    return r"\s*" + r"\s*".join(words) + r"\s*"


def check_session(folder, where, text):
    environment = {**os.environ, "PATH": os.path.dirname(kmmcc) + ":" + os.environ["PATH"],
                   "KMM_CUDA_PATH": "none"}
    if not text.startswith("$ "):
        fail(f"{where}: a session begins with a command: `$ ...`")
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *expected = part.rstrip("\n").split("\n")
        result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                capture_output=True, timeout=600)
        printed = result.stdout + (result.stderr if result.returncode else "")
        if not re.fullmatch(pattern_of(expected), printed, re.DOTALL):
            fail(f"{where}: `{command}` ended with {result.returncode} and printed\n{printed}")


def check_document(path):
    global found
    document = open(path).read()
    name = os.path.basename(path)
    folder = os.path.join(work, name)
    os.makedirs(folder, exist_ok=True)
    for line, tag, text in blocks_of(name, document):
        program = re.fullmatch(r"\w+ test=(\S+)", tag)
        found += 1
        if program:
            check_program(folder, program[1], text, document)
        elif tag == "console":
            check_session(folder, f"{name}:{line}", text)
        elif tag and tag not in NOT_RUN and not re.search(r" (becomes|source)=", tag):
            fail(f"{name}:{line}: no block may be of the language '{tag}'")


for each in sys.argv[4:]:
    check_document(each)
if found == 0:
    print("the documents have no blocks")
sys.exit(1 if failures or not found else 0)
