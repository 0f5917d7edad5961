// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// Mistakes in what is declared of a kernel are said there, and once; those of a launch at the launch.

// CHECK: :[[#@LINE+1]]:45: error: unknown clause 'wirte'; did you mean 'write'?
#pragma kmm declare kernel(i = 0:n) read(A) wirte(C[i])
__global__ void misspelt(int n, float *C, const float *A);

// CHECK: :[[#@LINE+1]]:37: error: 'declare kernel' has no clause 'chunk', which belongs to 'parallel'
#pragma kmm declare kernel(i = 0:n) chunk(4)
__global__ void chunked(int n, float *C);

// CHECK: :[[#@LINE+1]]:21: error: expected 'kernel' after 'declare'
#pragma kmm declare function(i = 0:n)

// CHECK: :[[#@LINE+1]]:42: error: use of undeclared identifier 'B'
#pragma kmm declare kernel(i = 0:n) read(B[i]) write(C[i])
__global__ void unknown(int n, float *C, const float *A) { C[0] = A[n]; }

// CHECK: :[[#@LINE+1]]:45: error: 'i * i' is not affine in the axes
#pragma kmm declare kernel(i = 0:n) write(C[i * i])
template <class T> __global__ void square(int n, T *C) { C[n] = 1; }

// CHECK: :[[#@LINE+4]]:42: error: 'C[i]' is only read here, but 'stores' stores to it; say write(C[i])
// CHECK-NEXT: declare
// CHECK-NEXT: ^
// CHECK-NEXT: {{^ *}}write
#pragma kmm declare kernel(i = 0:n) read(C[i])
__global__ void stores(int n, float *C) { C[threadIdx.x] = n; }

// CHECK: :[[#@LINE+1]]:13: error: 'declare kernel' governs no kernel: put it before the definition or a declaration of one
#pragma kmm declare kernel(i = 0:n)
int variable;
// CHECK: :[[#@LINE+1]]:13: error: 'declare kernel' governs 'helper', which is no kernel
#pragma kmm declare kernel(i = 0:n)
static void helper(int n);

#if 0
#pragma kmm declare kernel(i = 0:n) wirte(C[i])
#pragma kmm wrong
#endif
#pragma kmm declare kernel(i = 0:n) write(C[i])
__global__ void twice(int n, float *C);
// CHECK: :[[#@LINE+1]]:13: error: kernel 'twice' has two 'declare kernel'; leave one
#pragma kmm declare kernel(i = 0:n) update(C[i])
__global__ void twice(int n, float *C) { C[threadIdx.x] = n; }

void launches(int n, float *A, float *C)
{
    #pragma kmm parallel
    unknown<<<1, 64>>>(n, C, A);
    #pragma kmm parallel
    square<<<1, 64>>>(n, C);
    #pragma kmm parallel
    stores<<<1, 64>>>(n, C);
}
