/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a plain function reads, and not through an argument.
 *
 * kmmcc says which variables the function names, and libkmm compares addresses: the array that a
 * variable lies in may have another name in the directive that maps or writes it. Words of memory
 * that may be pointers count as these; to wait for too much is right, too.
 */
#include "launch/variables.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "execute/exact.h"
#include "launch/copy.h"
#include "launch/disjoint.h"
#include "launch/items.h"
#include "launch/nodes.h"
#include "launch/plan.h"
#include "launch/state.h"
#include "memory/array.h"
#include "memory/lifetime.h"
#include "memory/residency/native.h"
#include "memory/summary.h"
#include "task/inside.h"
#include "task/users.h"

enum {
    BEFORE = 256,     /* a pointer so many bytes before an array may be one to its elements */
    FEW_BYTES = 4096, /* of an item: more is searched for pointers to bring home only */
    AT_ONCE = 1 << 16 /* bytes that are searched before the lock is free for others */
};

static const char *load(const char *at)
{
    const char *word;
    memcpy(&word, at, sizeof(word));
    return word;
}

/* ---- Bringing home ---- */

static int find_unfinished(void *arg, const kmm__box_t *part, const void *value)
{
    const kmm__users_t *u = value;
    (void)arg;
    (void)part;
    return u->writer && u->writer->state != KMM__TASK_DONE;
}

/* True if the host has the newest values of all elements, and no task computes others. */
static bool is_settled(kmm__array_t *a)
{
    kmm__box_t boxes[2 * KMM__DIMS];
    const kmm__access_t whole = kmm__access_bytes(a, KMM_READ, 0, (int64_t)a->bytes);
    if (kmm__nodes_of(a->runtime) ||
        (a->is_tracked && !kmm__coherence_summary_is_there(a, KMM__HOST)))
        return false;
    const int n = kmm__object_boxes(&a->object, &whole, boxes);
    for (int b = 0; b < n; b++)
        if (kmm__map_visit(a->object.users.map, &boxes[b], find_unfinished, NULL))
            return false;
    return true;
}

/* A thread inside a task must not wait. What the task itself names is there. */
static int refuse_inside(const kmm__submission_t *s, const kmm__array_t *a)
{
    char text[300];
    const kmm__task_t *t = kmm__inside_task();
    for (uint32_t k = 0; t && k < t->access_count; k++)
        if (t->accesses[k].array == a)
            return 0;
    snprintf(text, sizeof(text),
             "inside a task it reads memory at %p without an argument, whose value a launch may "
             "still compute; name that memory in a clause of the task",
             (void *)a->base);
    return kmm__submission_refuse(s, KMM_E_STATE, text);
}

/* Brings [begin, end) of the array home. */
static int bring(kmm__submission_t *s, kmm__array_t *a, const char *begin, const char *end)
{
    const kmm__nodes_hooks_t *nodes = kmm__nodes_of(s->rt);
    const int64_t from = begin - a->base, to = end - a->base;
    int error = 0;
    if (a->is_mapped ? a->map == KMM_MAP_TO : a->host != a->base)
        return 0;
    s->reads_home = true;
    if (is_settled(a))
        return 0;
    if (kmm__is_inside())
        return refuse_inside(s, a);
    kmm__array_ref(a);
    if (nodes) {
        pthread_mutex_unlock(&s->rt->lock);
        error = nodes->use(a, KMM_READ, from, to);
        pthread_mutex_lock(&s->rt->lock);
    }
    if (!error)
        error = kmm__bytes_to_host(s->rt, a, from, to);
    kmm__array_unref(a);
    return error ? kmm__submission_refuse(s, error, kmm__error_get()) : 0;
}

/* Brings what lies in [begin, end) of the host's memory home. */
static int bring_range(kmm__submission_t *s, const char *begin, const char *end)
{
    uint32_t count;
    int error = 0;
    pthread_mutex_lock(&s->rt->lock);
    while (begin < end && !error) {
        kmm__array_t *a = kmm__array_in(s->rt, begin, (size_t)(end - begin), &count);
        if (!a)
            break;
        const char *stop = a->base + a->bytes;
        error = bring(s, a, begin > a->base ? begin : a->base, end < stop ? end : stop);
        begin = stop;
    }
    pthread_mutex_unlock(&s->rt->lock);
    return error;
}

/* The array that a pointer leads to: into it, to its end, or to an element before it. */
static kmm__array_t *array_at(kmm_runtime_t *rt, const char *word)
{
    uint32_t count;
    kmm__array_t *a = kmm__array_find(rt, word);
    a = a ? a : kmm__array_in(rt, word, BEFORE, &count);
    return a ? a : kmm__array_find(rt, word - 1);
}

/* Brings the arrays home to which words in [at, end) may lead. */
static int bring_pointed(kmm__submission_t *s, const char *at, const char *end, size_t step)
{
    int error = 0;
    at += -(uintptr_t)at & (step - 1);
    while (at + sizeof(char *) <= end && !error) {
        const char *stop = end - at > AT_ONCE ? at + AT_ONCE : end;
        pthread_mutex_lock(&s->rt->lock);
        const struct kmm__memory *m = s->rt->memory;
        for (; at < stop && at + sizeof(char *) <= end && !error && m->array_count; at += step) {
            const char *word = load(at);
            kmm__array_t *a =
                word + BEFORE < m->arrays[0]->base || !word ? NULL : array_at(s->rt, word);
            error = a ? bring(s, a, a->base, a->base + a->bytes) : 0;
        }
        if (m->array_count == 0)
            at = end;
        pthread_mutex_unlock(&s->rt->lock);
    }
    return error;
}

/* Where the variable ends: one of unknown size, with the array in which it begins. */
static const char *end_of(kmm_runtime_t *rt, const kmm_variable_t *v)
{
    const char *at = (const char *)(uintptr_t)v->at;
    if (v->bytes)
        return at + v->bytes;
    pthread_mutex_lock(&rt->lock);
    const kmm__array_t *a = kmm__array_find(rt, at);
    const char *end = a ? a->base + a->bytes : at + 1;
    pthread_mutex_unlock(&rt->lock);
    return end;
}

static int bring_variables(kmm__submission_t *s)
{
    int error = 0;
    for (uint32_t k = 0; k < s->l->variable_count && !error; k++) {
        const kmm_variable_t *v = &s->l->variables[k];
        const char *at = (const char *)(uintptr_t)v->at, *end = end_of(s->rt, v);
        error = bring_range(s, at, end);
        if (!error && v->kind & (KMM_VARIABLE_POINTER | KMM_VARIABLE_HOLDS_POINTERS))
            error = bring_pointed(s, at, end, sizeof(char *));
    }
    return error;
}

/* ---- Items that hold pointers ---- */

static bool is_followed(const kmm__item_t *item)
{
    return item->holds_pointers && item->mode != KMM_WRITE;
}

/* True if the launch writes to the array, or follows pointers that lie there. */
static bool is_own(const kmm__submission_t *s, const kmm__array_t *a)
{
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *item = &s->l->items[k];
        if ((item->mode != KMM_READ || is_followed(item)) && a->base <= item->base &&
            item->base < a->base + a->bytes)
            return true;
    }
    return false;
}

/* True if an array of others is not settled, or may not stay so while the launch runs. */
static bool must_follow(kmm__submission_t *s)
{
    bool found = false;
    pthread_mutex_lock(&s->rt->lock);
    for (uint32_t k = 0; k < s->rt->memory->array_count && !found; k++) {
        kmm__array_t *a = s->rt->memory->arrays[k];
        found = !is_own(s, a) && (s->l->nowait || !is_settled(a));
    }
    pthread_mutex_unlock(&s->rt->lock);
    return found;
}

/* The bytes that the launch may read by the item. False: none. */
static bool find_hull(const kmm__submission_t *s, const kmm__item_t *item,
                      const kmm__chunk_box_t *whole, const char **begin, const char **end)
{
    int64_t first, last;
    const bool known = kmm__plan_hull(item, s->l->axis_count, whole, &first, &last);
    pthread_mutex_lock(&s->rt->lock);
    const kmm__array_t *a = known ? NULL : kmm__array_find(s->rt, item->base);
    if (known || a) {
        *begin = known ? item->base + first : a->base;
        *end = known ? item->base + last : a->base + a->bytes;
    }
    pthread_mutex_unlock(&s->rt->lock);
    return known || a;
}

static int follow_items(kmm__submission_t *s)
{
    static const uint32_t one[3] = {1, 1, 1};
    kmm__partition_t part;
    kmm__chunk_box_t whole;
    const char *begin, *end;
    int error = 0;
    if (!must_follow(s) || kmm__partition(s->l, one, one, true, &part))
        return 0; /* a mistake in the range is reported later */
    kmm__partition_whole(&part, s->l, &whole);
    for (uint32_t k = 0; k < s->l->item_count && !error; k++) {
        const kmm__item_t *item = &s->l->items[k];
        if (!is_followed(item) || !find_hull(s, item, &whole, &begin, &end))
            continue;
        error = bring_range(s, begin, end);
        if (!error)
            error = bring_pointed(s, begin, end, item->is_packed ? 1 : sizeof(char *));
    }
    return error;
}

int kmm__variables_arrive(kmm__submission_t *s)
{
    bool follows = false;
    for (uint32_t k = 0; k < s->l->item_count; k++)
        follows |= is_followed(&s->l->items[k]);
    if (s->l->error || (!follows && s->l->variable_count == 0))
        return 0;
    KMM__NATIVE_HOLD(error, s->rt, "a launch in chunks");
    if (!error)
        error = bring_variables(s);
    if (!error && follows)
        error = follow_items(s);
    return error;
}

/* ---- What the launch itself writes ---- */

static void warn(const kmm__submission_t *s, const kmm__item_t *item, const char *name)
{
    if (!kmm__exact_is_on() && !kmm__disjoint_is_said(s->l))
        kmm__log(
            KMM__LOG_WARNING,
            "%s:%d: %s: argument %s: the function may also read this memory by way of '%s', and "
            "chunks run in any order, so results may differ from those of one call [crossed]",
            s->l->file, s->l->line, kmm__launch_name(s->l), item->text, name);
}

/* The bytes that the launch writes by the item; none if it only reads. */
typedef struct target {
    const kmm__item_t *item;
    const char *begin, *end;
} target_t;

static target_t target_of(const kmm__item_t *item)
{
    target_t t = {item, item->region_begin, item->region_end};
    if (item->mode == KMM_READ || !item->array)
        return (target_t){item, NULL, NULL};
    if (t.begin == t.end) { /* all of its array */
        t.begin = item->array->base;
        t.end = item->array->base + item->array->bytes;
    }
    return t;
}

/* True if the pointer leads to what the launch writes by the item, or to the element before that,
 * and no item begins there. */
static bool leads_beside(const kmm__submission_t *s, const target_t *t, const char *word)
{
    if (word < t->begin - t->item->element || word >= t->end)
        return false;
    for (uint32_t k = 0; k < s->l->item_count; k++)
        if (s->l->items[k].base == word)
            return false;
    return true;
}

static void check_words(const kmm__submission_t *s, const target_t *t, const char *name,
                        const char *at, const char *end)
{
    at += -(uintptr_t)at & (sizeof(char *) - 1);
    for (; at + sizeof(char *) <= end; at += sizeof(char *))
        if (leads_beside(s, t, load(at)))
            warn(s, t->item, name);
}

/* Pointers in memory to beside what the launch writes by the item. */
static void check_pointers(const kmm__submission_t *s, const target_t *t)
{
    for (uint32_t k = 0; k < s->l->variable_count; k++) {
        const kmm_variable_t *v = &s->l->variables[k];
        const char *at = (const char *)(uintptr_t)v->at;
        if (v->kind & KMM_VARIABLE_POINTER)
            check_words(s, t, v->text, at, at + sizeof(char *));
    }
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *from = &s->l->items[k];
        if (from->holds_pointers && from->mode == KMM_READ && from->array &&
            from->region_end - from->region_begin <= FEW_BYTES && from->array->host)
            check_words(s, t, from->text,
                        from->array->host + (from->region_begin - from->array->base),
                        from->array->host + (from->region_end - from->array->base));
    }
}

static int check_variable(const kmm__submission_t *s, const target_t *t, const kmm_variable_t *v)
{
    const char *at = (const char *)(uintptr_t)v->at;
    char text[300];
    if (at >= t->end || at + (v->bytes ? v->bytes : 1) <= t->begin)
        return 0;
    if (v->kind & KMM_VARIABLE_IN_PART) {
        warn(s, t->item, v->text);
        return 0;
    }
    snprintf(text, sizeof(text),
             "the function also reads this memory by the name '%.80s', where a chunk does not find "
             "what one call would; use the parameter there, or a variable of its own",
             v->text);
    return kmm__submission_refuse_item(s, t->item, KMM_E_INVALID, text);
}

int kmm__variables_check(const kmm__submission_t *s)
{
    int error = 0;
    if (s->part.count < 2 && !s->rt->has_spaces)
        return 0;
    for (uint32_t k = 0; k < s->l->item_count && !error; k++) {
        const target_t t = target_of(&s->l->items[k]);
        if (t.begin == t.end)
            continue;
        for (uint32_t i = 0; i < s->l->variable_count && !error; i++)
            error = check_variable(s, &t, &s->l->variables[i]);
        if (!error && s->part.count > 1)
            check_pointers(s, &t);
    }
    return error;
}
