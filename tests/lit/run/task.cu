// A task in CUDA source: several launches and a library call on the task's stream, in order with chunked launches.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=4M %t | FileCheck %s
// RUN: %kmmcc --target=host -fno-kmm %san -O1 %s -o %t.erased && %t.erased | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void fill(int n, float *x, float value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value + i % 4;
}

__global__ void add(int n, float *x, const float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += y[i];
}

/* What a library does: enqueues work on a stream. */
static void library_add(cudaStream_t s, int n, float *x, const float *y)
{
    add<<<(n + 127) / 128, 128, 0, s>>>(n, x, y);
}

int main()
{
    const int n = 100001;
    float *x, *y, last[4];
    int steps = 0;
    cudaStream_t s = 0;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    #pragma kmm parallel(i = 0:n) chunk(n / 5) write(x[i])
    fill<<<(n + 127) / 128, 128>>>(n, x, 1);
    #pragma kmm parallel(i = 0:n) chunk(n / 3) write(y[i])
    fill<<<(n + 127) / 128, 128>>>(n, y, 10);
    #pragma kmm task stream(s) update(x) read(y[0:n])
    {
        library_add(s, n, x, y);
        steps++;
        for (int k = 0; k < 2; k++) {
            if (k == 0)
                continue;
            add<<<(n + 127) / 128, 128, 0, s>>>(n, x, y);
            steps++;
        }
    }
    #pragma kmm parallel(i = 0:n) chunk(n / 4) update(x[i]) read(y[i])
    add<<<(n + 127) / 128, 128>>>(n, x, y);
    #pragma kmm task read(x) write(y) device(0)
    library_add(0, n, y, x);
    cudaMemcpy(last, y + n - 4, sizeof(last), cudaMemcpyDeviceToHost);
    // CHECK: 2: 46 51 56 41
    printf("%d: %g %g %g %g\n", steps, last[0], last[1], last[2] , last[3]);
    cudaFree(x);
    cudaFree(y);
}
