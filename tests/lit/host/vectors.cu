// Loops over the threads become loops over vectors of them, with and without debug information.
// REQUIRES: x86_64
// UNSUPPORTED: san
// RUN: %kmmcc --target=host -O3 -S %s -o %t.s && FileCheck %s < %t.s
// RUN: %kmmcc --target=host -O3 -g -S %s -o %t.g.s && FileCheck %s < %t.g.s
// CHECK-DAG: {{v?mulps}}
// CHECK-DAG: {{v?divpd}}
// CHECK-DAG: {{v?subpd}}
#include <cuda_runtime.h>
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
__global__ void divide(int n, const double *a, const double *b, double *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    c[i] = a[i] / b[i];
}
__global__ void turned(double *x)
{
    __shared__ double s[256];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    s[t] = 3.0 - s[t];
    __syncthreads();
    x[blockIdx.x * blockDim.x + t] = s[255 - t];
}
int main()
{
    saxpy<<<1, 1>>>(0, 0, nullptr, nullptr);
    divide<<<1, 1>>>(0, nullptr, nullptr, nullptr);
    turned<<<1, 1>>>(nullptr);
}
