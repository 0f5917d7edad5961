/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of tasks that fail and of devices that are lost. */
#include "execute/failure.h"

#include <stdio.h>

#include "base/error.h"
#include "execute/batch.h"
#include "execute/queue.h"
#include "task/ticket.h"

void kmm__fail(kmm__task_t *t, int error, const char *why)
{
    char where[320];
    const kmm__work_t *w = t->work;
    kmm__task_describe(t, where, sizeof(where));
    kmm__task_fail(t, error);
    if (t->failed_item < w->item_count)
        kmm__error_note(t->device->runtime, error, "%s: argument %s: %s", where,
                        w->item_text[t->failed_item], why);
    else
        kmm__error_note(t->device->runtime, error, "%s: %s", where, why);
}

const char *kmm__fail_reason(const kmm__device_t *d, int error)
{
    return kmm__error_is_of_disk(error) ? kmm__error_get() : d->backend->error_text(d->backend);
}

void kmm__fail_copy(kmm__task_t *t, int error, const kmm__device_t *from)
{
    char why[320];
    snprintf(why, sizeof(why), "its data could not be copied from %s to the host: %s",
             from->info.name, from->backend->error_text(from->backend));
    kmm__fail(t, error, why);
}

void kmm__fail_doubt(const kmm__task_t *t, int error)
{
    kmm__device_doubt(t->device, t->order.ticket->shared ? t->order.ticket->shared->event : NULL,
                      error);
}

/* ---- The loss of a device ---- */

enum { SUSPECTS = 4 };

/* Launches that had been issued and were not known to be over when the device was lost. */
typedef struct suspects {
    const kmm__task_t *task[SUSPECTS]; /* the first of each launch */
    uint32_t count;                    /* of these */
    uint32_t chunks;                   /* of all launches */
    bool more;                         /* launches than these */
} suspects_t;

static bool is_same_launch(const kmm__work_t *a, const kmm__work_t *b)
{
    return a->name == b->name && a->file == b->file && a->line == b->line;
}

static void suspect(suspects_t *s, const kmm__task_t *t)
{
    uint32_t k = 0;
    while (k < s->count && !is_same_launch(s->task[k]->work, t->work))
        k++;
    s->more |= k == SUSPECTS;
    if (k == s->count && k < SUSPECTS)
        s->task[s->count++] = t;
    s->chunks += t->part.last_chunk - t->part.chunk + 1;
}

/* "a.cu:3: scale: chunk 2 of 8", or "a.cu:3: scale: one of 5 chunks, the first of them chunk 2 of
 * 8", or "a.cu:3: scale or a.cu:7: add: one of 9 chunks" */
static void name_suspects(const suspects_t *s, char *text, size_t size)
{
    const kmm__task_t *t = s->task[0];
    size_t n = 0;
    if (s->count == 1 && t->part.last_chunk - t->part.chunk + 1 == s->chunks) {
        kmm__task_describe(t, text, size);
        return;
    }
    for (uint32_t k = 0; k < s->count && n < size; k++) {
        const kmm__work_t *w = s->task[k]->work;
        n += (size_t)snprintf(text + n, size - n, "%s", k ? " or " : "");
        if (w->file && n < size)
            n += (size_t)snprintf(text + n, size - n, "%s:%d: ", w->file, w->line);
        if (n < size)
            n += (size_t)snprintf(text + n, size - n, "%s", w->name);
    }
    if (s->more && n < size)
        n += (size_t)snprintf(text + n, size - n, " or another");
    if (n < size)
        n += (size_t)snprintf(text + n, size - n, ": one of %u chunks", s->chunks);
    if (n < size && s->count == 1)
        snprintf(text + n, size - n, ", the first of them chunk %u of %u", t->part.chunk,
                 t->work->chunk_count);
}

void kmm__note_fault(kmm__device_t *d, int error)
{
    char text[400];
    const char *why = d->backend->error_text(d->backend);
    const char *remedy =
        d->backend->kind == KMM_KIND_CUDA ? "; compute-sanitizer finds which of them" : "";
    suspects_t s = {0};
    for (const kmm__batch_t *b = d->queue->under_way; b; b = b->next)
        for (uint32_t k = 0; k < b->count; k++)
            suspect(&s, b->tasks[k]);
    if (s.count == 0)
        return;
    name_suspects(&s, text, sizeof(text));
    kmm__error_note(d->runtime, error, "%s: %s%s", text, why, s.count > 1 ? remedy : "");
}
