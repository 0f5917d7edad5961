// KMM_LOG, KMM_STATS and KMM_PROGRESS: what a user sees of a run, however it ends.
// RUN: %kmmcc --target=host -O1 %san %s -o %t
// RUN: %python %S/Inputs/watching.py %t %t.folder %if san %{ sanitized %}
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kmm.h>

__global__ void add(int n, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

static void run(int n, float *x)
{
    #pragma kmm parallel(i = 0:n) chunk(n / 8) update(x[i]) label("the \"label\"")
    add<<<(n + 255) / 256, 256>>>(n, x);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void own_handler(int number)
{
    _exit(number == SIGTERM && write(STDOUT_FILENO, "handled\n", 8) == 8 ? 7 : 8);
}

__global__ void sum(int n, const float *x, float *s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(s, x[i]);
}

static void reduce(int n, const float *x)
{
    float *s;
    cudaMalloc((void **)&s, sizeof(float));
    for (int k = 0; k < 2; k++) {
        #pragma kmm parallel(i = 0:n) chunk(n / 8) read(x[i]) reduce(+: s[0:1])
        sum<<<(n + 255) / 256, 256>>>(n, x, s);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    const int n = 1 << 20, rounds = argc > 2 ? atoi(argv[2]) : 2;
    float *x, first;
    FILE *data = NULL;
    if (!strcmp(how, "own"))
        signal(SIGTERM, own_handler);
    if (!strcmp(how, "data")) /* gets the lowest number that is free: that of stderr, if it is closed */
        if (!(data = fopen(argv[3], "w")) || fileno(data) != STDERR_FILENO)
            return 9;
    cudaMalloc((void **)&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    for (int k = 0; k < rounds; k++)
        run(n, x);
    for (double end = now() + 0.7; !strcmp(how, "long") && now() < end; cudaDeviceSynchronize())
        for (int k = 0; k < 8; k++)
            run(n, x);
    if (!strcmp(how, "reduce"))
        reduce(n, x);
    cudaMemcpy(&first, x, sizeof(first), cudaMemcpyDeviceToHost);
    if (!strcmp(how, "long"))
        first = 0;
    cudaDeviceSynchronize();
    printf("%g\n", first);
    fflush(stdout);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "fault"))
        *(volatile int *)16 = 0;
    if (!strcmp(how, "status"))
        return 5;
    if (!strcmp(how, "two")) {
        kmm_runtime_t *other;
        if (kmm_create(&other, NULL) || kmm_destroy(other))
            return 9;
    }
    if (!strcmp(how, "fork")) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            kmm_runtime_t *own;
            if (argc > 3 && kmm_create(&own, NULL))
                _exit(4);
            raise(SIGTERM);
            _exit(3);
        }
        waitpid(child, &status, 0);
        printf("child %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
    }
    if (!strcmp(how, "wait") || !strcmp(how, "own"))
        for (;;)
            pause();
    return data ? fclose(data) : 0;
}
