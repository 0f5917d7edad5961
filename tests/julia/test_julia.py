# SPDX-License-Identifier: Apache-2.0
"""The calls, structs and numbers of julia/ are those of tests/abi/libkmm.abi, which is read from
libkmm itself. Debian has no Julia, so this is what can be tested without it.

    test_julia.py SOURCE
"""
import re
import sys

SOURCE = sys.argv[1]
ABI = open(SOURCE + "/tests/abi/libkmm.abi").read()
JULIA = {name: open("%s/julia/src/%s.jl" % (SOURCE, name)).read() for name in (
    "Kmm", "structs", "libkmm", "arrays", "launches", "resources")}
SIZES = {"UInt8": 1, "Cint": 4, "Cuint": 4, "UInt32": 4, "Int64": 8, "UInt64": 8, "Csize_t": 8}
ENUMS = "kmm_(mode|op|type|source|schedule|memory_kind|kind|pool_reuse|arena_key)_t"
# What a type of C is in Julia. A pointer's own rules are in matches().
NUMBERS = {"int": "Cint", "unsigned int": "Cuint", "uint32_t": "UInt32", "int64_t": "Int64",
           "uint64_t": "UInt64", "size_t": "Csize_t", "void": "Cvoid", "char": "UInt8"}
ALIASES = {"Handle": "Ptr{Cvoid}", "Out": "Ptr{Ptr{Cvoid}}", "Text": "Ptr{UInt8}",
           "Stream": "Ptr{Cvoid}"}
for alias, text in ALIASES.items():
    assert "const %s = %s\n" % (alias, text) in JULIA["libkmm"], alias


def is_number(c):
    return NUMBERS.get(c) or ("Cint" if re.fullmatch(ENUMS, c) else None)


def matches(c, julia):
    """Whether an argument of C may be given as one of Julia."""
    julia = ALIASES.get(julia, julia)
    c = re.sub(r"\b(const|volatile) |(?<=\*)const$", "", c).strip()
    if is_number(c):
        return {"UInt32": "Cuint"}.get(julia, julia) == {"UInt32": "Cuint"}.get(
            is_number(c), is_number(c))
    if c == "kmm_stream_t" or c == "kmm_function_t *":
        return julia == "Ptr{Cvoid}"
    pointee = re.fullmatch(r"(.*?) ?\*", c)[1]
    if pointee.endswith("*") or pointee == "kmm_stream_t":
        return julia == "Ptr{Ptr{Cvoid}}"
    if is_number(pointee) and pointee != "void":
        return julia == "Ptr{%s}" % is_number(pointee)
    struct = re.sub("_t$", "", pointee)
    return julia == "Ptr{%s}" % (struct if struct in structs else "Cvoid")


# ---- Structs: members, places and sizes. ----

structs = {name: re.findall(r"^    (\w+)::(\S+)", body, re.M) for name, body in re.findall(
    r"^struct (kmm_\w+)\n(.*?)^end", JULIA["structs"], re.M | re.S)}
assert len(structs) >= 11


def layout(julia):
    """(bytes, alignment) of a type of Julia."""
    tuple_ = re.fullmatch(r"NTuple\{(\d+),(\w+)\}", julia)
    if tuple_:
        size, alignment = layout(tuple_[2])
        return int(tuple_[1]) * size, alignment
    if julia in structs:
        end, alignment = 0, 1
        for _, at, size, align in members(julia):
            end, alignment = at + size, max(alignment, align)
        return -(-end // alignment) * alignment, alignment
    size = 8 if julia.startswith("Ptr{") else SIZES[julia]
    return size, size


def members(name):
    at, found = 0, []
    for member, julia in structs[name]:
        size, alignment = layout(julia)
        at = -(-at // alignment) * alignment
        found.append((member.rstrip("_"), at, size, alignment))
        at += size
    return found


for name in structs:
    theirs = [(member, int(at)) for at, member in re.findall(
        r"^struct %s (\d+): .*?(\w+)$" % name, ABI, re.M)]
    assert [m[:2] for m in members(name)] == theirs, (name, members(name), theirs)
    size = int(re.search(r"^struct %s: (\d+) bytes" % name, ABI, re.M)[1])
    assert layout(name)[0] == size, (name, layout(name), size)
    for c, member in re.findall(r"^struct %s \d+: (.*?)(?: |(?<=\*))(\w+)$" % name, ABI, re.M):
        julia = dict((m.rstrip("_"), t) for m, t in structs[name])[member]
        array = re.fullmatch(r"(\w+)\[(\d+)\]", c)
        if array:
            assert julia == "NTuple{%s,%s}" % (array[2], is_number(array[1])), (name, member)
        elif julia in structs:
            assert c == "struct " + julia, (name, member)
        else:
            assert matches(c, julia) or (c.endswith("*") and julia == "Ptr{Cvoid}"), (
                name, member, c, julia)

# ---- Functions. ----

calls = re.findall(r"@ccall libkmm\.(\w+)\(([^)]*)\)::(\w+)", JULIA["libkmm"])
assert len(calls) >= 60
assert len(calls) == JULIA["libkmm"].count("libkmm.kmm_")
for name, arguments, result in calls:
    c = re.search(r"^function %s \S+: (.*?) ?\((.*)\)$" % name, ABI, re.M)
    assert c, "libkmm has no " + name
    wanted = [] if c[2] == "void" else [a.strip() for a in c[2].split(",")]
    mine = [a.split("::")[1].strip() for a in arguments.split(",")] if arguments.strip() else []
    assert len(wanted) == len(mine), (name, wanted, mine)
    for number, (theirs, julia) in enumerate(zip(wanted, mine)):
        assert matches(theirs, julia), "%s: argument %d is %s, here %s" % (
            name, number + 1, theirs, julia)
    assert matches(c[1], result), "%s returns %s, here %s" % (name, c[1], result)

# What the wrappers are called with, by count; and that each exists.
defined = dict(re.findall(r"^(kmm_\w+)\(([^)]*)\) =", JULIA["libkmm"], re.M))
for name, arguments in defined.items():
    body = re.search(r"^%s\([^)]*\) =.*?@ccall libkmm\.(\w+)\(([^)]*)\)" % name, JULIA["libkmm"],
                     re.M | re.S)
    assert body[1] == name.rstrip("_"), name
    named = [a.split("::")[0].strip() for a in body[2].split(",")]
    assert named == [a.strip() for a in arguments.split(",")], (name, named)
for name in ("arrays", "launches", "resources"):
    used = set(re.findall(r"\b(kmm_\w+)\(", JULIA[name]))
    assert used <= set(defined) | set(structs), (name, used - set(defined) - set(structs))
    for constant in re.findall(r"\bKMM_\w+", JULIA[name].replace("KMM_DEVICES", "")):
        assert re.search(r"^const %s = " % constant, JULIA["structs"], re.M), constant

# ---- Numbers. ----

enums = {name: int(n) for name, n in re.findall(r"^enum (\w+): (-?\d+)$", ABI, re.M)}
others = {"KMM_WHOLE": "typemin(Int64)", "KMM_SIZE_RECORDED": "typemax(Csize_t)"}


def header(file, macro):
    text = open("%s/include/%s" % (SOURCE, file)).read()
    return int(re.search(r"#define %s (\d+)" % macro, text)[1])


version = [header("kmm.h", "KMM_VERSION_" + part) for part in ("MAJOR", "MINOR", "PATCH")]
others["KMM_VERSION_NUMBER"] = str(version[0] * 10000 + version[1] * 100 + version[2])
others["KMM_LAUNCH_VERSION"] = str(header("kmm/launch.h", "KMM_LAUNCH_VERSION"))
for name, value in re.findall(r"^const (KMM_\w+) = (.*)$", JULIA["structs"], re.M):
    wanted = others[name] if name in others else str(enums[name])
    assert value == wanted, (name, value, wanted)
project = open(SOURCE + "/julia/Project.toml").read()
assert 'version = "%d.%d.%d"' % tuple(version) in project
print("%d calls, %d structs" % (len(calls), len(structs)))
