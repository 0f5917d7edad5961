// A chunk of an earlier launch still reads, with its halo, a part of what a later launch overwrites in
// chunks of another size. Some of these chunks come first where memory is short.
// RUN: %kmmcc --target=host %san -fno-kmm -w %s -o %t.plain && %t.plain > %t.want
// RUN: %kmmcc --target=host %san -w %s -o %t && env KMM_DEVICES=host:1,mem=256K KMM_FRAME=32K KMM_JOIN=0 %t > %t.short && diff %t.want %t.short
// RUN: env KMM_DEVICES=host:1,mem=256K KMM_FRAME=32K KMM_JOIN=0 KMM_ORDER=submission %t > %t.order && diff %t.want %t.order
#include <cuda_runtime.h>
#include <stdio.h>
#include <vector>

#define GLOBAL_X (blockIdx.x * blockDim.x + threadIdx.x)

__global__ void halo(int n, int w, unsigned *o, const unsigned *x)
{
    int i = GLOBAL_X;
    if (i >= n)
        return;
    unsigned t = 1;
    for (int j = i - w; j <= i + w; j++)
        if (j >= 0 && j < n)
            t = t * 31 + x[j];
    o[i] = t;
}

__global__ void half(int n, int h, unsigned *x)
{
    int i = GLOBAL_X;
    if (i < n)
        x[i] = x[i] * 3 + x[i + h];
}

int main()
{
    int n = 105515;
    unsigned *p[5];
    std::vector<unsigned> v(n);
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < n; i++)
            v[i] = i * 7919u + k;
        cudaMalloc((void **)&p[k], n * 4);
        cudaMemcpy(p[k], v.data(), n * 4, cudaMemcpyHostToDevice);
    }
    unsigned *a = p[0], *b = p[1], *c = p[2], *d = p[3], *e = p[4];
    int w = 40, s = 2, m = n / 2, h = n - m;
#pragma kmm parallel(i = 0:m) chunk(m / 16 + 1) read(e[i+h]) update(e[i])
    half<<<(m + 63) / 64, 64>>>(m, h, e);
#pragma kmm parallel(i = 0:n) chunk(n / 22 + 1) read(b[i-w:2*w+1]) write(c[i])
    halo<<<(n + 255) / 256, 256>>>(n, w, c, b);
#pragma kmm parallel(i = 0:n) chunk(n / 22 + 1) read(c[i-w:2*w+1]) write(d[i])
    halo<<<(n + 255) / 256, 256>>>(n, w, d, c);
#pragma kmm parallel(i = 0:n) chunk(n / 18 + 1) read(a[i-s:2*s+1]) write(c[i])
    halo<<<(n + 63) / 64, 64>>>(n, s, c, a);
#pragma kmm parallel(i = 0:m) chunk(m / 16 + 1) read(b[i+h]) update(b[i])
    half<<<(m + 63) / 64, 64>>>(m, h, b);
#pragma kmm parallel(i = 0:n) chunk(n / 22 + 1) read(d[i-w:2*w+1]) write(e[i])
    halo<<<(n + 255) / 256, 256>>>(n, w, e, d);
#pragma kmm parallel(i = 0:n) chunk(n / 18 + 1) read(b[i-s:2*s+1]) write(d[i])
    halo<<<(n + 63) / 64, 64>>>(n, s, d, b);
    for (int k = 0; k < 5; k++) {
        cudaMemcpy(v.data(), p[k], n * 4, cudaMemcpyDeviceToHost);
        unsigned t = 0;
        for (int i = 0; i < n; i++)
            t = t * 31 + v[i];
        printf("%d %08x\n", k, t);
    }
}
