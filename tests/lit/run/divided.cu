// Chunks that a device has no room for, where the host's memory is limited, run in smaller parts: along one dimension, or along both
// where each chunk uses rows of one array and columns of another.
// RUN: %kmmcc --target=host -O1 %san %s -o %t
// RUN: env KMM_DEVICES=host:2,mem=512K KMM_HOST_MEM=64M %t 2> %t.err | FileCheck %s
// RUN: FileCheck --check-prefix=WARNING --input-file=%t.err %s
// RUN: env KMM_DEVICES=host:2,mem=512K KMM_HOST_MEM=64M KMM_CHECK=access %t 2>/dev/null | FileCheck %s
// RUN: env KMM_DEVICES=host %t | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>

enum { N = 512 };

__global__ void transpose(float *out, const float *in)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    out[y * N + x] = in[x * N + y];
}

__global__ void add(float *out, const float *in)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    out[i] += in[i] + 1;
}

int main()
{
    static float values[N * N];
    float *in, *out;
    int wrong = 0, n = N * N;
    for (int i = 0; i < N * N; i++)
        values[i] = i;
    cudaMalloc(&in, sizeof(values));
    cudaMalloc(&out, sizeof(values));
    cudaMemcpy(in, values, sizeof(values), cudaMemcpyHostToDevice);

    // WARNING: divided.cu:[[#@LINE+1]]: transpose: chunks 0 to 3 of 4: one needs {{[0-9]+}} bytes on host:0 at once, of which {{[0-9]+}} can be used: they run in {{[0-9]+}} parts each [divided]
    #pragma kmm parallel(x = 0:N, y = 0:N) chunk(N / 2, N / 2) shape(in[N][N], out[N][N]) read(in[x][y]) write(out[y][x])
    transpose<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(out, in);
    // WARNING: divided.cu:[[#@LINE+1]]: add: chunks 0 to 1 of 2: one needs {{[0-9]+}} bytes on host:0 at once, of which {{[0-9]+}} can be used: they run in 2 parts each [divided]
    #pragma kmm parallel(i = 0:n) chunk(n / 2) read(in[i]) update(out[i])
    add<<<N * N / 256, 256>>>(out, in);
    cudaMemcpy(values, out, sizeof(values), cudaMemcpyDeviceToHost);
    for (int i = 0; i < N * N; i++)
        wrong += values[i] != i % N * N + i / N + i + 1;
    // CHECK: 0 wrong, cudaSuccess
    printf("%d wrong, %s\n", wrong, cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
