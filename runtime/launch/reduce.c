/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions. Chunks work on private copies of the target, the partials, which begin as the
 * operator's identity. The partials lie one after the other in a temporary array. So they move and
 * spill like any data, and the tasks that fill and fold them are ordinary tasks.
 *
 * The order of combination depends on the launch alone. Chunk k of n uses partial
 * k * count / n, where count is the number of partials. Chunks that share a partial are submitted
 * one after the other, in order. Partials are folded by a fixed tree over their numbers (pairs of
 * neighbours, pairs of pairs, ...), and the result is accumulated into the target. The number of
 * partials depends on the number of chunks and the target's size, and never on devices, memory or
 * time.
 */
#include "launch/reduce.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "launch/margin.h"
#include "launch/meaning.h"
#include "launch/own_kernels.h"
#include "launch/plan.h"
#include "memory/disk/page.h"
#include "memory/lifetime.h"

enum {
    ALIGNMENT =
        256, /* bytes, of a partial; elements keep the alignment that they have in the target */
    PARTIALS_LEAST = 16,
    PARTIALS_MOST = 4096,
    PARTIALS_BYTES =
        64 << 20, /* as many partials as fit in so many bytes, within the two limits above */
    INIT_BYTES = 1 << 20, /* a task fills at least so many bytes of partials */
    FOLD_BYTES = 4 << 20, /* a task folds at least so many bytes of partials */
    BLOCK_BYTES = 1024,   /* bytes of elements in wide form that are folded at a time */
    LEVELS = 14           /* log2(PARTIALS_MOST) + 2 */
};

_Static_assert(1 << (LEVELS - 2) >= PARTIALS_MOST,
               "a fold needs a level for each power of two, and one to fold with");
_Static_assert((int)BLOCK_BYTES >= (int)KMM__ELEMENT_MAX, "a block holds an element at least");

/* ---- Planning ---- */

bool kmm__reduce_is_ordered(const kmm_launch_t *l)
{
    for (uint32_t k = 0; k < l->item_count; k++)
        if (l->items[k].mode == KMM_REDUCE && kmm__type_is_floating(l->items[k].type))
            return true;
    return false;
}

static kmm__element_t element_of(const kmm__item_t *item)
{
    return (kmm__element_t){item->type,  (uint32_t)item->element, item->is_pair,
                            item->index, item->value_at,          item->index_at};
}

/* True if one argument leads both to the item and to an item that these partials are for. */
static bool is_together(const kmm__work_t *w, const kmm_launch_t *l, const kmm__item_t *item,
                        uint32_t partials)
{
    for (uint32_t k = 0; k < w->reduction_count; k++)
        if (w->reductions[k].partials == partials &&
            kmm__meaning_shared(w, item, &l->items[w->reductions[k].item]))
            return true;
    return false;
}

/* The copies for what is reduced through the item's pointer: new ones, or another item's. */
static uint32_t partials_find(kmm__work_t *w, const kmm_launch_t *l, const kmm__item_t *item)
{
    uint32_t k = 0;
    while (k < w->partials_count &&
           (w->partials[k].target != item->array ||
            (w->partials[k].base != item->base && !is_together(w, l, item, k))))
        k++;
    if (k == w->partials_count)
        w->partials[w->partials_count++] = (kmm__partials_t){
            .target = item->array, .base = item->base, .begin = INT64_MAX, .end = INT64_MIN};
    return k;
}

/* Adds the item's region to what the launch reduces into. */
static int plan_item(kmm__work_t *w, const kmm_launch_t *l, const kmm__chunk_box_t *whole,
                     uint32_t k)
{
    const kmm__item_t *item = &l->items[k];
    kmm__access_t a;
    kmm__layout_t shaped;
    if ((item->op == KMM_OP_ARGMIN || item->op == KMM_OP_ARGMAX) && !item->is_pair)
        return kmm__error_set(
            KMM_E_INVALID,
            "argmin and argmax work on structs of a value and an index, which are not described");
    int planned = kmm__plan(item, l->axis_count, whole, &a, &shaped);
    if (planned <= 0)
        return planned;
    kmm__reduction_t *r = &w->reductions[w->reduction_count];
    *r = (kmm__reduction_t){.op = item->op, .element = element_of(item), .item = k};
    r->takes_number = item->takes_number && kmm__type_is_floating(item->type) && !item->is_pair;
    kmm__layout_hull(a.layout, &a.box, &r->begin, &r->end);
    for (uint32_t j = 0; j < w->reduction_count; j++) {
        const kmm__reduction_t *other = &w->reductions[j];
        if (w->partials[other->partials].target == item->array && other->begin < r->end &&
            r->begin < other->end)
            return kmm__error_set(KMM_E_INVALID,
                                  "the same elements are reduced twice; the other item is %s",
                                  w->item_text[other->item]);
    }
    r->partials = partials_find(w, l, item);
    kmm__partials_t *p = &w->partials[r->partials];
    p->begin = r->begin < p->begin ? r->begin : p->begin;
    p->end = r->end > p->end ? r->end : p->end;
    w->reduction_count++;
    return 0;
}

/* Decides how many partials there are, and where the target's bytes lie in each. */
static void size_partials(kmm__partials_t *p, uint32_t chunks)
{
    int64_t pad = (int64_t)((uintptr_t)(p->target->base + p->begin) % ALIGNMENT);
    int64_t most = PARTIALS_BYTES / (p->end - p->begin); /* wherever the target lies */
    p->begin -= pad < p->margin ? pad + ALIGNMENT : pad;
    p->partial_bytes = (p->end + p->margin - p->begin + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    most = most < PARTIALS_LEAST ? PARTIALS_LEAST : most > PARTIALS_MOST ? PARTIALS_MOST : most;
    p->count = most < chunks ? (uint32_t)most : chunks;
}

static int make_partials(const kmm__work_t *w, kmm__partials_t *p)
{
    int error = kmm__array_new(p->target->runtime, (size_t)p->partial_bytes * p->count, NULL,
                               KMM_MAP_TOFROM, "private copies of a reduction", &p->array);
    if (!error)
        kmm__array_hide(p->array);
    if (!error && kmm__log_says(KMM__LOG_INFO) && kmm__log_first(w->file, w->line))
        kmm__log(KMM__LOG_INFO, "%s:%d: %s: reduces through %u private copies of %s",
                 w->file ? w->file : "?", w->line, w->name, p->count,
                 KMM__BYTES((uint64_t)p->partial_bytes));
    return error;
}

/* ---- Pointers ---- */

/* How the items use the array `a` and the pointer `address` into it. reduced: index of the partials
 * of that pointer, -1: none. copies: number of partials for the array. otherwise: an item reads or
 * writes through the pointer. others: an item reads or writes the array. */
typedef struct usage {
    int32_t reduced;
    uint32_t copies;
    bool otherwise, others;
} usage_t;

static usage_t usage_of(const kmm__work_t *w, const kmm_launch_t *l, const kmm__array_t *a,
                        const char *address)
{
    usage_t u = {.reduced = -1};
    for (uint32_t k = 0; k < w->partials_count; k++) {
        u.copies += w->partials[k].target == a;
        if (w->partials[k].target == a && w->partials[k].base == address)
            u.reduced = (int32_t)k;
    }
    for (uint32_t k = 0; k < w->reduction_count && u.reduced < 0; k++) {
        const kmm__item_t *item = &l->items[w->reductions[k].item];
        if (item->array == a && kmm__meaning_has(item, address))
            u.reduced = (int32_t)w->reductions[k].partials;
    }
    for (uint32_t k = 0; k < l->item_count; k++) {
        const kmm__item_t *item = &l->items[k];
        bool other = item->array == a && item->mode != KMM_REDUCE;
        u.others |= other;
        u.otherwise |= other && kmm__meaning_has(item, address);
    }
    return u;
}

static int32_t only_partials(const kmm__work_t *w, const kmm__array_t *a)
{
    for (uint32_t k = 0; k < w->partials_count; k++)
        if (w->partials[k].target == a)
            return (int32_t)k;
    return -1;
}

/* The first item that uses the private copies. */
static uint32_t reduced_item(const kmm__work_t *w, int32_t partials)
{
    uint32_t k = 0;
    while (w->reductions[k].partials != (uint32_t)partials)
        k++;
    return w->reductions[k].item;
}

/* Each copy needs an argument that leads to it: chunks would work on the target at once. */
static int check_redirected(const kmm__work_t *w)
{
    for (uint32_t k = 0; k < w->partials_count; k++) {
        bool reached = !w->partials[k].count;
        for (uint32_t p = 0; p < w->pointer_count && !reached; p++)
            reached = w->pointers[p].partials == (int16_t)k;
        if (!reached)
            return kmm__error_set(KMM_E_INVALID,
                                  "no pointer argument leads to %s: pass a pointer to what is "
                                  "reduced, and base the item on it",
                                  w->item_text[reduced_item(w, (int32_t)k)]);
    }
    return 0;
}

/* Redirects the arguments through which the launch reduces. An argument is one of these if it means
 * an item that is reduced, or if all that the launch does with its array is reduced through one
 * pointer. */
static int redirect_pointers(kmm__work_t *w, const kmm_launch_t *l)
{
    for (uint32_t k = 0; k < w->pointer_count; k++) {
        kmm__pointer_t *p = &w->pointers[k];
        usage_t u = usage_of(w, l, p->array, p->array->base + p->offset);
        int32_t to = u.reduced;
        if (u.copies == 0)
            continue;
        if (to >= 0 && u.otherwise)
            return kmm__error_set(KMM_E_INVALID,
                                  "the pointer of %s is also in another access clause; what is "
                                  "reduced cannot be read or written otherwise: pass a pointer of "
                                  "its own to it",
                                  w->item_text[reduced_item(w, to)]);
        if (to < 0 && u.copies == 1 && !u.others)
            to = only_partials(w, p->array);
        else if (to < 0 && !u.otherwise)
            return kmm__error_set(KMM_E_INVALID,
                                  "a pointer argument may or may not be what is reduced: base an "
                                  "item on the very value that is passed, or pass a pointer of its "
                                  "own to what is reduced");
        if (to >= 0 && w->partials[to].count)
            p->partials = (int16_t)to;
    }
    return check_redirected(w);
}

/* Finds the reductions and their partials, none of which has memory yet. */
static int plan_items(kmm__work_t *w, const kmm_launch_t *l, const kmm__partition_t *part,
                      uint32_t *item)
{
    kmm__chunk_box_t whole;
    kmm__partition_whole(part, l, &whole);
    for (*item = 0; *item < l->item_count; ++*item) {
        int error = l->items[*item].mode == KMM_REDUCE && l->items[*item].array
                        ? plan_item(w, l, &whole, *item)
                        : 0;
        if (error)
            return error;
    }
    for (uint32_t k = 0; k < w->partials_count && part->count > 1; k++) {
        w->partials[k].margin = part->is_function ? kmm__margin_bytes(w, k) : 0;
        size_partials(&w->partials[k], part->count); /* an only chunk works on the target */
    }
    return 0;
}

int kmm__reduce_plan(kmm__work_t *w, const kmm_launch_t *l, const kmm__partition_t *part,
                     uint32_t *item)
{
    int error = plan_items(w, l, part, item);
    for (uint32_t k = 0; k < w->partials_count && !error; k++)
        error = w->partials[k].count ? make_partials(w, &w->partials[k]) : 0;
    return error ? error : redirect_pointers(w, l);
}

int kmm__reduce_plan_natively(kmm__work_t *w, const kmm_launch_t *l, const kmm__partition_t *part,
                              bool redirect, uint32_t *item)
{
    int error = plan_items(w, l, part, item);
    return error || !redirect ? error : redirect_pointers(w, l);
}

kmm__access_t kmm__reduce_access(const kmm__work_t *w, const kmm__reduction_t *r, uint32_t k)
{
    const kmm__partials_t *p = &w->partials[r->partials];
    int64_t at = p->array ? kmm__partial_of(w, p, k) * p->partial_bytes - p->begin : 0;
    const int64_t margin = p->array ? p->margin : 0;
    kmm__access_t a = kmm__access_bytes(p->array ? p->array : p->target, KMM_UPDATE,
                                        at + r->begin - margin, at + r->end + margin);
    a.exact = !p->array || p->count == w->chunk_count; /* chunks that share a partial take turns */
    a.item = (uint16_t)r->item;
    return a;
}

/* ---- Filling ---- */

static void fill(const kmm__reduction_t *r, char *out, size_t bytes)
{
    size_t done = r->element.bytes;
    kmm__fold_identity(r->op, &r->element, out);
    for (size_t n; done < bytes; done += n) {
        n = done < bytes - done ? done : bytes - done;
        memcpy(out + done, out, n);
    }
}

static int run_fill(kmm__operation_t *base)
{
    const kmm__array_operation_t *op = (const kmm__array_operation_t *)base;
    const kmm__reduction_t *r = &op->reduction;
    size_t bytes = (size_t)(r->end - r->begin);
    for (uint32_t k = op->first; k < op->first + op->count; k++) {
        char *copy =
            op->array->host + k * op->partials.partial_bytes + (r->begin - op->partials.begin);
        if (kmm__reduction_is_truth(r))
            memcpy(copy, op->other->host + r->begin, bytes);
        else
            fill(r, copy, bytes);
        kmm__margin_fill(op, copy);
    }
    return 0;
}

/* The destination of a reduction's tasks: they are submitted, or only their accesses are handed to
 * a function. */
typedef struct sink {
    kmm_runtime_t *runtime;
    kmm__device_t *only;    /* runs all chunks; NULL: several devices do */
    kmm__accesses_fn_t *fn; /* NULL: they are submitted */
    void *ctx;
} sink_t;
typedef int one_fn_t(const sink_t *sink, const kmm__work_t *w, const kmm__reduction_t *r);

static int sink_put(const sink_t *s, const kmm__array_operation_t *op, const char *name,
                    const kmm__access_t *accesses, uint32_t count)
{
    if (!s->fn)
        return kmm__operation_submit(s->runtime, op, name, accesses, count, NULL);
    s->fn(s->ctx, accesses, count);
    return 0;
}

/* True if libkmm's kernels do on the device what tasks on the host would do: partials and target
 * take little of its memory, so that nothing has to be evicted for them. */
static bool is_on_device(const sink_t *sink, const kmm__partials_t *p, const kmm__reduction_t *r)
{
    enum { PART = 16 };
    const kmm__device_t *d = sink->only;
    return d && !sink->fn && !r->takes_number && !p->margin && d->space != KMM__HOST &&
           !sink->runtime->memory->spill && !sink->runtime->checks_access &&
           p->array->bytes + (uint64_t)(r->end - r->begin) <= d->memory->limit / PART &&
           kmm__own_kernels_fold(d, p, r);
}

static bool is_first(const kmm__work_t *w, const kmm__reduction_t *r)
{
    bool first = true;
    for (const kmm__reduction_t *other = w->reductions; other < r; other++)
        first &= other->partials != r->partials;
    return first;
}

static int begin_on_device(const sink_t *sink, const kmm__work_t *w, const kmm__reduction_t *r)
{
    const kmm__partials_t *p = &w->partials[r->partials];
    const kmm__access_t a[2] = {kmm__access_bytes(p->array, is_first(w, r) ? KMM_WRITE : KMM_UPDATE,
                                                  0, (int64_t)p->array->bytes),
                                kmm__access_bytes(p->target, KMM_READ, r->begin, r->end)};
    return kmm__own_kernel_submit(sink->only, KMM__FILL, w, r, a,
                                  kmm__reduction_is_truth(r) ? 2 : 1);
}

static int begin_one(const sink_t *sink, const kmm__work_t *w, const kmm__reduction_t *r)
{
    const kmm__partials_t *p = &w->partials[r->partials];
    int64_t each = INIT_BYTES / p->partial_bytes > 1 ? INIT_BYTES / p->partial_bytes : 1;
    const bool first = is_first(w, r);
    if (is_on_device(sink, p, r))
        return begin_on_device(sink, w, r);
    for (int64_t k = 0; k < p->count; k += each) {
        kmm__array_operation_t op = {.base = {run_fill},
                                     .array = p->array,
                                     .other = p->target,
                                     .reduction = *r,
                                     .partials = *p,
                                     .first = (uint32_t)k,
                                     .file = w->file,
                                     .line = w->line};
        int64_t end = k + each < p->count ? k + each : p->count;
        op.count = (uint32_t)(end - k);
        kmm__access_t a[2] = {kmm__access_bytes(p->array, first ? KMM_WRITE : KMM_UPDATE,
                                                k * p->partial_bytes, end * p->partial_bytes),
                              kmm__access_bytes(p->target, KMM_READ, r->begin, r->end)};
        int error =
            sink_put(sink, &op, "start of a reduction", a, kmm__reduction_is_truth(r) ? 2 : 1);
        if (error)
            return error;
    }
    return 0;
}

/* Submits the tasks of each reduction of the launch that has partials. */
static int submit_each(kmm_runtime_t *rt, const kmm__work_t *w, kmm__device_t *only, one_fn_t *one)
{
    const sink_t sink = {.runtime = rt, .only = only};
    int error = 0;
    for (uint32_t k = 0; k < w->reduction_count && !error; k++)
        if (w->partials[w->reductions[k].partials].array)
            error = one(&sink, w, &w->reductions[k]);
    return error;
}

int kmm__reduce_begin(kmm_runtime_t *rt, const kmm__work_t *w, kmm__device_t *only)
{
    return submit_each(rt, w, only, begin_one);
}

/* ---- Folding ---- */

/* A block of elements in wide form. The fold has a stack of blocks, one for each level of the tree:
 * a block of level j is the fold of 2^j partials, or of the rest of them at the end. */
typedef union block {
    _Alignas(16) char bytes[BLOCK_BYTES];
} block_t;

/* Folds n elements at byte `at` of each partial, and accumulates the result at `target`. Partials
 * come in order. Two blocks of the same level are folded as soon as there are two, so the tree is
 * that of folding pairs of neighbours, then pairs of pairs, and so on. */
static void fold_block(const kmm__array_operation_t *op, int64_t at, char *target, size_t n)
{
    const kmm__reduction_t *r = &op->reduction;
    const kmm__element_t *e = &r->element;
    block_t stack[LEVELS];
    uint32_t depth = 0;
    for (uint32_t k = 0; k < op->partials.count; k++) {
        kmm__widen(e, stack[depth++].bytes, op->array->host + k * op->partials.partial_bytes + at,
                   n);
        for (uint32_t same = k + 1; !(same & 1); same >>= 1, depth--)
            kmm__fold(r->op, e, stack[depth - 2].bytes, stack[depth - 1].bytes, n);
    }
    for (; depth > 1; depth--)
        kmm__fold(r->op, e, stack[depth - 2].bytes, stack[depth - 1].bytes, n);
    kmm__widen(e, stack[1].bytes, target, n);
    if (r->takes_number)
        kmm__fold_numbers(r->op, e, stack[1].bytes, stack[0].bytes, n);
    kmm__fold_target(r->op, e, stack[1].bytes, stack[0].bytes, n);
    kmm__narrow(e, target, stack[1].bytes, n);
}

static int run_fold_truth(kmm__operation_t *base)
{
    const kmm__array_operation_t *op = (const kmm__array_operation_t *)base;
    for (int64_t b = op->begin; b < op->begin + (int64_t)op->bytes;
         b += op->reduction.element.bytes)
        kmm__fold_truth(op->reduction.op, &op->reduction.element,
                        op->array->host + (b - op->partials.begin), op->partials.partial_bytes,
                        op->partials.count, op->other->host + b);
    return kmm__margin_check(op);
}

static int run_fold(kmm__operation_t *base)
{
    const kmm__array_operation_t *op = (const kmm__array_operation_t *)base;
    int64_t size = op->reduction.element.bytes,
            step = (int64_t)(BLOCK_BYTES / kmm__wide_bytes(&op->reduction.element)) * size;
    int64_t end = op->begin + (int64_t)op->bytes;
    for (int64_t b = op->begin; b < end; b += step) {
        int64_t bytes = end - b < step ? end - b : step;
        fold_block(op, b - op->partials.begin, op->other->host + b, (size_t)(bytes / size));
    }
    return kmm__margin_check(op);
}

/* Returns a read of the bytes [begin, end) of every partial. */
static kmm__access_t partials_access(const kmm__partials_t *p, int64_t begin, int64_t end,
                                     kmm__layout_t *all)
{
    kmm__access_t a = kmm__access_bytes(p->array, KMM_READ, 0, (int64_t)p->array->bytes);
    int64_t extent[2] = {p->count, p->partial_bytes};
    *all = kmm__layout_make(2, extent, 1, 0, (int64_t)p->array->bytes);
    a.layout = all;
    a.box = (kmm__box_t){2, {0, begin - p->begin}, {p->count, end - p->begin}};
    return a;
}

/* Bytes of partials that one task folds at least. They are less where all must be in a limited host
 * memory at once. */
static int64_t fold_bytes(const kmm__partials_t *p)
{
    enum { ROOM_PART = 4 };
    int64_t part = (int64_t)(kmm__spill_room(p->target->runtime) / ROOM_PART);
    return part && part < FOLD_BYTES ? part : FOLD_BYTES;
}

static int end_on_device(const sink_t *sink, const kmm__work_t *w, const kmm__reduction_t *r)
{
    const kmm__partials_t *p = &w->partials[r->partials];
    const kmm__access_t a[2] = {kmm__access_bytes(p->array, KMM_READ, 0, (int64_t)p->array->bytes),
                                kmm__access_bytes(p->target, KMM_UPDATE, r->begin, r->end)};
    return kmm__own_kernel_submit(sink->only, kmm__reduction_is_truth(r) ? KMM__TRUTH : KMM__FOLD,
                                  w, r, a, 2);
}

static int end_one(const sink_t *sink, const kmm__work_t *w, const kmm__reduction_t *r)
{
    const kmm__partials_t *p = &w->partials[r->partials];
    int64_t size = r->element.bytes, elements = (r->end - r->begin) / size,
            each = fold_bytes(p) / p->count / size;
    if (is_on_device(sink, p, r))
        return end_on_device(sink, w, r);
    each = each < elements ? each : elements;
    each = each < 1 ? 1 : each;
    for (int64_t k = 0; k < elements; k += each) {
        int64_t begin = r->begin + k * size,
                end = r->begin + (elements - k < each ? elements : k + each) * size;
        kmm__array_operation_t op = {
            .base = {kmm__reduction_is_truth(r) ? run_fold_truth : run_fold},
            .array = p->array,
            .other = p->target,
            .reduction = *r,
            .partials = *p,
            .begin = begin,
            .bytes = (size_t)(end - begin),
            .file = w->file,
            .line = w->line,
            .launch = w->name,
            .item = w->item_text[r->item]};
        kmm__layout_t all;
        kmm__access_t a[2] = {partials_access(p, begin - (k ? 0 : p->margin),
                                              end + (end == r->end ? p->margin : 0), &all),
                              kmm__access_bytes(p->target, KMM_UPDATE, begin, end)};
        if (each == elements)
            a[0] = kmm__access_bytes(p->array, KMM_READ, 0, (int64_t)p->array->bytes);
        int error = sink_put(sink, &op, "end of a reduction", a, 2);
        if (error)
            return error;
    }
    return 0;
}

int kmm__reduce_end(kmm_runtime_t *rt, const kmm__work_t *w, kmm__device_t *only)
{
    return submit_each(rt, w, only, end_one);
}

void kmm__reduce_accesses(const kmm__work_t *w, kmm__accesses_fn_t *fn, void *ctx)
{
    const sink_t sink = {.fn = fn, .ctx = ctx};
    for (uint32_t k = 0; k < w->reduction_count; k++) {
        if (!w->partials[w->reductions[k].partials].array)
            continue;
        begin_one(&sink, w, &w->reductions[k]);
        end_one(&sink, w, &w->reductions[k]);
    }
}

/* ---- Between nodes ---- */

static int run_move(kmm__operation_t *base)
{
    const kmm__array_operation_t *op = (const kmm__array_operation_t *)base;
    const kmm__partials_t *p = &op->partials;
    const size_t bytes = (size_t)(op->reduction.end - op->reduction.begin);
    char *memory = op->memory;
    for (uint32_t k = op->first; k < op->first + op->count; k++, memory += bytes) {
        char *copy = op->array->host + k * p->partial_bytes + (op->reduction.begin - p->begin);
        if (op->value)
            memcpy(copy, memory, bytes);
        else
            memcpy(memory, copy, bytes);
    }
    return 0;
}

int kmm__reduce_move(const kmm__work_t *w, const kmm__reduction_t *r, const uint32_t range[2],
                     void *memory, bool is_in)
{
    const kmm__partials_t *p = &w->partials[r->partials];
    const kmm__array_operation_t op = {.base = {run_move},
                                       .array = p->array,
                                       .memory = memory,
                                       .value = is_in,
                                       .reduction = *r,
                                       .partials = *p,
                                       .first = range[0],
                                       .count = range[1] - range[0],
                                       .file = w->file,
                                       .line = w->line};
    const kmm__access_t a =
        kmm__access_bytes(p->array, is_in ? KMM_UPDATE : KMM_READ, range[0] * p->partial_bytes,
                          range[1] * p->partial_bytes);
    kmm__task_t *t = NULL;
    int error = kmm__operation_submit(w->runtime, &op, "partials between nodes", &a, 1, &t),
        ran = kmm__operation_await(w->runtime, t);
    return error ? error : ran;
}
