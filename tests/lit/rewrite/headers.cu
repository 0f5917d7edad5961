// RUN: rm -rf %t && mkdir %t
// RUN: %kmmcc --target=host %san -std=c++17 -I %S/Inputs %s -o %t/program && %t/program
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -I %S/Inputs -Xcompiler -Wall -Werror all-warnings -c %s -o %t/program.o %}
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -I %S/Inputs --emit-source=%t/headers.cu %s && FileCheck --input-file=%t/headers.cu %s %}
// RUN: %if nvcc %{ ls %t | FileCheck --check-prefix=FILES %s && cat %t/kmm_*_kernels.cuh | FileCheck --check-prefix=KERNELS %s %}
// RUN: %if nvcc %{ cat %t/kmm_*_library.h | FileCheck --check-prefix=LIBRARY %s %}
// RUN: cd %t && cp %s copy.cu && %kmmcc --target=host -std=c++17 -I %S/Inputs -MD -MF %t/deps -c copy.cu -o copy.o && FileCheck --check-prefix=DEPS --input-file=%t/deps %s
// Pragmas, launches and kernels in headers, some of which include each other twice.
// CHECK: #include "kmm_[[#]]_library.h"
#include <deep/library.h>
// CHECK: #include "kmm_[[#]]_kernels.cuh"
#include "deep/kernels.cuh"
// FILES-COUNT-2: kmm_
// KERNELS: #line 1 "{{.*}}deep/kernels.cuh"
// KERNELS: #include "/{{.*}}Inputs/verify.h"
// KERNELS: kmm_position(const kmm_blocks_t kmm__blocks)
// KERNELS: kmm_fill<<<BLOCKS, BLOCK>>>(kmm_blocks_t(), x, n, factor); }
// KERNELS: {{^}}    plain<<<BLOCKS, BLOCK, BLOCK * sizeof(int)>>>(x, n); }
// LIBRARY: #include "kmm_[[#NUMBER:]]_kernels.cuh"
// LIBRARY: #include "kmm_[[#NUMBER]]_kernels.cuh"
// DEPS-NOT: kmm_{{[0-9]}}
// DEPS: deep/library.h
// DEPS: deep/kernels.cuh
int main()
{
    array a;
    int failed = 0, n = N, *x = a.at;
    library l = {x, n};
    l.run();
    EXPECT(a.wrong(2));
    deep::launch_plain(x, n);
    EXPECT(a.wrong(3));
    // A kernel of a header launched here.
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    deep::fill<<<BLOCKS, BLOCK>>>(x, n, 5);
    EXPECT(a.wrong(5));
    return failed;
}
