// Bounds that the kernel compares with after a conversion which loses a part of their value; and arguments that the launch converts to another number, or to another struct.
// RUN: %kmmcc --target=host %san -fno-kmm -w %s -o %t.plain && %t.plain > %t.want
// RUN: %kmmcc --target=host %san -w %s -o %t && env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three && diff %t.want %t.three
// RUN: env KMM_DEVICES=host:1,mem=512K KMM_FRAME=64K KMM_JOIN=0 %t > %t.one && diff %t.want %t.one
// RUN: %kmmcc --target=host %san -w -fkmm-auto %s -o %t.auto && env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t.auto > %t.parts && diff %t.want %t.parts
#include <cuda_runtime.h>
#include <stdio.h>
#include <vector>

#define GLOBAL_X (blockIdx.x * blockDim.x + threadIdx.x)

__global__ void of_unsigned(unsigned n, int *a) { unsigned i = GLOBAL_X; if ((int)i < (int)n) a[i] = 3; }
__global__ void of_size(size_t n, int *a) { unsigned i = GLOBAL_X; if ((int)i < (int)n) a[i] = 4; }
__global__ void of_long(long long n, int *a) { unsigned i = GLOBAL_X; if (i < (unsigned)n) a[i] = 5; }
__global__ void by_variable(size_t n, int *a) { int m = n; int i = GLOBAL_X; if (i < m) a[i] = 6; }
__global__ void of_sum(size_t n, int *a) { int i = GLOBAL_X; if (i < (int)n - 1) a[i] = 7; }
__global__ void of_half(size_t n, int *a) { int i = GLOBAL_X; if (i < (int)n / 2) a[i] = 8; }
__global__ void up_to(size_t n, int *a) { int i = GLOBAL_X; if (i <= (int)n) a[i] = 9; }

// Parameters whose numbers are not those of the arguments.
__global__ void by_byte(int n, unsigned char s, int *a) { int i = GLOBAL_X; if (i < n) a[i + s] = 10 + i % 7; }
__global__ void by_signed_byte(int n, signed char s, int *a) { int i = GLOBAL_X; if (i < n) a[i + s] = 11 + i % 7; }
__global__ void by_word(int n, unsigned short s, int *a) { int i = GLOBAL_X; if (i < n) a[i + s] = 12 + i % 7; }
__global__ void by_short(int n, short s, int *a) { int i = GLOBAL_X; if (i < n) a[i + s] = 13 + i % 7; }
__global__ void below_word(unsigned short n, int *a) { int i = GLOBAL_X; if (i < n) a[i] = 14 + i % 7; }
__global__ void by_shift(int n, unsigned b, int *a) { int i = GLOBAL_X; if (i < n) a[i + (b >> 20)] = 15 + i % 7; }
__global__ void by_rest(int n, unsigned b, int *a) { int i = GLOBAL_X; if (i < n) a[i + b % 1024] = 16 + i % 7; }
__global__ void by_compare(int n, unsigned b, int *a) { int i = GLOBAL_X; if (i < n) a[i + (b > 1000u ? 700 : 0)] = 17 + i % 7; }
__global__ void by_long_rest(int n, size_t b, int *a) { int i = GLOBAL_X; if (i < n) a[i + b % 1024] = 18 + i % 6; }
__global__ void by_long_compare(int n, size_t b, int *a) { int i = GLOBAL_X; if (i < n) a[i + (b > 1000u ? 700 : 0)] = 18 + i % 5; }
#pragma kmm declare kernel(i = 0:n) write(a[i + s])
__global__ void by_truth(int n, bool s, int *a) { int i = GLOBAL_X; if (i < n) a[i + s] = 18 + i % 7; }
#pragma kmm declare kernel(i = 0:n) write(a[i + b / 16777216])
__global__ void by_quotient(int n, unsigned b, int *a) { int i = GLOBAL_X; if (i < n) a[i + b / 16777216] = 19 + i % 7; }
#pragma kmm declare kernel(i = 0:n) write(a[i + b % 1024 + (b > 1000 ? 700 : 0)])
__global__ void by_declared_rest(int n, size_t b, int *a) { int i = GLOBAL_X; if (i < n) a[i + b % 1024 + (b > 1000 ? 700 : 0)] = 20 + i % 7; }
#pragma kmm declare kernel(i = 0:n) update(a[i])
__global__ void below_declared(size_t n, int *a, int most) { int i = GLOBAL_X; if (i < n && i < most) a[i] = 21 + i % 7; }
#pragma kmm declare kernel(i = 0:n) write(a[i + b])
__global__ void by_declared_byte(int n, unsigned char b, int *a) { int i = GLOBAL_X; if (i < n) a[i + b] = 22 + i % 7; }
#pragma kmm declare kernel(i = 0:n) write(a[i + b])
template <class T> __global__ void by_template(int n, T b, int *a) { int i = GLOBAL_X; if (i < n) a[i + b] = 23 + i % 7; }

// Structs whose members are not those of the arguments.
struct whole { int n, s; };
struct other { int gap; };
struct larger : other, whole { int s; };
struct converted { int s, n; operator whole() const { return whole{n, s + 5000}; } };
struct constructed { int n, s; constructed(whole w, int by = 7000) : n(w.n), s(w.s + by) {} };
__global__ void by_struct(whole v, int *a) { int i = GLOBAL_X; if (i < v.n) a[i + v.s] = 20 + i % 7; }
__global__ void by_constructed(constructed v, int *a) { int i = GLOBAL_X; if (i < v.n) a[i + v.s] = 21 + i % 7; }
template <class T> void by_type(const T &v, int *a, int grid) { by_struct<<<grid, 256>>>(v, a); }

static const int N = 300000;
static int *a;

// The type of what is passed depends on a template.
template <class T> void pass(int n, T b, int *to)
{
#pragma kmm parallel
    by_declared_byte<<<n / 256 + 1, 256>>>(n, b, to);
#pragma kmm parallel
    by_declared_rest<<<n / 256 + 1, 256>>>(n, b, to);
#pragma kmm parallel
    by_template<unsigned char><<<n / 256 + 1, 256>>>(n, b, to + 20000);
#pragma kmm parallel
    by_template<<<n / 256 + 1, 256>>>(n, b, to + 60000);
}

static void say(const char *name)
{
    std::vector<int> v(N);
    unsigned sum = 0;
    cudaMemcpy(v.data(), a, N * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        sum = sum * 31 + v[i];
    printf("%s %08x\n", name, sum);
    for (int i = 0; i < N; i++)
        v[i] = i;
    cudaMemcpy(a, v.data(), N * sizeof(int), cudaMemcpyHostToDevice);
}

int main(int argc, char **argv)
{
    const int grid = (N + 255) / 256;
    size_t large = (1ull << 32) + 1000;
    unsigned negative = 0x80000001u;
    cudaMalloc((void **)&a, N * sizeof(int));
    say("first");
#pragma kmm parallel
    of_unsigned<<<grid, 256>>>(negative, a);
    say("of_unsigned");
#pragma kmm parallel
    of_size<<<grid, 256>>>(large, a);
    say("of_size");
#pragma kmm parallel
    of_long<<<grid, 256>>>((long long)large, a);
    say("of_long");
#pragma kmm parallel
    by_variable<<<grid, 256>>>(large, a);
    say("by_variable");
#pragma kmm parallel
    of_sum<<<grid, 256>>>(large, a);
    say("of_sum");
#pragma kmm parallel
    of_half<<<grid, 256>>>(large, a);
    say("of_half");
#pragma kmm parallel
    up_to<<<grid, 256>>>(large, a);
    say("up_to");
    const int n = 200000;
    signed char byte = -2 * argc, known = -2;
    short word = -5 * argc;
    unsigned short large_word = 65000 + argc;
    char letter = 99 + argc;
    int minus = -argc, wide = 199 + argc;
#pragma kmm parallel
    by_byte<<<grid, 256>>>(n, byte, a);
    say("by_byte");
#pragma kmm parallel
    by_byte<<<grid, 256>>>(n, known, a);
    say("by_byte");
#pragma kmm parallel
    by_word<<<grid, 256>>>(n, word, a);
    say("by_word");
#pragma kmm parallel
    by_word<<<grid, 256>>>(n, byte, a);
    say("by_word");
#pragma kmm parallel
    by_short<<<grid, 256>>>(n, large_word, a + 1000);
    say("by_short");
#pragma kmm parallel
    by_signed_byte<<<grid, 256>>>(n, wide, a + 1000);
    say("by_signed_byte");
#pragma kmm parallel
    by_signed_byte<<<grid, 256>>>(n, 200, a + 1000);
    say("by_signed_byte");
#pragma kmm parallel
    below_word<<<grid, 256>>>(word, a);
    say("below_word");
#pragma kmm parallel
    by_shift<<<grid, 256>>>(n, minus, a);
    say("by_shift");
#pragma kmm parallel
    by_rest<<<grid, 256>>>(n, minus, a);
    say("by_rest");
#pragma kmm parallel
    by_compare<<<grid, 256>>>(n, minus, a);
    say("by_compare");
#pragma kmm parallel
    by_long_rest<<<grid, 256>>>(n, minus, a);
    say("by_long_rest");
#pragma kmm parallel
    by_long_compare<<<grid, 256>>>(n, minus, a);
    say("by_long_compare");
#pragma kmm parallel
    by_truth<<<grid, 256>>>(n, letter, a);
    say("by_truth");
#pragma kmm parallel
    by_truth<<<grid, 256>>>(n, 20000, a);
    say("by_truth");
#pragma kmm parallel
    by_quotient<<<grid, 256>>>(n, minus, a);
    say("by_quotient");
#pragma kmm parallel
    by_declared_rest<<<grid, 256>>>(n, minus, a);
    say("by_declared_rest");
#pragma kmm parallel
    below_declared<<<grid, 256>>>(minus, a, n);
    say("below_declared");
    pass(n, byte, a);
    pass(n / 2, large_word, a + 1000);
    pass(n / 4, wide, a + 2000);
    say("pass");
    // with -fkmm-auto
    whole w = {n, 3};
    larger l;
    l.n = n;
    l.whole::s = 3000;
    l.s = 1;
    converted c = {3, n};
    by_struct<<<grid, 256>>>(w, a);
    say("by_struct");
    by_struct<<<grid, 256>>>(l, a);
    say("by_struct, sliced");
    by_struct<<<grid, 256>>>(c, a);
    say("by_struct, converted");
    by_constructed<<<grid, 256>>>(w, a);
    say("by_constructed");
    by_type(w, a, grid);
    by_type(l, a + 4000, grid);
    by_type(c, a + 8000, grid);
    say("by_type");
}
