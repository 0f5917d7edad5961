/* SPDX-License-Identifier: Apache-2.0 */
/* Four kernels for fake GPUs, their launches in chunks at faults.c:7, and the same element by
 * element for a model. */
#ifndef FAKE_WORK_H
#define FAKE_WORK_H

#include <stddef.h>
#include <stdint.h>

#include <kmm.h>

#include "fake_gpu.h"

enum { BLOCK = 64 };
typedef enum what { ADD, SCALE, MIRROR, SUM, WHATS } what_t;

/* Sums wrap around. */
static inline void fake_work_element(what_t what, int64_t i, int64_t n, int32_t *dst,
                                     const int32_t *a, const int32_t *b)
{
    switch (what) {
    case ADD: dst[i] = (int32_t)((uint32_t)a[i] + (uint32_t)b[i]); return;
    case SCALE: dst[i] = (int32_t)((uint32_t)dst[i] * 3 + 1); return;
    case MIRROR: dst[i] = (int32_t)((uint32_t)a[n - 1 - i] - (uint32_t)b[i]); return;
    case SUM: dst[0] = (int32_t)((uint32_t)dst[0] + (uint32_t)a[i]); return;
    case WHATS: return;
    }
}

static inline void run_element_by_element(what_t what, int64_t n, int32_t *dst, const int32_t *a,
                                          const int32_t *b)
{
    for (int64_t i = 0; i < n; i++)
        fake_work_element(what, i, n, dst, a, b);
}

/* The lanes of a warp in step, as a GPU runs them: all read before any of them writes, and of a sum
 * one lane adds what all have. */
static int run_warp(what_t what, const fake_warp_t *w, void **args)
{
    const kmm_blocks_t *blocks = args[0];
    const int32_t *a = *(int32_t **)args[3], *b = *(int32_t **)args[4];
    int32_t *dst = *(int32_t **)args[2], value[64];
    int64_t n = *(int64_t *)args[1],
            begin = ((int64_t)w->block[0] + blocks->offset_x) * BLOCK + w->first;
    int64_t count = n - begin < w->count ? n - begin : w->count;
    uint32_t sum = 0;
    for (int64_t lane = 0; lane < count; lane++) {
        int64_t i = begin + lane;
        value[lane] = what == ADD || what == SUM ? a[i] : what == MIRROR ? a[n - 1 - i] : dst[i];
    }
    for (int64_t lane = 0; lane < count; lane++) {
        int64_t i = begin + lane;
        uint32_t v = (uint32_t)value[lane];
        if (what == SUM)
            sum += v;
        else
            dst[i] = (int32_t)(what == ADD      ? v + (uint32_t)b[i]
                               : what == MIRROR ? v - (uint32_t)b[i]
                                                : v * 3 + 1);
    }
    if (what == SUM && count > 0)
        dst[0] = (int32_t)((uint32_t)dst[0] + sum);
    return 0;
}

static int run_add(const fake_warp_t *w, void **args)
{
    return run_warp(ADD, w, args);
}
static int run_scale(const fake_warp_t *w, void **args)
{
    return run_warp(SCALE, w, args);
}
static int run_mirror(const fake_warp_t *w, void **args)
{
    return run_warp(MIRROR, w, args);
}
static int run_sum(const fake_warp_t *w, void **args)
{
    return run_warp(SUM, w, args);
}

static const uint32_t sizes[] = {sizeof(kmm_blocks_t), 8, 8, 8, 8};
#define FAKE_WORK(run) {NULL, 5, sizes, 0, run}
static fake_kernel_t fakes[WHATS] = {FAKE_WORK(run_add), FAKE_WORK(run_scale),
                                     FAKE_WORK(run_mirror), FAKE_WORK(run_sum)};
static const char *const names[WHATS] = {"add", "scale", "mirror", "sum"};
#define KERNEL(kind, what) {KMM_LAUNCH_VERSION, kind, #what, NULL, &fakes[what], 5, sizes, 1, NULL}
#define KERNELS(kind)                                                                              \
    {KERNEL(kind, ADD), KERNEL(kind, SCALE), KERNEL(kind, MIRROR), KERNEL(kind, SUM)}
static const kmm_kernel_t cuda_kernels[WHATS] = KERNELS(KMM_KIND_CUDA),
                          hip_kernels[WHATS] = KERNELS(KMM_KIND_HIP);

static inline void fake_work_access(kmm_launch_t *l, kmm_mode_t mode, const char *text,
                                    const int32_t *base, int64_t lower, int64_t step)
{
    kmm_launch_access(l, mode, text, base, sizeof(*base));
    kmm_launch_index(l, lower, 1);
    kmm_launch_coef(l, 0, step, 0);
}

/* `chunks` chunks of what over n elements, as a launch that `l` begins to describe. a and b may be
 * NULL where `what` does not use them. */
static inline int fake_work_launch_of(kmm_launch_t *l, kmm_kind_t kind, what_t what, int64_t n,
                                      int chunks, int32_t *dst, int32_t *a, int32_t *b)
{
    kmm_geometry_t g = {{(uint32_t)((n + BLOCK - 1) / BLOCK), 1, 1}, {BLOCK, 1, 1}, 0, NULL};
    void *args[] = {NULL, &n, &dst, &a, &b};
    kmm_launch_axis(l, "i", KMM_GLOBAL_X, 0, n);
    kmm_launch_chunk(l, KMM_GLOBAL_X, (n + chunks - 1) / chunks);
    if (a)
        fake_work_access(l, KMM_READ, "a[i]", a, what == MIRROR ? n - 1 : 0,
                         what == MIRROR ? -1 : 1);
    if (b)
        fake_work_access(l, KMM_READ, "b[i]", b, 0, 1);
    if (what == SUM) {
        kmm_launch_reduce(l, KMM_OP_ADD, KMM_INT32, "dst[0]", dst);
        kmm_launch_index(l, 0, 1);
    } else {
        fake_work_access(l, what == SCALE ? KMM_UPDATE : KMM_WRITE, "dst[i]", dst, 0, 1);
    }
    kmm_launch_arm(l);
    return kmm_launch_kernel(kind == KMM_KIND_HIP ? &hip_kernels[what] : &cuda_kernels[what], &g,
                             args);
}

static inline int fake_work_launch(kmm_kind_t kind, what_t what, int64_t n, int chunks,
                                   int32_t *dst, int32_t *a, int32_t *b)
{
    return fake_work_launch_of(kmm_launch_begin(names[what], "faults.c", 7), kind, what, n, chunks,
                               dst, a, b);
}

#endif
