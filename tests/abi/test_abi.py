# SPDX-License-Identifier: Apache-2.0
"""scripts/abi finds what differs from its list, and functions without a version.

    test_abi.py BUILD CLANG
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ABI = os.path.join(HERE, "../../scripts/abi")
BUILD, CLANG = sys.argv[1:]


def run(build, text, *more):
    """Returns what scripts/abi prints, and the list afterwards; the list is `text` before."""
    with tempfile.NamedTemporaryFile("w+", suffix=".abi") as file:
        file.write(text)
        file.flush()
        result = subprocess.run([sys.executable, ABI, "--build", build, "--clang", CLANG, "--list",
                                 file.name, *more], stdout=subprocess.PIPE, text=True)
        with open(file.name) as after:
            return result.returncode, result.stdout, after.read()


def finds(text, *expected):
    code, output, _ = run(BUILD, text)
    assert code == 1, output
    for line in expected:
        assert line in output, (line, output)
    assert "--update" in output, output


with open(os.path.join(HERE, "libkmm.abi")) as whole:
    LIST = whole.read()


def changed(before, after):
    text = re.sub(before, after, LIST, count=1, flags=re.M)
    assert text != LIST, before
    return text


# A member that has moved, a member more, a struct's size, a function's version and type, a value.
finds(changed(r"^(struct kmm_config) 00008: (uint64_t device_mem)$", r"\1 00012: \2"),
      "-struct kmm_config 00012: uint64_t device_mem",
      "+struct kmm_config 00008: uint64_t device_mem")
finds(changed(r"^struct kmm_config 00024: .*\n", ""), "+struct kmm_config 00024: uint32_t threads")
finds(changed(r"^(struct kmm_config): 64 ", r"\1: 56 "), "+struct kmm_config: 64 bytes")
finds(changed(r"^(function kmm_wait) KMM_0\.1", r"\1 KMM_0.2"), "+function kmm_wait KMM_0.1")
finds(changed(r"^(function kmm_wait KMM_0\.1:) int", r"\1 void"), "+function kmm_wait KMM_0.1: int")
finds(changed(r"^(enum KMM_E_IO): -11", r"\1: -12"), "+enum KMM_E_IO: -11")
finds(LIST + "function kmm_gone KMM_0.1: int (void)\n", "-function kmm_gone KMM_0.1: int (void)")

# --update writes the list that is compared.
code, output, after = run(BUILD, "", "--update")
assert code == 0 and after == LIST, output

# A public function that runtime/libkmm.map does not have is no change that --update accepts.
with tempfile.TemporaryDirectory() as folder:
    os.mkdir(folder + "/lib")
    subprocess.run([CLANG, "-shared", "-fPIC", "-x", "c", "-", "-o", folder + "/lib/libkmm.so"],
                   input="int kmm_new(void) { return 0; }\n", text=True, check=True)
    code, output, after = run(folder, LIST, "--update")
    assert code == 1 and "kmm_new has no version: add it to runtime/libkmm.map" in output, output
    assert after == LIST
