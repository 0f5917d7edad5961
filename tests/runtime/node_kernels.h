/* SPDX-License-Identifier: Apache-2.0 */
/* Two kernels of test_nodes.c, on the CPU and on fake GPUs. Those on GPUs are clones. They are
 * named to other nodes as the wrappers of the CUDA runtime name a program's kernels
 * (kmm/cuda_api.h). */
#ifndef NODE_KERNELS_H
#define NODE_KERNELS_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <kmm/cuda_api.h>

#include "fake_gpu.h"

enum { ROWS = 61, COLUMNS = 53, COUNT = ROWS * COLUMNS, BLOCK = 8 };

/* out[y][x] = the sum of its neighbours in `in`. */
static void spread(int64_t x, int64_t y, const uint32_t *in, uint32_t *out)
{
    if (x >= COLUMNS || y >= ROWS)
        return;
    uint32_t sum = 0;
    for (int64_t j = y > 0 ? y - 1 : 0; j <= y + 1 && j < ROWS; j++)
        for (int64_t i = x > 0 ? x - 1 : 0; i <= x + 1 && i < COLUMNS; i++)
            sum = sum * 5 + in[j * COLUMNS + i];
    out[y * COLUMNS + x] = sum;
}

/* Blocks of 8 x 1 threads. */
static void run_spread(const kmm_host_blocks_t *b, void **args)
{
    const uint32_t *in = *(const uint32_t **)args[0];
    uint32_t *out = *(uint32_t **)args[1];
    for (uint64_t n = b->first; n < b->last; n++)
        for (int64_t t = 0; t < BLOCK; t++)
            spread((int64_t)(b->offset[0] + n % b->count[0]) * BLOCK + t,
                   b->offset[1] + (int64_t)(n / b->count[0]), in, out);
}

static int run_gpu_spread(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    const kmm_blocks_t *b = args[0];
    (void)grid;
    for (int64_t t = 0; t < BLOCK; t++)
        spread((int64_t)(block[0] + b->offset_x) * BLOCK + t, block[1] + b->offset_y,
               *(const uint32_t **)args[1], *(uint32_t **)args[2]);
    return 0;
}

/* Adds, and finds the largest of, elements [begin, end) of `in`. */
static void sum_up(int64_t begin, int64_t end, const uint32_t *in, float *sum, uint32_t *most)
{
    for (int64_t i = begin; i < end; i++) {
        sum[0] += (float)in[i] * 0.1f;
        most[0] = in[i] > most[0] ? in[i] : most[0];
    }
}

static void run_sum_up(const kmm_host_blocks_t *b, void **args)
{
    int64_t count = *(int64_t *)args[0];
    for (uint64_t n = b->first; n < b->last; n++) {
        int64_t at = (int64_t)(b->offset[0] + n) * BLOCK;
        sum_up(at, at + BLOCK < count ? at + BLOCK : count, *(const uint32_t **)args[1],
               *(float **)args[2], *(uint32_t **)args[3]);
    }
}

static int run_gpu_sum_up(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    const kmm_blocks_t *b = args[0];
    int64_t count = *(int64_t *)args[1], at = (int64_t)(block[0] + b->offset_x) * BLOCK;
    (void)grid;
    sum_up(at, at + BLOCK < count ? at + BLOCK : count, *(const uint32_t **)args[2],
           *(float **)args[3], *(uint32_t **)args[4]);
    return 0;
}

/* ---- As libkmm knows them ---- */

static const uint32_t node_bytes[6] = {sizeof(kmm_blocks_t), 8, 8, 8, 8, 8};
static fake_kernel_t fakes[2] = {{run_gpu_spread, 3, node_bytes, 0, NULL},
                                 {run_gpu_sum_up, 6, node_bytes, 0, NULL}};
#define ON_GPU(kind, name, k, count)                                                               \
    {KMM_LAUNCH_VERSION, kind, name, NULL, &fakes[k], count, node_bytes, 1, NULL}
#define ON_CPU(name, run, count)                                                                   \
    {KMM_LAUNCH_VERSION, KMM_KIND_HOST, name, run, NULL, count, node_bytes + 1, 0, NULL}
static const kmm_kernel_t on_cpu[2] = {ON_CPU("spread", run_spread, 2),
                                       ON_CPU("sum_up", run_sum_up, 5)},
                          on_cuda[2] = {ON_GPU(KMM_KIND_CUDA, "spread", 0, 3),
                                        ON_GPU(KMM_KIND_CUDA, "sum_up", 1, 6)},
                          on_hip[2] = {ON_GPU(KMM_KIND_HIP, "spread", 0, 3),
                                       ON_GPU(KMM_KIND_HIP, "sum_up", 1, 6)};

/* Kernel k, on the first of all devices. */
static const kmm_kernel_t *node_kernel(int k)
{
    kmm_device_info_t info = {.kind = KMM_KIND_HOST};
    kmm_device_get(kmm_default(), 0, &info);
    return info.kind == KMM_KIND_CUDA  ? &on_cuda[k]
           : info.kind == KMM_KIND_HIP ? &on_hip[k]
                                       : &on_cpu[k];
}

static const char *driver_name;

/* Any address in the program serves as a host function. */
static const void *node_function(const kmm_kernel_t *k)
{
    return k->handle;
}

static const kmm_kernel_t *kernel_of_function(const void *function)
{
    return node_kernel(function == &fakes[1]);
}

/* A number that the driver takes for the address of memory that it knows. */
enum { FOREIGN = 8191 };
static int is_memory(const void *address)
{
    return address == (const void *)FOREIGN;
}

/* At the end of each node. */
static void expect_gpu_launches(void)
{
    void *driver = dlopen(driver_name, RTLD_NOW | RTLD_NOLOAD);
    fake_counts_function_t *count = NULL;
    fake_counts_t counts = {0};
    *(void **)&count = driver ? dlsym(driver, "fake_counts") : NULL;
    if (count)
        count(&counts);
    if (counts.launches)
        return;
    fprintf(stderr, "the GPUs of this node have run no kernel\n");
    _exit(1);
}

/* The kernels run on GPUs of that driver; NULL: on the CPU. */
static inline void node_kernels_start(const char *driver)
{
    static const kmm_cuda_names_t names = {node_function, kernel_of_function, is_memory};
    kmm_cuda_name_kernels(KMM_KIND_CUDA, &names);
    kmm_cuda_name_kernels(KMM_KIND_HIP, &names);
    driver_name = driver;
    if (driver)
        atexit(expect_gpu_launches);
}

#endif
