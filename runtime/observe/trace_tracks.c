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

void kmm__track_push(kmm__track_t *t, const kmm__event_t *begin)
{
    if (t->first == t->count)
        t->first = t->count = 0;
    if (t->count == t->capacity && t->first > t->capacity / 2) {
        memmove(t->slices, t->slices + t->first, (t->count - t->first) * sizeof(*t->slices));
        t->count -= t->first;
        t->first = 0;
    }
    t->slices = kmm__grow(t->slices, t->count, &t->capacity, sizeof(*t->slices));
    t->slices[t->count++] = *begin;
}

void kmm__track_begin(kmm__track_t *t, uint64_t time)
{
    if (t->first < t->count)
        t->slices[t->first].time = time;
}

bool kmm__track_take_first(kmm__track_t *t, uint64_t time, kmm__event_t *slice)
{
    if (t->first == t->count)
        return false;
    *slice = t->slices[t->first++];
    slice->time = slice->time > t->end ? slice->time : t->end;
    t->end = time > slice->time ? time : slice->time;
    return true;
}

bool kmm__track_take_last(kmm__track_t *t, kmm__event_t *slice)
{
    if (t->first == t->count)
        return false;
    *slice = t->slices[--t->count];
    return true;
}

void kmm__tracks_forked(void)
{
    memset(buckets, 0, sizeof(buckets));
    all = NULL;
}
