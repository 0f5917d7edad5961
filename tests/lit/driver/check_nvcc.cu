// -fkmm-check with nvcc itself: the code with the checks is code that ptxas takes, for several architectures, with debug information, and in a
// program. What nvcc says, its exit status and its output are those of a compilation without the check.
// REQUIRES: nvcc && !san
// RUN: rm -rf %t && mkdir -p %t/tmp && cd %t && cp %s program.cu
// RUN: env TMPDIR=%t/tmp %kmmcc --target=cuda -fkmm-check -arch=sm_90 -ptx program.cu -o out.ptx && FileCheck %s < out.ptx && rmdir tmp
// RUN: %kmmcc --target=cuda -fkmm-check -arch=sm_90 -Xcompiler -Wall,-Wextra -Werror all-warnings -MMD program.cu -o program && FileCheck --check-prefix=DEPS %s < program.d && nm program | FileCheck --check-prefix=LINKED %s
// RUN: %not %kmmcc --target=cuda -fkmm-check -rdc=true -arch=sm_90 -c program.cu 2>&1 | FileCheck --check-prefix=RDC %s
// RDC: -fkmm-check does not see device functions of other files, so it cannot check 'program.cu'
// RUN: %not %kmmcc --target=cuda -fkmm-check -DTENSOR -arch=sm_90 -c program.cu 2>&1 | FileCheck --check-prefix=TENSOR %s
// TENSOR: error: -fkmm-check refuses kernel 'space::scale' of 'program.cu': it does not know the accesses of its instruction 'wmma.load.a.sync.aligned.row.m16n16k16.global.f16' (program.cu:[[#]])
// RUN: %not %kmmcc --target=cuda -fkmm-check -DBAD -arch=sm_90 -c program.cu 2>&1 | FileCheck --check-prefix=BAD %s
// BAD: ptxas {{.*}}program.ptx, line {{[0-9]+}}; error {{.*}}'nonsense'
// DEPS: program.o {{.*}}: program.cu
// RUN: %kmmcc --target=cuda -fkmm-check -G -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90] -MD -MF deps.d -MT target -c program.cu -o other.o && FileCheck --check-prefix=TARGET %s < deps.d
// TARGET: target : program.cu
// LINKED-DAG: __tsan_init
// LINKED-DAG: __wrap_cudaMalloc
#include <cuda_runtime.h>
#include <mma.h>
#include <stdio.h>

#ifdef BAD
__global__ void bad() { asm volatile("nonsense.u32 a, b;"); }
#endif
__device__ __noinline__ float sum(const float *a, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}
namespace space {
__global__ void scale(int n, float *x, const float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef TENSOR
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> tile;
    wmma::load_matrix_sync(tile, (const half *)y + blockIdx.x * 256, 16);
    x[i] = tile.x[0];
#endif
    if (i < n)
        x[i] = y[i] * 2;
}
}
// CHECK: {{^.*}}.func {{.*}}sum
// CHECK: ld.shared.b64 %kmm_table, [kmm_shared_table];
// CHECK: ld.global.f32 {{.*}}, [%kmm_at];
// CHECK: .entry {{.*}}kmm_blur18kmm_checked_blocks
// CHECK: st.shared.b64 [kmm_shared_table], %kmm_table;
// CHECK: st.global.f32 [%kmm_at]
__global__ void blur(int n, float *x, const float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        x[i] = sum(y + i - 1, 3);
    if (i == 7)
        printf("%d\n", i);
}
template <class T> __global__ void fill(int n, T *x, T value)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&x[i], value);
}

int main(void)
{
    int n = 1 << 20;
    float *a, *b;
    if (cudaMalloc(&a, n * 4) || cudaMalloc(&b, n * 4))
        return 1;
#pragma kmm parallel(i = 0:n) chunk(n / 4) write(a[i]) read(b[i])
    space::scale<<<n / 256, 256>>>(n, a, b);
#pragma kmm parallel(i = 0:n) chunk(n / 4) update(a[i]) read(b[i - 1:3])
    blur<<<n / 256, 256>>>(n, a, b);
#pragma kmm parallel(i = 0:n) chunk(n / 4) update(a[i])
    fill<float><<<n / 256, 256>>>(n, a, 1);
    return cudaDeviceSynchronize() != cudaSuccess;
}
