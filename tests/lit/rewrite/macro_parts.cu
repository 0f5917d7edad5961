// REQUIRES: nvcc
// RUN: %kmmcc --target=cuda --emit-source=%t.cu %s && FileCheck --input-file=%t.cu %s
// RUN: %nvcc -std=c++17 -I %S/../../../include -c %t.cu -o %t.o
// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --check-prefix=HOST %s
// A macro that writes the configuration alone. The CPU target replaces a launch as a whole.
#include <cuda_runtime.h>
// HOST: :[[#@LINE+1]]:23: error: this launch has no arguments behind its '>>>'; write '<<<...>>>(...)' in one place
#define CONFIGURATION <<<(n + 31) / 32, 32>>>
__global__ void set(int *x, int n) { x[blockIdx.x] = n; }
template <int K> __global__ void templated(int *x, int n) { x[blockIdx.x] = K; }
void run(int *x, int n)
{
#pragma kmm parallel(b: block.x) write(x[b])
    set CONFIGURATION(x, n);
// CHECK: static const int kmm__registered = (kmm_cuda_register_clone((const void *)kmm_templated<4>, (const void *)templated<4>));
#pragma kmm parallel(b: block.x) write(x[b])
    templated<4> CONFIGURATION(x, n);
}
