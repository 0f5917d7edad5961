/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks of a trace. */
#include "observe/trace_tracks.h"

#include <string.h>

#include "base/alloc.h"

enum { BUCKETS = 256 };
static kmm__track_t *buckets[BUCKETS], *all;

kmm__track_t *kmm__track_get(uint32_t pid, uint32_t tid)
{
    kmm__track_t **bucket = &buckets[(pid * 31 + tid) % BUCKETS], *t = *bucket;
    while (t && (t->pid != pid || t->tid != tid))
        t = t->next;
    if (t)
        return t;
    t = kmm__alloc(sizeof(*t));
    *t = (kmm__track_t){.pid = pid, .tid = tid, .next = *bucket, .next_of_all = all};
    return all = *bucket = t;
}

kmm__track_t *kmm__tracks_all(void)
{
    return all;
}

void kmm__track_begin(kmm__track_t *t, const kmm__event_t *begin)
{
    if (t->depth < KMM__TRACK_DEPTH) {
        t->slices[t->depth].begin = *begin;
        t->slices[t->depth].count = 0;
    }
    t->depth++;
}

const kmm__slice_t *kmm__track_end(kmm__track_t *t)
{
    if (t->depth == 0 || --t->depth >= KMM__TRACK_DEPTH)
        return NULL;
    return &t->slices[t->depth];
}

void kmm__track_join(kmm__track_t *t, uint64_t task)
{
    if (t->depth == 0 || t->depth > KMM__TRACK_DEPTH)
        return;
    kmm__slice_t *s = &t->slices[t->depth - 1];
    if (s->count < KMM__TRACK_TASKS)
        s->tasks[s->count++] = task;
}

void kmm__tracks_forked(void)
{
    memset(buckets, 0, sizeof(buckets));
    all = NULL;
}
