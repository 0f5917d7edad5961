/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's vector types, with its alignments, and what makes them. */
#ifndef KMM_HOST_VECTOR_TYPES_H
#define KMM_HOST_VECTOR_TYPES_H

#include <stddef.h>

#define KMM_VECTOR_TYPES(T, name, align2, align4)                                                  \
    struct name##1 { T x; };                                                                       \
    struct alignas(align2) name##2 { T x, y; };                                                    \
    struct name##3 { T x, y, z; };                                                                 \
    struct alignas(align4) name##4 { T x, y, z, w; };                                              \
    static inline constexpr name##1 make_##name##1(T x) { return {x}; }                            \
    static inline constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }                    \
    static inline constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }            \
    static inline constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

KMM_VECTOR_TYPES(signed char, char, 2, 4)
KMM_VECTOR_TYPES(unsigned char, uchar, 2, 4)
KMM_VECTOR_TYPES(short, short, 4, 8)
KMM_VECTOR_TYPES(unsigned short, ushort, 4, 8)
KMM_VECTOR_TYPES(int, int, 8, 16)
KMM_VECTOR_TYPES(unsigned int, uint, 8, 16)
KMM_VECTOR_TYPES(long, long, 16, 16)
KMM_VECTOR_TYPES(unsigned long, ulong, 16, 16)
KMM_VECTOR_TYPES(long long, longlong, 16, 16)
KMM_VECTOR_TYPES(unsigned long long, ulonglong, 16, 16)
KMM_VECTOR_TYPES(float, float, 8, 16)
KMM_VECTOR_TYPES(double, double, 16, 16)
#undef KMM_VECTOR_TYPES

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

#endif
