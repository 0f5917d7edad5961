// REQUIRES: ir
// --accesses: how well the accesses of each kernel are known, also of kernels that nothing launches.
// RUN: %kmmcc --accesses %s | FileCheck %s
// RUN: %kmmcc --target=host --accesses %s | FileCheck %s

// Where clang makes no code of the kernels, its error is said, and not which file includes which.
// RUN: %not %kmmcc --target=host --accesses -DFAILS %s 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: error: nothing is known of the kernels of '{{.*}}accesses.cu': {{.*}}error: only for the host
#if defined(FAILS) && defined(__CUDA_ARCH__)
#if __INCLUDE_LEVEL__
#error only for the host
#else
#include __FILE__
#endif
#endif

// The C++ library has functions for the host alone.
#include <vector>

// CHECK: scale(float*, float const*, int):
// CHECK-NEXT: in: exact, while indices fit into 32 bits
// CHECK-NEXT: out: exact, while indices fit into 32 bits
__global__ void scale(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i];
}

// CHECK: part_of_loop(float*, int, int):
// CHECK-NEXT: out: over-approximated: a condition picks iterations of a loop
__global__ void part_of_loop(float *out, int width, int some)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < width; k++)
        if (k < some)
            out[i * width + k] = 1;
}

// CHECK: gather(float*, float const*, int const*, int, float*):
// CHECK-NEXT: index: exact
// CHECK-NEXT: in: unknown: an index that is read from memory or computed in a loop
// CHECK-NEXT: out: exact
// CHECK-NEXT: unused: exact: it is not accessed
__global__ void gather(float *out, const float *in, const int *index, int n, float *unused)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[index[i]];
}

// An index that is taken apart and put together again is itself.
// CHECK: digits(float*, float const*, float const*, int, int, int):
// CHECK-NEXT: in: exact
// CHECK-NEXT: bias: over-approximated
// CHECK-NEXT: out: exact
__global__ void digits(float *out, const float *in, const float *bias, int channels, int size,
                       int total)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total)
        return;
    int x = i % size, c = i / size % channels, n = i / (size * channels);
    out[(n * channels + c) * size + x] = in[i] + bias[c];
}

// The size of a block needs no number.
// CHECK: folded(float*, float const*):
// CHECK-NEXT: in: exact
// CHECK-NEXT: out: exact
__global__ void folded(float *out, const float *in)
{
    out[threadIdx.x + 3 * blockDim.x * blockIdx.x] = in[threadIdx.x + 2 * blockDim.x * blockIdx.x];
}

// A step of 64 bits whose product has 32.
// CHECK: wide(float*, float const*, unsigned long):
// CHECK-NEXT: in: exact
// CHECK-NEXT: out: exact
__global__ void wide(float *out, const float *in, size_t n)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[i];
}

// Blocks that the kernel's code counts on.
// CHECK: tiled(float*, float const*, int):
// CHECK-NEXT: where blocks have 256 threads in x:
// CHECK-NEXT: in: exact, while indices fit into 32 bits
// CHECK-NEXT: out: exact, while indices fit into 32 bits
__global__ void tiled(float *out, const float *in, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

// Conditions that are combined as numbers.
// CHECK: inside(float*, int, int):
// CHECK-NEXT: out: exact
__global__ void inside(float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    bool first = (x >= 1) & (x < w);
    if (first & (y >= 1) & (y < h))
        out[y * w + x] = 1;
}
// CHECK: on_data(float*, int const*, int):
// CHECK-NEXT: flags: exact
// CHECK-NEXT: out: over-approximated: a condition on data decides
__global__ void on_data(float *out, const int *flags, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n)
        if ((flags[x] > 0) & (x > 2))
            out[x] = 1;
}
