// Atomic functions on all types that CUDA has, with scopes, on global and on shared memory.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t
// RUN: %kmmcc --target=host -fkmm-fibers %san %s -o %t.fibers && %t.fibers
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdio.h>

struct values {
    int i_add, i_sub, i_min, i_max, i_and, i_or, i_xor, i_exch;
    unsigned u_add, u_sub, u_min, u_max, u_inc, u_dec;
    long long l_min, l_max, l_and;
    unsigned long long q_add, q_or, q_xor, q_exch, q_cas;
    float f_add, f_exch;
    double d_add;
    unsigned short s_cas;
    __half h_add;
    __half2 h2_add;
    __nv_bfloat16 b_add;
    int locked;
};

template <class T> __device__ void multiply(T *p, T by)
{
    T old = *p, seen;
    do {
        seen = old;
        old = atomicCAS(p, seen, (T)(seen * by));
    } while (old != seen);
}
__device__ void all(values *v, int k)
{
    atomicAdd(&v->i_add, k); atomicSub(&v->i_sub, k); atomicMin(&v->i_min, -k); atomicMax(&v->i_max, k); atomicAnd(&v->i_and, ~(1 << k % 8));
    atomicOr(&v->i_or, 1 << k % 9); atomicXor(&v->i_xor, k); atomicExch(&v->i_exch, 7);
    atomicAdd_block(&v->u_add, 2u); atomicSub_system(&v->u_sub, 1u); atomicMin_block(&v->u_min, 1000u - k); atomicMax_system(&v->u_max, 5u + k);
    atomicInc(&v->u_inc, 9); atomicDec_block(&v->u_dec, 9); atomicDec(&v->u_dec, 9); atomicInc_system(&v->u_dec, 9);
    atomicMin(&v->l_min, -(1ll << 40) - k); atomicMax(&v->l_max, (1ll << 40) + k); atomicAnd(&v->l_and, ~(1ll << (32 + k % 8)));
    atomicAdd(&v->q_add, 1ull << 33); atomicOr(&v->q_or, 1ull << (k % 64)); atomicXor(&v->q_xor, 1ull << 63); atomicExch(&v->q_exch, 1ull << 50);
    multiply(&v->q_cas, 1ull);
    atomicAdd(&v->f_add, 0.5f); atomicExch(&v->f_exch, 2.5f); atomicAdd_system(&v->d_add, 0.25);
    multiply(&v->s_cas, (unsigned short)(k % 4 ? 1 : 3));
    atomicAdd(&v->h_add, __float2half(1.0f)); atomicAdd(&v->h2_add, __floats2half2_rn(1.0f, 2.0f)); atomicAdd(&v->b_add, __float2bfloat16(1.0f));
}
__global__ void global_memory(values *v) { all(v, threadIdx.x); }
__global__ void shared_memory(values *v, values first)
{
    __shared__ values s;
    if (threadIdx.x == 0)
        s = first;
    __syncthreads();
    all(&s, threadIdx.x);
    atomicAdd(&s.locked, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        s.locked -= 128;
        *v = s;
    }
}

static int check(const char *name, const values &v)
{
    int failed = 0;
#define SAME(a, b)                                                                                 \
    if ((a) != (b))                                                                                \
        failed += printf("%s: " #a " is wrong\n", name)
    int ior = 511, x = 0;
    for (int k = 0; k < 128; k++)
        x ^= k;
    SAME(v.i_add, 8128); SAME(v.i_sub, -8128); SAME(v.i_min, -127); SAME(v.i_max, 127); SAME(v.i_and, ~255); SAME(v.i_or, ior); SAME(v.i_xor, x);
    SAME(v.i_exch, 7); SAME(v.u_add, 256u); SAME(v.u_sub, 0u); SAME(v.u_min, 873u); SAME(v.u_max, 132u); SAME(v.u_inc, 8u); SAME(v.u_dec, 2u);
    SAME(v.l_min, -(1ll << 40) - 127); SAME(v.l_max, (1ll << 40) + 127); SAME(v.l_and, ~(255ll << 32)); SAME(v.q_add, 1ull << 40);
    SAME(v.q_or, ~0ull); SAME(v.q_xor, 0ull); SAME(v.q_exch, 1ull << 50); SAME(v.q_cas, 3ull); SAME(v.f_add, 64.0f); SAME(v.f_exch, 2.5f);
    SAME(v.d_add, 32.0);
    unsigned short power = 1;
    for (int k = 0; k < 32; k++)
        power = (unsigned short)(power * 3);
    SAME(v.s_cas, power);
    SAME(__half2float(v.h_add), 128.0f); SAME(__low2float(v.h2_add), 128.0f); SAME(__high2float(v.h2_add), 256.0f);
    SAME(__bfloat162float(v.b_add), 128.0f); SAME(v.locked, 0);
    return failed;
}

int main()
{
    values first = {}, got, *v;
    first.i_and = -1;
    first.u_sub = 128;
    first.u_min = ~0u;
    first.l_and = -1;
    first.q_cas = 3;
    first.s_cas = 1;
    cudaMalloc(&v, sizeof(*v));
    cudaMemcpy(v, &first, sizeof(first), cudaMemcpyHostToDevice);
    global_memory<<<1, 128>>>(v);
    cudaMemcpy(&got, v, sizeof(got), cudaMemcpyDeviceToHost);
    int failed = check("global", got);
    shared_memory<<<1, 128>>>(v, first);
    cudaMemcpy(&got, v, sizeof(got), cudaMemcpyDeviceToHost);
    return check("shared", got) + failed;
}
