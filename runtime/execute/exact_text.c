/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about accesses that a chunk's clauses do not name. */
#include "execute/exact_text.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "execute/exact_line.h"
#include "execute/failure.h"

enum { TEXT = 1024, PLACE = 320, ELEMENT = 96 };

/* ---- Elements ---- */

/* The partials that lie in the array; NULL: none do. */
static const kmm__partials_t *partials_in(const kmm__work_t *w, const kmm__array_t *a)
{
    for (uint32_t k = 0; k < w->partials_count; k++)
        if (w->partials[k].array == a)
            return &w->partials[k];
    return NULL;
}

/* An access of the task to the array that has the item; NULL: none. */
static const kmm__access_t *access_of(const kmm__task_t *t, const kmm__array_t *a, uint32_t item)
{
    for (uint32_t k = 0; k < t->access_count; k++)
        if (t->accesses[k].array == a && t->accesses[k].item == item)
            return &t->accesses[k];
    return NULL;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Byte `at` of the copy as an index from the item's base. */
static int64_t index_of(const kmm__check_t *c, const kmm__shadow_t *s, uint32_t item, int64_t at)
{
    const kmm__task_t *t = c->task;
    const kmm__work_t *w = t->work;
    const kmm__partials_t *p = partials_in(w, s->array);
    int64_t offset = w->origins[item].offset, element = w->origins[item].element;
    if (p) {
        int64_t partial = kmm__partial_of(w, p, t->part.chunk);
        at += p->begin - partial * p->partial_bytes;
    }
    return floor_div(at - offset, element > 0 ? element : 1);
}

static bool has_origin(const kmm__work_t *w, uint32_t item)
{
    return item < w->item_count && w->origins[item].array;
}

/* "element 7" or, of a shaped item, "element [3][7]" */
static void element_text(const kmm__check_t *c, const kmm__shadow_t *s, uint32_t item, int64_t at,
                         char *out)
{
    const kmm__work_t *w = c->task->work;
    if (!has_origin(w, item)) {
        snprintf(out, ELEMENT, "byte %lld of its array", (long long)at);
        return;
    }
    const kmm__access_t *a = access_of(c->task, s->array, item);
    int n = snprintf(out, ELEMENT, "element ");
    if (!a || a->layout->dims < 2 || partials_in(w, s->array)) {
        snprintf(out + n, ELEMENT - (size_t)n, "%lld", (long long)index_of(c, s, item, at));
        return;
    }
    int64_t rest = at - w->origins[item].offset;
    for (uint32_t d = 0; d < a->layout->dims; d++) {
        bool is_last = d + 1 == a->layout->dims;
        int64_t unit = is_last ? w->origins[item].element : a->layout->stride[d];
        int64_t k = floor_div(rest, unit > 0 ? unit : 1);
        rest -= k * unit;
        n += snprintf(out + n, ELEMENT - (size_t)n, "[%lld]", (long long)k);
    }
}

/* ---- Remedies ---- */

/* Of an item of one dimension: by how much its region is too short. */
static void distance_text(const kmm__check_t *c, const kmm__shadow_t *s, uint32_t item,
                          const kmm__violation_t *v, char *out, size_t size)
{
    const kmm__access_t *a = access_of(c->task, s->array, item);
    int64_t begin, end;
    *out = 0;
    if (!a || !has_origin(c->task->work, item) || a->layout->dims > 1)
        return;
    kmm__layout_hull(a->layout, &a->box, &begin, &end);
    int64_t first = index_of(c, s, item, begin), last = index_of(c, s, item, end - 1),
            least = index_of(c, s, item, v->least), most = index_of(c, s, item, v->most);
    int n =
        snprintf(out, size, " (it names elements %lld to %lld", (long long)first, (long long)last);
    if (least < first)
        n += snprintf(out + n, size - (size_t)n, ", %lld fewer at its lower end",
                      (long long)(first - least));
    if (most > last)
        n += snprintf(out + n, size - (size_t)n, ", %lld fewer at its upper end",
                      (long long)(most - last));
    snprintf(out + n, size - (size_t)n, ")");
}

static void remedy_text(const kmm__check_t *c, const kmm__shadow_t *s, uint32_t item,
                        kmm__wrong_t wrong, const kmm__violation_t *v, char *out, size_t size)
{
    const kmm__work_t *w = c->task->work;
    const char *text = item < w->item_count ? w->item_text[item] : NULL;
    const kmm__access_t *a = access_of(c->task, s->array, item);
    char distance[160];
    distance_text(c, s, item, v, distance, sizeof(distance));
    if (!text)
        snprintf(out, size, "add an item for it");
    else if (wrong == KMM__STORE_TO_READ || wrong == KMM__LOAD_OLD)
        snprintf(out, size, "say `update(%s)`", text);
    else if (partials_in(w, s->array))
        snprintf(out, size, "widen `reduce(... %s)`%s", text, distance);
    else if (!a)
        snprintf(out, size, "the range of an axis of `%s` is too short: it names nothing here",
                 text);
    else if (wrong == KMM__LOAD_UNNAMED && a->mode == KMM_WRITE)
        snprintf(out, size, "add a `read` item for it, or widen `%s`%s and say `update`", text,
                 distance);
    else if (wrong == KMM__STORE_UNNAMED && a->mode == KMM_READ)
        snprintf(out, size, "add a `write` or `update` item for it");
    else
        snprintf(out, size, "widen `%s(%s)`%s, or the range of its axis",
                 a->mode == KMM_READ    ? "read"
                 : a->mode == KMM_WRITE ? "write"
                                        : "update",
                 text, distance);
}

/* ---- Saying it ---- */

static void line_text(const kmm__violation_t *v, char *out, size_t size)
{
    if (*v->line)
        snprintf(out, size, "%s", v->line);
    else
        kmm__exact_line(v->pc, out, size);
}

/* True if nothing was said yet of this argument of the launch. */
static bool is_first(kmm__task_t *t, uint32_t item, char *where)
{
    kmm__work_t *w = t->work;
    pthread_mutex_lock(&t->runtime->lock);
    bool known = item < w->item_count, first = known ? !(w->violated >> item & 1) : !w->is_warned;
    w->violated |= known ? UINT64_C(1) << item : 0;
    w->is_warned |= !known;
    kmm__task_describe(t, where, PLACE);
    pthread_mutex_unlock(&t->runtime->lock);
    return first;
}

static void say(kmm__task_t *t, uint32_t item, const char *where, const char *text)
{
    const char *name = item < t->work->item_count ? t->work->item_text[item] : "?";
    kmm__log(KMM__LOG_ERROR, "%s: argument %s: %s", where, name, text);
    pthread_mutex_lock(&t->runtime->lock);
    kmm__task_fail(t, KMM_E_ACCESS);
    kmm__task_blame(t, (uint16_t)item);
    kmm__error_note(t->runtime, KMM_E_ACCESS,
                    "%s: argument %s: the chunk does not keep to its clauses, as -fkmm-check has "
                    "said on standard error",
                    where, name);
    pthread_mutex_unlock(&t->runtime->lock);
}

void kmm__exact_say_wrong(kmm__check_t *c, const kmm__shadow_t *s, kmm__wrong_t wrong)
{
    static const char *const does[] = {"stores to", "stores to", "reads", "reads"};
    static const char *const says[] = {"which no clause names for this chunk",
                                       "which its clauses let it read only",
                                       "which no clause names for this chunk",
                                       "which it has not stored before: `write` has no old values"};
    const kmm__violation_t *v = &s->wrong[wrong];
    bool writes = wrong != KMM__LOAD_UNNAMED && wrong != KMM__STORE_TO_READ;
    uint32_t item = kmm__shadow_item(c, s, v->first, writes);
    char where[PLACE], line[256], element[ELEMENT], remedy[512], more[64] = "", text[TEXT];
    if (!is_first(c->task, item, where))
        return;
    line_text(v, line, sizeof(line));
    element_text(c, s, item, v->first, element);
    remedy_text(c, s, item, wrong, v, remedy, sizeof(remedy));
    if (v->count > 1)
        snprintf(more, sizeof(more), " (and %llu more)", (unsigned long long)(v->count - 1));
    snprintf(text, sizeof(text), "%s: the chunk %s %s%s, %s; %s", line, does[wrong], element, more,
             says[wrong], remedy);
    say(c->task, item, where, text);
}

void kmm__exact_say_unstored(kmm__check_t *c, const kmm__shadow_t *s, uint32_t item,
                             const kmm__violation_t *v)
{
    char where[PLACE], element[ELEMENT], more[64] = "", text[TEXT];
    if (!is_first(c->task, item, where))
        return;
    element_text(c, s, item, v->first, element);
    if (v->count > 1)
        snprintf(more, sizeof(more), " (and %llu more)", (unsigned long long)(v->count - 1));
    snprintf(text, sizeof(text),
             "`write` promises to store every element, but the chunk does not store %s%s; say "
             "`update(%s)`",
             element, more, c->task->work->item_text[item]);
    say(c->task, item, where, text);
}

void kmm__exact_say_order(kmm__check_t *c, const kmm__shadow_t *s, int64_t at, bool reads,
                          int64_t other)
{
    uint32_t item = kmm__shadow_item(c, s, at, !reads);
    char where[PLACE], element[ELEMENT], who[64] = "other chunks read", text[TEXT];
    if (!is_first(c->task, item, where))
        return;
    element_text(c, s, item, at, element);
    if (other >= 0)
        snprintf(who, sizeof(who), "chunk %lld %s", (long long)other, reads ? "stores" : "reads");
    snprintf(text, sizeof(text),
             "the chunk %s %s, which %s, and chunks run at once and in any order; store to another "
             "array, or call it without the pragma",
             reads ? "reads" : "stores to", element, who);
    say(c->task, item, where, text);
}

/* The array may be freed meanwhile, so it is looked up. */
static void array_text(kmm__check_t *c, char *out, size_t size)
{
    kmm_runtime_t *rt = c->task->runtime;
    snprintf(out, size, "an array");
    pthread_mutex_lock(&rt->lock);
    for (uint32_t k = 0; k < rt->memory->array_count; k++)
        if (rt->memory->arrays[k] == c->elsewhere && c->elsewhere->label)
            snprintf(out, size, "the array %s", c->elsewhere->label);
    pthread_mutex_unlock(&rt->lock);
}

void kmm__exact_say_elsewhere(kmm__check_t *c)
{
    char where[PLACE], line[256], array[128], text[TEXT];
    if (!is_first(c->task, KMM__MAX_ITEMS, where))
        return;
    line_text(&c->other, line, sizeof(line));
    array_text(c, array, sizeof(array));
    snprintf(text, sizeof(text),
             "%s: the chunk accesses byte %lld of %s by an address that is not one of the launch's "
             "arguments; pass a pointer to it, with an item that names it",
             line, (long long)c->other.first, array);
    say(c->task, KMM__MAX_ITEMS, where, text);
}
