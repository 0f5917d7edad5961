// Intrinsics give what CUDA's documentation says, in kernels.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t | FileCheck %s
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>

__global__ void integers(unsigned *o, unsigned a, unsigned b)
{
    // a = 0x80c04012, b = 0x7f01fe13
    *o++ = __popc(a); *o++ = __popcll(0xff00ff00ff00ff00ull); *o++ = __clz((int)b); *o++ = __clz(0); *o++ = __clzll(1); *o++ = __ffs(0x60);
    *o++ = __ffsll(1ll << 40); *o++ = __brev(a); *o++ = (unsigned)(__brevll(a) >> 32); *o++ = __byte_perm(a, b, 0x7531); *o++ = __byte_perm(a, b, 0x00b8);
    *o++ = __mul24(0x01fffffe, 3); *o++ = __umul24(0x01fffffe, 3); *o++ = __mulhi((int)a, 16); *o++ = __umulhi(a, 16);
    *o++ = (unsigned)__umul64hi(1ull << 63, 6); *o++ = (unsigned)__mul64hi(-(1ll << 62), 8); *o++ = __funnelshift_l(a, b, 36);
    *o++ = __funnelshift_r(a, b, 8); *o++ = __funnelshift_lc(a, b, 33); *o++ = __funnelshift_rc(a, b, 32); *o++ = __sad(-3, 5, 10u);
    *o++ = __usad(3, 5, 10); *o++ = __hadd(-7, 4); *o++ = __rhadd(-7, 4); *o++ = __uhadd(~0u, ~0u); *o++ = __urhadd(~0u, 0);
    *o++ = __vadd4(a, b); *o++ = __vsub2(a, b); *o++ = __vabsdiffu4(a, b); *o++ = __vmaxu4(a, b); *o++ = __vmaxs4(a, b); *o++ = __vmins2(a, b);
    *o++ = __vcmpeq4(a, 0x80004012u); *o++ = __vcmpgts4(a, b); *o++ = __vcmpgtu2(a, b); *o++ = __vsadu4(a, b); *o++ = __vavgu4(a, b);
    *o++ = __vseteq4(a, 0x80004012u); *o++ = __dp4a((int)a, (int)b, 5); *o++ = __dp4a(a, b, 5u);
    *o++ = __float_as_uint(__uint_as_float(a)); *o++ = __float2int_rn(2.5f); *o++ = __float2int_rz(-2.7f); *o++ = __float2int_ru(2.1f);
    *o++ = __float2int_rd(-2.1f); *o++ = __double2int_rn(3.5); *o++ = __double2hiint(1.0); *o++ = __double2loint(__hiloint2double(3, 7));
    *o++ = umin(a, b); *o++ = umax(a, b); *o++ = min(3, 4u); *o++ = (unsigned)llmax(3, -4);
    const unsigned *before = o - 1;
    *o++ = __ldg(before); *o++ = __ldcg(before);
}
__global__ void reals(double *o, float x, double y)
{
    // x = 0.3, y = 0.7
    *o++ = rsqrtf(x) * rsqrtf(x) * x - 1; *o++ = rsqrt(y) * rsqrt(y) * y - 1; *o++ = rcbrt(y) * cbrt(y) - 1; *o++ = __fdividef(x, 2) - 0.15;
    *o++ = __expf(__logf(x)) - 0.3; *o++ = __powf(x, 2) - 0.09; *o++ = __sinf(x) * __sinf(x) + __cosf(x) * __cosf(x) - 1;
    *o++ = __saturatef(1.5f) - __saturatef(-1) - 1; *o++ = sinpi(0.5) - 1; *o++ = cospi(1.0) + 1; *o++ = norm3d(2, 3, 6) - 7; *o++ = norm4d(1, 2, 2, 4) - 5;
    *o++ = rnorm3d(2, 3, 6) - 1 / 7.0; *o++ = rhypot(3, 4) - 0.2; *o++ = normcdf(1.0) - 0.84134474606854293; *o++ = normcdfinv(0.84134474606854293) - 1;
    *o++ = normcdfinv(1e-10) + 6.3613409024040557; *o++ = erfinv(0.5) - 0.47693627620446987; *o++ = erfinv(-0.999) + 2.3267537655135246;
    *o++ = erfcinv(1.7) - erfinv(-0.7); *o++ = erfcx(2.0) - 0.25539567631050574; *o++ = erfcx(30.0) * 30 - 0.56387666584;
    *o++ = exp10(2.0) - 100; *o++ = __fmaf_rn(2, 3, 4) - 10; *o++ = __dadd_rn(y, y) - 1.4; *o++ = __fsqrt_rn(4) - 2; *o++ = __frcp_rn(4) - 0.25;
    double s, c; sincospi(0.25, &s, &c); *o++ = s - c; *o++ = __ull2double_rn(1ull << 52) - 4503599627370496.0;
    *o++ = fmaxf(x, NAN) - x; *o++ = __int2float_rn(16777217) - 16777216.0f; *o++ = copysignf(x, -1.0f) + x; *o++ = ldexp(y, 3) - 8 * y;
}
__global__ void times(long long *o)
{
    long long t = clock64();
    __threadfence(); __threadfence_block(); __threadfence_system();
    *o = clock64() >= t && clock() != (clock_t)-1 ? 1 : 0;
    printf("block %d of %d: %s\n", (int)blockIdx.x, (int)gridDim.x, "printf");
    assert(*o == 1);
}

int main()
{
    static const unsigned wanted[] = {
        6, 32, 1, 32, 63, 6, 41, 0x48020301, 0x48020301, 0x7ffe8040, 0x1212ff00, 0xfffffffa, 0x02fffffa, 0xfffffff8, 8, 3, 0xfffffffe, 0xf01fe138,
        0x1380c040, 0x80c04012, 0x7f01fe13, 18, 12, 0xfffffffe, 0xffffffff, 0xffffffff, 0x80000000, 0xffc13e25, 0x01bf41ff, 0x01bfbe01, 0x80c0fe13,
        0x7f014013, 0x80c0fe13, 0xff00ffff, 0x0000ff00, 0xffff0000, 0x0000017f, 0x80619f13, 0x01000101, 0, 0, 0x80c04012, 2, (unsigned)-2, 3,
        (unsigned)-3, 4, 0x3ff00000, 7, 0x7f01fe13, 0x80c04012, 3, 3, 3, 3};
    const int count = sizeof(wanted) / sizeof(*wanted), signed_sum = -128 * 127 + -64 * 1 + 64 * -2 + 18 * 19 + 5;
    const int unsigned_sum = 128 * 127 + 192 * 1 + 64 * 254 + 18 * 19 + 5;
    unsigned *o, h[count];
    cudaMalloc(&o, sizeof(h));
    integers<<<1, 1>>>(o, 0x80c04012u, 0x7f01fe13u);
    cudaMemcpy(h, o, sizeof(h), cudaMemcpyDeviceToHost);
    for (int k = 0; k < count; k++) {
        unsigned w = k == 39 ? (unsigned)signed_sum : k == 40 ? (unsigned)unsigned_sum : wanted[k];
        if (h[k] != w)
            printf("integer %d: %08x is not %08x\n", k, h[k], w);
    }
    // CHECK-NOT: {{integer|real}}
    enum { REALS = 33 };
    double *r, g[REALS];
    cudaMalloc(&r, sizeof(g));
    reals<<<1, 1>>>(r, 0.3f, 0.7);
    cudaMemcpy(g, r, sizeof(g), cudaMemcpyDeviceToHost);
    for (int k = 0; k < REALS; k++)
        if (!(fabs(g[k]) < (k < 8 ? 2e-7 : 4e-9)))
            printf("real %d: %g\n", k, g[k]);
    long long *t;
    cudaMalloc(&t, sizeof(*t));
    times<<<1, 1>>>(t);
    cudaDeviceSynchronize();
    // CHECK: block 0 of 1: printf
    printf("done %d\n", cudaGetLastError());
    // CHECK: done 0
}
