/* SPDX-License-Identifier: Apache-2.0 */
/* The trace point of a task's submission, and ranges of tasks. */
#include "task/traced.h"

#include <string.h>

#include "base/alloc.h"
#include "base/range.h"
#include "base/trace.h"

/* Pushes an event for each access of t but those of abstract objects. */
static void trace_accesses(const kmm__task_t *t)
{
    const kmm__work_t *w = t->work;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (kmm__object_of(a->array)->is_abstract)
            continue;
        const char *item = a->item < w->item_count ? w->item_text[a->item] : NULL;
        kmm__traced_access_t *copy = kmm__alloc(sizeof(*copy));
        *copy = (kmm__traced_access_t){.array = a->array,
                                       .item = item,
                                       .mode = a->mode,
                                       .element = a->element,
                                       .layout = *a->layout,
                                       .box = a->box};
        kmm__trace_push(&(kmm__event_t){
            .kind = KMM__EVENT_ACCESS, .task = kmm__task_number(t), .text = (const char *)copy});
    }
}

void kmm__trace_submitted(const kmm__task_t *t)
{
    kmm__work_t *w = t->work;
    if (!w->traced_name) {
        w->traced_name = kmm__trace_text(w->name ? w->name : "?");
        w->traced_file = kmm__trace_text(w->file);
    }
    kmm__trace_push(&(kmm__event_t){.kind = KMM__EVENT_SUBMITTED,
                                    .mode = w->operation || w->is_own,
                                    .device = t->device->number,
                                    .task = kmm__task_number(t),
                                    .text = w->traced_name,
                                    .file = w->traced_file,
                                    .a = (uint64_t)t->part.chunk << 32 | t->part.last_chunk,
                                    .b = (uint64_t)w->chunk_count << 32 | (uint32_t)w->line,
                                    .c = ((uint64_t)t->runtime->number << 40) + w->id});
    if (kmm__tracing_accesses())
        trace_accesses(t);
}

void kmm__range_begin(kmm__task_t *const *tasks, uint32_t count)
{
    const kmm__work_t *w = tasks[0]->work;
    const char *slash = w->file ? strrchr(w->file, '/') : NULL;
    uint32_t first = UINT32_MAX, last = 0;
    char text[1024];
    for (uint32_t k = 0; k < count; k++) {
        const kmm__task_part_t *p = &tasks[k]->part;
        first = p->chunk < first ? p->chunk : first;
        last = p->last_chunk > last ? p->last_chunk : last;
    }
    kmm__work_describe(w, first, last, text, sizeof(text));
    const size_t folders = slash ? (size_t)(slash + 1 - w->file) : 0;
    kmm__ranges->begin(folders < strlen(text) ? text + folders : text);
}

void kmm__range_end(void)
{
    kmm__ranges->end();
}
