// SPDX-License-Identifier: Apache-2.0
// Heat in a block of material, over time. Each step replaces a cell by a quarter of itself and an
// eighth of each of its six neighbours; cells on the faces stay. Two arrays change roles after each
// step. A chunk is a slab of planes, and reads one more plane on either side, so that the arrays
// may be far larger than a device's memory: KMM_DEVICES=host:1,mem=4M plays such a device.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void heat(int w, int h, int d, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= w || y >= h || z >= d)
        return;
    size_t plane = (size_t)w * h, at = z * plane + (size_t)y * w + x;
    if (x == 0 || y == 0 || z == 0 || x == w - 1 || y == h - 1 || z == d - 1)
        out[at] = in[at];
    else
        out[at] = 0.25f * in[at] + 0.125f * ((in[at - 1] + in[at + 1]) + (in[at - w] + in[at + w]) +
                                             (in[at - plane] + in[at + plane]));
}

// The same on the CPU. The products are by powers of two, so that a fused multiply-add changes no
// bit and the results are compared exactly.
static void heat_on_host(int w, int h, int d, const float *in, float *out)
{
    size_t plane = (size_t)w * h;
    memcpy(out, in, plane * d * sizeof(float));
    for (int z = 1; z < d - 1; z++)
        for (int y = 1; y < h - 1; y++)
            for (int x = 1; x < w - 1; x++) {
                const float *p = in + z * plane + (size_t)y * w + x;
                out[p - in] = 0.25f * p[0] + 0.125f * ((p[-1] + p[1]) + (p[-w] + p[w]) +
                                                       (p[-(long)plane] + p[plane]));
            }
}

static void swap(float **a, float **b)
{
    float *kept = *a;
    *a = *b;
    *b = kept;
}

static void run_on_device(int w, int h, int d, int steps, float *cells)
{
    size_t bytes = (size_t)w * h * d * sizeof(float);
    float *in, *out;
    CHECK(cudaMalloc(&in, bytes));
    CHECK(cudaMalloc(&out, bytes));
    CHECK(cudaMemcpy(in, cells, bytes, cudaMemcpyHostToDevice));
    dim3 block(32, 4, 1), grid((w + 31) / 32, (h + 3) / 4, d);
    int thickness = d / 16 + 1;
    for (int step = 0; step < steps; step++) {
        #pragma kmm parallel(x = 0:w, y = 0:h, z = 0:d) chunk(w, h, thickness) \
                    shape(in[d][h][w], out[d][h][w]) read(in[z-1:3][y-1:3][x-1:3]) \
                    write(out[z][y][x])
        heat<<<grid, block>>>(w, h, d, in, out);
        CHECK(cudaGetLastError());
        swap(&in, &out);
    }
    CHECK(cudaMemcpy(cells, in, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 96, steps = argc > 2 ? atoi(argv[2]) : 6;
    if (argc > 3 || n < 1 || n > 5000 || steps < 0)
        return fprintf(stderr, "usage: heat3d [side of the block, 1 to 5000] [steps]\n"), 2;
    int w = n, h = n, d = n + n / 2;
    size_t count = (size_t)w * h * d;
    float *cells = (float *)malloc(count * sizeof(float));
    float *expected = (float *)malloc(count * sizeof(float));
    float *other = (float *)malloc(count * sizeof(float));
    if (!cells || !expected || !other)
        return fprintf(stderr, "heat3d: not enough host memory for 3 x %zu floats\n", count), 1;
    unsigned z = 1;
    for (size_t i = 0; i < count; i++) {
        z = z * 1664525u + 1013904223u;
        cells[i] = expected[i] = (float)(z >> 20);
    }
    run_on_device(w, h, d, steps, cells);
    for (int step = 0; step < steps; step++) {
        heat_on_host(w, h, d, expected, other);
        swap(&expected, &other);
    }
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += cells[i] != expected[i];
    printf("heat3d: %d x %d x %d cells, %d steps, %zu wrong: %s\n", w, h, d, steps, wrong,
           wrong ? "FAILED" : "ok");
    free(cells), free(expected), free(other);
    return wrong != 0;
}
