// Pretend devices share variables of the device: what would need one for each is refused, not wrong.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host:3,mem=64M %t 3 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: env KMM_DEVICES=host %t 1 2>&1 | FileCheck %s --check-prefix=ONE
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

__constant__ float factor[2];
__constant__ int broadcast;
__device__ int last;
__device__ int apart;

__global__ void use(float *x)
{
    *x = factor[1];
    last = (int)factor[1];
}

static int failed;
#define IS(call, expected)                                                                         \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != (expected))                                                                   \
            failed += printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error));       \
    } while (0)

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 1;
    const cudaError_t other = count > 1 ? cudaErrorNotSupported : cudaSuccess;
    float one[2] = {1, 2}, two[2] = {1, 3}, seen[2], *x;
    int five = 5, value = 0;
    void *p = nullptr, *q = nullptr;
    for (int d = 0; d < count; d++) { /* the same for all */
        IS(cudaSetDevice(d), cudaSuccess);
        IS(cudaMemcpyToSymbol(broadcast, &five, sizeof(five)), cudaSuccess);
        IS(cudaMemcpyFromSymbol(&value, broadcast, sizeof(value)), cudaSuccess);
    }
    five = 6; /* device 0 still has 5 */
    IS(cudaMemcpyToSymbol(broadcast, &five, sizeof(five)), other);
    IS(cudaSetDevice(0), cudaSuccess);
    IS(cudaMemcpyToSymbol(factor, one, sizeof(one)), cudaSuccess);
    IS(cudaMemcpyToSymbol(factor, two, sizeof(two)), cudaSuccess);
    IS(cudaGetSymbolAddress(&p, apart), cudaSuccess);
    IS(cudaMalloc(&x, sizeof(float)), cudaSuccess);
    use<<<1, 1>>>(x);
    IS(cudaMemcpy(seen, x, sizeof(float), cudaMemcpyDefault), cudaSuccess);
    IS(cudaMemcpyFromSymbol(&value, last, sizeof(value)), cudaSuccess);
    failed += seen[0] != 3 || value != 3;
    IS(cudaSetDevice(count - 1), cudaSuccess);
    IS(cudaMemcpyToSymbol(factor, one, sizeof(one)), other);
    IS(cudaMemcpyToSymbol(factor, one, sizeof(float)), cudaSuccess);
    IS(cudaMemcpyToSymbol(factor, one + 1, sizeof(float), sizeof(float)), other);
    IS(cudaGetSymbolAddress(&q, apart), other);
    failed += count == 1 ? p != q : q != nullptr;
    IS(cudaMemcpyFromSymbol(&value, last, sizeof(value)), other);
    IS(cudaGetLastError(), other);
    use<<<1, 1>>>(x); // as on device 0
    IS(cudaDeviceSynchronize(), cudaSuccess);
    printf("%d devices, %s\n", count, failed ? "FAILED" : "ok");
    return failed != 0;
}
// THREE: cudaMemcpyToSymbol: on the CPU target all devices share a variable
// THREE: kmm: warning: kernel use on device 2 uses variables of the device, as kernels on another device did
// THREE: 3 devices, ok
// ONE-NOT: share
// ONE: 1 devices, ok
