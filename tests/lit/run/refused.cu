// A launch that a device has no room for, where the host's memory is limited, is refused before any of it runs: the launch and the
// next synchronization tell it, arrays keep their values, and a launch that fits runs.
// RUN: %kmmcc --target=host -O1 %san %s -o %t
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_HOST_MEM=64M %t 2> %t.err | FileCheck %s
// RUN: FileCheck --check-prefix=ERROR --input-file=%t.err %s
// RUN: env KMM_DEVICES=host:3,mem=1M %t 2>/dev/null | FileCheck --check-prefix=AWAY %s
#include <cuda_runtime.h>
#include <stdio.h>

enum { N = 2048 };

__global__ void column(float *m)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N)
        m[(size_t)i * N] += 1;
}

__global__ void row(float *x)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N)
        x[i] += 2;
}

static void launch(float *m, cudaStream_t s)
{
    // ERROR-COUNT-3: kmm: error: {{.*}}refused.cu:[[#@LINE+1]]: column: chunk 0 of 8 needs {{[0-9]+}} bytes on host:0 at once, of which {{[0-9]+}} can be used; no chunk is small enough, because each uses so much of its arrays; nothing of the launch has run
    #pragma kmm parallel(i = 0:N) chunk(1) shape(m[N][N]) update(m[i][0])
    column<<<8, 256, 0, s>>>(m);
}

int main()
{
    float *m, got[N];
    cudaStream_t s;
    cudaEvent_t e;
    cudaMalloc(&m, N * N * sizeof(float));
    cudaMemset(m, 0, N * N * sizeof(float));
    cudaStreamCreate(&s);
    cudaEventCreate(&e);

    // CHECK: launch: cudaErrorMemoryAllocation, device: cudaErrorMemoryAllocation, then: cudaSuccess
    // AWAY: launch: cudaSuccess, device: cudaSuccess, then: cudaSuccess
    launch(m, 0);
    cudaError_t told = cudaGetLastError(), synced = cudaDeviceSynchronize();
    cudaGetLastError();
    printf("launch: %s, device: %s, ", cudaGetErrorName(told), cudaGetErrorName(synced));
    printf("then: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));

    // CHECK: stream: cudaErrorMemoryAllocation, last: cudaErrorMemoryAllocation
    // AWAY: stream: cudaSuccess, last: cudaSuccess
    launch(m, s);
    printf("stream: %s, ", cudaGetErrorName(cudaStreamSynchronize(s)));
    printf("last: %s\n", cudaGetErrorName(cudaGetLastError()));

    // CHECK: event: cudaErrorMemoryAllocation
    // AWAY: event: cudaSuccess
    launch(m, s);
    cudaEventRecord(e, s);
    printf("event: %s\n", cudaGetErrorName(cudaEventSynchronize(e)));
    cudaGetLastError();

    #pragma kmm parallel(i = 0:N) chunk(256) update(m[i])
    row<<<8, 256>>>(m);
    printf("row: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaMemcpy(got, m, sizeof(got), cudaMemcpyDeviceToHost);
    // CHECK: row: cudaSuccess
    // CHECK-NEXT: 2 2
    // AWAY: row: cudaSuccess
    // AWAY-NEXT: 5 2
    printf("%g %g\n", got[0], got[1]);

    // An empty grid is refused by plain CUDA too, which tells it at the launch alone.
    column<<<0, 256>>>(m);
    // CHECK-NEXT: empty: cudaErrorInvalidConfiguration, synced: cudaSuccess
    printf("empty: %s, ", cudaGetErrorName(cudaGetLastError()));
    printf("synced: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
