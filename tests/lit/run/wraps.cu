// REQUIRES: ir
// RUN: %kmmcc --target=host -w --emit-source %s | FileCheck %s
// RUN: %kmmcc --target=host -fno-kmm %san -w %s -o %t.plain && env KMM_DEVICES=host %t.plain > %t.want
// RUN: %kmmcc --target=host %san -O1 -w %s -o %t && env KMM_DEVICES=host %t > %t.one && diff %t.want %t.one
// RUN: env KMM_STATS=1 KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three 2> %t.stats && diff %t.want %t.three
// RUN: FileCheck %s --check-prefix=STATS < %t.stats
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t > %t.check && diff %t.want %t.check
// RUN: sed /#pragma/d %s > %t.cu && %kmmcc --target=host -fkmm-auto %san -O1 -w %t.cu -o %t && env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three 2> %t.stats && diff %t.want %t.three
// What is inferred holds where indices fit into the bits in which the kernel computes them. libkmm looks, with the numbers of the launch.
// STATS: kmm: 8 launches ran whole, because what kmmcc has inferred of them did not hold
#include <cuda_runtime.h>
#include <stdio.h>

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
// An offset that stands for a negative number; scalars near 2^31 and 2^32.
__global__ void moved(const float *a, float *b, unsigned off, int n) { unsigned i = INDEX; if (i >= 16 && i < n) { unsigned j = i + off; b[i] = a[j]; } }
__global__ void guarded(float *a, int off, int n) { int i = INDEX; if ((int)((unsigned)i + (unsigned)off) < n) a[i] += 1; }
__global__ void guarded_by_unsigned(float *a, unsigned off, unsigned n) { unsigned i = INDEX; if (i + off < n) a[i] += 1; }
__global__ void scaled(float *a, unsigned w, unsigned n) { unsigned i = INDEX; if (i < n && i % 4 == 0) { unsigned j = i * w; a[j] += i; } }
__global__ void narrow(const float *a, float *b, int n) { int i = INDEX; if (i < n) { short j = (short)i; b[i] = a[j + 32768]; } }
__global__ void narrow_unsigned(const float *a, float *b, int n) { int i = INDEX; if (i < n) { unsigned short j = (unsigned short)(i * 2); b[i] = a[j]; } }
__global__ void rows(float *a, unsigned base, unsigned w, unsigned rows) { unsigned i = INDEX; if (i < rows) for (unsigned k = 0; k < 4; k++) { unsigned j = base + i * w + k; a[j] = j + k; } }
__global__ void chosen(const float *a, float *b, unsigned off, unsigned n) { unsigned i = INDEX; if (i < n) { unsigned j = i > 8 ? i + off : i; b[i] = a[j]; } }
__global__ void looped(const float *a, float *b, unsigned from, unsigned to, int n) { int i = INDEX; if (i < n) { float s = 0; for (unsigned k = from; k < to; k++) s += a[i + (k - from)]; b[i] = s; } }

enum { N = 70000 };
static float *A, *B, host[N];
static void fill()
{
    for (int k = 0; k < N; k++)
        host[k] = k % 113;
    cudaMemcpy(A, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemcpy(B, host, sizeof(host), cudaMemcpyHostToDevice);
}
static void show(const char *name)
{
    double sum = 0;
    float *all[] = {A, B};
    for (float *p : all) {
        cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost);
        for (int k = 0; k < N; k++)
            sum += (k % 17 + 1) * host[k];
    }
    printf("%s %.1f %s\n", name, sum, cudaGetErrorString(cudaGetLastError()));
    fill();
}
int main()
{
    cudaMalloc(&A, sizeof(host));
    cudaMalloc(&B, sizeof(host));
    fill();
    int n = 60000, blocks = (n + 63) / 64;
    for (int k = 0; k < 2; k++) {
        // CHECK: kmm_launch_fits(kmm__launch, "x + (k ? 0xfffffff0u : 16u)", KMM_UINT32, KMM_IN_RANGE,
        #pragma kmm parallel
        moved<<<blocks, 64>>>(A, B, k ? 0xfffffff0u : 16u, n);
        show("moved");
        // CHECK: kmm_launch_fits(kmm__launch, "(k ? 0x7ffffff0 : 5) + x", KMM_INT32, KMM_IN_GRID,
        #pragma kmm parallel
        guarded<<<blocks, 64>>>(A, k ? 0x7ffffff0 : 5, k ? 0x7ffffff8 : n);
        show("guarded");
        #pragma kmm parallel
        guarded_by_unsigned<<<blocks, 64>>>(A, k ? 0xfffffff0u : 5, n);
        show("guarded_by_unsigned");
        #pragma kmm parallel
        scaled<<<blocks, 64>>>(A, k ? 0x40000001u : 1u, n);
        show("scaled");
        // CHECK: kmm_launch_fits(kmm__launch, "x", KMM_INT16, KMM_IN_RANGE, 0);
        #pragma kmm parallel
        narrow<<<blocks, 64>>>(A, B, k ? n : 32768);
        show("narrow");
        // CHECK: kmm_launch_fits(kmm__launch, "2 * x", KMM_UINT16, KMM_IN_RANGE, 0);
        #pragma kmm parallel
        narrow_unsigned<<<blocks, 64>>>(A, B, k ? n : 32768);
        show("narrow_unsigned");
        #pragma kmm parallel
        rows<<<blocks, 64>>>(A, k ? n / 2 : 0, k ? 0xfffffffcu : 4u, n / 8);
        show("rows");
        #pragma kmm parallel
        chosen<<<blocks, 64>>>(A, B, k ? 0xfffffff8u : 8u, n);
        show("chosen");
        // CHECK: looped(
        #pragma kmm parallel
        looped<<<blocks, 64>>>(A, B, k ? 0xfffffff0u : 10, k ? 0xfffffff4u : 14, n);
        show("looped");
    }
    cudaFree(A);
    cudaFree(B);
    return 0;
}
