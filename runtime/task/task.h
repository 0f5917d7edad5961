/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks. A task is one unit of work: a chunk of a launch or several joined ones, the statements of
 * a `task` directive, or an operation of the runtime on the host. It has parts, each of which one
 * floor writes.
 *
 *             kmm__task_release          kmm__task_issued          kmm__task_finish
 *   WAITING -----------------> READY ------------------> ISSUED -----------------> DONE
 *                                |                                                  ^
 *                                +--------------------------------------------------+
 *                                   kmm__task_finish: it failed before it was issued
 *
 *   WAITING  order.issue_left > 0: still being submitted, or a predecessor is not issued yet
 *   READY    its device may issue it
 *   ISSUED   on streams; or, on the host, running or waiting for order.done_left to become 0
 *   DONE     its work is over, and so is the work of all tasks that it follows
 *
 * All functions are called with the runtime's lock.
 */
#ifndef KMM__TASK_TASK_H
#define KMM__TASK_TASK_H

#include <assert.h>

#include "backend/device.h"
#include "base/trace.h"
#include "task/object.h"
#include "task/state.h"
#include "task/work.h"

enum {
    KMM__FEW_ACCESSES = 4, /* accesses for which a task has room of its own */

    /* Bounds of unfinished tasks. A program that submits more waits until 7/8 of the bound are
     * left. With several spaces, what is bounded is the bytes of bookkeeping that they keep. The
     * bound is high, because queued tasks show which memory is used when
     * (memory/residency/foresight.c). Where only host memory exists, their number is bounded, by
     * what fits in the CPU's caches. */
    KMM__MOST_KEPT = 64 << 20,
    KMM__MOST_DIRECT = 1 << 11
};

typedef enum kmm__task_state {
    KMM__TASK_WAITING,
    KMM__TASK_READY,
    KMM__TASK_ISSUED,
    KMM__TASK_DONE
} kmm__task_state_t;

/* An access: the use of one region of one array by a task. */
typedef struct kmm__access {
    kmm__array_t *array;
    kmm_mode_t mode; /* READ, WRITE or UPDATE; never a reduction */
    bool exact;      /* the region is the elements accessed; false: it is a hull of them */
    uint8_t element; /* bytes of an element, for messages; 0: not known, or more */
    uint16_t item;   /* the launch's item that it comes from; KMM__MAX_ITEMS: none */
    const kmm__layout_t *layout; /* of `box`; the array's flat layout, or one that the work owns */
    kmm__box_t box;
} kmm__access_t;

/* Translates an access's region to boxes of a map's layout; see kmm__shape_map_boxes. */
static inline int kmm__access_boxes(const kmm__access_t *a, kmm__shape_map_t *m,
                                    const kmm__map_ops_t *ops, void *ctx,
                                    kmm__box_t out[2 * KMM__DIMS])
{
    return kmm__shape_map_boxes(m, ops, ctx, a->layout, &a->box, out);
}

/* An edge of the DAG, kept by the task where it begins. `data`: `to` reads what that task writes.
 */
typedef struct kmm__edge {
    kmm__task_t *to;
    bool data;
} kmm__edge_t;

/* The part of a task for dependences: conditions that it waits for, and tasks that wait for it.
 * Written by task/. */
typedef struct kmm__task_order {
    uint32_t issue_left; /* predecessors that must be issued, or done, before the task is issued */
    /* tickets and reads of pages that must be done before it runs on the host */
    uint32_t done_left;
    uint32_t finish_left; /* predecessors and tickets that must be done before it counts as done */
    uint64_t after;   /* the greatest rank of unfinished tasks that it follows; 0: there is none */
    bool finished;    /* the task's own work is over */
    bool is_unissued; /* its span counts it as not yet on streams */
    kmm__ticket_t *ticket;  /* done when the task is */
    struct kmm__span *span; /* span of its program stream (task/marker.c); NULL once it is done */
    /* of a direct task that is done: its work, which kmm__tasks_settle drops */
    kmm__work_t *unsettled_work;
    kmm__task_t *next_unsettled; /* next in rt->tasks->unsettled */
    uint32_t successor_count, wait_count;
    /* Kept when the task is used again: */
    kmm__edge_t *successors;
    kmm__ticket_t **waits; /* tickets of predecessors that its stream waits for; a reference each */
    uint32_t successor_capacity, wait_capacity;
} kmm__task_order_t;

/* The part of a task that says which chunks of its launch it is. Written by launch/. */
typedef struct kmm__task_part {
    /* numbers of its chunks; more than one if small chunks were joined */
    uint32_t chunk, last_chunk;
    bool exact;                   /* its writes are boxes, none is a hull */
    uint32_t offset[3], count[3]; /* blocks of a kernel */
    kmm_chunk_t range;            /* of a function */
    /* a direct task: its arguments are addresses of host memory, and nothing is moved for it */
    bool is_direct;
} kmm__task_part_t;

/* The part of a task for memory that it holds on its device and on the host. Written by memory/. */
typedef struct kmm__task_residency {
    uint64_t coming;                  /* bytes that were mapped for it, until it is done */
    struct kmm__page_pins *page_pins; /* pages of host memory that it pins; NULL: none */
    bool is_expected;                 /* its frames have it in their queues of uses */
    bool is_unforeseen;               /* they do not, and it has not acquired them yet */
    uint32_t copy_count, pinned_count;
    /* Kept when the task is used again: */
    kmm__ticket_t **copies; /* tickets of copies made for it; references */
    kmm__frame_t **pinned;
    uint32_t copy_capacity, pinned_capacity;
} kmm__task_residency_t;

/* The part of a task for its run. Written by execute/. */
typedef struct kmm__task_issue {
    uint32_t compute_stream;
    bool entered;             /* of a `task` directive: its statements may run */
    struct kmm__check *check; /* KMM_CHECK=access: copies of arrays that it works on */
} kmm__task_issue_t;

struct kmm__task {
    uint64_t refs;     /* held by the DAG until it is done, maps of users, edges, waiters */
    uint64_t sequence; /* number in the order of submission */
    /* Its place in the order in which its device takes tasks; ties go by `sequence`. At first its
     * own number; memory/residency/reuse.c makes it less. Not less than that of a task which it
     * follows. */
    uint64_t rank;
    kmm_runtime_t *runtime;
    kmm__device_t *device;
    kmm__work_t *work; /* NULL once it is done */
    uint64_t work_id;  /* work->id, also once work is NULL */
    kmm__task_state_t state;
    /* the first error; KMM_E_POISONED: it read what a failed task wrote. Written by kmm__task_fail;
     * read without the lock before a kernel is launched */
    _Atomic int error;
    /* item of the launch that is at fault if error is set; KMM__MAX_ITEMS: not known */
    uint16_t failed_item;
    int priority; /* set by launch/ */
    bool awaited; /* a thread waits for the task on runtime->progress */
    /* `few` or `many`; filled by launch/; each holds a reference to its array */
    kmm__access_t *accesses;
    uint32_t access_count;
    uint64_t bytes;    /* bytes of all accesses, not counting abstract objects */
    uint64_t kept;     /* bytes of bookkeeping that are kept for it until it is done */
    kmm__task_t *next; /* in the free list */
    kmm__task_order_t order;
    kmm__task_part_t part;
    kmm__task_residency_t residency;
    kmm__task_issue_t issue;
    /* room for accesses if `few` does not do; kept when the task is used again */
    kmm__access_t *many;
    uint32_t many_capacity;
    kmm__access_t few[KMM__FEW_ACCESSES];
};

/* Makes and ends the runtime's part. */
void kmm__tasks_start(kmm_runtime_t *rt, const kmm__task_hooks_t *hooks);
void kmm__tasks_stop(kmm_runtime_t *rt); /* all tasks are done */

/* Waits, if the bound of unfinished tasks is exceeded, until enough of them are done. A thread that
 * is inside a task does not wait. */
void kmm__tasks_throttle(kmm_runtime_t *rt);
/* Adds bytes of bookkeeping that are kept for t until it is done. */
static inline void kmm__task_keep(kmm__task_t *t, uint64_t bytes)
{
    t->kept += bytes;
    t->runtime->tasks->kept += bytes;
}

/* Makes a task without a device, with room for `access_count` accesses, and with one reference.
 * kmm__task_assign gives it a device. Direct tasks that are done must have been settled. */
kmm__task_t *kmm__task_create(kmm_runtime_t *rt, kmm__work_t *work, uint32_t access_count);
/* Gives a task with accesses its device and a ticket on `stream`, and counts its accesses as
 * unfinished. */
void kmm__task_enter(kmm__task_t *t, kmm__device_t *device, kmm__stream_t *stream);
/* The task's number in the process, for trace points; not 0. */
static inline uint64_t kmm__task_number(const kmm__task_t *t)
{
    return ((uint64_t)t->runtime->number << 40) + t->sequence + 1;
}
static inline void kmm__task_ref(kmm__task_t *t)
{
    t->refs++;
}
void kmm__task_unref(kmm__task_t *t);

/* Sets the task's error, unless it has one. No other function writes it. */
void kmm__task_fail(kmm__task_t *t, int error);
/* Records the item of the launch that is at fault. Called before the task fails. */
void kmm__task_blame(kmm__task_t *t, uint16_t item);
/* Records that a thread begins to wait for tasks whose numbers are less than `end`: devices take
 * these before later ones, whatever their ranks. */
void kmm__tasks_await(kmm_runtime_t *rt, uint64_t end);
/* Makes the end of t wake threads that wait on runtime->progress. One is about to wait there. */
void kmm__task_announce(kmm__task_t *t);

/* READY -> ISSUED. Makes successors on streams of the same backend, and those on the host, wait for
 * t's ticket. */
void kmm__task_issued(kmm__task_t *t);
/* Records that the task's own work is over, with `error` 0 or the reason why it failed. The task is
 * DONE when all that it follows is done, too. */
void kmm__task_finish(kmm__task_t *t, int error);

/* Called by the hook `left`. */
/* Stops counting access k as unfinished. The caller keeps the reference to its array. */
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
/* Adds t to rt->tasks->unsettled: its accesses and its work are dropped later. */
void kmm__task_put_unsettled(kmm__task_t *t);
/* Removes a task from rt->tasks->unsettled. *work receives the reference to its work. NULL: the
 * list is empty. */
kmm__task_t *kmm__task_take_unsettled(kmm_runtime_t *rt, kmm__work_t **work);

/* Counts of what the task waits for. */
void kmm__task_hold(kmm__task_t *t);    /* adds a condition of its issue */
void kmm__task_release(kmm__task_t *t); /* removes one; without any, it is READY */
void kmm__task_finish_later(kmm__task_t *t, uint32_t count); /* adds conditions of its end */
/* Removes a condition of the task's end. Without any, and if its own work is over, the task is
 * DONE. */
void kmm__task_finish_left_fall(kmm__task_t *t);
/* Adds conditions of its run on the host. */
void kmm__task_run_later(kmm__task_t *t, uint32_t count);
/* Removes one; true: none is left, and the caller runs it. */
bool kmm__task_run_left_fall(kmm__task_t *t);

/* Makes t's stream wait for the ticket, unless the ticket is done, or of t's stream, or the last
 * one that was added. */
void kmm__task_wait_for(kmm__task_t *t, kmm__ticket_t *ticket);

/* Makes `to` follow `from`. `data`: `to` reads what `from` writes, and is poisoned if `from` fails.
 */
void kmm__task_add_edge(kmm__task_t *from, kmm__task_t *to, bool data);

/* A trace point of a task: KMM__TRACE, with less code where it stands. */
#define KMM__TRACE_TASK(kind, task, a)                                                             \
    do {                                                                                           \
        if (kmm__tracing())                                                                        \
            kmm__trace_task(kind, task, a);                                                        \
    } while (0)
void kmm__trace_task(kmm__event_kind_t kind, const kmm__task_t *t, uint64_t a)
    __attribute__((cold));

/* Writes "file:line: kernel: chunk k of n" to out. */
void kmm__task_describe(const kmm__task_t *t, char *out, size_t size);

/* True if the task's counts, references and state agree. Reads only the task and its ticket. */
bool kmm__task_is_valid(const kmm__task_t *t);
/* True if each successor counts t among what it waits for. */
bool kmm__task_edges_are_valid(const kmm__task_t *t);

#endif
