/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of records, and processes that are lost. */
#include "transport/post_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void batch_append(kmm__post_batch_t *b, const void *bytes, size_t count)
{
    if (count)
        memcpy(b->bytes + b->count, bytes, count);
    b->count += count;
}

static void batch_reserve(kmm__post_batch_t *b, size_t more)
{
    size_t capacity = b->capacity;
    while (capacity - b->count < more)
        capacity = capacity ? 2 * capacity : 4096;
    if (capacity == b->capacity)
        return;
    char *bytes = kmm__alloc(capacity);
    if (b->count)
        memcpy(bytes, b->bytes, b->count);
    free(b->bytes);
    b->bytes = bytes;
    b->capacity = capacity;
}

void kmm__post_add(kmm__post_t *p, uint32_t to, uint32_t kind, const uint64_t *first,
                   const void *bytes, size_t count)
{
    static const char zeros[8];
    kmm__post_batch_t *b = &p->peers[to].next;
    const size_t whole = count + (first ? sizeof(*first) : 0), pad = -whole % sizeof(zeros);
    const kmm__record_t record = {kind, (uint32_t)whole};
    assert(to < p->size && to != p->rank);
    batch_reserve(b, sizeof(record) + whole + pad);
    batch_append(b, &record, sizeof(record));
    if (first)
        batch_append(b, first, sizeof(*first));
    batch_append(b, bytes, count);
    batch_append(b, zeros, pad);
    if (p->is_napping)
        pthread_cond_signal(&p->posted);
}

void kmm__post_lose(kmm__post_t *p, uint32_t rank, const char *why)
{
    kmm__peer_t *peer = &p->peers[rank];
    peer->is_unreachable = true;
    const bool is_watched = p->rank == 0 || rank == 0;
    if (!is_watched || peer->is_lost || peer->has_ended || p->heard_end)
        return;
    peer->is_lost = true;
    p->hooks.lost(p->hooks.ctx, rank, why);
}
