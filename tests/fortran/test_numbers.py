# SPDX-License-Identifier: Apache-2.0
"""The numbers and sizes of fortran/kmm_c.f90 are those of the C headers, as tests/abi/libkmm.abi
and the headers have them; what module kmm does where a program asks for no status; and that the
program of docs/languages.md prints what the page says.

    test_numbers.py ROOT TEST_PROGRAM DOCUMENTED_PROGRAM
"""
import os
import re
import subprocess
import sys

ROOT, PROGRAM, DOCUMENTED = sys.argv[1:]


def text_of(name):
    with open(os.path.join(ROOT, name)) as file:
        return file.read()


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True)
    return result.returncode, result.stdout


interface = text_of("tests/abi/libkmm.abi")
values = dict(re.findall(r"^enum (KMM_\w+): (-?\d+)$", interface, re.M))
headers = text_of("include/kmm.h") + text_of("include/kmm/launch.h")
defined = dict(re.findall(r"^#define (KMM_\w+) (\d+)$", headers, re.M))
values["KMM_LAUNCH_VERSION"] = defined["KMM_LAUNCH_VERSION"]
parts = [int(defined["KMM_VERSION_" + part]) for part in ("MAJOR", "MINOR", "PATCH")]
values["KMM_VERSION_NUMBER"] = str(parts[0] * 10000 + parts[1] * 100 + parts[2])
numbers = re.findall(r"parameter :: (KMM_\w+) = (-?\d+)$", text_of("fortran/kmm_c.f90"), re.M)
assert len(numbers) > 30, numbers
for name, value in numbers:
    assert values[name] == value, "%s is %s, not %s" % (name, values[name], value)

code, output = run(PROGRAM, "sizes")
assert code == 0 and len(output.splitlines()) == 4, output
for name, size in re.findall(r"(\w+) (\d+)", output):
    assert "struct %s: %s bytes" % (name, size) in interface, (name, size)

for argument, text in (("type", "argument 1 has another type or rank"), ("stop", "`nonsense`")):
    code, output = run(PROGRAM, argument)
    assert code == 1 and "kmm: error: " in output and text in output, (code, output)

code, output = run(DOCUMENTED)
assert code == 0 and "```text\n%s\n```" % output.strip() in text_of("docs/languages.md"), (code, output)
