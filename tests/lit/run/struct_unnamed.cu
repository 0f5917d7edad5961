// A struct by value whose pointers no clause names: the message says which member, and what to write.
// RUN: %kmmcc --target=host -O1 %san %s -o %t
// RUN: %not %t 2>&1 | FileCheck %s
// RUN: %kmmcc --target=host -O1 %san -DSLICED -w %s -o %t && %not %t 2>&1 | FileCheck %s --check-prefix=SLICED
#include <cuda_runtime.h>

struct two {
    const float *in;
    float *out;
};

struct larger : two {
    float *out;
};

__global__ void next(int n, two t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        t.out[i - n] = t.in[i + n] + 1;
}

int main(void)
{
    int n = 6000;
    float *x, *y;
    cudaMalloc(&x, 2 * n * sizeof(float));
    cudaMalloc(&y, 2 * n * sizeof(float));
    two t = {x, y + n};
#ifdef SLICED // the pointer is not that of the argument's own member
    larger l;
    l.in = x;
    l.two::out = y + n;
    l.out = nullptr;
    // SLICED: kmm: error: {{.*}}struct_unnamed.cu:[[#@LINE+1]]: next: argument 2 has the pointer ((two)(l)).out into an array that no access clause names
    #pragma kmm parallel(i = 0:n) read(((two)l).in[i + n])
    next<<<(n + 255) / 256, 256>>>(n, l);
#else
    // CHECK: kmm: error: {{.*}}struct_unnamed.cu:[[#@LINE+1]]: next: argument 2 has the pointer t.out into an array that no access clause names; add `read`, `write` or `update` with that member, as in read(t.out[...])
    #pragma kmm parallel(i = 0:n) read(t.in[i + n])
    next<<<(n + 255) / 256, 256>>>(n, t);
#endif
    cudaDeviceSynchronize();
    return 0;
}
