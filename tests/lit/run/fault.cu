// A fault in a chunk of a kernel on the CPU: of one whose threads are loops, and of one whose threads are fibers with stacks of their own; on the
// CPU itself, on devices that it plays, and under the check. Sanitizers have handlers of their own.
// RUN: %if !san %{ %kmmcc --target=host -O1 -w -fkmm-fibers %s -o %t %}
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 null | FileCheck --check-prefixes=WHERE,NULL %s %}
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 null fibers | FileCheck --check-prefixes=FIBERS,NULL %s %}
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 deep | FileCheck --check-prefixes=WHERE,DEEP %s %}
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 deep fibers | FileCheck --check-prefixes=FIBERS,DEEP %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=4K sh %S/Inputs/faults.sh %t 139 null fibers | FileCheck --check-prefixes=FIBERS,NULL %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=4K sh %S/Inputs/faults.sh %t 139 unnamed | FileCheck --check-prefixes=WHERE,UNNAMED %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=4K sh %S/Inputs/faults.sh %t 139 unnamed fibers | FileCheck --check-prefixes=FIBERS,UNNAMED %s %}
// RUN: %if !san %{ env KMM_CHECK=access sh %S/Inputs/faults.sh %t 139 deep fibers | FileCheck --check-prefixes=FIBERS,DEEP %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:2,mem=1M KMM_FRAME=4K sh %S/Inputs/faults.sh %t 139 joined | FileCheck --check-prefix=JOINED %s %}
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 whole | FileCheck --check-prefix=WHOLE %s %}
// WHERE: kmm: error: {{.*}}fault.cu:[[#]]: loops: chunk 2 of 4 (indices 65536 to 98303): {{a write to|an access to}} 0x{{[0-9a-f]+}} faulted with SIGSEGV: it
// FIBERS: kmm: error: {{.*}}fault.cu:[[#]]: fibers: chunk 2 of 4 (indices 65536 to 98303): {{a write to|an access to}} 0x{{[0-9a-f]+}} faulted with SIGSEGV: it
// NULL-SAME: is 8 bytes behind a null pointer
// DEEP-SAME: is just beyond the thread's stack, which is full
// UNNAMED-SAME: is byte 40 (element 10) of the array of x[i], which has 524288 bytes at 0x{{[0-9a-f]+}} (for the program at 0x{{[0-9a-f]+}}), and no clause of the launch names it for this chunk
// JOINED: kmm: error: {{.*}}fault.cu:[[#]]: loops: chunk{{s?}} {{.*}} of 128 (indices {{[0-9]+}} to {{[0-9]+}}): {{.*}} 0x8 faulted
// WHOLE: kmm: error: loops: {{a write to|an access to}} 0x8 faulted with SIGSEGV
#include <cuda_runtime.h>
#include <cstring>

enum { N = 1 << 17, NULL_POINTER = 1, DEEP, UNNAMED };

__device__ __attribute__((noinline)) int deep(volatile char *above)
{
    volatile char here[4096];
    here[0] = above ? above[0] : 1;
    return deep(here) + here[0];
}

__device__ void fault(int how, float *x, float **null)
{
    if (how == NULL_POINTER)
        *(volatile float *)((char *)null + 8) = 1;
    if (how == DEEP)
        x[N / 2] = deep(0);
    if (how == UNNAMED)
        x[10] = 1;
}

__global__ void loops(int how, int at, float *x, float **null)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += 1;
    if (i == at)
        fault(how, x, null);
}

__global__ void fibers(int how, int at, float *x, float **null)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __syncthreads();
    x[i] += 1;
    if (i == at)
        fault(how, x, null);
}

int main(int argc, char **argv)
{
    const char *kind = argv[1];
    int how = !strcmp(kind, "deep") ? DEEP : !strcmp(kind, "unnamed") ? UNNAMED : NULL_POINTER;
    float *x;
    cudaMalloc(&x, N * sizeof(float));
    cudaMemset(x, 0, N * sizeof(float));
    if (!strcmp(kind, "joined")) {
#pragma kmm parallel(i = 0:N) chunk(N / 128) update(x[i])
        loops<<<N / 256, 256>>>(how, N / 2 + 100, x, nullptr);
    } else if (!strcmp(kind, "whole")) {
        loops<<<N / 256, 256>>>(how, N / 2 + 100, x, nullptr);
    } else if (argc > 2) {
#pragma kmm parallel(i = 0:N) chunk(N / 4) update(x[i])
        fibers<<<N / 256, 256>>>(how, N / 2 + 100, x, nullptr);
    } else {
#pragma kmm parallel(i = 0:N) chunk(N / 4) update(x[i])
        loops<<<N / 256, 256>>>(how, N / 2 + 100, x, nullptr);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
