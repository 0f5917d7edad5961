/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's words and structures.
 *
 *   launch     one call of a kernel or function by the program; shared by its chunks
 *   chunk      a box of a launch's iteration space, run as one task
 *   task       one unit of work: a chunk, or an operation of the runtime on the host
 *   access     what a task does to one region of one array
 *   region     part of an array: a box in a layout (region.h)
 *   array      managed memory, named by an address at which nothing is mapped (but see in_place)
 *   space      a place elements can be: 0 is the host, k + 1 is device k
 *   window     an array's address space on a device
 *   frame      physical memory mapped in a window, the unit of residency
 *   sheet      part of an array's host buffer, the unit that goes to disk (memory/spill.h)
 *   coherence  which spaces hold the newest value of which box
 *   ticket     a point on a stream that other work can wait for
 *   issue      to enqueue a task's copies and its kernel on streams
 *   lane       a stream of a device on which kernels run
 *
 * One lock, kmm_runtime.lock, guards everything here that does not say otherwise. It is never held
 * while the driver maps memory, copies, launches or blocks.
 */
#ifndef KMM__TYPES_H
#define KMM__TYPES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kmm.h>

#include "backend/backend.h"
#include "base/api.h"
#include "geometry/region.h"
#include "launch/fold.h"

enum {
    KMM__MAX_DEVICES = 24, /* spaces are bits of 32 */
    KMM__MAX_SPACES = KMM__MAX_DEVICES + 1,
    KMM__MAX_BACKENDS = 5,
    KMM__HOST = 0,       /* the host's space */
    KMM__MAX_ITEMS = 64, /* access items of one launch */
    KMM__FEW_ACCESSES = 4,
    KMM__FEW_ITEMS = 8,
    KMM__PAST_USES = 4,
    KMM__PATTERNS = 509,
    KMM__SIDE_LANES = 8,  /* tasks of the program's own statements at once on a device */
    KMM__SAID = 32,       /* what a device remembers to have warned of */
    KMM__WORK_ROOM = 512, /* bytes; enough for most */
    /* Tasks; a program that submits more waits until it is 7/8 of that. Many show what is used when
     * (memory/foresight.c); where nothing moves, no more than the caches hold. */
    KMM__MAX_OUTSTANDING = 1 << 15,
    KMM__MAX_OUTSTANDING_PLAIN = 1 << 11
};

typedef struct kmm__device kmm__device_t;
typedef struct kmm__array kmm__array_t;
typedef struct kmm__task kmm__task_t;
typedef struct kmm__ticket kmm__ticket_t;
typedef struct kmm__frame kmm__frame_t;
typedef struct kmm__operation kmm__operation_t;

/* ---- Tickets (ticket.c) ---- */

typedef enum kmm__ticket_state {
    KMM__TICKET_PLANNED,  /* decided on; its stream does not have it yet */
    KMM__TICKET_RECORDED, /* its event has been recorded, streams may wait for it */
    KMM__TICKET_DONE
} kmm__ticket_state_t;

/* Plans refer only to tickets planned before them, so waiting for one to be recorded cannot
 * deadlock. References are counted under the runtime's lock. */
/* An event, shared by the tickets of tasks that are issued together. */
typedef struct kmm__point {
    kmm__event_t *event; /* NULL: there is none to be had */
    bool failed;         /* it could not be recorded; written before any ticket of it is RECORDED */
    uint32_t refs;
} kmm__point_t;

struct kmm__ticket {
    uint32_t refs;
    _Atomic(kmm__ticket_state_t) state;
    kmm__device_t *device;
    kmm__stream_t *stream;     /* NULL: work on the host, which streams cannot wait for */
    kmm__point_t *point;       /* where to wait; NULL until it has been armed */
    bool is_copy;              /* otherwise it is a task's */
    _Atomic int error;         /* why the copy was not made, or not whole; set before it is DONE */
    bool awaited;              /* a thread waits for it on rt->progress */
    struct kmm__edge *waiters; /* each counted in refs; their done_left falls when it is done, that
                                  of tasks on streams finish_left */
    uint32_t waiter_count, waiter_capacity;
    kmm__ticket_t *next; /* among the runtime's spare ones */
};

/* ---- Arrays (memory/) ---- */

typedef struct kmm__shape_map {
    kmm__layout_t layout; /* the layout whose boxes the map is made of */
    kmm__map_t *map;
} kmm__shape_map_t;

/* Value of the dependence map: who wrote a box last and who has read it since. */
typedef struct kmm__users {
    kmm__task_t *writer; /* NULL: nobody whose outcome matters any more */
    uint32_t homes;      /* spaces (bits) in which it was written last and read since */
    bool fresh;          /* the writer stores every element, and reads none of what was there */
    uint32_t reader_count, reader_capacity;
    union {
        kmm__task_t *few[2]; /* capacity 0: the readers themselves */
        kmm__task_t **many;
    } readers;
} kmm__users_t;

/* Tasks that read an array and are not in its map of users yet: what is only read costs one entry,
 * however its readers' boxes lie. No other task has entered it as a writer since. Each task's
 * reference is counted. */
typedef struct kmm__read {
    kmm__task_t *task;
    uint32_t access;
} kmm__read_t;
typedef struct kmm__reads {
    kmm__read_t *list;
    uint32_t count, capacity;
} kmm__reads_t;

/* Value of the coherence map. Bit s of valid: space s holds the newest value once ready[s] is done
 * (NULL: it is), unless ready[s] has an error or the space's device is lost. valid == 0: never
 * written. */
typedef struct kmm__holders {
    uint32_t valid;
    kmm__ticket_t *ready[KMM__MAX_SPACES]; /* maps keep only the first space_count */
} kmm__holders_t;

/* What an array's coherence map would answer wherever it is asked, so that it need not be
 * (memory/coherence.c). */
typedef struct kmm__settled {
    uint32_t whole; /* spaces (bits) that hold the newest value of all that was ever written, with
                       no copy on its way there */
    kmm__device_t *sole; /* the one device whose space holds any value, written whole, by tasks on
                            its one lane; NULL: not known. Its map is one leaf, */
    kmm__ticket_t *last; /* without the tickets of those who wrote: this is the latest; NULL: none;
                            a reference */
    uint32_t seen_in; /* the space in which so many bytes have been found to be there, one after the
                         other, */
    kmm__device_t *writer; /* the device that alone wrote so many, */
    uint64_t seen, stored; /* since all of the map was looked at */
} kmm__settled_t;

typedef enum kmm__frame_state {
    KMM__FRAME_ABSENT,
    KMM__FRAME_MAPPED,
    KMM__FRAME_MOVING,   /* being mapped or unmapped by its device's thread, or mapped ahead */
    KMM__FRAME_EVICTING, /* being copied out */
    KMM__FRAME_EVICTED   /* copied out, still mapped */
} kmm__frame_state_t;

/* When a frame is used (memory/foresight.c). Numbers are those of tasks: the order of submission.
 */
typedef struct kmm__uses {
    uint64_t *queue; /* tasks submitted and not issued that touch it; a ring */
    uint32_t head, count, capacity;
    uint32_t launch;               /* the pattern of the launch that used it last */
    uint64_t past[KMM__PAST_USES]; /* latest first; 0: none */
} kmm__uses_t;

/* A launch that may come again. */
typedef struct kmm__pattern {
    uint64_t identity; /* of the kernel, its place in the source and its arrays */
    uint64_t last;     /* number of its first task, the last time */
    uint64_t period;   /* how many tasks before that it came; 0: it came once */
} kmm__pattern_t;

/* Invariant: on the device's idle list exactly when MAPPED and pins == 0; on its busy list exactly
 * when pins > 0. */
struct kmm__frame {
    kmm__array_t *array;
    kmm__device_t *device;
    uint32_t index;
    kmm__frame_state_t state;
    uint32_t pins;   /* unfinished tasks that touch it, on any device */
    uint32_t shared; /* devices (bits) that have access to it; written by threads that pin it, under
                        the lock */
    uint64_t stamp;  /* the acquisition that listed it last */
    bool allowed;    /* its device has access to it */
    bool ahead;      /* it was, or is being, mapped ahead, and nobody has used it yet */
    bool away;       /* its memory is the host's, which the device reaches there; changes only while
                        nothing pins it */
    kmm__frame_handle_t handle;
    kmm__uses_t uses;
    kmm__frame_t *previous, *next; /* idle list, busy list, or evicted list */
};

typedef struct kmm__residence {
    kmm__addr_t window;   /* 0: none yet; where arrays are whole: none now */
    kmm__frame_t *frames; /* frame_count of them */
    uint32_t mapped;      /* of these */
    bool is_packed;       /* it has no frames: its place is in a slab (memory/pack.c) */
    bool released;
} kmm__residence_t;

/* A block of an array's host buffer that is page-locked as one (memory/pin.c). */
typedef struct kmm__host_block {
    enum { KMM__BLOCK_NEW, KMM__BLOCK_PINNING, KMM__BLOCK_READY } state;
    kmm__backend_t *locked_by; /* NULL: it could not be, or the program has done it */
    uint64_t staged;           /* bytes of it that were copied through buffers so far */
} kmm__host_block_t;

struct kmm__array {
    kmm_runtime_t *runtime;
    uint64_t id;
    uint64_t refs; /* one for the program, one for each access of an unfinished task */
    uint32_t unfinished[KMM__MAX_SPACES]; /* accesses of unfinished tasks, by where those work;
                                             counted where there are several spaces */
    uint32_t writers;                     /* those of unfinished tasks that write */
    bool failed; /* a task that wrote it has failed: who reads that is poisoned */
    char *base;  /* the address that names it */
    size_t bytes;
    size_t reserved; /* bytes of address space at base that are ours; 0 for mapped host memory */
    char *host;      /* host buffer; the user's memory when mapped; NULL: none yet */
    bool is_mapped;
    bool is_abstract;  /* orders work and holds no data */
    bool is_forgotten; /* the program has freed it: no work will be submitted that uses it */
    bool is_tracked;   /* its coherence matters: there are several spaces, or its map promises
                          something */
    kmm_map_t map;
    uint32_t map_depth; /* nested maps */
    bool is_deferred;   /* kmm_wait ends its map: a launch with nowait made it */
    uint16_t owner; /* of a managed program: the device that was current when it was allocated */
    bool *gone;     /* set to true when the array is freed; may be NULL */
    char *label;
    kmm__layout_t flat;         /* one dimension, its bytes */
    kmm__shape_map_t users;     /* dependences, at the submission front, */
    kmm__reads_t reads;         /* but for these */
    kmm__shape_map_t coherence; /* at the issue front, */
    kmm__settled_t settled;     /* and what is known of all of it */
    uint64_t frame_bytes;
    uint32_t frame_count;
    kmm__residence_t residence[KMM__MAX_DEVICES];
    uint32_t residence_left;    /* devices that have not released theirs, once refs is 0 */
    pthread_mutex_t block_lock; /* guards blocks; taken without the runtime's lock */
    pthread_cond_t block_ready; /* a block is no longer being page-locked */
    kmm__host_block_t *blocks;  /* of the host buffer; NULL: none is prepared */
    uint32_t block_count;
    uint64_t block_bytes;
    struct kmm__sheet
        *sheets; /* of the host buffer, with a limit of host memory (memory/spill.h) */
    uint32_t sheet_count;
    kmm__array_t *next_dead[KMM__MAX_DEVICES];
};

/* ---- Tasks (dag.c) ---- */

typedef struct kmm__access {
    kmm__array_t *array;
    kmm_mode_t mode;             /* READ, WRITE or UPDATE; reductions have been rewritten */
    bool exact;                  /* the region is the elements accessed, not a hull of them */
    uint16_t item;               /* the launch's item it comes from; KMM__MAX_ITEMS: none */
    const kmm__layout_t *layout; /* the array's flat one, or the work's */
    kmm__box_t box;
} kmm__access_t;

/* A pointer inside a launch's arguments that has to be translated for the space it is used in. */
typedef struct kmm__pointer {
    uint32_t at; /* byte offset in the packed arguments */
    kmm__array_t *array;
    int64_t offset;   /* of the address in the array */
    int16_t partials; /* index of the launch's private copies that it is redirected to; -1: none */
} kmm__pointer_t;

/* One item of a launch that is reduced into. */
typedef struct kmm__reduction {
    kmm_op_t op;
    kmm__element_t element;
    uint32_t item;      /* the launch's */
    uint32_t partials;  /* index of the copies it goes through */
    int64_t begin, end; /* the target's bytes */
} kmm__reduction_t;

/* The private copies of what a launch reduces into through one pointer: `slots` of them, one behind
 * the other. Chunk k of n uses slot k * slots / n. Byte b of the target is at b - begin in a slot.
 */
typedef struct kmm__partials {
    kmm__array_t *array; /* NULL: the one chunk works on the target */
    kmm__array_t *target;
    const char *base; /* the pointer, as the items give it */
    int64_t begin, end;
    int64_t slot_bytes;
    uint32_t slots;
} kmm__partials_t;

/* What the chunks of a launch share. References are counted by tasks. What it points to and owns
 * comes from kmm__work_take. */
/* Where an item's elements begin (observe/check.c). The array is there as long as the launch's
 * chunks are. */
typedef struct kmm__place {
    const kmm__array_t *array;
    int64_t offset, element;
} kmm__place_t;

typedef struct kmm__work kmm__work_t;
struct kmm__work {
    kmm_runtime_t *runtime;
    kmm__work_t *next; /* among the runtime's spare ones */
    uint64_t refs;
    uint64_t id;
    const char *name, *file;
    int line;
    uint32_t pattern; /* index in runtime->patterns */
    uint32_t chunk_count;
    const char **item_text; /* item_count of them, which live as long as the process */
    uint32_t item_count;
    /* A kernel: */
    const kmm_kernel_t *kernel;
    kmm_geometry_t geometry;
    /* or a function of the program: */
    kmm_function_t *function;
    /* or statements of the program, which run between kmm_task_begin and kmm_task_end: */
    bool is_inline;
    bool on_any_stream; /* that is not known: the data is there when they begin, and what they have
                           put on the device is done when they end */
    /* or an operation of the runtime, on the host. Returns 0 or an error. Owned: freed by drop. */
    kmm__operation_t *operation;
    unsigned char *args; /* packed: parameter k at arg_offset[k] */
    uint32_t args_bytes, arg_count;
    uint32_t *arg_offset;
    kmm__pointer_t *pointers;
    uint32_t pointer_count;
    bool is_translated; /* the pointers in args are addresses in the host's space already */
    kmm__reduction_t *reductions;
    uint32_t reduction_count;
    kmm__partials_t *partials;
    uint32_t partials_count;
    kmm__place_t *places; /* KMM_CHECK=access: of each item; NULL: nothing to check */
    uint32_t reached;     /* devices (bits) where all its pointers have addresses */
    bool is_warned;
    bool may_exceed; /* what a device's memory cannot hold of a chunk may be in the host's instead,
                        though smaller ones might fit */
    struct kmm__known_layout *layouts; /* of its tasks' accesses, but for flat ones */
    void *blocks; /* what did not fit in room; each begins with a pointer to the next */
    uint32_t room_used;
    _Alignas(16) unsigned char room[KMM__WORK_ROOM];
};

/* Work of the runtime itself on arrays in the host's space. */
struct kmm__operation {
    int (*run)(
        kmm__operation_t *op); /* with the accesses' arrays readable and writable at array->host */
    kmm__array_t *array, *other;
    int64_t begin, other_begin;
    size_t bytes;
    void *memory; /* the program's */
    int value;
    kmm__reduction_t reduction;
    kmm__partials_t partials;
    uint32_t first, count; /* slots */
};

typedef enum kmm__task_state {
    KMM__TASK_WAITING, /* issue_left > 0 */
    KMM__TASK_READY,   /* in its device's queue */
    KMM__TASK_ISSUED,  /* on streams, or waiting for done_left before it runs on the host */
    KMM__TASK_DONE
} kmm__task_state_t;

typedef struct kmm__edge {
    kmm__task_t *to;
    bool data;
} kmm__edge_t; /* data: `to` reads what this task writes */

struct kmm__task {
    uint64_t refs; /* the DAG while unfinished, dependence maps, edges, waiters */
    uint64_t sequence;
    kmm__task_state_t state;
    _Atomic int error; /* of this task, or KMM_E_POISONED; read without the lock before a kernel is
                          launched */
    int priority;
    kmm_runtime_t *runtime;
    kmm__device_t *device;
    kmm__work_t *work; /* NULL once done */
    uint64_t work_id;
    bool exact; /* its writes are boxes, not hulls */
    uint32_t chunk,
        last_chunk; /* its numbers in the launch: of several chunks when they were joined */
    uint32_t offset[3], count[3];
    kmm_chunk_t range; /* of a function */
    kmm__access_t *accesses;
    uint32_t access_count;
    uint64_t bytes; /* of all of them, but for what is abstract */
    /* Predecessors that have to be issued or done before this is issued; tickets that have to be
     * done before it runs on the host; predecessors that have to be done before it counts as done.
     */
    uint32_t issue_left, done_left, finish_left;
    bool finished;            /* its own work is over, finish_left may not be 0 */
    bool awaited;             /* a thread waits for it */
    bool is_expected;         /* its frames expect it */
    struct kmm__check *check; /* KMM_CHECK=access: the copies it works on */
    bool entered;             /* is_inline: the program's statements may run */
    kmm__ticket_t *ticket;
    uint32_t successor_count, wait_count, copy_count, pinned_count;
    struct kmm__held *held; /* host memory that it needs (memory/spill.h); NULL: none */
    uint64_t coming;        /* bytes that it had to have mapped, until it is done */
    uint32_t lane;
    uint16_t failed_item; /* of the launch, when error is not 0; KMM__MAX_ITEMS: not known */
    struct kmm__segment *segment; /* of its stream (marker.c) */
    bool is_unissued;             /* its segment waits for it to be on streams */
    kmm__task_t *next;            /* among the runtime's spare ones */
    bool is_plain; /* it works in the host's space, where all that it uses is there and stays there
                    */
    kmm__work_t *left; /* of a plain task that is done: with its accesses, what kmm__tasks_settle
                          has yet to drop */
    kmm__task_t *next_left; /* among the runtime's */
    /* Kept when the task is used again, room and all: */
    kmm__edge_t *successors;
    kmm__ticket_t **waits;  /* predecessors' tickets, for stream waits */
    kmm__ticket_t **copies; /* tickets of copies made for this task, done when it is */
    kmm__frame_t **pinned;
    kmm__access_t *many; /* accesses, when few does not do */
    uint32_t successor_capacity, wait_capacity, copy_capacity, pinned_capacity, many_capacity;
    kmm__access_t few[KMM__FEW_ACCESSES];
};

/* ---- Devices (schedule.c, memory/frame.c) ---- */

typedef struct kmm__lane {
    kmm__stream_t *stream;
    kmm__device_t *device;
    uint32_t in_flight;
    bool is_taken; /* of the CPU: it runs functions and operations as long as there are any; of a
                      side lane: by a task */
} kmm__lane_t;

typedef struct kmm__spare {
    kmm__frame_handle_t handle;
    uint64_t bytes;
} kmm__spare_t;

/* Tasks by priority, then in the order of submission: a binary heap, the first one at `head`. As
 * long as tasks come in that order it is a list as well, which is not heaped up anew for each that
 * goes. */
typedef struct kmm__queue {
    kmm__task_t **tasks;
    _Atomic uint32_t count; /* changed under the lock */
    uint32_t capacity, head;
    bool heaped; /* no list any more, until it is empty */
} kmm__queue_t;

struct kmm__device {
    kmm_runtime_t *runtime;
    kmm__backend_t *backend;
    kmm__gpu_t *gpu;
    kmm__gpu_info_t info;
    uint32_t index;   /* in runtime->device */
    int ordinal;      /* the driver's number */
    uint32_t space;   /* KMM__HOST when it works in the host's memory */
    _Atomic int lost; /* the error of work that failed on it: what was newest there is gone, and it
                         does nothing any more */
    bool hidden;      /* the CPU when only the runtime itself uses it */
    pthread_t thread;
    bool thread_runs;
    pthread_cond_t wake;    /* something in this struct changed that its thread may wait for */
    _Atomic uint64_t wakes; /* how often; the thread unlocks while it works, and must not miss one.
                               Changed under the lock */
    kmm__queue_t ready;
    kmm__queue_t
        startable;       /* of the CPU: tasks that nothing keeps from running, waiting for a lane */
    kmm__queue_t order;  /* no heap: tasks in the order of submission, some of which have been
                            issued; each counted in refs */
    uint32_t order_trim; /* with so many those are dropped */
    uint32_t seekers;    /* of the CPU: lanes that will look there again before they end */
    uint32_t in_flight;
    struct kmm__batch *under_way, *under_way_last; /* issued together (schedule.c), and not over */
    kmm__lane_t *lanes; /* lane_count of them, then KMM__SIDE_LANES: one for each task of the
                           program's own statements */
    uint32_t lane_count;
    kmm__stream_t *in, *out, *peer; /* copies from the host, to the host, from devices */
    pthread_mutex_t in_lock, out_lock,
        peer_lock; /* held while enqueuing on the stream of that name; the lanes belong to the
                      device's thread */
    kmm__event_t **events; /* unused ones */
    uint32_t event_count, event_capacity;
    /* Memory. used = frames mapped or spare, and slabs, in bytes; used <= limit except while limit
     * shrinks. */
    uint64_t limit, used;
    uint64_t most; /* what limit was before the driver had less */
    kmm__frame_t *idle, *busy;
    kmm__frame_t *evicted; /* singly linked by next */
    uint32_t evicting;     /* frames in state EVICTING */
    uint64_t evicting_bytes;
    uint64_t pinned_bytes;            /* of frames with pins; these four leave out what is away */
    uint64_t away, away_most;         /* bytes of frames that are */
    const void *exceeding[KMM__SAID]; /* kernels, or texts of other work, of which it has been said
                                         that they need too much, */
    const void *amplified[KMM__SAID]; /* or that their chunks use little of the frames they touch */
    uint32_t pressure;                /* acquisitions for which evicting ahead stays on */
    struct kmm__pack *pack;           /* frames that small arrays share; NULL: there was none yet */
    bool all_needed;                  /* whatever could be evicted is known to be needed again */
    struct kmm__ahead *mapper; /* the thread that maps ahead (memory/ahead.c); NULL: there was no
                                  need for it yet */
    uint64_t ahead_bytes;      /* of frames that are `ahead`; they count as used */
    bool is_moving_ahead;      /* some of them are being mapped */
    bool ahead_failed;         /* and none is, until one has been mapped where it was needed */
    uint64_t mapped_ahead, ahead_ns; /* frames, and the time of all that it took */
    uint64_t coming;                 /* bytes that unfinished tasks had to have mapped */
    uint64_t missing;    /* bytes that recent acquisitions had to have mapped, on average */
    uint64_t now;        /* the number of the task that acquired last */
    uint64_t stamp;      /* of the frames that the latest acquisition has listed, */
    bool acquires;       /* which is under way */
    kmm__spare_t *spare; /* physical memory mapped nowhere */
    uint32_t spare_count, spare_capacity;
    kmm__array_t *dead; /* arrays whose residence here is to be released */
    uint64_t flushed; /* how many of its launches have printed what they had to; counted without the
                         lock */
    uint64_t bytes_in, bytes_out, bytes_peer, bytes_lent,
        launches; /* lent: to other devices; counted without the lock */
    uint64_t mappings, allowings,
        mapping_ns; /* frames mapped and unmapped, calls that give the device access, time of both;
                       counted without the lock */
    uint64_t sharings, sharing_ns; /* calls that give other devices access */
    uint64_t waiting_ns;           /* for room, with the data of a task not asked for yet */
    uint64_t chunks;
};

/* ---- The runtime (runtime.c) ---- */

typedef struct kmm__error {
    int code;
    char text[512];
} kmm__error_t;

struct kmm_runtime {
    pthread_mutex_t lock;
    _Atomic uint32_t wanting; /* devices' threads that try to get it */
    pthread_cond_t progress;  /* a task, marker or array finished */
    kmm__backend_t *backends[KMM__MAX_BACKENDS];
    uint32_t backend_count;
    kmm__device_t *device[KMM__MAX_DEVICES];
    uint32_t device_count; /* visible ones come first */
    uint32_t visible_count;
    kmm__device_t *cpu;    /* the device in space 0; always there */
    kmm__array_t *globals; /* stands for all memory that is no array: variables of kernels, other
                              allocations */
    uint32_t space_count;
    bool has_spaces; /* some device has memory of its own */
    bool in_place;   /* the address of a new array is its memory, where there is no other space */
    kmm__map_ops_t holders_ops;
    bool checks_access;   /* KMM_CHECK=access */
    uint64_t frame_bytes; /* the largest frame */
    struct {
        uint64_t bytes, tasks, part;
    } join; /* chunks are joined to so many bytes at most (0: never), and to this part of a device's
             * memory, as long as that leaves each device so many tasks of a launch */
    struct kmm__locked *locked; /* how much of the host's memory is page-locked (memory/locked.c) */
    struct kmm__near *near;     /* the host's nodes near each device (memory/near.c) */
    struct kmm__pinners *pinners; /* threads that page-lock host memory (memory/pin.c) */
    struct kmm__stager *stager;   /* copies through buffers (memory/stage.c) */
    struct kmm__links
        *links; /* how many devices copy from and to the host at once (memory/links.h); NULL: all */
    struct kmm__spill *spill; /* the limit of host memory (memory/spill.h); NULL: none */
    kmm__array_t **arrays;    /* sorted by base */
    uint32_t array_count, array_capacity;
    uint32_t live_arrays;             /* not freed yet, dead ones included */
    uint32_t forgotten;               /* of these, the ones that are is_forgotten */
    uint64_t array_bytes, array_most; /* of all that live, and the most there were */
    uint64_t framed_bytes;            /* what all that live could take of a device, in frames */
    uint32_t deferred;                /* arrays that are is_deferred */
    uint64_t next_array, next_work, next_sequence;
    kmm__pattern_t patterns[KMM__PATTERNS];
    uint32_t outstanding;      /* unfinished tasks, */
    uint32_t most_outstanding; /* and how many there may be */
    uint32_t throttled;        /* threads that wait for outstanding to fall */
    kmm__task_t *left_over;    /* plain tasks that are done, until kmm__tasks_settle */
    kmm__task_t *spare_tasks;  /* kept with their arrays, so that a chunk costs no allocation */
    kmm__work_t *spare_works;
    kmm__ticket_t *spare_tickets;
    bool stopping;
    kmm__error_t error;      /* the first since kmm_wait returned one */
    struct kmm__line *lines; /* marker.c */
    uint32_t issue_waiters;  /* threads that wait for tasks to be on streams */
};

#endif
