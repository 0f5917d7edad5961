/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the tasks that KMM_DOT draws. All but the functions that start it run on the tracer. */
#include "observe/dot.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "observe/trace_file.h"

enum { BUCKETS = 4096, STREAMS = 1024, ARRAYS = 1 << 12 };

static kmm__dot_graph_t *graph;
static char *file;                   /* its name */
static long first_line, last_line;   /* the window; last_line 0: all tasks */
static uint16_t index_of[BUCKETS];   /* number of a task -> its place in the graph + 1 */
static uint64_t stream_end[STREAMS]; /* when a stream's last task has ended */
/* The array that a pointer stands for now, by a hash. */
static struct {
    uint64_t pointer, array;
} arrays[ARRAYS];

/* The entry of a task, or the free one where it would be. */
static uint16_t *entry_of(uint64_t task)
{
    uint32_t k = (uint32_t)(task * 0x9e3779b1u % BUCKETS);
    while (index_of[k] && graph->tasks[index_of[k] - 1].submitted.task != task)
        k = (k + 1) % BUCKETS;
    return &index_of[k];
}

static kmm__dot_task_t *task_of(const kmm__event_t *e)
{
    const uint16_t index = *entry_of(e->task);
    return index ? &graph->tasks[index - 1] : NULL;
}

static void submitted(const kmm__event_t *e)
{
    const long line = (long)(uint32_t)e->b;
    if (last_line && (!e->file || line < first_line || line > last_line))
        return;
    if (graph->count == KMM__DOT_TASKS) {
        graph->left_out++;
        return;
    }
    uint16_t *entry = entry_of(e->task);
    graph->tasks[graph->count++] = (kmm__dot_task_t){.submitted = *e};
    *entry = (uint16_t)graph->count;
}

/* The entry of a pointer, or the one that it replaces. */
static uint32_t array_entry(uint64_t pointer)
{
    uint32_t k = (uint32_t)(pointer / 64 % ARRAYS);
    for (uint32_t n = 0; n < ARRAYS && arrays[k].pointer && arrays[k].pointer != pointer; n++)
        k = (k + 1) % ARRAYS;
    return k;
}

static void access_of(const kmm__event_t *e)
{
    kmm__traced_access_t *a = (kmm__traced_access_t *)(uintptr_t)e->text;
    kmm__dot_task_t *t = task_of(e);
    if (!t) {
        free(a);
        return;
    }
    t->accesses = kmm__grow(t->accesses, t->count, &t->capacity, sizeof(void *));
    t->arrays = kmm__grow(t->arrays, t->count, &t->arrays_capacity, sizeof(*t->arrays));
    t->arrays[t->count] = arrays[array_entry((uintptr_t)a->array)].array;
    t->accesses[t->count++] = a;
}

static void array(const kmm__event_t *e)
{
    const uint32_t k = array_entry(e->c);
    arrays[k].pointer = e->c;
    arrays[k].array = e->a;
}

static void device(const kmm__event_t *e)
{
    while (graph->device_count <= e->device) {
        graph->devices = kmm__grow(graph->devices, graph->device_count, &graph->device_capacity,
                                   sizeof(*graph->devices));
        graph->devices[graph->device_count++] = NULL;
    }
    graph->devices[e->device] = e->text;
}

/* The time of a task's run is from when its stream has come to it. */
static void run_begin(const kmm__event_t *e)
{
    kmm__dot_task_t *t = task_of(e);
    if (t)
        t->begin = kmm__event_at(e);
}

static void run_end(const kmm__event_t *e)
{
    uint64_t *last = &stream_end[(e->device * 64u + e->a) % STREAMS];
    kmm__dot_task_t *t = task_of(e);
    if (t) {
        t->begin = t->begin > *last ? t->begin : *last;
        t->end = kmm__event_at(e);
    }
    *last = kmm__event_at(e);
}

static void call_end(const kmm__event_t *e)
{
    kmm__dot_task_t *t = task_of(e);
    if (t)
        t->end = e->time;
}

/* A task that was joined to another one has run in the same kernel. */
static void joined(const kmm__event_t *e)
{
    kmm__dot_task_t *t = task_of(e);
    if (t)
        t->joined = e->a;
}

static void done(const kmm__event_t *e)
{
    kmm__dot_task_t *t = task_of(e);
    if (t)
        t->has_failed = e->a != 0;
}

static void on_event(const kmm__event_t *e)
{
    switch ((kmm__event_kind_t)e->kind) {
    case KMM__EVENT_DEVICE: device(e); return;
    case KMM__EVENT_SUBMITTED: submitted(e); return;
    case KMM__EVENT_ACCESS: access_of(e); return;
    case KMM__EVENT_ARRAY: array(e); return;
    case KMM__EVENT_JOINED: joined(e); return;
    case KMM__EVENT_RUN_ENQUEUED:
    case KMM__EVENT_RUN_BEGIN:
    case KMM__EVENT_CALL_BEGIN: run_begin(e); return;
    case KMM__EVENT_RUN_END: run_end(e); return;
    case KMM__EVENT_CALL_END: call_end(e); return;
    case KMM__EVENT_DONE: done(e); return;
    default: return;
    }
}

static void on_flush(void) {}

static void on_end(void)
{
    int error = kmm__dot_write(graph, file);
    if (error)
        kmm__log(KMM__LOG_WARNING, "KMM_DOT=%s: %s", file, strerror(error));
}

/* ---- The start ---- */

static const kmm__listener_t listener = {
    .event = on_event, .flush = on_flush, .end = on_end, .wants_accesses = true};

/* Reads "120:140" or "120". */
static bool parse_lines(const char *text)
{
    char *end;
    first_line = last_line = strtol(text, &end, 10);
    if (end != text && *end == ':')
        last_line = strtol(text = end + 1, &end, 10);
    return end != text && !*end && first_line > 0 && last_line >= first_line;
}

/* In a forked process, whose graph is another one. */
static void forget(void)
{
    memset(index_of, 0, sizeof(index_of));
    memset(stream_end, 0, sizeof(stream_end));
    memset(arrays, 0, sizeof(arrays));
    first_line = last_line = 0;
}

int kmm__dot_start(void)
{
    const char *name = getenv("KMM_DOT"), *lines = getenv("KMM_DOT_LINES");
    if (!name || !*name)
        return 0;
    forget();
    if (lines && *lines && !parse_lines(lines))
        return kmm__error_set(KMM_E_INVALID,
                              "KMM_DOT_LINES=%s: neither a line, such as 120, nor lines, such as "
                              "120:140",
                              lines);
    graph = kmm__alloc(sizeof(*graph));
    file = kmm__trace_name(name);
    return kmm__trace_listen(&listener) ? kmm__error_set(KMM_E_MEMORY, "no thread for KMM_DOT") : 0;
}
