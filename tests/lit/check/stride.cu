// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// RUN: %kmmcc --help=warnings | FileCheck --check-prefix=LIST %s
// LIST: -Wkmm-stride
// Kernels that loop with the grid's stride, in chunks: right where the grid has a thread for each element.
#include <cuda_runtime.h>

__global__ void scale(int n, float *x)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        x[i] *= 2;
}
__global__ void shift(int n, float *x)
{
    const int step = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n) {
        x[i] += 2;
        i += step;
    }
}
__global__ void plain(int n, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++)
        sum += k;
    if (i < n)
        x[i] += sum;
}

void launches(int n, float *x)
{
    // CHECK: :[[#@LINE+2]]:41: warning: kernel 'scale' loops with the stride of a grid of 16384 threads, so each chunk reaches elements of the whole range 'n' where that is longer, and several chunks are an error; leave out the chunk, launch enough blocks, or say [:] [-Wkmm-stride]
    // CHECK: :9:{{[0-9]+}}: note: it does so here
    #pragma kmm parallel(i = 0:n) chunk(n / 4) update(x[i])
    scale<<<64, 256>>>(n, x);
    // CHECK: :[[#@LINE+2]]:46: error: kernel 'shift' loops with the stride of a grid of 512 threads, so each chunk reaches elements of the whole range '100000'; leave out the chunk, launch enough blocks, or say [:]{{$}}
    // CHECK: :18:{{[0-9]+}}: note: it does so here
    #pragma kmm parallel(i = 0:100000) chunk(100) update(x[i])
    shift<<<2 * 4, 64>>>(100000, x);
    #pragma kmm parallel(i = 0:512) chunk(64) update(x[i])
    shift<<<8, 64>>>(512, x);
    #pragma kmm parallel(i = 0:n) update(x[i])
    shift<<<8, 64>>>(n, x);
    #pragma kmm parallel(i = 0:n) chunk(n / 4) update(x[i])
    scale<<<(n + 255) / 256, 256>>>(n, x);
    #pragma kmm parallel(i = 0:n) chunk(n / 4) update(x[i])
    plain<<<64, 256>>>(n, x);
}
