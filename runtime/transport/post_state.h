/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the post, for the files of this folder. */
#ifndef KMM__POST_STATE_H
#define KMM__POST_STATE_H

#include <pthread.h>
#include <stdbool.h>

#include "transport/hooks.h"
#include "transport/transport.h"

/* A record of a batch: this header, then `count` bytes, then zeros up to a multiple of 8. */
typedef struct kmm__record {
    uint32_t kind; /* less than KMM__POST_KINDS, or one of the post's own */
    uint32_t count;
} kmm__record_t;

enum {
    KMM__RECORD_PARCEL = KMM__POST_KINDS, /* a uint64_t, the bytes of the contents; the header */
    KMM__RECORD_BEAT,                     /* nothing: the sender is there */
    KMM__RECORD_END,                      /* of process 0: the program ends */
    KMM__RECORD_BYE                       /* to process 0: nothing will follow */
};

/* Records for one process, which travel as one message. */
typedef struct kmm__post_batch {
    char *bytes;
    size_t count, capacity;
} kmm__post_batch_t;

/* Contents of a parcel that are to be sent, or are being sent. */
typedef struct kmm__contents {
    struct kmm__contents *next;
    const void *bytes;
    size_t count;
    void (*sent)(void *arg);
    void *arg;
    void *request;  /* of the transport, once it is being sent */
    uint64_t began; /* when that began; 0: nobody listens */
} kmm__contents_t;

/* A message that was found. */
typedef struct kmm__letter {
    struct kmm__letter *next;
    kmm__arrival_t arrival;
    void *to;       /* NULL: it is of the channel for data, and its header is not there yet */
    void *request;  /* of the transport, once it is being received */
    uint64_t began; /* when that began; 0: nobody listens */
    bool is_begun;
} kmm__letter_t;

/* Where the contents of a parcel go whose header has arrived. */
typedef struct kmm__slot {
    struct kmm__slot *next;
    void *to;
    size_t bytes;
} kmm__slot_t;

/* Another process. */
typedef struct kmm__peer {
    /* Guarded by the post's lock: */
    kmm__post_batch_t next;   /* collects records while `carried` is on its way */
    kmm__contents_t *waiting; /* contents that are to be sent, in order */
    kmm__contents_t **waiting_end;
    /* Of the post's thread: */
    kmm__post_batch_t carried; /* is being sent, if is_carrying */
    bool is_carrying;
    void *request;
    uint64_t began;           /* when `carried` began to be sent; 0: nobody listens */
    kmm__contents_t *leaving; /* contents that are being sent, in order */
    kmm__contents_t **leaving_end;
    kmm__letter_t *found[KMM__CHANNELS]; /* in order */
    kmm__letter_t **found_end[KMM__CHANNELS];
    kmm__slot_t *slots; /* for contents that have not been found yet, in order */
    kmm__slot_t **slots_end;
    uint64_t told, heard; /* times: something was sent to it, and came from it */
    bool has_ended, is_lost;
    bool is_gone;        /* the transport cannot reach it any more */
    bool is_unreachable; /* nothing is sent to it any more */
} kmm__peer_t;

struct kmm__post {
    kmm__transport_open_t *open;
    kmm__post_hooks_t hooks;
    pthread_t thread;
    /* Constant once the post has been opened: */
    kmm__transport_t *transport;
    uint32_t rank, size;
    kmm__peer_t *peers; /* one for each process; this one's is not used */
    uint64_t silence;   /* nanoseconds after which a process is lost; 0: never */

    pthread_mutex_t lock;
    pthread_cond_t posted;  /* there is something to send, or to do */
    pthread_cond_t carried; /* a batch has been sent, or the transport opened */
    /* Guarded by the lock: */
    bool is_open, is_napping, is_ending, is_aborting;
    int status; /* of the abort */
    int error;  /* of opening; 0: none */
    char reason[512];
    kmm__post_counts_t counts;
    /* Of the post's thread: */
    uint64_t active; /* time at which something was last done */
    uint64_t nap;    /* nanoseconds of the next nap */
    uint64_t looked; /* time at which the silence of the others was last looked at */
    uint32_t ended;  /* processes that have said KMM__RECORD_BYE */
    bool heard_end;  /* process 0 has said KMM__RECORD_END */
};

/* Locked: adds a record for process `to`: `first`, if not NULL, and the bytes. */
void kmm__post_add(kmm__post_t *p, uint32_t to, uint32_t kind, const uint64_t *first,
                   const void *bytes, size_t count);

/* On the post's thread: tells the hooks that a process is lost, unless that is known or does not
 * matter. */
void kmm__post_lose(kmm__post_t *p, uint32_t rank, const char *why);

#endif
