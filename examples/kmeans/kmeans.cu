// SPDX-License-Identifier: Apache-2.0
// k-means: groups points around k centres. Each step labels each point with its nearest centre,
// adds up the points of each label, and moves the centres to the means. Points are read in chunks;
// the sums of the chunks are combined by `reduce`. Coordinates are whole numbers, so that every
// order of the additions gives the same result, and the results are compared exactly.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { DIMENSIONS = 4, THREADS = 128 };

__host__ __device__ static int nearest(int k, const int *centre, const int *point)
{
    int best = 0;
    long long least = 0;
    for (int c = 0; c < k; c++) {
        long long distance = 0;
        for (int d = 0; d < DIMENSIONS; d++) {
            long long difference = centre[c * DIMENSIONS + d] - point[d];
            distance += difference * difference;
        }
        if (c == 0 || distance < least) {
            least = distance;
            best = c;
        }
    }
    return best;
}

__global__ void assign(int n, int k, const int *point, const int *centre, int *label)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        label[i] = nearest(k, centre, point + (size_t)i * DIMENSIONS);
}

// sum[c] and count[c]: of the points with label c
__global__ void add(int n, const int *point, const int *label, unsigned long long *sum,
                    unsigned *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int d = 0; d < DIMENSIONS; d++)
        atomicAdd(&sum[label[i] * DIMENSIONS + d],
                  (unsigned long long)point[(size_t)i * DIMENSIONS + d]);
    atomicAdd(&count[label[i]], 1u);
}

static void move_centres(int k, const unsigned long long *sum, const unsigned *count, int *centre)
{
    for (int at = 0; at < k * DIMENSIONS; at++)
        if (count[at / DIMENSIONS])
            centre[at] = (int)(sum[at] / count[at / DIMENSIONS]);
}

static void run_on_device(int n, int k, int steps, const int *point, int *centre, int *label)
{
    size_t sum_bytes = k * DIMENSIONS * sizeof(unsigned long long);
    size_t centre_bytes = k * DIMENSIONS * sizeof(int), point_bytes = n * DIMENSIONS * sizeof(int);
    unsigned long long *sum = (unsigned long long *)malloc(sum_bytes), *SUM;
    unsigned *count = (unsigned *)malloc(k * sizeof(unsigned)), *COUNT;
    int *POINT, *CENTRE, *LABEL, sums = k * DIMENSIONS, blocks = (n + THREADS - 1) / THREADS;
    CHECK(cudaMalloc(&POINT, point_bytes));
    CHECK(cudaMalloc(&CENTRE, centre_bytes));
    CHECK(cudaMalloc(&LABEL, n * sizeof(int)));
    CHECK(cudaMalloc(&SUM, sum_bytes));
    CHECK(cudaMalloc(&COUNT, k * sizeof(unsigned)));
    CHECK(cudaMemcpy(POINT, point, point_bytes, cudaMemcpyHostToDevice));
    for (int step = 0; step < steps; step++) {
        CHECK(cudaMemcpy(CENTRE, centre, centre_bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemset(SUM, 0, sum_bytes));
        CHECK(cudaMemset(COUNT, 0, k * sizeof(unsigned)));
        #pragma kmm parallel(i = 0:n) chunk(n / 8) shape(POINT[n][DIMENSIONS]) \
                    read(POINT[i][:], CENTRE[0:sums]) write(LABEL[i])
        assign<<<blocks, THREADS>>>(n, k, POINT, CENTRE, LABEL);
        #pragma kmm parallel(i = 0:n) chunk(n / 8) shape(POINT[n][DIMENSIONS]) \
                    read(POINT[i][:], LABEL[i]) reduce(+: SUM[0:sums], COUNT[0:k])
        add<<<blocks, THREADS>>>(n, POINT, LABEL, SUM, COUNT);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(sum, SUM, sum_bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(count, COUNT, k * sizeof(unsigned), cudaMemcpyDeviceToHost));
        move_centres(k, sum, count, centre);
    }
    CHECK(cudaMemcpy(label, LABEL, n * sizeof(int), cudaMemcpyDeviceToHost));
    void *all[] = {POINT, CENTRE, LABEL, SUM, COUNT};
    for (void *each : all)
        CHECK(cudaFree(each));
    free(sum), free(count);
}

static void run_on_host(int n, int k, int steps, const int *point, int *centre, int *label)
{
    unsigned long long *sum = (unsigned long long *)malloc(k * DIMENSIONS * sizeof(*sum));
    unsigned *count = (unsigned *)malloc(k * sizeof(unsigned));
    for (int step = 0; step < steps; step++) {
        memset(sum, 0, k * DIMENSIONS * sizeof(*sum));
        memset(count, 0, k * sizeof(unsigned));
        for (int i = 0; i < n; i++) {
            label[i] = nearest(k, centre, point + (size_t)i * DIMENSIONS);
            count[label[i]]++;
            for (int d = 0; d < DIMENSIONS; d++)
                sum[label[i] * DIMENSIONS + d] += point[(size_t)i * DIMENSIONS + d];
        }
        move_centres(k, sum, count, centre);
    }
    free(sum), free(count);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 200000, k = argc > 2 ? atoi(argv[2]) : 6, steps = 5;
    if (argc > 3 || n < 1 || n > 100000000 || k < 1 || k > n || k > 1000)
        return fprintf(stderr, "usage: kmeans [points] [centres, at most 1000]\n"), 2;
    size_t coordinates = (size_t)n * DIMENSIONS, centre_bytes = k * DIMENSIONS * sizeof(int);
    int *point = (int *)malloc(coordinates * sizeof(int));
    int *label = (int *)malloc(n * sizeof(int)), *expected = (int *)malloc(n * sizeof(int));
    int *centre = (int *)malloc(centre_bytes), *plain = (int *)malloc(centre_bytes);
    unsigned z = 1;
    for (size_t at = 0; at < coordinates; at++) {
        z = z * 1664525u + 1013904223u;
        point[at] = (int)(z >> 16) + (at / DIMENSIONS % 3 ? 0 : 40000);
    }
    memcpy(centre, point, centre_bytes);
    memcpy(plain, point, centre_bytes);
    run_on_device(n, k, steps, point, centre, label);
    run_on_host(n, k, steps, point, plain, expected);
    bool right = memcmp(label, expected, n * sizeof(int)) == 0 &&
                 memcmp(centre, plain, centre_bytes) == 0;
    printf("kmeans: %d points, %d centres: %s\n", n, k, right ? "ok" : "FAILED");
    free(point), free(label), free(expected), free(centre), free(plain);
    return !right;
}
