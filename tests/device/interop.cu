// SPDX-License-Identifier: Apache-2.0
// Managed work beside CUDA code that knows nothing of it (plain.h): the order of streams, events, Thrust inside a task, and memory that
// is left free. KMM_DEVICE_KEEP_FREE and KMM_DEVICE_MEM are as the script sets them.
#define SUBJECT "interop"
#include "plain.h"
#include "verdict.h"

#include <string.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <unistd.h>

enum { N = 1 << 20, SLOW_MS = 100 };

__global__ void twice(int n, int *to, const int *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = 2 * from[i];
}

__global__ void slow_twice(int n, int *to, const int *from, long long cycles)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (long long begin = clock64(); clock64() - begin < cycles;)
        ;
    if (i < n)
        to[i] = 2 * from[i];
}

__global__ void set(int n, int factor, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = (int)((unsigned)i * factor);
}

/* The default stream does not wait for such a stream, as in plain CUDA. */
static void end_if_alone(cudaStream_t s)
{
    unsigned flags = 0;
    must(cudaStreamGetFlags(s, &flags), "cudaStreamGetFlags");
    if (flags & cudaStreamNonBlocking)
        must(cudaStreamSynchronize(s), "cudaStreamSynchronize");
}

static int is_line(const int *x, int begin, int slope)
{
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += x[i] != begin + slope * i;
    return wrong == 0;
}

// A managed launch on a stream comes after plain work that is on it already, whichever way its data takes.
static void after_plain_work(cudaStream_t s)
{
    static int got[N];
    int *device, *pinned, *C;
    must(plain_alloc(N, &device, &pinned), "plain memory");
    must(cudaMalloc(&C, N * sizeof(int)), "cudaMalloc");
    memset(pinned, 0, N * sizeof(int));
    must(plain_slow_fill(s, SLOW_MS, N, 7, device), "plain work");
    must(plain_copy_out(s, N, pinned, device), "plain copy");
    #pragma kmm parallel(i = 0:N) chunk(N / 4) read(pinned[i]) write(C[i])
    twice<<<N / 256, 256, 0, s>>>(N, C, pinned);
    must(cudaMemcpy(got, C, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
    expect(is_line(got, 14, 2), "a launch on a stream comes after plain work on it, in pinned memory that it maps");

    must(plain_slow_fill(s, SLOW_MS, N, 3, device), "plain work");
    twice<<<N / 256, 256, 0, s>>>(N, C, device);
    must(cudaMemcpy(got, C, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
    expect(is_line(got, 6, 2), "and in the device's own memory");
    must(cudaFree(C), "cudaFree");
}

// The default stream comes after what is on blocking streams, and they come after what is on it, also where what is there is plain work.
static void around_the_default_stream(cudaStream_t blocking)
{
    static int got[N];
    int *device, *pinned, *C;
    must(plain_alloc(N, &device, &pinned), "plain memory");
    must(cudaMalloc(&C, N * sizeof(int)), "cudaMalloc");
    for (int turn = 0; turn < 2; turn++) {
        cudaStream_t plain = turn ? 0 : blocking, ours = turn ? blocking : 0;
        memset(pinned, 0, N * sizeof(int));
        must(plain_slow_fill(plain, SLOW_MS, N, 7 + turn, device), "plain work");
        must(plain_copy_out(plain, N, pinned, device), "plain copy");
        #pragma kmm parallel(i = 0:N) chunk(N / 4) read(pinned[i]) write(C[i])
        twice<<<N / 256, 256, 0, ours>>>(N, C, pinned);
        must(cudaMemcpy(got, C, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
        expect(is_line(got, 2 * (7 + turn), 2), turn ? "a launch on a blocking stream comes after plain work on the default stream"
                                                     : "a launch on the default stream comes after plain work on a blocking stream");
    }
    memset(pinned, 0, N * sizeof(int));
    must(plain_slow_fill(blocking, SLOW_MS, N, 9, device), "plain work");
    must(plain_copy_out(blocking, N, pinned, device), "plain copy");
    must(cudaMemcpy(C, pinned, N * sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemcpy(got, C, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
    expect(is_line(got, 9, 1), "and so does a copy");
    must(plain_slow_fill(blocking, SLOW_MS, N, 3, device), "plain work");
    must(plain_copy_out(blocking, N, pinned, device), "plain copy");
    must(cudaMemcpy2DAsync(C, N, pinned, N, N, 4, cudaMemcpyHostToDevice, blocking), "cudaMemcpy2DAsync");
    must(cudaMemcpy(got, C, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
    expect(is_line(got, 3, 1), "a copy of rows comes after plain work on its stream");
    must(cudaFree(C), "cudaFree");
}

static void check_line(void *arg)
{
    int *x = (int *)arg;
    x[N] = is_line(x, 0, 10);
}

// What the program itself does with memory that is not managed comes after launches that use it.
static void behind_launches(cudaStream_t s)
{
    static int got[N];
    int *device, *pinned, *A, *more, *shared;
    cudaEvent_t e;
    must(plain_alloc(N, &device, &pinned), "plain memory");
    must(plain_alloc(N + 1, &more, &shared), "plain memory");
    must(cudaMalloc(&A, N * sizeof(int)), "cudaMalloc");
    must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "cudaEventCreate");
    #pragma kmm parallel(i = 0:N) chunk(N / 4) write(A[i])
    set<<<N / 256, 256>>>(N, 5, A);
    slow_twice<<<N / 256, 256>>>(N, device, A, 20000000);
    must(cudaMemcpy(got, device, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
    expect(is_line(got, 0, 10), "cudaMemcpy from a library's memory comes after a launch that writes it");
    must(cudaMemset(device, 0, N * sizeof(int)), "cudaMemset");
    slow_twice<<<N / 256, 256, 0, s>>>(N, device, A, 20000000);
    must(cudaMemcpyAsync(pinned, device, N * sizeof(int), cudaMemcpyDeviceToHost, s), "cudaMemcpyAsync");
    must(cudaMemsetAsync(device, 0, N * sizeof(int), s), "cudaMemsetAsync");
    must(cudaStreamSynchronize(s), "cudaStreamSynchronize");
    expect(is_line(pinned, 0, 10), "cudaMemcpyAsync, too");
    must(cudaMemcpy(got, device, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
    expect(is_line(got, 0, 0), "and cudaMemsetAsync");
    memset(shared, 0, (N + 1) * sizeof(int));
    slow_twice<<<N / 256, 256, 0, s>>>(N, shared, A, 20000000);
    must(cudaLaunchHostFunc(s, check_line, shared), "cudaLaunchHostFunc");
    must(cudaStreamSynchronize(s), "cudaStreamSynchronize");
    expect(shared[N] == 1, "a function of the host is called after the launch before it");
    slow_twice<<<N / 256, 256, 0, s>>>(N, pinned, A, 20000000);
    must(cudaEventRecordWithFlags(e, s, cudaEventRecordDefault), "cudaEventRecordWithFlags");
    expect(cudaEventQuery(e) == cudaErrorNotReady, "an event that is recorded with flags stands for a launch");
    must(cudaEventSynchronize(e), "cudaEventSynchronize");
    slow_twice<<<N / 256, 256, 0, s>>>(N, device, A, 20000000);
    must(cudaMemcpyAsync(A, device, N * sizeof(int), cudaMemcpyDeviceToDevice, s), "cudaMemcpyAsync");
    end_if_alone(s);
    must(cudaMemcpy(got, A, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
    expect(is_line(got, 0, 10), "managed memory is copied from a library's");
    slow_twice<<<N / 256, 256, 0, s>>>(N, pinned, A, 20000000);
    must(cudaMemcpyAsync(A, pinned, N * sizeof(int), cudaMemcpyHostToDevice, s), "cudaMemcpyAsync");
    end_if_alone(s);
    must(cudaMemcpy(got, A, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
    expect(is_line(got, 0, 20), "and from memory of the host that kernels write");
    must(cudaMemcpy(more, A, N * sizeof(int), cudaMemcpyDefault), "cudaMemcpy");
    must(cudaMemcpy(got, more, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
    expect(is_line(got, 0, 20), "and to it");
    must(cudaEventDestroy(e), "cudaEventDestroy");
    must(cudaFree(A), "cudaFree");
}

// Plain work waits for managed work by an event, on the same stream or another.
static void before_plain_work(cudaStream_t s, cudaStream_t other)
{
    int *device, *pinned, *more, *unused, *A;
    cudaEvent_t e;
    must(plain_alloc(N, &device, &pinned), "plain memory");
    must(plain_alloc(N, &more, &unused), "plain memory");
    must(cudaMalloc(&A, N * sizeof(int)), "cudaMalloc");
    must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "cudaEventCreate");
    for (cudaStream_t waits : {other, s}) {
        #pragma kmm parallel(i = 0:N) chunk(N / 4) write(A[i])
        set<<<N / 256, 256, 0, s>>>(N, 5, A);
        must(cudaMemset(device, 0, N * sizeof(int)), "cudaMemset");
        must(cudaMemset(more, 0, N * sizeof(int)), "cudaMemset");
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        slow_twice<<<N / 256, 256, 0, s>>>(N, device, A, 2000000);
        must(cudaEventRecord(e, s), "cudaEventRecord");
        must(cudaStreamWaitEvent(waits, e, 0), "cudaStreamWaitEvent");
        expect(cudaEventQuery(e) == cudaErrorNotReady, "cudaStreamWaitEvent does not wait itself");
        must(plain_add(waits, N, more, device), "plain work");
        must(plain_copy_out(waits, N, pinned, more), "plain copy");
        must(plain_wait(waits), "plain wait");
        expect(is_line(pinned, 0, 10), waits == s ? "plain work on the same stream waits for managed work by an event" : "plain work on another stream waits for managed work by an event");
    }
    slow_twice<<<N / 256, 256, 0, s>>>(N, device, A, 2000000);
    must(cudaStreamSynchronize(s), "cudaStreamSynchronize");
    must(plain_copy_out(other, N, pinned, device), "plain copy");
    must(plain_wait(other), "plain wait");
    expect(is_line(pinned, 0, 10), "plain work after cudaStreamSynchronize comes after managed work");
    must(cudaEventDestroy(e), "cudaEventDestroy");
    must(cudaFree(A), "cudaFree");
}

// Thrust's own temporary memory is the device's.
static void thrust_in_task()
{
    static int got[N];
    int *X, sum = 0, wrong = 0;
    must(cudaMalloc(&X, N * sizeof(int)), "cudaMalloc");
    #pragma kmm parallel(i = 0:N) chunk(N / 4) write(X[i])
    set<<<N / 256, 256>>>(N, -1640531535, X);
    cudaStream_t s = 0;
    #pragma kmm task stream(s) update(X[0:N])
    {
        thrust::sort(thrust::cuda::par.on(s), X, X + N);
        sum = thrust::reduce(thrust::cuda::par.on(s), X, X + N, 0, thrust::plus<int>());
    }
    must(cudaMemcpy(got, X, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
    unsigned want = 0;
    for (unsigned i = 0; i < N; i++) {
        want += i * 2654435761u;
        wrong += i > 0 && got[i - 1] > got[i];
    }
    expect(wrong == 0 && (unsigned)sum == want, "Thrust sorts and adds up inside a task");
    must(cudaFree(X), "cudaFree");
}

// What a task's statements put on other streams than the task's finds its data, and is found by what follows.
static void other_streams_in_tasks(cudaStream_t blocking)
{
    static int got[N];
    int *A, *B, some[4] = {0};
    must(cudaMalloc(&A, N * sizeof(int)), "cudaMalloc");
    must(cudaMalloc(&B, N * sizeof(int)), "cudaMalloc");
    set<<<N / 256, 256>>>(N, 1, A);
    slow_twice<<<N / 256, 256>>>(N, B, A, 20000000);
    #pragma kmm task read(B[0:N]) write(A[0:N])
    {
        must(plain_slow_fill(blocking, SLOW_MS, N, 3, A), "plain work");
        must(plain_add(blocking, N, A, B), "plain work");
    }
    must(cudaMemcpy(got, A, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
    expect(is_line(got, 3, 3), "a task that names no stream may use any");
    cudaStream_t s = 0;
    #pragma kmm task stream(s) update(A[0:N]) write(B[0:N])
    {
        slow_twice<<<N / 256, 256, 0, s>>>(N, B, A, 20000000);
        must(cudaMemcpy(some, B + 10, sizeof(some), cudaMemcpyDeviceToHost), "cudaMemcpy");
        slow_twice<<<N / 256, 256, 0, s>>>(N, A, B, 20000000);
        must(cudaMemset(B, 0, N * sizeof(int)), "cudaMemset");
        slow_twice<<<N / 256, 256, 0, blocking>>>(N, B, A, 20000000);
    }
    expect(some[0] == 66 && some[3] == 84, "cudaMemcpy inside a task comes after what is on its stream");
    must(cudaMemcpy(got, A, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
    expect(is_line(got, 12, 12), "and cudaMemset does");
    #pragma kmm parallel(i = 0:N) chunk(N / 4) write(A[i]) read(B[i])
    twice<<<N / 256, 256>>>(N, A, B);
    must(cudaMemcpy(got, A, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy");
    expect(is_line(got, 48, 48), "a launch comes after what a task has put on another stream");
    must(cudaFree(A), "cudaFree");
    must(cudaFree(B), "cudaFree");
}

__global__ void say()
{
    printf("said by a kernel\n");
}

// What kernels print comes where the standard output goes.
static void kernels_print()
{
    char text[64] = "";
    FILE *file = tmpfile();
    fflush(stdout);
    int keep = dup(1);
    dup2(fileno(file), 1);
    say<<<1, 1>>>();
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    fflush(stdout);
    dup2(keep, 1);
    rewind(file);
    fgets(text, sizeof(text), file);
    expect(!strcmp(text, "said by a kernel\n"), "what a kernel prints is printed");
    close(keep);
    fclose(file);
}

// What is managed grows to its limit, and leaves free what it was told to.
static void leaves_free()
{
    const char *text = getenv("KMM_DEVICE_KEEP_FREE");
    size_t keep = text ? (size_t)atoll(text) << 30 : 0; // as "4G"
    kmm_device_info_t info;
    if (!keep)
        return;
    must(kmm_device_get(kmm_default(), 0, &info), "kmm_device_get");
    long n = (long)(info.memory_bytes / sizeof(int)) + (256 << 20);
    int *X, last = 0;
    must(cudaMalloc(&X, n * sizeof(int)), "cudaMalloc");
    for (long k = 0; k < n; k += N * 64) {
        int count = n - k < N * 64 ? (int)(n - k) : N * 64, *piece = X + k;
        #pragma kmm parallel(i = 0:count) write(piece[i])
        set<<<(count + 255) / 256, 256>>>(count, 3, piece);
    }
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    size_t left = plain_free_bytes();
    printf("  %.2f GB may be managed, %.2f GB are free\n", 1e-9 * info.memory_bytes, 1e-9 * left);
    expect(left >= keep / 100 * 95 && plain_can_alloc(keep / 10 * 9) == 0, "KMM_DEVICE_KEEP_FREE is left free when all else is used");
    must(cudaMemcpy(&last, X + (n - 1) / (N * 64) * (N * 64), sizeof(int), cudaMemcpyDeviceToHost), "cudaMemcpy");
    must(cudaFree(X), "cudaFree");
}

int main()
{
    cudaStream_t s, other;
    must(cudaStreamCreate(&s), "cudaStreamCreate");
    must(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), "cudaStreamCreate");
    after_plain_work(s);
    after_plain_work(0);
    around_the_default_stream(s);
    before_plain_work(s, other);
    behind_launches(s);
    behind_launches(other);
    other_streams_in_tasks(s);
    thrust_in_task();
    kernels_print();
    leaves_free();
    return failures != 0;
}
