/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the calls of a plain function's chunks with the call of the whole range, by example:
 * which bytes are stored and read, and by which access. A difference means that the function's own
 * index is not told where the chunk begins, or that a loop carries values from one chunk into the
 * next.
 */
#include "analyze/carried.h"

#include <stddef.h>
#include <string.h>

#include "analyze/carried_value.h"
#include "analyze/compare_call.h"
#include "analyze/compare_target.h"
#include "base/arena.h"
#include "base/diag.h"
#include "ir/replay.h"

#define NOT_KNOWN INT64_MIN

enum {
    MOST_CHUNKS = 64,
    MOST_BYTES = 1 << 23,
    MOST_EVENTS = 1 << 20,
    LEAST_SHOWN = 2,
    WHOLE = 0, /* chunks are numbered from 1 */
    SEVERAL = 255
};

typedef enum difference {
    CROSSES,    /* a chunk reads what another one stores */
    NOT_STORED, /* the whole call stores it, and no chunk does, or the other way round */
    SHARED,     /* several chunks store it */
    PAIRED,     /* a chunk computes it from another element than the whole call does */
    VALUED,     /* a chunk computes it from another number than the whole call does */
    NOT_READ,   /* the whole call reads it by this access, and no chunk does */
    MISSED,     /* what is reduced has it more often in the whole call than in chunks */
    DIFFERENCES
} difference_t;

typedef struct event {
    const ir_access_t *access;
    accessed_t *of;
    int64_t begin, end;
    int chunk;
    int64_t integer[2]; /* those of a store; NOT_KNOWN */
} event_t;

struct carried {
    event_t *event;
    int count, capacity, chunk;
    bool overflows;
    bool seen[DIFFERENCES], alive[DIFFERENCES];
    int shown[DIFFERENCES];
    const ir_access_t *access[DIFFERENCES];
    accessed_t *of[DIFFERENCES];
    long long element[DIFFERENCES];
    int64_t begin[DIFFERENCES];
    const ir_access_t *value; /* stores a value that begins anew in each chunk; NULL: none does */
    const ir_access_t *whole; /* needs what a loop over the chunk computes; NULL: none does */
    const ir_access_t
        *chosen;   /* a store that the chunk's length decides about; NULL: there is none */
    bool *inexact; /* of each access: some of its accesses are not certain */
};

/* ---- Events ---- */

static void record(void *context, const ir_access_t *a, int64_t begin, int64_t end, bool certain,
                   bool somewhere)
{
    comparison_t *c = context;
    carried_t *r = c->carried;
    accessed_t *t = compare_target_of(c, a);
    if (!t)
        return;
    if (!certain || somewhere) {
        r->inexact[a - c->f->access] = true;
        return;
    }
    if (r->count == MOST_EVENTS) {
        r->overflows = true;
        return;
    }
    r->event = arena_grow(r->event, r->count, &r->capacity, sizeof(*r->event));
    event_t *e = &r->event[r->count++];
    *e = (event_t){a, t, begin + t->shift, end + t->shift, r->chunk, {NOT_KNOWN, NOT_KNOWN}};
    for (int k = 0; k < 2 && a->kind == IR_WRITE; k++)
        if (a->integer[k] >= 0 && !replay_value(c->replay, a->integer[k], &e->integer[k]))
            e->integer[k] = NOT_KNOWN;
}

static bool call(comparison_t *c, const int64_t first[3], const int64_t count[3], int chunk)
{
    chunk_box_t box;
    geometry_box(&c->sample, &c->geometry, first, count, &box);
    c->carried->chunk = chunk;
    for (int k = 0; k < c->count; k++) {
        accessed_t *t = &c->target[k];
        t->shift = t->base;
        if (!t->skipped && !call_advance(c, t, &box))
            return false;
    }
    return call_run(c, &box, MOST_EVENTS - c->carried->count, record) && !c->carried->overflows;
}

static bool run_launch(comparison_t *c, const geometry_t *g)
{
    const int64_t none[3] = {0};
    int64_t chunks = g->count[0] * g->count[1] * g->count[2];
    c->carried->count = 0;
    c->carried->overflows = false;
    if (chunks > MOST_CHUNKS || !call(c, none, g->grid, WHOLE))
        return false;
    for (int64_t n = 0; n < chunks; n++) {
        const int64_t at[3] = {n % g->count[0], n / g->count[0] % g->count[1],
                               n / g->count[0] / g->count[1]};
        int64_t first[3], count[3];
        for (int k = 0; k < 3; k++) {
            first[k] = at[k] * g->chunk[k];
            count[k] = first[k] + g->chunk[k] > g->grid[k] ? g->grid[k] - first[k] : g->chunk[k];
        }
        if (!call(c, first, count, (int)n + 1))
            return false;
    }
    return true;
}

/* Where the source gives a range that is too long to be run, one that is as long as three of its
 * chunks at most, and ends like it, has the same differences between neighbouring chunks. */
static bool run_all(comparison_t *c)
{
    geometry_t g = c->geometry;
    bool is_shorter = false;
    if (run_launch(c, &g))
        return true;
    for (int k = 0; k < 3; k++)
        if (g.count[k] > 3) {
            g.grid[k] = 2 * g.chunk[k] + g.grid[k] % g.chunk[k];
            g.count[k] = (g.grid[k] + g.chunk[k] - 1) / g.chunk[k];
            is_shorter = true;
        }
    return is_shorter && run_launch(c, &g);
}

/* ---- One array ---- */

/* What is known of each byte of an array. */
typedef struct bytes {
    int64_t begin, end;
    unsigned char *owner;         /* the chunk that stores it; SEVERAL: two or more */
    const ir_access_t **last[2];  /* its last store, in the whole call and in chunks */
    unsigned char *whole, *parts; /* one access reads it */
} bytes_t;

static bool is_same(const accessed_t *a, const accessed_t *b)
{
    return a->key && b->key && !strcmp(a->key, b->key);
}

static bool is_exact(const comparison_t *c, const accessed_t *t, ir_access_kind_t kind)
{
    for (int k = 0; k < c->f->access_count; k++) {
        const ir_access_t *a = &c->f->access[k];
        for (int i = 0; i < c->count; i++)
            if (c->target[i].param == a->param && c->target[i].member == a->member &&
                is_same(&c->target[i], t) && (kind == IR_READ) == (a->kind == IR_READ) &&
                (c->carried->inexact[k] || c->target[i].skipped))
                return false;
    }
    return true;
}

static void differs(comparison_t *c, difference_t kind, const event_t *e, int64_t byte)
{
    carried_t *r = c->carried;
    int64_t base = 0, element = 1;
    if (r->seen[kind])
        return;
    r->seen[kind] = true;
    for (int k = 0; k < c->d->item_count; k++)
        if (compare_is_of(c, e->of, &c->d->item[k], &base)) {
            element = byteset_element(&c->d->item[k]);
            break;
        }
    r->access[kind] = e->access;
    r->of[kind] = e->of;
    r->element[kind] = (byte - base) / (element > 0 ? element : 1);
}

static bool bytes_of(const carried_t *r, const accessed_t *t, bytes_t *b)
{
    b->begin = INT64_MAX;
    b->end = INT64_MIN;
    for (int k = 0; k < r->count; k++)
        if (is_same(r->event[k].of, t)) {
            b->begin = r->event[k].begin < b->begin ? r->event[k].begin : b->begin;
            b->end = r->event[k].end > b->end ? r->event[k].end : b->end;
        }
    if (b->begin >= b->end || b->end - b->begin > MOST_BYTES)
        return false;
    size_t size = (size_t)(b->end - b->begin);
    b->owner = arena_alloc(size);
    b->whole = arena_alloc(size);
    b->parts = arena_alloc(size);
    memset(b->owner, 0, size);
    for (int k = 0; k < 2; k++) {
        b->last[k] = arena_alloc(size * sizeof(*b->last[k]));
        memset(b->last[k], 0, size * sizeof(*b->last[k]));
    }
    return true;
}

static void mark_stores(const carried_t *r, const accessed_t *t, bytes_t *b)
{
    for (int k = 0; k < r->count; k++) {
        const event_t *e = &r->event[k];
        if (e->access->kind == IR_READ || !is_same(e->of, t))
            continue;
        for (int64_t i = e->begin - b->begin; i < e->end - b->begin; i++) {
            const ir_access_t **last = &b->last[e->chunk != WHOLE][i];
            if (!*last || (*last)->order < e->access->order)
                *last = e->access;
            if (e->chunk != WHOLE)
                b->owner[i] =
                    (unsigned char)(b->owner[i] && b->owner[i] != e->chunk ? SEVERAL : e->chunk);
        }
    }
}

/* Reads of what another chunk stores. */
static void look_for_crossings(comparison_t *c, const accessed_t *t, const bytes_t *b)
{
    const carried_t *r = c->carried;
    for (int k = 0; k < r->count; k++) {
        const event_t *e = &r->event[k];
        if (e->access->kind != IR_READ || e->chunk == WHOLE || !is_same(e->of, t))
            continue;
        int owner = b->owner[e->begin - b->begin];
        if (owner && owner != SEVERAL && owner != e->chunk)
            differs(c, CROSSES, e, e->begin);
    }
}

/* Elements that only the whole call stores, or only chunks; and those to which a store outside of
 * loops is the last in one of them only, such as a first or last element that is special. */
static void look_for_stores(comparison_t *c, const accessed_t *t, const bytes_t *b)
{
    const carried_t *r = c->carried;
    for (int k = 0; k < r->count; k++) {
        const event_t *e = &r->event[k];
        if (e->access->kind == IR_READ || !is_same(e->of, t))
            continue;
        for (int64_t i = e->begin - b->begin; i < e->end - b->begin; i++) {
            const ir_access_t *whole = b->last[0][i], *parts = b->last[1][i];
            if (e->chunk != WHOLE && b->owner[i] == SEVERAL)
                differs(c, SHARED, e, i + b->begin);
            else if (!whole || !parts || (whole != parts && (whole->loop < 0) != (parts->loop < 0)))
                differs(c, NOT_STORED, e, i + b->begin);
        }
    }
}

/* The store to the array, in a function with one outermost loop. NULL: there is none, or the
 * function stores to one array in several places, as an unrolled loop does. */
static const ir_access_t *only_store(comparison_t *c, const accessed_t *t)
{
    const ir_access_t *found = NULL;
    int outermost = 0;
    for (int k = 0; k < c->f->loop_count; k++)
        outermost += c->f->loop[k].parent < 0;
    for (int k = 0; k < c->f->access_count; k++) {
        const ir_access_t *a = &c->f->access[k];
        const accessed_t *of = compare_target_of(c, a);
        if (a->kind == IR_READ || !of || (t && !is_same(of, t)))
            continue;
        for (int i = 0; i < k; i++)
            if (c->f->access[i].kind != IR_READ && c->f->access[i].param == a->param)
                return NULL;
        found = a;
    }
    return outermost == 1 && found && found->loop >= 0 ? found : NULL;
}

/* Stores in from[byte] the element that the access reads in the iteration that stores the byte.
 * False: they do not go together. */
static bool pair(const carried_t *r, const ir_access_t *a, const ir_access_t *store, bool whole,
                 int64_t base, int64_t *from, int64_t count)
{
    int k = 0, i = 0;
    for (;; k++, i++) {
        while (k < r->count && (r->event[k].access != a || (r->event[k].chunk == WHOLE) != whole))
            k++;
        while (i < r->count &&
               (r->event[i].access != store || (r->event[i].chunk == WHOLE) != whole))
            i++;
        if (k == r->count || i == r->count)
            return k == r->count && i == r->count;
        int64_t at = r->event[i].begin - base;
        if (r->event[k].chunk != r->event[i].chunk || at < 0 || at >= count)
            return false;
        from[at] = r->event[k].begin;
    }
}

/* Elements that chunks compute from others than the whole call does, as y[n - 1 - i] = x[i]. */
static void look_for_pairs(comparison_t *c, const accessed_t *t, const bytes_t *b)
{
    const carried_t *r = c->carried;
    const ir_access_t *store = only_store(c, t);
    int64_t count = b->end - b->begin;
    if (!store || r->inexact[store - c->f->access])
        return;
    int64_t *from[2] = {arena_alloc((size_t)count * sizeof(int64_t)),
                        arena_alloc((size_t)count * sizeof(int64_t))};
    for (int n = 0; n < c->f->access_count; n++) {
        const ir_access_t *a = &c->f->access[n];
        if (a->kind != IR_READ || a->loop != store->loop || !compare_target_of(c, a) ||
            r->inexact[n])
            continue;
        for (int64_t i = 0; i < count; i++)
            from[0][i] = from[1][i] = INT64_MIN;
        if (!pair(r, a, store, true, b->begin, from[0], count) ||
            !pair(r, a, store, false, b->begin, from[1], count))
            continue;
        for (int k = 0; k < r->count; k++) {
            int64_t at = r->event[k].begin - b->begin;
            if (r->event[k].access == store && from[0][at] != from[1][at])
                differs(c, PAIRED, &r->event[k], r->event[k].begin);
        }
    }
}

/* True if one integer of the store's value is another one than in the whole call. Where two are,
 * the one may make up for the other. */
static bool has_other_value(const event_t *e, const event_t *whole)
{
    int others = 0;
    for (int k = 0; k < 2; k++) {
        if (e->access->integer[k] >= 0 &&
            (e->integer[k] == NOT_KNOWN || whole->integer[k] == NOT_KNOWN))
            return false;
        others += e->integer[k] != whole->integer[k];
    }
    return e->access == whole->access && others == 1;
}

/* Values such as `i - lo`, of functions that get bounds. */
static void look_for_values(comparison_t *c, const accessed_t *t, const bytes_t *b)
{
    const carried_t *r = c->carried;
    size_t count = (size_t)(b->end - b->begin);
    const event_t **whole = arena_alloc(count * sizeof(*whole));
    bool bounded = false;
    for (int k = 0; k < c->d->rebase_count; k++)
        bounded |= c->d->rebase[k].kind != REBASE_LENGTH;
    memset(whole, 0, count * sizeof(*whole));
    for (int k = 0; k < r->count && bounded; k++) {
        const event_t *e = &r->event[k];
        if (e->access->kind != IR_WRITE || !is_same(e->of, t))
            continue;
        const event_t **at = &whole[e->begin - b->begin];
        if (e->chunk == WHOLE)
            *at = e;
        else if (*at && has_other_value(e, *at))
            differs(c, VALUED, e, e->begin);
    }
}

/* One access reads other elements in chunks: its index or its condition depends on where the
 * function's own index begins. */
static void look_for_reads(comparison_t *c, const accessed_t *t, const bytes_t *b)
{
    const carried_t *r = c->carried;
    const ir_access_t *store = only_store(c, NULL);
    for (int n = 0; n < c->f->access_count && store; n++) {
        const ir_access_t *a = &c->f->access[n];
        const accessed_t *of = compare_target_of(c, a);
        if (a->kind != IR_READ || !of || !is_same(of, t) || r->inexact[n] || a->loop < 0)
            continue;
        memset(b->whole, 0, (size_t)(b->end - b->begin));
        memset(b->parts, 0, (size_t)(b->end - b->begin));
        for (int k = 0; k < r->count; k++)
            if (r->event[k].access == a)
                (r->event[k].chunk == WHOLE ? b->whole : b->parts)[r->event[k].begin - b->begin] =
                    1;
        for (int k = 0; k < r->count; k++) {
            int64_t at = r->event[k].begin - b->begin;
            if (r->event[k].access == a && b->whole[at] != b->parts[at])
                differs(c, NOT_READ, &r->event[k], r->event[k].begin);
        }
    }
}

/* True if all that the function stores is reduced. */
static bool reduces_only(comparison_t *c)
{
    bool any = false;
    for (int k = 0; k < c->f->access_count; k++) {
        const accessed_t *t = compare_pointer_of(c, &c->f->access[k]);
        if (c->f->access[k].kind == IR_READ)
            continue;
        if (!t || !compare_is_reduced(c, t))
            return false;
        any = true;
    }
    return any;
}

/*
 * Elements that chunks read less often than a loop of the whole call does, as the sum of x[i] +
 * x[i + 1] up to n - 1 leaves out a pair at each edge of a chunk. How often all accesses read an
 * element does not depend on how loops are unrolled, nor on what begins with the first element.
 */
static void look_for_missed(comparison_t *c, const accessed_t *t, const bytes_t *b)
{
    const carried_t *r = c->carried;
    size_t count = (size_t)(b->end - b->begin);
    if (!reduces_only(c) || !is_exact(c, t, IR_READ))
        return;
    int *more = arena_alloc(count * sizeof(*more)); /* reads of the whole call, less the chunks' */
    memset(more, 0, count * sizeof(*more));
    for (int k = 0; k < r->count; k++) {
        const event_t *e = &r->event[k];
        if (e->access->kind != IR_READ || !is_same(e->of, t) ||
            (e->chunk == WHOLE && e->access->loop < 0))
            continue;
        for (int64_t i = e->begin - b->begin; i < e->end - b->begin; i++)
            more[i] += e->chunk == WHOLE ? 1 : -1;
    }
    for (int k = 0; k < r->count; k++) {
        const event_t *e = &r->event[k];
        if (e->access->kind == IR_READ && is_same(e->of, t) && more[e->begin - b->begin] > 0)
            differs(c, MISSED, e, e->begin);
    }
}

void carried_look(comparison_t *c)
{
    carried_t *r = c->carried;
    memset(r->inexact, 0, (size_t)c->f->access_count + 1);
    memset(r->seen, 0, sizeof(r->seen));
    if (run_all(c))
        for (int k = 0; k < c->count; k++) {
            accessed_t *t = &c->target[k];
            bool known = !t->skipped && t->key;
            for (int i = 0; i < k && known; i++)
                known = c->target[i].skipped || !is_same(&c->target[i], t);
            bytes_t b;
            if (!known || compare_is_reduced(c, t) || !bytes_of(r, t, &b))
                continue;
            mark_stores(r, t, &b);
            look_for_crossings(c, t, &b);
            if (is_exact(c, t, IR_WRITE))
                look_for_stores(c, t, &b);
            look_for_reads(c, t, &b);
            look_for_missed(c, t, &b);
            look_for_pairs(c, t, &b);
            look_for_values(c, t, &b);
        }
    for (int k = 0; k < DIFFERENCES; k++) {
        r->alive[k] = r->alive[k] && r->seen[k];
        r->shown[k] += r->seen[k];
    }
}

bool carried_is_suspect(const comparison_t *c)
{
    for (int k = 0; k < DIFFERENCES && c->carried; k++)
        if (c->carried->alive[k])
            return true;
    return false;
}

void carried_begin(comparison_t *c)
{
    carried_t *r = c->carried = arena_alloc(sizeof(*r));
    *r = (carried_t){
        .value = carried_value(c), .whole = carried_whole(c), .chosen = carried_chosen(c)};
    r->inexact = arena_alloc((size_t)c->f->access_count + 1);
    for (int k = 0; k < DIFFERENCES; k++)
        r->alive[k] = true;
}

/* ---- Messages ---- */

static const char *base_of(comparison_t *c, const accessed_t *t)
{
    int64_t base;
    for (int k = 0; k < c->d->item_count; k++)
        if (compare_is_of(c, t, &c->d->item[k], &base))
            return unit_words(c->u, c->d->item[k].base->begin, c->d->item[k].base->end);
    return "?";
}

static const char remedy[] =
    "tell it the bounds, as in rebase(lo: begin(i), hi: end(i)), or call it without the pragma";

static bool is_found(const carried_t *r, int k)
{
    return r->alive[k] && r->shown[k] >= LEAST_SHOWN && r->of[k] && !r->of[k]->skipped;
}

bool carried_report_missed(comparison_t *c)
{
    const carried_t *r = c->carried;
    if (!r || !is_found(r, MISSED))
        return true;
    unit_error(c->u, c->d->rebase_begin, c->d->rebase_end,
               "'%s' reads %s[%lld] less often in chunks than in one call, so that what it reduces "
               "lacks pairs across the edges of chunks; %s",
               c->d->callee_name, base_of(c, r->of[MISSED]), r->element[MISSED], remedy);
    compare_note(c, r->access[MISSED]);
    return false;
}

bool carried_report(comparison_t *c)
{
    const carried_t *r = c->carried;
    size_t begin = c->d->rebase_begin, end = c->d->rebase_end;
    const char *name = c->d->callee_name;
    for (int k = 0; k < DIFFERENCES && r; k++) {
        if (k == MISSED || !is_found(r, k))
            continue;
        const char *base = base_of(c, r->of[k]);
        if (k == CROSSES)
            unit_error(c->u, begin, end,
                       "a chunk of '%s' reads %s[%lld], which another chunk stores, and chunks run "
                       "in any order; call it without the pragma, or store to another array",
                       name, base, r->element[k]);
        else if (k == SHARED)
            unit_error(c->u, begin, end,
                       "several chunks of '%s' store to %s[%lld], and chunks run at once and in "
                       "any order; say reduce if they accumulate, as in reduce(+: %s[%lld])",
                       name, base, r->element[k], base, r->element[k]);
        else if (k == VALUED)
            unit_error(
                c->u, begin, end,
                "'%s' stores to %s[%lld] what it computes from where its chunk begins or "
                "ends, and that is another value in chunks than in one call; pass the bounds "
                "of the whole range as well, as parameters that rebase does not name",
                name, base, r->element[k]);
        else
            unit_error(c->u, begin, end,
                       "'%s' does not %s the same elements in chunks as in one call, such as "
                       "%s[%lld]: its own index does not begin where the chunk does; %s",
                       name,
                       k == NOT_STORED ? "store to"
                       : k == PAIRED   ? "combine"
                                       : "read",
                       base, r->element[k], remedy);
        compare_note(c, r->access[k]);
        return false;
    }
    if (r && r->value && carried_has_length(c, r->value)) {
        unit_error(c->u, begin, end,
                   "'%s' stores what it computes from its length, which is another one in chunks; "
                   "pass it a second time, as a parameter that rebase does not name",
                   name);
        compare_note(c, r->value);
        return false;
    }
    if (r && r->value) {
        unit_error(c->u, begin, end,
                   "'%s' stores what its loop carries from one iteration to the next, and that "
                   "begins anew in each chunk; %s",
                   name, remedy);
        compare_note(c, r->value);
        return false;
    }
    if (r && r->whole) {
        unit_error(c->u, begin, end,
                   "'%s' stores what a loop over all of its range computes, and a chunk has a part "
                   "of that range; compute it by a launch of its own with reduce, or call it "
                   "without the pragma",
                   name);
        compare_note(c, r->whole);
        return false;
    }
    if (r && r->chosen) {
        diag_at(SEVERITY_WARNING, c->u->source, begin, end,
                "the length that '%s' gets decides what it stores, and a chunk's is another one "
                "than the whole range's; pass it a second time, as a parameter that rebase does "
                "not name [-Wkmm-length]",
                name);
        compare_note(c, r->chosen);
    }
    return true;
}
