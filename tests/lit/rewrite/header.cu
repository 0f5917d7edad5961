// REQUIRES: nvcc
// RUN: mkdir -p %t && cd %S && %kmmcc --target=cuda --emit-source=%t/header.cu header.cu && FileCheck --input-file=%t/header.cu %s
// RUN: FileCheck --check-prefix=HEADER --input-file=%t/kmm_1_kernel.h %s
// RUN: %nvcc -std=c++17 -I %S/../../../include -Xcompiler -Wall -Werror all-warnings -c %t/header.cu -o %t/header.o
// RUN: cd %S && %kmmcc --target=cuda -MD -MF %t/deps -c header.cu -o %t/header.o && FileCheck --check-prefix=DEPS --input-file=%t/deps %s
// A kernel of a header is cloned behind it, in a copy of the header.
// CHECK: {{^}}#include "kmm_1_kernel.h"
#include "Inputs/kernel.h"
// HEADER: #line 1 "Inputs/kernel.h"
// HEADER: #include <kmm/cuda.h>
// HEADER: #line 7 "Inputs/kernel.h"
// HEADER-NEXT: __global__ void kmm_from_header(const kmm_blocks_t kmm__blocks, float *A, int n)
// HEADER: }
// HEADER-NEXT: static const int kmm_registered_from_header_7 = kmm_cuda_register_clone((const void *)kmm_from_header, (const void *)from_header);
// HEADER-NEXT: #line 12 "Inputs/kernel.h"
// DEPS-NOT: kmm_1_kernel.h
// DEPS: Inputs/kernel.h
// CHECK: {{^}}    deep::from_header<<<1, 1>>>(A, n); }
void run(float *A, int n)
{
#pragma kmm parallel(i = 0:n) update(A[i])
    deep::from_header<<<1, 1>>>(A, n);
}
