/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport for tests, a plug-in as libkmm's own are: processes of one machine, with a socket for
 * each pair. run_nodes.c starts them. A message is held back for a random time, so that messages of
 * different pairs and channels overtake each other. Those of one pair and channel do not.
 *
 * KMM_FAKE_NODES=RANK:SIZE:SEED:MICROSECONDS:ABORT:FD,FD,...   the sockets in the order of ranks
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <kmm/error.h>

#include "transport/transport.h"

enum { MOST = 64, HEAD = 16 };

typedef struct frame {
    struct frame *next;
    uint64_t head[2]; /* channel, bytes */
    char *bytes;
    size_t moved; /* bytes of head and contents that were written or read */
    uint64_t due; /* of a received one: when it is found */
} frame_t;

typedef struct queue {
    frame_t *first, **end;
    uint64_t due; /* of the last one */
} queue_t;

typedef struct peer {
    int fd;
    queue_t out, in[KMM__CHANNELS];
    frame_t *coming; /* is being read */
    bool has_ended, is_told;
} peer_t;

typedef struct nodes {
    kmm__transport_t base; /* the first member */
    uint64_t random, delay;
    int abort_fd;
    peer_t peer[MOST];
} nodes_t;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t random_below(nodes_t *n, uint64_t limit)
{
    n->random ^= n->random << 13;
    n->random ^= n->random >> 7;
    n->random ^= n->random << 17;
    return limit ? n->random % limit : 0;
}

static void *or_die(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void push(queue_t *q, frame_t *f)
{
    f->next = NULL;
    *q->end = f;
    q->end = &f->next;
}

static frame_t *pop(queue_t *q)
{
    frame_t *f = q->first;
    q->first = f->next;
    q->end = q->first ? q->end : &q->first;
    return f;
}

/* Writes what the socket takes. */
static void write_some(peer_t *p)
{
    while (p->out.first && p->fd >= 0) {
        frame_t *f = p->out.first;
        bool is_head = f->moved < HEAD;
        const char *from = is_head ? (char *)f->head + f->moved : f->bytes + f->moved - HEAD;
        size_t left = is_head ? HEAD - f->moved : HEAD + f->head[1] - f->moved;
        ssize_t n = left ? send(p->fd, from, left, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
        if (n < 0)
            return;
        f->moved += (size_t)n;
        if (f->moved == HEAD + f->head[1])
            pop(&p->out);
    }
}

/* Takes a frame that has been read: it is found after a random time. */
static void arrive(nodes_t *n, peer_t *p, frame_t *f)
{
    queue_t *q = &p->in[f->head[0]];
    uint64_t due = now() + random_below(n, n->delay);
    q->due = f->due = due > q->due ? due : q->due;
    push(q, f);
}

static void read_some(nodes_t *n, peer_t *p)
{
    while (!p->has_ended && p->fd >= 0) {
        if (!p->coming)
            p->coming = or_die(calloc(1, sizeof(*p->coming)));
        frame_t *f = p->coming;
        bool is_head = f->moved < HEAD;
        char *to = is_head ? (char *)f->head + f->moved : f->bytes + f->moved - HEAD;
        ssize_t got =
            recv(p->fd, to, is_head ? HEAD - f->moved : HEAD + f->head[1] - f->moved, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        p->has_ended = got <= 0;
        f->moved += got > 0 ? (size_t)got : 0;
        if (is_head && f->moved == HEAD)
            f->bytes = or_die(malloc(f->head[1] + 1));
        if (!p->has_ended && f->moved >= HEAD && f->moved == HEAD + f->head[1]) {
            arrive(n, p, f);
            p->coming = NULL;
        }
    }
}

static void progress(nodes_t *n)
{
    for (uint32_t k = 0; k < n->base.size; k++) {
        write_some(&n->peer[k]);
        read_some(n, &n->peer[k]);
    }
}

static int nodes_send(kmm__transport_t *t, uint32_t to, uint32_t channel, const void *bytes,
                      size_t count, void **request)
{
    frame_t *f = or_die(calloc(1, sizeof(*f)));
    f->head[0] = channel;
    f->head[1] = count;
    f->bytes = (char *)(uintptr_t)bytes;
    *request = f;
    push(&((nodes_t *)t)->peer[to].out, f);
    write_some(&((nodes_t *)t)->peer[to]);
    return 0;
}

static int nodes_find(kmm__transport_t *t, kmm__arrival_t *out)
{
    nodes_t *n = (nodes_t *)t;
    uint32_t begin = (uint32_t)random_below(n, n->base.size), count = n->base.size * KMM__CHANNELS;
    progress(n);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t from = (begin + k / KMM__CHANNELS) % n->base.size, channel = k % KMM__CHANNELS;
        peer_t *p = &n->peer[from];
        queue_t *q = &p->in[channel];
        out->from = from;
        if (p->has_ended && !p->is_told && !p->in[KMM__CONTROL].first && !p->in[KMM__DATA].first) {
            p->is_told = true;
            return KMM_E_IO;
        }
        if (!q->first || q->first->due > now())
            continue;
        frame_t *f = pop(q);
        *out = (kmm__arrival_t){from, channel, f->head[1], f};
        return 1;
    }
    return 0;
}

static int nodes_receive(kmm__transport_t *t, const kmm__arrival_t *a, void *to, void **request)
{
    (void)t;
    frame_t *f = a->message;
    memcpy(to, f->bytes, a->bytes);
    free(f->bytes);
    f->bytes = NULL;
    *request = f;
    return 0;
}

static int nodes_test(kmm__transport_t *t, void *request)
{
    frame_t *f = request;
    progress((nodes_t *)t);
    if (f->moved < HEAD + f->head[1])
        return 0;
    free(f);
    return 1;
}

static void nodes_end(kmm__transport_t *t)
{
    nodes_t *n = (nodes_t *)t;
    for (uint32_t k = 0; k < n->base.size; k++) {
        if (n->peer[k].fd >= 0)
            close(n->peer[k].fd);
        free(n->peer[k].coming);
    }
    free(n);
}

/* The launcher kills all. */
static void nodes_abort(kmm__transport_t *t, int status)
{
    const char byte = (char)status;
    if (write(((nodes_t *)t)->abort_fd, &byte, 1) == 1)
        sleep(5);
    _exit(status);
}

__attribute__((visibility("default"))) int kmm__transport_open(kmm__transport_t **out, char *reason,
                                                               size_t room)
{
    nodes_t *n = or_die(calloc(1, sizeof(*n)));
    const char *text = getenv("KMM_FAKE_NODES");
    unsigned rank, size, seed, delay;
    int at = 0;
    if (!text ||
        sscanf(text, "%u:%u:%u:%u:%d:%n", &rank, &size, &seed, &delay, &n->abort_fd, &at) < 5 ||
        !at) {
        snprintf(reason, room, "run_nodes has not started this process");
        free(n);
        return KMM_E_UNSUPPORTED;
    }
    n->random = 0x9e3779b97f4a7c15u * (seed + 1) + rank;
    n->delay = (uint64_t)delay * 1000;
    char *rest = (char *)(uintptr_t)text + at;
    for (unsigned k = 0; k < size; k++, rest += *rest == ',') {
        peer_t *p = &n->peer[k];
        p->fd = (int)strtol(rest, &rest, 10);
        fcntl(p->fd, F_SETFD, FD_CLOEXEC);
        p->out.end = &p->out.first;
        for (int c = 0; c < KMM__CHANNELS; c++)
            p->in[c].end = &p->in[c].first;
    }
    fcntl(n->abort_fd, F_SETFD, FD_CLOEXEC);
    n->base = (kmm__transport_t){
        .version = KMM__TRANSPORT_VERSION,
        .name = "fake",
        .rank = rank,
        .size = size,
        .host_rank = rank,
        .host_size = size,
        .send = nodes_send,
        .find = nodes_find,
        .receive = nodes_receive,
        .test = nodes_test,
        .end = nodes_end,
        .abort = nodes_abort,
    };
    *out = &n->base;
    return 0;
}
