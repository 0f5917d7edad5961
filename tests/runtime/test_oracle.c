/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs against sequential execution. A program is some arrays for each of one to three
 * threads, and a list of operations on them: launches of kernels and functions with shifted, strided,
 * mirrored, whole and growing sections, reductions, copies, fills, ends and maps of arrays. Each
 * runs in a process of its own, so that a crash or a hang is a failure like any other.
 *
 * KMM_PROGRAMS programs are run, from seed KMM_SEED on. One that fails is shrunk by dropping
 * operations while it still fails, and printed with the seed that repeats it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kmm.h>

#include "random.h"

enum { DIMS = 3, SLOTS = 5, SUMS = 2, OPS = 24, THREADS = 3, SUM_LENGTH = 40, LIMIT_S = 60, MODULUS = 1021 };

typedef enum kind { MANAGED, MAPPED, RAW } kind_t; /* RAW: host memory that is mapped for each launch */

typedef struct slot {
    kind_t kind;
    kmm_type_t type;
    int64_t n;
    void *base;  /* the array, or its host memory */
    void *model; /* what it should hold */
} slot_t;

/* Indices [scale * i + offset, + length + growth * i) of one dimension; `whole`: all of them are named. */
typedef struct section { int64_t scale, offset, length, growth; bool whole; } section_t;

typedef struct source { int slot; section_t section[DIMS]; } source_t;

typedef enum op_kind { LAUNCH, REDUCE, COPY_IN, COPY_OUT, COPY, FILL, RENEW, WAIT } op_kind_t;
static const char *const op_names[] = { "launch", "reduce", "copy in", "copy out", "copy", "fill", "renew", "wait" };

typedef struct op {
    op_kind_t kind;
    bool dropped;
    /* Launches: a view of `dims` dimensions that begins at element `shift`, and where they work in it. */
    uint32_t dims;
    int64_t shift, extent[DIMS], lo[DIMS], length[DIMS], chunk[DIMS];
    uint32_t block[DIMS];
    bool is_function, open_extent, flat, whole_axes, in_blocks, has_if;
    source_t source[2];
    int source_count, extra; /* extra: a sum that is read whole, or -1 */
    int target;
    kmm_mode_t mode;
    kmm_op_t op;
    section_t out[DIMS];
    bool skips; /* an update that leaves some elements alone */
    int64_t salt;
    /* Copies and fills: */
    int64_t begin, count, other_begin;
    int other, value;
} op_t;

typedef struct script {
    slot_t slot[SLOTS + SUMS]; /* the last SUMS are short targets of reductions */
    op_t op[OPS];
    int op_count, slot_count, number;
    kmm_runtime_t *rt;
    int error;      /* the first that a call returned */
    bool wrong;
} script_t;

typedef struct program {
    script_t script[THREADS];
    int script_count;
    const char *devices; /* a format with the memory of a device */
    int64_t memory, most;
    int64_t host_memory;   /* the limit, beyond which there is the disk; 0: none, and no disk */
    const char *disk;      /* how it is used */
    uint32_t threads;
    uint64_t seed;
} program_t;

static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Elements ---- */

static size_t type_bytes(kmm_type_t t)
{
    static const size_t bytes[] = { 1, 2, 4, 8, 1, 2, 4, 8, 4, 8 };
    return bytes[t];
}

static int64_t get(kmm_type_t t, const void *base, int64_t k)
{
    switch (t) {
    case KMM_UINT8: return ((const uint8_t *)base)[k];
    case KMM_UINT16: return ((const uint16_t *)base)[k];
    case KMM_INT16: return ((const int16_t *)base)[k];
    case KMM_INT32: return ((const int32_t *)base)[k];
    case KMM_INT64: return ((const int64_t *)base)[k];
    case KMM_FLOAT: return (int64_t)((const float *)base)[k];
    case KMM_DOUBLE: return (int64_t)((const double *)base)[k];
    case KMM_INT8: case KMM_UINT32: case KMM_UINT64: break;
    case KMM_HALF: case KMM_BFLOAT16: case KMM_COMPLEX_FLOAT: case KMM_COMPLEX_DOUBLE: break;
    }
    abort();
}

static void put(kmm_type_t t, void *base, int64_t k, int64_t v)
{
    switch (t) {
    case KMM_UINT8: ((uint8_t *)base)[k] = (uint8_t)v; return;
    case KMM_UINT16: ((uint16_t *)base)[k] = (uint16_t)v; return;
    case KMM_INT16: ((int16_t *)base)[k] = (int16_t)v; return;
    case KMM_INT32: ((int32_t *)base)[k] = (int32_t)v; return;
    case KMM_INT64: ((int64_t *)base)[k] = v; return;
    case KMM_FLOAT: ((float *)base)[k] = (float)v; return;
    case KMM_DOUBLE: ((double *)base)[k] = (double)v; return;
    case KMM_INT8: case KMM_UINT32: case KMM_UINT64: break;
    case KMM_HALF: case KMM_BFLOAT16: case KMM_COMPLEX_FLOAT: case KMM_COMPLEX_DOUBLE: break;
    }
    abort();
}

static double combine_real(kmm_op_t op, double a, double b)
{
    return op == KMM_OP_ADD ? a + b : op == KMM_OP_MIN ? (b < a ? b : a) : (b > a ? b : a);
}

/* Element k becomes itself op v. */
static void combine(kmm_op_t op, kmm_type_t t, void *base, int64_t k, int64_t v)
{
    if (t == KMM_FLOAT) {
        float *p = (float *)base + k;
        *p = (float)combine_real(op, *p, (double)v);
        return;
    }
    if (t == KMM_DOUBLE) {
        double *p = (double *)base + k;
        *p = combine_real(op, *p, (double)v);
        return;
    }
    int64_t a = get(t, base, k);
    uint64_t x = (uint64_t)a, y = (uint64_t)v;
    switch (op) {
    case KMM_OP_ADD: x += y; break;
    case KMM_OP_MUL: x *= y; break;
    case KMM_OP_MIN: x = v < a ? y : x; break;
    case KMM_OP_MAX: x = v > a ? y : x; break;
    case KMM_OP_BAND: x &= y; break;
    case KMM_OP_BOR: x |= y; break;
    case KMM_OP_BXOR: x ^= y; break;
    case KMM_OP_LAND: case KMM_OP_LOR: case KMM_OP_ARGMIN: case KMM_OP_ARGMAX: abort();
    }
    put(t, base, k, (int64_t)x);
}

/* ---- What a launch does, element by element: the same code in chunks and in the model ---- */

/* Where the slots are, at element `shift`; sums at their beginning. */
typedef struct places { void *target, *source[2], *extra; } places_t;

static int64_t linear(const op_t *op, const int64_t x[DIMS])
{
    int64_t k = 0;
    for (uint32_t d = 0; d < op->dims; d++)
        k = k * op->extent[d] + x[d];
    return k;
}

static void section_range(const op_t *op, const section_t *c, uint32_t d, int64_t i, int64_t *lo, int64_t *hi)
{
    *lo = c->scale * i + c->offset;
    *hi = *lo + c->length + c->growth * i;
    if (c->whole) {
        *lo = (i * 7 + 3) % op->extent[d];
        *hi = *lo + 1;
    }
    *lo = *lo < 0 ? 0 : *lo;
    *hi = *hi > op->extent[d] ? op->extent[d] : *hi;
}

static bool section_box(const op_t *op, const section_t c[DIMS], const int64_t i[DIMS], int64_t lo[DIMS], int64_t hi[DIMS])
{
    bool any = true;
    for (uint32_t d = 0; d < op->dims; d++) {
        section_range(op, &c[d], d, i[d], &lo[d], &hi[d]);
        any &= lo[d] < hi[d];
    }
    return any;
}

static bool advance(const op_t *op, int64_t x[DIMS], const int64_t lo[DIMS], const int64_t hi[DIMS])
{
    for (uint32_t d = op->dims; d-- > 0;) {
        if (++x[d] < hi[d])
            return true;
        x[d] = lo[d];
    }
    return false;
}

static uint64_t gather(const script_t *s, const op_t *op, int k, const int64_t i[DIMS], const void *base)
{
    int64_t lo[DIMS], hi[DIMS], x[DIMS];
    uint64_t v = 0;
    kmm_type_t type = s->slot[op->source[k].slot].type;
    if (!section_box(op, op->source[k].section, i, lo, hi))
        return 0;
    memcpy(x, lo, sizeof(x));
    do {
        int64_t at = linear(op, x);
        v += (uint64_t)get(type, base, at) * (uint64_t)(at % 5 + 1);
    } while (advance(op, x, lo, hi));
    return v;
}

static void scatter(const script_t *s, const op_t *op, const int64_t i[DIMS], void *base, uint64_t v)
{
    int64_t lo[DIMS], hi[DIMS], x[DIMS];
    kmm_type_t type = s->slot[op->target].type;
    if (!section_box(op, op->out, i, lo, hi))
        return;
    memcpy(x, lo, sizeof(x));
    do {
        int64_t at = linear(op, x);
        uint64_t old = op->mode == KMM_UPDATE ? (uint64_t)get(type, base, at) * 3 : 0;
        if (!op->skips || (at + op->salt) % 3)
            put(type, base, at, (int64_t)((v + old + (uint64_t)at) % MODULUS));
    } while (advance(op, x, lo, hi));
}

static void element(const script_t *s, const op_t *op, const int64_t i[DIMS], const places_t *p)
{
    uint64_t v = (uint64_t)op->salt, where = 0;
    for (uint32_t d = 0; d < op->dims; d++)
        where = where * 31 + (uint64_t)i[d];
    v += where;
    for (int k = 0; k < op->source_count; k++)
        v += gather(s, op, k, i, p->source[k]);
    if (op->extra >= 0)
        v += (uint64_t)get(s->slot[op->extra].type, p->extra, (int64_t)(where % SUM_LENGTH));
    if (op->kind == LAUNCH) {
        scatter(s, op, i, p->target, v);
        return;
    }
    pthread_mutex_lock(&sum_lock);
    combine(op->op, s->slot[op->target].type, p->target, op->begin + (int64_t)(where % (uint64_t)op->count), (int64_t)(v % 16));
    pthread_mutex_unlock(&sum_lock);
}

static void launch_model(script_t *s, const op_t *op)
{
    int64_t hi[DIMS], i[DIMS];
    places_t p = { 0 };
    for (int k = 0; k < op->source_count; k++) {
        const slot_t *from = &s->slot[op->source[k].slot];
        p.source[k] = (char *)from->model + op->shift * (int64_t)type_bytes(from->type);
    }
    const slot_t *to = &s->slot[op->target];
    p.target = (char *)to->model + (op->kind == LAUNCH ? op->shift : 0) * (int64_t)type_bytes(to->type);
    p.extra = op->extra >= 0 ? s->slot[op->extra].model : NULL;
    for (uint32_t d = 0; d < op->dims; d++) {
        if (op->length[d] == 0)
            return;
        hi[d] = op->lo[d] + op->length[d];
    }
    memcpy(i, op->lo, sizeof(i));
    do
        element(s, op, i, &p);
    while (advance(op, i, op->lo, hi));
}

/* ---- The same as a kernel and as a function ---- */

typedef struct arguments { const script_t *script; const op_t *op; places_t places; } arguments_t;

static void run_blocks(const kmm_host_blocks_t *b, void **args)
{
    const script_t *s = *(const script_t **)args[0];
    const op_t *op = *(const op_t **)args[1];
    places_t p = { *(void **)args[2], { *(void **)args[3], *(void **)args[4] }, *(void **)args[5] };
    for (uint64_t k = b->first; k < b->last; k++) {
        uint64_t block[3] = { k % b->count[0] + b->offset[0], k / b->count[0] % b->count[1] + b->offset[1],
                              k / b->count[0] / b->count[1] + b->offset[2] };
        uint32_t threads = b->block[0] * b->block[1] * b->block[2];
        for (uint32_t t = 0; t < threads; t++) {
            uint32_t thread[3] = { t % b->block[0], t / b->block[0] % b->block[1], t / b->block[0] / b->block[1] };
            int64_t i[DIMS];
            bool inside = true;
            for (uint32_t d = 0; d < op->dims; d++) {
                uint32_t c = op->dims - 1 - d;
                i[d] = (int64_t)(block[c] * b->block[c] + thread[c]);
                inside &= i[d] >= op->lo[d] && i[d] < op->lo[d] + op->length[d];
            }
            if (inside)
                element(s, op, i, &p);
        }
    }
}

static void run_chunk(const kmm_chunk_t *chunk, void *args)
{
    const arguments_t *a = args;
    int64_t lo[DIMS], hi[DIMS], i[DIMS];
    for (uint32_t d = 0; d < a->op->dims; d++) {
        lo[d] = chunk->begin[a->op->dims - 1 - d];
        hi[d] = chunk->end[a->op->dims - 1 - d];
    }
    memcpy(i, lo, sizeof(i));
    do
        element(a->script, a->op, i, &a->places);
    while (advance(a->op, i, lo, hi));
}

static const uint32_t six_words[] = { 8, 8, 8, 8, 8, 8 };
static const kmm_kernel_t kernel = { KMM_LAUNCH_VERSION, KMM_KIND_HOST, "oracle", run_blocks, NULL, 6, six_words, 0, NULL };

/* ---- Describing a launch ---- */

static void describe_sections(kmm_launch_t *l, const op_t *op, const slot_t *slot, const section_t c[DIMS])
{
    bool flat = op->flat && op->dims == 1 && slot->kind != RAW;
    for (uint32_t d = 0; d < op->dims && !flat; d++)
        kmm_launch_extent(l, d == 0 && op->open_extent && slot->kind != RAW ? KMM_WHOLE : op->extent[d]);
    for (uint32_t d = 0; d < op->dims; d++) {
        kmm_launch_index(l, c[d].whole ? 0 : c[d].offset, c[d].whole ? KMM_WHOLE : c[d].length);
        if (!c[d].whole)
            kmm_launch_coef(l, d, c[d].scale, c[d].growth);
    }
}

static void describe(kmm_launch_t *l, const script_t *s, const op_t *op, const places_t *p)
{
    static const char *const names[] = { "a", "b", "c" };
    for (uint32_t d = 0; d < op->dims; d++) {
        kmm_source_t source = (kmm_source_t)((op->is_function ? KMM_RANGE_0 : KMM_GLOBAL_X) + op->dims - 1 - d);
        kmm_source_t blocks = (kmm_source_t)(op->in_blocks ? (unsigned)KMM_BLOCK_X + op->dims - 1 - d : (unsigned)source);
        kmm_launch_axis(l, names[d], source, op->lo[d], op->length[d]);
        if (op->chunk[d])
            kmm_launch_chunk(l, op->is_function ? source : blocks, op->chunk[d]);
    }
    kmm_launch_if(l, !op->has_if);
    for (int k = 0; k < op->source_count; k++) {
        const slot_t *from = &s->slot[op->source[k].slot];
        kmm_launch_access(l, KMM_READ, k ? "source1" : "source0", p->source[k], type_bytes(from->type));
        describe_sections(l, op, from, op->source[k].section);
    }
    if (op->extra >= 0) {
        kmm_launch_access(l, KMM_READ, "extra", p->extra, type_bytes(s->slot[op->extra].type));
        kmm_launch_index(l, 0, SUM_LENGTH);
    }
    const slot_t *to = &s->slot[op->target];
    if (op->kind == REDUCE) {
        kmm_launch_reduce(l, op->op, to->type, "sum", p->target);
        kmm_launch_index(l, op->begin, op->count);
    } else {
        kmm_launch_access(l, op->mode, "target", p->target, type_bytes(to->type));
        describe_sections(l, op, to, op->out);
    }
}

static int launch(script_t *s, const op_t *op)
{
    arguments_t a = { s, op, { 0 } };
    for (int k = 0; k < op->source_count; k++) {
        const slot_t *from = &s->slot[op->source[k].slot];
        a.places.source[k] = (char *)from->base + op->shift * (int64_t)type_bytes(from->type);
    }
    const slot_t *to = &s->slot[op->target];
    a.places.target = (char *)to->base + (op->kind == LAUNCH ? op->shift : 0) * (int64_t)type_bytes(to->type);
    a.places.extra = op->extra >= 0 ? s->slot[op->extra].base : NULL;
    kmm_launch_t *l = kmm_launch_begin("oracle", "program", (int)(op - s->op));
    describe(l, s, op, &a.places);
    if (op->is_function)
        return kmm_launch_call(l, run_chunk, &a, sizeof(a));
    kmm_geometry_t g = { { 1, 1, 1 }, { 1, 1, 1 }, 0, NULL };
    for (uint32_t d = 0; d < op->dims; d++) {
        uint32_t c = op->dims - 1 - d;
        g.block[c] = op->block[d];
        g.grid[c] = (uint32_t)((op->lo[d] + op->length[d] + op->block[d]) / op->block[d]);
    }
    void *args[] = { &a.script, &a.op, &a.places.target, &a.places.source[0], &a.places.source[1], &a.places.extra };
    kmm_launch_arm(l);
    return kmm_launch_kernel(&kernel, &g, args);
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
            complain(s, "op %d: slot %d element %lld is %lld, should be %lld", op, slot, (long long)(begin + k),
                     (long long)get(t->type, got, k), (long long)get(t->type, want, k));
            return;
        }
}

static int slot_create(script_t *s, slot_t *t)
{
    size_t size = type_bytes(t->type), bytes = (size_t)t->n * size;
    if (t->kind == MANAGED) {
        kmm_shape_t shape = { .dims = 1, .extent = { t->n }, .element_bytes = size };
        return kmm_array_create(s->rt, &shape, &t->base);
    }
    if (!t->base)
        t->base = calloc(bytes, 1);
    return t->kind == MAPPED ? kmm_map(s->rt, KMM_MAP_TOFROM, t->base, bytes) : 0;
}

/* An array ends, with work on it perhaps under way, and another one takes its place; a map ends and begins. */
static int renew(script_t *s, const op_t *op)
{
    slot_t *t = &s->slot[op->target];
    size_t bytes = (size_t)t->n * type_bytes(t->type);
    int error = t->kind == MANAGED ? kmm_array_destroy(s->rt, t->base) : t->kind == MAPPED ? kmm_unmap(s->rt, t->base) : 0;
    if (error)
        return error;
    if (t->kind != MANAGED) {
        compare(s, (int)(op - s->op), op->target, t->base, 0, t->n);
        memset(t->base, op->value, bytes);
    }
    memset(t->model, op->value, bytes);
    error = slot_create(s, t);
    return error || t->kind != MANAGED ? error : kmm_fill(s->rt, t->base, op->value, bytes);
}

static int step(script_t *s, op_t *op)
{
    slot_t *t = &s->slot[op->target], *from = &s->slot[op->other];
    int64_t size = (int64_t)type_bytes(t->type);
    size_t bytes = (size_t)(op->count * size);
    char *at = (char *)t->base + op->begin * size, *model = (char *)t->model + op->begin * size, *buffer;
    int error = 0;
    switch (op->kind) {
    case LAUNCH: case REDUCE:
        launch_model(s, op);
        return launch(s, op);
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
    case FILL:
        memset(model, op->value, bytes);
        return kmm_fill(s->rt, at, op->value, bytes);
    case RENEW:
        return renew(s, op);
    case WAIT:
        return kmm_wait(s->rt);
    }
    return 0;
}

static void check_all(script_t *s)
{
    for (int k = 0; k < s->slot_count && !s->error; k++) {
        slot_t *t = &s->slot[k];
        size_t bytes = (size_t)t->n * type_bytes(t->type);
        char *got = malloc(bytes);
        if (t->kind == MANAGED)
            s->error = kmm_copy_out(s->rt, got, t->base, bytes);
        else if (t->kind == MAPPED)
            s->error = kmm_unmap(s->rt, t->base);
        if (!s->error)
            compare(s, OPS, k, t->kind == MANAGED ? got : t->base, 0, t->n);
        free(got);
    }
}

static void *run_script(void *arg)
{
    script_t *s = arg;
    kmm_use(s->rt);
    for (int k = 0; k < s->slot_count && !s->error; k++) {
        slot_t *t = &s->slot[k];
        t->base = NULL;
        t->model = calloc((size_t)t->n, type_bytes(t->type));
        s->error = slot_create(s, t);
        if (!s->error && t->kind == MANAGED)
            s->error = kmm_fill(s->rt, t->base, 0, (size_t)t->n * type_bytes(t->type));
    }
    for (int k = 0; k < s->op_count && !s->error && !s->wrong; k++)
        if (!s->op[k].dropped)
            s->error = step(s, &s->op[k]);
    if (!s->wrong)
        check_all(s);
    if (s->error)
        fprintf(stderr, "thread %d: error %d: %s\n", s->number, s->error, kmm_error_text(s->rt));
    kmm_use(NULL);
    return NULL;
}

static void forget(program_t *p)
{
    for (int k = 0; k < p->script_count; k++)
        for (int t = 0; t < p->script[k].slot_count; t++) {
            slot_t *slot = &p->script[k].slot[t];
            free(slot->model);
            if (slot->kind != MANAGED)
                free(slot->base);
        }
}

typedef enum outcome { RIGHT, WRONG, TOO_SMALL } outcome_t;

static outcome_t run_once(program_t *p)
{
    char devices[64];
    pthread_t thread[THREADS];
    kmm_runtime_t *rt;
    bool wrong = false, small = false;
    snprintf(devices, sizeof(devices), p->devices, (long long)p->memory);
    setenv("KMM_SPILL_IO", p->disk, 1);
    if (kmm_create(&rt, &(kmm_config_t){ .devices = devices, .threads = p->threads, .host_mem = (uint64_t)p->host_memory })) {
        fprintf(stderr, "%s: %s\n", devices, kmm_error_text(NULL));
        return WRONG;
    }
    for (int k = 0; k < p->script_count; k++) {
        p->script[k].rt = rt;
        p->script[k].error = 0;
        pthread_create(&thread[k], NULL, run_script, &p->script[k]);
    }
    for (int k = 0; k < p->script_count; k++) {
        pthread_join(thread[k], NULL);
        int error = p->script[k].error;
        wrong |= p->script[k].wrong || (error && error != KMM_E_MEMORY && error != KMM_E_POISONED);
        small |= error == KMM_E_MEMORY || error == KMM_E_POISONED;
    }
    int error = kmm_destroy(rt);
    if (error && error != KMM_E_MEMORY && !small) {
        fprintf(stderr, "end: %s\n", kmm_error_text(NULL));
        wrong = true;
    }
    small |= error == KMM_E_MEMORY;
    forget(p);
    return wrong ? WRONG : small ? TOO_SMALL : RIGHT;
}

/* A chunk may need more than the device has; then the program must fail in an orderly way, and
 * run with more. */
static bool run_program(program_t *p)
{
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
    op->extent[0] = n / inner;
    op->open_extent = rng_range(r, 0, 2) == 0;
    op->flat = rng_range(r, 0, 1);
}

/* Elements of the target that one point of the launch has to itself. */
static int64_t random_out(rng_t *r, section_t *c, int64_t extent)
{
    *c = (section_t){ .scale = 1, .length = 1 };
    if (rng_range(r, 0, 3) == 0) {
        c->scale = rng_range(r, 1, 3);
        c->length = rng_range(r, 1, c->scale);
        c->offset = rng_range(r, 0, 2);
    }
    if (c->offset + c->length > extent)
        *c = (section_t){ .scale = 1, .length = 1 };
    return (extent - c->offset - c->length) / c->scale + 1;
}

static section_t random_section(rng_t *r, int64_t extent, bool inner)
{
    section_t c = { .scale = 1, .length = 1 };
    switch (rng_range(r, 0, 7)) {
    case 0: case 1: break;
    case 2: case 3: case 4:
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

static void random_launch(rng_t *r, const script_t *s, op_t *op)
{
    int64_t n = s->slot[0].n;
    int big = s->slot_count - SUMS;
    random_view(r, op, n);
    op->is_function = rng_range(r, 0, 2) == 0;
    op->source_count = (int)rng_range(r, 0, 2);
    op->extra = rng_range(r, 0, 5) ? -1 : (int)rng_range(r, big, s->slot_count - 1);
    if (op->kind == REDUCE) {
        static const kmm_op_t ops[] = { KMM_OP_ADD, KMM_OP_MIN, KMM_OP_MAX, KMM_OP_MUL, KMM_OP_BXOR, KMM_OP_BOR, KMM_OP_BAND };
        op->target = (int)rng_range(r, big, s->slot_count - 1);
        op->op = ops[rng_range(r, 0, s->slot[op->target].type >= KMM_FLOAT ? 2 : 6)];
        op->begin = rng_range(r, 0, SUM_LENGTH - 1);
        op->count = rng_range(r, 1, SUM_LENGTH - op->begin);
        op->extra = op->extra == op->target ? -1 : op->extra;
    } else {
        op->target = (int)rng_range(r, 0, big - 1);
        op->mode = rng_range(r, 0, 1) ? KMM_WRITE : KMM_UPDATE;
        op->skips = op->mode == KMM_UPDATE && rng_range(r, 0, 1);
    }
    for (int k = 0; k < op->source_count; k++) {
        op->source[k].slot = (int)rng_range(r, 0, big - 1);
        if (op->source[k].slot == op->target)
            op->source[k].slot = (op->target + 1) % big;
        for (uint32_t d = 0; d < op->dims; d++)
            op->source[k].section[d] = random_section(r, op->extent[d], d + 1 == op->dims);
    }
    bool none = rng_range(r, 0, 40) == 0, part = rng_range(r, 0, 2) == 0, splits = rng_range(r, 0, 5);
    op->in_blocks = rng_range(r, 0, 3) == 0;
    op->has_if = rng_range(r, 0, 19) == 0;
    for (uint32_t d = 0; d < op->dims; d++) {
        int64_t points = random_out(r, &op->out[d], op->extent[d]);
        op->lo[d] = part ? rng_range(r, 0, points - 1) : 0;
        op->length[d] = part ? rng_range(r, 1, points - op->lo[d]) : points;
        op->length[d] = none && d == 0 ? 0 : op->length[d];
        op->block[d] = (uint32_t)(d + 1 == op->dims ? rng_range(r, 1, 64) : rng_range(r, 1, 4));
        int64_t unit = op->in_blocks && !op->is_function ? op->block[d] : 1;
        if (splits && rng_range(r, 0, 3))
            op->chunk[d] = 1 + (op->lo[d] + op->length[d]) / rng_range(r, 1, op->dims == 1 ? 40 : 6) / unit;
    }
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
    static const op_kind_t kinds[] = { LAUNCH, LAUNCH, LAUNCH, LAUNCH, LAUNCH, LAUNCH, LAUNCH, REDUCE, REDUCE, REDUCE,
                                       COPY_IN, COPY_OUT, COPY, FILL, RENEW, WAIT };
    static const int values[] = { 0, 0, 1, 0x41 };
    *op = (op_t){ .kind = kinds[rng_range(r, 0, 15)], .salt = rng_range(r, 0, 1000), .extra = -1 };
    if (op->kind == LAUNCH || op->kind == REDUCE) {
        random_launch(r, s, op);
        return;
    }
    op->target = (int)rng_range(r, 0, s->slot_count - 1);
    op->value = op->target < s->slot_count - SUMS ? values[rng_range(r, 0, 3)] : 0;
    if (op->kind == RENEW || op->kind == WAIT)
        return;
    if (s->slot[op->target].kind == RAW)
        op->target = s->slot_count - 1;
    random_range(r, s, op);
    op->other = op->target;
    for (int k = 0; k < s->slot_count - SUMS; k++) /* another of the type and length, if there is one */
        if (s->slot[k].type == s->slot[op->target].type && s->slot[k].n == s->slot[op->target].n && s->slot[k].kind != RAW &&
            rng_range(r, 0, 1))
            op->other = k;
    op->other_begin = rng_range(r, 0, s->slot[op->other].n - op->count);
    op->value = op->target < s->slot_count - SUMS ? op->value : 0;
}

static int64_t random_script(rng_t *r, script_t *s)
{
    static const kmm_type_t types[] = { KMM_INT32, KMM_INT32, KMM_FLOAT, KMM_DOUBLE, KMM_UINT8, KMM_INT16, KMM_UINT16, KMM_INT64 };
    static const int64_t sizes[] = { 300, 4000, 4000, 20000 };
    int64_t n = rng_range(r, 1, sizes[rng_range(r, 0, 3)]), bytes = 0;
    s->slot_count = (int)rng_range(r, 2, SLOTS) + SUMS;
    for (int k = 0; k < s->slot_count; k++) {
        slot_t *t = &s->slot[k];
        bool sum = k >= s->slot_count - SUMS;
        t->kind = sum || rng_range(r, 0, 4) ? MANAGED : rng_range(r, 0, 2) ? MAPPED : RAW;
        t->type = types[rng_range(r, 0, 7)];
        t->n = sum ? SUM_LENGTH : n;
        bytes += t->n * (int64_t)type_bytes(t->type) + 3 * 4096;
    }
    s->op_count = (int)rng_range(r, 1, OPS);
    for (int k = 0; k < s->op_count; k++)
        random_op(r, s, &s->op[k]);
    return bytes;
}

static void random_program(program_t *p, uint64_t seed)
{
    static const char *const devices[] = { "host", "host:1,mem=%lld", "host:2,mem=%lld", "host:3,mem=%lld", "host:4,mem=%lld", "host:2,mem=%lld,host" };
    static const char *const disks[] = { "", "", "pread", "cached" };
    rng_t r = { seed };
    int64_t bytes = 0;
    memset(p, 0, sizeof(*p));
    p->seed = seed;
    p->devices = devices[rng_range(&r, 0, 5)];
    p->threads = (uint32_t)rng_range(&r, 1, 4);
    p->script_count = rng_range(&r, 0, 2) ? 1 : (int)rng_range(&r, 2, THREADS);
    for (int k = 0; k < p->script_count; k++) {
        p->script[k].number = k;
        bytes += random_script(&r, &p->script[k]);
    }
    p->memory = rng_range(&r, 0, 3) ? 4096 * rng_range(&r, 4, 40) : 16 << 20;
    p->most = 64 * bytes + (64 << 20); /* partial copies of reductions too */
    p->disk = disks[rng_range(&r, 0, 3)];
    p->host_memory = rng_range(&r, 0, 1) ? 4096 * rng_range(&r, 40, 80) : 0;
}

/* ---- Running, shrinking, printing ---- */

/* Whether the program fails in a process of its own. */
static bool fails(program_t *p, bool quiet)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(2);
    }
    if (child == 0) {
        alarm(LIMIT_S);
        if (quiet && !freopen("/dev/null", "w", stderr))
            _exit(2);
        bool right = run_program(p);
        exit(right ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && !quiet)
        fprintf(stderr, "signal %d%s\n", WTERMSIG(status), WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
    return status != 0;
}

/* A failure may depend on the order in which threads run. */
static bool fails_often(program_t *p)
{
    for (int k = 0; k < 4; k++)
        if (fails(p, true))
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
        fprintf(stderr, "[%lld*i%+lld:%lld%+lld*i]", (long long)c->scale, (long long)c->offset, (long long)c->length, (long long)c->growth);
}

static void print_op(const op_t *op, int k)
{
    fprintf(stderr, "  op %d: %s slot %d", k, op_names[op->kind], op->target);
    if (op->kind != LAUNCH && op->kind != REDUCE) {
        fprintf(stderr, " begin %lld count %lld other %d at %lld value %d\n", (long long)op->begin, (long long)op->count, op->other, (long long)op->other_begin, op->value);
        return;
    }
    fprintf(stderr, " mode %d op %d %s shift %lld extra %d", op->mode, op->op, op->is_function ? "function" : "kernel", (long long)op->shift, op->extra);
    if (op->kind == REDUCE)
        fprintf(stderr, " section %lld:%lld", (long long)op->begin, (long long)op->count);
    for (uint32_t d = 0; d < op->dims; d++) {
        fprintf(stderr, "\n    extent %lld range %lld:%lld chunk %lld%s block %u out ", (long long)op->extent[d], (long long)op->lo[d],
                (long long)op->length[d], (long long)op->chunk[d], op->in_blocks ? " blocks" : "", op->block[d]);
        print_section(&op->out[d]);
        for (int j = 0; j < op->source_count; j++) {
            fprintf(stderr, " slot %d", op->source[j].slot);
            print_section(&op->source[j].section[d]);
        }
    }
    fprintf(stderr, "\n");
}

static void print_program(const program_t *p)
{
    fprintf(stderr, "devices ");
    fprintf(stderr, p->devices, (long long)p->memory);
    fprintf(stderr, ", %u threads of the host, %lld bytes of its memory (0: all), disk \"%s\"\n", p->threads, (long long)p->host_memory, p->disk);
    for (int t = 0; t < p->script_count; t++) {
        const script_t *s = &p->script[t];
        fprintf(stderr, "thread %d:", t);
        for (int k = 0; k < s->slot_count; k++)
            fprintf(stderr, " slot %d (kind %d type %d n %lld)", k, s->slot[k].kind, s->slot[k].type, (long long)s->slot[k].n);
        fprintf(stderr, "\n");
        for (int k = 0; k < s->op_count; k++)
            if (!s->op[k].dropped)
                print_op(&s->op[k], k);
    }
}

int main(void)
{
    static program_t p;
    const char *text = getenv("KMM_PROGRAMS");
    long count = text && *text ? atol(text) : 600;
    uint64_t seed = rng_seed();
    int failures = 0;
    for (long k = 0; k < count; k++) {
        random_program(&p, seed + (uint64_t)k);
        if (!fails(&p, false))
            continue;
        failures++;
        fprintf(stderr, "FAILED; to repeat: KMM_PROGRAMS=1 KMM_SEED=%llu\n", (unsigned long long)p.seed);
        if (!getenv("KMM_NO_SHRINK"))
            shrink(&p);
        print_program(&p);
        if (failures == 3)
            break;
    }
    fprintf(stderr, "%ld programs, %d failed\n", count, failures);
    return failures ? 1 : 0;
}
