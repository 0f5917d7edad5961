// SPDX-License-Identifier: Apache-2.0
// A kernel that stores where nothing is: the error names it and its line, what only the device had is lost and said to be, and what
// the host has can be read.
#define SUBJECT "fault"
#include "verdict.h"

#include <string.h>

enum { N = 1 << 20 };

__global__ void add_one(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

__global__ void astray(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i + (1ll << 40)] = i;
}

static int is_iota(const int *x, int add)
{
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += x[i] != i + add;
    return wrong == 0;
}

int main()
{
    static int iota[N], got[N], mapped[N];
    int *onDevice, *onHost, *fetched, line;
    for (int i = 0; i < N; i++)
        iota[i] = mapped[i] = i;
    for (int **x : {&onDevice, &onHost, &fetched}) {
        cudaMalloc(x, sizeof(iota));
        cudaMemcpy(*x, iota, sizeof(iota), cudaMemcpyHostToDevice);
    }
    #pragma kmm parallel(i = 0:N) chunk(N / 4) update(onDevice[i])
    add_one<<<N / 256, 256>>>(N, onDevice);
    #pragma kmm parallel(i = 0:N) chunk(N / 4) update(fetched[i])
    add_one<<<N / 256, 256>>>(N, fetched);
    cudaMemcpy(got, fetched, sizeof(got), cudaMemcpyDeviceToHost);
    expect(is_iota(got, 1) && cudaDeviceSynchronize() == cudaSuccess, "all is well before it");
    kmm_map(kmm_default(), KMM_MAP_TOFROM, mapped, sizeof(mapped));

    #pragma kmm parallel(i = 0:N) chunk(N / 4) update(onDevice[i])
    astray<<<N / 256, 256>>>(N, onDevice); line = __LINE__ - 1; // the directive's
    cudaError_t error = cudaDeviceSynchronize();
    char want[64], text[1024];
    snprintf(text, sizeof(text), "%s", kmm_error_text(kmm_default()));
    snprintf(want, sizeof(want), "fault.cu:%d", line);
    printf("  the error is %d, its text: %s\n", (int)error, text);
    expect(error != cudaSuccess, "the error is returned by the next synchronization");
    expect(strstr(text, "astray") && strstr(text, want), "its text names the kernel and its line");

    memset(got, 0, sizeof(got));
    error = cudaMemcpy(got, onHost, sizeof(got), cudaMemcpyDeviceToHost);
    expect(error == cudaSuccess && is_iota(got, 0), "an array that the device never had can be read");
    memset(got, 0, sizeof(got));
    error = cudaMemcpy(got, fetched, sizeof(got), cudaMemcpyDeviceToHost);
    expect(error == cudaSuccess && is_iota(got, 1), "an array of which the host has the newest values can be read");
    expect(kmm_unmap(kmm_default(), mapped) == 0 && is_iota(mapped, 0), "host memory that was mapped is as it was");
    memset(got, 0, sizeof(got));
    error = cudaMemcpy(got, onDevice, sizeof(got), cudaMemcpyDeviceToHost);
    expect(error != cudaSuccess, "reading what only the device had is an error");
    #pragma kmm parallel(i = 0:N) chunk(N / 4) update(onHost[i])
    add_one<<<N / 256, 256>>>(N, onHost);
    expect(cudaDeviceSynchronize() != cudaSuccess, "later work on the device is an error");
    cudaGetLastError(); // libkmm sees that the errors were asked for, and leaves the exit status
    fflush(stdout);
    return failures != 0;
}
