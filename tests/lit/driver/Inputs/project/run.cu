__global__ void twice(int n, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}
int run()
{
    int n = 1000;
    float *x;
    if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess)
        return 1;
#pragma kmm parallel(i = 0:n) update(x[i])
    twice<<<(n + 255) / 256, 256>>>(n, x);
    return cudaFree(x) != cudaSuccess;
}
