/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in native standing whose results depend on chunks. */
#include "launch/native_chunks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "launch/own_kernels.h"
#include "memory/array.h"
#include "memory/residency/native.h"
#include "memory/residency/scratch.h"

typedef struct blocks {
    uint32_t chunk; /* its number, or that of the first that was joined into it */
    uint32_t offset[3], count[3];
} blocks_t;

/* A launch between its checks and its enqueuing. */
typedef struct kept {
    kmm__work_t *work; /* a reference; NULL: none is kept */
    kmm__device_t *device;
    uint32_t chunk_count;
    blocks_t *blocks;         /* of each chunk */
    kmm__scratch_t **scratch; /* of each of the work's partials */
} kept_t;
static _Thread_local kept_t kept;

/* Held while one launch is enqueued: what two threads enqueue on one stream does not mix. */
static pthread_mutex_t enqueuing = PTHREAD_MUTEX_INITIALIZER;

static int run_own(const kept_t *l, kmm__device_kernel_t kernel, kmm__folding_t *f)
{
    void *args[] = {f};
    kmm__run_t run = {.kernel = kmm__own_kernel(l->device, &f->element, kernel),
                      .geometry = {.block = {KMM__FOLD_THREADS, 1, 1}},
                      .count = {(uint32_t)kmm__fold_blocks(kernel, f), 1, 1},
                      .args = args};
    return l->device->backend->launch_on(l->device->gpu, l->work->geometry.stream, &run);
}

/* ---- Keeping ---- */

static void note_blocks(const kmm__submission_t *s)
{
    kept.chunk_count = s->part.count;
    kept.blocks = kmm__work_take(s->work, s->part.count * sizeof(*kept.blocks));
    for (uint32_t k = 0; k < s->part.count; k++) {
        kmm__chunk_box_t box;
        uint32_t last;
        kmm__partition_chunk(&s->part, s->l, k, &box);
        kmm__partition_numbers(&s->part, k, &kept.blocks[k].chunk, &last);
        for (int i = 0; i < 3; i++) {
            kept.blocks[k].offset[i] = (uint32_t)box.first[i];
            kept.blocks[k].count[i] = (uint32_t)box.count[i];
        }
    }
}

/* ---- One launch for all chunks ---- */

/* The moved parameter that the pointer is; -1: it is none. */
static int moved_parameter(const kmm__work_t *w, const kmm__pointer_t *p)
{
    enum { NUMBERS = 32 };
    for (uint32_t k = 1; k < w->arg_count && k < NUMBERS; k++)
        if (w->arg_offset[k] == p->at)
            return w->kernel->is_clone >> k & 1 ? (int)k : -1;
    return -1;
}

/* True if the clone finds the partial of each block by itself: each chunk has a partial of its own,
 * to which moved pointers lead, and the chunks make up the grid. */
static bool finds_partials(const kmm__submission_t *s)
{
    const kmm__work_t *w = s->work;
    bool finds = w->kernel->is_clone > 1 && kmm__partition_asked(&s->part) == s->part.count;
    for (int k = 0; k < KMM_MAX_SPLIT; k++)
        finds &= s->part.size[k] == w->geometry.grid[k];
    for (uint32_t k = 0; k < w->partials_count; k++)
        finds &= w->partials[k].count == s->part.count;
    for (uint32_t k = 0; k < w->pointer_count && finds; k++)
        finds = w->pointers[k].partials < 0 || moved_parameter(w, &w->pointers[k]) >= 0;
    return finds;
}

static void write_strides(kmm__work_t *w)
{
    unsigned char *strides = w->args + w->arg_offset[0] + sizeof(kmm_partials_head_t);
    for (uint32_t k = 0; k < w->pointer_count; k++) {
        const kmm__pointer_t *p = &w->pointers[k];
        if (p->partials < 0)
            continue;
        /* the moved ones before it; bit 0 is none */
        const uint32_t before = w->kernel->is_clone & ((1u << moved_parameter(w, p)) - 2);
        const uint64_t stride = (uint64_t)w->partials[p->partials].partial_bytes;
        memcpy(strides + (size_t)__builtin_popcount(before) * sizeof(stride), &stride,
               sizeof(stride));
    }
}

/* Tells the clone how the grid is divided, and keeps one launch of all blocks. */
static void note_whole(const kmm__submission_t *s)
{
    kmm__work_t *w = s->work;
    const kmm__partition_t *p = &s->part;
    kmm_partials_head_t head = {.chunks_x = (uint32_t)p->chunks[0],
                                .chunks_y = (uint32_t)p->chunks[1]};
    for (int k = 0; k < KMM_MAX_SPLIT; k++) {
        const uint64_t c = (uint64_t)p->chunk[k];
        while (1ull << head.shift[k] < c)
            head.shift[k]++;
        head.inverse[k] =
            p->chunks[k] > 1 ? (uint32_t)(((1ull << (31 + head.shift[k])) - 1) / c + 1) : 0;
    }
    memcpy(w->args + w->arg_offset[0], &head, sizeof(head));
    write_strides(w);
    kept.chunk_count = 1;
    kept.blocks = kmm__work_take(w, sizeof(*kept.blocks));
    memcpy(kept.blocks->count, w->geometry.grid, sizeof(kept.blocks->count));
}

bool kmm__native_chunks_keep(kmm__submission_t *s)
{
    kmm__work_t *w = s->work;
    kmm__device_t *d = s->placement.device[0];
    for (uint32_t k = 0; k < w->reduction_count; k++)
        if (!kmm__own_kernels_fold(d, &w->partials[w->reductions[k].partials], &w->reductions[k]))
            return false;
    kept = (kept_t){.work = w, .device = d};
    kmm__work_ref(w);
    w->chunk_count = kmm__partition_asked(&s->part);
    kept.scratch = kmm__work_take(w, w->partials_count * sizeof(*kept.scratch));
    if (finds_partials(s))
        note_whole(s);
    else
        note_blocks(s);
    return true;
}

static void forget(void)
{
    kmm__work_t *w = kept.work;
    for (uint32_t k = 0; k < w->partials_count; k++)
        if (kept.scratch[k])
            kmm__scratch_release(kept.scratch[k]);
    kept.work = NULL;
    pthread_mutex_lock(&w->runtime->lock);
    kmm__work_unref(w);
    pthread_mutex_unlock(&w->runtime->lock);
}

/* ---- Memory ---- */

/* The number of a stream for kmm__scratch_take. All threads name their default streams alike, where
 * each has one. */
static uint64_t stream_number(void *stream)
{
    enum { STREAM_PER_THREAD = 2 };
    static _Atomic uint64_t threads;
    static _Thread_local uint64_t thread;
    if (stream != (void *)STREAM_PER_THREAD)
        return (uint64_t)(uintptr_t)stream;
    thread = thread ? thread : atomic_fetch_add(&threads, 1) + 1;
    return UINT64_MAX - thread;
}

/* A partial's only reduction; NULL: it has several. */
static const kmm__reduction_t *only_reduction(const kmm__work_t *w, uint32_t partials)
{
    const kmm__reduction_t *only = NULL;
    for (uint32_t k = 0; k < w->reduction_count; k++) {
        if (w->reductions[k].partials != partials)
            continue;
        if (only)
            return NULL;
        only = &w->reductions[k];
    }
    return only;
}

/* True if identities remain after a launch, for the next one with the same key. */
static bool refills(const kmm__work_t *w, uint32_t partials)
{
    const kmm__reduction_t *r = only_reduction(w, partials);
    return r && !r->element.is_pair && !kmm__reduction_is_truth(r);
}

/* What decides which identities a scratch block has, and where. */
typedef struct partials_key {
    int64_t partial_bytes, count, op, type;
} partials_key_t;
_Static_assert(sizeof(partials_key_t) <= KMM__SCRATCH_KEY, "it is the key of a scratch block");

static partials_key_t key_of(const kmm__partials_t *p, const kmm__reduction_t *r)
{
    return r ? (partials_key_t){p->partial_bytes, p->count, (int64_t)r->op,
                                (int64_t)r->element.type}
             : (partials_key_t){0};
}

static kmm__scratch_t *reserve(uint32_t partials, bool bound)
{
    const kmm__work_t *w = kept.work;
    const kmm__partials_t *p = &w->partials[partials];
    const partials_key_t key = key_of(p, refills(w, partials) ? only_reduction(w, partials) : NULL);
    return kmm__scratch_take(kept.device, stream_number(w->geometry.stream), &key, sizeof(key),
                             (size_t)(p->partial_bytes * p->count), bound);
}

bool kmm__native_chunks_reserve(void)
{
    const kmm__backend_t *b = kept.device->backend;
    void *stream = kept.work->geometry.stream;
    const bool bound = kmm__native_is_bound() && b->is_capturing(kept.device->gpu, stream);
    bool has = true;
    for (uint32_t k = 0; k < kept.work->partials_count && has; k++)
        has = (kept.scratch[k] = reserve(k, bound)) != NULL;
    if (!has)
        forget();
    return has;
}

/* ---- Enqueuing ---- */

/* Fills all of the partials with identities, also beside what this launch reduces: the next one may
 * reduce into other elements. */
static int fill_all(uint32_t partials)
{
    const kmm__partials_t *p = &kept.work->partials[partials];
    kmm__folding_t f = kmm__folding_of(p, only_reduction(kept.work, partials), 0);
    f.partials = kept.scratch[partials]->at;
    f.elements = (uint64_t)p->partial_bytes / f.element.bytes;
    return run_own(&kept, KMM__FILL, &f);
}

/* Runs a kernel on each reduction that uses these partials. */
static int run_on_partials(kmm__device_kernel_t kernel, uint32_t partials, bool leaves)
{
    const kmm__work_t *w = kept.work;
    int error = 0;
    for (uint32_t k = 0; k < w->reduction_count && !error; k++) {
        const kmm__reduction_t *r = &w->reductions[k];
        if (r->partials != partials)
            continue;
        kmm__folding_t f = kmm__folding_of(&w->partials[partials], r, kept.scratch[partials]->at);
        f.refills = leaves;
        error = run_own(
            &kept, kernel == KMM__FOLD && kmm__reduction_is_truth(r) ? KMM__TRUTH : kernel, &f);
    }
    return error;
}

/* Writes the addresses of a chunk's partials into its arguments. */
static void redirect(const kmm__work_t *w, uint32_t chunk, unsigned char *args)
{
    for (uint32_t k = 0; k < w->pointer_count; k++) {
        const kmm__pointer_t *pointer = &w->pointers[k];
        if (pointer->partials < 0)
            continue;
        const kmm__partials_t *p = &w->partials[pointer->partials];
        uint64_t value = kept.scratch[pointer->partials]->at +
                         (uint64_t)(kmm__partial_of(w, p, chunk) * p->partial_bytes - p->begin +
                                    pointer->offset);
        memcpy(args + pointer->at, &value, sizeof(value));
    }
}

static int run_chunk(const blocks_t *b)
{
    const kmm__work_t *w = kept.work;
    const uint32_t *grid = w->geometry.grid;
    const kmm_blocks_t blocks = {b->offset[0], b->offset[1], b->offset[2],
                                 grid[0],      grid[1],      grid[2]};
    void *args[w->arg_count];
    kmm__run_t run = {.kernel = w->kernel, .geometry = w->geometry, .args = args};
    redirect(w, b->chunk, w->args);
    for (uint32_t k = 0; k < w->arg_count; k++)
        args[k] = w->args + w->arg_offset[k];
    memcpy(args[0], &blocks, sizeof(blocks));
    memcpy(run.offset, b->offset, sizeof(run.offset));
    memcpy(run.count, b->count, sizeof(run.count));
    return kept.device->backend->launch_on(kept.device->gpu, w->geometry.stream, &run);
}

static int enqueue(void)
{
    const kmm__work_t *w = kept.work;
    int error = 0;
    for (uint32_t k = 0; k < w->partials_count && !error; k++) {
        error = kept.scratch[k]->is_left ? 0
                : refills(w, k)          ? fill_all(k)
                                         : run_on_partials(KMM__FILL, k, false);
        kept.scratch[k]->is_left = false;
    }
    for (uint32_t k = 0; k < kept.chunk_count && !error; k++)
        error = run_chunk(&kept.blocks[k]);
    for (uint32_t k = 0; k < w->partials_count && !error; k++) {
        const bool leaves = refills(w, k);
        error = run_on_partials(KMM__FOLD, k, leaves);
        kept.scratch[k]->is_left = leaves && !error && !kept.scratch[k]->is_bound;
    }
    return error;
}

int kmm__native_chunks_enqueue(int error)
{
    if (!error) {
        pthread_mutex_lock(&enqueuing);
        error = enqueue();
        pthread_mutex_unlock(&enqueuing);
        if (error)
            kmm__error_set(error, "%s:%d: %s: %s", kept.work->file ? kept.work->file : "?",
                           kept.work->line, kept.work->name,
                           kept.device->backend->error_text(kept.device->backend));
    }
    forget();
    return error;
}
