# SPDX-License-Identifier: Apache-2.0
"""The types, structs and numbers of python/kmm are those of tests/abi/libkmm.abi and the headers.

    test_abi.py SOURCE
"""
import ctypes
import re
import sys

SOURCE = sys.argv[1]
from kmm import _library, _structs, mr  # noqa: E402

ABI = open(SOURCE + "/tests/abi/libkmm.abi").read()
types = dict(re.findall(r"^function (\w+) \S+: (.*)$", ABI, re.M))
enums = {name: int(value) for name, value in re.findall(r"^enum (\w+): (-?\d+)$", ABI, re.M)}
structs = {}
for name, at, member in re.findall(r"^struct (\w+) (\d+): .*?(\w+)$", ABI, re.M):
    structs.setdefault(name, []).append((member, int(at)))
sizes = {name: int(n) for name, n in re.findall(r"^struct (\w+): (\d+) bytes", ABI, re.M)}

called = 0
for result, name, arguments in _library.prototypes():
    text = "%s%s(%s)" % (result, "" if result.endswith("*") else " ",
                         ", ".join(arguments) or "void")
    assert types[name] == text, (name, types[name], text)
    called += 1
assert called > 90

compared = 0
for name, struct in vars(_structs).items():
    if isinstance(struct, type) and issubclass(struct, ctypes.Structure):
        mine = [(member, getattr(struct, member).offset) for member, _ in struct._fields_]
        assert mine == structs[name], (name, mine, structs[name])
        assert ctypes.sizeof(struct) == sizes[name], name
        compared += 1
assert compared >= 14


def header(name, macro):
    return int(re.search(r"#define %s (\d+)" % macro, open(SOURCE + "/include/" + name).read())[1])


version = [header("kmm.h", "KMM_VERSION_" + part) for part in ("MAJOR", "MINOR", "PATCH")]
assert _structs.VERSION == version[0] * 10000 + version[1] * 100 + version[2]
assert _structs.LAUNCH_VERSION == header("kmm/launch.h", "KMM_LAUNCH_VERSION")
numbers = {"KMM_MAX_AXES": _structs.MAX_AXES, "KMM_MAX_SPLIT": _structs.MAX_SPLIT,
           "KMM_MAX_DIMS": _structs.MAX_DIMS, "KMM_RANGE_0": _structs.RANGE_0,
           "KMM_PENDING": _structs.PENDING, "KMM_TRACK_DEPTH": _structs.TRACK_DEPTH}
numbers.update(("KMM_" + mode, getattr(_structs, mode))
               for mode in ("READ", "WRITE", "UPDATE", "REDUCE"))
numbers.update(("KMM_KIND_" + name.upper(), k) for k, name in _structs.KINDS.items())
numbers.update(("KMM_SCHEDULE_" + name.upper(), k) for name, k in _structs.SCHEDULES.items())
numbers.update(("KMM_MEMORY_" + name.upper(), k) for k, name in enumerate(_structs.MEMORY_KINDS))
operators = {"+": "ADD", "*": "MUL", "min": "MIN", "max": "MAX", "&": "BAND", "|": "BOR",
             "^": "BXOR", "&&": "LAND", "||": "LOR"}
numbers.update(("KMM_OP_" + operators[op], k) for op, k in _structs.OPERATORS.items())
named = {"float16": "HALF", "float32": "FLOAT", "float64": "DOUBLE",
         "complex64": "COMPLEX_FLOAT", "complex128": "COMPLEX_DOUBLE"}
numbers.update(("KMM_" + named.get(name, name.upper()), k) for name, k in _structs.TYPES.items())
for name, value in numbers.items():
    assert enums[name] == value, (name, enums[name], value)
for name in re.findall(r"^function kmm_(\w+)_resource_create", ABI, re.M):
    if name != "owning":  # a resource of Python keeps those that it is built on
        assert "".join(w.capitalize() for w in name.split("_")) + "Resource" in mr.__all__, name
