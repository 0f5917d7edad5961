// Pragmas that macros write: with the launch, alone, with arguments in them, through other macros, and from a header.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t | FileCheck %s
// RUN: %kmmcc --target=host -fno-kmm -O1 %san %s -o %t && %t | FileCheck %s
// RUN: cd %S && %kmmcc --target=host --emit-source macros.cu | FileCheck %s --check-prefix=SOURCE
#include <cuda_runtime.h>
#include <stdio.h>
#include "Inputs/annotate.h"

#define IN_CHUNKS(kernel, n, ...) \
    _Pragma("kmm parallel(i = 0:n) chunk(n / 3) label(\"by a macro\") update(x[i])") \
    kernel<<<((n) + 63) / 64, 64>>>(n, __VA_ARGS__)
#define BOUND(k) ((k) < 1000 ? 100 : 200)
#define PASTE(a, b) a##b
#define LAUNCH(kernel, n, ...) kernel<<<((n) + 63) / 64, 64>>>(n, __VA_ARGS__)
#define WAIT _Pragma("kmm wait")
#define TWO_STEPS(kernel, n, value) do { IN_CHUNKS(kernel, n, PASTE(x, ), value); WAIT } while (0)

__global__ void add(int n, float *x, float value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += value;
}

int main()
{
    const int n = 1000;
    float *x, host[n];
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    // SOURCE: { // _Pragma("kmm parallel (i = 0:n) update(x[i]) chunk(300)")
    // SOURCE: #line [[#@LINE+2]] "macros.cu"
    // SOURCE-NEXT: /* IN_CHUNKS is a word in a comment and "a string: IN_CHUNKS(x)"
    SPLIT((i = 0:n), update(x[i]) chunk(300)) /* IN_CHUNKS is a word in a comment and "a string: IN_CHUNKS(x)" */
    add<<<(n + 63) / 64, 64>>>(n, x, 1);
    // SOURCE: kmm_launch_begin("add", "macros.cu", [[#@LINE+2]]);
    // SOURCE: kmm_launch_label(kmm__launch, "by a macro");
    IN_CHUNKS(add,
              n, x, /* a comment, with a comma */
              2);
    // SOURCE: kmm_launch_begin("add", "macros.cu", [[#@LINE+1]]);
    for (int k = 0; k < 2; k++) TWO_STEPS(add, n, 3);
    // SOURCE: kmm_launch_axis(kmm__launch, "j", KMM_GLOBAL_X, 0, BOUND(n));
    SPLIT((j = 0:BOUND(n), b: block.x), update(x[j])) add<<<4, 64>>>(BOUND(n), x, 0.5f);
    // What a macro's launch accesses is inferred.
    // SOURCE: kmm_launch_begin("add", "macros.cu", [[#@LINE+2]]);
    // SOURCE: kmm_launch_access(kmm__launch, KMM_UPDATE, "x[x_]", x, sizeof(*(x)));
    #pragma kmm parallel
    LAUNCH(add, n, x,
           1);
    cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
    // CHECK: 10.5 10
    printf("%g %g\n", host[199], host[200]);
    // CHECK: line [[#@LINE+1]]
    printf("line %d\n", __LINE__);
    cudaFree(x);
}
