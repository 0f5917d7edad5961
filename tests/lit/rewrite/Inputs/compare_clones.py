# SPDX-License-Identifier: Apache-2.0
"""Kernels and their clones: registers by ptxas, the size of the code in the cubin, and the instructions of PTX in which they
differ. Exits with 1 where a clone takes more registers of the device (they are given out eight at a time), differs in
anything but additions, moves and parameters, or is longer than reading and adding where its blocks begin can make it. The clone of
a kernel named NAME+, which moves a pointer to its chunk, may find the number of that, by a product for each dimension."""
import collections
import re
import struct
import sys


def entries(text):
    """Opcodes of each entry of a PTX file, counted."""
    found = {}
    for match in re.finditer(r"\.entry (\w+)\(.*?\)[^{;]*\{(.*?)\n\}", text, re.S):
        lines = [line.strip() for line in match[2].splitlines()]
        code = [re.sub(r"^@!?%p\d+\s+", "", line) for line in lines if line and not line.startswith((".", "//", "$", "{", "}"))]
        found[match[1]] = collections.Counter(line.split()[0].rstrip(";") for line in code)
    return found


def registers(text):
    pairs = re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", text, re.S)
    return {name: int(count) for name, count in pairs}


def sizes(data):
    """Bytes of each .text section of a 64-bit ELF file, by kernel."""
    (offset,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, offset + k * size) for k in range(count)]
    start = headers[names][4]
    found = {}
    for header in headers:
        name = data[start + header[0]:data.index(b"\0", start + header[0])].decode()
        if name.startswith(".text."):
            found[name[6:]] = header[5]
    return found


def find(names, kernel):
    """The mangled name."""
    (found,) = [name for name in names if re.match(rf"_Z{len(kernel)}{kernel}", name)]
    return found


def main():
    ptx, cubin, usage, kernels = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    code, used, bytes_of = entries(open(ptx).read()), registers(open(usage).read()), sizes(open(cubin, "rb").read())
    failed = False
    for kernel in kernels:
        moves, kernel = kernel.endswith("+"), kernel.rstrip("+")
        one, other = find(code, kernel), find(code, "kmm_" + kernel)
        more, less = code[other] - code[one], code[one] - code[other]
        extra = (bytes_of[other] - bytes_of[one]) // 16
        foreign = [name for name in (more + less) if not name.startswith(("add.", "ld.param.", "mov.", "shl.", "mad.lo.", "mul.lo.", "cvt."))
                   and not (moves and name.startswith(("mul.hi.u32", "mul.wide.u32", "shr.u32")))]
        failed |= bool(foreign) or -used[one] // 8 != -used[other] // 8 or extra > (32 if moves else 8)
        print(f"{kernel}: {used[one]} and {used[other]} registers; PTX has {dict(more)} more and {dict(less)} less; "
              f"{bytes_of[one] // 16} instructions of the machine and {extra} more")
    return failed


sys.exit(main())
