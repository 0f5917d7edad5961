#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random kernels and functions with clauses, half of them with one mistake, under -fkmm-check.

usage: random_clauses.py KMMCC FOLDER [SEED [COUNT [BATCH]]]

Writes COUNT launches with kernels or functions of their own, BATCH of them in one file, in turn
CUDA for the CPU and C. kmmcc translates each file, which shows the mistakes that it finds while
compiling. Then it compiles the file with -fkmm-check or -fkmm-check=all, and -fno-kmm-compare, which
shows those found while running: all launches with right clauses run in one process, on one device
and on small ones, and those with a mistake in another. No right
launch may have an error, and each mistake must be found in one of the two ways; those that leave
each access where the clauses have it, while compiling."""
import os
import random
import re
import subprocess
import sys

TYPES = ("char", "short", "int", "float", "double", "long long")


class Case:
    """One launch: `body` is for one index i; `items` are its clauses; `wrong` names the mistake."""

    def __init__(self, rng, number, plain):
        self.number, self.plain = number, plain
        self.type = rng.choice(TYPES)
        self.n = rng.randrange(100, 800)
        self.chunks = rng.randrange(2, 7)
        self.step, self.width = rng.choice((1, 1, 1, 2, 3)), rng.choice((1, 1, 1, 2, 3))
        self.low = rng.randrange(0, 4)
        self.offsets = sorted({self.low, *(self.low + rng.randrange(0, 4) for _ in range(2))})
        self.store = rng.choice(("whole", "whole", "add", "some", "swap"))
        self.bins = rng.choice((0, 0, 1, 4, 9))
        self.style = rng.choice(("subscript", "pointer", "loop", "copy"))
        self.form = rng.choice(("guard", "guard", "early", "stride", "unsigned", "long", "late",
                                "helper"))
        self.first = rng.randrange(1, 40) if self.form == "late" and not plain else 0
        kinds = ["read place", "step"]
        kinds += ["read high", "read low"] * (len(self.offsets) > 1)
        kinds += ["range"] * (not plain)  # a function is given its range
        kinds += ["write short"] * (self.width > 1)
        kinds += ["write long"] * (self.width > 1 and self.store == "whole")
        kinds += ["bins"] * (self.bins > 1)
        kinds += ["write for old values"] * 2 * (self.store != "whole")
        self.relative = plain and rng.random() < 0.5  # the function is told a length, not bounds
        if self.relative:
            self.bins = 0
            self.store = "add" if self.store == "some" else self.store  # i % 3 is not its own
            kinds = [k for k in kinds if k != "bins"]
            kinds += ["own value", "edge", "carried", "static", "own index", "global"]
        self.wrong = rng.choice(kinds) if rng.random() < 0.5 else "none"

    def body(self):
        t, k, w = self.type, self.step, self.width
        last = self.offsets[-1]
        if self.style == "loop":
            reads = f"for (int o = 0; o < {len(self.offsets)}; o++) v += y[{k} * i + at[o]];"
            reads = f"static const int at[] = {{{', '.join(map(str, self.offsets))}}}; " + reads
            if not self.plain:
                reads = reads.replace("static const", "const")
        elif self.style == "pointer":
            reads = f"const {t} *p = y + {k} * i; " + " ".join(f"v += p[{o}];" for o in
                                                             self.offsets)
        elif self.style == "copy":
            n = last - self.low + 1
            reads = (f"{t} c[{n}]; memcpy(c, &y[{k} * i + {self.low}], sizeof c); "
                     f"for (int o = 0; o < {n}; o++) v += c[o];")
        else:
            reads = " ".join(f"v += y[{k} * i + {o}];" for o in self.offsets)
        most = w - 1 if self.wrong == "write long" else w
        stores = {"whole": "x[{w} * i + o] = v + o;", "add": "x[{w} * i + o] += v;",
                  "some": "if (i % 3 != 1) x[{w} * i + o] = v;",
                  "swap": "{t} old = x[{w} * i + o]; x[{w} * i + o] = v - old;"}[self.store]
        stores = stores.replace("{w}", str(w)).replace("{t}", t)
        reads += {"own value": " v += i;", "carried": " v = sum += v;", "static": " v += count++;",
                  "edge": f" v += y[i ? {k} * i - {k} + {last} : {last}];",
                  "global": f" global{self.number} = i;"}.get(self.wrong, "")
        text = f"{t} v = 0; {reads} for (int o = 0; o < {most}; o++) {{ {stores} }}"
        if self.bins:
            at = f"&s[(unsigned long)i % {self.bins}]"
            text += f" __atomic_fetch_add({at}, 1, __ATOMIC_RELAXED);" if self.plain else \
                f" atomicAdd({at}, 1);"
        return text

    def clauses(self):
        low, high = self.offsets[0], self.offsets[-1]
        step, width, end = self.step, self.width, self.n
        mode = "write" if self.store == "whole" else "update"
        if self.wrong == "read high":
            high -= 1
        elif self.wrong == "read low":
            low += 1
        elif self.wrong == "read place":
            low, high = low + 1, high + 1
        elif self.wrong == "range":
            end = self.first + (self.n - self.first) * 3 // 4
        elif self.wrong == "step":
            step += 1
        elif self.wrong == "write short":
            width -= 1
        elif self.wrong.startswith("write for"):
            mode = "write"
        items = [f"read(y[{step} * i + {low}:{high - low + 1}])",
                 f"{mode}(x[{self.width} * i:{width}])"]
        if self.bins:
            items.append(f"reduce(+: s[0:{self.bins - (self.wrong == 'bins')}])")
        return end, " ".join(items)

    def is_right(self):
        return self.wrong == "none"

    def function(self):
        t, c = self.type, self.number
        if self.plain:
            if self.relative:
                own = {"carried": f"{t} sum = 0; ", "static": "static int count; ",
                       "own index": "static long place; "}.get(self.wrong, "")
                body = self.body()
                if self.wrong == "own index":
                    body = body.replace(f"x[{self.width} * i + o]",
                                        f"x[{self.width} * place + o]") + " place++;"
                out = f"static int global{c};\n" if self.wrong == "global" else ""
                return (f"{out}static void f{c}(long n, {t} *x, const {t} *y) {{ {own}"
                        f"for (long i = 0; i < n; i++) {{ {body} }} }}")
            head = f"static void f{c}(long from, long to, {t} *x, const {t} *y, int *s)"
            return f"{head} {{ (void)s; for (long i = from; i < to; i++) {{ {self.body()} }} }}"
        head = f"__global__ void f{c}(int n, {t} *x, const {t} *y, int *s) {{"
        i, body = "blockIdx.x * blockDim.x + threadIdx.x", self.body()
        if self.form == "early":
            return f"{head} int i = {i}; if (i >= n) return; {body} }}"
        if self.form == "stride":
            return f"{head} for (int i = {i}; i < n; i += gridDim.x * blockDim.x) {{ {body} }} }}"
        if self.form == "helper":
            return (f"__device__ void g{c}(int i, {t} *x, const {t} *y, int *s) {{ {body} }}\n"
                    f"{head} int i = {i}; if (i < n) g{c}(i, x, y, s); }}")
        kind = {"unsigned": "unsigned", "long": "long"}.get(self.form, "int")
        start = f"(long){i}" if kind == "long" else i
        least = f"i >= {self.first} && " if self.first else ""
        end = "(unsigned)n" if kind == "unsigned" else "n"
        return f"{head} {kind} i = {start}; if ({least}i < {end}) {{ {body} }} }}"

    def launch(self):
        t, c = self.type, self.number
        end, items = self.clauses()
        chunk = (self.n + self.chunks - 1) // self.chunks
        room = 4 * self.n + 64
        lines = [f"    if (which == {c}) {{", f"        {t} *x = room({room} * sizeof({t}));",
                 f"        {t} *y = room({room} * sizeof({t}));", "        int *s = room(64 * 4);"]
        named = [f"x[{room}]", f"y[{room}]"] + ["s[64]"] * (self.bins > 0)
        shapes = f"shape({', '.join(named)})"
        if self.relative:
            how, call = "rebase(n: i)", f"f{c}({end}, x, y);"
        elif self.plain:
            how = "rebase(from: begin(i), to: end(i))"
            call = f"f{c}(0, {end}, x, y, {'s' if self.bins else 0});"
        else:
            how, call = "", f"f{c}<<<{(self.n + 63) // 64}, 64>>>({self.n}, x, y, s);"
        lines += [f"#pragma kmm parallel(i = {self.first}:{end - self.first}) chunk({chunk}) {how} {shapes} {items}",
                  f"        {call}", "    }"]
        text = "\n".join(lines)
        return text if self.plain else text.replace("= room(", f"= ({t} *)room(").replace(
            f"int *s = ({t} *)", "int *s = (int *)")


class Plane:
    """A launch of two dimensions, on an array of h rows of w elements with an edge of `edge`."""

    plain = relative = False

    def __init__(self, rng, number):
        self.number = number
        self.type = rng.choice(TYPES)
        self.h, self.w, self.edge = rng.randrange(20, 90), rng.randrange(20, 90), rng.randrange(1, 3)
        self.up, self.down, self.left, self.right = (rng.randrange(0, self.edge + 1)
                                                     for _ in range(4))
        self.chunk = rng.randrange(1, 4) * 8
        self.split = rng.choice("ji")
        self.flat = rng.random() < 0.5
        self.store = rng.choice(("whole", "add"))
        self.tile = rng.random() < 0.3 and self.left + self.right + self.up + self.down == 0
        kinds = ["place", "width", "short row", "short column"]
        kinds += ["up"] * (2 * (self.up > 0)) + ["down"] * (2 * (self.down > 0))
        kinds += ["left"] * (self.left > 0 and self.split == "i")
        kinds += ["right"] * (self.right > 0 and self.split == "i")
        kinds += ["old values"] * (self.store == "add")
        if self.split == "i":
            kinds = [k for k in kinds if k not in ("up", "down")]
        self.wrong = rng.choice(kinds) if rng.random() < 0.5 else "none"

    def is_right(self):
        return self.wrong == "none"

    def at(self, j, i):
        return f"({j}) * {self.w + 2 * self.edge} + {i}"

    def function(self):
        t, c, e = self.type, self.number, self.edge
        head = f"__global__ void f{c}({t} *x, const {t} *y, int h, int w) {{ "
        head += "int i = blockIdx.x * blockDim.x + threadIdx.x; "
        head += "int j = blockIdx.y * blockDim.y + threadIdx.y; "
        points = {(0, 0), (-self.up, 0), (self.down, 0), (0, -self.left), (0, self.right)}
        reads = " + ".join(f"y[{self.at(f'j + {e + dj}', f'i + {e + di}')}]"
                           for dj, di in sorted(points))
        store = f"x[{self.at(f'j + {e}', f'i + {e}')}] {'=' if self.store == 'whole' else '+='} "
        if self.tile:
            return (f"{head} __shared__ {t} s[8][8]; "
                    f"if (i < w && j < h) s[threadIdx.y][threadIdx.x] = {reads}; __syncthreads(); "
                    f"if (i < w && j < h) {store} s[threadIdx.y][threadIdx.x]; }}")
        return f"{head} if (i < w && j < h) {store} {reads}; }}"

    def clauses(self):
        e, w = self.edge, self.w + 2 * self.edge
        up, down, left, right = self.up, self.down, self.left, self.right
        mode = "write" if self.store == "whole" or self.wrong == "old values" else "update"
        high = self.h * 3 // 4 if self.wrong == "short column" else self.h
        wide = self.w * 3 // 4 if self.wrong == "short row" else self.w
        up, down = up - (self.wrong == "up"), down - (self.wrong == "down")
        left, right = left - (self.wrong == "left"), right - (self.wrong == "right")
        place = self.wrong == "place"
        row = w + (self.wrong == "width")
        items = (f"read(y[j + {e - up + place}:{up + down + 1}][i + {e - left}:{left + right + 1}]) "
                 f"{mode}(x[j + {e}][i + {e}])")
        return (high, wide, row), items

    def launch(self):
        t, c = self.type, self.number
        (high, wide, row), items = self.clauses()
        rows, w = self.h + 2 * self.edge, self.w + 2 * self.edge
        room = (rows + 8) * (w + 8)
        chunk = (f"chunk({self.chunk}, {wide})" if self.split == "j" else
                 f"chunk({high}, {self.chunk})")
        return "\n".join([
            f"    if (which == {c}) {{", f"        {t} *x = ({t} *)room({room} * sizeof({t}));",
            f"        {t} *y = ({t} *)room({room} * sizeof({t}));",
            f"#pragma kmm parallel(j: global.y = 0:{high}, i: global.x = 0:{wide}) {chunk} "
            f"shape(x[{rows}][{row}], y[{rows}][{row}]) {items}",
            f"        f{c}<<<dim3({(self.w + 7) // 8}, {(self.h + 7) // 8}), dim3(8, 8)>>>"
            f"(x, y, {self.h}, {self.w});",
            "    }"])


def program(cases, plain):
    head = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>"]
    if plain:
        head += ["static void *room(size_t bytes) { return calloc(1, bytes); }"]
        end = "    (void)c;"
    else:
        head += ["#include <cuda_runtime.h>",
                 "static void *room(size_t bytes) { void *p; cudaMalloc(&p, bytes); "
                 "cudaMemset(p, 0, bytes); return p; }"]
        end = "    (void)c; cudaDeviceSynchronize();"
    return "\n".join(head + [c.function() for c in cases] +
                     ["int main(int c, char **v)", "{", "    for (int k = 1; k < c; k++) {",
                      "    int which = atoi(v[k]);"] +
                     [c.launch() for c in cases] + ["    }", end, '    puts("done");', "}"]) + "\n"


DEVICES = ({"KMM_DEVICES": "host"},
           {"KMM_DEVICES": "host:3,mem=4M", "KMM_FRAME": "64K", "KMM_JOIN": "0"})


# Mistakes that change no access of a chunk.
VALUES = ("own value", "edge", "carried", "static", "global")


def found_compiling(kmmcc, source, cases):
    """The numbers of the launches that kmmcc refuses."""
    done = subprocess.run([kmmcc, "-w", "--target=host", "--emit-source", source, "-o", source + ".txt"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(source, encoding="utf-8") as text:
        lines = text.read().split("\n")
    found, other = set(), []
    for m in re.finditer(r":(\d+):\d+: error: (.*)", done.stderr):
        number = [re.search(r" f(\d+)(?:<<<|\()", " " + line.strip()) for line in
                  lines[int(m.group(1)) - 1:int(m.group(1)) + 2]]
        number = [int(n.group(1)) for n in number if n]
        found.add(number[0]) if number else other.append(m.group(0))
    return found, other


def found_running(binary, cases, devices):
    """The numbers of the launches that have an error, and whether the process ended as it must."""
    if not cases:
        return set(), True
    done = subprocess.run([binary] + [str(c.number) for c in cases], timeout=300,
                          env=dict(os.environ, KMM_ON_ERROR="continue", **devices),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    found = {int(n) for n in re.findall(r"error: \S+: f(\d+):.*the chunk", done.stderr)}
    good = (done.returncode != 0) == bool(found) and ("kmm: error:" in done.stderr) == bool(found)
    return found, good and "done" in done.stdout


def complain(source, case, what):
    print(f"{source} {case.number}: {what}: mistake: {case.wrong}\n{case.launch()}\n"
          f"{case.function()}")
    return 1


def check(kmmcc, source, cases, rng, tally):
    binary, bad = source.replace(".", "_") + ".program", 0
    early, other = found_compiling(kmmcc, source, cases)
    flag = rng.choice(("-fkmm-check", "-fkmm-check", "-fkmm-check=all"))
    subprocess.run([kmmcc, flag, "-fno-kmm-compare", "-w", "--target=host", source, "-o",
                    binary], check=True)
    right, wrong = [c for c in cases if c.is_right()], [c for c in cases if not c.is_right()]
    late, good = found_running(binary, wrong, rng.choice(DEVICES))
    if other or not good:
        print(f"{source}: {other or 'the run did not end as it must'}")
        bad += 1
    for devices in DEVICES:
        false, good = found_running(binary, right, devices)
        if not good:
            bad += 1
            print(f"{source}: {devices}: right launches have errors: {sorted(false)}")
    for case in cases:
        count = tally.setdefault(case.wrong, [0, 0, 0, 0])
        count[0] += 1
        count[1] += case.number in early
        count[2] += case.number in late
        silent = case.number not in early and case.number not in late
        if case.is_right() and case.number in early:
            bad += complain(source, case, "a right launch is refused")
        elif not case.is_right() and silent:
            count[3] += 1
            bad += complain(source, case, "silent")
        elif not (case.is_right() or case.number in late or case.wrong in VALUES or
                  (case.relative and case.wrong == "step") or  # it moves the pointer
                  # the elements at the chunks' edges may be those that are left alone
                  (case.store == "some" and case.number in early)):
            bad += complain(source, case, "silent while running")
    return bad


def main():
    kmmcc, folder = sys.argv[1:3]
    seed, all_of_them, count = (int(w) for w in
                                (sys.argv[3:] + ["1", "200", "50"][len(sys.argv) - 3:]))
    rng, bad, tally = random.Random(seed), 0, {}
    os.makedirs(folder, exist_ok=True)
    for k in range((all_of_them + count - 1) // count):
        plain = k % 2 == 1
        cases = [Plane(rng, c) if not plain and rng.random() < 0.25 else Case(rng, c, plain)
                 for c in range(count)]
        source = os.path.join(folder, f"random_{seed}_{k}" + (".c" if plain else ".cu"))
        with open(source, "w", encoding="utf-8") as out:
            out.write(program(cases, plain))
        bad += check(kmmcc, source, cases, rng, tally)
    for name, (total, early, late, silent) in sorted(tally.items()):
        print(f"{name}: {total} launches, {early} found compiling, {late} running, {silent} silent")
    total, right = sum(t[0] for t in tally.values()), tally.get("none", [0])[0]
    print(f"{total} launches, {total - right} with a mistake, {bad} not as expected")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
