// Functions of the device that another file calls.
__device__ int offset(int i) { return blockIdx.x * blockDim.x + i; }
__device__ int twice(int i) { return 2 * i; }
