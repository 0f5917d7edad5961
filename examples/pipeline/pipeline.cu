// SPDX-License-Identifier: Apache-2.0
// A pipeline of three stages over a grey picture: a blur, the edges (Sobel), and the equalization
// of their histogram. Rows are chunks; the first two stages read one row more on either side, and
// the histogram is combined by `reduce`. Reads and writes PGM files; without one it draws
// rings.
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

typedef unsigned char byte;
enum { GREYS = 256 };

// The index of the nearest pixel inside
__host__ __device__ static size_t at(int w, int h, int x, int y)
{
    x = x < 0 ? 0 : x >= w ? w - 1 : x;
    y = y < 0 ? 0 : y >= h ? h - 1 : y;
    return (size_t)y * w + x;
}

__host__ __device__ static byte blurred(int w, int h, const byte *in, int x, int y)
{
    int sum = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            sum += in[at(w, h, x + i, y + j)] * ((2 - i * i) * (2 - j * j));
    return (byte)(sum / 16);
}

__host__ __device__ static byte edge(int w, int h, const byte *in, int x, int y)
{
    int across = 0, down = 0;
    for (int k = -1; k <= 1; k++) {
        int weight = 2 - k * k;
        across += weight * (in[at(w, h, x + 1, y + k)] - in[at(w, h, x - 1, y + k)]);
        down += weight * (in[at(w, h, x + k, y + 1)] - in[at(w, h, x + k, y - 1)]);
    }
    int size = (across < 0 ? -across : across) + (down < 0 ? -down : down);
    return (byte)(size > 255 ? 255 : size);
}

__global__ void blur(int w, int h, const byte *in, byte *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[(size_t)y * w + x] = blurred(w, h, in, x, y);
}

__global__ void edges(int w, int h, const byte *in, byte *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[(size_t)y * w + x] = edge(w, h, in, x, y);
}

__global__ void count(int w, int h, const byte *in, unsigned *greys)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        atomicAdd(&greys[in[(size_t)y * w + x]], 1u);
}

__global__ void replace(int w, int h, const byte *table, byte *picture)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        picture[(size_t)y * w + x] = table[picture[(size_t)y * w + x]];
}

// The table that spreads the greys evenly.
static void equalize(const unsigned *greys, byte *table)
{
    unsigned long long all = 0, below = 0;
    for (int g = 0; g < GREYS; g++)
        all += greys[g];
    for (int g = 0; g < GREYS; g++) {
        below += greys[g];
        table[g] = (byte)(below * 255 / all);
    }
}

static void run_on_device(int w, int h, byte *picture)
{
    size_t bytes = (size_t)w * h;
    byte *A, *B, *TABLE, table[GREYS];
    unsigned *COUNT, greys[GREYS];
    CHECK(cudaMalloc(&A, bytes));
    CHECK(cudaMalloc(&B, bytes));
    CHECK(cudaMalloc(&TABLE, sizeof(table)));
    CHECK(cudaMalloc(&COUNT, sizeof(greys)));
    CHECK(cudaMemcpy(A, picture, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(COUNT, 0, sizeof(greys)));
    dim3 block(32, 4), grid((w + 31) / 32, (h + 3) / 4);
    #pragma kmm parallel(x = 0:w, y = 0:h) chunk(w, h / 6) shape(A[h][w], B[h][w]) \
                read(A[y-1:3][:]) write(B[y][x])
    blur<<<grid, block>>>(w, h, A, B);
    #pragma kmm parallel(x = 0:w, y = 0:h) chunk(w, h / 6) shape(A[h][w], B[h][w]) \
                read(B[y-1:3][:]) write(A[y][x])
    edges<<<grid, block>>>(w, h, B, A);
    #pragma kmm parallel(x = 0:w, y = 0:h) chunk(w, h / 6) shape(A[h][w]) \
                read(A[y][x]) reduce(+: COUNT[0:GREYS])
    count<<<grid, block>>>(w, h, A, COUNT);
    CHECK(cudaMemcpy(greys, COUNT, sizeof(greys), cudaMemcpyDeviceToHost));
    equalize(greys, table);
    CHECK(cudaMemcpy(TABLE, table, sizeof(table), cudaMemcpyHostToDevice));
    #pragma kmm parallel(x = 0:w, y = 0:h) chunk(w, h / 6) shape(A[h][w]) \
                read(TABLE[0:GREYS]) update(A[y][x])
    replace<<<grid, block>>>(w, h, TABLE, A);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(picture, A, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(TABLE));
    CHECK(cudaFree(COUNT));
}

static void run_on_host(int w, int h, byte *picture)
{
    byte *other = (byte *)malloc((size_t)w * h), table[GREYS];
    unsigned greys[GREYS] = {0};
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            other[(size_t)y * w + x] = blurred(w, h, picture, x, y);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            greys[picture[(size_t)y * w + x] = edge(w, h, other, x, y)]++;
    equalize(greys, table);
    for (size_t k = 0; k < (size_t)w * h; k++)
        picture[k] = table[picture[k]];
    free(other);
}

// The next number of a PGM file's head or text, behind blanks and comments; -1 if there is none.
static int next_number(FILE *file)
{
    int c, value;
    while ((c = fgetc(file)) == '#' || c == ' ' || c == '\n' || c == '\r' || c == '\t')
        while (c == '#' && (c = fgetc(file)) != '\n' && c != EOF)
            c = '#';
    ungetc(c, file);
    return fscanf(file, "%d", &value) == 1 ? value : -1;
}

// Reads a PGM file of 256 greys, binary (P5) or text (P2).
static byte *read_picture(const char *name, int *w, int *h)
{
    FILE *file = fopen(name, "rb");
    char kind = 0;
    byte *picture = NULL;
    if (file && fscanf(file, "P%c", &kind) == 1 && (kind == '5' || kind == '2') &&
        (*w = next_number(file)) > 0 && (*h = next_number(file)) > 0 && *w < 100000 &&
        *h < 100000 && next_number(file) == 255 && fgetc(file) != EOF) {
        size_t bytes = (size_t)*w * *h, got = 0;
        picture = (byte *)malloc(bytes);
        if (kind == '5')
            got = fread(picture, 1, bytes, file);
        for (int value; kind == '2' && got < bytes && (value = next_number(file)) >= 0; got++)
            picture[got] = (byte)value;
        if (got != bytes)
            free(picture), picture = NULL;
    }
    if (file)
        fclose(file);
    if (!picture)
        fprintf(stderr, "pipeline: %s is no PGM file of 256 greys\n", name);
    return picture;
}

static byte *draw_rings(int w, int h)
{
    byte *picture = (byte *)malloc((size_t)w * h);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            picture[(size_t)y * w + x] = (byte)(((x - w / 2) * (x - w / 2) + y * y) >> 5);
    return picture;
}

static int write_picture(const char *name, int w, int h, const byte *picture)
{
    FILE *file = fopen(name, "wb");
    bool written = file && fprintf(file, "P5\n%d %d\n255\n", w, h) > 0 &&
                   fwrite(picture, 1, (size_t)w * h, file) == (size_t)w * h;
    return file && fclose(file) == 0 && written ? 0 : (perror(name), 1);
}

int main(int argc, char **argv)
{
    int w = 800, h = 600;
    if (argc > 3)
        return fprintf(stderr, "usage: pipeline [in.pgm [out.pgm]]\n"), 2;
    byte *picture = argc > 1 ? read_picture(argv[1], &w, &h) : draw_rings(w, h);
    if (!picture)
        return 1;
    byte *expected = (byte *)malloc((size_t)w * h);
    memcpy(expected, picture, (size_t)w * h);
    run_on_device(w, h, picture);
    run_on_host(w, h, expected);
    bool right = memcmp(picture, expected, (size_t)w * h) == 0;
    printf("pipeline: %d x %d pixels: %s\n", w, h, right ? "ok" : "FAILED");
    int failed = argc > 2 ? write_picture(argv[2], w, h, picture) : 0;
    free(picture), free(expected);
    return failed || !right;
}
