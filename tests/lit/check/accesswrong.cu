// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// Clauses that name less than the kernel accesses.
#include <cuda_runtime.h>
#define TID int i = blockIdx.x * blockDim.x + threadIdx.x
#define GRID <<<(n + 255) / 256, 256>>>

// CHECK: error: 'x[i]' is less than 'halo' reads: with n = {{[0-9]+}}, blocks of 256, the thread of i = {{[0-9]+}} reads x[{{[0-9]+}}], which no clause names for its chunk
// CHECK-NEXT: #pragma
// CHECK-NEXT: ^~~~
// CHECK-NEXT: {{^ +}}[i - 1:3]
// CHECK-NEXT: accesswrong.cu:[[#@LINE+1]]:{{[0-9]+}}: note: it is read here
__global__ void halo(int n, const float *x, float *y) { TID; if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i + 1]; }
void halo_forgotten(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) update(y[i])
    halo GRID (n, x, y);
}
// CHECK: error: 'x[i:2]' is less than 'halo' reads
void halo_one_side(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i:2]) update(y[i])
    halo GRID (n, x, y);
}
// CHECK: error: 'x[i + 1:3]' is less than 'halo' reads
// CHECK: {{^ +}}[i + 1 - 2:3]
void lower_wrong(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i + 1:3]) update(y[i])
    halo GRID (n, x, y);
}
// CHECK: error: the range of 'i' is less than what 'copy' works on: with n = {{[0-9]+}}, blocks of 256, the range ends at {{[0-9]+}}, and the thread of i = {{[0-9]+}} works too
__global__ void copy(int n, const float *x, float *y) { TID; if (i < n) y[i] = x[i]; }
void range_short(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n - 1) read(x[i]) write(y[i])
    copy GRID (n, x, y);
}
// CHECK: error: the range of 'i' is less than what 'copy' works on
void range_begins_late(int n, float *x, float *y)
{
#pragma kmm parallel(i = 1:n - 1) read(x[i]) write(y[i])
    copy GRID (n, x, y);
}
// CHECK: error: 'x[i]' is less than 'twice' reads
__global__ void twice(int n, const float *x, float *y) { TID; if (i < n) y[i] = x[2 * i] + x[2 * i + 1]; }
void stride_wrong(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    twice GRID (n, x, y);
}
// CHECK: error: 'x[2 * i]' is less than 'twice' reads
// CHECK: {{^ +}}[2 * i:2]
void length_short(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[2 * i]) write(y[i])
    twice GRID (n, x, y);
}
__global__ void blur(int w, int h, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
        out[y * w + x] = in[(y - 1) * w + x] + in[(y + 1) * w + x] + in[y * w + x - 1] + in[y * w + x + 1];
}
#define GRID2 <<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>
void plane(int w, int h, float *in, float *out)
{
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'in[y][x]' is less than 'blur' reads
#pragma kmm parallel(x = 0:w, y = 0:h) shape(in[h][w], out[h][w]) read(in[y][x]) update(out[y][x])
    blur GRID2 (w, h, in, out);
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'in[y - 1:3][x]' is less than 'blur' reads
#pragma kmm parallel(x = 0:w, y = 0:h) shape(in[h][w], out[h][w]) read(in[y - 1:3][x]) update(out[y][x])
    blur GRID2 (w, h, in, out);
// The width of a row.
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'in[y - 1:3][x - 1:3]' is less than 'blur' reads
#pragma kmm parallel(x = 0:w, y = 0:h) shape(in[h][w + 1], out[h][w]) read(in[y - 1:3][x - 1:3]) update(out[y][x])
    blur GRID2 (w, h, in, out);
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'out[y * (w - 1) + x]' is less than 'blur' stores
#pragma kmm parallel(x = 0:w, y = 0:h) shape(in[h][w]) read(in[y - 1:3][x - 1:3]) update(out[y * (w - 1) + x])
    blur GRID2 (w, h, in, out);
// Axes in the wrong order.
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'in[y - 1:3][x - 1:3]' is less than 'blur' reads
#pragma kmm parallel(y = 0:w, x = 0:h) shape(in[h][w], out[h][w]) read(in[y - 1:3][x - 1:3]) update(out[x][y])
    blur GRID2 (w, h, in, out);
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'out[y][x]' is less than 'blur' stores
#pragma kmm parallel(y = 0:w, x = 0:h) shape(in[h][w], out[h][w]) read(in) update(out[y][x])
    blur GRID2 (w, h, in, out);
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: write(out[y][x]) promises that each chunk stores all of it, but 'blur' leaves out some: with w = {{[0-9]+}}, h = {{[0-9]+}}, blocks of 16x16, nothing stores to out[0]; say update(out[y][x]), or less
#pragma kmm parallel(x = 0:w, y = 0:h) shape(in[h][w], out[h][w]) read(in[y - 1:3][x - 1:3]) write(out[y][x])
    blur GRID2 (w, h, in, out);
}
// CHECK: :[[#@LINE+6]]:{{[0-9]+}}: error: write(y[i]) promises that each chunk stores all of it, but 'halo' leaves out some: with {{.*}} nothing stores to y[0]
// CHECK-NEXT: #pragma
// CHECK-NEXT: ^~~~
// CHECK-NEXT: {{^ +}}update
void leaves_out(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i - 1:3]) write(y[i])
    halo GRID (n, x, y);
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'y[2 * i:2]' is less than 'copy' stores
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[2 * i:2])
    copy GRID (n, x, y);
}
__global__ void doubled(int n, float *x) { TID; if (i < n) x[i] = x[i] + x[i]; }
__global__ void added(int n, const float *x, float *y) { TID; if (i < n) y[i] += x[i]; }
__device__ void add_to(float *p, float v) { *p += v; }
__global__ void added_by_helper(int n, const float *x, float *y) { TID; if (i < n) add_to(y + i, x[i]); }
__global__ void shifted(int n, float *x) { TID; if (i < n) x[i] = x[i + 1]; }
void old_values(int n, float *x, float *y)
{
// CHECK: :[[#@LINE+4]]:{{[0-9]+}}: error: 'x[i]' is only written here, so its old values are not brought, but 'doubled' reads them: {{.*}} reads x[0]; say update(x[i])
// CHECK-NEXT: #pragma
// CHECK-NEXT: ^~~~
// CHECK-NEXT: {{^ +}}update
#pragma kmm parallel(i = 0:n) write(x[i])
    doubled GRID (n, x);
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'y[i]' is only written here, so its old values are not brought, but 'added' reads them
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    added GRID (n, x, y);
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'y[i]' is only written here, so its old values are not brought, but 'added_by_helper' reads them
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    added_by_helper GRID (n, x, y);
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'x[i:2]' is only written here, so its old values are not brought, but 'shifted' reads them
#pragma kmm parallel(i = 0:n) write(x[i:2])
    shifted GRID (n, x);
}
__device__ void put(float *p, int k, float v) { p[k] = v; }
__global__ void put_by_helper(int n, float *x, float *y) { TID; if (i < n) put(y, i, x[i]); }
void read_only(int n, float *x, float *y)
{
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'y[i]' is only read here, but 'copy' stores to it: {{.*}} stores to y[0]; say update(y[i])
#pragma kmm parallel(i = 0:n) read(x[i], y[i])
    copy GRID (n, x, y);
// CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error: 'y[i]' is only read here, but 'put_by_helper' stores to it
// CHECK: :[[#@LINE-8]]:{{[0-9]+}}: note: it is stored here
#pragma kmm parallel(i = 0:n) read(x[i], y[i])
    put_by_helper GRID (n, x, y);
}
__global__ void next(int n, const float *x, float *y) { TID; if (i < n) y[i + 1] = x[i]; }
void store_outside(int n, float *x, float *y)
{
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'y[i]' is less than 'next' stores: {{.*}} stores to y[{{[0-9]+}}], which no clause names for its chunk
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    next GRID (n, x, y);
}
__global__ void fixed_bins(int n, const int *x, int *bins) { TID; if (i < n) { atomicAdd(&bins[i % 64], 1); } }
__global__ void plain(int n, const float *x, float *sum) { TID; if (i < n) sum[0] = x[i]; }
void reductions(int n, int *k, float *x, int *bins, float *sum)
{
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'bins[0:32]' is less than 'fixed_bins' stores
#pragma kmm parallel(i = 0:n) read(k[i]) reduce(+: bins[0:32])
    fixed_bins GRID (n, k, bins);
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'sum[0]' is reduced here, but 'plain' stores to it whatever its value was
#pragma kmm parallel(i = 0:n) read(x[i]) reduce(+: sum[0])
    plain GRID (n, x, sum);
}
struct view { const float *in; float *out; int n; };
__global__ void by_struct(view v) { TID; if (i < v.n) v.out[i] = v.in[i + 1]; }
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
__device__ float get(const float *p, int k) { return p[k] + p[k + 3]; }
__global__ void by_function(int n, const float *x, float *y) { TID; if (i < n) y[i] = get(x, i); }
void behind(int n, view v, float *x, float *y)
{
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'v.in[i]' is less than 'by_struct' reads
#pragma kmm parallel(i = 0:v.n) read(v.in[i]) write(v.out[i])
    by_struct<<<(v.n + 255) / 256, 256>>>(v);
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'x[i - 3:7]' is less than 'around' reads
#pragma kmm parallel(i = 0:n) read(x[i - 3:7]) write(y[i])
    around<float, 4> GRID (n, x, y);
// CHECK: :[[#@LINE+3]]:{{[0-9]+}}: error: 'x[i]' is less than 'by_function' reads
// CHECK: {{^ +}}[i:4]
// CHECK: note: it is read here
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[i])
    by_function GRID (n, x, y);
}
// CHECK: error: 'a[i]' is less than 'declared' reads
#pragma kmm declare kernel(i = 0:n) read(x[i]) update(y[i])
__global__ void declared(int n, const float *x, float *y) { TID; if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i + 1]; }
void declares(int m, float *a, float *b)
{
#pragma kmm parallel chunk(m / 10)
    declared<<<(m + 255) / 256, 256>>>(m, a, b);
}
// CHECK: :[[#@LINE+5]]:{{[0-9]+}}: error: write(y[8*i:8]) promises that each chunk stores all of it, but 'seven' leaves out some
__global__ void seven(int n, const float *x, float *y) { TID; if (i < n) { float (&row)[8] = *(float (*)[8])(y + 8 * i); for (int k = 0; k < 7; k++) row[k] = x[i]; } }
__global__ void eight(int n, const float *x, float *y) { TID; if (i < n) { float (&row)[8] = *(float (*)[8])(y + 8 * i); for (int k = 0; k < 8; k++) row[k] = x[i]; } }
void parts(int n, float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[8*i:8])
    seven GRID (n, x, y);
#pragma kmm parallel(i = 0:n) read(x[i]) write(y[8*i:8])
    eight GRID (n, x, y);
}
// CHECK: :[[#@LINE+5]]:{{[0-9]+}}: error: write(o[0:20][i]) promises that each chunk stores all of it, but 'second' leaves out some: with blocks of 128, nothing stores to o[3000]
__global__ void second(int n, int m, int *o) { TID; if (i < n) for (int j = 0; j < m; j += 2) o[j * n + i] = j; }
__global__ void each(int n, int m, int *o) { TID; if (i < n) for (int j = 0; j < m; j++) o[j * n + i] = j; }
void columns(int *o)
{
#pragma kmm parallel(i = 0:3000) chunk(700) shape(o[20][3000]) write(o[0:20][i])
    second<<<24, 128>>>(3000, 20, o);
#pragma kmm parallel(i = 0:3000) chunk(700) shape(o[20][3000]) write(o[0:20][i])
    each<<<24, 128>>>(3000, 20, o);
}
// A variable that is never changed is the constant of its definition.
// CHECK: :[[#@LINE+5]]:{{[0-9]+}}: error: 'o[0:20][i]' is less than 'pitched' stores
__global__ void pitched(int n, int m, int ld, int *o) { TID; if (i < n) for (int j = 0; j < m; j++) o[j * ld + i] = j; }
void pitches(int *o)
{
    int ld = 3001, right = 3000, changed = 3001;
#pragma kmm parallel(i = 0:3000) chunk(700) shape(o[20][3000]) write(o[0:20][i])
    pitched<<<24, 128>>>(3000, 20, ld, o);
#pragma kmm parallel(i = 0:3000) chunk(700) shape(o[20][3000]) write(o[0:20][i])
    pitched<<<24, 128>>>(3000, 20, (right), o);
    [&] { changed--; }();
#pragma kmm parallel(i = 0:3000) chunk(700) shape(o[20][3000]) write(o[0:20][i])
    pitched<<<24, 128>>>(3000, 20, changed, o);
}
// CHECK: :[[#@LINE+6]]:{{[0-9]+}}: error: 'a[i]' is less than 'strides' reads
// CHECK: :[[#@LINE+5]]:{{[0-9]+}}: error: 'o[i]' is less than 'strides' stores
__global__ void strides(int n, const int *a, int *o) { for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 128 * gridDim.x) o[i] = a[i]; }
void grids(const int *a, int *o)
{
    int n = 60000, &m = n, k = 60000;
#pragma kmm parallel(i = 0:k) bounded chunk(2000) read(a[i]) write(o[i])
    strides<<<100, 128>>>(k, a, o);
#pragma kmm parallel(i = 0:n) bounded chunk(2000) read(a[i]) write(o[i])
    strides<<<100, 128>>>(n, a, o);
    m = 5;
}
// A range that a small sample would not divide.
// CHECK: :[[#@LINE+5]]:{{[0-9]+}}: error: 'x[4 * i:4]' is less than 'pairs' reads
// CHECK: :[[#@LINE+4]]:{{[0-9]+}}: error: 'o[4 * i:4]' is less than 'pairs' stores
__global__ void pairs(int n, const int *x, int *o) { TID; if (i < n / 4) ((int2 *)o)[i] = ((const int2 *)x)[i]; }
void pairs_as_fours(int n, int *x, int *o)
{
#pragma kmm parallel(i = 0:n / 4) chunk(1000) read(x[4 * i:4]) write(o[4 * i:4])
    pairs GRID (n, x, o);
}
