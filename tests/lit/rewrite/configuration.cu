// RUN: %kmmcc --target=host %san -std=c++17 -I %S/Inputs %s -o %t && %t
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -I %S/Inputs -Xcompiler -Wall -Werror all-warnings -c %s -o %t.o %}
// Grids, blocks, dynamic shared memory, streams and default arguments of launches, and what kernels are declared with.
#include "verify.h"
#define EACH int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = k * i
__global__ void set(int *x, int n, int k = 3) { EACH; }
static __global__ void __launch_bounds__(256, 2) bounded(int *__restrict__ x, const int n, int k) { EACH; }
extern "C" __global__ void named(int *x, int n, int k) { EACH; }
__global__ __launch_bounds__(BLOCK) void behind(int *x, int n, int k) { EACH; }
__attribute__((unused)) static void __global__ with_attribute(int *x, int n, int) { int k = 6; EACH; }
__global__ void scratch(int *x, int n, int k)
{
    extern __shared__ int memory[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    memory[threadIdx.x] = k * i;
    if (i < n)
        x[i] = memory[threadIdx.x];
}
struct inner { int *x; };
struct arguments { inner in; int n, k; };
__global__ void by_struct(arguments a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a.n)
        a.in.x[i] = a.k * i;
}
__global__ void no_parameters() {}
__global__ void square(int *x, int w, int h)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < w && r < h && gridDim.y == (unsigned)(h + 3) / 4 && gridDim.x == (unsigned)(w + 7) / 8)
        x[r * w + c] = 4 * (r * w + c);
}
__global__ void cube(int *x)
{
    int i = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    x[i] = 5 * i;
}
// Linearized block index and the last block of the grid: the whole grid's extents stay.
__global__ void last_block(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = blockIdx.x == gridDim.x - 1 ? 2 * i + 1 : 2 * i + 1;
}
__global__ void stride(int *x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = 9 * i;
}
int main()
{
    array a;
    int failed = 0, n = N, *x = a.at;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    dim3 grid(BLOCKS), block(BLOCK, 1, 1);
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    set<<<grid, block>>>(x, n);
    EXPECT(a.wrong(3));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    set<<<dim3(BLOCKS, 1), dim3{BLOCK}, 0, stream>>>(x, n, 4);
    EXPECT(a.wrong(4));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    set <<< (n + BLOCK - 1) / BLOCK , BLOCK , 0 >>> ( x ,
        n ,  /* by five */ 5 ) ;
    EXPECT(a.wrong(5));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    scratch<<<grid, block, BLOCK * sizeof(int), stream>>>(x, n, 6);
    EXPECT(a.wrong(6));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    bounded<<<grid, block>>>(x, n, 2);
    EXPECT(a.wrong(2));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    named<<<grid, block>>>(x, n, 2);
    EXPECT(a.wrong(2));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    behind<<<grid, block>>>(x, n, 2);
    EXPECT(a.wrong(2));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    with_attribute<<<grid, block>>>(x, n, 2);
    EXPECT(a.wrong(6));
    arguments all = {{x}, n, 7};
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    by_struct<<<grid, block>>>(all);
    EXPECT(a.wrong(7));
#pragma kmm parallel(i = 0:n)
    no_parameters<<<grid, block>>>();
    int w = 40, h = 25;
#pragma kmm parallel(c = 0:w, r = 0:h) shape(x[h][w]) write(x[r][c]) chunk(8, 4)
    square<<<dim3((w + 7) / 8, (h + 3) / 4), dim3(8, 4)>>>(x, w, h);
    EXPECT(a.wrong(4));
#pragma kmm parallel(b: block.x = 0:10, c: block.y = 0:10, d: block.z = 0:10) shape(x[10][10][10]) write(x[d][c][b]) chunk(10, 5, 3)
    cube<<<dim3(10, 10, 10), 1>>>(x);
    EXPECT(a.wrong(5));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    last_block<<<grid, block>>>(x, n);
    EXPECT(a.wrong(2, 1));
    int *middle = x + 500;
#pragma kmm parallel(i = 0:n - 500) update(middle[i]) update(x[0:500]) if(0)
    stride<<<2, 32>>>(x, n);
    EXPECT(a.wrong(9));
    // An interior pointer, a cast, an element's address.
    char *bytes = (char *)x;
#pragma kmm parallel(i = 0:n) write(((int *)bytes)[i]) chunk(100)
    set<<<grid, block>>>((int *)bytes, n, 8);
    EXPECT(a.wrong(8));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    set<<<grid, block>>>(&x[0], n, 2);
    EXPECT(a.wrong(2));
    cudaStreamDestroy(stream);
    return failed;
}
