/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the oracle's programs, for the CPU and for the fake drivers' GPUs, and the plain
 * function. Those for real GPUs are in tests/device/oracle.cu.
 */
#include <string.h>

#include "fake_gpu.h"
#include "oracle_program.h"

/* One block of a kernel. */
static void run_block(const uint64_t block[3], const uint32_t size[3], const uint64_t all[3],
                      void **args)
{
    const manner_t *m = args[0];
    places_t p = {*(void **)args[1], {*(void **)args[2], *(void **)args[3]}, *(void **)args[4]};
    for (uint32_t t = 0; t < size[0] * size[1] * size[2]; t++)
        oracle_thread(m,
                      (uint64_t[3]){block[0] * size[0] + t % size[0],
                                    block[1] * size[1] + t / size[0] % size[1],
                                    block[2] * size[2] + t / size[0] / size[1]},
                      all, &p);
}

static void run_blocks(const kmm_host_blocks_t *b, void **args)
{
    const uint64_t all[3] = {(uint64_t)b->grid[0] * b->block[0], (uint64_t)b->grid[1] * b->block[1],
                             (uint64_t)b->grid[2] * b->block[2]};
    for (uint64_t k = b->first; k < b->last; k++)
        run_block((uint64_t[3]){k % b->count[0] + b->offset[0],
                                k / b->count[0] % b->count[1] + b->offset[1],
                                k / b->count[0] / b->count[1] + b->offset[2]},
                  b->block, all, args);
}

void oracle_chunk(const kmm_chunk_t *chunk, void *args)
{
    const arguments_t *a = args;
    const op_t *op = &a->manner.op;
    int64_t lo[DIMS], hi[DIMS], i[DIMS];
    for (uint32_t d = 0; d < op->dims; d++) {
        lo[d] = chunk->begin[op->dims - 1 - d];
        hi[d] = chunk->end[op->dims - 1 - d];
        if (lo[d] >= hi[d])
            return; /* the one chunk of an empty range */
    }
    memcpy(i, lo, sizeof(i));
    do
        element(a->manner.types, op, i, &a->places);
    while (advance(op, i, lo, hi));
}

static const uint32_t bytes[] = {sizeof(kmm_blocks_t), sizeof(manner_t), 8, 8, 8, 8};
const kmm_kernel_t oracle_host_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "oracle", run_blocks, NULL, 5, bytes + 1, 0, NULL};

#ifdef KMM_TEST_DEVICE /* "cuda" or "hip" */
/* tests/device/oracle.cu; made known in the process that launches it. */
extern kmm_kernel_t oracle_kernel;

const gpus_t oracle_gpus[] = {
    {KMM_TEST_DEVICE ":1,mem=%lld", &oracle_kernel, 1},
    {KMM_TEST_DEVICE ":1,mem=%lld,host", &oracle_kernel, 1},
    {KMM_TEST_DEVICE ":1,mem=%lld,host:2", &oracle_kernel, 1},
    {KMM_TEST_DEVICE ":2,mem=%lld", &oracle_kernel, 2},
    {KMM_TEST_DEVICE ":2,mem=%lld,host:1", &oracle_kernel, 2},
    {KMM_TEST_DEVICE ":4,mem=%lld", &oracle_kernel, 4},
    {KMM_TEST_DEVICE ":4,mem=%lld,host", &oracle_kernel, 4},
    {KMM_TEST_DEVICE ":8,mem=%lld", &oracle_kernel, 8},
};
#else
/* What the lanes of a warp do in step: all read before any of them writes, and what several of them
 * add to one element of a sum is added by the first of those. */
static void run_lanes(const manner_t *m, const places_t *p, uint32_t count,
                      const int64_t (*i)[DIMS])
{
    const op_t *op = &m->op;
    uint64_t v[64];
    int64_t sum[64];
    void *target = behind(p->target, op->before[0], m->types[op->target]);
    for (uint32_t k = 0; k < count; k++) {
        v[k] = value_of(m->types, op, i[k], p);
        sum[k] = op->kind == REDUCE ? sum_of(op, i[k]) : -1;
        if (op->strays)
            stray(m->types, op, i[k], p);
    }
    for (uint32_t k = 0; k < count; k++) {
        int64_t all = (int64_t)(v[k] % 16);
        if (op->kind == LAUNCH)
            scatter(m->types, op, i[k], target, v[k]);
        for (uint32_t other = k + 1; sum[k] >= 0 && other < count; other++)
            if (sum[other] == sum[k]) {
                combine(op->op, KMM_INT64, &all, 0, (int64_t)(v[other] % 16));
                sum[other] = -1;
            }
        if (sum[k] >= 0)
            combine_shared(op->op, m->types[op->target], target, sum[k], all);
    }
}

/* `grid`: of the whole launch, in blocks. */
static int run_warp(const fake_warp_t *w, const uint64_t block[3], const uint32_t grid[3],
                    void **args)
{
    const manner_t *m = args[0];
    places_t p = {*(void **)args[1], {*(void **)args[2], *(void **)args[3]}, *(void **)args[4]};
    const uint64_t all[3] = {(uint64_t)grid[0] * w->size[0], (uint64_t)grid[1] * w->size[1],
                             (uint64_t)grid[2] * w->size[2]};
    uint64_t at[64][3];
    int64_t i[64][DIMS];
    uint32_t count = 0, going;
    for (uint32_t t = w->first; t < w->first + w->count; t++) {
        const uint64_t place[3] = {block[0] * w->size[0] + t % w->size[0],
                                   block[1] * w->size[1] + t / w->size[0] % w->size[1],
                                   block[2] * w->size[2] + t / w->size[0] / w->size[1]};
        memcpy(at[count], place, sizeof(place));
        count += point_first(&m->op, place, all, i[count]);
    }
    for (; count; count = going) {
        run_lanes(m, &p, count, (const int64_t (*)[DIMS])i);
        going = 0;
        for (uint32_t k = 0; k < count; k++)
            if (point_next(&m->op, at[k], all, i[k])) {
                memmove(i[going], i[k], sizeof(i[k]));
                memmove(at[going++], at[k], sizeof(at[k]));
            }
    }
    return 0;
}

static int run_whole(const fake_warp_t *w, void **args)
{
    return run_warp(w, (uint64_t[3]){w->block[0], w->block[1], w->block[2]}, w->grid, args);
}

static int run_clone(const fake_warp_t *w, void **args)
{
    const kmm_blocks_t *b = args[0];
    return run_warp(w,
                    (uint64_t[3]){w->block[0] + b->offset_x, w->block[1] + b->offset_y,
                                  w->block[2] + b->offset_z},
                    (uint32_t[3]){b->grid_x, b->grid_y, b->grid_z}, args + 1);
}

int oracle_kernel_find(void)
{
    return 0;
}

static fake_kernel_t fake_clone = {NULL, 6, bytes, 0, run_clone},
                     fake_whole = {NULL, 5, bytes + 1, 0, run_whole};
static const kmm_kernel_t cuda_whole = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "oracle", NULL, &fake_whole, 5, bytes + 1, 0, NULL};
static const kmm_kernel_t cuda_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_CUDA, "kmm_oracle", NULL, &fake_clone, 6, bytes, 1, &cuda_whole};
static const kmm_kernel_t hip_whole = {
    KMM_LAUNCH_VERSION, KMM_KIND_HIP, "oracle", NULL, &fake_whole, 5, bytes + 1, 0, NULL};
static const kmm_kernel_t hip_kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HIP, "kmm_oracle", NULL, &fake_clone, 6, bytes, 1, &hip_whole};

const gpus_t oracle_gpus[] = {
    {"cuda:1,mem=%lld", &cuda_kernel, 1},
    {"cuda:2,mem=%lld", &cuda_kernel, 2},
    {"cuda:4,mem=%lld", &cuda_kernel, 4},
    {"cuda:2,mem=%lld,host", &cuda_kernel, 2},
    {"cuda:1,mem=%lld,host:2", &cuda_kernel, 1},
    {"hip:1,mem=%lld", &hip_kernel, 1},
    {"hip:2,mem=%lld", &hip_kernel, 2},
    {"hip:4,mem=%lld", &hip_kernel, 4},
    {"hip:2,mem=%lld,host:1", &hip_kernel, 2},
    {"cuda:1,mem=%lld,hip:2", &hip_kernel, 2},
    {"cuda:1,mem=%lld,hip:1,host:1", &cuda_kernel, 1},
    {"cuda:8,mem=%lld", &cuda_kernel, 8},
    {"hip:8,mem=%lld", &hip_kernel, 8},
};
#endif

const int oracle_gpus_count = sizeof(oracle_gpus) / sizeof(*oracle_gpus);
