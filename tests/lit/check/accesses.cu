// REQUIRES: ir
// --accesses: how well the accesses of each kernel are known, also of kernels that nothing launches.
// RUN: %kmmcc --accesses %s | FileCheck %s

// CHECK: scale(float*, float const*, int):
// CHECK-NEXT: in: exact, while indices fit into 32 bits
// CHECK-NEXT: out: exact, while indices fit into 32 bits
__global__ void scale(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i];
}

// CHECK: gather(float*, float const*, int const*, int, float*):
// CHECK-NEXT: index: exact
// CHECK-NEXT: in: unknown: an index that is read from memory or computed in a loop
// CHECK-NEXT: out: exact
// CHECK-NEXT: unused: exact: it is not accessed
__global__ void gather(float *out, const float *in, const int *index, int n, float *unused)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[index[i]];
}
