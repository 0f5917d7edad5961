// SPDX-License-Identifier: Apache-2.0
// Blurs a grey image: each pixel becomes the mean of the square of 2 r + 1 pixels around it, where
// pixels outside the image are those at its edge. Reads PGM files, binary (P5) and text (P2).
#include <cuda_runtime.h>
#include <ctype.h>
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

typedef struct {
    int width, height, largest; /* a pixel is in [0, largest], at most 255 */
    unsigned char *pixels;
} image_t;

__host__ __device__ static int clamp(int x, int end)
{
    return x < 0 ? 0 : x >= end ? end - 1 : x;
}

__host__ __device__ static unsigned char mean(int w, int h, int r, const unsigned char *in, int x,
                                              int y)
{
    unsigned int sum = 0, count = (2 * r + 1) * (2 * r + 1);
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++)
            sum += in[(size_t)clamp(y + dy, h) * w + clamp(x + dx, w)];
    return (sum + count / 2) / count;
}

__global__ void blur(int w, int h, int r, const unsigned char *in, unsigned char *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[(size_t)y * w + x] = mean(w, h, r, in, x, y);
}

static void blur_on_device(image_t image, int r, unsigned char *result)
{
    int w = image.width, h = image.height;
    size_t bytes = (size_t)w * h;
    unsigned char *in, *out;
    CHECK(cudaMalloc(&in, bytes));
    CHECK(cudaMalloc(&out, bytes));
    CHECK(cudaMemcpy(in, image.pixels, bytes, cudaMemcpyHostToDevice));

    dim3 block(32, 8);
    dim3 grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
    #pragma kmm parallel(x = 0:w, y = 0:h) chunk(w / 2, h / 4) shape(in[h][w], out[h][w]) \
                read(in[y - r : 2 * r + 1][x - r : 2 * r + 1]) write(out[y][x])
    blur<<<grid, block>>>(w, h, r, in, out);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(result, out, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
}

static void fail(const char *path, const char *what)
{
    fprintf(stderr, "blur: %s: %s\n", path, what);
    exit(1);
}

static image_t image_create(const char *path, long w, long h, int largest)
{
    if (w < 1 || h < 1 || w > 1000000 || h > 1000000)
        fail(path, "the image's size is not between 1 x 1 and 1000000 x 1000000");
    image_t image = {(int)w, (int)h, largest, (unsigned char *)malloc((size_t)w * h)};
    if (!image.pixels)
        fail(path, "not enough memory");
    return image;
}

// Reads a number of a PGM header or of a text image; comments run from # to the end of the line.
static long read_number(FILE *file, const char *path)
{
    int c = getc(file);
    while (isspace(c) || c == '#') {
        if (c == '#')
            while (c != '\n' && c != EOF)
                c = getc(file);
        c = getc(file);
    }
    if (!isdigit(c))
        fail(path, c == EOF ? "the file ends early" : "a number is expected");
    long number = 0;
    for (; isdigit(c); c = getc(file))
        number = number < 100000000 ? number * 10 + (c - '0') : number;
    return number; // the one character after it is consumed, as the format has it
}

static image_t image_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail(path, "cannot be opened");
    int p = getc(file), kind = getc(file);
    if (p != 'P' || (kind != '5' && kind != '2'))
        fail(path, "is no PGM file (P5 or P2)");
    long w = read_number(file, path), h = read_number(file, path),
         largest = read_number(file, path);
    if (largest < 1 || largest > 255)
        fail(path, "only images of one byte for each pixel can be read");
    image_t image = image_create(path, w, h, (int)largest);
    size_t count = (size_t)w * h;
    if (kind == '5' && fread(image.pixels, 1, count, file) != count)
        fail(path, "the file ends early");
    for (size_t i = 0; i < count; i++) {
        long pixel = kind == '5' ? image.pixels[i] : read_number(file, path);
        if (pixel > largest)
            fail(path, "a pixel is larger than the header says");
        image.pixels[i] = (unsigned char)pixel;
    }
    fclose(file);
    return image;
}

static void image_write(const char *path, image_t image, const unsigned char *pixels)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        fail(path, "cannot be written");
    size_t count = (size_t)image.width * image.height;
    fprintf(file, "P5\n%d %d\n%d\n", image.width, image.height, image.largest);
    size_t written = fwrite(pixels, 1, count, file);
    if (fclose(file) != 0 || written != count)
        fail(path, "cannot be written");
}

// Rings around the middle, with noise.
static image_t image_generate(long w, long h, uint64_t seed)
{
    image_t image = image_create("generated image", w, h, 255);
    for (long y = 0; y < h; y++) {
        for (long x = 0; x < w; x++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            long long dx = x - w / 2, dy = y - h / 2;
            int ring = (dx * dx + dy * dy) / 64 % 192;
            image.pixels[y * w + x] = (unsigned char)(ring + (int)(seed >> 58));
        }
    }
    return image;
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
    fprintf(stderr, "usage: blur [-r radius, at most 64] [-o output.pgm] [input.pgm]\n"
                    "       blur [-r radius] [-o output.pgm] [-n columns] [-m rows] [-s seed]\n"
                    "Without an input an image is generated.\n");
    return 2;
}

int main(int argc, char **argv)
{
    long w = 512, h = 0, r = 2;
    uint64_t seed = 1;
    const char *output = NULL;
    for (int option; (option = getopt(argc, argv, "r:o:n:m:s:")) != -1;) {
        switch (option) {
        case 'r': r = number(optarg); break;
        case 'o': output = optarg; break;
        case 'n': w = number(optarg); break;
        case 'm': h = number(optarg); break;
        case 's': seed = strtoull(optarg, NULL, 10); break;
        default: return usage();
        }
    }
    if (argc - optind > 1 || r < 0 || r > 64)
        return usage();

    image_t image = optind < argc ? image_read(argv[optind]) : image_generate(w, h ? h : w, seed);
    unsigned char *result = image_create("result", image.width, image.height, image.largest).pixels;
    blur_on_device(image, (int)r, result);

    size_t wrong = 0;
    unsigned long long sum = 0;
    for (int y = 0; y < image.height; y++) {
        for (int x = 0; x < image.width; x++) {
            unsigned char pixel = result[(size_t)y * image.width + x];
            wrong += pixel != mean(image.width, image.height, (int)r, image.pixels, x, y);
            sum += pixel;
        }
    }
    if (output)
        image_write(output, image, result);
    printf("blur: %d x %d, radius %ld, sum = %llu, %zu wrong: %s\n", image.width, image.height, r,
           sum, wrong, wrong ? "FAILED" : "ok");
    free(image.pixels);
    free(result);
    return wrong != 0;
}
