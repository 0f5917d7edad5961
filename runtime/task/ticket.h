/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tickets. A ticket is a point on a stream that other work waits for. A plan may refer to a ticket
 * before the point is on the stream. Plans refer only to tickets that were planned before them, so
 * waiting for a ticket to be recorded cannot deadlock.
 *
 *             kmm__ticket_recorded          kmm__ticket_done
 *   PLANNED ----------------------> RECORDED -----------------> DONE
 *      |                                                         ^
 *      +---------------------------------------------------------+
 *          kmm__ticket_done: work on the host, or never enqueued
 *
 *   PLANNED   its event is not recorded on its stream yet
 *   RECORDED  its event is recorded: streams may wait for it
 *   DONE      all work before it is over
 *
 * Functions are called with the runtime's lock unless they say otherwise.
 */
#ifndef KMM__TASK_TICKET_H
#define KMM__TASK_TICKET_H

#include "task/task.h"

typedef enum kmm__ticket_state {
    KMM__TICKET_PLANNED,
    KMM__TICKET_RECORDED,
    KMM__TICKET_DONE
} kmm__ticket_state_t;

/* A reference-counted event, shared by the tickets of tasks that are issued together. */
typedef struct kmm__shared_event {
    kmm__event_t *event; /* NULL: the backend could not make one */
    bool failed;         /* recording failed; written before any of its tickets is RECORDED */
    uint32_t refs;
    struct kmm__shared_event *next; /* in the free list */
} kmm__shared_event_t;

struct kmm__ticket {
    uint32_t refs;
    _Atomic(kmm__ticket_state_t) state;
    kmm__device_t *device;
    kmm__stream_t *stream;       /* NULL: work on the host, which no stream can wait for */
    kmm__shared_event_t *shared; /* the event; NULL: kmm__ticket_arm has not been called */
    bool is_copy;                /* it is a copy's; false: a task's */
    _Atomic int error; /* of a copy that failed, whole or in part; set before it is DONE */
    bool awaited;      /* a thread waits for the ticket on rt->progress */
    /* Tasks that wait until the ticket is done: those on the host before they run, those on streams
     * before they count as done. A reference each. Kept when the ticket is used again. */
    kmm__edge_t *waiters;
    uint32_t waiter_count, waiter_capacity;
    kmm__ticket_t *next; /* in the free list */
};

/* Makes a planned ticket. One reference. */
kmm__ticket_t *kmm__ticket_create(kmm__device_t *d, kmm__stream_t *stream);
/* Gives the ticket a new event, or, if `with` is not NULL, the event of that ticket of the same
 * stream. */
void kmm__ticket_arm(kmm__ticket_t *t, kmm__ticket_t *with);
void kmm__ticket_ref(kmm__ticket_t *t); /* NULL: does nothing, here and in unref */
void kmm__ticket_unref(kmm__ticket_t *t);
void kmm__ticket_done(kmm__ticket_t *t);   /* does nothing if it is done */
void kmm__tickets_free(kmm_runtime_t *rt); /* frees the free lists */

/* Makes waiter.to wait until the ticket is done: before it runs, if it is on the host, otherwise
 * before it counts as done. If the ticket gets an error and waiter.data is true, waiter.to is
 * poisoned. */
void kmm__ticket_add_waiter(kmm__ticket_t *t, kmm__edge_t waiter);

/* Gives the tickets of t's copies that are not done an error. */
void kmm__copies_fail(kmm__task_t *t, int error);

/* Not locked: waits on the host if `stream` cannot wait for the ticket itself. True: `stream` has
 * nothing left to wait for. The thread must hold no stream's lock, because what it waits for may
 * need that lock. */
bool kmm__ticket_await(kmm__ticket_t *t, kmm__device_t *d, kmm__stream_t *stream);
/* Not locked: makes later work on `stream` of device d wait for the ticket. May wait on the host as
 * kmm__ticket_await does. Returns 0 or an error. */
int kmm__ticket_wait(kmm__ticket_t *t, kmm__device_t *d, kmm__stream_t *stream);
/* Not locked: the event that is recorded for a ticket of this thread's; NULL: it could not be
 * recorded. The caller's reference to the ticket keeps it from being recorded again. */
kmm__event_t *kmm__ticket_event(const kmm__ticket_t *t);
/* Not locked: waits until the work before a recorded ticket is over. The ticket may become DONE
 * later. NULL: returns at once. */
void kmm__ticket_poll(const kmm__ticket_t *t);
/* Not locked: waits until the ticket is DONE. NULL: returns at once. */
void kmm__ticket_settle(kmm__ticket_t *t);

/* Not locked: records the ticket's event on its stream. PLANNED -> RECORDED, also if that fails.
 * Returns 0 or the error. */
int kmm__ticket_record(kmm__ticket_t *t);
/* Not locked: PLANNED -> RECORDED, for other tickets that share a recorded event. A ticket that is
 * DONE stays so: its work may have been given up meanwhile. */
void kmm__ticket_recorded(kmm__ticket_t *t);

/* True if state, event and waiters agree. */
bool kmm__ticket_is_valid(const kmm__ticket_t *t);

#endif
