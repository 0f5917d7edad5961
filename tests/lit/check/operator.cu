// RUN: %not %kmmcc --target=host -DWRONG -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %kmmcc --target=host -Werror -c %s -o %t.o 2>&1 | count 0
// The operator of a reduction is that of the kernel's atomic operations.
#include <cuda_runtime.h>
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
__global__ void counts(const int *a, int *bins, int n) { int i = INDEX; if (i < n) atomicAdd(&bins[a[i] & 15], 1); }
__global__ void largest(const int *a, int *most, int n) { int i = INDEX; if (i < n) atomicMax(most, a[i]); }
__global__ void both(const int *a, int *most, int *sum, int n) { int i = INDEX; if (i < n) { atomicMax(most, a[i]); atomicAdd(sum, a[i]); } }
__global__ void any(const int *a, int *found, int n) { int i = INDEX; if (i < n && a[i] == 3) atomicOr(found, 1); }
__global__ void range(const int *a, int *r, int n) { int i = INDEX; if (i < n) { atomicMin(r, a[i]); atomicMax(&r[1], a[i]); atomicAdd(2 + r, 1); atomicXor(&r[3 + (a[i] & 3)], 1); } }
__global__ void moved(const int *a, int *r, int n) { int i = INDEX; if (i < n) { atomicMin(r, a[i]); r++; atomicMax(r, a[i]); } }
__device__ void low(int *r, int v) { atomicMin(r, v); }
__device__ void high(int *r, int v) { atomicMax(r, v); }
__global__ void called(const int *a, int *r, int n) { int i = INDEX; if (i < n) { low(r, a[i]); high(r + 1, a[i]); } }
struct ends { int low, high; };
__global__ void members(const int *a, ends *r, int n) { int i = INDEX; if (i < n) { atomicMin(&r->low, a[i]); atomicMax(&r->high, a[i]); } }
__global__ void wider(const int *a, int *r, int n) { int i = INDEX; if (i < n) { atomicMax(r, a[i]); atomicAdd((unsigned long long *)r + 1, 1ULL); } }
template <class T> __global__ void least(const T *a, T *result, int n) { int i = INDEX; if (i < n) atomicMin((int *)result, (int)a[i]); }
void launches(const int *a, int *r, int *s, ends *e, int n)
{
#ifdef WRONG
    // CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error: 'r[0:16]' is reduced by max here, but 'counts' combines it by +; say reduce(+: r[0:16])
    // CHECK: note: it does so here
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(max: r[0:16])
    counts<<<n / 64 + 1, 64>>>(a, r, n);
    // CHECK: error: 'r[0]' is reduced by + here, but 'largest' combines it by max; say reduce(max: r[0])
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(+: r[0])
    largest<<<n / 64 + 1, 64>>>(a, r, n);
    // CHECK: error: 's[0]' is reduced by max here, but 'both' combines it by +; say reduce(+: s[0])
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(max: r[0], s[0])
    both<<<n / 64 + 1, 64>>>(a, r, s, n);
    // CHECK: error: 'r[0]' is reduced by max here, but 'least' combines it by min
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(max: r[0])
    least<<<n / 64 + 1, 64>>>(a, r, n);
    // CHECK: error: 'r[0]' is reduced by max here, but 'range' combines it by min; say reduce(min: r[0])
    // CHECK: error: 'r[1]' is reduced by min here, but 'range' combines it by max; say reduce(max: r[1])
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(max: r[0]) reduce(min: r[1]) reduce(+: r[2]) reduce(^: r[3:4])
    range<<<n / 64 + 1, 64>>>(a, r, n);
    // CHECK: error: 'r[0:3]' is reduced by + here, but 'range' combines it by min
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(+: r[0:3]) reduce(^: r[3:4])
    range<<<n / 64 + 1, 64>>>(a, r, n);
    // CHECK: error: 'r[0]' is reduced here by another operator than that of 'called'; say reduce(min: r[0])
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(max: r[0]) reduce(min: r[1])
    called<<<n / 64 + 1, 64>>>(a, r, n);
#endif
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(min: r[0]) reduce(max: r[1]) reduce(+: r[2]) reduce(^: r[3:4])
    range<<<n / 64 + 1, 64>>>(a, r, n);
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(min: r[0]) reduce(max: r[1])
    moved<<<n / 64 + 1, 64>>>(a, r, n);
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(min: r[0]) reduce(max: r[1])
    called<<<n / 64 + 1, 64>>>(a, r, n);
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(min: (&e->low)[0]) reduce(max: (&e->high)[0])
    members<<<n / 64 + 1, 64>>>(a, e, n);
    unsigned long long *w = (unsigned long long *)r;
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(+: w[1]) reduce(max: r[0])
    wider<<<n / 64 + 1, 64>>>(a, r, n);
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(+: r[0:16])
    counts<<<n / 64 + 1, 64>>>(a, r, n);
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(max: r[0])
    largest<<<n / 64 + 1, 64>>>(a, r, n);
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(max: r[0]) reduce(+: s[0])
    both<<<n / 64 + 1, 64>>>(a, r, s, n);
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(||: r[0])
    any<<<n / 64 + 1, 64>>>(a, r, n);
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(max: r[0]) reduce(+: (r + 1)[0])
    both<<<n / 64 + 1, 64>>>(a, r, r + 1, n);
    #pragma kmm parallel(i = 0:n) read(a[i]) reduce(min: r[0])
    least<<<n / 64 + 1, 64>>>(a, r, n);
}
