// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// Atomic operations on another type than the reduced one, and those that no operator combines.
#include <cuda_runtime.h>
__global__ void a(int n, float *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(o, 1.0f); }
__global__ void b(int n, int *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicExch(o, i); }
__global__ void m(int n, unsigned *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicMax(o, 7u); }
__global__ void ok(int n, float *o, unsigned long long *p, int *q) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { atomicAdd(o, 1.0f); atomicAdd(p, 1); atomicMin(&q[1], i); } }
__global__ void ok2(int n, long long *p) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd((unsigned long long *)p, 1ull); }
void go(int n, int *x, float *f, unsigned long long *p, int *q, long long *l) {
// CHECK: reduce_types.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 'x{{.}}0]' is reduced as elements of another type than those that 'a' combines; name it by a pointer of that type
#pragma kmm parallel(i = 0:n) reduce(+: x[0])
  a<<<n, 64>>>(n, (float *)x);
// CHECK: reduce_types.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 'x{{.}}0]' is reduced by + here, but 'b' changes it by atomicExch, which no reduction combines; call it without the pragma
#pragma kmm parallel(i = 0:n) reduce(+: x[0])
  b<<<n, 64>>>(n, x);
// CHECK: reduce_types.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 'x{{.}}0]' is reduced as elements of another type than those that 'm' combines
#pragma kmm parallel(i = 0:n) reduce(max: x[0])
  m<<<n, 64>>>(n, (unsigned *)x);
#pragma kmm parallel(i = 0:n) reduce(+: f[0], p[0]) reduce(min: q[1])
  ok<<<n, 64>>>(n, f, p, q);
#pragma kmm parallel(i = 0:n) reduce(+: l[0])
  ok2<<<n, 64>>>(n, l);
}
