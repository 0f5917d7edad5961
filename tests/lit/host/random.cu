// Without a barrier that is needed, threads in random order give another result.
// RUN: %kmmcc --target=host -fkmm-random %san %s -o %t
// RUN: %t | FileCheck --check-prefix=RIGHT %s
// RUN: env KMM_SEED=7 %t | FileCheck --check-prefix=RIGHT %s
// RUN: %t without | FileCheck --check-prefix=WRONG %s
// The same where threads are fibers.
// RUN: %kmmcc --target=host -fkmm-random -fkmm-fibers %san %s -o %t.fibers
// RUN: %t.fibers | FileCheck --check-prefix=RIGHT %s
// RUN: env KMM_SEED=7 %t.fibers | FileCheck --check-prefix=RIGHT %s
// RUN: %t.fibers without | FileCheck --check-prefix=WRONG %s
// RIGHT: wrong 0{{$}}
// WRONG: wrong {{[1-9][0-9]}}
#include <cuda_runtime.h>
#include <stdio.h>
__global__ void shift(int *x, int missing)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (!missing) {
        int v = s[(t + 1) % 64];
        __syncthreads();
        s[t] = v;
    } else {
        int v = s[(t + 1) % 64];
        s[t] = v;
    }
    __syncthreads();
    x[t] = s[t];
}
int main(int argc, char **)
{
    int h[64], *x, wrong = 0;
    cudaMalloc(&x, sizeof(h));
    shift<<<1, 64>>>(x, argc > 1);
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    for (int k = 0; k < 64; k++)
        wrong += h[k] != (k + 1) % 64;
    printf("wrong %d\n", wrong);
}
