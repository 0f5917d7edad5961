// SPDX-License-Identifier: Apache-2.0
__global__ void twice(int n, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}

int main()
{
    int n = 1000;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    twice<<<(n + 255) / 256, 256>>>(n, x);
    return cudaFree(x) != cudaSuccess;
}
