// SPDX-License-Identifier: Apache-2.0
// Kernels of the kinds that the analysis knows, and of some that it must not be sure about.
#define X (blockIdx.x * blockDim.x + threadIdx.x)
#define Y (blockIdx.y * blockDim.y + threadIdx.y)

__global__ void map(float *out, const float *in, int n)
{
    int i = X;
    if (i < n)
        out[i] = 2 * in[i];
}

__global__ void halo(float *out, const float *in, int n)
{
    int i = X;
    if (i > 0 && i < n - 1)
        out[i] = in[i - 1] + in[i] + in[i + 1];
}

__global__ void clamped(float *out, const float *in, int n)
{
    int i = X;
    if (i < n)
        out[i] = in[max(i - 1, 0)] + in[min(i + 1, n - 1)];
}

__global__ void periodic(float *out, const float *in, int n)
{
    int i = X;
    if (i < n)
        out[i] = in[i == 0 ? n - 1 : i - 1] + in[(i + 1) % n];
}

__global__ void plane(float *out, const float *in, int width, int height)
{
    int x = X, y = Y;
    if (x < width && y < height)
        out[y * width + x] = in[y * width + x];
}

__global__ void strided(float *out, const float *in, int n)
{
    for (int i = X; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[i];
}

__global__ void wide(float *out, const float *in, size_t n)
{
    for (size_t i = X; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[i];
}

__global__ void rows(float *out, const float *in, int n, int width)
{
    int i = X;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < width; k++)
        sum += in[i * width + k];
    out[i] = sum;
}

__global__ void in_block(float *out, const float *in)
{
    __shared__ float tile[256];
    tile[threadIdx.x] = in[blockIdx.x * 2 * blockDim.x + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 2 * blockDim.x + threadIdx.x] = tile[0];
    out[blockIdx.x * 2 * blockDim.x + blockDim.x + threadIdx.x] = tile[threadIdx.x];
}

__global__ void by_block(float *sums, const float *in, int n)
{
    __shared__ float tile[256];
    tile[threadIdx.x] = X < n ? in[X] : 0;
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s)
            tile[threadIdx.x] += tile[threadIdx.x + s];
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = tile[0];
}

__global__ void folded(float *out, const float *in)
{
    int i = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    out[i] = in[i];
}

__global__ void digits(float *out, const float *in, const float *bias, int channels, int size,
                       int total)
{
    int i = X;
    if (i >= total)
        return;
    int x = i % size, c = i / size % channels, n = i / (size * channels);
    out[(n * channels + c) * size + x] = in[i] + bias[c];
}

__global__ void halves(float *out, const float *in, int n)
{
    unsigned i = X;
    if (i < n)
        out[i] = in[i / 2] + in[i % 32];
}

__global__ void columns(float *out, const float *in, int width, int first, int last)
{
    int x = X;
    for (int y = first; y < last; y++)
        out[x + y * width] = in[x + y * width];
}

__global__ void gather(float *out, const float *in, const int *index, int n)
{
    int i = X;
    if (i < n)
        out[i] = in[index[i]];
}

__global__ void found(const int *in, int *out, int n)
{
    for (int k = X; k < n; k += 3)
        if (in[k] == 7) {
            out[k] = 1;
            break;
        }
}

__global__ void after_loop(int *out, int n)
{
    int k = X;
    while (k * k < n)
        k++;
    out[k] = 1;
}

struct view {
    float *data;
    int width, height;
};

__global__ void member(view out, view in)
{
    int x = X, y = Y;
    if (x < in.width && y < in.height)
        out.data[x * out.height + y] = in.data[y * in.width + x];
}

__device__ int place(int x, int n)
{
    if (x >= n)
        return -1;
    return x + 1;
}

__global__ void early(float *out, const float *in, int n)
{
    int at = place(X, n);
    if (at >= 0)
        out[at] = in[at];
}

__global__ void wraps(float *out, unsigned n)
{
    unsigned i = X - 1;
    if (i < n)
        out[i] = 1;
}

__global__ void backwards(float4 *out, int n)
{
    int i = X;
    if (i < n)
        out[n - 1 - i].y = 1;
}

__global__ void counted(int *bins, const unsigned char *in, int n)
{
    for (int i = X; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&bins[in[i]], 1);
}

__global__ void own(int *out, const int *in, int n)
{
    int i = X;
    if (i >= n)
        return;
    out[i] = in[i];
    out[i] += out[i] + (in[i] > 3 ? in[n - 1 - i] : 0);
}

__global__ void chosen(int *a, int *b, int *out, int first)
{
    int *p = first > 20 ? a : b;
    p[X] = 1;
    out[X] = a[X];
}

__global__ void transposed(float *out, const float *in, int columns, int total)
{
    int i = X;
    if (i < total)
        out[i % columns * (total / columns) + i / columns] = in[i];
}

__global__ void tiles(float *out, const float *in, int width)
{
    int row = blockIdx.y * 8 + threadIdx.y % 8, column = blockIdx.x * 8 + threadIdx.x % 8;
    out[row * width + column] = in[(row & 15) * width + (column >> 1)];
}

__global__ void window(float *out, const float *in, int width, int high, int wide)
{
    int x = X, y = Y;
    float sum = 0;
    for (int r = 0; r < high; r++)
        for (int c = 0; c < wide; c++)
            sum += in[(y + r) * width + x * 2 + c];
    out[2 * (y * width + x)] = sum;
}

__global__ void paced(float *out, const float *in, int tiles)
{
    for (int t = blockIdx.x; t < tiles; t += gridDim.x)
        out[2 * blockDim.x * t + threadIdx.x] = in[t];
}

__global__ void triangle(float *out, const float *in, int n)
{
    int row = X;
    if (row >= n)
        return;
    for (int k = 0; k <= row; k++)
        out[row * n + k] = in[k * n + row];
}

__global__ void stepped(float *out, const float *in, int width)
{
    int x = X;
    for (int y = 0; y < 30; y += 8)
        out[y * width + x] = in[(y + threadIdx.y) * width + x];
}

__global__ void holed(unsigned char *out, const int *in, int size, int middle)
{
    int x = X, y = Y;
    if (x >= size || y >= size || x == middle || y == middle)
        return;
    out[(y * size + x) * 3] = in[(x >> 1) * 8 + (y & 3)];
}

__global__ void walks(float *x, int n)
{
    for (float *p = x + blockIdx.x * blockDim.x + threadIdx.x; p < x + n;
         p += gridDim.x * blockDim.x)
        *p = 1;
}

__global__ void walks_back(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (const float *p = x + (i < n ? i : n - 1); p >= x; p--)
        sum += *p * (float)(p - x);
    if (i < n)
        y[i] = sum;
}

/* The bound may be more than a block has threads. */
__global__ void first_of_block(unsigned *out, unsigned first, unsigned count)
{
    if (threadIdx.x < count)
        out[threadIdx.x + first] = 1;
}

__global__ void row_of_block(float *out, int width)
{
    if ((int)threadIdx.x < width)
        out[blockIdx.x * width + threadIdx.x] = 2;
}
