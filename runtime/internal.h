/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runtime's files offer each other, in the order in which a launch meets them:
 * submit -> partition -> plan -> dag -> schedule -> memory -> completion.
 * Functions that say "locked" are called with runtime->lock held.
 */
#ifndef KMM__INTERNAL_H
#define KMM__INTERNAL_H

#include "base/spin.h"
#include "types.h"

/* ---- base/alloc.c: bookkeeping memory. Ends the process when there is none, with a message: a
 * runtime that cannot note who wrote what cannot keep its promises. ---- */
void *kmm__alloc(size_t bytes); /* zeroed; freed by free */
void *kmm__grow_more(void *data, uint32_t *capacity, size_t size);
/* Makes room for one more element of `size` in a growing array. */
static inline void *kmm__grow(void *data, uint32_t count, uint32_t *capacity, size_t size)
{
    return count < *capacity ? data : kmm__grow_more(data, capacity, size);
}
char *kmm__copy_text(const char *text);

/* ---- runtime.c ---- */
/* Locked, unlocks: writes back what launches with nowait left mapped in [begin, end). Returns the
 * first error, which is also among those that kmm_wait returns. */
int kmm__deferred_end(kmm_runtime_t *rt, uintptr_t begin, uintptr_t end);
kmm_runtime_t *kmm__current(void); /* of this thread; NULL when there is none */
/* The GPU that is current for this thread, if it is one of the runtime's, or NULL. */
kmm__device_t *kmm__current_gpu(const kmm_runtime_t *rt);
/* What kernels of the devices have printed is printed, as the driver does when the program waits
 * for a device; of one it is done already. NULL: of none. */
void kmm__flush(kmm_runtime_t *rt, const kmm__device_t *but);
/* In a forked process, whose only thread calls them: what the other threads held is free, and what
 * was recorded is forgotten. */
void kmm__launches_clear(void);
void kmm__events_clear(void);
void kmm__tasks_forked(void); /* only a task of this thread's is still open */
/* managed/device.c: the device that this thread's program chose among several of the CPU; -1: none.
 */
int kmm__device_chosen(const kmm_runtime_t *rt);
/* Notes an error of asynchronous work (locked); kept if it is the first. */
void kmm__error_note(kmm_runtime_t *rt, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets this thread's text and returns code. */
int kmm__error_set(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *kmm__error_get(void);
bool kmm__error_is_of_disk(int code); /* its text is this thread's, not a backend's */

/* ---- config.c ---- */
/* Opens the devices that the configuration, or else the environment, names. */
int kmm__config_devices(kmm_runtime_t *rt, const kmm_config_t *given);
/* Limits host memory if the configuration, or else the environment, says so. */
int kmm__config_host(kmm_runtime_t *rt, const kmm_config_t *given);
int kmm__config_locked(kmm_runtime_t *rt, const kmm_config_t *given);

/* ---- submit.c: the builder's contents ---- */
typedef struct kmm__term {
    int64_t lower, length;
} kmm__term_t;
typedef struct kmm__section {
    kmm__term_t constant, coef[KMM_MAX_AXES];
    bool whole;
} kmm__section_t;

typedef struct kmm__item {
    kmm_mode_t mode;
    kmm_op_t op;
    kmm_type_t type;
    bool is_pair; /* of a value of that type and an index */
    kmm_type_t index;
    uint32_t value_at, index_at;
    const char *text;
    char *base;
    int64_t element;
    kmm__array_t *array;                  /* found at submission */
    uint32_t dims;                        /* of the shape; 0: none given */
    uint32_t section_count;               /* 0: the whole array */
    int64_t extent[KMM_MAX_DIMS];         /* dims of them are set, */
    kmm__section_t section[KMM_MAX_DIMS]; /* and section_count */
} kmm__item_t;

typedef struct kmm__axis {
    const char *name;
    kmm_source_t source;
    int64_t lower, length;
} kmm__axis_t;

struct kmm_launch {
    kmm_launch_t *next; /* among spare ones */
    kmm_runtime_t *runtime;
    const char *kernel, *file;
    int line;
    char *label;
    bool one_chunk, nowait;
    bool home; /* runs on the device that the program has current, if it runs on GPUs */
    kmm_where_t where;
    int ordinal; /* of KMM_ON_DEVICE */
    kmm_schedule_t schedule;
    int priority;
    uint32_t axis_count, item_count;
    kmm__axis_t axis[KMM_MAX_AXES];
    int64_t chunk[KMM_MAX_SPLIT];
    bool has_chunk[KMM_MAX_SPLIT], chunk_in_blocks[KMM_MAX_SPLIT];
    kmm__item_t *items; /* `few`, or memory of their own */
    int error;          /* the first mistake in the description */
    char *error_text;
    /* Not cleared: */
    kmm__item_t few[KMM__FEW_ITEMS];
    void *mapped[KMM__MAX_ITEMS]; /* host memory that was mapped for this launch */
};

/* What one call of the program is while it is being submitted. */
typedef struct kmm__submission kmm__submission_t;

/* ---- partition.c: a launch's iteration space and its chunks ---- */
typedef struct kmm__partition {
    bool is_function;
    uint32_t dims;               /* that can be split */
    int64_t size[KMM_MAX_SPLIT]; /* blocks, or elements of a function's range */
    int64_t unit[KMM_MAX_SPLIT]; /* elements in one of them: blockDim, or 1 */
    int64_t lower[KMM_MAX_SPLIT];
    int64_t chunk[KMM_MAX_SPLIT]; /* in the unit of size */
    int64_t chunks[KMM_MAX_SPLIT];
    uint32_t count;
    int64_t asked[KMM_MAX_SPLIT];  /* chunks along each dimension before small ones were joined, */
    int64_t joined[KMM_MAX_SPLIT]; /* and how many of them are one */
} kmm__partition_t;

int kmm__partition(const kmm_launch_t *l, const uint32_t grid[3], const uint32_t block[3],
                   bool is_function, kmm__partition_t *out);
/* Chooses chunks where none are given, from the footprint and the devices. */
void kmm__partition_choose(kmm__partition_t *p, const kmm_launch_t *l, kmm_runtime_t *rt,
                           kmm_kind_t kind);
/* Of the chunks that were asked for: how many there are, and the first and the last of chunk k. */
uint32_t kmm__partition_asked(const kmm__partition_t *p);
void kmm__partition_numbers(const kmm__partition_t *p, uint32_t k, uint32_t *first, uint32_t *last);
/* The ranges [lo, hi) of each axis in chunk k; a box's first block (or element) and count. */
typedef struct kmm__chunk_box {
    int64_t first[KMM_MAX_SPLIT], count[KMM_MAX_SPLIT];
    int64_t axis_lo[KMM_MAX_AXES], axis_hi[KMM_MAX_AXES];
} kmm__chunk_box_t;
void kmm__partition_chunk(const kmm__partition_t *p, const kmm_launch_t *l, uint32_t k,
                          kmm__chunk_box_t *out);
/* The whole launch as one box. */
void kmm__partition_whole(const kmm__partition_t *p, const kmm_launch_t *l, kmm__chunk_box_t *out);

/* ---- place.c: which devices a launch uses, and which of them a chunk ---- */
typedef struct kmm__placement {
    kmm__device_t *device[KMM__MAX_DEVICES];
    uint32_t count;
    uint32_t dealt[KMM__MAX_DEVICES]; /* chunks each has got */
    uint32_t chunks;                  /* of the launch */
    kmm_schedule_t schedule;
} kmm__placement_t;

/* `kind`: what the kernel was built for; plain functions are for the CPU. KMM_E_NO_DEVICE, with its
 * text set, when the launch can run nowhere. */
int kmm__place_devices(const kmm_launch_t *l, kmm_kind_t kind, bool is_function,
                       kmm__placement_t *out);
/* partition.c: makes one of small chunks that lie side by side, where nothing but their number
 * tells the difference: what a task costs the host is paid once for them. Locked: items have their
 * arrays. */
void kmm__partition_join(kmm__partition_t *p, const kmm_launch_t *l, const kmm_runtime_t *rt,
                         const kmm__placement_t *place);
/* Locked: the device for chunk k, whose accesses t has. */
kmm__device_t *kmm__place_chunk(kmm__placement_t *p, uint32_t k, const kmm__task_t *t);

/* ---- plan.c: the region of an item in a chunk ---- */
/* 1: out is the region. 0: it is empty. Negative: an error, with its text set. out's layout is the
 * array's flat one, or *shaped. */
int kmm__plan(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *chunk,
              kmm__access_t *out, kmm__layout_t *shaped);
/* The bytes of base's memory that an item can touch, relative to base; for memory that is no array
 * yet. */
int kmm__plan_reach(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *whole,
                    int64_t *begin, int64_t *end);

/* ---- work.c: what the tasks of a launch share (all locked) ---- */
kmm__work_t *kmm__work_create(kmm_runtime_t *rt); /* cleared; one reference */
/* `bytes` of cleared memory, aligned to 16, that lives as long as the work. */
void *kmm__work_take(kmm__work_t *w, size_t bytes);
/* The same layout, which lives as long as the work. */
const kmm__layout_t *kmm__work_layout(kmm__work_t *w, const kmm__layout_t *layout);
void kmm__work_ref(kmm__work_t *w);
void kmm__work_unref(kmm__work_t *w);
void kmm__works_free(kmm_runtime_t *rt); /* the spare ones */

/* ---- dag.c: tasks and their order (all locked) ---- */
/* The number of outstanding tasks at which programs that wait go on submitting. */
static inline uint32_t kmm__resume_at(const kmm_runtime_t *rt)
{
    return rt->most_outstanding / 8 * 7;
}
/* A task that has no device yet; kmm__task_place gives it one, before it is followed. */
kmm__task_t *kmm__task_create(kmm_runtime_t *rt, kmm__work_t *work, uint32_t access_count);
void kmm__task_place(kmm__task_t *t, kmm__device_t *device);
void kmm__task_place_on(kmm__task_t *t, kmm__device_t *device, uint32_t lane);
void kmm__task_ref(kmm__task_t *t);
void kmm__task_unref(kmm__task_t *t);
void kmm__tasks_free(kmm_runtime_t *rt); /* the spare ones */
/* Drops what plain tasks that are done hold of arrays. It is put off until the program submits
 * again or frees an array, so that the threads that run tasks do not touch arrays, which are in the
 * cache of the thread that submits. */
void kmm__tasks_settle(kmm_runtime_t *rt);
/* Finds what t must follow. Notes an error when another chunk of the same launch writes what t
 * writes. */
int kmm__dag_follow(kmm__task_t *t);
/* Of that only: other chunks of the launch that have been entered and write what t writes. */
int kmm__dag_conflicts(kmm__task_t *t);
/* Enters t's writes, then its reads, so that later work follows it. */
void kmm__dag_record(kmm__task_t *t, bool writes);
/* All of that at once, for a task that need not be looked at beside others: follow, then record. */
int kmm__dag_enter(kmm__task_t *t);
/* Whether nobody will read what is in a frame, which no issued task touches: its array has been
 * freed, or all of it is written anew before. */
bool kmm__dag_is_dead(const kmm__frame_t *f);
/* t may be issued as soon as nothing holds it. */
void kmm__dag_release(kmm__task_t *t);
void kmm__task_issued(kmm__task_t *t);
/* One thing that t needs before it counts as done is there. */
void kmm__task_finish_left_fall(kmm__task_t *t);
/* One of t's own pieces of work is over; error 0 or why it failed. */
void kmm__task_finish(kmm__task_t *t, int error);
extern const kmm__map_ops_t kmm__users_ops;
kmm__task_t *const *kmm__users_readers(const kmm__users_t *u);
void kmm__reads_free(kmm__array_t *a); /* locked */
void kmm__describe(const kmm__task_t *t, char *out,
                   size_t size); /* "file:line: kernel: chunk k of n" */

/* ---- ticket.c (all locked, but for those that say otherwise) ---- */
kmm__ticket_t *kmm__ticket_create(kmm__device_t *d, kmm__stream_t *stream);
/* Gives a ticket an event of its own, or that of another ticket of the same stream. */
void kmm__ticket_arm(kmm__ticket_t *t, kmm__ticket_t *with);
void kmm__ticket_ref(kmm__ticket_t *t);
void kmm__ticket_unref(kmm__ticket_t *t);
void kmm__ticket_done(kmm__ticket_t *t);   /* idempotent */
void kmm__tickets_free(kmm_runtime_t *rt); /* the spare ones */
/* waiter.to cannot run on the host, or be done, before the ticket is; if the ticket gets an error,
 * waiter.data is poisoned. */
void kmm__ticket_add_waiter(kmm__ticket_t *t, kmm__edge_t waiter);
/* Locked: the copies made for t were not made, or not whole. */
void kmm__copies_fail(kmm__task_t *t, int error);
/* Not locked: waits on the host where streams cannot; true when nothing is left for the stream to
 * wait for. The waiting thread must hold no stream's lock: what it waits for may need it. */
bool kmm__ticket_await(kmm__ticket_t *t, kmm__device_t *d, kmm__stream_t *stream);
/* Not locked: waits until its work on a stream, on which it has been recorded, is over; who is told
 * of that may learn of it later. NULL is. */
void kmm__ticket_poll(const kmm__ticket_t *t);
void kmm__ticket_settle(kmm__ticket_t *t); /* not locked: waits until it is done; NULL is */
/* Not locked: makes later work on `stream` of `d` wait for the ticket, after kmm__ticket_await has
 * been waited for. */
int kmm__ticket_wait(kmm__ticket_t *t, kmm__device_t *d, kmm__stream_t *stream);
/* Not locked: records the event; tickets that share it are recorded by kmm__ticket_recorded. */
int kmm__ticket_record(kmm__ticket_t *t);
void kmm__ticket_recorded(kmm__ticket_t *t);

/* ---- launch.c ---- */
/* The arguments of t's work with every pointer as it is where t runs. */
void kmm__arguments_write(const kmm__task_t *t, unsigned char *packed);
/* Of tasks of one device that wait for none of each other: how many of the first ones are chunks
 * that can be one kernel launch, because their blocks are a box. At least 1. */
uint32_t kmm__chunks_join(kmm__task_t *const *tasks, uint32_t count);
/* Not locked: enqueues such chunks, or one task of any kind, on the stream. */
int kmm__chunks_launch(kmm__task_t *const *tasks, uint32_t count, kmm__stream_t *stream);

/* ---- schedule.c ---- */
int kmm__stream_drain(kmm__backend_t *b,
                      kmm__stream_t *s); /* not locked: waits for all that is on it */
void kmm__order_push(kmm__device_t *d, kmm__task_t *t); /* locked */
void kmm__device_wake(kmm__device_t *d);                /* locked */
/* Locked: work on the device failed, which a GPU never recovers from. */
void kmm__device_lose(kmm__device_t *d, int error);
/* A call has failed. After a fault of a kernel every call does that has to do with the device, so
 * it may be lost: that is asked of the event, or, NULL, of any of the device's. */
void kmm__device_doubt(kmm__device_t *d, kmm__event_t *event, int error);
void kmm__device_init(kmm__device_t *d);
int kmm__device_start(kmm__device_t *d);
void kmm__device_end(
    kmm__device_t *d); /* the runtime stops: its thread ends, and its frames are given back */
void kmm__device_stop(kmm__device_t *d); /* the rest */
void kmm__ready_push(kmm__task_t *t);    /* locked */
/* Locked: something that a task on the host waits for has been read from disk, or could not be
 * (error, with its text set). */
void kmm__host_arrived(kmm__task_t *t, int error, bool is_last);
void kmm__host_run(kmm__task_t *t); /* locked: all it waits for is done */
/* Locked, may unlock: a lane of its own for such a task, until kmm__side_lane_return. Negative: an
 * error, with its text set. */
int kmm__side_lane_take(kmm__device_t *d);
void kmm__side_lane_return(kmm__device_t *d, uint32_t lane); /* locked */
/* Not locked: the statements of a task that is_inline have run. */
void kmm__inline_end(kmm__task_t *t);
/* Forgets what this thread has described of a launch that does not happen (submit.c). */
void kmm__launch_disarm(void);
/* Not locked: runs a kernel on the stream of such a task, with arguments as they are. */
int kmm__inline_launch(kmm__task_t *t, const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                       void **args);

/* ---- memory/array.c ---- */
kmm__array_t *kmm__array_find(kmm_runtime_t *rt, const void *address); /* locked */
/* Not locked: from now on an array's address is its memory, if all arrays are in the host's memory:
 * kernels find arrays by addresses that the program has stored in others. */
void kmm__arrays_in_place(kmm_runtime_t *rt);
int kmm__array_new(kmm_runtime_t *rt, size_t bytes, void *mapped, kmm_map_t map, const char *label,
                   kmm__array_t **out); /* locked */
void kmm__array_ref(kmm__array_t *a);
void kmm__array_unref(kmm__array_t *a);
void kmm__array_forget(kmm__array_t *a); /* locked: its address names nothing any more */
size_t kmm__whole_pages(size_t bytes);
char *
kmm__array_host(kmm__array_t *a); /* locked: its host buffer, made if needed; NULL: no memory */
/* Locked: some array begins inside the memory. */
bool kmm__array_between(kmm_runtime_t *rt, const void *base, size_t bytes);
void kmm__array_left(kmm__array_t *a); /* locked: one device has released its residence */

/* ---- memory/coherence.c (all locked) ---- */
/* An access's region as boxes of a map's layout; re-cuts the map when no boxes of it can say it. */
int kmm__shape_map_boxes_of(kmm__shape_map_t *m, const kmm__map_ops_t *ops, void *ctx,
                            const kmm__access_t *a, kmm__box_t out[2 * KMM__DIMS]);
static inline int kmm__shape_map_boxes(kmm__shape_map_t *m, const kmm__map_ops_t *ops, void *ctx,
                                       const kmm__access_t *a, kmm__box_t out[2 * KMM__DIMS])
{
    if (m->layout.dims > 1 || a->layout->dims > 1) /* an array has one flat layout */
        return kmm__shape_map_boxes_of(m, ops, ctx, a, out);
    out[0] = a->box;
    return 1;
}
const kmm__map_ops_t *kmm__holders_ops(kmm_runtime_t *rt);
uint32_t kmm__holders_valid(
    const kmm_runtime_t *rt,
    const kmm__holders_t *h); /* the spaces that really hold the newest value, or will */
void kmm__holders_ops_init(kmm_runtime_t *rt); /* once space_count is known */

/* A copy that a task or an eviction needs, planned under the lock and enqueued outside it. */
typedef struct kmm__move {
    kmm__array_t *array;
    kmm__device_t *from, *to; /* NULL: the host */
    kmm__layout_t layout;
    kmm__box_t box;
    kmm__ticket_t *after;  /* what makes the source valid; NULL: it is; a reference */
    kmm__ticket_t *ticket; /* what this makes; a reference */
} kmm__move_t;
typedef struct kmm__moves {
    kmm__move_t *move;
    uint32_t count, capacity;
} kmm__moves_t;

/* Plans what must be copied so that task t finds the newest values of its accesses in its space,
 * pins the sources, and notes what t will have written. */
int kmm__coherence_acquire(kmm__task_t *t, kmm__moves_t *moves);
/* Plans the copies out that make frame f's contents expendable, and takes its device off the
 * holders. */
int kmm__coherence_evict(kmm__device_t *d, kmm__frame_t *f, kmm__moves_t *moves);
/* Those copies failed before they were made: the frame holds what it held. */
void kmm__coherence_restore(kmm__device_t *d, kmm__frame_t *f, const kmm__ticket_t *evicted);

void kmm__settled_free(kmm__array_t *a);

/* ---- memory/frame.c ---- */
/* Locked, by the device's own thread; may unlock meanwhile. Maps and pins all frames that t's
 * accesses touch on its device; resident: kmm__frames_resident has just said so. KMM_E_MEMORY: they
 * can never be resident together. */
int kmm__frames_acquire(kmm__task_t *t, bool resident);
/* Locked: whether that would need no mapping; *bytes receives how much t touches. */
bool kmm__frames_resident(kmm__task_t *t, uint64_t *bytes);
/* Locked: all that any array may have there has room, so that nothing is evicted for long. */
bool kmm__frames_fit(const kmm__device_t *d);
void kmm__frames_release(kmm__task_t *t);             /* locked */
void kmm__frame_pin(kmm__task_t *t, kmm__frame_t *f); /* locked */
/* Locked: calls fn for each frame of a's that holds bytes of the box. */
void kmm__frames_of(kmm__array_t *a, kmm__device_t *d, const kmm__layout_t *l, const kmm__box_t *b,
                    void (*fn)(void *ctx, kmm__frame_t *f), void *ctx);
/* Not locked: gives device `to` access to the frames of another device of its driver that hold the
 * box. */
void kmm__frames_share(kmm__array_t *a, kmm__device_t *from, kmm__device_t *to,
                       const kmm__layout_t *l, const kmm__box_t *b);
void kmm__frames_service(
    kmm__device_t *d); /* locked, by d's thread: unmaps what was evicted, releases dead arrays */
void kmm__frames_evict_ahead(kmm__device_t *d); /* locked, by d's thread; may unlock */
void kmm__frames_close(kmm__device_t *d);       /* all arrays are gone */
/* Locked, unlocks meanwhile: maps frames side by side that a task in the device's queue will need,
 * where there is memory to spare. False: there is nothing to do, or it has failed. */
bool kmm__frames_map_ahead(kmm__device_t *d);

/* Locked: the table of an array's frames on a device, made if needed. */
kmm__frame_t *kmm__frames_table(kmm__array_t *a, kmm__device_t *d);

/* ---- memory/ahead.c ---- */
/* Locked, by d's thread: a task has needed frames that none had used before, so those behind it may
 * too. */
void kmm__ahead_wake(kmm__device_t *d);
void kmm__ahead_stop(kmm__device_t *d); /* the runtime is stopping */

/* ---- memory/pack.c ---- */
/* Locked, by the device's own thread; may unlock: a place for a small array. False: it gets frames
 * of its own. */
bool kmm__pack_take(kmm__device_t *d, uint64_t bytes, kmm__addr_t *out);
void kmm__pack_return(kmm__device_t *d, kmm__addr_t at); /* locked; nothing uses it any more */
bool kmm__pack_trim(kmm__device_t *d); /* locked, by the device's own thread; may unlock: gives
                                          unused frames back. False: there were none */
void kmm__pack_share(kmm__device_t *d, kmm__addr_t at,
                     kmm__device_t *to); /* not locked: gives another device of the driver access */
void kmm__pack_close(kmm__device_t *d);  /* all arrays are gone */

/* ---- memory/foresight.c (all locked) ---- */
void kmm__uses_expect(
    kmm__task_t *t); /* t, which has its device and accesses, will touch their frames */
void kmm__uses_cancel(kmm__task_t *t);                  /* or will not after all */
void kmm__uses_drop(kmm__uses_t *u, uint64_t sequence); /* from what is expected */
/* t touches f now. */
static inline void kmm__uses_meet(kmm__frame_t *f, const kmm__task_t *t)
{
    kmm__uses_t *u = &f->uses;
    if (u->count)
        kmm__uses_drop(u, t->sequence);
    for (uint32_t k = KMM__PAST_USES - 1; k > 0; k--)
        u->past[k] = u->past[k - 1];
    u->past[0] = t->sequence;
    u->launch = t->work->pattern;
}
bool kmm__uses_next_is(const kmm__frame_t *f, uint64_t sequence);
bool kmm__uses_none(const kmm__frame_t *f);
void kmm__uses_free(kmm__frame_t *f);
/* When f is used next, as far as can be told: the greater the later. `now` is the number of the
 * task that asks. */
uint64_t kmm__uses_next(const kmm_runtime_t *rt, const kmm__frame_t *f, uint64_t now);
bool kmm__uses_is_known(
    uint64_t next); /* whether that was more than a guess about what nothing is known of */
/* Notes that a launch is being submitted; its index in runtime->patterns. */
uint32_t kmm__pattern_note(kmm_runtime_t *rt, uint64_t identity);

/* ---- memory/near.c (not locked) ---- */
void kmm__near_start(kmm_runtime_t *rt);
void kmm__near_ahead(kmm_runtime_t *rt); /* the runtime is going to have GPUs: what is asked below
                                            is found out meanwhile */
void kmm__near_stop(kmm_runtime_t *rt);
/* Of the host's memory, the node nearest to the device, or one of those; -1: all are alike, or it
 * is not known. */
int kmm__near_node(kmm__device_t *d);
/* Has whole pages of ours, as far as nothing has touched them yet, come from the nodes near the
 * device, if there is room. */
void kmm__near_bind(kmm__device_t *d, void *at, size_t bytes);

/* ---- memory/pin.c (not locked) ---- */
void kmm__pin_start(kmm_runtime_t *rt);
void kmm__pin_settle(kmm_runtime_t *rt); /* waits until no block is being locked, nor to be */
void kmm__pin_stop(kmm_runtime_t *rt);
int64_t kmm__pin_room(const kmm__array_t *a,
                      int64_t offset); /* bytes from there to the end of the block */
/* Before `bytes` of the block of the host buffer in which the offset lies are copied from or to a
 * device: page-locks it, if it can be, and has those behind it locked meanwhile. False: the copy
 * should go through buffers instead. */
bool kmm__pin(kmm__array_t *a, kmm__device_t *d, int64_t offset, int64_t bytes);
void kmm__unpin(kmm__array_t *a, uint32_t block); /* before a block's pages go away */
void kmm__unpin_all(kmm__array_t *a);             /* before its host buffer goes away */
void kmm__pin_await(kmm__array_t *a);             /* until no block is being locked */
uint64_t kmm__pin_block_size(const kmm__array_t *a, uint32_t block);

/* ---- memory/locked.c (not locked) ---- */
/* The bound counts where it is given; else it is a part of the machine's memory. */
void kmm__locked_start(kmm_runtime_t *rt, bool is_given, uint64_t bound);
void kmm__locked_stop(kmm_runtime_t *rt); /* drivers are still there */
/* Room for so many bytes that are to be page-locked; false: there is none, nor for any where the
 * bound is 0. */
bool kmm__locked_take(kmm_runtime_t *rt, uint64_t bytes);
void kmm__locked_give(kmm_runtime_t *rt, uint64_t bytes);
/* Keeps the buffer of an array that goes away, with what is locked of it; false: it is still the
 * array's. */
bool kmm__locked_keep(kmm__array_t *a);
/* Gives an array that has no buffer one of those kept, whose contents are another array's; false:
 * none has its size. May be locked. */
bool kmm__locked_reuse(kmm__array_t *a);

/* ---- memory/transfer.c (not locked) ---- */
/* Enqueues the planned copies to the host, or those to devices, each behind what makes its source
 * valid; those to the host come first, because others may wait for them. Carries on after an error,
 * so that every ticket is recorded; returns the first. */
int kmm__moves_enqueue(kmm__moves_t *moves, bool to_host);
void kmm__moves_drop(kmm__moves_t *moves);   /* locked */
#define KMM__LOCK_AT_LEAST ((size_t)1 << 20) /* less is not worth page-locking */

/* ---- reduce.c (all locked; errors have their text set, without the launch) ---- */
/* Finds what the launch reduces into and makes its private copies. *item receives the one at fault,
 * or item_count. */
int kmm__reduce_plan(kmm__work_t *w, const kmm_launch_t *l, const kmm__partition_t *p,
                     uint32_t *item);
/* Submits what writes identities into the copies, and what folds them and accumulates them into the
 * targets. */
int kmm__reduce_begin(kmm_runtime_t *rt, const kmm__work_t *w);
int kmm__reduce_end(kmm_runtime_t *rt, const kmm__work_t *w);
/* The access of chunk k to reduction r: to its slot, or to the target. */
kmm__access_t kmm__reduce_access(const kmm__work_t *w, const kmm__reduction_t *r, uint32_t k);
uint32_t kmm__reduce_slot(const kmm__work_t *w, const kmm__partials_t *p, uint32_t k);
/* Whether the order in which it is combined shows in the result, so that chunks must depend on the
 * launch alone. */
bool kmm__reduce_is_ordered(const kmm_launch_t *l);

/* ---- task.c ---- */
kmm__task_t *kmm__inline_current(void); /* the task this thread is inside of; NULL: none */
/* Around a function of the program that the runtime calls on this thread. */
void kmm__function_begin(void);
void kmm__function_end(void);
/* Whether this thread is inside a task or a function of the program: it may submit, and must not
 * wait. */
bool kmm__is_inside(void);
int kmm__inline_settle(void); /* inside a task: waits for all work submitted before it, and returns
                                 its error; else 0 */
bool kmm__inline_reaches(const void *address); /* inside a task: whether it names that array, and
                                                  has it where the program has it */
bool kmm__tasks_open(void);                    /* whether any thread is inside a task */
/* KMM_E_STATE, with its text set, inside, where `call` would wait for what may wait for the task.
 */
int kmm__inline_refuse(const char *call);

/* ---- observe/fault.c ---- */
void kmm__fault_watch(kmm_runtime_t *rt); /* a program that dies at an array's address says so
                                             first, if it has no handler of its own */
void kmm__fault_unwatch(kmm_runtime_t *rt);

/* ---- observe/check.c: KMM_CHECK=access ---- */
typedef struct kmm__check kmm__check_t;
int kmm__check_config(kmm_runtime_t *rt); /* what the environment asks for */
void kmm__check_note(kmm__work_t *w,
                     const kmm_launch_t *l); /* locked: a launch whose items have their arrays */
bool kmm__check_wants(const kmm__task_t *t);
/* Runs a kernel, or a function, on copies of t's arrays. What it does wrong is noted as t's error.
 */
int kmm__check_launch(kmm__task_t *t, kmm__stream_t *stream,
                      int (*launch)(kmm__task_t *t, kmm__stream_t *stream));
int kmm__check_call(kmm__task_t *t, void (*call)(kmm__task_t *t)); /* not locked */
uint64_t kmm__check_base(const kmm__check_t *c,
                         const kmm__array_t *a); /* the address of the copy */

/* ---- observe/stats.c ---- */
void kmm__stats_print(kmm_runtime_t *rt); /* takes the runtime's lock */

/* ---- copy.c: operations of the runtime on the host ---- */
/* Locked: submits an operation with the given accesses, both copied. out_task, if not NULL,
 * receives a reference. */
int kmm__operation_submit(kmm_runtime_t *rt, const kmm__operation_t *op, const char *name,
                          const kmm__access_t *accesses, uint32_t count, kmm__task_t **out_task);
/* Not locked: ends the maps that begin there, and returns when that memory is the program's again.
 */
int kmm__maps_end(kmm_runtime_t *rt, void *const *bases, uint32_t count);
int kmm__task_wait(kmm_runtime_t *rt, kmm__task_t *t); /* locked; drops the reference; its error */
kmm__access_t kmm__access_bytes(kmm__array_t *a, kmm_mode_t mode, int64_t begin, int64_t end);

/* ---- marker.c (locked) ---- */
void kmm__line_enter(kmm__task_t *t, const void *stream);
void kmm__line_issued(kmm__task_t *t); /* on streams */
void kmm__line_leave(kmm__task_t *t);
void kmm__lines_free(kmm_runtime_t *rt);

#endif
