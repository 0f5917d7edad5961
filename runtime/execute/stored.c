/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers that plain functions store to memory, or find there. */
#include "execute/stored.h"

#include <stdio.h>
#include <string.h>

#include "execute/failure.h"
#include "execute/kernel.h"
#include "memory/array.h"

enum {
    WORD = sizeof(uint64_t),
    LOWEST = 4096,    /* nothing is ever mapped below */
    AT_ONCE = 1 << 16 /* bytes that are searched before the lock is free for others */
};

/* One pass over the words of an access. */
typedef struct walk {
    kmm__task_t *task;
    const kmm__access_t *access;
    int64_t step;              /* bytes from a word to the next one: WORD, or 1 in packed structs */
    const kmm__array_t *found; /* the array into which a word points; NULL: none so far */
} walk_t;

static uint64_t load(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

static bool is_of(uint64_t items, const kmm__access_t *a)
{
    return a->item < KMM__MAX_ITEMS && items >> a->item & 1;
}

static walk_t walk_of(kmm__task_t *t, const kmm__access_t *a)
{
    return (walk_t){.task = t, .access = a, .step = is_of(t->work->packed, a) ? 1 : WORD};
}

/* Calls fn with [at, end) for the words of each row, until it returns another value than 0. */
static int each_row(walk_t *w, const kmm__rows_t *rows,
                    int (*fn)(walk_t *w, char *at, const char *end))
{
    char *base = (char *)(uintptr_t)kmm__chunk_address(w->task, w->access->array);
    int stopped = 0;
    for (int64_t k = 0; k < rows->count && !stopped; k++) {
        char *at = base + rows->offset + k * rows->pitch, *end = at + rows->width;
        at += -(uintptr_t)at & (uintptr_t)(w->step - 1);
        stopped = fn(w, at, end);
    }
    return stopped;
}

/* ---- Before the call ---- */

/* True if a chunk finds the array elsewhere than where the program does. */
static bool is_elsewhere(const kmm__task_t *t, const kmm__array_t *a)
{
    return t->issue.check || t->device->space != KMM__HOST || a->host != a->base;
}

static int find_pointer(walk_t *w, char *at, const char *end)
{
    kmm_runtime_t *rt = w->task->runtime;
    while (at + WORD <= end && !w->found) {
        const char *stop = end - at > AT_ONCE ? at + AT_ONCE : end;
        pthread_mutex_lock(&rt->lock);
        for (; at < stop && at + WORD <= end && !w->found; at += w->step) {
            uint64_t word = load(at);
            const kmm__array_t *a =
                word < LOWEST ? NULL : kmm__array_find(rt, (const void *)(uintptr_t)word);
            w->found = a && is_elsewhere(w->task, a) ? a : NULL;
        }
        pthread_mutex_unlock(&rt->lock);
    }
    return w->found != NULL;
}

static int find_in_rows(void *arg, const kmm__rows_t *rows)
{
    return each_row(arg, rows, find_pointer);
}

static void refuse(const walk_t *w)
{
    char text[400];
    const kmm__array_t *a = w->found;
    pthread_mutex_lock(&w->task->runtime->lock);
    snprintf(text, sizeof(text),
             "its memory holds a pointer into the array %s%sat %p, which has another address on "
             "this device; pass the pointer as an argument, or in a struct by value",
             a->label ? a->label : "", a->label ? " " : "", (void *)a->base);
    kmm__task_blame(w->task, w->access->item);
    kmm__fail(w->task, KMM_E_ADDRESS, text);
    pthread_mutex_unlock(&w->task->runtime->lock);
}

bool kmm__stored_check(kmm__task_t *t)
{
    for (uint32_t k = 0; k < t->access_count; k++) {
        walk_t w = walk_of(t, &t->accesses[k]);
        if (w.access->mode == KMM_WRITE || !is_of(t->work->followed, w.access))
            continue;
        kmm__layout_rows(w.access->layout, &w.access->box, find_in_rows, &w);
        if (w.found) {
            refuse(&w);
            return false;
        }
    }
    return true;
}

/* ---- After the call ---- */

/* Returns the address that the program knows for one that the function got; the same if it got
 * none. The end of an array is taken for its own where no other begins there. */
static uint64_t name_of(const kmm__task_t *t, uint64_t word)
{
    const kmm__work_t *w = t->work;
    uint64_t at_end = word;
    for (uint32_t k = 0; k < w->pointer_count; k++) {
        const kmm__array_t *a = w->pointers[k].array;
        uint64_t begin = kmm__chunk_address(t, a), name = (uint64_t)(uintptr_t)a->base;
        if (w->pointers[k].partials >= 0)
            continue;
        if (word >= begin && word - begin < a->bytes)
            return name + (word - begin);
        if (word - begin == a->bytes)
            at_end = name + a->bytes;
    }
    return at_end;
}

static int name_words(walk_t *w, char *at, const char *end)
{
    for (int64_t step; at + WORD <= end; at += step) {
        uint64_t word = load(at), name = word < LOWEST ? word : name_of(w->task, word);
        step = name == word ? w->step : WORD;
        if (name != word)
            memcpy(at, &name, sizeof(name));
    }
    return 0;
}

static int name_in_rows(void *arg, const kmm__rows_t *rows)
{
    return each_row(arg, rows, name_words);
}

void kmm__stored_name(kmm__task_t *t)
{
    for (uint32_t k = 0; k < t->access_count; k++) {
        walk_t w = walk_of(t, &t->accesses[k]);
        if (w.access->mode != KMM_READ && is_of(t->work->pointed, w.access))
            kmm__layout_rows(w.access->layout, &w.access->box, name_in_rows, &w);
    }
}
