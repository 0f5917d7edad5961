// REQUIRES: nvcc
// RUN: cd %S && %kmmcc --target=cuda --emit-source=%t.cu header.cu && grep -v "^// CHECK" %t.cu | FileCheck %s
// RUN: %nvcc -std=c++17 -I %S -I %S/../../../include -Xcompiler -Wall -Werror all-warnings -c %t.cu -o %t.o
// A kernel of a header is cloned in its namespace before the function that launches it.
#include "Inputs/kernel.h"
// CHECK: #include <kmm/cuda.h>
// CHECK: namespace deep {
// CHECK-NEXT: #line 7 "{{.*}}kernel.h"
// CHECK-NEXT: __global__ void kmm_from_header(const kmm_blocks_t kmm_blocks, float *A, int n)
// CHECK: }
// CHECK-NEXT: static const int kmm_registered_7 = kmm_cuda_register_clone((const void *)kmm_from_header, (const void *)from_header);
// CHECK-NEXT: }
// CHECK-NEXT: #line [[#@LINE+1]] "header.cu"
void run(float *A, int n)
{
#pragma kmm parallel(i = 0:n) update(A[i])
    deep::from_header<<<1, 1>>>(A, n);
}
