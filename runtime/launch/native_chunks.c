/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in native standing whose results depend on chunks. */
#include "launch/native_chunks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "launch/own_kernels.h"
#include "memory/array.h"
#include "memory/residency/native.h"
#include "memory/residency/scratch.h"

typedef struct blocks {
    uint32_t chunk; /* its number, or that of the first that was joined into it */
    uint32_t offset[3], count[3];
} blocks_t;

/* A kernel of libkmm's own and what it gets, for partials at address 0. */
typedef struct own {
    const kmm_kernel_t *kernel;
    uint32_t blocks;
    kmm__folding_t folding;
} own_t;

/* What decides which identities a scratch block has, and where. */
typedef struct partials_key {
    int64_t partial_bytes, count, op, type;
} partials_key_t;
_Static_assert(sizeof(partials_key_t) <= KMM__SCRATCH_KEY, "it is the key of a scratch block");

typedef struct partials {
    int64_t bytes; /* from one partial to the next */
    uint32_t count;
    bool refills; /* identities remain after a launch, for the next one with the same key */
    partials_key_t key;
    own_t fill; /* all of them, if it refills */
} partials_t;

typedef struct reduction {
    uint32_t partials;
    own_t fill, fold;
} reduction_t;

/* A pointer argument that leads to a partial. */
typedef struct pointer {
    uint32_t at; /* byte offset in the arguments */
    uint32_t partials;
    int64_t offset; /* of its address in the partial */
} pointer_t;

/* Constant but for `refs`. */
struct kmm__native_chunks {
    atomic_uint refs;
    kmm__device_t *device;
    const kmm_kernel_t *kernel;
    const char *file;
    char *name;
    int line;
    uint32_t *arg_offset, args_bytes;
    unsigned char *first; /* the clone's first parameter */
    uint32_t asked;       /* number of chunks before some were joined */
    blocks_t *blocks;     /* of each launch of the clone */
    uint32_t launch_count;
    pointer_t *pointers;
    uint32_t pointer_count;
    partials_t *partials;
    uint32_t partials_count;
    reduction_t *reductions;
    uint32_t reduction_count;
};

/* A launch between its checks and its enqueuing. */
typedef struct kept {
    kmm__native_chunks_t *chunks; /* a reference; NULL: none is kept */
    kmm_geometry_t geometry;
    void **args; /* the caller's */
    kmm__scratch_t *scratch[KMM__MAX_ITEMS];
} kept_t;
static _Thread_local kept_t kept;

/* Held while one launch is enqueued: what two threads enqueue on one stream does not mix. */
static pthread_mutex_t enqueuing = PTHREAD_MUTEX_INITIALIZER;

/* ---- Making ---- */

static void note_blocks(kmm__native_chunks_t *c, const kmm__submission_t *s)
{
    c->launch_count = s->part.count;
    c->blocks = kmm__alloc(s->part.count * sizeof(*c->blocks));
    for (uint32_t k = 0; k < s->part.count; k++) {
        kmm__chunk_box_t box;
        uint32_t last;
        kmm__partition_chunk(&s->part, s->l, k, &box);
        kmm__partition_numbers(&s->part, k, &c->blocks[k].chunk, &last);
        for (int i = 0; i < 3; i++) {
            c->blocks[k].offset[i] = (uint32_t)box.first[i];
            c->blocks[k].count[i] = (uint32_t)box.count[i];
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

static void write_strides(kmm__native_chunks_t *c, const kmm__work_t *w)
{
    unsigned char *strides = c->first + sizeof(kmm_partials_head_t);
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

/* Tells the clone how the grid is divided: one launch has all blocks. */
static void note_whole(kmm__native_chunks_t *c, const kmm__submission_t *s)
{
    const kmm__partition_t *p = &s->part;
    kmm_partials_head_t head = {.chunks_x = (uint32_t)p->chunks[0],
                                .chunks_y = (uint32_t)p->chunks[1]};
    for (int k = 0; k < KMM_MAX_SPLIT; k++) {
        const uint64_t size = (uint64_t)p->chunk[k];
        while (1ull << head.shift[k] < size)
            head.shift[k]++;
        head.inverse[k] =
            p->chunks[k] > 1 ? (uint32_t)(((1ull << (31 + head.shift[k])) - 1) / size + 1) : 0;
    }
    memcpy(c->first, &head, sizeof(head));
    write_strides(c, s->work);
    c->launch_count = 1;
    c->blocks = kmm__alloc(sizeof(*c->blocks));
    memcpy(c->blocks->count, s->work->geometry.grid, sizeof(c->blocks->count));
}

/* ---- Partials ---- */

static own_t own_of(const kmm__native_chunks_t *c, kmm__device_kernel_t kernel,
                    const kmm__folding_t *f)
{
    return (own_t){kmm__own_kernel(c->device, &f->element, kernel),
                   (uint32_t)kmm__fold_blocks(kernel, f), *f};
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

static partials_t note_partials(const kmm__native_chunks_t *c, const kmm__work_t *w, uint32_t k)
{
    const kmm__partials_t *p = &w->partials[k];
    const kmm__reduction_t *only = only_reduction(w, k);
    partials_t n = {.bytes = p->partial_bytes,
                    .count = p->count,
                    .refills = only && !only->element.is_pair && !kmm__reduction_is_truth(only)};
    if (!n.refills)
        return n;
    n.key = (partials_key_t){p->partial_bytes, p->count, (int64_t)only->op,
                             (int64_t)only->element.type};
    /* Fills all of the partials with identities, also beside what this launch reduces: the next one
     * may reduce into other elements. */
    kmm__folding_t f = kmm__folding_of(p, only, 0);
    f.partials = 0;
    f.elements = (uint64_t)p->partial_bytes / f.element.bytes;
    n.fill = own_of(c, KMM__FILL, &f);
    return n;
}

static reduction_t note_reduction(const kmm__native_chunks_t *c, const kmm__work_t *w,
                                  const kmm__reduction_t *r)
{
    reduction_t n = {.partials = r->partials};
    kmm__folding_t f = kmm__folding_of(&w->partials[r->partials], r, 0);
    n.fill = own_of(c, KMM__FILL, &f);
    f.refills = c->partials[r->partials].refills;
    n.fold = own_of(c, kmm__fold_kernel(&f), &f);
    return n;
}

static void note_pointers(kmm__native_chunks_t *c, const kmm__work_t *w)
{
    c->pointers = kmm__alloc(w->pointer_count * sizeof(*c->pointers));
    for (uint32_t k = 0; k < w->pointer_count; k++) {
        const kmm__pointer_t *p = &w->pointers[k];
        if (p->partials >= 0)
            c->pointers[c->pointer_count++] = (pointer_t){
                p->at, (uint32_t)p->partials, p->offset - w->partials[p->partials].begin};
    }
}

static void note_reductions(kmm__native_chunks_t *c, const kmm__work_t *w)
{
    c->partials_count = w->partials_count;
    c->partials = kmm__alloc(w->partials_count * sizeof(*c->partials));
    for (uint32_t k = 0; k < w->partials_count; k++)
        c->partials[k] = note_partials(c, w, k);
    c->reduction_count = w->reduction_count;
    c->reductions = kmm__alloc(w->reduction_count * sizeof(*c->reductions));
    for (uint32_t k = 0; k < w->reduction_count; k++)
        c->reductions[k] = note_reduction(c, w, &w->reductions[k]);
}

static void *copy_of(const void *data, size_t bytes)
{
    return memcpy(kmm__alloc(bytes), data, bytes);
}

kmm__native_chunks_t *kmm__native_chunks_make(const kmm__submission_t *s)
{
    const kmm__work_t *w = s->work;
    kmm__device_t *d = s->placement.device[0];
    for (uint32_t k = 0; k < w->reduction_count; k++)
        if (!kmm__own_kernels_fold(d, &w->partials[w->reductions[k].partials], &w->reductions[k]))
            return NULL;
    kmm__native_chunks_t *c = kmm__alloc(sizeof(*c));
    c->refs = 1;
    c->device = d;
    c->kernel = w->kernel;
    c->file = w->file;
    c->line = w->line;
    c->name = kmm__copy_text(w->name);
    c->args_bytes = w->args_bytes;
    c->arg_offset = copy_of(w->arg_offset, w->arg_count * sizeof(*w->arg_offset));
    c->first = kmm__alloc(w->kernel->param_bytes[0]);
    c->asked = kmm__partition_asked(&s->part);
    note_pointers(c, w);
    note_reductions(c, w);
    if (finds_partials(s))
        note_whole(c, s);
    else
        note_blocks(c, s);
    return c;
}

void kmm__native_chunks_ref(kmm__native_chunks_t *c)
{
    atomic_fetch_add(&c->refs, 1);
}

void kmm__native_chunks_unref(kmm__native_chunks_t *c)
{
    if (!c || atomic_fetch_sub(&c->refs, 1) > 1)
        return;
    free(c->name);
    free(c->arg_offset);
    free(c->first);
    free(c->blocks);
    free(c->pointers);
    free(c->partials);
    free(c->reductions);
    free(c);
}

/* ---- Keeping ---- */

void kmm__native_chunks_keep(kmm__native_chunks_t *c, const kmm_geometry_t *geometry, void **args)
{
    kmm__native_chunks_ref(c);
    kept.chunks = c;
    kept.geometry = *geometry;
    kept.args = args;
    memset(kept.scratch, 0, c->partials_count * sizeof(*kept.scratch));
}

static void forget(void)
{
    for (uint32_t k = 0; k < kept.chunks->partials_count; k++)
        if (kept.scratch[k])
            kmm__scratch_release(kept.scratch[k]);
    kmm__native_chunks_unref(kept.chunks);
    kept.chunks = NULL;
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

bool kmm__native_chunks_reserve(void)
{
    const kmm__native_chunks_t *c = kept.chunks;
    void *stream = kept.geometry.stream;
    const uint64_t number = stream_number(stream);
    const bool bound =
        kmm__native_is_bound() && c->device->backend->is_capturing(c->device->gpu, stream);
    bool has = true;
    for (uint32_t k = 0; k < c->partials_count && has; k++) {
        const partials_t *p = &c->partials[k];
        kept.scratch[k] = kmm__scratch_take(c->device, number, &p->key, sizeof(p->key),
                                            (size_t)(p->bytes * p->count), bound);
        has = kept.scratch[k] != NULL;
    }
    if (!has)
        forget();
    return has;
}

/* ---- Enqueuing ---- */

static int enqueue_kernel(const kmm__run_t *run)
{
    const kmm__device_t *d = kept.chunks->device;
    return d->backend->launch_on(d->gpu, kept.geometry.stream, run);
}

static int run_own(const own_t *own, uint32_t partials)
{
    kmm__folding_t f = own->folding;
    f.partials += kept.scratch[partials]->at;
    void *args[] = {&f};
    return enqueue_kernel(&(kmm__run_t){.kernel = own->kernel,
                                        .geometry = {.block = {KMM__FOLD_THREADS, 1, 1}},
                                        .count = {own->blocks, 1, 1},
                                        .args = args});
}

static int fill(uint32_t partials)
{
    const kmm__native_chunks_t *c = kept.chunks;
    int error = 0;
    if (c->partials[partials].refills)
        return run_own(&c->partials[partials].fill, partials);
    for (uint32_t k = 0; k < c->reduction_count && !error; k++)
        if (c->reductions[k].partials == partials)
            error = run_own(&c->reductions[k].fill, partials);
    return error;
}

/* Writes the addresses of a chunk's partials into its arguments. Chunks that share a partial follow
 * one another. */
static void redirect(unsigned char *args, uint32_t chunk)
{
    const kmm__native_chunks_t *c = kept.chunks;
    for (uint32_t k = 0; k < c->pointer_count; k++) {
        const pointer_t *pointer = &c->pointers[k];
        const partials_t *p = &c->partials[pointer->partials];
        const uint64_t partial = (uint64_t)chunk * p->count / c->asked;
        const uint64_t value = kept.scratch[pointer->partials]->at + partial * (uint64_t)p->bytes +
                               (uint64_t)pointer->offset;
        memcpy(args + pointer->at, &value, sizeof(value));
    }
}

static int run_blocks(const blocks_t *b, unsigned char *room, void **args)
{
    const uint32_t *grid = kept.geometry.grid;
    const kmm_blocks_t blocks = {b->offset[0], b->offset[1], b->offset[2],
                                 grid[0],      grid[1],      grid[2]};
    kmm__run_t run = {.kernel = kept.chunks->kernel, .geometry = kept.geometry, .args = args};
    redirect(room, b->chunk);
    memcpy(args[0], &blocks, sizeof(blocks));
    memcpy(run.offset, b->offset, sizeof(run.offset));
    memcpy(run.count, b->count, sizeof(run.count));
    return enqueue_kernel(&run);
}

static int run_chunks(void)
{
    const kmm__native_chunks_t *c = kept.chunks;
    const kmm_kernel_t *kernel = c->kernel;
    _Alignas(16) unsigned char room[c->args_bytes];
    void *args[kernel->param_count];
    int error = 0;
    for (uint32_t k = 0; k < kernel->param_count; k++) {
        args[k] = room + c->arg_offset[k];
        memcpy(args[k], k ? kept.args[k] : c->first, kernel->param_bytes[k]);
    }
    for (uint32_t k = 0; k < c->launch_count && !error; k++)
        error = run_blocks(&c->blocks[k], room, args);
    return error;
}

static int enqueue(void)
{
    const kmm__native_chunks_t *c = kept.chunks;
    int error = 0;
    for (uint32_t k = 0; k < c->partials_count && !error; k++) {
        error = kept.scratch[k]->is_left ? 0 : fill(k);
        kept.scratch[k]->is_left = false;
    }
    error = error ? error : run_chunks();
    for (uint32_t k = 0; k < c->reduction_count && !error; k++)
        error = run_own(&c->reductions[k].fold, c->reductions[k].partials);
    for (uint32_t k = 0; k < c->partials_count && !error; k++)
        kept.scratch[k]->is_left = c->partials[k].refills && !kept.scratch[k]->is_bound;
    return error;
}

int kmm__native_chunks_enqueue(int error)
{
    const kmm__native_chunks_t *c = kept.chunks;
    if (!error) {
        pthread_mutex_lock(&enqueuing);
        error = enqueue();
        pthread_mutex_unlock(&enqueuing);
        if (error)
            kmm__error_set(error, "%s:%d: %s: %s", c->file ? c->file : "?", c->line, c->name,
                           c->device->backend->error_text(c->device->backend));
    }
    forget();
    return error;
}
