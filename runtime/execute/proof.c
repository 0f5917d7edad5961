/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the graph of a kernel proves that a chunk stays within its clauses.
 *
 * The clauses mark the bytes of the chunk's arrays. For each access of the graph, what it reaches
 * with the launch's real grid and arguments is looked up there. An access that is always made marks
 * what it stores, so that in the end no byte may be left that a `write` item names.
 */
#include "execute/proof.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "execute/graph.h"
#include "execute/reach.h"
#include "execute/shadow.h"
#include "memory/array.h"

enum { MOST_RUNS = 1 << 20 };

/* The marks of one array: KMM__MAY_... and KMM__STORED for each byte. */
typedef struct marks {
    const kmm__array_t *array;
    unsigned char *may;
} marks_t;

typedef struct proof {
    const kmm__task_t *task;
    kmm__graph_t *graph;
    kmm__graph_chunk_t chunk;
    marks_t *marks;
    uint32_t count;
} proof_t;

/* ---- Bytes, eight at a time ---- */

static const uint64_t each_byte = UINT64_C(0x0101010101010101);

static void add_to_all(unsigned char *at, int64_t count, unsigned char value)
{
    int64_t k = 0;
    for (uint64_t word; k + 8 <= count; k += 8) {
        memcpy(&word, at + k, sizeof(word));
        word |= value * each_byte;
        memcpy(at + k, &word, sizeof(word));
    }
    for (; k < count; k++)
        at[k] |= value;
}

/* True if all bytes have all bits of `value`. */
static bool all_have(const unsigned char *at, int64_t count, unsigned char value)
{
    uint64_t all = UINT64_MAX, word;
    int64_t k = 0;
    for (; k + 8 <= count; k += 8) {
        memcpy(&word, at + k, sizeof(word));
        all &= word;
    }
    for (; k < count; k++)
        all &= at[k] * each_byte;
    return (all & value * each_byte) == value * each_byte;
}

/* True if each byte has one of the bits of `value`. */
static bool each_has(const unsigned char *at, int64_t count, unsigned char value)
{
    for (int64_t k = 0; k < count; k++)
        if (!(at[k] & value))
            return false;
    return true;
}

/* ---- Marks ---- */

static marks_t *marks_of(const proof_t *p, const kmm__array_t *a)
{
    for (uint32_t k = 0; k < p->count; k++)
        if (p->marks[k].array == a)
            return &p->marks[k];
    return NULL;
}

/* Memory that no mark is put into costs nothing. */
static marks_t *marks_add(proof_t *p, const kmm__array_t *a)
{
    marks_t *found = marks_of(p, a);
    if (found)
        return found;
    void *may = mmap(NULL, a->bytes + 1, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (may == MAP_FAILED)
        return NULL;
    p->marks[p->count] = (marks_t){a, may};
    return &p->marks[p->count++];
}

typedef struct walk {
    unsigned char *may, value;
} walk_t;

static int mark_rows(void *arg, const kmm__rows_t *rows)
{
    const walk_t *w = arg;
    for (int64_t k = 0; k < rows->count; k++)
        add_to_all(w->may + rows->offset + k * rows->pitch, rows->width, w->value);
    return 0;
}

static int find_unstored(void *arg, const kmm__rows_t *rows)
{
    const walk_t *w = arg;
    for (int64_t k = 0; k < rows->count; k++) {
        const unsigned char *may = w->may + rows->offset + k * rows->pitch;
        if (!all_have(may, rows->width, KMM__STORED) &&
            !each_has(may, rows->width, KMM__MAY_READ | KMM__STORED))
            return 1;
    }
    return 0;
}

/* Calls fn with the rows of each access of the chunk. False: fn has not returned 0, or there is no
 * memory. */
static bool walk_accesses(proof_t *p, int (*fn)(void *arg, const kmm__rows_t *rows), bool writes)
{
    static const unsigned char values[] = {[KMM_READ] = KMM__MAY_READ,
                                           [KMM_WRITE] = KMM__MAY_WRITE,
                                           [KMM_UPDATE] = KMM__MAY_READ | KMM__MAY_WRITE};
    const kmm__task_t *t = p->task;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (a->array->object.is_abstract || (writes && a->mode != KMM_WRITE))
            continue;
        const marks_t *m = marks_add(p, a->array);
        walk_t w = {m ? m->may : NULL, values[a->mode]};
        if (!m || kmm__layout_rows(a->layout, &a->box, fn, &w) != 0)
            return false;
    }
    return true;
}

/* ---- Parameters ---- */

/* The byte of the packed arguments at which a parameter of the graph begins. The first one of a
 * clone is not in the graph. */
static bool place_of(const kmm__work_t *w, int param, uint32_t *begin, uint32_t *end)
{
    uint32_t k = (uint32_t)param + (w->kernel->is_clone ? 1 : 0);
    if (k >= w->arg_count)
        return false;
    *begin = w->arg_offset[k];
    *end = *begin + (uint32_t)w->kernel->param_bytes[k];
    return *end <= w->args_bytes;
}

static bool read_parameter(void *context, int param, int at, int bits, int64_t *value)
{
    const proof_t *p = context;
    const kmm__work_t *w = p->task->work;
    uint32_t begin, end, bytes = (uint32_t)(bits + 7) / 8;
    uint64_t word = 0;
    if (!place_of(w, param, &begin, &end) || (uint32_t)at + bytes > end - begin)
        return false;
    begin += (uint32_t)at;
    for (uint32_t k = 0; k < w->pointer_count; k++) /* another address where the chunk runs */
        if (begin < w->pointers[k].at + sizeof(void *) && w->pointers[k].at < begin + bytes)
            return false;
    memcpy(&word, w->args + begin, bytes);
    *value = (int64_t)(bits < 64 ? word & ((UINT64_C(1) << bits) - 1) : word);
    return true;
}

/* The pointer that an access goes through; NULL: it is to no array. */
static const kmm__pointer_t *pointer_of(const kmm__work_t *w, const kmm__graph_access_t *a)
{
    uint32_t begin, end;
    if (!place_of(w, a->param, &begin, &end))
        return NULL;
    begin += a->member > 0 ? (uint32_t)a->member : 0;
    for (uint32_t k = 0; k < w->pointer_count; k++)
        if (w->pointers[k].at == begin && begin < end)
            return &w->pointers[k];
    return NULL;
}

/* The byte of the array that a pointer is to. */
static const kmm__array_t *target_of(const kmm__task_t *t, const kmm__pointer_t *p, int64_t *offset)
{
    *offset = p->offset;
    if (p->partials < 0)
        return p->array;
    const kmm__partials_t *own = &t->work->partials[p->partials];
    *offset += kmm__partial_of(t->work, own, t->part.chunk) * own->partial_bytes - own->begin;
    return own->array;
}

/* ---- Runs ---- */

/* What an access reaches, as `runs` runs of `width` bytes. */
typedef struct runs {
    kmm__wide_t begin, width; /* of the first run */
    kmm__wide_t low, high;    /* no byte is outside of low to high - 1 */
    int count;                /* variables with gaps between their runs */
    int64_t step[KMM__VARIABLES], times[KMM__VARIABLES], at[KMM__VARIABLES];
} runs_t;

static kmm__wide_t size_of(int64_t by)
{
    return by < 0 ? -(kmm__wide_t)by : by;
}

/* Variables from the smallest step on: one whose step is no longer than what there is so far makes
 * it longer, without a gap. */
static void runs_make(const kmm__reach_t *a, runs_t *r)
{
    bool is_done[KMM__VARIABLES] = {false};
    kmm__wide_t least, most;
    kmm__form_ends(&a->offset, &a->ranges, &least, &most);
    *r = (runs_t){.begin = least, .width = a->bytes, .low = least, .high = most + a->bytes};
    for (;;) {
        int next = -1;
        for (int v = 0; v < KMM__VARIABLES; v++)
            if (a->offset.by[v] && !is_done[v] &&
                (next < 0 || size_of(a->offset.by[v]) < size_of(a->offset.by[next])))
                next = v;
        if (next < 0)
            return;
        is_done[next] = true;
        kmm__wide_t step = size_of(a->offset.by[next]),
                    more = (kmm__wide_t)a->ranges.most[next] - a->ranges.least[next];
        if (step <= r->width) {
            r->width += step * more;
        } else {
            r->step[r->count] = (int64_t)step;
            r->times[r->count++] = (int64_t)more + 1;
        }
    }
}

/* A condition that is the offset times a number, or against it, ends what is reached. */
static void runs_clip(const kmm__reach_t *a, const kmm__form_t *c, runs_t *r)
{
    int v;
    if (kmm__form_variables(c, &v) < 2 || a->offset.by[v] % c->by[v])
        return;
    int64_t times = a->offset.by[v] / c->by[v];
    for (int k = 0; k < KMM__VARIABLES; k++)
        if (a->offset.by[k] != times * (kmm__wide_t)c->by[k])
            return;
    kmm__wide_t end = a->offset.constant - times * c->constant;
    if (times > 0 && end > r->low)
        r->low = end;
    if (times < 0 && end + a->bytes < r->high)
        r->high = end + a->bytes;
}

/* Goes to the next run. False: that was the last one. */
static bool runs_next(runs_t *r)
{
    for (int k = 0; k < r->count; k++) {
        r->begin += r->step[k];
        if (++r->at[k] < r->times[k])
            return true;
        r->begin -= (kmm__wide_t)r->step[k] * r->times[k];
        r->at[k] = 0;
    }
    return false;
}

static bool are_few(const runs_t *r)
{
    kmm__wide_t product = 1;
    for (int k = 0; k < r->count && product <= MOST_RUNS; k++)
        product *= r->times[k];
    return product <= MOST_RUNS;
}

/* ---- One access ---- */

static unsigned char need_of(const kmm__graph_access_t *a)
{
    switch (a->kind) {
    case KMM__GRAPH_READ: return a->is_after_write ? KMM__MAY_WRITE : KMM__MAY_READ;
    case KMM__GRAPH_WRITE: return KMM__MAY_WRITE;
    default: return KMM__MAY_READ | KMM__MAY_WRITE;
    }
}

/* True if the marks of bytes begin to end - 1 allow what is needed. `stored` is added to them. */
static bool run_holds(const marks_t *m, kmm__wide_t begin, kmm__wide_t end, unsigned char need,
                      unsigned char stored)
{
    if (begin >= end)
        return true;
    if (begin < 0 || end > (kmm__wide_t)m->array->bytes)
        return false;
    unsigned char *may = m->may + (int64_t)begin;
    int64_t count = (int64_t)(end - begin);
    if (!all_have(may, count, need))
        return false;
    if (stored)
        add_to_all(may, count, stored);
    return true;
}

static bool access_holds(const proof_t *p, const kmm__graph_access_t *a)
{
    kmm__reach_t reach;
    runs_t r;
    int64_t offset;
    kmm__reach_find(p->graph, a, &p->chunk, &reach);
    if (reach.is_never || !reach.is_known)
        return reach.is_never;
    const kmm__pointer_t *pointer = pointer_of(p->task->work, a);
    const kmm__array_t *array = pointer ? target_of(p->task, pointer, &offset) : NULL;
    const marks_t *m = array ? marks_of(p, array) : NULL;
    if (!m)
        return false;
    runs_make(&reach, &r);
    for (int k = 0; k < reach.condition_count; k++)
        runs_clip(&reach, &reach.condition[k], &r);
    if (!are_few(&r))
        return false;
    unsigned char stored = a->kind == KMM__GRAPH_WRITE && reach.is_exact ? KMM__STORED : 0;
    do {
        kmm__wide_t begin = r.begin > r.low ? r.begin : r.low, end = r.begin + r.width;
        end = end < r.high ? end : r.high;
        if (!run_holds(m, begin + offset, end + offset, need_of(a), stored))
            return false;
    } while (runs_next(&r));
    return true;
}

/* ---- The chunk ---- */

static bool holds(proof_t *p)
{
    if (!walk_accesses(p, mark_rows, false))
        return false;
    for (int k = 0; k < p->graph->access_count; k++)
        if (!access_holds(p, &p->graph->access[k]))
            return false;
    return walk_accesses(p, find_unstored, true);
}

bool kmm__proof_holds(const kmm__task_t *t)
{
    const kmm__work_t *w = t->work;
    proof_t p = {.task = t};
    if (!w->graph || !w->kernel || !(p.graph = kmm__graph_parse(w->graph)))
        return false;
    p.chunk.parameter = read_parameter;
    p.chunk.context = &p;
    for (int d = 0; d < 3; d++) {
        p.chunk.block[d] = w->geometry.block[d];
        p.chunk.grid[d] = w->geometry.grid[d];
        p.chunk.first[d] = t->part.offset[d];
        p.chunk.count[d] = t->part.count[d];
    }
    p.marks = kmm__alloc((t->access_count + 1) * sizeof(*p.marks));
    bool result = holds(&p);
    for (uint32_t k = 0; k < p.count; k++)
        munmap(p.marks[k].may, p.marks[k].array->bytes + 1);
    free(p.marks);
    kmm__graph_free(p.graph);
    return result;
}
