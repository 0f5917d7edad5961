// RUN: %kmmcc --target=host -O1 %san %s -o %t && env KMM_STATS=1 KMM_DEVICES=host:3,mem=1M %t 2>&1 | FileCheck %s
// RUN: %if nvcc %{ %not %kmmcc -arch=sm_90 -c %s -o %t.o 2>&1 | FileCheck --check-prefix=GPU %s %}
// Calls of cudaLaunchKernel in a template, whose kernel depends on it. On GPUs they are refused.
#include <cuda_runtime.h>
#include <stdio.h>

template <class T> __global__ void adds(int n, T *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

template <class T> void run(int n, T *x)
{
    void *arguments[] = {&n, &x};
    // GPU: :[[#@LINE+2]]:5: error: the template arguments of kernel 'adds' are not known here; write its launch out below the pragma
    #pragma kmm parallel(i = 0:n) chunk(n / 8) update(x[i])
    cudaLaunchKernel((const void *)adds<T>, dim3((n + 255) / 256), dim3(256), arguments, 0, 0);
    cudaLaunchConfig_t c = {};
    c.gridDim = (n + 255) / 256;
    c.blockDim = 256;
    // GPU: :[[#@LINE+2]]:5: error: the template arguments of kernel 'adds' are not known here; write its launch out below the pragma
    #pragma kmm parallel(i = 0:n) chunk(n / 8) update(x[i])
    cudaLaunchKernelEx(&c, adds<T>, n, x);
}

int main()
{
    int n = 500000;
    float *x, last;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    run(n, x);
    cudaMemcpy(&last, x + n - 1, sizeof(last), cudaMemcpyDeviceToHost);
    // CHECK-DAG: value 2
    // CHECK-DAG: kmm: host:0 {{ *([2-9]|[1-9][0-9]+) }}
    printf("value %g\n", last);
}
