/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KMM_CHECK=result. A pragma may not change what a program computes, so the chunks of a launch
 * must leave what one call for the whole range leaves. To compare both, the launch runs undivided
 * first, with all of its arrays. Its results are kept and its arrays restored. Then the launch runs
 * as it is described.
 *
 * Where the results of a kernel differ, the launch runs undivided once more: kernels may give
 * other results in each run, as those do that add floating-point numbers atomically. Only elements
 * that two undivided runs leave alike are compared, and those that are reduced. A plain function
 * whose results differ keeps state, on which its chunks depend. That is an error.
 *
 * Of a launch of which a chunk throws a C++ exception, only the exception is compared: the other
 * chunks run to their end, while the undivided call stops where it throws. The program gets the
 * chunks' exception.
 */
#include "launch/compare.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kmm/launch.h>

#include "base/alloc.h"
#include "base/api.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "execute/shadow.h"
#include "launch/compare_thrown.h"
#include "launch/fold.h"
#include "launch/gate.h"
#include "launch/items.h"
#include "launch/state.h"
#include "launch/wait.h"
#include "memory/array.h"
#include "memory/holders.h"
#include "memory/lifetime.h"
#include "task/inside.h"

/* An array of the launch, and what it held at three times. */
typedef struct image {
    kmm__array_t *array; /* a reference */
    char *before, *whole, *chunks;
    bool is_empty; /* a part of it has no value yet: it is mapped `from` or `alloc` */
    bool is_left;  /* a launch with nowait has left it mapped, so that an item's region names it */
} image_t;

struct kmm__comparison {
    const kmm__call_t *call;
    int (*submit)(kmm__submission_t *s, const kmm__call_t *call);
    uint32_t count;
    image_t images[KMM__MAX_ITEMS];
};

bool kmm__compare_wants(const kmm__submission_t *s)
{
    return s->rt->checks_result && s->annotated && s->part.count > 1 &&
           !kmm__gate_is_closed_here() && !kmm__is_inside();
}

/* Writes a note, once for each of the first 64 places in the source. */
static void say_note(const kmm__submission_t *s, const char *note)
{
    enum { MAX_SAID = 64 };
    static struct place {
        const char *file;
        int line;
    } said[MAX_SAID]; /* guarded by the gate */
    static int count;
    for (int k = 0; k < count; k++)
        if (said[k].file == s->l->file && said[k].line == s->l->line)
            return;
    if (count == MAX_SAID)
        return;
    said[count++] = (struct place){s->l->file, s->l->line};
    kmm__log(KMM__LOG_NOTE, "%s:%d: %s: KMM_CHECK=result %s", s->l->file ? s->l->file : "?",
             s->l->line, kmm__launch_name(s->l), note);
}

static void say_not_compared(const kmm__submission_t *s, const char *why)
{
    char note[400];
    snprintf(note, sizeof(note), "does not compare this launch: %s", why);
    say_note(s, note);
}

/* ---- Images ---- */

static int find_empty(void *arg, const kmm__box_t *part, const void *value)
{
    const kmm__holders_t *h = value;
    (void)arg;
    (void)part;
    return h->valid == 0;
}

/* True if a part of the array has no value yet, and reading it would be an error. */
static bool has_empty(kmm_runtime_t *rt, kmm__array_t *a)
{
    if (!a->is_mapped || (a->map != KMM_MAP_FROM && a->map != KMM_MAP_ALLOC))
        return false;
    pthread_mutex_lock(&rt->lock);
    kmm__box_t all = kmm__layout_whole(&a->coherence.layout);
    bool is = kmm__map_visit(a->coherence.map, &all, find_empty, NULL) != 0;
    pthread_mutex_unlock(&rt->lock);
    return is;
}

static void images_add(kmm__comparison_t *c, kmm__array_t *a)
{
    for (uint32_t k = 0; k < c->count; k++)
        if (c->images[k].array == a)
            return;
    kmm__array_ref(a);
    a->map_depth += a->is_mapped; /* other threads' wait may not end the map meanwhile */
    c->images[c->count++] = (image_t){.array = a, .is_left = a->is_deferred};
}

/* Copies what the arrays hold. at: the image's member. Returns 0 or an error. */
static int images_take(kmm_runtime_t *rt, kmm__comparison_t *c, size_t at)
{
    int error = 0;
    for (uint32_t k = 0; k < c->count && !error; k++) {
        image_t *i = &c->images[k];
        char *copy = malloc(i->array->bytes ? i->array->bytes : 1);
        if (!copy)
            return kmm__error_set(KMM_E_MEMORY, "no memory for copies of its arrays");
        i->is_empty = has_empty(rt, i->array);
        if (!i->is_empty)
            error = kmm_copy_out(rt, copy, i->array->base, i->array->bytes);
        char **slot = (char **)((char *)i + at);
        free(*slot);
        *slot = copy;
        if (i->is_empty || error) {
            free(copy);
            *slot = NULL;
        }
    }
    return error;
}

/* Puts back what the arrays held before. What had no value then keeps that of the undivided run. */
static int images_restore(kmm_runtime_t *rt, const kmm__comparison_t *c)
{
    int error = 0;
    for (uint32_t k = 0; k < c->count && !error; k++) {
        const image_t *i = &c->images[k];
        if (i->before && (!i->whole || memcmp(i->before, i->whole, i->array->bytes)))
            error = kmm_copy_in(rt, i->array->base, i->before, i->array->bytes);
    }
    return error;
}

/* Frees c, and lets go of its arrays. Returns 0 or an error of a map that ends then. */
static int comparison_free(kmm__comparison_t *c, kmm_runtime_t *rt)
{
    int error = 0;
    for (uint32_t k = 0; k < c->count; k++) {
        free(c->images[k].before);
        free(c->images[k].whole);
        free(c->images[k].chunks);
        pthread_mutex_lock(&rt->lock);
        kmm__array_t *a = c->images[k].array;
        void *mapped = a->is_mapped ? a->base : NULL;
        kmm__array_unref(a);
        pthread_mutex_unlock(&rt->lock);
        int ended = mapped ? kmm_unmap(rt, mapped) : 0;
        error = error ? error : ended;
    }
    free(c);
    kmm__thrown_end();
    kmm__gate_open();
    return error;
}

/* ---- The undivided run ---- */

/* Not locked: waits for all that uses the launch's arrays. */
static int await(kmm_runtime_t *rt, const kmm__comparison_t *c)
{
    int error = 0;
    pthread_mutex_lock(&rt->lock);
    for (uint32_t k = 0; k < c->count && !error; k++)
        error = kmm__array_await(rt, c->images[k].array);
    pthread_mutex_unlock(&rt->lock);
    return error;
}

/* Makes the item one of the undivided launch: all of its array, and what is reduced is updated. */
static void widen(kmm__item_t *item, const kmm__comparison_t *c)
{
    bool is_empty = false, is_left = false;
    for (uint32_t k = 0; k < c->count; k++) {
        is_empty |= c->images[k].array == item->array && c->images[k].is_empty;
        is_left |= c->images[k].array == item->array && c->images[k].is_left;
    }
    if (item->mode != KMM_READ && (!is_empty || item->mode == KMM_REDUCE))
        item->mode = KMM_UPDATE;
    const kmm__array_t *a = item->array;
    if (a && !is_empty && !is_left && a->base <= item->base && item->base < a->base + a->bytes)
        item->section_count = item->dims = 0;
}

static int run_undivided(kmm__comparison_t *c, kmm__submission_t *s, bool *is_entered)
{
    kmm_launch_t *l = kmm__launch_copy(s->l);
    kmm__submission_t whole;
    l->one_chunk = l->is_whole = l->is_undivided = true;
    l->is_divided = false;
    l->schedule = (kmm_schedule_t){0};
    memset(l->has_chunk, 0, sizeof(l->has_chunk));
    for (uint32_t k = 0; k < l->item_count; k++)
        widen(&l->items[k], c);
    kmm__submission_begin(&whole, l);
    whole.annotated = true;
    whole.kind = s->kind;
    whole.geometry = s->geometry;
    whole.function = s->function;
    whole.flags = s->flags;
    int error = c->submit(&whole, c->call);
    *is_entered = whole.is_entered;
    kmm__launch_free(l);
    return error ? error : await(s->rt, c);
}

/* Runs the launch undivided, from what the arrays held before. *can: its results are there. */
static int run_before(kmm__comparison_t *c, kmm__submission_t *s, bool *can)
{
    bool is_entered;
    int error = run_undivided(c, s, &is_entered);
    *can = !error;
    if (error && (!is_entered || error == KMM_E_MEMORY)) {
        say_not_compared(s, kmm__error_get());
        error = 0;
    }
    return error;
}

int kmm__compare_begin(kmm__submission_t *s, const kmm__call_t *call,
                       int (*submit)(kmm__submission_t *s, const kmm__call_t *call),
                       kmm__comparison_t **out)
{
    bool can = false;
    *out = NULL;
    if (s->l->runs_once) {
        say_not_compared(s, "its function allocates or frees memory to which the launch's arrays "
                            "lead, and would do so twice");
        return 0;
    }
    /* Tasks whose statements wait for other threads are not awaited behind the closed gate. */
    kmm__gate_leave();
    pthread_mutex_lock(&s->rt->lock);
    for (uint32_t k = 0; k < s->l->item_count; k++)
        if (s->l->items[k].array)
            kmm__array_await(s->rt, s->l->items[k].array); /* its error is told below */
    pthread_mutex_unlock(&s->rt->lock);
    if (!kmm__gate_close(s->rt)) {
        say_not_compared(s, "what another thread submits seems to wait for this one");
        return 0;
    }
    kmm__comparison_t *c = kmm__alloc(sizeof(*c));
    *c = (kmm__comparison_t){.call = call, .submit = submit};
    pthread_mutex_lock(&s->rt->lock);
    for (uint32_t k = 0; k < s->l->item_count; k++)
        if (s->l->items[k].array)
            images_add(c, s->l->items[k].array);
    const int64_t calls = s->rt->launches->calls;
    pthread_mutex_unlock(&s->rt->lock);
    kmm__thrown_begin(calls);
    int error = await(s->rt, c);
    if (!error && images_take(s->rt, c, offsetof(image_t, before)))
        say_not_compared(s, kmm__error_get());
    else if (!error)
        error = run_before(c, s, &can);
    if (can && images_take(s->rt, c, offsetof(image_t, whole))) {
        say_not_compared(s, kmm__error_get());
        can = false;
    }
    int restored = images_restore(s->rt, c);
    error = error ? error : restored;
    kmm__thrown_next(KMM__THROWN_CHUNKS);
    if (can && !error) {
        *out = c;
        return 0;
    }
    int freed = comparison_free(c, s->rt);
    return error ? error : freed;
}

/* ---- Comparing ---- */

/* What chunks leave otherwise in an array. */
typedef struct difference {
    const image_t *image;
    const kmm__item_t *item; /* that of the element */
    int64_t at, bytes;       /* of the first element that differs, by more than rounding if any */
    int64_t count;           /* of elements; 0: none differs, and only is_rounding is set */
    bool is_rounding;        /* all of them may come from another order of additions */
} difference_t;

static kmm__element_t element_of(const kmm__item_t *item)
{
    return (kmm__element_t){.type = item->type,
                            .bytes = (uint32_t)item->element,
                            .is_pair = item->is_pair,
                            .index = item->index,
                            .value_at = item->value_at,
                            .index_at = item->index_at};
}

/* The item that a message names for a byte of an array: one that lets chunks store there. */
static const kmm__item_t *item_of(const kmm_launch_t *l, const kmm__array_t *a, int64_t at)
{
    const kmm__item_t *found = NULL;
    for (uint32_t k = 0; k < l->item_count; k++) {
        const kmm__item_t *item = &l->items[k];
        if (item->array != a)
            continue;
        bool is_better = !found || (found->mode == KMM_READ && item->mode != KMM_READ) ||
                         (found->base - a->base > at && item->base - a->base <= at);
        found = is_better ? item : found;
    }
    return found;
}

/* How far two sums may be apart, as a part of the larger one. */
typedef enum closeness { SAME, ROUNDED, OTHER } closeness_t;

static closeness_t compare_numbers(kmm_type_t type, double a, double b)
{
    static const double rounded = 1.0 / 16;
    const double larger = fmax(fabs(a), fabs(b)), apart = fabs(a - b);
    const double precise = type == KMM_FLOAT                          ? 1e-4
                           : type == KMM_HALF || type == KMM_BFLOAT16 ? rounded
                                                                      : 1e-9;
    if (a == b || (isnan(a) && isnan(b)) || apart <= precise * larger)
        return SAME;
    return apart <= rounded * larger ? ROUNDED : OTHER;
}

/* The k-th number of an element of floating-point numbers in wide form. */
static double number_of(kmm_type_t type, const void *wide, int k)
{
    const bool is_double = type == KMM_DOUBLE || type == KMM_COMPLEX_DOUBLE;
    return is_double ? ((const double *)wide)[k] : (double)((const float *)wide)[k];
}

/* Compares one element that was reduced. */
static closeness_t compare_reduced(const kmm__element_t *e, const char *a, const char *b)
{
    const size_t bytes = kmm__type_bytes(e->type);
    if (e->is_pair)
        return memcmp(a + e->value_at, b + e->value_at, bytes) ||
                       memcmp(a + e->index_at, b + e->index_at, kmm__type_bytes(e->index))
                   ? OTHER
                   : SAME;
    if (!kmm__type_is_floating(e->type))
        return memcmp(a, b, bytes) ? OTHER : SAME;
    const int numbers = e->type == KMM_COMPLEX_FLOAT || e->type == KMM_COMPLEX_DOUBLE ? 2 : 1;
    double wide[2][2] = {{0}};
    closeness_t worst = SAME;
    kmm__widen(e, wide[0], a, 1);
    kmm__widen(e, wide[1], b, 1);
    for (int k = 0; k < numbers; k++) {
        closeness_t c = compare_numbers(e->type, number_of(e->type, wide[0], k),
                                        number_of(e->type, wide[1], k));
        worst = c > worst ? c : worst;
    }
    return worst;
}

/* The bytes of the array's element that has byte `at`: one of the item's elements. */
static void element_at(const kmm__item_t *item, const kmm__array_t *a, int64_t at, int64_t *begin,
                       int64_t *end)
{
    const int64_t base = item->base - a->base, bytes = item->element > 0 ? item->element : 1;
    const int64_t past = ((at - base) % bytes + bytes) % bytes;
    *begin = at - past > 0 ? at - past : 0;
    *end = at - past + bytes < (int64_t)a->bytes ? at - past + bytes : (int64_t)a->bytes;
}

static bool is_reduced(const kmm__item_t *item, const kmm__array_t *a, int64_t begin, int64_t end)
{
    return item->mode == KMM_REDUCE && item->region_begin <= a->base + begin &&
           a->base + end <= item->region_end;
}

/* True if the chunks' element differs only in bytes that its chunk has not stored, and these could
 * be padding of a struct: less than eight in a row, and not all of it. */
static bool is_padding(const image_t *image, int64_t begin, int64_t end)
{
    enum { MOST = 7 };
    int64_t left = 0, row = 0;
    for (int64_t at = begin; at < end; at++) {
        const bool is_left =
            (unsigned char)image->chunks[at] == kmm__shadow_plain_pattern((size_t)at);
        const bool differs = image->chunks[at] != image->whole[at];
        row = differs ? row + 1 : 0;
        left += is_left;
        if (row > MOST || (differs && !is_left))
            return false;
    }
    return left < end - begin;
}

/* Counts the elements of the image in which the chunks' results differ. again: what another
 * undivided run left; NULL: there was none. */
static difference_t find_difference(const kmm_launch_t *l, const image_t *image, const char *again)
{
    const kmm__array_t *a = image->array;
    difference_t d = {.image = image, .is_rounding = true};
    if (!image->whole || !image->chunks || memcmp(image->whole, image->chunks, a->bytes) == 0)
        return d;
    for (int64_t at = 0, begin, end; at < (int64_t)a->bytes; at = end) {
        end = at + 1;
        if (image->whole[at] == image->chunks[at])
            continue;
        const kmm__item_t *item = item_of(l, a, at);
        element_at(item, a, at, &begin, &end);
        const bool reduced = is_reduced(item, a, begin, end);
        if (!reduced && again && memcmp(image->whole + begin, again + begin, (size_t)(end - begin)))
            continue;
        if (!reduced && is_padding(image, begin, end))
            continue;
        const kmm__element_t e = element_of(item);
        const closeness_t c =
            reduced ? compare_reduced(&e, image->whole + begin, image->chunks + begin) : OTHER;
        if (c == SAME)
            continue;
        if (d.count++ == 0 || (d.is_rounding && c == OTHER)) {
            d.item = item;
            d.at = begin;
            d.bytes = end - begin;
        }
        d.is_rounding &= c == ROUNDED;
    }
    return d;
}

/* Writes the bytes of an element as one hexadecimal number, its last byte first. */
static const char *hexadecimal(const char *element, int64_t bytes, char out[40])
{
    int n = snprintf(out, 3, "0x");
    for (int64_t k = bytes < 16 ? bytes : 16; k > 0; k--)
        n += snprintf(out + n, 3, "%02x", (unsigned char)element[k - 1]);
    return out;
}

/* Says what differs. Returns 0 if rounding may explain it, or KMM_E_ACCESS with its text. */
static int say(const kmm__submission_t *s, const difference_t *d)
{
    char others[64] = "", whole[40], chunks[40], text[320];
    const int64_t element = d->item->element > 0 ? d->item->element : 1,
                  index = (d->at - (d->item->base - d->image->array->base)) / element;
    if (d->count > 1)
        snprintf(others, sizeof(others), ", and in %lld others", (long long)d->count - 1);
    snprintf(text, sizeof(text),
             "its %u chunks leave another result than the launch as a whole: in element %lld%s (%s "
             "for %s)",
             s->part.count, (long long)index, others,
             hexadecimal(d->image->chunks + d->at, d->bytes, chunks),
             hexadecimal(d->image->whole + d->at, d->bytes, whole));
    if (!d->is_rounding) {
        kmm__exit_violation();
        return kmm__submission_refuse_item(s, d->item, KMM_E_ACCESS, text);
    }
    kmm__log(KMM__LOG_WARNING, "%s:%d: %s: argument %s: %s; the order of additions may explain it",
             s->l->file ? s->l->file : "?", s->l->line, kmm__launch_name(s->l), d->item->text,
             text);
    return 0;
}

/* The launch's first difference that is more than rounding; or one that is not. again: as many
 * images as c has, of another undivided run; NULL: there was none. */
static difference_t find_first(const kmm__comparison_t *c, const kmm_launch_t *l,
                               char *const *again)
{
    difference_t first = {.count = 0};
    for (uint32_t k = 0; k < c->count; k++) {
        difference_t d = find_difference(l, &c->images[k], again ? again[k] : NULL);
        if (d.count && (!first.count || (first.is_rounding && !d.is_rounding)))
            first = d;
    }
    return first;
}

/* Runs the launch undivided once more, and looks for differences where both such runs agree. */
static int find_again(kmm__comparison_t *c, kmm__submission_t *s, difference_t *d)
{
    char *whole[KMM__MAX_ITEMS];
    bool is_entered;
    int error = 0;
    for (uint32_t k = 0; k < c->count && !error; k++)
        if (c->images[k].before)
            error = kmm_copy_in(s->rt, c->images[k].array->base, c->images[k].before,
                                c->images[k].array->bytes);
    error = error ? error : run_undivided(c, s, &is_entered);
    for (uint32_t k = 0; k < c->count; k++) {
        whole[k] = c->images[k].whole;
        c->images[k].whole = NULL;
    }
    error = error ? error : images_take(s->rt, c, offsetof(image_t, whole));
    for (uint32_t k = 0; k < c->count; k++) {
        char *again = c->images[k].whole;
        c->images[k].whole = whole[k];
        whole[k] = again;
    }
    if (!error)
        *d = find_first(c, s->l, whole);
    for (uint32_t k = 0; k < c->count; k++) {
        free(whole[k]);
        if (c->images[k].chunks && !error)
            error = kmm_copy_in(s->rt, c->images[k].array->base, c->images[k].chunks,
                                c->images[k].array->bytes);
    }
    return error;
}

/* True if the launch has thrown an exception, so that its arrays are not compared. *error is set if
 * its chunks have thrown another one than the undivided run. */
static bool say_thrown(const kmm__submission_t *s, int *error)
{
    char text[600], note[800];
    switch (kmm__thrown_compare(text, sizeof(text))) {
    case KMM__THROWN_NOTHING: return false;
    case KMM__THROWN_ALIKE:
        say_note(s, "compares only type and value of this launch's exception (what() of a "
                    "std::exception), and not its arrays: the chunks that do not throw run to "
                    "their end");
        return true;
    case KMM__THROWN_UNKNOWN:
        snprintf(note, sizeof(note),
                 "compares only the type of this launch's exception, '%s', and neither its value "
                 "nor the launch's arrays",
                 text);
        say_note(s, note);
        return true;
    case KMM__THROWN_OTHERS:
        kmm__exit_violation();
        *error = kmm__submission_refuse(s, KMM_E_ACCESS, text);
        return true;
    }
    return true;
}

int kmm__compare_end(kmm__comparison_t *c, kmm__submission_t *s, int error)
{
    if (!error)
        error = await(s->rt, c);
    const bool has_thrown = !error && say_thrown(s, &error);
    if (!error && !has_thrown)
        error = images_take(s->rt, c, offsetof(image_t, chunks));
    if (!error && !has_thrown) {
        difference_t d = find_first(c, s->l, NULL);
        if (d.count && !d.is_rounding && c->call->kernel)
            error = find_again(c, s, &d);
        if (!error && d.count && !kmm__gate_was_passed())
            error = say(s, &d);
        else if (!error && kmm__gate_was_passed())
            say_not_compared(s, "its chunks seem to wait for what another thread submits");
    }
    int freed = comparison_free(c, s->rt);
    return error ? error : freed;
}
