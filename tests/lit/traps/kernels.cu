// What public kernels do that makes their regions hard to say: the same results with and without the pragmas.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t > %t.with
// RUN: %kmmcc --target=host -fno-kmm -Wno-unknown-pragmas -O1 %san %s -o %t && %t > %t.without
// RUN: diff %t.with %t.without && FileCheck --input-file=%t.with %s
// RUN: %if nvcc %{ %kmmcc --target=cuda -Xcompiler -Wall,-Wextra -Werror all-warnings -c %s -o %t.o %}
#include <cuda_runtime.h>
#include <stdio.h>

enum { N = 4096, BLOCK = 64, BORDER = 4, INNER = BLOCK - 2 * BORDER };

// Tiles that overlap: a block reads its borders, and only a guard keeps its stores from its neighbours'.
__global__ void pyramid(int n, const int *in, int *out)
{
    int i = blockIdx.x * INNER + (int)threadIdx.x - BORDER;
    int left = i > 0 && i <= n ? in[i - 1] : 0, right = i >= -1 && i < n - 1 ? in[i + 1] : 0;
    bool inner = threadIdx.x >= BORDER && threadIdx.x < BLOCK - BORDER;
    if (inner && i < n)
        out[i] = left + right;
}

// In place, with what other blocks store: old and new values are both right.
__global__ void shortest(int n, int k, int *distance)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    int through = distance[y * n + k] + distance[k * n + x];
    if (through < distance[y * n + x])
        distance[y * n + x] = through;
}

// The pointers move, for a moment to before their arrays.
__global__ void shifted(int n, const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    in = in + i - 3;
    out += i - n;
    if (i < n)
        out[n] = in[3] * 2;
}

// A fixed grid that strides over all: each block touches elements all over the array.
__global__ void strided(int n, const int *in, int *sum)
{
    int part = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        part += in[i];
    atomicAdd(sum, part);
}

// Blocks numbered across dimensions, the last of which is another.
__global__ void numbered(int n, int *out)
{
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x, i = block * blockDim.x + threadIdx.x;
    bool last = blockIdx.x == gridDim.x - 1;
    if (i < n)
        out[i] = last ? -block : block;
}

// Division and remainder of the index.
__global__ void transpose(int w, int h, const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < w * h)
        out[i] = in[i % h * w + i / h];
}

// A triangle: rows of different length.
__global__ void triangle(int n, const int *in, int *out)
{
    int row = blockIdx.x;
    for (int c = threadIdx.x; c <= row; c += blockDim.x)
        out[row * n + c] = in[c * n + row];
}

// A gather, whose indices are data, and a pointer that is only read though it is not to const.
__global__ void gather(int n, int *index, const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[index[i]];
}

// Many arguments.
#define EIGHT(p) int *p##0, int *p##1, int *p##2, int *p##3, int *p##4, int *p##5, int *p##6, int *p##7
#define ADD(p) *p##0 + *p##1 + *p##2 + *p##3 + *p##4 + *p##5 + *p##6 + *p##7
__global__ void many(int n, EIGHT(a), EIGHT(b), EIGHT(c), EIGHT(d), EIGHT(e), int *out, char s, short t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = ADD(a) + ADD(b) + ADD(c) + ADD(d) + ADD(e) + s * t;
}

static void show(const char *name, const int *x, int n)
{
    static int host[N];
    unsigned sum = 0;
    cudaMemcpy(host, x, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        sum = sum * 31 + host[i];
    printf("%s %u\n", name, sum);
}

struct arrays { int *of[3]; };

int main()
{
    static int host[N];
    arrays a;
    int *in, *out, *index, n = N - 7, w = 50, h = 60, k = 32;
    for (int i = 0; i < N; i++)
        host[i] = i * 7919 % 1000;
    cudaMalloc(&in, sizeof(host));
    cudaMalloc(&out, sizeof(host));
    cudaMalloc(&index, sizeof(host));
    cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemcpy(index, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(host));

    int blocks = (n + INNER - 1) / INNER;
    // CHECK: pyramid
    #pragma kmm parallel(b: block.x) chunk(blocks / 3) read(in[b * INNER - 5:BLOCK + 2]) update(out[b * INNER:INNER])
    pyramid<<<blocks, BLOCK>>>(n, in, out);
    show("pyramid", out, n);

    for (int step = 0; step < 3; step++) {
        #pragma kmm parallel(x = 0:64, y: block.y = 0:64) chunk(64, 9) shape(in[64][64]) update(in[y][x]) read(in[step][x], in[y][step])
        shortest<<<dim3(1, 64), 64>>>(64, step, in);
    }
    show("shortest", in, N);

    #pragma kmm parallel(i = 0:n) chunk(n / 5) read(in[i]) write(out[i])
    shifted<<<(n + 63) / 64, 64>>>(n, in, out);
    show("shifted", out, n);

    cudaMemset(out, 0, sizeof(int));
    #pragma kmm parallel(b: block.x) chunk(2) read(in[:]) reduce(+: out[0])
    strided<<<7, 64>>>(n, in, out);
    show("strided", out, 1);

    #pragma kmm parallel(z: block.z) chunk(1) update(out[z * (5 * 4 * BLOCK):5 * 4 * BLOCK])
    numbered<<<dim3(5, 4, 3), BLOCK>>>(n, out);
    show("numbered", out, n);

    #pragma kmm parallel(i = 0:w*h) chunk(w * h / 4) read(in[:]) write(out[i])
    transpose<<<(w * h + 63) / 64, 64>>>(w, h, in, out);
    show("transpose", out, n);

    #pragma kmm parallel(r: block.x) chunk(5) read(in[:]) update(out[r * k:r + 1])
    triangle<<<k, 16>>>(k, in, out);
    show("triangle", out, n);

    #pragma kmm parallel(i = 0:n) chunk(n / 3) read(index[i], in[:]) write(out[i])
    gather<<<(n + 63) / 64, 64>>>(n, index, in, out);
    show("gather", out, n);

    // Pointers into the middle, addresses of elements, casts, and elements of arrays of pointers.
    a.of[0] = in, a.of[1] = out, a.of[2] = index;
    #pragma kmm parallel(i = 0:100) chunk(64) read((a.of[0] + 5)[i]) write(((int *)(void *)a.of[1] + 7)[i])
    shifted<<<2, 64>>>(100, a.of[0] + 5, (int *)(void *)a.of[1] + 7);
    show("middle", out, n);
    int which = 2;
    #pragma kmm parallel(i = 0:100) chunk(64) read((&in[1000])[i]) write((a.of[which - 1])[i])
    shifted<<<2, 64>>>(100, &in[1000], a.of[which - 1]);
    show("element", out, n);

    // CHECK: many
    #pragma kmm parallel(i = 0:n) chunk(n / 3) read(in[0]) write(out[i])
    many<<<(n + 63) / 64, 64>>>(n, in, in, in, in, in, in, in, in, in, in, in, in, in, in, in, in, in, in, in, in, in, in, in, in, in, in, in,
                                in, in, in, in, in, in, in, in, in, in, in, in, in, out, 2, 3);
    show("many", out, n);
    return 0;
}
