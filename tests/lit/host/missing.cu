// What the CPU target lacks is said by name.
// lacks: cooperative launches
// lacks: graphs
// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck %s
#include <cuda_runtime.h>
__global__ void k(int *x) { *x = 1; }
int main()
{
    int *x = nullptr;
    void *arguments[] = {&x};
    cudaLaunchCooperativeKernel((void *)k, dim3(1), dim3(1), arguments);
    // CHECK: missing.cu:[[#@LINE-1]]:5: error: {{.*}}kmm: kernels whose blocks wait for each other are missing on the CPU target
    cudaGraph_t graph;
    // CHECK: missing.cu:[[#@LINE-1]]:5: error: 'cudaGraph_t' is unavailable: kmm: CUDA graphs are missing on the CPU target
    cudaTextureObject_t texture;
    // CHECK: missing.cu:[[#@LINE-1]]:5: error: 'cudaTextureObject_t' is unavailable: kmm: textures are missing on the CPU target
}
