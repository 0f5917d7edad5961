// RUN: %kmmcc --target=host %san -std=c++17 -I %S/Inputs %s -o %t && %t
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -I %S/Inputs -Xcompiler -Wall -Werror all-warnings -c %s -o %t.o %}
// Launches that macros write, here and in a header: they stay as they are.
#include "verify.h"
#include "macros.h"
#define GRID BLOCKS, BLOCK
#define KERNEL set
#define WHOLE(k) set<<<GRID>>>(x, n, k)
#define WITH_SEMICOLON(k) set<<<GRID>>>(x, n, k);
#define BLOCK_OF(k) { int twice = 2 * k; set<<<GRID>>>(x, n, twice); }
#define CHECKED(...) do { __VA_ARGS__; MACRO_CHECK(); } while (0)
#define ARGUMENTS x, n, 7
#define BEGINS(kernel, ...) kernel<<<GRID>>>(__VA_ARGS__)
#define ENDS(grid, call) set<<<grid, BLOCK>>>call
#define BOTH(kernel, call) kernel<<<GRID>>>call
#define GUARDED(condition, launch) if (condition) launch
__global__ void set(int *x, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = k * i;
}
template <int K> __global__ void templated(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = K * i;
}
int main()
{
    array a;
    int failed = 0, n = N, *x = a.at;
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    MACRO_LAUNCH(set, BLOCKS, BLOCK, x, n, 2);
    EXPECT(a.wrong(2));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    MACRO_OUTER(set, x, n, 3);
    EXPECT(a.wrong(3));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    MACRO_OUTER(templated<4>, x, n);
    EXPECT(a.wrong(4));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    KERNEL<<<GRID>>>(x, n, 6);
    EXPECT(a.wrong(6));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    set<<<GRID>>>(ARGUMENTS);
    EXPECT(a.wrong(7));
    if (n > 3)
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        WHOLE(8);
    else
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        WHOLE(9);
    EXPECT(a.wrong(8));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    WITH_SEMICOLON(10)
    EXPECT(a.wrong(10));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    BLOCK_OF(3)
    EXPECT(a.wrong(6));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    CHECKED(set<<<GRID>>>(x, n, 11));
    EXPECT(a.wrong(11));
    switch (n) {
    case N:
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        BEGINS(set, x, n, 12);
        break;
    }
    EXPECT(a.wrong(12));
    for (int k = 0; k < 2; k++)
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        ENDS(BLOCKS, (x, n, 13));
    EXPECT(a.wrong(13));
    if (n > 3)
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
        BOTH(templated<14>, (x, n));
    EXPECT(a.wrong(14));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    GUARDED(n > 3, set<<<GRID>>>(x, n, 15));
    EXPECT(a.wrong(15));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    GUARDED(n > 3, { set<<<GRID>>>(x, n, 16); });
    EXPECT(a.wrong(16));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    CHECKED(templated<12><<<GRID>>>(x, n));
    EXPECT(a.wrong(12));
    return failed;
}
