/* SPDX-License-Identifier: Apache-2.0 */
/* The post's thread: it sends, looks for what has arrived, and naps. */
#include "transport/carry.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/spin.h"
#include "base/trace.h"
#include "transport/deliver.h"
#include "transport/post_state.h"

enum {
    YIELD_NS = 50000,      /* how long it yields before it naps */
    NAP_NS = 20000,        /* of the first nap; each is twice as long as the one before */
    NAP_MOST_NS = 1000000, /* of the longest */
    BEAT_NS = 1000000000,  /* something is sent to a watcher at least so often */
    LOOK_NS = 100000000,   /* how often it looks for beats that are due, and for silence */
    SLACK_NS = 1000        /* by which the system may prolong a nap */
};

void kmm__post_do_abort(kmm__post_t *p, int status)
{
    p->transport->abort(p->transport, status);
    _exit(status);
}

/* ---- Sending ---- */

/* Tells listeners of a message that has been sent; began 0: nobody listened then. */
static void trace_sent(uint32_t to, uint32_t channel, uint64_t began, size_t bytes)
{
    if (began)
        KMM__TRACE(.kind = KMM__EVENT_SENT, .mode = channel == KMM__DATA, .device = (uint16_t)to,
                   .a = began, .b = bytes);
}

/* Locked: begins to send the peer's next batch and its waiting contents. *error receives 0 or an
 * error of the transport. */
static bool peer_begin(kmm__post_t *p, uint32_t to, int *error)
{
    kmm__peer_t *peer = &p->peers[to];
    kmm__transport_t *t = p->transport;
    bool any = false;
    if (!peer->is_carrying && peer->next.count) {
        kmm__post_batch_t empty = peer->carried;
        peer->carried = peer->next;
        peer->next = empty;
        peer->next.count = 0;
        peer->told = kmm__now();
        peer->began = kmm__tracing() ? peer->told : 0;
        peer->is_carrying = any = true;
        p->counts.batches++;
        *error =
            t->send(t, to, KMM__CONTROL, peer->carried.bytes, peer->carried.count, &peer->request);
        pthread_cond_broadcast(&p->carried);
    }
    while (peer->waiting && !*error) {
        kmm__contents_t *c = peer->waiting;
        any = true;
        c->began = kmm__tracing() ? kmm__now() : 0;
        *error = t->send(t, to, KMM__DATA, c->bytes, c->count, &c->request);
        peer->waiting = c->next;
        peer->waiting_end = c->next ? peer->waiting_end : &peer->waiting;
        c->next = NULL;
        *peer->leaving_end = c;
        peer->leaving_end = &c->next;
    }
    return any;
}

/* Returns true if a request is done; *error receives 0 or an error of the transport. */
static bool is_done(kmm__transport_t *t, void *request, int *error)
{
    const int done = *error ? *error : t->test(t, request);
    *error = done < 0 ? done : 0;
    return done == 1;
}

/* Ends what has been sent. */
static bool peer_end(kmm__post_t *p, uint32_t to, int *error)
{
    kmm__peer_t *peer = &p->peers[to];
    kmm__transport_t *t = p->transport;
    bool any = false;
    if (peer->is_carrying && is_done(t, peer->request, error)) {
        peer->is_carrying = false;
        any = true;
        trace_sent(to, KMM__CONTROL, peer->began, peer->carried.count);
    }
    while (peer->leaving && is_done(t, peer->leaving->request, error)) {
        kmm__contents_t *c = peer->leaving;
        peer->leaving = c->next;
        peer->leaving_end = c->next ? peer->leaving_end : &peer->leaving;
        trace_sent(to, KMM__DATA, c->began, c->count);
        if (c->sent)
            c->sent(c->arg);
        free(c);
        any = true;
    }
    return any;
}

static bool send_all(kmm__post_t *p)
{
    bool any = false;
    for (uint32_t k = 0; k < p->size; k++) {
        int error = 0;
        if (k == p->rank || p->peers[k].is_unreachable)
            continue;
        pthread_mutex_lock(&p->lock);
        any |= peer_begin(p, k, &error);
        pthread_mutex_unlock(&p->lock);
        any |= peer_end(p, k, &error);
        if (error)
            kmm__post_lose(p, k, "nothing can be sent to it");
    }
    return any;
}

/* Not locked: true if nothing is to be sent and nothing is being sent. */
static bool is_flushed(kmm__post_t *p)
{
    bool is = true;
    pthread_mutex_lock(&p->lock);
    for (uint32_t k = 0; k < p->size; k++) {
        const kmm__peer_t *peer = &p->peers[k];
        is &= !peer->next.count && !peer->is_carrying && !peer->waiting && !peer->leaving;
    }
    pthread_mutex_unlock(&p->lock);
    return is;
}

/* ---- Watching ---- */

/* Sends beats, and finds out who is silent. Process 0 watches the others, and they watch it. */
static void watch(kmm__post_t *p)
{
    const uint64_t now = kmm__now(), paused = now - p->looked;
    if (!p->silence || paused < LOOK_NS)
        return;
    p->looked = now;
    for (uint32_t k = 0; k < (p->rank == 0 ? p->size : 1); k++) {
        kmm__peer_t *peer = &p->peers[k];
        if (k == p->rank || peer->is_lost || peer->has_ended)
            continue;
        if (now - peer->told > BEAT_NS) {
            pthread_mutex_lock(&p->lock);
            kmm__post_add(p, k, KMM__RECORD_BEAT, NULL, NULL, 0);
            pthread_mutex_unlock(&p->lock);
        }
        /* While this thread itself did not run, it heard nothing. */
        if (paused > BEAT_NS)
            peer->heard = now;
        if (now - peer->heard > p->silence)
            kmm__post_lose(p, k, "it has been silent for too long (KMM_NODE_TIMEOUT)");
    }
}

/* ---- The thread ---- */

/* Waits a little, because there was nothing to do. */
static void nap(kmm__post_t *p)
{
    const uint64_t idle = kmm__now() - p->active;
    struct timespec until;
    if (kmm__has_cpus_to_spare() && idle < KMM__SPIN_DEVICE_NS) {
        kmm__relax();
        return;
    }
    if (idle < YIELD_NS) {
        sched_yield();
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)p->nap;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    p->nap = 2 * p->nap < NAP_MOST_NS ? 2 * p->nap : NAP_MOST_NS;
    pthread_mutex_lock(&p->lock);
    bool is_posted = p->is_aborting;
    for (uint32_t k = 0; k < p->size; k++)
        is_posted |= !p->peers[k].is_unreachable &&
                     (p->peers[k].waiting || (p->peers[k].next.count && !p->peers[k].is_carrying));
    p->is_napping = true;
    if (!is_posted)
        pthread_cond_timedwait(&p->posted, &p->lock, &until);
    p->is_napping = false;
    pthread_mutex_unlock(&p->lock);
}

/* True if this process's part is over: everything was sent, and process 0 and the others know that
 * the program ends. */
static bool is_over(kmm__post_t *p)
{
    pthread_mutex_lock(&p->lock);
    const bool is_ending = p->is_ending, is_aborting = p->is_aborting;
    pthread_mutex_unlock(&p->lock);
    if (is_aborting)
        kmm__post_do_abort(p, p->status);
    const bool is_known = p->rank == 0 ? p->ended + 1 == p->size : p->heard_end;
    return is_ending && is_known && is_flushed(p);
}

/* Opens the transport, and waits until the other thread has made the peers. */
static bool open_transport(kmm__post_t *p)
{
    kmm__transport_t *t = NULL;
    int error = p->open(&t, p->reason, sizeof(p->reason));
    pthread_mutex_lock(&p->lock);
    p->transport = error ? NULL : t;
    p->error = error;
    pthread_cond_broadcast(&p->carried);
    while (!p->is_open)
        pthread_cond_wait(&p->posted, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return !error;
}

void *kmm__post_main(void *post)
{
    kmm__post_t *p = post;
    prctl(PR_SET_TIMERSLACK, (unsigned long)SLACK_NS, 0UL, 0UL, 0UL);
    if (!open_transport(p))
        return NULL;
    p->active = p->looked = kmm__now();
    for (uint32_t k = 0; k < p->size; k++)
        p->peers[k].heard = p->peers[k].told = p->active;
    while (!is_over(p)) {
        const bool sent = send_all(p), received = kmm__post_receive(p);
        watch(p);
        if (sent || received) {
            p->active = kmm__now();
            p->nap = NAP_NS;
        } else {
            nap(p);
        }
    }
    p->transport->end(p->transport);
    return NULL;
}
