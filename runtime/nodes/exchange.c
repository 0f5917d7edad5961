/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node sends all that a command asks of it before it waits for what it gets. So of the nodes that
 * wait, one that is at the earliest command waits for nothing: what it waits for has been sent.
 */
#include "nodes/exchange.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <kmm.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"

enum { PIECE = 16 << 20 }; /* bytes of a parcel at most */

typedef struct kmm__expected {
    kmm__shared_t *shared;
    uint32_t from;
    int64_t begin, end;
} expected_t;

/* ---- Sending ---- */

static void send_piece(const kmm__exchange_t *e, int64_t begin, int64_t end)
{
    kmm__nodes_t *n = e->nodes;
    const uint64_t key[3] = {n->command, e->shared->id, (uint64_t)begin};
    const size_t bytes = (size_t)(end - begin);
    void *copy = kmm__alloc(bytes);
    if (kmm_copy_out(n->rt, copy, e->shared->base + begin, bytes))
        kmm__nodes_fail(n, kmm_error_text(n->rt));
    kmm__post_parcel(n->post, &(kmm__parcel_t){e->to, key, sizeof(key), copy, bytes, free, copy});
}

static void move(void *ctx, uint32_t from, int64_t begin, int64_t end)
{
    kmm__exchange_t *e = ctx;
    if (e->to == e->nodes->me) {
        e->expected = kmm__grow(e->expected, e->count, &e->capacity, sizeof(*e->expected));
        e->expected[e->count++] = (expected_t){e->shared, from, begin, end};
    }
    if (from != e->nodes->me)
        return;
    for (int64_t at = begin; at < end; at += PIECE)
        send_piece(e, at, end - at < PIECE ? end : at + PIECE);
}

void kmm__exchange_read(kmm__exchange_t *e, kmm__shared_t *shared, uint32_t to,
                        const int64_t range[2])
{
    e->shared = shared;
    e->to = to;
    kmm__holder_map_read(&shared->holders, to, range, move, e);
}

/* ---- Receiving ---- */

/* Returns the contents with this key, when they have arrived. The caller frees them. */
static kmm__mail_t *take(kmm__nodes_t *n, uint32_t from, const uint64_t key[3])
{
    pthread_mutex_lock(&n->lock);
    for (;;) {
        for (kmm__mail_t **at = &n->contents; *at; at = &(*at)->next) {
            kmm__mail_t *m = *at;
            if (m->from != from || memcmp(m->key, key, sizeof(m->key)))
                continue;
            *at = m->next;
            pthread_mutex_unlock(&n->lock);
            return m;
        }
        kmm__cond_wait(&n->changed, &n->lock);
    }
}

static void receive_piece(kmm__nodes_t *n, const expected_t *x, int64_t begin, int64_t end)
{
    const uint64_t key[3] = {n->command, x->shared->id, (uint64_t)begin};
    kmm__mail_t *m = take(n, x->from, key);
    if (m->count != (size_t)(end - begin))
        kmm__nodes_fail(n, "nodes disagree on what is sent");
    if (kmm_copy_in(n->rt, x->shared->base + begin, m->bytes, m->count))
        kmm__nodes_fail(n, kmm_error_text(n->rt));
    free(m);
}

void kmm__exchange_end(kmm__exchange_t *e)
{
    for (uint32_t k = 0; k < e->count; k++) {
        const expected_t *x = &e->expected[k];
        for (int64_t at = x->begin; at < x->end; at += PIECE)
            receive_piece(e->nodes, x, at, x->end - at < PIECE ? x->end : at + PIECE);
    }
    free(e->expected);
}

void *kmm__exchange_parcel(void *nodes, uint32_t from, const void *header, size_t count,
                           size_t bytes)
{
    kmm__mail_t *m = kmm__alloc(sizeof(*m) + bytes);
    if (count != sizeof(m->key))
        kmm__nodes_fail(nodes, "nodes disagree on what is sent");
    memcpy(m->key, header, sizeof(m->key));
    m->from = from;
    m->count = bytes;
    return m->bytes;
}

void kmm__exchange_arrived(void *nodes, uint32_t from, void *contents)
{
    (void)from;
    kmm__nodes_t *n = nodes;
    kmm__mail_t *m = (kmm__mail_t *)((char *)contents - offsetof(kmm__mail_t, bytes));
    pthread_mutex_lock(&n->lock);
    m->next = n->contents;
    n->contents = m;
    pthread_cond_broadcast(&n->changed);
    pthread_mutex_unlock(&n->lock);
}
