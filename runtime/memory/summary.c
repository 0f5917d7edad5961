/* SPDX-License-Identifier: Apache-2.0 */
/* Coherence summaries: facts about the coherence of a whole array. */
#include "memory/summary.h"

#include "memory/holders.h"

/* True if the space holds the newest value, or a task that t follows will have written it there.
 * The DAG orders tasks, but only this check waits for copies. */
static bool is_there(const kmm_runtime_t *rt, const kmm__holders_t *h, uint32_t space)
{
    const kmm__ticket_t *t = h->ready[space];
    bool copied = !t || !t->is_copy || (t->state == KMM__TICKET_DONE && !t->error);
    return copied && (h->valid == 0 || kmm__holders_valid(rt, h) >> space & 1);
}

typedef struct survey {
    const kmm_runtime_t *runtime;
    const kmm__device_t *device;
    uint32_t space;
} survey_t;

static int lies_elsewhere(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    const survey_t *s = arg;
    return !is_there(s->runtime, value, s->space);
}

/* True for a part that another space holds, that nobody holds, or that was written on another
 * stream than the device's one compute stream. */
static int lies_not_only_here(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    const survey_t *s = arg;
    const kmm__holders_t *h = value;
    if (h->valid != 1u << s->space)
        return 1;
    for (uint32_t k = 0; k < s->runtime->space_count; k++)
        if (h->ready[k] && h->ready[k]->state != KMM__TICKET_DONE &&
            (k != s->space || h->ready[k]->stream != s->device->compute_streams[0].stream))
            return 1;
    return !is_there(s->runtime, h, s->space);
}

static bool map_has_none(kmm__array_t *a, kmm__map_visit_fn *fn, survey_t *s)
{
    kmm__box_t all = kmm__layout_whole(&a->coherence.layout);
    return kmm__map_visit(a->coherence.map, &all, fn, s) == 0;
}

bool kmm__array_starts_empty(const kmm__array_t *a, const kmm__task_t *t)
{
    return a->is_mapped && (a->map == KMM_MAP_FROM || a->map == KMM_MAP_ALLOC) &&
           t->sequence < a->map_end;
}

/* Counts the bytes. When as many were found in the space as the array has, the whole map is visited
 * once, and the space may be recorded as one that holds everything. */
void kmm__coherence_summary_note_seen(kmm__array_t *a, const kmm__task_t *t, const kmm__box_t *box)
{
    kmm__coherence_summary_t *s = &a->summary;
    survey_t survey = {t->runtime, t->device, t->device->space};
    /* reading what nobody has written is an error, which only the map shows */
    if (kmm__array_starts_empty(a, t))
        return;
    s->seen = (s->seen_in == survey.space ? s->seen : 0) + (uint64_t)kmm__box_volume(box);
    s->seen_in = survey.space;
    if (s->seen < a->bytes)
        return;
    s->seen = 0;
    if (map_has_none(a, lies_elsewhere, &survey))
        s->whole |= 1u << survey.space;
}

/* Counts the bytes. When one device has written twice as many bytes as the array has, the map
 * becomes one leaf: on one stream, writers need not be told apart. That is not done after the first
 * time, which may be the only one. Then each part can be copied to where it is needed, such as the
 * host, as soon as it is written. */
void kmm__coherence_summary_note_written(kmm__array_t *a, kmm__task_t *t, const kmm__box_t *box)
{
    kmm__coherence_summary_t *s = &a->summary;
    survey_t survey = {t->runtime, t->device, t->device->space};
    kmm__holders_t value = {.valid = 1u << survey.space};
    s->whole &= 1u << survey.space;
    s->written = (s->writer == t->device ? s->written : 0) + (uint64_t)kmm__box_volume(box);
    s->writer = t->device;
    if (s->written < 2 * a->bytes || survey.space == KMM__HOST ||
        t->device->compute_stream_count > 1 || t->runtime->memory->spill)
        return;
    s->written = 0;
    if (!map_has_none(a, lies_not_only_here, &survey))
        return;
    kmm__box_t all = kmm__layout_whole(&a->coherence.layout);
    kmm__map_assign(a->coherence.map, &all, &value);
    s->sole = t->device;
    s->last = t->order.ticket;
    kmm__ticket_ref(s->last);
    s->whole = 1u << survey.space;
}

bool kmm__coherence_summary_writes_sole(kmm__array_t *a, kmm__task_t *t)
{
    kmm__coherence_summary_t *s = &a->summary;
    if (!s->sole || s->sole != t->device ||
        t->order.ticket->stream != t->device->compute_streams[0].stream)
        return false;
    kmm__ticket_ref(t->order.ticket);
    kmm__ticket_unref(s->last);
    s->last = t->order.ticket;
    return true;
}

static int tell_last(void *arg, const kmm__box_t *part, void *value)
{
    (void)part;
    const kmm__coherence_summary_t *s = arg;
    kmm__holders_t *h = value;
    kmm__ticket_ref(s->last);
    kmm__ticket_unref(h->ready[s->sole->space]);
    h->ready[s->sole->space] = s->last;
    return 0;
}

void kmm__coherence_summary_end(kmm__array_t *a)
{
    kmm__coherence_summary_t *s = &a->summary;
    kmm__box_t all = kmm__layout_whole(&a->coherence.layout);
    s->seen = s->written = 0;
    if (!s->sole)
        return;
    kmm__map_update(a->coherence.map, &all, tell_last, s);
    s->sole = NULL;
    kmm__ticket_unref(s->last);
    s->last = NULL;
}

void kmm__coherence_summary_free(kmm__array_t *a)
{
    kmm__ticket_unref(a->summary.last);
    a->summary = (kmm__coherence_summary_t){0};
}

bool kmm__coherence_summary_is_there(kmm__array_t *a, uint32_t space)
{
    survey_t survey = {a->runtime, NULL, space};
    kmm__coherence_summary_end(a);
    return map_has_none(a, lies_elsewhere, &survey);
}
