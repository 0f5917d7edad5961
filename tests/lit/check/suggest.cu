// REQUIRES: ir
// RUN: %kmmcc --target=host --suggest %s > %t && FileCheck %s < %t
// RUN: %kmmcc --target=host --suggest %s -o %t.o && test ! -e %t.o
// --suggest: the pragma of each kernel launch, and why a pointer has no clause.
#include <cuda_runtime.h>
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define RUN(launch) do { launch; } while (0)
__global__ void adds(const float *a, float *b, int n) { int i = INDEX; if (i < n) b[i] += a[i]; }
__global__ void scatters(const int *index, const float *a, float *b, int n) { int i = INDEX; if (i < n) b[index[i]] = a[i]; }
template <class T> __global__ void sets(T *a, int n) { int i = INDEX; if (i < n) a[i] = 1; }
__global__ void total(const float *a, float *sum, int n) { int i = INDEX; if (i < n) atomicAdd(sum, a[i]); }
__global__ void unseen(float *a);
static __global__ void own(float *a, int n) { int i = INDEX; if (i < n) a[i] = 1; }
namespace { __global__ void inner(float *a, int n) { int i = INDEX; if (i < n) a[i] += 1; } }
// <initializer_list> is not among the headers that most files need.
int chosen(int a, int b) { int sum = 0; for (int k : {a, b}) sum += k; return sum; }
void launches(int n, const int *index, float *a, float *b)
{
    // CHECK: suggest.cu:[[#@LINE+1]]: #pragma kmm parallel(x: global.x = 0:n) {{.*}}update(b[x])
    adds<<<n / 64 + 1, 64>>>(a, b, n);
    // CHECK: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel(x: global.x = 0:n) read(index[x], a[x]) bounded
    // CHECK-NEXT: no clause for b: unknown: an index that is read from memory
    if (n > 1) scatters<<<n / 64 + 1, 64>>>(index, a, b, n);
    // CHECK-NEXT: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel(x: global.x = 0:n) write(a[x]) bounded
    // CHECK-NEXT: suggest.cu:[[#@LINE+3]]: #pragma kmm parallel(x: global.x = 0:n) write(b[x]) bounded
    for (int k = 0; k < 2; k++) sets<float><<<4, 64>>>(a, n);
    // CHECK-NEXT: suggest.cu:[[#@LINE+3]]: #pragma kmm parallel(x: global.x = 0:n) read(a[x]) reduce(+: b[0]) bounded
    RUN((sets<<<4, 64>>>(b, n)));
    // What a pragma says already stays.
    total<<<4, 64>>>(a, b, n);
    // CHECK-NEXT: suggest.cu:[[#@LINE+1]]: #pragma kmm parallel(i = 0:n) chunk(64) read(a[i]) reduce(+: b[0])
#pragma kmm parallel(i = 0:n) chunk(64) read(a[i]) reduce(+: b[0])
    total<<<4, 64>>>(a, b, n);
    // CHECK-NEXT: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel
    // CHECK-NEXT: nothing is known: the kernel's code is not in this file
    unseen<<<4, 64>>>(a);
    // Kernels that only this file knows have another name for the device.
    // CHECK-NEXT: suggest.cu:[[#@LINE+1]]: #pragma kmm parallel(x: global.x = 0:n) write(a[x]) bounded
    own<<<4, 64>>>(a, n);
    // CHECK-NEXT: suggest.cu:[[#@LINE+1]]: #pragma kmm parallel(x: global.x = 0:n) update(a[x]) bounded
    inner<<<4, 64>>>(a, n);
}
// CHECK-NEXT: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel(x: global.x = 0:n) update(a[x]) bounded
// CHECK-NEXT: nothing is known: no instance of the template around the launch is made in this file
template <class T> void relays(T *a, int n) { sets<T><<<4, 64>>>(a, n); }
// No reductions: values that are used or read, two operators, other types, a type of a template.
__global__ void used(int *s, int *o, int n) { int i = INDEX; if (i < n) o[i] = atomicAdd(s, 0) > -1; }
__global__ void reread(int *s, int n) { int i = INDEX; if (i < n && s[0] < 1000) atomicAdd(s, i); }
__global__ void mixed(int *s, int n) { int i = INDEX; if (i < n) { atomicAdd(s, i); atomicMax(s, i); } }
__global__ void other(int *s, int n) { int i = INDEX; if (i < n) atomicMax((unsigned *)s, (unsigned)i); }
__global__ void kept(int *s, int n) { int i = INDEX; if (i < n) { int old = atomicAdd(s, i); (void)old; } }
template <class T> __global__ void sums(T *s, int n) { int i = INDEX; if (i < n) atomicAdd(s, (T)i); }
template <class T> void sum(T *s, int n) { sums<<<4, 64>>>(s, n); }
void no_reductions(int *s, int *o, int n)
{
    // CHECK: suggest.cu:[[#@LINE-3]]: #pragma kmm parallel
    // CHECK-NEXT: no clause for s: a reduction of elements whose type depends on a template
    // CHECK-NEXT: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel(x: global.x = 0:n) write(o[x])
    // CHECK-NEXT: no clause for s: all chunks store to the same elements
    used<<<4, 64>>>(s, o, n);
    // CHECK-NEXT: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel{{$}}
    // CHECK-NEXT: no clause for s: all chunks store to the same elements
    reread<<<4, 64>>>(s, n);
    // CHECK-NEXT: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel{{$}}
    // CHECK-NEXT: no clause for s: all chunks store to the same elements
    mixed<<<4, 64>>>(s, n);
    // CHECK-NEXT: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel{{$}}
    // CHECK-NEXT: no clause for s: all chunks store to the same elements
    other<<<4, 64>>>(s, n);
    // CHECK-NEXT: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel{{$}}
    // CHECK-NEXT: no clause for s: all chunks store to the same elements
    kept<<<4, 64>>>(s, n);
    sum(s, n);
}
// Why nothing is inferred although all is known: the kernel's text, structs, and conditions that clauses cannot say.
__global__ void directed(float *a, int n)
{
    int i = INDEX;
#ifdef TWICE
    i *= 2;
#endif
    if (i < n) a[i] = 1;
}
struct array { float *data; };
struct counted : array { int n; __device__ float &at(int i) { return data[i]; } };
class closed { float *data; int n; public: __device__ float &at(int i) { return data[i]; } };
__global__ void fills(counted c, int n) { int i = INDEX; if (i < n) c.at(i) = 1; }
__global__ void fills_closed(closed c, int n) { int i = INDEX; if (i < n) c.at(i) = 1; }
__global__ void fills_array(array c, int n) { int i = INDEX; if (i < n) c.data[i] = 1; }
void reasons(float *a, int n, counted c, closed d, array e)
{
    // CHECK: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel{{$}}
    // CHECK-NEXT: no clause for a: the kernel's code has preprocessor directives
    directed<<<4, 64>>>(a, n);
    // CHECK-NEXT: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel{{$}}
    // CHECK-NEXT: no clause for the pointer at byte 0 of c: its struct has constructors, base classes or members that are not public
    fills<<<4, 64>>>(c, n);
    // CHECK-NEXT: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel{{$}}
    // CHECK-NEXT: no clause for the pointer at byte 0 of d: a pointer in a struct, which the launch cannot name
    fills_closed<<<4, 64>>>(d, n);
    // CHECK-NEXT: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel{{$}}
    // CHECK-NEXT: no clause for {{.*}}: its struct is passed without a name
    fills_array<<<4, 64>>>(array{a}, n);
    // CHECK-NEXT: suggest.cu:[[#@LINE+2]]: #pragma kmm parallel{{$}}
    // CHECK-NEXT: no clause for {{.*}}: what the launch passes for 'c' is converted to another struct
    fills_array<<<4, 64>>>(c, n);
}
// --explain says how well accesses are known.
// RUN: %kmmcc --target=host --explain %s | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: launch of kernel 'total'
// EXPLAIN: analysis a: exact, while indices fit into 32 bits
// EXPLAIN: analysis b: exact
