// Atomic functions on several numbers at once: float2, float4, bfloat16 pairs, 16 bytes; and those without a result that name their order.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t
// RUN: %kmmcc --target=host -fkmm-fibers %san %s -o %t && %t
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdio.h>

struct __align__(16) pair { unsigned long long count, sum; };
struct values {
    pair both, last;
    float2 two;
    float4 four;
    __nv_bfloat162 narrow;
    unsigned bits, least;
    unsigned long long tickets;
};

enum { BLOCKS = 37, THREADS = 64, ALL = BLOCKS * THREADS };

__global__ void all(values *v)
{
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    pair old = v->both, seen;
    do { // both numbers change together
        seen = old;
        old = atomicCAS(&v->both, seen, pair{seen.count + 1, seen.sum + k});
    } while (old.count != seen.count || old.sum != seen.sum);
    if (old.sum > (unsigned long long)ALL * ALL)
        v->bits = 1u << 31;
    const pair was = atomicExch(&v->last, pair{k, ~(unsigned long long)k}); // never torn
    if (was.sum != ~was.count)
        v->bits = 1u << 30;
    atomicAdd(&v->two, make_float2(1, -0.5f));
    atomicAdd_system(&v->four, make_float4(1, 2, 3, 4));
    atomicAdd(&v->narrow, __halves2bfloat162(k < 100 ? 1.0f : 0.0f, k < 50 ? 2.0f : 0.0f));
    __nv_atomic_or(&v->bits, 1u << k % 8, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_min(&v->least, 5000u - k, __NV_ATOMIC_SEQ_CST);
    unsigned long long seen_ticket = __nv_atomic_load_n(&v->tickets, __NV_ATOMIC_RELAXED), next;
    do
        next = seen_ticket + 3;
    while (!__nv_atomic_compare_exchange(&v->tickets, &seen_ticket, &next, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED));
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_BLOCK);
}
__global__ void shared(float4 *out)
{
    __shared__ float2 two;
    __shared__ float4 four;
    if (threadIdx.x == 0) {
        two = make_float2(0, 0);
        four = make_float4(0, 0, 0, 0);
    }
    __syncthreads();
    atomicAdd(&two, make_float2(1, 2));
    atomicAdd_block(&four, make_float4(1, 2, 3, 4));
    __syncthreads();
    if (threadIdx.x == 0)
        *out = make_float4(two.x, two.y, four.x, four.w);
}

int main()
{
    static values v, *device;
    float4 s, *device_s;
    int failed = 0;
    v.least = 1u << 20;
    v.last.sum = ~0ull;
    cudaMalloc(&device, sizeof(v));
    cudaMalloc(&device_s, sizeof(s));
    cudaMemcpy(device, &v, sizeof(v), cudaMemcpyHostToDevice);
    all<<<BLOCKS, THREADS>>>(device);
    shared<<<1, THREADS>>>(device_s);
    cudaMemcpy(&v, device, sizeof(v), cudaMemcpyDeviceToHost);
    cudaMemcpy(&s, device_s, sizeof(s), cudaMemcpyDeviceToHost);
#define IS(condition)                                                                              \
    if (!(condition))                                                                              \
        failed += printf("not %s\n", #condition);
    IS(v.both.count == ALL && v.both.sum == (unsigned long long)ALL * (ALL - 1) / 2)
    IS(v.last.sum == ~v.last.count)
    IS(v.two.x == ALL && v.two.y == -0.5f * ALL)
    IS(v.four.x == ALL && v.four.y == 2 * ALL && v.four.z == 3 * ALL && v.four.w == 4 * ALL)
    IS(__low2float(v.narrow) == 100 && __high2float(v.narrow) == 100)
    IS(v.bits == 255)
    IS(v.least == 5000 - (ALL - 1))
    IS(v.tickets == 3 * ALL)
    IS(s.x == THREADS && s.y == 2 * THREADS && s.z == THREADS && s.w == 4 * THREADS)
    IS(cudaGetLastError() == cudaSuccess)
    return failed != 0;
}
