/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ticket: a point on a stream that other work waits for, and that need not exist yet when a plan
 * refers to it. Plans refer only to tickets planned before them, so waiting for one to be recorded
 * cannot deadlock.
 *
 *             kmm__ticket_recorded          kmm__ticket_done
 *   PLANNED ----------------------> RECORDED -----------------> DONE
 *      |                                                         ^
 *      +---------------------------------------------------------+
 *          kmm__ticket_done: work on the host, or never enqueued
 *
 *   PLANNED   decided on; its stream does not have it yet
 *   RECORDED  its event has been recorded: streams may wait for it
 *   DONE      what comes before it is over
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

/* An event, shared by the tickets of tasks that are issued together. */
typedef struct kmm__shared_event {
    kmm__event_t *event; /* NULL: there is none to be had */
    bool failed;         /* it could not be recorded; written before any ticket of it is RECORDED */
    uint32_t refs;
} kmm__shared_event_t;

struct kmm__ticket {
    uint32_t refs;
    _Atomic(kmm__ticket_state_t) state;
    kmm__device_t *device;
    kmm__stream_t *stream;       /* NULL: work on the host, which streams cannot wait for */
    kmm__shared_event_t *shared; /* where to wait; NULL until it has been armed */
    bool is_copy;                /* of a copy; otherwise of a task */
    _Atomic int error; /* why the copy was not made, or not whole; set before it is DONE */
    bool awaited;      /* a thread waits for it on rt->progress */
    /* Tasks on the host that run, and tasks on streams that count as done, only when it is done; a
     * reference each. Kept when the ticket is used again. */
    kmm__edge_t *waiters;
    uint32_t waiter_count, waiter_capacity;
    kmm__ticket_t *next; /* among the spare ones */
};

kmm__ticket_t *kmm__ticket_create(kmm__device_t *d, kmm__stream_t *stream);
/* Gives a ticket an event of its own, or that of another ticket of the same stream. */
void kmm__ticket_arm(kmm__ticket_t *t, kmm__ticket_t *with);
void kmm__ticket_ref(kmm__ticket_t *t); /* NULL is allowed, here and in unref */
void kmm__ticket_unref(kmm__ticket_t *t);
void kmm__ticket_done(kmm__ticket_t *t);   /* idempotent */
void kmm__tickets_free(kmm_runtime_t *rt); /* the spare ones */

/* waiter.to cannot run on the host, or be done, before the ticket is. If the ticket gets an error,
 * waiter.to is poisoned where waiter.data says so. */
void kmm__ticket_add_waiter(kmm__ticket_t *t, kmm__edge_t waiter);

/* The copies made for t were not made, or not whole. */
void kmm__copies_fail(kmm__task_t *t, int error);

/* Not locked: waits on the host where streams cannot wait. True when nothing is left for the stream
 * to wait for. The thread must hold no stream's lock: what it waits for may need it. */
bool kmm__ticket_await(kmm__ticket_t *t, kmm__device_t *d, kmm__stream_t *stream);
/* Not locked: makes later work on `stream` of `d` wait for the ticket; may wait as above. */
int kmm__ticket_wait(kmm__ticket_t *t, kmm__device_t *d, kmm__stream_t *stream);
/* Not locked: waits until the work of a recorded ticket is over. Its completion may be announced
 * later. NULL returns at once. */
void kmm__ticket_poll(const kmm__ticket_t *t);
/* Not locked: waits until it is done. NULL returns at once. */
void kmm__ticket_settle(kmm__ticket_t *t);

/* Not locked: records the event. Other tickets that share it follow by kmm__ticket_recorded, which
 * leaves one that is DONE already as it is: its work may be over, or given up, by then. */
int kmm__ticket_record(kmm__ticket_t *t);
void kmm__ticket_recorded(kmm__ticket_t *t);

/* Whether state, event and waiters agree. */
bool kmm__ticket_is_valid(const kmm__ticket_t *t);

#endif
