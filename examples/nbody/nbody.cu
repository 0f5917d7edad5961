// SPDX-License-Identifier: Apache-2.0
// Bodies that attract each other. Each step computes the force of all bodies on each one, in tiles
// that a block of threads reads to shared memory. A chunk has some of the bodies, and reads all.
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { THREADS = 64 };
#define SOFTENING 0.01f

// Adds to `a` what the body b at distance d of p does: m / |d|^3 d, softened.
__host__ __device__ static void attract(float4 p, float4 b, float3 *a)
{
    float x = b.x - p.x, y = b.y - p.y, z = b.z - p.z;
    float square = x * x + y * y + z * z + SOFTENING;
    float factor = b.w / (square * sqrtf(square));
    a->x += factor * x;
    a->y += factor * y;
    a->z += factor * z;
}

// The velocities after a step of length t. The mass of a body is its w.
__global__ void pull(int n, float t, const float4 *body, float4 *velocity)
{
    __shared__ float4 tile[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = i < n ? body[i] : body[0];
    float3 a = {0, 0, 0};
    for (int first = 0; first < n; first += THREADS) {
        int k = first + threadIdx.x;
        if (k < n)
            tile[threadIdx.x] = body[k];
        __syncthreads();
        for (int j = 0; j < THREADS && first + j < n; j++)
            attract(own, tile[j], &a);
        __syncthreads();
    }
    if (i < n) {
        velocity[i].x += t * a.x;
        velocity[i].y += t * a.y;
        velocity[i].z += t * a.z;
    }
}

__global__ void move(int n, float t, const float4 *velocity, float4 *body)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    body[i].x += t * velocity[i].x;
    body[i].y += t * velocity[i].y;
    body[i].z += t * velocity[i].z;
}

static void run_on_device(int n, int steps, float t, float4 *body, float4 *velocity)
{
    size_t bytes = n * sizeof(float4);
    float4 *B, *V;
    CHECK(cudaMalloc(&B, bytes));
    CHECK(cudaMalloc(&V, bytes));
    CHECK(cudaMemcpy(B, body, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(V, velocity, bytes, cudaMemcpyHostToDevice));
    int blocks = (n + THREADS - 1) / THREADS;
    for (int step = 0; step < steps; step++) {
        #pragma kmm parallel(i = 0:n) chunk(n / 4) read(B[0:n]) update(V[i])
        pull<<<blocks, THREADS>>>(n, t, B, V);
        #pragma kmm parallel(i = 0:n) chunk(n / 4) read(V[i]) update(B[i])
        move<<<blocks, THREADS>>>(n, t, V, B);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(body, B, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(B));
    CHECK(cudaFree(V));
}

static void run_on_host(int n, int steps, float t, float4 *body, float4 *velocity)
{
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < n; i++) {
            float3 a = {0, 0, 0};
            for (int j = 0; j < n; j++)
                attract(body[i], body[j], &a);
            velocity[i].x += t * a.x;
            velocity[i].y += t * a.y;
            velocity[i].z += t * a.z;
        }
        for (int i = 0; i < n; i++) {
            body[i].x += t * velocity[i].x;
            body[i].y += t * velocity[i].y;
            body[i].z += t * velocity[i].z;
        }
    }
}

static float random_value(void)
{
    static unsigned z = 1;
    z = z * 1664525u + 1013904223u;
    return (float)(z >> 8) / (1 << 24);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1500, steps = argc > 2 ? atoi(argv[2]) : 3;
    if (argc > 3 || n < 1 || n > 1000000 || steps < 0)
        return fprintf(stderr, "usage: nbody [bodies, 1 to 1000000] [steps]\n"), 2;
    size_t bytes = n * sizeof(float4);
    float4 *body = (float4 *)malloc(bytes), *expected = (float4 *)malloc(bytes);
    float4 *velocity = (float4 *)calloc(n, sizeof(float4));
    for (int i = 0; i < n; i++) {
        body[i] = make_float4(random_value(), random_value(), random_value(), 1.0f / n);
        expected[i] = body[i];
    }
    run_on_device(n, steps, 0.01f, body, velocity);
    run_on_host(n, steps, 0.01f, expected, velocity);

    // A GPU may join multiplications and additions, which changes the last bits.
    double worst = 0;
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fmax(fabs(body[i].x - expected[i].x),
                                 fmax(fabs(body[i].y - expected[i].y),
                                      fabs(body[i].z - expected[i].z))));
    bool right = worst < 1e-4;
    printf("nbody: %d bodies, %d steps: %s\n", n, steps, right ? "ok" : "FAILED");
    free(body), free(expected), free(velocity);
    return !right;
}
