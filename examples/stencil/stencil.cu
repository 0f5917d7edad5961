// SPDX-License-Identifier: Apache-2.0
// Heat flow on a plate: each step replaces a cell by half of itself and an eighth of each of its
// four neighbours; cells on the edge stay. Two arrays change roles after each step.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void stencil(int w, int h, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    size_t at = (size_t)y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1)
        out[at] = in[at];
    else
        out[at] = 0.5f * in[at] + 0.125f * ((in[at - w] + in[at + w]) + (in[at - 1] + in[at + 1]));
}

// The same on the CPU. The products are by powers of two, so no compiler's fused multiply-add
// changes a bit and the results are compared exactly.
static void stencil_on_host(int w, int h, const float *in, float *out)
{
    memcpy(out, in, (size_t)w * h * sizeof(float));
    for (int y = 1; y < h - 1; y++) {
        for (int x = 1; x < w - 1; x++) {
            const float *p = in + (size_t)y * w + x;
            out[(size_t)y * w + x] = 0.5f * p[0] + 0.125f * ((p[-w] + p[w]) + (p[-1] + p[1]));
        }
    }
}

static void run_on_device(int w, int h, int steps, float *plate)
{
    size_t bytes = (size_t)w * h * sizeof(float);
    float *in, *out;
    CHECK(cudaMalloc(&in, bytes));
    CHECK(cudaMalloc(&out, bytes));
    CHECK(cudaMemcpy(in, plate, bytes, cudaMemcpyHostToDevice));

    dim3 block(32, 8);
    dim3 grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
    for (int step = 0; step < steps; step++) {
        #pragma kmm parallel(x = 0:w, y = 0:h) chunk(w, h / 5) shape(in[h][w], out[h][w]) \
                    read(in[y-1:3][x-1:3]) write(out[y][x])
        stencil<<<grid, block>>>(w, h, in, out);
        CHECK(cudaGetLastError());
        float *swap = in;
        in = out;
        out = swap;
    }

    CHECK(cudaMemcpy(plate, in, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
}

static void run_on_host(int w, int h, int steps, float **plate, float **other)
{
    for (int step = 0; step < steps; step++) {
        stencil_on_host(w, h, *plate, *other);
        float *swap = *plate;
        *plate = *other;
        *other = swap;
    }
}

// A whole number from the command line; -1, which no option allows, when it is none.
static long number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    return end != text && *end == '\0' ? value : -1;
}

static int usage(void)
{
    fprintf(stderr, "usage: stencil [-n columns] [-m rows] [-t steps] [-s seed]\n");
    return 2;
}

int main(int argc, char **argv)
{
    long w = 500, h = 0, steps = 8;
    uint64_t seed = 1;
    for (int option; (option = getopt(argc, argv, "n:m:t:s:")) != -1;) {
        switch (option) {
        case 'n': w = number(optarg); break;
        case 'm': h = number(optarg); break;
        case 't': steps = number(optarg); break;
        case 's': seed = strtoull(optarg, NULL, 10); break;
        default: return usage();
        }
    }
    if (h == 0)
        h = w;
    if (optind != argc || w < 1 || h < 1 || w > 200000 || h > 200000 || steps < 0)
        return usage();

    size_t cells = (size_t)w * h;
    float *result = (float *)malloc(cells * sizeof(float));
    float *plate = (float *)malloc(cells * sizeof(float));
    float *other = (float *)malloc(cells * sizeof(float));
    if (!result || !plate || !other) {
        fprintf(stderr, "stencil: not enough host memory for 3 x %zu floats\n", cells);
        return 1;
    }
    uint64_t z = seed;
    for (size_t i = 0; i < cells; i++) {
        z = z * 6364136223846793005u + 1442695040888963407u;
        result[i] = plate[i] = (float)(z >> 44) / 1024;
    }

    run_on_device(w, h, steps, result);
    run_on_host(w, h, steps, &plate, &other);

    size_t wrong = 0;
    double sum = 0;
    for (size_t i = 0; i < cells; i++) {
        wrong += result[i] != plate[i];
        sum += result[i];
    }
    printf("stencil: %ld x %ld, %ld steps, heat = %.9g, %zu wrong: %s\n", w, h, steps, sum, wrong,
           wrong ? "FAILED" : "ok");
    free(result);
    free(plate);
    free(other);
    return wrong != 0;
}
