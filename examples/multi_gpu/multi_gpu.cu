// SPDX-License-Identifier: Apache-2.0
// The potential of some charges in a plane, by Jacobi's method: each step replaces a cell by the
// mean of its four neighbours and its charge; cells on the border stay 0. The program knows one
// GPU. The pragmas spread it over all that the machine has.
#include <cuda_runtime.h>
#include <math.h>
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

enum { STEPS_OF_A_CHECK = 10 };

__host__ __device__ static float charge_at(int x, int y)
{
    return (x * 37 + y * 101) % 97 == 0 ? 1.0f : 0.0f;
}

__global__ void place_charges(int w, int h, float *charge)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        charge[y * w + x] = charge_at(x, y);
}

__host__ __device__ static float mean(int w, int h, int x, int y, const float *charge,
                                      const float *in)
{
    int at = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1)
        return 0;
    return 0.25f * (((in[at - 1] + in[at + 1]) + (in[at - w] + in[at + w])) + charge[at]);
}

__global__ void jacobi(int w, int h, const float *charge, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = mean(w, h, x, y, charge, in);
}

// largest[0] = max(largest[0], the largest difference). The bits of floats that are not negative
// are in the order of the floats.
__global__ void compare(int w, int h, const float *in, const float *out, int *largest)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        atomicMax(&largest[0], __float_as_int(fabsf(out[y * w + x] - in[y * w + x])));
}

// The largest change of a cell in the last step.
static float launch_compare(int w, int h, dim3 grid, dim3 block, const float *in, const float *out)
{
    int *largest;
    float change;
    CHECK(cudaMalloc(&largest, sizeof(int)));
    CHECK(cudaMemset(largest, 0, sizeof(int)));
    #pragma kmm parallel(x = 0:w, y = 0:h) chunk(w, h / 8 + 1) schedule(block) \
                shape(in[h][w], out[h][w]) read(in[y][x], out[y][x]) reduce(max: largest[0])
    compare<<<grid, block>>>(w, h, in, out, largest);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&change, largest, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(largest));
    return change;
}

static float run_on_device(int w, int h, int steps, float *cells)
{
    size_t bytes = (size_t)w * h * sizeof(float);
    float *charge, *in, *out, change = 0;
    for (float **each : {&charge, &in, &out})
        CHECK(cudaMalloc(each, bytes));
    CHECK(cudaMemset(in, 0, bytes));
    dim3 block(32, 4), grid((w + 31) / 32, (h + 3) / 4);

    // One GPU computes all charges. The others get the rows that they need from it.
    #pragma kmm parallel(x = 0:w, y = 0:h) chunk(w, h / 8 + 1) device(0) shape(charge[h][w]) \
                write(charge[y][x])
    place_charges<<<grid, block>>>(w, h, charge);
    for (int step = 1; step <= steps; step++) {
        // Neighbouring chunks are on one GPU, and only rows where two GPUs meet are copied.
        #pragma kmm parallel(x = 0:w, y = 0:h) chunk(w, h / 8 + 1) device(all) schedule(block) \
                    shape(charge[h][w], in[h][w], out[h][w]) \
                    read(charge[y][x], in[y-1:3][x-1:3]) write(out[y][x])
        jacobi<<<grid, block>>>(w, h, charge, in, out);
        CHECK(cudaGetLastError());
        if (step % STEPS_OF_A_CHECK == 0 || step == steps)
            change = launch_compare(w, h, grid, block, in, out);
        float *kept = in;
        in = out;
        out = kept;
    }
    CHECK(cudaMemcpy(cells, in, bytes, cudaMemcpyDeviceToHost));
    for (float *each : {charge, in, out})
        CHECK(cudaFree(each));
    return change;
}

// The same on the CPU. The product is by a power of two, so that the results are compared exactly.
static float run_on_host(int w, int h, int steps, float *cells)
{
    size_t count = (size_t)w * h;
    float *charge = (float *)malloc(count * sizeof(float)), change = 0;
    float *in = (float *)malloc(count * sizeof(float));
    memset(cells, 0, count * sizeof(float));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            charge[y * w + x] = charge_at(x, y);
    for (int step = 0; step < steps; step++) {
        memcpy(in, cells, count * sizeof(float));
        change = 0;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                cells[y * w + x] = mean(w, h, x, y, charge, in);
                change = fmaxf(change, fabsf(cells[y * w + x] - in[y * w + x]));
            }
    }
    free(charge), free(in);
    return change;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 512, steps = argc > 2 ? atoi(argv[2]) : 20;
    if (argc > 3 || n < 1 || n > 30000 || steps < 0)
        return fprintf(stderr, "usage: multi_gpu [side of the plane, 1 to 30000] [steps]\n"), 2;
    size_t count = (size_t)n * n;
    float *cells = (float *)malloc(count * sizeof(float));
    float *expected = (float *)malloc(count * sizeof(float));
    if (!cells || !expected)
        return fprintf(stderr, "multi_gpu: not enough memory for 2 x %zu floats\n", count), 1;
    float change = run_on_device(n, n, steps, cells);
    size_t wrong = change != run_on_host(n, n, steps, expected);
    for (size_t i = 0; i < count; i++)
        wrong += cells[i] != expected[i];
    printf("multi_gpu: %d x %d cells, %d steps, last change %g, %zu wrong: %s\n", n, n, steps,
           change, wrong, wrong ? "FAILED" : "ok");
    free(cells), free(expected);
    return wrong != 0;
}
