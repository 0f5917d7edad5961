/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The limit of host memory, and what happens at it.
 *
 * With a limit, an array's host buffer is a row of sheets. A sheet is in memory or it is not; one
 * that is not may be stored in the spill file. The coherence map knows nothing of it: "the host
 * holds it" means in memory or on disk. Work on the host, copies to the host and copies from it
 * hold the sheets they touch, which keeps these in memory. Without a limit there are no sheets, and
 * all of this does nothing.
 *
 * Functions that say "locked" are called with the runtime's lock.
 */
#ifndef KMM__SPILL_H
#define KMM__SPILL_H

#include "memory/residency/frame.h"

typedef struct kmm__spill kmm__spill_t;
typedef struct kmm__sheet kmm__sheet_t;
typedef struct kmm__buffer kmm__buffer_t;

/* Sheets that a task or an eviction keeps in memory. */
typedef struct kmm__hold {
    kmm__sheet_t *sheet;
    bool reads; /* some of its elements are needed as they are */
    bool writes;
    bool covers; /* all of its elements are written */
} kmm__hold_t;

struct kmm__held {
    kmm__hold_t *hold;
    uint32_t count, capacity;
    uint32_t pending; /* reads that the task which has it waits for */
};
typedef struct kmm__held kmm__held_t;

typedef struct kmm__spill_stats {
    uint64_t limit, resident,
        most; /* bytes of host buffers: allowed, in memory now, at most so far */
    uint64_t written, read,
        dropped;     /* bytes so far: to disk, from disk, let go without being written */
    uint64_t stored; /* bytes of the file in use */
    uint64_t sheet_bytes;
    bool async, direct;
} kmm__spill_stats_t;

/* Limits host memory to `limit` bytes and opens the file. The devices are known. 0 or an error with
 * its text. */
int kmm__spill_start(kmm_runtime_t *rt, uint64_t limit, const char *folder);
void kmm__spill_stop(kmm_runtime_t *rt); /* all arrays are gone */
void kmm__spill_stats(kmm_runtime_t *rt,
                      kmm__spill_stats_t *out); /* locked; zeroes without a limit */
/* The bytes that sheets may have together, 0 without a limit; and the size of one. Constant. */
uint64_t kmm__spill_room(const kmm_runtime_t *rt);
uint64_t kmm__spill_sheet_bytes(const kmm_runtime_t *rt);

/* ---- Arrays (locked) ---- */
void kmm__spill_array(kmm__array_t *a);      /* its host buffer has been made */
void kmm__spill_array_dead(kmm__array_t *a); /* nothing refers to it: its sheets go first */
void kmm__spill_forget(kmm__array_t *a);     /* before its host buffer goes away; may unlock */

/* ---- Holding (locked; may unlock meanwhile; 0 or an error with its text) ---- */
/* What a task on the host touches, or what one on a device has brought to the host from another
 * driver's. What a task on the host holds may still be on its way from disk. */
int kmm__spill_hold_task(kmm__task_t *t);
/* Until it has come; for who has copies to make there. */
int kmm__spill_await_task(kmm__task_t *t);
/* t does not run before it has come: one of t's done_left falls then, by kmm__host_arrived. Does
 * not unlock. */
int kmm__spill_expect_task(kmm__task_t *t);
bool kmm__spill_may_wait(const kmm_runtime_t *rt); /* that may wait for a device's task, too */
void kmm__spill_release_task(kmm__task_t *t);
/* What evicting a frame copies to the host. The frame may have been pinned in the meantime. */
int kmm__spill_hold_frame(kmm__frame_t *f, kmm__held_t *held);
void kmm__spill_release(kmm_runtime_t *rt, kmm__held_t *held);

/* ---- Sources of copies to devices (not locked) ----
 * One sheet's contents for one copy or some: the sheet itself, or a buffer into which it is read
 * when there is no room for it in memory. */
typedef struct kmm__source {
    kmm__sheet_t *sheet;   /* NULL: nothing */
    kmm__buffer_t *buffer; /* NULL: the sheet itself is held */
    char *base;            /* where byte 0 of the array would be; set by kmm__source_await */
    bool missing;          /* nobody has it: it cannot be provided */
} kmm__source_t;

/* Locked: what a planned copy will read must be kept, whatever becomes of its elements; until the
 * promise is taken back. */
void kmm__spill_promise(kmm__array_t *a, const kmm__layout_t *layout, const kmm__box_t *box,
                        bool given);
/* Begins to provide the sheet at a byte of an array. Unless `waits`, gives up when that needs a
 * buffer and none is free, and returns false. Never fails otherwise. */
bool kmm__source_begin(kmm__array_t *a, int64_t offset, bool waits, kmm__source_t *out);
/* Waits until it is there. 0, or an error with its text, and it has ended. The backend is who will
 * copy it. */
int kmm__source_await(kmm__source_t *s, kmm__backend_t *backend);
void kmm__source_end(kmm__source_t *s); /* nothing reads it any more */

#endif
