__global__ void fill(double *u, const int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        u[i] = 1.0;
}
