# SPDX-License-Identifier: Apache-2.0
"""What a compiler says of wrong uses of kmm/kmm.hpp, and an exception that nobody waits for.

    test_cxx.py COMPILER INCLUDE TEST_PROGRAM
"""
import os
import re
import subprocess
import sys

COMPILER, INCLUDE, PROGRAM = sys.argv[1:]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "refused.cpp")


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=dict(os.environ, LC_ALL="C.UTF-8"))
    return result.returncode, result.stdout


compile_it = [COMPILER, "-std=c++17", "-fsyntax-only", "-I" + INCLUDE, SOURCE]
code, output = run(*compile_it)
assert code == 0, output
code, output = run(*compile_it, "-DREFUSED", "-fmax-errors=0")
assert code != 0, "refused.cpp compiles"
with open(SOURCE) as file:
    for text in re.findall("// expect: (.*)", file.read()):
        assert re.search("error: .*" + re.escape(text), output), (text, output)

code, output = run(PROGRAM, "unwaited")
assert code == 1 and "kmm: error: nobody asked\n" in output, (code, output)
