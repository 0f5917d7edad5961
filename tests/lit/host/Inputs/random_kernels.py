# SPDX-License-Identifier: Apache-2.0
"""random_kernels.py SEED [COUNT]: a CUDA program of COUNT random kernels, without races and undefined behaviour (but for signed overflow:
compile it with -fwrapv). It prints a checksum for each kernel and launch, so that two ways to compile it can be compared:

    random_kernels.py 7 > k.cu
    kmmcc --target=host -O2 -fwrapv -w k.cu -o split && kmmcc --target=host -O1 -fwrapv -w -fkmm-fibers k.cu -o fibers
    ./split > a; ./fibers > b; diff a b
"""
import random
import sys

TYPES = ["int", "unsigned", "long", "short", "unsigned char", "size_t", "long long", "unsigned short"]
NAMES = ["a", "b", "c", "d", "e", "i", "j", "k", "t", "x", "y", "q"]
SHARED = 128  # elements; at least the threads of a block
SIGNED = ["int", "long", "long long", "short"]
INDEX = ["int", "unsigned", "unsigned", "size_t", "long", "short", "unsigned short", "unsigned long long", "unsigned char"]


class Kernel:
    def __init__(self, rng, number):
        self.rng, self.number = rng, number
        self.scopes = []  # of dicts: name -> (uniform, constant)
        self.lines = []
        self.depth = 0
        self.offset = rng.randint(-2, 2)
        self.meets = rng.random() < 0.6  # it has barriers
        self.warps = self.meets and rng.random() < 0.3
        self.arguments = [rng.choice(INDEX), rng.choice(INDEX)] if rng.random() < 0.4 else []  # of a template

    # ---- text ----
    def put(self, text):
        self.lines.append("    " * (self.depth + 1) + text)

    def open(self, text):
        self.put(text + " {" if text else "{")
        self.depth += 1
        self.scopes.append({})

    def close(self, text="}"):
        self.scopes.pop()
        self.depth -= 1
        self.put(text)

    # ---- names ----
    def visible(self, uniform, changeable=False):
        found = {}
        for scope in self.scopes:
            found.update(scope)
        return [n for n, (u, c) in found.items() if (u or not uniform) and not (changeable and c)]

    def fresh(self):
        free = [n for n in NAMES if n not in self.scopes[-1]]
        return self.rng.choice(free) if free else None

    # ---- expressions ----
    def leaf(self, uniform):
        r = self.rng
        if r.random() < 0.25:
            return str(r.randint(-3, 9))
        names = self.visible(uniform)
        if names and r.random() < 0.5:
            return r.choice(names)
        leaves = ["n", "w", "u", "m", "blockIdx.x", "blockDim.x", "gridDim.x", "blockIdx.x * blockDim.x"]
        if not uniform:
            leaves += ["threadIdx.x", "threadIdx.y", "gid", "blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x + 1u", "(int)threadIdx.x - 2"] * 2
        return r.choice(leaves)

    def expr(self, uniform, deep=2):
        r = self.rng
        if deep == 0 or r.random() < 0.3:
            return self.leaf(uniform)
        kind = r.random()
        a = self.expr(uniform, deep - 1)
        if kind < 0.2:
            return "(%s)(%s)" % (r.choice(TYPES), a)
        if kind < 0.25:
            return "(%s ? %s : %s)" % (self.condition(uniform, 0), a, self.expr(uniform, deep - 1))
        if kind < 0.3:
            return "(int)((%s) %% %d)" % (a, r.randint(2, 9))
        if kind < 0.35:
            return "h%d_pure(%s, %s)" % (self.number, a, self.leaf(uniform))
        return "(%s %s %s)" % (a, r.choice(["+", "-", "+", "-", "*", "&", "|", "^"]), self.expr(uniform, deep - 1))

    def bound(self, uniform):
        r = self.rng
        return r.choice(["n", "w", "u", "m", "(unsigned)w", "(int)u", "n - 1", "(size_t)n", "w + %d" % r.randint(-3, 3), "(%s & 31)" % self.leaf(uniform)])

    def condition(self, uniform, deep=2):
        r = self.rng
        if deep and r.random() < 0.35:
            return "%s %s %s" % ("(%s)" % self.condition(uniform, deep - 1), r.choice(["&&", "||"]), "(%s)" % self.condition(uniform, deep - 1))
        if r.random() < 0.1:
            return "!(%s)" % self.condition(uniform, 0)
        left = self.expr(uniform, 1)
        if r.random() < 0.3:
            left = "(%s)(%s)" % (r.choice(["unsigned", "int", "long", "size_t"]), left)
        right = self.bound(uniform)
        if r.random() < 0.2:
            left, right = right, left
        return "%s %s %s" % (left, r.choice(["<", "<=", ">", ">=", "<", "==", "!="]), right)

    # ---- statements ----
    def declare(self, uniform):
        name = self.fresh()
        if not name:
            return
        constant = self.rng.random() < 0.4
        value = self.expr(uniform)
        if name in self.words(value):
            return  # would read itself
        self.put("%s%s %s = %s;" % ("const " if constant else "", self.rng.choice(TYPES), name, value))
        self.scopes[-1][name] = (uniform, constant)

    @staticmethod
    def words(text):
        return "".join(ch if ch.isalnum() or ch == "_" else " " for ch in text).split()

    def accumulate(self):
        self.put("r = r * 31 + (unsigned)(%s);" % self.expr(False))

    def assign(self, uniform):
        names = self.visible(False, True)
        found = {}
        for scope in self.scopes:
            found.update(scope)
        names = [n for n in names if uniform or not found[n][0]]  # in a divergent place a uniform variable stays as it is
        if not names:
            return self.accumulate()
        name = self.rng.choice(names)
        self.put("%s %s %s;" % (name, self.rng.choice(["=", "+=", "-=", "^="]), self.expr(found[name][0])))

    def local_array(self):
        self.put("l[%s & 3] += %s;" % (self.expr(False, 1), self.expr(False, 1)))
        self.put("r += l[%s & 3];" % self.expr(False, 1))

    def atomic(self):
        self.put("atomicAdd(&counts[%s & 7], (unsigned)(%s));" % (self.expr(False, 1), self.expr(False, 1)))

    def loop(self, uniform, body):
        """A loop that ends: its variable grows, or falls, towards a bound."""
        r = self.rng
        name = self.fresh()
        if not name:
            return
        if r.random() < 0.8:
            start = self.leaf(True) if uniform else r.choice(["threadIdx.x", "gid", "(int)threadIdx.x", self.leaf(False)])
            start = "(%s & 63)" % start if r.random() < 0.5 else "(%s & 63) + %d" % (start, r.randint(-3, 3)) if r.random() < 0.5 else \
                    ("threadIdx.x - %d" % r.randint(0, 3) if not uniform else str(r.randint(-2, 5)))
            step = r.choice(["++", " += 1", " += 2", " += 3", " += blockDim.x", " += gridDim.x * blockDim.x", "++", " += 32"])
            limit = "(%s & 63)" % self.leaf(uniform) if r.random() < 0.5 else r.choice(["n", "w", "u", "(unsigned)w", "blockDim.x + 2", "(int)blockDim.x"])
            if name in self.words(start + limit):
                return
            self.open("for (%s %s = %s; %s %s %s; %s%s)" % (r.choice(["int", "unsigned", "long", "int", "size_t"]), name, start, name,
                                                         r.choice(["<", "<", "<="]), limit, name, step))
        else:
            start = "(int)(%s & 63)" % self.leaf(uniform)
            if name in self.words(start):
                return
            self.open("for (int %s = %s; %s %s %d; %s)" % (name, start, name, r.choice([">", ">="]), r.randint(0, 3), r.choice(["%s--" % name, "%s -= 3" % name])))
        self.scopes[-1][name] = (uniform, True)
        body()
        self.close()

    def meeting(self):
        """What one thread stores another reads, behind a barrier."""
        r = self.rng
        array = r.choice(["s", "z"])
        self.put("%s[tid] = %s;" % (array, self.expr(False)))
        self.put("__syncthreads();")
        self.put("r += (unsigned)(long)%s[(tid * %d + %d) %% threads];" % (array, r.choice([1, 1, 3, 5]), r.randint(0, 7)))
        if r.random() < 0.3:
            self.put("r ^= (unsigned)h%d_meets(s2, tid, threads, (int)(%s));" % (self.number, self.expr(False, 1)))
        if self.warps and r.random() < 0.5:
            self.put(r.choice(["r += __shfl_xor_sync(0xffffffffu, r, %d);" % r.choice([1, 2, 16]), "r += __ballot_sync(0xffffffffu, %s);" % self.condition(False, 0),
                               "r += __shfl_down_sync(0xffffffffu, r, %d, 16);" % r.randint(1, 8)]))
        self.put("__syncthreads();")

    # ---- memory found by numbers that count along the block ----
    def index_type(self):
        """As it is written, and what it is."""
        if self.arguments and self.rng.random() < 0.6:
            k = self.rng.randint(0, 1)
            return "IJ"[k], self.arguments[k]
        kind = self.rng.choice(INDEX)
        return kind, kind

    def place(self, kind):
        r = self.rng
        base = r.choice(["threadIdx.x", "blockIdx.x * blockDim.x + threadIdx.x", "(%s)blockIdx.x * blockDim.x + threadIdx.x" % kind, "along",
                         "static_cast<%s>(blockIdx.x) * blockDim.x + threadIdx.x" % kind, "(%s)threadIdx.x" % kind, "uplace", "uplace"])
        return base + r.choice(["", "", "", " + %d" % r.randint(1, 3), " - %d" % r.randint(1, 3), " - %d + w" % r.randint(1, 90), " + w", " + n", " - u",
                                " + 4294967290u", " - (%s)%d" % (kind, r.randint(1, 3))])

    def limit(self, kind, true_kind):
        r = self.rng
        return r.choice(["w", "u", "(unsigned)w", "(%s)u" % kind, "(size_t)u", "blockDim.x + 2", "(short)w", "w + 0u"] + (["n", "m", "(%s)n" % kind] if true_kind in SIGNED else []))

    def load(self, name, true_kind):
        r = self.rng
        back = [" - 1"] if true_kind in SIGNED else []
        return "in[%s]" % r.choice([name, name, name + r.choice([" + 1", " + 2u"] + back), "2 * %s + 1" % name, "3 * %s" % name, "(int)%s" % name,
                                    "%s * 2 + (int)u" % name])

    def strided(self, deep):
        """A loop over memory, all threads in step; its variable may be of any type, begin below 0 and come to its end in any way."""
        r = self.rng
        name = self.fresh()
        if not name:
            return
        kind, true_kind = self.index_type()
        start, limit = self.place(kind), self.limit(kind, true_kind)
        step = r.choice(["blockDim.x", "32"]) if true_kind == "unsigned char" else \
            r.choice(["blockDim.x", "blockDim.x * gridDim.x", "gridDim.x * blockDim.x", "(%s)blockDim.x * gridDim.x" % kind, "step", "32", "(int)blockDim.x"])
        if name in self.words(start + limit + step) or true_kind == "unsigned char" and "n" in self.words(start):
            return
        self.open("for (%s %s = %s; %s < %s; %s += %s)" % (kind, name, start, name, limit, name, step))
        self.scopes[-1][name] = (False, True)
        self.put("r = r * 31 + (unsigned)%s;" % self.load(name, true_kind))
        if r.random() < 0.4:
            self.put("atomicAdd(&more[%s], (unsigned)(%s));" % (name, self.expr(False, 1)))
        if deep and r.random() < 0.4:
            self.block(min(deep - 1, 1), False, False, False)
        self.close()

    def guarded(self):
        """`if (i < n)`, with `i` of any type."""
        r = self.rng
        name = self.fresh()
        if not name:
            return
        kind, true_kind = self.index_type()
        start, limit = self.place(kind), self.limit(kind, true_kind)
        if name in self.words(start + limit):
            return
        self.put("%s%s %s = %s;" % (r.choice(["", "const "]), kind, name, start))
        self.scopes[-1][name] = (False, True)
        also = " && %s" % self.condition(False, 0) if r.random() < 0.3 else ""
        if true_kind in SIGNED:
            also += " && %s > -8" % name
        self.open("if (%s < %s%s)" % (name, limit, also))
        self.put("r = r * 31 + (unsigned)%s;" % self.load(name, true_kind))
        if r.random() < 0.4:
            self.put("atomicAdd(&more[%s], (unsigned)(%s));" % (name, self.expr(False, 1)))
        self.close()

    def leave_loop(self, uniform, in_loop):
        if in_loop:
            self.put("if (%s) %s;" % (self.condition(uniform, 1), self.rng.choice(["break", "continue"])))

    def statement(self, deep, uniform, in_loop, meets):
        """uniform: all threads of a block come here together. meets: there may be barriers."""
        r = self.rng
        kind = r.random()
        if kind < 0.16:
            self.declare(uniform and r.random() < 0.5)
        elif kind < 0.22 and r.random() < 0.7:
            self.strided(deep)
        elif kind < 0.25 and r.random() < 0.7:
            self.guarded()
        elif kind < 0.3:
            self.assign(uniform)
        elif kind < 0.45:
            self.accumulate()
        elif kind < 0.5:
            self.local_array()
        elif kind < 0.54:
            self.atomic()
        elif kind < 0.57:
            self.leave_loop(uniform and meets, in_loop)
        elif meets and uniform and kind < 0.72:
            self.meeting()
        elif deep and kind < 0.86:
            same = uniform and meets and r.random() < 0.6
            self.open("if (%s)" % self.condition(same))
            self.block(deep - 1, same, in_loop and (same or not meets), meets and same)
            if r.random() < 0.4:
                self.close("} else {")
                self.depth += 1
                self.scopes.append({})
                self.block(deep - 1, same, in_loop and (same or not meets), meets and same)
            self.close()
        elif deep and kind < 0.97:
            same = uniform and meets and r.random() < 0.6
            self.loop(same, lambda: self.block(deep - 1, same, True, meets and same))
        elif deep:
            self.open("")
            self.block(deep - 1, uniform, in_loop, meets)
            self.close()

    def block(self, deep, uniform, in_loop, meets):
        for _ in range(self.rng.randint(1, 4)):
            self.statement(deep, uniform, in_loop, meets)

    def text(self):
        r, k = self.rng, self.number
        self.scopes = [{}]
        self.put("unsigned r = 1; int l[4] = {1, 2, 3, 4};")
        self.put("const int tid = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;")
        self.put("const int gid = blockIdx.x * threads + tid, along = blockIdx.x * blockDim.x + threadIdx.x, step = blockDim.x * gridDim.x;")
        self.put("const unsigned uplace = blockIdx.x * blockDim.x + threadIdx.x;")
        if self.meets:
            self.put("__shared__ int s[%d], s2[%d]; __shared__ %s z[%d];" % (SHARED, SHARED, r.choice(["short", "long", "unsigned char", "float"]), SHARED))
        if r.random() < 0.25:
            self.put("if (%s) return;" % self.condition(self.meets, 2))
        for _ in range(r.randint(3, 9)):
            self.statement(3, True, False, self.meets)
        x = "px"  # a store in a range, as of a stencil
        self.put("%s %s = gid + %d;" % (r.choice(["int", "long", "int"]), x, self.offset))
        self.put("if (%s) out[%s] = r;" % (r.choice(["%s >= 0 && %s < size", "(unsigned)%s < (unsigned)size", "%s > -1 && size > %s", "!(%s < 0 || %s >= size)",
                                                      "(size_t)%s < (size_t)size"]).replace("%s", x), x))
        visible = [n for n in self.visible(False)]
        self.put("own[gid] = r%s;" % "".join(" + (unsigned)%s" % n for n in visible))
        helpers = ["__device__ int h%d_pure(int a, int b) { int t = a * 3; if (b > (int)threadIdx.x) t -= b; return t ^ (b & 15); }" % k,
                   "__device__ int h%d_meets(int *v, int i, int count, int x) { v[i] = x; __syncthreads(); int y = v[(i + %d) %% count]; "
                   "for (int k = 0; k < 2; k++) { __syncthreads(); v[i] = y + k; __syncthreads(); y += v[count - 1 - i]; } __syncthreads(); return y; }" % (k, r.randint(1, 5))]
        head = "__global__ void k%d(int n, int w, unsigned u, long m, int size, unsigned *out, unsigned *own, unsigned *counts, unsigned *more, const int *in)\n{" % k
        head = ("template <class I, class J> " if self.arguments else "") + head
        return "\n".join(helpers + [head] + self.lines + ["}"])


MAIN = """
static unsigned sum(const unsigned *p, int count)
{
    unsigned h = 2166136261u;
    for (int i = 0; i < count; i++)
        h = (h ^ p[i]) * 16777619u;
    return h;
}
static void run(const char *name, int which, int bx, int by, int blocks, int n, int w, unsigned u, long m)
{
    enum { MOST = 1024, BESIDE = 512 };
    static unsigned h[4 * MOST + 8];
    static int numbers[4 * MOST];
    unsigned *d;
    int *in;
    int threads = bx * by * blocks;
    cudaMalloc(&d, sizeof(h));
    cudaMemset(d, 0, sizeof(h));
    for (int i = 0; i < 4 * MOST; i++)
        numbers[i] = i * 7919 % 1021;
    cudaMalloc(&in, sizeof(numbers));
    cudaMemcpy(in, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
    launch(which, dim3(blocks), dim3(bx, by), n, w, u, m, threads > 3 ? threads - 3 : 1, d, d + MOST, d + 2 * MOST, d + 2 * MOST + 8 + BESIDE, in + BESIDE);
    cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%s of %d blocks of %d x %d, n %d w %d u %u m %ld: %08x %08x %08x %08x\\n", name, blocks, bx, by, n, w, u, m, sum(h, MOST), sum(h + MOST, MOST), sum(h + 2 * MOST, 8),
           sum(h + 2 * MOST + 8, 2 * MOST));
    cudaFree(d);
    cudaFree(in);
}
int main()
{
"""


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    rng = random.Random(seed)
    kernels = [Kernel(rng, k) for k in range(count)]
    print("// random_kernels.py %d %d\n#include <cuda_runtime.h>\n#include <stdio.h>\n#include <stddef.h>\n" % (seed, count))
    for k in kernels:
        print(k.text() + "\n")
    print("static void launch(int which, dim3 grid, dim3 block, int n, int w, unsigned u, long m, int size, unsigned *out, unsigned *own, unsigned *counts, unsigned *more, const int *in)\n{")
    for k in kernels:
        print("    if (which == %d)\n        k%d%s<<<grid, block>>>(n, w, u, m, size, out, own, counts, more, in);" %
              (k.number, k.number, "<%s>" % ", ".join(k.arguments) if k.arguments else ""))
    print("}\n" + MAIN)
    for k in kernels:
        shapes = [(32, 1), (64, 1), (32, 4)] if k.warps else [(32, 1), (33, 1), (100, 1), (7, 3), (16, 4), (1, 1), (64, 2)]
        for _ in range(4):
            bx, by = rng.choice(shapes)
            print('    run("k%d", %d, %d, %d, %d, %d, %d, %du, %d);' % (k.number, k.number, bx, by, rng.randint(1, 5), rng.randint(-2, 120), rng.randint(0, 90),
                                                                        rng.randint(0, 100), rng.randint(-5, 150)))
    print("    return 0;\n}")


main()
