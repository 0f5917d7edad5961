// Graphs of a program's own: refused by name outside of tasks; inside one they run on its arrays. Memory from a pool of its own is an array.
// REQUIRES: hipcc
// UNSUPPORTED: san
// RUN: rm -rf %t && mkdir %t
// RUN: %kmmcc --target=hip --offload-arch=gfx90a -O1 %s -o %t/amd
// RUN: %kmm_source/tests/hip/make_kernels %kmmcc %kmm_source %s %t/kernels.so twice
// RUN: env KMM_DEVICES=hip LD_LIBRARY_PATH=%kmm_build/tests/fake/hip5 KMM_FAKE_KERNELS=%t/kernels.so %t/amd 2>%t/errors | FileCheck %s
// RUN: FileCheck --check-prefix=ERRORS %s <%t/errors
// RUN: env KMM_DEVICES=hip LD_LIBRARY_PATH=%kmm_build/tests/fake/hip_whole KMM_FAKE_KERNELS=%t/kernels.so %t/amd 2>/dev/null | FileCheck %s
// RUN: %if nvcc %{ %kmmcc --target=cuda -O1 %s -o %t/nvidia %}
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void twice(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}

#ifndef main // what make_kernels compiles for the CPU, where there are no graphs
static int capture(hipStream_t s, int n, int *x, hipGraphExec_t *run)
{
    hipGraph_t graph;
    int error = hipStreamBeginCapture(s, hipStreamCaptureModeGlobal);
    if (error)
        return error;
    for (int k = 0; k < 3; k++)
        twice<<<(n + 63) / 64, 64, 0, s>>>(n, x);
    error = hipStreamEndCapture(s, &graph);
    error = error ? error : hipGraphInstantiate(run, graph, nullptr, nullptr, 0);
    return error ? error : hipGraphDestroy(graph);
}

int main()
{
    const int n = 1000;
    int host[n], *x, error = 0;
    hipStream_t s;
    hipGraph_t graph;
    hipGraphExec_t run = nullptr;
    for (int i = 0; i < n; i++)
        host[i] = i;
    if (hipStreamCreate(&s) || hipMallocFromPoolAsync((void **)&x, sizeof(host), nullptr, s) || hipMemcpy(x, host, sizeof(host), hipMemcpyHostToDevice))
        return 1;
    std::printf("%d %d\n", hipStreamBeginCapture(s, hipStreamCaptureModeGlobal), hipGraphCreate(&graph, 0));
    // CHECK: 801 801
    // ERRORS: kmm: error: hip{{StreamBeginCapture|GraphCreate}} is not supported outside of '#pragma kmm task'
    // ERRORS: kmm: error: hip{{StreamBeginCapture|GraphCreate}} is not supported outside of '#pragma kmm task'
#pragma kmm parallel(i = 0:n) chunk(n / 4) update(x[i])
    twice<<<(n + 63) / 64, 64, 0, s>>>(n, x);
#pragma kmm task stream(s) update(x[0:n])
    {
        error = capture(s, n, x, &run);
        error = error ? error : hipGraphLaunch(run, s);
        error = error ? error : hipGraphLaunch(run, s);
    }
#pragma kmm parallel(i = 0:n) chunk(n / 4) update(x[i])
    twice<<<(n + 63) / 64, 64, 0, s>>>(n, x);
    std::printf("%d %d\n", error, hipGraphLaunch(run, s));
    // CHECK: 0 801
    // ERRORS: kmm: error: hipGraphLaunch is not supported outside
    if (hipMemcpyAsync(host, x, sizeof(host), hipMemcpyDeviceToHost, s) || hipStreamSynchronize(s) || hipFreeAsync(x, s))
        return 1;
    std::printf("%d %d\n", host[1], host[n - 1]); // CHECK: 256 255744
    return hipGraphExecDestroy(run);
}
#else
int main() { return 0; }
#endif
