/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks of later launches run while their data is on the device only if these launches have been
 * submitted. A program that waits in each step has nothing of the next step submitted, so each step
 * brings all data again. One note of a runtime tells where that is, once it has been seen WAITS
 * times in a row.
 */
#include "memory/residency/lookahead.h"

#include <stdio.h>

#include "base/log.h"
#include "base/units.h"

/* A wait counts if a program has submitted 1 to LAUNCHES launches since the one before, the last of
 * them at the same place, and if devices have evicted 1 / PART of their memory meanwhile. */
enum { WAITS = 4, LAUNCHES = 8, PART = 4 };

void kmm__lookahead_begin(const kmm__task_t *t)
{
    kmm__lookahead_t *a = &t->runtime->memory->lookahead;
    if (a->is_said || a->work_id == t->work_id + 1)
        return;
    a->work_id = t->work_id + 1;
    a->launches++;
    if (!t->work->file)
        return;
    a->file = t->work->file;
    a->line = t->work->line;
    a->device = t->device;
}

/* Adds up what the devices with little memory have evicted. Returns the bytes of their memory; 0:
 * no device orders its tasks by reuse. */
static uint64_t add_evicted(const kmm_runtime_t *rt, uint64_t *evicted)
{
    uint64_t limit = 0;
    for (uint32_t k = 0; k < rt->device_count; k++) {
        const kmm__device_t *d = rt->device[k];
        if (!d->memory->waves)
            continue;
        *evicted += kmm__counted(&d->counters.evicted);
        limit += d->memory->limit;
    }
    return limit;
}

static void tell(const kmm_runtime_t *rt, const kmm__task_t *awaited, uint64_t bytes)
{
    const kmm__lookahead_t *a = &rt->memory->lookahead;
    char what[80] = "the program synchronizes";
    if (awaited && awaited->work)
        snprintf(what, sizeof(what), "the program waits for \"%.40s\"", awaited->work->name);
    kmm__log(KMM__LOG_NOTE,
             "%s:%d: each time after this launch %s, and not all data fits on %s: a step evicts "
             "%s, which the next one brings again. Chunks of several steps run while their data "
             "is there if the program waits once in several steps, not in each [waits]",
             a->file, a->line, what, a->device->info.name, KMM__BYTES(bytes));
}

void kmm__lookahead_end(kmm_runtime_t *rt, const kmm__task_t *awaited)
{
    kmm__lookahead_t *a = &rt->memory->lookahead;
    uint64_t evicted = 0, limit;
    if (a->is_said || a->launches == 0 || (limit = add_evicted(rt, &evicted)) == 0)
        return;
    uint64_t bytes = evicted - a->evicted;
    bool counts = a->file && a->file == a->waited_file && a->line == a->waited_line &&
                  a->launches <= LAUNCHES && bytes >= limit / PART;
    a->waits = counts ? a->waits + 1 : 0;
    a->evicted = evicted;
    a->launches = 0;
    a->waited_file = a->file;
    a->waited_line = a->line;
    a->is_said = a->waits >= WAITS;
    if (a->is_said)
        tell(rt, awaited, bytes);
    a->file = NULL;
}
