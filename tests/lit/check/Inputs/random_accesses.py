# SPDX-License-Identifier: Apache-2.0
"""random_accesses.py SEED COUNT KMMCC... [-v]: has kmmcc translate COUNT random launches, half of them with one mistake in the clauses.

A correct launch must have no error. A mistake must be one, unless it depends on data (hidden), where kmmcc may say nothing. Prints the
counts for each kind of mistake, and with -v the missed ones; fails if something is not as it must be.
"""
import collections
import random
import re
import subprocess
import sys
import tempfile

PER_FILE = 60


def plus(k):
    return "" if k == 0 else " + %d" % k if k > 0 else " - %d" % -k


def scaled(s, name="i"):
    return name if s == 1 else "%d * %s" % (s, name)


class Launch:
    """One kernel and its launch; `kind` is the mistake, or None."""

    def __init__(self, rng, number, wrong):
        self.rng, self.number, self.kind, self.hidden = rng, number, None, False
        self.index = rng.choice(["int", "int", "unsigned", "size_t", "long"])
        make = rng.choice([self.line] * 5 + [self.rows, self.plane, self.plane, self.reduction, self.block])
        self.wrong = wrong
        make()

    def pick(self, *kinds):
        if self.wrong:
            self.kind = self.rng.choice(kinds)
        return self.kind

    # ---- parts ----
    def grid(self, n, block):
        """Statements, and <<<grid, block>>>."""
        r, b = self.rng, str(block)
        form = r.randrange(6)
        if form in (3, 4) and self.kind == "range short":
            self.hidden = True  # the grid is not known, and may end with the range
        if form == 0:
            return "", "<<<(%s + %s) / %s, %s>>>" % (n, b + " - 1", b, b)
        if form == 1:
            return "    int blocks = (%s + %d) / %d;\n" % (n, block - 1, block), "<<<blocks, %d>>>" % block
        if form == 2:
            return "    dim3 block(%d), grid((%s + block.x - 1) / block.x);\n" % (block, n), "<<<grid, block>>>"
        if form == 3:
            return "    dim3 block, grid(1);\n    block.x = %d;\n    grid.x = %s / block.x + 1;\n" % (block, n), "<<<grid, block>>>"
        if form == 4:
            return "", "<<<nb, nt>>>"
        return "    const int T = %d;\n" % block, "<<<dim3((%s + T - 1) / T, 1, 1), dim3(T)>>>" % n

    def chunk(self, n):
        return self.rng.choice(["", "", " chunk(%s / 10)" % n, " chunk(1000)", " chunk(1)"])

    def emit(self, kernel, host, params, call, pragma, config):
        self.text = "%s\nvoid launch%d(%s, int nb, int nt)\n{\n%s#pragma kmm %s\n    k%d%s(%s);\n}\n" % (
            kernel, self.number, params, host, pragma, self.number, config, call)

    # ---- kinds of kernels ----
    def line(self):
        """y[t*i ...] = f(x[s*i + lo ... s*i + hi])"""
        r = self.rng
        s, t = r.choice([1, 1, 1, 2, 3, 4]), r.choice([1, 1, 1, 2, 4])
        lo = -r.choice([0, 0, 1, 2, 5])
        hi = r.choice([0, 0, 1, 3, 7])
        if s > 1:
            lo, hi = 0, s - 1
        shift = r.random() < 0.15
        inner = lo < 0 or hi > 0 and s == 1
        clamps = inner and not shift and r.random() < 0.3
        guard = 0 if clamps or not inner else 1
        adds = r.random() < 0.2
        data = r.random() < 0.15
        # What clauses say, before a mistake.
        first, length, mode, range0, range1 = lo, hi - lo + 1, "write", 0, "n"
        stride, written, outset = s, t, 0
        if guard:
            if r.random() < 0.5:
                range0, range1 = -lo, "n - %d" % (hi - lo)
            else:
                mode = "update"
        if adds or data:
            mode = "update"
        kinds = ["halo", "lower", "stride", "read", "outside", "range short"]
        if mode == "update" and not data:
            kinds += ["leaves out" if guard and not adds and range0 == 0 and lo < 0 else "old values" if adds else "halo"]
        if t > 1:
            kinds += ["leaves elements"]
        kind = self.pick(*kinds)
        if kind == "halo":
            if length > 1:
                if r.random() < 0.5:
                    length -= 1
                else:
                    first, length = first + 1, length - 1
            else:
                kind = self.kind = "lower"
        if kind == "lower":
            first += r.choice([-3, -1, 1, 2])
        if kind == "stride":
            stride = s - 1 if s > 1 else 2
        if kind == "range short":
            range1 = "n - %d" % (r.choice([1, 3]) + (hi - lo if range0 else hi if guard else 0))
        if kind == "old values" or kind == "leaves out":
            mode = "write"
        if kind == "read":
            mode = "read"
        if kind == "outside":
            outset = r.choice([-1, 1, t])
        stored = t - 1 if kind == "leaves elements" else t
        if kind == "leaves elements":
            mode = "write"
        if data:
            self.hidden = kind in ("leaves elements", "read", "outside", "halo", "lower", "stride", "range short")
        k = " + k" if shift else ""
        # The kernel.
        element = "x[%s%s%s]"
        style = r.randrange(4)
        body = []
        if clamps:
            at = ["x[min(max(%s%s, 0), (int)n - 1)]" % ("(int)i", plus(d)) for d in range(lo, hi + 1)]
            self.index = "int"
        else:
            at = [element % (scaled(s), k, plus(d)) for d in range(lo, hi + 1)]
        helper = ""
        if style == 0 and not clamps:
            helper = "__device__ float get%d(const float *p, long at) { return p[at]; }\n" % self.number
            value = " + ".join("get%d(x, %s)" % (self.number, a[2:-1]) for a in at)
        elif style == 1 and len(at) > 1 and not clamps:
            body.append("float v = 0;")
            body.append("for (int d = %d; d <= %d; d++) v += x[%s%s + d];" % (lo, hi, scaled(s), k))
            value = "v"
        elif style == 2 and len(at) > 1 and not clamps:
            body.append("const float *p = x + %s%s%s;" % (scaled(s), k, plus(lo)))
            body.append("float v = 0; int left = %d; do { v += *p++; } while (--left);" % len(at))
            value = "v"
        else:
            value = " + ".join(at)
        op = "+=" if adds else "="
        store = ["y[%s%s] %s %s;" % (scaled(t), plus(outset + d), op, value) for d in range(stored)]
        if data:
            store = ["if (x[%s%s%s] > 0) {" % (scaled(s), k, plus(lo))] + store + ["}"]
        condition = "i >= %d && i < n - %d" % (-lo, hi) if guard else "i < n"
        if guard and self.index in ("unsigned", "size_t"):
            condition = "i >= %d && i + %d < n" % (-lo, hi)
        if self.kind == "range short" and data:
            self.hidden = True
        if r.random() < 0.5:
            code = "    if (%s) {\n        %s\n    }\n" % (condition, "\n        ".join(body + store))
        else:
            code = "    if (!(%s))\n        return;\n    %s\n" % (condition, "\n    ".join(body + store))
        begin = "%s i = %sblockIdx.x * blockDim.x + threadIdx.x;" % (self.index, "" if self.index != "size_t" else "(size_t)")
        struct = not shift and r.random() < 0.15
        name = "k%d" % self.number
        if struct:
            kernel = "%sstruct view%d { const float *x; float *y; int n; };\n__global__ void %s(view%d w)\n{\n    const float *x = w.x; float *y = w.y; int n = w.n;\n    %s\n%s}" % (
                helper, self.number, name, self.number, begin, code)
            kernel = kernel.replace("x = w.x", "x = w.x")
            base, params, call, n = "w.", "view%d w" % self.number, "w", "w.n"
        else:
            head = r.choice(["const float *x, float *y", "const float *__restrict__ x, float *__restrict__ y"])
            kernel = "%s__global__ void %s(%s n, %sconst %s)\n{\n    %s\n%s}" % (
                helper, name, "int" if self.index in ("int", "long") else self.index, "int k, " if shift else "", head[6:], begin, code)
            base, n = "", "n"
            params, call = "int n, int k, float *x, float *y", "n, %sx, y" % ("k, " if shift else "")
        section = "[%s%s%s%s]" % (scaled(stride), k, plus(first), ":%d" % length if length > 1 else "")
        target = "[%s%s]" % (scaled(t), ":%d" % t if t > 1 else "")
        range1 = range1.replace("n", n)
        pragma = "parallel(i = %s:%s)%s read(%sx%s) %s(%sy%s)" % (range0, range1, self.chunk(n), base, section, mode, base, target)
        host, config = self.grid(n, r.choice([64, 128, 256]))
        self.emit(kernel, host, params, call, pragma, config)

    def rows(self):
        """Each thread works on a row."""
        r = self.rng
        s = r.choice([0, 0, 1])
        kind = self.pick("row width", "row short", "range short", "read")
        width, length, end, mode = "w", "w", "n", "write"
        if kind == "row width":
            width = r.choice(["(w - 1)", "(w + 1)", "2 * w"])
        if kind == "row short":
            length = "w - 1"
        if kind == "range short":
            end = "n - 2"
        if kind == "read":
            mode = "read"
        kernel = ("__global__ void k%d(int n, int w, const float *x, float *y)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n)\n        return;\n"
                  "    float v = 0;\n    for (int j = 0; j < w; j++)\n        v += x[i * w + j];\n    y[i] = v;\n}") % self.number
        if s and kind not in ("row width", "row short"):
            pragma = "parallel(i = 0:%s) shape(x[n][w]) read(x[i][:]) %s(y[i])" % (end, mode)
        else:
            pragma = "parallel(i = 0:%s)%s read(x[i * %s:%s]) %s(y[i])" % (end, self.chunk("n"), width, length, mode)
        host, config = self.grid("n", r.choice([64, 128]))
        self.emit(kernel, host, "int n, int w, float *x, float *y", "n, w, x, y", pragma, config)

    def plane(self):
        """out[y][x] = f(in[y - a ... y + b][x - c ... x + d])"""
        r = self.rng
        a, b, c, d = (r.choice([0, 1, 2]) for _ in range(4))
        clamps = r.random() < 0.4
        mode = "write"
        x0, x1, y0, y1 = 0, "w", 0, "h"
        inner = not clamps and (a or b or c or d)
        if inner:
            if r.random() < 0.5:
                mode = "update"
            else:
                x0, x1, y0, y1 = c, "w - %d" % (c + d), a, "h - %d" % (a + b)
        kinds = ["width", "read", "axes", "store width"]
        if a or b:
            kinds += ["halo y"] * 2
        if c or d:
            kinds += ["halo x"] * 2
        if inner and mode == "update" and (a or c):
            kinds += ["leaves out"]
        kind = self.pick(*kinds)
        say = [-a, a + b + 1, -c, c + d + 1]
        if kind == "halo y":
            say[1] -= 1
            if a and r.random() < 0.5:
                say[0] += 1
        if kind == "halo x":
            say[3] -= 1
            if c and r.random() < 0.5:
                say[2] += 1
        width_in, width_out = "w", "w"
        if kind == "width":
            width_in = r.choice(["(w + 1)", "(w - 1)"])
        if kind == "store width":
            width_out = r.choice(["(w + 1)", "(w - 1)"])
        if kind == "read":
            mode = "read"
        if kind == "leaves out":
            mode = "write"
        ax, ay = ("y", "x") if kind == "axes" else ("x", "y")
        condition = "x < w && y < h"
        if inner:
            condition = "x >= %d && y >= %d && x < w - %d && y < h - %d" % (c, a, d, b)
        terms = []
        for dy in range(-a, b + 1):
            for dx in range(-c, d + 1):
                if clamps:
                    terms.append("in[min(max(y%s, 0), h - 1) * w + min(max(x%s, 0), w - 1)]" % (plus(dy), plus(dx)))
                else:
                    terms.append("in[(y%s) * w + x%s]" % (plus(dy), plus(dx)))
        kernel = ("__global__ void k%d(int w, int h, const float *in, float *out)\n{\n    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                  "    if (!(%s))\n        return;\n    out[y * w + x] = %s;\n}") % (self.number, condition, " + ".join(terms))

        def section(lower, name, length):
            return "[%s%s%s]" % (name, plus(lower), ":%d" % length if length > 1 else "")

        def flat(width):
            return "[%s * %s + %s]" % (ay, width, ax)
        target = "[%s][%s]" % (ay, ax) if width_out == "w" and r.random() < 0.7 else flat(width_out)
        chunk = r.choice(["", " chunk(64, 64)"] + ([" chunk(w, 16)", " chunk(w, h / 5)"] if kind != "halo x" else []))
        axes = "%s = %s:%s, %s = %s:%s" % (ax, x0, x1, ay, y0, y1)
        pragma = "parallel(%s)%s shape(in[h][%s]%s) read(in%s%s) %s(out%s)" % (
            axes, chunk, width_in, ", out[h][w]" if target.count("[") == 2 else "", section(say[0], ay if kind != "axes" else "x", say[1]),
            section(say[2], ax if kind != "axes" else "y", say[3]), mode, target)
        if kind == "axes":  # the names are exchanged, so x is global.y
            pragma = "parallel(y = %s:%s, x = %s:%s) shape(in[h][w], out[h][w]) read(in%s%s) %s(out[y][x])" % (
                x0, x1, y0, y1, section(say[0], "y", say[1]), section(say[2], "x", say[3]), mode)
        if r.random() < 0.6:
            host, config = "", "<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>"
        else:
            host, config = "    dim3 b(32, 4), g((w + b.x - 1) / b.x, (h + b.y - 1) / b.y);\n", "<<<g, b>>>"
        self.emit(kernel, host, "int w, int h, float *in, float *out", "w, h, in, out", pragma, config)

    def reduction(self):
        r = self.rng
        count = r.choice([16, 64, 100])
        data = r.random() < 0.4
        kind = self.pick("reduced region", "plain store", "range short")
        at = "((int)x[i]) & 7" if data else "i %% %d" % count
        said = count // 2 if kind == "reduced region" else count
        if kind == "reduced region" and data:
            said, self.hidden = 2, True
        store = "atomicAdd(&y[%s], x[i]);" % at
        if kind == "plain store":
            store = "y[0] = x[i];"
        end = "n - 1" if kind == "range short" else "n"
        kernel = ("__global__ void k%d(int n, const float *x, float *y)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        %s\n}") % (self.number, store)
        host, config = self.grid("n", r.choice([64, 256]))
        self.emit(kernel, host, "int n, float *x, float *y", "n, x, y",
                  "parallel(i = 0:%s)%s read(x[i]) reduce(+: y[0:%d])" % (end, self.chunk("n"), said), config)

    def block(self):
        """One result for each block."""
        r = self.rng
        size = r.choice([64, 128, 256])
        kind = self.pick("block short", "outside", "read")
        said, mode, at = size, "write", ""
        if kind == "block short":
            said = size - 1
        if kind == "read":
            mode = "read"
        if kind == "outside":
            at = " + 1"
        kernel = ("__global__ void k%d(const float *x, float *y)\n{\n    __shared__ float s[%d];\n    s[threadIdx.x] = x[blockIdx.x * %d + threadIdx.x];\n    __syncthreads();\n"
                  "    for (int d = %d; d > 0; d /= 2) {\n        if (threadIdx.x < d)\n            s[threadIdx.x] += s[threadIdx.x + d];\n        __syncthreads();\n    }\n"
                  "    if (threadIdx.x == 0)\n        y[blockIdx.x%s] = s[0];\n}") % (self.number, size, size, size // 2, at)
        self.emit(kernel, "", "int n, float *x, float *y", "x, y",
                  "parallel(b: block.x) read(x[b * %d:%d]) %s(y[b])" % (size, said, mode), "<<<n, %d>>>" % size)


def translate(launches, command, folder):
    """The launches that have errors: number -> first error."""
    path = "%s/k.cu" % folder
    text, at = "#include <cuda_runtime.h>\n", {}
    for one in launches:
        begin = text.count("\n") + 1
        text += one.text
        for line in range(begin, text.count("\n") + 1):
            at[line] = one.number
    with open(path, "w") as file:
        file.write(text)
    run = subprocess.run(command + ["--emit-source", path, "-o", folder + "/k.txt"], capture_output=True, text=True)
    found = {}
    for line in run.stderr.split("\n"):
        m = re.match(r".*k\.cu:(\d+):\d+: (?:fatal )?error: (.*)", line)
        if m:
            found.setdefault(at.get(int(m.group(1)), -1), m.group(2))
        elif "error:" in line:
            found.setdefault(-1, line)
    if run.returncode not in (0, 1):
        found[-1] = "exit status %d: %s" % (run.returncode, run.stderr[-300:])
    return found


def main():
    verbose = "-v" in sys.argv
    seed, count, command = int(sys.argv[1]), int(sys.argv[2]), [a for a in sys.argv[3:] if a != "-v"]
    rng = random.Random(seed)
    launches = [Launch(rng, k, k % 2 == 1) for k in range(count)]
    total, caught = collections.Counter(), collections.Counter()
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for k in range(0, count, PER_FILE):
            part = launches[k:k + PER_FILE]
            found = translate(part, command, folder)
            if -1 in found:
                print("UNEXPECTED", found[-1])
                bad += 1
            for one in part:
                error = found.get(one.number)
                name = "correct" if not one.kind else one.kind + (" (depends on data)" if one.hidden else "")
                total[name] += 1
                caught[name] += error is not None
                if not one.kind and error:
                    bad += 1
                    print("FALSE ERROR", error, "\n" + one.text)
                elif one.kind and not one.hidden and not error:
                    bad += 1
                    if verbose:
                        print("MISSED", one.kind, "\n" + one.text)
    for name in sorted(total):
        print("%-36s %5d launches, %5d errors" % (name, total[name], caught[name]))
    print("%d launches, %d not as they must be" % (count, bad))
    sys.exit(bad != 0)


main()
