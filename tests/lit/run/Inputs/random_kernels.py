"""Kernels with random indices, guards and loops: those whose clauses kmmcc infers print the same in chunks.

usage: random_kernels.py KMMCC FOLDER SEED COUNT [FLAG ...]

Prints how many kernels were chunked. Exit status 1: some printed something else; its source stays in FOLDER.
"""
import os
import random
import re
import subprocess
import sys

kmmcc, folder, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
flags = sys.argv[5:]
r = random.Random(seed)


def kernel(number):
    two = r.random() < 0.3
    kind = r.choice(["int", "int", "int", "unsigned", "long long", "size_t"])
    size = r.choice(["int", "int", kind])
    cast = "(%s)" % kind if kind in ("long long", "size_t") and r.random() < 0.5 else ""
    body = ["%s i = blockIdx.x * %sblockDim.x + threadIdx.x;" % (kind, cast)]
    guard = r.choice(["if (i >= n) return;", "if (!(i < n)) return;", "if (i > n - 1) return;" if kind == size == "int" else "if (n <= i) return;", ""])
    stride = not two and r.random() < 0.15
    if stride:
        body = ["for (%s i = blockIdx.x * %sblockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {" % (kind, cast)]
        guard = ""
    if two:
        body += ["int j = blockIdx.y * blockDim.y + threadIdx.y;", "if (i >= n || j >= m) return;"]
        guard = ""
    body.append(guard)
    base = r.choice(["j * n + i", "i * m + j"]) if two else "i"
    # Where this thread alone stores.
    scale = r.choice([1, 1, 1, 2, 3, 5])
    place = "(%s) * %d + %d" % (base, scale, r.randrange(scale))
    if not two and guard and r.random() < 0.15:
        place = "n - 1 - i"
    rows = not two and r.random() < 0.3

    def index():
        form = r.choice(["near", "near", "scaled", "row", "fixed", "clamped", "mirrored", "far", "column", "wrapped"])
        k = r.randrange(-4, 5)
        if form == "near":
            return "%s + %d" % (base, k) if kind != "unsigned" and kind != "size_t" or k >= 0 else "%s" % base
        if form == "scaled":
            return "%d * (%s) + %d" % (r.randrange(1, 4), base, abs(k))
        if form == "row":
            return "i * w + %d" % abs(k)
        if form == "fixed":
            return r.choice(["0", "w", "n", str(abs(k))])
        if form == "clamped":
            return r.choice(["(i > 0 ? i - 1 : 0)", "(i + 1 < n ? i + 1 : i)", "(i < w ? i : (%s)w)" % kind, "min((int)i + 2, (int)n - 1)"])
        if form == "mirrored":
            return "(int)n - 1 - (int)i"
        if form == "far":
            return "i + w * %d" % r.randrange(1, 4)
        if form == "column":
            return "(i & 31) * w"
        return "(i + %d) %% n" % abs(k) if r.random() < 0.5 else "i / 2"

    def read(place):
        form = r.randrange(5)
        if form == 0:
            return "load(a, %s)" % place
        if form == 1:
            return "*(a + (%s))" % place
        if form == 2:
            return "(&a[%s])[%d]" % (place, r.randrange(2))
        return "a[%s]" % place

    tail = []
    body.append("int v = %d;" % r.randrange(9))
    for _ in range(r.randrange(1, 4)):
        text = "v = v * 3 + %s;" % read(index())
        form = r.randrange(8)
        if form == 0:
            text = "if (i %% 3 == 1) %s" % text
        elif form == 1:
            text = "if (a[i] & 1) %s" % text
        elif form == 2:
            text = "for (int k = %s; k < %s; k++) v += %s;" % (r.choice(["0", "1", "-2"]), r.choice(["w", "5", "w + 1"]), read("(int)i %s k" % r.choice(["+", "* w +", "* 7 +"])))
        elif form == 3:
            text = "for (int k = 0; k < 6; k += %d) { if (a[i + k] == 3) break; v += %s; }" % (r.randrange(1, 4), read("i + k"))
        elif form == 4:
            text = "{ const int *p = a + i; for (int k = 0; k < w; k++, p++) v ^= *p; }"
        elif form == 5:
            text = "if (i > 1) %s" % text
        body.append(text)
    store = "b[%s] %s v;" % (place, r.choice(["=", "=", "=", "+="]))
    if rows:
        store = r.choice(["for (int k = 0; k < w; k++) b[i * w + k] = v + k;", "for (int k = 3; k >= 0; k--) b[4 * i + k] = v - k;", "for (int k = 0; k < w; k++) if (k & 1) b[i * w + k] += v;"])
    gaps = not rows and not stride and (guard or two) and r.random() < 0.4
    if gaps:
        width, place = ("m * n", "j * n + i") if two else (r.choice(["n", "n", "5200"]), "i")
        place = "%s * %s + %s%s" % (r.choice(["k", "k", "(k + 2)", "(5 - k)", "(k / 2)"]), width, place, r.choice(["", "", " + 1"]))
        loop = r.choice(["int k = 0; k < w; k++", "int k = 0; k < 4; k++", "int k = 1; k < w - 1; k++", "int k = 3; k >= 0; k--", "int k = 0; k < w; k += 2"])
        store = "for (%s) b[%s] %s v + k;" % (loop, place, r.choice(["=", "=", "+="]))
    rows = rows or gaps
    cover = r.randrange(6)
    if cover == 0:
        store = "if (i + 2 < n) " + store
    elif cover == 1:
        store = "if (v & 1) { " + store + " }"
    elif cover == 2 and not rows:
        store = store + " if (v & 2) b[%s] += 5;" % place
    body += [store] + tail
    if stride:
        body.append("}")
    arrays = "const int *a, int *b"
    if r.random() < 0.25:
        arrays = "arrays s"
        body.insert(0, "const int *a = s.a; int *b = s.b;")
    return "__global__ void k%d(%s n, %s m, int w, %s)\n{\n    %s\n}\n" % (number, size, size if two else "int", arrays, "\n    ".join(x for x in body if x)), two


def launches(number, two, arrays):
    text = []
    for _ in range(2):
        n, m, w = r.choice([1, 7, 100, 1000, 5000]), 3, r.choice([0, 1, 2, 6])
        if two:
            n, m = r.choice([(10, 20), (100, 33), (64, 64)])
            shape = "dim3((%d + 15) / 16, (%d + 7) / 8), dim3(16, 8)" % (n, m)
        else:
            block = r.choice([32, 64, 128])
            blocks = (n + block - 1) // block
            shape = "%d, %d" % (max(1, blocks + r.choice([0, 0, 0, 1, -1])), block)
        text.append("    n = %d, m = %d, w = %d;\n    /*HERE%d*/\n    k%d<<<%s>>>(n, m, w, %s);\n    show(%d);" % (n, m, w, number, number, shape, arrays, number))
    return "\n".join(text)


HEAD = """#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
enum { HALF = 1 << 16, ALL = 2 * HALF };
struct arrays { const int *a; int *unused, *b; };
__device__ int load(const int *p, long long k) { return p[k]; }
static int host[ALL], *A, *B, *wholeA, *wholeB;
static void fill()
{
    for (int k = 0; k < ALL; k++)
        host[k] = (k * 7919u) % 1013;
    cudaMemcpy(wholeA, host, sizeof(host), cudaMemcpyHostToDevice);
    for (int k = 0; k < ALL; k++)
        host[k] += 1;
    cudaMemcpy(wholeB, host, sizeof(host), cudaMemcpyHostToDevice);
}
static void show(int number)
{
    unsigned sum = 0;
    cudaError_t e = cudaDeviceSynchronize();
    cudaMemcpy(host, wholeB, sizeof(host), cudaMemcpyDeviceToHost);
    for (int k = 0; k < ALL; k++)
        sum = sum * 31 + host[k];
    printf("k%d %u %s\\n", number, sum, cudaGetErrorString(e));
    fill();
}
"""


def program(kernels, with_pragma):
    text = HEAD + "\n".join(k for k, _, _ in kernels) + """
int main()
{
    int n, m, w;
    cudaMalloc(&wholeA, sizeof(host));
    cudaMalloc(&wholeB, sizeof(host));
    A = wholeA + HALF;
    B = wholeB + HALF;
    arrays S = {A, wholeB, B};
    fill();
"""
    for number, (_, _, calls) in enumerate(kernels):
        text += calls.replace("/*HERE%d*/" % number, "#pragma kmm parallel" if number in with_pragma else "") + "\n"
    return text + "    return 0;\n}\n"


def write(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(text)
    return path


def run(command, **variables):
    return subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")


os.makedirs(folder, exist_ok=True)
kernels = []
for number in range(count):
    text, two = kernel(number)
    kernels.append((text, two, launches(number, two, "S" if "arrays s" in text else "A, B")))
plain = write("plain.cu", program(kernels, ()))
said = run([kmmcc, "--target=host", "--suggest", plain])
if said.returncode:
    sys.exit("--suggest: " + said.stderr)
chunked, open_, at = set(), set(), None
calls = {line: int(m.group(1)) for line, t in enumerate(open(plain).read().split("\n"), 1) for m in [re.match(r" *k(\d+)<<<", t)] if m}
for line in said.stdout.split("\n"):
    m = re.match(r".*?:(\d+): #pragma", line)
    if m:
        at = calls[int(m.group(1))]
        chunked.add(at)
    elif "no clause" in line or "nothing is known" in line:
        open_.add(at)
chunked -= open_
source = write("chunked.cu", program(kernels, chunked))
automatic = write("automatic.cu", program(kernels, ()))
for path, more in ((plain, ["-fno-kmm"]), (source, []), (automatic, ["-fkmm-auto"])):
    done = run([kmmcc, "--target=host", "-w", "-O1", *flags, *more, path, "-o", path[:-3]])
    if done.returncode:
        sys.exit("seed %d: %s\n%s" % (seed, path, done.stderr))
want = run([plain[:-3]], KMM_DEVICES="host").stdout.split("\n")
bad = False
few = {"KMM_DEVICES": "host:3,mem=1M", "KMM_FRAME": "64K", "KMM_JOIN": "0"}
for path, variables in ((source, {"KMM_DEVICES": "host"}), (source, few), (automatic, few)):
    got = run([path[:-3]], **variables)
    for a, b in zip(want, got.stdout.split("\n")):
        if a != b:
            bad = True
            print("seed %d, %s, %s: %s, but is %s\n%s" % (seed, path, variables["KMM_DEVICES"], a, b, got.stderr[-600:]))
            break
    if got.returncode or len(want) != len(got.stdout.split("\n")):
        bad = True
        print("seed %d: exit status %d\n%s" % (seed, got.returncode, got.stderr[-2000:]))
print("%d of %d chunked" % (len(chunked), count))
sys.exit(bad)
