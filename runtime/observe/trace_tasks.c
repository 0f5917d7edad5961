/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the tasks and arrays of a trace. */
#include "observe/trace_tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "observe/json.h"

enum { BUCKETS = 1 << 15, ENDS = 1 << 14, ARRAYS = 1 << 10, PLACES = 256 };

static kmm__traced_task_t *buckets[BUCKETS], *spare;
static kmm__traced_array_t *arrays[ARRAYS];
static kmm__traced_end_t ends[ENDS]; /* of task k, at k % ENDS */

static kmm__traced_task_t **bucket_of(uint64_t task)
{
    kmm__traced_task_t **at = &buckets[task % BUCKETS];
    while (*at && (*at)->task != task)
        at = &(*at)->next;
    return at;
}

/* ---- Labels ---- */

/* How the tasks of a place in the source are called. */
typedef struct place {
    const char *name, *file;
    uint32_t line;
    const char *label, *quoted_file;
} place_t;
static place_t places[PLACES]; /* those that were used last, by a hash */

static const char *quoted(const char *text)
{
    kmm__json_t j = {0};
    kmm__json_string(&j, text);
    kmm__json_bytes(&j, "", 1);
    const char *result = kmm__trace_text(j.text);
    free(j.text);
    return result;
}

static const place_t *place_of(const char *name, const char *file, uint32_t line)
{
    char text[256];
    place_t *p = &places[((uintptr_t)name / 8 + (uintptr_t)file / 8 + line) % PLACES];
    if (p->label && p->name == name && p->file == file && p->line == line)
        return p;
    const char *slash = file ? strrchr(file, '/') : NULL;
    snprintf(text, sizeof(text), "%s (%s:%u)", name, slash ? slash + 1 : file ? file : "", line);
    *p = (place_t){name, file, line, quoted(file ? text : name), file ? quoted(file) : NULL};
    return p;
}

/* ---- Tasks ---- */

kmm__traced_task_t *kmm__traced_task_add(const kmm__event_t *e)
{
    const place_t *p = place_of(e->text, e->file, (uint32_t)e->b);
    kmm__traced_task_t *t = spare ? spare : kmm__alloc(sizeof(*t));
    spare = spare ? spare->next : NULL;
    *t = (kmm__traced_task_t){.task = e->task,
                              .label = p->label,
                              .file = p->quoted_file,
                              .line = (uint32_t)e->b,
                              .chunk = (uint32_t)(e->a >> 32),
                              .last_chunk = (uint32_t)e->a,
                              .chunks = (uint32_t)(e->b >> 32),
                              .device = e->device,
                              .is_operation = e->mode,
                              .work = e->c,
                              .submitted = e->time,
                              .next = buckets[e->task % BUCKETS]};
    buckets[e->task % BUCKETS] = t;
    return t;
}

kmm__traced_task_t *kmm__traced_task_find(uint64_t task)
{
    return *bucket_of(task);
}

void kmm__traced_task_remove(uint64_t task)
{
    kmm__traced_task_t **at = bucket_of(task), *t = *at;
    if (!t)
        return;
    *at = t->next;
    t->next = spare;
    spare = t;
}

void kmm__traced_end_add(const kmm__traced_end_t *end)
{
    ends[end->task % ENDS] = *end;
}

const kmm__traced_end_t *kmm__traced_end_find(uint64_t task)
{
    const kmm__traced_end_t *end = &ends[task % ENDS];
    return end->task == task ? end : NULL;
}

static kmm__traced_array_t **array_of(uint64_t array)
{
    kmm__traced_array_t **at = &arrays[array % ARRAYS];
    while (*at && (*at)->array != array)
        at = &(*at)->next;
    return at;
}

void kmm__traced_array_add(const kmm__event_t *e)
{
    kmm__traced_array_t **bucket = &arrays[e->a % ARRAYS], *a = kmm__alloc(sizeof(*a));
    *a = (kmm__traced_array_t){.array = e->a, .label = e->text, .bytes = e->b, .next = *bucket};
    *bucket = a;
}

const kmm__traced_array_t *kmm__traced_array_find(uint64_t array)
{
    return *array_of(array);
}

void kmm__traced_array_remove(uint64_t array)
{
    kmm__traced_array_t **at = array_of(array), *a = *at;
    if (!a)
        return;
    *at = a->next;
    free(a);
}

void kmm__traced_forked(void)
{
    memset(arrays, 0, sizeof(arrays));
    memset(buckets, 0, sizeof(buckets));
    memset(ends, 0, sizeof(ends));
    spare = NULL;
}
