// KMM_CHECK=access names the argument that a chunk reads where it may not, and not the one that it stores the copies to.
// RUN: %kmmcc --target=host -fno-kmm-compare -O1 %san %s -o %t
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_CHECK=access %t 2>&1 | FileCheck %s
#include <cuda_runtime.h>
#include <stdlib.h>

enum { N = 40000 };

__global__ void gather(int n, int stride, int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i * stride];
}

int main()
{
    int *in, *out, stride = atoi("3");
    cudaMalloc(&in, 4 * N * sizeof(int));
    cudaMalloc(&out, N * sizeof(int));
    cudaMemset(in, 0, 4 * N * sizeof(int));
    // CHECK: warning: {{.*}}gather: chunk {{[0-9]}} of 5: argument in[2*i]: the chunk has read elements that no clause lets it read, and stored them to argument out[i], or sums with them, elements
    // CHECK-NOT: promises to store
    #pragma kmm parallel(i = 0:N) chunk(N / 5) read(in[2*i]) write(out[i])
    gather<<<(N + 127) / 128, 128>>>(N, stride, out, in);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(in);
    return 0;
}
