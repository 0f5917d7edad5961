// RUN: %kmmcc --target=host -fno-kmm %san -w %s -o %t.plain && env KMM_DEVICES=host %t.plain > %t.want
// RUN: %kmmcc --target=host %san -O1 -w %s -o %t && env KMM_DEVICES=host %t > %t.one && diff %t.want %t.one
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three && diff %t.want %t.three
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t > %t.check && diff %t.want %t.check
// Pointers of kernels that no clause names, or that lie near an array and not in it: they are compared, one computes distances
// with them, arrays begin at index 1. And memory that is no array's, but lies near one.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define INDEX (int)(blockIdx.x * blockDim.x + threadIdx.x)
struct ends { int *first, *last; };
struct views { int *p; int n; const int *q; };
__device__ int apart(const int *p, const int *q) { return (int)(p - q); }
__global__ void distance(int n, int *a, const int *base) { int i = INDEX; if (i < n) a[i] += (int)(&a[i] - base); }
__global__ void bytes_apart(int n, int *a, const int *base) { int i = INDEX; if (i < n) a[i] += (int)((const char *)(a + i) - (const char *)base); }
__global__ void called(int n, int *a, const int *base) { int i = INDEX; if (i < n) a[i] += apart(a + i, base); }
__global__ void between(int n, int *a, int *low, int *high) { int i = INDEX; if (i < n && a + i >= low && a + i < high) a[i]++; }
__global__ void up_to(ends e) { int i = INDEX; if (i < e.last - e.first) e.first[i] = (int)(e.last - e.first) + i; }
__global__ void until(int *a, int *end) { for (int *p = a + INDEX; p < end; p += gridDim.x * blockDim.x) *p = *p * 3 + (int)(end - p); }
__global__ void from_1(int n, int *a, int *b) { int i = INDEX; if (i < n) a[i + 1] += b[i]; }
__global__ void from_1s(views v) { int i = INDEX; if (i < v.n) v.p[i + 1] += v.q[i + 5] * 3; }
__global__ void of_host(int n, int *a, const int *h) { int i = INDEX; if (i < n) a[i] += h[i]; }

int main(void)
{
    int n = 100000, m = n - 900, *h = (int *)malloc(4 * n), *x, *y;
    cudaMalloc(&x, 4 * n);
    cudaMalloc(&y, 4 * n);
    for (int i = 0; i < n; i++)
        h[i] = i;
    cudaMemcpy(x, h, 4 * n, cudaMemcpyDefault);
    cudaMemcpy(y, h, 4 * n, cudaMemcpyDefault);
    unsigned s = 0;
    auto show = [&](const char *what) {
        for (int *p : {x, y}) {
            cudaMemcpy(h, p, 4 * n, cudaMemcpyDefault);
            for (int i = 0; i < n; i++)
                s = s * 31 + h[i];
        }
        printf("%s %u\n", what, s);
    };
    int *mid = y + 900, *before = y - 1, *far = y - 9;
    const int grid = n / 32, block = 32;
    #pragma kmm parallel(i = 0:m) chunk(7001) update(mid[i])
    distance<<<grid, block>>>(m, mid, y);
    show("distance");
    #pragma kmm parallel(i = 0:m) chunk(7001) update(mid[i])
    bytes_apart<<<grid, block>>>(m, mid, y);
    show("bytes apart");
    #pragma kmm parallel(i = 0:m) chunk(7001) update(mid[i])
    called<<<grid, block>>>(m, mid, y);
    show("called");
    #pragma kmm parallel(i = 0:m) chunk(7001) update(mid[i])
    between<<<grid, block>>>(m, mid, y + 5000, y + 60000);
    show("between");
    #pragma kmm parallel(i = 0:n) chunk(7001) update(y[i])
    distance<<<grid, block>>>(n, y, before);
    show("distance to what is in front");
    #pragma kmm parallel(i = 0:n) chunk(7001) update(y[i])
    distance<<<grid, block>>>(n, y, y - 9);
    show("distance to what is in front and computed");
    #pragma kmm parallel(i = 0:n) chunk(7001) update(y[i])
    distance<<<grid, block>>>(n, y, far);
    show("farther");
    ends e = {y, y + n};
    #pragma kmm parallel(i = 0:n) chunk(7001) update(e.first[i])
    up_to<<<grid, block>>>(e);
    show("up to");
    #pragma kmm parallel(i = 0:n) chunk(7001) update(x[i])
    until<<<grid, block>>>(x, x + n);
    show("until");
    #pragma kmm parallel(i = 0:n) chunk(7001) update(y[i])
    from_1<<<grid, block>>>(n, y - 1, y);
    show("from 1");
    #pragma kmm parallel(i = 0:n) chunk(7001) update(y[i]) read(x[i])
    from_1<<<grid, block>>>(n, y - 1, x);
    show("from 1 of another");
    views v = {y - 1, n, x - 5};
    #pragma kmm parallel(i = 0:n) chunk(7001) update((v.p + 1)[i]) read((v.q + 5)[i])
    from_1s<<<grid, block>>>(v);
    show("in a struct");

    enum { ARRAYS = 8, BYTES = 200000, LAST = BYTES / 4 - 1000 };
    int *a[ARRAYS], *of[ARRAYS];
    for (int k = 0; k < ARRAYS; k++) {
        of[k] = (int *)malloc(BYTES);
        for (int i = 0; i < BYTES / 4; i++)
            of[k][i] = i * k;
        cudaMalloc(&a[k], BYTES);
        cudaMemcpy(a[k], of[k], BYTES, cudaMemcpyHostToDevice);
    }
    for (int k = 0; k < ARRAYS; k++) {
        of_host<<<10, 100>>>(1000, a[k] + 500, of[k] + LAST);
        of_host<<<10, 100>>>(1000, a[(k + 1) % ARRAYS] + 500, of[k]);
    }
    cudaDeviceSynchronize();
    for (int k = 0; k < ARRAYS; k++) {
        cudaMemcpy(h, a[k], BYTES, cudaMemcpyDeviceToHost);
        for (int i = 0; i < BYTES / 4; i++)
            s = s * 31 + h[i];
    }
    printf("of the host %u\n", s);
    return 0;
}
