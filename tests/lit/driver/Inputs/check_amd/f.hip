__global__ void k(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 1;
}
void f(float *x, int n)
{
#pragma kmm parallel(i) write(x[i])
    k<<<n / 64, 64>>>(x, n);
}
