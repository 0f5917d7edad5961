/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of 16-bit floating-point numbers: IEEE binary16 and bfloat16. Rounds to nearest,
 * ties to even, as GPUs do. This file is compiled for GPUs, too (launch/device_code.c). */
#include "launch/fold.h"

static uint32_t bits_of(float f)
{
    uint32_t b;
    __builtin_memcpy(&b, &f, sizeof(b));
    return b;
}

static float float_of(uint32_t b)
{
    float f;
    __builtin_memcpy(&f, &b, sizeof(f));
    return f;
}

float kmm__half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
    if (exponent == 31)
        return float_of(sign | 0x7f800000 | fraction << 13);
    if (exponent)
        return float_of(sign | (exponent + 112) << 23 | fraction << 13);
    float small = (float)fraction * 0x1p-24f; /* a subnormal; exact */
    return sign ? -small : small;
}

/* Returns v / 2^shift, rounded to nearest, ties to even; 0 < shift < 32. */
static uint32_t round_shift(uint32_t v, uint32_t shift)
{
    uint32_t half = UINT32_C(1) << (shift - 1), rest = v & (2 * half - 1), q = v >> shift;
    return q + (rest > half || (rest == half && (q & 1)));
}

uint16_t kmm__float_to_half(float f)
{
    uint32_t b = bits_of(f), sign = b >> 16 & 0x8000, magnitude = b & 0x7fffffff;
    if (magnitude >
        0x7f800000) /* a NaN stays a NaN, becomes quiet, and keeps the upper bits of its payload */
        return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
    if (magnitude >= 0x47800000) /* 2^16 and above: infinity */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude >= 0x38800000) /* normal. A carry out of the fraction increases the exponent,
                                    which is right, and gives infinity at the end */
        return (uint16_t)(sign | round_shift(magnitude - 0x38000000, 13));
    uint32_t exponent = magnitude >> 23;
    if (exponent < 102) /* less than half of the smallest subnormal: zero */
        return (uint16_t)sign;
    return (uint16_t)(sign | round_shift((magnitude & 0x7fffff) | 0x800000, 126 - exponent));
}

float kmm__bfloat16_to_float(uint16_t h)
{
    return float_of((uint32_t)h << 16);
}

uint16_t kmm__float_to_bfloat16(float f)
{
    uint32_t b = bits_of(f);
    if ((b & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(b >> 16 | 0x40);
    return (uint16_t)(((b & 0x7fffffff) + 0x7fff + (b >> 16 & 1)) >> 16 | (b >> 16 & 0x8000));
}
