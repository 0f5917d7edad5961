#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random kernels and functions with clauses, half of them with one mistake, under -fkmm-check.

usage: random_clauses.py KMMCC FOLDER [SEED [FILES [CASES]]]

Writes FILES programs of CASES launches each, in turn CUDA for the CPU and C, compiles them with
-fkmm-check -fno-kmm-compare, and runs each launch by itself. A launch with right clauses must say
nothing and exit with 0, on one device and on small ones; one with a mistake must name the argument
and exit with something else."""
import os
import random
import subprocess
import sys

TYPES = ("char", "short", "int", "float", "double", "long long")


class Case:
    """One launch: `body` is for one index i; `items` are its clauses; `wrong` names the mistake."""

    def __init__(self, rng, number, plain):
        self.number, self.plain = number, plain
        self.type = rng.choice(TYPES)
        self.n = rng.randrange(300, 3000)
        self.chunks = rng.randrange(2, 7)
        self.step, self.width = rng.choice((1, 1, 1, 2, 3)), rng.choice((1, 1, 1, 2, 3))
        self.low = rng.randrange(0, 4)
        self.offsets = sorted({self.low, *(self.low + rng.randrange(0, 4) for _ in range(2))})
        self.store = rng.choice(("whole", "whole", "add", "some", "swap"))
        self.bins = rng.choice((0, 0, 1, 4, 9))
        self.style = rng.choice(("subscript", "pointer", "loop", "copy"))
        kinds = ["read place", "step"]
        kinds += ["read high", "read low"] * (len(self.offsets) > 1)
        kinds += ["range"] * (not plain)  # a function is given its range
        kinds += ["write short"] * (self.width > 1)
        kinds += ["write long"] * (self.width > 1 and self.store == "whole")
        kinds += ["bins"] * (self.bins > 1)
        kinds += ["write for old values"] * 2 * (self.store != "whole")
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
            end = self.n * 3 // 4
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
            head = f"static void f{c}(long from, long to, {t} *x, const {t} *y, int *s)"
            return f"{head} {{ (void)s; for (long i = from; i < to; i++) {{ {self.body()} }} }}"
        return (f"__global__ void f{c}(int n, {t} *x, const {t} *y, int *s) {{ "
                f"int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) {{ {self.body()} }} }}")

    def launch(self):
        t, c = self.type, self.number
        end, items = self.clauses()
        chunk = (self.n + self.chunks - 1) // self.chunks
        room = 4 * self.n + 64
        lines = [f"    if (which == {c}) {{", f"        {t} *x = room({room} * sizeof({t}));",
                 f"        {t} *y = room({room} * sizeof({t}));", "        int *s = room(64 * 4);"]
        named = [f"x[{room}]", f"y[{room}]"] + ["s[64]"] * (self.bins > 0)
        shapes = f"shape({', '.join(named)})"
        if self.plain:
            how, call = "rebase(from: begin(i), to: end(i))", f"f{c}(0, {end}, x, y, {'s' if self.bins else 0});"
        else:
            how, call = "", f"f{c}<<<{(self.n + 63) // 64}, 64>>>({self.n}, x, y, s);"
        lines += [f"#pragma kmm parallel(i = 0:{end}) chunk({chunk}) {how} {shapes} {items}",
                  f"        {call}", "    }"]
        text = "\n".join(lines)
        return text if self.plain else text.replace("= room(", f"= ({t} *)room(").replace(
            f"int *s = ({t} *)", "int *s = (int *)")


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
                     ["int main(int c, char **v)", "{", "    int which = atoi(v[1]);"] +
                     [c.launch() for c in cases] + [end, '    puts("done");', "}"]) + "\n"


DEVICES = ({"KMM_DEVICES": "host"},
           {"KMM_DEVICES": "host:3,mem=4M", "KMM_FRAME": "64K", "KMM_JOIN": "0"})


def run(binary, case, rng):
    for devices in DEVICES if case.is_right() else [rng.choice(DEVICES)]:
        environment = dict(os.environ, KMM_ON_ERROR="continue", **devices)
        done = subprocess.run([binary, str(case.number)], env=environment, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = "kmm: error:" in done.stderr
        good = (done.returncode == 0 and not said and "done" in done.stdout) if case.is_right() \
            else (done.returncode != 0 and said and "the chunk" in done.stderr)
        if not good:
            end, items = case.clauses()
            print(f"{binary} {case.number}: mistake: {case.wrong}; {devices}; exit status "
                  f"{done.returncode}\n    i = 0:{end} {items}\n    {case.function()}\n"
                  f"    {done.stderr[:600]}")
            return False
    return True


def main():
    kmmcc, folder = sys.argv[1:3]
    seed, files, count = (int(w) for w in (sys.argv[3:] + ["1", "4", "60"][len(sys.argv) - 3:]))
    rng, bad, tally = random.Random(seed), 0, {}
    os.makedirs(folder, exist_ok=True)
    for k in range(files):
        plain = k % 2 == 1
        cases = [Case(rng, c, plain) for c in range(count)]
        source = os.path.join(folder, f"random_{seed}_{k}" + (".c" if plain else ".cu"))
        with open(source, "w", encoding="utf-8") as out:
            out.write(program(cases, plain))
        binary = source.replace(".", "_") + ".program"
        subprocess.run([kmmcc, "-fkmm-check", "-fno-kmm-compare", "-w", "--target=host", source,
                        "-o", binary], check=True)
        for case in cases:
            tally[case.wrong] = tally.get(case.wrong, 0) + 1
            bad += not run(binary, case, rng)
    total = sum(tally.values())
    print(f"{total} launches, {total - tally.get('none', 0)} with a mistake, {bad} not as expected")
    print(", ".join(f"{name} {number}" for name, number in sorted(tally.items())))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
