// An event that one thread records anew while others ask of it, wait for it, and let streams wait for it.
// RUN: %kmmcc --target=host %san -O1 %s -o %t && timeout 600 %t | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=16M timeout 600 %t | FileCheck %s
// CHECK: 500 0
#include <atomic>
#include <cuda_runtime.h>
#include <stdio.h>
#include <thread>

enum { N = 1000 };

__global__ void add_one(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

int main()
{
    int *x, last = 0;
    cudaEvent_t e;
    cudaStream_t a, b;
    std::atomic<int> stop{0}, errors{0};
    cudaMalloc(&x, N * sizeof(int));
    cudaMemset(x, 0, N * sizeof(int));
    cudaEventCreate(&e);
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEventRecord(e, a);
    auto until_stopped = [&](auto call) {
        return std::thread([&stop, &errors, call] {
            while (!stop) {
                int error = call();
                errors += error && error != cudaErrorNotReady;
            }
        });
    };
    std::thread asks = until_stopped([=] { return cudaEventQuery(e); });
    std::thread waits = until_stopped([=] { return cudaEventSynchronize(e); });
    std::thread lets_wait = until_stopped([=] { return cudaStreamWaitEvent(b, e, 0); });
    std::thread measures = until_stopped([=] { float ms; return cudaEventElapsedTime(&ms, e, e); });
    for (int k = 0; k < 8000; k++) {
        if (k % 16 == 0)
            add_one<<<4, 256, 0, a>>>(N, x);
        cudaEventRecord(e, a);
    }
    stop = 1;
    asks.join(), waits.join(), lets_wait.join(), measures.join();
    cudaMemcpy(&last, x + N - 1, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d %d\n", last, (int)errors);
    return 0;
}
