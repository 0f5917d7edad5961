__global__ void vector_add(int n, float *C, const float *A, const float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i] + B[i];
}

int main()
{
    int n = 1000;
    float *A, *B, *C;
    cudaMalloc(&A, n * 4);
    cudaMalloc(&B, n * 4);
    cudaMalloc(&C, n * 4);
#pragma kmm parallel(i = 0:n) chunk(n / 10) read(A[i], B[i]) write(C[i])
    vector_add<<<(n + 255) / 256, 256>>>(n, C, A, B);
    return cudaDeviceSynchronize();
}
