// REQUIRES: nvcc
// RUN: cd %S && %kmmcc --target=cuda --emit-source=%t.cu kernel.cu && grep -v "^ *// CHECK" %t.cu | FileCheck %s
// RUN: %nvcc -std=c++17 -I %S/../../../include -Xcompiler -Wall -Werror all-warnings -c %t.cu -o %t.o
// A kernel, its clone, and launches in every place where a statement may stand. Only the launch of a template names the
// clone: others are found by the kernel.
#include <cuda_runtime.h>

// CHECK: #include <kmm/cuda.h>
// CHECK-NEXT: #line [[#@LINE+1]] "kernel.cu"
__global__ void add(int n, float *C, const float *A, const float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i] + B[i];
}
// CHECK: #line [[#@LINE-6]] "kernel.cu"
// CHECK-NEXT: __global__ void kmm_add(const kmm_blocks_t kmm__blocks, int n, float *C, const float *A, const float *B)
// CHECK-NEXT: { const uint3 blockIdx = kmm_block_index(kmm__blocks);
// CHECK-NEXT:     int i =
// CHECK:      static const int kmm_registered_[[#]] = kmm_cuda_register_clone((const void *)kmm_add, (const void *)add);
// CHECK-NEXT: #line [[#@LINE-6]] "kernel.cu"

extern "C" __global__ void later(float *A, int stride = 1);
// CHECK: extern "C" __global__ void kmm_later(const kmm_blocks_t kmm__blocks, float *A, int stride = 1);

namespace outer {
namespace {
template <typename T, int K>
__launch_bounds__(256) __global__ void scale(T *A, const T *B, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        A[i] = B[i] * K;
}
// CHECK: template <typename T, int K>
// CHECK: template <typename T, int K>
// CHECK-NEXT: __launch_bounds__(256) __global__ void kmm_scale(const kmm_blocks_t kmm__blocks, T *A, const T *B, int n)
// CHECK-NEXT: { const uint3 blockIdx = kmm_block_index(kmm__blocks); const dim3 gridDim = kmm_grid_dim(kmm__blocks);
} // namespace
} // namespace outer

template <typename T> void in_template(T *A, const T *B, int n)
{
// CHECK: outer::kmm_scale<T, 3><<<1, 1>>>(kmm_blocks_t(), A, B, n); }
#pragma kmm parallel(i = 0:n) read(B[i]) update(A[i])
    outer::scale<T, 3><<<1, 1>>>(A, B, n);
}

void places(int n, float *C, const float *A, const float *B)
{
    if (n > 1)
#pragma kmm parallel(i = 0:n) chunk(n / 10) read(A[i], B[i]) write(C[i])
        add<<<(n + 255) / 256, 256>>>(n, C, A, B);
    else if (n > 0)
        // CHECK: #line [[#@LINE+3]]
        // CHECK-NEXT: {{^}}        add<<<1, 256, 0, 0>>>(n, C, A, B); }
        #pragma kmm parallel(i = 0:n) read(A[i], B[i]) write(C[i])
        add<<<1, 256, 0, 0>>>(n, C, A, B);
    else
        n = 2;
    for (int k = 0; k < n; k++)
        #pragma kmm parallel(i = 0:n) device(k) read(A[i], B[i]) write(C[i])
        add<<<dim3(n, 1), 256>>>(n, C, A, B);
    switch (n) {
    case 1:
        #pragma kmm parallel(i = 0:n) read(A[i], B[i]) write(C[i])
        add<<<(n + 255) / 256, 256>>>(n, C, A, B);
        break;
    default:
        #pragma kmm parallel update(C)
        later<<<1, 1>>>(C);
    }
    // The pragma governs a statement with more than the launch.
    // CHECK: // #pragma kmm parallel(i = 0:n) label("with check")
    // CHECK: {
    // CHECK: kmm_launch_label(kmm__launch, "with check");
    // CHECK: add<<<1, 32>>>(n, C, A, B); }
    #pragma kmm parallel(i = 0:n) label("with check") read(A[i], B[i]) write(C[i]) if(n > 3)
    {
        add<<<1, 32>>>(n, C, A, B);
        if (cudaGetLastError() != cudaSuccess)
            return;
    }
    auto closure = [=]() {
        #pragma kmm parallel(i = 0:n) read(B[i]) write(C[i])
        outer::scale<float, 2><<<1, 1>>>(C, B, n);
    };
    closure();
    in_template(C, A, n);
}

__global__ void later(float *A, int stride)
{
    A[threadIdx.x] = gridDim.x * stride;
}
// CHECK: __global__ void kmm_later(const kmm_blocks_t kmm__blocks, float *A, int stride)
// CHECK-NEXT: { const dim3 gridDim = kmm_grid_dim(kmm__blocks);
