// RUN: %kmmcc --target=cuda -I %S/Inputs --emit-source %s | FileCheck %s
// RUN: %kmmcc --target=host -I %S/Inputs -Wall -Wextra -Werror -c %s -o %t.o
// What is declared of a kernel is said at its launches in their words.
#include "declare.h"

struct grid { int w, h; float *at; };
struct view { float *p; operator float *() const { return p; } };

// CHECK: {{^}}// #pragma kmm declare kernel(i = 0:n) read(A[i], B[i]) write(C[i])
#pragma kmm declare kernel(i = 0:n) read(A[i], B[i]) write(C[i])
__global__ void add(int n, float *C, const float *A, const float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i] + B[i];
}

#pragma kmm declare kernel(x = 0:w, y = 0:h) shape(in[h][w], out[h][w]) read(in[y-K:2*K+1][x-1:3]) write(out[y][x])
template <class T, int K> __global__ void stencil(int w, int h, const T *in, T *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = in[y * w + x];
}

#pragma kmm declare kernel(b: block.x) read(g.at[b*g.w:g.w]) reduce(+: sum[0])
__global__ void total(grid g, float *sum)
{
    for (int x = threadIdx.x; x < g.w; x += blockDim.x)
        atomicAdd(sum, g.at[blockIdx.x * g.w + x]);
}

// CHECK-LABEL: {{^}}void run(
void run(int n, float *p, float *q, float *r, grid g, view v, long long big)
{
    // The axis is called otherwise than the launch's variable.
    for (int i = 0; i < 4; i++)
        // CHECK: {{^        }}{ // #pragma kmm parallel(i_ = 0:n) chunk(n / 10) read((q + i)[i_], r[i_]) write(p[i_])
        #pragma kmm parallel chunk(n / 10)
        add<<<(n + 255) / 256, 256>>>(n, p, q + i, r);
    // A clause of the launch takes the place of the parameter's, and its axis that of the same source.
    // CHECK: {{^    }}{ // #pragma kmm parallel(k = 0:n) chunk(n / 10) read(q) read(r[k]) write(p[k]) // why
    #pragma kmm parallel(k = 0:n) chunk(n / 10) read(q) // why
    add<<<(n + 255) / 256, 256>>>(n, p, q, r);
    // What converts is converted as the launch does it.
    // CHECK: {{^    }}{ // #pragma kmm parallel(i = 0:((int)(big))) read(q[i], r[i]) write(((float *)(v))[i])
    #pragma kmm parallel()
    add<<<(n + 255) / 256, 256>>>(big, v, q, r);
    // CHECK: {{^    }}{ // _Pragma("kmm parallel(i = 0:1024) label(\"sum\") read(q[i], r[i]) write(p[i])")
    _Pragma("kmm parallel label(\"sum\")")
    add<<<4, 256>>>(1024, p, q, r);
    // Nothing is said of a null pointer.
    // CHECK: {{^    }}{ // #pragma kmm parallel(i = 0:n) read(q[i]) write(p[i])
    #pragma kmm parallel
    add<<<4, 256>>>(n, p, q, nullptr);
    // CHECK: {{^    }}{ // #pragma kmm parallel(x = 0:n, y = 0:n + 1) chunk(n, 64) shape((p + 1)[(n + 1)][n], r[(n + 1)][n]) read((p + 1)[y-1:2*1+1][x-1:3]) write(r[y][x])
    #pragma kmm parallel chunk(n, 64)
    stencil<float, 1><<<dim3(n, n), 256>>>(n, n + 1, p + 1, r);
    // CHECK: {{^    }}{ // #pragma kmm parallel(b: block.x) chunk(8) read(g.at[b*g.w:g.w]) reduce(+: r[0])
    #pragma kmm parallel chunk(8)
    total<<<g.h, 128>>>(g, r);
    // A declaration in a header, of a kernel that another file defines, and of one that is defined there.
    // CHECK: {{^    }}{ // #pragma kmm parallel(i = 0:n) chunk(n / 4) read(p[i]) update(q[i])
    #pragma kmm parallel chunk(n / 4)
    declared_saxpy<<<(n + 255) / 256, 256>>>(n, 2, p, q);
    // CHECK: {{^    }}{ // #pragma kmm parallel(j = 0:n) chunk(n / 4) update((p)[j])
    #pragma kmm parallel chunk(n / 4)
    declared_scale<<<(n + 255) / 256, 256>>>(n, p);
}
