/* SPDX-License-Identifier: Apache-2.0 */
/* Scratch blocks. Each is an array in native standing that the program does not know. */
#include "memory/residency/scratch.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "memory/array.h"
#include "memory/residency/native.h"

/* Blocks take at most 1/PART of the device, and their number is at most MOST, but for those that
 * are in use at once. A stream that has KEYS blocks gives one of them another key, if it is large
 * enough.
 */
enum { PART = 8, MOST = 64, KEYS = 6 };

static const uint64_t NO_STREAM = UINT64_MAX;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* taken before that of the runtime */
static kmm__scratch_t *blocks;                           /* the latest first */

static bool has_key(const kmm__scratch_t *s, const void *key, uint32_t key_bytes)
{
    return s->key_bytes == key_bytes && !memcmp(s->key, key, key_bytes);
}

/* Finds a block that nothing uses: a launch may need several with one key. */
static kmm__scratch_t *find(const kmm__device_t *d, uint64_t stream, const void *key,
                            uint32_t key_bytes, size_t bytes)
{
    kmm__scratch_t *s = blocks;
    while (s && (s->pins || s->device != d || s->stream != stream || s->bytes < bytes ||
                 !has_key(s, key, key_bytes)))
        s = s->next;
    return s;
}

/* Says whether the program may know the address of an array. */
static void set_known(kmm_runtime_t *rt, const void *base, bool is_known)
{
    pthread_mutex_lock(&rt->lock);
    kmm__array_find(rt, base)->is_unknown = !is_known;
    pthread_mutex_unlock(&rt->lock);
}

/* Finds a block that may get another key: the one that got its key first. NULL: a new one is made.
 */
static kmm__scratch_t *find_other(const kmm__device_t *d, uint64_t stream, size_t bytes)
{
    kmm__scratch_t *found = NULL;
    uint32_t count = 0;
    for (kmm__scratch_t *s = blocks; s; s = s->next) {
        if (s->device != d || s->stream != stream || s->is_bound)
            continue;
        count++;
        if (!s->pins && s->bytes >= bytes && (!found || s->keyed < found->keyed))
            found = s;
    }
    return count < KEYS ? NULL : found;
}

static void set_key(kmm__scratch_t *s, const void *key, uint32_t key_bytes)
{
    static uint64_t keyed;
    s->is_left = false;
    s->keyed = ++keyed;
    s->key_bytes = key_bytes;
    memcpy(s->key, key, key_bytes);
}

/* Frees the blocks of the runtime that nothing uses. The GPU has done all work on them. */
static void drop(kmm_runtime_t *rt)
{
    for (kmm__scratch_t **at = &blocks, *s; (s = *at);) {
        if (s->device->runtime != rt || s->pins || s->is_bound) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        set_known(rt, (void *)(uintptr_t)s->at, true); /* it may become an array of the program's */
        kmm__native_array_free(rt, (void *)(uintptr_t)s->at);
        free(s);
    }
}

static bool is_crowded(const kmm__device_t *d, size_t bytes)
{
    size_t sum = bytes, count = 1;
    for (const kmm__scratch_t *s = blocks; s; s = s->next) {
        sum += s->is_bound || s->device != d ? 0 : s->bytes;
        count += !s->is_bound;
    }
    return count > MOST || sum > d->memory->limit / PART;
}

/* Makes a block. NULL: there is no memory. */
static kmm__scratch_t *make(kmm__device_t *d, size_t bytes)
{
    kmm_runtime_t *rt = d->runtime;
    void *base;
    /* To wait for the GPU would break a capture. */
    if (is_crowded(d, bytes) && blocks && !kmm__native_is_bound()) {
        d->backend->finish(d->gpu); /* its error is told by the program's next call */
        drop(rt);
    }
    if (kmm__native_array_new(rt, d, bytes, &base))
        return NULL;
    set_known(rt, base, false);
    kmm__scratch_t *s = kmm__alloc(sizeof(*s));
    *s = (kmm__scratch_t){
        .at = (kmm__addr_t)(uintptr_t)base, .device = d, .bytes = bytes, .next = blocks};
    blocks = s;
    return s;
}

kmm__scratch_t *kmm__scratch_take(kmm__device_t *d, uint64_t stream, const void *key,
                                  uint32_t key_bytes, size_t bytes, bool bound)
{
    pthread_mutex_lock(&lock);
    kmm__scratch_t *s = bound ? NULL : find(d, stream, key, key_bytes, bytes);
    if (!s && !bound && (s = find_other(d, stream, bytes)))
        set_key(s, key, key_bytes);
    if (!s && (s = make(d, bytes))) {
        s->stream = bound ? NO_STREAM : stream;
        s->is_bound = bound;
        set_key(s, key, key_bytes);
    }
    if (s)
        s->pins++;
    pthread_mutex_unlock(&lock);
    return s;
}

void kmm__scratch_release(kmm__scratch_t *s)
{
    pthread_mutex_lock(&lock);
    s->pins--;
    pthread_mutex_unlock(&lock);
}

void kmm__scratch_end_stream(uint64_t stream)
{
    pthread_mutex_lock(&lock);
    for (kmm__scratch_t *s = blocks; s; s = s->next)
        s->stream = s->stream == stream ? NO_STREAM : s->stream;
    pthread_mutex_unlock(&lock);
}

void kmm__scratch_drop(kmm_runtime_t *rt)
{
    pthread_mutex_lock(&lock);
    drop(rt);
    pthread_mutex_unlock(&lock);
}
