// Loops over the threads of a block end where a condition on their place does, whatever its types; the same as when each thread
// runs by itself.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Wno-sign-compare -Werror %s -o %t && %t > %t.out && FileCheck %s < %t.out
// RUN: %kmmcc --target=host -fkmm-fibers %san %s -o %t.single && %t.single > %t.single.out
// RUN: diff %t.out %t.single.out
#include <cuda_runtime.h>
#include <stdio.h>

enum { SIZE = 4096 };

template <class I, class N> __global__ void guarded(N n, int *x)
{
    I i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}
template <class I, class N> __global__ void returns(N n, N m, int *x)
{
    const I i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= m)
        return;
    x[j * 64 + i] += 1;
}
// The first threads' numbers are negative; then conditions of unsigned numbers do not hold for them.
template <class N> __global__ void shifted(N n, int *x)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) - 5;
    if (i < n)
        x[i + 5] += 1;
}
__global__ void all_forms(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = threadIdx.y + blockIdx.y * blockDim.y, at = j * 64 + i;
    __syncthreads();
    if (i > 2 && n > i && !(j < 1) && j <= n / 2)
        x[at] += 1;
    __syncthreads();
    if (i == 3)
        x[at] += 10;
    __syncthreads();
    if (!(i != 5 || j != 2))
        x[at] += 100;
    __syncthreads();
    if (5 <= i && 7 >= i && at % 2)
        x[at] += 1000;
    __syncthreads();
    if (i < n * 0.1f)
        x[at] += 10000;
    __syncthreads();
    if (threadIdx.x < n && threadIdx.y == blockDim.y - 1)
        x[at] += 100000;
}
template <class I, class N> __global__ void strided(N n, int *x)
{
    __shared__ int count[8], most[8]; /* in any order the same */
    if (threadIdx.x < 8)
        count[threadIdx.x] = most[threadIdx.x] = 0;
    int own = 0;
    __syncthreads();
    for (I i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int local[4] = {(int)i, 1, 2, 3};
        for (int k = 0; k < 4; k++)
            local[k] += k ? local[k - 1] : 0;
        x[i] += local[3];
        own++;
        atomicAdd(&count[i % 8], 1);
        atomicMax(most + (i + 1) % 8, (int)(i % 5));
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 8; k += blockDim.x)
        atomicAdd(&x[SIZE - 8 + k], count[k] + most[k]);
    atomicAdd(&x[SIZE - 9], own);
}

template <class F> void show(const char *name, F launch)
{
    static int h[SIZE];
    int *x, sum = 0;
    unsigned hash = 0;
    cudaMalloc(&x, sizeof(h));
    cudaMemset(x, 0, sizeof(h));
    launch(x);
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    for (int k = 0; k < SIZE; k++) {
        sum += h[k];
        hash = hash * 31 + (unsigned)h[k];
    }
    printf("%s: sum %d, %08x, error %d\n", name, sum, hash, cudaGetLastError());
    cudaFree(x);
}

template <class I, class N> void types(const char *name)
{
    const int sizes[] = {0, 1, 31, 32, 33, 500, 1024, 5000};
    printf("%s\n", name);
    for (int n : sizes) {
        show("guarded", [=](int *x) { guarded<I, N><<<32, 32>>>((N)n, x); });
        show("strided", [=](int *x) { strided<I, N><<<3, 32>>>((N)(n > 4000 ? 4000 : n), x); });
        show("returns", [=](int *x) { returns<I, N><<<dim3(3, 2), dim3(16, 8)>>>((N)n, (N)(n / 4), x); });
    }
}

int main()
{
    types<int, int>("int, int");
    types<unsigned, int>("unsigned, int");
    types<int, unsigned>("int, unsigned");
    types<int, size_t>("int, size_t");
    types<int, float>("int, float");
    show("shifted int", [](int *x) { shifted<int><<<4, 32>>>(50, x); });
    // CHECK: shifted int: sum 55,
    show("shifted negative", [](int *x) { shifted<int><<<4, 32>>>(-2, x); });
    // CHECK: shifted negative: sum 3,
    show("shifted unsigned", [](int *x) { shifted<unsigned><<<4, 32>>>(50, x); });
    // CHECK: shifted unsigned: sum 50,
    show("shifted size_t", [](int *x) { shifted<size_t><<<4, 32>>>(50, x); });
    // CHECK: shifted size_t: sum 50,
    for (int n : {0, 1, 4, 7, 40, -3})
        show("all forms", [=](int *x) { all_forms<<<dim3(2, 2), dim3(16, 8)>>>(n, x); });
}
// CHECK-NOT: error {{[1-9]}}
