/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares by example. A sample gives numbers to the launch's variables; some chunks of it are run
 * thread by thread (ir/replay.h), and each access is looked up in the regions that the items name
 * for the chunk. What is wrong in every sample is wrong whatever the numbers are, so it is an
 * error; what is wrong in some samples only may rest on a relation between variables that the
 * program keeps, so nothing is said.
 */
#include "analyze/compare.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/byteset.h"
#include "analyze/carried.h"
#include "analyze/certain.h"
#include "analyze/compare_call.h"
#include "analyze/compare_report.h"
#include "analyze/compare_sample.h"
#include "analyze/compare_target.h"
#include "analyze/geometry.h"
#include "analyze/operator.h"
#include "analyze/reduced.h"
#include "analyze/sample.h"
#include "analyze/translate.h"
#include "analyze/wide.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "clang/cursor.h"
#include "ir/load.h"
#include "ir/replay.h"

enum {
    LEAST_SAMPLES = 3,
    MOST_SAMPLES = 40,
    MOST_THREADS_OF_CHUNK = 1 << 14, /* more are run in part */
    PART_OF_THREADS = 512,
};

/* ---- Parameters ---- */

/* An integer member of a struct has the number that its path has in clauses. */
static bool member_value(comparison_t *c, CXCursor argument, int member, int bits, int64_t *value)
{
    int64_t shift;
    CXType type;
    const char *base = sample_pointer(&c->sample, argument, &shift);
    const char *name = type_member_at(clang_getCursorType(argument), member, &type);
    if (!base || !name || !type_is_integer(type) || clang_Type_getSizeOf(type) * 8 != bits)
        return false;
    *value = sample_atom(&c->sample, arena_printf("%s.%s", base, name));
    return true;
}

static bool param_value(void *context, int param, int member, int bits, int64_t *value)
{
    comparison_t *c = context;
    if (param >= c->d->argument_count)
        return false;
    CXCursor argument = c->d->argument[param];
    if (call_value(c, param, value))
        return true;
    return member < 0 ? sample_cursor(&c->sample, argument, value)
                      : member_value(c, argument, member, bits, value);
}

/* ---- One chunk ---- */

/* Computes the bytes that the items of the pointer name for the chunk. False: they cannot be
 * computed. */
static bool regions_of(comparison_t *c, accessed_t *t, const chunk_box_t *box)
{
    byteset_clear(&t->read);
    byteset_clear(&t->write);
    byteset_clear(&t->reduce);
    byteset_clear(&t->stored);
    t->storing_all = true;
    t->reading = NULL;
    t->shape_begin = INT64_MIN;
    t->shape_end = INT64_MAX;
    for (int k = 0; k < c->d->item_count; k++) {
        const item_t *item = &c->d->item[k];
        int64_t base, bytes;
        if (!compare_is_of(c, t, item, &base) || !compare_key(c, t, &t->shift))
            continue;
        if (byteset_extent(&c->sample, item, &bytes)) {
            t->shape_begin = base > t->shape_begin ? base : t->shape_begin;
            t->shape_end = base + bytes < t->shape_end ? base + bytes : t->shape_end;
        }
        if (!t->reading && item->mode & KMM_READ) {
            t->reading = item;
            t->reading_base = base;
            t->element = byteset_element(item);
        }
        t->is_logical |=
            item->mode == KMM_REDUCE && (item->op == KMM_OP_LAND || item->op == KMM_OP_LOR);
        byteset_t *to[2] = {item->mode == KMM_READ || item->mode == KMM_UPDATE ? &t->read : NULL,
                            item->mode == KMM_WRITE || item->mode == KMM_UPDATE ? &t->write
                            : item->mode == KMM_REDUCE                          ? &t->reduce
                                                                                : NULL};
        for (int i = 0; i < 2; i++)
            if (to[i] && !byteset_of_item(&c->sample, item, box, base, to[i]))
                return false;
    }
    byteset_sort(&t->read);
    byteset_sort(&t->write);
    byteset_sort(&t->reduce);
    return call_advance(c, t, box);
}

/* Returns the numbers of the launch's variables in this sample, as text. */
static const char *numbers(const comparison_t *c)
{
    text_t out = {0};
    const geometry_t *g = &c->geometry;
    text_add(&out, "", 0);
    for (int k = 0; k < c->sample.atom_count && k < 6; k++)
        text_printf(&out, "%s = %lld, ", c->sample.atom[k].name,
                    (long long)c->sample.atom[k].value);
    if (c->d->is_kernel)
        text_printf(&out, "blocks of %lld", (long long)g->block[0]);
    else
        text_printf(&out, "chunks of %lld", (long long)g->chunk[0]);
    for (int k = 1; k < 3 && g->block[1] * g->block[2] > 1; k++)
        if (k == 1 || g->block[2] > 1)
            text_printf(&out, "x%lld", (long long)g->block[k]);
    return out.data;
}

static void found(comparison_t *c, accessed_t *t, kind_t kind, const ir_access_t *a, int64_t byte)
{
    if (t->seen[kind])
        return;
    t->seen[kind] = true;
    if (t->example[kind].numbers)
        return;
    int64_t base = 0, element = 1;
    for (int k = 0; k < c->d->item_count; k++)
        if (compare_is_of(c, t, &c->d->item[k], &base)) {
            element = byteset_element(&c->d->item[k]);
            break;
        }
    example_t *e = &t->example[kind];
    *e = (example_t){.access = a, .element = (byte - base) / (element > 0 ? element : 1)};
    e->numbers = numbers(c);
    e->beyond = -1;
    for (int k = 0; k < c->d->axis_count; k++) {
        e->axis[k] = c->axis[k];
        if (c->axis[k] < c->geometry.lower[k] || c->axis[k] >= c->geometry.end[k]) {
            e->beyond = k;
            e->end = c->geometry.end[k];
        }
    }
}

/* Records the distance of an access from the first element that the read item names for the
 * thread's own indices. Messages say how far a section must reach. */
static void measure(comparison_t *c, accessed_t *t, int64_t begin, int64_t end)
{
    int64_t lower;
    if (!t->reading || !t->alive[READ_OUTSIDE] || !t->is_steady || !c->d->is_kernel)
        return;
    if (!byteset_lower(&c->sample, t->reading, c->axis, &lower) || t->element <= 0) {
        t->is_steady = false;
        return;
    }
    int64_t first = (begin - t->reading_base) / t->element - lower,
            last = (end - 1 - t->reading_base) / t->element - lower;
    t->sample_least = t->has_distance && t->sample_least < first ? t->sample_least : first;
    t->sample_most = t->has_distance && t->sample_most > last ? t->sample_most : last;
    t->has_distance = true;
}

static void look_up_read(comparison_t *c, accessed_t *t, const ir_access_t *a, int64_t begin,
                         int64_t end)
{
    measure(c, t, begin, end);
    if (byteset_has(&t->read, begin, end) || byteset_has(&t->reduce, begin, end))
        return;
    if (!certain_access(c, t, a))
        return;
    if (!byteset_has(&t->write, begin, end))
        found(c, t, READ_OUTSIDE, a, begin);
    else if (!a->after_write && certain_old(c, t, a))
        found(c, t, READ_OLD, a, begin);
}

/* True if a store does not combine: the kernel loads nothing there. A store of 0 may begin a sum.
 */
static bool is_plain(const comparison_t *c, const accessed_t *t, const ir_access_t *store)
{
    bool plain = true;
    for (const ir_access_t *a = c->f->access; a < c->f->access + c->f->access_count; a++)
        if (a->param == t->param && a->member == t->member)
            plain &= a->kind == IR_WRITE || (a->kind == IR_ATOMIC && !store->stores_zero);
    return plain;
}

static void look_up_store(comparison_t *c, accessed_t *t, const ir_access_t *a, int64_t begin,
                          int64_t end)
{
    if (byteset_has(&t->reduce, begin, end)) {
        /* With && and ||, a plain store can be right: it may store 0, or 1. */
        if (a->kind == IR_WRITE && !t->is_logical && t->reduce.count && is_plain(c, t, a) &&
            certain_access(c, t, a))
            found(c, t, PLAIN_REDUCE, a, begin);
        return;
    }
    if (byteset_has(&t->write, begin, end) || !certain_access(c, t, a))
        return;
    found(c, t, byteset_has(&t->read, begin, end) ? STORE_READ : STORE_OUTSIDE, a, begin);
}

static void visit(void *context, const ir_access_t *a, int64_t begin, int64_t end, bool certain,
                  bool somewhere)
{
    comparison_t *c = context;
    accessed_t *t = compare_target_of(c, a);
    if (!t)
        return;
    t->touched = true;
    if (!certain || somewhere)
        wide_note(c, t, 0, 0, false);
    if (a->kind != IR_READ && (!certain || somewhere))
        t->storing_all = false;
    if (!certain || somewhere)
        return;
    begin += t->shift;
    end += t->shift;
    /* outside of the shape, so the program has no such element */
    if (begin < t->shape_begin || end > t->shape_end)
        return;
    wide_note(c, t, begin, end, true);
    c->active = true;
    if (end > t->last)
        t->last = end;
    if (a->kind == IR_READ)
        look_up_read(c, t, a, begin, end);
    else
        look_up_store(c, t, a, begin, end);
    if (a->kind != IR_READ)
        byteset_add(&t->stored, begin, end);
}

static void run_thread(comparison_t *c, const int64_t block[3], const int64_t thread[3])
{
    const geometry_t *g = &c->geometry;
    for (int k = 0; k < 3; k++) {
        replay_set(c->replay, IR_BLOCK_INDEX * 3 + k, block[k]);
        replay_set(c->replay, IR_THREAD_INDEX * 3 + k, thread[k]);
    }
    for (int k = 0; k < c->d->axis_count; k++) {
        const axis_t *a = &c->d->axis[k];
        int at = a->source >= KMM_BLOCK_X ? a->source - KMM_BLOCK_X : a->source - KMM_GLOBAL_X;
        c->axis[k] = a->source >= KMM_BLOCK_X ? block[at] : block[at] * g->block[at] + thread[at];
    }
    if (!replay_thread(c->replay, false, visit, c))
        for (int k = 0; k < c->count; k++)
            c->target[k].storing_all = false;
}

/* Runs the chunk's threads; of a large chunk, the first, the last, and some between. */
static void run_threads(comparison_t *c, const int64_t first[3], const int64_t count[3])
{
    const geometry_t *g = &c->geometry;
    int64_t blocks = count[0] * count[1] * count[2], size = g->block[0] * g->block[1] * g->block[2],
            all = blocks * size, stride = 1;
    c->is_partial = all > MOST_THREADS_OF_CHUNK;
    if (c->is_partial) {
        stride = all / PART_OF_THREADS;
        for (int k = 0; k < c->count; k++)
            c->target[k].storing_all = false;
    }
    for (int64_t n = 0; n < all; n++) {
        if (stride > 1 && n >= PART_OF_THREADS && n < all - PART_OF_THREADS && n % stride)
            continue;
        int64_t b = n / size, t = n % size;
        const int64_t block[3] = {first[0] + b % count[0], first[1] + b / count[0] % count[1],
                                  first[2] + b / count[0] / count[1]};
        const int64_t thread[3] = {t % g->block[0], t / g->block[0] % g->block[1],
                                   t / g->block[0] / g->block[1]};
        run_thread(c, block, thread);
    }
}

/* Collects the bytes that are stored to the array through any pointer. False: they are not known.
 */
static bool stored_to(comparison_t *c, const accessed_t *t, byteset_t *all)
{
    byteset_clear(all);
    for (int k = 0; k < c->count; k++) {
        const accessed_t *o = &c->target[k];
        if (!o->key || strcmp(o->key, t->key) != 0)
            continue;
        if (o->skipped || !o->storing_all)
            return false;
        for (int i = 0; i < o->stored.count; i++)
            byteset_add(all, o->stored.at[i].begin, o->stored.at[i].end);
    }
    byteset_sort(all);
    return true;
}

/* Finds the first byte that a write item names and no thread stores. */
static void look_for_gaps(comparison_t *c, accessed_t *t, const chunk_box_t *box)
{
    if (!stored_to(c, t, &t->all))
        return;
    for (int k = 0; k < c->d->item_count; k++) {
        const item_t *item = &c->d->item[k];
        int64_t at, base;
        if (item->mode != KMM_WRITE || !item->section_count || !compare_is_of(c, t, item, &base))
            continue;
        byteset_clear(&t->one);
        if (!byteset_of_item(&c->sample, item, box, base, &t->one) || t->one.all)
            continue;
        byteset_sort(&t->one);
        /* [:] may reach beyond the array. */
        bool open = item->section_count == 1 && !item->section[0].lower;
        if (!open && t->gap < 0 && byteset_exceeds(&t->one, &t->all, &at))
            t->gap = at;
    }
}

static bool run_chunk(comparison_t *c, const int64_t number[3])
{
    const geometry_t *g = &c->geometry;
    int64_t first[3], count[3];
    chunk_box_t box;
    for (int k = 0; k < 3; k++) {
        first[k] = number[k] * g->chunk[k];
        count[k] = first[k] + g->chunk[k] > g->grid[k] ? g->grid[k] - first[k] : g->chunk[k];
    }
    geometry_box(&c->sample, g, first, count, &box);
    c->active = false;
    for (int k = 0; k < c->count; k++)
        if (!c->target[k].skipped && !regions_of(c, &c->target[k], &box))
            c->target[k].skipped = true;
    wide_begin_chunk(c);
    if (!c->d->is_kernel)
        call_run(c, &box, visit);
    else
        run_threads(c, first, count);
    for (int k = 0; k < c->count; k++)
        if (!c->target[k].skipped)
            look_for_gaps(c, &c->target[k], &box);
    return true;
}

/* ---- Samples ---- */

/* What items name and no thread accesses. */
static void look_for_waste(comparison_t *c, const int64_t number[3])
{
    bool inner = c->wide;
    for (int k = 0; k < 3; k++)
        inner &=
            c->geometry.count[k] < 2 || (number[k] > 0 && number[k] < c->geometry.count[k] - 1);
    for (int k = 0; k < c->count && inner; k++)
        if (!c->target[k].skipped && c->target[k].alive[WIDE] && wide_is(c, &c->target[k]))
            found(c, &c->target[k], WIDE, NULL, 0);
}

/* Runs the first chunk, the next one, one in the middle, and the last two: a range may end before
 * the last. */
static void run_chunks(comparison_t *c)
{
    const int64_t *count = c->geometry.count;
    int64_t number[5][3];
    for (int step = 0; step < 5; step++) {
        bool again = false;
        for (int k = 0; k < 3; k++)
            number[step][k] = step == 0   ? 0
                              : step == 1 ? (count[k] > 1)
                              : step == 2 ? count[k] / (k + 2) /* off the diagonal */
                              : step == 3 ? (count[k] > 1 ? count[k] - 2 : 0)
                                          : count[k] - 1;
        for (int k = 0; k < step; k++)
            again |= !memcmp(number[k], number[step], sizeof(number[k]));
        if (again)
            continue;
        run_chunk(c, number[step]);
        look_for_waste(c, number[step]);
    }
}

static void settle(accessed_t *t)
{
    /* With some numbers, such as a width of 1, no thread has anything to do. */
    if (!t->touched) {
        memset(t->seen, 0, sizeof(t->seen));
        t->has_distance = false;
        return;
    }
    t->samples++;
    for (int k = 0; k < KINDS; k++) {
        t->alive[k] = t->alive[k] && t->seen[k];
        t->seen[k] = false;
    }
    if (t->has_distance && (t->least || t->most) &&
        (t->least != t->sample_least || t->most != t->sample_most))
        t->is_steady = false;
    t->least = t->sample_least;
    t->most = t->sample_most;
    t->is_measured |= t->has_distance;
    t->has_distance = false;
}

/*
 * Reports elements that a write item names and no thread stores. The array may end there, because
 * regions are clipped to it. So the gap is reported only if the kernel accesses elements behind it.
 */
static void judge_gap(comparison_t *c, accessed_t *t)
{
    int64_t last = 0;
    if (t->skipped || t->gap < 0 || !certain_gap(c, t))
        return;
    for (int k = 0; k < c->count; k++)
        if (c->target[k].key && !strcmp(c->target[k].key, t->key) && c->target[k].last > last)
            last = c->target[k].last;
    if (t->gap < last)
        found(c, t, LEFT_OUT, NULL, t->gap);
}

/*
 * False if the sample's grid was assumed and is probably too large. In the real launch each thread
 * may work on several elements, and the launch is then one chunk. In the sample such a kernel's
 * last threads have nothing to do, or they access far more than the clauses name.
 */
static bool is_plausible(const comparison_t *c)
{
    if (!c->geometry.guessed)
        return true;
    for (int k = 0; k < c->count; k++) {
        const accessed_t *t = &c->target[k];
        const byteset_t *named[] = {&t->read, &t->write, &t->reduce};
        int64_t end = 0;
        for (int i = 0; i < 3 && !t->skipped; i++)
            if (named[i]->all)
                end = INT64_MAX;
            else if (named[i]->count && named[i]->at[named[i]->count - 1].end > end)
                end = named[i]->at[named[i]->count - 1].end;
        if (!t->skipped && end < INT64_MAX / 2 && t->last > 2 * end + 4096)
            return false;
    }
    return c->active;
}

/* Runs one sample, unless its launch is one chunk. */
static void run_sample(comparison_t *c, int trial, bool follows, int64_t block_x)
{
    if (!compare_choose_sample(c, trial, follows, block_x))
        return;
    const geometry_t *g = &c->geometry;
    if (!certain_fits(c))
        return;
    uint64_t ranges = 0;
    for (int k = 0; k < c->d->axis_count; k++)
        ranges |= g->range[k];
    int64_t holds = 1;
    if (c->d->condition && (!sample_expression(&c->sample, c->d->condition, &holds) || !holds))
        return;
    replay_restart(c->replay);
    certain_begin(c); /* all variables have their numbers now */
    if (sample_is_needless(&c->sample, ranges))
        return;
    for (int k = 0; k < 3; k++) {
        replay_set(c->replay, IR_BLOCK_DIM * 3 + k, g->block[k]);
        replay_set(c->replay, IR_GRID_DIM * 3 + k, g->grid[k]);
    }
    for (int k = 0; k < c->f->access_count; k++) {
        accessed_t *t = compare_target_of(c, &c->f->access[k]);
        if (t && c->f->access[k].kind != IR_READ)
            t->store_names |= certain_names(c, &c->f->access[k]);
    }
    wide_begin_sample(c);
    run_chunks(c);
    if (!c->d->is_kernel)
        carried_look(c);
    bool plausible = is_plausible(c);
    for (int k = 0; k < c->count; k++) {
        accessed_t *t = &c->target[k];
        if (plausible)
            judge_gap(c, t);
        else
            t->touched = false;
        settle(t);
    }
}

static bool is_suspect(const comparison_t *c)
{
    for (int k = 0; k < c->count; k++)
        for (int i = 0; i < KINDS && !c->target[k].skipped; i++)
            if (c->target[k].alive[i])
                return true;
    return carried_is_suspect(c);
}

/* ---- A launch ---- */

static void all_samples(comparison_t *c)
{
    static const int64_t guesses[] = {32, 64, 128, 256, 512};
    int tried = geometry_knows_blocks(&c->sample) ? 1 : 5;
    for (int trial = 0; trial < MOST_SAMPLES && is_suspect(c); trial++) {
        for (int k = 0; k < 2 * tried && is_suspect(c); k++)
            run_sample(c, trial, k % 2, guesses[tried == 1 ? 3 : k / 2]);
        /* Later trials change one atom each. */
        if (trial >= 2 * (c->sample.atom_count + 1) + 1)
            break;
    }
    for (int k = 0; k < c->count; k++)
        c->target[k].skipped |= c->target[k].samples < LEAST_SAMPLES;
}

/* The directive with the kernel's own arguments, for cudaLaunchKernelEx(&configuration, kernel,
 * ...). */
static directive_t *with_arguments(directive_t *d)
{
    directive_t *own = arena_alloc(sizeof(*own));
    int count = clang_Cursor_getNumArguments(d->launch) - 2;
    if (d->form != LAUNCH_CALL || count < 0 ||
        clang_Cursor_isNull(translate_argument(d, count > 0 ? count - 1 : 0)))
        return d;
    *own = *d;
    own->argument_count = count;
    own->argument = arena_alloc(((size_t)count + 1) * sizeof(*own->argument));
    for (int k = 0; k < count; k++)
        own->argument[k] = translate_argument(d, k);
    return own;
}

/* fixed: for variables that are constants; NULL: these get numbers, too. False: an error was
 * reported. */
static bool compare_with(unit_t *u, directive_t *d, const ir_function_t *f, fixed_t *fixed)
{
    comparison_t *c = arena_alloc(sizeof(*c));
    *c = (comparison_t){.u = u, .d = d, .f = f, .fixed = fixed};
    c->wide = d->is_kernel && diag_shows("kmm-wide") && !fixed;
    c->sample = (sample_t){.u = u, .d = d, .size = 1, .fixed = fixed};
    c->param = param_value;
    c->replay = replay_new(f, param_value, c);
    if (compare_has_other_names(c))
        return true;
    for (int k = 0; k < f->access_count; k++)
        compare_add(c, f->access[k].param, f->access[k].member);
    for (int k = 0; k < f->unknown_count; k++)
        compare_add(c, f->unknown[k].param, f->unknown[k].member);
    if (!d->is_kernel)
        carried_begin(c);
    all_samples(c);
    return compare_report(c) &&
           (fixed || (operator_check(c) && (d->is_kernel || carried_report(c)) &&
                      reduced_check(c) && carried_report_missed(c)));
}

bool compare_accesses(unit_t *u, directive_t *d)
{
    if (d->is_kernel)
        d = with_arguments(d);
    if (d->target_count != 1 || d->home || d->item_count == 0)
        return true;
    const ir_function_t *f = d->is_kernel ? ir_function_of(u->main, d->target[0].instance)
                                          : ir_plain_function_of(u->main, d->target[0].instance);
    if (!f || f->param_count != d->argument_count)
        return true;
    if (!compare_with(u, d, f, NULL))
        return false;
    fixed_t *fixed = fixed_new(d->function);
    return !d->is_kernel || !compare_passes_fixed(d, fixed) || compare_with(u, d, f, fixed);
}
