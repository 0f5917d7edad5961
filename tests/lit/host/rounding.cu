// Rounding in each direction, conversions, half, bfloat16 and SIMD in a word: random arguments, exact results.
// RUN: %kmmcc --target=host %san -Wall -Wextra -Werror %s -o %t
// RUN: %python %S/Inputs/exact.py make %t.in 150
// RUN: %t %t.in %t.out > %t.names
// RUN: %python %S/Inputs/exact.py check %t.in %t.out %t.names
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    double a, b, c;
    long long l, m;
    unsigned long long p, q;
    float f, g, h;
    int i, j, k;
    unsigned u, v, w;
    unsigned short x, y, z, r, s, t;
    short n;
    unsigned short o;
};

template <class T> __device__ unsigned long long bits(T value)
{
    unsigned long long out = 0;
    memcpy(&out, &value, sizeof(value));
    return out;
}

#define LIST(X) \
    X(__fadd_rn(f, g)) X(__fadd_rz(f, g)) X(__fadd_ru(f, g)) X(__fadd_rd(f, g)) X(__fsub_rn(f, g)) X(__fsub_rz(f, g)) \
    X(__fsub_ru(f, g)) X(__fsub_rd(f, g)) X(__fmul_rn(f, g)) X(__fmul_rz(f, g)) X(__fmul_ru(f, g)) X(__fmul_rd(f, g)) \
    X(__fdiv_rn(f, g)) X(__fdiv_rz(f, g)) X(__fdiv_ru(f, g)) X(__fdiv_rd(f, g)) X(__fmaf_rn(f, g, h)) X(__fmaf_rz(f, g, h)) \
    X(__fmaf_ru(f, g, h)) X(__fmaf_rd(f, g, h)) X(__fmaf_ieee_rn(f, g, h)) X(__fmaf_ieee_rz(f, g, h)) X(__fmaf_ieee_ru(f, g, h)) \
    X(__fmaf_ieee_rd(f, g, h)) X(__frcp_rn(f)) X(__frcp_rz(f)) X(__frcp_ru(f)) X(__frcp_rd(f)) X(__fsqrt_rn(f)) X(__fsqrt_rz(f)) \
    X(__fsqrt_ru(f)) X(__fsqrt_rd(f)) X(__frsqrt_rn(f)) X(__dadd_rn(a, b)) X(__dadd_rz(a, b)) X(__dadd_ru(a, b)) \
    X(__dadd_rd(a, b)) X(__dsub_rn(a, b)) X(__dsub_rz(a, b)) X(__dsub_ru(a, b)) X(__dsub_rd(a, b)) X(__dmul_rn(a, b)) \
    X(__dmul_rz(a, b)) X(__dmul_ru(a, b)) X(__dmul_rd(a, b)) X(__ddiv_rn(a, b)) X(__ddiv_rz(a, b)) X(__ddiv_ru(a, b)) \
    X(__ddiv_rd(a, b)) X(__fma_rn(a, b, c)) X(__fma_rz(a, b, c)) X(__fma_ru(a, b, c)) X(__fma_rd(a, b, c)) X(__drcp_rn(a)) \
    X(__drcp_rz(a)) X(__drcp_ru(a)) X(__drcp_rd(a)) X(__dsqrt_rn(a)) X(__dsqrt_rz(a)) X(__dsqrt_ru(a)) X(__dsqrt_rd(a)) \
    X(__double2float_rn(a)) X(__double2float_rz(a)) X(__double2float_ru(a)) X(__double2float_rd(a)) X(__int2float_rn(i)) \
    X(__int2float_rz(i)) X(__int2float_ru(i)) X(__int2float_rd(i)) X(__uint2float_rn(u)) X(__uint2float_rz(u)) \
    X(__uint2float_ru(u)) X(__uint2float_rd(u)) X(__ll2float_rn(l)) X(__ll2float_rz(l)) X(__ll2float_ru(l)) X(__ll2float_rd(l)) \
    X(__ll2double_rn(l)) X(__ll2double_rz(l)) X(__ll2double_ru(l)) X(__ll2double_rd(l)) X(__ull2float_rn(p)) \
    X(__ull2float_rz(p)) X(__ull2float_ru(p)) X(__ull2float_rd(p)) X(__ull2double_rn(p)) X(__ull2double_rz(p)) \
    X(__ull2double_ru(p)) X(__ull2double_rd(p)) X(__int2double_rn(i)) X(__uint2double_rn(u)) X(__float2int_rn(f)) \
    X(__float2int_rz(f)) X(__float2int_ru(f)) X(__float2int_rd(f)) X(__float2uint_rn(f)) X(__float2uint_rz(f)) \
    X(__float2uint_ru(f)) X(__float2uint_rd(f)) X(__float2ll_rn(f)) X(__float2ll_rz(f)) X(__float2ll_ru(f)) X(__float2ll_rd(f)) \
    X(__float2ull_rn(f)) X(__float2ull_rz(f)) X(__float2ull_ru(f)) X(__float2ull_rd(f)) X(__double2int_rn(a)) \
    X(__double2int_rz(a)) X(__double2int_ru(a)) X(__double2int_rd(a)) X(__double2uint_rn(a)) X(__double2uint_rz(a)) \
    X(__double2uint_ru(a)) X(__double2uint_rd(a)) X(__double2ll_rn(a)) X(__double2ll_rz(a)) X(__double2ll_ru(a)) \
    X(__double2ll_rd(a)) X(__double2ull_rn(a)) X(__double2ull_rz(a)) X(__double2ull_ru(a)) X(__double2ull_rd(a)) \
    X(__double2half(a)) X(__half2float(x)) X(__half2char_rz(x)) X(__half2uchar_rz(x)) X(__float2half_rn(f)) \
    X(__float2half_rz(f)) X(__float2half_ru(f)) X(__float2half_rd(f)) X(__int2half_rn(i)) X(__int2half_rz(i)) \
    X(__int2half_ru(i)) X(__int2half_rd(i)) X(__half2int_rn(x)) X(__half2int_rz(x)) X(__half2int_ru(x)) X(__half2int_rd(x)) \
    X(__uint2half_rn(u)) X(__uint2half_rz(u)) X(__uint2half_ru(u)) X(__uint2half_rd(u)) X(__half2uint_rn(x)) \
    X(__half2uint_rz(x)) X(__half2uint_ru(x)) X(__half2uint_rd(x)) X(__ll2half_rn(l)) X(__ll2half_rz(l)) X(__ll2half_ru(l)) \
    X(__ll2half_rd(l)) X(__half2ll_rn(x)) X(__half2ll_rz(x)) X(__half2ll_ru(x)) X(__half2ll_rd(x)) X(__ull2half_rn(p)) \
    X(__ull2half_rz(p)) X(__ull2half_ru(p)) X(__ull2half_rd(p)) X(__half2ull_rn(x)) X(__half2ull_rz(x)) X(__half2ull_ru(x)) \
    X(__half2ull_rd(x)) X(__short2half_rn(n)) X(__short2half_rz(n)) X(__short2half_ru(n)) X(__short2half_rd(n)) \
    X(__half2short_rn(x)) X(__half2short_rz(x)) X(__half2short_ru(x)) X(__half2short_rd(x)) X(__ushort2half_rn(o)) \
    X(__ushort2half_rz(o)) X(__ushort2half_ru(o)) X(__ushort2half_rd(o)) X(__half2ushort_rn(x)) X(__half2ushort_rz(x)) \
    X(__half2ushort_ru(x)) X(__half2ushort_rd(x)) X(__hadd(x, y)) X(__hsub(x, y)) X(__hmul(x, y)) X(__hdiv(x, y)) \
    X(__hadd_rn(x, y)) X(__hsub_rn(x, y)) X(__hmul_rn(x, y)) X(__hadd_sat(x, y)) X(__hsub_sat(x, y)) X(__hmul_sat(x, y)) \
    X(__hmax(x, y)) X(__hmin(x, y)) X(__hmax_nan(x, y)) X(__hmin_nan(x, y)) X(__heq(x, y)) X(__hne(x, y)) X(__hlt(x, y)) \
    X(__hgt(x, y)) X(__hle(x, y)) X(__hge(x, y)) X(__hequ(x, y)) X(__hneu(x, y)) X(__hltu(x, y)) X(__hgtu(x, y)) X(__hleu(x, y)) \
    X(__hgeu(x, y)) X(__hfma(x, y, z)) X(__hfma_sat(x, y, z)) X(__hfma_relu(x, y, z)) X(__double2bfloat16(a)) \
    X(__bfloat162float(r)) X(__bfloat162char_rz(r)) X(__bfloat162uchar_rz(r)) X(__float2bfloat16_rn(f)) \
    X(__float2bfloat16_rz(f)) X(__float2bfloat16_ru(f)) X(__float2bfloat16_rd(f)) X(__int2bfloat16_rn(i)) \
    X(__int2bfloat16_rz(i)) X(__int2bfloat16_ru(i)) X(__int2bfloat16_rd(i)) X(__bfloat162int_rn(r)) X(__bfloat162int_rz(r)) \
    X(__bfloat162int_ru(r)) X(__bfloat162int_rd(r)) X(__uint2bfloat16_rn(u)) X(__uint2bfloat16_rz(u)) X(__uint2bfloat16_ru(u)) \
    X(__uint2bfloat16_rd(u)) X(__bfloat162uint_rn(r)) X(__bfloat162uint_rz(r)) X(__bfloat162uint_ru(r)) X(__bfloat162uint_rd(r)) \
    X(__ll2bfloat16_rn(l)) X(__ll2bfloat16_rz(l)) X(__ll2bfloat16_ru(l)) X(__ll2bfloat16_rd(l)) X(__bfloat162ll_rn(r)) \
    X(__bfloat162ll_rz(r)) X(__bfloat162ll_ru(r)) X(__bfloat162ll_rd(r)) X(__ull2bfloat16_rn(p)) X(__ull2bfloat16_rz(p)) \
    X(__ull2bfloat16_ru(p)) X(__ull2bfloat16_rd(p)) X(__bfloat162ull_rn(r)) X(__bfloat162ull_rz(r)) X(__bfloat162ull_ru(r)) \
    X(__bfloat162ull_rd(r)) X(__short2bfloat16_rn(n)) X(__short2bfloat16_rz(n)) X(__short2bfloat16_ru(n)) \
    X(__short2bfloat16_rd(n)) X(__bfloat162short_rn(r)) X(__bfloat162short_rz(r)) X(__bfloat162short_ru(r)) \
    X(__bfloat162short_rd(r)) X(__ushort2bfloat16_rn(o)) X(__ushort2bfloat16_rz(o)) X(__ushort2bfloat16_ru(o)) \
    X(__ushort2bfloat16_rd(o)) X(__bfloat162ushort_rn(r)) X(__bfloat162ushort_rz(r)) X(__bfloat162ushort_ru(r)) \
    X(__bfloat162ushort_rd(r)) X(__hadd(r, s)) X(__hsub(r, s)) X(__hmul(r, s)) X(__hdiv(r, s)) X(__hadd_rn(r, s)) \
    X(__hsub_rn(r, s)) X(__hmul_rn(r, s)) X(__hadd_sat(r, s)) X(__hsub_sat(r, s)) X(__hmul_sat(r, s)) X(__hmax(r, s)) \
    X(__hmin(r, s)) X(__hmax_nan(r, s)) X(__hmin_nan(r, s)) X(__heq(r, s)) X(__hne(r, s)) X(__hlt(r, s)) X(__hgt(r, s)) \
    X(__hle(r, s)) X(__hge(r, s)) X(__hequ(r, s)) X(__hneu(r, s)) X(__hltu(r, s)) X(__hgtu(r, s)) X(__hleu(r, s)) \
    X(__hgeu(r, s)) X(__hfma(r, s, t)) X(__hfma_sat(r, s, t)) X(__hfma_relu(r, s, t)) X(__vadd2(u, v)) X(__vadd4(u, v)) \
    X(__vsub2(u, v)) X(__vsub4(u, v)) X(__vaddss2(u, v)) X(__vaddss4(u, v)) X(__vaddus2(u, v)) X(__vaddus4(u, v)) \
    X(__vsubss2(u, v)) X(__vsubss4(u, v)) X(__vsubus2(u, v)) X(__vsubus4(u, v)) X(__vabsdiffs2(u, v)) X(__vabsdiffs4(u, v)) \
    X(__vabsdiffu2(u, v)) X(__vabsdiffu4(u, v)) X(__vmaxs2(u, v)) X(__vmaxs4(u, v)) X(__vmaxu2(u, v)) X(__vmaxu4(u, v)) \
    X(__vmins2(u, v)) X(__vmins4(u, v)) X(__vminu2(u, v)) X(__vminu4(u, v)) X(__vavgs2(u, v)) X(__vavgs4(u, v)) \
    X(__vavgu2(u, v)) X(__vavgu4(u, v)) X(__vhaddu2(u, v)) X(__vhaddu4(u, v)) X(__vsads2(u, v)) X(__vsads4(u, v)) \
    X(__vsadu2(u, v)) X(__vsadu4(u, v)) X(__vcmpeq2(u, v)) X(__vcmpeq4(u, v)) X(__vcmpne2(u, v)) X(__vcmpne4(u, v)) \
    X(__vseteq2(u, v)) X(__vseteq4(u, v)) X(__vsetne2(u, v)) X(__vsetne4(u, v)) X(__vcmpgts2(u, v)) X(__vcmpgtu2(u, v)) \
    X(__vcmpges2(u, v)) X(__vcmpgeu2(u, v)) X(__vcmplts2(u, v)) X(__vcmpltu2(u, v)) X(__vcmples2(u, v)) X(__vcmpleu2(u, v)) \
    X(__vsetgts2(u, v)) X(__vsetgtu2(u, v)) X(__vsetges2(u, v)) X(__vsetgeu2(u, v)) X(__vsetlts2(u, v)) X(__vsetltu2(u, v)) \
    X(__vsetles2(u, v)) X(__vsetleu2(u, v)) X(__vabs2(u)) X(__vabsss2(u)) X(__vneg2(u)) X(__vnegss2(u)) X(__vcmpgts4(u, v)) \
    X(__vcmpgtu4(u, v)) X(__vcmpges4(u, v)) X(__vcmpgeu4(u, v)) X(__vcmplts4(u, v)) X(__vcmpltu4(u, v)) X(__vcmples4(u, v)) \
    X(__vcmpleu4(u, v)) X(__vsetgts4(u, v)) X(__vsetgtu4(u, v)) X(__vsetges4(u, v)) X(__vsetgeu4(u, v)) X(__vsetlts4(u, v)) \
    X(__vsetltu4(u, v)) X(__vsetles4(u, v)) X(__vsetleu4(u, v)) X(__vabs4(u)) X(__vabsss4(u)) X(__vneg4(u)) X(__vnegss4(u)) \
    X(__vimax_s32_relu(i, j)) X(__vimax_s16x2_relu(u, v)) X(__vimax3_s32(i, j, k)) X(__viaddmax_s32(i, j, k)) \
    X(__vimax3_s32_relu(i, j, k)) X(__viaddmax_s32_relu(i, j, k)) X(__vimax3_u32(u, v, w)) X(__viaddmax_u32(u, v, w)) \
    X(__vimax3_s16x2(u, v, w)) X(__viaddmax_s16x2(u, v, w)) X(__vimax3_s16x2_relu(u, v, w)) X(__viaddmax_s16x2_relu(u, v, w)) \
    X(__vimax3_u16x2(u, v, w)) X(__viaddmax_u16x2(u, v, w)) X(__vimin_s32_relu(i, j)) X(__vimin_s16x2_relu(u, v)) \
    X(__vimin3_s32(i, j, k)) X(__viaddmin_s32(i, j, k)) X(__vimin3_s32_relu(i, j, k)) X(__viaddmin_s32_relu(i, j, k)) \
    X(__vimin3_u32(u, v, w)) X(__viaddmin_u32(u, v, w)) X(__vimin3_s16x2(u, v, w)) X(__viaddmin_s16x2(u, v, w)) \
    X(__vimin3_s16x2_relu(u, v, w)) X(__viaddmin_s16x2_relu(u, v, w)) X(__vimin3_u16x2(u, v, w)) X(__viaddmin_u16x2(u, v, w)) \
    X(__dp4a(i, j, k)) X(__dp4a(u, v, w)) X(__dp2a_lo(i, j, k)) X(__dp2a_lo(u, v, w)) X(__dp2a_hi(i, j, k)) \
    X(__dp2a_hi(u, v, w))

__global__ void all(int count, const arguments *in, unsigned long long *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count)
        return;
    const arguments own = in[at];
    const double a = own.a, b = own.b, c = own.c;
    const float f = own.f, g = own.g, h = own.h;
    const long long l = own.l;
    const unsigned long long p = own.p;
    const int i = own.i, j = own.j, k = own.k;
    const unsigned u = own.u, v = own.v, w = own.w;
    const __half x = __ushort_as_half(own.x), y = __ushort_as_half(own.y), z = __ushort_as_half(own.z);
    const __nv_bfloat16 r = __ushort_as_bfloat16(own.r), s = __ushort_as_bfloat16(own.s), t = __ushort_as_bfloat16(own.t);
    const short n = own.n;
    const unsigned short o = own.o;
    int column = 0;
#define OUT(expression) out[column++ * count + at] = bits(expression);
    LIST(OUT)
}

int main(int argc, char **argv)
{
    enum { MOST = 100000 };
    static arguments in[MOST];
    static const char *const names[] = {
#define NAME(expression) #expression,
        LIST(NAME)
    };
    const int columns = sizeof(names) / sizeof(*names);
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : nullptr;
    if (!file)
        return 1;
    const int count = (int)fread(in, sizeof(*in), MOST, file);
    fclose(file);
    arguments *device_in;
    unsigned long long *device_out, *out = new unsigned long long[(size_t)columns * count];
    cudaMalloc(&device_in, count * sizeof(*in));
    cudaMalloc(&device_out, (size_t)columns * count * sizeof(*out));
    cudaMemcpy(device_in, in, count * sizeof(*in), cudaMemcpyHostToDevice);
    all<<<(count + 63) / 64, 64>>>(count, device_in, device_out);
    cudaMemcpy(out, device_out, (size_t)columns * count * sizeof(*out), cudaMemcpyDeviceToHost);
    file = fopen(argv[2], "wb");
    if (!file || fwrite(out, sizeof(*out), (size_t)columns * count, file) != (size_t)columns * count || fclose(file))
        return 1;
    for (int k = 0; k < columns; k++)
        puts(names[k]);
    return cudaGetLastError() != cudaSuccess;
}
