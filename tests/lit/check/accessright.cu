// RUN: %kmmcc --target=host -c %s -o %t.o
// Correct launches, in every shape: kmmcc says nothing about what they access.
#include <cuda_runtime.h>
#define TID int i = blockIdx.x * blockDim.x + threadIdx.x
int some();
struct sizes { int n, half, w, h, pitch; };

__global__ void copy(int n, const float *x, float *y) { TID; if (i < n) y[i] = x[i]; }
__global__ void copy_all(const float *x, float *y) { TID; y[i] = x[i]; }
__global__ void early(int n, const float *x, float *y) { TID; if (i >= n) return; y[i] = x[i]; }

void sizes_variable(int n, int blocks, int threads, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    copy<<<blocks, threads>>>(n, x, y);
}
void dim3_changed(int n, float *x, float *y)
{
    dim3 block(256), grid(1);
    grid.x = (n + block.x - 1) / block.x;
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    copy<<<grid, block>>>(n, x, y);
    block.x = 64;
    grid.x = n / 64 + 1;
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    early<<<grid, block>>>(n, x, y);
}
// The size is a multiple of the block, so the kernel has no bounds check.
void no_guard(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    copy_all<<<n / 256, 256>>>(x, y);
}
void no_guard_variable(int n, float *x, float *y)
{
    int blocks = n / 128;
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    copy_all<<<blocks, 128>>>(x, y);
}
void no_guard_rounded(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    copy_all<<<(n + 255) / 256, 256>>>(x, y);
}
void no_guard_constant(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    copy_all<<<40, 256>>>(x, y);
}
void no_guard_parameter(int n, int blocks, int threads, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    copy_all<<<blocks, threads>>>(x, y);
}
// The array ends where the regions are clipped.
void no_range(int n, float *x, float *y)
{
#pragma kmm parallel(i) read(x[i]) write(y[i])
    copy<<<(n + 255) / 256, 256>>>(n, x, y);
}
void changed(int n, float *x, float *y)
{
    int m = n;
    n = n / 2;
#pragma kmm parallel(i = 0:m / 2) read(x[i]) write(y[i])
    copy<<<(n + 255) / 256, 256>>>(n, x, y);
}

__global__ void halves(int half, const float *x, float *y) { TID; if (i < half) y[i] = x[i] + x[i + half]; }
void half_parameter(int n, int half, float *x, float *y)
{
#pragma kmm parallel(i = 0:n / 2) read(x[i], x[i + n / 2]) write(y[i])
    halves<<<(half + 255) / 256, 256>>>(half, x, y);
}
void half_member(sizes s, float *x, float *y)
{
#pragma kmm parallel(i = 0:s.half) read(x[i], x[i + s.n / 2]) write(y[i])
    halves<<<(s.half + 255) / 256, 256>>>(s.half, x, y);
}
void half_called(int n, float *x, float *y)
{
    int h = some();
#pragma kmm parallel(i = 0:n / 2) read(x[i], x[i + n / 2]) write(y[i])
    halves<<<(n / 2 + 255) / 256, 256>>>(h, x, y);
}

__global__ void flat(int w, int h, int ld, const float *in, float *out)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < w && r < h)
        out[r * ld + c] = in[r * ld + c];
}
void leading(int w, int h, int ld, float *in, float *out)
{
#pragma kmm parallel(c = 0:w, r = 0:h) shape(in[h][w], out[h][w]) read(in[r][c]) write(out[r][c])
    flat<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(w, h, ld, in, out);
}
void pitched(int w, int h, size_t bytes, float *in, float *out)
{
    int pitch = bytes / sizeof(float);
#pragma kmm parallel(c = 0:w, r = 0:h) shape(in[h][pitch], out[h][pitch]) read(in[r][c]) write(out[r][c])
    flat<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(w, h, bytes / sizeof(float), in, out);
}
__global__ void square(int n2, const float *x, float *y) { TID; if (i < n2) y[i] = x[i]; }
void squared(int n, int n2, float *x, float *y)
{
#pragma kmm parallel(i = 0:n * n) read(x[i]) write(y[i])
    square<<<(n2 + 255) / 256, 256>>>(n2, x, y);
}
__global__ void rows(int n, int w, const float *x, float *y)
{
    TID;
    if (i >= n)
        return;
    float s = 0;
    for (int k = 0; k < w; k++)
        s += x[i * w + k];
    y[i] = s;
}
void rows_total(int n, int w, int total, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i * (total / n):total / n]) write(y[i])
    rows<<<(n + 127) / 128, 128>>>(n, w, x, y);
}
void rows_shape(int n, int w, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) shape(x[n][w]) read(x[i][:]) write(y[i])
    rows<<<(n + 127) / 128, 128>>>(n, w, x, y);
}
void offsets(int n, int k, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read((x + k)[i]) write((y - k)[i])
    copy<<<(n + 255) / 256, 256>>>(n, x + k, y - k);
#pragma kmm parallel(i = 0:n) read(x[i + k]) write(y[i + 2])
    copy<<<(n + 255) / 256, 256>>>(n, &x[k], &y[2]);
    const float *z = x + 10;
#pragma kmm parallel(i = 0:n) read(z[i]) write(y[i])
    copy<<<(n + 255) / 256, 256>>>(n, z, y);
}
// Two names of one array; kmm unites regions of one array.
void aliases(int n, float *x)
{
    float *a = x, *b = x + n;
#pragma kmm parallel(i = 0:n) read(a[i]) write(b[i])
    copy<<<(n + 255) / 256, 256>>>(n, a, b);
#pragma kmm parallel(i = 0:n) update(a[i], b[i], x[i], x[i + n])
    copy<<<(n + 255) / 256, 256>>>(n, x, x + n);
}
__global__ void low_high(int n, const float *lo, float *y) { TID; if (i < n) y[i] = lo[i] + lo[i + n]; }
void low_and_high(int n, float *lo, float *hi, float *y)
{
#pragma kmm parallel(i = 0:n) read(lo[i], hi[i]) write(y[i])
    low_high<<<(n + 255) / 256, 256>>>(n, lo, y);
}
__global__ void stencil(int n, const float *x, float *y)
{
    TID;
    if (i > 0 && i < n - 1)
        y[i] = x[i - 1] + x[i] + x[i + 1];
}
void stencils(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i - 1:3]) update(y[i])
    stencil<<<(n + 255) / 256, 256>>>(n, x, y);
#pragma kmm parallel(i = 1:n - 2) read(x[i - 1:3]) write(y[i])
    stencil<<<(n + 255) / 256, 256>>>(n, x, y);
}
__global__ void differences(int n, const float *x, float *d) { TID; if (i < n - 1) d[i] = x[i + 1] - x[i]; }
void shorter(int n, float *x, float *d) // d has n - 1 elements
{
#pragma kmm parallel(i = 0:n) read(x[i:2]) write(d[i])
    differences<<<(n + 255) / 256, 256>>>(n, x, d);
}
__global__ void clamped(int n, const float *x, float *y)
{
    TID;
    if (i < n)
        y[i] = x[max(i - 2, 0)] + x[min(i + 2, n - 1)];
}
__global__ void periodic(int n, const float *x, float *y)
{
    TID;
    if (i < n)
        y[i] = x[(i + n - 1) % n] + x[(i + 1) % n];
}
void boundaries(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i - 2:5]) write(y[i])
    clamped<<<(n + 255) / 256, 256>>>(n, x, y);
#pragma kmm parallel(i = 0:n) read(x[i - 1:3], x[0], x[n - 1]) write(y[i])
    periodic<<<(n + 255) / 256, 256>>>(n, x, y);
}
__global__ void strided(int n, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = x[i];
}
void grid_stride(int n, int blocks, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    strided<<<64, 256>>>(n, x, y);
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    strided<<<blocks, 256>>>(n, x, y);
#pragma kmm parallel(i = 0:n) bounded read(x[i]) write(y[i])
    strided<<<(n + 255) / 256, 256>>>(n, x, y);
}
// Four elements for each thread: the range is longer than the grid, so this is one chunk.
__global__ void coarse(int n, const float *x, float *y)
{
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * 4 * blockDim.x + k * blockDim.x + threadIdx.x;
        if (i < n)
            y[i] = x[i];
    }
}
__global__ void coarse_all(const float *x, float *y)
{
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * 4 * blockDim.x + k * blockDim.x + threadIdx.x;
        y[i] = x[i];
    }
}
void coarsened(int n, int blocks, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    coarse<<<(n + 1023) / 1024, 256>>>(n, x, y);
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    coarse<<<blocks, 256>>>(n, x, y);
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    coarse_all<<<blocks, 256>>>(x, y);
#pragma kmm parallel(b: block.x) read(x[b * 1024:1024]) write(y[b * 1024:1024])
    coarse<<<(n + 1023) / 1024, 256>>>(n, x, y);
}
__global__ void tiles(int n, int bs, const float *x, float *y)
{
    int i = blockIdx.x * bs + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
void tile_size(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    tiles<<<(n + 255) / 256, 256>>>(n, some(), x, y);
}
void tile_constant(int n, int bs, float *x, float *y)
{
#pragma kmm parallel(b: block.x) read(x[b * 192:192]) update(y[b * 192:192])
    tiles<<<(n + 191) / 192, bs>>>(n, bs, x, y);
}
__global__ void guarded(int n, const int *flag, const float *x, float *y)
{
    TID;
    if (i < n && flag[i])
        y[i] = x[i + flag[i]];
}
void data_guard(int n, int *flag, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(flag[i], x) update(y[i])
    guarded<<<(n + 255) / 256, 256>>>(n, flag, x, y);
}
__global__ void modes(int n, int mode, const float *x, float *y)
{
    TID;
    if (i < n)
        y[i] = mode != 7 ? x[i + 1] : x[i];
    if (mode > 1000 && i < n)
        y[i + 1] = 0;
}
void mode(int n, int m, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    modes<<<(n + 255) / 256, 256>>>(n, m, x, y);
}
__global__ void breaks(int n, int w, const float *x, float *y)
{
    TID;
    if (i >= n)
        return;
    int k = 0;
    float s = 0;
    do {
        s += x[i * w + k];
        if (s > 100)
            break;
        for (int j = 0; j < 3; j++) {
            if (x[i * w + k] < 0)
                break;
            s *= 2;
        }
    } while (++k < w);
    y[i] = s;
}
void loops(int n, int w, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i * w:w]) write(y[i])
    breaks<<<(n + 255) / 256, 256>>>(n, w, x, y);
}
__global__ void wide(size_t n, const float *x, float *y)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[n - 1 - i];
}
__global__ void narrow(unsigned char w, unsigned short n, const float *x, float *y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i * w] = x[i * w + w - 1];
}
void types(size_t n, unsigned char w, unsigned short m, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[n - 1 - i]) write(y[i])
    wide<<<(n + 255) / 256, 256>>>(n, x, y);
#pragma kmm parallel(i = 0:m) read(x[i * w:w]) update(y[i * w])
    narrow<<<(m + 63) / 64, 64>>>(w, m, x, y);
}
__global__ void vectors(int n, const float4 *x, float *y)
{
    TID;
    if (i < n) {
        float4 v = x[i];
        *(float4 *)(y + 4 * i) = v;
    }
}
void vector(int n, float4 *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[4 * i:4])
    vectors<<<(n + 255) / 256, 256>>>(n, x, y);
}
struct view { const float *in; float *out; int n, skip; };
__global__ void by_struct(view v) { TID; if (i < v.n) v.out[i] = v.in[i + v.skip]; }
void structs(view v)
{
#pragma kmm parallel(i = 0:v.n) read(v.in[i + v.skip]) write(v.out[i])
    by_struct<<<(v.n + 255) / 256, 256>>>(v);
}
template <class T, int R> __global__ void around(int n, const T *x, T *y)
{
    TID;
    T s = 0;
    for (int k = -R; k <= R; k++)
        if (i + k >= 0 && i + k < n)
            s += x[i + k];
    if (i < n)
        y[i] = s;
}
template <class T> void templated(int n, T *x, T *y)
{
#pragma kmm parallel(i = 0:n) read(x[i - 3:7]) write(y[i])
    around<T, 3><<<(n + 255) / 256, 256>>>(n, x, y);
}
template void templated(int, float *, float *);
void instance(int n, double *x, double *y)
{
#pragma kmm parallel(i = 0:n) read(x[i - 5:11]) write(y[i])
    around<double, 5><<<(n + 255) / 256, 256>>>(n, x, y);
}
__device__ float get(const float *p, int k) { return p[k]; }
__device__ void put(float *p, int k, float v) { p[k] = v; }
__device__ float sum(const float *p, int k) { return k ? *p + sum(p + 1, k - 1) : 0; }
__global__ void helpers(int n, const float *x, float *y) { TID; if (i < n) put(y, i, get(x, i) + sum(x + i, 4)); }
void functions(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i:5]) write(y[i])
    helpers<<<(n + 255) / 256, 256>>>(n, x, y);
}
__global__ void bins(int n, const int *x, int *count) { TID; if (i < n) atomicAdd(&count[x[i]], 1); }
__global__ void largest(int n, const float *x, int *m)
{
    TID;
    if (i >= n)
        return;
    int old = *m;
    while (__int_as_float(old) < x[i]) {
        int was = atomicCAS(m, old, __float_as_int(x[i]));
        if (was == old)
            break;
        old = was;
    }
}
__global__ void any(int n, const int *x, int *found) { TID; if (i < n && x[i] == 3) *found = 1; if (i == 5) *found = 1; }
void reductions(int n, int *x, float *f, int *count)
{
#pragma kmm parallel(i = 0:n) read(x[i]) reduce(+: count[0:64])
    bins<<<(n + 255) / 256, 256>>>(n, x, count);
#pragma kmm parallel(i = 0:n) read(f[i]) update(count[0])
    largest<<<(n + 255) / 256, 256>>>(n, f, count);
#pragma kmm parallel(i = 0:n) read(x[i]) reduce(||: count[0])
    any<<<(n + 255) / 256, 256>>>(n, x, count);
}
__global__ void block_sum(int n, const float *x, float *out)
{
    __shared__ float s[256];
    TID;
    s[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = s[0];
}
__global__ void warp_sum(int n, const float *x, float *out)
{
    TID;
    int lane = threadIdx.x % 32;
    float v = i < n ? x[i] : 0;
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (lane == 0)
        out[i / 32] = v;
}
void blocks(int n, float *x, float *out)
{
#pragma kmm parallel(i = 0:n, b: block.x) read(x[i]) write(out[b])
    block_sum<<<(n + 255) / 256, 256>>>(n, x, out);
#pragma kmm parallel(i = 0:n, b: block.x) read(x[i]) write(out[b * 8:8])
    warp_sum<<<(n + 255) / 256, 256>>>(n, x, out);
}
// A thread reads what another of its block has stored before.
__global__ void in_block(int n, const float *x, float *y)
{
    TID;
    if (i >= n)
        return;
    y[i] = x[i];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        float v = threadIdx.x >= d ? y[i - d] : 0;
        __syncthreads();
        y[i] += v;
        __syncthreads();
    }
}
__global__ void prefix(int n, const float *x, float *y)
{
    TID;
    if (i >= n)
        return;
    for (int k = 0; k < 8; k++) {
        float before = k ? y[8 * i + k - 1] : 0;
        y[8 * i + k] = before + x[8 * i + k];
    }
}
void stored_before(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    in_block<<<n / 256, 256>>>(n, x, y);
#pragma kmm parallel(i = 0:n) read(x[8 * i:8]) write(y[8 * i:8])
    prefix<<<(n + 255) / 256, 256>>>(n, x, y);
}
__global__ void several(int n, const float *x, float *y)
{
    TID;
    if (i >= n)
        return;
    y[4 * i] = x[i];
    if (x[i] > 0)
        y[4 * i + 1] = 1;
    else
        y[4 * i + 1] = 2;
    *(float2 *)(y + 4 * i + 2) = make_float2(0, 0);
}
__global__ void copied(int n, const float *x, float *y) { TID; if (i < n) memcpy(y + 4 * i, x + 4 * i, 16); }
__global__ void cleared(int n, float *y) { TID; if (i < n) memset(y + 4 * i, 0, 16); }
__global__ void exchanged(int n, const float *x, float *y) { TID; if (i < n) atomicExch(&y[i], x[i]); }
__global__ void parity(int n, float *y) { TID; if (2 * i < n) { if (i % 2) y[2 * i] = 1; else y[2 * i] = 2; y[2 * i + 1] = 3; } }
void covered(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[4 * i:4])
    several<<<(n + 255) / 256, 256>>>(n, x, y);
#pragma kmm parallel(i = 0:n) read(x[4 * i:4]) write(y[4 * i:4])
    copied<<<(n + 255) / 256, 256>>>(n, x, y);
#pragma kmm parallel(i = 0:n) write(y[4 * i:4])
    cleared<<<(n + 255) / 256, 256>>>(n, y);
#pragma kmm parallel(i = 0:n / 2) write(y[2 * i:2])
    parity<<<(n + 255) / 256, 256>>>(n, y);
}
__global__ void blur(int w, int h, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float s = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int c = min(max(x + dx, 0), w - 1), r = min(max(y + dy, 0), h - 1);
            s += in[r * w + c];
        }
    out[y * w + x] = s;
}
void two_dimensions(int w, int h, dim3 grid, dim3 block, float *in, float *out)
{
#pragma kmm parallel(x = 0:w, y = 0:h) chunk(w, 64) shape(in[h][w], out[h][w]) read(in[y - 1:3][x - 1:3]) write(out[y][x])
    blur<<<grid, block>>>(w, h, in, out);
    dim3 b(32, 8);
    dim3 g((w + b.x - 1) / b.x, (h + b.y - 1) / b.y);
#pragma kmm parallel(x = 0:w, y = 0:h) shape(in[h][w], out[h][w]) read(in[y - 1:3][:]) write(out[y][x])
    blur<<<g, b>>>(w, h, in, out);
#pragma kmm parallel(x = 0:w, y = 0:h) chunk(w, 16) read(in) write(out[y * w + x])
    blur<<<g, b>>>(w, h, in, out);
}
__global__ void product(int n, const float *A, const float *B, float *C)
{
    int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    __shared__ float a[16][16], b[16][16];
    float s = 0;
    for (int t = 0; t < n; t += 16) {
        a[threadIdx.y][threadIdx.x] = A[i * n + t + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * n + j];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            s += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    C[i * n + j] = s;
}
void matrices(int n, float *A, float *B, float *C)
{
#pragma kmm parallel(j = 0:n, i = 0:n) shape(A[n][n], B[n][n], C[n][n]) read(A[i][:], B[:][j]) write(C[i][j])
    product<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(n, A, B, C);
#pragma kmm parallel(j = 0:n, i = 0:n) chunk(n, 64) shape(A[n][n], C[n][n]) read(A[i][:], B) write(C[i][j])
    product<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(n, A, B, C);
}
__global__ void volume(int nx, int ny, int nz, const float *u, float *v)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    size_t at = ((size_t)z * ny + y) * nx + x;
    v[at] = u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx] + u[at - nx * ny] + u[at + nx * ny];
}
void three_dimensions(int nx, int ny, int nz, float *u, float *v)
{
    dim3 block(8, 8, 4), grid((nx + 7) / 8, (ny + 7) / 8, (nz + 3) / 4);
#pragma kmm parallel(x = 0:nx, y = 0:ny, z = 0:nz) shape(u[nz][ny][nx], v[nz][ny][nx]) read(u[z - 1:3][y - 1:3][x - 1:3]) update(v[z][y][x])
    volume<<<grid, block>>>(nx, ny, nz, u, v);
#pragma kmm parallel(x = 1:nx - 2, y = 1:ny - 2, z = 1:nz - 2) shape(u[nz][ny][nx], v[nz][ny][nx]) read(u[z - 1:3][y - 1:3][x - 1:3]) write(v[z][y][x])
    volume<<<grid, block>>>(nx, ny, nz, u, v);
}
__global__ void transpose(int w, int h, const float *in, float *out)
{
    __shared__ float t[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < w && y + j < h)
            t[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < h && y + j < w)
            out[(y + j) * h + x] = t[threadIdx.x][threadIdx.y + j];
}
void transposed(int w, int h, float *in, float *out)
{
#pragma kmm parallel(bx: block.x, by: block.y) shape(in[h][w], out[w][h]) read(in[by * 32:32][bx * 32:32]) write(out[bx * 32:32][by * 32:32])
    transpose<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(32, 8)>>>(w, h, in, out);
}
__global__ void rows_of_blocks(int n, const float *x, float *y)
{
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        y[blockIdx.x * n + k] = x[blockIdx.x * n + k] * 2;
}
void row_blocks(int rows, int n, int threads, float *x, float *y)
{
#pragma kmm parallel(b: block.x = 0:rows) chunk(8) shape(x[rows][n], y[rows][n]) read(x[b][:]) write(y[b][:])
    rows_of_blocks<<<rows, threads>>>(n, x, y);
#pragma kmm parallel(b: block.x) read(x[b * n:n]) write(y[b * n:n])
    rows_of_blocks<<<rows, 128>>>(n, x, y);
}
#pragma kmm declare kernel(i = 0:n) read(x[i - 1:3]) update(y[i])
__global__ void declared(int n, const float *x, float *y) { TID; if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i + 1]; }
__global__ void inferred(int n, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
void declares(int m, float *a, float *b)
{
#pragma kmm parallel chunk(m / 10)
    declared<<<(m + 255) / 256, 256>>>(m, a, b);
#pragma kmm parallel
    inferred<<<(m + 255) / 256, 256>>>(m, a, b);
}
__global__ void optional(int n, const float *x, const float *mask, float *y)
{
    TID;
    if (i < n)
        y[i] = mask ? x[i] * mask[i] : x[i];
}
void null(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    optional<<<(n + 255) / 256, 256>>>(n, x, NULL, y);
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    optional<<<(n + 255) / 256, 256>>>(n, x, nullptr, y);
}
void arrays_of_arrays(int n, float *(&bufs)[2], int now)
{
    float *from = bufs[now], *to = bufs[1 - now];
#pragma kmm parallel(i = 0:n) read(from[i]) write(to[i])
    copy<<<(n + 255) / 256, 256>>>(n, from, to);
}
static float fixed[300][200], fixed_out[300][200];
__global__ void matrix_rows(int h, float (*in)[200], float (*out)[200])
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 200 && y < h)
        out[y][x] = in[y][x];
}
void matrices_fixed(void)
{
#pragma kmm parallel(x = 0:200, y = 0:300) read(fixed[y][x]) write(fixed_out[y][x])
    matrix_rows<<<dim3(13, 19), dim3(16, 16)>>>(300, fixed, fixed_out);
}
void one_chunk(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) if(0) read(x[i]) write(y[i])
    coarse<<<(n + 255) / 256, 256>>>(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(n) read(x[i]) write(y[i])
    coarse<<<(n + 255) / 256, 256>>>(n, x, y);
}
#define N (1 << 16)
enum { WIDTH = 512 };
constexpr int threads() { return 128; }
__global__ void constants(const float *x, float *y) { TID; if (i < N) y[i] = x[i ^ 1] + x[i / WIDTH * WIDTH]; }
void macros(float *x, float *y)
{
#pragma kmm parallel(i = 0:N) chunk(1024) read(x) write(y[i])
    constants<<<N / threads(), threads()>>>(x, y);
}
__global__ void swapped(int n, float *x)
{
    TID;
    if (i < n) {
        float t = x[2 * i];
        x[2 * i] = x[2 * i + 1];
        x[2 * i + 1] = t;
    }
}
__global__ void accumulate(int n, const float *x, float *y) { TID; if (i < n) y[i] += x[i]; }
void updates(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) update(x[2 * i:2])
    swapped<<<(n + 255) / 256, 256>>>(n, x);
#pragma kmm parallel(i = 0:n) read(x[i]) update(y[i])
    accumulate<<<(n + 255) / 256, 256>>>(n, x, y);
}
__device__ int bound;
__constant__ int shift;
__global__ void symbols(const float *x, float *y) { TID; if (i < bound) y[i] = x[i + shift]; }
void by_symbol(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    symbols<<<(n + 255) / 256, 256>>>(x, y);
}
__global__ void ordered(int n, int order, const float *x, float *y)
{
    TID;
    if (i >= n)
        return;
    switch (order) {
    case 1: y[i] = x[i]; break;
    case 2: y[i] = x[i] + x[i + 1]; break;
    default: y[i] = x[i] + x[i + 2]; break;
    }
}
void switches(int n, int order, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i:order]) write(y[i])
    ordered<<<(n + 255) / 256, 256>>>(n, order, x, y);
}
__global__ void tail(int n, const float4 *x4, const float *x, float *y)
{
    TID;
    if (i < n / 4)
        *(float4 *)(y + 4 * i) = x4[i];
    if (i < n % 4)
        y[n - 1 - i] = x[n - 1 - i];
}
void tails(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n / 4) read(x[4 * i:4], x[n - 4:4]) update(y[4 * i:4], y[n - 4:4])
    tail<<<(n / 4 + 255) / 256, 256>>>(n, (float4 *)x, x, y);
}
// Unsigned numbers wrap around, also where the samples make the difference negative.
__global__ void from(const float *x, float *y, unsigned n, unsigned m)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - m)
        y[i + m] = x[i];
}
void differences(float *x, float *y, unsigned n, int c)
{
#pragma kmm parallel
    from<<<(n + 255) / 256, 256>>>(x, y, n, 1000 * c);
}
