// How processes end: with threads that go on, with memory that static destructors free, inside of managed work, and as forks.
// RUN: %kmmcc --target=host %san -O1 %s -o %t
// RUN: timeout 600 %t statics | FileCheck %s --check-prefix=STATICS
// RUN: env KMM_DEVICES=host:2,mem=16M timeout 600 %t statics | FileCheck %s --check-prefix=STATICS
// RUN: timeout 600 %t threads 2>&1 | %count 0
// RUN: env KMM_DEVICES=host:2,mem=16M timeout 600 %t threads 2>&1 | %count 0
// RUN: timeout 600 %t function | FileCheck %s --check-prefix=INSIDE
// RUN: timeout 600 %t task | FileCheck %s --check-prefix=INSIDE
// RUN: timeout 600 %t open | FileCheck %s --check-prefix=INSIDE
// RUN: timeout 600 %t fork | FileCheck %s --check-prefix=FORK
// RUN: env KMM_DEVICES=host:2,mem=16M timeout 600 %t fork | FileCheck %s --check-prefix=FORK
// RUN: timeout 600 %t beside | FileCheck %s --check-prefix=BESIDE
// RUN: %if !san %{ env KMM_DEVICES=host:2,mem=16M timeout 600 %t two | FileCheck %s --check-prefix=TWO %}
// STATICS: end of main
// STATICS-NEXT: freed 1000
// INSIDE-NOT: error
// INSIDE: inside
// FORK: child: 499500, it exited with 7
// FORK-NEXT: parent: 2
// BESIDE: inside
// BESIDE-NEXT: launched
// BESIDE-NEXT: said
// BESIDE-NEXT: it exited with 7
// TWO: killed by 11
#include <atomic>
#include <cuda_runtime.h>
#include <kmm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

enum { N = 1000 };

__global__ void add_one(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

// Made before the runtime, and destroyed when the program ends.
static struct Buffer {
    int *x = nullptr;
    cudaStream_t stream;
    cudaEvent_t event;
    void make()
    {
        cudaMalloc(&x, N * sizeof(int));
        cudaMemset(x, 0, N * sizeof(int));
        cudaStreamCreate(&stream);
        cudaEventCreate(&event);
    }
    ~Buffer()
    {
        int last = 0, error = 0;
        if (!x)
            return;
        for (int k = 0; k < 999; k++)
            add_one<<<4, 256, 0, stream>>>(N, x);
        error |= cudaMemcpy(&last, x + N - 1, sizeof(int), cudaMemcpyDeviceToHost);
        error |= cudaStreamSynchronize(stream);
        error |= cudaEventDestroy(event);
        error |= cudaStreamDestroy(stream);
        error |= cudaFree(x);
        printf("freed %d\n", error ? -error : last);
    }
} buffer;

static int statics()
{
    buffer.make();
    add_one<<<4, 256, 0, buffer.stream>>>(N, buffer.x);
    cudaEventRecord(buffer.event, buffer.stream);
    puts("end of main");
    return 0;
}

static void work()
{
    int *x;
    cudaMalloc(&x, N * sizeof(int));
    for (;;) {
        #pragma kmm parallel(i = 0:N) chunk(N / 4) update(x[i])
        add_one<<<4, 256>>>(N, x);
        cudaDeviceSynchronize();
    }
}

static int threads()
{
    for (int k = 0; k < 3; k++)
        std::thread(work).detach();
    usleep(100000);
    return 0;
}

static void leave(int n, int *x)
{
    x[0] = n;
    puts("inside");
    exit(0);
}

static int function()
{
    static int x[N];
    #pragma kmm parallel(i = 0:N) chunk(N) rebase(n: i) write(x[i])
    leave(N, x);
    return 1;
}

static int task()
{
    int *x;
    cudaMalloc(&x, N * sizeof(int));
    #pragma kmm task write(x[0:N])
    {
        puts("inside");
        exit(0);
    }
    return 1;
}

// Another thread's task never ends.
static void open_task()
{
    static std::atomic<bool> is_open;
    std::thread([] {
        int *x;
        cudaMalloc(&x, N * sizeof(int));
        #pragma kmm task write(x[0:N])
        {
            puts("inside");
            fflush(stdout);
            is_open = true;
            for (;;)
                sleep(1);
        }
    }).detach();
    while (!is_open)
        usleep(1000);
}

static int open()
{
    open_task();
    return 0;
}

static void fill(int n, int begin, int *x)
{
    for (int i = 0; i < n; i++)
        x[i] = begin + i;
}

static int in_child()
{
    static int mine[N];
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        int *part = mine + k * (N / 4);
        #pragma kmm parallel(i = 0:N / 4) chunk(N / 4) rebase(n: i) write(part[i])
        fill(N / 4, k * (N / 4), part);
    }
    for (int i = 0; i < N; i++)
        sum += mine[i];
    printf("child: %d", sum);
    fflush(stdout);
    exit(7);
}

static int forks()
{
    int *x, last = 0, status = 0;
    cudaEvent_t e;
    cudaEventCreate(&e);
    cudaMalloc(&x, N * sizeof(int));
    cudaMemset(x, 0, N * sizeof(int));
    add_one<<<4, 256>>>(N, x);
    cudaEventRecord(e);
    pid_t child = fork();
    if (child == 0)
        return in_child();
    waitpid(child, &status, 0);
    printf(", it exited with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    add_one<<<4, 256>>>(N, x);
    cudaMemcpy(&last, x + N - 1, sizeof(int), cudaMemcpyDeviceToHost);
    printf("parent: %d\n", last);
    return 0;
}

__global__ void say(int *x)
{
    usleep(200000);
    x[0] = 1;
    puts("said");
    fflush(stdout);
}

// A task that another thread had open where it was forked is none of the child's, whose work is waited for when it ends.
static int beside()
{
    int status = 0;
    open_task();
    pid_t child = fork();
    if (child == 0) {
        int *x;
        cudaMalloc(&x, N * sizeof(int));
        puts("launched");
        fflush(stdout);
        say<<<1, 1>>>(x);
        exit(7);
    }
    waitpid(child, &status, 0);
    printf("it exited with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}

// A second runtime leaves the handler of faults that the first one came with.
static int two()
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        kmm_runtime_t *other;
        int *x;
        cudaMalloc(&x, N * sizeof(int));
        kmm_create(&other, NULL);
        x[0] = 1;
        return 0;
    }
    waitpid(child, &status, 0);
    printf("killed by %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
    return 0;
}

int main(int, char **argv)
{
    const struct { const char *name; int (*run)(); } modes[] = { { "statics", statics }, { "threads", threads }, { "function", function },
        { "task", task }, { "open", open }, { "fork", forks }, { "beside", beside }, { "two", two } };
    for (auto &m : modes)
        if (!strcmp(m.name, argv[1]))
            return m.run();
    return 1;
}
