#include <cuda_runtime.h>
__global__ void elsewhere(int n, float *A);
