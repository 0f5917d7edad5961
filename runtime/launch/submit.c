/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: from the description and the arguments to tasks in the DAG. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/submission.h"
#include "memory/disk/spill.h"

enum {
    MAX_ARGS_BYTES = 32768,
    BATCH = 16,
    MOST_BATCH = 64,
    BATCH_BYTES = 64 << 20,
    HAND_OVER = 64
};

static _Thread_local kmm_launch_t *armed;
static _Atomic(kmm_launch_t *)
    spare_launch; /* the builder that was used last; more are kept behind the lock */
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;
static kmm_launch_t *spare_launches;

/* ---- The builder ---- */

static void launch_mistake(kmm_launch_t *l, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void launch_mistake(kmm_launch_t *l, int code, const char *format, ...)
{
    char text[256];
    va_list args;
    if (l->error)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    l->error = code;
    l->error_text = kmm__copy_text(text);
}

void kmm__launch_free(kmm_launch_t *l)
{
    if (l->items != l->few)
        free(l->items);
    free(l->label);
    free(l->error_text);
    l = atomic_exchange(&spare_launch, l);
    if (!l)
        return;
    pthread_mutex_lock(&spare_lock);
    l->next = spare_launches;
    spare_launches = l;
    pthread_mutex_unlock(&spare_lock);
}

void kmm__launches_clear(void)
{
    spare_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    spare_launches = NULL;
}

static kmm_launch_t *launch_reuse(void)
{
    kmm_launch_t *l = atomic_exchange(&spare_launch, NULL);
    if (l)
        return l;
    pthread_mutex_lock(&spare_lock);
    l = spare_launches;
    if (l)
        spare_launches = l->next;
    pthread_mutex_unlock(&spare_lock);
    return l;
}

/* A builder, cleared but for its items. */
static kmm_launch_t *launch_obtain(void)
{
    kmm_launch_t *l = launch_reuse();
    if (!l)
        l = kmm__alloc(sizeof(*l));
    memset(l, 0, offsetof(kmm_launch_t, few));
    l->items = l->few;
    return l;
}

KMM__API kmm_launch_t *kmm_launch_begin(const char *kernel, const char *file, int line)
{
    kmm_launch_t *l = launch_obtain();
    l->runtime = kmm__current();
    l->kernel = kernel;
    l->file = file;
    l->line = line;
    if (!l->runtime)
        launch_mistake(l, KMM_E_NO_DEVICE, "there is no runtime: %s", kmm__error_get());
    return l;
}

KMM__API void kmm_launch_label(kmm_launch_t *l, const char *label)
{
    free(l->label);
    l->label = kmm__copy_text(label);
}

KMM__API void kmm_launch_axis(kmm_launch_t *l, const char *name, kmm_source_t source, int64_t lower,
                              int64_t length)
{
    if (l->axis_count == KMM_MAX_AXES || (unsigned)source > KMM_RANGE_2) {
        launch_mistake(l, KMM_E_INVALID, "axis %s: more than %d axes, or no such source", name,
                       KMM_MAX_AXES);
        return;
    }
    l->axis[l->axis_count++] = (kmm__axis_t){name, source, lower, length};
}

KMM__API void kmm_launch_chunk(kmm_launch_t *l, kmm_source_t source, int64_t size)
{
    uint32_t d = (uint32_t)source % KMM_MAX_SPLIT;
    l->chunk[d] = size;
    l->has_chunk[d] = true;
    l->chunk_in_blocks[d] = source >= KMM_BLOCK_X && source <= KMM_BLOCK_Z;
}

KMM__API void kmm_launch_if(kmm_launch_t *l, int condition)
{
    l->one_chunk |= !condition;
}

KMM__API void kmm_launch_home(kmm_launch_t *l)
{
    l->one_chunk = l->home = true;
}

KMM__API void kmm_launch_device(kmm_launch_t *l, kmm_where_t where, int ordinal)
{
    l->where = where;
    l->ordinal = ordinal;
    if ((unsigned)where > KMM_ON_DEVICE)
        launch_mistake(l, KMM_E_INVALID, "no such kind of device");
}

KMM__API void kmm_launch_schedule(kmm_launch_t *l, kmm_schedule_t schedule)
{
    l->schedule = schedule;
    if ((unsigned)schedule > KMM_SCHEDULE_CYCLIC)
        launch_mistake(l, KMM_E_INVALID, "no such schedule");
}

KMM__API void kmm_launch_priority(kmm_launch_t *l, int priority)
{
    l->priority = priority;
}

KMM__API void kmm_launch_nowait(kmm_launch_t *l)
{
    l->nowait = true;
}

static kmm__item_t *item_add(kmm_launch_t *l, const char *text, const void *base,
                             size_t element_bytes)
{
    if (l->item_count == KMM__MAX_ITEMS || element_bytes == 0)
        launch_mistake(l, KMM_E_INVALID, "%s: more than %d accesses, or elements of no size", text,
                       KMM__MAX_ITEMS);
    if (l->item_count == KMM__MAX_ITEMS)
        l->item_count--;
    if (l->item_count == KMM__FEW_ITEMS && l->items == l->few) {
        l->items = kmm__alloc(KMM__MAX_ITEMS * sizeof(*l->items));
        memcpy(l->items, l->few, sizeof(l->few));
    }
    kmm__item_t *item = &l->items[l->item_count++];
    memset(item, 0, offsetof(kmm__item_t, extent));
    item->text = text;
    item->base = (char *)(uintptr_t)base;
    item->element = (int64_t)element_bytes;
    return item;
}

KMM__API void kmm_launch_access(kmm_launch_t *l, kmm_mode_t mode, const char *text,
                                const void *base, size_t element_bytes)
{
    item_add(l, text, base, element_bytes)->mode = mode;
    if (mode < KMM_READ || mode > KMM_UPDATE)
        launch_mistake(l, KMM_E_INVALID, "%s: no such kind of access", text);
}

KMM__API void kmm_launch_reduce(kmm_launch_t *l, kmm_op_t op, kmm_type_t type, const char *text,
                                const void *base)
{
    kmm__item_t *item = item_add(l, text, base, kmm__type_bytes(type) ? kmm__type_bytes(type) : 1);
    item->mode = KMM_REDUCE;
    item->op = op;
    item->type = type;
    bool is_arg = op == KMM_OP_ARGMIN || op == KMM_OP_ARGMAX;
    kmm__element_t e = {.type = type, .bytes = (uint32_t)item->element};
    if (!is_arg && !kmm__fold_allows(op, &e))
        launch_mistake(l, KMM_E_INVALID, "%s: no such reduction of this type", text);
}

static kmm__item_t *item_last(kmm_launch_t *l)
{
    static _Thread_local kmm__item_t nowhere;
    if (l->item_count)
        return &l->items[l->item_count - 1];
    launch_mistake(l, KMM_E_INVALID, "a section before any access");
    return &nowhere;
}

KMM__API void kmm_launch_pair(kmm_launch_t *l, size_t element_bytes, size_t value_offset,
                              kmm_type_t index_type, size_t index_offset)
{
    kmm__item_t *item = item_last(l);
    kmm__element_t e = {item->type, (uint32_t)element_bytes, true,
                        index_type, (uint32_t)value_offset,  (uint32_t)index_offset};
    bool is_small = element_bytes <= KMM__ELEMENT_MAX && value_offset < element_bytes &&
                    index_offset < element_bytes;
    if (item->mode != KMM_REDUCE || !is_small || !kmm__fold_allows(item->op, &e)) {
        launch_mistake(l, KMM_E_INVALID,
                       "%s: no reduction over structs of a value and an index of 32 or 64 bits",
                       item->text);
        return;
    }
    item->is_pair = true;
    item->element = (int64_t)element_bytes;
    item->index = index_type;
    item->value_at = e.value_at;
    item->index_at = e.index_at;
}

KMM__API void kmm_launch_extent(kmm_launch_t *l, int64_t extent)
{
    kmm__item_t *item = item_last(l);
    if (item->dims == KMM_MAX_DIMS)
        launch_mistake(l, KMM_E_INVALID, "%s: more than %d dimensions", item->text, KMM_MAX_DIMS);
    else
        item->extent[item->dims++] = extent;
}

KMM__API void kmm_launch_index(kmm_launch_t *l, int64_t lower, int64_t length)
{
    kmm__item_t *item = item_last(l);
    if (item->section_count == KMM_MAX_DIMS) {
        launch_mistake(l, KMM_E_INVALID, "%s: more than %d sections", item->text, KMM_MAX_DIMS);
        return;
    }
    kmm__section_t *s = &item->section[item->section_count++];
    *s = (kmm__section_t){.constant = {lower, length}, .whole = length == KMM_WHOLE};
}

KMM__API void kmm_launch_coef(kmm_launch_t *l, unsigned axis, int64_t lower_coef,
                              int64_t length_coef)
{
    kmm__item_t *item = item_last(l);
    if (item->section_count == 0 || axis >= l->axis_count)
        launch_mistake(l, KMM_E_INVALID, "%s: a coefficient without a section or of no axis",
                       item->text);
    else
        item->section[item->section_count - 1].coef[axis] = (kmm__term_t){lower_coef, length_coef};
}

KMM__API void kmm_launch_expect(kmm_launch_t *l, const char *name, int64_t actual, int64_t expected)
{
    if (actual != expected)
        launch_mistake(l, KMM_E_RANGE, "argument %s is %lld, but the launch's range says %lld",
                       name, (long long)actual, (long long)expected);
}

/* ---- One submission ---- */

/* An error of the launch as a whole, with where it stands. */
int kmm__submission_refuse(const kmm__submission_t *s, int code, const char *text)
{
    const kmm_launch_t *l = s->l;
    char copy[400];
    snprintf(copy, sizeof(copy), "%s", text);
    if (l->file)
        return kmm__error_set(code, "%s:%d: %s: %s", l->file, l->line, l->kernel ? l->kernel : "?",
                              copy);
    return kmm__error_set(code, "%s: %s", l->kernel ? l->kernel : "?", copy);
}

/* ---- Pointers in arguments ---- */

static void add_pointer(kmm__submission_t *s, uint32_t at, const unsigned char *packed)
{
    kmm__work_t *w = s->work;
    char *address;
    memcpy(&address, packed + at, sizeof(address));
    kmm__array_t *a = kmm__array_find(s->rt, address);
    if (!a)
        return;
    if (!w->pointers)
        w->pointers = kmm__work_take(w, w->args_bytes / sizeof(address) * sizeof(*w->pointers));
    w->pointers[w->pointer_count++] = (kmm__pointer_t){at, a, address - a->base, -1};
    kmm__array_ref(a);
}

static void find_pointers(kmm__submission_t *s, uint32_t begin, uint32_t bytes)
{
    for (uint32_t at = begin; at + sizeof(void *) <= begin + bytes; at += sizeof(void *))
        add_pointer(s, at, s->work->args);
}

static int pack_kernel(kmm__submission_t *s, const kmm_kernel_t *kernel, void **args)
{
    kmm__work_t *w = s->work;
    uint32_t at = 0;
    w->kernel = kernel;
    w->arg_count = kernel->param_count;
    w->arg_offset = kmm__work_take(w, kernel->param_count * sizeof(*w->arg_offset));
    for (uint32_t k = 0; k < kernel->param_count; k++) {
        w->arg_offset[k] = at;
        at += (kernel->param_bytes[k] + 15u) & ~15u;
    }
    if (at > MAX_ARGS_BYTES)
        return kmm__submission_refuse(s, KMM_E_INVALID, "its arguments are too large");
    w->args_bytes = at;
    w->args = kmm__work_take(w, at);
    for (uint32_t k = kernel->is_clone ? 1 : 0; k < kernel->param_count; k++) {
        memcpy(w->args + w->arg_offset[k], args[k], kernel->param_bytes[k]);
        find_pointers(s, w->arg_offset[k], kernel->param_bytes[k]);
    }
    return 0;
}

/* ---- Items ---- */

static int item_refuse(const kmm__submission_t *s, const kmm__item_t *item, int code,
                       const char *text)
{
    char copy[400];
    snprintf(copy, sizeof(copy), "argument %s: %s", item->text, text);
    return kmm__submission_refuse(s, code, copy);
}

/* An array, but for what a launch with nowait left mapped: that is not the program's. */
static bool is_array(const kmm__submission_t *s, const void *base)
{
    const kmm__array_t *a = kmm__array_find(s->rt, base);
    return a && !a->is_deferred;
}

/* The bytes to map for an item on host memory, from its base on. Other items on the same memory
 * share the map. Those on arrays do not: their sections are cut at the array's end, and may reach
 * beyond it. */
static int item_reach(const kmm__submission_t *s, const kmm__item_t *item, int64_t *begin,
                      int64_t *end)
{
    kmm__chunk_box_t whole;
    kmm__partition_whole(&s->part, s->l, &whole);
    int error = kmm__plan_reach(item, s->l->axis_count, &whole, begin, end);
    if (error)
        return item_refuse(s, item, error, kmm__error_get());
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *other = &s->l->items[k];
        int64_t b, e, shift = other->base - item->base;
        if (is_array(s, other->base))
            continue;
        if (kmm__plan_reach(other, s->l->axis_count, &whole, &b, &e) || e <= b ||
            b + shift > *end || e + shift < *begin)
            continue;
        *begin = b + shift < *begin ? b + shift : *begin;
        *end = e + shift > *end ? e + shift : *end;
    }
    return 0;
}

/* Maps host memory that an item names and that is no array. May unlock. */
static int map_item(kmm__submission_t *s, const kmm__item_t *item)
{
    int64_t begin, end;
    int error = item_reach(s, item, &begin, &end);
    if (error || end <= begin)
        return error;
    pthread_mutex_unlock(&s->rt->lock);
    error = kmm_map(s->rt, KMM_MAP_TOFROM, item->base + begin, (size_t)(end - begin));
    pthread_mutex_lock(&s->rt->lock);
    if (error)
        return item_refuse(s, item, error, kmm__error_get());
    s->l->mapped[s->mapped_count++] = item->base + begin;
    return 0;
}

/* Ends what earlier launches left mapped where this one needs more than that: memory is mapped
 * once. May unlock. */
static int make_room(kmm__submission_t *s)
{
    for (uint32_t k = 0; k < s->l->item_count && s->rt->deferred; k++) {
        const kmm__item_t *item = &s->l->items[k];
        int64_t begin, end;
        if (is_array(s, item->base))
            continue;
        int error = item_reach(s, item, &begin, &end);
        if (error)
            return error;
        const kmm__array_t *a = kmm__array_find(s->rt, item->base + begin);
        uintptr_t from = (uintptr_t)item->base + (uintptr_t)begin,
                  to = (uintptr_t)item->base + (uintptr_t)end;
        bool fits = a && (uintptr_t)a->base <= from && to <= (uintptr_t)a->base + a->bytes;
        if (begin < end && !fits && (error = kmm__deferred_end(s->rt, from, to)))
            return item_refuse(s, item, error, kmm__error_get()); /* what it needs was lost */
    }
    return 0;
}

/* What an earlier launch left for kmm_wait to write back, this one writes back before it returns.
 */
static void take_over(kmm__submission_t *s, kmm__array_t *a)
{
    a->is_deferred = false;
    s->rt->deferred--;
    s->l->mapped[s->mapped_count++] = a->base;
}

/* The array that the item's region is in; its base may lie before that. */
static kmm__array_t *find_array(const kmm__submission_t *s, const kmm__item_t *item)
{
    kmm__chunk_box_t whole;
    int64_t begin, end;
    kmm__array_t *a = kmm__array_find(s->rt, item->base);
    if (a || item->section_count == 0)
        return a;
    kmm__partition_whole(&s->part, s->l, &whole);
    bool known = kmm__plan_reach(item, s->l->axis_count, &whole, &begin, &end) == 0 && end > begin;
    return known ? kmm__array_find(s->rt, item->base + begin) : NULL;
}

int kmm__submission_resolve(kmm__submission_t *s)
{
    int error = make_room(s);
    if (error)
        return error;
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        kmm__item_t *item = &s->l->items[k];
        if (item->dims && item->section_count > item->dims)
            return item_refuse(s, item, KMM_E_INVALID,
                               "it has more sections than its shape has dimensions");
        if (!item->dims && item->section_count > 1)
            return item_refuse(s, item, KMM_E_INVALID, "several sections need a `shape`");
        item->array = find_array(s, item);
        if (item->array && item->array->is_deferred && !s->l->nowait)
            take_over(s, item->array);
        if (!item->array) {
            error = map_item(s, item);
            if (error)
                return error;
            item->array = find_array(s, item);
        }
        const kmm__array_t *a = item->array;
        if (a && a->is_mapped && a->map == KMM_MAP_TO && item->mode != KMM_READ)
            return item_refuse(s, item, KMM_E_INVALID, "is written, but it is mapped `to`");
    }
    return 0;
}

/* Every pointer into an array must be in a clause: the runtime has to bring what is behind it. */
static int check_pointers(kmm__submission_t *s)
{
    const kmm__work_t *w = s->work;
    for (uint32_t p = 0; p < w->pointer_count; p++) {
        bool named = false;
        for (uint32_t k = 0; k < s->l->item_count; k++)
            named |= s->l->items[k].array == w->pointers[p].array;
        if (named)
            continue;
        char text[160];
        uint32_t number = 0;
        while (w->kernel && number + 1 < w->arg_count &&
               w->arg_offset[number + 1] <= w->pointers[p].at)
            number++;
        snprintf(text, sizeof(text), "argument %u points into an array that no access clause names",
                 w->kernel && w->kernel->is_clone ? number : number + 1);
        return kmm__submission_refuse(s, KMM_E_INVALID, text);
    }
    return 0;
}

/* ---- Reductions ---- */

static int plan_reductions(kmm__submission_t *s)
{
    uint32_t item;
    int error = kmm__reduce_plan(s->work, s->l, &s->part, &item);
    if (!error)
        return 0;
    return item < s->l->item_count ? item_refuse(s, &s->l->items[item], error, kmm__error_get())
                                   : kmm__submission_refuse(s, error, kmm__error_get());
}

/* ---- Tasks ---- */

static void access_push(kmm__task_t *t, const kmm__access_t *a)
{
    t->accesses[t->access_count++] = *a;
    kmm__array_ref(a->array);
}

/* A hull holds more than is used anyway. Where a launch is one chunk, and moves nothing between
 * devices, its edges are rounded outwards, so that hundreds of launches whose hulls differ a
 * little, as along a diagonal, do not cut maps into cells for every row and column. */
static void round_hull(kmm__access_t *a)
{
    enum { PIECES = 16, LINE = 64 };
    for (uint32_t d = 0; d < a->layout->dims; d++) {
        int64_t extent = a->layout->extent[d], unit = d + 1 < a->layout->dims ? 1 : LINE;
        int64_t piece = (extent / PIECES / unit + 1) * unit;
        a->box.lo[d] -= a->box.lo[d] % piece;
        a->box.hi[d] += (piece - a->box.hi[d] % piece) % piece;
        a->box.hi[d] = a->box.hi[d] < extent ? a->box.hi[d] : extent;
    }
}

static bool may_round(const kmm__submission_t *s, const kmm__access_t *a)
{
    return !a->exact && a->mode != KMM_WRITE && a->layout->dims > 1 && !a->array->is_mapped &&
           s->work->chunk_count == 1 && s->place.count == 1 && !s->rt->checks_access;
}

/* The accesses of chunk k, one for each item that is not empty there. */
int kmm__submission_plan(kmm__submission_t *s, kmm__task_t *t, const kmm__chunk_box_t *box)
{
    kmm__work_t *w = s->work;
    kmm__layout_t shaped;
    t->exact = true;
    if (w->kernel) {
        t->accesses[t->access_count++] =
            kmm__access_bytes(s->rt->globals, s->annotated ? KMM_READ : KMM_UPDATE, 0, 1);
        kmm__array_ref(s->rt->globals);
    }
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *item = &s->l->items[k];
        if (!item->array || item->mode == KMM_REDUCE)
            continue;
        kmm__access_t *a = &t->accesses[t->access_count];
        int planned = kmm__plan(item, s->l->axis_count, box, a, &shaped);
        if (planned < 0)
            return item_refuse(s, item, planned, kmm__error_get());
        if (planned == 0)
            continue;
        if (a->layout == &shaped)
            a->layout = kmm__work_layout(w, &shaped);
        a->item = (uint16_t)k;
        t->exact &= a->mode == KMM_READ || a->exact;
        if (may_round(s, a))
            round_hull(a);
        t->access_count++;
        kmm__array_ref(a->array);
    }
    for (uint32_t k = 0; k < w->reduction_count; k++) {
        kmm__access_t a = kmm__reduce_access(w, &w->reductions[k], t->chunk);
        access_push(t, &a);
    }
    for (uint32_t k = 0; !s->annotated && k < w->pointer_count; k++) {
        kmm__array_t *array = w->pointers[k].array;
        kmm__access_t a = kmm__access_bytes(array, KMM_UPDATE, 0, (int64_t)array->bytes);
        if (array->bytes)
            access_push(t, &a);
    }
    return 0;
}

static kmm__task_t *make_chunk(kmm__submission_t *s, uint32_t k, int *error)
{
    kmm__chunk_box_t box;
    kmm__work_t *w = s->work;
    kmm__partition_chunk(&s->part, s->l, k, &box);
    kmm__task_t *t =
        kmm__task_create(s->rt, w, s->l->item_count + (s->annotated ? 0 : w->pointer_count) + 1);
    kmm__partition_numbers(&s->part, k, &t->chunk, &t->last_chunk);
    t->failed_item = KMM__MAX_ITEMS;
    for (uint32_t i = 0; i < KMM_MAX_SPLIT; i++) {
        t->offset[i] = (uint32_t)box.first[i];
        t->count[i] = (uint32_t)box.count[i];
        t->range.lower[i] = s->part.lower[i];
        t->range.begin[i] = s->part.lower[i] + box.first[i];
        t->range.end[i] = t->range.begin[i] + box.count[i];
    }
    t->priority = s->l->priority;
    *error = kmm__submission_plan(s, t, &box);
    kmm__task_place(t, kmm__place_chunk(&s->place, k, t));
    t->is_plain = s->is_plain && !*error;
    kmm__uses_expect(t);
    kmm__line_enter(t, w->geometry.stream);
    return t;
}

/* Whether no chunk can read what another one of this launch writes, so that each can be entered
 * whole before the next is looked at: all accesses to a written array name the same elements. */
static bool chunks_are_apart(const kmm_launch_t *l)
{
    for (uint32_t i = 0; i < l->item_count; i++) {
        const kmm__item_t *w = &l->items[i];
        for (uint32_t k = 0; k < l->item_count && w->mode != KMM_READ; k++) {
            const kmm__item_t *r = &l->items[k];
            if (r->array != w->array || k == i)
                continue;
            if (r->base != w->base || r->dims != w->dims || r->section_count != w->section_count ||
                memcmp(r->extent, w->extent, r->dims * sizeof(*r->extent)) ||
                memcmp(r->section, w->section, r->section_count * sizeof(*r->section)))
                return false;
        }
    }
    return true;
}

static void throttle(kmm_runtime_t *rt)
{
    if (rt->outstanding <= rt->most_outstanding || kmm__is_inside())
        return; /* a task that waited for others to end could be what they wait for */
    rt->throttled++;
    while (rt->outstanding > kmm__resume_at(rt))
        pthread_cond_wait(&rt->progress, &rt->lock);
    rt->throttled--;
}

/* Enters chunks from first on into the DAG, each before the next is looked at: `most`, or as many
 * as are worth a launch; *n receives how many. Chunks that fail carry their error. */
static int submit_apart(kmm__submission_t *s, uint32_t first, uint32_t most, uint32_t *n)
{
    kmm__task_t *tasks[MOST_BATCH];
    uint64_t bytes = 0;
    int result = 0;
    for (*n = 0; *n < most && bytes < BATCH_BYTES; ++*n) {
        int error = 0;
        kmm__task_t *t = tasks[*n] = make_chunk(s, first + *n, &error);
        if (!error)
            error = kmm__dag_enter(t);
        if (error && !t->error)
            t->error = error;
        result = result ? result : error;
        bytes += t->bytes;
    }
    for (uint32_t k = 0; k < *n; k++)
        kmm__dag_release(tasks[k]);
    return result;
}

/* Lets devices' threads have the lock: they start while we submit. */
static void hand_over(kmm_runtime_t *rt)
{
    pthread_mutex_unlock(&rt->lock);
    for (int k = 0; k < HAND_OVER && atomic_load_explicit(&rt->wanting, memory_order_relaxed); k++)
        kmm__relax();
    kmm__spin_lock(&rt->lock);
}

/* The same for all chunks of a launch that may read what others of them write: no chunk is recorded
 * before all have found what they follow. */
static int submit_together(kmm__submission_t *s)
{
    uint32_t n = s->part.count;
    kmm__task_t **tasks = kmm__alloc(n * sizeof(*tasks));
    int result = 0;
    for (uint32_t k = 0; k < n; k++) {
        int error = 0;
        tasks[k] = make_chunk(s, k, &error);
        if (!error)
            error = kmm__dag_follow(tasks[k]);
        if (error && !tasks[k]->error)
            tasks[k]->error = error;
        result = result ? result : error;
    }
    for (uint32_t k = 0; k < n; k++) {
        int error = kmm__dag_conflicts(tasks[k]);
        if (error && !tasks[k]->error)
            tasks[k]->error = error;
        result = result ? result : error;
        kmm__dag_record(tasks[k], true);
    }
    for (uint32_t k = 0; k < n; k++)
        kmm__dag_record(tasks[k], false);
    for (uint32_t k = 0; k < n; k++)
        kmm__dag_release(tasks[k]);
    free(tasks);
    return result;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* What a launch has in common with the same one of the next iteration. */
static uint64_t identity_of(const kmm__submission_t *s)
{
    const kmm__work_t *w = s->work;
    uint64_t hash = mix(mix((uint64_t)s->l->line, (uintptr_t)w->name),
                        (uintptr_t)w->kernel ^ (uintptr_t)w->function);
    hash = mix(hash, s->part.count);
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *item = &s->l->items[k];
        hash = mix(mix(hash, (uintptr_t)item->base),
                   item->array ? item->array->id
                               : 0); /* memory that is mapped anew is another array */
    }
    for (uint32_t k = 0; !s->annotated && k < w->pointer_count; k++)
        hash = mix(hash, w->pointers[k].array->id);
    return hash;
}

static int submit_work(kmm__submission_t *s)
{
    kmm__work_t *w = s->work;
    int error = kmm__reduce_begin(s->rt, w);
    if (s->rt->has_spaces)
        w->pattern = kmm__pattern_note(s->rt, identity_of(s));
    bool apart = s->part.count == 1 || chunks_are_apart(s->l);
    /* Handing the lock over costs several chunks. Chunks for devices are launched together, so
     * those are not begun one by one. */
    uint32_t most = s->rt->has_spaces ? MOST_BATCH : BATCH;
    for (uint32_t k = 0, n; k < s->part.count && !error; k += n) {
        throttle(s->rt);
        n = s->part.count - k;
        error = apart ? submit_apart(s, k, n < most ? n : most, &n) : submit_together(s);
        if (k + n < s->part.count)
            hand_over(s->rt);
    }
    return error ? error : kmm__reduce_end(s->rt, w);
}

kmm__work_t *kmm__submission_work(kmm__submission_t *s)
{
    const kmm_launch_t *l = s->l;
    kmm__work_t *w = kmm__work_create(s->rt);
    w->name = l->kernel ? l->kernel : "?";
    if (l->label)
        w->name = memcpy(kmm__work_take(w, strlen(l->label) + 1), l->label, strlen(l->label));
    w->file = l->file;
    w->line = l->line;
    w->geometry = s->geometry;
    w->function = s->function;
    w->item_text = kmm__work_take(w, l->item_count * sizeof(*w->item_text));
    w->item_count = l->item_count;
    for (uint32_t k = 0; k < l->item_count; k++) {
        w->item_text[k] = l->items[k].text;
        s->reductions += l->items[k].mode == KMM_REDUCE;
    }
    w->reductions = kmm__work_take(w, s->reductions * sizeof(*w->reductions));
    w->partials = kmm__work_take(w, s->reductions * sizeof(*w->partials));
    return w;
}

static bool has_chunks(const kmm_launch_t *l)
{
    return l->has_chunk[0] || l->has_chunk[1] || l->has_chunk[2];
}

static void drop_pointers(kmm__work_t *w)
{
    for (uint32_t k = 0; k < w->pointer_count; k++)
        kmm__array_unref(w->pointers[k].array);
    w->pointer_count = 0;
}

/* Looks for pointers again, after memory has become arrays. */
static void repack_pointers(kmm__submission_t *s)
{
    kmm__work_t *w = s->work;
    drop_pointers(w);
    if (!w->kernel)
        find_pointers(s, 0, w->args_bytes);
    for (uint32_t k = w->kernel && w->kernel->is_clone ? 1 : 0; w->kernel && k < w->arg_count; k++)
        find_pointers(s, w->arg_offset[k], w->kernel->param_bytes[k]);
}

static bool is_on_host(kmm__array_t *a)
{
    return !a || (!a->is_tracked && kmm__array_host(a)); /* NULL: a region that is empty */
}

/* Where there is only the host's memory, what tasks use is made ready once for all of them. */
static void make_plain(kmm__submission_t *s)
{
    kmm__work_t *w = s->work;
    bool plain =
        !s->rt->has_spaces && !kmm__spill_room(s->rt) && !w->places && w->reduction_count == 0;
    for (uint32_t k = 0; k < s->l->item_count && plain; k++)
        plain = is_on_host(s->l->items[k].array);
    for (uint32_t k = 0; k < w->pointer_count && plain; k++)
        plain = is_on_host(w->pointers[k].array);
    s->is_plain = w->is_translated = plain;
    for (uint32_t k = 0; k < w->pointer_count && plain; k++) {
        char *address = w->pointers[k].array->host + w->pointers[k].offset;
        memcpy(w->args + w->pointers[k].at, &address, sizeof(address));
    }
}

/* The part that kernels and functions share, once arguments are packed. */
static int submit_described(kmm__submission_t *s)
{
    kmm__work_t *w = s->work;
    bool again = s->rt->deferred != 0;
    if (again)
        drop_pointers(w); /* so that maps can end */
    int error = kmm__submission_resolve(s);
    if (!error && (again || s->mapped_count))
        repack_pointers(s);
    if (!error && s->annotated)
        error = check_pointers(s);
    if (!error && s->annotated && !has_chunks(s->l))
        kmm__partition_choose(&s->part, s->l, s->rt, s->kind);
    if (!error)
        kmm__partition_join(&s->part, s->l, s->rt, &s->place);
    w->chunk_count = kmm__partition_asked(&s->part);
    s->place.chunks = s->part.count;
    kmm__check_note(w, s->l);
    if (error || s->part.count == 0)
        return error;
    error = s->reductions ? plan_reductions(s) : 0;
    make_plain(s);
    return error ? error : submit_work(s);
}

static void defer_items(kmm__submission_t *s)
{
    pthread_mutex_lock(&s->rt->lock);
    for (uint32_t k = 0; k < s->mapped_count; k++)
        kmm__array_find(s->rt, s->l->mapped[k])->is_deferred = true;
    s->rt->deferred += s->mapped_count;
    pthread_mutex_unlock(&s->rt->lock);
}

/* Returns the memory that was mapped for the launch, when its results are there. */
int kmm__submission_unmap(kmm__submission_t *s)
{
    if (s->l->nowait && s->mapped_count) {
        defer_items(s);
        return 0;
    }
    return s->mapped_count ? kmm__maps_end(s->rt, s->l->mapped, s->mapped_count) : 0;
}

static int submit(kmm__submission_t *s, const uint32_t grid[3], const uint32_t block[3],
                  const kmm_kernel_t *kernel, void **args, const void *block_args, size_t bytes)
{
    kmm_launch_t *l = s->l;
    if (l->error)
        return kmm__submission_refuse(s, l->error, l->error_text);
    int error = kmm__place_devices(l, s->kind, kernel == NULL, &s->place);
    if (error)
        return kmm__submission_refuse(s, error, kmm__error_get());
    if (kmm__partition(l, grid, block, kernel == NULL, &s->part))
        return kmm__submission_refuse(s, KMM_E_RANGE, kmm__error_get());
    kmm__spin_lock(&s->rt->lock);
    s->work = kmm__submission_work(s);
    s->work->may_exceed = !s->annotated || !has_chunks(l) || l->one_chunk;
    if (kernel) {
        error = pack_kernel(s, kernel, args);
    } else {
        s->work->args = kmm__work_take(s->work, bytes);
        s->work->args_bytes = (uint32_t)bytes;
        if (bytes)
            memcpy(s->work->args, block_args, bytes);
        find_pointers(s, 0, (uint32_t)bytes);
    }
    if (!error)
        error = submit_described(s);
    kmm__work_unref(s->work);
    pthread_mutex_unlock(&s->rt->lock);
    int unmapped = kmm__submission_unmap(s);
    return error ? error : unmapped;
}

/* ---- Handing over ---- */

KMM__API void kmm_launch_arm(kmm_launch_t *l)
{
    if (armed) {
        launch_mistake(l, KMM_E_STATE,
                       "the launch described at %s:%d did not happen before this one", armed->file,
                       armed->line);
        kmm__launch_free(armed);
    }
    armed = l;
}

void kmm__launch_disarm(void)
{
    if (armed)
        kmm__launch_free(armed);
    armed = NULL;
}

/* A kernel for a GPU that has no clone cannot be told which of its blocks to run. Said once for
 * each of the first kernels. */
static void run_whole(kmm_launch_t *l, const kmm_kernel_t *kernel)
{
    enum { MAX_SAID = 64 };
    static _Atomic(const kmm_kernel_t *) said[MAX_SAID];
    l->one_chunk = true;
    for (int k = 0; k < MAX_SAID; k++) {
        const kmm_kernel_t *none = NULL;
        if (atomic_compare_exchange_strong(&said[k], &none, kernel)) {
            fprintf(stderr,
                    "kmm: warning: %s:%d: kernel %s runs as one chunk, because the file that "
                    "defines it was compiled without a clone "
                    "of it: compile that file by kmmcc -fkmm-clone\n",
                    l->file ? l->file : "?", l->line, kernel->name);
            return;
        }
        if (none == kernel)
            return;
    }
}

KMM__API int kmm_launch_kernel(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                               void **args)
{
    kmm__submission_t s = {.l = armed, .annotated = armed != NULL};
    armed = NULL;
    if (!kernel || kernel->version != KMM_LAUNCH_VERSION || !geometry)
        return kmm__error_set(KMM_E_INVALID,
                              "no kernel, or one that was built for another version of libkmm");
    if (!s.l && kmm__inline_current())
        return kmm__inline_launch(kmm__inline_current(), kernel, geometry, args);
    if (!s.l) {
        s.l = kmm_launch_begin(kernel->name, NULL, 0);
        if (kernel->kind == KMM_KIND_HOST && kmm__device_chosen(s.l->runtime) >= 0)
            kmm_launch_device(s.l, KMM_ON_DEVICE, kmm__device_chosen(s.l->runtime));
        s.l->home = true; /* it may change variables of its device */
    }
    if (s.annotated && kernel->kind != KMM_KIND_HOST && !kernel->is_clone && !s.l->home)
        run_whole(s.l, kernel);
    s.rt = s.l->runtime;
    s.kind = kernel->kind;
    int error;
    bool empty = false;
    for (int d = 0; d < 3; d++)
        empty |= geometry->grid[d] == 0 || geometry->block[d] == 0;
    if (!s.rt) {
        error = kmm__error_set(KMM_E_NO_DEVICE, "there is no runtime");
    } else if (empty) {
        error = kmm__submission_refuse(&s, KMM_E_INVALID, "the grid or the block is empty");
    } else {
        s.geometry = *geometry;
        error = submit(&s, geometry->grid, geometry->block, kernel, args, NULL, 0);
    }
    kmm__launch_free(s.l);
    return error;
}

KMM__API int kmm_launch_call(kmm_launch_t *l, kmm_function_t *function, const void *args,
                             size_t args_bytes)
{
    static const uint32_t one[3] = {1, 1, 1};
    kmm__submission_t s = {
        .l = l, .rt = l->runtime, .kind = KMM_KIND_HOST, .annotated = true, .function = function};
    int error;
    if (!s.rt)
        error = kmm__error_set(KMM_E_NO_DEVICE, "there is no runtime");
    else if (args_bytes > MAX_ARGS_BYTES)
        error = kmm__submission_refuse(&s, KMM_E_INVALID, "its arguments are too large");
    else
        error = submit(&s, one, one, NULL, NULL, args, args_bytes);
    kmm__launch_free(l);
    return error;
}
