// A header with a kernel and its launch that is included once for each type.
// RUN: %kmmcc --target=host -I %S/Inputs %s -o %t
// RUN: env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// RUN: %kmmcc --target=host -fno-kmm -I %S/Inputs %s -o %t && %t | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>
#define T int
#include "per_type.h"
#undef T
#define T double
#include "per_type.h"
int main(void)
{
    // CHECK: 4
    run(5);
    // CHECK: 5.5
    run(5.5);
}
