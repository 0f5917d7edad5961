/* SPDX-License-Identifier: Apache-2.0 */
/* What other threads do with the post: opening it, posting, and ending it. */
#include "transport/post.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "transport/carry.h"
#include "transport/post_state.h"

enum {
    DEFAULT_SILENCE = 4,   /* seconds */
    QUEUED_MOST = 16 << 20 /* bytes of records for one process beyond which posting waits */
};

/* ---- Opening ---- */

static void peers_create(kmm__post_t *p)
{
    p->rank = p->transport->rank;
    p->size = p->transport->size;
    p->peers = kmm__alloc(p->size * sizeof(*p->peers));
    for (uint32_t k = 0; k < p->size; k++) {
        kmm__peer_t *peer = &p->peers[k];
        peer->waiting_end = &peer->waiting;
        peer->leaving_end = &peer->leaving;
        peer->slots_end = &peer->slots;
        for (int c = 0; c < KMM__CHANNELS; c++)
            peer->found_end[c] = &peer->found[c];
    }
}

/* Nanoseconds of silence after which a process is lost. base/environment.c warns of values that are
 * no number. */
static uint64_t silence_read(void)
{
    const char *text = getenv("KMM_NODE_TIMEOUT");
    char *end;
    long seconds = text && *text ? strtol(text, &end, 10) : DEFAULT_SILENCE;
    if (text && *text && (*end || seconds < 0))
        seconds = DEFAULT_SILENCE;
    return (uint64_t)seconds * 1000000000u;
}

static void post_free(kmm__post_t *p)
{
    for (uint32_t k = 0; p->transport && k < p->size; k++) {
        free(p->peers[k].next.bytes);
        free(p->peers[k].carried.bytes);
    }
    free(p->peers);
    pthread_cond_destroy(&p->posted);
    pthread_cond_destroy(&p->carried);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static kmm__post_t *post_create(kmm__transport_open_t *open, const kmm__post_hooks_t *hooks)
{
    kmm__post_t *p = kmm__alloc(sizeof(*p));
    pthread_condattr_t monotonic;
    p->open = open;
    p->hooks = *hooks;
    p->silence = silence_read();
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->posted, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_cond_init(&p->carried, NULL);
    return p;
}

int kmm__post_open(kmm__transport_open_t *open, const kmm__post_hooks_t *hooks, kmm__post_t **out)
{
    kmm__post_t *p = post_create(open, hooks);
    if (kmm__thread_create(&p->thread, kmm__post_main, p)) {
        post_free(p);
        return kmm__error_set(KMM_E_MEMORY, "the thread for messages could not be started");
    }
    pthread_mutex_lock(&p->lock);
    while (!p->transport && !p->error)
        kmm__cond_wait(&p->carried, &p->lock);
    if (!p->error) {
        peers_create(p);
        *out = p; /* before the first hook is called */
    }
    p->is_open = true;
    pthread_cond_signal(&p->posted);
    pthread_mutex_unlock(&p->lock);
    if (p->error) {
        int error = kmm__error_set(p->error, "%s", p->reason);
        pthread_join(p->thread, NULL);
        post_free(p);
        return error;
    }
    return 0;
}

uint32_t kmm__post_rank(const kmm__post_t *p)
{
    return p->rank;
}

uint32_t kmm__post_size(const kmm__post_t *p)
{
    return p->size;
}

void kmm__post_host(const kmm__post_t *p, uint32_t *rank, uint32_t *size)
{
    *rank = p->transport->host_rank;
    *size = p->transport->host_size;
}

const char *kmm__post_name(const kmm__post_t *p)
{
    return p->transport->name;
}

/* ---- Posting ---- */

/* Locked: waits until not much is queued. The post's thread itself does not wait. */
static void throttle(kmm__post_t *p, uint32_t to)
{
    while (p->peers[to].next.count > QUEUED_MOST && !pthread_equal(pthread_self(), p->thread))
        kmm__cond_wait(&p->carried, &p->lock);
}

void kmm__post_message(kmm__post_t *p, uint32_t to, uint32_t kind, const void *bytes, size_t count)
{
    assert(kind < KMM__POST_KINDS);
    pthread_mutex_lock(&p->lock);
    throttle(p, to);
    kmm__post_add(p, to, kind, NULL, bytes, count);
    p->counts.messages++;
    p->counts.bytes += count;
    pthread_mutex_unlock(&p->lock);
}

void kmm__post_parcel(kmm__post_t *p, const kmm__parcel_t *parcel)
{
    const uint64_t bytes = parcel->bytes;
    kmm__contents_t *c = kmm__alloc(sizeof(*c));
    *c = (kmm__contents_t){.bytes = parcel->contents,
                           .count = parcel->bytes,
                           .sent = parcel->sent,
                           .arg = parcel->arg};
    pthread_mutex_lock(&p->lock);
    throttle(p, parcel->to);
    kmm__peer_t *peer = &p->peers[parcel->to];
    *peer->waiting_end = c;
    peer->waiting_end = &c->next;
    kmm__post_add(p, parcel->to, KMM__RECORD_PARCEL, &bytes, parcel->header, parcel->header_bytes);
    p->counts.parcels++;
    p->counts.bytes += parcel->bytes;
    pthread_mutex_unlock(&p->lock);
}

void kmm__post_counts(kmm__post_t *p, kmm__post_counts_t *out)
{
    pthread_mutex_lock(&p->lock);
    *out = p->counts;
    pthread_mutex_unlock(&p->lock);
}

/* ---- Ending ---- */

void kmm__post_end(kmm__post_t *p)
{
    pthread_mutex_lock(&p->lock);
    p->is_ending = true;
    for (uint32_t k = 1; k < p->size && p->rank == 0; k++)
        kmm__post_add(p, k, KMM__RECORD_END, NULL, NULL, 0);
    pthread_cond_signal(&p->posted);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    post_free(p);
}

void kmm__post_abort(kmm__post_t *p, int status)
{
    if (pthread_equal(pthread_self(), p->thread))
        kmm__post_do_abort(p, status);
    pthread_mutex_lock(&p->lock);
    p->status = status;
    p->is_aborting = true;
    pthread_cond_signal(&p->posted);
    pthread_mutex_unlock(&p->lock);
    for (;;)
        pause();
}
