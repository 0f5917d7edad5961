/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs against sequential execution. A program is some arrays for each of one to three
 * threads, and a list of operations on them: launches of kernels and functions with shifted,
 * strided, mirrored, whole and growing sections, reductions, copies, fills, ends and maps of
 * arrays, streams and marks on them. Pointers may lie before their array, or mapped memory, as
 * those of one-based arrays do. The threads have a runtime each, or one together and then also
 * an array that all read and a sum that all add to. Devices are pretended, or those of fake
 * drivers; host memory may be limited. Each program runs in a process of its own, so that a crash
 * or a hang is a failure like any other.
 *
 * LD_LIBRARY_PATH must name the fake drivers. KMM_ORACLE_PROGRAMS programs are run, from seed
 * KMM_SEED on, KMM_ORACLE_JOBS at a time; share.h divides them. One that fails is shrunk by
 * dropping operations while it still fails, and printed with the seed that repeats it;
 * KMM_ORACLE_KEEP lists what was left. KMM_ORACLE_DEVICES, "cuda" or "hip": all programs are run on
 * GPUs, the first of that kind; KMM_FAKE_HIP_WHOLE and KMM_FAKE_HIP_LANES say which form of AMD's
 * they are.
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kmm.h>

#include "fake_gpu.h"
#include "oracle.h"
#include "random.h"
#include "share.h"
#include "task/marker.h"

/* On a real GPU memory is mapped in pieces of 2 MiB, so arrays must be larger to spill, and the
 * grid is as large as it allows at most, where the last block has nothing to do. What is reduced is
 * few enough elements that sums of floats are exact. */
#ifdef KMM_TEST_DEVICE
enum {
    ON_DEVICE = 1,
    LARGEST = 600000,
    PIECE = 2 << 20,
    HOST_PIECE = 512 << 10,
    MOST_ROWS = 65534,
    LIMIT_S = 150
};
#else
enum {
    ON_DEVICE = 0,
    LARGEST = 20000,
    PIECE = 4096,
    HOST_PIECE = 4096,
    MOST_ROWS = 65534,
    LIMIT_S = 200
};
#endif
/* PAD: bytes before host memory that are in no array; FAR: elements that its pointers may lie
 * before it. */
enum {
    PAD = 512,
    FAR = PAD / 8,
    STREAMS = 3,
    DEPTH = 3,
    OPS = 24,
    THREADS = 3,
    MOST_REDUCED = 20000
};
static int gpu_count = 8; /* of each kind */

static const char *const op_names[] = {"launch", "reduce", "copy in", "copy out", "copy",
                                       "fill",   "renew",  "wait",    "nest",     "mark"};

typedef enum kind {
    MANAGED,
    MAPPED,
    RAW
} kind_t; /* RAW: host memory that is mapped for each launch */

typedef struct slot {
    kind_t kind;
    kmm_type_t type;
    kmm_map_t map; /* of what is MAPPED */
    int depth;     /* maps inside that one */
    int64_t n;
    void *base;  /* the array, or its host memory */
    void *model; /* what it should hold */
} slot_t;

typedef struct script {
    /* slot_count arrays, of which the last SUMS are short targets of reductions; behind them those
     * of all threads, if there are any: one that is only read, and a sum that is only added to. */
    slot_t slot[SLOTS + SUMS + SHARED];
    op_t op[OPS];
    int op_count, slot_count, number;
    bool has_shared;
    bool may_leave; /* host memory to the next wait: no other thread waits in its runtime, and
                       learns of its errors */
    const kmm_kernel_t *gpu_kernel;
    kmm_runtime_t *rt;
    kmm__marker_t *mark; /* the last one made */
    int error;           /* the first that a call returned */
    bool wrong;
} script_t;

typedef struct program {
    script_t script[THREADS];
    int script_count;
    bool apart; /* a runtime for each script */
    slot_t shared[SHARED];
    const kmm_kernel_t *gpu_kernel; /* for the kind of GPU among the devices, on which launches may
                                       run; NULL: none */
    int granule, jitter;            /* of its fake driver: bytes, us */
    int stagers;                    /* threads that copy mapped memory through buffers */
    bool locks;                     /* whether memory of the host is page-locked */
    const char *devices;            /* a format with the memory of a device */
    int64_t memory, most;
    int64_t host_memory; /* the limit, beyond which there is the disk; 0: none, and no disk */
    const char *disk;    /* how it is used */
    int64_t join; /* bytes that chunks are joined to, however few tasks that leaves; 0: as usual */
    uint32_t threads;
    uint64_t seed;
} program_t;

static manner_t manner_of(const script_t *s, const op_t *op)
{
    manner_t m = {.op = *op};
    for (int k = 0; k < SLOTS + SUMS + SHARED; k++)
        m.types[k] = s->slot[k].type;
    return m;
}

static void launch_model(script_t *s, const op_t *op)
{
    manner_t m = manner_of(s, op);
    int64_t hi[DIMS], i[DIMS];
    places_t p = {0};
    m.op.is_function = false; /* other threads add to the model of a shared sum */
    for (int k = 0; k < op->source_count; k++) {
        const slot_t *from = &s->slot[op->source[k].slot];
        p.source[k] = behind(from->model, op->shift - op->before[1 + k], from->type);
    }
    const slot_t *to = &s->slot[op->target];
    p.target = behind(to->model, (op->kind == LAUNCH ? op->shift : 0) - op->before[0], to->type);
    p.extra = op->extra >= 0 ? s->slot[op->extra].model : NULL;
    for (uint32_t d = 0; d < op->dims; d++) {
        if (op->length[d] == 0)
            return;
        hi[d] = op->lo[d] + op->length[d];
    }
    memcpy(i, op->lo, sizeof(i));
    do
        element(m.types, &m.op, i, &p);
    while (advance(op, i, op->lo, hi));
}

/* ---- The same as a kernel and as a function ---- */

typedef struct arguments {
    manner_t manner;
    places_t places;
} arguments_t;

/* One block of a kernel. */
static void run_block(const uint64_t block[3], void **args)
{
    const manner_t *m = args[0];
    places_t p = {*(void **)args[1], {*(void **)args[2], *(void **)args[3]}, *(void **)args[4]};
    uint32_t size[3] = {1, 1, 1};
    for (uint32_t d = 0; d < m->op.dims; d++)
        size[m->op.dims - 1 - d] = m->op.block[d];
    for (uint32_t t = 0; t < size[0] * size[1] * size[2]; t++)
        oracle_thread(m,
                      (uint64_t[3]){block[0] * size[0] + t % size[0],
                                    block[1] * size[1] + t / size[0] % size[1],
                                    block[2] * size[2] + t / size[0] / size[1]},
                      &p);
}

static void run_blocks(const kmm_host_blocks_t *b, void **args)
{
    for (uint64_t k = b->first; k < b->last; k++)
        run_block((uint64_t[3]){k % b->count[0] + b->offset[0],
                                k / b->count[0] % b->count[1] + b->offset[1],
                                k / b->count[0] / b->count[1] + b->offset[2]},
                  args);
}

static void run_chunk(const kmm_chunk_t *chunk, void *args)
{
    const arguments_t *a = args;
    const op_t *op = &a->manner.op;
    int64_t lo[DIMS], hi[DIMS], i[DIMS];
    for (uint32_t d = 0; d < op->dims; d++) {
        lo[d] = chunk->begin[op->dims - 1 - d];
        hi[d] = chunk->end[op->dims - 1 - d];
    }
    memcpy(i, lo, sizeof(i));
    do
        element(a->manner.types, op, i, &a->places);
    while (advance(op, i, lo, hi));
}

static const uint32_t bytes[] = {sizeof(kmm_blocks_t), sizeof(manner_t), 8, 8, 8, 8};
static const kmm_kernel_t kernel = {
    KMM_LAUNCH_VERSION, KMM_KIND_HOST, "oracle", run_blocks, NULL, 5, bytes + 1, 0, NULL};

/* A GPU that a program may have, and the kernel for it. `count`: how many of its kind there must
 * be. */
typedef struct gpus {
    const char *devices;
    const kmm_kernel_t *kernel;
    int count;
} gpus_t;

#ifdef KMM_TEST_DEVICE /* "cuda" or "hip" */
/* tests/device/oracle.cu; made known in the process that launches it. */
extern kmm_kernel_t oracle_kernel;
int oracle_kernel_find(void);

static const gpus_t gpus[] = {
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

static int run_warp(const fake_warp_t *w, const uint64_t block[3], void **args)
{
    const manner_t *m = args[0];
    places_t p = {*(void **)args[1], {*(void **)args[2], *(void **)args[3]}, *(void **)args[4]};
    int64_t i[64][DIMS];
    uint32_t count = 0;
    for (uint32_t t = w->first; t < w->first + w->count; t++)
        count += point_of(&m->op,
                          (uint64_t[3]){block[0] * w->size[0] + t % w->size[0],
                                        block[1] * w->size[1] + t / w->size[0] % w->size[1],
                                        block[2] * w->size[2] + t / w->size[0] / w->size[1]},
                          i[count]);
    run_lanes(m, &p, count, (const int64_t (*)[DIMS])i);
    return 0;
}

static int run_whole(const fake_warp_t *w, void **args)
{
    return run_warp(w, (uint64_t[3]){w->block[0], w->block[1], w->block[2]}, args);
}

static int run_clone(const fake_warp_t *w, void **args)
{
    const kmm_blocks_t *b = args[0];
    return run_warp(w,
                    (uint64_t[3]){w->block[0] + b->offset_x, w->block[1] + b->offset_y,
                                  w->block[2] + b->offset_z},
                    args + 1);
}

static int oracle_kernel_find(void)
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

static const gpus_t gpus[] = {
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

/* ---- Describing a launch ---- */

static void describe_sections(kmm_launch_t *l, const op_t *op, const slot_t *slot,
                              const section_t c[DIMS], int64_t before)
{
    bool flat = op->flat && op->dims == 1 && (slot->kind != RAW || before);
    for (uint32_t d = 0; d < op->dims && !flat; d++)
        kmm_launch_extent(l, d == 0 && op->open_extent && slot->kind != RAW ? KMM_WHOLE
                                                                            : op->extent[d]);
    for (uint32_t d = 0; d < op->dims; d++) {
        kmm_launch_index(l, c[d].whole ? 0 : c[d].offset + before,
                         c[d].whole ? KMM_WHOLE : c[d].length);
        if (!c[d].whole)
            kmm_launch_coef(l, d, c[d].scale, c[d].growth);
    }
}

/* An update that stores all its elements may be said in two items. */
static bool is_halved(const op_t *op)
{
    return op->mode == KMM_UPDATE && !op->skips && op->salt % 2;
}

static void describe(kmm_launch_t *l, const script_t *s, const op_t *op, const places_t *p)
{
    static const char *const names[] = {"a", "b", "c"};
    for (uint32_t d = 0; d < op->dims; d++) {
        kmm_source_t source =
            (kmm_source_t)((op->is_function ? KMM_RANGE_0 : KMM_GLOBAL_X) + op->dims - 1 - d);
        kmm_source_t blocks =
            (kmm_source_t)(op->in_blocks ? (unsigned)KMM_BLOCK_X + op->dims - 1 - d
                                         : (unsigned)source);
        kmm_launch_axis(l, names[d], source, op->lo[d], op->length[d]);
        if (op->chunk[d])
            kmm_launch_chunk(l, op->is_function ? source : blocks, op->chunk[d]);
    }
    kmm_launch_if(l, !op->has_if);
    kmm_launch_schedule(l, op->schedule);
    kmm_launch_priority(l, op->priority);
    if (op->on_first)
        kmm_launch_device(l, KMM_ON_DEVICE, 0);
    if (op->nowait)
        kmm_launch_nowait(l);
    for (int k = 0; k < op->source_count; k++) {
        const slot_t *from = &s->slot[op->source[k].slot];
        kmm_launch_access(l, KMM_READ, k ? "source1" : "source0", p->source[k],
                          type_bytes(from->type));
        describe_sections(l, op, from, op->source[k].section, op->before[1 + k]);
    }
    if (op->extra >= 0) {
        kmm_launch_access(l, KMM_READ, "extra", p->extra, type_bytes(s->slot[op->extra].type));
        kmm_launch_index(l, 0, SUM_LENGTH);
    }
    const slot_t *to = &s->slot[op->target];
    if (op->kind == REDUCE) {
        kmm_launch_reduce(l, op->op, to->type, "sum", p->target);
        kmm_launch_index(l, op->begin + op->before[0], op->count);
        return;
    }
    for (int k = 0; k < (is_halved(op) ? 2 : 1); k++) {
        kmm_mode_t half = (op->salt / 2 + k) % 2 ? KMM_READ : KMM_WRITE;
        kmm_launch_access(l, is_halved(op) ? half : op->mode, "target", p->target,
                          type_bytes(to->type));
        describe_sections(l, op, to, op->out, op->before[0]);
    }
}

/* Streams are names. */
static void *stream_of(int k)
{
    static char names[STREAMS];
    return k ? &names[k] : NULL;
}

/* A logical reduction makes 0 or 1 of what it touches, so that is what it starts from. */
static int make_logical(script_t *s, const op_t *op)
{
    slot_t *t = &s->slot[op->target];
    int64_t size = (int64_t)type_bytes(t->type);
    for (int64_t k = 0; k < op->count; k++)
        put(t->type, t->model, op->begin + k, (k + op->salt) % 2);
    if (t->kind == RAW) {
        int error = kmm_wait(s->rt);
        memcpy((char *)t->base + op->begin * size, (char *)t->model + op->begin * size,
               (size_t)(op->count * size));
        return error;
    }
    return kmm_copy_in(s->rt, (char *)t->base + op->begin * size,
                       (char *)t->model + op->begin * size, (size_t)(op->count * size));
}

static int launch(script_t *s, const op_t *op)
{
    arguments_t a = {manner_of(s, op), {0}};
    for (int k = 0; k < op->source_count; k++) {
        const slot_t *from = &s->slot[op->source[k].slot];
        a.places.source[k] = behind(from->base, op->shift - op->before[1 + k], from->type);
    }
    const slot_t *to = &s->slot[op->target];
    a.places.target =
        behind(to->base, (op->kind == LAUNCH ? op->shift : 0) - op->before[0], to->type);
    a.places.extra = op->extra >= 0 ? s->slot[op->extra].base : NULL;
    kmm_launch_t *l = kmm_launch_begin("oracle", "program", (int)(op - s->op));
    describe(l, s, op, &a.places);
    if (op->is_function)
        return kmm_launch_call(l, run_chunk, &a, sizeof(a));
    kmm_geometry_t g = {{1, 1, 1}, {1, 1, 1}, 0, stream_of(op->stream)};
    for (uint32_t d = 0; d < op->dims; d++) {
        uint32_t c = op->dims - 1 - d;
        g.block[c] = op->block[d];
        g.grid[c] = (uint32_t)((op->lo[d] + op->length[d] + op->block[d]) / op->block[d] +
                               (c ? 0 : op->salt % 4));
    }
    kmm_blocks_t blocks = {0};
    void *args[] = {
        &blocks,        &a.manner, &a.places.target, &a.places.source[0], &a.places.source[1],
        &a.places.extra};
    bool on_gpu = op->on_gpu && s->gpu_kernel;
    kmm_launch_arm(l);
    return kmm_launch_kernel(on_gpu ? s->gpu_kernel : &kernel, &g, on_gpu ? args : args + 1);
}

/* ---- Running a script ---- */

static void complain(script_t *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(script_t *s, const char *format, ...)
{
    va_list args;
    s->wrong = true;
    va_start(args, format);
    fprintf(stderr, "thread %d: ", s->number);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static void compare(script_t *s, int op, int slot, const void *got, int64_t begin, int64_t count)
{
    const slot_t *t = &s->slot[slot];
    size_t size = type_bytes(t->type);
    const char *want = (const char *)t->model + begin * (int64_t)size;
    if (s->wrong || !memcmp(got, want, (size_t)count * size))
        return;
    for (int64_t k = 0; k < count; k++)
        if (memcmp((const char *)got + k * (int64_t)size, want + k * (int64_t)size, size)) {
            complain(s, "op %d: slot %d element %lld is %lld, should be %lld", op, slot,
                     (long long)(begin + k), (long long)get(t->type, got, k),
                     (long long)get(t->type, want, k));
            return;
        }
}

static int slot_create(script_t *s, slot_t *t)
{
    size_t size = type_bytes(t->type), bytes = (size_t)t->n * size;
    if (t->kind == MANAGED) {
        kmm_shape_t shape = {.dims = 1, .extent = {t->n}, .element_bytes = size};
        return kmm_array_create(s->rt, &shape, &t->base);
    }
    if (!t->base)
        t->base = (char *)calloc(PAD + bytes, 1) + PAD;
    return t->kind == MAPPED ? kmm_map(s->rt, KMM_MAP_TOFROM, t->base, bytes) : 0;
}

/* What is behind the arrays of a script, for as long as its host memory is mapped. What was mapped
 * `from` or `alloc` is written before it is read. */
static int slot_begin(script_t *s, slot_t *t)
{
    size_t bytes = (size_t)t->n * type_bytes(t->type);
    bool written = t->kind == MANAGED ||
                   (t->kind == MAPPED && (t->map == KMM_MAP_FROM || t->map == KMM_MAP_ALLOC));
    t->depth = 0;
    int error = slot_create(s, t);
    return error || !written ? error : kmm_copy_in(s->rt, t->base, t->model, bytes);
}

/* Ends all maps of a slot, or waits for what only a launch maps; then the host's memory has what it
 * should. */
static int host_settle(script_t *s, int op, int slot)
{
    slot_t *t = &s->slot[slot];
    size_t bytes = (size_t)t->n * type_bytes(t->type);
    int error = 0;
    if (t->kind == RAW)
        error = kmm_wait(s->rt);
    if (t->kind == MAPPED && t->map == KMM_MAP_ALLOC) {
        char *got = malloc(bytes);
        error = kmm_copy_out(s->rt, got, t->base, bytes);
        if (!error)
            compare(s, op, slot, got, 0, t->n);
        free(got);
    }
    for (; t->kind == MAPPED && t->depth >= 0 && !error; t->depth--)
        error = kmm_unmap(s->rt, t->base);
    if (!error && !(t->kind == MAPPED && t->map == KMM_MAP_ALLOC))
        compare(s, op, slot, t->base, 0, t->n);
    return error;
}

/* An array ends, with work on it perhaps under way, and another one takes its place; a map ends and
 * begins. */
static int renew(script_t *s, const op_t *op)
{
    slot_t *t = &s->slot[op->target];
    size_t bytes = (size_t)t->n * type_bytes(t->type);
    int error = t->kind == MANAGED ? kmm_array_destroy(s->rt, t->base)
                                   : host_settle(s, (int)(op - s->op), op->target);
    if (error)
        return error;
    memset(t->model, op->value, bytes);
    if (t->kind != MANAGED)
        memset(t->base, op->value, bytes);
    return slot_begin(s, t);
}

/* Maps inside a map change nothing; one that lies across its end is refused. */
static int nest(script_t *s, const op_t *op)
{
    slot_t *t = &s->slot[op->target];
    int64_t size = (int64_t)type_bytes(t->type);
    if (op->value == 0 && t->depth > 0) {
        t->depth--;
        return kmm_unmap(s->rt, t->base);
    }
    if (op->value == 1 &&
        kmm_map(s->rt, KMM_MAP_TOFROM, (char *)t->base + t->n * size - 1, 2) != KMM_E_INVALID)
        complain(s, "op %d: a map across the end of another was not refused", (int)(op - s->op));
    if (op->value != 2 || t->depth == DEPTH || op->count == 0)
        return 0;
    t->depth++;
    return kmm_map(s->rt, (kmm_map_t)(op->salt % 4), (char *)t->base + op->begin * size,
                   (size_t)(op->count * size));
}

static int mark(script_t *s, const op_t *op)
{
    void *stream = stream_of(op->stream);
    int error = 0;
    if (op->value == MARK_MAKE || !s->mark) {
        kmm__marker_release(s->mark);
        s->mark = NULL;
        return kmm__marker_create(
            s->rt, op->salt % 4 ? stream : (void *)(uintptr_t)&kmm__all_streams, &s->mark);
    }
    if (op->value == MARK_PRECEDE)
        return kmm__marker_precede(s->mark, stream);
    error = kmm__marker_wait(s->mark);
    if (!error && kmm__marker_query(s->mark) != 1)
        complain(s, "op %d: a mark that was waited for is not reached", (int)(op - s->op));
    return error;
}

static int step(script_t *s, op_t *op)
{
    slot_t *t = &s->slot[op->target], *from = &s->slot[op->other];
    int64_t size = (int64_t)type_bytes(t->type);
    size_t bytes = (size_t)(op->count * size);
    char *at = (char *)t->base + op->begin * size, *model = (char *)t->model + op->begin * size,
         *buffer;
    int error = 0;
    switch (op->kind) {
    case LAUNCH:
    case REDUCE:
        if (op->kind == REDUCE && (op->op == KMM_OP_LAND || op->op == KMM_OP_LOR))
            error = make_logical(s, op);
        launch_model(s, op);
        return error ? error : launch(s, op);
    case COPY_IN:
        for (int64_t k = 0; k < op->count; k++)
            put(t->type, t->model, op->begin + k, (k * 13 + op->salt) % MODULUS);
        buffer = malloc(bytes + 1);
        memcpy(buffer, model, bytes);
        error = kmm_copy_in(s->rt, at, buffer, bytes);
        memset(buffer, 0xee, bytes);
        free(buffer);
        return error;
    case COPY_OUT:
        buffer = malloc(bytes + 1);
        error = kmm_copy_out(s->rt, buffer, at, bytes);
        if (!error)
            compare(s, (int)(op - s->op), op->target, buffer, op->begin, op->count);
        free(buffer);
        return error;
    case COPY:
        memmove(model, (char *)from->model + op->other_begin * size, bytes);
        return kmm_copy(s->rt, at, (char *)from->base + op->other_begin * size, bytes);
    case FILL: memset(model, op->value, bytes); return kmm_fill(s->rt, at, op->value, bytes);
    case RENEW: return renew(s, op);
    case WAIT: return kmm_wait(s->rt);
    case NEST: return t->kind == MAPPED ? nest(s, op) : 0;
    case MARK: return mark(s, op);
    }
    return 0;
}

static void check_all(script_t *s)
{
    for (int k = 0; k < s->slot_count && !s->error; k++) {
        slot_t *t = &s->slot[k];
        size_t bytes = (size_t)t->n * type_bytes(t->type);
        if (t->kind != MANAGED) {
            s->error = host_settle(s, OPS, k);
            continue;
        }
        char *got = malloc(bytes);
        s->error = kmm_copy_out(s->rt, got, t->base, bytes);
        if (!s->error)
            compare(s, OPS, k, got, 0, t->n);
        free(got);
    }
}

static void *run_script(void *arg)
{
    script_t *s = arg;
    kmm_use(s->rt);
    for (int k = 0; k < s->slot_count; k++) {
        slot_t *t = &s->slot[k];
        t->base = NULL;
        t->model = calloc((size_t)t->n, type_bytes(t->type));
        s->error = s->error ? s->error : slot_begin(s, t);
    }
    for (int k = 0; k < s->op_count && !s->error && !s->wrong; k++)
        if (!s->op[k].dropped)
            s->error = step(s, &s->op[k]);
    if (!s->wrong)
        check_all(s);
    if (s->error)
        fprintf(stderr, "thread %d: error %d: %s\n", s->number, s->error, kmm_error_text(s->rt));
    kmm__marker_release(s->mark);
    kmm_use(NULL);
    return NULL;
}

static void forget(program_t *p)
{
    for (int k = 0; k < p->script_count; k++)
        for (int t = 0; t < p->script[k].slot_count; t++) {
            slot_t *slot = &p->script[k].slot[t];
            free(slot->model);
            if (slot->kind != MANAGED && slot->base)
                free((char *)slot->base - PAD);
        }
    for (int k = 0; k < SHARED; k++)
        free(p->shared[k].model);
}

static void set_number(const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%lld", (long long)value);
    setenv(name, text, 1);
}

static int create(const program_t *p, kmm_runtime_t **out)
{
    char devices[64], join[32];
    snprintf(devices, sizeof(devices), p->devices, (long long)p->memory);
    setenv("KMM_SPILL_IO", p->disk, 1);
    set_number("KMM_FAKE_DEVICES", 8);
    set_number("KMM_FAKE_MEM", (int64_t)1 << 32);
    set_number("KMM_FAKE_GRANULE", p->granule);
    set_number("KMM_FAKE_JITTER_US", p->jitter);
    set_number("KMM_STAGE_THREADS", p->stagers);
    set_number("KMM_STAGE_BYTES", 4096);
    set_number("KMM_STAGE_TIMES", 2);
    setenv("KMM_PINNED_MEM", p->locks ? "" : "0", 1);
    snprintf(join, sizeof(join), "%lld,1,2", (long long)p->join);
    setenv("KMM_JOIN", p->join ? join : "", 1);
    int error = kmm_create(out, &(kmm_config_t){.devices = devices,
                                                .threads = p->threads,
                                                .host_mem = (uint64_t)p->host_memory});
    if (error)
        fprintf(stderr, "%s: %s\n", devices, kmm_error_text(NULL));
    return error;
}

/* What all threads read, and the sum that all of them add to. */
static int shared_begin(program_t *p, kmm_runtime_t *rt)
{
    for (int k = 0; k < SHARED; k++) {
        slot_t *t = &p->shared[k];
        size_t size = type_bytes(t->type), bytes = (size_t)t->n * size;
        kmm_shape_t shape = {.dims = 1, .extent = {t->n}, .element_bytes = size};
        t->model = malloc(bytes);
        for (int64_t i = 0; i < t->n; i++)
            put(t->type, t->model, i, i * 7 % MODULUS);
        int error = kmm_array_create(rt, &shape, &t->base);
        error = error ? error : kmm_copy_in(rt, t->base, t->model, bytes);
        if (error)
            return error;
        for (int j = 0; j < p->script_count; j++)
            p->script[j].slot[p->script[j].slot_count + k] = *t;
    }
    return 0;
}

static int shared_check(program_t *p, kmm_runtime_t *rt)
{
    script_t *s = &p->script[0];
    for (int k = 0; k < SHARED; k++) {
        slot_t *t = &p->shared[k];
        size_t bytes = (size_t)t->n * type_bytes(t->type);
        char *got = malloc(bytes);
        int error = kmm_copy_out(rt, got, t->base, bytes);
        if (!error)
            compare(s, OPS, s->slot_count + k, got, 0, t->n);
        free(got);
        if (error)
            return error;
    }
    return 0;
}

typedef enum outcome { RIGHT, WRONG, TOO_SMALL } outcome_t;

/* Takes note of an error that need not be wrong. */
static bool is_wrong(int error, bool *small)
{
    *small |= error == KMM_E_MEMORY || error == KMM_E_POISONED;
    return error && error != KMM_E_MEMORY && error != KMM_E_POISONED;
}

static outcome_t run_threads(program_t *p)
{
    pthread_t thread[THREADS];
    bool wrong = false, small = false;
    for (int k = 0; k < p->script_count; k++)
        pthread_create(&thread[k], NULL, run_script, &p->script[k]);
    for (int k = 0; k < p->script_count; k++) {
        pthread_join(thread[k], NULL);
        wrong |= p->script[k].wrong || is_wrong(p->script[k].error, &small);
    }
    if (p->script[0].has_shared && !wrong && !small)
        wrong = is_wrong(shared_check(p, p->script[0].rt), &small) || p->script[0].wrong;
    return wrong ? WRONG : small ? TOO_SMALL : RIGHT;
}

static outcome_t run_once(program_t *p)
{
    kmm_runtime_t *rt[THREADS] = {NULL};
    int runtimes = p->apart ? p->script_count : 1;
    bool small = false;
    outcome_t result = RIGHT;
    for (int k = 0; k < runtimes; k++)
        if (create(p, &rt[k]))
            return WRONG;
    for (int k = 0; k < p->script_count; k++) {
        p->script[k].rt = rt[p->apart ? k : 0];
        p->script[k].error = 0;
        p->script[k].mark = NULL;
    }
    if (p->script[0].has_shared)
        result = is_wrong(shared_begin(p, rt[0]), &small) ? WRONG : small ? TOO_SMALL : RIGHT;
    if (result == RIGHT)
        result = run_threads(p);
    for (int k = 0; k < runtimes; k++) {
        int error = kmm_destroy(rt[k]);
        if (!is_wrong(error, &small) || result == TOO_SMALL)
            continue;
        fprintf(stderr, "end: %s\n", kmm_error_text(NULL));
        result = WRONG;
    }
    forget(p);
    return result == RIGHT && small ? TOO_SMALL : result;
}

/* Whether all devices can use the host's memory for what they have no room for. */
static bool may_be_host_backed(const program_t *p)
{
    return !ON_DEVICE && !p->host_memory && !strstr(p->devices, "hip");
}

/* A chunk may need more than the device has, and nothing else be allowed; then the program must
 * fail in an orderly way, and run with more. */
static bool run_program(program_t *p)
{
    if (may_be_host_backed(p)) {
        outcome_t o = run_once(p);
        if (o == TOO_SMALL)
            fprintf(stderr, "is refused for want of memory, where the host's can be used\n");
        return o == RIGHT;
    }
    for (; p->memory <= p->most; p->memory *= 2, p->host_memory *= 2) {
        outcome_t o = run_once(p);
        if (o != TOO_SMALL)
            return o == RIGHT;
    }
    fprintf(stderr, "out of memory with all that it could need\n");
    return false;
}

/* ---- Making programs ---- */

static void random_view(rng_t *r, op_t *op, int64_t n)
{
    op->shift = rng_range(r, 0, 2) ? 0 : rng_range(r, 0, n / 4);
    op->dims = (uint32_t)rng_range(r, 1, DIMS);
    n -= op->shift;
    int64_t inner = 1, most = op->dims == 3 ? 24 : 130;
    for (uint32_t d = op->dims; d-- > 1;) {
        op->extent[d] = rng_range(r, 1, most);
        if (inner * op->extent[d] > n)
            op->extent[d] = 1;
        inner *= op->extent[d];
    }
    op->extent[0] = op->dims > 1 && n / inner > MOST_ROWS ? MOST_ROWS : n / inner;
    op->open_extent = rng_range(r, 0, 2) == 0;
    op->flat = rng_range(r, 0, 1);
}

/* Elements of the target that one point of the launch has to itself. */
static int64_t random_out(rng_t *r, section_t *c, int64_t extent)
{
    *c = (section_t){.scale = 1, .length = 1};
    if (rng_range(r, 0, 3) == 0) {
        c->scale = rng_range(r, 1, 3);
        c->length = rng_range(r, 1, c->scale);
        c->offset = rng_range(r, 0, 2);
    }
    if (c->offset + c->length > extent)
        *c = (section_t){.scale = 1, .length = 1};
    return (extent - c->offset - c->length) / c->scale + 1;
}

static section_t random_section(rng_t *r, int64_t extent, bool inner)
{
    section_t c = {.scale = 1, .length = 1};
    switch (rng_range(r, 0, 7)) {
    case 0:
    case 1: break;
    case 2:
    case 3:
    case 4:
        c.offset = -rng_range(r, 0, 2);
        c.length = rng_range(r, 1, 4);
        break;
    case 5:
        c.scale = rng_range(r, 0, 2);
        c.offset = rng_range(r, -3, extent);
        c.length = rng_range(r, 0, 3);
        break;
    case 6:
        c.scale = -1;
        c.offset = extent - 1;
        break;
    case 7:
        c.whole = rng_range(r, 0, 1);
        c.growth = inner && !c.whole && extent < 200;
        break;
    }
    return c;
}

/* One of the first slots that may be written. */
static int random_target(rng_t *r, const script_t *s, int count)
{
    int k = (int)rng_range(r, 0, count - 1);
    while (s->slot[k].kind == MAPPED && s->slot[k].map == KMM_MAP_TO)
        k = (k + 1) % count; /* the first never is */
    return k;
}

/* How a launch is run, whatever it does. */
static void random_manner(rng_t *r, const script_t *s, op_t *op)
{
    op->is_function = rng_range(r, 0, 2) == 0;
    op->on_gpu = s->gpu_kernel && !op->is_function && rng_range(r, 0, 4);
    op->in_blocks = rng_range(r, 0, 3) == 0;
    op->has_if = rng_range(r, 0, 19) == 0;
    op->nowait = s->may_leave && rng_range(r, 0, 3) == 0;
    op->on_first = rng_range(r, 0, 9) == 0;
    op->schedule = rng_range(r, 0, 2) ? KMM_SCHEDULE_LOCALITY : (kmm_schedule_t)rng_range(r, 0, 2);
    op->priority = rng_range(r, 0, 2) ? 0 : (int)rng_range(r, -1, 1);
    op->stream = rng_range(r, 0, 1) ? 0 : (int)rng_range(r, 0, STREAMS - 1);
}

/* What is read of the target lies behind all that is written. */
static void part_sources(op_t *op)
{
    int64_t written =
        op->out[0].scale * (op->lo[0] + op->length[0] - 1) + op->out[0].offset + op->out[0].length;
    for (int k = 0; k < op->source_count; k++) {
        section_t *c = &op->source[k].section[0];
        if (op->kind == LAUNCH && op->source[k].slot == op->target)
            *c = (section_t){.scale = 1, .offset = written - op->lo[0], .length = 1 + op->salt % 3};
    }
}

/* Whether the section lies in the view for every index of a launch in one dimension. */
static bool is_inside(const op_t *op, const section_t *c)
{
    for (int k = 0; k < 2; k++) {
        int64_t i = op->lo[0] + (k ? op->length[0] - 1 : 0), lo = c->scale * i + c->offset,
                hi = lo + c->length + c->growth * i;
        if (lo < 0 || hi > op->extent[0] || hi <= lo)
            return false;
    }
    return !c->whole;
}

/* Where the pointers lie. Those before an array by more than an element might lie in another. */
static void random_before(rng_t *r, const script_t *s, op_t *op)
{
    if (op->kind == REDUCE && rng_range(r, 0, 1)) /* s + 3 with [0:n] */
        op->before[0] = -op->begin;
    if (op->dims > 1 || !op->flat || op->length[0] == 0)
        return;
    for (int k = 0; k <= op->source_count; k++) {
        int slot = k ? op->source[k - 1].slot : op->target;
        const section_t *c = k ? op->source[k - 1].section : op->out;
        int64_t far = slot < s->slot_count && s->slot[slot].kind != MANAGED ? FAR : 1;
        if ((k || op->kind == LAUNCH) && rng_range(r, 0, 2) == 0 && is_inside(op, c))
            op->before[k] = rng_range(r, 1, far) + op->shift * (far > 1);
    }
}

/* Each chunk reads all of the sources. */
static void make_gather(op_t *op)
{
    for (int k = 0; k < op->source_count; k++)
        for (uint32_t d = 0; d < op->dims; d++)
            op->source[k].section[d] = (section_t){.length = 1, .whole = true};
}

static void random_launch(rng_t *r, const script_t *s, op_t *op)
{
    int64_t n = s->slot[0].n;
    int big = s->slot_count - SUMS;
    random_view(r, op, n);
    random_manner(r, s, op);
    op->source_count = (int)rng_range(r, 0, 2);
    op->extra = rng_range(r, 0, 5) ? -1 : (int)rng_range(r, big, s->slot_count - 1);
    if (op->kind == REDUCE) {
        static const kmm_op_t ops[] = {KMM_OP_ADD, KMM_OP_MIN,  KMM_OP_MAX, KMM_OP_LAND, KMM_OP_LOR,
                                       KMM_OP_MUL, KMM_OP_BXOR, KMM_OP_BOR, KMM_OP_BAND};
        bool together = s->has_shared && rng_range(r, 0, 2) == 0;
        op->target = together ? s->slot_count + 1 : (int)rng_range(r, big, s->slot_count - 1);
        op->op = together ? KMM_OP_ADD
                          : ops[rng_range(r, 0, s->slot[op->target].type >= KMM_FLOAT ? 4 : 8)];
        op->begin = rng_range(r, 0, SUM_LENGTH - 1);
        op->count = rng_range(r, 1, SUM_LENGTH - op->begin);
        op->extra = op->extra == op->target ? -1 : op->extra;
    } else {
        op->target = random_target(r, s, big);
        op->mode = rng_range(r, 0, 1) ? KMM_WRITE : KMM_UPDATE;
        op->skips = op->mode == KMM_UPDATE && rng_range(r, 0, 1);
    }
    for (int k = 0; k < op->source_count; k++) {
        op->source[k].slot = (int)rng_range(r, 0, big - 1);
        if (op->source[k].slot == op->target && rng_range(r, 0, 1))
            op->source[k].slot = (op->target + 1) % big;
        if (s->has_shared && rng_range(r, 0, 4) == 0)
            op->source[k].slot = s->slot_count;
        for (uint32_t d = 0; d < op->dims; d++)
            op->source[k].section[d] = random_section(r, op->extent[d], d + 1 == op->dims);
    }
    bool none = rng_range(r, 0, 40) == 0, part = rng_range(r, 0, 2) == 0,
         splits = rng_range(r, 0, 5);
    int64_t work = 1;
    for (uint32_t d = 0; d < op->dims; d++) {
        int64_t points = random_out(r, &op->out[d], op->extent[d]);
        op->lo[d] = part ? rng_range(r, 0, points - 1) : 0;
        op->length[d] = part ? rng_range(r, 1, points - op->lo[d]) : points;
        op->length[d] = none && d == 0 ? 0 : op->length[d];
        work *= op->length[d];
        while (op->kind == REDUCE && work > MOST_REDUCED) {
            work = work / op->length[d] * (op->length[d] / 2);
            op->length[d] /= 2;
        }
        op->block[d] = (uint32_t)(d + 1 == op->dims ? rng_range(r, 1, 64) : rng_range(r, 1, 4));
        int64_t unit = op->in_blocks && !op->is_function ? op->block[d] : 1;
        if (splits && rng_range(r, 0, 3))
            op->chunk[d] =
                1 + (op->lo[d] + op->length[d]) / rng_range(r, 1, op->dims == 1 ? 40 : 6) / unit;
    }
    if (rng_range(r, 0, 7) == 0)
        make_gather(op);
    part_sources(op);
    random_before(r, s, op);
}

static void random_range(rng_t *r, const script_t *s, op_t *op)
{
    int64_t n = s->slot[op->target].n;
    bool whole = rng_range(r, 0, 2) == 0;
    op->begin = whole ? 0 : rng_range(r, 0, n - 1);
    op->count = whole ? n : rng_range(r, 0, n - op->begin);
}

static void random_op(rng_t *r, const script_t *s, op_t *op)
{
    static const op_kind_t kinds[] = {LAUNCH, LAUNCH, LAUNCH, LAUNCH, LAUNCH,  LAUNCH,
                                      LAUNCH, REDUCE, REDUCE, REDUCE, COPY_IN, COPY_OUT,
                                      COPY,   FILL,   RENEW,  WAIT,   NEST,    MARK};
    static const int values[] = {0, 0, 1, 0x41};
    *op = (op_t){.kind = kinds[rng_range(r, 0, 17)], .salt = rng_range(r, 0, 1000), .extra = -1};
    if (op->kind == LAUNCH || op->kind == REDUCE) {
        random_launch(r, s, op);
        return;
    }
    op->target = (int)rng_range(r, 0, s->slot_count - 1);
    op->value = op->target < s->slot_count - SUMS ? values[rng_range(r, 0, 3)] : 0;
    if (op->kind == MARK || op->kind == NEST) {
        op->value = (int)rng_range(r, 0, 2);
        op->stream = (int)rng_range(r, 0, STREAMS - 1);
        random_range(r, s, op);
    }
    if (op->kind == RENEW || op->kind == WAIT || op->kind == MARK || op->kind == NEST)
        return;
    if (op->kind != COPY_OUT)
        op->target = random_target(r, s, s->slot_count);
    if (s->slot[op->target].kind == RAW)
        op->target = s->slot_count - 1;
    random_range(r, s, op);
    op->other = op->target;
    for (int k = 0; k < s->slot_count - SUMS;
         k++) /* another of the type and length, if there is one */
        if (s->slot[k].type == s->slot[op->target].type && s->slot[k].n == s->slot[op->target].n &&
            s->slot[k].kind != RAW && rng_range(r, 0, 1))
            op->other = k;
    op->other_begin = rng_range(r, 0, s->slot[op->other].n - op->count);
    op->value = op->target < s->slot_count - SUMS ? op->value : 0;
}

static int64_t random_script(rng_t *r, script_t *s)
{
    static const kmm_type_t types[] = {KMM_INT32,  KMM_FLOAT, KMM_DOUBLE, KMM_UINT8,  KMM_INT16,
                                       KMM_UINT16, KMM_INT64, KMM_INT8,   KMM_UINT32, KMM_UINT64};
    static const int64_t sizes[] = {300, 4000, ON_DEVICE ? LARGEST / 4 : 4000, LARGEST};
    int64_t n = rng_range(r, 1, sizes[rng_range(r, 0, 3)]), total = 0;
    s->slot_count = (int)rng_range(r, 2, SLOTS) + SUMS;
    for (int k = 0; k < s->slot_count; k++) {
        slot_t *t = &s->slot[k];
        bool sum = k >= s->slot_count - SUMS;
        t->kind = sum || rng_range(r, 0, 4) ? MANAGED : rng_range(r, 0, 2) ? MAPPED : RAW;
        if (k == s->slot_count - SUMS && rng_range(r, 0, 1))
            t->kind = RAW; /* a reduction's region begins behind its pointer */
        t->type = types[rng_range(
            r, 0, sum ? 8 : 9)]; /* values are compared as signed: no large ones without sign */
        t->map = k ? (kmm_map_t)rng_range(r, 0, 3) : KMM_MAP_TOFROM;
        t->n = sum ? SUM_LENGTH : n;
        total += t->n * (int64_t)type_bytes(t->type) + 3 * PIECE;
    }
    s->op_count = (int)rng_range(r, 1, OPS);
    for (int k = 0; k < s->op_count; k++)
        random_op(r, s, &s->op[k]);
    return total;
}

static void random_shared(rng_t *r, program_t *p)
{
    bool has = p->script_count > 1 && !p->apart && rng_range(r, 0, 1);
    p->shared[0] =
        (slot_t){.kind = MANAGED, .type = rng_range(r, 0, 1) ? KMM_INT32 : KMM_UINT8, .n = LARGEST};
    p->shared[1] = (slot_t){.kind = MANAGED, .type = KMM_INT64, .n = SUM_LENGTH};
    for (int k = 0; k < p->script_count; k++) {
        p->script[k].number = k;
        p->script[k].gpu_kernel = p->gpu_kernel;
        p->script[k].may_leave = p->script_count == 1 || p->apart;
        p->script[k].has_shared = has;
    }
}

static void random_devices(rng_t *r, program_t *p)
{
    static const char *const plain[] = {"host",
                                        "host:1,mem=%lld",
                                        "host:2,mem=%lld",
                                        "host:3,mem=%lld",
                                        "host:4,mem=%lld",
                                        "host:2,mem=%lld,host"};
    p->granule = 4096 << (rng_range(r, 0, 3) ? 0 : 2);
    p->jitter = rng_range(r, 0, 2) ? 0 : (int)rng_range(r, 1, 200);
    const char *only = getenv("KMM_ORACLE_DEVICES");
    if (!ON_DEVICE && !only && rng_range(r, 0, 2)) {
        p->devices = plain[rng_range(r, 0, 5)];
        return;
    }
    int k = (int)rng_range(r, 0, sizeof(gpus) / sizeof(*gpus) - 1);
    while (!ON_DEVICE && only && strncmp(gpus[k].devices, only, strlen(only)))
        k = (int)rng_range(r, 0, sizeof(gpus) / sizeof(*gpus) - 1);
    while (gpus[k].count > gpu_count)
        k--; /* the first needs one */
    p->gpu_kernel = gpus[k].kernel;
    p->devices = gpus[k].devices;
    p->stagers = (int)rng_range(r, 0, 2);
}

/* "0.3 1.7": of thread 0 operation 3, of thread 1 operation 7, and no others. */
static void keep_only(program_t *p, const char *list)
{
    int thread, op, used;
    for (int t = 0; t < p->script_count; t++)
        for (int k = 0; k < p->script[t].op_count; k++)
            p->script[t].op[k].dropped = true;
    for (; sscanf(list, "%d.%d%n", &thread, &op, &used) == 2; list += used)
        if (thread >= 0 && thread < THREADS && op >= 0 && op < OPS)
            p->script[thread].op[op].dropped = false;
}

static void random_program(program_t *p, uint64_t seed)
{
    static const char *const disks[] = {"", "", "pread", "cached"};
    rng_t r = {seed};
    int64_t bytes = 0;
    memset(p, 0, sizeof(*p));
    p->seed = seed;
    random_devices(&r, p);
    p->threads = (uint32_t)rng_range(&r, 1, 4);
    p->script_count = rng_range(&r, 0, 2) ? 1 : (int)rng_range(&r, 2, THREADS);
    p->apart = rng_range(&r, 0, 2) == 0 &&
               !getenv("KMM_FAKE_MOST_LINKS"); /* each runtime counts its own */
    random_shared(&r, p);
    for (int k = 0; k < p->script_count; k++)
        bytes += random_script(&r, &p->script[k]);
    p->memory =
        rng_range(&r, 0, 3) ? PIECE * rng_range(&r, 4, ON_DEVICE ? 12 : 40) : (int64_t)4096 * PIECE;
    p->most = 64 * bytes +
              (ON_DEVICE ? (int64_t)8 << 30 : 64 << 20); /* partial copies of reductions too */
    p->disk = disks[rng_range(&r, 0, 3)];
    p->host_memory = rng_range(&r, 0, 1) ? HOST_PIECE * rng_range(&r, 40, 80) : 0;
    p->join = rng_range(&r, 0, 1) ? rng_range(&r, 64, 64 << 10) : 0;
    p->locks = rng_range(&r, 0, 3) > 0;
    if (getenv("KMM_ORACLE_KEEP"))
        keep_only(p, getenv("KMM_ORACLE_KEEP"));
}

/* ---- Running, shrinking, printing ---- */

/* Runs the program in a process of its own. */
static pid_t start(program_t *p, bool quiet)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(2);
    }
    if (child > 0)
        return child;
    alarm(LIMIT_S);
    if (quiet && !freopen("/dev/null", "w", stderr))
        _exit(2);
    if (oracle_kernel_find())
        exit(2);
    exit(run_program(p) ? 0 : 1);
}

static bool fails(program_t *p)
{
    int status;
    pid_t child = start(p, true);
    while (waitpid(child, &status, 0) != child)
        ;
    return status != 0;
}

/* A failure may depend on the order in which threads run. */
static bool fails_often(program_t *p)
{
    for (int k = 0; k < 4; k++)
        if (fails(p))
            return true;
    return false;
}

static void shrink(program_t *p)
{
    time_t end = time(NULL) + LIMIT_S;
    for (bool again = true; again;) {
        again = false;
        for (int t = 0; t < p->script_count; t++)
            for (int k = p->script[t].op_count; k-- > 0;) {
                op_t *op = &p->script[t].op[k];
                if (op->dropped || time(NULL) > end)
                    continue;
                op->dropped = true;
                op->dropped = fails_often(p);
                again |= op->dropped;
            }
    }
}

static void print_section(const section_t *c)
{
    if (c->whole)
        fprintf(stderr, "[:]");
    else
        fprintf(stderr, "[%lld*i%+lld:%lld%+lld*i]", (long long)c->scale, (long long)c->offset,
                (long long)c->length, (long long)c->growth);
}

static void print_op(const op_t *op, int k)
{
    fprintf(stderr, "  op %d: %s slot %d", k, op_names[op->kind], op->target);
    if (op->kind != LAUNCH && op->kind != REDUCE) {
        fprintf(stderr, " begin %lld count %lld other %d at %lld value %d\n", (long long)op->begin,
                (long long)op->count, op->other, (long long)op->other_begin, op->value);
        return;
    }
    fprintf(stderr, " mode %d op %d %s shift %lld extra %d stream %d schedule %d priority %d%s%s%s",
            op->mode, op->op,
            op->is_function ? "function"
            : op->on_gpu    ? "kernel of the GPU"
                            : "kernel",
            (long long)op->shift, op->extra, op->stream, op->schedule, op->priority,
            op->on_first ? " on the first device" : "", op->nowait ? " nowait" : "",
            op->has_if ? " in one chunk" : "");
    fprintf(stderr, " pointers before %lld %lld %lld", (long long)op->before[0],
            (long long)op->before[1], (long long)op->before[2]);
    if (op->kind == REDUCE)
        fprintf(stderr, " section %lld:%lld", (long long)op->begin, (long long)op->count);
    for (uint32_t d = 0; d < op->dims; d++) {
        fprintf(stderr, "\n    extent %lld range %lld:%lld chunk %lld%s block %u out ",
                (long long)op->extent[d], (long long)op->lo[d], (long long)op->length[d],
                (long long)op->chunk[d], op->in_blocks ? " blocks" : "", op->block[d]);
        print_section(&op->out[d]);
        for (int j = 0; j < op->source_count; j++) {
            fprintf(stderr, " slot %d", op->source[j].slot);
            print_section(&op->source[j].section[d]);
        }
    }
    fprintf(stderr, "\n");
}

/* What keep_only reads. */
static void print_kept(const program_t *p)
{
    for (int t = 0; t < p->script_count; t++)
        for (int k = 0; k < p->script[t].op_count; k++)
            if (!p->script[t].op[k].dropped)
                fprintf(stderr, "%d.%d ", t, k);
}

static void print_program(const program_t *p)
{
    fprintf(stderr, "devices ");
    fprintf(stderr, p->devices, (long long)p->memory);
    fprintf(stderr,
            ", %u threads of the host, %lld bytes of its memory (0: all), disk \"%s\", %s, granule "
            "%d, jitter %d us, %d stagers, %s, chunks joined to %lld bytes\n",
            p->threads, (long long)p->host_memory, p->disk,
            p->apart ? "a runtime for each thread" : "one runtime", p->granule, p->jitter,
            p->stagers, p->locks ? "memory page-locked" : "none page-locked", (long long)p->join);
    for (int t = 0; t < p->script_count; t++) {
        const script_t *s = &p->script[t];
        fprintf(stderr, "thread %d:", t);
        for (int k = 0; k < s->slot_count; k++)
            fprintf(stderr, " slot %d (kind %d map %d type %d n %lld)", k, s->slot[k].kind,
                    s->slot[k].map, s->slot[k].type, (long long)s->slot[k].n);
        fprintf(stderr, "\n");
        for (int k = 0; k < s->op_count; k++)
            if (!s->op[k].dropped)
                print_op(&s->op[k], k);
    }
}

static void report(uint64_t seed, int status)
{
    static program_t p;
    random_program(&p, seed);
    if (WIFSIGNALED(status))
        fprintf(stderr, "signal %d%s\n", WTERMSIG(status),
                WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
    fprintf(stderr, "FAILED; to repeat: KMM_ORACLE_PROGRAMS=1 KMM_SEED=%llu\n",
            (unsigned long long)seed);
    if (!getenv("KMM_ORACLE_NO_SHRINK"))
        shrink(&p);
    fprintf(stderr, "shrunk: KMM_ORACLE_KEEP=\"");
    print_kept(&p);
    fprintf(stderr, "\"\n");
    print_program(&p);
}

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atol(text) : otherwise;
}

typedef struct job {
    pid_t child;
    uint64_t seed;
} job_t;

int main(void)
{
    enum { JOBS = 16, MOST_FAILURES = 3 };
    static program_t p;
    job_t jobs[JOBS] = {{0, 0}};
    long count = number("KMM_ORACLE_PROGRAMS", 600), width = number("KMM_ORACLE_JOBS", 2),
         begun = 0, ended = 0;
    uint64_t seed = rng_seed();
    const share_t share = share_of_test();
    int failures = 0;
    const char *only = getenv("KMM_ORACLE_DEVICES");
    if (only && strcmp(only, "cuda") && strcmp(only, "hip")) {
        fprintf(stderr, "KMM_ORACLE_DEVICES is cuda or hip\n");
        return 2;
    }
    gpu_count = (int)number("KMM_TEST_GPUS", gpu_count);
    seed += (uint64_t)(count * (share.number - 1) / share.count);
    count = count * share.number / share.count - count * (share.number - 1) / share.count;
    width = width < 1 ? 1 : width > JOBS ? JOBS : width;
    while (ended < begun || (begun < count && failures < MOST_FAILURES)) {
        for (long k = 0; k < width && begun < count && failures < MOST_FAILURES; k++)
            if (!jobs[k].child) {
                random_program(&p, seed + (uint64_t)begun++);
                jobs[k] = (job_t){start(&p, false), p.seed};
            }
        int status;
        pid_t child = waitpid(-1, &status, 0);
        for (long k = 0; k < width; k++)
            if (child > 0 && jobs[k].child == child) {
                jobs[k].child = 0;
                ended++;
                failures += status != 0;
                if (status && failures <= MOST_FAILURES)
                    report(jobs[k].seed, status);
            }
    }
    fprintf(stderr, "%ld programs, %d failed\n", ended, failures);
    return failures ? 1 : 0;
}
