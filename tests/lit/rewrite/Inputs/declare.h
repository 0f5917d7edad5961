#pragma once
#pragma kmm declare kernel(i = 0:n) read(x[i]) update(y[i])
__global__ void declared_saxpy(int n, float a, const float *x, float *y);

#pragma kmm declare kernel(j = 0:count) update((data)[j])
static __global__ void declared_scale(int count, float *data)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < count)
        data[j] *= 2;
}
