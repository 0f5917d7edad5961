// A program with most of HIP's calls, on the CPU and, where hipcc is, on the fake HIP driver.
// RUN: rm -rf %t && mkdir %t
// RUN: %kmmcc --target=host %san -O1 %s -o %t/cpu
// RUN: env KMM_DEVICES=host:2 %t/cpu | FileCheck %s
// RUN: %if hipcc && !san %{ %kmmcc --target=hip --offload-arch=gfx90a -O1 %s -o %t/amd %}
// RUN: %if hipcc && !san %{ %kmm_source/tests/hip/make_kernels %kmmcc %kmm_source %s %t/kernels.so 'add,scale<float,3>,scale<float,5>,scale<float,7>,weigh,reverse' %}
// RUN: %if hipcc && !san %{ env KMM_DEVICES=hip LD_LIBRARY_PATH=%kmm_build/tests/fake/hip5 KMM_FAKE_KERNELS=%t/kernels.so %t/amd | FileCheck %s %}
// RUN: %if hipcc && !san %{ env KMM_DEVICES=hip LD_LIBRARY_PATH=%kmm_build/tests/fake/hip_whole KMM_FAKE_KERNELS=%t/kernels.so %t/amd | FileCheck %s %}
// RUN: %if nvcc %{ %kmmcc --target=cuda -O1 %s -o %t/nvidia %}
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        hipError_t e = (call);                                                                     \
        if (e != hipSuccess) {                                                                     \
            std::printf("line %d: %s\n", __LINE__, hipGetErrorString(e));                          \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

__constant__ float weights[2];

__global__ void add(int n, float *c, const float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] += a[i];
}

template <typename T, int N> __global__ void scale(T *a, int n)
{
    int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    if (i < n)
        a[i] *= N;
}

__global__ void weigh(int n, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = c[i] * weights[0] + weights[1];
}

// Each block turns its elements around.
__global__ void reverse(int n, float *c)
{
    HIP_DYNAMIC_SHARED(float, part)
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? c[i] : 0;
    __syncthreads();
    if (i < n)
        c[i] = part[blockDim.x - 1 - threadIdx.x];
}

static void say(const char *what, const std::vector<float> &x)
{
    double sum = 0;
    for (float v : x)
        sum += v;
    std::printf("%s: first %g, last %g, sum %.10g\n", what, x.front(), x.back(), sum);
}

int main()
{
    const int n = 64 * 40, blocks = n / 64;
    const float w[] = {2, 1};
    const size_t bytes = n * sizeof(float);
    std::vector<float> host(n), back(n);
    float *a, *c;
    hipStream_t stream;
    hipEvent_t start, stop;
    for (int i = 0; i < n; i++)
        host[i] = static_cast<float>(i % 100);
    CHECK(hipMalloc(&a, bytes));
    CHECK(hipMalloc(&c, bytes));
    CHECK(hipStreamCreate(&stream));
    CHECK(hipEventCreate(&start));
    CHECK(hipEventCreate(&stop));
    CHECK(hipMemcpyAsync(a, host.data(), bytes, hipMemcpyHostToDevice, stream));
    CHECK(hipMemset(c, 0, bytes));
    CHECK(hipEventRecord(start, stream));

#pragma kmm parallel(i = 0:n) chunk(n / 7) read(a[i]) update(c[i])
    hipLaunchKernelGGL(add, dim3(blocks), dim3(64), 0, stream, n, c, a);
#pragma kmm parallel(i = 0:n) chunk(n / 5) update(c[i])
    hipLaunchKernelGGL((scale<float, 3>), blocks, 64, 0, stream, c, n);
    hipLaunchKernelGGL(HIP_KERNEL_NAME(scale<float, 5>), dim3(blocks), dim3(64), 0, stream, c, n); // without a pragma
#pragma kmm parallel(i = 0:n) chunk(n / 3) update(a[i])
    scale<float, 7><<<blocks, 64, 0, stream>>>(a, n);
    CHECK(hipEventRecord(stop, stream));
    CHECK(hipEventSynchronize(stop));
    CHECK(hipStreamSynchronize(stream));
    CHECK(hipMemcpyDtoH(back.data(), (hipDeviceptr_t)c, bytes));
    say("scaled", back); // CHECK: scaled: first 0, last 885, sum 1882800
    CHECK(hipMemcpyWithStream(back.data(), a, bytes, hipMemcpyDeviceToHost, stream));
    say("other", back); // CHECK: other: first 0, last 413, sum 878640

    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(weights), w, sizeof(w)));
#pragma kmm parallel(i = 0:n) chunk(n / 4) update(c[i])
    weigh<<<blocks, 64>>>(n, c);
#pragma kmm parallel(i = 0:n) chunk(n / 4) update(c[i])
    hipLaunchKernelGGL(reverse, blocks, 64, 64 * sizeof(float), 0, n, c);
    CHECK(hipGetLastError());
    int count = n;
    void *args[] = {&count, &c, &a};
#pragma kmm parallel(i = 0:n) chunk(n / 6) read(a[i]) update(c[i])
    hipLaunchKernel((const void *)add, dim3(blocks), dim3(64), args, 0, 0);
    CHECK(hipDeviceSynchronize());
    CHECK(hipMemcpy(back.data(), c, bytes, hipMemcpyDeviceToHost));
    say("reversed", back); // CHECK: reversed: first 1891, last 3294, sum 4646800
    CHECK(hipMemsetD32((hipDeviceptr_t)c, 0x3f800000, n));
    CHECK(hipMemcpy(back.data(), c, bytes, hipMemcpyDeviceToHost));
    say("filled", back); // CHECK: filled: first 1, last 1, sum 2560

    CHECK(hipFree(a));
    CHECK(hipFree(c));
    CHECK(hipEventDestroy(start));
    CHECK(hipEventDestroy(stop));
    CHECK(hipStreamDestroy(stream));
    std::printf("done\n"); // CHECK: done
    return 0;
}
