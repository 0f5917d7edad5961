// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// REQUIRES: ir
// Clauses are compared with the kernel where an argument is an assignment or behind a comma, and for
// cudaLaunchKernelEx.
#include <cuda_runtime.h>
__global__ void same(int n, int *o, const int *a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = a[i] + 1; }
__global__ void next(int n, int *o, const int *a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = a[i + 1]; }
__global__ void more(int n, int *o, const int *a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = o[i] + a[i]; }
namespace far { int *o; }
void all(cudaLaunchConfig_t c, int *o, int *a)
{
    int *p = a;
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'p[i]' is less than 'same' reads
    #pragma kmm parallel(i = 0:40000) chunk(8000) read(p[i]) write(o[i])
    same<<<400, 100>>>(40000, o, (p = p + 3));
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'a[i]' is less than 'same' reads
    #pragma kmm parallel(i = 0:40000) chunk(8000) read(a[i]) write(o[i])
    same<<<400, 100>>>(40000, o, (0, a + 3));
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'a[i]' is less than 'next' reads
    #pragma kmm parallel(i = 0:40000) chunk(8000) read(a[i]) write(o[i])
    cudaLaunchKernelEx(&c, next, 40000, o, (const int *)a);
    #pragma kmm parallel(i = 0:40000) chunk(8000) read(a[i]) write(o[i])
    cudaLaunchKernelEx(&c, same, 40000, o, (const int *)a);
    #pragma kmm parallel(i = 0:40000) chunk(8000) read(a[i:2]) write(o[i])
    cudaLaunchKernelEx(&c, next, 40000, o, (const int *)a);
    int n = 40000;
    // CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error: the launch changes 'n', which a clause names
    #pragma kmm parallel(i = 0:n) chunk(8000) read(a[i]) write(o[i])
    same<<<400, 100>>>((n = 30000), o, a);
    // CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error: the launch changes 'p', which a clause names
    #pragma kmm parallel(i = 0:40000) chunk(8000) read(p[i]) write(o[i])
    same<<<400, 100>>>(40000, o, p += 3);
    #pragma kmm parallel(i = 0:n) chunk(8000) read(a[i]) write(o[i])
    same<<<400, 100>>>(n--, o, a);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'o[i]' is only written here, so its old values are not brought, but 'more' reads
    #pragma kmm parallel(i = 0:40000) chunk(8000) write(o[i]) read(far::o[i])
    more<<<400, 100>>>(40000, o, far::o);
    #pragma kmm parallel(i = 0:40000) chunk(8000) update(o[i]) read(far::o[i])
    more<<<400, 100>>>(40000, o, far::o);
}
