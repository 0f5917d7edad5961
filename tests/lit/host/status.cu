// The exit status: an error that the program never asks about makes it 1, whatever main returns, and what runs at exit still does.
// RUN: %kmmcc --target=host -fno-kmm-compare %san -O1 %s -o %t
// RUN: %t plain | FileCheck %s
// RUN: %not %t refused ignore > %t.out 2> %t.err && FileCheck %s < %t.out && FileCheck --check-prefix=REFUSED %s < %t.err
// RUN: %t refused last 2> %t.err && FileCheck --check-prefix=REFUSED %s < %t.err
// RUN: %t refused peek
// RUN: %t refused name
// RUN: %t refused text
// RUN: %not %t refused late
// RUN: %not env KMM_DEVICES=host:2,mem=1M KMM_HOST_MEM=64M %t large ignore > %t.out 2> %t.err && FileCheck %s < %t.out && FileCheck --check-prefix=LARGE %s < %t.err
// RUN: %not env KMM_DEVICES=host:2,mem=1M KMM_HOST_MEM=64M %t large wait 2>&1 | FileCheck --check-prefix=LARGE %s
// RUN: env KMM_DEVICES=host:2,mem=1M KMM_HOST_MEM=64M %t large last
// RUN: env KMM_DEVICES=host:2,mem=1M KMM_HOST_MEM=64M %t large text
// RUN: %t probe
// RUN: env KMM_CHECK=access %t plain | FileCheck %s
// RUN: %not env KMM_CHECK=access %t violates ignore > %t.out 2> %t.err && FileCheck %s < %t.out && FileCheck --check-prefix=VIOLATES %s < %t.err
// RUN: %not env KMM_CHECK=access %t violates last
// RUN: %not env KMM_CHECK=access %t violates text
// RUN: %t violates ignore
// RUN: %not env KMM_ON_ERROR=continue %t directive ignore > %t.out 2> %t.err && FileCheck %s < %t.out && FileCheck --check-prefix=DIRECTIVE %s < %t.err
// RUN: %t child
// CHECK: end of main
// CHECK-NEXT: atexit
// CHECK-NEXT: destructor
// REFUSED-COUNT-1: kmm: error: kernel set is launched with 1 blocks of 2048 threads
// LARGE: kmm: error: {{.*}}status.cu:{{[0-9]+}}: set: {{.*}}needs
// VIOLATES: kmm: error: {{.*}}status.cu:{{[0-9]+}}: set: chunk {{[0-3]}} of 4: argument x[i:0]: the chunk stores to
// DIRECTIVE: kmm: error: {{.*}}status.cu:{{[0-9]+}}: update from
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000, LARGE = 8 << 20 };

__global__ void set(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i;
}

static bool is_late;
static struct Static {
    ~Static()
    {
        puts("destructor");
        if (is_late)
            set<<<1, 2048>>>(1, nullptr);
    }
} object;

static void ask(const char *how)
{
    if (!strcmp(how, "last") || !strcmp(how, "peek"))
        cudaDeviceSynchronize();
    if (!strcmp(how, "last"))
        printf("last: %d\n", cudaGetLastError() != cudaSuccess);
    else if (!strcmp(how, "peek"))
        printf("peek: %d\n", cudaPeekAtLastError() != cudaSuccess);
    else if (!strcmp(how, "name"))
        puts(cudaGetErrorName(cudaErrorInvalidConfiguration));
    else if (!strcmp(how, "text"))
        puts(cudaGetErrorString(cudaDeviceSynchronize() ? cudaErrorLaunchFailure : cudaErrorInvalidConfiguration));
    else if (!strcmp(how, "wait"))
        cudaDeviceSynchronize();
}

static void launch(int *x)
{
    #pragma kmm parallel(i = 0:N) write(x[i])
    set<<<4, 256>>>(N, x);
}

static void refused(int *x, const char *how)
{
    is_late = !strcmp(how, "late");
    if (!is_late)
        set<<<1, 2048>>>(N, x);
}

static void large()
{
    int *x;
    cudaMalloc(&x, LARGE * sizeof(int));
    #pragma kmm parallel(i = 0:LARGE) chunk(LARGE) write(x[i])
    set<<<LARGE / 256, 256>>>(LARGE, x);
}

static void violates(int *x)
{
    #pragma kmm parallel(i = 0:N) chunk(256) write(x[i:0])
    set<<<4, 256>>>(N, x);
}

static void directive()
{
    static int y[10];
    #pragma kmm update from(y)
}

// The program checks what it calls, and goes on another way.
static void probe()
{
    void *p;
    if (cudaMalloc(&p, (size_t)1 << 60) == cudaSuccess)
        exit(2);
}

// An error of the parent is none of the child's.
static int child(int *x)
{
    int status = 0;
    set<<<1, 2048>>>(N, x);
    if (fork() == 0)
        exit(0);
    wait(&status);
    printf("child: %d\n", WEXITSTATUS(status));
    return WEXITSTATUS(status) + (cudaGetLastError() == cudaSuccess);
}

int main(int argc, char **argv)
{
    const char *mode = argv[1], *how = argc > 2 ? argv[2] : "";
    int *x, status = 0;
    atexit([] { puts("atexit"); });
    cudaMalloc(&x, N * sizeof(int));
    launch(x);
    if (!strcmp(mode, "refused"))
        refused(x, how);
    if (!strcmp(mode, "large"))
        large();
    if (!strcmp(mode, "violates"))
        violates(x);
    if (!strcmp(mode, "directive"))
        directive();
    if (!strcmp(mode, "probe"))
        probe();
    if (!strcmp(mode, "child"))
        status = child(x);
    ask(how);
    puts("end of main");
    return status;
}
