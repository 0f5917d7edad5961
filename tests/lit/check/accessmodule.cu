// RUN: rm -rf %t && mkdir -p %t/bin %t/lib/kmm && cp %kmm_build/bin/kmmcc %t/bin && ln -s %kmm_build/include %t/include
// RUN: ln -s %kmm_build/lib/libkmm* %t/lib && ln -s %kmm_build/lib/kmm/kmm-frontend.so %t/lib/kmm
// RUN: %t/bin/kmmcc --target=host -c %s -o %t.o 2>&1 | count 0
// RUN: %t/bin/kmmcc --target=host --explain %s | FileCheck %s
// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --check-prefix=WITH %s
// Without the module for its release of LLVM, kmmcc compares no launches, and --explain says so once.
// CHECK: launches are not compared with what their kernels access: {{.*}}kmm-ir-
// CHECK-NOT: not compared
// WITH-COUNT-2: error: 'x[i]' is less than
#include <cuda_runtime.h>
__global__ void next(int n, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1)
        y[i] = x[i + 1];
}
__global__ void wide(int n, const double *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
void launch(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) update(y[i])
    next<<<(n + 255) / 256, 256>>>(n, x, y);
#pragma kmm parallel(i = 0:n) read(x[i]) update(y[i])
    wide<<<(n + 255) / 256, 256>>>(n, (double *)x, y);
}
