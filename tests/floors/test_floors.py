#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/floors on small trees: one that keeps the rules, and one for each way to break them."""
import os
import subprocess
import sys
import tempfile
import unittest

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLOORS = os.path.join(PROJECT, "scripts", "floors")
CC = os.environ.get("CC", "cc")
ORDER = """\
house runtime
floor base
floor task   # comments are allowed
floor memory
"""
CLEAN = {
    "scripts/floors.txt": ORDER,
    "runtime/base/lock.h": "void lock(void);\n",
    "runtime/base/lock.c": '#include "base/lock.h"\nvoid lock(void) {}\n',
    "runtime/task/task.h": "void task(void);\n",
    "runtime/task/task.c":
        '#include "task/task.h"\n#include "base/lock.h"\nvoid task(void) { lock(); }\n',
    "runtime/memory/frame.h": "void frame(void);\n",
    "runtime/memory/frame.c":
        '#include "memory/frame.h"\n#include "task/task.h"\nvoid frame(void) { task(); }\n',
}


class Floors(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = self.folder.name
        self.write(CLEAN)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, files):
        for path, text in files.items():
            path = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

    def compile(self):
        """Objects where CMake's Ninja and Makefile generators put them."""
        base = os.path.join(self.root, "runtime")
        for at, _, names in os.walk(base):
            for name in (n for n in names if n.endswith(".c")):
                source = os.path.join(at, name)
                target = os.path.join(self.root, "build/release/runtime/CMakeFiles/all.dir",
                                      os.path.relpath(source, base) + ".o")
                os.makedirs(os.path.dirname(target), exist_ok=True)
                subprocess.run([CC, "-w", "-I", base, "-c", source, "-o", target], check=True)

    def floors(self, *options):
        done = subprocess.run([sys.executable, FLOORS, "--root", self.root, *options],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def assert_clean(self, *options):
        code, output = self.floors(*options)
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"floors: \d+ files, \d+ edges?, no violation\n\Z")
        return output

    def assert_violation(self, *lines, options=("--no-objects",)):
        code, output = self.floors(*options)
        self.assertEqual(code, 1, output)
        for line in lines:
            self.assertIn(line, output)
        return output

    def test_clean(self):
        closing = "floors: 6 files, 2 edges, no violation\n"
        self.assertEqual(self.assert_clean("--no-objects"), closing)
        self.assertIn("only includes are checked", self.assert_clean())
        self.compile()
        self.assertEqual(self.assert_clean(), closing)

    def test_include_runs_up(self):
        self.write({"runtime/base/lock.c": '#include "base/lock.h"\n\n#include "task/task.h"\n'})
        self.assert_violation(
            'runtime/base/lock.c:3: runs up from base to task: includes "task/task.h"')

    def test_include_beside_the_file(self):
        self.write({"runtime/base/lock.c": '#include "../task/task.h"\n'})
        self.assert_violation('runtime/base/lock.c:1: runs up from base to task')

    def test_include_in_a_comment(self):
        self.write({"runtime/base/lock.c": '/*\n#include "task/task.h"\n*/\n'})
        self.assert_clean("--no-objects")

    def test_symbol_runs_up(self):
        self.write({"runtime/base/lock.c": "void task(void);\nvoid lock(void)\n{\n    task();\n}\n",
                    "runtime/task/task.c": "void task(void) {}\n"})
        self.assert_clean("--no-objects")
        self.compile()
        self.assert_violation(
            "runtime/base/lock.c:1: runs up from base to task: uses task (runtime/task/task.c)",
            options=())

    def test_symbol_of_another_build_tree(self):
        self.write({"runtime/base/lock.c": "void task(void);\nvoid lock(void) { task(); }\n"})
        self.compile()
        elsewhere = os.path.join(self.root, "elsewhere")
        os.rename(os.path.join(self.root, "build/release"), elsewhere)
        self.assert_violation("uses task", options=("--build", elsewhere))

    def test_symbol_that_two_files_define(self):
        """A reference is no violation if a lower file can satisfy it."""
        self.write({"runtime/base/other.c": "void frame(void) {}\n",
                    "runtime/task/task.c": "void frame(void);\nvoid task(void) { frame(); }\n"})
        self.compile()
        self.assert_clean()

    def test_subfolders(self):
        self.write({"runtime/memory/disk/disk.h": "",
                    "runtime/memory/host/pin.c": '#include "memory/disk/disk.h"\n'})
        self.assert_clean("--no-objects")
        self.write({"scripts/floors.txt": ORDER + "order memory: host disk .\n"})
        self.assert_violation("runtime/memory/host/pin.c:1: runs up from runtime/memory/host to "
                              "runtime/memory/disk: includes")
        self.write({"scripts/floors.txt": ORDER + "order memory: disk host .\n"})
        self.assert_clean("--no-objects")
        self.write({"runtime/memory/host/pin.c": '#include "memory/frame.h"\n'})
        self.assert_violation("runs up from runtime/memory/host to runtime/memory: includes")

    def test_no_floor(self):
        self.write({"runtime/internal.h": ""})
        output = self.assert_violation("runtime/internal.h:1: lies on no floor")
        self.assertIn("runtime/internal.h:1: note: a catch-all by its name", output)

    def test_circle(self):
        ring = {f"runtime/base/{a}.c": f'#include "base/{b}.h"\n' for a, b in ("ab", "bc", "ca")}
        self.write(ring | {f"runtime/base/{a}.h": "" for a in "abcd"})
        self.assert_clean("--no-objects")
        self.write({"runtime/base/c.c": '#include "base/d.h"\n',
                    "runtime/base/d.c": '\n#include "base/a.h"\n'})
        output = self.assert_violation(
            "runtime/base/a.c:1: circle of 4 files: base/a base/b base/c base/d",
            "closes it, with what base/")
        self.assertTrue(output.endswith(" 1 violation\n"), output)

    def test_circle_by_symbols(self):
        for a, b in ("ab", "bc", "cd", "da"):
            text = f"void {b}(void);\nvoid {a}(void)\n{{\n    {b}();\n}}\n"
            self.write({f"runtime/base/{a}.c": text})
        self.compile()
        self.assert_violation("circle of 4 files: base/a base/b base/c base/d", options=())

    def test_long_file(self):
        opening = "/* SPDX-License-Identifier: Apache-2.0 */\n"
        self.write({"runtime/base/long.c": opening + "int a;\n" * 600})
        self.assert_violation("runtime/base/long.c:601: 601 lines, more than 600")
        opening += "/*\n * A table.\n * Long\n * because it lists all calls.\n */\n"
        self.write({"runtime/base/long.c": opening + "int a;\n" * 600})
        self.assert_clean("--no-objects")
        self.write({"runtime/base/long.c": "int a; /* Long because */\n" * 601})
        self.assert_violation("runtime/base/long.c:601")

    def test_at_most_three_long_files(self):
        text = "/* Long because it is a table. */\n" + "int a;\n" * 600
        self.write({f"runtime/base/long{i}.c": text for i in range(3)})
        self.assert_clean("--no-objects")
        self.write({"runtime/task/long.c": text})
        self.assert_violation(
            "runtime/task/long.c:601: 601 lines; 3 files may be long: runtime/base/long0.c ")

    def test_columns(self):
        line = "x" * 101 + "\n"
        self.write({"README.md": "\n" + line, "docs/a.md": "| " + line, "include/kmm.h": line,
                    "runtime/base/README.md": line, "tests/a.c": line, "docs/more/a.txt": line})
        output = self.assert_violation("README.md:2: 101 columns", "docs/a.md:1: 103 columns",
                                       "runtime/base/README.md:1:", "include/kmm.h:1:")
        self.assertTrue(output.endswith(" 4 violations\n"), output)

    def test_columns_count_letters(self):
        self.write({"README.md": "é" * 100 + "\n"})
        self.assert_clean("--no-objects")

    def test_parts(self):
        self.write({"scripts/floors.txt": ORDER + "part kmm__task.residency memory/\n"})
        for statement in ("t->residency.frames[i].x = 1", "t->residency = r",
                          "++t->residency.users", "a[1].residency.n += 2", "t->residency.users--",
                          "t->residency.bits <<= 1", "(*t).residency.x |= 1"):
            with self.subTest(statement):
                text = f"void f(void)\n{{\n    {statement};\n}}\n"
                self.write({"runtime/memory/set.c": text})
                self.assert_clean("--no-objects")
                self.write({"runtime/task/set.c": text})
                output = self.assert_violation("runtime/task/set.c:3: ",
                                               "writes kmm__task.residency, which memory/ owns")
                self.assertTrue(output.endswith(" 1 violation\n"), output)
                os.remove(os.path.join(self.root, "runtime/task/set.c"))

    def test_parts_are_read(self):
        self.write({"scripts/floors.txt": ORDER + "part kmm__task.residency memory/\n",
                    "runtime/task/get.c":
                        "int f(void) { x = t->residency.n; return t->residency.n == x; }\n"
                        "int g(void) { return t.residency <= 1 || t.residency != 3; }\n"
                        "struct task t = {.residency = {1}};\n"
                        "/* t->residency.n = 1 */\nint residency = 1;\n"})
        self.assert_clean("--no-objects")

    def test_parts_of_two_structures(self):
        parts = "part kmm__task.queue task/\npart kmm__device.queue base/a.c base/b.c\n"
        self.write({"scripts/floors.txt": ORDER + parts,
                    "runtime/base/a.c": "void f(void) { d->queue.n = 1; }\n",
                    "runtime/task/a.c": "void f(void) { t->queue.n = 1; }\n"})
        self.assert_clean("--no-objects")
        self.write({"runtime/memory/a.c": "void f(void) { t->queue.n = 1; }\n"})
        self.assert_violation("queue.n = writes kmm__task/kmm__device.queue, "
                              "which task/ base/a.c base/b.c owns")

    def test_catch_all_is_a_note(self):
        self.write({"scripts/floors.txt": ORDER + "limit users 2\nlimit declarations 2\n",
                    "runtime/base/many.h": "#define A { ;\nstruct s {\n    int a;\n};\n"
                                           "void f(int a);\nvoid g(void);\n"})
        self.write({f"runtime/base/u{i}.c": '#include "base/many.h"\n' for i in range(2)})
        self.assertNotIn("note", self.assert_clean("--no-objects"))
        self.write({"runtime/base/u2.c": '#include "base/many.h"\n'})
        self.assertIn("runtime/base/many.h:1: note: 3 files include it and it has 3 declarations",
                      self.assert_clean("--no-objects"))

    def test_show(self):
        self.write({"runtime/base/lock.c": '#include "task/task.h"\n'})
        code, output = self.floors("--show", "--no-objects")
        self.assertEqual(code, 0, output)
        self.assertEqual(output, """\
runtime/
  memory: 2 files, 4 lines
         1 to task
         3 memory/frame.c
         1 memory/frame.h
  task: 2 files, 4 lines
         1 to base
         3 task/task.c
         1 task/task.h
  base: 2 files, 2 lines
         1 to task  <- up
         1 base/lock.c
         1 base/lock.h
""")

    def test_order_that_cannot_be_read(self):
        self.write({"scripts/floors.txt": ORDER + "story memory\n"})
        code, output = self.floors()
        self.assertEqual(code, 2)
        self.assertIn("floors.txt:5: not understood: story memory", output)


if __name__ == "__main__":
    unittest.main()
