/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a message about a fault. */
#include "observe/fault_text.h"

#include <signal.h>

#include "base/text.h"
#include "observe/nearest.h"

/* Addresses below this one are a null pointer's, with an index or a member. */
enum { NEAR_NULL = 1 << 16 };

/* Ends the line, whatever was cut off. */
static size_t end(kmm__text_t *t)
{
    if (t->length == t->size - 1)
        t->length--;
    kmm__text_say(t, "\n");
    return t->length;
}

/* ---- Where it happened ---- */

/* Computes the range [*begin, *end) of the chunks along a dimension. */
static void range_of(const kmm__running_t *r, int d, int64_t *begin, int64_t *end)
{
    *begin = INT64_MAX;
    *end = INT64_MIN;
    for (uint32_t k = 0; k < r->count; k++) {
        const kmm__task_t *t = r->tasks[k];
        bool is_kernel = t->work->kernel != NULL;
        int64_t unit = is_kernel ? t->work->geometry.block[d] : 1,
                first = is_kernel ? t->part.offset[d] : t->part.range.begin[d],
                last = is_kernel ? first + t->part.count[d] : t->part.range.end[d];
        *begin = first * unit < *begin ? first * unit : *begin;
        *end = last * unit > *end ? last * unit : *end;
    }
}

static void say_where(kmm__text_t *t, const kmm__running_t *r)
{
    const kmm__work_t *w = r->tasks[0]->work;
    uint32_t first = UINT32_MAX, last = 0;
    bool any = false;
    for (uint32_t k = 0; k < r->count; k++) {
        const kmm__task_part_t *p = &r->tasks[k]->part;
        first = p->chunk < first ? p->chunk : first;
        last = p->last_chunk > last ? p->last_chunk : last;
    }
    kmm__work_describe(w, first, last, t->out + t->length, t->size - t->length);
    while (t->out[t->length])
        t->length++;
    for (int d = 0; d < KMM_MAX_SPLIT && w->chunk_count > 1; d++) {
        int64_t begin, end;
        range_of(r, d, &begin, &end);
        if (begin == 0 && end == 1)
            continue; /* the launch does not use the dimension */
        kmm__text_say(t, "%s%lld to %lld", any ? ", " : " (indices ", (long long)begin,
                      (long long)end - 1);
        any = true;
    }
    kmm__text_say(t, any ? "): " : ": ");
}

/* ---- What happened ---- */

static void say_access(kmm__text_t *t, const kmm__fault_t *f)
{
    const char *what = "an access to";
    switch (f->access) {
    case KMM__FAULT_ACCESS: break;
    case KMM__FAULT_READ: what = "a read of"; break;
    case KMM__FAULT_WRITE: what = "a write to"; break;
    case KMM__FAULT_FETCH: what = "a call of"; break;
    }
    if (f->has_address)
        kmm__text_say(t, "%s 0x%llx", what, (unsigned long long)(uintptr_t)f->address);
    else
        kmm__text_say(t, "an access");
    kmm__text_say(t, " faulted with %s", f->number == SIGBUS ? "SIGBUS" : "SIGSEGV");
    if (!f->has_address)
        kmm__text_say(t, ": its address is outside of the address space");
}

static bool is_partials(const kmm__task_t *t, const kmm__array_t *a)
{
    for (uint32_t k = 0; t && k < t->work->partials_count; k++)
        if (t->work->partials[k].array == a)
            return true;
    return false;
}

/* "the array x", or "the array of x[i]", or "the private copies of s[0:1]" */
static void say_array(kmm__text_t *t, const kmm__nearest_t *n, const kmm__task_t *running)
{
    uint32_t item = running ? kmm__nearest_item(running, n->array) : KMM__MAX_ITEMS;
    if (is_partials(running, n->array) && item < KMM__MAX_ITEMS)
        kmm__text_say(t, "the private copies of %s", running->work->item_text[item]);
    else if (n->array->label)
        kmm__text_say(t, "the array %s", n->array->label);
    else if (item < KMM__MAX_ITEMS)
        kmm__text_say(t, "the array of %s", running->work->item_text[item]);
    else
        kmm__text_say(t, "an array");
    kmm__text_say(t, ", which has %zu bytes at %p", n->array->bytes, (const void *)n->at);
    if (n->at != n->array->base)
        kmm__text_say(t, " (for the program at %p)", (const void *)n->array->base);
}

static void say_element(kmm__text_t *t, const kmm__nearest_t *n, const kmm__task_t *running,
                        int64_t offset)
{
    uint8_t element = 0;
    for (uint32_t k = 0; running && k < running->access_count && !element; k++)
        if (running->accesses[k].array == n->array)
            element = running->accesses[k].element;
    kmm__text_say(t, "byte %lld", (long long)offset);
    if (element > 1)
        kmm__text_say(t, " (element %lld)", (long long)(offset / element));
}

static bool is_accessed(const kmm__running_t *r, const kmm__array_t *a, int64_t offset)
{
    for (uint32_t k = 0; k < r->count; k++)
        if (kmm__nearest_is_accessed(r->tasks[k], a, offset))
            return true;
    return false;
}

static void say_inside(kmm__text_t *t, const kmm__fault_t *f, const kmm__nearest_t *n,
                       const kmm__running_t *r)
{
    const kmm__task_t *running = r->tasks[0];
    int64_t offset = f->address - n->at;
    kmm__text_say(t, ": it is ");
    say_element(t, n, running, offset);
    kmm__text_say(t, " of ");
    say_array(t, n, running);
    if (f->is_absent)
        kmm__text_say(t, "; there is no memory for it, as behind the end of a mapped file");
    else if (!is_accessed(r, n->array, offset))
        kmm__text_say(t, ", and no clause of the launch names it for this chunk");
    else if (f->number == SIGSEGV)
        kmm__text_say(t, f->is_mapped ? "; its memory is protected" : "; nothing is mapped there");
}

static void say_nearest(kmm__text_t *t, const kmm__fault_t *f, const kmm__nearest_t *n,
                        const kmm__running_t *r)
{
    if (!n->array)
        return;
    if (n->is_inside) {
        say_inside(t, f, n, r);
        return;
    }
    if (n->before)
        kmm__text_say(t, ": it is %llu bytes before ", (unsigned long long)n->before);
    else if (n->behind)
        kmm__text_say(t, ": it is %llu bytes behind the end of ", (unsigned long long)n->behind);
    else
        kmm__text_say(t, ": it is just behind the end of ");
    say_array(t, n, r->tasks[0]);
}

static void say_null(kmm__text_t *t, const kmm__fault_t *f)
{
    unsigned long long bytes = (uintptr_t)f->address;
    if (bytes)
        kmm__text_say(t, ": it is %llu bytes behind a null pointer", bytes);
    else
        kmm__text_say(t, ": it is a null pointer");
}

/* An address in the array that names it, at which nothing is mapped. */
static void say_name(kmm__text_t *t, const kmm__fault_t *f, const kmm__array_t *a)
{
    kmm__text_say(
        t,
        "nothing is mapped at %p, byte %zu of the array %s%sof %zu bytes at %p: an array is used "
        "in launches whose arguments name it, in tasks and in calls of the runtime, and not by "
        "addresses that a kernel finds in memory, or elsewhere",
        (const void *)f->address, (size_t)(f->address - a->base), a->label ? a->label : "",
        a->label ? " " : "", a->bytes, (void *)a->base);
}

static bool is_null(const kmm__fault_t *f)
{
    return f->has_address && (uintptr_t)f->address < NEAR_NULL;
}

static kmm__nearest_t nearest(const kmm__fault_t *f, const kmm__running_t *running)
{
    const kmm__task_t *task = running->tasks[0];
    kmm__nearest_t n = {0};
    if (f->has_address && !is_null(f))
        kmm__nearest_find(task->runtime, task, f->address, &n);
    return n;
}

/* What happened, to the end of the line. Memory may follow the stack of a thread that kmm does not
 * know at once. */
static size_t say_what(kmm__text_t *t, const kmm__fault_t *f, const kmm__running_t *running,
                       bool is_known)
{
    kmm__nearest_t n = nearest(f, running);
    if (n.is_inside && n.is_name) {
        say_name(t, f, n.array);
        return end(t);
    }
    say_access(t, f);
    if (is_null(f))
        say_null(t, f);
    else if (f->fills_stack && !n.is_inside && is_known)
        kmm__text_say(t, ": it is just beyond the thread's stack, which is full");
    else
        say_nearest(t, f, &n, running);
    if (f->fills_stack && !n.is_inside && !is_known)
        kmm__text_say(t, "; or the thread's stack, which is near, is full");
    return end(t);
}

size_t kmm__fault_in_chunks(const kmm__fault_t *f, const kmm__running_t *running, char *out,
                            size_t size)
{
    kmm__text_t t = {out, size, 0};
    kmm__text_say(&t, f->may_be_mended ? "kmm: note: " : "kmm: error: ");
    say_where(&t, running);
    return say_what(&t, f, running, true);
}

/* The first whose launch uses the array in which the address is, or else the first of all. */
static const kmm__running_t *choose(const kmm__fault_t *f, const kmm__running_t *others,
                                    uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        kmm__nearest_t n = nearest(f, &others[k]);
        if (n.is_inside && kmm__nearest_item(others[k].tasks[0], n.array) < KMM__MAX_ITEMS)
            return &others[k];
    }
    return others;
}

size_t kmm__fault_beside_chunks(const kmm__fault_t *f, const kmm__running_t *others, uint32_t count,
                                char *out, size_t size)
{
    kmm__text_t t = {out, size, 0};
    const kmm__running_t *r = choose(f, others, count);
    kmm__text_say(&t, "kmm: error: ");
    say_where(&t, r);
    kmm__text_say(&t, "in a thread that kmm does not know, such as one that ");
    if (count > 1)
        kmm__text_say(&t, "this chunk, or another of the %u that run now, has started: ", count);
    else
        kmm__text_say(&t, "the chunk has started: ");
    return say_what(&t, f, r, false);
}

size_t kmm__fault_elsewhere(const kmm__fault_t *f, kmm_runtime_t *rt, char *out, size_t size)
{
    kmm__text_t t = {out, size, 0};
    kmm__nearest_t n;
    kmm__nearest_find(rt, NULL, f->address, &n);
    bool is_gone = !n.is_inside && kmm__nearest_was_array(rt, f->address);
    if (!n.is_inside && !is_gone)
        return 0;
    kmm__text_say(&t, "kmm: error: ");
    if (is_gone) {
        say_access(&t, f);
        kmm__text_say(
            &t,
            ": an array was there on a device, and has ended; a function has kept a pointer that "
            "a chunk was given, which is valid only in that chunk");
    } else if (n.is_name) {
        say_name(&t, f, n.array);
    } else {
        say_access(&t, f);
        kmm__text_say(&t, ": it is byte %lld of ", (long long)(f->address - n.at));
        say_array(&t, &n, NULL);
    }
    return end(&t);
}

size_t kmm__fault_ended(const kmm__running_t *running, char *out, size_t size)
{
    kmm__text_t t = {out, size, 0};
    kmm__text_say(&t, "kmm: error: ");
    say_where(&t, running);
    kmm__text_say(&t,
                  "the chunk has ended its thread, which is one of kmm's; return from the function "
                  "instead of calling pthread_exit");
    return end(&t);
}
