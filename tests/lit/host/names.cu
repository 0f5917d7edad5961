// Functions of the CPU may use names that cooperative groups use too: kernels are split all the same.
// RUN: %kmmcc --target=host --verbose -O1 -Wall -Wextra -Werror %s -o %t 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: %t
// RUN: %kmmcc --target=host --verbose -DHIDDEN %san -O1 %s -o %t.hidden 2>&1 | FileCheck %s --check-prefix=HIDDEN
// RUN: %t.hidden
// SPLIT-NOT: fibers
// HIDDEN: note: the threads of kernel 'sum' are fibers, which is slow: 'meeting' may bring it to a barrier without its name
#include <cooperative_groups.h>
#include <cuda_runtime.h>

__global__ void sum(int *x)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 32; d; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    x[t] = s[0];
}

#ifdef HIDDEN
#define ON_DEVICE __device__
template <class F> __global__ void apply(F f, int *x) { x[threadIdx.x] += f(); }
static void meeting(int *x)
{
    auto wait = [] ON_DEVICE() {
        cooperative_groups::this_thread_block().sync();
        return 0;
    };
    apply<<<1, 64>>>(wait, x);
}
#else
static void meeting(int *) {}
#endif

static int reduce(const int *x, int n)
{
    bool any = false;
    int all = 0;
    for (int k = 0; k < n; k++) {
        any |= x[k] != 2016;
        all += x[k] == 2016;
    }
    return any || all != n;
}
static int sync(const int *x) { return reduce(x, 64); }

int main()
{
    int h[64], *x;
    for (int k = 0; k < 64; k++)
        h[k] = k;
    cudaMalloc(&x, sizeof(h));
    cudaMemcpy(x, h, sizeof(h), cudaMemcpyHostToDevice);
    sum<<<1, 64>>>(x);
    meeting(x);
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    return sync(h);
}
