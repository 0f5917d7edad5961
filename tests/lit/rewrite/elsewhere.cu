// REQUIRES: nvcc
// RUN: rm -rf %t && mkdir %t
// RUN: %kmmcc --target=cuda -I %S/Inputs -c %s -o %t/launch.o
// RUN: %kmmcc --target=cuda -fkmm-clone -I %S/Inputs -c %S/Inputs/elsewhere.cu -o %t/kernel.o
// RUN: %kmmcc --target=cuda %t/launch.o %t/kernel.o -o %t/program
// RUN: %kmmcc --target=cuda -I %S/Inputs --emit-source=%t/launch.cu %s && FileCheck --input-file=%t/launch.cu %s
// RUN: %kmmcc --target=cuda -fkmm-clone -DWITH_GROUPS -I %S/Inputs --emit-source=%t/kernel.cu %S/Inputs/elsewhere.cu && FileCheck --check-prefix=KERNEL --input-file=%t/kernel.cu %s
// A kernel that another file defines: that file registers its clone, and the launch stays as it is.
#include "elsewhere.h"
// KERNEL: kmm_cuda_register_clone((const void *)kmm_elsewhere, (const void *)elsewhere);
// KERNEL-NOT: kmm_synchronizing
int main()
{
    float *A = nullptr;
    int n = 1000;
    // CHECK: {{^}}    elsewhere<<<1, 1>>>(n, A); }
#pragma kmm parallel(i = 0:n) write(A[i])
    elsewhere<<<1, 1>>>(n, A);
    return 0;
}
