// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// What a launch has wrong whose kernel is declared.
#include <cuda_runtime.h>

#pragma kmm declare kernel(i = 0:n) write(C[i + off])
__global__ void shifted(int n, int off, float *C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i + off] = i;
}

#pragma kmm declare kernel(i = 0:n) write(C[i])
__global__ void other(int n, int off, float *C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = off;
}

#pragma kmm declare kernel(i = 0:n) write(C[i * K])
template <int K> __global__ void strided(int n, float *C)
{
    C[(blockIdx.x * blockDim.x + threadIdx.x) * K] = n;
}

struct extent { int at[4]; };
#pragma kmm declare kernel(i = 0:n) update(C[i + N])
template <class T, int N = sizeof(T)> __global__ void guessed(int n, float *C, T value)
{
    C[blockIdx.x * blockDim.x + threadIdx.x + N] += n;
}

template <int K, class T> void in_template(int n, float *C, T value)
{
    #pragma kmm parallel chunk(n / 4)
    strided<(K > 1) ? K : 1><<<n / 64, 64>>>(n, C);
    // CHECK: :[[#@LINE+1]]:17: error: the template argument 'N', which the declared clauses of kernel 'guessed' name, is not known at this launch; say here what it accesses
    #pragma kmm parallel chunk(n / 4)
    guessed<<<n / 64, 64>>>(n, C, value);
}

// The members of a struct that the launch converts are not those of the argument.
struct part { int n, off; };
struct larger : part { int off; };
struct convertible { int n, off; operator part() const { return part{n, off + 1}; } };
struct made { int n, off; made(part p, int by = 1) : n(p.n), off(p.off + by) {} };
#pragma kmm declare kernel(i = 0:v.n) write(C[i + v.off])
__global__ void by_part(part v, float *C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v.n)
        C[i + v.off] = i;
}
#pragma kmm declare kernel(i = 0:v.n) write(C[i + v.off])
__global__ void by_made(made v, float *C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v.n)
        C[i + v.off] = i;
}
template <class T> void right(const T &v, float *C)
{
    #pragma kmm parallel
    by_part<<<4, 64>>>(v, C);
}
template <class T> void wrong(const T &v, float *C)
{
    // CHECK: :[[#@LINE+1]]:17: error: what is passed for 'v', which the declared clauses of kernel 'by_part' name, is converted to another struct; say here what it accesses
    #pragma kmm parallel
    by_part<<<4, 64>>>(v, C);
}
void converts(part p, larger l, convertible c, float *C)
{
    const part q = p, *to = &l;
    const int off = l.part::off;
    #pragma kmm parallel
    by_part<<<4, 64>>>(p, C);
    #pragma kmm parallel
    by_part<<<4, 64>>>(q, C);
    #pragma kmm parallel
    by_part<<<4, 64>>>(*to, C);
    // CHECK: :[[#@LINE+1]]:17: error: what is passed for 'v', which the declared clauses of kernel 'by_part' name, is converted to another struct; say here what it accesses
    #pragma kmm parallel
    by_part<<<4, 64>>>(l, C);
    // CHECK: :[[#@LINE+1]]:17: error: what is passed for 'v', which the declared clauses of kernel 'by_part' name, is converted to another struct; say here what it accesses
    #pragma kmm parallel
    by_part<<<4, 64>>>(c, C);
    // CHECK: :[[#@LINE+1]]:17: error: what is passed for 'v', which the declared clauses of kernel 'by_made' name, is converted to another struct; say here what it accesses
    #pragma kmm parallel
    by_made<<<4, 64>>>(p, C);
    #pragma kmm parallel(i = 0:l.n) write(C[i + off])
    by_part<<<4, 64>>>(l, C);
    right(p, C);
    wrong(p, C);
    wrong(l, C);
}

void launches(int n, float *C, bool which, void **packed)
{
    int i = n / 2;
    // CHECK: :[[#@LINE+1]]:17: error: axis 'i' hides the variable that is passed for 'off'; call the axis otherwise
    #pragma kmm parallel(i = 0:n)
    shifted<<<4, 64>>>(n, i, C);
    #pragma kmm parallel(k = 0:n)
    shifted<<<4, 64>>>(n, i, C);
    // CHECK: :[[#@LINE+1]]:17: error: what is passed for 'off', which the declared clauses of kernel 'shifted' name, may have side effects, which clauses would repeat; compute the value before the pragma
    #pragma kmm parallel(k = 0:n)
    shifted<<<4, 64>>>(n, i++, C);
    // CHECK: :[[#@LINE+2]]:17: error: this launch may run one of 2 kernels, so what is declared of them is not used; say here what it accesses
    void (*kernel)(int, int, float *) = which ? shifted : other;
    #pragma kmm parallel
    kernel<<<4, 64>>>(n, i, C);
    // CHECK: :[[#@LINE+1]]:17: error: what is passed for 'C', which the declared clauses of kernel 'other' name, is not written at this launch; say here what it accesses
    #pragma kmm parallel(k = 0:n)
    cudaLaunchKernel((const void *)other, 4, 64, packed, 0, 0);
    in_template<3>(n, C, extent());
}
