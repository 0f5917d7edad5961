/* SPDX-License-Identifier: Apache-2.0 */
/* Eviction of pages. The victim is the page that has been idle longest. It is written only if only
 * the host holds some element of it and the spill file does not have its contents. */
#include "memory/disk/evict.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "memory/disk/job.h"
#include "memory/holders.h"

typedef struct judge {
    const kmm_runtime_t *runtime;
    bool host, alone; /* the host holds some element; it alone holds some element */
} judge_t;

static int judge_part(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    judge_t *j = arg;
    const kmm__holders_t *h = value;
    uint32_t valid = kmm__holders_valid(j->runtime, h);
    bool elsewhere = false;
    if (!(valid & 1u << KMM__HOST))
        return 0;
    for (uint32_t s = 1; valid >> s; s++)
        elsewhere |= (valid >> s & 1) && (!h->ready[s] || h->ready[s]->state == KMM__TICKET_DONE);
    j->host = true;
    j->alone |= !elsewhere;
    return j->alone;
}

static int drop_holder(void *arg, const kmm__box_t *part, void *value)
{
    (void)arg, (void)part;
    kmm__holders_t *h = value;
    kmm__ticket_unref(h->ready[KMM__HOST]);
    h->ready[KMM__HOST] = NULL;
    h->valid &= ~(1u << KMM__HOST);
    return 0;
}

static int page_boxes(const kmm__page_t *s, kmm__box_t out[2 * KMM__DIMS])
{
    int64_t begin = (int64_t)(s->index * s->array->runtime->memory->spill->page_bytes),
            end = begin + (int64_t)kmm__page_bytes(s);
    if (end > (int64_t)s->array->bytes)
        end = (int64_t)s->array->bytes;
    return kmm__layout_split(&s->array->coherence.layout, begin, end, out);
}

static judge_t judge(const kmm__page_t *s)
{
    judge_t j = {s->array->runtime, s->planned_reads > 0, s->planned_reads > 0};
    kmm__box_t boxes[2 * KMM__DIMS];
    int n = page_boxes(s, boxes);
    for (int b = 0; b < n && !j.alone; b++)
        kmm__map_visit(s->array->coherence.map, &boxes[b], judge_part, &j);
    return j;
}

bool kmm__page_matters(const kmm__page_t *s)
{
    return judge(s).host;
}

/* True if an idle page need not be written: it is clean, its array is dead, or other spaces hold
 * all of it. In the last case the host is no longer a holder. */
static bool can_drop(kmm__page_t *s)
{
    kmm__box_t boxes[2 * KMM__DIMS];
    if (s->clean || s->array->refs == 0)
        return true;
    judge_t j = judge(s);
    if (j.alone)
        return false;
    int n = j.host ? page_boxes(s, boxes) : 0;
    if (n)
        s->array->summary.whole &= ~(1u << KMM__HOST);
    for (int b = 0; b < n; b++)
        kmm__map_update(s->array->coherence.map, &boxes[b], drop_holder, NULL);
    return true;
}

/* Looks at pages from the one that has been idle longest. */
bool kmm__pages_evict(kmm__spill_t *p, bool unwritten_only)
{
    for (kmm__page_t *s = p->idle_head; s; s = s->next) {
        bool unwritten = can_drop(s);
        if (!unwritten && (unwritten_only || s->slot_readers))
            continue;
        kmm__page_begin_evict(p, s);
        if (unwritten && !s->clean)
            p->stats.dropped += kmm__page_bytes(s);
        kmm__job_push(p, unwritten ? KMM__JOB_RELEASE : KMM__JOB_WRITE, s, NULL);
        return true;
    }
    return false;
}

/* Keeps 1/KMM__SPILL_EARLY_PART of the limit free. */
void kmm__pages_evict_early(kmm__spill_t *p)
{
    while (p->resident - p->evicting + p->limit / KMM__SPILL_EARLY_PART > p->limit &&
           kmm__pages_evict(p, false))
        continue;
}

static int write_error(kmm__spill_t *p)
{
    bool full = p->write_error == ENOSPC || p->write_error == EDQUOT || p->write_error == EFBIG;
    return kmm__error_set(
        full ? KMM_E_DISK_FULL : KMM_E_IO,
        "%s: %llu bytes of host memory could not be written there: %s; %llu bytes are stored "
        "there, "
        "and KMM_HOST_MEM allows %llu in memory",
        kmm__disk_folder(p->disk), (unsigned long long)p->page_bytes, strerror(p->write_error),
        (unsigned long long)(uint64_t)(p->slot_count - p->free_count) * p->page_bytes,
        (unsigned long long)p->limit);
}

int kmm__room_make(kmm__spill_t *p, uint64_t bytes)
{
    uint64_t failures = p->failures;
    while (p->resident + bytes > p->limit) {
        bool failed = p->failures != failures;
        if (p->resident - p->evicting + bytes > p->limit && kmm__pages_evict(p, failed))
            continue;
        if (failed && p->evicting == 0)
            return write_error(p);
        kmm__cond_wait(&p->changed, &p->runtime->lock);
    }
    return 0;
}
