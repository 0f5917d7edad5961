#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>

void on_nvidia(int n, float *x);

__global__ void more(int n, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

int main()
{
    int n = 1000;
    float *x, y[1000];
    if (hipMalloc(&x, n * sizeof(float)) != hipSuccess || hipMemset(x, 0, n * sizeof(float)) != hipSuccess)
        return 1;
#pragma kmm parallel(i = 0:n) device(hip) chunk(n / 4) update(x[i])
    more<<<(n + 63) / 64, 64>>>(n, x);
#pragma kmm parallel(i = 0:n) device(all) chunk(n / 4) update(x[i])
    more<<<(n + 63) / 64, 64>>>(n, x);
    if (getenv("ON_NVIDIA")) // which needs a real one
        on_nvidia(n, x);
    if (hipMemcpy(y, x, n * sizeof(float), hipMemcpyDeviceToHost) != hipSuccess)
        return 1;
    printf("%g %g\n", y[0], y[n - 1]);
    return hipFree(x) != hipSuccess;
}
