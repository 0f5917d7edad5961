# SPDX-License-Identifier: Apache-2.0
"""What intrinsics must give, computed exactly, for random numbers that are new each time.

    exact.py make IN COUNT        writes the arguments of COUNT threads
    exact.py check IN OUT NAMES   NAMES has a line `name(arguments)` for each column of OUT

The arguments are of the types that ARGUMENTS says; a result is 8 bytes, of which the type of the result uses the first.
"""
import math
import random
import re
import struct
import sys
import time
from fractions import Fraction


class Format:
    def __init__(self, bits, digits):
        self.bits, self.digits = bits, digits  # with the digit that is not stored
        self.bias = (1 << (bits - digits - 1)) - 1
        self.low = 1 - self.bias - (digits - 1)  # the exponent of the smallest number
        self.infinity = ((1 << (bits - digits)) - 1) << (digits - 1)

    def decode(self, bits):
        sign = -1 if bits >> (self.bits - 1) else 1
        rest = bits & ((1 << (self.bits - 1)) - 1)
        if rest > self.infinity:
            return None
        if rest == self.infinity:
            return sign * math.inf
        exponent, digits = rest >> (self.digits - 1), rest & ((1 << (self.digits - 1)) - 1)
        value = Fraction(digits + ((1 << (self.digits - 1)) if exponent else 0)) * Fraction(2) ** (self.low + max(exponent - 1, 0))
        return Zero(sign) if value == 0 else sign * value

    def encode(self, value, how):
        """None: any that is no number."""
        if value is None:
            return None
        if isinstance(value, Zero):
            return (1 << (self.bits - 1)) if value.sign < 0 else 0
        sign = (1 << (self.bits - 1)) if value < 0 else 0
        if abs(value) == math.inf:
            return sign | self.infinity
        size = abs(value)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= Fraction(2) ** exponent > size
        exponent = max(exponent - (self.digits - 1), self.low)
        scaled = size / Fraction(2) ** exponent
        whole = scaled.numerator // scaled.denominator
        rest = scaled - whole
        up = {"rz": False, "ru": rest > 0 and not sign, "rd": rest > 0 and sign != 0,
              "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1)}[how]
        bits = (exponent - self.low << (self.digits - 1)) + whole + bool(up)
        if bits >= self.infinity:
            away = how == "rn" or how == ("rd" if sign else "ru")
            bits = self.infinity if away else self.infinity - 1
        return sign | bits


class Zero:
    def __init__(self, sign):
        self.sign = sign


FLOAT, DOUBLE, HALF, BFLOAT = Format(32, 24), Format(64, 53), Format(16, 11), Format(16, 8)
ARGUMENTS = {"f": FLOAT, "g": FLOAT, "h": FLOAT, "a": DOUBLE, "b": DOUBLE, "c": DOUBLE, "x": HALF, "y": HALF, "z": HALF, "r": BFLOAT,
             "s": BFLOAT, "t": BFLOAT, "i": 32, "j": 32, "k": 32, "u": -32, "v": -32, "w": -32, "l": 64, "m": 64, "p": -64, "q": -64, "n": 16, "o": -16}
ORDER = "abclmpqfghijkuvwxyzrstno"


def sign_of(x):
    return x.sign if isinstance(x, Zero) else -1 if x < 0 else 1


def plain(x):
    return Fraction(0) if isinstance(x, Zero) else x


def add(x, y, how):
    if x is None or y is None:
        return None
    if math.inf in (abs(plain(x)), abs(plain(y))):
        infinite = [v for v in (plain(x), plain(y)) if abs(v) == math.inf]
        return None if len(set(infinite)) == 2 else infinite[0]
    total = plain(x) + plain(y)
    if total != 0:
        return total
    both = sign_of(x) == sign_of(y)
    return Zero(sign_of(x) if both else -1 if how == "rd" else 1)


def negated(x):
    return None if x is None else Zero(-x.sign) if isinstance(x, Zero) else -x


def multiply(x, y):
    if x is None or y is None:
        return None
    sign, zeros, large = sign_of(x) * sign_of(y), [v for v in (x, y) if isinstance(v, Zero)], [v for v in (x, y) if not isinstance(v, Zero) and abs(v) == math.inf]
    if large:
        return None if zeros else sign * math.inf
    return Zero(sign) if zeros else x * y


def divide(x, y):
    if x is None or y is None:
        return None
    if isinstance(y, Zero):
        return None if isinstance(x, Zero) else sign_of(x) * sign_of(y) * math.inf
    if abs(y) == math.inf:
        return None if not isinstance(x, Zero) and abs(x) == math.inf else Zero(sign_of(x) * sign_of(y))
    return multiply(x, Fraction(1) / y)


def root(x):
    """As near as no rounding can see."""
    if x is None or isinstance(x, Zero) or x == math.inf:
        return x
    if x < 0:
        return None
    scale = 4 ** (600 + max(0, x.denominator.bit_length()))
    whole = math.isqrt(x.numerator * scale // x.denominator)
    exact = whole * whole * x.denominator == x.numerator * scale
    return Fraction(2 * whole + (not exact), 2 * math.isqrt(scale))


def to_integer(value, how, bits):
    signed, bits = bits > 0, abs(bits)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    value = plain(value)
    if abs(value) == math.inf:
        return (high if value > 0 else low) & ((1 << bits) - 1)
    whole = {"rz": math.trunc, "ru": math.ceil, "rd": math.floor, "rn": round}[how](value)
    return min(max(whole, low), high) & ((1 << bits) - 1)


def lanes(word, width, signed):
    out = [word >> at & ((1 << width) - 1) for at in range(0, 32, width)]
    return [v - (1 << width) if signed and v >> (width - 1) else v for v in out]


def joined(values, width):
    return sum((v & ((1 << width) - 1)) << (width * k) for k, v in enumerate(values))


def clamp(v, width, signed):
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    return min(max(v, low), high)


def wrapped(v, bits, signed):
    v &= (1 << bits) - 1
    return v - (1 << bits) if signed and v >> (bits - 1) else v


def simd(name, words):
    """__v...2 and __v...4."""
    match = re.fullmatch(r"__v([a-z]+)([24])", name)
    if not match:
        return None
    what, width = match.group(1), 32 // int(match.group(2))
    comparison = re.fullmatch(r"(cmp|set)(eq|ne|gt|ge|lt|le)([su]?)", what)
    signed = what in ("abs", "absss", "neg", "negss", "addss", "subss", "absdiffs", "maxs", "mins", "avgs", "sads") or bool(comparison and comparison.group(3) == "s")
    a, b = [lanes(w, width, signed) for w in (words + [0])[:2]]
    if comparison:
        holds = {"eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y, "lt": lambda x, y: x < y,
                 "le": lambda x, y: x <= y}[comparison.group(2)]
        return joined([(-1 if comparison.group(1) == "cmp" else 1) * holds(x, y) for x, y in zip(a, b)], width)
    if what in ("sads", "sadu"):
        return sum(abs(x - y) for x, y in zip(a, b))
    away = lambda v: (abs(v) + 1) // 2 * (1 if v >= 0 else -1)
    one = {"abs": lambda x, y: abs(x), "absss": lambda x, y: clamp(abs(x), width, True), "neg": lambda x, y: -x, "negss": lambda x, y: clamp(-x, width, True),
           "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "addss": lambda x, y: clamp(x + y, width, True), "subss": lambda x, y: clamp(x - y, width, True),
           "addus": lambda x, y: clamp(x + y, width, False), "subus": lambda x, y: clamp(x - y, width, False), "absdiffs": lambda x, y: abs(x - y),
           "absdiffu": lambda x, y: abs(x - y), "maxs": max, "maxu": max, "mins": min, "minu": min, "avgs": lambda x, y: away(x + y),
           "avgu": lambda x, y: (x + y + 1) // 2, "haddu": lambda x, y: (x + y) // 2}[what]
    return joined([one(x, y) for x, y in zip(a, b)], width)


def choice(name, words):
    """__vimax3_s16x2_relu and its like."""
    match = re.fullmatch(r"__vi(add|b)?(max|min)(3)?_([su])(32|16x2)(_relu)?", name)
    if not match:
        return None
    kind, which, _, sign, lane, relu = match.groups()
    width, signed, best = int(lane[:2]), sign == "s", {"max": max, "min": min}[which]
    columns = zip(*[lanes(w & 0xffffffff, width, signed) for w in words])
    out = []
    for column in columns:
        column = list(column)
        if kind == "add":
            column = [wrapped(column[0] + column[1], width, signed), column[2]]
        value = best(column)
        out.append(max(value, 0) if relu else value)
    return joined(out, width)


def dot(name, words, signed):
    a, b, c = words
    if name == "__dp4a":
        return c + sum(x * y for x, y in zip(lanes(a, 8, signed), lanes(b, 8, signed)))
    half = lanes(b, 8, signed)[:2] if name == "__dp2a_lo" else lanes(b, 8, signed)[2:]
    return c + sum(x * y for x, y in zip(lanes(a, 16, signed), half))


SIZES = {"int": 32, "uint": -32, "ll": 64, "ull": -64, "short": 16, "ushort": -16, "char": 8, "uchar": -8}
FORMATS = {"float": FLOAT, "double": DOUBLE, "half": HALF, "bfloat16": BFLOAT}


def conversion(name, value, of_number):
    match = re.fullmatch(r"__(float|double|half|bfloat16|int|uint|ll|ull|short|ushort)2(float|double|half|bfloat16|int|uint|ll|ull|short|ushort|char|uchar)(?:_(rn|rz|ru|rd))?", name)
    if not match:
        return None
    source, target, how = match.group(1), match.group(2), match.group(3) or "rn"
    if target in FORMATS:
        return FORMATS[target], FORMATS[target].encode(value if of_number else Fraction(value) if value else Zero(1), how)
    bits = SIZES[target]
    if value is None:
        return abs(bits), 1 << (abs(bits) - 1) if source == "double" or abs(bits) == 64 else 0
    return abs(bits), to_integer(value, how, bits)


def relu(x):
    return x if x is None or plain(x) >= 0 else Zero(1)


def within_1(x):
    return Zero(1) if x is None or plain(x) <= 0 else min(x, Fraction(1))


def smaller(x, y, sign):
    """The larger one by sign 1, the smaller one by -1."""
    if x is None or y is None:
        return y if x is None else x
    if plain(x) == plain(y):
        return x if sign_of(x) == sign else y
    return x if (plain(x) > plain(y)) == (sign > 0) else y


def arithmetic(name, values, form):
    match = re.fullmatch(r"__[fd]?(add|sub|mul|div|rcp|sqrt|rsqrt|fma|maf|fmaf_ieee|maf_ieee)_(rn|rz|ru|rd)", name) or re.fullmatch(r"__h(add|sub|mul|div|fma)(?:_(rn))?", name)
    special = re.fullmatch(r"__h(add|sub|mul|fma)_(sat|relu)", name)
    best = re.fullmatch(r"__h(max|min)(_nan)?", name)
    compare = re.fullmatch(r"__h(eq|ne|lt|gt|le|ge)(u?)", name)
    if compare:
        x, y = values
        if x is None or y is None:
            return 8, int(bool(compare.group(2)))
        x, y = plain(x), plain(y)
        return 8, int({"eq": x == y, "ne": x != y, "lt": x < y, "gt": x > y, "le": x <= y, "ge": x >= y}[compare.group(1)])
    if best:
        x, y = values
        if best.group(2) and (x is None or y is None):
            return form, None
        return form, form.encode(smaller(x, y, 1 if best.group(1) == "max" else -1), "rn")
    what, how = (match or special).group(1), match.group(2) or "rn" if match else "rn"
    x, y, z = (values + [None, None])[:3]
    if what == "add":
        value = add(x, y, how)
    elif what == "sub":
        value = add(x, negated(y), how)
    elif what == "mul":
        value = multiply(x, y)
    elif what == "div":
        value = divide(x, y)
    elif what == "rcp":
        value = divide(Fraction(1), x)
    elif what == "sqrt":
        value = root(x)
    elif what == "rsqrt":
        value = (sign_of(x) * math.inf if isinstance(x, Zero) else Zero(1) if x == math.inf else root(None if x is None or x < 0 else 1 / x))
    else:
        value = add(multiply(x, y), z, how)
    if special:
        value = relu(value) if special.group(2) == "relu" else within_1(value)
    return form, form.encode(value, how)


def expected(name, arguments, row):
    """The result's type and its bits."""
    raw = [row[a] for a in arguments]
    kinds = [ARGUMENTS[a] for a in arguments]
    if not isinstance(kinds[0], Format):
        numbers = [wrapped(v, abs(k), k > 0) for v, k in zip(raw, kinds)]
        converted = conversion(name, numbers[0], False)
        if converted:
            return converted
        result = simd(name, raw)
        if result is None:
            result = choice(name, raw)
        if result is None:
            result = dot(name, raw, kinds[0] > 0)
        return 32, result & 0xffffffff
    values = [k.decode(v) for v, k in zip(raw, kinds)]
    return conversion(name, values[0], True) or arithmetic(name, values, kinds[0])


def beside(bits):
    """A number of that many digits, or one that lies close to it: what is rounded twice to fewer digits goes wrong there."""
    top = random.randrange(1, bits)
    return (random.getrandbits(top) << (bits - top)) + random.choice([0, 1, -1, 1 << random.randrange(bits)]) & ((1 << bits) - 1)


def some(kind):
    bits = kind.bits if isinstance(kind, Format) else abs(kind)
    if not isinstance(kind, Format):
        return random.choice([random.getrandbits(bits), beside(bits), beside(bits) >> random.randrange(bits), random.getrandbits(bits) >> random.randrange(bits), (-random.getrandbits(bits) >> random.randrange(bits)) & ((1 << bits) - 1),
                              random.choice([0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1]),
                              sum(random.choice([0, 1, 127, 128, 129, 255, random.randrange(256)]) << (8 * k) for k in range(bits // 8))])
    sign = random.getrandbits(1) << (bits - 1)
    how = random.randrange(10)
    if how == 0:
        return random.getrandbits(bits)
    if how == 1:
        return sign | random.choice([0, 1, 2, kind.infinity, kind.infinity - 1, kind.infinity + 1, 1 << (kind.digits - 1), (1 << (kind.digits - 1)) - 1])
    if how == 2:  # small
        return sign | random.getrandbits(kind.digits)
    if how == 3:  # few digits
        return sign | (kind.bias + random.randrange(-5, 6)) << (kind.digits - 1) | random.randrange(4) << (kind.digits - 3)
    if how == 4:  # whole or halves, about what integers hold
        exponent = random.randrange(0, min(70, kind.bias))
        return sign | (kind.bias + exponent) << (kind.digits - 1) | random.getrandbits(kind.digits - 1) >> random.randrange(kind.digits - 1) << random.randrange(2)& ((1 << (kind.digits - 1)) - 1)
    if how in (5, 6):
        return sign | (kind.bias + random.randrange(-17, 18) % kind.bias) << (kind.digits - 1) & kind.infinity | beside(kind.digits - 1)
    return sign | (kind.bias + random.randrange(-20, 20) % kind.bias) << (kind.digits - 1) & kind.infinity | random.getrandbits(kind.digits - 1)


def size(kind):
    return (kind.bits if isinstance(kind, Format) else abs(kind)) // 8


def main():
    codes = {2: "H", 4: "I", 8: "Q"}
    layout = struct.Struct("<" + "".join(codes[size(ARGUMENTS[a])] for a in ORDER) + "4x")
    if sys.argv[1] == "make":
        seed = int(time.time())
        print("seed", seed)
        random.seed(seed)
        with open(sys.argv[2], "wb") as f:
            for _ in range(int(sys.argv[3])):
                f.write(layout.pack(*[some(ARGUMENTS[a]) for a in ORDER]))
        return 0
    rows = [dict(zip(ORDER, v)) for v in layout.iter_unpack(open(sys.argv[2], "rb").read())]
    out = open(sys.argv[3], "rb").read()
    names = open(sys.argv[4]).read().split("\n")[:-1]
    if not rows or len(out) != 8 * len(rows) * len(names):
        print("sizes do not fit")
        return 1
    wrong = 0
    for column, text in enumerate(names):
        name, arguments = re.fullmatch(r"(\w+)\(([\w, ]*)\)", text).groups()
        arguments = [a.strip() for a in arguments.split(",")]
        for at, row in enumerate(rows):
            kind, wanted = expected(name, arguments, row)
            bits = kind.bits if isinstance(kind, Format) else kind
            got = int.from_bytes(out[8 * (column * len(rows) + at):][:8], "little") & ((1 << bits) - 1)
            if (kind.decode(got) is not None) if wanted is None else got != wanted:
                wrong += 1
                if wrong < 20:
                    print(text, [hex(row[a]) for a in arguments], "is", hex(got), "and not", "nan" if wanted is None else hex(wanted))
    print("%d results of %d functions, %d wrong" % (len(rows) * len(names), len(names), wrong))
    return 1 if wrong else 0


sys.exit(main())
