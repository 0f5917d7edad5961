/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command moves between nodes. Each node knows which pieces it sends and which it gets.
 *
 * A node has at most WINDOW bytes on their way to each other one: it sends a piece when those
 * before it have been stored. So what arrives early takes a bounded amount of memory. While a node
 * waits for room to send, it stores what arrives, so two nodes that send to each other never wait
 * for each other.
 */
#include "nodes/exchange.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <kmm.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"

enum { PIECE = 2 << 20, WINDOW = 8 << 20 }; /* bytes; a piece may be larger than a window */

/* ---- Pieces ---- */

static void add(kmm__exchange_t *e, const kmm__piece_t *p)
{
    const uint32_t me = e->nodes->me;
    if (p->from != me && p->to != me)
        return;
    e->pieces = kmm__grow(e->pieces, e->count, &e->capacity, sizeof(*e->pieces));
    e->pieces[e->count++] = *p;
}

static void move(void *ctx, uint32_t from, int64_t begin, int64_t end)
{
    kmm__exchange_t *e = ctx;
    for (int64_t at = begin; at < end; at += PIECE) {
        const int64_t count = end - at < PIECE ? end - at : PIECE;
        add(e, &(kmm__piece_t){.from = from,
                               .to = e->to,
                               .id = e->shared->id,
                               .begin = at,
                               .count = count,
                               .bytes = count,
                               .address = e->shared->base + at,
                               .memory = e->memory ? e->memory + (at - e->first) : NULL});
    }
}

void kmm__exchange_read(kmm__exchange_t *e, kmm__shared_t *shared, uint32_t to,
                        const int64_t range[2])
{
    e->shared = shared;
    e->to = to;
    kmm__holder_map_read(&shared->holders, to, range, move, e);
}

void kmm__exchange_give(kmm__exchange_t *e, uint32_t to, const int64_t range[2])
{
    e->to = to;
    move(e, 0, range[0], range[1]);
}

static void fetch(void *ctx, uint32_t from, int64_t begin, int64_t end)
{
    if (from != 0)
        move(ctx, from, begin, end);
}

void kmm__exchange_fetch(kmm__exchange_t *e, const int64_t range[2])
{
    e->to = 0;
    kmm__holder_map_look(&e->shared->holders, 0, range, fetch, e);
}

void kmm__exchange_partials(kmm__exchange_t *e, const kmm__work_t *w, uint32_t reduction,
                            const uint32_t nodes[2], const uint32_t range[2])
{
    const kmm__reduction_t *r = &w->reductions[reduction];
    const int64_t each = r->end - r->begin, some = PIECE / each > 1 ? PIECE / each : 1;
    for (int64_t at = range[0]; at < range[1]; at += some) {
        const int64_t count = range[1] - at < some ? range[1] - at : some;
        add(e, &(kmm__piece_t){.from = nodes[0],
                               .to = nodes[1],
                               .id = KMM__PIECE_PARTIALS | reduction,
                               .begin = at,
                               .count = count,
                               .bytes = count * each,
                               .work = w,
                               .r = r});
    }
}

/* Copies a piece from memory (is_in), or to memory. Waits for the work that it depends on. */
static void copy(kmm__nodes_t *n, const kmm__piece_t *p, void *memory, bool is_in)
{
    int error;
    if (p->work) {
        const uint32_t range[2] = {(uint32_t)p->begin, (uint32_t)(p->begin + p->count)};
        pthread_mutex_lock(&n->rt->lock);
        error = kmm__reduce_move(p->work, p->r, range, memory, is_in);
        pthread_mutex_unlock(&n->rt->lock);
    } else if (p->memory) {
        memcpy(is_in ? p->memory : memory, is_in ? memory : p->memory, (size_t)p->bytes);
        error = 0;
    } else if (is_in) {
        error = kmm_copy_in(n->rt, p->address, memory, (size_t)p->bytes);
    } else {
        error = kmm_copy_out(n->rt, memory, p->address, (size_t)p->bytes);
    }
    if (error)
        kmm__nodes_fail(n, kmm_error_text(n->rt));
}

/* ---- Sending ---- */

/* True if the piece may be sent now. */
static bool take_window(kmm__nodes_t *n, const kmm__piece_t *p)
{
    pthread_mutex_lock(&n->lock);
    uint64_t *sent = &n->sent[p->to];
    const bool may = *sent == 0 || *sent + (uint64_t)p->bytes <= WINDOW;
    *sent += may ? (uint64_t)p->bytes : 0;
    pthread_mutex_unlock(&n->lock);
    return may;
}

static bool try_send(const kmm__exchange_t *e, kmm__piece_t *p)
{
    kmm__nodes_t *n = e->nodes;
    const uint64_t key[3] = {n->command, p->id, (uint64_t)p->begin};
    if (!take_window(n, p))
        return false;
    void *contents = kmm__alloc((size_t)p->bytes);
    copy(n, p, contents, false);
    kmm__post_parcel(n->post, &(kmm__parcel_t){p->to, key, sizeof(key), contents, (size_t)p->bytes,
                                               free, contents});
    p->is_done = true;
    return true;
}

void kmm__exchange_taken(kmm__nodes_t *n, uint32_t by, uint64_t bytes)
{
    pthread_mutex_lock(&n->lock);
    n->sent[by] -= bytes;
    n->events++;
    pthread_cond_broadcast(&n->changed);
    pthread_mutex_unlock(&n->lock);
}

/* ---- Receiving ---- */

/* Returns the contents with this key, if they have arrived. The caller frees them. */
static kmm__mail_t *take(kmm__nodes_t *n, uint32_t from, const uint64_t key[3])
{
    kmm__mail_t *found = NULL;
    pthread_mutex_lock(&n->lock);
    for (kmm__mail_t **at = &n->contents; *at && !found; at = found ? at : &(*at)->next) {
        kmm__mail_t *m = *at;
        if (m->from != from || memcmp(m->key, key, sizeof(m->key)))
            continue;
        found = m;
        *at = m->next;
    }
    pthread_mutex_unlock(&n->lock);
    return found;
}

static void give_back(kmm__nodes_t *n, kmm__mail_t *m)
{
    const uint64_t bytes = m->count;
    kmm__post_message(n->post, m->from, KMM__ANSWER_TAKEN, &bytes, sizeof(bytes));
    pthread_mutex_lock(&n->lock);
    n->held -= bytes;
    pthread_mutex_unlock(&n->lock);
    free(m);
}

static bool try_receive(const kmm__exchange_t *e, kmm__piece_t *p)
{
    kmm__nodes_t *n = e->nodes;
    const uint64_t key[3] = {n->command, p->id, (uint64_t)p->begin};
    kmm__mail_t *m = take(n, p->from, key);
    if (!m)
        return false;
    if (m->count != (size_t)p->bytes)
        kmm__nodes_fail(n, "nodes disagree on what is sent");
    copy(n, p, m->bytes, true);
    give_back(n, m);
    p->is_done = true;
    return true;
}

/* Moves what can be moved now. Returns how many pieces are left; *has_moved receives whether any
 * was moved. */
static uint32_t move_some(const kmm__exchange_t *e, bool *has_moved)
{
    uint32_t left = 0;
    for (uint32_t k = 0; k < e->count; k++) {
        kmm__piece_t *p = &e->pieces[k];
        if (p->is_done)
            continue;
        if (p->from == e->nodes->me ? try_send(e, p) : try_receive(e, p))
            *has_moved = true;
        else
            left++;
    }
    return left;
}

static uint64_t events(kmm__nodes_t *n)
{
    pthread_mutex_lock(&n->lock);
    uint64_t now = n->events;
    pthread_mutex_unlock(&n->lock);
    return now;
}

void kmm__exchange_end(kmm__exchange_t *e)
{
    kmm__nodes_t *n = e->nodes;
    for (;;) {
        bool has_moved = false;
        const uint64_t seen = events(n);
        if (!move_some(e, &has_moved))
            break;
        pthread_mutex_lock(&n->lock);
        while (!has_moved && n->events == seen)
            kmm__cond_wait(&n->changed, &n->lock);
        pthread_mutex_unlock(&n->lock);
    }
    free(e->pieces);
    e->pieces = NULL;
    e->count = e->capacity = 0;
}

void *kmm__exchange_parcel(void *nodes, uint32_t from, const void *header, size_t count,
                           size_t bytes)
{
    kmm__nodes_t *n = nodes;
    kmm__mail_t *m = kmm__alloc(sizeof(*m) + bytes);
    if (count != sizeof(m->key))
        kmm__nodes_fail(nodes, "nodes disagree on what is sent");
    memcpy(m->key, header, sizeof(m->key));
    m->from = from;
    m->count = bytes;
    pthread_mutex_lock(&n->lock);
    n->held += bytes;
    n->held_most = n->held > n->held_most ? n->held : n->held_most;
    pthread_mutex_unlock(&n->lock);
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
    n->events++;
    pthread_cond_broadcast(&n->changed);
    pthread_mutex_unlock(&n->lock);
}
