__global__ void scale(int n, T k, T *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += k / 2;
}

static void run(T k)
{
    T first[1000] = {0}, *x;
    cudaMalloc(&x, sizeof(first));
    cudaMemset(x, 0, sizeof(first));
    #pragma kmm parallel(i = 0:1000) chunk(256) update(x[i])
    scale<<<8, 128>>>(1000, k, x);
    scale<<<8, 128>>>(1000, k, x);
    cudaMemcpy(first, x, sizeof(first), cudaMemcpyDeviceToHost);
    cudaFree(x);
    printf("%g\n", (double)first[999]);
}
