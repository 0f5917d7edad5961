// REQUIRES: ir
// RUN: rm -rf %t && mkdir %t && sed '/^\/\/ BEGIN/,/^\/\/ END/!d' %s > %t/a.cu && cp %t/a.cu %t/b.cu && cp %t/a.cu %t/old && chmod 640 %t/a.cu && ln -s a.cu %t/link.cu
// RUN: %kmmcc --target=host --suggest --in-place %t/link.cu %t/b.cu > %t/said && FileCheck %s --check-prefix=SAID < %t/said
// RUN: diff %t/a.cu %t/b.cu && FileCheck %s < %t/a.cu
// RUN: test -h %t/link.cu && stat -c %%a %t/a.cu | grep -x 640
// What is written compiles without a message, and is what -fkmm-auto uses.
// RUN: %kmmcc --target=host -Werror --emit-source %t/a.cu > %t/written && grep -c kmm_launch_begin %t/written | grep -x 6
// A second time nothing is written.
// RUN: cp -p %t/a.cu %t/c.cu && touch -d 2000-01-01 %t/a.cu && %kmmcc --target=host --suggest --in-place %t/a.cu > %t/again && cmp %t/a.cu %t/c.cu && test %t/a.cu -ot %t/c.cu
// RUN: FileCheck %s --check-prefix=AGAIN < %t/again
// Lines end as in the file.
// RUN: sed 's/$/\r/' %t/old > %t/crlf.cu && %kmmcc --target=host --suggest --in-place %t/crlf.cu > %t/said
// RUN: tr -d '\r' < %t/crlf.cu | cmp - %t/b.cu && grep -c "$(printf '\r')" %t/crlf.cu > %t/count && wc -l < %t/crlf.cu | cmp - %t/count
// A file with errors stays as it is; another one is written.
// RUN: cp %t/old %t/good.cu && (cat %t/good.cu; echo 'int wrong = nothing;') > %t/bad.cu && cp %t/bad.cu %t/bad.old
// RUN: not %kmmcc --target=host --suggest --in-place %t/bad.cu %t/good.cu > %t/said 2> %t/errors && FileCheck %s --check-prefix=BAD < %t/errors
// RUN: cmp %t/bad.cu %t/bad.old && diff %t/good.cu %t/b.cu
// RUN: not %kmmcc --in-place %t/b.cu 2>&1 | FileCheck %s --check-prefix=ALONE
// BAD: error: {{.*}}'nothing'
// BAD: bad.cu' stays as it is
// ALONE: '--in-place' goes with '--suggest'
// AGAIN-NOT: #pragma
// AGAIN: no pragma for the launch of 'last'
// SAID: link.cu:[[#]]: #pragma kmm parallel(x: global.x = 0:n) read(a[x]) update(b[x]) bounded
// SAID: link.cu:[[#]]: no pragma for the launch of 'last': all chunks would store to the same elements
// SAID: link.cu:[[#]]: no pragma for the launch of 'unseen': the kernel's code is not in this file
// SAID: link.cu:[[#]]: no pragma for the launch of 'adds': b is passed for several parameters
// BEGIN
#include <cuda_runtime.h>
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define RUN(launch) do { launch; } while (0)
__global__ void adds(const float *a, float *b, int n) { int i = INDEX; if (i < n) b[i] += a[i]; }
__global__ void gathers(const int *index, const float *a, float *b, int n) { int i = INDEX; if (i < n) b[i] = a[index[i]]; }
template <class T> __global__ void sets(T *a, int n) { int i = INDEX; if (i < n) a[i] = 1; }
__global__ void total(const float *a, float *sum, int n) { int i = INDEX; if (i < n) atomicAdd(sum, a[i]); }
__global__ void last(const float *a, float *x, int n) { int i = INDEX; if (i < n) *x = a[i]; }
__global__ void unseen(float *a);
void launches(int n, const int *index, float *a, float *b, float *a_rather_long_name_of_an_array)
{
    // CHECK: {{^}}    #pragma kmm parallel(x: global.x = 0:n) read(a[x]) update(b[x]) bounded fits(int grid: x)
    // CHECK: {{^}}    adds<<<n / 64 + 1, 64>>>(a, b, n);
    adds<<<n / 64 + 1, 64>>>(a, b, n);
    // CHECK: {{^}}    #pragma kmm parallel(x: global.x = 0:n) read(index[x])
    // CHECK: {{^}}    gathers
    gathers<<<n / 64 + 1, 64>>>(index, a_rather_long_name_of_an_array, b, n);
    // CHECK: if (n > 1) _Pragma("kmm parallel({{.*}}") sets<float><<<4, 64>>>(a, n);
    if (n > 1) sets<float><<<4, 64>>>(a, n);
    // CHECK: #pragma kmm parallel(x: global.x = 0:n) write(b[x]) bounded
    // CHECK: RUN((sets
    RUN((sets<<<4, 64>>>(b, n)));
    switch (n) {
    // CHECK: case 3: _Pragma("kmm parallel
    case 3: sets<<<4, 64>>>(b, n); break;
    }
    last<<<4, 64>>>(a, b, n);
    #pragma kmm parallel(i = 0:n) chunk(64) read(a[i]) reduce(+: b[0])
    total<<<4, 64>>>(a, b, n);
    unseen<<<4, 64>>>(a);
    adds<<<4, 64>>>(b, b, n);
#if 0
    adds<<<4, 64>>>(c, b, n);
#endif
}
// END
