/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task: one unit of work, which is a chunk of a launch, the statements of a `task` directive, or
 * an operation of the runtime on the host. It is made of parts, each of which one floor writes.
 *
 *             kmm__task_release          kmm__task_issued          kmm__task_finish
 *   WAITING -----------------> READY ------------------> ISSUED -----------------> DONE
 *                                |                                                  ^
 *                                +--------------------------------------------------+
 *                                   kmm__task_finish: it failed before it was issued
 *
 *   WAITING  order.issue_left > 0: it is being submitted, or follows what is not issued yet
 *   READY    its device may issue it
 *   ISSUED   on streams; on the host, waiting for order.done_left to become 0, or running
 *   DONE     its work is over, and so is that of all it follows
 *
 * All functions are called with the runtime's lock.
 */
#ifndef KMM__TASK_TASK_H
#define KMM__TASK_TASK_H

#include <assert.h>

#include "backend/device.h"
#include "task/object.h"
#include "task/state.h"
#include "task/work.h"

enum {
    KMM__FEW_ACCESSES = 4, /* for which a task has room of its own */

    /* Unfinished tasks. A program that submits more waits until 7/8 of them are left. Many show
     * what is used when (memory/residency/foresight.c); where nothing moves, no more than the
     * caches hold. */
    KMM__MAX_OUTSTANDING = 1 << 15,
    KMM__MAX_OUTSTANDING_DIRECT = 1 << 11
};

typedef enum kmm__task_state {
    KMM__TASK_WAITING,
    KMM__TASK_READY,
    KMM__TASK_ISSUED,
    KMM__TASK_DONE
} kmm__task_state_t;

/* What a task does to one region of one array. */
typedef struct kmm__access {
    kmm__array_t *array;
    kmm_mode_t mode;             /* READ, WRITE or UPDATE; reductions have become one of these */
    bool exact;                  /* the region is the elements accessed, not a hull of them */
    uint8_t element;             /* bytes of an element, for messages; 0: not known, or more */
    uint16_t item;               /* the launch's item it comes from; KMM__MAX_ITEMS: none */
    const kmm__layout_t *layout; /* the array's flat one, or one that the work owns */
    kmm__box_t box;
} kmm__access_t;

/* The region as boxes of a map's layout; see kmm__shape_map_boxes. */
static inline int kmm__access_boxes(const kmm__access_t *a, kmm__shape_map_t *m,
                                    const kmm__map_ops_t *ops, void *ctx,
                                    kmm__box_t out[2 * KMM__DIMS])
{
    return kmm__shape_map_boxes(m, ops, ctx, a->layout, &a->box, out);
}

/* data: `to` reads what the task at the edge's beginning writes. */
typedef struct kmm__edge {
    kmm__task_t *to;
    bool data;
} kmm__edge_t;

/* What it waits for, and who waits for it. Written by task/. */
typedef struct kmm__task_order {
    uint32_t issue_left;    /* predecessors that must be issued, or done, before it is issued */
    uint32_t done_left;     /* tickets that must be done before it runs on the host */
    uint32_t finish_left;   /* predecessors that must be done before it counts as done */
    bool finished;          /* its own work is over */
    bool is_unissued;       /* its span counts it among those that are not on streams */
    kmm__ticket_t *ticket;  /* the point on its stream at which it is over */
    struct kmm__span *span; /* of its stream (task/marker.c); NULL once it is done */
    kmm__work_t *unsettled_work; /* of a direct task that is done: what kmm__tasks_settle drops, */
    kmm__task_t *next_unsettled; /* and the next such task */
    uint32_t successor_count, wait_count;
    /* Kept when the task is used again: */
    kmm__edge_t *successors;
    kmm__ticket_t **waits; /* predecessors' tickets, for its stream to wait for; references */
    uint32_t successor_capacity, wait_capacity;
} kmm__task_order_t;

/* Which part of its launch it is. Written by launch/. */
typedef struct kmm__task_part {
    uint32_t chunk, last_chunk;   /* its numbers; several when small chunks were joined */
    bool exact;                   /* its writes are boxes, not hulls */
    uint32_t offset[3], count[3]; /* blocks of a kernel */
    kmm_chunk_t range;            /* of a function */
    bool is_direct; /* it works in the host's space, where all it uses is, and stays */
} kmm__task_part_t;

/* What it keeps on its device and in the host's memory. Written by memory/. */
typedef struct kmm__task_residency {
    uint64_t coming;                  /* bytes that it had to have mapped, until it is done */
    struct kmm__page_pins *page_pins; /* pages of the host's memory that it needs; NULL: none */
    bool is_expected;                 /* its frames expect it */
    uint32_t copy_count, pinned_count;
    /* Kept when the task is used again: */
    kmm__ticket_t **copies; /* made for it; done when it is */
    kmm__frame_t **pinned;
    uint32_t copy_capacity, pinned_capacity;
} kmm__task_residency_t;

/* How it runs. Written by execute/. */
typedef struct kmm__task_issue {
    uint32_t compute_stream;
    bool entered;             /* of a `task` directive: its statements may run */
    struct kmm__check *check; /* KMM_CHECK=access: the copies it works on */
} kmm__task_issue_t;

struct kmm__task {
    uint64_t refs;     /* the DAG while it is unfinished, maps of users, edges, waiters */
    uint64_t sequence; /* its number in the order of submission */
    kmm_runtime_t *runtime;
    kmm__device_t *device;
    kmm__work_t *work; /* NULL once it is done */
    uint64_t work_id;  /* of the work, also when that is gone */
    kmm__task_state_t state;
    _Atomic int error;       /* KMM_E_POISONED: it read what a failed task wrote. Written by
                              * kmm__task_fail; read without the lock before a kernel is launched */
    uint16_t failed_item;    /* of the launch, when error is not 0; KMM__MAX_ITEMS: not known */
    int priority;            /* set by launch/ */
    bool awaited;            /* a thread waits for it on the runtime's progress */
    kmm__access_t *accesses; /* few, or many; filled by launch/, each with a reference */
    uint32_t access_count;
    uint64_t bytes;    /* of all accesses, but for abstract arrays */
    kmm__task_t *next; /* among the spare ones */
    kmm__task_order_t order;
    kmm__task_part_t part;
    kmm__task_residency_t residency;
    kmm__task_issue_t issue;
    kmm__access_t *many; /* accesses, when few does not do; kept when the task is used again */
    uint32_t many_capacity;
    kmm__access_t few[KMM__FEW_ACCESSES];
};

void kmm__tasks_start(kmm_runtime_t *rt, const kmm__task_hooks_t *hooks);
void kmm__tasks_stop(kmm_runtime_t *rt); /* all tasks are done */

/* Sets how many tasks may be outstanding, once the devices are known. */
void kmm__tasks_bound(kmm_runtime_t *rt);
/* Waits, unless this thread is inside a task, until few enough tasks are outstanding to submit
 * more. */
void kmm__tasks_throttle(kmm_runtime_t *rt);

/* A task without a device, with room for accesses; kmm__task_assign comes next. One reference. What
 * direct tasks have left must have been settled. */
kmm__task_t *kmm__task_create(kmm_runtime_t *rt, kmm__work_t *work, uint32_t access_count);
/* Counts its accesses as unfinished ones of the device's space, and gives it a ticket. */
void kmm__task_enter(kmm__task_t *t, kmm__device_t *device, kmm__stream_t *stream);
static inline void kmm__task_ref(kmm__task_t *t)
{
    t->refs++;
}
void kmm__task_unref(kmm__task_t *t);

/* The one writer of error: keeps the first. */
void kmm__task_fail(kmm__task_t *t, int error);
/* Notes which item of the launch is at fault, before the task fails. */
void kmm__task_blame(kmm__task_t *t, uint16_t item);
/* A thread waits for t on the runtime's progress, which its end will announce. */
void kmm__task_announce(kmm__task_t *t);

/* Transitions. */
void kmm__task_issued(kmm__task_t *t);
/* Its own work is over; error 0 or why it failed. */
void kmm__task_finish(kmm__task_t *t, int error);

/* For the hook `left`, once it is done. */
/* Access k is none of an unfinished task any more. The reference to its array is the caller's. */
static inline void kmm__task_leave_object(kmm__task_t *t, uint32_t k)
{
    kmm__object_t *o = kmm__object_of(t->accesses[k].array);
    assert(t->state == KMM__TASK_DONE && o->writers >= (t->accesses[k].mode != KMM_READ));
    o->writers -= t->accesses[k].mode != KMM_READ;
    if (t->runtime->has_spaces) {
        assert(o->unfinished[t->device->space] > 0);
        o->unfinished[t->device->space]--;
    }
}
/* Puts it on the list of direct tasks whose accesses and work are dropped later. */
void kmm__task_put_unsettled(kmm__task_t *t);
/* Takes one off that list, with the reference to its work; NULL: there is none. */
kmm__task_t *kmm__task_take_unsettled(kmm_runtime_t *rt, kmm__work_t **work);

/* Counts of order: something more, or less, that it has to wait for. */
void kmm__task_hold(kmm__task_t *t);                         /* before it is issued */
void kmm__task_release(kmm__task_t *t);                      /* the opposite; at 0 it is ready */
void kmm__task_finish_later(kmm__task_t *t, uint32_t count); /* before it counts as done */
void kmm__task_finish_left_fall(kmm__task_t *t);
void kmm__task_run_later(kmm__task_t *t, uint32_t count); /* before it runs on the host */
bool kmm__task_run_left_fall(kmm__task_t *t);             /* true at 0: the caller runs it */

/* Its stream will wait for the ticket, unless that is done, of the same stream, or the last one
 * that it waits for already. */
void kmm__task_wait_for(kmm__task_t *t, kmm__ticket_t *ticket);

/* `to` follows `from`; data: it reads what `from` writes, and is poisoned where that fails. */
void kmm__task_add_edge(kmm__task_t *from, kmm__task_t *to, bool data);

/* "file:line: kernel: chunk k of n" */
void kmm__task_describe(const kmm__task_t *t, char *out, size_t size);

/* Whether counts, references and state agree. Looks at nothing but the task and its ticket. */
bool kmm__task_is_valid(const kmm__task_t *t);
/* Also whether each successor counts it among what it waits for. */
bool kmm__task_edges_are_valid(const kmm__task_t *t);

#endif
