// REQUIRES: nvcc
// RUN: mkdir -p %t && cd %S && %kmmcc --target=cuda --emit-source=%t/infer_header.cu infer_header.cu && FileCheck --input-file=%t/infer_header.cu %s
// RUN: cd %S && %kmmcc --target=cuda -c infer_header.cu -o %t/infer_header.o
// What a kernel of a header accesses is inferred, though nothing stands before the #include.
#include <cuda.h>
#include "Inputs/filled.h"
void run(double *d)
{
// CHECK: kmm_launch_axis(kmm, "x", KMM_GLOBAL_X, 0, 1000);
// CHECK: kmm_launch_access(kmm, KMM_WRITE, "d[x]", d, sizeof(*(d)));
#pragma kmm parallel chunk(100)
    fill<<<4, 256>>>(d, 1000);
}
