/* SPDX-License-Identifier: Apache-2.0 */
/* What arrives at the post: messages are received and handed to the hooks, in order. */
#include "transport/deliver.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/spin.h"
#include "base/trace.h"

/* ---- Records ---- */

static void slot_add(kmm__post_t *p, uint32_t from, const char *bytes, size_t count)
{
    kmm__peer_t *peer = &p->peers[from];
    kmm__slot_t *s = kmm__alloc(sizeof(*s));
    uint64_t contents;
    memcpy(&contents, bytes, sizeof(contents));
    s->bytes = contents;
    s->to = p->hooks.parcel(p->hooks.ctx, from, bytes + sizeof(contents), count - sizeof(contents),
                            s->bytes);
    *peer->slots_end = s;
    peer->slots_end = &s->next;
}

/* Process 0 ends the program: this process's last record follows. */
static void hear_end(kmm__post_t *p)
{
    p->heard_end = true;
    pthread_mutex_lock(&p->lock);
    kmm__post_add(p, 0, KMM__RECORD_BYE, NULL, NULL, 0);
    pthread_mutex_unlock(&p->lock);
}

static void record_deliver(kmm__post_t *p, uint32_t from, const kmm__record_t *r, const char *bytes)
{
    switch (r->kind) {
    case KMM__RECORD_PARCEL: slot_add(p, from, bytes, r->count); return;
    case KMM__RECORD_BEAT: return;
    case KMM__RECORD_END: hear_end(p); return;
    case KMM__RECORD_BYE:
        p->peers[from].has_ended = true;
        p->ended++;
        return;
    default: p->hooks.message(p->hooks.ctx, from, r->kind, bytes, r->count); return;
    }
}

static void batch_deliver(kmm__post_t *p, uint32_t from, const char *bytes, size_t count)
{
    for (size_t at = 0; at < count;) {
        kmm__record_t r;
        memcpy(&r, bytes + at, sizeof(r));
        at += sizeof(r);
        record_deliver(p, from, &r, bytes + at);
        at += r.count + -(size_t)r.count % 8;
    }
}

/* ---- Letters ---- */

/* Finds a place for the letter, and begins to receive it. Contents wait for their header. */
static int letter_begin(kmm__post_t *p, kmm__letter_t *l)
{
    kmm__peer_t *peer = &p->peers[l->arrival.from];
    kmm__transport_t *t = p->transport;
    if (l->arrival.channel == KMM__CONTROL) {
        l->to = kmm__alloc(l->arrival.bytes);
    } else {
        kmm__slot_t *s = peer->slots;
        if (!s)
            return 0;
        assert(s->bytes == l->arrival.bytes);
        l->to = s->to;
        peer->slots = s->next;
        peer->slots_end = s->next ? peer->slots_end : &peer->slots;
        free(s);
    }
    l->is_begun = true;
    l->began = kmm__tracing() ? kmm__now() : 0;
    return t->receive(t, &l->arrival, l->to, &l->request);
}

static void letter_deliver(kmm__post_t *p, const kmm__letter_t *l)
{
    if (l->arrival.channel == KMM__CONTROL) {
        batch_deliver(p, l->arrival.from, l->to, l->arrival.bytes);
        free(l->to);
    } else {
        p->hooks.arrived(p->hooks.ctx, l->arrival.from, l->to);
    }
}

/* Begins to receive letters of a channel, as far as they have a place, and delivers those that are
 * there. */
static bool letters_move(kmm__post_t *p, uint32_t from, int channel)
{
    kmm__peer_t *peer = &p->peers[from];
    kmm__transport_t *t = p->transport;
    bool any = false;
    int error = 0;
    for (kmm__letter_t *l = peer->found[channel]; l && !error; l = l->next) {
        if (l->is_begun)
            continue;
        error = letter_begin(p, l);
        if (!l->is_begun)
            break;
        any = true;
    }
    while (!error && peer->found[channel] && peer->found[channel]->is_begun) {
        kmm__letter_t *l = peer->found[channel];
        const int is_there = t->test(t, l->request);
        error = is_there < 0 ? is_there : 0;
        if (is_there != 1)
            break;
        peer->found[channel] = l->next;
        peer->found_end[channel] = l->next ? peer->found_end[channel] : &peer->found[channel];
        if (l->began)
            KMM__TRACE(.kind = KMM__EVENT_RECEIVED, .mode = channel == KMM__DATA,
                       .device = (uint16_t)from, .a = l->began, .b = l->arrival.bytes);
        letter_deliver(p, l);
        free(l);
        any = true;
    }
    if (error)
        kmm__post_lose(p, from, "a message of it could not be received");
    return any;
}

/* Puts what the transport has found into the lists. */
static bool find(kmm__post_t *p)
{
    enum { MOST = 64 }; /* messages found at a time */
    kmm__transport_t *t = p->transport;
    kmm__arrival_t a;
    int found = 1, k = 0;
    for (; k < MOST && found == 1; k++) {
        found = t->find(t, &a);
        if (found < 0)
            p->peers[a.from].is_gone = true;
        if (found != 1)
            break;
        kmm__peer_t *peer = &p->peers[a.from];
        kmm__letter_t *l = kmm__alloc(sizeof(*l));
        l->arrival = a;
        *peer->found_end[a.channel] = l;
        peer->found_end[a.channel] = &l->next;
        peer->heard = kmm__now();
    }
    return k > 0;
}

bool kmm__post_receive(kmm__post_t *p)
{
    bool any = find(p);
    for (uint32_t k = 0; k < p->size; k++) {
        const kmm__peer_t *peer = &p->peers[k];
        for (int c = 0; c < KMM__CHANNELS; c++)
            if (peer->found[c])
                any |= letters_move(p, k, c);
        if (peer->is_gone && !peer->is_unreachable && !peer->found[KMM__CONTROL])
            kmm__post_lose(p, k, "its connection has ended");
    }
    return any;
}
