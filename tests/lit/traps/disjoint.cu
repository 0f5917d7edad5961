// RUN: %not %kmmcc --target=host -DHULL -c %s -o %t.o 2>&1 | FileCheck --check-prefix=HULL %s
// RUN: %kmmcc --target=host -Wno-kmm-overlap %san -O1 %s -o %t
// RUN: %not %t 2>&1 | FileCheck %s
// RUN: %not %t wrap 2>&1 | FileCheck --check-prefix=WRAP %s
// That an axis occurs in an index does not make the chunks' stores disjoint.
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void tiles(int n, int *out)
{
    int i = blockIdx.x * 56 + threadIdx.x - 4;
    if (threadIdx.x >= 4 && threadIdx.x < 60 && i < n)
        out[i] = i;
}

__global__ void sum(int w, int *out)
{
    out[blockIdx.x + blockIdx.y] = w;
}

__global__ void wrapped(int w, int *out)
{
    out[(blockIdx.x * blockDim.x + threadIdx.x) % w] = 1;
}

int main(int argc, char **)
{
    int *out, n = 1000;
    cudaMalloc(&out, n * sizeof(int));
#ifdef HULL
    // HULL: :[[#@LINE+1]]:60: error: neighbouring chunks would both write 8 elements at their border: 'out[b * 56 - 4:64]' moves by 56 for each 'b', but is 64 long
    #pragma kmm parallel(b: block.x = 0:18) chunk(4) write(out[b * 56 - 4:64])
    tiles<<<18, 64>>>(n, out);
    // HULL: :[[#@LINE+1]]:58: error: 'i % n' is not affine in the axes
    #pragma kmm parallel(i = 0:n) chunk(n / 4) write(out[i % n])
    wrapped<<<18, 64>>>(n, out);
#endif
    if (argc > 1) {
        // The whole array, as a remainder needs it, has no disjoint parts.
        // WRAP: disjoint.cu:[[#@LINE+1]]: wrapped: chunk 1 of 2: argument out[0 * b:500]: another chunk of this launch writes the same elements
        #pragma kmm parallel(b: block.x) update(out[0 * b:500]) chunk(n / 100)
        wrapped<<<18, 64>>>(500, out);
    } else {
        // CHECK: disjoint.cu:[[#@LINE+1]]: sum: chunk 1 of 25: argument out[x + y]: another chunk of this launch writes the same elements
        #pragma kmm parallel(x: block.x, y: block.y) chunk(2, 2) write(out[x + y])
        sum<<<dim3(10, 10), 1>>>(n, out);
    }
    cudaError_t error = cudaGetLastError();
    printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
