// REQUIRES: ir
// RUN: %kmmcc --target=host -Werror -c %s -o %t.o 2>&1 | count 0
// RUN: %kmmcc --target=host -Wkmm-wide -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %kmmcc --help=warnings | FileCheck %s --check-prefix=LIST
// LIST: -Wkmm-wide {{.*}}off by default
// -Wkmm-wide: clauses that name more than the kernel accesses.
#include <cuda_runtime.h>
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
__global__ void adds(const float *a, float *b, int n) { int i = INDEX; if (i < n) b[i] += a[i]; }
__global__ void halo(const float *a, float *b, int n) { int i = INDEX; if (i > 0 && i < n - 1) b[i] = a[i - 1] + a[i + 1]; }
__global__ void sums(const float *a, float *b, int n, int w) { int i = INDEX; if (i < n) { float s = 0; for (int k = 0; k < w; k++) s += a[k]; b[i] = s; } }
__global__ void some(const float *a, float *b, int n) { int i = INDEX; if (i < n && b[i] > 0) b[i] += a[i]; }
void launches(const float *a, float *b, int n, int w, int v)
{
    #pragma kmm parallel(i = 0:n) chunk(n / 8) read(a[i]) update(b[i])
    adds<<<(n + 63) / 64, 64>>>(a, b, n);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: warning: 'a[i - 1:3]' is more than 'adds' accesses: with {{.*}}, a chunk is given {{[0-9]+}} bytes of it and needs {{[0-9]+}} [-Wkmm-wide]
    #pragma kmm parallel(i = 0:n) chunk(n / 8) read(a[i - 1:3]) update(b[i])
    adds<<<(n + 63) / 64, 64>>>(a, b, n);
    // CHECK-NOT: warning:
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: warning: 'a' is more than 'adds' accesses:
    #pragma kmm parallel(i = 0:n) chunk(n / 8) read(a) update(b[i])
    adds<<<(n + 63) / 64, 64>>>(a, b, n);
    // CHECK-NOT: warning:
    #pragma kmm parallel(i = 0:n) chunk(n / 8) read(a[i - 1:3]) update(b[i])
    halo<<<(n + 63) / 64, 64>>>(a, b, n);
    #pragma kmm parallel(i = 0:n) chunk(n / 8) read(a[0:w]) update(b[i])
    sums<<<(n + 63) / 64, 64>>>(a, b, n, w);
    // The program may keep v equal to w.
    #pragma kmm parallel(i = 0:n) chunk(n / 8) read(a[0:2 * v]) update(b[i])
    sums<<<(n + 63) / 64, 64>>>(a, b, n, w);
    // What data decides does not contradict a clause.
    #pragma kmm parallel(i = 0:n) chunk(n / 8) read(a) update(b[i])
    some<<<(n + 63) / 64, 64>>>(a, b, n);
}
