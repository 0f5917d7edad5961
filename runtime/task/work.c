/* SPDX-License-Identifier: Apache-2.0 */
/* Work: what the tasks of a launch share. Works are kept in a free list with their `room`, so that
 * most launches cost no allocation. */
#include "task/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "task/state.h"

kmm__work_t *kmm__work_create(kmm_runtime_t *rt)
{
    kmm__work_t *w = rt->tasks->spare_works;
    if (w)
        rt->tasks->spare_works = w->next;
    else
        w = kmm__alloc(sizeof(*w));
    memset(w, 0, offsetof(kmm__work_t, room));
    w->runtime = rt;
    w->refs = 1;
    w->kept = sizeof(*w);
    w->id = rt->tasks->next_work++;
    return w;
}

void *kmm__work_take(kmm__work_t *w, size_t bytes)
{
    enum { HEADER = 16 };
    size_t rounded = (bytes + 15) & ~(size_t)15;
    if (rounded <= KMM__WORK_ROOM - w->room_used) {
        w->room_used += (uint32_t)rounded;
        return memset(w->room + w->room_used - rounded, 0, rounded);
    }
    unsigned char *block = kmm__alloc(HEADER + rounded);
    memcpy(block, &w->blocks, sizeof(w->blocks));
    w->blocks = block;
    w->kept += HEADER + rounded;
    return block + HEADER;
}

struct kmm__known_layout {
    kmm__layout_t layout;
    struct kmm__known_layout *next;
};

const kmm__layout_t *kmm__work_layout(kmm__work_t *w, const kmm__layout_t *layout)
{
    struct kmm__known_layout *k = w->layouts;
    while (k && !kmm__layout_equal(&k->layout, layout))
        k = k->next;
    if (k)
        return &k->layout;
    k = kmm__work_take(w, sizeof(*k));
    k->layout = *layout;
    k->next = w->layouts;
    w->layouts = k;
    return &k->layout;
}

void kmm__work_describe(const kmm__work_t *w, uint32_t first, uint32_t last, char *out, size_t size)
{
    int n = w->file ? snprintf(out, size, "%s:%d: ", w->file, w->line) : 0;
    n = n < (int)size ? n : (int)size - 1;
    out += n;
    size -= (size_t)n;
    if (last > first)
        snprintf(out, size, "%s: chunks %u to %u of %u", w->name, first, last, w->chunk_count);
    else if (w->chunk_count > 1)
        snprintf(out, size, "%s: chunk %u of %u", w->name, first, w->chunk_count);
    else
        snprintf(out, size, "%s", w->name);
}

void kmm__work_ref(kmm__work_t *w)
{
    w->refs++;
}

void kmm__work_unref(kmm__work_t *w)
{
    if (--w->refs)
        return;
    if (w->end)
        w->end(w);
    if (w->drop)
        w->drop(w);
    while (w->blocks) {
        void *block = w->blocks;
        memcpy(&w->blocks, block, sizeof(w->blocks));
        free(block);
    }
    w->next = w->runtime->tasks->spare_works;
    w->runtime->tasks->spare_works = w;
}

void kmm__works_free(kmm_runtime_t *rt)
{
    while (rt->tasks->spare_works) {
        kmm__work_t *w = rt->tasks->spare_works;
        rt->tasks->spare_works = w->next;
        free(w);
    }
}

uint32_t kmm__partial_of(const kmm__work_t *w, const kmm__partials_t *p, uint32_t chunk)
{
    return (uint32_t)((uint64_t)chunk * p->count / w->chunk_count);
}
