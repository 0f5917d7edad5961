// SPDX-License-Identifier: Apache-2.0
// C = A + B in HIP, as vector_add.cu is in CUDA. The pragma line is all that kmm needs: arrays
// larger than the GPU's memory, or spread over several GPUs, are added by the same program.
#include <hip/hip_runtime.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        hipError_t status = (call);                                                                \
        if (status != hipSuccess) {                                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status));         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void vector_add(int n, float *C, const float *A, const float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i] + B[i];
}

// Element i of a random sequence, in [0, 1).
static float random_value(uint64_t seed, uint64_t i)
{
    uint64_t z = (seed << 32) + i * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (float)(z >> 40) / (1 << 24);
}

static void add_on_device(int n, float *c, const float *a, const float *b)
{
    size_t bytes = (size_t)n * sizeof(float);
    float *A, *B, *C;
    CHECK(hipMalloc(&A, bytes));
    CHECK(hipMalloc(&B, bytes));
    CHECK(hipMalloc(&C, bytes));
    CHECK(hipMemcpy(A, a, bytes, hipMemcpyHostToDevice));
    CHECK(hipMemcpy(B, b, bytes, hipMemcpyHostToDevice));

    if (n > 0) {
        #pragma kmm parallel(i = 0:n) chunk(n / 10) read(A[i], B[i]) write(C[i])
        hipLaunchKernelGGL(vector_add, dim3((n + 255) / 256), dim3(256), 0, 0, n, C, A, B);
        CHECK(hipGetLastError());
    }

    CHECK(hipMemcpy(c, C, bytes, hipMemcpyDeviceToHost));
    CHECK(hipFree(A));
    CHECK(hipFree(B));
    CHECK(hipFree(C));
}

// A whole number from the command line; -1, which no option allows, when it is none.
static long number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    return end != text && *end == '\0' ? value : -1;
}

static int usage(void)
{
    fprintf(stderr, "usage: vector_add [-n elements] [-s seed]\n");
    return 2;
}

int main(int argc, char **argv)
{
    long count = 1000000;
    uint64_t seed = 1;
    for (int option; (option = getopt(argc, argv, "n:s:")) != -1;) {
        switch (option) {
        case 'n': count = number(optarg); break;
        case 's': seed = strtoull(optarg, NULL, 10); break;
        default: return usage();
        }
    }
    if (optind != argc || count < 0 || count > INT_MAX - 255)
        return usage();

    int n = (int)count;
    size_t bytes = (size_t)n * sizeof(float);
    float *a = (float *)malloc(bytes + 1), *b = (float *)malloc(bytes + 1),
          *c = (float *)malloc(bytes + 1);
    if (!a || !b || !c) {
        fprintf(stderr, "vector_add: not enough host memory for 3 x %zu bytes\n", bytes);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        a[i] = random_value(seed, i);
        b[i] = random_value(seed + 1, i);
    }

    add_on_device(n, c, a, b);

    long long wrong = 0;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        wrong += c[i] != random_value(seed, i) + random_value(seed + 1, i);
        sum += c[i];
    }
    printf("vector_add: n = %d, sum = %.9g, %lld wrong: %s\n", n, sum, wrong,
           wrong ? "FAILED" : "ok");
    free(a);
    free(b);
    free(c);
    return wrong != 0;
}
