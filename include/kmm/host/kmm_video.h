/* SPDX-License-Identifier: Apache-2.0 */
/* SIMD within a word: two integers of 16 bits or four of 8 bits. Also sums of products, and CUDA's
 * minima and maxima of three numbers. */
#ifndef KMM_HOST_VIDEO_H
#define KMM_HOST_VIDEO_H

/* Applies f to each pair of lanes, read as T. The result is truncated to the lane. */
template <class kmm_T, class kmm_F>
static inline unsigned kmm_host_lanewise(unsigned a, unsigned b, kmm_F f)
{
    const int bits = 8 * (int)sizeof(kmm_T);
    unsigned out = 0;
    for (int at = 0; at < 32; at += bits)
        out |= ((unsigned)f((int)(kmm_T)(a >> at), (int)(kmm_T)(b >> at)) &
                (0xffffffffu >> (32 - bits)))
               << at;
    return out;
}
/* Returns c plus the sum of f(a, b) over all pairs of lanes. */
template <class kmm_T, class kmm_F>
static inline unsigned kmm_host_lane_sum(unsigned a, unsigned b, kmm_F f)
{
    unsigned out = 0;
    for (int at = 0; at < 32; at += 8 * (int)sizeof(kmm_T))
        out += (unsigned)f((int)(kmm_T)(a >> at), (int)(kmm_T)(b >> at));
    return out;
}
/* Returns x, saturated to the range of T. */
template <class kmm_T> static inline int kmm_host_saturated(int x)
{
    const int most = (kmm_T)-1 < (kmm_T)0 ? (1 << (8 * sizeof(kmm_T) - 1)) - 1 : (int)(kmm_T)-1,
              least = (kmm_T)-1 < (kmm_T)0 ? -most - 1 : 0;
    return x < least ? least : x > most ? most : x;
}

#define KMM_HOST_LANES(name, count, type, expression)                                              \
    static inline unsigned __v##name##count(unsigned a, unsigned b)                                \
    {                                                                                              \
        typedef type lane __attribute__((__unused__));                                             \
        return kmm_host_lanewise<lane>(a, b, [](int x, int y) { return expression; });             \
    }
#define KMM_HOST_UNSIGNED(name, expression)                                                        \
    KMM_HOST_LANES(name, 2, unsigned short, expression)                                            \
    KMM_HOST_LANES(name, 4, unsigned char, expression)
#define KMM_HOST_SIGNED(name, expression)                                                          \
    KMM_HOST_LANES(name, 2, short, expression)                                                     \
    KMM_HOST_LANES(name, 4, signed char, expression)
KMM_HOST_UNSIGNED(add, x + y)
KMM_HOST_UNSIGNED(sub, x - y)
KMM_HOST_SIGNED(addss, kmm_host_saturated<lane>(x + y))
KMM_HOST_SIGNED(subss, kmm_host_saturated<lane>(x - y))
KMM_HOST_UNSIGNED(addus, kmm_host_saturated<lane>(x + y))
KMM_HOST_UNSIGNED(subus, kmm_host_saturated<lane>(x - y))
KMM_HOST_SIGNED(absdiffs, x < y ? y - x : x - y)
KMM_HOST_UNSIGNED(absdiffu, x < y ? y - x : x - y)
KMM_HOST_SIGNED(maxs, x < y ? y : x)
KMM_HOST_UNSIGNED(maxu, x < y ? y : x)
KMM_HOST_SIGNED(mins, x < y ? x : y)
KMM_HOST_UNSIGNED(minu, x < y ? x : y)
KMM_HOST_SIGNED(avgs, (x + y + (x + y >= 0)) >> 1) /* rounds halves away from zero */
KMM_HOST_UNSIGNED(avgu, (x + y + 1) >> 1)
KMM_HOST_UNSIGNED(haddu, (x + y) >> 1)
#define KMM_HOST_COMPARED(name, op)                                                                \
    KMM_HOST_SIGNED(cmp##name##s, x op y ? -1 : 0)                                                 \
    KMM_HOST_UNSIGNED(cmp##name##u, x op y ? -1 : 0)                                               \
    KMM_HOST_SIGNED(set##name##s, x op y)                                                          \
    KMM_HOST_UNSIGNED(set##name##u, x op y)
KMM_HOST_COMPARED(gt, >)
KMM_HOST_COMPARED(ge, >=)
KMM_HOST_COMPARED(lt, <)
KMM_HOST_COMPARED(le, <=)
KMM_HOST_UNSIGNED(cmpeq, x == y ? -1 : 0)
KMM_HOST_UNSIGNED(cmpne, x != y ? -1 : 0)
KMM_HOST_UNSIGNED(seteq, x == y)
KMM_HOST_UNSIGNED(setne, x != y)
#undef KMM_HOST_COMPARED
#undef KMM_HOST_UNSIGNED
#undef KMM_HOST_SIGNED
#undef KMM_HOST_LANES

#define KMM_HOST_LANES(count, type)                                                                \
    static inline unsigned __vabs##count(unsigned a)                                               \
    {                                                                                              \
        return kmm_host_lanewise<signed type>(a, 0, [](int x, int) { return x < 0 ? -x : x; });    \
    }                                                                                              \
    static inline unsigned __vneg##count(unsigned a)                                               \
    {                                                                                              \
        return kmm_host_lanewise<signed type>(a, 0, [](int x, int) { return -x; });                \
    }                                                                                              \
    static inline unsigned __vabsss##count(unsigned a)                                             \
    {                                                                                              \
        return kmm_host_lanewise<signed type>(                                                     \
            a, 0, [](int x, int) { return kmm_host_saturated<signed type>(x < 0 ? -x : x); });     \
    }                                                                                              \
    static inline unsigned __vnegss##count(unsigned a)                                             \
    {                                                                                              \
        return kmm_host_lanewise<signed type>(                                                     \
            a, 0, [](int x, int) { return kmm_host_saturated<signed type>(-x); });                 \
    }                                                                                              \
    static inline unsigned __vsads##count(unsigned a, unsigned b)                                  \
    {                                                                                              \
        return kmm_host_lane_sum<signed type>(a, b,                                                \
                                              [](int x, int y) { return x < y ? y - x : x - y; }); \
    }                                                                                              \
    static inline unsigned __vsadu##count(unsigned a, unsigned b)                                  \
    {                                                                                              \
        return kmm_host_lane_sum<unsigned type>(                                                   \
            a, b, [](int x, int y) { return x < y ? y - x : x - y; });                             \
    }
KMM_HOST_LANES(2, short)
KMM_HOST_LANES(4, char)
#undef KMM_HOST_LANES

/* ---- Sums of products ---- */

/* Return c plus a sum of products: of four pairs of bytes (dp4a), or of two 16-bit numbers with the
 * lower (lo) or upper (hi) two bytes of b (dp2a). */
static inline int __dp4a(int a, int b, int c)
{
    unsigned sum = (unsigned)c;
    for (int at = 0; at < 32; at += 8)
        sum += (unsigned)((signed char)(a >> at) * (signed char)(b >> at));
    return (int)sum;
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int at = 0; at < 32; at += 8)
        c += (a >> at & 255) * (b >> at & 255);
    return c;
}
static inline int __dp4a(char4 a, char4 b, int c)
{
    return (int)((unsigned)(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w) + (unsigned)c);
}
static inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c)
{
    return (unsigned)(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w) + c;
}
static inline int __dp2a_lo(short2 a, char4 b, int c)
{
    return (int)((unsigned)(a.x * b.x) + (unsigned)(a.y * b.y) + (unsigned)c);
}
static inline int __dp2a_hi(short2 a, char4 b, int c)
{
    return (int)((unsigned)(a.x * b.z) + (unsigned)(a.y * b.w) + (unsigned)c);
}
static inline unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c)
{
    return (unsigned)(a.x * b.x) + (unsigned)(a.y * b.y) + c;
}
static inline unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c)
{
    return (unsigned)(a.x * b.z) + (unsigned)(a.y * b.w) + c;
}
#define KMM_HOST_BYTES(name, at)                                                                   \
    static inline int name(int a, int b, int c)                                                    \
    {                                                                                              \
        return (int)((unsigned)((short)a * (signed char)(b >> (at))) +                             \
                     (unsigned)((short)(a >> 16) * (signed char)(b >> ((at) + 8))) + (unsigned)c); \
    }                                                                                              \
    static inline unsigned name(unsigned a, unsigned b, unsigned c)                                \
    {                                                                                              \
        return (a & 0xffff) * (b >> (at) & 255) + (a >> 16) * (b >> ((at) + 8) & 255) + c;         \
    }
KMM_HOST_BYTES(__dp2a_lo, 0)
KMM_HOST_BYTES(__dp2a_hi, 16)
#undef KMM_HOST_BYTES

/* ---- Minima and maxima of two or three numbers or sums; with _relu the result is at least 0 ----
 */

static inline int kmm_host_wrapped(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
static inline unsigned kmm_host_wrapped(unsigned a, unsigned b) { return a + b; }

#define KMM_HOST_CHOSEN(which, op, suffix, kmm_T)                                                  \
    static inline kmm_T __vi##which##3_##suffix(kmm_T a, kmm_T b, kmm_T c)                         \
    {                                                                                              \
        const kmm_T first = a op b ? a : b;                                                        \
        return first op c ? first : c;                                                             \
    }                                                                                              \
    static inline kmm_T __viadd##which##_##suffix(kmm_T a, kmm_T b, kmm_T c)                       \
    {                                                                                              \
        const kmm_T sum = kmm_host_wrapped(a, b);                                                  \
        return sum op c ? sum : c;                                                                 \
    }                                                                                              \
    static inline kmm_T __vib##which##_##suffix(kmm_T a, kmm_T b, bool *is_first)                  \
    {                                                                                              \
        *is_first = a op b;                                                                        \
        return *is_first ? a : b;                                                                  \
    }
KMM_HOST_CHOSEN(max, >=, s32, int)
KMM_HOST_CHOSEN(min, <=, s32, int)
KMM_HOST_CHOSEN(max, >=, u32, unsigned)
KMM_HOST_CHOSEN(min, <=, u32, unsigned)
#undef KMM_HOST_CHOSEN
#define KMM_HOST_CHOSEN(which, op)                                                                 \
    static inline int __vi##which##_s32_relu(int a, int b)                                         \
    {                                                                                              \
        const int r = a op b ? a : b;                                                              \
        return r > 0 ? r : 0;                                                                      \
    }                                                                                              \
    static inline int __vi##which##3_s32_relu(int a, int b, int c)                                 \
    {                                                                                              \
        return __vi##which##_s32_relu(a op b ? a : b, c);                                          \
    }                                                                                              \
    static inline int __viadd##which##_s32_relu(int a, int b, int c)                               \
    {                                                                                              \
        return __vi##which##_s32_relu(kmm_host_wrapped(a, b), c);                                  \
    }                                                                                              \
    static inline unsigned __vi##which##_s16x2_relu(unsigned a, unsigned b)                        \
    {                                                                                              \
        return kmm_host_lanewise<short>(                                                           \
            a, b, [](int x, int y) { return __vi##which##_s32_relu(x, y); });                      \
    }                                                                                              \
    static inline unsigned __vi##which##3_s16x2(unsigned a, unsigned b, unsigned c)                \
    {                                                                                              \
        return __v##which##s2(__v##which##s2(a, b), c);                                            \
    }                                                                                              \
    static inline unsigned __vi##which##3_u16x2(unsigned a, unsigned b, unsigned c)                \
    {                                                                                              \
        return __v##which##u2(__v##which##u2(a, b), c);                                            \
    }                                                                                              \
    static inline unsigned __vi##which##3_s16x2_relu(unsigned a, unsigned b, unsigned c)           \
    {                                                                                              \
        return __vi##which##_s16x2_relu(__v##which##s2(a, b), c);                                  \
    }                                                                                              \
    static inline unsigned __viadd##which##_s16x2(unsigned a, unsigned b, unsigned c)              \
    {                                                                                              \
        return __v##which##s2(__vadd2(a, b), c);                                                   \
    }                                                                                              \
    static inline unsigned __viadd##which##_u16x2(unsigned a, unsigned b, unsigned c)              \
    {                                                                                              \
        return __v##which##u2(__vadd2(a, b), c);                                                   \
    }                                                                                              \
    static inline unsigned __viadd##which##_s16x2_relu(unsigned a, unsigned b, unsigned c)         \
    {                                                                                              \
        return __vi##which##_s16x2_relu(__vadd2(a, b), c);                                         \
    }                                                                                              \
    static inline unsigned __vib##which##_s16x2(unsigned a, unsigned b, bool *is_high,             \
                                                bool *is_low)                                      \
    {                                                                                              \
        *is_high = (short)(a >> 16) op(short)(b >> 16);                                            \
        *is_low = (short)a op(short) b;                                                            \
        return __v##which##s2(a, b);                                                               \
    }                                                                                              \
    static inline unsigned __vib##which##_u16x2(unsigned a, unsigned b, bool *is_high,             \
                                                bool *is_low)                                      \
    {                                                                                              \
        *is_high = a >> 16 op b >> 16;                                                             \
        *is_low = (a & 0xffff) op(b & 0xffff);                                                     \
        return __v##which##u2(a, b);                                                               \
    }
KMM_HOST_CHOSEN(max, >=)
KMM_HOST_CHOSEN(min, <=)
#undef KMM_HOST_CHOSEN

#endif
