#include <cuda_runtime.h>

extern __device__ int scale;
extern __device__ const int fixed;
__device__ int here = 1;
static __device__ int own = 2;
extern __constant__ int shift;
void set_scale(int value);

__global__ void use(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = scale * here + own + fixed + shift;
}

int main()
{
    int n = 1000, *x;
    cudaMalloc(&x, n * sizeof(int));
    set_scale(3);
    #pragma kmm parallel(i = 0:n) chunk(100) write(x[i])
    use<<<(n + 63) / 64, 64>>>(n, x);
    return cudaFree(x) != cudaSuccess;
}
