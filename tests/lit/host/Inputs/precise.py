# SPDX-License-Identifier: Apache-2.0
"""How far mathematical functions are from what 60 digits say, for random numbers that are new each time.

    precise.py make NAMES IN COUNT      writes COUNT arguments (three doubles each) for each function that NAMES lists
    precise.py check NAMES IN OUT       OUT has a double for each of them; fails where one is off by more than the function's ulps
"""
import math
import random
import struct
import sys
import time
from decimal import Decimal as D
from decimal import getcontext

getcontext().prec = 60


def arctangent(inverse):
    total, power, k = D(0), D(1) / inverse, 0
    while abs(power) > D(10) ** -65:
        total += power / (2 * k + 1) * (-1) ** k
        power /= inverse * inverse
        k += 1
    return total


PI = 4 * (4 * arctangent(D(5)) - arctangent(D(239)))


def sine(x, k=1):
    """Of at most a few turns; k is 0 for the cosine."""
    total, term = D(0), D(1) if k == 0 else x
    while abs(term) > D(10) ** -58:
        total += term
        term *= -x * x / ((k + 1) * (k + 2))
        k += 2
    return total


def erf(x):
    total, power, k = D(0), x, 0
    while abs(power) > D(10) ** -58:
        total += power / (2 * k + 1)
        k += 1
        power *= -x * x / k
    return 2 * total / PI.sqrt()


def erfcx(x):
    if x < 4:
        return (x * x).exp() * (1 - erf(x))
    fraction = x
    for k in range(600, 0, -1):
        fraction = x + D(k) / 2 / fraction
    return 1 / fraction / PI.sqrt()


def erfc(x):
    return 1 - erf(x) if x < 4 else erfcx(x) * (-x * x).exp()


def bessel(x, order):
    total, term, k = D(0), (x / 2) ** order if order else D(1), 0
    while k < 30 or abs(term) > abs(total) * D(10) ** -50:
        total += term
        k += 1
        term *= x * x / 4 / (k * (k + order))
    return total


def density(x):
    """The derivative of erf."""
    return 2 / PI.sqrt() * (-x * x).exp()


def length(*p):
    return sum(v * v for v in p).sqrt()


def turn(f):
    return lambda x, *_: f(PI * (x - 2 * (x / 2).to_integral_value()))


def spread(low, high):
    return lambda: random.choice([random.uniform(low, high), random.uniform(low, high) * 2.0 ** -random.randrange(40)])


def wide():
    return math.ldexp(random.uniform(-2, 2), random.choice([random.randrange(-1020, 1020), random.randrange(-3, 3), random.randrange(1018, 1020)]))


def tail():
    return random.choice([random.uniform(0, 1), math.ldexp(random.uniform(1, 2), -random.randrange(1, 1040))])


# What the argument is, the exact value, ulps. An inverse is judged by what it is the inverse of.
FUNCTIONS = {
    "rsqrt(x)": (lambda: abs(wide()), lambda x, y, z: 1 / x.sqrt(), 2),
    "rcbrt(x)": (lambda: abs(wide()), lambda x, y, z: (-x.ln() / 3).exp(), 3),
    "sinpi(x)": (spread(-1e6, 1e6), turn(lambda a: sine(a)), 3),
    "cospi(x)": (spread(-1e6, 1e6), turn(lambda a: sine(a, 0)), 3),
    "norm3d(x, y, z)": (wide, lambda x, y, z: length(x, y, z), 3),
    "rnorm3d(x, y, z)": (wide, lambda x, y, z: 1 / length(x, y, z), 4),
    "norm4d(x, y, z, x)": (wide, lambda x, y, z: length(x, y, z, x), 4),
    "rhypot(x, y)": (wide, lambda x, y, z: 1 / length(x, y), 3),
    "norm(3, p)": (wide, lambda x, y, z: length(x, y, z), 3),
    "rnorm(3, p)": (wide, lambda x, y, z: 1 / length(x, y, z), 4),
    "normcdf(x)": (spread(-37, 8), lambda x, y, z: erfc(-x / D(2).sqrt()) / 2, 8),
    "erfcx(x)": (lambda: random.choice([random.uniform(-5, 30), random.uniform(0, 1e4)]), lambda x, y, z: erfcx(x), 8),
    "erfinv(x)": (spread(-1, 1), (lambda r, x: (erf(r) - x) / density(r)), 8),
    "erfcinv(x)": (tail, (lambda r, x: (x - erfc(r)) / density(r)), 8),
    "normcdfinv(x)": (tail, (lambda r, x: (erfc(-r / D(2).sqrt()) / 2 - x) / (density(r / D(2).sqrt()) / 2 / D(2).sqrt())), 10),
    "cyl_bessel_i0(x)": (spread(-700, 700), lambda x, y, z: bessel(x, 0), 8),
    "cyl_bessel_i1(x)": (spread(-700, 700), lambda x, y, z: bessel(x, 1), 8),
    "exp10(x)": (spread(-300, 300), lambda x, y, z: D(10) ** x, 3),
    "(double)rsqrtf(x)": (lambda: math.ldexp(random.uniform(1, 2), random.randrange(-120, 120)), lambda x, y, z: 1 / x.sqrt(), 3),
    "(double)sinpif(x)": (spread(-1e4, 1e4), turn(lambda a: sine(a)), 2),
    "(double)cospif(x)": (spread(-1e4, 1e4), turn(lambda a: sine(a, 0)), 2),
    "(double)normcdff(x)": (spread(-13, 5), lambda x, y, z: erfc(-x / D(2).sqrt()) / 2, 2),
    "(double)norm3df(x, y, z)": (lambda: math.ldexp(random.uniform(-2, 2), random.randrange(-120, 120)), lambda x, y, z: length(x, y, z), 2),
    "(double)normf(3, q)": (lambda: math.ldexp(random.uniform(-2, 2), random.randrange(-120, 120)), lambda x, y, z: length(x, y, z), 2),
    "(double)cyl_bessel_i0f(x)": (spread(-80, 80), lambda x, y, z: bessel(x, 0), 2),
    "(double)cyl_bessel_i1f(x)": (spread(-80, 80), lambda x, y, z: bessel(x, 1), 2),
    "(double)erfcxf(x)": (spread(-5, 50), lambda x, y, z: erfcx(x), 2),
}


def narrow(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def off(name, arguments, result):
    """In ulps of the result."""
    _, exact, _ = FUNCTIONS[name]
    is_float = name.startswith("(")
    x, y, z = (D(a) for a in arguments)
    if "inv" in name:
        wrong, value = exact(D(result), x), result
    else:
        best = exact(x, y, z)
        wrong, value = D(result) - best, float(best)
    ulp = max(math.ulp(value), 5e-324)
    if is_float:
        ulp = max(math.ulp(abs(value)) * 2.0 ** 29, 2.0 ** -149)
    return abs(float(wrong / D(ulp)))


def main():
    names = open(sys.argv[2]).read().split("\n")[:-1]
    if sys.argv[1] == "make":
        seed = int(time.time())
        print("seed", seed)
        random.seed(seed)
        with open(sys.argv[3], "wb") as f:
            for name in names:
                for _ in range(int(sys.argv[4])):
                    values = [FUNCTIONS[name][0]() for _ in range(3)]
                    f.write(struct.pack("3d", *[narrow(v) if name.startswith("(") else v for v in values]))
        return 0
    rows = list(struct.iter_unpack("3d", open(sys.argv[3], "rb").read()))
    results = [v for v, in struct.iter_unpack("d", open(sys.argv[4], "rb").read())]
    count = len(rows) // len(names)
    if not count or len(results) != len(rows):
        print("sizes do not fit")
        return 1
    failed = 0
    for k, name in enumerate(names):
        all_off = [(off(name, rows[k * count + at], results[k * count + at]), rows[k * count + at], results[k * count + at]) for at in range(count)
                   if not math.isinf(results[k * count + at])]
        worst = max(all_off)
        print("%-28s %8.2f ulps at most, of %d" % (name, worst[0], len(all_off)))
        if not worst[0] <= FUNCTIONS[name][2] or len(all_off) * 10 < count * 9:
            print("  wrong: %r gives %r" % worst[1:])
            failed += 1
    return 1 if failed else 0


sys.exit(main())
